//! Where a project's cycle stands, as its file says.

use crate::cycle::{ActiveStage, Cycle, Damage, State, Status};
use crate::knowledge::handoff::Steps;

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
        Standing { state, text, of_project, cycle, min_left: Vec::new() }
    }
    /// Its stages for a handoff, as far as it can be believed. `active` is the stage that the session's marks know.
    pub fn steps(&self, active: Option<&ActiveStage>) -> Option<Steps> {
        let (Ok(state), Some(cycle), true) = (&self.state, &self.cycle, self.of_project) else { return None };
        let invoked = active
            .is_some_and(|active| active.cycle == state.cycle && active.stage == state.stage && active.done);
        let ended = |name: &str| state.stages.iter().any(|(stage, spent)| stage == name && spent.ended);
        let step = |name: String| {
            let is_last = name == state.stage;
            let told = match state.status {
                _ if ended(&name) => "done",
                Status::Running if is_last && invoked => "under way, its skill was invoked",
                Status::Running if is_last => "under way",
                Status::Failed if is_last => "failed",
                Status::Stopped | Status::Complete if is_last => "done",
                _ => "not begun",
            };
            (name, told.to_owned())
        };
        let why = state.stopped_reason.as_deref().map(|why| format!(" ({why})")).unwrap_or_default();
        let of = format!("cycle {}, {}{why}", state.cycle, state.status.name());
        Some(Steps { of, steps: cycle.names(0).into_iter().map(step).collect() })
    }
}
