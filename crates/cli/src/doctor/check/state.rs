//! The state directory: owned by the person, private, and really writable.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use tidegate_state::file::append;
use tidegate_state::place::PlaceEnv;

use crate::bilingual::{Bilingual, both, count_en};
use crate::doctor::finding::Findings;
use crate::doctor::gathered::Gathered;
use crate::path::real_path;
use crate::shell::quote_path;

pub(crate) fn check(seen: &Gathered, found: &mut Findings) {
    let state = match &seen.state {
        Ok(state) => state,
        Err(why) => {
            let Bilingual { en, ja } = describe_refusal(&seen.env.place, why);
            found.problem(
                both!(
                    "Tidegate cannot use its state folder: {en}. Until you fix this, it blocks every edit.",
                    "状態のフォルダを使えません。{ja}。直るまで、Tidegate はすべての編集をブロックします。"
                ),
                fix_of_unusable(&seen.env.place),
            );
            return;
        }
    };
    let root = state.root();
    // Each cause once: a folder that cannot be written explains what is below it.
    let mut reported: Vec<PathBuf> = Vec::new();
    for folder in [root.to_owned(), state.sessions(), state.journal()] {
        let Err(error) = try_to_write(&folder) else { continue };
        if reported.iter().any(|known| folder.starts_with(known)) {
            continue;
        }
        let shown = folder.display();
        let is_full = error.kind() == io::ErrorKind::StorageFull;
        let finding = found.problem(
            both!(
                "Tidegate cannot write in its state folder {shown}: {error}. Until you fix this, it blocks edits.",
                "状態のフォルダ {shown} に書き込めません（{error}）。直るまで、Tidegate は編集をブロックします。"
            ),
            fix_of_unwritable(&folder, root),
        );
        if is_full {
            finding.unless_caused_by(&["disk"]);
        }
        reported.push(folder);
    }
    let today = state.journal().join(format!("{}.jsonl", seen.now.day()));
    let is_known = |path: &Path, reported: &[PathBuf]| reported.iter().any(|known| path.starts_with(known));
    if let Some(Bilingual { en, ja }) = cannot_append(&today).filter(|_| !is_known(&today, &reported)) {
        let (shown, quoted) = (today.display(), quote_path(&today));
        found.problem(
            both!(
                "Tidegate cannot record its checks in {shown}: {en}. Until you fix this, it blocks edits.",
                "{shown} に記録を書けません（{ja}）。直るまで、Tidegate は編集をブロックします。"
            ),
            both!(
                "Move {quoted} away: the next hook makes a new one.",
                "{quoted} を別の場所に移してください。次のフックが新しく作ります。"
            ),
        );
        reported.push(today);
    }
    for (file, why) in seen.history.problems.iter().filter(|(file, _)| !is_known(file, &reported)) {
        let (shown, quoted) = (file.display(), quote_path(file));
        found.warning(
            both!(
                "Tidegate cannot read a part of its journal: {shown}: {why}.",
                "記録の一部を読めません: {shown}: {why}"
            ),
            both!(
                "Move {quoted} away. Only the history in it is missing then.",
                "{quoted} を別の場所に移してください。見られなくなるのは、その中の履歴だけです。"
            ),
        );
    }
    report_place_in_project(seen, root, found);
    if seen.state_mode.is_some_and(|mode| mode & 0o077 != 0) {
        found.note(both!(
            "Other users could read {root}. Tidegate has made it private again.",
            "ほかのユーザーが {root} を読める状態でした。Tidegate が非公開に戻しました。",
            root = root.display()
        ));
    }
    if seen.history.skipped > 0 {
        let (lines, number) = (count_en(seen.history.skipped, "line"), seen.history.skipped);
        found.note(both!(
            "Tidegate skipped {lines} of its journal: torn, or written by a newer version.",
            "記録のうち{number}行を読み飛ばしました。途中で切れているか、新しいバージョンのものです。"
        ));
    }
    if found.is_empty() {
        let root = root.display();
        found.ok(both!("{root} is private and writable.", "{root} は非公開で、書き込めます。"));
    }
}

fn set_state_dir() -> Bilingual {
    both!(
        "Set TIDEGATE_STATE_DIR to a folder of your own (mode 0700), in the shell that starts your agent, too.",
        "TIDEGATE_STATE_DIR に自分だけのフォルダ（モード0700）を指定してください。エージェントを起動するシェルでも必要です。"
    )
}

/// `why` is for people who read English, and for reasons that only the system knows.
fn describe_refusal(place: &PlaceEnv, why: &str) -> Bilingual {
    match place.state() {
        Err(_) if place.state_dir.is_some() => {
            both!("TIDEGATE_STATE_DIR is not an absolute path", "TIDEGATE_STATE_DIR が絶対パスではありません")
        }
        Err(_) => both!(
            "neither HOME nor TIDEGATE_STATE_DIR is set",
            "HOME も TIDEGATE_STATE_DIR も設定されていません"
        ),
        Ok(path) => match in_the_way(&path) {
            Some(file) => {
                both!("{file} is not a folder", "{file} はフォルダではありません", file = file.display())
            }
            None => Bilingual::data(why),
        },
    }
}

