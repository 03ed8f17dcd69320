//! The tables of `outcomes.md`: a journal, and what became of each interruption in it. The laws hold for every journal.

use proptest::prelude::*;
use tidegate_core::feature::verdict::Asks;
use tidegate_core::host::person::Person;
use tidegate_core::pipeline::friction::{
    FrictionFold, Interruption, InterruptionKind, Settlement, Tally, tally_interruptions,
};
use tidegate_core::pipeline::record::{Deeds, HookCost, Record, SaidTexts, SwitchedPolicy, VerdictRecord};
use tidegate_core::time::Millis;

use crate::vocabulary::{Case, Report, Vocabulary};

pub(crate) fn run(report: &mut Report) -> Vec<String> {
    let file = "pipeline/friction/outcomes.md";
    report.run(file, &crate::source(file), &[&COLUMNS], Journal::default);
    vec![file.to_owned()]
}

#[derive(Default)]
struct Journal(Vec<Record>);

impl Case for Journal {
    type Outcome = Vec<Interruption>;

    fn outcome(self) -> Vec<Interruption> {
        settle(&self.0)
    }
}

static COLUMNS: Vocabulary<Journal> = Vocabulary {
    name: "outcomes",
    given: &[("events", |case, cell| case.0 = journal(cell))],
    expected: &[
        ("outcomes", |said| list(said, |said| Some(name(said)))),
        ("after", |said| list(said, |said| Some(format!("{} s", said.after_ms / 1000)))),
        ("turns", |said| list(said, |said| Some(said.turns.to_string()))),
    ],
};

fn list(said: &[Interruption], show: impl Fn(&Interruption) -> Option<String>) -> String {
    let shown: Vec<String> = said.iter().filter_map(show).collect();
    if shown.is_empty() { "-".into() } else { shown.join(", ") }
}

fn name(said: &Interruption) -> String {
    let name = match said.settlement {
        Settlement::Satisfied => "satisfied",
        Settlement::SatisfiedLater => "satisfied later",
        Settlement::Ignored => "ignored",
        Settlement::Bypassed => "bypassed",
        Settlement::Overridden => "overridden",
        Settlement::Open => "open",
        Settlement::Unasked => "none",
        Settlement::Unknown => "not recorded",
    };
    if said.shadow { format!("log-only {name}") } else { name.into() }
}

/// Each record looks at what it can bear on, not at everything that is still open.
#[test]
fn many_open_interruptions_cost_no_time() {
    const SESSIONS: u64 = 40_000;
    let verdict = VerdictRecord {
        policy: "skill-gate".into(),
        call: "deny".into(),
        asks: Asks::skills(vec!["a".into()], "x"),
        ..VerdictRecord::default()
    };
    let mut fold = FrictionFold::default();
    let mut now = Millis(0);
    for session in 0..SESSIONS {
        now = Millis(1_800_000_000_000 + session * 2_000);
        let mut record = Record::begin("PreToolUse", now);
        record.session = Some(format!("s{session}"));
        record.project = Some("/p".into());
        record.verdicts = vec![verdict.clone()];
        fold.add_record(&record);
    }
    let said = fold.finish(Millis(now.0 + 30 * 86_400_000));
    assert!(said.iter().all(|said| said.settlement == Settlement::Ignored));
    assert_eq!(said.len() as u64, SESSIONS);
}

/// Records of steps, `held → off verify-stop (after 5 min)`.
fn journal(steps: &str) -> Vec<Record> {
    let mut now = 0;
    let record = |(at, step): (usize, &str)| {
        let (deed, details) = match step.strip_suffix(')').and_then(|step| step.split_once(" (")) {
            Some((deed, details)) => (deed, details.split(", ").collect()),
            None => (step, Vec::new()),
        };
        let mut wait = if at == 0 { 0 } else { 10 };
        let mut record = record(deed);
        for detail in details {
            match detail.split_once(' ').unwrap_or((detail, "")) {
                ("after", time) => wait = seconds(time),
                ("session", id) => record.session = Some(id.into()),
                ("terminal", "") => record.session = None,
                ("agent", id) => record.agent = Some(id.into()),
                ("project", path) => record.project = Some(path.into()),
                ("unattended", "") => record.person = Person::Absent,
                _ => panic!("no such detail: {detail}"),
            }
        }
        now += wait;
        Record { at: Millis(now * 1000).iso(), ..record }
    };
    steps.split(" → ").enumerate().map(record).collect()
}

