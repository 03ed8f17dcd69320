//! Whether git tracks a file, without a git process: `git` may run programs that a repository names.
//!
//! An index that cannot be read to its end counts as tracking every file: deleting a committed file is worse than keeping
//! one.

use std::io;
use std::path::Path;

use tidegate_state::file::bounded;
use tidegate_state::project::Checkout;

/// The index of a million files is below this.
const LARGEST: u64 = 256 * 1024 * 1024;

/// Lengths of object names: SHA-1 and SHA-256. The index does not say which of them it has.
const HASH_LENGTHS: [usize; 2] = [20, 32];

const REGULAR: u32 = 0o10_0000;
const LINK: u32 = 0o12_0000;
const SUBMODULE: u32 = 0o16_0000;
/// A whole folder, in a sparse index.
const FOLDER: u32 = 0o04_0000;

/// A bit of an entry's flags, from version 3 on: two more bytes of flags follow.
const EXTENDED: u16 = 0x4000;

pub(crate) fn is_tracked(checkout: &Checkout, file: &Path) -> bool {
    find_tracked(checkout, file).unwrap_or(true)
}

/// `None` if the index cannot be read to its end.
pub(crate) fn find_tracked(checkout: &Checkout, file: &Path) -> Option<bool> {
    let Ok(below) = file.strip_prefix(&checkout.top) else { return Some(false) };
    let index = match bounded::read(&checkout.git.join("index"), LARGEST) {
        Ok(index) => index,
        Err(error) => return (error.kind() == io::ErrorKind::NotFound).then_some(false),
    };
    let path = below.as_os_str().as_encoded_bytes();
    HASH_LENGTHS.iter().find_map(|hash| has_path(&index, *hash, path))
}

/// `None` if this is not a whole index with object names of this length.
fn has_path(index: &[u8], hash: usize, path: &[u8]) -> Option<bool> {
    let mut rest = index.strip_prefix(b"DIRC")?;
    let version = take_number(&mut rest)?;
    let count = take_number(&mut rest)?;
    if !(2..=4).contains(&version) {
        return None;
    }
    let (mut name, mut is_there) = (Vec::new(), false);
    for _ in 0..count {
        let is_folder = take_entry(&mut rest, version, hash, &mut name)?;
        is_there |= name == path || (is_folder && path.starts_with(&name));
    }
    while rest.len() > hash {
        let sign = take(&mut rest, 4)?;
        let length = take_number(&mut rest)? as usize;
        take(&mut rest, length)?;
        // Git must not ignore an extension in lower case: `link` says that the other entries are in a second file.
        if sign[0].is_ascii_lowercase() && sign != b"sdir" {
            return None;
        }
    }
    (rest.len() == hash).then_some(is_there)
}

/// Leaves its path in `name`, which held the one before. Returns whether it is a folder.
fn take_entry(rest: &mut &[u8], version: u32, hash: usize, name: &mut Vec<u8>) -> Option<bool> {
    let length_before = rest.len();
    // Times, device and file number come first; owner, group and size follow the mode.
    take(rest, 24)?;
    let kind = take_number(rest)? & 0o17_0000;
    take(rest, 12 + hash)?;
    let flags = u16::from_be_bytes(take(rest, 2)?.try_into().ok()?);
    if version > 2 && flags & EXTENDED != 0 {
        take(rest, 2)?;
    }
    if version == 4 {
        // What this path shares with the one before is left out.
        let cut = take_varint(rest)?;
        name.truncate(name.len().checked_sub(cut)?);
    } else {
        name.clear();
    }
    let end = rest.iter().position(|byte| *byte == 0)?;
    name.extend_from_slice(take(rest, end)?);
    let padding = if version == 4 { 1 } else { 8 - (length_before - rest.len()) % 8 };
    take(rest, padding)?.iter().all(|byte| *byte == 0).then_some(())?;
    matches!(kind, REGULAR | LINK | SUBMODULE | FOLDER).then_some(kind == FOLDER)
}

fn take<'a>(rest: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (taken, after) = rest.split_at_checked(length)?;
    *rest = after;
    Some(taken)
}

fn take_number(rest: &mut &[u8]) -> Option<u32> {
    Some(u32::from_be_bytes(take(rest, 4)?.try_into().ok()?))
}

