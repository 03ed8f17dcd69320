//! 3. What we think of it: one folder per policy, one list.
//!
//! A folder holds the policy, its settings and its literate table (`<id>.md`, run by `tests/policies.rs`).
//! To add one: make the folder, add its line below.

use crate::config::section::Section;
use crate::config::{BrokenFile, Config};
use crate::event::{Event, EventKind};
use crate::facts::marks::Marks;
use crate::facts::verification;
use crate::facts::{Facts, Needs};
use crate::quoted::quote_verdict;
use crate::ruling::{Part, Ruling};
use crate::verdict::{Audience, Call, Say, Verdict};

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
    ($($module:ident => $policy:expr,)*) => {
        $(pub mod $module;)*

        /// Every policy, in the order in which reasons are joined.
        pub const POLICIES: &[&dyn Policy] = &[$(&$policy,)*];

        /// Each policy's own settings.
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct PolicySettings {
            $(
                #[doc = concat!("Section `[", stringify!($module), "]`.")]
                pub $module: $module::Settings,
            )*
        }

        impl PolicySettings {
            /// The sections, in policy order.
            pub fn sections(&self) -> Vec<&dyn Section> {
                vec![$(&self.$module,)*]
            }

            /// The same, to be changed.
            pub fn sections_mut(&mut self) -> Vec<&mut dyn Section> {
                vec![$(&mut self.$module,)*]
            }
        }
    };
}

policies! {
    approval => approval::Approval,
    friction => friction::Friction,
    own_settings => own_settings::OwnSettings,
    skill_gate => skill_gate::SkillGate,
    verify_stop => verify_stop::VerifyStop,
    task_gate => task_gate::TaskGate,
    meta_tag => meta_tag::MetaTag,
    topic_decision => topic_decision::TopicDecision,
    cycle => cycle::CyclePolicy,
    workflow_gate => workflow_gate::WorkflowGate,
    phase => phase::PhaseAdvice,
    compaction => compaction::Compaction,
    compound_nudge => compound_nudge::CompoundNudge,
    pressure => pressure::Pressure,
    worktree => worktree::Worktree,
    relay_log => relay_log::RelayLog,
}

/// The policies that a person can switch off, by their ids.
pub fn switchable() -> impl Iterator<Item = &'static str> {
    let ours = [approval::ID, friction::ID];
    POLICIES.iter().map(|policy| policy.id()).filter(move |id| !ours.contains(id))
}

impl PolicySettings {
    /// Every skill that something here asks for, each once.
    pub fn skills(&self) -> Vec<&str> {
        let require = &self.skill_gate.require;
        let of_paths = require.paths.0.iter().map(|(_, skills)| skills);
        let of_classes = [&require.code, &require.document, &require.config, &require.other];
        let mut names: Vec<&str> = Vec::new();
        names.extend(
            of_classes.into_iter().chain(of_paths).flat_map(|skills| &skills.0).map(|skill| skill.0.as_str()),
        );
        names.push(verification::SKILL);
        if self.workflow_gate.mode == workflow_gate::settings::WorkflowMode::Strict {
            names.push(crate::workflow::check::SKILL);
        }
        names.extend(self.phase.labels().into_iter().flat_map(phase::settings::Label::names));
        let mut seen = std::collections::BTreeSet::new();
        names.retain(|name| seen.insert(*name));
        names
    }
}

/// Names in a text: the first few, and how many more there are.
fn listed(names: &[&str]) -> String {
    const MOST: usize = 5;
    let (shown, more) = names.split_at(names.len().min(MOST));
    let shown = shown.join(", ");
    if more.is_empty() { shown } else { format!("{shown} and {} more", more.len()) }
}

/// The policies that take part in this event.
fn listening<'a>(
    event: &'a Event<'_>,
    marks: Option<&'a Marks>,
    config: &'a Config,
) -> impl Iterator<Item = (&'static dyn Policy, Needs)> + 'a {
    POLICIES.iter().copied().filter(|policy| !config.switched_off(policy.id())).filter_map(move |policy| {
        let listens = policy.mode(config) != Mode::Off;
        listens.then(|| policy.needs(event, marks)).flatten().map(|needs| (policy, needs))
    })
}

/// What has to be known for this event.
pub fn needs(event: &Event<'_>, marks: Option<&Marks>, config: &Config) -> Needs {
    listening(event, marks, config).fold(Needs::default(), |all, (_, needs)| all.and(needs))
}

/// Whether flow and stock have to be read for this event.
pub fn needs_knowledge(facts: &Facts<'_>, config: &Config) -> bool {
    listening(facts.event, facts.marks.value(), config)
        .any(|(policy, _)| policy.needs_knowledge(facts, config))
}

/// Asks every policy that listens. `clock` counts microseconds from anywhere.
pub fn decide(facts: &Facts<'_>, config: &Config, clock: &dyn Fn() -> u64) -> Ruling {
    let first = if config.broken.is_empty() { Ruling::pass() } else { broken_config(facts, config) };
    listening(facts.event, facts.marks.value(), config).fold(first, |ruling, (policy, _)| {
        let start = clock();
        let held = policy.yields() && ruling.call() >= Call::Deny;
        let mut verdict =
            if held { Verdict::silent("another policy holds it back") } else { policy.decide(facts, config) };
        // A meta tag is markup of our own; the names in it are neutral.
        if policy.id() != meta_tag::ID {
            quote_verdict(&mut verdict);
        }
        let micros = clock().saturating_sub(start);
        let shadow = policy.mode(config) == Mode::Shadow;
        ruling.merge(Ruling::of(Part { policy: policy.id(), verdict, shadow, micros }))
    })
}

/// Tells the person at the start of a session which config files cannot be read. Not a policy: nobody can switch it off.
fn broken_config(facts: &Facts<'_>, config: &Config) -> Ruling {
    if facts.event.kind != EventKind::SessionStart || !facts.event.main_thread() {
        return Ruling::pass();
    }
    let say = |broken: &BrokenFile| Say {
        to: Audience::User,
        text: (facts.lang.words().config_broken)(broken),
        weight: u8::MAX,
        explains: true,
        when_said: Vec::new(),
    };
    let says = config.broken.iter().map(say).collect();
    let verdict = Verdict { says, ..Verdict::silent("a config file cannot be read") };
    Ruling::of(Part { policy: "config", verdict, shadow: false, micros: 0 })
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_text_names_a_few() {
        assert_eq!(super::listed(&["a", "b", "c", "d", "e"]), "a, b, c, d, e");
        assert_eq!(super::listed(&["a", "b", "c", "d", "e", "f", "g"]), "a, b, c, d, e and 2 more");
    }
}
