//! Tidegate's entries in a settings file: text in, text out.

use serde_json::{Value, json};

use super::registrations::{self, Caller, Calls, OwnEntry, Starts, is_ours};
use super::server_text;
use super::status_line::{self, StatusLine, Theirs};
use crate::bilingual::{Bilingual, both};
use crate::json_text::{self, Document, Fault, Node};

/// Entries to write into a file.
#[derive(Debug)]
pub(crate) struct Entries<'a> {
    /// `None` leaves the existing hooks.
    pub(crate) hooks: Option<Caller<'a>>,
    pub(crate) status_line: bool,
}

/// Everything outside the file that its entries depend on.
#[derive(Debug)]
pub(crate) struct EntryContext<'a> {
    /// Path of this program in settings.
    pub(crate) program: &'a str,
    /// The status line of a settings file with less precedence, which the new one would hide.
    pub(crate) farther: Option<String>,
    /// The file before Tidegate, if known: shows which parts were empty and how strings were spelt.
    pub(crate) original: Option<&'a str>,
}

#[derive(Debug, PartialEq)]
pub(crate) struct Refusal {
    pub(crate) fault: Fault,
    /// The client would not read the file.
    is_unread: bool,
}

impl Refusal {
    pub(crate) fn hint(&self) -> Bilingual {
        if self.is_unread {
            both!(
                "Claude Code ignores a settings file with comments or trailing commas, so its hooks would never run; remove \
                 them, then run this again; nothing was changed",
                "コメントや末尾のカンマがある設定ファイルは Claude Code に無視され、フックが動きません。取り除いて、もう一度実行してください。何も変更していません"
            )
        } else {
            both!(
                "fix the file, then run this again; nothing was changed",
                "ファイルを直して、もう一度実行してください。何も変更していません"
            )
        }
    }
}

/// Replaces older entries of Tidegate. `None` stands for no file.
pub(crate) fn add_entries(
    text: Option<&str>,
    entries: &Entries<'_>,
    around: &EntryContext<'_>,
) -> Result<String, Refusal> {
    let text = text.filter(|text| !is_blank(text)).unwrap_or("{}\n");
    let document = Document::parse(text).map_err(broken_json)?;
    check_document(&document, entries)?;
    let has_hooks = entries.hooks.is_none_or(|caller| has_exactly(&document, caller, around.program));
    let theirs = their_line(&document, around);
    let has_line = !entries.status_line || {
        let now = line_of(&document.root).unwrap_or_default();
        now == status_line::make_command(around.program, theirs.as_ref())
            || status_line::read_command(now, around.program) == StatusLine::CallsUs
    };
    let mut new = text.to_owned();
    if let Some(caller) = entries.hooks.filter(|_| !has_hooks) {
        new = without_hooks(new, around).map_err(broken_json)?;
        for (event, groups) in registrations::group_handlers(caller) {
            new = with_groups(&new, event, &groups).map_err(broken_json)?;
        }
    }
    if !has_line {
        let command = status_line::make_command(around.program, theirs.as_ref());
        let document = Document::parse(&new).map_err(broken_json)?;
        let there = document.root.get("statusLine").and_then(|line| line.get("command"));
        let line = json!({ "type": "command", "command": command });
        new = match there {
            Some(there) => document.replace(there, &json_text::quote_string(&command)),
            None => document.push(&document.root, Some("statusLine"), &line),
        };
    }
    if let Some(caller) = entries.hooks.filter(Caller::keeps_server) {
        new = with_server(&new, caller, around).map_err(broken_json)?;
    }
    Ok(new)
}

/// The MCP server, unless a person registered another one under its name.
fn with_server(text: &str, caller: Caller<'_>, around: &EntryContext<'_>) -> Result<String, Fault> {
    let Caller::OfHost(_, program) = caller else { return Ok(text.to_owned()) };
    match server_text::find_entry(text, &server_keys(), around.program)? {
        server_text::Found::Theirs => Ok(text.to_owned()),
        server_text::Found::Ours | server_text::Found::Nothing => {
            let entry = json!({ "command": program, "args": ["mcp"] });
            server_text::put_entry(text, &server_keys(), &entry)
        }
    }
}

