//! `doctor`: the hooks in Qwen Code's settings, and whether it runs hooks at all.

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
    for file in &files {
        is_installed |= check_file(seen, file, found);
    }
    if !is_installed {
        if HOOKS.is_found(&seen.env.place) {
            found.ok(both!(
                "Tidegate is not installed for Qwen Code.",
                "Qwen Code 用にはインストールされていません。"
            ));
        }
        return;
    }
    for file in &files {
        let settings = read_text(file).and_then(|text| serde_json::from_str::<Value>(&text).ok());
        if settings.is_some_and(|settings| settings["disableAllHooks"] == true) {
            let shown = file.display();
            found.problem(
                both!(
                    "{shown} switches all hooks of Qwen Code off.",
                    "{shown} は Qwen Code のすべてのフックをオフにしています。"
                ),
                both!("remove `disableAllHooks` there", "`disableAllHooks` を削除してください"),
            );
        }
    }
    if !seen.history.records.iter().any(|record| record.host == Host::Qwen.name()) {
        found.note(both!(
            "Qwen Code has not called Tidegate in the last days. It reads a project's settings only in a folder that it trusts.",
            "この数日、Qwen Code から Tidegate は呼び出されていません。プロジェクトの設定は、信頼したフォルダでのみ読み込まれます。"
        ));
    }
}

/// Whether the file has any of Tidegate's hooks.
fn check_file(seen: &Gathered, file: &Path, found: &mut Findings) -> bool {
    let Some(text) = read_text(file) else { return false };
    let shown = file.display();
    let again = || both!("run `tidegate init --host qwen`", "`tidegate init --host qwen` を実行してください");
    let Ok(settings) = serde_json::from_str::<Value>(&text) else {
        if text.contains("tidegate") {
            found.problem(
                both!(
                    "{shown} is not plain JSON, so Tidegate cannot tell which hooks are in it.",
                    "{shown} は JSON として読めないため、どのフックがあるか分かりません。"
                ),
                again(),
            );
        }
        return false;
    };
    if !HOOKS.has_ours(&text, &seen.call) {
        return false;
    }
    let missing = HOOKS.missing_registrations(&settings, &seen.call);
    if missing.is_empty() {
        found.ok(both!(
            "{shown} has all of Tidegate's hooks.",
            "{shown} に Tidegate のすべてのフックがあります。"
        ));
    } else {
        let names = missing.join(", ");
        found.problem(
            both!(
                "{shown} lacks Tidegate's hooks for {names}.",
                "{shown} に Tidegate のフック（{names}）がありません。"
            ),
            again(),
        );
    }
    true
}
