//! Two installs at once.

use std::collections::{BTreeMap, BTreeSet};

use super::super::settings_file::Scope;
use crate::doctor::finding::Findings;
use crate::doctor::gathered::Gathered;

pub(crate) fn check(seen: &Gathered, found: &mut Findings) {
    let mut commands: BTreeMap<Scope, BTreeSet<&[String]>> = BTreeMap::new();
    for command in seen.hooks() {
        commands.entry(command.scope).or_default().insert(&command.words);
    }
    let name = |scope: Scope| match scope {
        Scope::Managed => "the managed settings",
        Scope::Local => "the project's local settings",
        Scope::Shared => "the project's shared settings",
        Scope::User => "the user's settings",
    };
    let mut installs: Vec<String> = commands.keys().map(|scope| name(*scope).to_owned()).collect();
    installs.extend(seen.client.plugin.as_ref().map(|plugin| format!("the plugin {}", plugin.id)));
    let [others @ .., last] = installs.as_slice() else {
        found.ok("none");
        return;
    };
    if others.is_empty() {
        found.ok(format!("one: {last}"));
        return;
    }
    let sets: BTreeSet<_> = commands.values().collect();
    let cost = if seen.client.plugin.is_none() && sets.len() == 1 {
        "their commands are the same, so the client runs them once, but taking out one leaves the other"
    } else {
        &format!("each event is answered once, but costs {} processes", installs.len())
    };
    let text = format!("hooks are registered by {} and {last}: {cost}", others.join(", "));
    let cure = format!(
        "to keep one: {}",
        describe_removals(seen, &commands.into_keys().collect::<Vec<_>>()).join("; ")
    );
    // The plugin has skills and tools, the settings have the status line: having both is a choice.
    if seen.client.plugin.is_some() && installs.len() == 2 {
        found.note_with(text, cure);
    } else {
        found.warning(text, cure);
    }
}

fn describe_removals(seen: &Gathered, scopes: &[Scope]) -> Vec<String> {
    let takes = |scope: Scope, what: &str| format!("`{}` takes out {what}", seen.uninstall_command(scope));
    let has_local = scopes.contains(&Scope::Local);
    let mut removals: Vec<String> = scopes
        .iter()
        .filter_map(|scope| match scope {
            // Only an administrator can remove these.
            Scope::Managed => None,
            Scope::Local => Some(takes(Scope::Local, "the local ones and the status line")),
            Scope::Shared if has_local => {
                let init = seen.init_command(Scope::Local);
                Some(takes(
                    Scope::Shared,
                    &format!("the local and the shared ones, and `{init}` brings the local back"),
                ))
            }
            Scope::Shared => Some(takes(Scope::Shared, "the shared ones")),
            Scope::User => Some(takes(Scope::User, "the user's")),
        })
        .collect();
    let plugin = seen.client.plugin.as_ref();
    removals
        .extend(plugin.map(|plugin| format!("`claude plugin uninstall {}` takes out the plugin", plugin.id)));
    removals
}