fn server_keys() -> [String; 1] {
    ["mcpServers".to_owned()]
}

/// Claude Code has no servers in such a file, but some hosts do.
fn without_server(text: String, around: &EntryContext<'_>) -> Result<String, Fault> {
    let keys = server_keys();
    if server_text::find_entry(&text, &keys, around.program)? != server_text::Found::Ours {
        return Ok(text);
    }
    let outline = server_text::draw_outline(Some(around.original.unwrap_or("{}")), &keys);
    let left = server_text::remove_entry(&text, &keys, around.program, outline.as_deref())?;
    Ok(left.unwrap_or_else(|| "{}\n".to_owned()))
}

/// Returns `None` when nothing is left of a file that did not exist before.
pub(crate) fn remove_entries(text: &str, around: &EntryContext<'_>) -> Result<Option<String>, Refusal> {
    if is_blank(text) {
        return Ok(Some(text.to_owned()));
    }
    let left = without_hooks(text.to_owned(), around).and_then(|text| without_line(text, around));
    let left = left.and_then(|text| without_server(text, around));
    let left = left.map_err(broken_json)?;
    if left == text || around.original.is_some() {
        return Ok(Some(left));
    }
    let document = Document::parse(&left).map_err(broken_json)?;
    let is_empty = document.oddities.is_empty() && document.root.members().is_some_and(<[_]>::is_empty);
    Ok((!is_empty).then_some(left))
}

pub(crate) fn has_ours(text: &str, program: &str) -> bool {
    let Ok(document) = Document::parse(text) else { return false };
    let mut handlers = hook_groups(&document.root).flat_map(handlers_of);
    handlers.any(|handler| is_ours(&document.value(handler), program))
        || line_of(&document.root)
            .is_some_and(|line| status_line::classify_command(line, program) == Calls::Us)
}

/// Commands of a person's own entries that start Tidegate, each once.
pub(crate) fn find_wrappers(text: &str, program: &str) -> Vec<String> {
    let Ok(document) = Document::parse(text) else { return Vec::new() };
    let handlers = hook_groups(&document.root).flat_map(handlers_of).map(|handler| document.value(handler));
    let is_wrapper = |handler: &Value| match registrations::classify_handler(handler, program) {
        Calls::UsSomehow => true,
        Calls::Us => false,
        Calls::Not => registrations::is_script_around(handler),
    };
    let mut wrappers: Vec<String> = Vec::new();
    for handler in handlers.filter(is_wrapper) {
        let command = handler.get("command").and_then(Value::as_str).unwrap_or_default().to_owned();
        if !wrappers.contains(&command) {
            wrappers.push(command);
        }
    }
    wrappers
}

/// Of every event. `hooks` can stand there twice.
pub(crate) fn hook_groups(root: &Node) -> impl Iterator<Item = &Node> {
    let lists = root.members().unwrap_or_default().iter().filter(|item| item.key == "hooks");
    let events = lists.flat_map(|hooks| hooks.value.members().unwrap_or_default());
    events.flat_map(|event| event.value.elements().unwrap_or_default()).map(|group| &group.value)
}

pub(crate) fn handlers_of(group: &Node) -> impl Iterator<Item = &Node> {
    group.get("hooks").and_then(Node::elements).unwrap_or_default().iter().map(|handler| &handler.value)
}

pub(crate) fn has_shared_hooks(text: &str, program: &str) -> bool {
    let is_selector =
        |handler: &Value| OwnEntry::read(handler).is_some_and(|entry| entry.starts == Starts::Selector);
    let is_shared = |group: &Value| group["hooks"].as_array().into_iter().flatten().any(is_selector);
    let groups = Document::parse(text).map(|document| our_groups(&document, program));
    groups.is_ok_and(|groups| groups.iter().any(|(_, group)| is_shared(group)))
}

