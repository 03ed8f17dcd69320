//! Files of released versions, read by this one, so that an upgrade loses nothing on disk. `written_by/*/README.md` says how they
//! were made.
//!
//! Most are parsed and written again, which has to give the same. This finds members that were renamed, dropped or
//! replaced by a default; unlike a snapshot of the parsed value, it does not depend on names in the code.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "whatever cannot be had ends a test")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tempfile::TempDir;
use tidegate_core::event::SessionId;
use tidegate_core::feature::POLICIES;
use tidegate_core::feature::approval::marks::ApprovalStage;
use tidegate_core::feature::config::Config;
use tidegate_core::feature::cycle::CycleState;
use tidegate_core::feature::facts::Known;
use tidegate_core::feature::knowledge::boundary::Boundary;
use tidegate_core::feature::knowledge::flow::{Progress, decisions};
use tidegate_core::feature::knowledge::stock::Stock;
use tidegate_core::feature::knowledge::{handoff, plan};
use tidegate_core::feature::marks::{Mark, Marks};
use tidegate_core::feature::memory::catalogue::{ProjectPage, TopicRecord, Undecided};
use tidegate_core::feature::memory::effect::StartWhen;
use tidegate_core::feature::memory::job::{Job, Work};
use tidegate_core::feature::workflow::check::FoundFile;
use tidegate_core::meter::sources::Bridge;
use tidegate_core::pipeline::record::Record;
use tidegate_core::text::lang::Lang;
use tidegate_core::time::Millis;
use tidegate_state::config::{Sources, switches, trust};
use tidegate_state::feature::knowledge::{
    boundary, folder::ContextFolder, listed, promotions, public_copies,
};
use tidegate_state::feature::memory::relays::{NextRelay, RelayReader};

use tidegate_state::feature::memory::{catalogue, retries, spool};
use tidegate_state::feature::workflow::SoughtManifest;
use tidegate_state::feature::{cycle, pressure as pressure_copy, workflow};
use tidegate_state::file::lock;
use tidegate_state::journal::friction;
use tidegate_state::language_model::{self as calls, CallCap};
use tidegate_state::place::{PlaceEnv, StateDir};
use tidegate_state::session::{bridge, claims, marks};
use tidegate_state::{config, journal, project};

type Read = fn(&Machine, &Path);

/// Every file has a reader here, and every reader a file. A `*` is one name of a path.
const FILES_OF_0_1_0: &[(&str, Read)] = &[
    ("app/.claude/.context-budget.json", budget),
    ("app/.claude/.output/features/search/MANIFEST.yaml", manifest),
    ("app/.claude/.output/features/search/discovery.md", manifest),
    ("app/.claude/context/compound-last-run.json", last_run),
    ("app/.claude/context/context-pressure.json", pressure),
    ("app/.claude/context/handoff.md", handoff),
    ("app/.claude/context/last-compact.json", last_compact),
    ("app/.claude/context/learnings-coding.md", stock),
    ("app/.claude/context/progress.md", flow),
    ("app/.claude/context/task_plan.md", task_plan),
    ("app/.claude/dev-cycle.state.json", cycle_under_way),
    ("app/.claude/tidegate.local.toml", project_config),
    ("app/.claude/tidegate.toml", project_config),
    ("app-stopped/.claude/dev-cycle.state.json", cycle_that_stopped),
    ("home/config.toml", user_config),
    ("marks/appended/marks", every_mark),
    ("marks/left/marks", marks_that_end_things),
    ("marks/rewritten/marks", every_mark),
    ("members/boundaries", boundary_members),
    ("members/bridge", bridge_members),
    ("members/jobs.jsonl", job_members),
    ("members/journal.jsonl", record_members),
    ("members/retries.json", retry_members),
    ("state/journal/*", the_journal),
    ("state/kept", last_cleared),
    ("state/llm-calls.json", questions),
    ("state/memory/projects/*", project_page),
    ("state/memory/retries.json", tries),
    ("state/memory/topics", topics),
    ("state/memory/undecided.json", undecided),
    ("state/off.json", switched_off),
    ("state/projects/*/cycles.jsonl", cycles_that_ended),
    ("state/projects/*/fix-loop.json", fix_loops),
    ("state/projects/*/gates.jsonl", manifest),
    ("state/projects/*/knowledge", entries_gone_through),
    ("state/projects/*/listed.json", entries_listed),
    ("state/sessions/*/boundaries", boundaries),
    ("state/sessions/*/bridge", bridges),
    ("state/sessions/*/claims", claimed_events),
    ("state/sessions/*/listed.json", entries_listed),
    ("state/sessions/*/marks", session_marks),
    ("state/spool/*.json", jobs),
    ("state/spool/worker-started", worker_started),
    ("state/summary-calls.json", summaries),
    ("state/trust/*", trusted),
    ("state/worktrees/*/*/progress.md", kept_of_a_worktree),
    ("transcripts/*", jobs),
];

