//! `doctor`: the hooks in Codex's own files, and whether it runs them: it skips them without a word.

use std::path::Path;

use super::config::Config;
use super::registrations::HOOKS;
use super::trust::{self, Trust};
use crate::bilingual::{Bilingual, both};
use crate::doctor::finding::Findings;
use crate::doctor::gathered::Gathered;
use crate::host::claude_code::registrations::is_ours;
use crate::host::claude_code::settings_file::Scope;
use crate::host::installed::{HookFile, Installed};

pub(crate) fn check(seen: &Gathered, found: &mut Findings) {
    let installed = Installed::find(&HOOKS, seen, found);
    let config = Config::read(seen.project.as_deref(), &seen.env.place);
    let is_run = installed.files.is_empty() || check_config(&config, found);
    for file in &installed.files {
        let is_complete = installed.check_entries(file, found);
        if file.scope == Scope::Local && !config.is_trusted() {
            report_project(seen, &config, found);
        } else if is_complete && is_run {
            check_trust(seen, file, &config, found);
        }
    }
    installed.finish(Bilingual::default(), found);
}

/// Whether Codex runs hooks at all.
fn check_config(config: &Config, found: &mut Findings) -> bool {
    if let Some((file, fault)) = config.person.as_ref().and_then(|file| Some((file, file.fault()?))) {
        let path = file.path.display();
        found.problem(
            both!(
                "{path} is not TOML, so Codex does not start: {fault}.",
                "{path} は TOML ではないため、Codex は起動しません: {fault}"
            ),
            both!("Correct the file.", "ファイルを直してください。"),
        );
        return false;
    }
    let Some(file) = config.find_switch() else { return true };
    let path = file.path.display();
    found.problem(
        both!(
            "{path} switches Codex's hooks off (`[features]`, `hooks = false`).",
            "{path} で Codex のフックがオフになっています（`[features]` の `hooks = false`）。"
        ),
        both!("Remove that line from the file.", "ファイルからその行を削除してください。"),
    );
    false
}

fn report_project(seen: &Gathered, config: &Config, found: &mut Findings) {
    let project = seen.project.as_deref().unwrap_or(Path::new(".")).display();
    let file = config.person.as_ref().map(|file| file.path.display().to_string()).unwrap_or_default();
    found.problem(
        both!(
            "Codex does not trust {project} (`[projects]` in {file}), so it runs none of the hooks there.",
            "Codex は {project} を信頼していないため、そこのフックを実行しません（{file} の `[projects]`）。"
        ),
        both!(
            "Start `codex` there and trust the folder, then Tidegate's hooks in `/hooks`; only you can.",
            "そこで `codex` を起動し、フォルダと、`/hooks` にある Tidegate のフックを信頼してください（ご自身でしかできません）。"
        ),
    );
}

/// Whether the person has trusted each of the hooks.
fn check_trust(seen: &Gathered, file: &HookFile, config: &Config, found: &mut Findings) {
    let shown = file.path.display();
    let person = config.person.as_ref().map(|file| file.text.as_str()).unwrap_or_default();
    let entries = trust::read(&file.path, &file.value(), person, &|handler| is_ours(handler, &seen.call));
    let count = |trust: Trust| entries.iter().filter(|(_, other)| *other == trust).count();
    let (all, skipped) = (entries.len(), entries.len() - count(Trust::Trusted));
    let trust_them = both!(
        "Start `codex` and trust them in `/hooks`; only you can.",
        "`codex` を起動し、`/hooks` で信頼してください（ご自身でしかできません）。"
    );
    if count(Trust::Disabled) > 0 {
        found.problem(
            both!(
                "You switched Tidegate's hooks in {shown} off in Codex.",
                "{shown} の Tidegate のフックは Codex でオフになっています。"
            ),
            both!(
                "Start `codex` and switch them on in `/hooks`.",
                "`codex` を起動し、`/hooks` でオンにしてください。"
            ),
        );
    } else if count(Trust::Changed) > 0 {
        found.problem(
            both!(
                "Codex skips {skipped} of {all} hooks in {shown}: they are not what you trusted.",
                "Codex は {shown} のフック {all} 個のうち {skipped} 個を飛ばします。信頼したときと内容が違います。"
            ),
            trust_them,
        );
    } else if skipped > 0 {
        found.problem(
            both!(
                "Codex skips {skipped} of {all} hooks in {shown} without a word: you have not trusted them yet.",
                "Codex は {shown} のフック {all} 個のうち {skipped} 個を何も言わずに飛ばします。まだ信頼されていません。"
            ),
            trust_them,
        );
    } else {
        found.ok(both!(
            "Codex runs all {all} hooks in {shown}.",
            "Codex は {shown} のフック {all} 個をすべて実行します。"
        ));
    }
}
