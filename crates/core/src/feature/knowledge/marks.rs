//! Notices about flow and stock that a session has received.

use serde::{Deserialize, Serialize};

use crate::feature::marks::{RoomMarks, SessionMark, SessionMarks};
use crate::text::fnv;
use crate::time::Millis;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mark {
    /// A note about flow was left at this time. (Version 0.1 wrote the beginning of its change set.)
    FlowNoted(Millis),
    /// A manual compaction was paused for this set of unpromoted entries.
    CompactionHeld(u64),
    /// The boundary noted at this time was used for recovery.
    Recovered(Millis),
    /// A hash of the persistence files when they were listed.
    Listed(u64),
    /// The session knows of a handoff.
    Handoff(HandoffKnown),
    /// A person was told of unpromoted entries.
    Nudged(Nudge),
    /// A constraint in the words of the person, without its time.
    ConstraintStated(String),
    /// A constraint in the words of the person.
    ConstraintSaid { text: String, at: Millis },
    /// The hash of a constraint that the person took back.
    ConstraintLifted(u64),
    /// The person knows of all that were lifted.
    LiftTold,
    /// Replaces the sentences in which the last prompt allows for this once what a constraint forbids.
    AllowedOnce(Vec<String>),
    /// Constraints of a prompt that had too many.
    LeftOut(Vec<String>),
    /// The person knows of all that are not kept.
    LeftOutTold,
    /// Replaces all sentences in which the person keeps a step of the work to themselves.
    Reserved(Vec<ReservedStep>),
}

/// A sentence in which the person keeps a step of the work to themselves.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReservedStep {
    pub text: String,
    /// It is of the prompt before the last one.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub old: bool,
}

/// A constraint that the person stated in a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatedConstraint {
    pub text: String,
    /// The time of the prompt.
    pub at: Option<Millis>,
}

impl StatedConstraint {
    /// By which it can be lifted.
    pub fn hash(&self) -> u64 {
        fnv::hash(self.text.bytes())
    }
}

impl AsRef<str> for StatedConstraint {
    fn as_ref(&self) -> &str {
        &self.text
    }
}

/// Unpromoted entries that a person was told of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Nudge {
    /// Identifies the set of entries.
    pub set: u64,
    /// Their number.
    pub entries: usize,
}

/// A handoff that a session wrote or was told of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HandoffKnown {
    /// When it was written.
    pub at: Millis,
    /// Written by this session, and not told to it since.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub wrote: bool,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Marks {
    /// When a note about flow was last left.
    pub flow_noted: Option<Millis>,
    /// The set of entries that a manual compaction was last paused for.
    pub compaction_held: Option<u64>,
    /// A compaction was paused since the last boundary.
    pub held_since_boundary: bool,
    /// When the boundary last used for recovery was noted.
    pub recovered: Option<Millis>,
    /// A hash of the persistence files when they were last listed.
    pub listed: Option<u64>,
    /// The last handoff that it knows of.
    pub handoff: Option<HandoffKnown>,
    /// The entries that a person was last told of, since the last promotion.
    pub nudge: Option<Nudge>,
    /// Constraints that the person stated in prompts and did not take back, the newest last.
    pub constraints: Vec<StatedConstraint>,
    /// Constraints that the person took back, and does not know yet that Tidegate understood it so.
    pub lifted: Vec<String>,
    /// What the last prompt allows for this once.
    pub allowed_once: Vec<String>,
    /// Constraints for which there was no room, the newest last.
    pub left_out: Vec<String>,
    /// The last ones of them that the person does not know of yet.
    pub left_out_untold: usize,
    /// Steps that the person keeps to themselves, as said in the last two prompts or in a stage.
    pub reserved: Vec<ReservedStep>,
}

/// More would fill the text for the summariser.
pub const MOST_CONSTRAINTS: usize = 20;

impl RoomMarks for Marks {
    type Mark = Mark;

    fn apply(&mut self, mark: Mark) {
        match mark {
            Mark::FlowNoted(at) => self.flow_noted = Some(at),
            Mark::CompactionHeld(set) => {
                self.compaction_held = Some(set);
                self.held_since_boundary = true;
            }
            Mark::Recovered(noted) => self.recovered = Some(noted),
            Mark::Listed(files) => self.listed = Some(files),
            Mark::Handoff(known) => self.handoff = Some(known),
            Mark::Nudged(nudge) => self.nudge = Some(nudge),
            Mark::ConstraintStated(text) => self.keep(StatedConstraint { text, at: None }),
            Mark::ConstraintSaid { text, at } => self.keep(StatedConstraint { text, at: Some(at) }),
            Mark::ConstraintLifted(hash) => self.lift(hash),
            Mark::LiftTold => self.lifted.clear(),
            Mark::AllowedOnce(sentences) => self.allowed_once = sentences,
            Mark::LeftOut(texts) => texts.into_iter().for_each(|text| self.leave_out(text)),
            Mark::LeftOutTold => self.left_out_untold = 0,
            Mark::Reserved(reserved) => self.reserved = reserved,
        }
    }

    fn hear(&mut self, mark: &SessionMark, _: &SessionMarks) {
        match mark {
            SessionMark::Boundary(_) => self.held_since_boundary = false,
            SessionMark::Promoted(_) => self.nudge = None,
            _ => {}
        }
    }

