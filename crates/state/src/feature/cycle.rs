//! The state of a project's cycle: a file in the host's folder, changed under the project's lock and only if
//! it is still as it was read; and, private, the costs of finished cycles.
//!
//! Lock order: the session's, then the project's.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::json;
use tidegate_core::event::{EventKind, SessionId};
use tidegate_core::feature::config::Config;
use tidegate_core::feature::cycle::consent::{Base, Consent, ConsentChange};
use tidegate_core::feature::cycle::effect::{CycleStep, Effect};
use tidegate_core::feature::cycle::standing::{
    CycleOrigin, CycleStanding, LeftUnverified, StageEvidence, is_session_live,
};
use tidegate_core::feature::cycle::state::{MAX_SESSIONS_TOLD, STATE_FILE};
use tidegate_core::feature::cycle::{CycleRun, CycleState, DoneWhen, Head, Stage, StageStart, history};
use tidegate_core::feature::facts::{Facts, Known};
use tidegate_core::feature::marks::{ClientProcess, Marks};
use tidegate_core::feature::verification::words::not_verified;
use tidegate_core::text::fnv;
use tidegate_core::text::lang::Lang;
use tidegate_core::time::Millis;

use crate::feature::HookContext;
use crate::feature::knowledge::edit::{lock_project, remove_leftovers};
use crate::file::{append, bounded, replace};
use crate::place::StateDir;
use crate::project::head::{count_new_commits, read_head};
use crate::session::clients::is_over;
use crate::session::{claims, marks};

/// A copy of the budget for other tools.
pub const BUDGET: &str = ".context-budget.json";

/// Relative to the project's root.
const IN_PROJECT: &str = ".claude/dev-cycle.state.json";

const LARGEST: u64 = 256 * 1024;

/// The end of a longer history is enough.
const LARGEST_HISTORY: u64 = 512 * 1024;

const HISTORY: &str = "cycles.jsonl";

/// Of a larger promised file, size and time are compared, not the content.
const LARGEST_PROMISED: u64 = 256 * 1024;

/// Files that are kept aside.
const MOST_ASIDE: usize = 100;

/// Not through a link: a repository could point it anywhere.
fn file_path(root: &Path) -> io::Result<PathBuf> {
    let folder = root.join(".claude");
    let is_link = |path: &Path| fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink());
    let path = folder.join(STATE_FILE);
    if is_link(&folder) || is_link(&path) {
        return Err(io::Error::other(format!("{} is reached through a link", path.display())));
    }
    Ok(path)
}

