//! Verdicts of policies and the effects they want, as plain data.
//!
//! An effect says itself when it is carried out ([`EffectTiming`]), which mark it leaves, and whether a
//! policy in shadow mode may have it.

use serde::{Deserialize, Serialize};

use crate::event::FailedStep;
use crate::feature::facts::Told;
use crate::feature::marks::Mark;
use crate::feature::{Feature, session};
pub use crate::host::answer::Call;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// Texts are in English.
    Model,
    /// Texts are in their language.
    User,
}

/// A text that accompanies the call.
#[derive(Clone, Debug, PartialEq)]
pub struct Say {
    pub to: Audience,
    pub text: String,
    /// When texts are too long, the smallest weight is dropped first.
    pub weight: u8,
    /// Explains a denial, so it is kept when the call is denied.
    pub explains: bool,
    /// Carried out only if the text was really said.
    pub when_said: Vec<Effect>,
}

/// Properties common to all effects.
pub trait Carried {
    /// Changes only Tidegate's own state. These effects also happen in shadow mode: a text that is said once counts
    /// as said, and measurements continue.
    fn is_private(&self) -> bool;

    fn when(&self) -> EffectTiming {
        EffectTiming::Answered
    }

    /// It stands for words of a person: a prompt that an agent or the host wrote does not have it.
    fn needs_person(&self) -> bool {
        false
    }

    /// The mark that it leaves.
    fn leaves(&self) -> Option<Mark> {
        None
    }
}

/// Builds the failed step from the error's message.
pub type StepFromError = fn(String) -> FailedStep;

/// When an effect is carried out, and the step to report if it fails.
#[derive(Clone, Copy, Debug)]
pub enum EffectTiming {
    /// Before the answer, which is given only if this succeeds.
    Needed(StepFromError),
    /// Before the answer, which is given in any case. A failure is recorded, and the effect's mark is not left.
    Tried(StepFromError),
    /// After the answer. May fail without a loss.
    Answered,
}

#[derive(Clone, Debug, PartialEq)]
pub enum NoEffect {}

impl Carried for NoEffect {
    fn is_private(&self) -> bool {
        match *self {}
    }
}

macro_rules! effects {
    ($($room:ident $variant:ident;)*) => {
        /// Carried out only if the verdict stands.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Effect {
            Mark(Mark),
            $(
                $variant(<crate::feature::$room::Room as Feature>::Effect),
            )*
        }

        impl Carried for Effect {
            fn is_private(&self) -> bool {
                match self {
                    Effect::Mark(_) => true,
                    $(Effect::$variant(effect) => effect.is_private(),)*
                }
            }

            fn when(&self) -> EffectTiming {
                match self {
                    // Written together with all other marks of the event.
                    Effect::Mark(_) => EffectTiming::Answered,
                    $(Effect::$variant(effect) => effect.when(),)*
                }
            }

            fn needs_person(&self) -> bool {
                match self {
                    Effect::Mark(mark) => mark.needs_person(),
                    $(Effect::$variant(effect) => effect.needs_person(),)*
                }
            }

            fn leaves(&self) -> Option<Mark> {
                match self {
                    Effect::Mark(mark) => Some(mark.clone()),
                    $(Effect::$variant(effect) => effect.leaves(),)*
                }
            }
        }
    };
}
rooms!(all, effects);

impl Effect {
    pub fn mark(mark: impl Into<Mark>) -> Effect {
        Effect::Mark(mark.into())
    }

    pub fn told(what: Told) -> Effect {
        Effect::Session(session::effect::Effect::Told(what))
    }
}

/// Conditions that satisfy an interruption. Empty for one that only informs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[expect(clippy::struct_excessive_bools, reason = "a list of things that can be asked for")]
pub struct Asks {
    /// All of them must be invoked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub skills: Vec<String>,
    /// One of them is enough.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub any_skill: Vec<String>,
    /// Reading one of them is enough.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub any_file: Vec<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub verified: bool,
    /// The file that the interruption is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// A person reviews the entries of the flow.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub compound: bool,
    /// An entry is written to the flow.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub entry: bool,
    /// This gate of a workflow is passed or skipped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gate: Option<usize>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub compacted: bool,
    /// This stage of a cycle is declared done or failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stage: Option<String>,
    /// The answer carries a meta tag.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub tag: bool,
    /// Something is recorded for this topic.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub topic: Option<i64>,
}

impl Asks {
    pub fn skills(skills: Vec<String>, file: impl Into<String>) -> Asks {
        Asks { skills, file: Some(file.into()), ..Asks::default() }
    }

    pub fn any(any_skill: Vec<String>, any_file: Vec<String>) -> Asks {
        Asks { any_skill, any_file, ..Asks::default() }
    }

    pub fn verified() -> Asks {
        Asks { verified: true, ..Asks::default() }
    }

    pub fn compound() -> Asks {
        Asks { compound: true, ..Asks::default() }
    }

    pub fn entry() -> Asks {
        Asks { entry: true, ..Asks::default() }
    }

    pub fn gate(number: usize) -> Asks {
        Asks { gate: Some(number), ..Asks::default() }
    }

    pub fn compacted() -> Asks {
        Asks { compacted: true, ..Asks::default() }
    }

    /// Satisfied by invoking the skill or by declaring the stage done.
    pub fn stage(stage: impl Into<String>, skill: impl Into<String>) -> Asks {
        Asks { any_skill: vec![skill.into()], stage: Some(stage.into()), ..Asks::default() }
    }

    pub fn tag() -> Asks {
        Asks { tag: true, ..Asks::default() }
    }

    pub fn topic(id: i64) -> Asks {
        Asks { topic: Some(id), ..Asks::default() }
    }

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
    pub call: Call,
    /// The reason for a denial, shown to the model: facts, and how to satisfy them.
    pub reason: Option<String>,
    /// A few words for the record. A silent pass has a cause too.
    pub because: &'static str,
    pub says: Vec<Say>,
    /// On a silent pass: the conditions it still waits for.
    pub asks: Asks,
    pub effects: Vec<Effect>,
}

impl Verdict {
    pub fn pass() -> Verdict {
        Verdict::default()
    }

    /// A pass with a cause in the record.
    pub fn silent(because: &'static str) -> Verdict {
        Verdict { because, ..Verdict::default() }
    }
}
