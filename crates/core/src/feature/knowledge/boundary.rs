//! A boundary, from just before it until the lost facts were told.
//!
//! Too large for a mark: it has a file of its own in the session's folder, to which each step adds a line.

use serde::{Deserialize, Serialize};

use crate::feature::knowledge::key_facts::KeyFact;
use crate::feature::knowledge::stock::Confidence;
use crate::feature::knowledge::survival::Survival;
use crate::time::Millis;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Boundary {
    /// A compaction may be tried several times; the last note counts.
    pub noted: Millis,
    /// `auto` or `manual`.
    pub trigger: String,
    /// Number of entries in `progress.md`.
    pub entries: usize,
    pub unpromoted: usize,
    /// The newest headings of `progress.md`.
    pub headings: Vec<String>,
    pub confidence: Confidence,
    /// The most important first.
    pub facts: Vec<KeyFact>,
    /// How many of them were named to the summariser.
    pub named: usize,
    /// When the summary came.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measured: Option<Millis>,
    /// Facts that the previous boundary lost and that were not told yet: a compaction may be tried and not
    /// happen.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub owed: Vec<KeyFact>,
    /// `None` until there is a summary.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub survival: Option<Survival>,
}

impl Boundary {
    /// Whether there were entries, all of them promoted.
    pub fn all_promoted(&self) -> bool {
        self.entries > 0 && self.unpromoted == 0
    }

    /// Lost facts that are nowhere in the conversation. `repeated`: the host repeated the text for the
    /// summariser in the conversation.
    pub fn missing(&self, repeated: bool) -> Vec<KeyFact> {
        let named = if repeated { self.facts.get(..self.named).unwrap_or_default() } else { &[] };
        let lost = self.survival.iter().flat_map(|survival| &survival.lost);
        lost.filter(|fact| !named.contains(fact)).cloned().collect()
    }
}
