//! What a run does after it has answered: nobody waits for it, and it may fail without a loss.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tidegate_core::event::{EventKind, SessionId};
use tidegate_core::feature::config::Config;
use tidegate_core::feature::knowledge::boundary::Boundary;
use tidegate_core::feature::knowledge::compaction;
use tidegate_core::feature::knowledge::handoff::Steps;
use tidegate_core::feature::marks::{Mark, PressureLevel};
use tidegate_core::feature::verdict::Effect;
use tidegate_core::feature::workflow::standing::Owned;
use tidegate_core::feature::worktree::kept::Kept;
use tidegate_core::host::answer::Reply;
use tidegate_core::meter::Reading;
use tidegate_core::pipeline::ruling::Outcome;
use tidegate_core::time::Millis;
use tidegate_state::feature::knowledge::boundary;
use tidegate_state::feature::knowledge::json;
use tidegate_state::feature::knowledge::json::{
    ConfidenceSummary, LastCompact, ProgressSummary, SurvivalSummary,
};
use tidegate_state::feature::knowledge::read::Folder;
use tidegate_state::feature::knowledge::{handoff, memory, write};
use tidegate_state::feature::memory::spool;
use tidegate_state::feature::memory::spool::Starts;
use tidegate_state::feature::{cycle, pressure as pressure_file, workflow, worktree};
use tidegate_state::journal::friction;
use tidegate_state::journal::friction::Reach;
use tidegate_state::place::StateDir;
use tidegate_state::session::marks;
use tidegate_state::{config, journal};

use crate::child;
use crate::gather::{Gathered, cycle_root};

/// A reply, and what can wait until it is given.
#[derive(Default)]
pub(crate) struct Answer {
    pub(crate) reply: Reply,
    pub(crate) later: Vec<Later>,
}

impl From<Reply> for Answer {
    fn from(reply: Reply) -> Answer {
        Answer { reply, later: Vec::new() }
    }
}

/// One such piece of work.
pub(crate) enum Later {
    /// Bring the public copy of the pressure up to date.
    Publish { root: PathBuf, session: SessionId, reading: Reading, level: PressureLevel, now: Millis },
    /// Remember what is true at a boundary.
    NoteBoundary { folder: PathBuf, boundary: Box<Boundary> },
    /// Bring the public copy of the last compaction up to date.
    PublishCompaction { root: PathBuf, session: SessionId, boundary: Box<Boundary> },
    /// Move old entries of the flow to the archive.
    TidyFlow { state: StateDir, root: PathBuf, now: Millis },
    /// Remember that a person was told of a set of entries.
    Nudged { state: StateDir, root: PathBuf, set: u64 },
    /// Copy what only a worktree holds.
    KeepWorktree(Kept),
    /// Put the cycle's file aside.
    SetCycleAside { state: StateDir, root: PathBuf, old: Vec<u8> },
    /// Remember that this session was told how to resume the cycle.
    ResumeTold { state: StateDir, root: PathBuf, session: SessionId },
    /// Bring the public copy of the budget up to date.
    PublishBudget { root: PathBuf, session: SessionId, used_pct: f64, now: Millis },
    /// A manifest belongs to this session from now on.
    OwnManifest { state: StateDir, root: PathBuf, owned: Owned },
    /// Note in a manifest that a compaction followed the end of a phase.
    NoteCompaction { state: StateDir, root: PathBuf, manifest: PathBuf, key: String },
    /// Write a handoff.
    WriteHandoff {
        state: StateDir,
        root: PathBuf,
        session: SessionId,
        config: Box<Config>,
        work: Vec<Steps>,
        now: Millis,
    },
    /// Clear away what is too old.
    KeepHouse { state: StateDir, session: SessionId, now: Millis, days: u64 },
    /// Remember that the person knows of policies that stepped down.
    Told { state: StateDir, root: PathBuf, policies: Vec<String>, now: Millis },
    /// Let policies step down that the client was once more started without.
    StepDown { state: StateDir, config: Box<Config>, root: PathBuf, now: Millis },
    /// Keep copies of config files that can be read, for a time when they cannot.
    KeepConfig { state: StateDir, user: Option<PathBuf>, root: Option<PathBuf> },
    /// See that a worker runs, if something waits for one: what was just left does.
    StartWorker { state: StateDir, ignored: Vec<String>, starts: Starts, left: bool, now: Millis },
    /// Have a backend asked about a prompt, by a process of its own.
    AskBackend { session: SessionId, prompt: String, at: Millis },
}

