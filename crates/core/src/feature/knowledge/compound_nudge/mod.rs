//! Learning reminder: at natural ends of work, reminds the person of unpromoted entries, and the model of a missing
//! one. Never blocks.
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
        /// Tell the person (`user`), also the model at the next prompt (`both`), only record it (`shadow`), or do not look (`off`).
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
            Known::Broken(_) => return Verdict::silent("the session's state cannot be read"),
        };
        let Some(moment) = find_moment(facts, marks, config) else {
            return Verdict::silent("not an end of work");
        };
        let Some(knowledge) = &facts.knowledge.files else {
            return Verdict::silent("there are no progress notes here");
        };
        let mut verdict = match moment {
            NudgeMoment::Verified | NudgeMoment::PhaseEnds => nudge_person(facts, config, marks, knowledge),
            NudgeMoment::Edited => Verdict::silent("the work is not verified"),
            NudgeMoment::Prompt => return deliver_notes(marks, knowledge),
        };
        if matches!(moment, NudgeMoment::Verified | NudgeMoment::Edited) && wants_entry(marks, knowledge) {
            verdict.effects.push(Effect::mark(SessionMark::Note(Note::Flow)));
            verdict.effects.push(Effect::mark(Mark::FlowNoted(facts.now)));
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

/// Once per set of entries, and again only when there are many more than a reminder or a context warning named.
fn nudge_person(facts: &Facts<'_>, config: &Config, marks: &Marks, knowledge: &Knowledge) -> Verdict {
    if knowledge.unpromoted.is_empty() {
        return Verdict::silent("every note is reviewed");
    }
    let entries = knowledge.unpromoted.len();
    let last = marks.knowledge.nudge;
    if knowledge.nudged || last.is_some_and(|last| last.set == knowledge.set) {
        return Verdict::silent("this was said about these notes");
    }
    if !marks.are_news(entries) {
        return Verdict::silent("this was said, and there are few more");
    }
    if !facts.person.may_be_there() {
        return Verdict::silent("the session is unattended");
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
        because: "progress notes are not reviewed",
        says: vec![Say { to: Audience::User, text, weight: 30, explains: false, when_said }],
        asks: Asks::compound(),
        ..Verdict::pass()
    }
}

/// Code was edited since the last entry. Once per session: before each compaction the context warning asks for the same.
fn wants_entry(marks: &Marks, knowledge: &Knowledge) -> bool {
    let is_missing = knowledge.written.is_none_or(|written| written < marks.verification.wrote.last);
    is_missing && !marks.pressure.has_warned() && marks.knowledge.flow_noted.is_none()
}

/// Delivers waiting notes that are still true.
fn deliver_notes(marks: &Marks, knowledge: &Knowledge) -> Verdict {
    let mut verdict = Verdict::silent("the waiting note is no longer true");
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
    format!("{} not reviewed. Tidegate told the user, who can run `/compound`.", words::notes_are(count))
}

/// Names only the last file: the others may have been edited before that entry.
fn entry_note(marks: &Marks, knowledge: &Knowledge) -> String {
    let last = marks.verification.wrote.files.last().map_or("", String::as_str);
    let fact = match knowledge.written {
        Some(_) => format!("code was edited since the last note in progress.md (last: {last})."),
        None => format!("code was edited (last: {last}), and progress.md has no note."),
    };
    format!(
        "Write a progress note with `tidegate progress add \"what was done\" --decision \"if any\" --next \"the next step\"`: {fact}"
    )
}
