//! Short journals and the settlements of their interruptions.

use crate::host::person::Person;
use crate::pipeline::friction::*;
use crate::pipeline::record::{Deeds, SaidTexts, SwitchedPolicy};

/// Name, events (time in seconds, or hours with `h`; session; deed), and the settlement of each interruption in
/// order.
const TABLE: &[(&str, &[&str], &str)] = &[
    (
        "the skill is invoked",
        &["0 s deny a src/x.rs", "9 s skill a"],
        "skill-gate satisfied after 9s, 0 turns",
    ),
    (
        "a plugin's skill counts as its name",
        &["0 s deny a x", "9 s skill team:a"],
        "skill-gate satisfied after 9s, 0 turns",
    ),
    ("a longer name does not", &["0 s deny a x", "9 s skill aa", "9 s skill a:b"], "skill-gate open"),
    ("a plugin's skill was asked for", &["0 s deny team:a x", "9 s skill a"], "skill-gate open"),
    ("all of them have to be", &["0 s deny a+b x", "1 s skill a"], "skill-gate open"),
    (
        "one after the other",
        &["0 s deny a+b x", "1 s skill b", "2 s skill a"],
        "skill-gate satisfied after 2s, 0 turns",
    ),
    ("invoked before does not count", &["0 s skill a", "1 s deny a x"], "skill-gate open"),
    ("in another session neither", &["0 s deny a x", "1 t skill a"], "skill-gate open"),
    (
        "turns are human prompts",
        &["0 s deny a x", "5 s prompt", "6 s prompt", "7 s skill a"],
        "skill-gate satisfied after 7s, 2 turns",
    ),
    (
        "denied again, and then it is done",
        &["0 s deny a x", "5 s deny a x", "9 s skill a"],
        "skill-gate ignored after 5s, 0 turns; skill-gate satisfied after 4s, 0 turns",
    ),
    (
        "another file is denied: the skill satisfies both",
        &["0 s deny a x", "5 s deny a y", "9 s skill a"],
        "skill-gate satisfied after 9s, 0 turns; skill-gate satisfied after 4s, 0 turns",
    ),
    (
        "so does another agent's denial, and another skill",
        &["0 s deny a x", "5 s/one deny a x", "7 s deny b x", "9 s skill a"],
        "skill-gate satisfied after 9s, 0 turns; skill-gate satisfied after 4s, 0 turns; skill-gate open",
    ),
    (
        "an agent tries again",
        &["0 s deny a x", "5 s/one deny a x", "9 s/one deny a x"],
        "skill-gate open; skill-gate ignored after 4s, 0 turns; skill-gate open",
    ),
    (
        "one of two is invoked, and it tries again",
        &["0 s deny a+b x", "5 s skill a", "7 s deny b x", "9 s skill b"],
        "skill-gate satisfied after 9s, 0 turns; skill-gate satisfied after 2s, 0 turns",
    ),
    (
        "calls of one message are denied together",
        &["0 s deny a x", "0 s deny a y", "1 s deny a z", "9 s skill a"],
        "skill-gate satisfied after 9s, 0 turns; skill-gate satisfied after 9s, 0 turns; skill-gate satisfied after 8s, 0 turns",
    ),
    (
        "a gate of a workflow is passed",
        &["0 s gate 1", "5 s passes 2", "9 s passes 1"],
        "workflow satisfied after 9s, 0 turns",
    ),
    (
        "a person passes it at a terminal",
        &["0 s gate 1", "5 -:/q passes 1", "9 - passes 1"],
        "workflow satisfied after 9s, 0 turns",
    ),
    (
        "a person lets it be skipped",
        &["0 s gate 1", "1 s gate 1", "5 s skips 2", "9 - skips 1"],
        "workflow overridden after 9s, 0 turns; workflow overridden after 8s, 0 turns",
    ),
    ("the config lets it be skipped", &["0 s gate 1", "9 s alone-skips 1"], "workflow open"),
    ("the conversation is compacted", &["0 s full", "4 s boundary"], "workflow satisfied after 4s, 0 turns"),
    (
        "the file is written through the shell",
        &["0 s deny a src/x.rs", "3 s shell src/x.rs"],
        "skill-gate bypassed after 3s, 0 turns",
    ),
    (
        "both are told from the root: the same name elsewhere is another file",
        &["0 s deny a build.rs", "3 s shell sub/build.rs"],
        "skill-gate open",
    ),
    ("another file is another thing", &["0 s deny a src/x.rs", "3 s shell xsrc/x.rs"], "skill-gate open"),
    (
        "after the skill it is no way round",
        &["0 s deny a x", "1 s skill a", "3 s shell x"],
        "skill-gate satisfied after 1s, 0 turns",
    ),
    ("the tests were run", &["0 s block", "60 s verify"], "verify-stop satisfied after 60s, 0 turns"),
    ("a turn ends without", &["0 s block", "60 s stop"], "verify-stop ignored after 60s, 0 turns"),
    (
        "the person is told, and switches it off",
        &["0 s block", "60 s lets-go", "90 - off verify-stop @s"],
        "verify-stop overridden after 90s, 0 turns; verify-stop unasked",
    ),
    (
        "or starts the client without it",
        &["0 s block", "60 s stop", "70 s end", "90 t variable verify-stop"],
        "verify-stop overridden after 90s, 0 turns",
    ),
    (
        "only the last one",
        &["0 s block", "60 s block", "80 s stop", "90 - off verify-stop /p"],
        "verify-stop ignored after 60s, 0 turns; verify-stop overridden after 30s, 0 turns",
    ),
    (
        "not one that has a newer one",
        &["0 s block", "60 s stop", "70 s block", "80 s verify", "90 - off verify-stop /p"],
        "verify-stop ignored after 60s, 0 turns; verify-stop satisfied after 10s, 0 turns",
    ),
    (
        "not after more than an hour",
        &["0 s block", "60 s stop", "3601 - off verify-stop /p"],
        "verify-stop ignored after 60s, 0 turns",
    ),
    (
        "not by an agent",
        &["0 s block", "60 s stop", "90 - alone-off verify-stop /p", "91 s was-off verify-stop"],
        "verify-stop ignored after 60s, 0 turns",
    ),
    (
        "a turn that ends while agents run says so",
        &["0 s block", "60 s waits", "90 s verify"],
        "verify-stop satisfied after 90s, 0 turns",
    ),
    ("a skill gate is not about the turn's end", &["0 s deny a x", "60 s stop"], "skill-gate open"),
    (
        "blocked again",
        &["0 s block", "9 s block", "12 s verify"],
        "verify-stop ignored after 9s, 0 turns; verify-stop satisfied after 3s, 0 turns",
    ),
    ("a tag is written", &["0 s untagged", "9 s tag"], "meta-tag satisfied after 9s, 0 turns"),
    (
        "and is missing again",
        &["0 s untagged", "9 s stop", "60 s untagged"],
        "meta-tag ignored after 60s, 0 turns; meta-tag open",
    ),
    (
        "a decision for the topic that was left",
        &["0 s leaves 12", "5 s records 13", "9 s records 12"],
        "topic-decision satisfied after 9s, 0 turns",
    ),
    ("a task", &["0 s task", "9 s verify"], "task-gate satisfied after 9s, 0 turns"),
    ("one of the phase's skills", &["0 s advise a+b", "9 s skill b"], "activity satisfied after 9s, 0 turns"),
    (
        "one of its files",
        &["0 s advise a+docs/spec.md", "9 s read /p/docs/spec.md"],
        "activity satisfied after 9s, 0 turns",
    ),
    (
        "the next phase begins",
        &["0 s advise a", "9 s advise b"],
        "activity ignored after 9s, 0 turns; activity open",
    ),
    (
        "the session ends",
        &["0 s deny a x", "9 s end", "20000 t prompt"],
        "skill-gate ignored after 20000s, 0 turns",
    ),
    (
        "and goes on again",
        &["0 s deny a x", "9 s end", "20 s start", "30 s skill a"],
        "skill-gate satisfied after 30s, 0 turns",
    ),
    (
        "nothing is heard of it any more",
        &["0 s deny a x", "25h t prompt"],
        "skill-gate ignored after 90000s, 0 turns",
    ),
    (
        "a person switches it off here",
        &["0 s deny a x", "9 - off skill-gate /p"],
        "skill-gate overridden after 9s, 0 turns",
    ),
    ("everywhere", &["0 s deny a x", "9 - off skill-gate"], "skill-gate overridden after 9s, 0 turns"),
    (
        "in this session",
        &["0 s deny a x", "9 - off skill-gate @s"],
        "skill-gate overridden after 9s, 0 turns",
    ),
    (
        "in another one",
        &["0 s deny a x", "9 - off skill-gate @t", "9 - off skill-gate /q"],
        "skill-gate open",
    ),
    ("another policy", &["0 s deny a x", "9 - off context-warning /p"], "skill-gate open"),
    (
        "it was off when the next hook ran",
        &["0 s deny a x", "9 s was-off skill-gate"],
        "skill-gate overridden after 9s, 0 turns",
    ),
    (
        "nobody was there to switch it off",
        &["0 s deny a x", "9 - alone-off skill-gate /p", "10 s was-off skill-gate"],
        "skill-gate open",
    ),
    ("off in another session", &["0 s deny a x", "9 t was-off skill-gate"], "skill-gate open"),
    (
        "the client is started again without it",
        &["0 s deny a x", "9 s end", "20 t variable skill-gate"],
        "skill-gate overridden after 20s, 0 turns",
    ),
    (
        "an agent starts one without it",
        &["0 s deny a x", "20 t alone-variable skill-gate"],
        "skill-gate open",
    ),
    (
        "one works beside it without",
        &[
            "0 t variable skill-gate",
            "5 s deny a x",
            "9 t with-variable skill-gate",
            "10 t variable skill-gate",
        ],
        "skill-gate open",
    ),
    (
        "one that is started in another project is no answer",
        &["0 s deny a x", "20 t:/q variable skill-gate"],
        "skill-gate open",
    ),
    (
        "neither is one that only forgets what was said",
        &["0 s deny a x", "20 t cleared-variable skill-gate"],
        "skill-gate open",
    ),
    (
        "the session goes on without it",
        &["0 s deny a x", "9 s end", "20 s variable skill-gate"],
        "skill-gate overridden after 20s, 0 turns",
    ),
    (
        "a record of before it said what it asks for",
        &["0 s deny-untold", "9 s skill a"],
        "skill-gate unknown",
    ),
    ("what asks for nothing is not settled", &["0 s tell", "9 s end"], "context-warning unasked"),
    ("what was left out for length was not said", &["0 s left-out"], ""),
    (
        "a shadow would have been satisfied",
        &["0 s shadow a x", "9 s skill a"],
        "shadowed skill-gate satisfied after 9s, 0 turns",
    ),
    (
        "a person goes through the entries, in whichever session",
        &["0 s nudge", "60 s prompt", "90 t compound"],
        "learning-reminder satisfied after 90s, 1 turns",
    ),
    ("in another project those are others", &["0 s nudge", "90 t:/q compound"], "learning-reminder open"),
    (
        "that an entry is wanted says nothing about going through them",
        &["0 s nudge", "60 s note entry", "70 s entry", "90 s compound"],
        "learning-reminder satisfied after 90s, 0 turns; learning-reminder satisfied after 10s, 0 turns",
    ),
    (
        "the model hears what the person was told",
        &["0 s nudge", "60 s note compound", "90 s compound"],
        "learning-reminder satisfied after 90s, 0 turns; learning-reminder satisfied after 30s, 0 turns",
    ),
    (
        "there are more entries, and the person is told again",
        &["0 s nudge", "60 s nudge", "90 s compound"],
        "learning-reminder ignored after 60s, 0 turns; learning-reminder satisfied after 30s, 0 turns",
    ),
    (
        "a turn is held for the next stage, which follows",
        &["0 s stage audit", "9 s skill audit", "20 - off cycle @s"],
        "cycle satisfied after 9s, 0 turns",
    ),
    (
        "somebody says that the stage is done, or cannot be, in the session or at a terminal",
        &["0 s stage audit", "9 s said audit", "60 s stage ship", "70 - said ship"],
        "cycle satisfied after 9s, 0 turns; cycle satisfied after 10s, 0 turns",
    ),
    (
        "another stage, or one of another project, is another thing",
        &["0 s stage audit", "9 s said ship", "10 t:/q said audit", "11 s skill ship"],
        "cycle open",
    ),
    (
        "it does not follow, and the turn is held once more",
        &["0 s stage audit", "60 s stage audit", "70 s stop", "90 s prompt", "99 s skill audit"],
        "cycle ignored after 60s, 0 turns; cycle satisfied after 39s, 1 turns",
    ),
    (
        "the person does not want it to",
        &["0 s stage audit", "20 - off cycle @s"],
        "cycle overridden after 20s, 0 turns",
    ),
    (
        "a shadow is nothing to override",
        &["0 s shadow a x", "9 - off skill-gate"],
        "shadowed skill-gate open",
    ),
    (
        "a shadow and the real one are two",
        &["0 s shadow a x", "9 s deny a x", "10 s skill a"],
        "shadowed skill-gate satisfied after 10s, 0 turns; skill-gate satisfied after 1s, 0 turns",
    ),
];

