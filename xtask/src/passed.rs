//! Remembers long steps that passed until something they depend on changes.
//!
//! Only for steps whose inputs are known: the bytes of their programs, which cover all sources, and every
//! other file of the checkout. Not used in CI or in a new checkout. Installed programs are not considered;
//! `cargo clean`, or removing `passed` from cargo's directory, repeats everything.

use std::fs;
use std::hash::{DefaultHasher, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

use xtask::failure::{Done, While};
use xtask::workspace;

pub(crate) struct PassedStep {
    stamp: PathBuf,
    /// `None` if git cannot list the files.
    now: Option<String>,
}

impl PassedStep {
    pub(crate) fn of(step: &str, programs: &[&Path]) -> Done<PassedStep> {
        let stamp = workspace::target_folder()?.join("passed").join(step.replace(' ', "-"));
        let mut hasher = DefaultHasher::new();
        for program in programs {
            hash_file(&mut hasher, program)?;
        }
        let mut list = Command::new("git");
        list.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
            .current_dir(workspace::root());
        let Ok(listed) = workspace::read_output(&mut list) else {
            return Ok(PassedStep { stamp, now: None });
        };
        let is_source = |file: &&str| Path::new(file).extension().is_some_and(|end| end == "rs");
        for file in listed.split_terminator('\0').filter(|file| !is_source(file)) {
            hash_file(&mut hasher, &workspace::root().join(file))?;
        }
        Ok(PassedStep { stamp, now: Some(format!("{:016x}\n", hasher.finish())) })
    }

    /// Whether the step passed with the same inputs.
    pub(crate) fn is_current(&self) -> bool {
        std::env::var_os("CI").is_none()
            && self.now.is_some()
            && fs::read_to_string(&self.stamp).ok() == self.now
    }

    pub(crate) fn remember(&self) -> Done {
        let Some(now) = &self.now else { return Ok(()) };
        let folder = self.stamp.parent().unwrap_or(workspace::root());
        fs::create_dir_all(folder).while_(folder.display())?;
        fs::write(&self.stamp, now).while_(self.stamp.display())
    }
}

/// A listed file that is missing counts as a state of its own.
fn hash_file(hasher: &mut DefaultHasher, file: &Path) -> Done {
    hasher.write(file.as_os_str().as_encoded_bytes());
    match fs::read(file) {
        Ok(bytes) => {
            hasher.write_u64(bytes.len() as u64);
            hasher.write(&bytes);
            Ok(())
        }
        Err(error)
            if matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::IsADirectory) =>
        {
            hasher.write_u8(0);
            Ok(())
        }
        Err(error) => Err(error).while_(file.display()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_program_is_no_longer_what_passed() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("program");
        let of = |bytes: &str| {
            fs::write(&program, bytes).unwrap();
            let mut hasher = DefaultHasher::new();
            hash_file(&mut hasher, &program).unwrap();
            PassedStep {
                stamp: folder.path().join("passed/step"),
                now: Some(format!("{:016x}\n", hasher.finish())),
            }
        };
        let in_ci = std::env::var_os("CI").is_some();
        assert!(!of("one").is_current());
        of("one").remember().unwrap();
        assert_eq!(of("one").is_current(), !in_ci);
        assert!(!of("two").is_current());
        of("two").remember().unwrap();
        assert!(!of("one").is_current());
    }

    #[test]
    fn a_file_that_is_gone_differs_from_an_empty_one() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        let hashed = || {
            let mut hasher = DefaultHasher::new();
            hash_file(&mut hasher, &file).unwrap();
            hasher.finish()
        };
        let gone = hashed();
        fs::write(&file, "").unwrap();
        assert_ne!(gone, hashed());
    }
}
