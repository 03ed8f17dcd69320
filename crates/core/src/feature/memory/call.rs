//! Calls of our own MCP server, as a hook sees them: only there the true session is known.

use serde_json::Value;

use crate::feature::memory::catalogue::Named;
use crate::feature::memory::shown::shown;

/// What an answer of ours says the session is about now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chosen {
    /// The topic.
    pub topic: Named,
    /// Its project.
    pub project: Option<Named>,
    /// It is what the session is about from now on.
    pub current: bool,
}

/// A longer answer is none of ours.
const LONGEST: usize = 64 * 1024;

/// Reads an answer. The host gives what the server sent as a list of blocks, and other versions as the object itself: what
/// counts is an object with a topic in it, wherever it stands, also as the last line of a text.
pub fn chosen(response: &str) -> Option<Chosen> {
    if response.len() > LONGEST {
        return None;
    }
    find(&serde_json::from_str(response).ok()?, 0)
}

/// How deep it may stand: blocks, their text, the object in it.
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