#[test]
fn every_file_of_0_1_0_is_read() {
    let mut unused: BTreeSet<&str> = FILES_OF_0_1_0.iter().map(|(pattern, _)| *pattern).collect();
    let machine = Machine::of("0.1.0");
    for file in machine.files() {
        let fits = |(pattern, _): &&(&'static str, Read)| fits(pattern, &file);
        let reader = FILES_OF_0_1_0.iter().find(fits);
        let (pattern, read) = reader.unwrap_or_else(|| panic!("nothing reads {file}"));
        eprintln!("{file}");
        read(&machine, &machine.path(&file));
        unused.remove(pattern);
    }
    assert!(unused.is_empty(), "there is no file for {unused:?}");
}

fn fits(pattern: &str, file: &str) -> bool {
    let (pattern, file): (Vec<&str>, Vec<&str>) = (pattern.split('/').collect(), file.split('/').collect());
    let same = |(pattern, name): (&&str, &&str)| match pattern.strip_prefix('*') {
        Some(end) => name.ends_with(end),
        None => pattern == name,
    };
    pattern.len() == file.len() && pattern.iter().zip(&file).all(same)
}

/// The project in these files.
const APP: &str = "/home/dev/app";

/// One that edited, one in which a person approved, one that ended with its worktree.
const WORK: &str = "1f0c6a52-8d3e-4b7a-9c41-5e2d7f8a9b10";
const APPROVED: &str = "7a4b5cb9-6f8e-4d3a-824b-3e5f6a7b8c76";
const ENDED: &str = "9c2d7edb-8bb0-4f5c-a46d-5a7b8c9d0e98";

/// Shortly after all files were written.
const NOW: Millis = Millis(1_794_941_800_000);

/// A copy of the files of a version: reading may write, too.
struct Machine {
    folder: TempDir,
    state: StateDir,
}

impl Machine {
    fn of(version: &str) -> Machine {
        let folder = tempfile::tempdir().unwrap();
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/written_by").join(version);
        copy(&fixtures, folder.path());
        fs::remove_file(folder.path().join("README.md")).unwrap();
        let state = folder.path().join("state");
        let state = StateDir::open(&PlaceEnv { state_dir: Some(state), ..PlaceEnv::default() }).unwrap();
        Machine { folder, state }
    }

    fn path(&self, file: &str) -> PathBuf {
        self.folder.path().join(file)
    }

    fn files(&self) -> Vec<String> {
        let mut found = Vec::new();
        walk(self.folder.path(), &mut |path| {
            found.push(path.strip_prefix(self.folder.path()).unwrap().to_string_lossy().into_owned());
        });
        found.sort();
        found
    }

    fn session(&self, id: &str) -> PathBuf {
        self.state.session(&SessionId::parse(id).unwrap())
    }

    fn marks(&self, id: &str) -> Marks {
        marks::read(&self.session(id)).value().cloned().expect("marks")
    }

    /// A copy of the project, and the state under its path here.
    fn project(&self, name: &str) -> PathBuf {
        let root = fs::canonicalize(self.path(name)).unwrap();
        let known = self.path("state/projects").join(project::folder_name(Path::new(APP)));
        let here = self.state.project(&root);
        fs::create_dir_all(&here).unwrap();
        for file in ["cycles.jsonl", "gates.jsonl"] {
            fs::copy(known.join(file), here.join(file)).unwrap();
        }
        root
    }

    fn public(&self) -> ContextFolder {
        ContextFolder::find(&self.path("app")).expect("a folder")
    }
}

fn walk(folder: &Path, see: &mut dyn FnMut(&Path)) {
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() { walk(&entry, see) } else { see(&entry) }
    }
}

