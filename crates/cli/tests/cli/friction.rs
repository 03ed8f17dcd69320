//! What became of what was said: `tidegate report`, and policies that step down. The journal is written by hand.

use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::json;
use tidegate_core::feature::verdict::Asks;
use tidegate_core::pipeline::record::{
    Deeds, FailedCheck, HookCost, Record, SaidTexts, SwitchedPolicy, VerdictRecord,
};
use tidegate_core::time::Millis;

use crate::answer::{Ran, unfold};
use crate::fixtures;
use crate::people::{by_agent_of, code_of, transcript_path, write_prompt_down};
use crate::sandbox::Sandbox;

const SESSION: &str = "91b38a40-3ead-4aa8-8407-24d36ddad7be";

fn now() -> Millis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock");
    Millis(u64::try_from(since.as_millis()).expect("a time of this age"))
}

/// Appends records, each so many seconds ago.
fn write(sandbox: &Sandbox, records: Vec<(u64, Record)>) {
    let folder = sandbox.state().join("journal");
    fs::create_dir_all(&folder).expect("a new folder");
    for (ago, record) in records {
        let at = Millis(now().0 - ago * 1000);
        let path = folder.join(format!("{}.jsonl", at.day()));
        let before = fs::read_to_string(&path).unwrap_or_default();
        let record = Record { v: 1, id: format!("r-{ago}"), at: at.iso(), ..record };
        fs::write(path, before + &record.to_line()).expect("a journal");
    }
}

fn of(sandbox: &Sandbox, session: &str) -> Record {
    let project = Some(sandbox.project().to_string_lossy().into_owned());
    Record {
        session: Some(session.into()),
        project,
        ruling: "pass".into(),
        person: tidegate_core::host::person::Person::There,
        ..Record::default()
    }
}

fn denied(sandbox: &Sandbox, session: &str, file: &str) -> Record {
    let verdict = VerdictRecord {
        policy: "skill-gate".into(),
        call: "deny".into(),
        reason: Some("The skill code-quality-rules has to be invoked first.".into()),
        asks: Asks::skills(vec!["code-quality-rules".into()], file),
        ..VerdictRecord::default()
    };
    let cost = HookCost { turns: 1, us: 1500, ..HookCost::default() };
    Record {
        event: "PreToolUse".into(),
        ruling: "deny".into(),
        verdicts: vec![verdict],
        cost,
        ..of(sandbox, session)
    }
}

fn blocked(sandbox: &Sandbox, session: &str) -> Record {
    let verdict = VerdictRecord {
        policy: "verify-stop".into(),
        call: "deny".into(),
        reason: Some("src/a.rs was edited and not verified.".into()),
        asks: Asks::verified(),
        ..VerdictRecord::default()
    };
    let cost = HookCost { turns: 1, us: 900, ..HookCost::default() };
    Record {
        event: "Stop".into(),
        ruling: "deny".into(),
        verdicts: vec![verdict],
        cost,
        ..of(sandbox, session)
    }
}

fn stopped(sandbox: &Sandbox, session: &str) -> Record {
    Record { event: "Stop".into(), ..of(sandbox, session) }
}

fn did(sandbox: &Sandbox, session: &str, did: Deeds) -> Record {
    Record { event: "PostToolUse".into(), did, ..of(sandbox, session) }
}

fn skill() -> Deeds {
    Deeds { skills: vec!["tidegate:code-quality-rules".into()], ..Deeds::default() }
}

