//! Manifests of workflows: read within bounds, changed under the project's lock and only if they still say what was looked at;
//! and, private, which gates were let through. Nothing is read or written through a link that leads out of the project.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use tidegate_core::event::EventKind;
use tidegate_core::feature::config::Config;
use tidegate_core::feature::facts::{Facts, Known};
use tidegate_core::feature::workflow::Manifest;
use tidegate_core::feature::workflow::check;
use tidegate_core::feature::workflow::check::{Found, Named};
use tidegate_core::feature::workflow::effect::Effect;
use tidegate_core::feature::workflow::manifest;
use tidegate_core::feature::workflow::manifest::{FILE, FOLDER, is_manifest};
use tidegate_core::feature::workflow::policy::is_same;
use tidegate_core::feature::workflow::standing::{LetThrough, Owned, Standing};
use tidegate_core::text::tokens::estimate_tokens;
use tidegate_core::time::Millis;

use crate::feature::Where;
use crate::feature::knowledge::handoff;
use crate::feature::knowledge::write::{lock, sweep};
use crate::file::{append, bounded, replace};
use crate::place::StateDir;
use crate::project::touched;

/// A larger manifest is not read: a hook does that before an agent is spawned.
pub const LARGEST: u64 = 2 * 1024 * 1024;

/// More is no output of a phase.
pub const LARGEST_OUTPUT: u64 = LARGEST_ARTIFACT;

/// Of a larger artifact only its size is known.
const LARGEST_ARTIFACT: u64 = 2 * 1024 * 1024;

/// So much of all artifacts of a phase is read.
const LARGEST_TOGETHER: u64 = 8 * 1024 * 1024;

/// Of a longer history the end is enough.
const LARGEST_HISTORY: u64 = 256 * 1024;

/// So many manifests of a project are looked at.
const MOST_MANIFESTS: usize = 200;

fn modified(found: &fs::Metadata) -> Option<Millis> {
    let since = found.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(Millis(u64::try_from(since.as_millis()).ok()?))
}

/// A manifest in the project: where it really is, and what it is called below the root.
pub fn place(root: &Path, path: &Path) -> io::Result<(PathBuf, String)> {
    let real = fs::canonicalize(root.join(path))?;
    let real_root = fs::canonicalize(root)?;
    let outside = || io::Error::other(format!("{} leads out of the project", path.display()));
    let inside = touched::inside(&real, std::slice::from_ref(&real_root)).ok_or_else(outside)?;
    Ok((real, inside.name(&real_root)))
}

/// Where a workflow stands. `path` is below the root, or whole. With `left` the files of the phase before the present one are
/// looked at, too. `in_time` says whether another file may be read.
pub fn read(
    state: Option<&StateDir>,
    root: &Path,
    path: &Path,
    config: &Config,
    left: bool,
    in_time: &dyn Fn() -> bool,
) -> Known<Standing> {
    let (real, name) = match place(root, path) {
        Ok(found) => found,
        Err(error) if is_gone(&error) => return Known::Absent,
        Err(error) => return Known::Broken(error.to_string()),
    };
    let text = match bounded::read(&real, LARGEST) {
        Ok(text) => text,
        Err(error) if is_gone(&error) => return Known::Absent,
        Err(error) => return Known::Broken(error.to_string()),
    };
    let written = fs::metadata(&real).ok().as_ref().and_then(modified);
    let manifest = Manifest::parse(&text, |name| config.policies.workflow_gate.workflow(name));
    let (let_through, owner) = state.map(|state| remembered(state, root, &name)).unwrap_or_default();
    let mut standing = Standing {
        root: root.to_string_lossy().into_owned(),
        path: name,
        manifest,
        written,
        files: Vec::new(),
        let_through,
        owner,
        held_elsewhere: None,
    };
    for phase in standing.to_check(left) {
        let section = standing.manifest.as_ref().ok().and_then(|manifest| manifest.section(phase));
        let names = section.map(check::named).unwrap_or_default();
        let files = look(root, &real, names, in_time);
        standing.files.push((phase, files));
    }
    Known::Value(standing)
}