fn copy(from: &Path, to: &Path) {
    walk(from, &mut |path| {
        let to = to.join(path.strip_prefix(from).unwrap());
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(path, to).unwrap();
    });
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.is_empty())
}

/// Parses JSON, and checks that writing it gives the same.
fn same<T: DeserializeOwned + Serialize>(written: &str) -> T {
    same_but(written, |_| ())
}

/// Except for members that this version writes in another way.
fn same_but<T: DeserializeOwned + Serialize>(written: &str, change: impl FnOnce(&mut Value)) -> T {
    let parsed: T = serde_json::from_str(written).unwrap_or_else(|error| panic!("{error}: {written}"));
    let mut expected: Value = serde_json::from_str(written).unwrap();
    change(&mut expected);
    assert_eq!(serde_json::to_value(&parsed).unwrap(), expected);
    parsed
}

// Sessions.

/// 0.1.0 knew only attended and unattended.
fn person(written: &mut Value) {
    if let Some(attended) = written.get_mut("attended") {
        *attended = if *attended == json!(true) { json!("there") } else { json!("absent") };
    }
}

/// Five policies have other ids now.
fn policies(written: &mut Value) {
    const NOW: [(&str, &str); 5] = [
        ("phase", "activity"),
        ("pressure", "context-warning"),
        ("compound-nudge", "learning-reminder"),
        ("workflow-gate", "workflow"),
        ("relay-log", "recording"),
    ];
    let rename = |id: &mut Value| {
        let now = NOW.iter().find(|(former, _)| id.as_str() == Some(*former));
        if let Some((_, now)) = now {
            *id = json!(now);
        }
    };
    match written {
        Value::Array(items) => items.iter_mut().for_each(policies),
        Value::Object(members) => {
            for (name, member) in members {
                match (name.as_str(), member) {
                    ("policy", id) => rename(id),
                    ("off" | "off_by_command", Value::Array(ids)) => ids.iter_mut().for_each(rename),
                    (_, member) => policies(member),
                }
            }
        }
        _ => {}
    }
}

fn same_mark(line: &str) -> Mark {
    let mark = Mark::read(line).unwrap_or_else(|| panic!("not a mark: {line}"));
    let mut expected: Value = serde_json::from_str(line).unwrap();
    person(&mut expected);
    assert_eq!(serde_json::to_value(&mark).unwrap(), expected);
    mark
}

fn session_marks(machine: &Machine, path: &Path) {
    for line in lines(&text(path)) {
        same_mark(line);
    }
    let marks = marks::read(path.parent().unwrap()).value().cloned().expect("marks");
    assert_eq!(marks.unread, Vec::<String>::new());
    assert!(
        marks.session.began.is_some() && marks.session.root.is_some() && marks.session.transcript.is_some()
    );
    assert_eq!(Marks::fold(marks.to_lines().as_bytes()), marks);
    match path.parent().and_then(Path::file_name).unwrap().to_str().unwrap() {
        WORK => {
            let changes = marks.verification.changes.clone().expect("an edit that was not verified");
            assert_eq!(
                (changes.files, changes.held, changes.told),
                (vec!["src/login.rs".to_owned()], 1, true)
            );
            assert_eq!(marks.session.skills.len(), 2);
            assert_eq!(
                (marks.session.lang, marks.session.directories),
                (Some(Lang::Ja), vec!["/home/dev/shared-lib".into()])
            );
        }
        APPROVED => {
            let count =
                |stage| marks.approval.requests.iter().filter(|approval| approval.stage == stage).count();
            assert_eq!((count(ApprovalStage::Used), count(ApprovalStage::Asked)), (5, 2));
            let waiting = marks.approval.requests.last().unwrap();
            assert!(waiting.waits(Millis(waiting.at.0 + 1)), "{waiting:?}");
        }
        ENDED => assert!(marks.session.detached && marks.worktree.kept.is_empty()),
        _ => {}
    }
    assert_eq!(
        machine.marks("6f5a4ba8-5e7d-4c29-b13a-2d4e5f6a7b65").cycle.stage.map(|stage| stage.number),
        Some(2)
    );
    let flow = machine.marks("3c8d1e75-2b4a-4f96-8e07-9a1b2c3d4e32").workflow.attached.expect("a workflow");
    assert_eq!(flow.current().map(|phase| phase.number), Some(10));
    let topic = machine.marks("2a9b7c64-1e5f-4d08-b3a2-6c7d8e9f0a21").memory.current_topic().cloned();
    assert_eq!(topic.map(|topic| topic.topic.name).as_deref(), Some("Retry limits"));
}

