//! Policies that are switched off now.

use std::path::Path;

use tidegate_core::feature as policy;
use tidegate_state::config::switches;
use tidegate_state::config::switches::Scope;

use crate::command::off::{describe_off, only_advises};
use crate::doctor::finding::Findings;
use crate::doctor::gathered::Gathered;
use crate::shell::quote_path;

pub(crate) fn check(seen: &Gathered, found: &mut Findings) {
    for name in &seen.config.off {
        // The check `config` reports unknown names.
        if policy::switchable_policies().any(|known| known == name) {
            found.note_with(
                format!("`{name}` is switched off by TIDEGATE_OFF in this environment"),
                "`unset TIDEGATE_OFF` before starting the client switches it on again",
            );
        }
    }
    if let Some(problem) = seen.state.as_ref().ok().and_then(switches::find_problem) {
        found.warning(
            format!("{problem}: it switches nothing off"),
            "move that file away, then switch off again what is meant to be off",
        );
    }
    let switches = seen.state.as_ref().map(switches::read).unwrap_or_default();
    for off in switches.off.iter().filter(|off| !off.is_expired(seen.now)) {
        found.note_with(
            format!("`{}` is switched off {}", off.policy, describe_off(seen.now, off).en),
            format!("`tidegate on {}{}` switches it on again", off.policy, scope_arguments(&off.scope)),
        );
    }
    for down in &switches.stepped_down {
        let project = quote_path(Path::new(&down.stepped_down_in));
        found.note_with(
            only_advises(down).en,
            format!("`tidegate on {} --project {project}` lets it block again", down.policy),
        );
    }
    if seen.env.guard {
        found.warning(
            "TIDEGATE_GUARD is set in this environment: in a client started from here nothing is gated or said",
            "`unset TIDEGATE_GUARD` before starting the client",
        );
    }
    if found.is_empty() {
        found.ok("nothing is switched off");
    }
}

/// As arguments that work in any folder.
fn scope_arguments(scope: &Scope) -> String {
    match scope {
        Scope::Everywhere | Scope::Session(_) => " --everywhere".to_owned(),
        Scope::Project(root) => format!(" --project {}", quote_path(Path::new(root))),
    }
}
