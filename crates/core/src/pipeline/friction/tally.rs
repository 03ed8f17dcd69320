//! Counts of interruptions per policy.

use serde::Serialize;

use crate::pipeline::friction::{Interruption, InterruptionKind, Settlement};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    pub policy: String,
    /// Each of them is in one of the eight following counts.
    pub spoke: SpokenCounts,
    /// In the same turn.
    pub satisfied: usize,
    pub satisfied_later: usize,
    /// Of both, those in which a person did it, by a command.
    #[serde(skip_serializing_if = "crate::pipeline::record::is_zero")]
    pub by_person: usize,
    pub ignored: usize,
    pub bypassed: usize,
    pub overridden: usize,
    pub open: usize,
    /// Interruptions without an outcome: they asked the model for nothing.
    pub unasked: usize,
    /// Interruptions whose conditions were not recorded.
    #[serde(skip_serializing_if = "crate::pipeline::record::is_zero")]
    pub unknown: usize,
    /// Median time until it was satisfied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub median_ms: Option<u64>,
    /// Median number of human prompts until then; 0 is within the same turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub median_turns: Option<u64>,
    pub forced_turns: u32,
    /// Estimated tokens added to the context.
    pub tokens: usize,
    /// Interruptions that were only recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shadow: Option<ShadowCounts>,
}

/// Number of interruptions by form.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SpokenCounts {
    pub denied: usize,
    /// Turns and tasks.
    pub blocked: usize,
    pub asked: usize,
    pub advised: usize,
    pub told: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ShadowCounts {
    pub spoken: SpokenCounts,
    /// Satisfied without being told.
    pub anyway: usize,
    /// Not satisfied.
    pub not: usize,
    /// Not known, or nothing was asked.
    pub open: usize,
}

impl SpokenCounts {
    pub fn total(self) -> usize {
        self.denied + self.blocked + self.asked + self.advised + self.told
    }

    fn count(&mut self, kind: InterruptionKind) {
        *match kind {
            InterruptionKind::Denied => &mut self.denied,
            InterruptionKind::Blocked => &mut self.blocked,
            InterruptionKind::Asked => &mut self.asked,
            InterruptionKind::Advised => &mut self.advised,
            InterruptionKind::Told => &mut self.told,
        } += 1;
    }
}

/// Fewer settled interruptions say nothing.
const ENOUGH: usize = 5;

impl Tally {
    pub fn settled(&self) -> usize {
        self.followed() + self.ignored + self.bypassed + self.overridden
    }

    /// Satisfied in whichever turn.
    pub fn followed(&self) -> usize {
        self.satisfied + self.satisfied_later
    }

    /// Texts without an outcome, and those whose outcome cannot be known.
    pub fn without_outcome(&self) -> usize {
        self.unasked + self.unknown
    }

    /// Hardly any request is satisfied.
    pub fn is_void(&self) -> bool {
        self.settled() >= ENOUGH && self.followed() * 5 < self.settled()
    }

    fn count(&mut self, said: &Interruption) {
        if said.shadow {
            let would = self.shadow.get_or_insert_default();
            would.spoken.count(said.kind);
            match said.settlement {
                Settlement::Satisfied | Settlement::SatisfiedLater => would.anyway += 1,
                Settlement::Ignored | Settlement::Bypassed | Settlement::Overridden => would.not += 1,
                Settlement::Open | Settlement::Unasked | Settlement::Unknown => would.open += 1,
            }
            return;
        }
        self.spoke.count(said.kind);
        self.forced_turns += said.forced;
        self.tokens += said.tokens;
        self.by_person += usize::from(said.by_person);
        *match said.settlement {
            Settlement::Satisfied => &mut self.satisfied,
            Settlement::SatisfiedLater => &mut self.satisfied_later,
            Settlement::Ignored => &mut self.ignored,
            Settlement::Bypassed => &mut self.bypassed,
            Settlement::Overridden => &mut self.overridden,
            Settlement::Open => &mut self.open,
            Settlement::Unasked => &mut self.unasked,
            Settlement::Unknown => &mut self.unknown,
        } += 1;
    }
}

/// One per policy that spoke or would have, sorted by name.
pub fn tally_interruptions<'a>(interruptions: impl IntoIterator<Item = &'a Interruption>) -> Vec<Tally> {
    let mut tallies: Vec<Tally> = Vec::new();
    let mut satisfied: Vec<(&str, u64, u64)> = Vec::new();
    for said in interruptions {
        let at = tallies.iter().position(|tally| tally.policy == said.policy).unwrap_or_else(|| {
            tallies.push(Tally { policy: said.policy.clone(), ..Tally::default() });
            tallies.len() - 1
        });
        tallies[at].count(said);
        let followed = matches!(said.settlement, Settlement::Satisfied | Settlement::SatisfiedLater);
        if followed && !said.shadow {
            satisfied.push((&said.policy, said.after_ms, u64::from(said.turns)));
        }
    }
    for tally in &mut tallies {
        let own = || satisfied.iter().filter(|(policy, ..)| *policy == tally.policy);
        tally.median_ms = median(own().map(|(_, ms, _)| *ms).collect());
        tally.median_turns = median(own().map(|(.., turns)| *turns).collect());
    }
    tallies.sort_by(|one, other| one.policy.cmp(&other.policy));
    tallies
}

/// The lower one of two in the middle: a measured value.
fn median(mut values: Vec<u64>) -> Option<u64> {
    values.sort_unstable();
    values.get(values.len().checked_sub(1)? / 2).copied()
}
