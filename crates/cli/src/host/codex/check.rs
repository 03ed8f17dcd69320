//! `doctor`: the hooks in Codex's own files, and whether it runs them: it skips them without a word.

use std::path::{Path, PathBuf};

use tidegate_state::project::main_worktree;

use super::config::Config;
use super::registrations::HOOKS;
use super::trust::{self, Trust};
use crate::bilingual::{Bilingual, both};
use crate::config_words::describe_file_fault;
use crate::doctor::finding::Findings;
use crate::doctor::gathered::Gathered;
use crate::host::claude_code::registrations::is_ours;
use crate::host::claude_code::settings_file::{Scope, read_text};
use crate::host::installed::{HookFile, Installed};
use crate::shell::quote_path;

pub(crate) fn check(seen: &Gathered, found: &mut Findings) {
    let worktree = Worktree::find(seen);
    let project = worktree.as_ref().map(|tree| tree.main.as_path()).or(seen.project.as_deref());
    let mut installed = Installed::find_in(project, &HOOKS, seen, found);
    let config = Config::read(seen.project.as_deref(), &seen.env.place);
    let is_in_main = installed.files.iter().any(|file| file.scope == Scope::Local);
    if let Some(tree) = worktree.as_ref().filter(|tree| tree.has_own && !is_in_main) {
        report_worktree(seen, tree, found);
        installed.has_lost = true;
    }
    let mut run = Vec::new();
    if installed.files.is_empty() || report_fault(&config, found) {
        return installed.finish(&run, Bilingual::default(), found);
    }
    let is_on = check_switch(&config, found);
    for file in &installed.files {
        let is_complete = installed.check_entries(file, found);
        let without_folder =
            worktree.as_ref().filter(|tree| file.scope == Scope::Local && !tree.top.join(".codex").is_dir());
        if file.scope == Scope::Local && !config.is_trusted() {
            report_project(seen, &config, found);
        } else if let Some(tree) = without_folder {
            report_folder(tree.top, file, found);
        } else if is_on {
            run.push(file);
            if is_complete {
                check_trust(seen, file, &config, found);
            }
        }
    }
    installed.finish(&run, Bilingual::default(), found);
}

/// In a linked worktree Codex reads the hooks of the main checkout, and only if the worktree has a folder for
/// Codex (0.166.0).
struct Worktree<'a> {
    top: &'a Path,
    main: PathBuf,
    /// Its own file has Tidegate's hooks, which Codex does not read.
    has_own: bool,
}

impl Worktree<'_> {
    fn find(seen: &Gathered) -> Option<Worktree<'_>> {
        let top = seen.project.as_deref()?;
        let main = main_worktree(top)?;
        let own = HOOKS.file(Some(top), &seen.env.place).and_then(|path| read_text(&path));
        Some(Worktree { top, main, has_own: own.is_some_and(|text| HOOKS.has_ours(&text, &seen.call)) })
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

fn report_worktree(seen: &Gathered, Worktree { top, main, .. }: &Worktree<'_>, found: &mut Findings) {
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

/// Nothing else can be told by a file that cannot be read.
fn report_fault(config: &Config, found: &mut Findings) -> bool {
    let Some((file, fault)) = config.person.as_ref().and_then(|file| Some((file, file.fault()?))) else {
        return false;
    };
    let line = fault.line.map(|line| format!(":{line}")).unwrap_or_default();
    let (place, Bilingual { en, ja }) =
        (format!("{}{line}", file.path.display()), describe_file_fault(&fault.what));
    found.problem(
        both!(
            "{place} is not TOML, so Codex does not start: {en}.",
            "{place} は TOML ではないため、Codex は起動しません（{ja}）。"
        ),
        both!("Correct the file.", "ファイルを直してください。"),
    );
    true
}

/// Whether Codex runs hooks at all.
fn check_switch(config: &Config, found: &mut Findings) -> bool {
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
