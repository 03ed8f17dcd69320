//! The patches of `apply_patch` in payloads.

use std::borrow::Cow;
use std::path::Path;

use crate::text::patch::patched_files;

/// Hosts' own limits for a payload are smaller.
pub(super) const PATCH_LONGEST: usize = 64 * 1024 * 1024;

/// The files of a patch, from the working directory. `None` if there are none.
pub(super) fn patched_paths<'a>(patch: &str, cwd: Option<&str>) -> Option<Vec<Cow<'a, str>>> {
    let from_cwd = |file: String| match cwd {
        Some(cwd) => Cow::Owned(Path::new(cwd).join(file).to_string_lossy().into_owned()),
        None => Cow::Owned(file),
    };
    let files = patched_files(patch);
    (!files.is_empty()).then(|| files.into_iter().map(from_cwd).collect())
}
