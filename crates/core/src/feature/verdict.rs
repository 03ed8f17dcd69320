//! What a policy thinks of an event, and what it wants done. All of it data.

use serde::{Deserialize, Serialize};

use crate::event::FailedStep;
use crate::feature::Feature;
use crate::feature::marks::Mark;
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

/// What is asked of every effect, whatever it is.
pub trait Carried {
    /// Whether it stays within our own state: a policy in the shadow has these, too. What is said once it would have said
    /// once, and what is measured is measured.
    fn is_private(&self) -> bool;

    /// When it is carried out.
    fn when(&self) -> When {
        When::Answered
    }

    /// The mark that it leaves.
    fn leaves(&self) -> Option<Mark> {
        None
    }
}

/// Names the step of the run that has failed, from why.
pub type AsStep = fn(String) -> FailedStep;

/// When an effect is carried out, and which step of the run has failed if it cannot be.
#[derive(Clone, Copy, Debug)]
pub enum When {
    /// Before the answer, which stands only if this succeeds.
    Needed(AsStep),
    /// Before the answer, which stands in any case. If it fails, the record says so and its mark is not left.
    Tried(AsStep),
    /// Once the answer is out. It may fail without a loss.
    Answered,
}

/// A room that has no effects.
#[derive(Clone, Debug, PartialEq)]
pub enum NoEffect {}

impl Carried for NoEffect {
    fn is_private(&self) -> bool {
        match *self {}
    }
}

macro_rules! effects {
    ($($room:ident $variant:ident;)*) => {
        /// What is to be done. It is done only if the verdict stands.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Effect {
            /// Remember this in the session.
            Mark(Mark),
            $(
                #[doc = concat!("An effect of the room `", stringify!($room), "`.")]
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

            fn when(&self) -> When {
                match self {
                    // Together with all other marks of the event.
                    Effect::Mark(_) => When::Answered,
                    $(Effect::$variant(effect) => effect.when(),)*
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
    /// Remember this in the session.
    pub fn mark(mark: impl Into<Mark>) -> Effect {
        Effect::Mark(mark.into())
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