/// The line that a person would see without Tidegate's.
pub(crate) fn foreign_line(text: &str, program: &str) -> Option<String> {
    let document = Document::parse(text).ok().filter(|document| document.oddities.is_empty())?;
    let command = line_of(&document.root)?;
    match status_line::read_command(command, program) {
        StatusLine::Foreign => Some(command.to_owned()),
        StatusLine::Around(theirs) => Some(theirs.command().to_owned()),
        StatusLine::EarlierAround(theirs) => Some(theirs),
        StatusLine::Ours | StatusLine::CallsUs => None,
    }
}

fn is_blank(text: &str) -> bool {
    text.trim_start_matches('\u{feff}').trim().is_empty()
}

fn broken_json(mut fault: Fault) -> Refusal {
    fault.what.insert_str(0, "broken JSON: ");
    Refusal { fault, is_unread: false }
}

/// Refuses files that cannot be edited, or that the host would not read.
fn check_document(document: &Document<'_>, entries: &Entries<'_>) -> Result<(), Refusal> {
    // Another host reads its files in its own way.
    let is_own = !matches!(entries.hooks, Some(Caller::OfHost(..)));
    if let Some(oddity) = document.oddities.first().filter(|_| is_own) {
        return Err(Refusal { fault: oddity.clone(), is_unread: true });
    }
    let refuse =
        |node: &Node, what: String| Err(Refusal { fault: document.fault(node, what), is_unread: false });
    let root = &document.root;
    if root.members().is_none() {
        return refuse(root, "the file is not a JSON object".into());
    }
    if let Some(hooks) = root.get("hooks").filter(|_| entries.hooks.is_some()) {
        if hooks.members().is_none() {
            return refuse(hooks, "`hooks` is not an object".into());
        }
        for registration in entries.hooks.map_or(&[][..], |caller| caller.registrations()) {
            let name = registration.event.name();
            match hooks.get(name) {
                Some(event) if event.elements().is_none() => {
                    return refuse(event, format!("`hooks.{name}` is not an array"));
                }
                _ => {}
            }
        }
    }
    match root.get("statusLine").filter(|_| entries.status_line) {
        Some(line) if line.get("command").and_then(Node::string).is_none() => {
            refuse(line, "`statusLine` is not an object with a `command`".into())
        }
        _ => Ok(()),
    }
}

pub(crate) fn line_of(root: &Node) -> Option<&str> {
    root.get("statusLine")?.get("command")?.string()
}

fn has_exactly(document: &Document<'_>, caller: Caller<'_>, program: &str) -> bool {
    let wanted: Vec<(String, Value)> = registrations::group_handlers(caller)
        .into_iter()
        .flat_map(|(event, groups)| groups.into_iter().map(move |group| (event.to_owned(), group)))
        .collect();
    let found = our_groups(document, program);
    let is_wanted = |group: &(String, Value)| wanted.contains(group);
    found.len() == wanted.len()
        && found.iter().all(is_wanted)
        && wanted.iter().all(|group| found.contains(group))
}

/// With their events.
fn our_groups(document: &Document<'_>, program: &str) -> Vec<(String, Value)> {
    let events = document.root.get("hooks").and_then(Node::members).unwrap_or_default();
    let groups = events.iter().flat_map(|event| {
        let groups = event.value.elements().unwrap_or_default();
        groups.iter().map(|group| (event.key.clone(), document.value(&group.value)))
    });
    let ours = |group: &Value| {
        group["hooks"].as_array().into_iter().flatten().any(|handler| is_ours(handler, program))
    };
    groups.filter(|(_, group)| ours(group)).collect()
}