/// The client waits until we end: what is read is bounded to what takes about a tenth of a second.
const REACH: Reach = Reach { days: 7, of_a_day: 1024 * 1024 };

impl Later {
    pub(crate) fn carry_out(self) {
        match self {
            Later::Publish { root, session, reading, level, now } => {
                let _ = pressure_file::write(&root, &session, &reading, level, now);
            }
            Later::NoteBoundary { folder, boundary: noted } => {
                let _ = boundary::write(&folder, &noted);
            }
            Later::PublishCompaction { root, session, boundary } => {
                publish_compaction(&root, &session, &boundary);
            }
            Later::TidyFlow { state, root, now } => {
                let folder = Folder::of(&root);
                let _ = folder.map(|folder| write::trim(&state, &folder, compaction::KEPT_ENTRIES, now));
            }
            Later::Nudged { state, root, set } => {
                let _ = memory::remember_nudged(&state, &root, set);
            }
            Later::KeepWorktree(kept) => {
                let _ = worktree::keep(Path::new(&kept.worktree), Path::new(&kept.copy));
            }
            Later::SetCycleAside { state, root, old } => {
                let _ = cycle::set_aside(&state, &root, &old);
            }
            Later::ResumeTold { state, root, session } => {
                let _ = cycle::remember_told(&state, &root, &session);
            }
            Later::PublishBudget { root, session, used_pct, now } => {
                let _ = cycle::publish_budget(&root, &session, used_pct, now);
            }
            Later::OwnManifest { state, root, owned } => {
                let _ = workflow::own(&state, &root, &owned);
            }
            Later::NoteCompaction { state, root, key, manifest } => {
                let _ = workflow::note_compaction(&state, &root, &manifest, &key);
            }
            Later::WriteHandoff { state, root, session, config, work, now } => {
                let known = marks::read(&state.session(&session));
                let of = known.value().map(|marks| (&session, marks));
                let handoff = handoff::collect(&state, &root, &config, of, work, now);
                if !handoff.is_empty() {
                    let _ = handoff::write(&state, &root, &handoff, Some(&session));
                }
            }
            Later::KeepHouse { state, session, now, days } => {
                journal::keep_house(&state, &session, now, days);
            }
            Later::Told { state, root, policies, now } => {
                let _ = friction::told(&state, now, &root, &policies);
            }
            Later::StepDown { state, config, root, now } => {
                let _ = friction::step_down(&state, now, &config, &root, &config.off, REACH);
            }
            Later::KeepConfig { state, user, root } => {
                config::keep_copies(&state, user.as_deref(), root.as_deref());
            }
            Later::StartWorker { state, ignored, starts, left, now } => {
                let waits = left || spool::has_jobs(&state);
                if waits && spool::worker_is_due(&state, now, starts).unwrap_or_default() {
                    start_worker(&state, &ignored);
                }
            }
            Later::AskBackend { session, prompt, at } => ask_backend(&session, &prompt, at),
        }
    }
}

/// Starts a worker and leaves it. In a group of its own: what ends with the client must not end it. A variable that a
/// repository set must not tell it where the store is.
fn start_worker(state: &StateDir, ignored: &[String]) {
    let Ok(program) = std::env::current_exe() else { return };
    let mut command = Command::new(program);
    // Nor must it hold on to a folder that somebody wants to remove.
    command.current_dir(state.root());
    for name in ignored {
        command.env_remove(name);
    }
    command.arg("worker").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    child::in_a_group(&mut command);
    let _ = command.spawn();
}

