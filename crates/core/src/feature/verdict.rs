//! What a policy thinks of an event, and what it wants done. All of it data.

use serde::{Deserialize, Serialize};

use crate::feature::cycle::{Run, State};
use crate::feature::knowledge::boundary::Boundary;
use crate::feature::knowledge::handoff::Steps;
use crate::feature::marks::{Mark, PressureLevel};
use crate::feature::memory::job::Work;
use crate::feature::worktree::kept::Kept;
pub use crate::host::answer::Call;

/// Who is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// The model, in English.
    Model,
    /// The person, in their language.
    User,
}

/// Something to say beside the call.
#[derive(Clone, Debug, PartialEq)]
pub struct Say {
    /// To whom.
    pub to: Audience,
    /// The text.
    pub text: String,
    /// What is dropped first when the text is too long: the smaller.
    pub weight: u8,
    /// It explains a denial, so it stays beside one.
    pub explains: bool,
    /// Done only if this was really said.
    pub when_said: Vec<Effect>,
}

/// What is to be done. The hook does it, and only if the verdict stands.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Remember this in the session.
    Mark(Mark),
    /// Bring the public copy of the pressure up to date.
    PublishPressure(PressureLevel),
    /// Remember that the person knows that this policy stepped down here.
    StepDownTold(String),
    /// Remember what is true just before a compaction, or what the summary kept of it.
    NoteBoundary(Box<Boundary>),
    /// Bring the public copy of the last compaction up to date.
    PublishCompaction(Box<Boundary>),
    /// Move old entries of the flow to the archive, and note the compaction in the plan.
    TidyFlow,
    /// Remember for the project that a person was told of this set of entries.
    Nudged(u64),
    /// Copy what only a worktree holds.
    KeepWorktree(Kept),
    /// Change where the cycle stands. The verdict is carried out only if that succeeds.
    Cycle(Box<CycleStep>),
    /// Put the cycle's file aside if it still says this: it cannot be used.
    SetCycleAside(Vec<u8>),
    /// Remember in the cycle's file that this session was told how to resume it.
    ResumeTold,
    /// Bring the public copy of the budget up to date.
    PublishBudget,
    /// Write a handoff, with this beside what is known without it.
    WriteHandoff(Vec<Steps>),
    /// A manifest belongs to this session from now on.
    OwnManifest {
        /// The project, by its root.
        project: String,
        /// The manifest.
        manifest: String,
    },
    /// Leave a job for the worker. A mark that says so counts only if that succeeds.
    Spool(Box<Work>),
    /// See that a worker runs, if something waits for one.
    StartWorker,
    /// Note in a manifest that a compaction followed the end of a phase.
    NoteCompaction {
        /// The manifest.
        manifest: String,
        /// The key of the phase's section.
        section: String,
    },
}

/// A change to where a cycle stands.
#[derive(Clone, Debug, PartialEq)]
pub struct CycleStep {
    /// What the file said when this was decided; if it says something else by now, nothing is done.
    pub old: Vec<u8>,
    /// What it is to say; it goes when the cycle has ended.
    pub new: Option<State>,
    /// What is added to the history.
    pub ended: Option<Run>,
    /// What the session remembers of it.
    pub mark: Mark,
}

impl Effect {
    /// Whether it stays within our own state: a policy in the shadow has these, too. What is said once it would have said
    /// once, and what is measured is measured.
    pub fn private(&self) -> bool {
        match self {
            Effect::Mark(_)
            | Effect::NoteBoundary(_)
            | Effect::Nudged(_)
            | Effect::KeepWorktree(_)
            | Effect::OwnManifest { .. } => true,
            Effect::PublishPressure(_)
            | Effect::Cycle(_)
            | Effect::SetCycleAside(_)
            | Effect::ResumeTold
            | Effect::PublishBudget
            | Effect::WriteHandoff(_)
            | Effect::Spool(_)
            | Effect::StartWorker
            | Effect::NoteCompaction { .. }
            | Effect::StepDownTold(_)
            | Effect::PublishCompaction(_)
            | Effect::TidyFlow => false,
        }
    }
}

