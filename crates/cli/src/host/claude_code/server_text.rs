//! The entry of Tidegate's MCP server in a JSON file of the client: text in, text out.
//!
//! The client rewrites `.claude.json` all the time, so neither the file nor its text is kept: removing undoes adding as it
//! does in settings, and only the outline of what was there before is remembered.

use serde_json::{Map, Value, json};

use super::registrations::is_tidegate;
use crate::json_text::{Document, Fault, Node};

/// The name of the server, and of its tools: `mcp__tidegate__search`.
pub(crate) const NAME: &str = "tidegate";

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Found {
    Nothing,
    Ours,
    /// A server with this name that a person registered.
    Theirs,
}

/// As `claude mcp add` writes it.
pub(crate) fn make_entry(program: &str) -> Value {
    json!({ "type": "stdio", "command": program, "args": ["mcp"], "env": {} })
}

/// `keys` lead from the root to the list of servers.
pub(crate) fn find_entry(text: &str, keys: &[String], program: &str) -> Result<Found, Fault> {
    let document = Document::parse(text)?;
    let list = keys.iter().try_fold(&document.root, |node, key| node.get(key));
    let Some(entry) = list.and_then(|list| list.get(NAME)) else { return Ok(Found::Nothing) };
    Ok(if is_ours(&document.value(entry), program) { Found::Ours } else { Found::Theirs })
}

fn is_ours(entry: &Value, program: &str) -> bool {
    let command = entry.get("command").and_then(Value::as_str).unwrap_or_default();
    is_tidegate(command, program) && entry.get("args") == Some(&json!(["mcp"]))
}

/// The program that Tidegate's entry starts.
pub(crate) fn called_program(text: &str, keys: &[String]) -> Option<String> {
    let document = Document::parse(text).ok()?;
    let list = keys.iter().try_fold(&document.root, |node, key| node.get(key))?;
    Some(list.get(NAME)?.get("command")?.string()?.to_owned())
}

/// Replaces an entry of this name, which the caller knows to be Tidegate's. `None` stands for no file.
pub(crate) fn add_entry(text: Option<&str>, keys: &[String], entry: &Value) -> Result<String, Fault> {
    let text = text.filter(|text| !is_blank(text)).unwrap_or("{}\n");
    match Document::find_fault(text) {
        Some(fault) => Err(fault),
        None => put_entry(text, keys, entry),
    }
}

/// Also into a file with comments, for a host that reads them.
pub(crate) fn put_entry(text: &str, keys: &[String], entry: &Value) -> Result<String, Fault> {
    let document = Document::parse(text)?;
    let mut node = &document.root;
    for (at, key) in keys.iter().enumerate() {
        check_object(&document, node)?;
        let Some(next) = node.get(key) else {
            return Ok(document.push(node, Some(key), &wrap_entry(&keys[at + 1..], entry)));
        };
        node = next;
    }
    check_object(&document, node)?;
    Ok(match node.get(NAME) {
        Some(there) if document.value(there) == *entry => text.to_owned(),
        Some(there) => document.replace_values(&[(there, entry.clone())]),
        None => document.push(node, Some(NAME), entry),
    })
}

/// Removes Tidegate's entry, and lists around it that `outline` does not have. `None`: no file is left.
pub(crate) fn remove_entry(
    text: &str,
    keys: &[String],
    program: &str,
    outline: Option<&str>,
) -> Result<Option<String>, Fault> {
    if find_entry(text, keys, program)? != Found::Ours {
        return Ok(Some(text.to_owned()));
    }
    let document = Document::parse(text)?;
    let mut chain = vec![&document.root];
    for key in keys {
        chain.extend(chain.last().and_then(|node| node.get(key)));
    }
    let kept = outline.map_or(0, |outline| depth_of(outline, keys));
    let mut level = chain.len() - 1;
    let mut name = NAME;
    while level > kept && chain[level].members().is_some_and(|members| members.len() == 1) {
        level -= 1;
        name = &keys[level];
    }
    let members = chain[level].members().unwrap_or_default();
    let Some(index) = members.iter().rposition(|member| member.key == name) else {
        return Ok(Some(text.to_owned()));
    };
    let is_last = level == 0 && members.len() == 1;
    Ok(match outline {
        None if is_last => None,
        Some(outline) if is_last && is_blank(outline) => Some(outline.to_owned()),
        _ => Some(document.remove(chain[level], index)),
    })
}

