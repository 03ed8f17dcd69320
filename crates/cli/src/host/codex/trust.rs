//! Codex runs a hook only after a person has trusted it, and says nothing when it skips one. It keeps a hash of what
//! was trusted in the person's `config.toml`; the same hash tells here whether that is still what is registered.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

/// Of one entry of a hooks file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trust {
    Trusted,
    /// Another form of it was trusted.
    Changed,
    No,
    /// A person switched it off.
    Disabled,
}

/// `SessionStart` is `session_start` there.
fn snake(event: &str) -> String {
    let mut name = String::new();
    for c in event.chars() {
        if c.is_ascii_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.push(c.to_ascii_lowercase());
    }
    name
}

/// The text that Codex hashes: keys in order, without spaces.
fn identity(event: &str, group: &Value, handler: &Value) -> String {
    let usual = if event == "SessionEnd" { 1 } else { 600 };
    let mut hook = Map::new();
    for (key, value) in handler.as_object().into_iter().flatten() {
        if !value.is_null() && key != "args" {
            hook.insert(key.clone(), value.clone());
        }
    }
    hook.entry("timeout".to_owned()).or_insert(json!(usual));
    hook.entry("async".to_owned()).or_insert(json!(false));
    let mut all = Map::new();
    all.insert("event_name".to_owned(), json!(snake(event)));
    all.insert("hooks".to_owned(), json!([hook]));
    if let Some(matcher) = group.get("matcher").filter(|matcher| !matcher.is_null()) {
        all.insert("matcher".to_owned(), matcher.clone());
    }
    sorted(&Value::Object(all)).to_string()
}

/// The order of keys depends on a feature of the library.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let mut pairs: Vec<_> = members.iter().collect();
            pairs.sort_by(|a, b| a.0.cmp(b.0));
            Value::Object(pairs.into_iter().map(|(key, value)| (key.clone(), sorted(value))).collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(sorted).collect()),
        other => other.clone(),
    }
}

pub(crate) fn hash(event: &str, group: &Value, handler: &Value) -> String {
    let digest = Sha256::digest(identity(event, group, handler).as_bytes());
    let mut hash = "sha256:".to_owned();
    for byte in digest {
        let _ = write!(hash, "{byte:02x}");
    }
    hash
}

/// Tidegate's entries in a hooks file, each with its event and its trust. `config`: the person's `config.toml`.
pub(crate) fn read(
    file: &Path,
    hooks: &Value,
    config: &str,
    is_ours: &dyn Fn(&Value) -> bool,
) -> Vec<(String, Trust)> {
    let config: toml_edit::DocumentMut = config.parse().unwrap_or_default();
    let state = config.get("hooks").and_then(|hooks| hooks.get("state"));
    let mut found = Vec::new();
    for (event, groups) in hooks.get("hooks").and_then(Value::as_object).into_iter().flatten() {
        for (g, group) in groups.as_array().into_iter().flatten().enumerate() {
            for (h, handler) in group["hooks"].as_array().into_iter().flatten().enumerate() {
                if !is_ours(handler) {
                    continue;
                }
                let key = format!("{}:{}:{g}:{h}", file.display(), snake(event));
                let entry = state.and_then(|state| state.get(&key));
                let text =
                    |name: &str| entry.and_then(|entry| entry.get(name)).and_then(toml_edit::Item::as_str);
                let is_off = entry.and_then(|entry| entry.get("enabled")).and_then(toml_edit::Item::as_bool)
                    == Some(false);
                let trust = match text("trusted_hash") {
                    _ if is_off => Trust::Disabled,
                    Some(known) if known == hash(event, group, handler) => Trust::Trusted,
                    Some(_) => Trust::Changed,
                    None => Trust::No,
                };
                found.push((event.clone(), trust));
            }
        }
    }
    found
}
