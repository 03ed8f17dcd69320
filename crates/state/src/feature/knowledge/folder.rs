//! The files of flow and stock as they are. Unreadable files report the reason and stop nothing.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use tidegate_core::feature::CONTEXT_FOLDER;
use tidegate_core::feature::facts::Known;
use tidegate_core::feature::knowledge::flow;
use tidegate_core::text::search;
use tidegate_core::time::Millis;

use crate::file::bounded;

/// In bytes; more than people and models write before a file is trimmed. Of the archive, the end is enough.
pub const LARGEST: u64 = 1024 * 1024;

/// `.claude/context` of a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextFolder {
    root: PathBuf,
    path: PathBuf,
}

impl ContextFolder {
    /// `None` if it is missing or outside of the project.
    pub fn find(root: &Path) -> Option<ContextFolder> {
        let outer = root.join(".claude");
        let path = outer.join("context");
        let real = |path: &Path| fs::symlink_metadata(path).is_ok_and(|found| found.is_dir());
        let is_ours = (real(&outer) && real(&path)) || (path.is_dir() && is_inside(&path, root));
        is_ours.then(|| ContextFolder { root: root.to_owned(), path })
    }

    /// Creates it if it is missing.
    pub fn make(root: &Path) -> io::Result<ContextFolder> {
        if let Some(folder) = ContextFolder::find(root) {
            return Ok(folder);
        }
        let path = root.join(CONTEXT_FOLDER);
        let outer = root.join(".claude");
        if fs::symlink_metadata(&outer).is_ok() && !is_inside(&outer, root) {
            return Err(io::Error::other(format!("{} leads out of the project", outer.display())));
        }
        fs::create_dir_all(&path)?;
        ContextFolder::find(root)
            .ok_or_else(|| io::Error::other(format!("{} leads out of the project", path.display())))
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Follows a link only inside of the project: a repository must not make Tidegate read or write elsewhere.
    pub fn file(&self, name: &str) -> io::Result<PathBuf> {
        let path = self.path.join(name);
        let is_link = fs::symlink_metadata(&path).is_ok_and(|found| found.is_symlink());
        if !is_link {
            return Ok(path);
        }
        let target = fs::canonicalize(&path).map_err(|_| io::Error::other("a link that leads nowhere"))?;
        if is_inside(&target, &self.root) {
            Ok(target)
        } else {
            Err(io::Error::other("a link that leads out of the project"))
        }
    }

    /// Of the archive, only its end.
    pub fn text(&self, name: &str) -> Known<String> {
        let read = self.file(name).and_then(|path| {
            let read = if name == flow::ARCHIVE { read_tail(&path) } else { read_bounded(&path, LARGEST) };
            read.and_then(decode_utf8)
        });
        match read {
            Ok(text) => Known::Value(text),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Known::Absent,
            Err(error) => Known::Broken(format!("{name}: {error}")),
        }
    }

    pub fn modified(&self, name: &str) -> Option<Millis> {
        let modified = fs::metadata(self.file(name).ok()?).ok()?.modified().ok()?;
        Some(Millis(u64::try_from(modified.duration_since(UNIX_EPOCH).ok()?.as_millis()).ok()?))
    }

    pub fn texts(&self, names: &[&'static str]) -> ReadTexts {
        let read =
            |name: &&'static str| (*name, ReadText { text: self.text(name), modified: self.modified(name) });
        ReadTexts { texts: names.iter().map(read).collect() }
    }
}

fn is_inside(path: &Path, root: &Path) -> bool {
    let real = (fs::canonicalize(path), fs::canonicalize(root));
    matches!(real, (Ok(path), Ok(root)) if path.starts_with(&root))
}

pub(super) fn read_bounded(path: &Path, largest: u64) -> io::Result<Vec<u8>> {
    bounded::read(path, largest)
}

pub(super) fn decode_utf8(bytes: Vec<u8>) -> io::Result<String> {
    String::from_utf8(bytes).map_err(|_| io::Error::other("not UTF-8"))
}

/// The end of a file, from a heading.
fn read_tail(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = bounded::open(path)?;
    let length = file.metadata()?.len();
    if length <= LARGEST {
        return read_bounded(path, LARGEST);
    }
    file.seek(SeekFrom::Start(length - LARGEST))?;
    let mut bytes = Vec::with_capacity(LARGEST as usize);
    file.take(LARGEST).read_to_end(&mut bytes)?;
    let heading = search::find(&bytes, b"\n## ");
    let from = heading.map_or(bytes.len(), |at| at + 1);
    bytes.drain(..from);
    Ok(bytes)
}

#[derive(Clone, Debug, PartialEq)]
pub struct ReadText {
    pub text: Known<String>,
    pub modified: Option<Millis>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReadTexts {
    texts: BTreeMap<&'static str, ReadText>,
}

impl ReadTexts {
    /// `None` if the file is missing or unreadable.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.texts.get(name)?.text.value().map(String::as_str)
    }

    pub fn all(&self) -> impl Iterator<Item = (&'static str, &ReadText)> {
        self.texts.iter().map(|(name, text)| (*name, text))
    }

    /// The reasons why files are unreadable.
    pub fn broken(&self) -> impl Iterator<Item = &str> {
        self.texts.values().filter_map(|text| match &text.text {
            Known::Broken(why) => Some(why.as_str()),
            Known::Value(_) | Known::Absent => None,
        })
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn project() -> (tempfile::TempDir, ContextFolder) {
        let root = tempfile::tempdir().unwrap();
        let folder = ContextFolder::make(root.path()).unwrap();
        (root, folder)
    }

    #[test]
    fn a_folder_is_real_and_inside_of_its_project() {
        let base = tempfile::tempdir().unwrap();
        let root = base.path().join("p");
        fs::create_dir(&root).unwrap();
        assert_eq!(ContextFolder::find(&root), None);
        assert_eq!(ContextFolder::find(&base.path().join("none")), None);
        fs::write(root.join(".claude"), "").unwrap();
        assert!(ContextFolder::find(&root).is_none() && ContextFolder::make(&root).is_err());
        fs::remove_file(root.join(".claude")).unwrap();

        let elsewhere = base.path().join("elsewhere");
        fs::create_dir_all(elsewhere.join("context")).unwrap();
        symlink(&elsewhere, root.join(".claude")).unwrap();
        assert!(ContextFolder::find(&root).is_none() && ContextFolder::make(&root).is_err());
        fs::remove_file(root.join(".claude")).unwrap();

        fs::create_dir(root.join(".claude")).unwrap();
        symlink("../../elsewhere/none", root.join(".claude/context")).unwrap();
        assert!(ContextFolder::find(&root).is_none() && ContextFolder::make(&root).is_err());
        fs::remove_file(root.join(".claude/context")).unwrap();
        symlink(elsewhere.join("context"), root.join(".claude/context")).unwrap();
        assert!(ContextFolder::find(&root).is_none() && ContextFolder::make(&root).is_err());
        fs::remove_file(root.join(".claude/context")).unwrap();

        fs::create_dir(root.join("notes")).unwrap();
        symlink("../notes", root.join(".claude/context")).unwrap();
        assert_eq!(ContextFolder::find(&root).unwrap().path(), root.join(".claude/context"));
        // The project itself is reached through a link.
        symlink(&root, base.path().join("link")).unwrap();
        assert!(ContextFolder::find(&base.path().join("link")).is_some());
        assert!(!elsewhere.join("none").exists());
    }

    #[test]
    fn what_is_no_text_says_why() {
        let (root, folder) = project();
        let outside = tempfile::NamedTempFile::new().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("empty"), "").unwrap();
        fs::write(path("text"), "\u{feff}# 進捗\r\n").unwrap();
        fs::write(path("latin1"), b"caf\xe9").unwrap();
        fs::File::create(path("large")).unwrap().set_len(50 << 20).unwrap();
        fs::create_dir(path("folder")).unwrap();
        rustix::fs::mknodat(
            rustix::fs::CWD,
            path("pipe"),
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::from_raw_mode(0o600),
            0,
        )
        .unwrap();
        symlink("nowhere", path("dangling")).unwrap();
        symlink("loop", path("loop")).unwrap();
        symlink(outside.path(), path("out")).unwrap();
        fs::write(root.path().join("notes.md"), "x").unwrap();
        symlink("../../notes.md", path("in")).unwrap();
        for (name, expected) in [
            ("none", Known::Absent),
            ("empty", Known::Value("")),
            ("text", Known::Value("\u{feff}# 進捗\r\n")),
            ("latin1", Known::Broken("latin1: not UTF-8".into())),
            ("large", Known::Broken("large: too large".into())),
            ("folder", Known::Broken("folder: not a file".into())),
            ("pipe", Known::Broken("pipe: not a file".into())),
            ("dangling", Known::Broken("dangling: a link that leads nowhere".into())),
            ("loop", Known::Broken("loop: a link that leads nowhere".into())),
            ("out", Known::Broken("out: a link that leads out of the project".into())),
            ("in", Known::Value("x")),
        ] {
            let text = folder.text(name);
            let read = match &text {
                Known::Value(text) => Known::Value(text.as_str()),
                Known::Absent => Known::Absent,
                Known::Broken(why) => Known::Broken(why.clone()),
            };
            assert_eq!(read, expected, "{name}");
        }
        let texts = folder.texts(&["text", "pipe", "none"]);
        assert_eq!((texts.get("text"), texts.get("pipe")), (Some("\u{feff}# 進捗\r\n"), None));
        assert_eq!(texts.broken().collect::<Vec<_>>(), ["pipe: not a file"]);
        assert_eq!(texts.all().filter(|(_, text)| text.modified.is_some()).count(), 2);
    }

    #[test]
    fn of_a_long_archive_the_end_is_read_from_a_heading_on() {
        let (_root, folder) = project();
        let entry = |n: usize| format!("## 項目 {n}\n\n{}\n", "日本語の行。\n".repeat(100));
        let all: String = (0..1000).map(entry).collect::<Vec<_>>().concat();
        assert!(all.len() as u64 > LARGEST);
        fs::write(folder.path().join(flow::ARCHIVE), &all).unwrap();
        let Known::Value(text) = folder.text(flow::ARCHIVE) else { panic!() };
        assert!(text.len() as u64 <= LARGEST && text.len() as u64 > LARGEST - 4096);
        assert!(text.starts_with("## 項目 ") && all.ends_with(&text));
        fs::write(folder.path().join(flow::ARCHIVE), "x".repeat(2 << 20)).unwrap();
        assert_eq!(folder.text(flow::ARCHIVE), Known::Value(String::new()));
    }

    #[test]
    fn what_must_not_be_read_is_broken() {
        if rustix::process::geteuid().is_root() {
            return;
        }
        let (_root, folder) = project();
        let path = folder.path().join("secret");
        fs::write(&path, "x").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
        assert!(matches!(folder.text("secret"), Known::Broken(_)));
    }
}
