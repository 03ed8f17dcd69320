//! Section `[statusline]`: the parts of the line and their order.

use crate::settings::section::section;
use crate::settings::setting::{Setting, Shape};
use crate::settings::value::Value;

section! {
    /// Section `[statusline]`.
    StatusLineSettings "statusline" {
        /// The parts of the status line, in order. Problems with hooks and config are always shown.
        show: StatusParts = StatusParts::default(), WithTrust;
    }
}

/// A part of the status line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatusPart {
    /// How far it is to compaction.
    Context,
    /// Edits that no check covers yet, or that one does.
    Checks,
    /// The stage of a cycle or the phase of a workflow.
    Stage,
    /// Requests, policies that are off, and notes to review: they wait for the person.
    Waiting,
}

const NAMES: &[&str] = &["context", "checks", "stage", "waiting"];

impl StatusPart {
    pub const ALL: [StatusPart; 4] =
        [StatusPart::Context, StatusPart::Checks, StatusPart::Stage, StatusPart::Waiting];

    pub fn name(self) -> &'static str {
        NAMES[self as usize]
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusParts(pub Vec<StatusPart>);

impl Default for StatusParts {
    fn default() -> Self {
        StatusParts(StatusPart::ALL.to_vec())
    }
}

impl Setting for StatusParts {
    const SHAPE: Shape = Shape::List(NAMES);

    fn from_value(value: &Value) -> Option<Self> {
        let Value::List(items) = value else { return None };
        let part = |item: &Value| match item {
            Value::Text(name) => StatusPart::ALL.into_iter().find(|part| part.name() == name),
            _ => None,
        };
        let mut parts: Vec<StatusPart> = items.iter().map(part).collect::<Option<_>>()?;
        let named = parts.clone();
        let mut at = 0;
        parts.retain(|part| {
            at += 1;
            !named[..at - 1].contains(part)
        });
        Some(StatusParts(parts))
    }

    fn to_value(&self) -> Value {
        Value::List(self.0.iter().map(|part| part.name().into()).collect())
    }
}
