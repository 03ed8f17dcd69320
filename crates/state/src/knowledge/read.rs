//! The persistence files as they are. What cannot be read says why and stops nothing.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use tidegate_core::facts::Known;
use tidegate_core::knowledge::flow;
use tidegate_core::time::Millis;

use crate::bounded;

/// More than people and models write before it is trimmed; of the archive the end is enough.
pub const LARGEST: u64 = 1024 * 1024;

/// A project's folder of persistence files, `.claude/context`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folder {
    root: PathBuf,
    path: PathBuf,
}

impl Folder {
    /// The folder, if there is one and it is inside of the project.
    pub fn of(root: &Path) -> Option<Folder> {
        let outer = root.join(".claude");
        let path = outer.join("context");
        let real = |path: &Path| fs::symlink_metadata(path).is_ok_and(|found| found.is_dir());
        let is_ours = (real(&outer) && real(&path)) || (path.is_dir() && is_inside(&path, root));
        is_ours.then(|| Folder { root: root.to_owned(), path })
    }

    /// The same, made where there is none.
    pub fn make(root: &Path) -> io::Result<Folder> {
        if let Some(folder) = Folder::of(root) {
            return Ok(folder);
        }
        let path = root.join(".claude/context");
        let outer = root.join(".claude");
        if fs::symlink_metadata(&outer).is_ok() && !is_inside(&outer, root) {
            return Err(io::Error::other(format!("{} leads out of the project", outer.display())));
        }
        fs::create_dir_all(&path)?;
        Folder::of(root)
            .ok_or_else(|| io::Error::other(format!("{} leads out of the project", path.display())))
    }

    /// The project.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where one of its files is. A link is followed only inside of the project: what a repository brings along must not
    /// make us read or write elsewhere.
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

    /// One file's text; of the archive only its end.
    pub fn text(&self, name: &str) -> Known<String> {
        let read = self.file(name).and_then(|path| {
            let read = if name == flow::ARCHIVE { tail(&path) } else { whole(&path, LARGEST) };
            read.and_then(utf8)
        });
        match read {
            Ok(text) => Known::Value(text),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Known::Absent,
            Err(error) => Known::Broken(format!("{name}: {error}")),
        }
    }

    /// When one file was last written.
    pub fn modified(&self, name: &str) -> Option<Millis> {
        let modified = fs::metadata(self.file(name).ok()?).ok()?.modified().ok()?;
        Some(Millis(u64::try_from(modified.duration_since(UNIX_EPOCH).ok()?.as_millis()).ok()?))
    }

    /// The texts of these files.
    pub fn texts(&self, names: &[&'static str]) -> Texts {
        let read =
            |name: &&'static str| (*name, Text { text: self.text(name), modified: self.modified(name) });
        Texts { texts: names.iter().map(read).collect() }
    }
}

fn is_inside(path: &Path, root: &Path) -> bool {
    let real = (fs::canonicalize(path), fs::canonicalize(root));
    matches!(real, (Ok(path), Ok(root)) if path.starts_with(&root))
}

/// All of a file that is not too large.
pub(super) fn whole(path: &Path, largest: u64) -> io::Result<Vec<u8>> {
    bounded::read(path, largest)
}

/// Bytes as text.
pub(super) fn utf8(bytes: Vec<u8>) -> io::Result<String> {
    String::from_utf8(bytes).map_err(|_| io::Error::other("not UTF-8"))
}

/// The end of a file, from a heading on.
fn tail(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = bounded::open(path)?;
    let length = file.metadata()?.len();
    if length <= LARGEST {
        return whole(path, LARGEST);
    }
    file.seek(SeekFrom::Start(length - LARGEST))?;
    let mut bytes = Vec::with_capacity(LARGEST as usize);
    file.take(LARGEST).read_to_end(&mut bytes)?;
    let heading = memchr::memmem::find(&bytes, b"\n## ");
    let from = heading.map_or(bytes.len(), |at| at + 1);
    bytes.drain(..from);
    Ok(bytes)
}

/// One file as it was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Text {
    /// What it says.
    pub text: Known<String>,
    /// When it was written.
    pub modified: Option<Millis>,
}

/// Files as they were read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Texts {
    texts: BTreeMap<&'static str, Text>,
}

impl Texts {
    /// What a file says, if it could be read.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.texts.get(name)?.text.value().map(String::as_str)
    }

    /// All that were asked for, by name.
    pub fn all(&self) -> impl Iterator<Item = (&'static str, &Text)> {
        self.texts.iter().map(|(name, text)| (*name, text))
    }

    /// Why files could not be read.
    pub fn broken(&self) -> impl Iterator<Item = &str> {
        self.texts.values().filter_map(|text| match &text.text {
            Known::Broken(why) => Some(why.as_str()),
            Known::Value(_) | Known::Absent => None,
        })
    }
}
