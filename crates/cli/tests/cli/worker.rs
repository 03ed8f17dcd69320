//! The worker as a process: killed at any moment, without room, beside others, with whoever sums up misbehaving.

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use tidegate_core::feature::memory::job::{
    AnswerDigest, Job, JobCause, RelayProject, TranscriptPart, VERSION, Work,
};
use tidegate_core::text::fnv;
use tidegate_core::time::Millis;
use tidegate_memory::record::LogRow;
use tidegate_memory::sqlite::SqliteStore;
use tidegate_memory::store::Store;
use tidegate_memory::view::{Filter, Page};
use tidegate_state::clock;
use tidegate_state::feature::memory::{retries, spool};
use tidegate_state::place::{PlaceEnv, StateDir};

use crate::answer::Ran;
use crate::sandbox::{Running, Sandbox, install};

/// A machine with transcripts, jobs and a store.
pub(crate) struct Machine {
    pub(crate) sandbox: Sandbox,
    state: StateDir,
}

impl Machine {
    pub(crate) fn new() -> Machine {
        Machine::of(Sandbox::new())
    }

    pub(crate) fn of(sandbox: Sandbox) -> Machine {
        let env = PlaceEnv { state_dir: Some(sandbox.state()), ..PlaceEnv::default() };
        let state = StateDir::open(&env).expect("a state directory");
        // Made by the hook that starts a worker.
        fs::create_dir_all(sandbox.home().join(".local/share/tidegate/memory")).expect("a new folder");
        Machine { sandbox, state }
    }

    fn transcript(&self, session: &str) -> PathBuf {
        self.sandbox.path().join(format!("{session}.jsonl"))
    }

    /// A turn of a session: its lines, and the job for them.
    pub(crate) fn turn(&self, session: &str, uid: &str) {
        let path = self.transcript(session);
        let from = fs::metadata(&path).map_or(0, |file| file.len());
        let answer = format!("answer to {uid}");
        let mut file = OpenOptions::new().append(true).create(true).open(&path).expect("a transcript");
        file.write_all(turn(uid, &answer).as_bytes()).expect("a turn");
        self.job(session, from, Some(&answer));
    }

    /// From a minute ago: nothing more is waited for.
    fn job(&self, session: &str, from: u64, answer: Option<&str>) {
        self.job_at(Millis(clock::now().0 - 60_000), session, from, answer);
    }

    fn job_at(&self, at: Millis, session: &str, from: u64, answer: Option<&str>) {
        let path = self.transcript(session);
        let root = self.sandbox.project().to_string_lossy().into_owned();
        let hash = |text: &str| AnswerDigest { bytes: text.len() as u64, hash: fnv::hash(text.bytes()) };
        let part = TranscriptPart {
            transcript: path.to_string_lossy().into_owned(),
            from,
            to: fs::metadata(&path).map_or(from, |file| file.len()),
            because: JobCause::Stop,
            answer: answer.map(hash),
            topic: None,
            passed: None,
            project: RelayProject { key: root.clone(), name: "project".to_owned(), root, branch: None },
            lang: None,
        };
        let job = Job { v: VERSION, at, session: session.to_owned(), work: Work::Relays(part) };
        spool::put(&self.state, &job).expect("a job");
    }

    pub(crate) fn jobs(&self) -> usize {
        spool::list(&self.state).expect("a spool").len()
    }

    fn file(&self) -> PathBuf {
        self.sandbox.home().join(".local/share/tidegate/memory/memory.db")
    }

    /// All logs.
    pub(crate) fn logs(&self) -> Vec<LogRow> {
        let mut store = SqliteStore::open(&self.file()).expect("a store").store;
        let page = Page { limit: 10_000, after: None };
        store.logs(&Filter::default(), &page).expect("logs").rows.into_iter().map(|log| log.row).collect()
    }

    fn once(&self) -> Ran {
        self.sandbox.run(&["worker", "--once", "--json"])
    }

    /// Empties the queue and gives what was told.
    pub(crate) fn emptied(&self) -> Value {
        let ran = self.once();
        assert_eq!(ran.code, Some(0), "{} {}", ran.stdout, ran.stderr);
        assert_eq!(self.jobs(), 0);
        serde_json::from_str(&ran.stdout).expect("JSON")
    }

