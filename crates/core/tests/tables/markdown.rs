//! Reads the tables of a Markdown file.

pub(crate) struct Row {
    /// Counted from 1.
    pub line: usize,
    pub header: Vec<String>,
    pub cells: Vec<String>,
}

/// All rows of all tables.
pub(crate) fn rows(text: &str) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut header: Option<Vec<String>> = None;
    for (number, line) in text.lines().map(str::trim).enumerate() {
        if !line.starts_with('|') {
            header = None;
            continue;
        }
        match &header {
            None => header = Some(cells(line)),
            Some(_) if line.starts_with("| ---") => {}
            Some(header) => rows.push(Row { line: number + 1, header: header.clone(), cells: cells(line) }),
        }
    }
    rows
}

/// A bar that belongs to a cell is written `\|`.
fn cells(line: &str) -> Vec<String> {
    let line = line.replace("\\|", "\u{1}");
    let inner = line.trim_start_matches('|').trim_end_matches('|');
    inner.split('|').map(|cell| cell.trim().replace('\u{1}', "|")).collect()
}

/// A piece of code without its backticks; `⏎` is a new line.
pub(crate) fn code(cell: &str) -> String {
    let ticks = &cell[..cell.bytes().take_while(|byte| *byte == b'`').count()];
    let inner = cell[ticks.len()..].strip_suffix(ticks).unwrap_or(cell);
    // One space at each side keeps the text's own backticks apart.
    let apart = inner.strip_prefix(' ').and_then(|inner| inner.strip_suffix(' '));
    apart.filter(|_| ticks.len() > 1).unwrap_or(inner).replace('⏎', "\n")
}
