//! `doctor`: the hooks in Codex's own files, and whether the person has trusted them.

use std::path::{Path, PathBuf};

use serde_json::Value;
use tidegate_core::host::Host;

use super::registrations::HOOKS;
use super::trust::{self, Trust};
use crate::bilingual::both;
use crate::doctor::finding::Findings;
use crate::doctor::gathered::Gathered;
use crate::host::claude_code::registrations::is_ours;
use crate::host::claude_code::settings_file::read_text;

pub(crate) fn check(seen: &Gathered, found: &mut Findings) {
    let project = seen.project.as_deref().and_then(|project| HOOKS.file(Some(project), &seen.env.place));
    let person = HOOKS.file(None, &seen.env.place);
    let mut files: Vec<PathBuf> = project.into_iter().chain(person).collect();
    files.dedup();
    let config = HOOKS.person_folder(&seen.env.place).map(|folder| folder.join("config.toml"));
    let config = config.as_deref().and_then(read_text).unwrap_or_default();
    let mut is_installed = false;
    for file in files {
        is_installed |= check_file(seen, &file, &config, found);
    }
    if !is_installed && HOOKS.is_found(&seen.env.place) {
        found.ok(both!("Tidegate is not installed for Codex.", "Codex 用にはインストールされていません。"));
    }
}

/// Whether the file has any of Tidegate's hooks.
fn check_file(seen: &Gathered, file: &Path, config: &str, found: &mut Findings) -> bool {
    let Some(text) = read_text(file) else { return false };
    let shown = file.display();
    let Ok(hooks) = serde_json::from_str::<Value>(&text) else {
        if text.contains("tidegate") {
            found.problem(
                both!(
                    "{shown} is not JSON, so Codex runs none of its hooks.",
                    "{shown} は JSON ではないため、Codex はフックを実行しません。"
                ),
                both!(
                    "fix the file, then run `tidegate init --host codex`",
                    "ファイルを直して `tidegate init --host codex` を実行してください"
                ),
            );
        }
        return false;
    };
    let entries = trust::read(file, &hooks, config, &|handler| is_ours(handler, &seen.call));
    if entries.is_empty() {
        return false;
    }
    let missing = HOOKS.missing_registrations(&hooks, &seen.call);
    if !missing.is_empty() {
        let names = missing.join(", ");
        found.problem(
            both!(
                "{shown} lacks Tidegate's hooks for {names}.",
                "{shown} に Tidegate のフック（{names}）がありません。"
            ),
            both!("run `tidegate init --host codex`", "`tidegate init --host codex` を実行してください"),
        );
    }
    let count = |trust: Trust| entries.iter().filter(|(_, other)| *other == trust).count();
    let (all, trusted) = (entries.len(), count(Trust::Trusted));
    let skipped = all - trusted;
    let open = both!(
        "start `codex` and trust them in `/hooks`; only you can",
        "`codex` を起動し、`/hooks` で信頼してください（ご自身でしかできません）"
    );
    if count(Trust::Disabled) > 0 {
        found.problem(
            both!(
                "You switched Tidegate's hooks in {shown} off in Codex.",
                "{shown} の Tidegate のフックは Codex でオフになっています。"
            ),
            both!(
                "start `codex` and switch them on in `/hooks`",
                "`codex` を起動し、`/hooks` でオンにしてください"
            ),
        );
    } else if trusted < all {
        let what = if count(Trust::Changed) > 0 {
            both!(
                "Codex skips {skipped} of {all} hooks in {shown}: they are not what you trusted.",
                "Codex は {shown} のフック {all} 個のうち {skipped} 個を飛ばします。信頼したときと内容が違います。"
            )
        } else {
            both!(
                "Codex skips {skipped} of {all} hooks in {shown} without a word: you have not trusted them yet.",
                "Codex は {shown} のフック {all} 個のうち {skipped} 個を何も言わずに飛ばします。まだ信頼されていません。"
            )
        };
        found.problem(what, open);
    } else {
        found.ok(both!(
            "Codex runs all {all} hooks in {shown}.",
            "Codex は {shown} のフック {all} 個をすべて実行します。"
        ));
    }
    let is_called = |record: &&tidegate_core::pipeline::record::Record| record.host == Host::Codex.name();
    if trusted == all && !seen.history.records.iter().any(|record| is_called(&record)) {
        found.note(both!(
            "Codex has not called Tidegate in the last days.",
            "この数日、Codex から Tidegate は呼び出されていません。"
        ));
    }
    true
}