/// `None` without a file.
fn read_file(root: &Path) -> io::Result<Option<Vec<u8>>> {
    // Most projects have no cycle, and this call shows it.
    let read =
        fs::symlink_metadata(root.join(IN_PROJECT)).and_then(|_| bounded::read(&file_path(root)?, LARGEST));
    match read {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

fn canonical(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

pub fn read(state: Option<&StateDir>, root: &Path, config: &Config) -> Known<CycleStanding> {
    let text = match read_file(root) {
        Ok(Some(text)) => text,
        Ok(None) => return Known::Absent,
        Err(error) => return Known::Broken(error.to_string()),
    };
    let of_project = |project: &str| canonical(Path::new(project)) == canonical(root);
    let mut standing = CycleStanding::parse(text, |name| config.policies.cycle.cycle(name), of_project);
    if let (Ok(found), Some(cycle)) = (&standing.state, &standing.cycle) {
        let auto = cycle.stages.iter().skip(1).any(|stage| stage.min_left.tokens().is_none());
        let runs = state.filter(|_| auto).map(|state| read_runs(state, root)).unwrap_or_default();
        let min_left = |at| history::min_left(&runs, &found.cycle, cycle, at);
        standing.min_left = (0..cycle.stages.len()).map(min_left).collect();
    }
    standing.consent = state.map_or_else(Consent::unknown, |state| read_consent(state, root));
    Known::Value(standing)
}

/// What the project shows of the stage under way. `works_in` is the session's own worktree.
pub fn look_for_evidence(standing: &CycleStanding, root: &Path, works_in: &Path) -> StageEvidence {
    let (Ok(state), Some(cycle)) = (&standing.state, &standing.cycle) else {
        return StageEvidence::default();
    };
    let Some(at) = cycle.position(&state.stage) else { return StageEvidence::default() };
    let progress = state.progress(&state.stage);
    let began_in = progress.and_then(|progress| progress.head.as_ref()).map(|head| Path::new(&head.root));
    let began = progress.and_then(|progress| Millis::from_iso(progress.began.as_deref()?));
    let stage = &cycle.stages[at];
    let is_written = |path: &&String| {
        let before = progress.and_then(|progress| progress.files.iter().find(|(known, _)| known == *path));
        let path = root.join(path);
        match before {
            Some((_, before)) => fingerprint(&path).is_some_and(|now| before.as_ref() != Some(&now)),
            None => is_written_since(&path, began),
        }
    };
    let began_in = began_in.filter(|_| wants_commit(stage));
    let head = began_in.and_then(read_head);
    let commits = began_in.zip(head.as_deref()).zip(began);
    let next = look_at_next(standing, at + 1, root, works_in);
    StageEvidence {
        commits: commits.and_then(|((root, head), began)| count_new_commits(root, head, began)),
        head,
        made_since: next.since.and_then(|_| count_made(&next)).unwrap_or_default(),
        next,
        written: promised_files(stage).filter(is_written).cloned().collect(),
    }
}

fn promised_files(stage: &Stage) -> impl Iterator<Item = &String> {
    stage.done_when.iter().filter_map(|sign| match sign {
        DoneWhen::File(path) => Some(path),
        _ => None,
    })
}

fn wants_commit(stage: &Stage) -> bool {
    stage.done_when.contains(&DoneWhen::Commit)
}

/// As [`look_at_start`], for the stage at `at`: a commit that was made since the one before it was done is its own.
pub fn look_at_next(standing: &CycleStanding, at: usize, root: &Path, works_in: &Path) -> StageStart {
    let (Ok(state), Some(cycle)) = (&standing.state, &standing.cycle) else { return StageStart::default() };
    let Some(stage) = cycle.stages.get(at) else { return StageStart::default() };
    let mut found = look_at_start(stage, root, works_in);
    let before = at.checked_sub(1).and_then(|before| cycle.stages.get(before));
    let is_before =
        |base: &&Base| base.run == state.started_at && before.is_some_and(|before| before.name == base.stage);
    if let (Some(base), Some(head)) = (standing.consent.base.as_ref().filter(is_before), &mut found.head)
        && base.head.root == head.root
        && base.head.commit != head.commit
    {
        (*head, found.since) = (base.head.clone(), Some(base.at));
    }
    found
}

/// The project when a stage before a publishing one is done.
pub fn look_at_base(state: &CycleState, works_in: &Path, now: Millis) -> Option<Base> {
    let head = Head { commit: read_head(works_in)?, root: works_in.to_string_lossy().into_owned() };
    Some(Base { run: state.started_at.clone(), stage: state.stage.clone(), head, at: now })
}

/// Commits since a stage's base; one where no log tells.
fn count_made(start: &StageStart) -> Option<usize> {
    let (head, since) = (start.head.as_ref()?, start.since?);
    let root = Path::new(&head.root);
    Some(count_new_commits(root, &read_head(root)?, since).unwrap_or(1))
}

/// What is owed in the project; where nothing is noted, no person has ordered a cycle.
pub fn read_consent(state: &StateDir, root: &Path) -> Consent {
    let bytes = bounded::read(&consent_file(state, root), LARGEST).ok();
    bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_else(Consent::unknown)
}

fn consent_file(state: &StateDir, root: &Path) -> PathBuf {
    state.project(root).join("cycle-consent.json")
}

pub fn change_consent(state: &StateDir, root: &Path, changes: &[ConsentChange]) -> io::Result<Consent> {
    crate::place::make_private(&state.project(root))?;
    let _lock = lock_project(state, root)?;
    let known = read_consent(state, root);
    let new = changes.iter().fold(known.clone(), |known, change| known.after(change));
    if new != known {
        replace::copy(&consent_file(state, root), &serde_json::to_vec(&new)?)?;
    }
    Ok(new)
}

/// What the stage is compared with at its end.
pub fn look_at_start(stage: &Stage, root: &Path, works_in: &Path) -> StageStart {
    let commit = Some(works_in).filter(|_| wants_commit(stage)).and_then(read_head);
    let of = |commit| Head { commit, root: works_in.to_string_lossy().into_owned() };
    let file = |path: &String| (path.clone(), fingerprint(&root.join(path)));
    StageStart { head: commit.map(of), files: promised_files(stage).map(file).collect(), since: None }
}

/// `None` without a file, or if it is empty.
fn fingerprint(path: &Path) -> Option<String> {
    let found = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    if found.len() > LARGEST_PROMISED {
        let at = found.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
        return Some(format!("{}-{}", found.len(), at.as_millis()));
    }
    let text = bounded::read(path, LARGEST_PROMISED).ok().filter(|text| !text.trim_ascii().is_empty())?;
    Some(format!("{:016x}", fnv::hash(text)))
}

/// For stages that version 0.1 began. To the second: file systems round their times.
fn is_written_since(path: &Path, began: Option<Millis>) -> bool {
    let Ok(found) = fs::metadata(path) else { return false };
    let written = found.modified().ok().and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok());
    let is_new = began.zip(written).is_none_or(|(began, written)| written.as_secs() >= began.0 / 1000);
    found.is_file() && found.len() > 0 && is_new
}

/// Whether this session is still running.
pub fn is_live(
    state: &StateDir,
    session: &str,
    now: Millis,
    is_running: fn(ClientProcess) -> Option<bool>,
) -> bool {
    let Ok(id) = SessionId::parse(session) else { return false };
    let marks = marks::read(&state.session(&id));
    is_live_by(marks.value(), state, &id, now, is_running)
}

/// The same, for who has read the session's marks.
pub fn is_live_by(
    marks: Option<&Marks>,
    state: &StateDir,
    session: &SessionId,
    now: Millis,
    is_running: fn(ClientProcess) -> Option<bool>,
) -> bool {
    let is_over = marks.is_some_and(|marks| is_over(&marks.session, is_running));
    !is_over && is_session_live(marks, claims::last_heard(&state.session(session)), now)
}

/// It names a session that this machine never had, or whose state was deleted since: nothing tells the two apart.
pub fn is_foreign(state: &StateDir, found: &CycleState) -> bool {
    let session = found.session_id.as_deref().and_then(|id| SessionId::parse(id).ok());
    session.is_some_and(|session| marks::read(&state.session(&session)) == Known::Absent)
}

/// What another session that has the cycle left unverified.
fn read_unverified(
    state: &StateDir,
    standing: &CycleStanding,
    session: &SessionId,
) -> Option<LeftUnverified> {
    let owner = SessionId::parse(standing.state.as_ref().ok()?.session_id.as_deref()?).ok()?;
    if owner == *session {
        return None;
    }
    let marks = marks::read(&state.session(&owner));
    let left = marks.value()?.verification.changes.as_ref()?;
    Some(LeftUnverified { en: not_verified(Lang::En, left), ja: not_verified(Lang::Ja, left) })
}

/// Holds a hash of the state file from elsewhere that a person heard of last.
fn foreign_file(state: &StateDir, root: &Path) -> PathBuf {
    state.project(root).join("foreign-cycle")
}

fn is_foreign_told(state: &StateDir, root: &Path, text: &[u8]) -> bool {
    let told = bounded::read(&foreign_file(state, root), 64).unwrap_or_default();
    told.trim_ascii() == format!("{:016x}", fnv::hash(text.iter().copied())).as_bytes()
}

/// Finished cycles of this project, oldest first.
pub fn read_runs(state: &StateDir, root: &Path) -> Vec<CycleRun> {
    CycleRun::parse_history(
        &bounded::read_end(&history_file(state, root), LARGEST_HISTORY).unwrap_or_default(),
    )
}

/// Finished cycles of all projects, oldest first in each.
pub fn read_all_runs(state: &StateDir) -> Vec<CycleRun> {
    let projects = fs::read_dir(state.projects()).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = projects.map(|project| project.path().join(HISTORY)).collect();
    files.sort();
    let history = |file: PathBuf| bounded::read_end(&file, LARGEST_HISTORY).unwrap_or_default();
    files.into_iter().flat_map(|file| CycleRun::parse_history(&history(file))).collect()
}

fn history_file(state: &StateDir, root: &Path) -> PathBuf {
    state.project(root).join(HISTORY)
}

/// The project in which the cycle was started, wherever the session is now.
fn root_of<'a>(project: Option<&'a str>, here: &HookContext<'a>) -> Option<&'a Path> {
    project.map(Path::new).or(here.root)
}

pub(super) fn read_facts(facts: &Facts<'_>, here: &HookContext<'_>) -> Known<CycleStanding> {
    let stage = facts.marks.value().and_then(|marks| marks.cycle.stage.as_ref());
    let Some(root) = root_of(stage.and_then(|stage| stage.project.as_deref()), here) else {
        return Known::Absent;
    };
    let mut known = read(here.state, root, here.config);
    if facts.event.kind == EventKind::SessionStart
        && let (Known::Value(standing), Some(state)) = (&mut known, here.state)
    {
        let owner = standing.other_owner(here.session.as_str());
        standing.owner_gone = owner.is_some_and(|owner| !is_live(state, owner, here.now, here.is_running));
        standing.unverified = read_unverified(state, standing, here.session);
        if standing.state.as_ref().is_ok_and(|found| is_foreign(state, found)) {
            let is_told = is_foreign_told(state, root, &standing.text);
            standing.origin = if is_told { CycleOrigin::ElsewhereTold } else { CycleOrigin::Elsewhere };
        }
    }
    let ends = facts.event.kind == EventKind::Stop
        || facts.event.kind == EventKind::UserPromptSubmit && stage.is_some_and(|stage| stage.done);
    if ends && let Known::Value(standing) = &mut known {
        standing.evidence = look_for_evidence(standing, root, here.root.unwrap_or(root));
    }
    known
}

pub(super) fn carry_out(effect: &Effect, here: &HookContext<'_>) -> io::Result<()> {
    let state = here.state()?;
    let root = |project: &Option<String>| {
        let root = root_of(project.as_deref(), here);
        root.map(Path::to_owned).ok_or_else(|| io::Error::other("no project"))
    };
    match effect {
        Effect::Step(step) => take_step(state, &root(&step.project)?, step),
        Effect::SetAside { project, old } => set_aside(state, &root(project)?, old).map(drop),
        Effect::ForeignTold { project, text } => {
            let root = root(project)?;
            crate::place::make_private(&state.project(&root))?;
            replace::copy(
                &foreign_file(state, &root),
                format!("{:016x}\n", fnv::hash(text.iter().copied())).as_bytes(),
            )
        }
        Effect::Consent { project, change } => {
            change_consent(state, &root(project)?, std::slice::from_ref(change)).map(drop)
        }
        Effect::ResumeTold { project } => remember_told(state, &root(project)?, here.session),
        Effect::PublishBudget { project, used_pct } => {
            publish_budget(&root(project)?, here.session, *used_pct, here.now)
        }
    }
}

/// Fails if the file has changed since the decision.
fn take_step(state: &StateDir, root: &Path, step: &CycleStep) -> io::Result<()> {
    change(state, root, |now| {
        if now != Some(step.old.as_slice()) {
            return Err(io::Error::other("the cycle was changed in between"));
        }
        Ok(CycleChange { new: step.new.clone(), ended: step.ended.clone() })
    })
}

#[derive(Clone, Debug, Default)]
pub struct CycleChange {
    /// `None` deletes the file.
    pub new: Option<CycleState>,
    /// Added to the history before the file changes.
    pub ended: Option<CycleRun>,
}

/// `decide` gets the current content. The history is written first: a crash in between loses no finished cycle, and
/// readers ignore duplicates.
pub fn change(
    state: &StateDir,
    root: &Path,
    decide: impl FnOnce(Option<&[u8]>) -> io::Result<CycleChange>,
) -> io::Result<()> {
    let _lock = lock_project(state, root)?;
    let path = file_path(root)?;
    let old = read_file(root)?;
    let CycleChange { new, ended } = decide(old.as_deref())?;
    let new = new.map(|new| new.to_text());
    if new.as_ref().is_some_and(|text| text.len() as u64 > LARGEST) {
        // The next read would refuse it.
        return Err(io::Error::other("it would be too large"));
    }
    if let Some(run) = ended {
        let mut history = append::open(&history_file(state, root))?;
        // The leading line break protects this line if a kill tore the last one.
        append::lines(&mut history, &format!("\n{}\n", serde_json::to_string(&run)?))?;
    }
    let Some(new) = new else {
        // Only a copy, and outdated now.
        let _ = fs::remove_file(root.join(".claude").join(BUDGET));
        return match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        };
    };
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    remove_leftovers(&path);
    replace::durable_if(&path, new.as_bytes(), |_| {
        if read_file(root)? == old {
            Ok(())
        } else {
            Err(io::Error::other("the cycle was changed in between"))
        }
    })
}

/// Moves the file aside under a free name, if its content is still `old`.
pub fn set_aside(state: &StateDir, root: &Path, old: &[u8]) -> io::Result<Option<PathBuf>> {
    let _lock = lock_project(state, root)?;
    let path = file_path(root)?;
    if read_file(root)?.as_deref() != Some(old) {
        return Ok(None);
    }
    let names = (1..=MOST_ASIDE).map(|number| match number {
        1 => path.with_file_name(format!("{STATE_FILE}.bad")),
        _ => path.with_file_name(format!("{STATE_FILE}.bad.{number}")),
    });
    let aside = replace::keep_as(&path, names, |_| false)?;
    match fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(Some(aside)),
    }
}

