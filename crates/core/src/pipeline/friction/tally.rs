//! Interruptions counted, per policy.

use serde::Serialize;

use crate::pipeline::friction::{Interruption, Kind, Settlement};

/// One policy's interruptions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Whose.
    pub policy: String,
    /// How often it spoke, and how.
    pub spoke: Spoke,
    /// What it asked for was done.
    pub satisfied: usize,
    /// It was not.
    pub ignored: usize,
    /// The file was written through the shell instead.
    pub bypassed: usize,
    /// A person switched it off.
    pub overridden: usize,
    /// Not known yet.
    pub open: usize,
    /// It asked for nothing.
    pub unasked: usize,
    /// What it asked for was not written down.
    #[serde(skip_serializing_if = "crate::pipeline::record::is_zero")]
    pub unknown: usize,
    /// Median of the time until what it asked for was done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub median_ms: Option<u64>,
    /// Median of the human prompts in between: 0 is within the same turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub median_turns: Option<u64>,
    /// Model turns that it forced.
    pub forced_turns: u32,
    /// Tokens that it put into the context, by estimate.
    pub tokens: usize,
    /// What it would have done where it was only recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shadow: Option<Would>,
}

/// How often a policy spoke.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Spoke {
    /// Calls denied.
    pub denied: usize,
    /// Turns and tasks held up.
    pub blocked: usize,
    /// Questions to the person.
    pub asked: usize,
    /// Texts for the model.
    pub advised: usize,
    /// Texts for the person.
    pub told: usize,
}

/// What a policy would have done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Would {
    /// How often it would have spoken, and how.
    pub spoken: Spoke,
    /// What it would have asked for was done all the same.
    pub anyway: usize,
    /// It was not.
    pub not: usize,
}

impl Spoke {
    /// All together.
    pub fn all(self) -> usize {
        self.denied + self.blocked + self.asked + self.advised + self.told
    }

    fn count(&mut self, kind: Kind) {
        *match kind {
            Kind::Denied => &mut self.denied,
            Kind::Blocked => &mut self.blocked,
            Kind::Asked => &mut self.asked,
            Kind::Advised => &mut self.advised,
            Kind::Told => &mut self.told,
        } += 1;
    }
}

/// So many have to be settled before they tell something.
const ENOUGH: usize = 5;

impl Tally {
    /// How many asked for something of which it is known what became of it.
    pub fn settled(&self) -> usize {
        self.satisfied + self.ignored + self.bypassed + self.overridden
    }

    /// Whether it speaks into the void: hardly anything that it asks for is done.
    pub fn is_void(&self) -> bool {
        self.settled() >= ENOUGH && self.satisfied * 5 < self.settled()
    }

    fn count(&mut self, said: &Interruption) {
        if said.shadow {
            let would = self.shadow.get_or_insert_default();
            would.spoken.count(said.kind);
            match said.settlement {
                Settlement::Satisfied => would.anyway += 1,
                Settlement::Ignored | Settlement::Bypassed | Settlement::Overridden => would.not += 1,
                Settlement::Open | Settlement::Unasked | Settlement::Unknown => {}
            }
            return;
        }
        self.spoke.count(said.kind);
        self.forced_turns += said.forced;
        self.tokens += said.tokens;
        *match said.settlement {
            Settlement::Satisfied => &mut self.satisfied,
            Settlement::Ignored => &mut self.ignored,
            Settlement::Bypassed => &mut self.bypassed,
            Settlement::Overridden => &mut self.overridden,
            Settlement::Open => &mut self.open,
            Settlement::Unasked => &mut self.unasked,
            Settlement::Unknown => &mut self.unknown,
        } += 1;
    }
}

/// One tally per policy that spoke or would have, by name.
pub fn tallies<'a>(interruptions: impl IntoIterator<Item = &'a Interruption>) -> Vec<Tally> {
    let mut tallies: Vec<Tally> = Vec::new();
    let mut satisfied: Vec<(&str, u64, u64)> = Vec::new();
    for said in interruptions {
        let at = tallies.iter().position(|tally| tally.policy == said.policy).unwrap_or_else(|| {
            tallies.push(Tally { policy: said.policy.clone(), ..Tally::default() });
            tallies.len() - 1
        });
        tallies[at].count(said);
        if said.settlement == Settlement::Satisfied && !said.shadow {
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

/// The lower one of two in the middle: a value that was measured.
fn median(mut values: Vec<u64>) -> Option<u64> {
    values.sort_unstable();
    values.get(values.len().checked_sub(1)? / 2).copied()
}
