//! `verify-stop` and `task-gate`: code that was edited is verified before work ends.

use tidegate_core::feature::marks::Mark;
use tidegate_core::feature::verification::checks;
use tidegate_core::feature::verification::checks::{CheckKind, CheckScope, Kinds, ProjectChecks, SeenFile};
use tidegate_core::feature::verification::marks::Mark as VerificationMark;
use tidegate_core::feature::verification::required_checks;
use tidegate_core::feature::verification::verify_stop;
use tidegate_core::feature::verification::work::{
    BackgroundCheck, CheckFailure, Edit, SucceededChecks, UncountedCheck, WhyNot,
};
use tidegate_core::settings::value::Value;
use tidegate_core::time::Millis;

use super::{Room, background, or_dash, plain};
use crate::situation::{Decided, Situation, ago};

const EDITED: Millis = ago(500_000);

pub(super) static VERIFY_STOP: Room = Room {
    given: &[
        ("edits", edits),
        ("background", background),
        ("last message", |case, cell| case.put("last_assistant_message", cell)),
        ("stop hook", |case, cell| case.put("stop_hook_active", cell == "active")),
        ("wants", |case, cell| case.set("verify_stop", "wants", cell)),
        ("configured", |case, cell| {
            let commands = Some(Value::from(cell)).filter(|_| cell != "-").into_iter().collect();
            case.set("verify_stop.commands", "test", Value::List(commands));
        }),
        ("project", |case, cell| case.facts.verification.checks = Some(project(cell))),
        ("files", files),
        ("passed", |case, cell| case.passed = kinds(cell)),
    ],
    expected: &[("verified", verified), ("missing", |decided| named(missing(decided))), ("listed", listed)],
    ..plain("verify-stop")
};

pub(super) static TASK_GATE: Room = Room { given: &[("edits", edits), ("task", task)], ..plain("task-gate") };

fn task(case: &mut Situation, cell: &str) {
    case.event("TaskCompleted");
    case.put("task_subject", cell);
}

pub(super) fn edit(file: &str, at: Millis) -> Mark {
    VerificationMark::Edit(Edit { file: file.into(), at, shell: false, removed: false }).into()
}

/// What the session did so far: `open, held 1, ran`.
fn edits(case: &mut Situation, cell: &str) {
    let since = ago(400_000);
    for word in cell.split(", ") {
        let check = |task: &str, at, awaited: Option<&str>| {
            let awaited = awaited.map(str::to_owned);
            let (scope, line) = (CheckScope::default(), "cargo test".to_owned());
            VerificationMark::Launched(BackgroundCheck {
                task: task.into(),
                kinds: Kinds::TEST,
                at,
                scope,
                line,
                left: Vec::new(),
                awaited,
            })
        };
        match word.split(' ').collect::<Vec<_>>().as_slice() {
            ["none"] => {}
            ["unreadable"] => case.marks_broken = true,
            ["verified"] => case.mark(VerificationMark::Verified(EDITED)),
            ["open"] => case.marks.push(edit("src/a.rs", EDITED)),
            ["ran"] => case.mark(VerificationMark::Ran),
            ["told"] => case.mark(VerificationMark::Told),
            ["asked"] => case.mark(VerificationMark::Asked),
            ["gone"] => case.facts.verification.edits_gone = true,
            ["tested"] => {
                let checked = SucceededChecks::seen_at(since, Kinds::TEST, false);
                case.mark(VerificationMark::Checked(checked));
                case.facts.verification.checks = Some(project("test"));
            }
            ["awaited"] => case.mark(check("b1", since, Some("p1"))),
            ["awaited", "before"] => case.mark(check("b1", since, Some("another prompt"))),
            // One that began before the edit proves nothing about it.
            ["check", task] if case.marks.is_empty() => case.mark(check(task, ago(600_000), None)),
            ["check", task] => case.mark(check(task, since, None)),
            ["held", times] if times.parse::<u32>().is_ok() => {
                (0..times.parse().expect("a number")).for_each(|_: u32| case.mark(VerificationMark::Held));
            }
            // As the policy itself would have marked it.
            ["held", subject] => {
                let mut earlier = Situation::new(&TASK_GATE);
                earlier.set("", "preset", "strict");
                edits(&mut earlier, "open");
                task(&mut earlier, subject);
                case.leave(earlier.decide().left().cloned());
            }
            [file] if file.contains('.') => case.marks.push(edit(file, EDITED)),
            [file, "hidden"] => {
                case.marks.push(edit(file, EDITED));
                case.mark(VerificationMark::Hidden("cargo test | tail".into()));
            }
            [file, "failed"] => {
                case.marks.push(edit(file, EDITED));
                let (kind, scope) = (CheckKind::Test, CheckScope::default());
                let failed = CheckFailure {
                    kind,
                    at: since,
                    seen: since,
                    opens: true,
                    scope,
                    line: "cargo test".into(),
                };
                case.mark(VerificationMark::Failed(failed));
            }
            [file, why @ ("unread" | "untested" | "elsewhere")] => {
                case.marks.push(edit(file, EDITED));
                let (line, why) = match *why {
                    "unread" => ("npm test", WhyNot::Unread),
                    "elsewhere" => ("cargo test", WhyNot::Elsewhere),
                    _ => ("cargo test x", WhyNot::NoTests),
                };
                case.mark(VerificationMark::Uncounted(UncountedCheck { line: line.into(), why }));
            }
            other => panic!("no such edits: {other:?}"),
        }
    }
}