pub fn remember_told(state: &StateDir, root: &Path, session: &SessionId) -> io::Result<()> {
    change(state, root, |now| {
        let known = now.and_then(|now| CycleState::parse(now).ok());
        let mut known = known.ok_or_else(|| io::Error::other("there is no cycle any more"))?;
        let told = &mut known.resume_told;
        if told.len() < MAX_SESSIONS_TOLD && !told.iter().any(|told| told == session.as_str()) {
            told.push(session.to_string());
        }
        Ok(CycleChange { new: Some(known), ended: None })
    })
}

#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct FixLoop {
    /// The id of the loop.
    of: String,
    count: u64,
}

/// The loop of a stage.
pub fn fix_loop_of(state: &CycleState) -> String {
    format!("{} {}", state.run_id(), state.stage)
}

/// Rounds that were counted so far.
pub fn fix_rounds(state: &StateDir, root: &Path, of: &str) -> u64 {
    let known = read_fix_loops(&fix_loop_file(state, root)).into_iter().find(|known| known.of == of);
    known.map_or(0, |known| known.count)
}

/// Stages of this run count from 0 again.
pub fn forget_fix_loops(state: &StateDir, root: &Path, run: &CycleState) -> io::Result<()> {
    let _lock = lock_project(state, root)?;
    let (path, of_run) = (fix_loop_file(state, root), format!("{} ", run.run_id()));
    let mut loops = read_fix_loops(&path);
    let before = loops.len();
    loops.retain(|known| !known.of.starts_with(&of_run));
    if loops.len() == before { Ok(()) } else { replace::copy(&path, &serde_json::to_vec(&loops)?) }
}