fn record(step: &str) -> Record {
    let words: Vec<&str> = step.split(' ').collect();
    let seconds = |text: &str| match text.strip_suffix('h') {
        Some(hours) => hours.parse::<u64>().expect("hours") * 3600,
        None => text.parse().expect("seconds"),
    };
    let names = |text: &str| text.split('+').map(str::to_owned).collect::<Vec<_>>();
    let of = |verdict: VerdictRecord, event: &str, ruling: &str| {
        let said = SaidTexts { model: verdict.says.model.clone(), ..SaidTexts::default() };
        Record {
            event: event.into(),
            ruling: ruling.into(),
            verdicts: vec![verdict],
            said,
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
    let did = |did: Deeds| Record { event: "PostToolUse".into(), did, ..Record::default() };
    let list = |text: &str| vec![text.to_owned()];
    let base = match words[2..] {
        ["deny", skills, file] => {
            of(verdict("skill-gate", "deny", Asks::skills(names(skills), file)), "PreToolUse", "deny")
        }
        ["deny-untold"] => of(verdict("skill-gate", "deny", Asks::default()), "PreToolUse", "deny"),
        ["shadow", skills, file] => {
            let shadowed = verdict("skill-gate", "deny", Asks::skills(names(skills), file));
            of(VerdictRecord { shadow: true, ..shadowed }, "PreToolUse", "pass")
        }
        ["block"] => Record {
            cost: crate::pipeline::record::HookCost { turns: 1, ..Default::default() },
            ..of(verdict("verify-stop", "deny", Asks::verified()), "Stop", "deny")
        },
        ["lets-go"] => {
            let told = SaidTexts { user: Some("not verified".into()), ..SaidTexts::default() };
            let verdict =
                VerdictRecord { says: told.clone(), ..verdict("verify-stop", "pass", Asks::default()) };
            Record { said: told, ..of(verdict, "Stop", "pass") }
        }
        ["waits"] => of(verdict("verify-stop", "pass", Asks::verified()), "Stop", "pass"),
        ["task"] => of(verdict("task-gate", "deny", Asks::verified()), "TaskCompleted", "deny"),
        ["advise", wanted] => {
            let (files, skills) = names(wanted).into_iter().partition(|name| name.contains('/'));
            of(says("activity", Asks::any(skills, files)), "UserPromptSubmit", "pass")
        }
        ["tell"] => of(says("context-warning", Asks::default()), "UserPromptSubmit", "pass"),
        ["left-out"] => Record {
            said: SaidTexts::default(),
            ..of(says("activity", Asks::any(list("a"), Vec::new())), "UserPromptSubmit", "pass")
        },
        ["nudge"] => {
            let told = SaidTexts { user: Some("a moment".into()), ..SaidTexts::default() };
            let verdict = VerdictRecord {
                says: told.clone(),
                ..verdict("learning-reminder", "pass", Asks::compound())
            };
            Record { said: told, ..of(verdict, "Stop", "pass") }
        }
        ["note", what] => {
            let asks = if what == "entry" { Asks::entry() } else { Asks::compound() };
            of(says("learning-reminder", asks), "UserPromptSubmit", "pass")
        }
        ["stage", name] => of(verdict("cycle", "deny", Asks::stage(name, name)), "Stop", "deny"),
        ["untagged"] => of(verdict("meta-tag", "deny", Asks::tag()), "Stop", "deny"),
        ["tag"] => did(Deeds { tag: true, ..Deeds::default() }),
        ["leaves", topic] => {
            let asks = Asks::topic(topic.parse().expect("a topic"));
            of(verdict("topic-decision", "deny", asks), "Stop", "deny")
        }
        ["records", topic] => did(Deeds { topic: topic.parse().ok(), ..Deeds::default() }),
        ["said", name] => did(Deeds { stage: Some(name.into()), ..Deeds::default() }),
        ["gate", number] => {
            let asks = Asks::gate(number.parse().expect("a gate"));
            of(verdict("workflow", "deny", asks), "PreToolUse", "deny")
        }
        ["full"] => of(verdict("workflow", "deny", Asks::compacted()), "PreToolUse", "deny"),
        ["passes", number] => did(Deeds { gate: number.parse().ok(), ..Deeds::default() }),
        [how @ ("skips" | "alone-skips"), number] => {
            let skipped = did(Deeds { skipped_gate: number.parse().ok(), ..Deeds::default() });
            Record { person: (how == "skips").into(), ..skipped }
        }
        ["boundary"] => did(Deeds { compacted: true, ..Deeds::default() }),
        ["compound"] => did(Deeds { compound: true, ..Deeds::default() }),
        ["entry"] => did(Deeds { entry: true, ..Deeds::default() }),
        ["stop"] => Record { event: "Stop".into(), ruling: "pass".into(), ..Record::default() },
        ["start"] => Record { event: "SessionStart".into(), ..Record::default() },
        ["end"] => Record { event: "SessionEnd".into(), ..Record::default() },
        ["prompt"] => did(Deeds { prompt: true, ..Deeds::default() }),
        ["skill", name] => did(Deeds { skills: list(name), ..Deeds::default() }),
        ["shell", file] => did(Deeds { edited_by_shell: list(file), ..Deeds::default() }),
        ["read", file] => did(Deeds { read: list(file), ..Deeds::default() }),
        ["verify"] => did(Deeds { verified: list("test"), ..Deeds::default() }),
        ["was-off", policy] => Record { off_by_command: list(policy), ..Record::default() },
        [how @ ("variable" | "alone-variable" | "cleared-variable"), policy] => Record {
            event: "SessionStart".into(),
            cause: Some(if how == "cleared-variable" { "clear" } else { "startup" }.into()),
            off: list(policy),
            person: (how != "alone-variable").into(),
            ..Record::default()
        },
        ["with-variable", policy] => Record { off: list(policy), person: Person::There, ..Record::default() },
        [how @ ("off" | "alone-off"), policy, ref place @ ..] => {
            let place = place.first().copied().unwrap_or_default();
            let person = (how == "off").into();
            let base = did(Deeds {
                switched_off: Some(SwitchedPolicy {
                    policy: policy.into(),
                    session: place.strip_prefix('@').map(str::to_owned),
                    project: place.starts_with('/').then(|| place.to_owned()),
                }),
                ..Deeds::default()
            });
            Record { person, ..base }
        }
        ["up", policy] => did(Deeds {
            stepped_up: vec![SwitchedPolicy {
                policy: policy.into(),
                project: Some("/p".into()),
                session: None,
            }],
            ..Deeds::default()
        }),
        _ => panic!("no such step: {step}"),
    };
    // `session:/project`, `session/agent`.
    let (session, project) = words[1].split_once(':').unwrap_or((words[1], "/p"));
    let (session, agent) = session.split_once('/').map_or((session, None), |(id, agent)| (id, Some(agent)));
    Record {
        at: Millis(seconds(words[0]) * 1000).iso(),
        session: (session != "-").then(|| session.to_owned()),
        agent: agent.map(str::to_owned),
        project: Some(project.into()),
        ..base
    }
}

fn folded(steps: &[&str]) -> FrictionFold {
    let mut friction = FrictionFold::default();
    for step in steps {
        friction.add_record(&record(step));
    }
    friction
}

/// Judged soon after the last step.
fn interruptions(steps: &[&str]) -> Vec<Interruption> {
    let last = steps.last().and_then(|step| Millis::from_iso(&record(step).at)).unwrap_or_default();
    folded(steps).finish(last)
}

fn described(said: &Interruption) -> String {
    let shadow = if said.shadow { "shadowed " } else { "" };
    let settlement = format!("{:?}", said.settlement).to_lowercase();
    let after = match said.settlement {
        Settlement::Open | Settlement::Unasked | Settlement::Unknown => String::new(),
        _ => format!(" after {}s, {} turns", said.after_ms / 1000, said.turns),
    };
    format!("{shadow}{} {settlement}{after}", said.policy)
}

#[test]
fn what_becomes_of_what_was_said() {
    for (name, steps, expected) in TABLE {
        let is: Vec<String> = interruptions(steps).iter().map(described).collect();
        assert_eq!(is.join("; "), *expected, "{name}");
    }
}

#[test]
fn five_of_the_last_ten() {
    // `o` is overridden, `i` ignored, `u` stepped up by hand.
    let often = |story: &str, project: &str| {
        let mut steps = Vec::new();
        for (at, c) in story.chars().enumerate() {
            let (seconds, session) = (at * 100, at);
            match c {
                'u' => steps.push(format!("{seconds} - up skill-gate")),
                // A message with several calls is one interruption.
                'o' => {
                    steps.extend((0..3).map(|_| format!("{seconds} {session} deny a x")));
                    steps.push(format!("{} - off skill-gate /p", seconds + 9));
                }
                _ => {
                    steps.push(format!("{seconds} {session} deny a x"));
                    steps.push(format!("{} {session} shell x", seconds + 9));
                }
            }
        }
        let steps: Vec<&str> = steps.iter().map(String::as_str).collect();
        folded(&steps).often_overridden("skill-gate", |found| found == project)
    };
    for (story, stepped_down) in [
        ("oooo", false),
        ("ooooo", true),
        ("oooooiiiii", true),
        ("oooooiiiiii", false),
        ("iiiiiiiiii", false),
        ("oiooioio", true),
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
            let denied = |n: usize| format!("{} {act}-{n}:/p{} deny a x", act * 100 + n, n % 2);
            steps.extend((0..6).map(denied));
            steps.push(format!("{} - {after}", act * 100 + 50));
            // Under another name of the project, the policy is seen to be off only later.
            steps.extend((0..6).map(|n| format!("{} {act}-{n} was-off skill-gate", act * 100 + 60 + n)));
        }
        let steps: Vec<&str> = steps.iter().map(String::as_str).collect();
        ["/p0", "/p1"].map(|project| folded(&steps).often_overridden("skill-gate", |found| found == project))
    };
    for after in ["off skill-gate", "off skill-gate /p0", "off skill-gate /p"] {
        assert_eq!(often(1, after), [false, false], "{after}");
        assert_eq!(often(4, after), [false, false], "{after}");
        assert_eq!(often(5, after), [true, true], "{after}");
        assert_eq!(often(9, &format!("alone-{after}")), [false, false], "{after}");
    }
    let mut restarts: Vec<String> = (0..5).map(|n| format!("{n} {n} deny a x")).collect();
    restarts.push("50 t variable skill-gate".into());
    let restarts: Vec<&str> = restarts.iter().map(String::as_str).collect();
    assert!(!folded(&restarts).often_overridden("skill-gate", |_| true), "one start of the client");
}

#[test]
fn a_message_forces_one_turn() {
    let said = interruptions(&["0 s block", "0 s block", "9 s block"]);
    assert_eq!(said.iter().map(|said| said.forced).collect::<Vec<_>>(), [1, 0, 1]);
}

#[test]
fn counted_per_policy() {
    let steps = [
        "0 s tell",
        "10 s deny a x",
        "20 s skill a",
        "30 s deny b y",
        "35 s prompt",
        "50 s skill b",
        "60 s deny c z",
        "61 s shell z",
        "70 s block",
        "80 s stop",
        "90 s shadow d x",
        "99 s skill d",
        "100 s shadow d y",
    ];
    let tallies = tally_interruptions(&interruptions(&steps));
    let names: Vec<&str> = tallies.iter().map(|tally| tally.policy.as_str()).collect();
    assert_eq!(names, ["context-warning", "skill-gate", "verify-stop"]);
    let gate = &tallies[1];
    assert_eq!((gate.spoke.denied, gate.satisfied, gate.bypassed, gate.open), (3, 2, 1, 0));
    assert_eq!((gate.median_ms, gate.median_turns), (Some(10_000), Some(0)));
    let would = gate.shadow.expect("shadowed too");
    assert_eq!((would.spoken.denied, would.anyway, would.not), (2, 1, 0));
    assert_eq!((tallies[2].spoke.blocked, tallies[2].ignored, tallies[2].forced_turns), (1, 1, 1));
    assert_eq!((tallies[0].unasked, tallies[0].spoke.total(), tallies[0].settled()), (1, 1, 0));
    let told = crate::pipeline::friction::tally_interruptions(&interruptions(&["0 s block", "9 s lets-go"]));
    assert_eq!((told[0].settled(), told[0].unasked, told[0].spoke.told), (1, 1, 1), "of the same change set");
    assert!(tallies.iter().all(|tally| !tally.is_void()), "too few to tell");
    let void: Vec<String> = (0..6).map(|n| format!("{} s block", n * 10)).collect();
    let void = crate::pipeline::friction::tally_interruptions(&interruptions(
        &void.iter().map(String::as_str).collect::<Vec<_>>(),
    ));
    assert!(void[0].is_void());
}