/// Marks of every kind of 0.1.0, with every member, and the same after that version folded them.
fn every_mark(machine: &Machine, _: &Path) {
    let [appended, rewritten] = ["marks/appended", "marks/rewritten"]
        .map(|name| marks::read(&machine.path(name)).value().cloned().unwrap());
    assert_eq!(appended, rewritten);
    assert_eq!(appended.unread, Vec::<String>::new());
    assert_eq!(
        appended.to_lines().lines().count(),
        lines(&text(&machine.path("marks/rewritten/marks"))).count()
    );
    let mut kinds = BTreeSet::new();
    for line in lines(&text(&machine.path("marks/appended/marks"))) {
        let mark = same_mark(line);
        kinds.insert(match serde_json::to_value(&mark).unwrap() {
            Value::String(kind) => kind,
            value => value.as_object().and_then(|mark| mark.keys().next()).unwrap().clone(),
        });
    }
    assert_eq!(kinds.len(), 58);
}

fn marks_that_end_things(machine: &Machine, path: &Path) {
    let before = marks::read(&machine.path("marks/rewritten")).value().cloned().unwrap();
    assert!(
        before.cycle.stage.is_some()
            && before.workflow.attached.is_some()
            && before.knowledge.nudge.is_some()
    );
    let after = marks::read(path.parent().unwrap()).value().cloned().unwrap();
    assert_eq!(
        (after.cycle.stage, after.workflow.attached, after.knowledge.nudge, after.unread),
        (None, None, None, Vec::new())
    );
    for line in lines(&text(path)) {
        same_mark(line);
    }
}

fn bridges(_: &Machine, path: &Path) {
    for line in lines(&text(path)) {
        let _: Bridge = same(line);
    }
    let last = bridge::read(path.parent().unwrap()).unwrap();
    assert_eq!((last.used, last.window), (Some(24_000), Some(200_000)));
}

fn boundaries(_: &Machine, path: &Path) {
    for line in lines(&text(path)) {
        let _: Boundary = same(line);
    }
    let last = boundary::read(path.parent().unwrap()).unwrap();
    assert_eq!((last.facts.len(), last.named, last.trigger.as_str()), (9, 9, "auto"));
    assert_eq!(last.survival.expect("it was measured").lost.len(), 7);
}

/// A second registration of the last prompt is a duplicate, but only for a moment.
fn claimed_events(_: &Machine, path: &Path) {
    let session = path.parent().unwrap();
    let slots = fs::read(path).unwrap();
    let word = |slot: &[u8], at: usize| u64::from_le_bytes(slot[at * 8..at * 8 + 8].try_into().unwrap());
    let at = slots.chunks_exact(24).map(|slot| word(slot, 2)).max().unwrap();
    let prompt = "1f0c6a52-0000-4000-8000-000000000040";
    let ask = |via: &str, now: u64| {
        claims::is_duplicate(session, "UserPromptSubmit", prompt, via, Millis(now), lock::PATIENCE).unwrap()
    };
    assert!(ask("plugin", at), "0.1.0 answered it as `init` had registered it");
    assert!(!ask("plugin", at + 60_000));
}

