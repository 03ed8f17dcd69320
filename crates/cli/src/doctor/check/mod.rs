//! One file per check; those that look at the host are in its folder.

mod backend;
mod binary;
mod clock;
mod config;
mod crashes;
mod disk;
mod hosts;
mod knowledge;
mod latency;
mod memory;
mod network;
mod off;
mod state;

use super::finding::{Finding, Findings};
use super::gathered::Gathered;
use crate::host::claude_code::check as claude_code;

type Check = fn(&Gathered, &mut Findings);

/// For checks without anything to look at.
pub(crate) const NO_STATE: &str = "not known: without a state directory nothing is written down";

/// In the order in which they are shown: presence, registration, surroundings, history.
const CHECKS: &[(&str, Check)] = &[
    ("binary", binary::check),
    ("paths", claude_code::paths::check),
    ("safety", claude_code::safety::check),
    ("settings", claude_code::settings::check),
    ("hooks", claude_code::hooks::check),
    ("hosts", hosts::check),
    ("installs", claude_code::installs::check),
    ("disabled", claude_code::disabled::check),
    ("skills", claude_code::skills::check),
    ("client", claude_code::client::check),
    ("state", state::check),
    ("clock", clock::check),
    ("disk", disk::check),
    ("network", network::check),
    ("config", config::check),
    ("off", off::check),
    ("backend", backend::check),
    ("knowledge", knowledge::check),
    ("memory", memory::check),
    ("transcript", claude_code::transcript::check),
    ("crashes", crashes::check),
    ("latency", latency::check),
    ("life", claude_code::life::check),
];

pub(crate) const COUNT: usize = CHECKS.len();

pub(crate) fn run_checks(seen: &Gathered) -> Vec<Finding> {
    let run = |(id, check): &(&'static str, Check)| {
        let mut findings = Findings::of(id);
        check(seen, &mut findings);
        findings.into_vec()
    };
    CHECKS.iter().flat_map(run).collect()
}