fn fix_loop_file(state: &StateDir, root: &Path) -> PathBuf {
    state.project(root).join("fix-loop.json")
}

fn read_fix_loops(path: &Path) -> Vec<FixLoop> {
    let bytes = bounded::read(path, LARGEST).ok();
    bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
}

/// Several sessions of a project can each be in a loop.
const LOOPS_KEPT: usize = 32;

/// Returns the number of rounds; `None` if the limit was reached before.
pub fn count_fix_loop(
    state: &StateDir,
    root: &Path,
    of: &str,
    limit: u64,
    reset: bool,
) -> io::Result<Option<u64>> {
    let _lock = lock_project(state, root)?;
    let path = fix_loop_file(state, root);
    let mut loops = read_fix_loops(&path);
    let known = loops.iter().position(|known| known.of == of).map(|at| loops.remove(at));
    let before = known.filter(|_| !reset).map_or(0, |known| known.count);
    if before >= limit {
        return Ok(None);
    }
    loops.push(FixLoop { of: of.to_owned(), count: before + 1 });
    loops.drain(..loops.len().saturating_sub(LOOPS_KEPT));
    crate::place::make_private(&state.project(root))?;
    replace::copy(&path, &serde_json::to_vec(&loops)?)?;
    Ok(Some(before + 1))
}

