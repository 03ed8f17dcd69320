//! Where a project's cycle stands, as its file says.

use crate::feature::cycle::state::BUDGET;
use crate::feature::cycle::{ActiveStage, Cycle, Damage, State, Status};
use crate::feature::facts::Steps;
use crate::feature::marks::Marks;
use crate::time::Millis;

/// A stage under way makes events all the time. Who was not heard of for so long waits for a person or is gone, and another
/// session may take its cycle over.
const LIVE_MS: u64 = 3600 * 1000;

/// Whether a session is still there: the client has not ended it, and a hook of it ran lately, where that is known.
pub fn is_live(marks: Option<&Marks>, heard: Option<Millis>, now: Millis) -> bool {
    marks.is_some_and(|marks| !marks.session.detached) && heard.is_none_or(|heard| now.since(heard) < LIVE_MS)
}

/// What there is to know about the file.
#[derive(Clone, Debug, PartialEq)]
pub struct Standing {
    /// What it says, or why it says nothing.
    pub state: Result<State, Damage>,
    /// Its text: a change is made only to what was looked at.
    pub text: Vec<u8>,
    /// It is of this project, or says nothing else.
    pub of_project: bool,
    /// What its cycle is.
    pub cycle: Option<Cycle>,
    /// Tokens that must be left before each stage.
    pub min_left: Vec<u64>,
    /// The session that it steers is not there any more. Looked for only where another one begins.
    pub owner_gone: bool,
}

impl Standing {
    /// Reads the file's text. `cycle` is what the config says of the cycle of that name.
    pub fn of(
        text: Vec<u8>,
        cycle: impl FnOnce(&str) -> Option<Cycle>,
        of_project: impl FnOnce(&str) -> bool,
    ) -> Standing {
        let parsed = State::parse(&text);
        let cycle = parsed.as_ref().ok().and_then(|state| cycle(&state.cycle));
        // First whose it is: another project's file is not ours to find fault with.
        let project = parsed.as_ref().ok().and_then(|state| state.project.as_deref());
        let of_project = project.is_none_or(of_project);
        let state = parsed.and_then(|state| state.check(cycle.as_ref()).map(|()| state));
        Standing { state, text, of_project, cycle, min_left: Vec::new(), owner_gone: false }
    }

    /// Another session that is in a stage of it.
    pub fn other_owner(&self, session: &str) -> Option<&str> {
        let running = self.state.as_ref().ok().filter(|state| state.status == Status::Running);
        running?.session_id.as_deref().filter(|owner| *owner != session)
    }

    /// Its stages for a handoff, as far as it can be believed. `active` is the stage that the session's marks know.
    pub fn steps(&self, active: Option<&ActiveStage>) -> Option<Steps> {
        let (Ok(state), Some(cycle), true) = (&self.state, &self.cycle, self.of_project) else { return None };
        let invoked = active
            .is_some_and(|active| active.cycle == state.cycle && active.stage == state.stage && active.done);
        let step = |(at, name): (usize, String)| {
            let is_last = name == state.stage;
            let told = match state.status {
                _ if state.was_done(cycle, at) => "done",
                Status::Running if is_last && invoked => "under way, its skill was invoked",
                Status::Running if is_last => "under way",
                Status::Failed if is_last => "failed",
                Status::Stopped | Status::Complete if is_last => "done",
                _ => "not begun",
            };
            (name, told.to_owned())
        };
        // Any other reason is somebody's text, and a repository can bring the file.
        let why = state.stopped_reason.as_deref().filter(|why| *why == BUDGET).map(|why| format!(" ({why})"));
        let why = why.unwrap_or_default();
        let of = format!("cycle {}, {}{why}", state.cycle, state.status.name());
        Some(Steps { of, steps: cycle.names(0).into_iter().enumerate().map(step).collect() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_there_until_it_ends_or_falls_silent() {
        let now = Millis(10 * LIVE_MS);
        let (there, mut ended) = (Marks::default(), Marks::default());
        ended.session.detached = true;
        let heard = |ms| Some(now.before(ms));
        assert!(is_live(Some(&there), heard(LIVE_MS - 1), now));
        assert!(!is_live(Some(&there), heard(LIVE_MS), now));
        assert!(is_live(Some(&there), Some(Millis(now.0 + LIVE_MS)), now), "the clock was set back");
        assert!(is_live(Some(&there), None, now), "nothing tells when it was heard of");
        assert!(!is_live(Some(&ended), heard(1), now));
        assert!(!is_live(None, heard(1), now), "nothing is known of it");
    }
}
