//! Compound nudge: at natural ends of work, reminds that entries wait to be promoted, or that none was
//! written. Never blocks.
//!
//! The rules, case by case, are in `learning_reminder.md`.

use crate::event::{Event, EventKind};
use crate::feature::config::Config;
use crate::feature::facts::{Facts, Known, Needs};
use crate::feature::knowledge::effect;
use crate::feature::knowledge::facts::Knowledge;
use crate::feature::knowledge::marks::{Mark, Nudge};
use crate::feature::knowledge::words;
use crate::feature::marks::{Marks, Note, SessionMark};
use crate::feature::verdict::{Asks, Audience, Effect, Say, Verdict};
use crate::feature::{Mode, Policy};
use crate::settings::section::section;
use crate::settings::setting::choices;

section! {
    /// Section `[learning_reminder]`.
    Settings "learning_reminder" {
        /// Whether it tells the person (`user`), the model at the next prompt, too (`both`), only records (`shadow`), or does not look.
        mode: NudgeMode = NudgeMode::User, Tightens;
    }
    presets {
        mode: NudgeMode::Shadow, NudgeMode::Both;
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NudgeMode {
    Off,
    /// Only records.
    Shadow,
    User,
    /// The model hears it at the next prompt.
    Both,
}

choices!(NudgeMode {
    "off" => NudgeMode::Off,
    "shadow" => NudgeMode::Shadow,
    "user" => NudgeMode::User,
    "both" => NudgeMode::Both,
});

pub const ID: &str = "learning-reminder";

pub struct CompoundNudge;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NudgeMoment {
    /// A turn ends, and all edits are verified.
    Verified,
    /// A turn ends with unverified edits.
    Edited,
    /// Another phase begins after implementing, debugging or reviewing.
    PhaseEnds,
    /// A prompt that can carry waiting notes.
    Prompt,
}

impl Policy for CompoundNudge {
    fn id(&self) -> &'static str {
        ID
    }

    fn mode(&self, config: &Config) -> Mode {
        match config.policies.compound_nudge.mode {
            NudgeMode::User | NudgeMode::Both => Mode::Live,
            NudgeMode::Shadow => Mode::Shadow,
            NudgeMode::Off => Mode::Off,
        }
    }

    fn needs(&self, event: &Event<'_>, marks: Option<&Marks>) -> Option<Needs> {
        let marks = marks.filter(|_| event.is_main_thread())?;
        match event.kind {
            EventKind::Stop => (marks.verification.wrote.began > crate::time::Millis(0)).then(Needs::default),
            EventKind::UserPromptSubmit | EventKind::UserPromptExpansion | EventKind::PostToolUse => {
                let told = || event.is_free_prompt() || event.invoked_skill().is_some();
                let ends = marks.activity.teaching_phase().is_some() && told();
                let waits = marks.session.notes.iter().copied().any(is_nudge_note) && event.is_human_prompt();
                (ends || waits).then(|| {
                    let mut needs = Needs::default();
                    needs.activity.guess = ends;
                    needs
                })
            }
            _ => None,
        }
    }

    fn needs_more(&self, facts: &Facts<'_>, config: &Config) -> Needs {
        let mut needs = Needs::default();
        let marks = facts.marks.value();
        needs.knowledge.files = marks.is_some_and(|marks| find_moment(facts, marks, config).is_some());
        needs
    }

    fn decide(&self, facts: &Facts<'_>, config: &Config) -> Verdict {
        let marks = match &facts.marks {
            Known::Value(marks) => marks,
            Known::Absent => return Verdict::silent("nothing was done yet"),
            Known::Broken(_) => return Verdict::silent("the marks cannot be read"),
        };
        let Some(moment) = find_moment(facts, marks, config) else {
            return Verdict::silent("no end of work");
        };
        let Some(knowledge) = &facts.knowledge.files else {
            return Verdict::silent("there is no flow here");
        };
        let mut verdict = match moment {
            NudgeMoment::Verified | NudgeMoment::PhaseEnds => {
                nudge_person(facts, config, moment, marks.knowledge.nudge, knowledge)
            }
            NudgeMoment::Edited => Verdict::silent("the work is not verified"),
            NudgeMoment::Prompt => return deliver_notes(marks, knowledge),
        };
        if matches!(moment, NudgeMoment::Verified | NudgeMoment::Edited) && wants_entry(marks, knowledge) {
            verdict.effects.push(Effect::mark(SessionMark::Note(Note::Flow)));
            verdict.effects.push(Effect::mark(Mark::FlowNoted(marks.verification.wrote.began)));
        }
        verdict
    }
}

fn is_nudge_note(note: Note) -> bool {
    matches!(note, Note::Promote | Note::Flow)
}

fn find_moment(facts: &Facts<'_>, marks: &Marks, config: &Config) -> Option<NudgeMoment> {
    if facts.event.kind == EventKind::Stop {
        // A running task may edit or verify: the work has not ended.
        if !facts.event.tasks.is_empty() {
            return None;
        }
        let verified = marks.verification.verified.is_some() && marks.verification.changes.is_none();
        return Some(if verified { NudgeMoment::Verified } else { NudgeMoment::Edited });
    }
    let taught = marks.activity.teaching_phase();
    if taught.is_some_and(|now| facts.told_phase(config).is_some_and(|next| next != now)) {
        return Some(NudgeMoment::PhaseEnds);
    }
    let waits = marks.session.notes.iter().copied().any(is_nudge_note) && facts.event.is_human_prompt();
    waits.then_some(NudgeMoment::Prompt)
}

/// Once per set of entries. With an entry in every turn, the person hears of it only when there are twice as
/// many, or when a phase ends.
fn nudge_person(
    facts: &Facts<'_>,
    config: &Config,
    moment: NudgeMoment,
    last: Option<Nudge>,
    knowledge: &Knowledge,
) -> Verdict {
    if knowledge.unpromoted.is_empty() {
        return Verdict::silent("every entry is promoted");
    }
    let entries = knowledge.unpromoted.len();
    if knowledge.nudged || last.is_some_and(|last| last.set == knowledge.set) {
        return Verdict::silent("this was said about these entries");
    }
    if moment == NudgeMoment::Verified && last.is_some_and(|last| entries < last.entries * 2) {
        return Verdict::silent("this was said, and there are few more");
    }
    if !facts.person.may_be_there() {
        return Verdict::silent("nobody is there");
    }
    let nudge = Nudge { set: knowledge.set, entries };
    // The project remembers it for every session; until that is written, the session does.
    let mut when_said =
        vec![Effect::Knowledge(effect::Effect::Nudged(knowledge.set)), Effect::mark(Mark::Nudged(nudge))];
    if config.policies.compound_nudge.mode == NudgeMode::Both {
        when_said.push(Effect::mark(SessionMark::Note(Note::Promote)));
    }
    let confidence = knowledge.confidence;
    let doubtful = confidence.unverified >= 3 && confidence.unverified * 2 > confidence.total;
    let text =
        words::unpromoted(facts.lang, entries, doubtful.then_some((confidence.unverified, confidence.total)));
    Verdict {
        because: "entries are not promoted",
        says: vec![Say { to: Audience::User, text, weight: 30, explains: false, when_said }],
        asks: Asks::compound(),
        ..Verdict::pass()
    }
}

/// Code was edited since the last entry, without a note about it in this change set.
fn wants_entry(marks: &Marks, knowledge: &Knowledge) -> bool {
    let wrote = &marks.verification.wrote;
    marks.knowledge.flow_noted != Some(wrote.began)
        && knowledge.written.is_none_or(|written| written < wrote.last)
}

/// Delivers waiting notes that are still true.
fn deliver_notes(marks: &Marks, knowledge: &Knowledge) -> Verdict {
    let mut verdict = Verdict::silent("what waited is not true any more");
    for note in marks.session.notes.iter().copied().filter(|note| is_nudge_note(*note)) {
        let given = Effect::mark(SessionMark::NoteGiven(note));
        let text = match note {
            Note::Promote if !knowledge.unpromoted.is_empty() => {
                verdict.asks.compound = true;
                Some(promotion_note(knowledge.unpromoted.len()))
            }
            Note::Flow if knowledge.written.is_none_or(|written| written < marks.verification.wrote.last) => {
                verdict.asks.entry = true;
                Some(entry_note(marks, knowledge))
            }
            _ => None,
        };
        match text {
            Some(text) => {
                verdict.because = "a note waited";
                let when_said = vec![given];
                verdict.says.push(Say { to: Audience::Model, text, weight: 25, explains: false, when_said });
            }
            None => verdict.effects.push(given),
        }
    }
    verdict
}

fn promotion_note(count: usize) -> String {
    let (entries, them) = match count {
        1 => ("1 entry of progress.md is".to_owned(), "it"),
        _ => (format!("{count} entries of progress.md are"), "them"),
    };
    format!(
        "{entries} not promoted to learnings. The person was told; `/compound` goes through {them} together with the person."
    )
}

/// Names only the last file: the others may have been edited before that entry.
fn entry_note(marks: &Marks, knowledge: &Knowledge) -> String {
    let last = marks.verification.wrote.files.last().map_or("", String::as_str);
    let fact = match knowledge.written {
        Some(_) => format!("Code was edited since the last entry of progress.md (last: {last})."),
        None => format!("Code was edited (last: {last}), and progress.md has no entry."),
    };
    format!(
        "{fact} `tidegate progress add \"what was done\"` writes one, with --decision and --next where there is something to say."
    )
}
