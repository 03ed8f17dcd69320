//! A file of hooks as Codex 0.166.0 reads it: a key that it does not know, one that comes twice or a value of another type,
//! and it runs none of the hooks in the file. The types here have exactly the members that it checks.

use serde::Deserialize;

use crate::json_text::Fault;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only whether it can be read")]
struct HooksFile {
    #[serde(default)]
    description: Option<String>,
    #[serde(default)]
    hooks: Events,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
struct Events {
    pre_tool_use: Vec<Group>,
    permission_request: Vec<Group>,
    post_tool_use: Vec<Group>,
    pre_compact: Vec<Group>,
    post_compact: Vec<Group>,
    session_start: Vec<Group>,
    session_end: Vec<Group>,
    user_prompt_submit: Vec<Group>,
    subagent_start: Vec<Group>,
    subagent_stop: Vec<Group>,
    stop: Vec<Group>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "only whether it can be read")]
struct Group {
    #[serde(default)]
    matcher: Option<String>,
    #[serde(default)]
    hooks: Vec<Handler>,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[expect(dead_code, reason = "only whether it can be read")]
enum Handler {
    Command {
        command: String,
        #[serde(default, rename = "commandWindows", alias = "command_windows")]
        command_windows: Option<String>,
        #[serde(default)]
        timeout: Option<u64>,
        #[serde(default)]
        r#async: bool,
        #[serde(default, rename = "statusMessage")]
        status_message: Option<String>,
        #[serde(default, rename = "additionalContextLimit")]
        context_limit: Option<u64>,
    },
    McpTool {
        server: String,
        tool: String,
        #[serde(default)]
        input: serde_json::Map<String, serde_json::Value>,
        #[serde(default)]
        timeout: Option<u64>,
        #[serde(default, rename = "statusMessage")]
        status_message: Option<String>,
    },
    Prompt {},
    Agent {},
}

/// Why Codex would refuse the file.
pub(crate) fn find_fault(text: &str) -> Option<Fault> {
    let error = serde_json::from_str::<HooksFile>(text).err()?;
    let said = error.to_string();
    let what = said.rsplit_once(" at line ").map_or(said.as_str(), |(what, _)| what).to_owned();
    Some(Fault { line: error.line(), column: error.column(), what })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(text: &str) -> Option<(usize, String)> {
        find_fault(text).map(|fault| (fault.line, fault.what))
    }

    #[test]
    fn one_wrong_key_or_value_is_enough() {
        let handler = r#"{ "type": "command", "command": "x", "timeout": 5, "args": ["ignored"], "if": 1 }"#;
        let file = |group: &str| format!("{{ \"hooks\": {{ \"Stop\": [{group}], \"Unknown\": 7 }} }}");
        for fine in [
            "{}".to_owned(),
            "{ \"description\": \"mine\", \"hooks\": {} }".to_owned(),
            file(&format!("{{ \"matcher\": null, \"hooks\": [{handler}], \"more\": 1 }}")),
            file(
                r#"{ "hooks": [{ "type": "mcp_tool", "server": "s", "tool": "t", "input": { "a": 1 } }, { "type": "prompt" }] }"#,
            ),
        ] {
            assert_eq!(fault(&fine), None, "{fine}");
        }
        for (wrong, what) in [
            ("{ \"version\": 1 }".to_owned(), "unknown field `version`"),
            ("{ \"hooks\": {}, \"hooks\": {} }".to_owned(), "duplicate field `hooks`"),
            ("{ \"hooks\": { \"Stop\": [], \"Stop\": [] } }".to_owned(), "duplicate field `Stop`"),
            ("{ \"hooks\": null }".to_owned(), "invalid type: null"),
            (file(r#"{ "hooks": [{ "type": "command" }] }"#), "missing field `command`"),
            (
                file(r#"{ "hooks": [{ "type": "command", "command": "x", "timeout": "5" }] }"#),
                "invalid type: string",
            ),
            (
                file(r#"{ "hooks": [{ "type": "command", "command": "x", "timeout": 1, "timeout": 2 }] }"#),
                "duplicate field `timeout`",
            ),
            (file(r#"{ "hooks": [{ "type": "other" }] }"#), "unknown variant `other`"),
            ("\u{feff}{}".to_owned(), "expected value"),
            ("{ // mine\n }".to_owned(), "key must be a string"),
        ] {
            let found = fault(&wrong);
            assert!(
                found.as_ref().is_some_and(|(line, said)| *line == 1 && said.contains(what)),
                "{wrong}: {found:?}"
            );
        }
        assert_eq!(fault("{\n  \"hooks\": {},\n  \"x\": 1\n}").map(|found| found.0), Some(3));
    }
}
