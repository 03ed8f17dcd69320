//! The only writer of stdout and stderr. A reader that went away is no error.

use std::io::Write;

/// Prints a line.
pub fn line(text: &str) {
    let _ = writeln!(std::io::stdout().lock(), "{text}");
}

/// Prints a line for people beside the output.
pub fn to_stderr(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}
