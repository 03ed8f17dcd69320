//! Untrusted text in one line: metrics, reasons, words of a report.

use crate::feature::cycle::CycleState;
use crate::text::cut::first_chars;
use crate::text::hidden::replace_hidden;

/// Longer metrics do not belong into a closing message.
const MAX_CHARS: usize = 400;

/// `sprint: tests 12, files 3; audit: score 9`.
pub fn format_metrics(state: &CycleState) -> String {
    let shown = |value: &serde_json::Value| match value {
        serde_json::Value::String(text) => text.clone(),
        value => value.to_string(),
    };
    let of_stage = |(name, value): (&String, &serde_json::Value)| match value {
        serde_json::Value::Object(members) => {
            let pairs: Vec<String> =
                members.iter().map(|(key, value)| format!("{key} {}", shown(value))).collect();
            format!("{name}: {}", pairs.join(", "))
        }
        value => format!("{name}: {}", shown(value)),
    };
    sanitize_line(&state.metrics.iter().map(of_stage).collect::<Vec<_>>().join("; "))
}

/// Untrusted text: one short line without terminal control characters.
pub fn sanitize_line(text: &str) -> String {
    replace_hidden(first_chars(text, MAX_CHARS), ' ')
}