fn is_gone(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Where the session's workflow stands or, where a manifest was written, that one.
pub(super) fn read_facts(facts: &Facts<'_>, here: &Where<'_>) -> Known<Standing> {
    let attached = facts.marks.value().and_then(|marks| marks.workflow.attached.as_ref());
    let Some(root) = attached.map(|attached| Path::new(&attached.project)).or(here.root) else {
        return Known::Absent;
    };
    let bound = attached.map(|attached| attached.manifest.clone());
    let writes = facts.event.kind == EventKind::PostToolUse;
    let path = if writes { written_manifest(facts, bound.as_deref()) } else { bound };
    let read =
        |path: &str, writes| self::read(here.state, root, Path::new(path), here.config, writes, here.in_time);
    let Some(path) = path else { return Known::Absent };
    let mut known = read(&path, writes);
    if let (Known::Value(standing), Some(attached)) = (&mut known, attached)
        && standing.path != attached.manifest
        && let Known::Value(bound) = read(&attached.manifest, false)
    {
        standing.held_elsewhere = bound.holds_back(here.session.as_str(), here.now);
    }
    known
}

/// The manifest that a call has written.
fn written_manifest(facts: &Facts<'_>, bound: Option<&str>) -> Option<String> {
    let ours = |path: &str| is_manifest(path) || bound.is_some_and(|bound| is_same(path, bound));
    let paths = facts.event.written_paths(|_| false);
    if let Some(path) = paths.iter().find(|path| ours(path)).or(paths.first()) {
        return Some(path.to_string());
    }
    let written =
        facts.verification.files.iter().filter_map(|file| file.inside.clone()).find(|path| ours(path));
    // Not every program says what it writes; the manifest itself shows whether something changed.
    written.or_else(|| bound.map(str::to_owned))
}

pub(super) fn carry_out(effect: &Effect, here: &Where<'_>) -> io::Result<()> {
    let state = here.state()?;
    match effect {
        Effect::OwnManifest { project, manifest } => {
            let (manifest, owner, at) = (manifest.clone(), here.session.to_string(), here.now);
            own(state, Path::new(project), &Owned { manifest, owner, at })
        }
        Effect::NoteCompaction { project, manifest, section } => {
            note_compaction(state, Path::new(project), Path::new(manifest), section)
        }
        Effect::WriteHandoff(work) => handoff::write_now(here, work.clone()),
    }
}

/// What is where these names lead: below the manifest's folder, else below the root.
pub fn look(root: &Path, manifest: &Path, names: Vec<String>, in_time: &dyn Fn() -> bool) -> Vec<Named> {
    let real_root = fs::canonicalize(root).unwrap_or_else(|_| root.to_owned());
    let folder = manifest.parent().unwrap_or(&real_root);
    let mut left = LARGEST_TOGETHER;
    let mut found = |name: &str| {
        let places = [folder.join(name), real_root.join(name)];
        let Some(real) = places.iter().find_map(|place| fs::canonicalize(place).ok()) else {
            // What is named outside of the project is not even looked for there.
            let is_outside = touched::inside(&real_root.join(name), std::slice::from_ref(&real_root))
                .is_none()
                && touched::inside(&folder.join(name), std::slice::from_ref(&real_root)).is_none();
            return if is_outside { Found::Outside } else { Found::Missing };
        };
        if real != real_root && touched::inside(&real, std::slice::from_ref(&real_root)).is_none() {
            return Found::Outside;
        }
        let Ok(metadata) = fs::metadata(&real) else { return Found::Missing };
        if metadata.is_dir() {
            return Found::Folder;
        }
        let size = metadata.len();
        if !metadata.is_file() || size > LARGEST_ARTIFACT.min(left) || !in_time() {
            return Found::Unread(size);
        }
        left -= size;
        let Ok(bytes) = bounded::read(&real, LARGEST_ARTIFACT) else { return Found::Unread(size) };
        let text = String::from_utf8_lossy(&bytes);
        Found::File {
            lines: text.lines().count(),
            tokens: estimate_tokens(&text),
            modified: modified(&metadata),
        }
    };
    names.into_iter().map(|name| Named { found: found(&name), name }).collect()
}

fn history(state: &StateDir, root: &Path) -> PathBuf {
    state.project(root).join("gates.jsonl")
}

/// The gates of a manifest that were let through, oldest first, and whose it is.
fn remembered(state: &StateDir, root: &Path, manifest: &str) -> (Vec<LetThrough>, Option<String>) {
    let bytes = bounded::read_end(&history(state, root), LARGEST_HISTORY).unwrap_or_default();
    let lines = || bytes.split(|b| *b == b'\n');
    let owned = lines().rev().filter_map(|line| serde_json::from_slice::<Owned>(line).ok());
    let owner = owned.into_iter().find(|owned| owned.manifest == manifest).map(|owned| owned.owner);
    let known = lines().filter_map(|line| serde_json::from_slice::<LetThrough>(line).ok());
    (known.filter(|known| known.gate > 0 && known.manifest == manifest).collect(), owner)
}

/// Remembers whose a manifest is now.
pub fn own(state: &StateDir, root: &Path, owned: &Owned) -> io::Result<()> {
    remember(state, root, &serde_json::to_string(owned)?)
}

/// Remembers that a gate was let through.
pub fn let_pass(state: &StateDir, root: &Path, gate: &LetThrough) -> io::Result<()> {
    remember(state, root, &serde_json::to_string(gate)?)
}

fn remember(state: &StateDir, root: &Path, line: &str) -> io::Result<()> {
    crate::place::make_private(&state.project(root))?;
    let mut file = append::open(&history(state, root))?;
    // Led by a line break, so that a line torn by a killed process does not take this one along.
    append::lines(&mut file, &format!("\n{line}\n"))
}

/// Changes a manifest. What `change` refuses is not written, nor what somebody else changed in between.
pub fn change(
    state: &StateDir,
    root: &Path,
    path: &Path,
    change: impl FnOnce(&str) -> Result<String, String>,
) -> io::Result<()> {
    let _lock = lock(state, root)?;
    let (real, _) = place(root, path)?;
    let old = bounded::read(&real, LARGEST)?;
    let text = std::str::from_utf8(&old).map_err(|_| io::Error::other("it is not text in UTF-8"))?;
    let new = change(text).map_err(io::Error::other)?;
    if new == text {
        return Ok(());
    }
    sweep(&real);
    replace::durable_if(&real, new.as_bytes(), |path| {
        if bounded::read(path, LARGEST)? == old {
            Ok(())
        } else {
            Err(io::Error::other("somebody changed it in between"))
        }
    })
}

/// Writes a file beside a manifest: what a phase came to.
pub fn write_output(state: &StateDir, root: &Path, path: &Path, name: &str, text: &[u8]) -> io::Result<()> {
    let _lock = lock(state, root)?;
    if text.len() as u64 > LARGEST_OUTPUT {
        return Err(io::Error::other("too large"));
    }
    let (real, _) = place(root, path)?;
    let file = real.with_file_name(name);
    if fs::symlink_metadata(&file).is_ok_and(|found| !found.is_file()) {
        return Err(io::Error::other("something else is there already"));
    }
    replace::durable(&file, text)
}

/// Notes that a compaction followed the end of a phase. A section that cannot hold that stays as it is.
pub fn note_compaction(state: &StateDir, root: &Path, path: &Path, section: &str) -> io::Result<()> {
    change(state, root, path, |text| manifest::note_compacted(text, section).map_err(|why| why.to_string()))
}

/// Makes the manifest of a new feature, and gives its path below the root.
pub fn create(state: &StateDir, root: &Path, id: &str, text: &str) -> io::Result<String> {
    let _lock = lock(state, root)?;
    let name = format!("{FOLDER}/{id}/{FILE}");
    let path = root.join(&name);
    let mut above = root.to_owned();
    for part in Path::new(&name).parent().into_iter().flat_map(Path::components) {
        above.push(part);
        match fs::symlink_metadata(&above) {
            Ok(found) if found.is_dir() => {}
            Ok(_) => return Err(io::Error::other(format!("{} is no folder", above.display()))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => fs::create_dir(&above)?,
            Err(error) => return Err(error),
        }
    }
    if fs::symlink_metadata(&path).is_ok() {
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, format!("{name} is there already")));
    }
    replace::durable(&path, text.as_bytes())?;
    Ok(name)
}

