//! Switches of the client that silence every hook.

use serde_json::Value;

use super::super::settings_file::{Scope, SettingsFile, find_disabling_file};
use crate::bilingual::{Bilingual, both};
use crate::doctor::finding::Findings;
use crate::doctor::gathered::Gathered;

pub(crate) fn check(seen: &Gathered, found: &mut Findings) {
    check_switches(&seen.client.settings, found);
    if seen.client.is_simple {
        found.warning(
            both!(
                "CLAUDE_CODE_SIMPLE is set in this shell. Claude Code runs no hooks if you start it from here.",
                "このシェルでは CLAUDE_CODE_SIMPLE が設定されています。ここから起動した Claude Code はフックを実行しません。"
            ),
            both!(
                "Run `unset CLAUDE_CODE_SIMPLE` before you start Claude Code.",
                "Claude Code を起動する前に `unset CLAUDE_CODE_SIMPLE` を実行してください。"
            ),
        );
    }
    if found.is_empty() {
        found.ok(both!("Claude Code's hooks are switched on.", "Claude Code のフックは有効です。"));
    }
}

pub(super) fn ask_administrator() -> Bilingual {
    both!("Ask the person who manages this machine.", "このマシンの管理者に相談してください。")
}

/// `settings` in the order of precedence.
fn check_switches(settings: &[SettingsFile], found: &mut Findings) {
    if let Some(file) = find_disabling_file(settings) {
        let path = file.path.display();
        found.problem(
            both!(
                "{path} has `disableAllHooks`: Claude Code runs no hooks and no status line.",
                "{path} に `disableAllHooks` があるため、Claude Code はフックもステータスラインも実行しません。"
            ),
            if file.scope == Scope::Managed {
                ask_administrator()
            } else {
                both!(
                    "Remove `disableAllHooks` from {path}.",
                    "{path} から `disableAllHooks` を削除してください。"
                )
            },
        );
    }
    let managed = settings.iter().filter(|file| file.scope == Scope::Managed);
    for file in managed {
        if file.get("allowManagedHooksOnly").and_then(Value::as_bool) == Some(true) {
            let path = file.path.display();
            found.problem(
                both!(
                    "{path} has `allowManagedHooksOnly`: Claude Code does not run Tidegate's hooks.",
                    "{path} に `allowManagedHooksOnly` があるため、Claude Code は Tidegate のフックを実行しません。"
                ),
                both!(
                    "Ask the person who manages this machine to register `tidegate hook` in that file.",
                    "このマシンの管理者に、そのファイルへの `tidegate hook` の登録を頼んでください。"
                ),
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
        findings.into_vec().into_iter().map(|finding| finding.found.en).collect()
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