/// Written only while there is a cycle.
pub fn publish_budget(root: &Path, session: &SessionId, used_pct: f64, now: Millis) -> io::Result<()> {
    let path = file_path(root)?;
    if !path.is_file() {
        return Ok(());
    }
    let remaining = ((100.0 - used_pct).max(0.0) * 10.0).round() / 10.0;
    let text = json!({ "remaining": remaining, "ts": now.0 / 1000, "sessionId": session.as_str() });
    replace::copy(&path.with_file_name(BUDGET), format!("{text}\n").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place::PlaceEnv;
    use tidegate_core::feature::config::layer::{Assignment, Layer, Origin};
    use tidegate_core::feature::cycle::marks::Mark as CycleMark;
    use tidegate_core::feature::cycle::{Cycle, CycleStatus};
    use tidegate_core::settings::section::Voice;

    struct Project {
        _base: tempfile::TempDir,
        state: StateDir,
        root: PathBuf,
    }

    impl Project {
        fn new(text: &str) -> Project {
            let base = tempfile::tempdir().unwrap();
            let env = PlaceEnv { state_dir: Some(base.path().join("state")), ..PlaceEnv::default() };
            let root = base.path().join("project");
            fs::create_dir_all(root.join(".claude")).unwrap();
            fs::write(root.join(".claude").join(STATE_FILE), text).unwrap();
            Project { state: StateDir::open(&env).unwrap(), root, _base: base }
        }

        fn names(&self) -> Vec<String> {
            let files = fs::read_dir(self.root.join(".claude")).unwrap();
            let mut names: Vec<String> =
                files.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
            names.sort();
            names
        }
    }

    #[test]
    fn nothing_is_changed_that_was_not_looked_at() {
        let project = Project::new(r#"{"stage": "audit"}"#);
        let mut new = CycleState::default();
        new.begin_stage("ship", Millis(0), None, StageStart::default());
        let step = CycleStep {
            old: br#"{"stage": "sprint"}"#.to_vec(),
            new: Some(new),
            ended: None,
            mark: CycleMark::StageLeft,
            project: None,
        };
        assert!(take_step(&project.state, &project.root, &step).is_err());
        let step = CycleStep { old: br#"{"stage": "audit"}"#.to_vec(), ..step };
        take_step(&project.state, &project.root, &step).unwrap();
        let Known::Value(standing) = read(Some(&project.state), &project.root, &Config::default()) else {
            panic!()
        };
        let state = CycleState::parse(&standing.text).unwrap();
        assert_eq!((state.stage.as_str(), state.status), ("ship", CycleStatus::Running));
        assert_eq!(project.names(), [STATE_FILE]);
    }

    #[test]
    fn what_nobody_could_read_again_is_not_written() {
        let project = Project::new(r#"{"stage": "audit"}"#);
        let mut new = CycleState::default();
        new.begin_stage("audit", Millis(0), None, StageStart::default());
        new.metrics.insert("log".into(), "x".repeat(300_000).into());
        let refused =
            change(&project.state, &project.root, |_| Ok(CycleChange { new: Some(new), ended: None }));
        assert_eq!(refused.unwrap_err().to_string(), "it would be too large");
        assert!(matches!(read(None, &project.root, &Config::default()), Known::Value(_)));
    }

    #[test]
    fn loops_are_counted_apart() {
        let project = Project::new("{}");
        let count = |of: &str, reset| count_fix_loop(&project.state, &project.root, of, 2, reset).unwrap();
        let rounds = ["a", "b", "a", "b", "a", "b"].map(|of| count(of, false));
        assert_eq!(rounds, [Some(1), Some(1), Some(2), Some(2), None, None]);
        assert_eq!((count("a", true), count("b", false)), (Some(1), None));
        for other in 0..100 {
            count(&other.to_string(), false);
        }
        assert_eq!(count("b", false), Some(1), "long ago");
        assert_eq!(["b", "new"].map(|of| fix_rounds(&project.state, &project.root, of)), [1, 0]);
    }

    #[test]
    fn promised_files_are_those_of_this_stage() {
        let project = Project::new(
            r#"{"stage": "a", "stages": {"a": {"began_at": "2026-11-17T12:00:00.500Z"}}, "cycle": "c"}"#,
        );
        let files = ["docs/new.md", "docs/old.md", "empty.md", "none.md"];
        let mut cycle = Cycle::default();
        cycle.stages.truncate(1);
        cycle.stages[0].name = "a".into();
        cycle.stages[0].done_when = files.map(|path| DoneWhen::File(path.into())).into();
        let origin = Origin::Line("config.toml".into(), 1);
        let assignments = vec![Assignment::new("cycle", "c", cycle.to_value(), origin)];
        let mut config = Config::default();
        config.apply(&Layer { voice: Voice::User, assignments });
        fs::create_dir_all(project.root.join("docs")).unwrap();
        let began = std::time::UNIX_EPOCH + std::time::Duration::from_hours(498_588);
        for (path, text, at) in [
            ("docs/new.md", "x", began),
            ("docs/old.md", "x", began - std::time::Duration::from_secs(1)),
            ("empty.md", "", began),
        ] {
            let path = project.root.join(path);
            fs::write(&path, text).unwrap();
            fs::File::options().append(true).open(&path).unwrap().set_modified(at).unwrap();
        }
        let Known::Value(standing) = read(None, &project.root, &config) else { panic!() };
        let seen = look_for_evidence(&standing, &project.root, &project.root);
        assert_eq!(seen.written, ["docs/new.md"]);
        assert_eq!((seen.head, seen.next), (None, StageStart::default()), "no stage wants a commit");
    }

    #[test]
    fn a_promised_file_has_other_content_than_before() {
        let project = Project::new("{}");
        let files = ["kept.md", "touched.md", "changed.md", "new.md", "emptied.md"];
        let stage = Stage {
            done_when: files.map(|path| DoneWhen::File(path.into())).into(),
            ..Cycle::default().stages[0].clone()
        };
        let write = |path: &str, text: &str| fs::write(project.root.join(path), text).unwrap();
        for path in ["kept.md", "touched.md", "changed.md", "emptied.md"] {
            write(path, "before");
        }
        let start = look_at_start(&stage, &project.root, &project.root);
        assert_eq!(start.files.iter().filter(|(_, print)| print.is_some()).count(), 4);
        write("touched.md", "before");
        write("changed.md", "after");
        write("new.md", "new");
        write("emptied.md", "\n");
        let mut state = CycleState::started("dev-cycle", Millis(0));
        state.begin_stage("sprint", Millis(0), None, start);
        let text = state.to_text().into_bytes();
        let mut cycle = Cycle::default();
        cycle.stages[0] = stage;
        let standing = CycleStanding::parse(text, |_| Some(cycle), |_| true);
        let seen = look_for_evidence(&standing, &project.root, &project.root);
        assert_eq!(seen.written, ["changed.md", "new.md"]);
    }

    #[test]
    fn what_ended_is_in_the_history_once() {
        let project = Project::new(r#"{"stage": "retrospective"}"#);
        publish_budget(&project.root, &SessionId::parse("s").unwrap(), 61.96, Millis(5000)).unwrap();
        let copy = fs::read_to_string(project.root.join(".claude").join(BUDGET)).unwrap();
        let copy: serde_json::Value = serde_json::from_str(&copy).unwrap();
        assert_eq!(copy, json!({ "remaining": 38.0, "ts": 5, "sessionId": "s" }));
        let run = CycleRun { id: "a".into(), ended: "complete".into(), ..CycleRun::default() };
        let over = |_: Option<&[u8]>| Ok(CycleChange { new: None, ended: Some(run.clone()) });
        change(&project.state, &project.root, over).unwrap();
        change(&project.state, &project.root, over).unwrap();
        assert_eq!(project.names(), Vec::<String>::new());
        assert_eq!(read_runs(&project.state, &project.root), std::slice::from_ref(&run));
    }

    #[test]
    fn what_is_put_aside_replaces_nothing() {
        let project = Project::new("{");
        let aside = |text: &str| set_aside(&project.state, &project.root, text.as_bytes()).unwrap();
        assert_eq!(aside("other"), None);
        assert!(aside("{").is_some());
        fs::write(project.root.join(".claude").join(STATE_FILE), "[").unwrap();
        assert!(aside("[").is_some());
        assert_eq!(project.names(), [format!("{STATE_FILE}.bad"), format!("{STATE_FILE}.bad.2")]);
        assert_eq!(fs::read(project.root.join(".claude").join(format!("{STATE_FILE}.bad"))).unwrap(), b"{");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_not_followed() {
        let project = Project::new("{}");
        let path = project.root.join(".claude").join(STATE_FILE);
        assert_eq!(path, project.root.join(IN_PROJECT));
        let victim = project.root.join("victim");
        fs::rename(&path, &victim).unwrap();
        std::os::unix::fs::symlink(&victim, &path).unwrap();
        assert!(matches!(read(None, &project.root, &Config::default()), Known::Broken(_)));
        assert!(change(&project.state, &project.root, |_| Ok(CycleChange::default())).is_err());
        assert_eq!(fs::read(&victim).unwrap(), b"{}");
        fs::remove_file(&victim).unwrap();
        assert!(
            matches!(read(None, &project.root, &Config::default()), Known::Broken(_)),
            "it leads nowhere"
        );
        assert!(change(&project.state, &project.root, |_| Ok(CycleChange::default())).is_err());
    }

    #[test]
    fn three_sessions_are_told() {
        let project =
            Project::new(r#"{"stage": "sprint", "status": "stopped", "skipped_stages": ["audit"]}"#);
        for id in ["a", "b", "a", "c", "d"] {
            remember_told(&project.state, &project.root, &SessionId::parse(id).unwrap()).unwrap();
        }
        let Known::Value(standing) = read(None, &project.root, &Config::default()) else { panic!() };
        assert_eq!(standing.state.unwrap().resume_told, ["a", "b", "c"]);
    }
}