    /// These relays, each once and whole.
    pub(crate) fn holds(&self, uids: &BTreeSet<String>) {
        let logs = self.logs();
        let found: BTreeSet<String> = logs.iter().map(|log| log.uid.clone()).collect();
        assert_eq!((logs.len(), &found), (uids.len(), uids));
        for log in logs {
            assert_eq!(log.answer, format!("answer to {}", log.uid));
        }
    }
}

fn turn(uid: &str, answer: &str) -> String {
    let at = |second: u32| format!("2026-11-15T11:51:{second:02}.000Z");
    let user = json!({ "type": "user", "uuid": uid, "timestamp": at(1), "turnOrigin": "human",
        "message": { "content": format!("question {uid}") } });
    let said = json!({ "type": "assistant", "timestamp": at(2),
        "message": { "id": uid, "content": [{ "type": "text", "text": answer }] } });
    format!("{user}\n{said}\n")
}

#[test]
fn with_nothing_to_do_nothing_is_made() {
    let machine = Machine::new();
    assert_eq!(machine.emptied()["jobs"], 0);
    assert!(!machine.file().exists());
    let ran = machine.sandbox.run(&["worker"]);
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (Some(0), "", ""));
}

#[test]
fn a_worker_that_comes_too_late_makes_nothing() {
    let sandbox = Sandbox::new();
    fs::remove_dir_all(sandbox.state()).expect("it is there");
    let before = sandbox.everything();
    let ran = sandbox.run(&["worker"]);
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (Some(0), "", ""));
    assert_eq!(sandbox.everything(), before);
}

#[test]
fn a_worker_ends_with_its_home_and_does_not_make_it_again() {
    let machine = Machine::new();
    fs::write(machine.transcript("s"), turn("u", "on the way")).expect("a transcript");
    // It never arrives, so that the worker waits for it.
    machine.job_at(clock::now(), "s", 0, Some("the last answer"));
    let mut waiting = Running::start(machine.sandbox.command(&["worker"]));
    while !machine.file().exists() {
        assert!(!waiting.has_ended());
        std::thread::yield_now();
    }
    let (home, gone) = (machine.sandbox.path().to_owned(), machine.sandbox.path().with_extension("moved"));
    fs::rename(&home, &gone).expect("it can be renamed");
    fs::remove_dir_all(&gone).expect("it can be removed");
    // So that each folder of its own could be made again.
    fs::create_dir_all(machine.sandbox.home().join(".local/share/tidegate")).expect("a new folder");
    let before = machine.sandbox.everything();
    assert_eq!(waiting.end().code, Some(1));
    assert_eq!(machine.sandbox.everything(), before);
}

/// What the other tests rely on: workers that their hooks started leave nothing in the temporary folder.
#[cfg(target_os = "linux")]
#[test]
fn a_sandbox_takes_its_workers_with_it() {
    let machine = Machine::of(Sandbox::new().with("TIDEGATE_ATTENDED", "1"));
    fs::write(machine.transcript("s"), turn("u", "on the way")).expect("a transcript");
    let payload = json!({
        "session_id": "s", "hook_event_name": "Stop", "cwd": machine.sandbox.project(),
        "transcript_path": machine.transcript("s"), "last_assistant_message": "the last answer",
    });
    machine.sandbox.event(&payload).silent();
    let path = machine.sandbox.path().to_owned();
    // It works in the state directory.
    let is_worker = |process: &fs::DirEntry| {
        fs::read_link(process.path().join("cwd")).is_ok_and(|folder| folder.starts_with(&path))
    };
    let find = || fs::read_dir("/proc").expect("processes").flatten().find(is_worker);
    while !machine.file().exists() {
        std::thread::yield_now();
    }
    let worker = find().expect("a worker that waits").path();
    drop(machine);
    let runs = |worker: &Path| {
        let state = fs::read_to_string(worker.join("stat")).unwrap_or_default();
        state.rsplit_once(") ").is_some_and(|(_, state)| !state.starts_with(['Z', 'X']))
    };
    while runs(&worker) {
        std::thread::yield_now();
    }
    assert!(!path.exists(), "{}", path.display());
}

