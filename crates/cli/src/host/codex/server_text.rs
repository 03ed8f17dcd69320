//! The entry of Tidegate's MCP server in Codex's `config.toml`: text in, text out.
//!
//! Codex writes this file, too, and it may hold secrets: no copy of it is kept, and removing undoes adding.

use toml_edit::{Array, DocumentMut, Item, Table, value};

use crate::host::claude_code::registrations::is_tidegate;

const LIST: &str = "mcp_servers";
/// The name of the server, and of its tools.
const NAME: &str = "tidegate";

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Found {
    Nothing,
    Ours,
    /// A server with this name that a person registered.
    Theirs,
}

pub(crate) fn find(text: &str, program: &str) -> Result<Found, toml_edit::TomlError> {
    let document: DocumentMut = text.parse()?;
    let Some(entry) = document.get(LIST).and_then(|list| list.get(NAME)) else { return Ok(Found::Nothing) };
    let command = entry.get("command").and_then(Item::as_str).unwrap_or_default();
    let args = entry.get("args").and_then(Item::as_array);
    let is_mcp = args
        .is_some_and(|args| args.len() == 1 && args.get(0).and_then(toml_edit::Value::as_str) == Some("mcp"));
    Ok(if is_mcp && is_tidegate(command, program) { Found::Ours } else { Found::Theirs })
}

/// At the end of the file, whose other text stays as it is.
pub(crate) fn add(text: &str, program: &str) -> Result<String, toml_edit::TomlError> {
    let mut document: DocumentMut = text.parse()?;
    let list = document.entry(LIST).or_insert_with(|| {
        let mut list = Table::new();
        list.set_implicit(true);
        Item::Table(list)
    });
    let mut entry = Table::new();
    entry.insert("command", value(program));
    entry.insert("args", value(Array::from_iter(["mcp"])));
    // A blank line before it, unless the file begins with it.
    entry.decor_mut().set_prefix(if text.trim().is_empty() { "" } else { "\n" });
    if let Some(list) = list.as_table_like_mut() {
        list.insert(NAME, Item::Table(entry));
    }
    Ok(document.to_string())
}

/// An empty text if nothing else is in it.
pub(crate) fn remove(text: &str) -> Result<String, toml_edit::TomlError> {
    let mut document: DocumentMut = text.parse()?;
    let mut is_empty = false;
    if let Some(list) = document.get_mut(LIST).and_then(Item::as_table_like_mut) {
        list.remove(NAME);
        is_empty = list.is_empty();
    }
    if is_empty {
        document.remove(LIST);
    }
    Ok(document.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removing_undoes_adding() {
        for before in [
            "",
            "model = \"gpt-5.5\" # mine\n",
            "[projects.\"/p\"]\ntrust_level = \"trusted\"\n",
            "[mcp_servers.other]\ncommand = \"x\"\n\n[hooks.state]\n# kept\n",
        ] {
            assert_eq!(find(before, "/x/tidegate").unwrap(), Found::Nothing);
            let with = add(before, "/x/tidegate").unwrap();
            assert_eq!(find(&with, "/x/tidegate").unwrap(), Found::Ours, "{with}");
            assert!(
                with.contains("[mcp_servers.tidegate]\ncommand = \"/x/tidegate\"\nargs = [\"mcp\"]\n"),
                "{with}"
            );
            assert_eq!(remove(&with).unwrap(), before);
        }
        let theirs = "[mcp_servers.tidegate]\nurl = \"http://x\"\n";
        assert_eq!(find(theirs, "/x/tidegate").unwrap(), Found::Theirs);
        assert!(find("[broken", "/x").is_err());
    }
}
