//! Which of the installed files `git status` lists, without a git process.
//!
//! Tidegate's patterns are in the repository's exclude file. A `.gitignore` counts more than that, and a tracked file is listed
//! whatever the patterns say.

use std::fs;
use std::path::{Path, PathBuf};

use tidegate_core::text::glob::Glob;
use tidegate_state::file::bounded;

use super::plan::Plan;
use super::record::Kind;
use super::step::What;
use super::target::Target;
use super::tracked::find_tracked;
use crate::bilingual::{Bilingual, both};
use crate::host::claude_code;
use crate::install::summary::shown_path;

const LARGEST: u64 = 1024 * 1024;

/// The view of git on an install for one person.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum GitView {
    /// It lists nothing that was not listed before.
    Clean,
    /// It tracks the person's own settings.
    TracksSettings(String),
    /// Rules of the repository include files again that Tidegate's patterns exclude: the first of them, and how many more.
    Lists(String, usize),
    /// There is no repository, or nothing can be said.
    Unknown,
}

impl GitView {
    pub(crate) fn after(plan: &Plan, target: &Target) -> GitView {
        let Some(checkout) = &target.checkout else { return GitView::Unknown };
        let settings = target.own_settings();
        match find_tracked(checkout, &settings.file) {
            Some(true) => return GitView::TracksSettings(shown_path(&settings, target)),
            Some(false) => {}
            None => return GitView::Unknown,
        }
        let exclude = checkout.common.join("info/exclude");
        let is_kept = plan.steps.iter().any(|step| step.place.file == exclude && step.what == What::Kept);
        if target.shared || is_kept {
            return GitView::Unknown;
        }
        let shipped = plan.record.files.iter().filter(|kept| kept.kind == Kind::Shipped);
        let files = [settings.file].into_iter().chain(shipped.map(|kept| kept.file.clone()));
        let runtime = claude_code::IGNORED.iter().filter(|pattern| !pattern.contains('*'));
        let files = files.chain(runtime.map(|path| target.root.join(path)));
        let mut listed: Vec<PathBuf> = files.filter(|file| is_included_again(&checkout.top, file)).collect();
        listed.dedup();
        match listed.split_first() {
            Some((first, more)) => {
                let first = first.strip_prefix(&target.root).unwrap_or(first);
                GitView::Lists(first.display().to_string(), more.len())
            }
            None => GitView::Clean,
        }
    }

    /// If the person should know.
    pub(crate) fn said(&self) -> Option<Bilingual> {
        match self {
            GitView::Clean | GitView::Unknown => None,
            GitView::TracksSettings(file) => Some(both!(
                "`git status` shows {file}, because git tracks it. A commit would give others a path of this machine. `git rm --cached {file}` stops tracking it and keeps the file.",
                "{file} は git で管理されているため、`git status` に出ます。コミットすると、このマシンのパスがほかの人に渡ります。`git rm --cached {file}` で、ファイルを残したまま管理から外せます。"
            )),
            GitView::Lists(file, 0) => Some(both!(
                "`git status` lists {file}, because a `.gitignore` includes it again. Do not commit it.",
                "`.gitignore` が対象に戻しているため、{file} が `git status` に出ます。コミットしないでください。"
            )),
            GitView::Lists(file, more) => Some(both!(
                "`git status` lists {file} and {more} more, because a `.gitignore` includes them again. Do not commit them.",
                "`.gitignore` が対象に戻しているため、{file} ほか{more}件が `git status` に出ます。コミットしないでください。"
            )),
        }
    }
}

/// Git lists a file directly in this folder as new.
pub(crate) fn lists_files_of(target: &Target, folder: &Path) -> bool {
    let Some(checkout) = &target.checkout else { return false };
    let files = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut files = files.filter(|path| path.is_file());
    let exclude = read_rules(&checkout.common.join("info/exclude")).unwrap_or_default();
    let is_excluded = |file: &Path| {
        let below = file.strip_prefix(&checkout.top).ok().and_then(Path::to_str);
        below.is_some_and(|below| last_fitting(&exclude, below, false) == Some(Rule::Ignore))
    };
    files.any(|file| {
        let is_new = find_tracked(checkout, &file) == Some(false);
        is_new
            && match rule_for(&checkout.top, &file) {
                Some(rule) => rule == Rule::Include,
                None => !is_excluded(&file),
            }
    })
}

/// A `.gitignore` says that this untracked file is not ignored.
fn is_included_again(top: &Path, file: &Path) -> bool {
    rule_for(top, file) == Some(Rule::Include)
}

