//! The state directory: owned by the person, private, and really writable.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::Path;

use tidegate_state::file::append;

use crate::doctor::finding::Findings;
use crate::doctor::gathered::Gathered;
use crate::print::format_count;
use crate::shell::quote_path;

pub(crate) fn check(seen: &Gathered, found: &mut Findings) {
    const ELSEWHERE: &str = "set TIDEGATE_STATE_DIR to a folder of your own, where the client is started too";
    let state = match &seen.state {
        Ok(state) => state,
        Err(why) => {
            let cure = match seen.env.place.state() {
                Ok(path) => match in_the_way(&path) {
                    Some(file) => {
                        format!("move {} away: the next hook makes a folder there", quote_path(file))
                    }
                    None if is_closed(&path) => open_up(&path),
                    None => format!("give {} to yourself with mode 0700, or {ELSEWHERE}", quote_path(&path)),
                },
                Err(_) => ELSEWHERE.to_owned(),
            };
            found.problem(format!("the state directory cannot be used: {why}"), cure);
            return;
        }
    };
    let root = state.root();
    for folder in [root.to_owned(), state.sessions(), state.journal()] {
        if let Err(error) = try_to_write(&folder) {
            let whose = if folder == root { "" } else { "; then hooks make it anew" };
            let cure = if is_closed(&folder) {
                open_up(&folder)
            } else {
                format!("move {} away, or give it to yourself{whose}", quote_path(&folder))
            };
            found.problem(format!("nothing can be written in {}: {error}", folder.display()), cure);
        }
    }
    let today = state.journal().join(format!("{}.jsonl", seen.now.day()));
    if let Some(why) = cannot_append(&today) {
        found.problem(
            format!("no record can be written to {}: {why}", today.display()),
            format!("move {} away: the next hook makes it anew", quote_path(&today)),
        );
    }
    for problem in &seen.history.problems {
        found.warning(
            format!("a part of the journal cannot be read: {problem}"),
            "move it away: what is in it is history, and the next hook goes on without it",
        );
    }
    if seen.state_mode.is_some_and(|mode| mode & 0o077 != 0) {
        found.note(format!("{} was open to other users; it is private again", root.display()));
    }
    if seen.history.skipped > 0 {
        found.note(format!(
            "{} of the journal's last days cannot be read (torn, or of a newer version)",
            format_count(seen.history.skipped, "line")
        ));
    }
    if found.is_empty() {
        found.ok(format!("{}, private and writable", root.display()));
    }
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

pub(crate) fn open_up(folder: &Path) -> String {
    format!("`chmod u+rwx {}` lets you write there again", quote_path(folder))
}

pub(crate) fn probe_file(folder: &Path) -> std::path::PathBuf {
    folder.join(format!(".doctor.{}", std::process::id()))
}

/// A pipe is not opened: that would wait for its reader.
fn cannot_append(path: &Path) -> Option<String> {
    let found = fs::symlink_metadata(path).ok()?;
    let regular = fs::metadata(path).is_ok_and(|found| found.is_file());
    if !regular {
        return Some(if found.is_dir() { "it is a folder" } else { "it is not a file" }.to_owned());
    }
    append::open(path).err().map(|error| error.to_string())
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
        assert!(open_up(folder.path()).starts_with("`chmod u+rwx /"));
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o700)).unwrap();
    }
}