// Switches, trust and consent.

fn switched_off(machine: &Machine, path: &Path) {
    let mut written: Value = serde_json::from_str(&text(path)).unwrap();
    policies(&mut written);
    let read = switches::read(&machine.state);
    assert_eq!((read.off.len(), read.stepped_down.len()), (8, 1));
    let again = read.off.iter().map(|off| serde_json::to_value(off).unwrap());
    let again = again.chain(read.stepped_down.iter().map(|down| serde_json::to_value(down).unwrap()));
    assert_eq!(again.collect::<Value>(), written);
    let (app, tools) = ([PathBuf::from(APP)], [PathBuf::from("/home/dev/tools")]);
    assert_eq!(read.off_here(NOW, &app, None), ["context-warning", "cycle"]);
    assert_eq!(read.off_here(NOW, &tools, Some(APPROVED)), ["skill-gate", "cycle"]);
    assert_eq!(read.off_here(Millis(NOW.0 + 86_400_000), &app, None), ["cycle"]);
    assert!(read.is_down("skill-gate", &tools) && !read.is_down("skill-gate", &app));
}

fn trusted(machine: &Machine, _: &Path) {
    for name in config::PROJECT_FILES {
        let now = text(&machine.path("app").join(name));
        assert!(trust::is_trusted(&machine.state, &Path::new(APP).join(name), &now), "{name}");
    }
    assert_eq!(fs::read_dir(machine.path("state/trust")).unwrap().count(), config::PROJECT_FILES.len());
}

fn entries_gone_through(machine: &Machine, _: &Path) {
    let known = promotions::read(&machine.state, Path::new(APP)).value().cloned().unwrap();
    let progress = text(&machine.path("app/.claude/context/progress.md"));
    let (entries, shown) = (Progress::parse(&progress).entries, &known.shown);
    let shown: Vec<bool> = entries.iter().map(|entry| shown.contains(&entry.id)).collect();
    assert_eq!(shown, [false, true, true]);
    assert_eq!((known.nudged.len(), known.shown_at.is_some()), (1, true));
}

fn entries_listed(machine: &Machine, path: &Path) {
    let read = listed::read(path.parent().unwrap(), Path::new(APP)).unwrap();
    assert_eq!(read, same(&text(path)));
    let progress = text(&machine.path("app/.claude/context/progress.md"));
    assert_eq!(read.ids, [Progress::parse(&progress).entries[0].id]);
}

fn user_config(machine: &Machine, path: &Path) {
    let read = config::read(&Sources { user: Some(path), state: Some(&machine.state), ..Sources::default() });
    assert_eq!(read.problems.len(), 0, "{:?}", read.problems);
    let default = Config::default();
    assert_ne!(read.policies.skill_gate, default.policies.skill_gate);
    assert_ne!(read.policies.phase, default.policies.phase);
    assert_ne!(read.memory, default.memory);
}

fn project_config(machine: &Machine, path: &Path) {
    let found = config::list_assignments(&text(path), "tidegate.toml", &Config::default());
    assert!(!found.is_empty());
    let root = machine.path("app");
    let sources = Sources { root: Some(&root), state: Some(&machine.state), ..Sources::default() };
    let waits = config::read(&sources).waiting.len();
    trust::remember(&machine.state, path, &text(path)).unwrap();
    let read = config::read(&sources);
    assert!(read.waiting.len() < waits, "trusted, it counts");
    trust::revoke(&machine.state, path).unwrap();
    assert_eq!(read.problems.len(), 0, "{:?}", read.problems);
}

fn questions(machine: &Machine, _: &Path) {
    assert_eq!(calls::count_taken(&machine.state, CallCap::Phases, NOW), 22);
    assert!(!calls::try_take(&machine.state, CallCap::Phases, NOW, 22).unwrap());
}

fn summaries(machine: &Machine, _: &Path) {
    assert_eq!(calls::count_taken(&machine.state, CallCap::Summaries, NOW), 12);
}

