//! The entry of Tidegate's MCP server in Codex's `config.toml`: text in, text out.
//!
//! Codex writes this file, too, and it may hold secrets: no copy of it is kept. So the entry is a piece of text at the end
//! that can be cut out again, and the rest stays as it is, to the byte.

use toml_edit::{DocumentMut, InlineTable, Item, TableLike, Value};

use crate::host::claude_code::registrations::is_tidegate;

const LIST: &str = "mcp_servers";
/// The name of the server, and of its tools.
const NAME: &str = "tidegate";
const HEADER: &str = "[mcp_servers.tidegate]";
const ARGS: &str = "args = [\"mcp\"]";
const BYTE_ORDER_MARK: &str = "\u{feff}";

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Found {
    Nothing,
    Ours,
    /// A server with this name that a person registered.
    Theirs,
}

/// Why the entry cannot be written, with its line if that is known.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) line: Option<usize>,
    pub(crate) what: String,
}

fn parse(text: &str) -> Result<DocumentMut, Refusal> {
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    text.parse().map_err(|error: toml_edit::TomlError| Refusal {
        line: error.span().map(|span| line_at(text, span.start)),
        what: error.message().to_owned(),
    })
}

fn line_at(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1
}

pub(crate) fn find(text: &str, program: &str) -> Result<Found, Refusal> {
    let document = parse(text)?;
    let Some(list) = document.get(LIST) else { return Ok(Found::Nothing) };
    if list.as_table_like().is_none() {
        let begins = |line: &str| line.trim_start().starts_with(LIST);
        let line = text.lines().position(begins).map(|before| before + 1);
        return Err(Refusal { line, what: format!("`{LIST}` is not a table") });
    }
    let Some(entry) = list.get(NAME) else { return Ok(Found::Nothing) };
    let command = entry.get("command").and_then(Item::as_str).unwrap_or_default();
    let args = entry.get("args").and_then(Item::as_array);
    let is_mcp =
        args.is_some_and(|args| args.len() == 1 && args.get(0).and_then(Value::as_str) == Some("mcp"));
    Ok(if is_mcp && is_tidegate(command, program) { Found::Ours } else { Found::Theirs })
}

/// At the end of the file. A blank line stands before it, unless the file begins with it or has no newline at its end:
/// that is how [`remove`] knows what was there.
pub(crate) fn add(text: &str, program: &str) -> Result<String, Refusal> {
    let document = parse(text)?;
    if document.get(LIST).is_some_and(Item::is_inline_table) {
        return Ok(add_inline(text, document, program));
    }
    let newline = newline_of(text);
    let before = if text.trim_start_matches(BYTE_ORDER_MARK).is_empty() { "" } else { newline };
    let command = Value::from(program);
    Ok(format!("{text}{before}{HEADER}{newline}command = {command}{newline}{ARGS}{newline}"))
}

/// Such a table has no room for another one behind it.
fn add_inline(text: &str, mut document: DocumentMut, program: &str) -> String {
    let mut entry = InlineTable::new();
    entry.insert("command", program.into());
    entry.insert("args", Value::from_iter(["mcp"]));
    if let Some(list) = document.get_mut(LIST).and_then(Item::as_inline_table_mut) {
        list.insert(NAME, entry.into());
    }
    in_form_of(text, &document)
}

