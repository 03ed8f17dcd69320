//! Calls of Tidegate's own MCP server, as a hook sees them: only a hook knows the true session.

use serde_json::Value;

use crate::feature::memory::catalogue::Named;
use crate::feature::memory::shown::shown;

/// The topic in an answer of Tidegate's MCP server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chosen {
    pub topic: Named,
    pub project: Option<Named>,
    /// It is the session's topic from now on.
    pub current: bool,
}

/// A longer answer does not come from Tidegate's server.
const LONGEST: usize = 64 * 1024;

/// The host passes the server's answer as a list of blocks, other versions as the object itself. So any
/// object with a topic counts, at any depth, also as the last line of a text.
pub fn chosen(response: &str) -> Option<Chosen> {
    if response.len() > LONGEST {
        return None;
    }
    find(&serde_json::from_str(response).ok()?, 0)
}

/// Enough for blocks, their text and the object in it.
const DEEPEST: usize = 6;

fn find(value: &Value, depth: usize) -> Option<Chosen> {
    if depth > DEEPEST {
        return None;
    }
    let below = |value: &Value| find(value, depth + 1);
    match value {
        Value::Object(members) => match members.get("topic").and_then(named) {
            Some(topic) => Some(Chosen {
                topic,
                project: members.get("project").and_then(named),
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

fn named(value: &Value) -> Option<Named> {
    let text = |key: &str| value.get(key).and_then(Value::as_str);
    let id = value.get("id")?.as_i64().filter(|id| *id > 0)?;
    Some(Named { id, name: shown(text("title").or_else(|| text("name")).unwrap_or_default()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_found_wherever_it_stands() {
        let object =
            r#"{"topic": {"id": 12, "title": "search"}, "project": {"id": 3, "name": "shop"}, "set": true}"#;
        let text = Value::String(format!("The topic is set.\n{object}\n"));
        let project = Some(Named { id: 3, name: "shop".into() });
        let expected = Chosen { topic: Named { id: 12, name: "search".into() }, project, current: true };
        for response in [
            object.to_owned(),
            format!(r#"[{{"type": "text", "text": {text}}}]"#),
            format!(r#"{{"content": [{{"type": "text", "text": "set"}}], "structuredContent": {object}}}"#),
            Value::String(object.to_owned()).to_string(),
        ] {
            assert_eq!(chosen(&response), Some(expected.clone()), "{response}");
        }
        let plain = chosen(r#"{"topic": {"id": 12}}"#).unwrap();
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
            assert_eq!(chosen(response), None, "{response}");
        }
        assert_eq!(chosen(&format!(r#"["{}", {object}]"#, "x".repeat(LONGEST))), None);
        let deep = format!("{}{object}{}", "[".repeat(9), "]".repeat(9));
        assert_eq!(chosen(&deep), None);
    }
}