// Projects.

fn cycles_that_ended(machine: &Machine, path: &Path) {
    let runs = cycle::read_runs(&machine.state, Path::new(APP));
    let again: Vec<Value> = runs.iter().map(|run| serde_json::to_value(run).unwrap()).collect();
    let written: Vec<Value> = lines(&text(path)).map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(again, written);
    assert_eq!(runs.iter().map(|run| run.ended.as_str()).collect::<Vec<_>>(), ["complete", "abandoned"]);
}

fn fix_loops(machine: &Machine, path: &Path) {
    let loops: Vec<Value> = serde_json::from_str(&text(path)).unwrap();
    for counted in loops {
        let of = counted["of"].as_str().unwrap();
        let next = cycle::count_fix_loop(&machine.state, Path::new(APP), of, 9, false).unwrap();
        assert_eq!(next, counted["count"].as_u64().map(|count| count + 1));
    }
}

fn cycle_in(machine: &Machine, name: &str) -> CycleState {
    let root = machine.project(name);
    let file = root.join(".claude/dev-cycle.state.json");
    let written = text(&file);
    fs::write(&file, written.replace(APP, root.to_str().unwrap())).unwrap();
    let standing = cycle::read(Some(&machine.state), &root, &Config::default()).value().cloned().unwrap();
    assert!(standing.cycle.is_some() && !standing.min_left.is_empty());
    let state = standing.state.expect("a state");
    assert_eq!(
        state.to_text().replace(root.to_str().unwrap(), APP),
        written,
        "it is written again as it was"
    );
    fs::write(&file, written).unwrap();
    state
}

fn cycle_under_way(machine: &Machine, _: &Path) {
    let state = cycle_in(machine, "app");
    assert_eq!(
        (state.stage.as_str(), state.status.name(), state.cycle.as_str()),
        ("audit", "running", "dev-cycle")
    );
    assert_eq!(state.session_id.as_deref(), Some("6f5a4ba8-5e7d-4c29-b13a-2d4e5f6a7b65"));
    assert_eq!(state.stages.len(), 2);
}

fn cycle_that_stopped(machine: &Machine, _: &Path) {
    let state = cycle_in(machine, "app-stopped");
    assert_eq!((state.stage.as_str(), state.status.name()), ("sprint", "stopped"));
    assert_eq!(state.stopped_reason.as_deref(), Some("context_budget"));
    assert_eq!((state.skipped_stages.len(), state.remaining_pct), (3, Some(66.5)));
}

/// Only other tools read it.
fn budget(_: &Machine, path: &Path) {
    let members: Value = serde_json::from_str(&text(path)).unwrap();
    assert!(members["remaining"].is_f64() && members["ts"].is_u64() && members["sessionId"].is_string());
}

fn manifest(machine: &Machine, _: &Path) {
    let root = machine.project("app");
    let path = Path::new(".claude/.output/features/search/MANIFEST.yaml");
    let config = Config::default();
    let sought = SoughtManifest { root: &root, path: path.to_owned(), attached: None, left: true };
    let standing = workflow::read(Some(&machine.state), &sought, &config, &|| true);
    let standing = standing.value().cloned().unwrap();
    let manifest = standing.manifest.as_ref().expect("a manifest");
    assert_eq!(manifest.current, Some(10));
    assert!(manifest.passed(1).is_some() && manifest.section(8).is_some_and(|phase| phase.skipped));
    assert_eq!(standing.owner.as_deref(), Some("3c8d1e75-2b4a-4f96-8e07-9a1b2c3d4e32"));
    let cleared_gates = [1, 2, 3].map(|gate| standing.clearance(gate).map(|known| known.skipped));
    assert_eq!(cleared_gates, [Some(false), Some(true), None]);
    let discovery = workflow::check_files(&root, &root.join(path), vec!["discovery.md".into()], &|| true);
    assert!(matches!(discovery[0].found, FoundFile::File { lines: 100, .. }));
}

