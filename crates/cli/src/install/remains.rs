//! What stays on the machine after an uninstall, and its deletion.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tidegate_core::feature::CONTEXT_FOLDER;
use tidegate_memory::memory::Memory;
use tidegate_state::file::lock::{self, LockMode};
use tidegate_state::place::StateDir;

use super::record::Records;
use super::summary::{size, tilde};
use super::target::Target;
use crate::bilingual::{Bilingual, both, count_en};
use crate::error::CliError;
use crate::host::claude_code::plan::needs_program;
use crate::host::claude_code::settings_file;
use crate::print::page::Page;
use crate::print::text::{Text, data};

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
}

#[derive(Debug)]
struct Kept {
    path: PathBuf,
    bytes: u64,
}

impl Kept {
    fn find(path: PathBuf) -> Option<Kept> {
        let bytes = measure(&path)?;
        Some(Kept { path, bytes })
    }
}

impl Remains {
    pub(crate) fn look(target: &Target) -> Remains {
        let place = &target.env.place;
        let memory = place.data().ok().map(|data| data.join("memory")).and_then(Kept::find);
        let exchanges = memory.as_ref().and_then(|_| count_exchanges(target));
        let context = target.root.join(CONTEXT_FOLDER);
        let has_notes = fs::read_dir(&context).is_ok_and(|mut entries| entries.next().is_some());
        Remains {
            memory,
            exchanges,
            state: place.state().ok().and_then(Kept::find),
            config: place.config().and_then(Kept::find),
            notes: (!target.is_user && has_notes).then_some(context),
        }
    }

    fn list_data(&self, target: &Target) -> Vec<(Bilingual, String)> {
        let home = target.env.place.home.as_deref();
        let at = |kept: &Kept| (size(kept.bytes), tilde(&kept.path, home));
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
                both!("journal and session state ({bytes})", "ジャーナルとセッションの状態（{bytes}）"),
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
        if let Some(notes) = &self.notes {
            let path = tilde(notes, target.env.place.home.as_deref());
            page.labelled(
                Text::from(both!("Notes", "メモ")).strong(),
                both!("{path} is yours and stays.", "{path} はあなたのファイルなので残します。"),
            );
        }
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
        let all = [memory, kept("state", &self.state), kept("config", &self.config), notes];
        all.into_iter().flatten().collect()
    }

    /// Only files that Tidegate makes: a folder may have been chosen that holds others. Returns whether it is done.
    pub(crate) fn delete(&self) -> Result<bool, CliError> {
        let failed = |path: &Path, error: &io::Error| {
            CliError::new(format!("{}: {error}", path.display())).hint(both!(
                "the rest was not deleted; fix this, then run it again",
                "残りは削除していません。原因を取り除いて、もう一度実行してください"
            ))
        };
        // A worker, or an MCP server in a call, would write on into what is deleted.
        let locks = [
            self.state.as_ref().map(|state| state.path.join("spool/lock")),
            self.memory.as_ref().map(|memory| memory.path.join("lock")),
        ];
        let mut held = Vec::new();
        for path in locks.iter().flatten().filter(|path| path.exists()) {
            let lock = File::open(path).and_then(|file| {
                lock::wait(&file, path, LockMode::Exclusive)?;
                Ok(file)
            });
            held.push(lock.map_err(|error| failed(path, &error))?);
        }
        if let Some(memory) = &self.memory {
            remove(&memory.path).map_err(|error| failed(&memory.path, &error))?;
            remove_empty(memory.path.parent());
        }
        if let Some(config) = &self.config {
            remove(&config.path).map_err(|error| failed(&config.path, &error))?;
            remove_empty(config.path.parent());
        }
        if let Some(state) = &self.state {
            for name in StateDir::ENTRIES {
                let path = state.path.join(name);
                remove(&path).map_err(|error| failed(&path, &error))?;
            }
            remove_empty(Some(&state.path));
        }
        Ok(true)
    }
}

/// Refuses while another install uses the data, and needs its record to be taken out again.
pub(crate) fn check_others(target: &Target, records: &Records) -> Result<(), CliError> {
    let is_used = |(_, file): &(PathBuf, PathBuf)| {
        settings_file::read_text(file).is_some_and(|text| needs_program(&text, &target.call))
    };
    let others = records.settings().into_iter().filter(|(root, _)| *root != target.root).filter(is_used);
    let mut roots: Vec<String> =
        others.map(|(root, _)| tilde(&root, target.env.place.home.as_deref())).collect();
    roots.dedup();
    if roots.is_empty() {
        return Ok(());
    }
    let roots = roots.join(", ");
    Err(CliError::new(both!("Tidegate is still installed in {roots}", "Tidegateはまだ {roots} にインストールされています")).hint(both!(
        "they share the recorded conversations: run `tidegate uninstall` there first; nothing was changed",
        "記録した会話は共有されています。先にそちらで `tidegate uninstall` を実行してください。何も変更していません"
    )))
}

fn count_exchanges(target: &Target) -> Option<u64> {
    let state = StateDir::open(&target.env.place).ok()?;
    let settings = target.read_config().memory;
    let memory = Memory::open_if_there(&target.env.place, &state, &settings, target.now).ok()?;
    Some(memory.map(|mut memory| memory.sizes()).transpose().ok()?.map_or(0, |sizes| sizes.logs))
}

fn remove(path: &Path) -> io::Result<()> {
    let removed = match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

fn remove_empty(folder: Option<&Path>) {
    if let Some(folder) = folder {
        let _ = fs::remove_dir(folder);
    }
}

/// Bytes of a file or of all files in a folder; `None` if it is not there.
fn measure(path: &Path) -> Option<u64> {
    let found = fs::symlink_metadata(path).ok()?;
    if !found.is_dir() {
        return Some(found.len());
    }
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    Some(entries.filter_map(|entry| measure(&entry.path())).sum())
}