    /// A pause before the last boundary does not count after it.
    fn opening(&self) -> Vec<Mark> {
        self.held(false).into_iter().collect()
    }

    fn short(&self) -> Vec<Mark> {
        let mut marks = Vec::new();
        marks.extend(self.held(true));
        marks.extend(self.flow_noted.map(Mark::FlowNoted));
        marks.extend(self.recovered.map(Mark::Recovered));
        marks.extend(self.listed.map(Mark::Listed));
        marks.extend(self.handoff.map(Mark::Handoff));
        marks.extend(self.nudge.map(Mark::Nudged));
        marks.extend(self.lifted.iter().flat_map(|text| {
            [Mark::ConstraintStated(text.clone()), Mark::ConstraintLifted(fnv::hash(text.bytes()))]
        }));
        let (told, untold) = self.left_out.split_at(self.left_out.len() - self.left_out_untold);
        if !told.is_empty() {
            marks.extend([Mark::LeftOut(told.to_vec()), Mark::LeftOutTold]);
        }
        if !untold.is_empty() {
            marks.push(Mark::LeftOut(untold.to_vec()));
        }
        if !self.allowed_once.is_empty() {
            marks.push(Mark::AllowedOnce(self.allowed_once.clone()));
        }
        marks.extend(self.constraints.iter().cloned().map(|StatedConstraint { text, at }| match at {
            Some(at) => Mark::ConstraintSaid { text, at },
            None => Mark::ConstraintStated(text),
        }));
        marks.extend(Some(&self.reserved).filter(|known| !known.is_empty()).cloned().map(Mark::Reserved));
        marks
    }
}

impl Marks {
    fn keep(&mut self, new: StatedConstraint) {
        self.constraints.retain(|known| known.text != new.text);
        self.lifted.retain(|known| *known != new.text);
        self.forget_left_out(&new.text);
        self.constraints.push(new);
        let over = self.constraints.len().saturating_sub(MOST_CONSTRAINTS);
        let oldest: Vec<StatedConstraint> = self.constraints.drain(..over).collect();
        for known in oldest {
            self.leave_out(known.text);
        }
    }

    /// A text is kept, lifted or left out, never two of these.
    fn leave_out(&mut self, text: String) {
        if self.constraints.iter().any(|known| known.text == text) {
            return;
        }
        self.lifted.retain(|known| *known != text);
        self.forget_left_out(&text);
        self.left_out.push(text);
        self.left_out_untold += 1;
        let over = self.left_out.len().saturating_sub(MOST_CONSTRAINTS);
        self.left_out.drain(..over);
        self.left_out_untold = self.left_out_untold.min(self.left_out.len());
    }

    fn forget_left_out(&mut self, text: &str) {
        let Some(at) = self.left_out.iter().position(|known| known == text) else { return };
        if self.left_out.len() - at <= self.left_out_untold {
            self.left_out_untold -= 1;
        }
        self.left_out.remove(at);
    }

    fn lift(&mut self, hash: u64) {
        let Some(at) = self.constraints.iter().position(|known| known.hash() == hash) else { return };
        self.lifted.push(self.constraints.remove(at).text);
        let over = self.lifted.len().saturating_sub(MOST_CONSTRAINTS);
        self.lifted.drain(..over);
    }

    fn held(&self, since_boundary: bool) -> Option<Mark> {
        let held = self.compaction_held.map(Mark::CompactionHeld);
        held.filter(|_| self.held_since_boundary == since_boundary)
    }
}

#[cfg(test)]
pub(in crate::feature) mod tests {
    use super::*;
    use proptest::prelude::*;

    pub(in crate::feature) fn mark() -> impl Strategy<Value = Mark> {
        prop_oneof![
            (0u64..1 << 40).prop_map(|at| Mark::FlowNoted(Millis(at))),
            any::<u64>().prop_map(Mark::CompactionHeld),
            (0u64..1 << 40).prop_map(|at| Mark::Recovered(Millis(at))),
            any::<u64>().prop_map(Mark::Listed),
            (0u64..1 << 40, any::<bool>())
                .prop_map(|(at, wrote)| Mark::Handoff(HandoffKnown { at: Millis(at), wrote })),
            any::<u64>().prop_map(|set| Mark::Nudged(Nudge { set, entries: 3 })),
            "[a-d]{1,3}".prop_map(Mark::ConstraintStated),
            ("[a-d]{1,3}", 0u64..4).prop_map(|(text, at)| Mark::ConstraintSaid { text, at: Millis(at) }),
            "[a-d]{1,3}".prop_map(|text| Mark::ConstraintLifted(fnv::hash(text.bytes()))),
            Just(Mark::LiftTold),
            Just(Mark::LeftOutTold),
            proptest::collection::vec("[a-d]{1,3}", 0..3).prop_map(Mark::LeftOut),
            proptest::collection::vec("[a-d]{1,3}", 0..2).prop_map(Mark::AllowedOnce),
            ("[a-d]{1,3}", any::<bool>())
                .prop_map(|(text, old)| Mark::Reserved(vec![ReservedStep { text, old }])),
        ]
    }
}
