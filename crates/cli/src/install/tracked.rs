//! Whether git tracks a file, without a git process: `git` may run programs that a repository names.

use std::path::Path;

use tidegate_state::file::bounded;
use tidegate_state::project::Checkout;

/// The index of a million files is below this.
const LARGEST: u64 = 256 * 1024 * 1024;

/// Paths are whole in the index up to version 3. Version 4 shortens them, and an index can be in parts: then the answer is yes, since
/// deleting a committed file is worse than keeping one.
pub(crate) fn is_tracked(checkout: &Checkout, file: &Path) -> bool {
    let Ok(below) = file.strip_prefix(&checkout.top) else { return false };
    let Ok(index) = bounded::read(&checkout.git.join("index"), LARGEST) else { return false };
    let version = index.get(4..8).map(|bytes| u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]));
    let is_whole = matches!(version, Some(2 | 3)) && !contains(&index, b"link");
    !is_whole || has_path(&index, below.as_os_str().as_encoded_bytes())
}

/// A path ends with a zero and begins after its length; in version 3 two more bytes may lie between.
fn has_path(index: &[u8], path: &[u8]) -> bool {
    let length = path.len().min(0xfff);
    let is_length = |at: Option<usize>| {
        let bytes = at.and_then(|at| index.get(at..at + 2));
        bytes.is_some_and(|bytes| usize::from(u16::from_be_bytes([bytes[0], bytes[1]]) & 0xfff) == length)
    };
    let whole = [path, b"\0"].concat();
    let found = index.windows(whole.len()).enumerate().filter(|(_, window)| *window == whole);
    found.map(|(at, _)| at).any(|at| is_length(at.checked_sub(2)) || is_length(at.checked_sub(4)))
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::fs;
    use std::process::Command;

    #[test]
    fn what_git_knows_is_known() {
        let folder = tempfile::tempdir().unwrap();
        let top = fs::canonicalize(folder.path()).unwrap();
        let git = |arguments: &[&str]| {
            let ran = Command::new("git").current_dir(&top).args(arguments).output().unwrap();
            assert!(ran.status.success(), "{ran:?}");
        };
        git(&["init", "--quiet"]);
        let checkout = Checkout::find(&top).unwrap();
        let file = top.join(".claude/settings.json");
        assert!(!is_tracked(&checkout, &file), "there is no index yet");
        fs::create_dir(top.join(".claude")).unwrap();
        fs::write(&file, "{}").unwrap();
        fs::write(top.join("other"), "").unwrap();
        git(&["add", "other"]);
        assert!(!is_tracked(&checkout, &file));
        git(&["add", ".claude"]);
        assert!(is_tracked(&checkout, &file) && !is_tracked(&checkout, &top.join("settings.json")));
        git(&["update-index", "--index-version", "4"]);
        assert!(is_tracked(&checkout, &file));
    }
}
