//! The newest session's transcript, which the meter reads.

use std::io;
use std::path::Path;

use tidegate_core::time::Millis;

use super::super::client_session::read_transcript;
use crate::doctor::check::NO_STATE;
use crate::doctor::finding::Findings;
use crate::doctor::gathered::Gathered;
use crate::print::format_count;
use crate::shell::quote_path;

pub(crate) fn check(seen: &Gathered, found: &mut Findings) {
    if seen.state.is_err() {
        found.note(NO_STATE);
        return;
    }
    let newest = seen
        .sessions_here()
        .filter(|session| session.marks.session.transcript.is_some())
        .max_by_key(|session| session.marks.session.attached);
    let Some(path) = newest.and_then(|session| session.marks.session.transcript.as_deref()).map(Path::new)
    else {
        found.ok("no session of this project yet");
        return;
    };
    match read_transcript(path, Millis(0)) {
        Ok(shown) if shown.lines == 0 && shown.unreadable > 0 => found.warning(
            format!("no line of {} can be read", path.display()),
            "start a new session; if that helps not, the client writes a form that this version does not know",
        ),
        Ok(shown) => found.ok(format!("{} in {}", format_count(shown.lines, "readable line"), path.display())),
        // The client writes it after the first answer, and clears old ones away.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            found.ok(format!("{} is not there (yet, or any more)", path.display()));
        }
        Err(error) => found.problem(
            format!("{}: {error}", path.display()),
            format!("make {} a file that you can read, or start a new session", quote_path(path)),
        ),
    }
}
