//! The state of a project's cycle, as read from its file.

use crate::feature::cycle::consent::Consent;
use crate::feature::cycle::state::OUT_OF_CONTEXT;
use crate::feature::cycle::{ActiveStage, Cycle, CycleDamage, CycleState, CycleStatus, StageStart};
use crate::feature::facts::Steps;
use crate::feature::marks::Marks;
use crate::text::lang::Lang;
use crate::time::Millis;

/// A running stage causes events all the time. After this much silence the session waits for a person or is gone, and
/// another session may take over its cycle.
const SILENT_AFTER_MS: u64 = 3600 * 1000;

/// The client has not ended the session, and one of its hooks ran recently if that is known.
pub fn is_session_live(marks: Option<&Marks>, heard: Option<Millis>, now: Millis) -> bool {
    marks.is_some_and(|marks| !marks.session.detached)
        && heard.is_none_or(|heard| now.since(heard) < SILENT_AFTER_MS)
}

/// Signs of a stage's work that are in the project. Looked for only at the end of a turn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StageEvidence {
    /// The commit that is checked out where the stage began; `None` if that cannot be read.
    pub head: Option<String>,
    /// Commits that were made since the stage began, if `head` is one of them; `None` where no log tells.
    pub commits: Option<usize>,
    /// The project as the next stage finds it.
    pub next: StageStart,
    /// Commits that were made after the stage was done; they count for the next one.
    pub made_since: usize,
    /// Promised files that have other content than when the stage began.
    pub written: Vec<String>,
}

/// Where the session that the file names was. Determined only when a session begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CycleOrigin {
    /// On this machine, or the file names none.
    #[default]
    Here,
    Elsewhere,
    /// A session heard of it with this content.
    ElsewhereTold,
}

/// The state file and its context.
#[derive(Clone, Debug, PartialEq)]
pub struct CycleStanding {
    pub state: Result<CycleState, CycleDamage>,
    /// The raw content: a change applies only to the content that was judged.
    pub text: Vec<u8>,
    /// The file belongs to this project, or names none.
    pub of_project: bool,
    /// Its definition in the config.
    pub cycle: Option<Cycle>,
    /// Tokens that must be left before each stage.
    pub min_left: Vec<u64>,
    /// The session that it steers is gone. Determined only when another session begins.
    pub owner_gone: bool,
    /// What another session with this cycle left unverified. Determined only when a session begins.
    pub unverified: Option<LeftUnverified>,
    pub origin: CycleOrigin,
    pub evidence: StageEvidence,
    /// What is owed in the project before a stage that publishes.
    pub consent: Consent,
}

/// What a session left unverified, as a clause: "`npm test` failed after login.js changed".
#[derive(Clone, Debug, PartialEq)]
pub struct LeftUnverified {
    pub en: String,
    pub ja: String,
}

impl LeftUnverified {
    pub(super) fn clause(&self, lang: Lang) -> &str {
        match lang {
            Lang::En => &self.en,
            Lang::Ja => &self.ja,
        }
    }
}

impl CycleStanding {
    /// `cycle` looks up a definition in the config.
    pub fn parse(
        text: Vec<u8>,
        cycle: impl FnOnce(&str) -> Option<Cycle>,
        of_project: impl FnOnce(&str) -> bool,
    ) -> CycleStanding {
        let parsed = CycleState::parse(&text);
        let cycle = parsed.as_ref().ok().and_then(|state| cycle(&state.cycle));
        // Ownership first: another project's file is not checked for damage.
        let project = parsed.as_ref().ok().and_then(|state| state.project.as_deref());
        let of_project = project.is_none_or(of_project);
        let state = parsed.and_then(|state| state.check_names(cycle.as_ref()).map(|()| state));
        let evidence = StageEvidence::default();
        CycleStanding {
            state,
            text,
            of_project,
            cycle,
            min_left: Vec::new(),
            owner_gone: false,
            unverified: None,
            origin: CycleOrigin::Here,
            evidence,
            consent: Consent::default(),
        }
    }

    /// Another session with a stage of this cycle under way.
    pub fn other_owner(&self, session: &str) -> Option<&str> {
        let running = self.state.as_ref().ok().filter(|state| state.status == CycleStatus::Running);
        running?.session_id.as_deref().filter(|owner| *owner != session)
    }

    /// Stages for a handoff, if the file can be trusted. `active` is the stage in the session's marks.
    pub fn steps(&self, active: Option<&ActiveStage>) -> Option<Steps> {
        let (Ok(state), Some(cycle), true) = (&self.state, &self.cycle, self.of_project) else { return None };
        let active = active.filter(|active| active.cycle == state.cycle && active.stage == state.stage);
        let (invoked, said) = active.map_or((false, false), |active| (active.invoked, active.done));
        let step = |(at, name): (usize, String)| {
            let is_last = name == state.stage;
            let told = match state.status {
                _ if state.was_done(cycle, at) => "done",
                CycleStatus::Running if is_last && said => "under way, declared done",
                CycleStatus::Running if is_last && invoked => "under way, its skill was invoked",
                CycleStatus::Running if is_last => "under way",
                CycleStatus::Failed if is_last => "failed",
                CycleStatus::Stopped | CycleStatus::Complete if is_last => "done",
                _ => "not begun",
            };
            (name, told.to_owned())
        };
        // Other reasons are free text in a file that a repository may bring along.
        let why = state
            .stopped_reason
            .as_deref()
            .filter(|why| *why == OUT_OF_CONTEXT)
            .map(|why| format!(" ({why})"));
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
        let now = Millis(10 * SILENT_AFTER_MS);
        let (there, mut ended) = (Marks::default(), Marks::default());
        ended.session.detached = true;
        let heard = |ms| Some(now.before(ms));
        assert!(is_session_live(Some(&there), heard(SILENT_AFTER_MS - 1), now));
        assert!(!is_session_live(Some(&there), heard(SILENT_AFTER_MS), now));
        assert!(
            is_session_live(Some(&there), Some(Millis(now.0 + SILENT_AFTER_MS)), now),
            "the clock was set back"
        );
        assert!(is_session_live(Some(&there), None, now), "nothing tells when it was heard of");
        assert!(!is_session_live(Some(&ended), heard(1), now));
        assert!(!is_session_live(None, heard(1), now), "nothing is known of it");
    }
}
