//! 3. What we think of it: one folder per policy, one list.
//!
//! A folder holds the policy, its settings and its literate table (`<id>.md`, run by `tests/tables`).
//! To add one: make the folder, add its line below.

/// The rooms, for the aggregates that are made of a part of each: module and variant. The session is first: the others hear its
/// marks. Facts are read in this order: a reader may use what stands before it.
macro_rules! rooms {
    (all, $with:ident) => {
        $with! {
            session Session;
            approval Approval;
            friction Friction;
            skill_gate SkillGate;
            verification Verification;
            own_settings OwnSettings;
            memory Memory;
            cycle Cycle;
            workflow Workflow;
            activity Activity;
            knowledge Knowledge;
            pressure Pressure;
            worktree Worktree;
        }
    };
    // Those that remember something.
    (marks, $with:ident) => {
        $with! {
            session Session;
            approval Approval;
            verification Verification;
            memory Memory;
            cycle Cycle;
            workflow Workflow;
            activity Activity;
            knowledge Knowledge;
            pressure Pressure;
            worktree Worktree;
        }
    };
}

pub mod activity;
pub mod approval;
pub mod config;
pub mod cycle;
pub mod facts;
pub mod friction;
pub mod knowledge;
mod mark_names;
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
use crate::feature::facts::{Facts, Join, Known, Needs};
use crate::feature::marks::{Mark, Marks};
use crate::feature::verdict::{Carried, Verdict};
use crate::settings::section::Section;

/// One room: which parts it adds to the aggregates, and its own bookkeeping, which does not depend on how its policies are set.
pub trait Feature {
    /// What it may have to look for; a reader in the state crate finds it.
    type Needs: Join;
    /// What was found.
    type Facts: Default;
    /// What it may have done; a writer in the state crate does it.
    type Effect: Carried;

    /// What it has to know to keep its books at this event.
    fn needs(_: &Event<'_>, _: Option<&Marks>, _: &Config) -> Needs {
        Needs::default()
    }

    /// The marks that the event leaves in any case.
    fn observe(_: &Facts<'_>, _: &Config) -> Vec<Mark> {
        Vec::new()
    }

    /// Those of them that must not be lost: they are left aside where the run fails.
    fn must_note(_: &Facts<'_>, _: &Config) -> Vec<Mark> {
        Vec::new()
    }

    /// Whether the answer to this event is worth more time than advice gets.
    fn deserves_time(_: &Event<'_>, _: &Marks) -> bool {
        false
    }
}

macro_rules! all_rooms {
    ($($room:ident $variant:ident;)*) => {
        /// What the rooms have to know to keep their books.
        pub fn needs(event: &Event<'_>, marks: Option<&Marks>, config: &Config) -> Needs {
            let needs = Needs::default();
            $(let needs = needs.and(<$room::Room as Feature>::needs(event, marks, config));)*
            needs
        }

        /// The marks that an event leaves whatever the policies think of it.
        pub fn observe(facts: &Facts<'_>, config: &Config) -> Vec<Mark> {
            let mut marks = Vec::new();
            // Whatever is in that file, adding to it would not make it readable.
            if !matches!(facts.marks, Known::Broken(_)) {
                $(marks.extend(<$room::Room as Feature>::observe(facts, config));)*
            }
            marks
        }

        /// Those of them that must not be lost.
        pub fn must_note(facts: &Facts<'_>, config: &Config) -> Vec<Mark> {
            let mut marks = Vec::new();
            $(marks.extend(<$room::Room as Feature>::must_note(facts, config));)*
            marks
        }

        /// Whether the answer to this event is worth more time than advice gets.
        pub fn deserves_time(event: &Event<'_>, marks: &Marks) -> bool {
            $(<$room::Room as Feature>::deserves_time(event, marks) ||)* false
        }
    };
}
rooms!(all, all_rooms);

/// The folder of a project in which flow and stock stand.
pub const CONTEXT_FOLDER: &str = ".claude/context";

/// A file in [`CONTEXT_FOLDER`] that says where a session's work stands.
pub const HANDOFF_FILE: &str = "handoff.md";

/// A pure function from event, facts and config to a verdict.
pub trait Policy: Sync {
    /// The name in config, `TIDEGATE_OFF`, journal and report.
    fn id(&self) -> &'static str;
    /// Whether it speaks, only records what it would have said, or stays out.
    fn mode(&self, config: &Config) -> Mode;
    /// What it has to know at this event; `None` when it has nothing to do with it.
    fn needs(&self, event: &Event<'_>, marks: Option<&Marks>) -> Option<Needs>;
    /// What it has to know besides, now that all of that is known.
    fn needs_more(&self, _: &Facts<'_>, _: &Config) -> Needs {
        Needs::default()
    }
    /// Whether it has nothing to say to what another policy before it holds back.
    fn yields(&self) -> bool {
        false
    }
    /// Whether what it says is markup that the model is to see as such; all else is made neutral.
    fn speaks_markup(&self) -> bool {
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