/// Starts the process and leaves it: the client waits for us, and a model takes seconds. Its output goes nowhere, so that the
/// client does not wait for that either.
fn ask_backend(session: &SessionId, prompt: &str, at: Millis) {
    let Ok(program) = std::env::current_exe() else { return };
    let mut command = Command::new(program);
    command.args(["phase", "ask", "--session", session.as_str(), "--prompt-at", &at.0.to_string()]);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    child::in_a_group(&mut command);
    let Ok(mut child) = command.spawn() else { return };
    // Less than a pipe holds, so this does not wait.
    if let Some(mut stdin) = child.stdin.take() {
        let _ = stdin.write_all(prompt.as_bytes());
    }
}

/// `last-compact.json`, where the project has that folder.
fn publish_compaction(root: &Path, session: &SessionId, boundary: &Boundary) {
    let Some(folder) = Folder::of(root) else { return };
    let number = |count: usize| count as u64;
    let compact = LastCompact {
        timestamp: boundary.noted.iso_seconds(),
        session_id: Some(session.to_string()),
        compound_run: boundary.promoted(),
        trigger: Some(boundary.trigger.clone()),
        progress_summary: ProgressSummary {
            entry_count: number(boundary.entries),
            recent_headings: boundary.headings.clone(),
        },
        confidence_summary: ConfidenceSummary {
            total_entries: number(boundary.confidence.total),
            avg_confirmed: boundary.confidence.average,
            unverified_count: number(boundary.confidence.unverified),
        },
        survival: boundary.survival.as_ref().map(|survival| SurvivalSummary {
            kept: number(survival.kept),
            of: number(survival.of),
            lost: survival.lost.iter().map(|fact| fact.text.clone()).collect(),
        }),
    };
    // What became of a boundary is known later than that it was; another session may have had one since.
    let newer = |last: &LastCompact| {
        last.session_id != compact.session_id
            && Millis::from_iso(&last.timestamp).is_some_and(|at| at > boundary.noted)
    };
    if boundary.survival.is_none() || !json::last_compact(&folder).value().is_some_and(newer) {
        let _ = json::write_last_compact(&folder, &compact);
    }
}

/// The prompt that a backend is to be asked about, if the event left that mark.
pub(crate) fn question(gathered: &Gathered<'_>, marks: &[Mark]) -> Option<Later> {
    let event = gathered.facts.event;
    let at = marks.iter().find_map(|mark| match mark {
        Mark::PhaseAsked(at) => Some(*at),
        _ => None,
    })?;
    let prompt = event.free_prompt()?.into_owned();
    Some(Later::AskBackend { session: event.session.clone(), prompt, at })
}

/// What the person was told about policies that stepped down.
pub(crate) fn told(state: &StateDir, gathered: &Gathered<'_>, outcome: &Outcome) -> Option<Later> {
    let policies: Vec<String> = outcome
        .effects
        .iter()
        .filter_map(|effect| match effect {
            Effect::StepDownTold(policy) => Some(policy.clone()),
            _ => None,
        })
        .collect();
    let root = gathered.root.clone().filter(|_| !policies.is_empty())?;
    Some(Later::Told { state: state.clone(), root, policies, now: gathered.facts.now })
}

