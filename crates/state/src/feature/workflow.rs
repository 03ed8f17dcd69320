//! Manifests of workflows: read within bounds, changed under the project's lock and only if they are still as they
//! were read; and, private, the checkpoints that were passed. Links that lead out of the project are not followed.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use tidegate_core::event::{AgentWork, EventKind, SessionId};
use tidegate_core::feature::config::Config;
use tidegate_core::feature::facts::{Facts, Known};
use tidegate_core::feature::workflow::check;
use tidegate_core::feature::workflow::check::{FoundFile, NamedFile};
use tidegate_core::feature::workflow::effect::Effect;
use tidegate_core::feature::workflow::facts::{LeftWorkflow, WorkflowFacts};
use tidegate_core::feature::workflow::manifest;
use tidegate_core::feature::workflow::manifest::{
    DEVELOPMENT_FOLDERS, FEATURES_FOLDER, MANIFEST_FILE, is_manifest,
};
use tidegate_core::feature::workflow::policy::is_same_file;
use tidegate_core::feature::workflow::standing::{
    ClearedGate, ManifestOwner, ManifestTold, SeenClosed, WorkflowStanding,
};
use tidegate_core::feature::workflow::{AttachedWorkflow, Manifest};
use tidegate_core::text::tokens::estimate_tokens;
use tidegate_core::time::Millis;

use crate::feature::HookContext;
use crate::feature::knowledge::edit::{lock_project, remove_leftovers};
use crate::feature::knowledge::handoff;
use crate::file::{append, bounded, replace};
use crate::host::claude_code::skills;
use crate::host::skill_folders;
use crate::place::StateDir;
use crate::project::paths;
use crate::session::clients::is_over;
use crate::session::marks;

/// In bytes. A hook reads the manifest before an agent is spawned.
pub const LARGEST: u64 = 2 * 1024 * 1024;

pub const LARGEST_OUTPUT: u64 = LARGEST_ARTIFACT;

/// The content of a larger artifact is not read.
const LARGEST_ARTIFACT: u64 = 2 * 1024 * 1024;

/// For all artifacts of a phase together.
const LARGEST_TOGETHER: u64 = 8 * 1024 * 1024;

/// The end of a longer history is enough.
const LARGEST_HISTORY: u64 = 256 * 1024;

const MOST_MANIFESTS: usize = 200;

/// Unfinished workflows named when a session starts.
const MOST_LEFT: usize = 8;

fn modified(found: &fs::Metadata) -> Option<Millis> {
    let since = found.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(Millis(u64::try_from(since.as_millis()).ok()?))
}

/// The real path of a manifest, and its path relative to the root.
pub fn locate(root: &Path, path: &Path) -> io::Result<(PathBuf, String)> {
    let real = fs::canonicalize(root.join(path))?;
    let real_root = fs::canonicalize(root)?;
    let outside = || io::Error::other(format!("{} leads out of the project", path.display()));
    let inside = paths::locate(&real, std::slice::from_ref(&real_root)).ok_or_else(outside)?;
    Ok((real, inside.name(&real_root)))
}

/// A manifest and what the session knows of it.
#[derive(Clone, Debug)]
pub struct SoughtManifest<'a> {
    pub root: &'a Path,
    /// Absolute or relative to the root.
    pub path: PathBuf,
    /// Counts if it is this manifest.
    pub attached: Option<&'a AttachedWorkflow>,
    /// Also check the files of the previous phase.
    pub left: bool,
}

