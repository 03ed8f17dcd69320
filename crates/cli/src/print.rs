//! The only writer of stdout and stderr outside the hooks. A reader that went away is no error.
//!
//! Everything that is printed may hold text which others wrote, so no character that steers a terminal or hides passes. Only
//! clap's help has colours, and clap prints that itself.

use std::io::Write;

use serde::Serialize;
use tidegate_core::text::hidden::{escape_in_json, show_hidden};

/// Prints a line. `false` when nobody reads any more.
pub(crate) fn line(text: &str) -> bool {
    raw(&show_hidden(text))
}

/// Prints a value as JSON, one line.
pub(crate) fn json(value: &impl Serialize) -> bool {
    raw(&json_text(value).expect("our values are plain data"))
}

/// A value as JSON in which the same characters are escaped, so that it says the same.
pub(crate) fn json_text(value: &impl Serialize) -> serde_json::Result<String> {
    serde_json::to_string(value).map(|text| escape_in_json(&text).into_owned())
}

/// Prints a line for people beside the output.
pub(crate) fn to_stderr(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{}", show_hidden(text));
}

fn raw(text: &str) -> bool {
    writeln!(std::io::stdout().lock(), "{text}").is_ok()
}
