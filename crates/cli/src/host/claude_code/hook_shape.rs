//! Hook entries that the host does not accept. One of them at a gating event makes it ignore the whole file.

use serde_json::{Map, Value};

use crate::bilingual::{Bilingual, both};

/// Events at which one invalid entry costs the whole file (client 2.1.325).
const STRICT: [&str; 2] = ["PreToolUse", "PermissionRequest"];

const TYPES: [&str; 5] = ["command", "http", "mcp_tool", "prompt", "agent"];

/// Faults of the handlers that `counts` selects, at the events that matter.
pub(crate) fn find_faults(settings: &Map<String, Value>, counts: impl Fn(&Value) -> bool) -> Vec<Bilingual> {
    let mut faults = Vec::new();
    for event in STRICT {
        let groups = settings.get("hooks").and_then(|hooks| hooks.get(event)).and_then(Value::as_array);
        for group in groups.into_iter().flatten() {
            match group.get("hooks").and_then(Value::as_array) {
                None => faults.push(both!(
                    "{event}: an entry without a list of `hooks`",
                    "{event}: `hooks` の一覧がない項目があります"
                )),
                Some(handlers) => {
                    let wrong = handlers.iter().filter(|handler| counts(handler)).filter_map(find_fault);
                    faults.extend(
                        wrong.map(|what| both!("{event}: {en}", "{event}: {ja}", en = what.en, ja = what.ja)),
                    );
                }
            }
        }
    }
    faults
}

fn find_fault(handler: &Value) -> Option<Bilingual> {
    let kind = handler.get("type");
    if let Some(timeout) = handler.get("timeout").filter(|timeout| !timeout.is_number()) {
        return Some(both!(
            "`timeout` is {timeout}, not a number",
            "`timeout` が数値ではなく {timeout} です"
        ));
    }
    match kind.and_then(Value::as_str) {
        None => Some(both!("a hook without a `type`", "`type` のないフックがあります")),
        Some("command") if !handler.get("command").is_some_and(Value::is_string) => Some(both!(
            "a hook of type `command` without a `command`",
            "`command` のない、種類 `command` のフックがあります"
        )),
        Some(kind) if !TYPES.contains(&kind) => {
            Some(both!("a hook of the unknown type `{kind}`", "フックの種類 `{kind}` は使えません"))
        }
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_what_costs_the_file_is_named() {
        let found = |event: &str, handler: Value| {
            let settings = json!({ "hooks": { event: [{ "hooks": [handler] }] } });
            find_faults(settings.as_object().unwrap(), |_| true)
        };
        for (handler, part) in [
            (json!({ "type": "comand", "command": "x" }), "unknown type `comand`"),
            (json!({ "type": "command" }), "without a `command`"),
            (json!({ "type": "command", "command": "x", "timeout": "5" }), "`timeout` is \"5\""),
            (json!({ "command": "x" }), "without a `type`"),
            (json!(7), "without a `type`"),
        ] {
            assert!(found("PreToolUse", handler.clone())[0].en.contains(part), "{handler}");
            assert_eq!(found("PermissionRequest", handler.clone()).len(), 1);
            assert_eq!(found("Stop", handler), []);
        }
        for fine in [
            json!({ "type": "command", "command": "x", "timeout": 5 }),
            json!({ "type": "http", "url": "x" }),
            json!({ "type": "prompt", "prompt": "?" }),
        ] {
            assert_eq!(found("PreToolUse", fine), []);
        }
        let none = json!({ "hooks": { "PreToolUse": [{}, { "hooks": [7] }] } });
        assert_eq!(find_faults(none.as_object().unwrap(), |_| false).len(), 1);
    }
}