fn seconds(time: &str) -> u64 {
    let (number, unit) = time.split_once(' ').expect("a number and a unit");
    let unit = match unit {
        "s" => 1,
        "min" => 60,
        "h" => 3600,
        "d" => 86_400,
        _ => panic!("no such unit: {unit}"),
    };
    number.parse::<u64>().expect("a number") * unit
}

/// Judged right after the last record.
fn settle(records: &[Record]) -> Vec<Interruption> {
    let now = records.last().and_then(|last| Millis::from_iso(&last.at)).unwrap_or_default();
    fold(records).finish(now)
}

fn fold(records: &[Record]) -> FrictionFold {
    let mut friction = FrictionFold::default();
    for record in records {
        friction.add_record(record);
    }
    friction
}

/// A person at session `s` in `/p`.
fn record(deed: &str) -> Record {
    let words: Vec<&str> = deed.split(' ').collect();
    let names = |text: &str| text.split('+').map(str::to_owned).collect::<Vec<_>>();
    let of = |verdict: VerdictRecord, event: &str, ruling: &str| {
        let said = SaidTexts { model: verdict.says.model.clone(), ..SaidTexts::default() };
        let turns = u32::from(ruling == "deny");
        let cost = HookCost { turns, ..HookCost::default() };
        Record {
            event: event.into(),
            ruling: ruling.into(),
            verdicts: vec![verdict],
            said,
            cost,
            ..Record::default()
        }
    };
    let verdict = |policy: &str, call: &str, asks: Asks| VerdictRecord {
        policy: policy.into(),
        call: call.into(),
        reason: (call == "deny").then(|| "because".into()),
        asks,
        ..VerdictRecord::default()
    };
    let says = |policy: &str, asks: Asks| VerdictRecord {
        says: SaidTexts { model: Some("a text".into()), ..SaidTexts::default() },
        ..verdict(policy, "pass", asks)
    };
    let tells = |policy: &str, asks: Asks| {
        let told = SaidTexts { user: Some("a text".into()), ..SaidTexts::default() };
        let verdict = VerdictRecord { says: told.clone(), ..verdict(policy, "pass", asks) };
        Record { said: told, ..of(verdict, "Stop", "pass") }
    };
    let denies = |skills: &str, file: &str| verdict("skill-gate", "deny", Asks::skills(names(skills), file));
    let did = |did: Deeds| Record { event: "PostToolUse".into(), did, ..Record::default() };
    let event = |name: &str| Record { event: name.into(), ruling: "pass".into(), ..Record::default() };
    let list = |text: &str| vec![text.to_owned()];
    let starts = |cause: &str| Record { cause: Some(cause.into()), ..event("SessionStart") };
    let base = match words[..] {
        ["denied", file] => of(denies("a", file), "PreToolUse", "deny"),
        ["denied", file, "for", skills] => of(denies(skills, file), "PreToolUse", "deny"),
        ["untold", "denial"] => of(verdict("skill-gate", "deny", Asks::default()), "PreToolUse", "deny"),
        ["would", "deny", file] => {
            of(VerdictRecord { shadow: true, ..denies("a", file) }, "PreToolUse", "pass")
        }
        ["held"] => of(verdict("verify-stop", "deny", Asks::verified()), "Stop", "deny"),
        ["task", "held"] => of(verdict("task-gate", "deny", Asks::verified()), "TaskCompleted", "deny"),
        ["passes"] => event("Stop"),
        ["waits"] => of(verdict("verify-stop", "pass", Asks::verified()), "Stop", "pass"),
        ["tells", "you"] => tells("verify-stop", Asks::default()),
        ["nudge"] => tells("learning-reminder", Asks::compound()),
        ["advised", wanted] => {
            let (files, skills) = names(wanted).into_iter().partition(|name| name.contains('/'));
            of(says("activity", Asks::any(skills, files)), "UserPromptSubmit", "pass")
        }
        ["warned"] => of(says("context-warning", Asks::default()), "UserPromptSubmit", "pass"),
        ["left", "out"] => Record {
            said: SaidTexts::default(),
            ..of(says("activity", Asks::any(list("a"), Vec::new())), "UserPromptSubmit", "pass")
        },
        ["note", what] => {
            let asks = if what == "entry" { Asks::entry() } else { Asks::compound() };
            of(says("learning-reminder", asks), "UserPromptSubmit", "pass")
        }
        ["stage", name] => of(verdict("cycle", "deny", Asks::stage(name, name)), "Stop", "deny"),
        ["done", name] => did(Deeds { stage: Some(name.into()), ..Deeds::default() }),
        ["untagged"] => of(verdict("meta-tag", "deny", Asks::tag()), "Stop", "deny"),
        ["tagged"] => did(Deeds { tag: true, ..Deeds::default() }),
        ["leaves", topic] => {
            let asks = Asks::topic(topic.parse().expect("a topic"));
            of(verdict("topic-decision", "deny", asks), "Stop", "deny")
        }
        ["records", topic] => did(Deeds { topic: topic.parse().ok(), ..Deeds::default() }),
        ["checkpoint", number] => {
            let asks = Asks::gate(number.parse().expect("a checkpoint"));
            of(verdict("workflow", "deny", asks), "PreToolUse", "deny")
        }
        ["full"] => of(verdict("workflow", "deny", Asks::compacted()), "PreToolUse", "deny"),
        ["passed", number] => did(Deeds { gate: number.parse().ok(), ..Deeds::default() }),
        ["skipped", number] => did(Deeds { skipped_gate: number.parse().ok(), ..Deeds::default() }),
        ["compacted"] => {
            let did = Deeds { compacted: true, ..Deeds::default() };
            Record { did, ..starts("compact") }
        }
        ["compound"] => did(Deeds { compound: true, ..Deeds::default() }),
        ["entry"] => did(Deeds { entry: true, ..Deeds::default() }),
        ["starts"] => starts("resume"),
        ["ends"] => event("SessionEnd"),
        ["prompt"] => {
            let did = Deeds { prompt: true, ..Deeds::default() };
            Record { did, ..event("UserPromptSubmit") }
        }
        ["notification"] => event("UserPromptSubmit"),
        ["skill", name] => did(Deeds { skills: list(name), ..Deeds::default() }),
        ["shell", file] => did(Deeds { edited_by_shell: list(file), ..Deeds::default() }),
        ["reads", file] => did(Deeds { read: list(file), ..Deeds::default() }),
        ["verified"] => did(Deeds { verified: list("test"), ..Deeds::default() }),
        ["was", "off", policy] => Record { off_by_command: list(policy), ..Record::default() },
        ["starts", "without", policy] => Record { off: list(policy), ..starts("startup") },
        ["cleared", "without", policy] => Record { off: list(policy), ..starts("clear") },
        ["works", "without", policy] => Record { off: list(policy), ..Record::default() },
        ["off", policy, ref place @ ..] => {
            let place = place.first().copied().unwrap_or_default();
            did(Deeds {
                switched_off: Some(SwitchedPolicy {
                    policy: policy.into(),
                    session: place.strip_prefix('@').map(str::to_owned),
                    project: place.starts_with('/').then(|| place.to_owned()),
                }),
                ..Deeds::default()
            })
        }
        ["up", policy] => did(Deeds {
            stepped_up: vec![SwitchedPolicy {
                policy: policy.into(),
                project: Some("/p".into()),
                session: None,
            }],
            ..Deeds::default()
        }),
        _ => panic!("no such event: {deed}"),
    };
    let at_terminal = matches!(words[0], "off" | "up");
    Record {
        session: (!at_terminal).then(|| "s".to_owned()),
        project: Some("/p".into()),
        person: Person::There,
        host: "claude-code".into(),
        ..base
    }
}

