//! Whether one request extends another, so that the provider's prompt cache keeps working.
//!
//! Two things may differ between requests of one conversation although the cached prefix is the same: the
//! places of the `cache_control` markers (they move to the newest message), and whether a single text is a
//! string or a list of one block. Both are normalised. All else must be equal: the messages of the earlier
//! request are a prefix of the later one's, and model, system prompt and tools are the same.
//!
//! Without any hook the client maintains all of that, message by message, through turns, tool calls,
//! subagents and a resume (`tests/scenario/prefix.rs`). It does not after a request that the API rejected,
//! whose prompt it joins with the next one, nor across a compaction or a change of the model.

use serde_json::{Value, json};

use crate::model::{Request, Route};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken(pub String);

pub fn extends(previous: &Request, next: &Request) -> Result<(), Broken> {
    for member in ["model", "system", "tools"] {
        let (before, after) = (normalise(&previous.body[member]), normalise(&next.body[member]));
        if before != after {
            return Err(Broken(format!("`{member}` changed: {}", first_difference(&before, &after))));
        }
    }
    let before: Vec<Value> = previous.messages().iter().map(normalise).collect();
    let after: Vec<Value> = next.messages().iter().map(normalise).collect();
    if after.len() < before.len() {
        return Err(Broken(format!("{} messages became {}", before.len(), after.len())));
    }
    for (index, (old, new)) in before.iter().zip(&after).enumerate() {
        if old != new {
            return Err(Broken(format!("message {index} changed: {}", first_difference(old, new))));
        }
    }
    Ok(())
}

/// Checks, per route and conversation, that every request extends the last answered one. A compaction starts
/// a new conversation, side requests have none, and a rejected request left nothing in a cache.
pub fn assert_extending(requests: &[Request]) {
    let mut newest: Vec<&Request> = Vec::new();
    for request in requests.iter().filter(|request| matches!(request.route, Route::Main | Route::Subagent(_)))
    {
        let same = |earlier: &Request| {
            earlier.route == request.route
                && earlier.session == request.session
                && earlier.conversation == request.conversation
        };
        let previous = newest.iter().position(|earlier| same(earlier));
        if let Some(previous) = previous
            && let Err(Broken(reason)) = extends(newest[previous], request)
        {
            panic!("a request on {:?} does not extend the one before it: {reason}", request.route);
        }
        if request.answered {
            match previous {
                Some(previous) => newest[previous] = request,
                None => newest.push(request),
            }
        }
    }
}

/// Without cache markers, and with every text content as a list of blocks.
fn normalise(value: &Value) -> Value {
    match value {
        Value::Array(items) => Value::Array(items.iter().map(normalise).collect()),
        Value::Object(members) => {
            let kept = members.iter().filter(|(name, _)| *name != "cache_control");
            kept.map(|(name, member)| {
                let member = match member {
                    Value::String(text) if name == "content" => json!([{ "type": "text", "text": text }]),
                    other => normalise(other),
                };
                (name.clone(), member)
            })
            .collect()
        }
        other => other.clone(),
    }
}

/// The first difference, short enough for a failure message.
fn first_difference(before: &Value, after: &Value) -> String {
    let (before, after) = (before.to_string(), after.to_string());
    let common = before.chars().zip(after.chars()).take_while(|(old, new)| old == new).count();
    let around = |text: &str| text.chars().skip(common.saturating_sub(60)).take(200).collect::<String>();
    format!("…{}… became …{}…", around(&before), around(&after))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(messages: &Value) -> Request {
        let body = json!({ "model": "m", "system": "s", "tools": [], "messages": messages });
        Request { route: Route::Main, session: String::new(), conversation: 0, answered: true, body }
    }

    #[test]
    fn markers_and_form_do_not_count() {
        let marked = json!([{ "type": "text", "text": "hello", "cache_control": { "type": "ephemeral" } }]);
        let before = request(&json!([{ "role": "user", "content": marked }]));
        let after = request(
            &json!([{ "role": "user", "content": "hello" }, { "role": "assistant", "content": "hi" }]),
        );
        assert_eq!(extends(&before, &after), Ok(()));
    }

    #[test]
    fn a_changed_or_dropped_message_does() {
        let before =
            request(&json!([{ "role": "user", "content": "hello" }, { "role": "user", "content": "more" }]));
        let changed =
            request(&json!([{ "role": "user", "content": "hallo" }, { "role": "user", "content": "more" }]));
        let dropped = request(&json!([{ "role": "user", "content": "hello" }]));
        assert!(extends(&before, &changed).is_err());
        assert!(extends(&before, &dropped).is_err());
    }

    #[test]
    fn a_changed_system_prompt_does() {
        let before = request(&json!([]));
        let mut after = request(&json!([]));
        after.body["system"] = json!("another");
        assert!(extends(&before, &after).is_err());
    }
}
