//! What `init` does and yet does not help: each is one line for the person, and no reason to refuse.

use std::fs;
use std::path::Path;

use super::target::{Place, Target};
use super::{link, registrations, settings};
use crate::host::settings_file::{self, Content, SettingsFile};
use crate::host::{hook_shape, plugin};
use crate::project_root;

/// All of them.
pub(super) fn of_init(target: &Target) -> Vec<String> {
    let host = target.env.place.host();
    let project = (!target.is_user).then_some(target.root.as_path());
    let files = settings_file::read_all(project, host.as_deref());
    let mut warnings = Vec::new();
    if target.link.is_some() && link::is_build(&target.program) {
        let program = target.program.display();
        warnings.push(format!("{program} is a build: `cargo clean` takes it away, and the gates close"));
    }
    if let Some(file) = settings_file::disabling(&files) {
        warnings.push(format!("{} has `disableAllHooks`: no hook will run", file.path.display()));
    }
    if let Some(plugin) = plugin::find(&files, host.as_deref()) {
        let id = plugin.id;
        warnings.push(format!(
            "the plugin {id} is enabled, too: each event is answered once, but costs two processes; \
             `claude plugin disable {id}` leaves these hooks"
        ));
    }
    let shared = target.shared_settings().filter(|_| !target.shared);
    if let Some(shared) = shared.filter(|place| has_shared_hooks(place, target)) {
        warnings.push(format!(
            "{} registers the hooks already: each event is answered once, but costs two processes; \
             `tidegate uninstall` leaves those, and `tidegate init --shared` adds the status line to them",
            shared.shown.display()
        ));
    }
    warnings.extend(above(target));
    warnings.extend(files.iter().filter_map(|file| shape(file, target)));
    warnings
}

fn has_shared_hooks(place: &Place, target: &Target) -> bool {
    settings_file::text(&place.file).is_some_and(|text| settings::has_shared_hooks(&text, &target.call))
}

/// An install in a folder above, in the same repository: a client started there does not read this one, and the other way
/// round.
fn above(target: &Target) -> Option<String> {
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

/// Entries of others by which the host leaves out the whole file, and ours in it.
fn shape(file: &SettingsFile, target: &Target) -> Option<String> {
    let Content::Object(object) = &file.content else { return None };
    let faults = hook_shape::faults(object, |handler| !registrations::is_ours(handler, &target.call));
    let faults = (!faults.is_empty()).then(|| faults.join("; "))?;
    Some(format!("the client leaves out all of {}: {faults}", file.path.display()))
}