/// A month of work in which one gate is heard and another is not.
fn worked() -> Sandbox {
    let sandbox = Sandbox::new();
    let told = VerdictRecord {
        policy: "context-warning".into(),
        call: "pass".into(),
        says: SaidTexts { model: Some("Context use: 62%.".into()), ..SaidTexts::default() },
        ..VerdictRecord::default()
    };
    let said = SaidTexts { model: Some("Context use: 62%.".into()), ..SaidTexts::default() };
    let shadowed = |file: &str| {
        let mut record = denied(&sandbox, "t", file);
        record.verdicts[0].shadow = true;
        Record { ruling: "pass".into(), ..record }
    };
    let failure = Some(FailedCheck { class: "payload".into(), step: "not JSON".into(), closed: true });
    let prompt = Deeds { prompt: true, ..Deeds::default() };
    let shell = Deeds { edited_by_shell: vec!["src/c.rs".into()], ..Deeds::default() };
    let mut records = vec![
        (90_000, denied(&sandbox, "s", "src/a.rs")),
        (89_986, did(&sandbox, "s", skill())),
        (80_000, denied(&sandbox, "s", "src/b.rs")),
        (79_990, did(&sandbox, "s", prompt)),
        (79_980, did(&sandbox, "s", skill())),
        (70_000, denied(&sandbox, "s", "src/c.rs")),
        (69_000, did(&sandbox, "s", shell)),
        (
            60_000,
            Record { event: "UserPromptSubmit".into(), verdicts: vec![told], said, ..of(&sandbox, "s") },
        ),
        (50_000, Record { ruling: "failed".into(), failure, ..of(&sandbox, "s") }),
        (40_000, shadowed("src/a.rs")),
        (39_000, did(&sandbox, "t", skill())),
        (38_000, shadowed("src/b.rs")),
        (37_000, Record { project: Some("/elsewhere".into()), ..denied(&sandbox, "u", "x") }),
    ];
    for round in 0..5 {
        records.push((30_000 - round * 100, blocked(&sandbox, "s")));
        records.push((29_990 - round * 100, stopped(&sandbox, "s")));
    }
    write(&sandbox, records);
    sandbox
}

fn redacted(sandbox: &Sandbox, text: &str) -> String {
    text.replace(&*sandbox.project().to_string_lossy(), "[project]")
}

