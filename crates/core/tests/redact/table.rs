//! The rows of `src/redact/redact.md`, spelt out.

#[path = "../tables/markdown.rs"]
mod markdown;

/// `{ab*3}` is `ababab`.
fn spelt_out(cell: &str) -> String {
    let mut text = String::new();
    let mut rest = cell;
    while let Some((before, after)) = rest.split_once('{') {
        text.push_str(before);
        let counted = after.split_once('}').and_then(|(inside, after)| {
            let (piece, count) = inside.split_once('*')?;
            Some((piece.repeat(count.parse().ok()?), after))
        });
        if let Some((pieces, after)) = counted {
            text.push_str(&pieces);
            rest = after;
        } else {
            text.push('{');
            rest = after;
        }
    }
    text + rest
}

/// Each row with the number of its line: kind, text and result, or the text that stays.
pub(super) fn rows() -> Vec<(usize, Vec<String>)> {
    let rows = markdown::rows(include_str!("../../src/redact/redact.md")).into_iter().map(|row| {
        assert!(row.header == ["kind", "text", "result"] || row.header == ["stays"], "line {}", row.line);
        (row.line, row.cells.iter().map(|cell| spelt_out(&markdown::code(cell))).collect())
    });
    rows.collect()
}