fn last_run(machine: &Machine, _: &Path) {
    let run = public_copies::read_last_run(&machine.public(), NOW).value().copied().unwrap();
    assert_eq!((run.at.iso_seconds().as_str(), run.promoted), ("2026-11-17T18:56:29Z", 1));
}

fn last_compact(machine: &Machine, path: &Path) {
    let read = public_copies::read_last_compact(&machine.public()).value().cloned().unwrap();
    assert_eq!(read, same(&text(path)));
}

fn pressure(machine: &Machine, path: &Path) {
    let mut expected: Value = serde_json::from_str(&text(path)).unwrap();
    expected["lastNotifiedLevel"] = json!("urgent");
    fs::write(path, expected.to_string()).unwrap();
    pressure_copy::reset_level(&machine.path("app")).unwrap();
    expected["lastNotifiedLevel"] = json!("none");
    assert_eq!(serde_json::from_str::<Value>(&text(path)).unwrap(), expected, "all else stays");
}

fn handoff(_: &Machine, path: &Path) {
    let head = handoff::HandoffHead::parse(&text(path)).expect("it is one that Tidegate wrote");
    assert_eq!(head.at.iso(), "2026-11-17T18:56:29.232Z");
    assert!(head.unchanged, "as 0.1.0 left it");
}

fn flow(_: &Machine, path: &Path) {
    let text = text(path);
    let entries = Progress::parse(&text).entries;
    let found: Vec<(&str, Vec<&str>)> = entries.iter().map(|entry| (entry.what, decisions(entry))).collect();
    let expected = [
        ("Login keeps a signed cookie", vec!["signed cookie, valid for 30 days"]),
        ("再試行の間隔を決めた", vec!["間隔は指数的に伸ばす"]),
        ("Retries are bounded", vec!["give up after 30 s instead of looping"]),
    ];
    assert_eq!(found, expected);
}

fn stock(_: &Machine, path: &Path) {
    let text = text(path);
    let stock = Stock::parse(&text);
    assert_eq!(
        (stock.entries.len(), stock.entries[0].title, stock.entries[0].count()),
        (1, "Intervals grow", 1)
    );
}

fn task_plan(_: &Machine, path: &Path) {
    let text = text(path);
    assert_eq!(plan::task_title(&text), Some("retries"));
    assert_eq!(plan::constraints(&text), ["No new dependencies in the client crate"]);
    assert_eq!(plan::open_items(&text), ["document the limits"]);
}

fn kept_of_a_worktree(_: &Machine, path: &Path) {
    assert_eq!(Progress::parse(&text(path)).entries.len(), 1);
}

// Memory.

fn topics(machine: &Machine, path: &Path) {
    let topic = |id| catalogue::read_topic(&machine.state, id).value().copied().flatten();
    let all: Vec<TopicRecord> = (1..=13).map(|id| topic(id).expect("a topic")).collect();
    let flags: Vec<(bool, bool)> = all.iter().map(|topic| (topic.automatic, topic.closed)).collect();
    assert_eq!(flags[..5], [(false, false), (false, false), (false, true), (false, false), (true, false)]);
    assert!(all[0].recorded.is_some() && all[3].recorded.is_none());
    let mut again = vec![0; 32];
    again.extend(all.iter().flat_map(TopicRecord::bytes));
    assert_eq!(again, fs::read(path).unwrap());
    assert_eq!(topic(14), None);
}

fn undecided(machine: &Machine, path: &Path) {
    let read = catalogue::read_undecided(&machine.state).value().cloned().unwrap();
    assert_eq!(read, same::<Undecided>(&text(path)));
    assert_eq!(read, catalogue::read_first_undecided(&machine.state, 9).value().cloned().unwrap());
    assert_eq!(read.topics[0].topic.name, "For the team");
}

fn project_page(machine: &Machine, path: &Path) {
    let page: ProjectPage = same(&text(path));
    assert_eq!(catalogue::read_project(&machine.state, &page.key), Known::Value(page.clone()));
    if page.project.name == "app" {
        let names: Vec<&str> = page.decisions.iter().map(|decision| decision.name.as_str()).collect();
        assert_eq!(names, ["Three attempts at most", "署名付きクッキーを使う", "Give up after 30 s"]);
    }
}