#[test]
fn report_shows_what_is_heard_and_what_is_not() {
    let sandbox = worked();
    insta::assert_snapshot!(redacted(&sandbox, sandbox.run(&["report"]).ok()), @"
    Last 30 days in [project]
    untested \"done\" blocked 5 times, then tested 0 of 5 times; 3 actions blocked; 1
    context warning
    2 sessions, 22 hook runs

    What Tidegate did
    - verify-stop blocked \"done\" 5 times, and the agent followed only 0 of 5 times.
      If you do not need it: `tidegate off verify-stop`
    - context-warning told the agent something once
    - skill-gate blocked an action 3 times; the agent did what it asked in the same
      turn 1 of 3 times, and in a later turn 1 time (median time 14 s)
    - log-only: skill-gate would have blocked an action 2 times; in 1 of 1 cases the
      agent did it anyway

    What it cost
    - 8 extra turns, about 142 tokens of context
    - a hook took 0.9 ms (median), 1.5 ms in 95 of 100 runs, 1.5 ms at most

    warning: 1 check could not be made (payload 1); 1 of them blocked.
             `tidegate doctor` looks for the cause.

    By policy
    policy           spoke  done  later  ignored  bypassed  overridden  open  info
    context-warning      1     -      -        -         -           -     -     1
    skill-gate           3     1      1        0         1           0     0     0
    verify-stop          5     0      0        5         0           0     0     0

    \"done\": what was asked was done in the same turn. \"later\": in a later turn.
    \"ignored\": it was not. \"bypassed\": the agent wrote the file through the shell
    instead. \"overridden\": you switched the policy off first. \"open\": not known yet.
    \"info\": Tidegate asked the agent for nothing. The columns add up to \"spoke\".
    ");
    let json = sandbox.run(&["report", "--json"]).json();
    assert_eq!(json["policies"][1]["policy"], "skill-gate");
    assert_eq!(json["policies"][1]["bypassed"], 1);
    assert_eq!(json["latency_us"]["longest"], 1500);
    let all = sandbox.run(&["report", "--all", "--json"]).json();
    assert_eq!(
        (&json["policies"][1]["spoke"]["denied"], &all["policies"][1]["spoke"]["denied"]),
        (&json!(3), &json!(4))
    );
    for named in ["nope", "s-"] {
        let none = sandbox.run(&["report", "--session", named]);
        assert_eq!((none.code, none.stdout.as_str()), (Some(1), ""), "{none:?}");
        let error = format!("error: no session `{named}` was seen in the last 30 days\n");
        assert!(none.stderr.starts_with(&error), "{none:?}");
    }
    let session = sandbox.run(&["report", "--session", "t", "--json"]).json();
    assert_eq!(session["policies"][0]["spoke"]["denied"], 0);
    assert_eq!(session["policies"][0]["shadow"]["anyway"], 1);
    let today = sandbox.run(&["report", "--days", "1", "--all", "--json"]).json();
    assert_eq!(today["since"], now().day());
    assert!(sandbox.run(&["report", "--days", "0"]).code != Some(0));
}

/// The outcome of the only block of verify-stop, by its name in JSON.
fn outcome_of(events: Vec<(u64, Record)>, sandbox: &Sandbox) -> String {
    write(sandbox, events);
    let report = sandbox.run(&["report", "--json"]).json();
    let policies = report["policies"].as_array().cloned().unwrap_or_default();
    let stop = policies.into_iter().find(|policy| policy["policy"] == "verify-stop").expect("it spoke");
    let outcomes = ["satisfied", "satisfied_later", "ignored", "bypassed", "overridden", "open"];
    let found: Vec<&str> = outcomes.into_iter().filter(|name| stop[*name] == 1).collect();
    found.join(" ")
}

#[test]
fn a_block_that_was_satisfied_later_stays_so() {
    let sandbox = attended();
    let at = |deeds| did(&sandbox, "s", deeds);
    let prompt = || at(Deeds { prompt: true, ..Deeds::default() });
    let verified = || at(Deeds { verified: vec!["test".into()], ..Deeds::default() });
    let held = vec![(90, blocked(&sandbox, "s")), (80, stopped(&sandbox, "s"))];
    assert_eq!(outcome_of(held, &sandbox), "ignored");
    assert_eq!(outcome_of(vec![(70, prompt()), (60, verified())], &sandbox), "satisfied_later");
    approved(&sandbox, &["off", "verify-stop", "--for", "1h"]).ok();
    assert_eq!(outcome_of(vec![(0, stopped(&sandbox, "s"))], &sandbox), "satisfied_later");
    let report = sandbox.run(&["report"]);
    let words = "verify-stop blocked \"done\" once; the agent did what it asked in the same turn 0 of 1 times, and in a later \
                 turn 1 time (median time 30 s)";
    assert!(report.words().contains(words), "{report:?}");
}

#[test]
fn a_text_that_only_the_person_reads_has_no_outcome() {
    let sandbox = Sandbox::new();
    let says = SaidTexts { user: Some("3 progress notes are not reviewed.".into()), ..SaidTexts::default() };
    let nudge = VerdictRecord {
        policy: "learning-reminder".into(),
        call: "pass".into(),
        says: says.clone(),
        asks: Asks::compound(),
        ..VerdictRecord::default()
    };
    let told = Record { verdicts: vec![nudge], said: says, ..stopped(&sandbox, "s") };
    let ended = Record { event: "SessionEnd".into(), ..of(&sandbox, "s") };
    write(&sandbox, vec![(90, told), (80, ended)]);
    let report = sandbox.run(&["report"]);
    assert!(report.ok().contains("- learning-reminder told you something once\n"), "{report:?}");
}

#[test]
fn what_a_person_did_is_not_claudes() {
    let sandbox = Sandbox::new();
    let says = SaidTexts { model: Some("Write a progress note.".into()), ..SaidTexts::default() };
    let asks = VerdictRecord {
        policy: "learning-reminder".into(),
        call: "pass".into(),
        says: says.clone(),
        asks: Asks::entry(),
        ..VerdictRecord::default()
    };
    let told = Record { verdicts: vec![asks], said: says, ..stopped(&sandbox, "s") };
    write(&sandbox, vec![(90, told)]);
    let _ = sandbox.run(&["progress", "add", "wrote the parser"]).ok();
    let report = sandbox.run(&["report"]);
    let words = "what it asked was done in the same turn 1 of 1 times, 1 by you";
    assert!(report.words().contains(words), "{report:?}");
    assert_eq!(sandbox.run(&["report", "--json"]).json()["policies"][0]["by_person"], 1);
}

#[test]
fn a_session_is_named_by_the_beginning_of_its_id() {
    let sandbox = Sandbox::new();
    let ids = ["91b38a40-3ead", "91b38a40-4000", "91b"];
    write(&sandbox, ids.iter().map(|id| (9, denied(&sandbox, id, "x"))).collect());
    let session = |named: &str| sandbox.run(&["report", "--session", named, "--json"]);
    assert_eq!(session("91b38a40-3…").json()["session"], ids[0]);
    assert_eq!(session("91b").json()["session"], "91b");
    assert!(session("91b38").stderr.contains("more than one session begins with `91b38`"));
}

#[test]
fn report_of_what_was_only_recorded() {
    let sandbox = Sandbox::new();
    let mut record = denied(&sandbox, "s", "x");
    record.verdicts[0].shadow = true;
    write(&sandbox, vec![(9, Record { ruling: "pass".into(), ..record })]);
    let report = sandbox.run(&["report"]);
    let expected = "- nothing: no policy had anything to say\n- log-only: skill-gate would have blocked an action once\n";
    assert!(report.ok().contains(expected), "{report:?}");
}

#[test]
fn report_of_a_busy_month_fits_a_terminal() {
    let sandbox = Sandbox::new();
    let mut records = Vec::new();
    for n in 0..150 {
        records.push((600_000 - n * 3000, blocked(&sandbox, "s")));
        records.push((600_000 - n * 3000 - 7, stopped(&sandbox, "s")));
        records.push((600_000 - n * 3000 - 9, denied(&sandbox, "s", &format!("src/{n}.rs"))));
    }
    records.push((1000, did(&sandbox, "s", skill())));
    write(&sandbox, records);
    let report = sandbox.run(&["report"]);
    let (_, table) = report.ok().split_once("By policy\n").expect("a table");
    let table: Vec<&str> = table.lines().take_while(|line| !line.is_empty()).collect();
    assert_eq!(table.len(), 3, "{report:?}");
    assert!(table.iter().all(|line| line.chars().count() <= 80), "{table:?}");
}

#[test]
fn a_record_that_does_not_say_what_it_asked_for() {
    let sandbox = Sandbox::new();
    let mut record = denied(&sandbox, "s", "x");
    record.verdicts[0].asks = Asks::default();
    write(&sandbox, vec![(9, record)]);
    let report = sandbox.run(&["report"]);
    assert!(
        report
            .words()
            .contains("skill-gate blocked an action once; its record does not say what it asked for"),
        "{report:?}"
    );
}

#[test]
fn report_of_nothing() {
    let sandbox = Sandbox::new();
    insta::assert_snapshot!(redacted(&sandbox, sandbox.run(&["report"]).ok()), @"
    Last 30 days in [project]
    no check had anything to say
    0 sessions, 0 hook runs

    What Tidegate did
    - nothing: no policy had anything to say

    What it cost
    - 0 extra turns, about 0 tokens of context
    ");
    fs::create_dir_all(sandbox.state().join("journal")).expect("a new folder");
    fs::write(sandbox.state().join("journal").join(format!("{}.jsonl", now().day())), "torn\n")
        .expect("a file");
    let torn = sandbox.run(&["report"]);
    assert!(torn.ok().ends_with("note: 1 line and 0 files of the journal could not be read\n"), "{torn:?}");
}

/// The session in which somebody is there.
const PERSON: &str = "5a40f1c2-3ead-4aa8-8407-24d36ddad7be";

/// A command that an agent calls and a person approves.
fn approved(sandbox: &Sandbox, args: &[&str]) -> Ran {
    let event = |capture: &str, prompt: &str| {
        let mut payload = fixtures::hook(capture);
        payload["session_id"] = json!(PERSON);
        payload["cwd"] = json!(sandbox.project());
        payload["prompt"] = json!(prompt);
        payload["transcript_path"] = json!(transcript_path(sandbox, PERSON));
        write_prompt_down(sandbox, PERSON, prompt);
        payload["prompt_id"] = json!(format!("prompt-{}", sandbox.records().len()));
        assert_eq!(sandbox.event(&payload).exit, 0);
    };
    event("SessionStart.startup", "");
    let asked = by_agent_of(sandbox, args, PERSON);
    event("UserPromptSubmit.plain", &format!("approve {}", code_of(&asked)));
    by_agent_of(sandbox, &[args, &["--approved"]].concat(), PERSON)
}

/// One interruption that a person ends by switching the policy off.
fn override_once(sandbox: &Sandbox, session: &str) -> Ran {
    write(sandbox, vec![(5, denied(sandbox, session, "src/a.rs"))]);
    approved(sandbox, &["off", "skill-gate", "--for", "1h"])
}

fn attended() -> Sandbox {
    let client = std::process::id().to_string();
    Sandbox::new().with("CLAUDE_CODE_SESSION_ATTENDED", "1").with("CLAUDE_PID", client)
}

fn prompt(sandbox: &Sandbox) -> crate::answer::Answer {
    event(sandbox, "UserPromptSubmit.plain")
}

fn event(sandbox: &Sandbox, capture: &str) -> crate::answer::Answer {
    let mut payload = fixtures::hook(capture);
    payload["session_id"] = json!(SESSION);
    payload["cwd"] = json!(sandbox.project());
    payload["prompt_id"] = json!(format!("prompt-{}", sandbox.records().len()));
    sandbox.event(&payload)
}

fn stepped_down(sandbox: &Sandbox) -> bool {
    let listed = sandbox.run(&["off", "--json"]).json();
    listed.as_array().is_some_and(|list| list.iter().any(|entry| entry["stepped_down_in"].is_string()))
}

#[test]
fn a_policy_that_people_override_steps_down_and_up_again_by_hand() {
    let sandbox = attended();
    for round in 0..4 {
        let off = override_once(&sandbox, &format!("s{round}"));
        assert!(!off.ok().contains("only advises"), "{off:?}");
    }
    let off = override_once(&sandbox, "s4");
    assert!(off.words().contains("People overrode it in five of its last ten interruptions"), "{off:?}");
    assert!(stepped_down(&sandbox));

    // The person is told once more, where they work; the model is not, and nobody is where nobody is there.
    let sandbox = sandbox.with("CLAUDE_CODE_SESSION_ATTENDED", "0");
    event(&sandbox, "SessionStart.startup").silent();
    let sandbox = sandbox.with("CLAUDE_CODE_SESSION_ATTENDED", "1");
    let told = event(&sandbox, "SessionStart.startup");
    let message = told.output()["systemMessage"].as_str().unwrap_or_default().to_owned();
    assert!(message.starts_with("Tidegate: skill-gate only advises"), "{told:?}");
    assert_eq!(told.context(), None);
    prompt(&sandbox).silent();
    let status = sandbox.run(&["status"]);
    assert!(status.ok().contains("note: skill-gate only advises here"), "{status:?}");
    let doctor = sandbox.run(&["doctor"]);
    assert!(unfold(&doctor.stdout).contains("skill-gate only advises in "), "{doctor:?}");
    let report = sandbox.run(&["report"]);
    assert!(report.ok().contains("skill-gate only advises here"), "{report:?}");
    assert!(!override_once(&sandbox, "s5").ok().contains("five of its last ten"), "said already");

    // By hand it blocks again, and what was overridden before no longer counts.
    let on = sandbox.run(&["on", "skill-gate"]);
    let again = format!("skill-gate blocks again in {}.", sandbox.project().display());
    assert!(unfold(on.ok()).ends_with(&again), "{on:?}");
    assert!(!stepped_down(&sandbox));
    fs::write(sandbox.state().join("off.json"), "[{").expect("a file");
    let damaged = sandbox.run(&["on", "skill-gate"]);
    assert!(
        damaged.stderr.starts_with("warning: ") && damaged.stderr.contains("switches nothing off"),
        "{damaged:?}"
    );
    fs::write(sandbox.state().join("off.json"), "[]").expect("a file");
    assert!(!override_once(&sandbox, "s6").ok().contains("five of its last ten"));
    assert!(!stepped_down(&sandbox));
}

#[test]
fn being_ignored_loosens_nothing_and_neither_does_another_preset() {
    let sandbox = attended();
    let ignored = |round: u64| (1000 - round * 50, denied(&sandbox, "s", "src/a.rs"));
    write(&sandbox, (0..12).map(ignored).collect());
    assert!(!override_once(&sandbox, "t").ok().contains("only advises"));
    for config in ["preset = \"strict\"\n", "[friction]\nstep_down = false\n"] {
        let sandbox = attended();
        sandbox.config(config);
        for round in 0..6 {
            assert!(!override_once(&sandbox, &format!("s{round}")).ok().contains("only advises"), "{config}");
        }
        assert!(!stepped_down(&sandbox), "{config}");
    }
}

#[test]
fn what_nobody_decided_loosens_nothing() {
    let sandbox = Sandbox::new();
    sandbox.config("[approval]\nunattended = [\"off\"]\n");
    for round in 0..6 {
        write(&sandbox, vec![(5, denied(&sandbox, &format!("s{round}"), "src/a.rs"))]);
        assert!(!sandbox.run(&["off", "skill-gate", "--for", "1h"]).ok().contains("only advises"));
    }
    assert!(!stepped_down(&sandbox));
    let record = sandbox.records().pop().expect("of the command");
    assert_eq!((&record["ruling"], &record["person"]), (&json!("command"), &json!("absent")));
    let report = sandbox.run(&["report", "--json"]).json();
    assert_eq!(
        (&report["policies"][0]["overridden"], &report["policies"][0]["open"]),
        (&json!(0), &json!(6))
    );
}

#[test]
fn one_act_that_settles_many_is_one() {
    let sandbox = attended();
    write(&sandbox, (0..6).map(|n| (60 - n * 5, denied(&sandbox, &format!("s{n}"), "src/a.rs"))).collect());
    assert!(!approved(&sandbox, &["off", "skill-gate", "--for", "1h"]).ok().contains("only advises"));
    let report = sandbox.run(&["report", "--json"]).json();
    let gate =
        report["policies"].as_array().and_then(|all| all.iter().find(|of| of["policy"] == "skill-gate"));
    assert_eq!(gate.expect("it spoke")["overridden"], 6);
}

#[test]
fn a_held_turn_is_overridden_after_it_ended() {
    let sandbox = attended();
    for round in 0..5 {
        let session = format!("s{round}");
        write(&sandbox, vec![(9, blocked(&sandbox, &session)), (5, stopped(&sandbox, &session))]);
        let off = approved(&sandbox, &["off", "verify-stop", "--for", "1h"]);
        assert_eq!(off.ok().contains("only advises"), round == 4, "{off:?}");
    }
}

#[test]
fn starting_the_client_without_it_counts_as_well() {
    let sandbox = attended();
    for round in 0..4 {
        assert!(!override_once(&sandbox, &format!("s{round}")).ok().contains("only advises"));
    }
    assert!(sandbox.run(&["on", "skill-gate"]).ok().contains("is on again"));
    let ended = Record { event: "SessionEnd".into(), ..of(&sandbox, "s4") };
    write(&sandbox, vec![(5, denied(&sandbox, "s4", "src/a.rs")), (4, ended)]);
    let sandbox = sandbox.with("TIDEGATE_OFF", "skill-gate");
    event(&sandbox, "SessionStart.startup").silent();
    assert!(stepped_down(&sandbox));
    let sandbox = sandbox.without("TIDEGATE_OFF");
    let told = prompt(&sandbox);
    assert!(
        told.output()["systemMessage"].as_str().is_some_and(|text| text.contains("`tidegate on skill-gate`"))
    );
}

#[test]
fn explain_says_what_was_asked_for_and_what_was_done() {
    let sandbox = Sandbox::new();
    write(&sandbox, vec![(9, denied(&sandbox, "s", "src/a.rs")), (5, did(&sandbox, "s", skill()))]);
    let denied = sandbox.run(&["explain", "r-9"]);
    assert!(denied.ok().contains("\nTo get past it\n- load the skill code-quality-rules\n"), "{denied:?}");
    let switched = SwitchedPolicy { policy: "skill-gate".into(), session: Some("s".into()), project: None };
    let off = Deeds { switched_off: Some(switched.clone()), ..Deeds::default() };
    let up = Deeds { stepped_up: vec![SwitchedPolicy { session: None, ..switched }], ..Deeds::default() };
    let command = |deeds| Record { ruling: "command".into(), ..did(&sandbox, "s", deeds) };
    write(&sandbox, vec![(4, command(off)), (3, command(up))]);
    let last = sandbox.run(&["explain", "last"]);
    assert!(last.ok().contains("  r-9\n"), "what a hook said: {last:?}");
    let off = sandbox.run(&["explain", "r-4"]);
    assert!(off.ok().contains("happened  skill-gate was switched off in session s\n"), "{off:?}");
    let up = sandbox.run(&["explain", "r-3"]);
    assert!(up.ok().contains("happened  skill-gate blocks again in every project\n"), "{up:?}");
    let done = sandbox.run(&["explain", "r-5"]);
    assert!(done.ok().contains("happened  a skill was loaded: tidegate:code-quality-rules\n"), "{done:?}");
}