/// `in_time` is asked before each file.
pub fn read(
    state: Option<&StateDir>,
    sought: &SoughtManifest<'_>,
    config: &Config,
    in_time: &dyn Fn() -> bool,
) -> Known<WorkflowStanding> {
    let SoughtManifest { root, path, attached, left } = sought;
    let (real, name) = match locate(root, path) {
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
    let (cleared_gates, owner) = state.map(|state| read_history(state, root, &name)).unwrap_or_default();
    let attached = attached.filter(|attached| attached.manifest == name).cloned();
    let mut standing = WorkflowStanding {
        root: root.to_string_lossy().into_owned(),
        path: name,
        manifest,
        written,
        files: Vec::new(),
        cleared_gates,
        owner,
        attached,
        held_elsewhere: None,
    };
    for phase in standing.phases_to_examine(*left) {
        let section = standing.manifest.as_ref().ok().and_then(|manifest| manifest.section(phase));
        let names = section.map(check::files_to_examine).unwrap_or_default();
        let files = check_files(root, &real, names, in_time);
        standing.files.push((phase, files));
    }
    Known::Value(standing)
}

fn is_gone(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// The session's workflow or, if a manifest was written, that one; at a session's start also workflows that others left.
pub(super) fn read_facts(facts: &Facts<'_>, here: &HookContext<'_>) -> WorkflowFacts {
    let starts = facts.event.kind == EventKind::SessionStart && !facts.event.follows_compaction();
    let left = if starts { find_left(here) } else { Vec::new() };
    let attached = facts.marks.value().and_then(|marks| marks.workflow.attached.as_ref());
    let work = facts.event.agent_work();
    let recovered = work.filter(|_| attached.is_none()).and_then(|_| recover(here)).map(Box::new);
    let attached = attached.or(recovered.as_deref());
    let forks = match work {
        Some(AgentWork::Skill(name)) if attached.is_some() => {
            let folders = skill_folders(facts.event.host, here.root, here.place, here.plugin);
            skills::runs_in_agent(name, &folders, here.place.host().as_deref())
        }
        _ => false,
    };
    WorkflowFacts { standing: read_standing(facts, attached, here), left, recovered, forks }
}

/// The session's workflow, if it saw gates closed that did not open since.
fn recover(here: &HookContext<'_>) -> Option<AttachedWorkflow> {
    let (state, root, session) = (here.state?, here.root?, here.session.as_str());
    let bytes = bounded::read_end(&history_file(state, root), LARGEST_HISTORY).ok()?;
    let mut known: Option<SeenClosed> = None;
    for line in bytes.split(|b| *b == b'\n').filter(|line| !line.is_empty()) {
        if let Ok(seen) = serde_json::from_slice::<SeenClosed>(line) {
            match &mut known {
                _ if seen.by != session => {}
                Some(known) if known.manifest == seen.manifest => {
                    known.closed.retain(|gate| seen.closed.iter().all(|new| new.gate != gate.gate));
                    known.closed.extend(seen.closed);
                }
                known => *known = Some(seen),
            }
        } else if let Ok(owned) = serde_json::from_slice::<ManifestOwner>(line) {
            known = known.filter(|known| !owned.owner.is_empty() || known.manifest != owned.manifest);
        } else if let (Some(known), Ok(cleared)) = (&mut known, serde_json::from_slice::<ClearedGate>(line))
            && cleared.manifest == known.manifest
        {
            known.closed.retain(|gate| gate.gate != cleared.gate);
        }
    }
    let SeenClosed { manifest, workflow, closed, .. } = known.filter(|known| !known.closed.is_empty())?;
    let of = here.config.policies.workflow_gate.workflow(&workflow).map_or(0, |found| found.phases.len());
    let project = root.to_string_lossy().into_owned();
    let mut recovered = AttachedWorkflow { project, manifest, workflow, of, ..AttachedWorkflow::default() };
    for gate in closed {
        recovered.close(gate);
    }
    Some(recovered)
}

fn read_standing(
    facts: &Facts<'_>,
    attached: Option<&AttachedWorkflow>,
    here: &HookContext<'_>,
) -> Known<WorkflowStanding> {
    let Some(root) = attached.map(|attached| Path::new(&attached.project)).or(here.root) else {
        return Known::Absent;
    };
    let bound = attached.map(|attached| attached.manifest.clone());
    let writes = facts.event.kind == EventKind::PostToolUse;
    let path = if writes { written_manifest(facts, bound.as_deref()) } else { bound };
    let sought = |path: &str, left| SoughtManifest { root, path: Path::new(path).to_owned(), attached, left };
    let look_up = |path: &str, left| read(here.state, &sought(path, left), here.config, here.in_time);
    let Some(path) = path else { return Known::Absent };
    let mut known = look_up(&path, writes);
    if let (Known::Value(standing), Some(attached)) = (&mut known, attached)
        && standing.path != attached.manifest
    {
        let bound = look_up(&attached.manifest, false);
        let kept = attached.gate_to_keep(&bound, here.session.as_str(), here.now);
        standing.held_elsewhere = kept.map(|gate| gate.number);
    }
    known
}

/// Unfinished workflows of this project that another session of this machine attached last, newest first. That of the session
/// above comes before all others: its checkpoints count here, however many were left since.
fn find_left(here: &HookContext<'_>) -> Vec<LeftWorkflow> {
    let (Some(state), Some(root)) = (here.state, here.root) else { return Vec::new() };
    let owners = read_owners(state, root);
    let mut known = HashMap::new();
    let mut others: Vec<(ManifestOwner, bool)> = Vec::new();
    for owned in owners {
        if owned.owner != here.session.as_str() && !owned.owner.is_empty() && (here.in_time)() {
            let is_above = || is_above(here, state, &owned.owner);
            let is_above = *known.entry(owned.owner.clone()).or_insert_with(is_above);
            others.push((owned, is_above));
        }
    }
    others.sort_by_key(|(_, is_above)| !is_above);
    others
        .into_iter()
        .take_while(|_| (here.in_time)())
        .filter_map(|(owned, is_above)| {
            let told = count_told(state, root, &owned);
            Some(LeftWorkflow { told, is_above, ..read_left(here, state, root, &owned)? })
        })
        .take(MOST_LEFT)
        .collect()
}

/// Whether an agent of that session started the client of this one.
fn is_above(here: &HookContext<'_>, state: &StateDir, owner: &str) -> bool {
    let Ok(id) = SessionId::parse(owner) else { return false };
    let marks = marks::read(&state.session(&id));
    marks.value().is_some_and(|marks| {
        !is_over(&marks.session, here.is_running) && (here.is_started_by)(&id, &marks.session.clients)
    })
}

fn read_left(
    here: &HookContext<'_>,
    state: &StateDir,
    root: &Path,
    owned: &ManifestOwner,
) -> Option<LeftWorkflow> {
    let id = SessionId::parse(&owned.owner).ok()?;
    let marks = marks::read(&state.session(&id));
    let (attached, is_over) = match marks {
        Known::Value(marks) => {
            // It may have gone on to another one since.
            let is_this = |attached: &AttachedWorkflow| attached.manifest == owned.manifest;
            let attached = marks.workflow.attached.filter(is_this);
            (attached, is_over(&marks.session, here.is_running))
        }
        // Old sessions are deleted.
        Known::Absent => (None, true),
        Known::Broken(_) => return None,
    };
    let path = PathBuf::from(&owned.manifest);
    let sought = SoughtManifest { root, path, attached: attached.as_ref(), left: false };
    let standing = read(Some(state), &sought, here.config, here.in_time);
    let manifest = standing.value().and_then(|standing| standing.manifest.as_ref().ok());
    let attached = match (attached, standing.value(), manifest) {
        (Some(attached), ..) => attached,
        (None, Some(standing), Some(manifest)) => {
            standing.attach(manifest, None, standing.written.unwrap_or(here.now))
        }
        (None, ..) => return None,
    };
    let is_unfinished = manifest.is_some_and(|manifest| !manifest.complete) || attached.kept_gate().is_some();
    is_unfinished.then_some(LeftWorkflow { attached, standing, is_over, is_above: false, told: 0 })
}

fn written_manifest(facts: &Facts<'_>, bound: Option<&str>) -> Option<String> {
    let ours = |path: &str| is_manifest(path) || bound.is_some_and(|bound| is_same_file(path, bound));
    let paths = facts.event.written_paths(|_| false);
    if let Some(path) = paths.iter().find(|path| ours(path)) {
        return Some(path.to_string());
    }
    let written =
        facts.verification.files.iter().filter_map(|file| file.inside.clone()).find(|path| ours(path));
    // Not every program names the files that it writes; the manifest itself shows a change.
    written.or_else(|| bound.map(str::to_owned))
}

pub(super) fn carry_out(effect: &Effect, here: &HookContext<'_>) -> io::Result<()> {
    let state = here.state()?;
    match effect {
        Effect::OwnManifest { project, manifest } => {
            let (manifest, owner, at) = (manifest.clone(), here.session.to_string(), here.now);
            record_owner(state, Path::new(project), &ManifestOwner { manifest, owner, at })
        }
        Effect::NoteCompaction { project, manifest, section } => {
            note_compaction(state, Path::new(project), Path::new(manifest), section)
        }
        Effect::RememberTold { project, manifests } => {
            let told = |manifest: &String| {
                let told =
                    ManifestTold { manifest: manifest.clone(), told: here.session.to_string(), at: here.now };
                append_history(state, Path::new(project), &serde_json::to_string(&told)?)
            };
            manifests.iter().try_for_each(told)
        }
        Effect::RememberClosed { project, manifest, workflow, closed } => {
            let (manifest, workflow, closed) = (manifest.clone(), workflow.clone(), closed.clone());
            let seen = SeenClosed { manifest, workflow, closed, by: here.session.to_string() };
            record_seen_closed(state, Path::new(project), &seen)
        }
        Effect::WriteHandoff(work) => handoff::write_now(here, work.clone()),
    }
}

/// Looks below the manifest's folder, then below the root.
pub fn check_files(
    root: &Path,
    manifest: &Path,
    names: Vec<String>,
    in_time: &dyn Fn() -> bool,
) -> Vec<NamedFile> {
    let real_root = fs::canonicalize(root).unwrap_or_else(|_| root.to_owned());
    let folder = manifest.parent().unwrap_or(&real_root);
    let own = fs::canonicalize(manifest).ok();
    let mut left = LARGEST_TOGETHER;
    let mut found = |name: &str| {
        let places = [folder.join(name), real_root.join(name)];
        let Some(real) = places.iter().find_map(|place| fs::canonicalize(place).ok()) else {
            // A missing file outside of the project is reported as outside.
            let is_outside = paths::locate(&real_root.join(name), std::slice::from_ref(&real_root)).is_none()
                && paths::locate(&folder.join(name), std::slice::from_ref(&real_root)).is_none();
            return if is_outside { FoundFile::Outside } else { FoundFile::Missing };
        };
        if real != real_root && paths::locate(&real, std::slice::from_ref(&real_root)).is_none() {
            return FoundFile::Outside;
        }
        let Ok(metadata) = fs::metadata(&real) else { return FoundFile::Missing };
        if metadata.is_dir() {
            return FoundFile::Folder;
        }
        // A phase's own section counts by itself; the rest of the manifest is no output of it.
        if Some(&real) == own.as_ref() {
            return FoundFile::File { lines: 1, tokens: 0, modified: None };
        }
        let size = metadata.len();
        if !metadata.is_file() || size > LARGEST_ARTIFACT.min(left) || !in_time() {
            return FoundFile::Unread(size);
        }
        left -= size;
        let Ok(bytes) = bounded::read(&real, LARGEST_ARTIFACT) else { return FoundFile::Unread(size) };
        let text = String::from_utf8_lossy(&bytes);
        FoundFile::File {
            lines: text.lines().count(),
            tokens: estimate_tokens(&text),
            modified: modified(&metadata),
        }
    };
    names.into_iter().map(|name| NamedFile { found: found(&name), name }).collect()
}

fn history_file(state: &StateDir, root: &Path) -> PathBuf {
    state.project(root).join("gates.jsonl")
}

/// Passed or skipped gates of a manifest, oldest first, and the manifest's owner.
fn read_history(state: &StateDir, root: &Path, manifest: &str) -> (Vec<ClearedGate>, Option<String>) {
    let bytes = bounded::read_end(&history_file(state, root), LARGEST_HISTORY).unwrap_or_default();
    let lines = || bytes.split(|b| *b == b'\n');
    let owned = lines().rev().filter_map(|line| serde_json::from_slice::<ManifestOwner>(line).ok());
    let owner = owned.into_iter().find(|owned| owned.manifest == manifest).map(|owned| owned.owner);
    let known = lines().filter_map(|line| serde_json::from_slice::<ClearedGate>(line).ok());
    (known.filter(|known| known.gate > 0 && known.manifest == manifest).collect(), owner)
}

/// Sessions that heard of a manifest since its owner had it.
fn count_told(state: &StateDir, root: &Path, owned: &ManifestOwner) -> usize {
    let bytes = bounded::read_end(&history_file(state, root), LARGEST_HISTORY).unwrap_or_default();
    let told =
        bytes.split(|b| *b == b'\n').filter_map(|line| serde_json::from_slice::<ManifestTold>(line).ok());
    told.filter(|told| told.manifest == owned.manifest && told.at >= owned.at).count()
}

/// The last owner of each manifest, newest first.
fn read_owners(state: &StateDir, root: &Path) -> Vec<ManifestOwner> {
    let bytes = bounded::read_end(&history_file(state, root), LARGEST_HISTORY).unwrap_or_default();
    let lines = bytes.split(|b| *b == b'\n').rev();
    let mut owners: Vec<ManifestOwner> = Vec::new();
    for owned in lines.filter_map(|line| serde_json::from_slice::<ManifestOwner>(line).ok()) {
        if !owners.iter().any(|known| known.manifest == owned.manifest) {
            owners.push(owned);
        }
    }
    owners
}

pub fn record_owner(state: &StateDir, root: &Path, owned: &ManifestOwner) -> io::Result<()> {
    append_history(state, root, &serde_json::to_string(owned)?)
}

pub fn record_seen_closed(state: &StateDir, root: &Path, seen: &SeenClosed) -> io::Result<()> {
    append_history(state, root, &serde_json::to_string(seen)?)
}

pub fn record_cleared_gate(state: &StateDir, root: &Path, gate: &ClearedGate) -> io::Result<()> {
    append_history(state, root, &serde_json::to_string(gate)?)
}

fn append_history(state: &StateDir, root: &Path, line: &str) -> io::Result<()> {
    crate::place::make_private(&state.project(root))?;
    let mut file = append::open(&history_file(state, root))?;
    // The leading line break protects this line if a kill tore the last one.
    append::lines(&mut file, &format!("\n{line}\n"))
}

/// Fails if `change` refuses, or if another program changed the manifest meanwhile.
pub fn change(
    state: &StateDir,
    root: &Path,
    path: &Path,
    change: impl FnOnce(&str) -> Result<String, String>,
) -> io::Result<()> {
    let _lock = lock_project(state, root)?;
    let (real, _) = locate(root, path)?;
    let old = bounded::read(&real, LARGEST)?;
    let text = std::str::from_utf8(&old).map_err(|_| io::Error::other("it is not text in UTF-8"))?;
    let new = change(text).map_err(io::Error::other)?;
    if new == text {
        return Ok(());
    }
    remove_leftovers(&real);
    replace::durable_if(&real, new.as_bytes(), |path| {
        if bounded::read(path, LARGEST)? == old {
            Ok(())
        } else {
            Err(io::Error::other("another process changed it in between"))
        }
    })
}

/// Writes the result of a phase next to the manifest.
pub fn write_output(state: &StateDir, root: &Path, path: &Path, name: &str, text: &[u8]) -> io::Result<()> {
    let _lock = lock_project(state, root)?;
    if text.len() as u64 > LARGEST_OUTPUT {
        return Err(io::Error::other("too large"));
    }
    let (real, _) = locate(root, path)?;
    let file = real.with_file_name(name);
    if fs::symlink_metadata(&file).is_ok_and(|found| !found.is_file()) {
        return Err(io::Error::other("something else is there already"));
    }
    replace::durable(&file, text)
}

/// A section without room for the note stays as it is.
pub fn note_compaction(state: &StateDir, root: &Path, path: &Path, section: &str) -> io::Result<()> {
    change(state, root, path, |text| manifest::note_compacted(text, section).map_err(|why| why.to_string()))
}

/// Returns the path below the root.
pub fn create(state: &StateDir, root: &Path, id: &str, text: &str) -> io::Result<String> {
    let _lock = lock_project(state, root)?;
    let name = format!("{FEATURES_FOLDER}/{id}/{MANIFEST_FILE}");
    let path = root.join(&name);
    let mut above = root.to_owned();
    for part in Path::new(&name).parent().into_iter().flat_map(Path::components) {
        above.push(part);
        match fs::symlink_metadata(&above) {
            Ok(found) if found.is_dir() => {}
            Ok(_) => return Err(io::Error::other(format!("{} is not a folder", above.display()))),
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

/// Last written first.
pub fn find_manifests(root: &Path) -> Vec<(String, Option<Millis>)> {
    let entries = |folder: PathBuf| {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten().take(MOST_MANIFESTS);
        entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect::<Vec<_>>()
    };
    let kinds = entries(root.join(".claude/.output"));
    let features = kinds.into_iter().flat_map(entries).take(MOST_MANIFESTS);
    let features = features.chain(DEVELOPMENT_FOLDERS.iter().map(|folder| root.join(folder)));
    let manifest = |folder: PathBuf| {
        let (real, name) = locate(root, &folder.join(MANIFEST_FILE)).ok()?;
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
    use tidegate_core::feature::workflow::marks::Mark;

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

        fn read(&self) -> Known<WorkflowStanding> {
            let sought =
                SoughtManifest { root: &self.root, path: self.path.clone(), attached: None, left: false };
            read(Some(&self.state), &sought, &Config::default(), &|| true)
        }

        fn standing(&self) -> WorkflowStanding {
            let Known::Value(standing) = self.read() else { panic!("{:?}", self.read()) };
            standing
        }
    }

    #[test]
    fn the_workflow_of_the_session_above_is_found_among_many() {
        let project = Project::new(TEXT);
        let (state, root) = (&project.state, project.root.as_path());
        let own = |manifest: &Path, owner: &str, at: u64| {
            let manifest = manifest.to_string_lossy().into_owned();
            let owned = ManifestOwner { manifest, owner: owner.to_owned(), at: Millis(at) };
            record_owner(state, root, &owned).unwrap();
        };
        own(&project.path, "above", 1);
        for number in 0..10 {
            let path = create(state, root, &format!("w{number}"), TEXT).unwrap();
            own(Path::new(&path), "deleted", 2 + number);
        }
        let [above, session] = ["above", "own"].map(|id| SessionId::parse(id).unwrap());
        let folder = state.session(&above);
        marks::lock_exclusive(&folder).unwrap().append(&[Mark::WorkflowLeft.into()]).unwrap();
        let (config, place) = (Config::default(), PlaceEnv::default());
        let folder = state.session(&session);
        let here = HookContext {
            now: Millis(100),
            config: &config,
            place: &place,
            state: Some(state),
            session: &session,
            folder: &folder,
            root: Some(root),
            started_in: None,
            plugin: None,
            ignored: &[],
            in_time: &|| true,
            is_running: |_| None,
            is_started_by: |id, _| id.as_str() == "above",
        };
        let left = find_left(&here);
        assert_eq!(left.len(), MOST_LEFT);
        assert_eq!(left.iter().map(|left| left.is_above).filter(|above| *above).count(), 1);
        assert!(left[0].is_above && Path::new(&left[0].attached.manifest) == project.path, "{:?}", left[0]);
        assert!(left[1].attached.manifest.contains("w9"), "the others are newest first: {:?}", left[1]);
    }

    #[test]
    fn files_are_found_beside_the_manifest_and_in_the_project() {
        let project = Project::new(TEXT);
        let found = |project: &Project| project.standing().files[0].1.clone();
        assert_eq!(
            found(&project).iter().map(|named| &named.found).collect::<Vec<_>>(),
            [&FoundFile::Missing; 2]
        );
        fs::write(project.root.join(&project.path).with_file_name("discovery.md"), "one\ntwo\n").unwrap();
        fs::create_dir(project.root.join("src")).unwrap();
        fs::write(project.root.join("src/a.rs"), "").unwrap();
        let files = found(&project);
        assert!(matches!(files[0].found, FoundFile::File { lines: 2, .. }), "{files:?}");
        assert!(matches!(files[1].found, FoundFile::File { lines: 0, tokens: 0, .. }), "{files:?}");
        assert_eq!(project.standing().path, ".claude/.output/features/x/MANIFEST.yaml");
        assert_eq!(find_manifests(&project.root).len(), 1);
    }

    #[test]
    fn a_manifest_is_no_output() {
        let project = Project::new(&TEXT.replace("[discovery.md]", "[MANIFEST.yaml, ./MANIFEST.yaml]"));
        for file in &project.standing().files[0].1[..2] {
            assert!(matches!(file.found, FoundFile::File { tokens: 0, modified: None, .. }), "{file:?}");
        }
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
        assert_eq!(project.standing().files[0].1[0].found, FoundFile::Outside);
        let looked = check_files(
            &project.root,
            &manifest,
            vec!["/etc/passwd".into(), "../../../../../x".into()],
            &|| true,
        );
        assert!(looked.iter().all(|named| named.found == FoundFile::Outside), "{looked:?}");
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
        assert_eq!(project.standing().pending_gates().len(), 1);
        let note =
            |text: &str| manifest::note_passed(text, 1, Millis(0), 9, 3).map_err(|why| why.to_string());
        change(&project.state, &project.root, &project.path, note).unwrap();
        let text = fs::read_to_string(project.root.join(&project.path)).unwrap();
        assert!(text.starts_with(TEXT) && text.contains("before_tokens: 9"), "{text}");
        // The manifest's own claim is not proof.
        assert_eq!(project.standing().pending_gates().len(), 1);
        let manifest = project.standing().path;
        let gate = ClearedGate { manifest, gate: 1, at: Millis(5), ..ClearedGate::default() };
        record_cleared_gate(&project.state, &project.root, &gate).unwrap();
        assert_eq!(project.standing().pending_gates(), []);
        // A manifest that was begun later is another one, unless it had that time when the gate was passed.
        let begun = format!("created_at: \"2099-01-01T00:00:00Z\"\n{text}");
        fs::write(project.root.join(&project.path), begun).unwrap();
        assert_eq!(project.standing().pending_gates().len(), 1);
        let created = project.standing().manifest.unwrap().created;
        record_cleared_gate(&project.state, &project.root, &ClearedGate { created, ..gate }).unwrap();
        assert_eq!(project.standing().pending_gates(), []);
    }
}