#[test]
fn a_worker_without_a_folder_for_the_memory_says_so_and_keeps_the_job() {
    let machine = Machine::new();
    machine.turn("s", "u");
    let folder = machine.sandbox.home().join(".local/share/tidegate/memory");
    fs::remove_dir(&folder).expect("it is empty");
    assert_eq!(machine.sandbox.run(&["worker"]).code, Some(1));
    assert_eq!((machine.jobs(), folder.exists()), (1, false));
    let failure = machine.sandbox.one_record()["failure"].to_string();
    assert!(failure.contains("memory is gone"), "{failure}");
    machine.emptied();
    machine.holds(&BTreeSet::from(["u".to_owned()]));
}

/// Where a worker was when it was killed.
#[derive(Clone, Copy, PartialEq)]
enum Death {
    OverJobs,
    OverSummaries,
}

/// Kills workers until so many died there; adds the relays that there were.
fn kill(machine: &Machine, wanted: Death, deaths: usize, uids: &mut BTreeSet<String>) {
    const JOBS: usize = 3;
    // How long one takes that is left alone is found out on the way: whoever gets further makes it shorter.
    let mut longest = Duration::from_millis(30);
    let (mut died, mut rounds, mut seed) = (0, 0, 7_u64);
    while died < deaths {
        rounds += 1;
        assert!(rounds <= 200 * deaths, "{died} of {deaths} died in {rounds} rounds");
        for _ in machine.jobs()..JOBS {
            let uid = format!("u{}", uids.len());
            machine.turn(&format!("s{}", uids.len() % 5), &uid);
            uids.insert(uid);
        }
        let mut command = machine.sandbox.command(&["worker"]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().expect("a worker");
        if wanted == Death::OverSummaries {
            while machine.jobs() > 0 && child.try_wait().expect("a worker").is_none() {
                std::thread::yield_now();
            }
        }
        // Some die at once, some in the middle, some not at all.
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        std::thread::sleep(longest.mul_f64((seed >> 33) as f64 / f64::from(1_u32 << 31)));
        let _ = child.kill();
        let killed = !child.wait().expect("it ends").success();
        let there = match wanted {
            Death::OverJobs => machine.jobs() > 0,
            Death::OverSummaries => {
                machine.jobs() == 0 && !retries::read(&machine.state).summaries.is_empty()
            }
        };
        longest = longest.mul_f64(if killed && there { 1.03 } else { 0.9 });
        died += usize::from(killed && there);
    }
}

#[test]
fn killed_at_any_moment_every_relay_is_there_once() {
    let machine = Machine::new();
    let mut uids = BTreeSet::new();
    kill(&machine, Death::OverJobs, 200, &mut uids);
    machine.emptied();
    machine.holds(&uids);
}

#[test]
fn killed_while_somebody_sums_up_every_relay_is_there_once_and_summed_up() {
    let machine = with_claude("calls_per_hour = 10000", Some(&prints("Title\nUser: asked / AI: answered")));
    let mut uids = BTreeSet::new();
    kill(&machine, Death::OverJobs, 20, &mut uids);
    kill(&machine, Death::OverSummaries, 20, &mut uids);
    machine.emptied();
    machine.holds(&uids);
    for log in machine.logs() {
        assert_eq!(
            (log.title.as_str(), log.summary.by.as_str(), log.summary.again),
            ("Title", "haiku", false)
        );
    }
}

#[test]
fn sixteen_sessions_that_stop_at_once() {
    let machine = Machine::of(Sandbox::new().with("TIDEGATE_ATTENDED", "1"));
    let stop = |n: usize| {
        let session = format!("session-{n}");
        let path = machine.transcript(&session);
        fs::write(&path, turn(&format!("u{n}"), &format!("answer to u{n}"))).expect("a transcript");
        let payload = json!({
            "session_id": session, "hook_event_name": "Stop", "cwd": machine.sandbox.project(),
            "transcript_path": path, "last_assistant_message": format!("answer to u{n}"),
        });
        let mut running = Running::start(machine.sandbox.command(&["hook", "--event", "Stop"]));
        running.send(payload.to_string().as_bytes());
        running.close();
        running.end()
    };
    std::thread::scope(|scope| {
        let stop = &stop;
        for n in 0..16 {
            scope.spawn(move || assert_eq!(stop(n).code, Some(0)));
        }
    });
    machine.emptied();
    let uids = (0..16).map(|n| format!("u{n}")).collect();
    machine.holds(&uids);
    let logs = machine.logs();
    let topics: BTreeSet<&str> = logs.iter().map(|log| log.topic.as_str()).collect();
    assert_eq!(topics.len(), logs.len(), "each session has its own");
}

#[test]
fn whoever_looks_is_told_what_waits() {
    let machine = Machine::new();
    let searched = |waiting: Option<u64>| {
        for command in [&["search", "question"][..], &["list", "logs"]] {
            let args = |more: &[&'static str]| [&["memory"], command, more].concat();
            let ran = machine.sandbox.run(&args(&[]));
            let note = waiting
                .map(|jobs| format!("note: {jobs} job{} in the queue", if jobs == 1 { "" } else { "s" }));
            assert_eq!(ran.stderr.contains("in the queue"), note.is_some(), "{command:?}: {}", ran.stderr);
            assert!(note.is_none_or(|note| ran.stderr.contains(&note)), "{command:?}: {}", ran.stderr);
            let shown: Value =
                serde_json::from_str(&machine.sandbox.run(&args(&["--json"])).stdout).expect("JSON");
            assert_eq!(shown.get("waiting").and_then(Value::as_u64), waiting, "{shown}");
        }
    };
    machine.turn("s", "u1");
    searched(Some(1));
    machine.emptied();
    searched(None);
    machine.turn("s", "u2");
    machine.turn("s", "u3");
    searched(Some(2));
}

#[test]
fn one_works_at_a_time() {
    let machine = Machine::new();
    machine.turn("s", "u");
    let alone = spool::try_lock_worker(&machine.state).expect("a lock").expect("nobody works");
    let ran = machine.sandbox.run(&["worker"]);
    assert_eq!((ran.code, machine.jobs()), (Some(0), 1), "{}", ran.stderr);
    let waiting = Running::start(machine.sandbox.command(&["worker", "--once"]));
    drop(alone);
    let ran = waiting.end();
    assert_eq!((ran.code, machine.jobs()), (Some(0), 0), "{}", ran.stderr);
    assert!(ran.stdout.contains("Stored 1 exchange") || ran.stdout.contains("0 jobs"), "{}", ran.stdout);
    machine.holds(&BTreeSet::from(["u".to_owned()]));
}

#[test]
fn without_room_the_job_stays() {
    let machine = Machine::new();
    machine.turn("s", "u");
    let mut failed = 0;
    // In blocks of 512 bytes or of 1 KiB.
    for blocks in [0, 1, 16, 100, 180, 260] {
        let plain = machine.sandbox.command(&["worker", "--once"]);
        let mut limited = Command::new("sh");
        // Without the signal a write fails as it does on a full disk.
        limited.args(["-c", "trap '' XFSZ; ulimit -f \"$1\"; shift; exec \"$@\"", "sh", &blocks.to_string()]);
        limited.arg(plain.get_program()).args(plain.get_args()).env_clear();
        limited.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
        limited.current_dir(machine.sandbox.project());
        let ran = Running::start(limited).end();
        if ran.code == Some(0) {
            break;
        }
        failed += 1;
        assert_eq!((ran.code, machine.jobs()), (Some(1), 1), "{blocks}: {}", ran.stderr);
        assert!(ran.stderr.starts_with("error: "), "{blocks}: {}", ran.stderr);
    }
    assert!(failed >= 2, "failed only {failed} times");
    machine.emptied();
    machine.holds(&BTreeSet::from(["u".to_owned()]));
}

#[test]
fn a_transcript_that_is_gone_is_named_and_holds_nobody_up() {
    let machine = Machine::new();
    for session in ["deleted", "cut", "there"] {
        machine.turn(session, &format!("{session}-1"));
        machine.turn(session, &format!("{session}-2"));
    }
    fs::remove_file(machine.transcript("deleted")).expect("it was there");
    fs::write(machine.transcript("cut"), "").expect("it can be written");
    let told = machine.emptied();
    assert_eq!((&told["lost"], &told["new"]), (&json!(4), &json!(2)));
    let troubles = told["troubles"].to_string();
    assert!(troubles.contains("session deleted: the transcript is gone"), "{troubles}");
    assert!(troubles.contains("session cut: the transcript was cut or begun anew"), "{troubles}");
    let noted = machine.sandbox.records().iter().filter(|record| record["event"] == "worker").count();
    assert_eq!(noted, 4);
    machine.holds(&BTreeSet::from(["there-1".to_owned(), "there-2".to_owned()]));
}

#[test]
fn a_huge_transcript_costs_what_its_end_costs() {
    let machine = Machine::new();
    let path = machine.transcript("s");
    // Sparse: half a gigabyte of nothing.
    fs::File::create(&path).and_then(|file| file.set_len(500 << 20)).expect("a file");
    fs::OpenOptions::new()
        .append(true)
        .open(&path)
        .and_then(|mut file| file.write_all(b"\n"))
        .expect("a line");
    machine.turn("s", "u");
    let plain = machine.sandbox.command(&["worker", "--once"]);
    let mut limited = Command::new("sh");
    limited.args(["-c", "ulimit -v 400000; exec \"$@\"", "sh"]);
    limited.arg(plain.get_program()).args(plain.get_args()).env_clear();
    limited.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
    limited.current_dir(machine.sandbox.project());
    let ran = Running::start(limited).end();
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    machine.holds(&BTreeSet::from(["u".to_owned()]));
}

/// A machine whose `claude` is a script, in which `$at` is its folder.
fn with_claude(settings: &str, script: Option<&str>) -> Machine {
    let sandbox = Sandbox::new();
    let bin = sandbox.path().join("bin");
    fs::create_dir(&bin).expect("a new folder");
    let path = format!("{}:/usr/bin:/bin", bin.display());
    let sandbox = sandbox.with("PATH", path);
    sandbox.config(format!("[memory.summary]\nwith = \"claude\"\n{settings}\n"));
    if let Some(script) = script {
        let text = format!("#!/bin/sh\nat='{}'\n{script}\n", bin.display());
        install(&bin.join("claude"), text.as_bytes(), 0o755);
    }
    Machine::of(sandbox)
}

fn prints(result: &str) -> String {
    let result = json!({ "type": "result", "is_error": false, "result": result,
        "usage": { "input_tokens": 9, "output_tokens": 4 } });
    format!(
        "cat > \"$at/stdin\"\nenv > \"$at/env\"\nprintf '%s\\n' \"$@\" > \"$at/argv\"\ncat <<'END'\n{result}\nEND"
    )
}

/// What the journal says of who was asked.
fn calls(machine: &Machine) -> Vec<Value> {
    let records = machine.sandbox.records().into_iter().filter(|record| record["event"] == "summary-llm");
    records.map(|record| record["backend"].clone()).collect()
}

#[test]
fn a_language_model_sums_up_without_our_hooks() {
    let machine =
        with_claude("", Some(&prints("Title\nUser: asked / AI: answered, password=hunter2hunter2")));
    machine.turn("s", "u");
    assert_eq!(machine.emptied()["summed_up"], 1);
    let log = machine.logs().remove(0);
    assert_eq!((log.title.as_str(), log.summary.by.as_str(), log.summary.again), ("Title", "haiku", false));
    assert!(
        log.text.starts_with("User: asked / AI: answered") && !log.text.contains("hunter2"),
        "{}",
        log.text
    );
    let bin =
        |name: &str| fs::read_to_string(machine.sandbox.path().join("bin").join(name)).unwrap_or_default();
    assert!(bin("env").contains("TIDEGATE_GUARD=1"));
    assert!(bin("argv").contains("disableAllHooks") && !bin("argv").contains("question u"));
    assert!(bin("stdin").contains("question u"));
    let calls = calls(&machine);
    assert_eq!(
        (calls.len(), &calls[0]["outcome"], &calls[0]["input_tokens"]),
        (1, &json!("answered"), &json!(9))
    );
}

#[test]
fn whatever_it_does_the_relay_is_stored() {
    let ends = "sleep 600 & echo $! > \"$at/child\"; wait";
    for (script, outcome) in [
        (None, "no-program"),
        (Some("exit 3"), "failed"),
        (Some("echo garbage"), "no-answer"),
        (Some(prints("Sure! Here is your summary.").as_str()), "no-answer"),
        (Some(prints(&"x".repeat(5000)).as_str()), "no-answer"),
        (Some("head -c 400000 /dev/zero"), "failed"),
        (Some(ends), "timeout"),
    ] {
        let machine = with_claude("timeout_s = 1", script);
        machine.turn("s", "u");
        let told = machine.emptied();
        assert_eq!((&told["new"], &told["summed_up"]), (&json!(1), &json!(0)), "{script:?}");
        let log = machine.logs().remove(0);
        assert_eq!((log.summary.by.as_str(), log.summary.again), ("local", true), "{script:?}");
        assert_eq!(log.text, "User: question u / AI: answer to u");
        let calls = calls(&machine);
        assert_eq!((calls.len(), &calls[0]["outcome"]), (1, &json!(outcome)), "{script:?} {calls:?}");
        // Not asked again before its time.
        assert_eq!(machine.sandbox.run(&["worker"]).code, Some(0));
        assert_eq!(self::calls(&machine).len(), 1, "{script:?}");
        let child = fs::read_to_string(machine.sandbox.path().join("bin/child")).unwrap_or_default();
        // One that ended may stay a zombie where nobody collects orphans.
        let state = fs::read_to_string(format!("/proc/{}/stat", child.trim())).unwrap_or_default();
        let runs = state.rsplit_once(") ").is_some_and(|(_, state)| !state.starts_with(['Z', 'X']));
        assert!(!runs, "it is left behind");
        assert_eq!((machine.logs().len(), machine.jobs()), (1, 0), "{script:?}");
        // A person who asks for it does not wait for that.
        assert_eq!(machine.emptied()["summed_up"], 0);
        assert!(script.is_none() || self::calls(&machine).len() == 2, "{script:?}");
    }
}

#[test]
fn what_is_said_for_a_summary_is_not_recorded() {
    let program = env!("CARGO_BIN_EXE_tidegate");
    // Without what keeps it out it is recorded: that is what the other one is held against.
    for (guard, recorded) in [("unset TIDEGATE_GUARD", true), ("", false)] {
        let inner = tempfile::tempdir().expect("a folder");
        let transcript = inner.path().join("inner.jsonl");
        fs::write(&transcript, turn("inner", "summed up")).expect("a transcript");
        let payload = json!({ "session_id": "inner", "hook_event_name": "Stop", "cwd": inner.path(),
            "transcript_path": transcript, "last_assistant_message": "summed up" });
        // Once, as a client with a person before it would; a hook that a busy machine made late is called again.
        let script = format!(
            "[ -e \"$at/called\" ] && exit 3\n{guard}\nexport TIDEGATE_ATTENDED=1\n\
             for try in 1 2 3 4 5 6 7 8 9 10; do\n\
             echo '{payload}' | '{program}' hook --event Stop\n\
             ls \"$TIDEGATE_STATE_DIR/spool\" | grep -q inner && break\ndone\n\
             touch \"$at/called\"\n'{program}' worker\nexit 3"
        );
        let machine = with_claude("", Some(&script));
        machine.turn("s", "u");
        machine.emptied();
        let uids: BTreeSet<String> = machine.logs().into_iter().map(|log| log.uid).collect();
        assert!(machine.sandbox.path().join("bin/called").exists());
        assert!(uids.contains("u"));
        assert_eq!(uids.contains("inner"), recorded, "{guard}");
        let records = machine.sandbox.records();
        let kept_out = |record: &Value| record["session"] == "inner" && record["ruling"] == "unguarded";
        assert_eq!(records.iter().any(kept_out), !recorded, "{guard}");
    }
}

#[test]
fn calls_are_capped_by_the_hour() {
    let machine = with_claude("calls_per_hour = 2", Some(&prints("Title\nUser: a / AI: b")));
    for n in 0..4 {
        machine.turn("s", &format!("u{n}"));
    }
    let summed_up = machine.emptied()["summed_up"].as_u64().unwrap_or_default();
    // The hour may have ended in between.
    assert!((2..=4).contains(&summed_up), "{summed_up}");
    let waiting = machine.logs().iter().filter(|log| log.summary.again).count();
    assert_eq!(waiting as u64, 4 - summed_up, "the next hour will come");
}

#[test]
fn a_worker_that_a_summary_started_does_nothing() {
    let machine = Machine::of(Sandbox::new().with("TIDEGATE_GUARD", "1"));
    machine.turn("s", "u");
    let ran = machine.sandbox.run(&["worker"]);
    assert_eq!((ran.code, machine.jobs()), (Some(0), 1));
}

#[test]
fn what_a_newer_program_left_is_said_to_be_left() {
    let machine = Machine::new();
    machine.turn("s", "u");
    fs::write(machine.state.root().join("spool/9-newer.json"), r#"{"v": 9}"#).expect("a file");
    let ran = machine.sandbox.run(&["worker", "--once"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.contains("error: 1 job not stored yet\nhint: "), "{}", ran.stderr);
    assert_eq!(machine.logs().len(), 1);
}
