//! Circumstances in which an `init` does not help as expected: one line each, and no reason to refuse.

use std::fs;
use std::path::Path;

use super::link;
use super::target::Target;
use crate::host::claude_code;
use crate::project_root;

pub(crate) fn of_init(target: &Target) -> Vec<String> {
    let mut warnings = Vec::new();
    if target.link.is_some() && link::is_build(&target.program) {
        let program = target.program.display();
        warnings.push(format!("{program} is a build: `cargo clean` takes it away, and the gates close"));
    }
    let files = claude_code::warnings::read_settings(target);
    warnings.extend(claude_code::warnings::of_other_hooks(target, &files));
    warnings.extend(install_above(target));
    warnings.extend(claude_code::warnings::of_hook_shapes(target, &files));
    warnings
}

/// An install in a folder above, in the same repository: a client started in one of the two does not read the other.
fn install_above(target: &Target) -> Option<String> {
    let top = |folder: &Path| fs::symlink_metadata(folder.join(".git")).is_ok();
    if target.is_user || top(&target.root) {
        return None;
    }
    let depth = target.root.ancestors().position(top)?;
    let mut above = target.root.ancestors().skip(1).take(depth);
    let folder = above.find(|folder| project_root::is_installed(&target.env, folder))?;
    Some(format!(
        "{} has an install, too: a client started there does not see this one; `tidegate uninstall` takes it out again",
        folder.display()
    ))
}