fn fix_of_unusable(place: &PlaceEnv) -> Bilingual {
    let Ok(path) = place.state() else { return set_state_dir() };
    match in_the_way(&path) {
        Some(file) => both!(
            "Move {file} away: the next hook makes a folder there.",
            "{file} を別の場所に移してください。次のフックがフォルダを作ります。",
            file = quote_path(file)
        ),
        None if is_closed(&path) => open_up(&path),
        None => set_state_dir(),
    }
}

fn fix_of_unwritable(folder: &Path, root: &Path) -> Bilingual {
    let quoted = quote_path(folder);
    if is_closed(folder) {
        open_up(folder)
    } else if folder == root {
        set_state_dir()
    } else {
        both!(
            "Move {quoted} away: the next hook makes a new one.",
            "{quoted} を別の場所に移してください。次のフックが新しく作ります。"
        )
    }
}

/// In the project, the repository and the agent could change the state. A home that is a project is a person's own choice.
fn report_place_in_project(seen: &Gathered, root: &Path, found: &mut Findings) {
    let place = &seen.env.place;
    let variable = match (&place.state_dir, &place.xdg_state) {
        (Some(_), _) => "TIDEGATE_STATE_DIR",
        (None, Some(path)) if path.is_absolute() => "XDG_STATE_HOME",
        _ => return,
    };
    let Some(project) = seen.project.as_deref().map(real_path) else { return };
    let has_home = place.home.as_deref().is_some_and(|home| real_path(home).starts_with(&project));
    if has_home || !real_path(root).starts_with(&project) {
        return;
    }
    let root = root.display();
    found.warning(
        both!(
            "{variable} makes Tidegate keep its private state inside this project, in {root}. Your agent and this repository can \
             change it there.",
            "{variable} により、Tidegate の状態がこのプロジェクトの中（{root}）に保存されています。エージェントやリポジトリが書き換えられます。"
        ),
        both!(
            "Run `unset {variable}`, or set it to a folder outside of the project, in the shell that starts your agent, too.",
            "`unset {variable}` を実行するか、プロジェクトの外のフォルダを指定してください。エージェントを起動するシェルでも必要です。"
        ),
    );
}

/// Writes a file and removes it again. A missing folder is fine: the first hook makes it.
pub(crate) fn try_to_write(folder: &Path) -> io::Result<()> {
    match fs::metadata(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Ok(found) if !found.is_dir() => return Err(io::Error::other("it is not a folder")),
        found => found?,
    };
    let probe = probe_file(folder);
    OpenOptions::new().write(true).create_new(true).open(&probe)?;
    let written = fs::write(&probe, b"doctor\n");
    let removed = fs::remove_file(&probe);
    written.and(removed)
}

/// A file at the place of a folder.
fn in_the_way(path: &Path) -> Option<&Path> {
    let nearest = path.ancestors().find(|step| fs::symlink_metadata(step).is_ok())?;
    fs::metadata(nearest).is_ok_and(|found| !found.is_dir()).then_some(nearest)
}

/// A folder of the person's own whose mode keeps its owner out.
#[cfg(unix)]
pub(crate) fn is_closed(folder: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let is_own = |found: fs::Metadata| found.uid() == rustix::process::geteuid().as_raw();
    fs::metadata(folder).is_ok_and(|found| found.is_dir() && found.mode() & 0o700 != 0o700 && is_own(found))
}

#[cfg(not(unix))]
pub(crate) fn is_closed(_: &Path) -> bool {
    false
}

pub(crate) fn open_up(folder: &Path) -> Bilingual {
    let folder = quote_path(folder);
    both!("Run `chmod u+rwx {folder}`.", "`chmod u+rwx {folder}` を実行してください。")
}

pub(crate) fn probe_file(folder: &Path) -> PathBuf {
    folder.join(format!(".doctor.{}", std::process::id()))
}

/// A pipe is not opened: that would wait for its reader.
fn cannot_append(path: &Path) -> Option<Bilingual> {
    let found = fs::symlink_metadata(path).ok()?;
    let regular = fs::metadata(path).is_ok_and(|found| found.is_file());
    if !regular {
        return Some(if found.is_dir() {
            both!("it is a folder", "フォルダになっています")
        } else {
            both!("it is not a file", "ファイルではありません")
        });
    }
    append::open(path).err().map(Bilingual::data)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn what_is_in_the_way_and_what_is_closed() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, b"").unwrap();
        assert_eq!(in_the_way(&file), Some(file.as_path()));
        assert_eq!(in_the_way(&file.join("below/it")), Some(file.as_path()));
        assert_eq!(in_the_way(&folder.path().join("new")), None);
        assert!(!is_closed(folder.path()) && !is_closed(&file));
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o500)).unwrap();
        assert!(is_closed(folder.path()));
        assert!(open_up(folder.path()).en.starts_with("Run `chmod u+rwx /"));
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o700)).unwrap();
    }
}
