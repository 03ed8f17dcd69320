//! Calls of Tidegate's own MCP server, as a hook sees them: only a hook knows the true session.

use serde_json::Value;

use crate::feature::memory::catalogue::NamedId;
use crate::feature::memory::short_name::short_name;

/// The topic in an answer of Tidegate's MCP server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChosenTopic {
    pub topic: NamedId,
    pub project: Option<NamedId>,
    /// It is the session's topic from now on.
    pub current: bool,
}

/// A longer answer does not come from Tidegate's server.
const LONGEST: usize = 64 * 1024;

/// The host passes the server's answer as a list of blocks, other versions as the object itself. So any
/// object with a topic counts, at any depth, also as the last line of a text.
pub fn parse_chosen_topic(response: &str) -> Option<ChosenTopic> {
    if response.len() > LONGEST {
        return None;
    }
    find_topic(&serde_json::from_str(response).ok()?, 0)
}

/// Enough for blocks, their text and the object in it.
const DEEPEST: usize = 6;

fn find_topic(value: &Value, depth: usize) -> Option<ChosenTopic> {
    if depth > DEEPEST {
        return None;
    }
    let below = |value: &Value| find_topic(value, depth + 1);
    match value {
        Value::Object(members) => match members.get("topic").and_then(read_named) {
            Some(topic) => Some(ChosenTopic {
                topic,
                project: members.get("project").and_then(read_named),
                current: members.get("set") == Some(&Value::Bool(true)),
            }),
            None => members.values().find_map(below),
        },
        Value::Array(blocks) => blocks.iter().find_map(below),
        Value::String(text) => {
            let last = text.trim_end().lines().next_back()?;
            let object = |text: &str| serde_json::from_str::<Value>(text).ok().filter(Value::is_object);
            object(text).or_else(|| object(last)).as_ref().and_then(below)
        }
        _ => None,
    }
}

fn read_named(value: &Value) -> Option<NamedId> {
    let text = |key: &str| value.get(key).and_then(Value::as_str);
    let id = value.get("id")?.as_i64().filter(|id| *id > 0)?;
    Some(NamedId { id, name: short_name(text("title").or_else(|| text("name")).unwrap_or_default()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_found_wherever_it_stands() {
        let object =
            r#"{"topic": {"id": 12, "title": "search"}, "project": {"id": 3, "name": "shop"}, "set": true}"#;
        let text = Value::String(format!("The topic is set.\n{object}\n"));
        let project = Some(NamedId { id: 3, name: "shop".into() });
        let expected =
            ChosenTopic { topic: NamedId { id: 12, name: "search".into() }, project, current: true };
        for response in [
            object.to_owned(),
            format!(r#"[{{"type": "text", "text": {text}}}]"#),
            format!(r#"{{"content": [{{"type": "text", "text": "set"}}], "structuredContent": {object}}}"#),
            Value::String(object.to_owned()).to_string(),
        ] {
            assert_eq!(parse_chosen_topic(&response), Some(expected.clone()), "{response}");
        }
        let plain = parse_chosen_topic(r#"{"topic": {"id": 12}}"#).unwrap();
        assert_eq!((plain.topic.name.as_str(), plain.project, plain.current), ("", None, false));
        for response in [
            "",
            "[]",
            r#"{"topic": {"id": 0}}"#,
            r#"{"topic": {"id": -4}}"#,
            r#"{"topic": {"id": "12"}}"#,
            r#"{"topic": 12}"#,
            r#"[{"type": "text", "text": "{\"topic\": nonsense"}]"#,
        ] {
            assert_eq!(parse_chosen_topic(response), None, "{response}");
        }
        assert_eq!(parse_chosen_topic(&format!(r#"["{}", {object}]"#, "x".repeat(LONGEST))), None);
        let deep = format!("{}{object}{}", "[".repeat(9), "]".repeat(9));
        assert_eq!(parse_chosen_topic(&deep), None);
    }
}
