//! `doctor`: the hooks in Copilot's own files.

use std::path::{Path, PathBuf};

use serde_json::Value;
use tidegate_core::host::Host;

use super::registrations::HOOKS;
use crate::bilingual::both;
use crate::doctor::finding::Findings;
use crate::doctor::gathered::Gathered;
use crate::host::claude_code::settings_file::read_text;

pub(crate) fn check(seen: &Gathered, found: &mut Findings) {
    let project = seen.project.as_deref().and_then(|project| HOOKS.file(Some(project), &seen.env.place));
    let person = HOOKS.file(None, &seen.env.place);
    let mut files: Vec<PathBuf> = project.into_iter().chain(person).collect();
    files.dedup();
    let mut is_installed = false;
    for file in files {
        is_installed |= check_file(seen, &file, found);
    }
    if !is_installed && HOOKS.is_found(&seen.env.place) {
        found.ok(both!(
            "Tidegate is not installed for Copilot CLI.",
            "Copilot CLI 用にはインストールされていません。"
        ));
    }
}

/// Whether the file has any of Tidegate's hooks.
fn check_file(seen: &Gathered, file: &Path, found: &mut Findings) -> bool {
    let Some(text) = read_text(file) else { return false };
    let shown = file.display();
    let again = || {
        both!(
            "fix the file, then run `tidegate init --host copilot`",
            "ファイルを直して `tidegate init --host copilot` を実行してください"
        )
    };
    let Ok(hooks) = serde_json::from_str::<Value>(&text) else {
        found.problem(
            both!(
                "{shown} is not JSON, so Copilot CLI runs none of its hooks.",
                "{shown} は JSON ではないため、Copilot CLI はフックを実行しません。"
            ),
            again(),
        );
        return false;
    };
    if !HOOKS.has_ours(&text, &seen.call) {
        return false;
    }
    let missing = HOOKS.missing_registrations(&hooks, &seen.call);
    if hooks["disableAllHooks"] == true {
        found.problem(
            both!(
                "{shown} switches its hooks off (`disableAllHooks`).",
                "{shown} でフックがオフになっています（`disableAllHooks`）。"
            ),
            both!(
                "remove `disableAllHooks` from the file",
                "ファイルから `disableAllHooks` を削除してください"
            ),
        );
    } else if !missing.is_empty() {
        let names = missing.join(", ");
        found.problem(
            both!(
                "{shown} lacks Tidegate's hooks for {names}.",
                "{shown} に Tidegate のフック（{names}）がありません。"
            ),
            both!("run `tidegate init --host copilot`", "`tidegate init --host copilot` を実行してください"),
        );
    } else {
        found.ok(both!(
            "{shown} has all of Tidegate's hooks for Copilot CLI.",
            "{shown} に Copilot CLI 用のフックがすべてあります。"
        ));
    }
    if !seen.history.records.iter().any(|record| record.host == Host::Copilot.name()) {
        found.note(both!(
            "Copilot CLI has not called Tidegate in the last days. It runs a project's hooks only in a folder that you trust.",
            "この数日、Copilot CLI から Tidegate は呼び出されていません。プロジェクトのフックは、信頼したフォルダでだけ動きます。"
        ));
    }
    true
}
