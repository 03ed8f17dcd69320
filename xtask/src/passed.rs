//! Remembers long steps that passed until something they depend on changes.
//!
//! Only for steps whose inputs are known: the bytes of their programs, which cover all sources, and every
//! other file of the checkout. Not used in CI or in a new checkout. Installed programs are not considered;
//! `cargo clean`, or removing `passed` from cargo's directory, repeats everything.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::hash::{DefaultHasher, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

use xtask::failure::{Done, While};
use xtask::workspace;

pub(crate) struct PassedStep {
    stamp: PathBuf,
    /// `None` if git cannot list the files.
    now: Option<Inputs>,
}

/// Hashes of the files of the checkout, by path, of the compiler, and of programs.
type Inputs = BTreeMap<String, String>;

const COMPILER: &str = "rustc -vV";

/// Followed by a number: where they lie does not matter.
const PROGRAM: &str = "program ";

impl PassedStep {
    pub(crate) fn of(step: &str, programs: &[&Path]) -> Done<PassedStep> {
        let stamp = workspace::target_folder()?.join("passed").join(step.replace(' ', "-"));
        let mut list = Command::new("git");
        list.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
            .current_dir(workspace::root());
        let Ok(listed) = workspace::read_output(&mut list) else {
            return Ok(PassedStep { stamp, now: None });
        };
        let mut now = Inputs::new();
        for file in listed.split_terminator('\0') {
            now.insert(file.to_owned(), hash_file(&workspace::root().join(file))?);
        }
        for (number, program) in programs.iter().enumerate() {
            now.insert(format!("{PROGRAM}{number}"), hash_file(program)?);
        }
        let compiler = workspace::read_output(Command::new("rustc").arg("-vV"))?;
        now.insert(COMPILER.to_owned(), hash_bytes(compiler.as_bytes()));
        Ok(PassedStep { stamp, now: Some(now) })
    }

    /// With something else that the step depends on.
    pub(crate) fn and(mut self, name: &str, text: &str) -> PassedStep {
        if let Some(now) = &mut self.now {
            now.insert(name.to_owned(), hash_bytes(text.as_bytes()));
        }
        self
    }

    /// Whether the step passed with the same inputs.
    pub(crate) fn is_current(&self) -> bool {
        let Some((before, now)) = self.before_and_now() else { return false };
        // Sources that changed nothing in the programs change nothing.
        let is_source = |name: &str| Path::new(name).extension().is_some_and(|end| end == "rs");
        differences(&before, now).all(is_source)
    }

    /// The files that differ from those with which the step passed. `None` if it never did, or if not only files differ.
    pub(crate) fn changed_files(&self) -> Option<Vec<String>> {
        let (before, now) = self.before_and_now()?;
        let is_file = |name: &&str| !name.starts_with(PROGRAM);
        let files: Vec<String> = differences(&before, now).filter(is_file).map(str::to_owned).collect();
        (!files.is_empty()).then_some(files)
    }

    /// `None` in CI and if the step never passed.
    fn before_and_now(&self) -> Option<(Inputs, &Inputs)> {
        if std::env::var_os("CI").is_some() {
            return None;
        }
        let before = fs::read_to_string(&self.stamp).ok()?;
        let before = before.lines().filter_map(|line| line.split_once(' '));
        let before = before.map(|(hash, name)| (name.to_owned(), hash.to_owned())).collect();
        Some((before, self.now.as_ref()?))
    }

    pub(crate) fn remember(&self) -> Done {
        let Some(now) = &self.now else { return Ok(()) };
        let folder = self.stamp.parent().unwrap_or(workspace::root());
        fs::create_dir_all(folder).while_(folder.display())?;
        let lines: Vec<String> = now.iter().map(|(name, hash)| format!("{hash} {name}\n")).collect();
        fs::write(&self.stamp, lines.concat()).while_(self.stamp.display())
    }
}

fn differences<'a>(before: &'a Inputs, now: &'a Inputs) -> impl Iterator<Item = &'a str> {
    let names: BTreeSet<&String> = before.keys().chain(now.keys()).collect();
    names.into_iter().filter(|name| before.get(*name) != now.get(*name)).map(String::as_str)
}

/// A listed file that is missing counts as a state of its own.
fn hash_file(file: &Path) -> Done<String> {
    match fs::read(file) {
        Ok(bytes) => Ok(hash_bytes(&bytes)),
        Err(error)
            if matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::IsADirectory) =>
        {
            Ok("missing".to_owned())
        }
        Err(error) => Err(error).while_(file.display()),
    }
}

fn hash_bytes(bytes: &[u8]) -> String {
    let mut hasher = DefaultHasher::new();
    hasher.write(bytes);
    format!("{:016x}", hasher.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(folder: &Path, inputs: &[(&str, &str)]) -> PassedStep {
        let inputs = inputs.iter().map(|(name, text)| ((*name).to_owned(), hash_bytes(text.as_bytes())));
        PassedStep { stamp: folder.join("passed/step"), now: Some(inputs.collect()) }
    }

    #[test]
    fn what_passed_is_remembered_until_something_changes() {
        let folder = tempfile::tempdir().unwrap();
        let of = |inputs: &[(&str, &str)]| step(folder.path(), inputs);
        let passed = [("a.rs", "1"), ("b.txt", "1"), ("program 0", "1")];
        assert!(!of(&passed).is_current());
        assert_eq!(of(&passed).changed_files(), None, "it never passed");
        of(&passed).remember().unwrap();
        if std::env::var_os("CI").is_some() {
            assert!(!of(&passed).is_current() && of(&[("a.rs", "2")]).changed_files().is_none());
            return;
        }
        assert!(of(&passed).is_current());
        assert_eq!(of(&passed).changed_files(), None);
        // A comment.
        assert!(of(&[("a.rs", "2"), passed[1], passed[2]]).is_current());
        let changed = of(&[("a.rs", "2"), passed[1], ("program 0", "2")]);
        assert!(!changed.is_current());
        assert_eq!(changed.changed_files(), Some(vec!["a.rs".to_owned()]));
        let changed = of(&[passed[0], ("new file.txt", ""), passed[2]]);
        assert!(!changed.is_current());
        assert_eq!(changed.changed_files(), Some(vec!["b.txt".to_owned(), "new file.txt".to_owned()]));
        assert_eq!(
            of(&[passed[0], passed[1], ("program 0", "2")]).changed_files(),
            None,
            "for whatever reason"
        );
    }

    #[test]
    fn a_file_that_is_gone_differs_from_an_empty_one() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        let gone = hash_file(&file).unwrap();
        fs::write(&file, "").unwrap();
        assert_ne!(gone, hash_file(&file).unwrap());
    }
}
