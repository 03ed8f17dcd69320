//! Schemas as a client reads them: whether one is sound, and whether a value is as it says.

use serde_json::Value;

/// Panics unless a value is as a schema of the forms that we use says.
pub(crate) fn assert_holds(schema: &Value, value: &Value, place: &str) {
    let types = match &schema["type"] {
        Value::Array(types) => types.clone(),
        one => vec![one.clone()],
    };
    let is = |of: &Value| match of.as_str() {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("number") => value.is_number(),
        Some("boolean") => value.is_boolean(),
        Some("null") => value.is_null(),
        _ => false,
    };
    assert!(types.iter().any(is), "{place}: {value} is no {types:?}");
    if let Some(allowed) = schema["enum"].as_array() {
        assert!(allowed.contains(value), "{place}: {value} is none of {allowed:?}");
    }
    if let (Some(least), Some(number)) = (schema["minimum"].as_f64(), value.as_f64()) {
        assert!(number >= least, "{place}: {value}");
    }
    if let Some(members) = value.as_object() {
        for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            assert!(members.contains_key(name), "{place}: {name} is missing in {value}");
        }
        for (name, value) in members {
            let schema = schema["properties"].get(name).unwrap_or_else(|| panic!("{place}: {name} is new"));
            assert_holds(schema, value, &format!("{place}.{name}"));
        }
    }
    for (at, value) in value.as_array().into_iter().flatten().enumerate() {
        assert_holds(&schema["items"], value, &format!("{place}[{at}]"));
    }
}

/// Panics unless the value has all that the outline requires.
pub(crate) fn assert_outlines(outline: &Value, value: &Value, place: &str) {
    for name in outline["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        assert!(value.get(name).is_some(), "{place}: {name} is missing in {value}");
    }
}

/// Panics unless this is a schema, of keywords that clients and models know.
pub(crate) fn assert_sound(schema: &Value, place: &str) {
    const TYPES: [&str; 7] = ["object", "array", "string", "integer", "number", "boolean", "null"];
    let known = |of: &Value| of.as_str().is_some_and(|of| TYPES.contains(&of));
    let members = schema.as_object().unwrap_or_else(|| panic!("{place}: {schema} is no object"));
    assert!(members.contains_key("type"), "{place} has no type");
    for (keyword, value) in members {
        let place = format!("{place}.{keyword}");
        let sound = match keyword.as_str() {
            "type" => {
                known(value)
                    || value.as_array().is_some_and(|types| types.len() > 1 && types.iter().all(known))
            }
            "description" => value.as_str().is_some_and(|text| !text.is_empty() && text.len() < 300),
            "enum" => value.as_array().is_some_and(|values| !values.is_empty()),
            "minimum" | "maximum" | "minLength" | "maxLength" => value.is_u64(),
            "default" => {
                assert_holds(schema, value, &place);
                true
            }
            "additionalProperties" => *value == false,
            "items" => {
                assert_sound(value, &place);
                true
            }
            "properties" => {
                for (name, schema) in value.as_object().expect("an object") {
                    assert_sound(schema, &format!("{place}.{name}"));
                }
                true
            }
            "required" => {
                let names = value.as_array().expect("names").iter().filter_map(Value::as_str);
                names.into_iter().all(|name| schema["properties"].get(name).is_some())
            }
            _ => false,
        };
        assert!(sound, "{place}: {value}");
    }
    if schema["type"] == "object" {
        assert!(
            schema["properties"].is_object() && schema["additionalProperties"] == false,
            "{place} is open"
        );
    }
}
