//! Differences between Tidegate's hooks in a settings file and those that this version registers.
//!
//! The program that they call is not compared here: the check `paths` looks at that.

use serde_json::{Map, Value};
use tidegate_core::event::EventKind;

use super::registrations::{OwnEntry, REGISTRATIONS, Registration, is_ours};
use crate::bilingual::{Bilingual, both};

/// Without these Tidegate is not at work.
pub(crate) const NEEDED: [&str; 5] =
    ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"];

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Difference {
    pub(crate) what: Bilingual,
    /// Something is not gated or not said.
    pub(crate) is_grave: bool,
}

struct OwnHandler<'a> {
    event: &'a str,
    matcher: Option<&'a Value>,
    handler: &'a Value,
    entry: OwnEntry,
}

/// Empty if there is no hook of Tidegate.
pub(crate) fn find_differences(settings: &Map<String, Value>, program: &str) -> Vec<Difference> {
    let mut found = find_own(settings, program);
    if found.is_empty() {
        return Vec::new();
    }
    let mut take =
        |fits: &dyn Fn(&OwnHandler<'_>) -> bool| found.iter().position(fits).map(|at| found.remove(at));
    let mut changed: Vec<&Registration> = REGISTRATIONS.iter().collect();
    changed.retain(|wanted| take(&|it| is_exactly(it, wanted)).is_none());
    let mut differences = Vec::new();
    for wanted in changed {
        let event = wanted.event.name();
        let there = take(&|it| it.event == event && it.entry.is_advice() == is_advice_wanted(wanted));
        if let Some(there) = there {
            differences.extend(compare_handler(&there, wanted));
            continue;
        }
        let what = match wanted.matcher {
            Some(matcher) => {
                both!("{event} is not registered for {matcher}", "{event}（{matcher}）が登録されていません")
            }
            None => both!("{event} is not registered", "{event} が登録されていません"),
        };
        let is_grave = wanted.gate || (wanted.matcher.is_none() && NEEDED.contains(&event));
        differences.push(Difference { what, is_grave });
    }
    for left in found {
        let is_known = REGISTRATIONS.iter().any(|wanted| wanted.event.name() == left.event);
        let event = left.event;
        let what = if is_known {
            both!("{event} is registered more than once", "{event} が重複して登録されています")
        } else {
            both!("{event} is registered, but not used", "{event} は使われない登録です")
        };
        differences.push(Difference { what, is_grave: false });
    }
    differences
}

fn find_own<'a>(settings: &'a Map<String, Value>, program: &str) -> Vec<OwnHandler<'a>> {
    let mut found = Vec::new();
    for (event, groups) in settings.get("hooks").and_then(Value::as_object).into_iter().flatten() {
        for group in groups.as_array().into_iter().flatten() {
            let handlers = group.get("hooks").and_then(Value::as_array).into_iter().flatten();
            // Both match everything, like no matcher.
            let matcher = group.get("matcher").filter(|matcher| *matcher != "" && *matcher != "*");
            let ours = handlers.filter(|handler| is_ours(handler, program));
            let read =
                |handler| Some(OwnHandler { event, matcher, handler, entry: OwnEntry::read(handler)? });
            found.extend(ours.filter_map(read));
        }
    }
    found
}

fn is_exactly(found: &OwnHandler<'_>, wanted: &Registration) -> bool {
    found.event == wanted.event.name()
        && has_matcher(found, wanted)
        && *found.handler == wanted.handler(found.entry.caller())
}

fn has_matcher(found: &OwnHandler<'_>, wanted: &Registration) -> bool {
    found.matcher.map(Value::as_str) == wanted.matcher.map(Some)
}

fn is_advice_wanted(wanted: &Registration) -> bool {
    wanted.event == EventKind::PreToolUse && !wanted.gate
}

fn compare_handler(found: &OwnHandler<'_>, wanted: &Registration) -> Option<Difference> {
    let event = found.event;
    let right = wanted.handler(found.entry.caller());
    let (right, there) = (right.as_object(), found.handler.as_object());
    let (Some(right), Some(there)) = (right, there) else {
        let what = both!("{event} is not a hook", "{event} の項目がフックではありません");
        return Some(Difference { what, is_grave: true });
    };
    let is = |key: &str, value: &Value| both!("`{key}` is {value}", "`{key}` が {value} です");
    let is_missing = |key: &str| both!("`{key}` is missing", "`{key}` がありません");
    let mut whats = Vec::new();
    let mut is_grave = false;
    if !has_matcher(found, wanted) {
        whats.push(found.matcher.map_or_else(|| is_missing("matcher"), |matcher| is("matcher", matcher)));
        is_grave |= wanted.gate || found.matcher.is_some();
    }
    let is_call = |key: &&String| matches!(key.as_str(), "args" | "command");
    let is_same_call = ["command", "args"].iter().all(|key| right.get(*key) == there.get(*key));
    if let Some((what, is_wrong)) = (!is_same_call).then(|| compare_call(found, right)).flatten() {
        whats.push(what);
        is_grave |= is_wrong;
    }
    for (key, value) in right.iter().filter(|(key, _)| !is_call(key)) {
        match there.get(key) {
            Some(there) if there == value => continue,
            Some(there) => whats.push(is(key, there)),
            None => whats.push(is_missing(key)),
        }
        is_grave = true;
    }
    for (key, value) in there.iter().filter(|(key, _)| !is_call(key) && !right.contains_key(*key)) {
        whats.push(is(key, value));
        is_grave |= matches!(key.as_str(), "async" | "asyncRewake" | "if" | "once")
            || (key == "timeout" && !value.is_number());
    }
    let Bilingual { en, ja } = Bilingual::list(whats.clone());
    (!whats.is_empty()).then(|| Difference { what: both!("{event}: {en}", "{event}: {ja}"), is_grave })
}

