//! One file per check.

mod backend;
mod binary;
mod client;
mod clock;
mod config;
mod crashes;
mod disabled;
mod disk;
mod hooks;
mod hosts;
mod installs;
mod knowledge;
mod latency;
mod life;
mod memory;
mod network;
mod off;
mod paths;
mod safety;
mod settings;
mod skills;
mod state;
mod transcript;

use super::finding::{Finding, Findings};
use super::gathered::Gathered;

type Check = fn(&Gathered, &mut Findings);

/// What a check says that has nothing to look at.
const NO_STATE: &str = "not known: without a state directory nothing is written down";

/// In the order in which they are shown: what is there, whether it is called, what it can work with, how it has gone.
const CHECKS: &[(&str, Check)] = &[
    ("binary", binary::check),
    ("paths", paths::check),
    ("safety", safety::check),
    ("settings", settings::check),
    ("hooks", hooks::check),
    ("hosts", hosts::check),
    ("installs", installs::check),
    ("disabled", disabled::check),
    ("skills", skills::check),
    ("client", client::check),
    ("state", state::check),
    ("clock", clock::check),
    ("disk", disk::check),
    ("network", network::check),
    ("config", config::check),
    ("off", off::check),
    ("backend", backend::check),
    ("knowledge", knowledge::check),
    ("memory", memory::check),
    ("transcript", transcript::check),
    ("crashes", crashes::check),
    ("latency", latency::check),
    ("life", life::check),
];

pub(crate) const COUNT: usize = CHECKS.len();

/// What they all found.
pub(crate) fn all(seen: &Gathered) -> Vec<Finding> {
    let run = |(id, check): &(&'static str, Check)| {
        let mut findings = Findings::of(id);
        check(seen, &mut findings);
        findings.into_vec()
    };
    CHECKS.iter().flat_map(run).collect()
}