fn kinds(cell: &str) -> Kinds {
    let kind = |name: &str| match name {
        "test" => Kinds::TEST,
        "typecheck" => Kinds::TYPECHECK,
        "build" => Kinds::BUILD,
        "lint" => Kinds::LINT,
        _ => Kinds::NONE,
    };
    cell.split(", ").fold(Kinds::NONE, |all, name| all.and(kind(name)))
}

fn named(kinds: Kinds) -> String {
    or_dash(kinds.iter().map(CheckKind::name).collect::<Vec<_>>().join(", "))
}

/// One of Rust, of `nothing`, or with a `Makefile` that has a target for each kind.
fn project(cell: &str) -> ProjectChecks {
    let target = |kind: &str| match kind {
        "test" => "test:\n\tpytest\n",
        "typecheck" => "typecheck:\n\tmypy .\n",
        "build" => "build:\n\tcc a.c\n",
        "lint" => "lint:\n\truff check\n",
        _ => "",
    };
    let file = |name, text| checks::read_project(&[SeenFile { folder: "", name, text: Some(text) }]);
    match cell {
        "rust" => file("Cargo.toml", "[package]\nname = \"a\"\n"),
        "nothing" => checks::read_project(&[]),
        kinds => {
            let project = file("Makefile", &kinds.split(", ").map(target).collect::<String>());
            assert_eq!(named(project.kinds()), kinds);
            project
        }
    }
}

fn files(case: &mut Situation, cell: &str) {
    let package = r#"{"scripts": {"test": "vitest run", "build": "tsc -b"}}"#;
    let seen = cell.split(", ").map(|name| SeenFile { folder: "", name, text: Some(package) });
    case.facts.verification.checks = Some(checks::read_project(&seen.collect::<Vec<_>>()));
}

fn verified(decided: &Decided) -> String {
    let Situation { facts, config, passed, .. } = &decided.case;
    let verified = required_checks::is_sufficient(facts.verification.checks.as_ref(), config, &[], *passed);
    if verified { "yes".into() } else { "no".into() }
}

fn missing(decided: &Decided) -> Kinds {
    let Situation { facts, config, passed, .. } = &decided.case;
    required_checks::missing_kinds(facts.verification.checks.as_ref(), config, &[], *passed)
}

fn listed(decided: &Decided) -> String {
    let Situation { facts, config, .. } = &decided.case;
    verify_stop::example_commands(facts.verification.checks.as_ref(), config, &[], missing(decided))
        .join(", ")
}
