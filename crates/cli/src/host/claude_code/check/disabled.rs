//! Switches of the client that silence every hook.

use serde_json::Value;

use super::super::settings_file::{Scope, SettingsFile, find_disabling_file};
use crate::doctor::finding::Findings;
use crate::doctor::gathered::Gathered;

pub(crate) fn check(seen: &Gathered, found: &mut Findings) {
    check_switches(&seen.client.settings, found);
    if seen.client.is_simple {
        found.warning(
            "CLAUDE_CODE_SIMPLE is set in this environment: a client started from here runs no hook at all",
            "`unset CLAUDE_CODE_SIMPLE` before starting the client",
        );
    }
    if found.is_empty() {
        found.ok("the client's hooks are on");
    }
}

/// `settings` in the order of precedence.
fn check_switches(settings: &[SettingsFile], found: &mut Findings) {
    if let Some(file) = find_disabling_file(settings) {
        found.problem(
            format!("{} has `disableAllHooks`: no hook and no status line runs", file.path.display()),
            if file.scope == Scope::Managed {
                "ask whoever manages this machine".to_owned()
            } else {
                format!("take `disableAllHooks` out of {}", file.path.display())
            },
        );
    }
    let managed = settings.iter().filter(|file| file.scope == Scope::Managed);
    for file in managed {
        if file.get("allowManagedHooksOnly").and_then(Value::as_bool) == Some(true) {
            found.problem(
                format!("{} has `allowManagedHooksOnly`: our hooks do not run", file.path.display()),
                "ask whoever manages this machine to register `tidegate hook` in that file",
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::settings_file::Content;
    use super::*;
    use serde_json::json;

    fn found(files: &[(Scope, Value)]) -> Vec<String> {
        let file = |(scope, value): &(Scope, Value)| SettingsFile {
            scope: *scope,
            path: format!("/{scope:?}").into(),
            content: Content::Object(value.as_object().unwrap().clone()),
            modified: None,
        };
        let files: Vec<SettingsFile> = files.iter().map(file).collect();
        let mut findings = Findings::of("disabled");
        check_switches(&files, &mut findings);
        findings.into_vec().into_iter().map(|finding| finding.found).collect()
    }

    #[test]
    fn the_nearer_file_decides_and_only_the_administrator_may_exclude() {
        let (on, off) = (json!({ "disableAllHooks": true }), json!({ "disableAllHooks": false }));
        assert_eq!(found(&[(Scope::Local, off.clone()), (Scope::User, on.clone())]), [""; 0]);
        assert!(found(&[(Scope::Shared, on.clone()), (Scope::User, off)])[0].starts_with("/Shared has"));
        assert!(found(&[(Scope::Managed, on.clone()), (Scope::Local, on)])[0].starts_with("/Managed has"));
        let only = json!({ "allowManagedHooksOnly": true });
        assert_eq!(found(&[(Scope::User, only.clone())]), [""; 0]);
        assert!(found(&[(Scope::Managed, only)])[0].contains("allowManagedHooksOnly"));
        assert_eq!(found(&[(Scope::User, json!({ "disableAllHooks": "yes" }))]), [""; 0]);
    }
}