/// The lists along the way that are there, as JSON without their content. `None` if there is no file.
pub(crate) fn draw_outline(text: Option<&str>, keys: &[String]) -> Option<String> {
    let text = text?;
    if is_blank(text) {
        return Some(text.to_owned());
    }
    let depth = depth_of(text, keys);
    let outline = keys[..depth].iter().rev().fold(json!({}), |inner, key| json!({ key: inner }));
    Some(outline.to_string())
}

/// Tidegate's entry, and the way to it. Nothing else of the file, and no value of a variable.
pub(crate) fn draw_entry(text: &str, keys: &[String]) -> String {
    let depth = depth_of(text, keys);
    let mut list = Map::new();
    if let Some(document) = Document::parse(text).ok().filter(|_| depth == keys.len()) {
        let node = keys.iter().try_fold(&document.root, |node, key| node.get(key));
        if let Some(entry) = node.and_then(|node| node.get(NAME)) {
            list.insert(NAME.to_owned(), without_values(document.value(entry)));
        }
    }
    let drawn = keys[..depth].iter().rev().fold(Value::Object(list), |inner, key| json!({ key: inner }));
    format!("{drawn:#}\n")
}

fn without_values(mut entry: Value) -> Value {
    if let Some(entry) = entry.as_object_mut() {
        entry.retain(|key, _| ["type", "command", "args", "env"].contains(&key.as_str()));
        for value in entry.get_mut("env").and_then(Value::as_object_mut).into_iter().flat_map(Map::values_mut)
        {
            *value = json!("…");
        }
    }
    entry
}

/// How many of the keys lead to an object.
fn depth_of(text: &str, keys: &[String]) -> usize {
    let Ok(document) = Document::parse(text) else { return 0 };
    let mut node = Some(&document.root);
    let found = keys.iter().take_while(|key| {
        node = node.and_then(|node| node.get(key)).filter(|node| node.members().is_some());
        node.is_some()
    });
    found.count()
}

fn wrap_entry(keys: &[String], entry: &Value) -> Value {
    let list = Value::Object(Map::from_iter([(NAME.to_owned(), entry.clone())]));
    keys.iter().rev().fold(list, |inner, key| json!({ key: inner }))
}

fn check_object(document: &Document<'_>, node: &Node) -> Result<(), Fault> {
    if node.members().is_some() { Ok(()) } else { Err(document.fault(node, "an object is expected here")) }
}

