//! Circumstances in which an `init` does not help as expected: one line each, and no reason to refuse.

use std::fs;
use std::path::Path;

use super::link;
use super::target::Target;
use crate::bilingual::{Bilingual, both};
use crate::host::claude_code;
use crate::project_root;

pub(crate) fn of_init(target: &Target) -> Vec<Bilingual> {
    let mut warnings = Vec::new();
    if target.link.is_some() && link::is_build(&target.program) {
        warnings.push(both!(
            "{program} is a build: after `cargo clean` every edit is blocked",
            "{program} はビルド結果です。`cargo clean` すると、すべての編集がブロックされます",
            program = target.program.display()
        ));
    }
    if target.link.is_none() && link::is_in_npm_cache(&target.program) {
        warnings.push(both!(
            "{program} is in a cache: when that is cleared, every edit is blocked. Install Tidegate, then run `init` again",
            "{program} はキャッシュにあります。消去されると、すべての編集がブロックされます。Tidegate をインストールしてから `init` を実行し直してください",
            program = target.program.display()
        ));
    }
    let files = claude_code::warnings::read_settings(target);
    warnings.extend(claude_code::warnings::of_other_hooks(target, &files));
    warnings.extend(install_above(target));
    warnings.extend(claude_code::warnings::of_hook_shapes(target, &files));
    warnings
}

/// An install in a folder above, in the same repository: a client started in one of the two does not read the other.
fn install_above(target: &Target) -> Option<Bilingual> {
    let top = |folder: &Path| fs::symlink_metadata(folder.join(".git")).is_ok();
    if target.is_user || top(&target.root) {
        return None;
    }
    let depth = target.root.ancestors().position(top)?;
    let mut above = target.root.ancestors().skip(1).take(depth);
    let folder = above.find(|folder| project_root::is_installed(&target.env, folder))?;
    Some(both!(
        "{folder} has an install, too: Claude Code started there does not use this one; `tidegate uninstall` removes it",
        "{folder} にもインストールされています。そこで起動した Claude Code はこちらを使いません。外すには `tidegate uninstall`",
        folder = folder.display()
    ))
}
