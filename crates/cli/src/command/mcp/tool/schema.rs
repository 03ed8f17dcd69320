//! Schemas of arguments and results. Arguments are checked against the same schema that is listed.

use serde_json::{Map, Value, json};
use tidegate_core::text::cut::first_chars;

use crate::error::CliError;

/// Without other members.
pub(super) fn object(properties: Value, required: &[&str]) -> Value {
    let mut schema = json!({ "type": "object", "additionalProperties": false });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema["properties"] = properties;
    schema
}

/// The members that are always there and their types, and nothing about what is in them.
pub(super) fn outline(schema: &Value) -> Value {
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let types: Map<String, Value> = required
        .map(|name| (name.to_owned(), json!({ "type": schema["properties"][name]["type"] })))
        .collect();
    json!({ "type": "object", "required": schema["required"], "properties": types })
}

pub(super) fn text(description: &str) -> Value {
    json!({ "type": "string", "description": description })
}

/// Text to be stored: not empty, not longer than `most`.
pub(super) fn written(description: &str, most: usize) -> Value {
    json!({ "type": "string", "minLength": 1, "maxLength": most, "description": description })
}

pub(super) fn id(description: &str) -> Value {
    json!({ "type": "integer", "minimum": 1, "description": description })
}

pub(super) fn flag(description: &str) -> Value {
    json!({ "type": "boolean", "description": description })
}

/// Not negative.
pub(super) fn count(description: &str) -> Value {
    json!({ "type": "integer", "minimum": 0, "description": description })
}

pub(super) fn list(items: &Value, description: &str) -> Value {
    json!({ "type": "array", "items": items, "description": description })
}

pub(super) fn limit(usual: usize, most: usize) -> Value {
    json!({ "type": "integer", "minimum": 1, "maximum": most, "default": usual })
}

/// Start of a page.
pub(super) fn after() -> Value {
    text("The `next` of the page before")
}

pub(super) fn since() -> Value {
    text("2026-11-15, 2026-11-15T11:51:28Z, or 7d, 12h, 30m ago")
}

pub(super) fn until() -> Value {
    text("The same forms")
}

/// Annotations of tools that only read.
pub(super) fn reads() -> Value {
    json!({ "readOnlyHint": true, "openWorldHint": false })
}

/// Annotations of tools that write. None of them deletes anything.
pub(super) fn writes(again_is_the_same: bool) -> Value {
    json!({ "destructiveHint": false, "idempotentHint": again_is_the_same, "openWorldHint": false })
}

/// Supports only the forms above.
pub(super) fn check(tool: &str, schema: &Value, given: &Map<String, Value>) -> Result<(), CliError> {
    let none = Map::new();
    let known = schema["properties"].as_object().unwrap_or(&none);
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let described = |name: &str| known[name]["description"].as_str().unwrap_or_default().to_owned();
    for (name, value) in given {
        let Some(schema) = known.get(name) else {
            let name = first_chars(name, 80);
            return Err(CliError::new(format!("no argument `{name}`")).hint(list_names(tool, known)));
        };
        if let Err(why) = check_value(schema, value) {
            let way =
                if required.contains(&name.as_str()) { "" } else { "leave it out, or give what it is: " };
            return Err(CliError::new(format!("`{name}` {why}")).hint(format!("{way}{}", described(name))));
        }
    }
    match required.iter().find(|name| !given.contains_key(**name)) {
        Some(name) => Err(CliError::new(format!("`{name}` is missing")).hint(described(name))),
        None => Ok(()),
    }
}

fn list_names(tool: &str, known: &Map<String, Value>) -> String {
    let names: Vec<String> = known.keys().map(|name| format!("`{name}`")).collect();
    match names.as_slice() {
        [] => format!("`{tool}` takes no arguments"),
        [one] => format!("{one} is the only one"),
        _ => format!("`{tool}` takes {}", names.join(", ")),
    }
}

