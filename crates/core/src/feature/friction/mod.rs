//! Friction: tells the person once that a policy has stepped down in this project.
//!
//! The decision to step down is made elsewhere, when people override a policy. The rules are in `friction.md` next to
//! this file.

pub mod effect;
mod words;

use crate::event::{Event, EventKind};
use crate::feature::config::Config;
use crate::feature::facts::{Facts, Needs};
use crate::feature::marks::Marks;
use crate::feature::verdict::{Audience, Effect, Say, Verdict};
use crate::feature::{Feature, Mode, Policy};
use crate::settings::section::section;

/// The name in records. It cannot be switched off: it only reports a change.
pub const ID: &str = "friction";

section! {
    /// Section `[friction]`.
    Settings "friction" {
        /// In `guide`: let a policy only advise in a project after people overrode five of its last ten interruptions there. `tidegate on` makes it block again.
        step_down: bool = true, WithTrust;
    }
}

pub struct Room;

impl Feature for Room {
    type Needs = ();
    type Facts = ();
    type Effect = effect::Effect;
}

pub struct Friction;

impl Policy for Friction {
    fn id(&self) -> &'static str {
        ID
    }

    fn mode(&self, config: &Config) -> Mode {
        if config.step_downs_to_tell.is_empty() { Mode::Off } else { Mode::Live }
    }

    fn needs(&self, event: &Event<'_>, _: Option<&Marks>) -> Option<Needs> {
        let begins = matches!(event.kind, EventKind::SessionStart | EventKind::UserPromptSubmit);
        (begins && event.is_main_thread()).then(Needs::default)
    }

    fn decide(&self, facts: &Facts<'_>, config: &Config) -> Verdict {
        // Told only once, so it waits until a person is there.
        if !facts.person.may_be_there() {
            return Verdict::silent("a policy has stepped down; the session is unattended");
        }
        let say = |policy: &String| Say {
            to: Audience::User,
            text: words::stepped_down(facts.lang, policy),
            weight: 80,
            explains: false,
            when_said: vec![Effect::Friction(effect::Effect::StepDownTold(policy.clone()))],
        };
        Verdict {
            says: config.step_downs_to_tell.iter().map(say).collect(),
            ..Verdict::silent("a policy has stepped down")
        }
    }
}
