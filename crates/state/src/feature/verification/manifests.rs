//! Reads the files that tell how a project is verified. Does not walk the tree: lists only named folders and those
//! above them up to the root, each within bounds.

use std::fs;
use std::path::{Path, PathBuf};

use tidegate_core::feature::verification::checks;
use tidegate_core::feature::verification::checks::SeenFile;

use crate::file::bounded;
use crate::project;

const MOST_FOLDERS: usize = 24;

const MOST_FILES: usize = 64;

/// In a larger folder, each known name is tried by itself.
const MOST_ENTRIES: usize = 512;

/// In bytes.
const LONGEST: u64 = 256 * 1024;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectManifest {
    /// Relative to the root, empty for the root itself; absolute in another root.
    pub folder: String,
    pub name: String,
    /// Read only if the content matters.
    pub text: Option<String>,
}

impl ProjectManifest {
    pub fn seen(&self) -> SeenFile<'_> {
        SeenFile { folder: &self.folder, name: &self.name, text: self.text.as_deref() }
    }
}

/// Canonical paths, the root first.
pub fn roots(root: &Path, others: &[PathBuf]) -> Vec<PathBuf> {
    let mut roots: Vec<PathBuf> = Vec::new();
    for root in std::iter::once(root).chain(others.iter().map(PathBuf::as_path)) {
        let real = fs::canonicalize(root).unwrap_or_else(|_| root.to_owned());
        if !roots.contains(&real) {
            roots.push(real);
        }
    }
    roots
}

/// Adds the worktrees of the same repository that contain some of the files.
pub fn add_worktrees(roots: &mut Vec<PathBuf>, files: &[PathBuf]) {
    for file in files {
        let outside = !roots.iter().any(|root| file.starts_with(root));
        let top = roots.first().filter(|_| outside).and_then(|root| project::worktree_of(file, root));
        roots.extend(top);
    }
}

/// The files in the first root, in each named folder, in the folders of edited files, and in all folders between.
/// Paths are relative to the first root, or absolute in another one. If all edits are in another root, its files come
/// first.
pub fn read(roots: &[PathBuf], named: &[String], edited: &[String]) -> Vec<ProjectManifest> {
    let folder_of = |file: &String| file.rsplit_once('/').map(|(folder, _)| folder.to_owned());
    let folders: Vec<String> = named.iter().cloned().chain(edited.iter().filter_map(folder_of)).collect();
    let Some(root) = roots.first() else { return Vec::new() };
    let mut wanted: Vec<(usize, &str)> = vec![(0, "")];
    for folder in folders.iter().filter(|folder| !folder.split('/').any(|part| part == "..")) {
        let top = if folder.starts_with('/') {
            let top = roots.iter().skip(1).find(|root| Path::new(folder).starts_with(root));
            let Some(top) = top.and_then(|top| top.to_str()) else { continue };
            top
        } else {
            ""
        };
        let depth = |folder: &str| folder[top.len()..].split('/').filter(|part| !part.is_empty()).count();
        let mut above = Some(folder.as_str());
        while let Some(folder) = above.filter(|folder| folder.len() >= top.len() && !folder.is_empty()) {
            if !wanted.iter().any(|(_, known)| *known == folder) {
                wanted.push((depth(folder), folder));
            }
            above = folder.rsplit_once('/').map(|(above, _)| above);
        }
    }
    // Keeps the shallow ones: a project's manifests are above its code.
    wanted.sort_by_key(|(depth, _)| *depth);
    wanted.truncate(MOST_FOLDERS);
    let first = !edited.is_empty() && edited.iter().all(|file| file.starts_with('/'));
    wanted.sort_by_key(|(_, folder)| folder.starts_with('/') != first);
    let mut manifests = Vec::new();
    for (_, folder) in wanted {
        let path = root.join(folder);
        for name in list_known_names(&path) {
            if manifests.len() == MOST_FILES {
                return manifests;
            }
            let text = checks::wants_text(&name).then(|| read_text(&path.join(&name))).flatten();
            manifests.push(ProjectManifest { folder: folder.to_owned(), name, text });
        }
    }
    manifests
}

fn list_known_names(folder: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let is_there = |name: &str| fs::metadata(folder.join(name)).is_ok_and(|found| found.is_file());
    let mut found: Vec<String> = Vec::new();
    for (number, entry) in entries.enumerate() {
        if number == MOST_ENTRIES {
            found = checks::manifest_names().filter(|name| is_there(name)).map(str::to_owned).collect();
            return found;
        }
        let Ok(entry) = entry else { continue };
        let Ok(name) = entry.file_name().into_string() else { continue };
        let known = checks::is_manifest_name(&name)
            || checks::manifest_endings().any(|ending| name.len() > ending.len() && name.ends_with(ending));
        if known && entry.file_type().is_ok_and(|kind| !kind.is_dir()) {
            found.push(name);
        }
    }
    let below = checks::manifest_names_below().iter().filter(|name| is_there(name));
    found.extend(below.map(|name| (*name).to_owned()));
    // Directory order is arbitrary.
    found.sort_unstable();
    found
}