/// The status line that Tidegate's is put around.
fn their_line(document: &Document<'_>, around: &EntryContext<'_>) -> Option<Theirs> {
    let farther = || around.farther.clone().map(Theirs::Farther);
    let Some(command) = line_of(&document.root) else { return farther() };
    match status_line::read_command(command, around.program) {
        StatusLine::Foreign | StatusLine::CallsUs => Some(Theirs::Own(command.to_owned())),
        StatusLine::Around(theirs @ Theirs::Own(_)) => Some(theirs),
        StatusLine::EarlierAround(theirs) if around.farther.as_ref() != Some(&theirs) => {
            Some(Theirs::Own(theirs))
        }
        StatusLine::Ours | StatusLine::Around(Theirs::Farther(_)) | StatusLine::EarlierAround(_) => farther(),
    }
}

/// Appends to the event's list.
fn with_groups(text: &str, event: &str, groups: &[Value]) -> Result<String, Fault> {
    let document = Document::parse(text)?;
    let Some(hooks) = document.root.get("hooks") else {
        return Ok(document.push(&document.root, Some("hooks"), &json!({ event: groups })));
    };
    if hooks.get(event).is_none() {
        return Ok(document.push(hooks, Some(event), &json!(groups)));
    }
    let mut new = text.to_owned();
    for group in groups {
        let document = Document::parse(&new)?;
        let list = document.root.get("hooks").and_then(|hooks| hooks.get(event));
        new = list.map(|list| document.push(list, None, group)).unwrap_or(new);
    }
    Ok(new)
}

/// The last first, with containers that are empty without it.
fn without_hooks(mut text: String, around: &EntryContext<'_>) -> Result<String, Fault> {
    while let Some(left) = without_last_hook(&text, around)? {
        text = left;
    }
    Ok(text)
}

fn without_last_hook(text: &str, around: &EntryContext<'_>) -> Result<Option<String>, Fault> {
    let original = around.original.and_then(|text| Document::parse(text).ok());
    let was_there = |event: Option<&str>| {
        let hooks = original.as_ref().and_then(|original| original.root.get("hooks"));
        hooks.is_some_and(|hooks| event.is_none_or(|event| hooks.get(event).is_some()))
    };
    let document = Document::parse(text)?;
    let root = &document.root;
    let members = root.members().unwrap_or_default();
    for (h, hooks) in members.iter().enumerate().rev().filter(|(_, item)| item.key == "hooks") {
        let events = hooks.value.members().unwrap_or_default();
        for (e, event) in events.iter().enumerate().rev() {
            let groups = event.value.elements().unwrap_or_default();
            for (g, group) in groups.iter().enumerate().rev() {
                let list = group.value.get("hooks");
                let handlers = list.and_then(Node::elements).unwrap_or_default();
                let ours = |node: &Node| is_ours(&document.value(node), around.program);
                let Some(last) = handlers.iter().rposition(|handler| ours(&handler.value)) else { continue };
                let left = match list {
                    Some(list) if handlers.len() > 1 => document.remove(list, last),
                    _ if groups.len() > 1 || was_there(Some(&event.key)) => document.remove(&event.value, g),
                    _ if events.len() > 1 || was_there(None) => document.remove(&hooks.value, e),
                    _ => document.remove(root, h),
                };
                return Ok(Some(left));
            }
        }
    }
    Ok(None)
}

