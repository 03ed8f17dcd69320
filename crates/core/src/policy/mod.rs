//! 3. What we think of it: one folder per policy, one list.
//!
//! A folder holds the policy, its settings and its literate table (`<id>.md`, run by `tests/policies.rs`).
//! To add one: make the folder, add its line below.

use serde::de::DeserializeOwned;

use crate::config::Config;
use crate::event::Event;
use crate::facts::{Facts, Needs};
use crate::ruling::{Part, Ruling};
use crate::verdict::Verdict;

/// A pure function from event, facts and config to a verdict.
pub trait Policy: Sync {
    /// The name in config, `TIDEGATE_OFF`, journal and report.
    fn id(&self) -> &'static str;
    /// Whether it speaks, only records what it would have said, or stays out.
    fn mode(&self, config: &Config) -> Mode;
    /// What it has to know at this event; `None` when it has nothing to do with it.
    fn needs(&self, event: &Event<'_>) -> Option<Needs>;
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

/// Gives a policy's section of the config; a missing or broken one is its default.
pub trait Sections {
    /// The section of this name.
    fn section<T: DeserializeOwned + Default>(&mut self, name: &str) -> T;
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
            /// Reads all sections.
            pub fn read(sections: &mut impl Sections) -> PolicySettings {
                PolicySettings { $($module: sections.section(stringify!($module)),)* }
            }
        }
    };
}

policies! {
    pressure => pressure::Pressure,
}

/// The policies that take part in this event.
fn listening<'a>(
    event: &'a Event<'_>,
    config: &'a Config,
) -> impl Iterator<Item = (&'static dyn Policy, Needs)> + 'a {
    POLICIES.iter().copied().filter(|policy| !config.switched_off(policy.id())).filter_map(move |policy| {
        let listens = policy.mode(config) != Mode::Off;
        listens.then(|| policy.needs(event)).flatten().map(|needs| (policy, needs))
    })
}

/// What has to be known for this event.
pub fn needs(event: &Event<'_>, config: &Config) -> Needs {
    listening(event, config).fold(Needs::default(), |all, (_, needs)| all.and(needs))
}

/// Asks every policy that listens. `clock` counts microseconds from anywhere.
pub fn decide(facts: &Facts<'_>, config: &Config, clock: &dyn Fn() -> u64) -> Ruling {
    listening(facts.event, config).fold(Ruling::pass(), |ruling, (policy, _)| {
        let start = clock();
        let verdict = policy.decide(facts, config);
        let micros = clock().saturating_sub(start);
        let shadow = policy.mode(config) == Mode::Shadow;
        ruling.merge(Ruling::of(Part { policy: policy.id(), verdict, shadow, micros }))
    })
}
