//! Cycle policy: when a stage is done and there is room for the next one, that one begins; otherwise the cycle stops
//! in a state that can be resumed.
//!
//! The rules, case by case, are in `cycle.md` next to this file. A state that cannot be read or trusted steers
//! nothing.

use super::settings::CycleMode;
use crate::event::action::Action;
use crate::event::{Event, EventKind};
use crate::feature::config::Config;
use crate::feature::cycle::budget_copy::note_use;
use crate::feature::cycle::marks::Mark;
use crate::feature::cycle::prompts::{note_answer, note_prompt, note_without_stage};
use crate::feature::cycle::stop::decide_at_stop;
use crate::feature::cycle::{ActiveStage, resume_offer, words};
use crate::feature::facts::{Facts, Known, Needs};
use crate::feature::marks::Marks;
use crate::feature::verdict::{Audience, Effect, Say, Verdict};
use crate::feature::{Mode, Policy};

pub use super::settings::Settings;

pub const ID: &str = "cycle";

pub struct CyclePolicy;

impl Policy for CyclePolicy {
    fn id(&self) -> &'static str {
        ID
    }

    fn mode(&self, config: &Config) -> Mode {
        match config.policies.cycle.mode {
            CycleMode::On => Mode::Live,
            CycleMode::Shadow => Mode::Shadow,
            CycleMode::Off => Mode::Off,
        }
    }

    fn needs(&self, event: &Event<'_>, marks: Option<&Marks>) -> Option<Needs> {
        if !event.is_main_thread() {
            return None;
        }
        let stage = marks.and_then(|marks| marks.cycle.stage.as_ref());
        match (event.kind, stage) {
            // The public copy of the budget is worth the short wait, too.
            (EventKind::Stop, Some(_)) => {
                Some(Needs { meter: true, cycle: true, current: true, ..Needs::default() })
            }
            (EventKind::Stop, None) => {
                marks.is_some_and(|marks| marks.cycle.dropped.is_some()).then(Needs::default)
            }
            (EventKind::PostToolUse, Some(_)) => {
                let tool = matches!(event.action, Action::Question);
                // A person's answer may change what is owed.
                Some(Needs { meter: true, tool, cycle: tool, ..Needs::default() })
            }
            (EventKind::UserPromptSubmit, stage) => {
                let is_said = event.is_human_prompt();
                let meter = is_said && stage.is_some_and(|stage| stage.done);
                let reminds = stage.is_some() && marks.is_some_and(|marks| marks.session.may_remind(event));
                (is_said || reminds).then(|| Needs { meter, cycle: is_said, ..Needs::default() })
            }
            (EventKind::SessionStart, Some(_)) if event.follows_compaction() => Some(Needs::default()),
            (EventKind::SessionStart, _) if !event.follows_compaction() => {
                Some(Needs { cycle: true, ..Needs::default() })
            }
            _ => None,
        }
    }

    fn yields(&self) -> bool {
        true
    }

    fn decide(&self, facts: &Facts<'_>, config: &Config) -> Verdict {
        let none = Marks::default();
        let marks = match &facts.marks {
            Known::Value(marks) => marks,
            Known::Absent => &none,
            Known::Broken(_) => return Verdict::silent("the session's state cannot be read"),
        };
        match (facts.event.kind, marks.cycle.stage.as_ref()) {
            (EventKind::SessionStart, Some(stage)) if facts.event.follows_compaction() => {
                remind_of_stage(stage)
            }
            (EventKind::SessionStart, _) => resume_offer::offer_resume(facts),
            (EventKind::PostToolUse, Some(stage)) => {
                let (used, answer) = (note_use(facts, stage), note_answer(facts, config, stage));
                let because = if used.because.is_empty() { answer.because } else { used.because };
                let effects = [used.effects, answer.effects].concat();
                remind_also(marks, facts, stage, Verdict { because, effects, ..answer })
            }
            (EventKind::UserPromptSubmit, Some(stage)) => {
                remind_also(marks, facts, stage, note_prompt(facts, config, stage))
            }
            (EventKind::UserPromptSubmit, None) => note_without_stage(facts, config, &marks.cycle),
            (EventKind::Stop, Some(stage)) => report_dropped(facts, decide_at_stop(facts, config, stage)),
            (EventKind::Stop, None) => report_dropped(facts, Verdict::pass()),
            _ => Verdict::pass(),
        }
    }
}

/// A compaction may have removed the stage from the conversation.
fn remind_of_stage(stage: &ActiveStage) -> Verdict {
    let text = format!("Before this compaction: {}. `tidegate cycle status` shows it.", stage.key_fact());
    let say = Say { to: Audience::Model, text, weight: 90, explains: false, when_said: Vec::new() };
    Verdict { says: vec![say], ..Verdict::silent("a stage outlives the compaction") }
}

/// Where the start after the compaction was silent.
fn remind_also(marks: &Marks, facts: &Facts<'_>, stage: &ActiveStage, verdict: Verdict) -> Verdict {
    if !marks.session.may_remind(facts.event) {
        return verdict;
    }
    let reminder = remind_of_stage(stage);
    let says = [verdict.says, reminder.says].concat();
    Verdict { says, because: reminder.because, ..verdict }
}

/// The project in which the session's stage began.
pub(super) fn stage_project(facts: &Facts<'_>) -> Option<String> {
    facts.marks.value()?.cycle.stage.as_ref()?.project.clone()
}

/// `tidegate cycle abandon` only answers its caller, an agent.
fn report_dropped(facts: &Facts<'_>, mut verdict: Verdict) -> Verdict {
    let dropped = facts.marks.value().and_then(|marks| marks.cycle.dropped.as_ref());
    if let Some(dropped) = dropped {
        let text = words::dropped(facts.lang, &dropped.cycle, &dropped.stage);
        let when_said = vec![Effect::mark(Mark::DropTold)];
        verdict.says.push(Say { to: Audience::User, text, weight: 60, explains: false, when_said });
        if verdict.because.is_empty() {
            verdict.because = "Claude gave the cycle up";
        }
    }
    verdict
}
