//! 3. What we think of it: one folder per policy, one list.
//!
//! A folder holds the policy, its settings and its literate table (`<id>.md`, run by `tests/policies.rs`).
//! To add one: make the folder, add its line below.

pub mod activity;
pub mod approval;
pub mod config;
pub mod cycle;
pub mod facts;
pub mod friction;
pub mod knowledge;
pub mod marks;
pub mod memory;
pub mod own_settings;
pub mod pressure;
pub mod session;
pub mod skill_gate;
pub mod verdict;
pub mod verification;
pub mod workflow;
pub mod worktree;

use std::collections::BTreeSet;

use crate::event::Event;
use crate::feature::config::Config;
use crate::feature::facts::{Facts, Needs};
use crate::feature::marks::Marks;
use crate::feature::verdict::Verdict;
use crate::settings::section::Section;

/// The folder of a project in which flow and stock stand.
pub const CONTEXT_FOLDER: &str = ".claude/context";

/// A pure function from event, facts and config to a verdict.
pub trait Policy: Sync {
    /// The name in config, `TIDEGATE_OFF`, journal and report.
    fn id(&self) -> &'static str;
    /// Whether it speaks, only records what it would have said, or stays out.
    fn mode(&self, config: &Config) -> Mode;
    /// What it has to know at this event; `None` when it has nothing to do with it.
    fn needs(&self, event: &Event<'_>, marks: Option<&Marks>) -> Option<Needs>;
    /// Whether it would speak of flow and stock, now that all else is known. Only then those files are read.
    fn needs_knowledge(&self, _: &Facts<'_>, _: &Config) -> bool {
        false
    }
    /// Whether it has nothing to say to what another policy before it holds back.
    fn yields(&self) -> bool {
        false
    }
    /// The skills that it may ask for.
    fn skills<'c>(&self, _: &'c Config) -> Vec<&'c str> {
        Vec::new()
    }
    /// What it thinks. Called only where it listens.
    fn decide(&self, facts: &Facts<'_>, config: &Config) -> Verdict;
}

/// How seriously a policy is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// It decides.
    Live,
    /// It decides, the record says so, nothing else happens.
    Shadow,
    /// It is not asked.
    Off,
}

macro_rules! policies {
    ($($section:ident => $($module:ident)::+, $policy:ident;)*) => {
        /// Every policy, in the order in which reasons are joined.
        pub const POLICIES: &[&dyn Policy] = &[$(&$($module)::+::$policy,)*];

        /// Each policy's own settings.
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct PolicySettings {
            $(
                #[doc = concat!("Section `[", stringify!($section), "]`.")]
                pub $section: $($module)::+::Settings,
            )*
        }

        impl PolicySettings {
            /// The sections, in policy order.
            pub fn sections(&self) -> Vec<&dyn Section> {
                vec![$(&self.$section,)*]
            }

            /// The same, to be changed.
            pub fn sections_mut(&mut self) -> Vec<&mut dyn Section> {
                vec![$(&mut self.$section,)*]
            }
        }
    };
}

policies! {
    approval => approval, Approval;
    friction => friction, Friction;
    own_settings => own_settings, OwnSettings;
    skill_gate => skill_gate, SkillGate;
    verify_stop => verification::verify_stop, VerifyStop;
    task_gate => verification::task_gate, TaskGate;
    meta_tag => memory::meta_tag, MetaTag;
    topic_decision => memory::topic_decision, TopicDecision;
    cycle => cycle::policy, CyclePolicy;
    workflow_gate => workflow::policy, WorkflowGate;
    phase => activity, PhaseAdvice;
    compaction => knowledge::compaction, Compaction;
    compound_nudge => knowledge::compound_nudge, CompoundNudge;
    pressure => pressure, Pressure;
    worktree => worktree, Worktree;
    relay_log => memory::relay_log, RelayLog;
}

/// The policies that a person can switch off, by their ids.
pub fn switchable() -> impl Iterator<Item = &'static str> {
    let ours = [approval::ID, friction::ID];
    POLICIES.iter().map(|policy| policy.id()).filter(move |id| !ours.contains(id))
}

/// Every skill that a policy may ask for, each once.
pub fn skills(config: &Config) -> Vec<&str> {
    let mut seen = BTreeSet::new();
    let all = POLICIES.iter().flat_map(|policy| policy.skills(config));
    all.filter(|name| seen.insert(*name)).collect()
}

/// Names in a text: the first few, and how many more there are.
fn listed(names: &[&str]) -> String {
    const MOST: usize = 5;
    let (shown, more) = names.split_at(names.len().min(MOST));
    let shown = shown.join(", ");
    if more.is_empty() { shown } else { format!("{shown} and {} more", more.len()) }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_text_names_a_few() {
        assert_eq!(super::listed(&["a", "b", "c", "d", "e"]), "a, b, c, d, e");
        assert_eq!(super::listed(&["a", "b", "c", "d", "e", "f", "g"]), "a, b, c, d, e and 2 more");
    }
}
