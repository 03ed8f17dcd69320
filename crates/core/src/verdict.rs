//! What a policy thinks of an event, and what it wants done. All of it data.

use crate::facts::marks::{Mark, PressureLevel};

/// Ordered: the strictest wins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Call {
    /// No objection.
    #[default]
    Pass,
    /// A person should decide.
    Ask,
    /// Not now: deny the call, block the stop.
    Deny,
    /// End the turn.
    Halt,
}

impl Call {
    /// The name in records.
    pub fn name(self) -> &'static str {
        match self {
            Call::Pass => "pass",
            Call::Ask => "ask",
            Call::Deny => "deny",
            Call::Halt => "halt",
        }
    }
}

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
    /// What to do if the verdict stands.
    pub effects: Vec<Effect>,
    /// What would settle it.
    pub asks: Vec<Ask>,
    /// The file it is about.
    pub about: Option<String>,
}

/// What would settle a verdict.
#[derive(Clone, Debug, PartialEq)]
pub enum Ask {
    /// x
    Skills(Vec<String>),
    /// x
    Verified,
    /// x
    Either {
        /// x
        skills: Vec<String>,
        /// x
        files: Vec<String>,
    },
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
