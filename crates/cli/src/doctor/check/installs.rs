//! Two installs at once.

use std::collections::{BTreeMap, BTreeSet};

use super::super::finding::Findings;
use super::super::gathered::Gathered;
use super::super::settings_file::Scope;

pub(super) fn check(seen: &Gathered, found: &mut Findings) {
    let mut commands: BTreeMap<Scope, BTreeSet<&[String]>> = BTreeMap::new();
    for command in seen.ours().filter(|command| command.event.is_some()) {
        commands.entry(command.scope).or_default().insert(&command.words);
    }
    let name = |scope: Scope| match scope {
        Scope::Managed => "the managed settings",
        Scope::Local => "the project's local settings",
        Scope::Shared => "the project's shared settings",
        Scope::User => "the user's settings",
    };
    let mut installs: Vec<String> = commands.keys().map(|scope| name(*scope).to_owned()).collect();
    // Nobody's own to take out.
    let removable = commands.keys().filter(|scope| **scope != Scope::Managed);
    let mut removals: Vec<String> = removable.map(|scope| seen.uninstall_command(*scope)).collect();
    if let Some(plugin) = &seen.plugin {
        installs.push(format!("the plugin {}", plugin.id));
        removals.push(format!("claude plugin uninstall {}", plugin.id));
    }
    match installs.as_slice() {
        [] => found.ok("none"),
        [one] => found.ok(format!("one: {one}")),
        [others @ .., last] => {
            let sets: BTreeSet<_> = commands.values().collect();
            let cost = if seen.plugin.is_none() && sets.len() == 1 {
                "their commands are the same, so the client runs them once, but taking out one leaves the other"
            } else {
                &format!("each event is answered once, but costs {} processes", installs.len())
            };
            found.warning(
                format!("hooks are registered by {} and {last}: {cost}", others.join(", ")),
                format!("keep one; `{}` takes out the other", removals.join("`, or `")),
            );
        }
    }
}