fn tries(machine: &Machine, path: &Path) {
    let read = retries::read(&machine.state);
    assert_eq!(serde_json::to_value(&read).unwrap(), serde_json::from_str::<Value>(&text(path)).unwrap());
    assert!(read.summaries.len() > 5);
}

/// Both kinds of jobs, and the part of a transcript that one of them names.
fn jobs(machine: &Machine, path: &Path) {
    let queued = spool::list(&machine.state).unwrap();
    let jobs: Vec<Job> = queued.into_iter().map(|queued| queued.job.expect("a job")).collect();
    if path.extension().is_some_and(|end| end == "json") {
        assert!(jobs.contains(&same(&text(path))));
    }
    let [Work::Relays(part), Work::Offered { topics }] = [&jobs[0].work, &jobs[1].work] else {
        panic!("{jobs:?}")
    };
    assert_eq!(topics, &[13]);
    let mut part = part.clone();
    part.transcript =
        machine.path("transcripts").join(format!("{ENDED}.jsonl")).to_string_lossy().into_owned();
    let mut reader = RelayReader::open(&part, NOW).expect("a transcript");
    while !matches!(reader.read_next().expect("a transcript"), NextRelay::End { .. }) {}
    let found = reader.finish().expect("a relay");
    assert_eq!(
        (found.relay.prompt.as_str(), found.relay.answer.as_str()),
        ("still there", "A job that waits.")
    );
}

fn worker_started(machine: &Machine, path: &Path) {
    let started = Millis(u64::from_le_bytes(fs::read(path).unwrap().try_into().unwrap()));
    let due = |at| spool::worker_is_due(&machine.state, Millis(at), StartWhen::OnceAMinute).unwrap();
    assert!(!due(started.0 + 1000) && due(started.0 + 60_001));
}

// The journal.

fn the_journal(machine: &Machine, path: &Path) {
    record_members(machine, path);
    let read = journal::read(path).unwrap();
    assert_eq!((read.records.len(), read.skipped), (lines(&text(path)).count(), 0));
    let (friction, unread) = friction::read(&machine.state, NOW, 7, u64::MAX, |_| ()).unwrap();
    assert_eq!((unread.lines, unread.files), (0, 0));
    assert!(friction.often_overridden("skill-gate", |project| project == "/home/dev/tools"));
    assert!(!friction.often_overridden("skill-gate", |project| project == APP));
    let interrupted = friction.finish(NOW);
    let known: Vec<&str> = POLICIES.iter().map(|policy| policy.id()).collect();
    assert!(interrupted.iter().all(|said| known.contains(&said.policy.as_str())));
    assert!(interrupted.iter().any(|said| said.policy == "context-warning"));
}

fn last_cleared(machine: &Machine, path: &Path) {
    let sessions = || fs::read_dir(machine.path("state/sessions")).unwrap().count();
    let (before, current) = (sessions(), SessionId::parse(WORK).unwrap());
    journal::keep_house(&machine.state, &current, NOW, 14);
    assert_eq!((sessions(), text(path).as_str()), (before, "2026-11-17"));
}

// Every member that 0.1.0 could write, including rare ones.

fn record_members(_: &Machine, path: &Path) {
    for line in lines(&text(path)) {
        let record: Record = same_but(line, |record| {
            person(record);
            policies(record);
            record["person"] = record.as_object_mut().unwrap().remove("attended").unwrap();
        });
        assert_eq!(record.v, 1);
    }
}

fn boundary_members(_: &Machine, path: &Path) {
    let _: Boundary = same(&text(path));
}

fn bridge_members(_: &Machine, path: &Path) {
    let _: Bridge = same(&text(path));
}

fn job_members(_: &Machine, path: &Path) {
    for line in lines(&text(path)) {
        let _: Job = same(line);
    }
}

fn retry_members(_: &Machine, path: &Path) {
    let _: retries::Retries = same(&text(path));
}
