//! Writing the answer, once: the work, the deadline and a panic may all want to.

use std::io::Write;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use tidegate_core::reply::Reply;

static ANSWERED: AtomicBool = AtomicBool::new(false);

/// Whether the caller is the first, and so the one who answers.
pub(crate) fn claim() -> bool {
    !ANSWERED.swap(true, Ordering::SeqCst)
}

/// Writes a reply. A reader that has gone away is no error, but a denial that could not be written must not
/// turn into a pass: then the exit code says no.
pub(crate) fn write(reply: &Reply) -> ExitCode {
    let mut out = std::io::stdout().lock();
    let written = out.write_all(reply.stdout.as_bytes()).and_then(|()| out.flush());
    if !reply.stderr.is_empty() {
        let _ = writeln!(std::io::stderr().lock(), "{}", reply.stderr);
    }
    let says_no = reply.stdout.contains("\"deny\"") || reply.stdout.contains("\"block\"");
    if written.is_err() && says_no { ExitCode::from(2) } else { ExitCode::from(reply.exit) }
}
