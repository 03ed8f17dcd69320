//! Whether a session's client still runs.

use tidegate_core::feature::marks::{ClientProcess, SessionMarks};

/// The client ended the session, or none of its processes runs any more: one that was killed ended nothing.
pub fn is_over(session: &SessionMarks, is_running: fn(ClientProcess) -> Option<bool>) -> bool {
    let is_gone = |client: &ClientProcess| is_running(*client) == Some(false);
    session.detached || (!session.clients.is_empty() && session.clients.iter().all(is_gone))
}
