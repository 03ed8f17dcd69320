//! What stays on the machine after an uninstall.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tidegate_core::feature::CONTEXT_FOLDER;
use tidegate_memory::memory::Memory;
use tidegate_state::place::StateDir;

use super::git_view;
use super::summary::{size, tilde};
use super::target::Target;
use crate::bilingual::{Bilingual, both, count_en};
use crate::path::real_path;
use crate::print::page::Page;
use crate::print::text::{Text, data};

/// In private state: notes of worktrees that were removed.
pub(crate) const WORKTREE_NOTES: &str = "worktrees";

/// Data of all projects: it does not go with one of them.
#[derive(Debug)]
pub(crate) struct Remains {
    /// The memory's folder, with backups.
    memory: Option<Kept>,
    /// Recorded exchanges; `None` if the store cannot be read.
    exchanges: Option<u64>,
    /// Journal, sessions and everything else in private state.
    state: Option<Kept>,
    config: Option<Kept>,
    /// The project's notes, which are the person's.
    notes: Option<PathBuf>,
    /// Notes of removed worktrees, of all projects.
    worktree_notes: Option<PathBuf>,
    /// Git lists some of the project's notes as new.
    is_listed: bool,
}

#[derive(Debug)]
struct Kept {
    path: PathBuf,
    bytes: u64,
}

impl Kept {
    fn find(path: PathBuf) -> Option<Kept> {
        fs::symlink_metadata(&path).ok()?;
        let bytes = measure(&real_path(&path));
        Some(Kept { path, bytes })
    }

    /// With its end, if it is a link.
    fn shown(&self, home: Option<&Path>) -> String {
        let path = tilde(&self.path, home);
        if self.path.is_symlink() {
            format!("{path} -> {}", tilde(&real_path(&self.path), home))
        } else {
            path
        }
    }
}

