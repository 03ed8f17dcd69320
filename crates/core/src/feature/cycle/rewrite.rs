//! Rewrites a JSON object in a file that other tools write too: keeps the order of members and the notation of
//! unchanged values.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

const STEP: &str = "  ";

/// Members in their order, each value as source text.
struct SourceMembers<'a>(Vec<(String, &'a str)>);

impl<'de: 'a, 'a> Deserialize<'de> for SourceMembers<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Members;

        impl<'de> Visitor<'de> for Members {
            type Value = Vec<(String, &'de str)>;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some((name, value)) = map.next_entry::<String, &RawValue>()? {
                    // Of duplicate members the last counts.
                    members.retain(|(known, _)| *known != name);
                    members.push((name, value.get()));
                }
                Ok(members)
            }
        }

        from.deserialize_map(Members).map(SourceMembers)
    }
}

/// Renders `new` in the style of `old`. New members come last, those in `first` before the others.
pub(super) fn rewrite_object(old: &str, new: &Map<String, Value>, first: &[&str]) -> String {
    let mut text = render_object(old, new, first, "");
    text.push('\n');
    text
}

fn render_object(old: &str, new: &Map<String, Value>, first: &[&str], indent: &str) -> String {
    let SourceMembers(old) = serde_json::from_str(old).unwrap_or(SourceMembers(Vec::new()));
    let inner = format!("{indent}{STEP}");
    let is_old = |name: &str| old.iter().any(|(known, _)| known == name);
    let kept = old.iter().filter_map(|(name, old)| Some((name.as_str(), Some(*old), new.get(name)?)));
    let named = first.iter().filter_map(|name| Some((*name, None, new.get(*name)?)));
    let others = new.iter().filter(|(name, _)| !first.contains(&name.as_str()));
    let added = named.chain(others.map(|(name, value)| (name.as_str(), None, value)));
    let members = kept.chain(added.filter(|(name, ..)| !is_old(name)));
    let lines: Vec<String> = members
        .map(|(name, old, value)| {
            format!("{inner}{}: {}", Value::from(name), render_member(old, value, &inner))
        })
        .collect();
    if lines.is_empty() { "{}".to_owned() } else { format!("{{\n{}\n{indent}}}", lines.join(",\n")) }
}

fn render_member(old: Option<&str>, new: &Value, indent: &str) -> String {
    match (old, new) {
        (Some(old), _) if serde_json::from_str(old).is_ok_and(|old| is_same_value(&old, new)) => {
            old.to_owned()
        }
        (old, Value::Object(members)) => render_object(old.unwrap_or_default(), members, &[], indent),
        // Safe: JSON strings contain no raw line breaks.
        _ => format!("{new:#}").replace('\n', &format!("\n{indent}")),
    }
}

/// Treats `35` and `35.0` as equal.
fn is_same_value(old: &Value, new: &Value) -> bool {
    let by_value = matches!((old, new), (Value::Number(a), Value::Number(b)) if a.is_f64() != b.is_f64());
    old == new || by_value && old.as_f64() == new.as_f64()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn of(value: &Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap_or_default()
    }

    #[test]
    fn what_did_not_change_stays_as_it_was_written() {
        let old = r#"{"z": 1.50, "stage": "a", "big": 123456789012345678901234567890, "twice": 1,
            "in": {"y": [1,2 , 3], "x": {"k":1e2}}, "gone": 0, "left": 35, "twice": 2e0}"#;
        let mut new = of(&serde_json::from_str(old).unwrap());
        new.remove("gone");
        new["stage"] = json!("ü");
        new["left"] = json!(35.0);
        new["in"]["x"]["b"] = json!(["q", {}]);
        new.extend(of(&json!({ "second": 1, "first": {}, "other": null })));
        let text = "{\n  \"z\": 1.50,\n  \"stage\": \"ü\",\n  \"big\": 123456789012345678901234567890,\n  \"in\": {\n    \
             \"y\": [1,2 , 3],\n    \"x\": {\n      \"k\": 1e2,\n      \"b\": [\n        \"q\",\n        {}\n      ]\n    }\n  },\n  \
             \"left\": 35,\n  \"twice\": 2e0,\n  \"first\": {},\n  \"second\": 1,\n  \"other\": null\n}\n";
        assert_eq!(rewrite_object(old, &new, &["first", "second", "third"]), text);
        assert_eq!(rewrite_object("", &of(&json!({})), &[]), "{}\n");
    }

    fn value() -> impl Strategy<Value = Value> {
        let plain = prop_oneof![
            Just(Value::Null),
            any::<i64>().prop_map(Value::from),
            any::<i16>().prop_map(|number| json!(f64::from(number) + 0.5)),
            ".{0,4}".prop_map(Value::from),
        ];
        plain.prop_recursive(3, 24, 4, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                proptest::collection::btree_map("[ab\"]{1,2}", inner, 0..4)
                    .prop_map(|members| members.into_iter().collect()),
            ]
        })
    }

    proptest! {
        #[test]
        fn it_says_what_it_is_to_say(old in value(), new in value()) {
            let new = of(&new);
            let text = rewrite_object(&old.to_string(), &new, &["b"]);
            let read: Value = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(&read, &Value::Object(new.clone()));
            // And once more nothing changes.
            prop_assert_eq!(rewrite_object(&text, &new, &[]), text);
        }
    }
}
