//! Where manifests are.

pub const MANIFEST_FILE: &str = "MANIFEST.yaml";

/// The manifests of a project, one subfolder per feature.
pub const FEATURES_FOLDER: &str = ".claude/.output/features";

/// Folders at a project's root that hold one manifest each.
pub const DEVELOPMENT_FOLDERS: [&str; 3] =
    [".feature-development", ".capability-development", ".integration-development"];

/// Every manifest below this folder belongs to a workflow.
const OUTPUT_FOLDER: &str = ".claude/.output/";

/// Belongs to a workflow by its location alone.
pub fn is_manifest(path: &str) -> bool {
    let path = path.replace('\\', "/");
    path.ends_with(&format!("/{MANIFEST_FILE}"))
        && (path.starts_with(OUTPUT_FOLDER)
            || path.contains(&format!("/{OUTPUT_FOLDER}"))
            || is_in_development_folder(&path))
}

/// Elsewhere other tools keep lists of their own under this file name.
pub fn is_feature_manifest(path: &str) -> bool {
    path.strip_prefix(FEATURES_FOLDER).is_some_and(|rest| rest.starts_with('/'))
        || is_in_development_folder(path)
}

/// In the form of [`DEVELOPMENT_FOLDERS`]: `.feature-development/MANIFEST.yaml`, at the project's root or in a
/// worktree.
fn is_in_development_folder(path: &str) -> bool {
    let Some(folder) = path.strip_suffix(&format!("/{MANIFEST_FILE}")) else { return false };
    let name = folder.rsplit('/').next().unwrap_or_default();
    DEVELOPMENT_FOLDERS.contains(&name)
}
