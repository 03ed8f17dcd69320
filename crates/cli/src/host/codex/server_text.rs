//! The entry of Tidegate's MCP server in Codex's `config.toml`: text in, text out.
//!
//! Codex writes this file, too, and it may hold secrets: no copy of it is kept. So the entry is a piece of text at the end
//! that can be cut out again, and the rest stays as it is, to the byte.

use toml_edit::{Document, DocumentMut, InlineTable, Item, TableLike, Value};

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

pub(crate) fn parse(text: &str) -> Result<DocumentMut, Refusal> {
    parse_in_place(text).map(Document::into_mut)
}

/// With the place of everything in it.
fn parse_in_place(text: &str) -> Result<Document<&str>, Refusal> {
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    Document::parse(text).map_err(|error| Refusal {
        line: error.span().map(|span| line_at(text, span.start)),
        what: error.message().to_owned(),
    })
}

fn line_at(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1
}

pub(crate) fn find(text: &str, program: &str) -> Result<Found, Refusal> {
    let document = parse_in_place(text)?;
    let Some((key, list)) = document.get_key_value(LIST) else { return Ok(Found::Nothing) };
    if list.as_table_like().is_none() {
        let span = key.span().or_else(|| list.span());
        let line = span.map(|span| line_at(document.raw(), span.start));
        return Err(Refusal { line, what: format!("`{LIST}` is not a table") });
    }
    let Some(entry) = list.get(NAME) else { return Ok(Found::Nothing) };
    let command = entry.get("command").and_then(Item::as_str).unwrap_or_default();
    let args = entry.get("args").and_then(Item::as_array);
    let is_mcp =
        args.is_some_and(|args| args.len() == 1 && args.get(0).and_then(Value::as_str) == Some("mcp"));
    Ok(if is_mcp && is_tidegate(command, program) { Found::Ours } else { Found::Theirs })
}

/// At the end of the file, behind a blank line unless the file begins with it. It ends as the file did, with a newline or
/// without one: that is how [`remove`] knows what was there.
pub(crate) fn add(text: &str, program: &str) -> Result<String, Refusal> {
    let document = parse(text)?;
    if document.get(LIST).is_some_and(Item::is_inline_table) {
        return Ok(add_inline(text, document, program));
    }
    let newline = newline_of(text);
    let is_empty = text.trim_start_matches(BYTE_ORDER_MARK).is_empty();
    let (before, end) = match (is_empty, text.ends_with('\n')) {
        (true, _) => (String::new(), newline),
        (false, true) => (newline.to_owned(), newline),
        (false, false) => (newline.repeat(2), ""),
    };
    let command = Value::from(program);
    Ok(format!("{text}{before}{HEADER}{newline}command = {command}{newline}{ARGS}{end}"))
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
    let list = document.get_mut(LIST);
    // [`add`] makes no table on one line.
    let is_theirs = list.as_ref().is_some_and(|list| list.is_inline_table());
    let is_empty = list.and_then(Item::as_table_like_mut).is_some_and(|list| {
        list.remove(NAME);
        !is_theirs && TableLike::is_empty(list)
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
    // The blank line, if it is still there, and a newline that the file did not have.
    let kept = match without_newline(before) {
        shorter if !shorter.is_empty() && !shorter.ends_with('\n') => before,
        shorter if args.ends_with('\n') => shorter,
        shorter => without_newline(shorter),
    };
    Some(format!("{kept}{after}"))
}

fn without_newline(text: &str) -> &str {
    text.strip_suffix("\r\n").or(text.strip_suffix('\n')).unwrap_or(text)
}

/// The library writes neither a byte order mark nor carriage returns.
fn in_form_of(text: &str, document: &DocumentMut) -> String {
    let mark = if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK } else { "" };
    let new = document.to_string().replace("\r\n", "\n");
    // It ends each line.
    let new =
        if text.ends_with('\n') { new.as_str() } else { new.strip_suffix('\n').unwrap_or(new.as_str()) };
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
            let entry = [HEADER, "command = \"/x/tidegate\"", ARGS].join(newline);
            assert!(with.trim_end().ends_with(&entry), "{with:?}");
            assert_eq!(remove(&with, PROGRAM).as_deref(), Ok(before));
        }
        let theirs = "[mcp_servers.tidegate]\nurl = \"http://x\"\n";
        assert_eq!(find(theirs, PROGRAM), Ok(Found::Theirs));
    }

    /// A person may take out the blank line.
    #[test]
    fn a_newline_of_the_person_stays() {
        for newline in ["\n", "\r\n"] {
            let before = format!("a = 1{newline}");
            let with = add(&before, PROGRAM).unwrap();
            let closer = with.replacen(&newline.repeat(2), newline, 1);
            assert_eq!(remove(&closer, PROGRAM).as_deref(), Ok(before.as_str()), "{closer:?}");
        }
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
        for empty in ["mcp_servers = {}\n", "a = 1\nmcp_servers = {}"] {
            assert_eq!(remove(&add(empty, PROGRAM).unwrap(), PROGRAM).as_deref(), Ok(empty));
        }
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
        for (text, line) in [
            ("a = 1\n\n[broken\n", 3),
            ("mcp_servers_old = 1\nmcp_servers = 3\n", 2),
            ("\u{feff}mcp_servers_old = 1\n\n[[mcp_servers]]\nname = \"x\"\n", 3),
            ("a = \"\"\"\nmcp_servers = 1\n\"\"\"\n\"mcp_servers\" = []\n", 4),
        ] {
            assert_eq!(refusal(text).line, Some(line), "{text:?}");
        }
    }
}