fn check_value(schema: &Value, value: &Value) -> Result<(), String> {
    let types = type_names(schema);
    let is = |of: &&str| match *of {
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        _ => false,
    };
    let bound = |name: &str| schema[name].as_i64();
    let allowed = schema["enum"].as_array().is_none_or(|allowed| allowed.contains(value));
    let within = value.as_number().is_none_or(|number| {
        let number = number.as_i64().unwrap_or(i64::MAX);
        bound("minimum").is_none_or(|least| number >= least)
            && bound("maximum").is_none_or(|most| number <= most)
    });
    if !types.iter().any(is) || !allowed || !within {
        return Err(format!("is not {}", describe_schema(schema, &types)));
    }
    match value {
        Value::String(text) => {
            if bound("minLength").is_some() && text.trim().is_empty() {
                return Err("is empty".to_owned());
            }
            let length = i64::try_from(text.chars().count()).unwrap_or(i64::MAX);
            match bound("maxLength").filter(|most| length > *most) {
                Some(most) => Err(format!("has {length} characters, more than {most}")),
                None => Ok(()),
            }
        }
        Value::Array(values) => values.iter().try_for_each(|value| {
            check_value(&schema["items"], value).map_err(|why| format!("has an element that {why}"))
        }),
        _ => Ok(()),
    }
}

fn type_names(schema: &Value) -> Vec<&str> {
    match &schema["type"] {
        Value::Array(types) => types.iter().filter_map(Value::as_str).collect(),
        of => Vec::from_iter(of.as_str()),
    }
}

/// In words.
fn describe_schema(schema: &Value, types: &[&str]) -> String {
    if let Some(allowed) = schema["enum"].as_array() {
        let allowed: Vec<&str> = allowed.iter().filter_map(Value::as_str).collect();
        return format!("one of {}", allowed.join(", "));
    }
    let with_article =
        |of: &&str| if of.starts_with(['a', 'i']) { format!("an {of}") } else { format!("a {of}") };
    let types: Vec<String> = types.iter().map(with_article).collect();
    let part = |word: &str, name: &str| schema[name].as_i64().map(|bound| format!(" {word} {bound}"));
    let bounds = [part("from", "minimum"), part("to", "maximum")];
    format!("{}{}", types.join(" or "), bounds.into_iter().flatten().collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_said() {
        let schema = object(
            json!({
                "limit": limit(20, 100),
                "query": written("The words", 10),
                "kinds": list(&json!({ "type": "string", "enum": ["log", "topic"] }), "Kinds"),
                "project": { "type": ["integer", "string"], "description": "Its id or name" },
                "topic_id": id("The topic"),
                "set": flag("Whether"),
            }),
            &["query"],
        );
        let said = |given: Value| {
            let Value::Object(given) = given else { panic!("no object: {given}") };
            check("search", &schema, &given)
                .map_err(|error| error.message().to_owned())
                .err()
                .unwrap_or_default()
        };
        for (given, why) in [
            (json!({ "query": "x" }), ""),
            (
                json!({ "query": "x", "limit": 100, "kinds": ["log", "topic"], "project": 3, "set": false }),
                "",
            ),
            (json!({ "query": "設計設計設計設計設計", "kinds": [], "project": "three" }), ""),
            (json!({}), "`query` is missing"),
            (json!({ "query": " \n" }), "`query` is empty"),
            (json!({ "query": "01234567890" }), "`query` has 11 characters, more than 10"),
            (json!({ "query": 5 }), "`query` is not a string"),
            (json!({ "query": "x", "limit": "5" }), "`limit` is not an integer from 1 to 100"),
            (json!({ "query": "x", "limit": 0 }), "`limit` is not an integer from 1 to 100"),
            (json!({ "query": "x", "limit": 101 }), "`limit` is not an integer from 1 to 100"),
            (json!({ "query": "x", "limit": 1.5 }), "`limit` is not an integer from 1 to 100"),
            (json!({ "query": "x", "limit": u64::MAX }), "`limit` is not an integer from 1 to 100"),
            (json!({ "query": "x", "topic_id": 0 }), "`topic_id` is not an integer from 1"),
            (json!({ "query": "x", "project": true }), "`project` is not an integer or a string"),
            (json!({ "query": "x", "kinds": "log" }), "`kinds` is not an array"),
            (
                json!({ "query": "x", "kinds": ["logs"] }),
                "`kinds` has an element that is not one of log, topic",
            ),
            (json!({ "query": "x", "set": "yes" }), "`set` is not a boolean"),
            (json!({ "query": "x", "limt": 5 }), "no argument `limt`"),
        ] {
            assert_eq!(said(given.clone()), why, "{given}");
        }
    }
}