fn read_text(path: &Path) -> Option<String> {
    String::from_utf8(bounded::read(path, LONGEST).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use tidegate_core::feature::verification::checks::{CheckKind, RunPlace, read_project};
    use tidegate_core::shell;

    use super::*;

    fn names(manifests: &[ProjectManifest]) -> Vec<String> {
        manifests.iter().map(|file| format!("{}/{}", file.folder, file.name)).collect()
    }

    #[test]
    fn only_the_named_folders_and_those_above_are_read() {
        let root = tempfile::tempdir().unwrap();
        for file in ["Cargo.toml", "src/Makefile", "web/app/package.json", "web/README.md", "other/go.mod"] {
            let path = root.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "{}").unwrap();
        }
        fs::create_dir(root.path().join("web/Makefile")).unwrap();
        let here = [root.path().to_owned()];
        let found = read(&here, &["web/app".into(), "../elsewhere".into(), "gone/for/good".into()], &[]);
        assert_eq!(names(&found), ["/Cargo.toml", "web/app/package.json"]);
        assert_eq!(found[1].text.as_deref(), Some("{}"));
        assert_eq!(names(&read(&[root.path().into()], &[], &[])), ["/Cargo.toml"]);
    }

    #[test]
    fn a_deep_folder_does_not_hide_what_stands_above_it() {
        let root = tempfile::tempdir().unwrap();
        let deep =
            "services/app/src/main/java/com/acme/shop/orders/internal/model/parts/small/a/b/c/d/e/f/g/h/i/j";
        fs::create_dir_all(root.path().join(deep)).unwrap();
        fs::write(root.path().join("services/app/pom.xml"), "").unwrap();
        fs::write(root.path().join(deep).join("pom.xml"), "").unwrap();
        let here = [root.path().to_owned()];
        let (near, far) = ("services/app/pom.xml".to_owned(), format!("{deep}/pom.xml"));
        assert_eq!(names(&read(&here, &[deep.into()], &[])), [near.clone(), far.clone()]);
        let deeper = format!("{deep}/k/l/m");
        assert_eq!(names(&read(&here, &[deeper], &[])), [near, far]);
        let lower = format!("a/{deep}/k/l/m/n/o/p");
        assert_eq!(names(&read(&here, &[], &[format!("{lower}/A.java")])), [""; 0]);
    }

    #[test]
    fn other_roots_are_read_where_something_is_named_in_them() {
        let base = tempfile::tempdir().unwrap();
        let base = fs::canonicalize(base.path()).unwrap();
        for file in ["p/Cargo.toml", "q/go.mod", "q/sub/deep/Makefile", "r/pom.xml"] {
            let path = base.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let mut roots = roots(&base.join("p"), &[base.join("q"), base.join("p/../q")]);
        add_worktrees(&mut roots, &[base.join("r/A.java")]);
        assert_eq!(roots, [base.join("p"), base.join("q")]);
        let whole = |path: &str| base.join(path).to_str().unwrap().to_owned();
        let far = [format!("{}/go.mod", whole("q")), format!("{}/Makefile", whole("q/sub/deep"))];
        let edited = [whole("q/sub/deep/x.go"), whole("r/A.java")];
        let found = names(&read(&roots, &[], &edited));
        assert_eq!(found, [&far[..], &["/Cargo.toml".to_owned()]].concat());
        let found = names(&read(&roots, &[whole("q/sub/deep")], &["src/a.rs".into()]));
        assert_eq!(found, [&["/Cargo.toml".to_owned()], &far[..]].concat());
        assert_eq!(names(&read(&roots, &[], &[])), ["/Cargo.toml"]);
    }

    #[test]
    fn a_large_folder_is_not_listed_to_its_end() {
        let root = tempfile::tempdir().unwrap();
        for number in 0..MOST_ENTRIES + 8 {
            fs::write(root.path().join(format!("{number}.txt")), "").unwrap();
        }
        fs::write(root.path().join("go.mod"), "module x").unwrap();
        assert_eq!(names(&read(&[root.path().into()], &[], &[])), ["/go.mod"]);
    }

    #[test]
    fn what_is_read_is_what_the_core_judges() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("package.json"), r#"{"scripts": {"test": "vitest run"}}"#).unwrap();
        fs::write(root.path().join("App.csproj"), "").unwrap();
        let found = read(&[root.path().into()], &[], &[]);
        let seen: Vec<SeenFile<'_>> = found.iter().map(ProjectManifest::seen).collect();
        let project = read_project(&seen);
        let place = RunPlace { roots: &["/r"], cwd: "/r", end: None, links: &[] };
        let kinds = |line: &str| -> Vec<CheckKind> {
            let script = shell::parse(line).unwrap();
            project
                .evidence(&script, place, &checks::ExtraChecks::default())
                .iter()
                .flat_map(|found| found.kinds.iter().collect::<Vec<_>>())
                .collect()
        };
        assert_eq!(kinds("npm test"), [CheckKind::Test]);
        assert_eq!(kinds("dotnet build"), [CheckKind::Typecheck, CheckKind::Build]);
        assert_eq!(kinds("cargo test"), []);
    }
}