/// Returns the difference of a call, and whether it does something else. Old forms with the same arguments are left to
/// [`super::misread`].
fn compare_call(found: &OwnHandler<'_>, right: &Map<String, Value>) -> Option<(Bilingual, bool)> {
    let wanted = OwnEntry::read(&Value::Object(right.clone())).map(|entry| entry.words);
    let words = &found.entry.words;
    if words.is_empty() {
        Some((both!("it names no event", "イベント名がありません"), true))
    } else if wanted.as_ref() != Some(words) {
        let words = words.join(" ");
        Some((both!("it calls `{words}`", "`{words}` を呼び出しています"), true))
    } else if found.entry.runs_payload {
        None
    } else if right.contains_key("args") {
        Some((both!("it is a line of shell", "シェルのコマンド行になっています"), false))
    } else {
        Some((both!("it has `args`", "`args` があります"), false))
    }
}

#[cfg(test)]
mod tests {
    use super::super::registrations::{Caller, group_handlers};
    use super::*;
    use serde_json::json;

    fn settings(caller: Caller<'_>) -> Value {
        let hooks: Map<String, Value> = group_handlers(caller)
            .into_iter()
            .map(|(event, groups)| (event.to_owned(), json!(groups)))
            .collect();
        json!({ "hooks": hooks })
    }

    fn of(settings: &Value) -> Vec<(String, bool)> {
        let all = find_differences(settings.as_object().unwrap(), "/x/tidegate");
        all.into_iter().map(|difference| (difference.what.en, difference.is_grave)).collect()
    }

    #[test]
    fn what_we_register_differs_in_nothing() {
        for caller in [
            Caller::Program("/x/tidegate"),
            Caller::Program("/a home/tidegate"),
            Caller::Program("/old/tidegate"),
            Caller::Shared,
        ] {
            assert_eq!(of(&settings(caller)), []);
        }
        assert_eq!(of(&json!({})), [], "nothing of ours");
        // Handlers of other tools do not count.
        let mut shared = settings(Caller::Shared);
        let theirs = json!({ "type": "command", "command": "theirs" });
        shared["hooks"]["Stop"][0]["hooks"].as_array_mut().unwrap().push(theirs);
        assert_eq!(of(&shared), []);
    }

    #[test]
    fn each_difference_is_named() {
        type Change = fn(&mut Value);
        let cases: [(Change, &str, bool); 12] = [
            (
                |hooks| drop(hooks["PreToolUse"].as_array_mut().unwrap().remove(0)),
                "PreToolUse is not registered for Edit|Write|MultiEdit|NotebookEdit",
                true,
            ),
            (
                |hooks| hooks["PreToolUse"][0]["matcher"] = json!("Bash"),
                "PreToolUse: `matcher` is \"Bash\"",
                true,
            ),
            (
                |hooks| {
                    let gate = hooks["PreToolUse"][0]["hooks"][0].as_object_mut().unwrap();
                    gate.remove("onFailure");
                },
                "PreToolUse: `onFailure` is missing",
                true,
            ),
            (|hooks| hooks["Stop"][0]["hooks"][0]["async"] = json!(true), "Stop: `async` is true", true),
            (|hooks| hooks["Stop"][0]["hooks"][0]["if"] = json!("x"), "Stop: `if` is \"x\"", true),
            (
                |hooks| hooks["Stop"][0]["hooks"][0]["type"] = json!("comand"),
                "Stop: `type` is \"comand\"",
                true,
            ),
            (|hooks| hooks["Stop"][0]["hooks"][0]["timeout"] = json!("5"), "Stop: `timeout` is \"5\"", true),
            (|hooks| hooks["Stop"][0]["hooks"][0]["timeout"] = json!(5), "Stop: `timeout` is 5", false),
            (
                |hooks| hooks["Stop"][0]["hooks"][0]["args"][2] = json!("SubagentStop"),
                "Stop: it calls `hook --event SubagentStop`",
                true,
            ),
            (
                |hooks| drop(hooks["Stop"][0]["hooks"][0].as_object_mut().unwrap().remove("args")),
                "Stop: it names no event",
                true,
            ),
            (|hooks| hooks["PreCompact"] = json!([]), "PreCompact is not registered", false),
            (
                |hooks| {
                    let again = hooks["Stop"][0].clone();
                    hooks["Stop"].as_array_mut().unwrap().push(again.clone());
                    hooks["Setup"] = json!([again]);
                },
                "Stop is registered more than once",
                false,
            ),
        ];
        for (change, what, is_grave) in cases {
            let mut settings = settings(Caller::Program("/x/tidegate"));
            change(&mut settings["hooks"]);
            assert_eq!(of(&settings)[0], (what.to_owned(), is_grave));
        }
        let mut settings = settings(Caller::Shared);
        settings["hooks"]["Stop"][0]["hooks"][0] = json!({
            "type": "command",
            "command": "sh",
            "args": ["-c", "for t in x; do exec \"$t\" \"$@\"; done; exit 0", "tidegate", "hook", "--event", "Stop", "--via", "shared"],
        });
        assert_eq!(of(&settings), [], "another check reports it");
        settings["hooks"]["Stop"][0]["hooks"][0]["args"][5] = json!("SubagentStop");
        assert_eq!(of(&settings)[0].0, "Stop: it calls `hook --event SubagentStop --via shared`");
        let line = json!({ "hooks": { "Stop": [{ "hooks": [
            { "type": "command", "command": "/old/tidegate hook --event Stop" }] }] } });
        assert!(of(&line).contains(&("Stop: it is a line of shell".to_owned(), false)));
    }
}
