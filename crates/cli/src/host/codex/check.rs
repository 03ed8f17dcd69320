//! `doctor`: the hooks in Codex's own files, and whether it runs them: it skips them without a word.

use std::path::{Path, PathBuf};

use tidegate_state::project::main_worktree;

use super::config::Config;
use super::registrations::HOOKS;
use super::trust::{self, Trust};
use crate::bilingual::{Bilingual, both};
use crate::doctor::finding::Findings;
use crate::doctor::gathered::Gathered;
use crate::host::claude_code::registrations::is_ours;
use crate::host::claude_code::settings_file::{Scope, read_text};
use crate::host::installed::{HookFile, Installed};
use crate::shell::quote_path;

pub(crate) fn check(seen: &Gathered, found: &mut Findings) {
    let installed = Installed::find(&HOOKS, seen, found);
    let config = Config::read(seen.project.as_deref(), &seen.env.place);
    let worktree = Worktree::find(seen);
    let has_hooks = !installed.files.is_empty() || worktree.as_ref().is_some_and(|tree| tree.file.is_some());
    let is_run = !has_hooks || check_config(&config, found);
    let mut is_own = false;
    for file in &installed.files {
        let is_complete = installed.check_entries(file, found);
        if file.scope == Scope::Local && worktree.is_some() {
            is_own = true;
        } else if file.scope == Scope::Local && !config.is_trusted() {
            report_project(seen, &config, found);
        } else if is_complete && is_run {
            check_trust(seen, file, &config, found);
        }
    }
    match &worktree {
        Some(Worktree { file: Some(_), .. }) if !config.is_trusted() => report_project(seen, &config, found),
        Some(Worktree { top, file: Some(file), .. }) if !top.join(".codex").is_dir() => {
            report_folder(top, file, found);
        }
        Some(Worktree { file: Some(file), .. }) if is_run => check_trust(seen, file, &config, found),
        Some(Worktree { top, main, file: None }) if is_own => report_worktree(seen, top, main, found),
        _ => {}
    }
    installed.finish(Bilingual::default(), found);
}

/// In a linked worktree Codex reads the hooks of the main checkout, and only if the worktree has a folder for
/// Codex (0.166.0).
struct Worktree<'a> {
    top: &'a Path,
    main: PathBuf,
    /// The file in the main checkout, if it has Tidegate's hooks.
    file: Option<HookFile>,
}

impl Worktree<'_> {
    fn find(seen: &Gathered) -> Option<Worktree<'_>> {
        let top = seen.project.as_deref()?;
        let main = main_worktree(top)?;
        let path = HOOKS.file(Some(&main), &seen.env.place)?;
        let text = read_text(&path).filter(|text| HOOKS.has_ours(text, &seen.call));
        Some(Worktree { top, main, file: text.map(|text| HookFile { scope: Scope::Local, path, text }) })
    }
}

fn report_folder(top: &Path, file: &HookFile, found: &mut Findings) {
    let (folder, file) = (top.join(".codex"), file.path.display());
    found.problem(
        both!(
            "Codex runs none of the hooks here: this is a linked worktree without a `.codex` folder, so Codex does not read \
             {file}.",
            "ここは `.codex` フォルダのないリンクされたワークツリーのため、Codex は {file} を読み込まず、フックを実行しません。"
        ),
        both!("Run `mkdir {path}`.", "`mkdir {path}` を実行してください。", path = quote_path(&folder)),
    );
}

fn report_worktree(seen: &Gathered, top: &Path, main: &Path, found: &mut Findings) {
    let (own, its) = (top.join(".codex/hooks.json"), main.join(".codex/hooks.json"));
    let (own, its) = (own.display(), its.display());
    let init = seen.callable(&format!("tidegate init --project {} --host codex", quote_path(main)));
    found.problem(
        both!(
            "Codex does not read {own}: in a linked worktree it reads {its}, which has none of Tidegate's hooks.",
            "Codex は {own} を読み込みません。リンクされたワークツリーでは {its} を読みますが、そこに Tidegate のフックはありません。"
        ),
        both!("Run `{init}`.", "`{init}` を実行してください。"),
    );
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
