//! The context warnings that a session has received.

use serde::{Deserialize, Serialize};

use crate::feature::marks::{RoomMarks, SessionMark, SessionMarks};
use crate::time::Millis;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mark {
    /// The highest level that was said, or that use fell back to.
    Pressure(SaidPressure),
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Marks {
    pub said: SaidPressure,
}

impl Marks {
    /// The model was asked to write down what matters, since the last boundary.
    pub fn has_warned(&self) -> bool {
        self.said.level > PressureLevel::None
    }
}

/// The last warning, and its numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SaidPressure {
    pub level: PressureLevel,
    /// Tokens in use.
    pub used: u64,
    /// The reference point.
    pub reference: u64,
    /// When these numbers changed.
    pub at: Millis,
    /// Entries were promoted since: the warning is repeated only for a new entry.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub promoted: bool,
    /// When the flow was last found without a new entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub looked: Option<Millis>,
    /// Unpromoted entries that the person was told of, since the last promotion.
    #[serde(skip_serializing_if = "is_zero")]
    pub notes: usize,
    /// The person got an early warning in this session.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub told_early: bool,
    /// Said in the session that this one is a fork of: the public copy has no numbers of this one yet.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub before_fork: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PressureLevel {
    #[default]
    None,
    /// The early warning.
    Info,
    /// The late warning.
    Urgent,
}

impl PressureLevel {
    /// The name in files.
    pub fn name(self) -> &'static str {
        match self {
            PressureLevel::None => "none",
            PressureLevel::Info => "info",
            PressureLevel::Urgent => "urgent",
        }
    }
}

impl RoomMarks for Marks {
    type Mark = Mark;

    fn apply(&mut self, mark: Mark) {
        let Mark::Pressure(said) = mark;
        self.said = said;
    }

    fn hear(&mut self, mark: &SessionMark, _: &SessionMarks) {
        match mark {
            SessionMark::Boundary(_) => {
                let SaidPressure { notes, told_early, .. } = self.said;
                self.said = SaidPressure { notes, told_early, ..SaidPressure::default() };
            }
            // The urgency was about unpromoted entries.
            SessionMark::Promoted(at) => {
                let level = PressureLevel::None;
                self.said =
                    SaidPressure { level, at: *at, promoted: true, looked: None, notes: 0, ..self.said };
            }
            _ => {}
        }
    }

    fn short(&self) -> Vec<Mark> {
        (self.said != SaidPressure::default()).then_some(Mark::Pressure(self.said)).into_iter().collect()
    }
}

#[cfg(test)]
pub(in crate::feature) mod tests {
    use super::*;
    use proptest::prelude::*;

    pub(in crate::feature) fn mark() -> impl Strategy<Value = Mark> {
        prop_oneof![
            (0u64..1_000_000).prop_map(|used| SaidPressure {
                level: PressureLevel::Urgent,
                used,
                ..SaidPressure::default()
            }),
            Just(SaidPressure::default()),
            (0u64..1 << 40).prop_map(|at| SaidPressure {
                at: Millis(at),
                promoted: true,
                looked: Some(Millis(at)),
                ..SaidPressure::default()
            }),
            (1usize..9, any::<bool>()).prop_map(|(notes, told_early)| SaidPressure {
                notes,
                told_early,
                ..SaidPressure::default()
            }),
        ]
        .prop_map(Mark::Pressure)
    }
}