/// The manifests of a project, the last written first.
pub fn find(root: &Path) -> Vec<(String, Option<Millis>)> {
    let entries = |folder: PathBuf| {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten().take(MOST_MANIFESTS);
        entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect::<Vec<_>>()
    };
    let kinds = entries(root.join(".claude/.output"));
    let features = kinds.into_iter().flat_map(entries).take(MOST_MANIFESTS);
    let manifest = |folder: PathBuf| {
        let (real, name) = place(root, &folder.join(FILE)).ok()?;
        let found = fs::metadata(real).ok().filter(fs::Metadata::is_file)?;
        Some((name, modified(&found)))
    };
    let mut found: Vec<(String, Option<Millis>)> = features.filter_map(manifest).collect();
    found.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place::PlaceEnv;

    struct Project {
        _base: tempfile::TempDir,
        state: StateDir,
        root: PathBuf,
        path: PathBuf,
    }

    const TEXT: &str = "# mine\ncurrent_phase: 4\nphases:\n  3_discovery:\n    artifacts: [discovery.md]\n    summary: see src/a.rs\n";

    impl Project {
        fn new(text: &str) -> Project {
            let base = tempfile::tempdir().unwrap();
            let env = PlaceEnv { state_dir: Some(base.path().join("state")), ..PlaceEnv::default() };
            let root = base.path().join("project");
            fs::create_dir_all(&root).unwrap();
            let state = StateDir::open(&env).unwrap();
            let path = PathBuf::from(create(&state, &root, "x", text).unwrap());
            Project { state, root, path, _base: base }
        }

        fn read(&self) -> Known<Standing> {
            read(Some(&self.state), &self.root, &self.path, &Config::default(), false, &|| true)
        }

        fn standing(&self) -> Standing {
            let Known::Value(standing) = self.read() else { panic!("{:?}", self.read()) };
            standing
        }
    }

    #[test]
    fn files_are_found_beside_the_manifest_and_in_the_project() {
        let project = Project::new(TEXT);
        let found = |project: &Project| project.standing().files[0].1.clone();
        assert_eq!(
            found(&project).iter().map(|named| &named.found).collect::<Vec<_>>(),
            [&Found::Missing; 2]
        );
        fs::write(project.root.join(&project.path).with_file_name("discovery.md"), "one\ntwo\n").unwrap();
        fs::create_dir(project.root.join("src")).unwrap();
        fs::write(project.root.join("src/a.rs"), "").unwrap();
        let files = found(&project);
        assert!(matches!(files[0].found, Found::File { lines: 2, .. }), "{files:?}");
        assert!(matches!(files[1].found, Found::File { lines: 0, tokens: 0, .. }), "{files:?}");
        assert_eq!(project.standing().path, ".claude/.output/features/x/MANIFEST.yaml");
        assert_eq!(find(&project.root).len(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn links_do_not_lead_out_of_the_project() {
        use std::os::unix::fs::symlink;
        let project = Project::new(TEXT);
        let outside = project.root.with_file_name("outside.md");
        fs::write(&outside, "secret").unwrap();
        let manifest = project.root.join(&project.path);
        symlink(&outside, manifest.with_file_name("discovery.md")).unwrap();
        assert_eq!(project.standing().files[0].1[0].found, Found::Outside);
        let looked =
            look(&project.root, &manifest, vec!["/etc/passwd".into(), "../../../../../x".into()], &|| true);
        assert!(looked.iter().all(|named| named.found == Found::Outside), "{looked:?}");
        fs::remove_file(&manifest).unwrap();
        symlink(&outside, &manifest).unwrap();
        assert!(matches!(project.read(), Known::Broken(_)));
        let changed = change(&project.state, &project.root, &project.path, |_| Ok("a: 1\n".into()));
        assert!(changed.is_err());
        assert_eq!(fs::read(&outside).unwrap(), b"secret");
    }

    #[test]
    fn what_cannot_be_read_is_said() {
        let project = Project::new(TEXT);
        let path = project.root.join(&project.path);
        fs::write(&path, vec![b'a'; LARGEST as usize + 1]).unwrap();
        assert!(matches!(project.read(), Known::Broken(_)));
        fs::write(&path, b"\xff\xfe").unwrap();
        assert!(project.standing().manifest.is_err());
        fs::remove_file(&path).unwrap();
        assert_eq!(project.read(), Known::Absent);
        assert!(create(&project.state, &project.root, "x", "").is_ok());
        assert!(create(&project.state, &project.root, "x", "").is_err(), "never over what is there");
    }

    #[test]
    fn a_change_keeps_what_people_wrote_and_gates_are_remembered() {
        let project = Project::new(TEXT);
        assert_eq!(project.standing().pending().len(), 1);
        let note =
            |text: &str| manifest::note_passed(text, 1, Millis(0), 9, 3).map_err(|why| why.to_string());
        change(&project.state, &project.root, &project.path, note).unwrap();
        let text = fs::read_to_string(project.root.join(&project.path)).unwrap();
        assert!(text.starts_with(TEXT) && text.contains("before_tokens: 9"), "{text}");
        // That somebody wrote it there is no proof.
        assert_eq!(project.standing().pending().len(), 1);
        let manifest = project.standing().path;
        let gate = LetThrough { manifest, gate: 1, at: Millis(5), ..LetThrough::default() };
        let_pass(&project.state, &project.root, &gate).unwrap();
        assert_eq!(project.standing().pending(), []);
        // A manifest that was begun later is another, unless it said so when the gate was let through.
        let begun = format!("created_at: \"2099-01-01T00:00:00Z\"\n{text}");
        fs::write(project.root.join(&project.path), begun).unwrap();
        assert_eq!(project.standing().pending().len(), 1);
        let created = project.standing().manifest.unwrap().created;
        let_pass(&project.state, &project.root, &LetThrough { created, ..gate }).unwrap();
        assert_eq!(project.standing().pending(), []);
    }
}