/// Outcomes in the row of a policy.
fn outcomes(tally: &Tally) -> usize {
    tally.settled() + tally.open + tally.without_outcome()
}

fn is_final(settlement: Settlement) -> bool {
    !matches!(settlement, Settlement::Open | Settlement::Ignored)
}

fn any_journal() -> impl Strategy<Value = String> {
    const DEEDS: [&str; 42] = [
        "held",
        "held",
        "task held",
        "passes",
        "passes",
        "waits",
        "tells you",
        "verified",
        "verified",
        "prompt",
        "prompt",
        "notification",
        "denied x",
        "denied y",
        "denied x for a+b",
        "would deny x",
        "untold denial",
        "skill a",
        "skill b",
        "shell x",
        "off verify-stop",
        "off skill-gate /p",
        "off cycle @s",
        "was off verify-stop",
        "starts without skill-gate",
        "starts",
        "ends",
        "compacted",
        "nudge",
        "note compound",
        "note entry",
        "compound",
        "entry",
        "stage audit",
        "skill audit",
        "done audit",
        "advised a",
        "warned",
        "checkpoint 1",
        "passed 1",
        "skipped 1",
        "untagged",
    ];
    let detail = prop_oneof![
        8 => Just(""),
        2 => Just("after 0 s"),
        1 => Just("after 50 min"),
        1 => Just("after 25 h"),
        1 => Just("after 8 d"),
        1 => Just("session t"),
        1 => Just("agent one"),
        1 => Just("unattended"),
    ];
    let step = (prop::sample::select(DEEDS.to_vec()), detail).prop_map(|(deed, detail)| match detail {
        "" => deed.to_owned(),
        detail => format!("{deed} ({detail})"),
    });
    prop::collection::vec(step, 1..24).prop_map(|steps| steps.join(" → "))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn the_outcomes_of_a_policy_add_up(steps in any_journal()) {
        for tally in tally_interruptions(&settle(&journal(&steps))) {
            prop_assert_eq!(outcomes(&tally), tally.spoke.total(), "{}", tally.policy);
            if let Some(would) = tally.shadow {
                prop_assert_eq!(would.anyway + would.not + would.open, would.spoken.total());
            }
        }
    }

    #[test]
    fn only_open_and_ignored_interruptions_change(steps in any_journal()) {
        let records = journal(&steps);
        let mut before: Vec<Interruption> = Vec::new();
        for end in 1..=records.len() {
            let now = settle(&records[..end]);
            prop_assert!(now.len() >= before.len());
            for (before, now) in before.iter().zip(&now) {
                if is_final(before.settlement) {
                    prop_assert_eq!(before, now, "after {} records", end);
                }
                let verifies = records[..end].iter().any(|record| !record.did.verified.is_empty());
                if now.policy == "verify-stop" && !verifies {
                    let satisfied = matches!(now.settlement, Settlement::Satisfied | Settlement::SatisfiedLater);
                    prop_assert!(!satisfied, "nothing was verified");
                }
                let is_told = now.kind == InterruptionKind::Told;
                prop_assert!(!is_told || now.settlement == Settlement::Unasked, "only the person read it");
                prop_assert!(now.settlement != Settlement::Satisfied || now.turns == 0);
            }
            before = now;
        }
    }
}