fn is_blank(text: &str) -> bool {
    text.trim_start_matches('\u{feff}').trim().is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json_text::tests::odd_json;

    const PROGRAM: &str = "/home/me/.local/share/tidegate/bin/tidegate";

    fn keys() -> Vec<String> {
        ["projects", "/home/me/app", "mcpServers"].map(str::to_owned).to_vec()
    }

    #[test]
    fn it_is_what_the_client_itself_would_write() {
        let new = add_entry(None, &keys(), &make_entry(PROGRAM)).unwrap();
        let value: Value = serde_json::from_str(&new).unwrap();
        let expected = json!({ "projects": { "/home/me/app": { "mcpServers": { "tidegate": {
            "type": "stdio", "command": PROGRAM, "args": ["mcp"], "env": {},
        } } } } });
        assert_eq!(value, expected);
        assert_eq!(remove_entry(&new, &keys(), PROGRAM, None), Ok(None));
        let blank = add_entry(Some("\n"), &keys(), &make_entry(PROGRAM)).unwrap();
        let outline = draw_outline(Some("\n"), &keys());
        assert_eq!(remove_entry(&blank, &keys(), PROGRAM, outline.as_deref()), Ok(Some("\n".to_owned())));
    }

    #[test]
    fn what_the_client_wrote_since_stays() {
        let before = "{\n  \"numStartups\": 3\n}";
        let outline = draw_outline(Some(before), &keys());
        let with = add_entry(Some(before), &keys(), &make_entry(PROGRAM)).unwrap();
        let mut value: Value = serde_json::from_str(&with).unwrap();
        value["numStartups"] = json!(4);
        value["projects"]["/home/me/app"]["hasTrustDialogAccepted"] = json!(true);
        let rewritten = serde_json::to_string_pretty(&value).unwrap();
        let left = remove_entry(&rewritten, &keys(), PROGRAM, outline.as_deref()).unwrap().unwrap();
        let expected =
            json!({ "numStartups": 4, "projects": { "/home/me/app": { "hasTrustDialogAccepted": true } } });
        assert_eq!(serde_json::from_str::<Value>(&left).unwrap(), expected);
        let moved = add_entry(Some(&rewritten), &keys(), &make_entry("/new/tidegate")).unwrap();
        assert_eq!(called_program(&moved, &keys()).as_deref(), Some("/new/tidegate"));
        // A server that was added next to it keeps the list.
        value["projects"]["/home/me/app"]["mcpServers"]["other"] = json!({ "command": "x" });
        let left = remove_entry(&value.to_string(), &keys(), PROGRAM, None).unwrap().unwrap();
        assert!(left.contains("\"other\"") && !left.contains("tidegate"), "{left}");
    }

    #[test]
    fn what_is_shown_holds_nothing_of_others() {
        let text = r#"{"oauth": "s3cr3t", "projects": {"/home/me/app": {"mcpServers": {"x": {"env": {"KEY": "s3cr3t"}}}}}}"#;
        let with = add_entry(Some(text), &keys(), &make_entry(PROGRAM)).unwrap();
        let drawn = draw_entry(&with, &keys());
        assert!(drawn.contains(PROGRAM) && drawn.contains("/home/me/app"), "{drawn}");
        let own = with.replace("\"env\": {}", "\"env\": {\"MINE\": \"s3cr3t\"}");
        assert_ne!(own, with);
        for text in [text, with.as_str(), own.as_str(), "s3cr3t", "{\"projects\": \"s3cr3t\"}"] {
            assert!(!draw_entry(text, &keys()).contains("s3cr3t"), "{text}");
        }
        assert!(draw_entry(&own, &keys()).contains("\"MINE\": \"…\""));
        assert_eq!(draw_entry("{}", &keys()), "{}\n");
    }

    #[test]
    fn a_server_of_that_name_is_theirs() {
        let own = json!({ "mcpServers": { "tidegate": { "command": "python3", "args": ["mine.py"] } } })
            .to_string();
        let keys = ["mcpServers".to_owned()];
        assert_eq!(find_entry(&own, &keys, PROGRAM), Ok(Found::Theirs));
        assert_eq!(remove_entry(&own, &keys, PROGRAM, None), Ok(Some(own)));
        for broken in ["{\"mcpServers\": 5}", "{\"a\": 1,}", "[]"] {
            assert!(add_entry(Some(broken), &keys, &make_entry(PROGRAM)).is_err(), "{broken}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_file_comes_back(text in odd_json(&["projects", "/home/me/app", "mcpServers", "tidegate"])) {
            let entry = make_entry(PROGRAM);
            if find_entry(&text, &keys(), PROGRAM) != Ok(Found::Nothing) {
                return Ok(());
            }
            let Ok(with) = add_entry(Some(&text), &keys(), &entry) else { return Ok(()) };
            proptest::prop_assert_eq!(find_entry(&with, &keys(), PROGRAM), Ok(Found::Ours));
            let outline = draw_outline(Some(&text), &keys());
            let left = remove_entry(&with, &keys(), PROGRAM, outline.as_deref()).unwrap();
            proptest::prop_assert_eq!(left.as_deref(), Some(text.as_str()), "{}", with);
        }
    }
}
