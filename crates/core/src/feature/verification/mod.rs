//! Verification: edited code must be checked, by the project's own checks.

pub mod checks;
pub mod bookkeeping;
mod check_run;
pub mod facts;
pub mod marks;
pub mod named_check;
pub mod required_checks;
pub mod task_gate;
pub mod verify_stop;
pub mod void_check;
pub mod words;
pub mod work;

use crate::event::Event;
use crate::feature::Feature;
use crate::feature::config::Config;
use crate::feature::facts::{Facts, Needs};
use crate::feature::marks::{Mark, Marks};
use crate::feature::verdict::NoEffect;

pub struct Room;

impl Feature for Room {
    type Needs = facts::Needs;
    type Facts = facts::Facts;
    type Effect = NoEffect;

    fn needs(event: &Event<'_>, marks: Option<&Marks>, config: &Config) -> Needs {
        bookkeeping::needs(event, marks, config)
    }

    fn observe(facts: &Facts<'_>, config: &Config) -> Vec<Mark> {
        bookkeeping::marks(facts, config).into_iter().map(Mark::from).collect()
    }

    fn must_note(facts: &Facts<'_>, config: &Config) -> Vec<Mark> {
        bookkeeping::edit_marks(facts, config).into_iter().map(Mark::from).collect()
    }
}
