//! The only writer of stdout and stderr. A closed reader is not an error.

use std::io::Write;

pub fn line(text: &str) {
    let _ = writeln!(std::io::stdout().lock(), "{text}");
}

pub fn to_stderr(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}