impl Remains {
    pub(crate) fn look(target: &Target) -> Remains {
        let place = &target.env.place;
        let memory = place.memory().ok().and_then(Kept::find);
        let exchanges = memory.as_ref().and_then(|_| count_exchanges(target));
        let context = target.root.join(CONTEXT_FOLDER);
        let has_entries =
            |folder: &Path| fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some());
        let notes = (!target.is_user && has_entries(&context)).then_some(context);
        let worktree_notes = place.state().ok().map(|state| state.join(WORKTREE_NOTES));
        Remains {
            memory,
            exchanges,
            state: place.state().ok().and_then(Kept::find),
            config: place.config().and_then(Kept::find),
            worktree_notes: worktree_notes.filter(|folder| has_entries(folder)),
            is_listed: notes.as_deref().is_some_and(|notes| git_view::lists_files_of(target, notes)),
            notes,
        }
    }

    fn list_data(&self, target: &Target) -> Vec<(Bilingual, String)> {
        let home = target.env.place.home.as_deref();
        let at = |kept: &Kept| (size(kept.bytes), kept.shown(home));
        let mut lines = Vec::new();
        if let Some((bytes, path)) = self.memory.as_ref().map(at) {
            lines.push(match self.exchanges {
                Some(number) => (
                    both!(
                        "{counted} ({bytes})",
                        "記録したやり取り{number}件（{bytes}）",
                        counted = count_en(number as usize, "recorded exchange")
                    ),
                    path,
                ),
                None => (both!("recorded conversations ({bytes})", "記録した会話（{bytes}）"), path),
            });
        }
        if let Some((bytes, path)) = self.state.as_ref().filter(|state| state.bytes > 0).map(at) {
            lines.push((
                both!("journal and session state ({bytes})", "動作の記録とセッションの状態（{bytes}）"),
                path,
            ));
        }
        if let Some((_, path)) = self.config.as_ref().map(at) {
            lines.push((both!("your settings", "設定"), path));
        }
        lines
    }

    /// For a person who has just uninstalled.
    pub(crate) fn list(&self, page: &mut Page, target: &Target) {
        let data_lines = self.list_data(target);
        if !data_lines.is_empty() {
            page.gap();
            page.paragraph(both!("Still on this machine:", "このマシンに残っているもの:"));
            for (what, path) in data_lines {
                page.item(Text::from(what) + data(": ") + data(path));
            }
            page.labelled(Text::from(both!("Delete", "削除")).strong(), self.way_to_delete());
        }
        self.list_notes(page, target);
    }

    fn way_to_delete(&self) -> Bilingual {
        if self.exchanges == Some(0) || self.memory.is_none() {
            return both!(
                "`tidegate uninstall --purge`, which asks first",
                "`tidegate uninstall --purge`（確認あり）"
            );
        }
        both!(
            "`tidegate uninstall --purge` (all of it, asks first), or `tidegate memory forget project .` (this project's exchanges)",
            "`tidegate uninstall --purge`（すべて。確認あり）、または `tidegate memory forget project .`（このプロジェクトのやり取りだけ）"
        )
    }

    pub(crate) fn list_notes(&self, page: &mut Page, target: &Target) {
        let home = target.env.place.home.as_deref();
        let label = || Text::from(both!("Notes", "メモ")).strong();
        if let Some(path) = self.notes.as_deref().map(|notes| tilde(notes, home)) {
            let listed = if self.is_listed {
                both!(
                    " `git status` lists the ones that you did not commit.",
                    "コミットしていないものは `git status` に出ます。"
                )
            } else {
                Bilingual::default()
            };
            let stay = both!("{path} is yours and stays.", "{path} はあなたのファイルなので残します。");
            page.labelled(label(), Text::from(stay) + listed);
        }
    }

    /// Of other projects, and of worktrees that are gone: for a person who deletes everything recorded.
    pub(crate) fn list_other_notes(&self, page: &mut Page, target: &Target) {
        let label = || Text::from(both!("Notes", "メモ")).strong();
        if let Some(path) =
            self.worktree_notes.as_deref().map(|notes| tilde(notes, target.env.place.home.as_deref()))
        {
            page.labelled(
                label(),
                both!(
                    "{path} stays: notes of worktrees that were removed. Delete the folder if you do not need them.",
                    "{path} は残します（削除した worktree のメモ）。不要ならフォルダごと削除してください。"
                ),
            );
        }
        page.labelled(
            label(),
            both!(
                "`.claude/context` in your other projects stays, too.",
                "ほかのプロジェクトの `.claude/context` も残ります。"
            ),
        );
    }

    /// Lines to agree to before everything is deleted.
    pub(crate) fn describe_loss(&self, target: &Target) -> Vec<Bilingual> {
        let mut lines = vec![both!(
            "This deletes everything that Tidegate recorded on this machine, for all projects. It cannot be undone:",
            "このマシンに記録した内容を、すべてのプロジェクトについて削除します。元には戻せません:"
        )];
        for (Bilingual { en, ja }, path) in self.list_data(target) {
            lines.push(both!("  {en}: {path}", "  {ja}: {path}"));
        }
        lines.push(both!("Notes in all projects stay.", "各プロジェクトのメモは残ります。"));
        lines
    }

    pub(crate) fn json(&self) -> Value {
        let kept = |name: &str, kept: &Option<Kept>| {
            kept.as_ref().map(|kept| json!({ "what": name, "path": kept.path, "bytes": kept.bytes }))
        };
        let mut memory = kept("conversations", &self.memory);
        if let (Some(memory), Some(number)) = (&mut memory, self.exchanges) {
            memory["exchanges"] = json!(number);
        }
        let notes = self.notes.as_ref().map(|notes| json!({ "what": "notes", "path": notes }));
        let all =
            [memory, kept("state", &self.state), kept("config", &self.config), notes, self.worktree_json()];
        all.into_iter().flatten().collect()
    }

    pub(crate) fn worktree_json(&self) -> Option<Value> {
        self.worktree_notes.as_ref().map(|notes| json!({ "what": "worktree-notes", "path": notes }))
    }

    pub(crate) fn memory_path(&self) -> Option<&Path> {
        self.memory.as_ref().map(|kept| kept.path.as_path())
    }

    pub(crate) fn state_path(&self) -> Option<&Path> {
        self.state.as_ref().map(|kept| kept.path.as_path())
    }

    pub(crate) fn config_path(&self) -> Option<&Path> {
        self.config.as_ref().map(|kept| kept.path.as_path())
    }
}

fn count_exchanges(target: &Target) -> Option<u64> {
    let state = StateDir::open(&target.env.place).ok()?;
    let settings = target.read_config().memory;
    let memory = Memory::open_if_there(&target.env.place, &state, &settings, target.now).ok()?;
    Some(memory.map(|mut memory| memory.sizes()).transpose().ok()?.map_or(0, |sizes| sizes.logs))
}

/// Bytes of a file or of all files in a folder.
fn measure(path: &Path) -> u64 {
    let Ok(found) = fs::symlink_metadata(path) else { return 0 };
    if !found.is_dir() {
        return found.len();
    }
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    entries.map(|entry| measure(&entry.path())).sum()
}