/// As git packs offsets: seven bits a byte, and each further byte adds one.
fn take_varint(rest: &mut &[u8]) -> Option<usize> {
    let mut number: usize = 0;
    loop {
        let byte = take(rest, 1)?[0];
        number = number.checked_mul(128)?.checked_add(usize::from(byte & 0x7f))?;
        if byte & 0x80 == 0 {
            return Some(number);
        }
        number = number.checked_add(1)?;
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::fs;
    use std::path::PathBuf;
    use std::process::Command;

    struct Repository {
        _folder: tempfile::TempDir,
        top: PathBuf,
    }

    impl Repository {
        fn new(options: &[&str]) -> Repository {
            let folder = tempfile::tempdir().expect("a temporary folder");
            let top = fs::canonicalize(folder.path()).expect("the folder");
            let repository = Repository { _folder: folder, top };
            repository.git(&[&["init", "--quiet"], options].concat());
            repository
        }

        fn git(&self, arguments: &[&str]) {
            let mut git = Command::new("git");
            git.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", &self.top).current_dir(&self.top);
            let own = ["-c", "user.name=me", "-c", "user.email=me@example.invalid"];
            let ran = git.args(own).args(arguments).output().expect("git runs");
            assert!(ran.status.success(), "{arguments:?}: {ran:?}");
        }

        fn put(&self, path: &str) {
            let file = self.top.join(path);
            fs::create_dir_all(file.parent().expect("a folder")).expect("new folders");
            fs::write(file, "").expect("a new file");
        }

        fn tracks(&self, path: &str) -> bool {
            is_tracked(&Checkout::find(&self.top).expect("a checkout"), &self.top.join(path))
        }

        fn index(&self) -> PathBuf {
            self.top.join(".git/index")
        }
    }

    const OWN: &str = ".claude/settings.local.json";

    #[test]
    fn it_knows_the_files_that_git_knows() {
        for format in ["sha1", "sha256"] {
            let repository = Repository::new(&["--object-format", format]);
            assert!(!repository.tracks(OWN), "there is no index yet");
            let long = format!("{}/a.txt", ["deep"; 60].join("/"));
            // Names that share beginnings, names of all lengths, one longer than its length field, and the word.
            let mut names: Vec<String> = (1..20).map(|length| "n".repeat(length)).collect();
            names.extend(
                ["link.txt", "sub/link", ".claude/settings.json", ".claude/settings"].map(String::from),
            );
            names.push(long);
            names.push(format!("{}/b", vec!["x".repeat(200); 21].join("/")));
            for name in &names {
                if name.len() < 4000 {
                    repository.put(name);
                }
            }
            repository.git(&["add", "."]);
            let entry = format!("100644,{},{}", hash_of_nothing(format), names.last().unwrap());
            repository.git(&["update-index", "--add", "--cacheinfo", &entry]);
            for version in ["2", "3", "4"] {
                repository.git(&["update-index", "--index-version", version]);
                if version != "2" {
                    // Makes the flags of an entry longer.
                    repository.git(&["update-index", "--skip-worktree", "sub/link"]);
                }
                for name in &names {
                    assert!(repository.tracks(name), "{format} {version} {name}");
                }
                for other in [OWN, "link", "settings.json", "sub", "nnnnnnnnnnnnnnnnnnnnn", "txt"] {
                    assert!(!repository.tracks(other), "{format} {version} {other}");
                }
            }
        }
    }

    fn hash_of_nothing(format: &str) -> &'static str {
        match format {
            "sha1" => "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391",
            _ => "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813",
        }
    }

    #[test]
    fn an_index_that_cannot_be_read_to_its_end_may_hold_anything() {
        let repository = Repository::new(&[]);
        repository.put("a");
        repository.git(&["add", "."]);
        assert!(!repository.tracks(OWN));
        repository.git(&["update-index", "--split-index"]);
        assert!(repository.tracks(OWN), "the entries are in another file");
        repository.git(&["update-index", "--no-split-index"]);
        assert!(!repository.tracks(OWN));
        let whole = fs::read(repository.index()).unwrap();
        for length in 0..whole.len() {
            fs::write(repository.index(), &whole[..length]).unwrap();
            assert!(repository.tracks(OWN), "{length} of {}", whole.len());
        }
        let mut newer = whole.clone();
        newer[7] = 9;
        fs::write(repository.index(), newer).unwrap();
        assert!(repository.tracks(OWN));
        fs::remove_file(repository.index()).unwrap();
        fs::create_dir(repository.index()).unwrap();
        assert!(repository.tracks(OWN), "not readable is not the same as not there");
    }

    #[test]
    fn a_folder_of_a_sparse_index_holds_its_files() {
        let repository = Repository::new(&[]);
        for name in ["kept/a", "away/deep/b"] {
            repository.put(name);
        }
        repository.git(&["add", "."]);
        repository.git(&["commit", "--quiet", "-m", "x"]);
        repository.git(&["sparse-checkout", "set", "--cone", "--sparse-index", "kept"]);
        assert!(repository.tracks("kept/a") && repository.tracks("away/deep/b"));
        assert!(!repository.tracks(OWN) && !repository.tracks("awayward"));
    }
}