fn is_often_overridden(steps: &[String], project: &str) -> bool {
    fold(&journal(&steps.join(" → "))).often_overridden("skill-gate", |found| found == project)
}

#[test]
fn five_of_the_last_ten() {
    // `o` is overridden, `b` bypassed, `u` stepped up by hand.
    let often = |story: &str, project: &str| {
        let steps = |(session, end): (usize, char)| match end {
            'u' => vec!["up skill-gate".to_owned()],
            // A message with several calls is one interruption.
            'o' => vec![
                format!("denied x (session {session}, after 90 s)"),
                format!("denied x (session {session}, after 0 s)"),
                format!("denied x (session {session}, after 0 s)"),
                "off skill-gate /p".to_owned(),
            ],
            _ => vec![
                format!("denied x (session {session}, after 90 s)"),
                format!("shell x (session {session})"),
            ],
        };
        let steps: Vec<String> = story.chars().enumerate().flat_map(steps).collect();
        is_often_overridden(&steps, project)
    };
    for (story, stepped_down) in [
        ("oooo", false),
        ("ooooo", true),
        ("ooooobbbbb", true),
        ("ooooobbbbbb", false),
        ("bbbbbbbbbb", false),
        ("obooboobo", true),
        ("ooooou", false),
        ("ooooouoooo", false),
        ("ooooouooooo", true),
    ] {
        assert_eq!(often(story, "/p"), stepped_down, "{story}");
        assert!(!often(story, "/q"), "{story}");
    }
}