/// What the ruling wants done, but for marks.
pub(crate) fn effects(
    state: &StateDir,
    folder: &Path,
    config: &Config,
    gathered: &Gathered<'_>,
    outcome: &Outcome,
) -> Vec<Later> {
    let Gathered { facts, root, .. } = gathered;
    let (session, now) = (&facts.event.session, facts.now);
    let cycle_root = || cycle_root(facts, root.as_deref()).map(Path::to_owned);
    let later = |effect: &Effect| match effect {
        Effect::Mark(_) | Effect::StepDownTold(_) | Effect::Cycle(_) | Effect::Spool(_) => None,
        Effect::StartWorker => {
            let turn = facts.event.kind == EventKind::Stop;
            let starts = if turn { Starts::OnceAMinute } else { Starts::AnyTime };
            let left = outcome.effects.iter().any(|effect| matches!(effect, Effect::Spool(_)));
            let (state, ignored) = (state.clone(), gathered.ignored.clone());
            Some(Later::StartWorker { state, ignored, starts, left, now })
        }
        Effect::OwnManifest { project, manifest } => Some(Later::OwnManifest {
            state: state.clone(),
            root: project.into(),
            owned: Owned { manifest: manifest.clone(), owner: session.to_string(), at: now },
        }),
        Effect::NoteCompaction { manifest, section } => Some(Later::NoteCompaction {
            state: state.clone(),
            root: facts.marks.value()?.workflow.as_ref()?.project.as_str().into(),
            manifest: manifest.into(),
            key: section.clone(),
        }),
        Effect::SetCycleAside(old) => {
            Some(Later::SetCycleAside { state: state.clone(), root: cycle_root()?, old: old.clone() })
        }
        Effect::ResumeTold => {
            Some(Later::ResumeTold { state: state.clone(), root: cycle_root()?, session: session.clone() })
        }
        Effect::PublishBudget => Some(Later::PublishBudget {
            root: cycle_root()?,
            session: session.clone(),
            used_pct: facts.meter.reading()?.used_pct()?,
            now,
        }),
        Effect::WriteHandoff(work) => Some(Later::WriteHandoff {
            state: state.clone(),
            root: root.clone()?,
            session: session.clone(),
            config: Box::new(config.clone()),
            work: work.clone(),
            now,
        }),
        Effect::NoteBoundary(boundary) => {
            Some(Later::NoteBoundary { folder: folder.to_owned(), boundary: boundary.clone() })
        }
        Effect::PublishPressure(level) => Some(Later::Publish {
            root: root.clone()?,
            session: session.clone(),
            reading: facts.meter.reading()?.clone(),
            level: *level,
            now,
        }),
        Effect::PublishCompaction(boundary) => Some(Later::PublishCompaction {
            root: root.clone()?,
            session: session.clone(),
            boundary: boundary.clone(),
        }),
        Effect::TidyFlow => Some(Later::TidyFlow { state: state.clone(), root: root.clone()?, now }),
        Effect::KeepWorktree(kept) => Some(Later::KeepWorktree(kept.clone())),
        Effect::Nudged(set) => Some(Later::Nudged { state: state.clone(), root: root.clone()?, set: *set }),
    };
    outcome.effects.iter().filter_map(later).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_core::feature::marks::HandoffKnown;
    use tidegate_state::place::PlaceEnv;

    #[test]
    fn a_handoff_is_written_and_remembered() {
        let base = tempfile::tempdir().unwrap();
        let env = PlaceEnv { state_dir: Some(base.path().join("state")), ..PlaceEnv::default() };
        let (state, root) = (StateDir::open(&env).unwrap(), base.path().join("project"));
        std::fs::create_dir(&root).unwrap();
        let session = SessionId::parse("s-1").unwrap();
        let write = |work: Vec<Steps>| {
            let (state, root, session, now) = (state.clone(), root.clone(), session.clone(), Millis(7));
            let config = Box::default();
            Later::WriteHandoff { state, root, session, config, work, now }.carry_out();
        };
        let file = root.join(".claude/context/handoff.md");
        write(Vec::new());
        assert!(!root.join(".claude").exists(), "there is nothing to hand off");
        let steps = vec![("8_implementation".to_owned(), "in progress".to_owned())];
        write(vec![Steps { of: "workflow feature".into(), steps }]);
        let text = std::fs::read_to_string(file).unwrap();
        assert!(text.contains("stands: workflow feature\n\n- 8_implementation: in progress\n"), "{text}");
        let known = marks::read(&state.session(&session)).value().and_then(|marks| marks.handoff);
        assert_eq!(known, Some(HandoffKnown { at: Millis(7), wrote: true }));
    }
}