/// What would satisfy an interruption. Without anything it is only told.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[expect(clippy::struct_excessive_bools, reason = "a list of things that can be asked for")]
pub struct Asks {
    /// Skills that all have to be invoked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub skills: Vec<String>,
    /// Skills of which one is enough.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub any_skill: Vec<String>,
    /// Files of which it is enough that one is read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub any_file: Vec<String>,
    /// The work has to be verified.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub verified: bool,
    /// The file that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// A person has to go through the entries of the flow.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub compound: bool,
    /// An entry has to be written.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub entry: bool,
    /// This gate of a workflow has to be let through.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gate: Option<usize>,
    /// The conversation has to be compacted.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub compacted: bool,
    /// Somebody has to say that this stage of a cycle is done, or cannot be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stage: Option<String>,
    /// The answer has to have a tag.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub tag: bool,
    /// Something has to be recorded for this topic.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub topic: Option<i64>,
}

impl Asks {
    /// All of these skills, before this file is edited.
    pub fn skills(skills: Vec<String>, file: impl Into<String>) -> Asks {
        Asks { skills, file: Some(file.into()), ..Asks::default() }
    }

    /// One of these skills, or reading one of these files.
    pub fn any(any_skill: Vec<String>, any_file: Vec<String>) -> Asks {
        Asks { any_skill, any_file, ..Asks::default() }
    }

    /// That the work is verified.
    pub fn verified() -> Asks {
        Asks { verified: true, ..Asks::default() }
    }

    /// That a person goes through the entries of the flow.
    pub fn compound() -> Asks {
        Asks { compound: true, ..Asks::default() }
    }

    /// That an entry is written.
    pub fn entry() -> Asks {
        Asks { entry: true, ..Asks::default() }
    }

    /// That a gate is let through.
    pub fn gate(number: usize) -> Asks {
        Asks { gate: Some(number), ..Asks::default() }
    }

    /// That the conversation is compacted.
    pub fn compacted() -> Asks {
        Asks { compacted: true, ..Asks::default() }
    }

    /// That a stage is gone through: by its skill, or by a word.
    pub fn stage(stage: impl Into<String>, skill: impl Into<String>) -> Asks {
        Asks { any_skill: vec![skill.into()], stage: Some(stage.into()), ..Asks::default() }
    }

    /// That the answer has a tag.
    pub fn tag() -> Asks {
        Asks { tag: true, ..Asks::default() }
    }

    /// That something is recorded for a topic.
    pub fn topic(id: i64) -> Asks {
        Asks { topic: Some(id), ..Asks::default() }
    }

    /// Whether it asks for nothing.
    pub fn is_empty(&self) -> bool {
        let Asks {
            skills,
            any_skill,
            any_file,
            verified,
            compound,
            entry,
            gate,
            compacted,
            stage,
            tag,
            topic,
            file: _,
        } = self;
        topic.is_none()
            && skills.is_empty()
            && any_skill.is_empty()
            && any_file.is_empty()
            && !(*verified || *compound || *entry || *compacted || *tag)
            && gate.is_none()
            && stage.is_none()
    }
}

/// One policy's answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verdict {
    /// What to do with the event.
    pub call: Call,
    /// Why, for whoever is denied. Facts, and what satisfies them.
    pub reason: Option<String>,
    /// Why, for whoever asks later: also a silent pass has a cause. A few words for the record.
    pub because: &'static str,
    /// What to say beside it.
    pub says: Vec<Say>,
    /// What would satisfy it. Of a silent pass: what it still waits for.
    pub asks: Asks,
    /// What to do if the verdict stands.
    pub effects: Vec<Effect>,
}

impl Verdict {
    /// Nothing to object, nothing to say.
    pub fn pass() -> Verdict {
        Verdict::default()
    }

    /// A pass that says in the record where it comes from.
    pub fn silent(because: &'static str) -> Verdict {
        Verdict { because, ..Verdict::default() }
    }
}
