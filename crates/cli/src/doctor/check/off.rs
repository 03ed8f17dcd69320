//! Policies that are switched off now.

use std::path::Path;

use tidegate_core::feature as policy;
use tidegate_state::config::switches;
use tidegate_state::config::switches::Scope;

use crate::bilingual::{Bilingual, both};
use crate::command::off::{describe_off, only_advises};
use crate::doctor::finding::Findings;
use crate::doctor::gathered::Gathered;
use crate::shell::quote_path;

pub(crate) fn check(seen: &Gathered, found: &mut Findings) {
    for name in &seen.config.off {
        // The check `config` reports unknown names.
        if policy::switchable_policies().any(|known| known == name) {
            found.note_with(
                both!(
                    "TIDEGATE_OFF switches `{name}` off in this shell.",
                    "このシェルでは、TIDEGATE_OFF によって `{name}` がオフです。"
                ),
                both!(
                    "To switch it on again, run `unset TIDEGATE_OFF` before you start the agent.",
                    "オンに戻すには、エージェントを起動する前に `unset TIDEGATE_OFF` を実行してください。"
                ),
            );
        }
    }
    if let Some(problem) = seen.state.as_ref().ok().and_then(switches::find_problem) {
        found.warning(
            both!(
                "Tidegate cannot read which policies you switched off, so they are on. {problem}.",
                "どのポリシーをオフにしたかを読み取れないため、オンのままです: {problem}"
            ),
            both!(
                "Move that file away, then run `tidegate off` again for each policy.",
                "そのファイルを別の場所に移し、もう一度 `tidegate off` でオフにしてください。"
            ),
        );
    }
    let switches = seen.state.as_ref().map(switches::read).unwrap_or_default();
    for off in switches.off.iter().filter(|off| !off.is_expired(seen.now)) {
        let (policy, Bilingual { en, ja }) = (&off.policy, describe_off(&seen.clock, off));
        let arguments = scope_arguments(&off.scope);
        found.note_with(
            both!("`{policy}` is off {en}.", "`{policy}` はオフです（{ja}）。"),
            both!(
                "To switch it on again, run `tidegate on {policy}{arguments}`.",
                "オンに戻すには `tidegate on {policy}{arguments}` を実行してください。"
            ),
        );
    }
    for down in &switches.stepped_down {
        let (policy, Bilingual { en, ja }) = (&down.policy, only_advises(down));
        let project = quote_path(Path::new(&down.stepped_down_in));
        found.note_with(
            both!("{en}.", "{ja}。"),
            both!(
                "To make it block again, run `tidegate on {policy} --project {project}`.",
                "再び止めるようにするには `tidegate on {policy} --project {project}` を実行してください。"
            ),
        );
    }
    if seen.env.guard {
        found.warning(
            both!(
                "TIDEGATE_GUARD is set in this shell. Tidegate checks nothing if you start an agent from here.",
                "このシェルでは TIDEGATE_GUARD が設定されています。ここから起動したエージェントでは、Tidegate は何も確認しません。"
            ),
            both!(
                "Run `unset TIDEGATE_GUARD` before you start the agent.",
                "エージェントを起動する前に `unset TIDEGATE_GUARD` を実行してください。"
            ),
        );
    }
    if found.is_empty() {
        found.ok(both!("No policy is switched off.", "オフにしたポリシーはありません。"));
    }
}

/// As arguments that work in any folder.
fn scope_arguments(scope: &Scope) -> String {
    match scope {
        Scope::Everywhere | Scope::Session(_) => " --everywhere".to_owned(),
        Scope::Project(root) => format!(" --project {}", quote_path(Path::new(root))),
    }
}
