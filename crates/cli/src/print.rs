//! The only writer of stdout and stderr outside the hooks. A reader that went away is no error.

use std::io::Write;

use serde::Serialize;

/// Prints a line. `false` when nobody reads any more.
pub(crate) fn line(text: &str) -> bool {
    writeln!(std::io::stdout().lock(), "{text}").is_ok()
}

/// Prints a value as JSON, one line.
pub(crate) fn json(value: &impl Serialize) -> bool {
    line(&serde_json::to_string(value).expect("our values are plain data"))
}

/// Prints a line for people beside the output.
pub(crate) fn to_stderr(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}