fn newline_of(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

/// An empty text if nothing else is in it.
pub(crate) fn remove(text: &str, program: &str) -> Result<String, Refusal> {
    if let Some(left) = cut(text).filter(|left| find(left, program) == Ok(Found::Nothing)) {
        return Ok(left);
    }
    // A person changed the entry, or it is part of another table.
    let mut document = parse(text)?;
    let list = document.get_mut(LIST).and_then(Item::as_table_like_mut);
    let is_empty = list.is_some_and(|list| {
        list.remove(NAME);
        TableLike::is_empty(list)
    });
    if is_empty {
        document.remove(LIST);
    }
    Ok(in_form_of(text, &document))
}

/// The text without the lines that [`add`] wrote, if they are still there, and nothing else belongs to them.
fn cut(text: &str) -> Option<String> {
    let start = text.rfind(HEADER)?;
    let mut lines = text[start..].split_inclusive('\n');
    let [header, command, args] = [lines.next()?, lines.next()?, lines.next()?];
    let is_line = |line: &str, wanted: &str| line.trim_end_matches(['\r', '\n']) == wanted;
    let is_whole = is_line(header, HEADER) && command.starts_with("command = ") && is_line(args, ARGS);
    let end = start + header.len() + command.len() + args.len();
    let (before, after) = (&text[..start], &text[end..]);
    let next = after.lines().find(|line| !line.trim().is_empty() && !line.starts_with('#'));
    if !is_whole || next.is_some_and(|next| !next.starts_with('[')) {
        return None;
    }
    let shorter = before.strip_suffix("\r\n").or(before.strip_suffix('\n'));
    let kept = match shorter {
        // The blank line, or a newline that the file did not have.
        Some(shorter) if shorter.ends_with('\n') || after.is_empty() => shorter,
        _ => before,
    };
    Some(format!("{kept}{after}"))
}

/// The library writes neither a byte order mark nor carriage returns.
fn in_form_of(text: &str, document: &DocumentMut) -> String {
    let mark = if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK } else { "" };
    let new = document.to_string().replace("\r\n", "\n");
    format!("{mark}{}", new.replace('\n', newline_of(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROGRAM: &str = "/x/tidegate";

    const BEFORE: [&str; 13] = [
        "",
        "\n",
        "\u{feff}",
        "model = \"gpt-5.5\" # mine\n",
        "model = \"gpt-5.5\"",
        "model = \"gpt-5.5\"\n\n\n",
        "model = \"gpt-5.5\"\r\n[features]\r\nhooks = true\r\n",
        "model = \"gpt-5.5\"\r\n[features]\r\nhooks = true",
        "model = \"gpt-5.5\"\r\nmixed = 1\n",
        "\u{feff}model = \"gpt-5.5\"\r\n",
        "[projects.\"/p\"]\ntrust_level = \"trusted\"\n",
        "[mcp_servers.other]\ncommand = \"x\"\n\n[hooks.state]\n# kept\n",
        "mcp_servers.other.command = \"x\"\n# the end",
    ];

    #[test]
    fn removing_undoes_adding() {
        for before in BEFORE {
            assert_eq!(find(before, PROGRAM), Ok(Found::Nothing), "{before:?}");
            let with = add(before, PROGRAM).unwrap();
            assert_eq!(find(&with, PROGRAM), Ok(Found::Ours), "{with:?}");
            let newline = newline_of(before);
            let entry = [HEADER, "command = \"/x/tidegate\"", ARGS, ""].join(newline);
            assert!(with.ends_with(&entry), "{with:?}");
            assert_eq!(remove(&with, PROGRAM).as_deref(), Ok(before));
        }
        let theirs = "[mcp_servers.tidegate]\nurl = \"http://x\"\n";
        assert_eq!(find(theirs, PROGRAM), Ok(Found::Theirs));
    }

    /// Codex adds tables at the end.
    #[test]
    fn text_that_came_behind_it_stays() {
        const MORE: &str = "\n[projects.\"/q\"]\ntrust_level = \"trusted\"\n";
        for before in BEFORE {
            let with = add(before, PROGRAM).unwrap() + MORE;
            let left = remove(&with, PROGRAM).unwrap();
            assert_eq!(find(&left, PROGRAM), Ok(Found::Nothing), "{left:?}");
            assert!(left.starts_with(before) && left.ends_with(MORE), "{left:?}");
        }
    }

    #[test]
    fn an_entry_that_a_person_changed_goes_as_a_whole() {
        let with = add("a = 1\r\n", PROGRAM).unwrap() + "startup_timeout_sec = 5\r\n";
        assert_eq!(remove(&with, PROGRAM).as_deref(), Ok("a = 1\r\n"));
        let with = add("a = 1\n", PROGRAM).unwrap() + "\n[mcp_servers.tidegate.env]\nA = \"b\"\n";
        assert_eq!(remove(&with, PROGRAM).as_deref(), Ok("a = 1\n"));
        let inline = "mcp_servers = { other = { command = \"x\" } }\r\nb = 1\r\n";
        let with = add(inline, PROGRAM).unwrap();
        assert_eq!(find(&with, PROGRAM), Ok(Found::Ours), "{with:?}");
        let left = remove(&with, PROGRAM).unwrap();
        assert_eq!(parse(&left).unwrap().to_string(), parse(inline).unwrap().to_string());
    }

    #[test]
    fn a_file_that_cannot_hold_it_is_refused_with_its_line() {
        let refusal = |text: &str| find(text, PROGRAM).unwrap_err();
        assert_eq!(
            refusal("a = 1\nmcp_servers = 3\n"),
            Refusal { line: Some(2), what: "`mcp_servers` is not a table".to_owned() }
        );
        assert_eq!(refusal("a = 1\n\n[broken\n").line, Some(3));
    }
}
