//! A boundary, from just before it until what it lost was told.
//!
//! Too much for a mark: it has a file of its own in the session's folder, to which each step adds a line.

use serde::{Deserialize, Serialize};

use crate::feature::knowledge::key_facts::KeyFact;
use crate::feature::knowledge::stock::Confidence;
use crate::feature::knowledge::survival::Survival;
use crate::time::Millis;

/// What was noted before a compaction, and what became of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Boundary {
    /// When it was noted. A compaction may be tried several times; the last note counts.
    pub noted: Millis,
    /// `auto` or `manual`.
    pub trigger: String,
    /// Entries in `progress.md`.
    pub entries: usize,
    /// Entries that nobody promoted.
    pub unpromoted: usize,
    /// The newest headings of `progress.md`.
    pub headings: Vec<String>,
    /// What the stock was worth.
    pub confidence: Confidence,
    /// What must not be lost, the most important first.
    pub facts: Vec<KeyFact>,
    /// So many of them were named to the summariser.
    pub named: usize,
    /// When the summary came.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measured: Option<Millis>,
    /// What the boundary before it lost, and nobody told yet: a compaction may be tried and not happen.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub owed: Vec<KeyFact>,
    /// What the summary kept, once there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub survival: Option<Survival>,
}

impl Boundary {
    /// Whether everything that there was had been promoted.
    pub fn promoted(&self) -> bool {
        self.entries > 0 && self.unpromoted == 0
    }

    /// Lost facts that stand nowhere in the conversation. `repeated`: what was printed before the compaction does.
    pub fn missing(&self, repeated: bool) -> Vec<KeyFact> {
        let named = if repeated { self.facts.get(..self.named).unwrap_or_default() } else { &[] };
        let lost = self.survival.iter().flat_map(|survival| &survival.lost);
        lost.filter(|fact| !named.contains(fact)).cloned().collect()
    }
}