/// By `.gitignore` files alone.
fn rule_for(top: &Path, file: &Path) -> Option<Rule> {
    let below = file.strip_prefix(top).ok()?;
    let mut folders: Vec<&Path> =
        below.ancestors().skip(1).filter(|path| !path.as_os_str().is_empty()).collect();
    folders.reverse();
    // Files in an ignored folder cannot be included again.
    let is_hidden = folders.iter().any(|folder| last_rule(top, folder, true) == Some(Rule::Ignore));
    if is_hidden { Some(Rule::Ignore) } else { last_rule(top, below, false) }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Rule {
    Ignore,
    Include,
}

/// The nearest file decides, and in it the last line that fits.
fn last_rule(top: &Path, below: &Path, is_folder: bool) -> Option<Rule> {
    below.ancestors().skip(1).find_map(|folder| {
        let text = read_rules(&top.join(folder).join(".gitignore"))?;
        last_fitting(&text, below.strip_prefix(folder).ok()?.to_str()?, is_folder)
    })
}

fn read_rules(file: &Path) -> Option<String> {
    String::from_utf8(bounded::read(file, LARGEST).ok()?).ok()
}

fn last_fitting(rules: &str, path: &str, is_folder: bool) -> Option<Rule> {
    rules.lines().rev().find_map(|line| rule_of(line, path, is_folder))
}

fn rule_of(line: &str, path: &str, is_folder: bool) -> Option<Rule> {
    let line = line.trim_end();
    if line.starts_with('#') {
        return None;
    }
    let (rule, pattern) = match line.strip_prefix('!') {
        Some(pattern) => (Rule::Include, pattern),
        None => (Rule::Ignore, line),
    };
    let (pattern, is_of_folders) = match pattern.strip_suffix('/') {
        Some(pattern) => (pattern, true),
        None => (pattern, false),
    };
    // Git knows no braces; a pattern with one is a name that no file of Tidegate has.
    if pattern.contains('{') || (is_of_folders && !is_folder) {
        return None;
    }
    Glob::new(pattern).ok()?.matches(path).then_some(rule)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::process::Command;

    /// As git itself sees it, with the file excluded as an install does it.
    #[test]
    fn it_sees_what_git_sees() {
        let file = "app/.claude/settings.local.json";
        let cases: &[&[(&str, &str)]] = &[
            &[],
            &[(".gitignore", "target\n")],
            &[(".gitignore", "!.claude\n")],
            &[(".gitignore", "!.claude/\n")],
            &[(".gitignore", "!.claude/**\n")],
            &[(".gitignore", "!app/.claude/**\n")],
            &[(".gitignore", "*\n!*/\n!settings.*.json\n")],
            &[(".gitignore", "!*.json\n*.local.json\n")],
            &[(".gitignore", "!*.json\n"), ("app/.gitignore", "*.local.json\n")],
            &[(".gitignore", ".claude/\n!settings.local.json\n")],
            &[(".gitignore", ".claude/*\n!.claude/settings.local.json\n")],
            &[(".gitignore", "app/.claude/*\n!app/.claude/settings.local.json\n")],
            &[("app/.gitignore", "!/.claude/settings.local.json\n")],
            &[("app/.claude/.gitignore", "!*\n")],
            &[("app/.claude/.gitignore", "*\n")],
            &[(".gitignore", "# !*.json\n!*.{json,toml}\n\n")],
        ];
        let mut included = 0;
        for rules in cases {
            let folder = tempfile::tempdir().unwrap();
            let top = fs::canonicalize(folder.path()).unwrap();
            let git = |arguments: &[&str]| {
                let mut git = Command::new("git");
                git.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", &top).current_dir(&top);
                git.args(arguments).output().unwrap()
            };
            git(&["init", "--quiet"]);
            fs::write(top.join(".git/info/exclude"), format!("/{file}\n")).unwrap();
            fs::create_dir_all(top.join("app/.claude")).unwrap();
            fs::write(top.join(file), "{}").unwrap();
            for (path, text) in *rules {
                fs::write(top.join(path), text).unwrap();
            }
            let listed = git(&["status", "--porcelain", "--untracked-files=all", "--", file]);
            let is_listed = !listed.stdout.is_empty();
            assert_eq!(is_included_again(&top, &top.join(file)), is_listed, "{rules:?}");
            included += usize::from(is_listed);
        }
        assert!(included > 3, "{included}");
    }
}
