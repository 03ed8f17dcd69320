//! The rows of `src/redact/redact.md`, spelt out.

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

fn cells(line: &str) -> Vec<String> {
    let line = line.trim().trim_start_matches('|').trim_end_matches('|').replace("\\|", "\u{1}");
    let cell = |cell: &str| {
        let cell = cell.trim();
        let inner = cell.strip_prefix("`` ").and_then(|cell| cell.strip_suffix(" ``"));
        let inner = inner.or_else(|| cell.strip_prefix('`').and_then(|cell| cell.strip_suffix('`')));
        spelt_out(&inner.unwrap_or(cell).replace('\u{1}', "|").replace('⏎', "\n"))
    };
    line.split('|').map(cell).collect()
}

/// Each row with the number of its line: kind, text and result, or the text that stays.
pub(super) fn rows() -> Vec<(usize, Vec<String>)> {
    let text = include_str!("../../src/redact/redact.md");
    let rows = text.lines().enumerate().filter(|(_, line)| line.starts_with('|'));
    let rows = rows.filter(|(_, line)| {
        !["| ---", "| kind |", "| stays |"].iter().any(|header| line.starts_with(header))
    });
    rows.map(|(number, line)| (number + 1, cells(line))).collect()
}