/// Restores the wrapped status line.
fn without_line(text: String, around: &EntryContext<'_>) -> Result<String, Fault> {
    let document = Document::parse(&text)?;
    let root = &document.root;
    let members = root.members().unwrap_or_default();
    let Some(index) = members.iter().rposition(|item| item.key == "statusLine") else { return Ok(text) };
    let line = &members[index].value;
    let Some((node, command)) = line.get("command").and_then(|node| Some((node, node.string()?))) else {
        return Ok(text);
    };
    let theirs = match status_line::read_command(command, around.program) {
        StatusLine::Foreign | StatusLine::CallsUs => return Ok(text),
        StatusLine::Around(Theirs::Own(theirs)) => theirs,
        StatusLine::EarlierAround(theirs) if around.farther.as_ref() != Some(&theirs) => theirs,
        // Nothing to restore here: there is no wrapped line, or it stands in another file.
        StatusLine::Ours | StatusLine::Around(Theirs::Farther(_)) | StatusLine::EarlierAround(_) => {
            return Ok(document.remove(root, index));
        }
    };
    let original = around.original.and_then(|text| Document::parse(text).ok());
    let spelt = original.as_ref().and_then(|original| {
        let node = original.root.get("statusLine")?.get("command")?;
        (node.string() == Some(theirs.as_str())).then(|| original.raw(node).to_owned())
    });
    Ok(document.replace(node, &spelt.unwrap_or_else(|| json_text::quote_string(&theirs))))
}

