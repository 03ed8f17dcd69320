//! Task gate: a task is not completed while code is unverified. The same test as
//! [`crate::feature::verification::verify_stop`], once per task.
//!
//! The rules, case by case, are in `task_gate.md`.

use crate::event::{Event, EventKind};
use crate::feature::config::Config;
use crate::feature::facts::{Facts, Known, Needs};
use crate::feature::marks::{Marks, SessionMark};
use crate::feature::verdict::{Asks, Call, Effect, Verdict};
use crate::feature::verification::facts as own;
use crate::feature::verification::verify_stop;
use crate::feature::verification::verify_stop::settings::VerifyMode;
use crate::feature::{Mode, Policy};
use crate::text::fnv::hash_short;

pub mod settings;

pub use settings::Settings;

pub const ID: &str = "task-gate";

pub struct TaskGate;

impl Policy for TaskGate {
    fn id(&self) -> &'static str {
        ID
    }

    fn mode(&self, config: &Config) -> Mode {
        match config.policies.task_gate.mode {
            VerifyMode::Block => Mode::Live,
            VerifyMode::Shadow => Mode::Shadow,
            VerifyMode::Off => Mode::Off,
        }
    }

    fn needs(&self, event: &Event<'_>, marks: Option<&Marks>) -> Option<Needs> {
        let unverified = marks.is_some_and(|marks| marks.verification.changes.is_some());
        let verification = own::Needs { checks: unverified, ..own::Needs::default() };
        (event.kind == EventKind::TaskCompleted).then_some(Needs { verification, ..Needs::default() })
    }

    fn decide(&self, facts: &Facts<'_>, config: &Config) -> Verdict {
        let marks = match &facts.marks {
            Known::Value(marks) => marks,
            Known::Absent => return Verdict::silent("no code was edited"),
            Known::Broken(_) => return Verdict::silent("the session's state cannot be read"),
        };
        let Some(changes) = &marks.verification.changes else {
            return Verdict::silent("nothing is unverified");
        };
        if facts.verification.edits_gone {
            return Verdict::silent("the edited files are gone");
        }
        if let Some(verdict) = verify_stop::verified_by_now(facts, config, changes) {
            return verdict;
        }
        if marks.verification.pending().any(|check| check.awaited.is_none()) {
            return Verdict::silent("a check still runs in the background");
        }
        let subject = facts.event.task_subject.as_deref().unwrap_or_default();
        let notice = format!("{ID}/{:08x}", hash_short(subject.as_bytes()));
        if marks.session.noticed(&notice) {
            return Verdict::silent("this task was blocked already");
        }
        if config.stepped_down(ID) {
            return Verdict::silent("stepped down");
        }
        Verdict {
            call: Call::Deny,
            reason: Some(verify_stop::block_reason(facts, config, changes)),
            because: verify_stop::because_of(changes),
            effects: vec![Effect::mark(SessionMark::Notice(notice))],
            asks: Asks::verified(),
            ..Verdict::pass()
        }
    }
}
