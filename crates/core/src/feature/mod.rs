//! Features: one room (folder) each with its model, settings, marks, texts and policies, and the lists that join
//! them.
//!
//! A policy's rules are a literate table (`<id>.md` in its room), run by `tests/tables`. To add a room, make the folder
//! and add its line to `rooms!`; to add a policy, add its line to `policies!`.

/// The rooms, module and variant, for the aggregates built from a part of each. The session comes first, because the
/// others hear its marks. Facts are read in this order: a reader may use the facts of earlier rooms.
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
    // Rooms with marks of their own.
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
use crate::feature::facts::{Facts, JoinNeeds, Known, Needs};
use crate::feature::marks::{Mark, Marks};
use crate::feature::verdict::{Carried, Verdict};
use crate::settings::section::Section;

/// One room: the types it adds to the aggregates, and bookkeeping that runs whatever the mode of its policies.
pub trait Feature {
    /// Questions to the outside; a reader in the state crate answers them.
    type Needs: JoinNeeds;
    /// The answers to `Needs`.
    type Facts: Default;
    /// Carried out by a writer in the state crate.
    type Effect: Carried;

    fn needs(_: &Event<'_>, _: Option<&Marks>, _: &Config) -> Needs {
        Needs::default()
    }

    /// Marks left by the event, independent of any verdict.
    fn observe(_: &Facts<'_>, _: &Config) -> Vec<Mark> {
        Vec::new()
    }

    /// The subset of [`Feature::observe`] that must not be lost: stored separately when the run fails.
    fn must_note(_: &Facts<'_>, _: &Config) -> Vec<Mark> {
        Vec::new()
    }

    /// Grants the event a longer deadline than advice gets.
    fn deserves_time(_: &Event<'_>, _: &Marks) -> bool {
        false
    }
}

macro_rules! all_rooms {
    ($($room:ident $variant:ident;)*) => {
        pub fn needs(event: &Event<'_>, marks: Option<&Marks>, config: &Config) -> Needs {
            let needs = Needs::default();
            $(let needs = needs.and(<$room::Room as Feature>::needs(event, marks, config));)*
            needs
        }

        pub fn observe(facts: &Facts<'_>, config: &Config) -> Vec<Mark> {
            let mut marks = Vec::new();
            // Appending to an unreadable file would not make it readable.
            if !matches!(facts.marks, Known::Broken(_)) {
                $(marks.extend(<$room::Room as Feature>::observe(facts, config));)*
            }
            marks
        }

        pub fn must_note(facts: &Facts<'_>, config: &Config) -> Vec<Mark> {
            let mut marks = Vec::new();
            $(marks.extend(<$room::Room as Feature>::must_note(facts, config));)*
            marks
        }

        pub fn deserves_time(event: &Event<'_>, marks: &Marks) -> bool {
            $(<$room::Room as Feature>::deserves_time(event, marks) ||)* false
        }
    };
}
rooms!(all, all_rooms);

/// Project folder for flow and stock.
pub const CONTEXT_FOLDER: &str = ".claude/context";

/// File in [`CONTEXT_FOLDER`] with the state of a session's work.
pub const HANDOFF_FILE: &str = "handoff.md";

pub trait Policy: Sync {
    /// The name in config, `TIDEGATE_OFF`, journal and report.
    fn id(&self) -> &'static str;
    fn mode(&self, config: &Config) -> Mode;
    /// `None` if the policy takes no part in this event.
    fn needs(&self, event: &Event<'_>, marks: Option<&Marks>) -> Option<Needs>;
    /// Second round, once the facts of the first are known.
    fn needs_more(&self, _: &Facts<'_>, _: &Config) -> Needs {
        Needs::default()
    }
    /// Yields to earlier policies: not asked once one of them denied the event.
    fn yields(&self) -> bool {
        false
    }
    /// Texts keep their markup; those of other policies are neutralised.
    fn speaks_markup(&self) -> bool {
        false
    }
    /// Skills that the policy may ask for.
    fn skills<'c>(&self, _: &'c Config) -> Vec<&'c str> {
        Vec::new()
    }
    fn decide(&self, facts: &Facts<'_>, config: &Config) -> Verdict;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Live,
    /// Decides, but the verdict is only recorded.
    Shadow,
    Off,
}

macro_rules! policies {
    ($($section:ident => $($module:ident)::+, $policy:ident;)*) => {
        /// In the order in which reasons are joined.
        pub const POLICIES: &[&dyn Policy] = &[$(&$($module)::+::$policy,)*];

        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct PolicySettings {
            $(
                pub $section: $($module)::+::Settings,
            )*
        }

        impl PolicySettings {
            /// In policy order.
            pub fn sections(&self) -> Vec<&dyn Section> {
                vec![$(&self.$section,)*]
            }

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

pub fn policy_ids() -> impl Iterator<Item = &'static str> {
    POLICIES.iter().map(|policy| policy.id())
}

/// Ids of policies that a person can switch off.
pub fn switchable_policies() -> impl Iterator<Item = &'static str> {
    let ours = [approval::ID, friction::ID];
    policy_ids().filter(move |id| !ours.contains(id))
}

/// Skills that any policy may ask for, without duplicates.
pub fn skills(config: &Config) -> Vec<&str> {
    let mut seen = BTreeSet::new();
    let all = POLICIES.iter().flat_map(|policy| policy.skills(config));
    all.filter(|name| seen.insert(*name)).collect()
}
