//! Entries that `compound list` showed, and promotions that wait for a yes: in the session's folder, or the project's
//! for a terminal.
//!
//! Copies that can be made again: after a loss, a person lists or asks once more.

use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};
use tidegate_core::feature::knowledge::entry_id::EntryId;
use tidegate_core::text::fnv;
use tidegate_core::time::Millis;

use crate::file::{bounded, replace};
use crate::place;

const FILE: &str = "listed.json";
const PROMOTIONS: &str = "promotions";

/// Far more than a thousand ids, or a plan that a person would read.
const LARGEST: u64 = 1024 * 1024;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listed {
    /// A session can move to another worktree.
    pub project: String,
    pub at: Millis,
    pub ids: Vec<EntryId>,
    /// Learnings that were written or confirmed since.
    #[serde(default)]
    pub promoted: u64,
}

/// `None` if it is unreadable, or about another project.
pub fn read(folder: &Path, project: &Path) -> Option<Listed> {
    let listed: Listed = serde_json::from_slice(&bounded::read(&folder.join(FILE), LARGEST).ok()?).ok()?;
    (Path::new(&listed.project) == project).then_some(listed)
}

pub fn write(folder: &Path, listed: &Listed) -> io::Result<()> {
    place::make_private(folder)?;
    replace::copy(&folder.join(FILE), &serde_json::to_vec(listed)?)
}

pub fn digest(promotion: &[u8]) -> String {
    format!("{:016x}", fnv::hash(promotion.iter().copied()))
}

/// Kept until a person says yes.
pub fn keep_promotion(folder: &Path, promotion: &[u8]) -> io::Result<()> {
    let folder = folder.join(PROMOTIONS);
    place::make_private(&folder)?;
    replace::copy(&folder.join(digest(promotion)), promotion)
}

/// `None` if it has changed since.
pub fn read_promotion(folder: &Path, named: &str) -> Option<Vec<u8>> {
    let is_digest = named.len() == 16 && named.bytes().all(|byte| byte.is_ascii_hexdigit());
    let bytes = is_digest.then(|| bounded::read(&folder.join(PROMOTIONS).join(named), LARGEST))?.ok()?;
    (digest(&bytes) == named).then_some(bytes)
}

pub fn forget_promotion(folder: &Path, named: &str) {
    if read_promotion(folder, named).is_some() {
        let _ = std::fs::remove_file(folder.join(PROMOTIONS).join(named));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn what_was_listed_is_read_for_its_project_only() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("session");
        assert_eq!(read(&folder, Path::new("/p")), None);
        let listed = Listed {
            project: "/p".into(),
            at: Millis(5),
            ids: vec![EntryId::of("a", ""), EntryId::of("b", "")],
            promoted: 2,
        };
        write(&folder, &listed).unwrap();
        assert_eq!(read(&folder, Path::new("/p")), Some(listed));
        assert_eq!(read(&folder, Path::new("/q")), None);
        fs::write(folder.join(FILE), "{\"proj").unwrap();
        assert_eq!(read(&folder, Path::new("/p")), None);
    }

    #[test]
    fn a_promotion_is_what_its_digest_says() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let named = digest(b"[1]");
        assert_eq!(read_promotion(folder, &named), None);
        keep_promotion(folder, b"[1]").unwrap();
        assert_eq!(read_promotion(folder, &named).as_deref(), Some(&b"[1]"[..]));
        assert_eq!(read_promotion(folder, "../listed.json00"), None);
        fs::write(folder.join(PROMOTIONS).join(&named), "[2]").unwrap();
        assert_eq!(read_promotion(folder, &named), None, "somebody changed it");
        fs::write(folder.join(PROMOTIONS).join(&named), "[1]").unwrap();
        forget_promotion(folder, &named);
        assert_eq!(read_promotion(folder, &named), None);
    }
}
