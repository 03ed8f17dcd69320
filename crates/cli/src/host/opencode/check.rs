//! `doctor`: the plugin for opencode.

use std::path::PathBuf;

use tidegate_core::host::Host;

use super::registrations::HOOKS;
use super::{is_shim, make_shim};
use crate::bilingual::both;
use crate::doctor::finding::Findings;
use crate::doctor::gathered::Gathered;
use crate::host::claude_code::settings_file::read_text;

pub(crate) fn check(seen: &Gathered, found: &mut Findings) {
    let project = seen.project.as_deref().and_then(|project| HOOKS.file(Some(project), &seen.env.place));
    let person = HOOKS.file(None, &seen.env.place);
    let mut files: Vec<PathBuf> = project.into_iter().chain(person).collect();
    files.dedup();
    let texts = files.iter().filter_map(|file| Some((file, read_text(file)?)));
    let plugins: Vec<(&PathBuf, String)> = texts.filter(|(_, text)| is_shim(text)).collect();
    if plugins.is_empty() {
        if HOOKS.is_found(&seen.env.place) {
            found.ok(both!(
                "Tidegate is not installed for opencode.",
                "opencode 用にはインストールされていません。"
            ));
        }
        return;
    }
    for (file, text) in &plugins {
        let shown = file.display();
        if *text == make_shim(&seen.call) {
            found
                .ok(both!("{shown} is this version's plugin.", "{shown} はこのバージョンのプラグインです。"));
        } else {
            found.problem(
                both!(
                    "{shown} is not the plugin of this version, or was changed.",
                    "{shown} はこのバージョンのプラグインではないか、変更されています。"
                ),
                both!(
                    "run `tidegate init --host opencode`",
                    "`tidegate init --host opencode` を実行してください"
                ),
            );
        }
    }
    if let [(one, _), (other, _)] = plugins.as_slice() {
        let (one, other) = (one.display(), other.display());
        found.warning(
            both!(
                "opencode loads both {one} and {other}, so everything is checked twice.",
                "opencode は {one} と {other} の両方を読み込むため、確認が二重になります。"
            ),
            both!(
                "run `tidegate uninstall --host opencode` for one of them",
                "どちらか一方を `tidegate uninstall --host opencode` で削除してください"
            ),
        );
    }
    if !seen.history.records.iter().any(|record| record.host == Host::OpenCode.name()) {
        found.note(both!(
            "opencode has not called Tidegate in the last days.",
            "この数日、opencode から Tidegate は呼び出されていません。"
        ));
    }
}
