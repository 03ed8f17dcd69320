//! One file per check; those that look at the host are in its folder.

mod backend;
pub(crate) mod binary;
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

use super::finding::{Finding, Findings, State};
use super::gathered::Gathered;
use crate::bilingual::{Bilingual, both};
use crate::host::claude_code::check as claude_code;
use crate::host::codex::check as codex;
use crate::host::copilot::check as copilot;
use crate::host::opencode::check as opencode;
use crate::host::qwen::check as qwen;

type Check = fn(&Gathered, &mut Findings);

/// For checks that read the state folder.
pub(crate) fn without_state() -> Bilingual {
    both!(
        "Not checked: Tidegate cannot use its state folder.",
        "確認していません。状態のフォルダを使えません。"
    )
}

/// In the order in which they are shown: presence, registration, surroundings, history.
const CHECKS: &[(&str, Check)] = &[
    ("binary", binary::check),
    ("paths", claude_code::paths::check),
    ("safety", claude_code::safety::check),
    ("settings", claude_code::settings::check),
    ("hooks", claude_code::hooks::check),
    ("hosts", hosts::check),
    ("codex", codex::check),
    ("copilot", copilot::check),
    ("qwen", qwen::check),
    ("opencode", opencode::check),
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

pub(crate) fn run_checks(seen: &Gathered) -> Vec<Finding> {
    let run = |(id, check): &(&'static str, Check)| {
        let mut findings = Findings::of(id);
        check(seen, &mut findings);
        findings.into_vec()
    };
    leave_out_consequences(&CHECKS.iter().flat_map(run).collect::<Vec<_>>())
}

/// Each cause is reported once. A check with nothing but consequences counts neither as passed nor as failed.
fn leave_out_consequences(findings: &[Finding]) -> Vec<Finding> {
    let is_problem =
        |id: &str| findings.iter().any(|finding| finding.id == id && finding.state == State::Problem);
    let cause_of = |finding: &Finding| finding.causes.iter().copied().find(|id| is_problem(id));
    let mut left: Vec<Finding> = Vec::new();
    for finding in findings {
        let Some(cause) = cause_of(finding) else {
            left.push(finding.clone());
            continue;
        };
        let is_other = |other: &Finding| other.id == finding.id && cause_of(other).is_none();
        if !findings.iter().any(is_other) && !left.iter().any(|other| other.id == finding.id) {
            let mut unchecked = Findings::of(finding.id);
            let why = both!(
                "Not checked: the check `{cause}` found a problem that explains the rest.",
                "確認していません。`{cause}` で見つかった問題が原因です。"
            );
            unchecked.unchecked(why).unless_caused_by(finding.causes);
            left.extend(unchecked.into_vec());
        }
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(of: &[(&'static str, State, &'static [&'static str])]) -> Vec<Finding> {
        let make = |(id, state, causes): &(&'static str, State, &'static [&'static str])| Finding {
            id,
            state: *state,
            found: Bilingual::data(id),
            fix: None,
            is_unchecked: false,
            causes,
        };
        of.iter().map(make).collect()
    }

    #[test]
    fn a_cause_is_reported_once() {
        let all = findings(&[
            ("binary", State::Problem, &["paths"]),
            ("paths", State::Problem, &[]),
            ("hooks", State::Warning, &["life", "paths"]),
            ("hooks", State::Note, &[]),
            ("crashes", State::Warning, &["state"]),
            ("life", State::Problem, &["paths"]),
            ("life", State::Problem, &["paths"]),
        ]);
        let left: Vec<(&str, State, bool)> = leave_out_consequences(&all)
            .iter()
            .map(|finding| (finding.id, finding.state, finding.is_unchecked))
            .collect();
        assert_eq!(
            left,
            [
                ("binary", State::Note, true),
                ("paths", State::Problem, false),
                ("hooks", State::Note, false),
                ("crashes", State::Warning, false),
                ("life", State::Note, true),
            ]
        );
    }
}