#[test]
fn one_act_of_a_person_is_one_override() {
    let often = |acts: usize, after: &str| {
        let mut steps: Vec<String> = Vec::new();
        for act in 0..acts {
            let denied = |n: usize| format!("denied x (session {act}-{n}, project /p{}, after 1 s)", n % 2);
            steps.extend((0..6).map(denied));
            steps.push(after.to_owned());
            // Under another name of the project, the policy is seen to be off only later.
            steps.extend((0..6).map(|n| format!("was off skill-gate (session {act}-{n}, after 1 s)")));
            steps.push("prompt (after 60 s)".to_owned());
        }
        ["/p0", "/p1"].map(|project| is_often_overridden(&steps, project))
    };
    for after in ["off skill-gate", "off skill-gate /p0", "off skill-gate /p"] {
        assert_eq!(often(1, after), [false, false], "{after}");
        assert_eq!(often(4, after), [false, false], "{after}");
        assert_eq!(often(5, after), [true, true], "{after}");
        assert_eq!(often(9, &format!("{after} (unattended)")), [false, false], "{after}");
    }
    let mut restarts: Vec<String> = (0..5).map(|n| format!("denied x (session {n}, after 1 s)")).collect();
    restarts.push("starts without skill-gate (session t)".into());
    assert!(!is_often_overridden(&restarts, "/p"), "one start of the client");
}

#[test]
fn a_message_forces_one_turn() {
    let said = settle(&journal("held → held (after 0 s) → held"));
    assert_eq!(said.iter().map(|said| said.forced).collect::<Vec<_>>(), [1, 0, 1]);
    // Two policies block one stop: the model answers both at once.
    let mut both = record("held");
    both.verdicts.extend(record("stage audit").verdicts);
    let said = settle(&[Record { at: Millis(0).iso(), ..both }]);
    assert_eq!(said.iter().map(|said| said.forced).collect::<Vec<_>>(), [1, 0]);
}

#[test]
fn a_blocked_stop_costs_its_reason_as_often_as_the_model_reads_it() {
    let tokens = |steps: &str, host: &str| {
        let records = journal(steps).into_iter();
        let records: Vec<Record> = records.map(|record| Record { host: host.into(), ..record }).collect();
        settle(&records).iter().map(|said| said.tokens).collect::<Vec<_>>()
    };
    let once = tokens("denied x", "claude-code")[0];
    assert!(once > 0);
    assert_eq!(tokens("held → would deny x → tells you", "claude-code"), [2 * once, 0, 0]);
    assert_eq!(tokens("held", "another host"), [once]);
}

#[test]
fn counted_per_policy() {
    let steps = "warned → denied x → skill a → denied y for b → prompt → skill b → denied z for c → shell z → held → \
                 passes → prompt → held → passes → verified → would deny x → skill a → would deny y";
    let tallies = tally_interruptions(&settle(&journal(steps)));
    let names: Vec<&str> = tallies.iter().map(|tally| tally.policy.as_str()).collect();
    assert_eq!(names, ["context-warning", "skill-gate", "verify-stop"]);
    let gate = &tallies[1];
    assert_eq!((gate.spoke.denied, gate.satisfied, gate.satisfied_later, gate.bypassed), (3, 1, 1, 1));
    assert_eq!((gate.median_ms, gate.median_turns), (Some(10_000), Some(0)));
    let would = gate.shadow.expect("shadowed too");
    assert_eq!((would.spoken.denied, would.anyway, would.not, would.open), (2, 1, 0, 1));
    let stop = &tallies[2];
    assert_eq!((stop.spoke.blocked, stop.ignored, stop.satisfied_later, stop.forced_turns), (2, 1, 1, 2));
    assert_eq!((tallies[0].unasked, tallies[0].spoke.total(), tallies[0].settled()), (1, 1, 0));
    assert!(tallies.iter().all(|tally| !tally.is_void()), "too few to tell");
    let void = tally_interruptions(&settle(&journal(&["held"; 6].join(" → "))));
    assert!(void[0].is_void());
}