#[cfg(test)]
#[path = "../../../tests/cli/install/shapes.rs"]
mod shapes;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json_text::tests::odd_json;
    use shapes::{needs_record, shapes};

    const PROGRAM: &str = "/opt/it's here/tidegate";
    const ALL: Entries<'_> = Entries { hooks: Some(Caller::Program(PROGRAM)), status_line: true };

    fn around(original: Option<&str>) -> EntryContext<'_> {
        EntryContext { program: PROGRAM, farther: None, original }
    }

    fn installed(text: Option<&str>) -> String {
        let once = add_entries(text, &ALL, &around(None)).unwrap();
        assert_eq!(add_entries(Some(&once), &ALL, &around(text)).unwrap(), once);
        assert_eq!(add_entries(Some(&once), &ALL, &around(None)).unwrap(), once);
        assert!(has_ours(&once, PROGRAM) && !has_shared_hooks(&once, PROGRAM));
        once
    }

    fn out(text: &str) -> Option<String> {
        remove_entries(text, &around(None)).unwrap()
    }

    #[test]
    fn a_new_file_goes_again() {
        for nothing in [None, Some(""), Some("\n\n"), Some("\u{feff}")] {
            assert_eq!(out(&installed(nothing)), None);
        }
    }

    #[test]
    fn what_others_put_there_stays_as_it_is() {
        let files = [
            "{ \"model\": \"opus\" }\n",
            "{\"model\":\"opus\",\"hooks\":{\"Stop\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"x\"}]}]}}",
            "{\n\t\"hooks\": {\n\t\t\"Stop\": [{\n\t\t\t\"hooks\": [{ \"type\": \"command\", \"command\": \"x\" }]\n\t\t}]\n\t}\n}",
            "{\r\n    \"statusLine\": {\r\n        \"type\": \"command\",\r\n        \"command\": \"echo 'it'\\\\''s me'\",\r\n        \"padding\": 0\r\n    },\r\n    \"z\": [ ]\r\n}",
            "{\"hooks\": {\"PreToolUse\": [{\"matcher\": \"Bash\", \"hooks\": []}]}, \"hooks\": {\"Stop\": [{}]}}",
            "{\"statusLine\": {\"command\": \"first\"}, \"statusLine\": {\"command\": \"last\", \"type\": \"command\"}}",
        ];
        for theirs in files {
            let with = installed(Some(theirs));
            assert_eq!(out(&with).as_deref(), Some(theirs), "{with}");
        }
    }

    #[test]
    fn every_shape_comes_back_to_the_byte() {
        const ADDED: &str = "{\"foreign\": {\"x\": [1]}, ";
        let shared = Entries { hooks: Some(Caller::Shared), status_line: false };
        let own = Entries { hooks: None, status_line: true };
        for ((name, text), entries) in
            shapes().iter().flat_map(|shape| [(shape, &ALL), (shape, &shared), (shape, &own)])
        {
            let with = add_entries(Some(text), entries, &around(None)).unwrap();
            assert_eq!(add_entries(Some(&with), entries, &around(Some(text))).unwrap(), with, "{name}");
            // A file without a value is put back by the record, as a whole.
            let before = if text.trim().is_empty() { "{}\n" } else { text };
            let left = remove_entries(&with, &around(Some(text))).unwrap();
            assert_eq!(left.as_deref(), Some(before), "{name}: {with}");
            // What somebody added in between stays.
            let added = with.replacen('{', ADDED, 1);
            assert_eq!(add_entries(Some(&added), entries, &around(Some(text))).unwrap(), added, "{name}");
            let left = remove_entries(&added, &around(Some(text))).unwrap().unwrap();
            if text.trim_matches(['{', '}', '\n']).is_empty() {
                let left: Value = serde_json::from_str(&left).unwrap();
                assert_eq!(left, json!({ "foreign": { "x": [1] } }), "{name}");
            } else {
                assert_eq!(left, text.replacen('{', ADDED, 1), "{name}");
            }
            if !needs_record(name) {
                assert_eq!(out(&with).as_ref(), Some(text), "{name}: {with}");
            }
        }
    }

    #[test]
    fn what_was_empty_or_spelt_oddly_comes_back_with_the_original() {
        for theirs in [
            "{}",
            "{ \"hooks\": {} }\n",
            "{\n  \"hooks\": {\n  },\n  \"a\": 1\n}",
            "{\"hooks\": {\"Stop\": [], \"PreToolUse\": [ ]}}",
            "{\"statusLine\": {\"command\": \"echo \\u00e9\\/\"}}",
        ] {
            let with = installed(Some(theirs));
            let left = |text: &str| remove_entries(text, &around(Some(theirs))).unwrap().unwrap();
            assert_eq!(left(&with), theirs, "{with}");
            // Also when the file was changed since.
            if theirs != "{}" {
                let edited = with.replacen('{', "{\"new\": 1, ", 1);
                assert_eq!(left(&edited).replacen("{\"new\": 1, ", "{", 1), theirs, "{with}");
            }
        }
    }

    #[test]
    fn a_line_of_another_file_is_wrapped_and_not_copied_back() {
        let around = EntryContext { farther: Some("theirs".into()), ..around(None) };
        let once = add_entries(None, &ALL, &around).unwrap();
        assert!(once.contains("farther='theirs'"), "{once}");
        assert_eq!(add_entries(Some(&once), &ALL, &around).unwrap(), once);
        assert_eq!(foreign_line(&once, PROGRAM).as_deref(), Some("theirs"));
        // The other file may have changed since.
        assert_eq!(out(&once), None);
    }

    #[test]
    fn entries_of_an_earlier_version_are_replaced() {
        let earlier = json!({
            "model": "opus",
            "hooks": { "Stop": [
                { "hooks": [{ "type": "command", "command": "theirs" }] },
                { "hooks": [{ "type": "command", "command": "/old/tidegate", "args": ["hook", "--event", "Stop"] }] },
            ] },
            "statusLine": { "type": "command", "command": "'/old/tidegate' statusline --wrap 'echo hi'" },
        });
        let earlier = serde_json::to_string_pretty(&earlier).unwrap();
        let with = installed(Some(&earlier));
        assert!(!with.contains("/old/"), "{with}");
        let left: Value = serde_json::from_str(&out(&with).unwrap()).unwrap();
        let expected = json!({
            "model": "opus",
            "hooks": { "Stop": [{ "hooks": [{ "type": "command", "command": "theirs" }] }] },
            "statusLine": { "type": "command", "command": "echo hi" },
        });
        assert_eq!(left, expected);
    }

    #[test]
    fn what_was_added_to_ours_stays() {
        let with = installed(None);
        let mut settings: Value = serde_json::from_str(&with).unwrap();
        let handlers = settings["hooks"]["Stop"][0]["hooks"].as_array_mut().unwrap();
        handlers.push(json!({ "type": "command", "command": "theirs" }));
        let edited = settings.to_string();
        let left: Value = serde_json::from_str(&out(&edited).unwrap()).unwrap();
        assert_eq!(
            left,
            json!({ "hooks": { "Stop": [{ "hooks": [{ "type": "command", "command": "theirs" }] }] } })
        );
        // And is no reason to call the file finished.
        let again = add_entries(Some(&edited), &ALL, &around(None)).unwrap();
        assert_eq!(again.matches("theirs").count(), 1);
        assert_eq!(add_entries(Some(&again), &ALL, &around(None)).unwrap(), again);
    }

    #[test]
    fn comments_and_trailing_commas_keep_us_out_but_not_in() {
        let with = installed(Some("{\n  \"a\": 1\n}\n"));
        let odd = with.replacen("\"a\": 1,", "\"a\": 1, // mine", 1).replacen("\n}\n", ",\n}\n", 1);
        let left = out(&odd).unwrap();
        assert!(left.contains("// mine") && !left.contains("tidegate"), "{left}");
        let refusal = add_entries(Some(&odd), &ALL, &around(None)).unwrap_err();
        assert_eq!((refusal.fault.line, refusal.fault.column), (2, 11));
        assert!(refusal.hint().en.contains("never run"));
    }

    #[test]
    fn what_does_not_fit_is_refused_with_its_place() {
        for (text, column) in [
            ("[]", 1),
            ("{\"hooks\": 5}", 11),
            ("{\"hooks\": {\"Stop\": {}}}", 20),
            ("{\"statusLine\": null}", 16),
            ("{\"statusLine\": {\"type\": \"command\"}}", 16),
            ("{\"a\": 1,}", 8),
            ("{\"a\": 1", 8),
        ] {
            let refusal = add_entries(Some(text), &ALL, &around(None)).expect_err(text);
            assert_eq!((refusal.fault.line, refusal.fault.column), (1, column), "{text}: {refusal:?}");
        }
        assert!(remove_entries("{,}", &around(None)).is_err());
        for kept in ["[]", "{\"hooks\": 5}", "{\"statusLine\": null}", "{ \"a\": 1 }", ""] {
            assert_eq!(out(kept).as_deref(), Some(kept));
        }
    }

    #[test]
    fn a_line_that_calls_us_is_left_alone() {
        let own = json!({ "statusLine": { "type": "command", "command": "tidegate statusline | tac" } });
        let with = installed(Some(&own.to_string()));
        let with: Value = serde_json::from_str(&with).unwrap();
        assert_eq!(with["statusLine"], own["statusLine"]);
    }

    proptest::proptest! {
        /// Whatever stands there: it is refused, or comes back as it was.
        #[test]
        fn any_file_comes_back(text in odd_json(&["hooks", "Stop", "PreToolUse", "statusLine", "command"])) {
            for entries in [ALL, Entries { hooks: Some(Caller::Shared), status_line: false }] {
                let Ok(with) = add_entries(Some(&text), &entries, &around(None)) else { continue };
                proptest::prop_assert_eq!(&add_entries(Some(&with), &entries, &around(Some(&text))).unwrap(), &with);
                let left = remove_entries(&with, &around(Some(&text))).unwrap();
                proptest::prop_assert_eq!(left.as_deref(), Some(text.as_str()), "{}", with);
            }
        }
    }

    #[test]
    fn the_shared_file_has_hooks_and_the_own_file_the_line() {
        let shared =
            add_entries(None, &Entries { hooks: Some(Caller::Shared), status_line: false }, &around(None));
        let shared = shared.unwrap();
        assert!(has_shared_hooks(&shared, PROGRAM) && has_ours(&shared, PROGRAM));
        assert!(!shared.contains("statusLine") && !shared.contains("onFailure"), "{shared}");
        let own = add_entries(None, &Entries { hooks: None, status_line: true }, &around(None)).unwrap();
        assert!(!own.contains("\"hooks\"") && has_ours(&own, PROGRAM));
        assert_eq!((out(&shared), out(&own)), (None, None));
    }
}
