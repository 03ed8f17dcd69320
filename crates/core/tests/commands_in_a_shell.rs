//! Asks a real shell whether the statuses of `shell` are true: a line that succeeds has run, with success, every command
//! that is said to decide. Lines are made at random, of functions that succeed or fail as told.

use std::fmt::Write as _;
use std::fs;
use std::process::{Command, Stdio};

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use tidegate_core::shell::{self, Status};

/// How many lines are tried; `LINES` and `SEED` in the environment try more and others.
const LINES: usize = 150;

/// Most commands of one line: all their outcomes are tried.
const MOST: usize = 4;

/// A line in which each `@` stands for one command.
fn lines() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        12 => Just("@"),
        1 => Just("! @"),
        1 => Just("time -p @"),
        1 => Just("true"),
        1 => Just("false"),
        1 => Just("exit 0"),
        1 => Just("exit 1"),
        1 => Just("exit"),
        1 => Just("exit $?"),
        1 => Just("return 1"),
        1 => Just("set -e"),
        1 => Just("set +e"),
        2 => Just("set -o pipefail"),
        1 => Just("set -eo pipefail"),
        1 => Just("@ || exit 1"),
        1 => Just("@ || exit $?"),
        1 => Just("@ || { true; exit 1; }"),
        1 => Just("@ || { rc=$?; true; exit $rc; }"),
        1 => Just("@ || false"),
        1 => Just("@; rc=$?; true; exit $rc"),
        1 => Just("@; exit $?"),
        1 => Just("@ | @; exit ${PIPESTATUS[0]}"),
        1 => Just("x=$(@)"),
        1 => Just("true $(@)"),
        1 => Just("[[ -n x ]]"),
        1 => Just("(( 1 ))"),
        1 => Just("continue"),
        1 => Just("break"),
        1 => Just("cat <<E\n@\nE\ntrue"),
    ]
    .prop_map(str::to_owned);
    leaf.prop_recursive(4, 12, 3, |inner| {
        let two = (inner.clone(), inner.clone());
        prop_oneof![
            4 => two.clone().prop_map(|(a, b)| format!("{a}; {b}")),
            4 => two.clone().prop_map(|(a, b)| format!("{a} && {b}")),
            3 => two.clone().prop_map(|(a, b)| format!("{a} || {b}")),
            3 => two.clone().prop_map(|(a, b)| format!("{a} | {b}")),
            1 => two.clone().prop_map(|(a, b)| format!("{a} & {b}")),
            1 => two.clone().prop_map(|(a, b)| format!("{a}\n{b}")),
            2 => inner.clone().prop_map(|a| format!("( {a} )")),
            2 => inner.clone().prop_map(|a| format!("{{ {a}\n}}")),
            1 => inner.clone().prop_map(|a| format!("! ( {a} )")),
            1 => two.clone().prop_map(|(a, b)| format!("if {a}; then {b}; fi")),
            1 => two.clone().prop_map(|(a, b)| format!("if ! {a}; then {b}; exit 1; fi")),
            1 => (inner.clone(), inner.clone(), inner.clone())
                .prop_map(|(a, b, c)| format!("if {a}; then {b}; else {c}; fi")),
            1 => two.clone().prop_map(|(a, b)| format!("if {a}; then {b}; else exit 1; fi")),
            1 => two.clone().prop_map(|(a, b)| format!("while {a}; do {b}; break; done")),
            1 => two.clone().prop_map(|(a, b)| format!("until {a}; do {b}; break; done")),
            2 => inner.clone().prop_map(|a| format!("for x in 1 2; do {a}; done")),
            1 => inner.clone().prop_map(|a| format!("case x in y) true;; x) {a};; esac")),
            1 => two.prop_map(|(a, b)| format!("f() {{ {a}\n}}; f; {b}")),
            2 => inner.clone().prop_map(|a| format!("bash -c '{}'", a.replace('\'', "'\\''"))),
            2 => inner.clone().prop_map(|a| format!("bash -ec '{}'", a.replace('\'', "'\\''"))),
            1 => inner.prop_map(|a| format!("eval '{}'", a.replace('\'', "'\\''"))),
        ]
    })
}

/// The line with its commands named `s0`, `s1`, …; `None` where there are too many of them.
fn named(template: &str) -> Option<(String, usize)> {
    let mut line = String::new();
    let mut count = 0;
    for part in template.split_inclusive('@') {
        line.push_str(part.trim_end_matches('@'));
        if part.ends_with('@') {
            line.push('s');
            line.push_str(&count.to_string());
            count += 1;
        }
    }
    (1..=MOST).contains(&count).then_some((line, count))
}

#[test]
fn a_command_that_decides_has_succeeded_in_every_line_that_succeeds() {
    let number = |name: &str| std::env::var(name).ok().and_then(|value| value.parse().ok());
    let wanted = number("LINES").unwrap_or(LINES);
    let seed = number("SEED").map_or(1, |seed| seed as u8);
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let mut cases = Vec::new();
    while cases.len() < wanted {
        let template = lines().new_tree(&mut runner).unwrap().current();
        let Some((line, count)) = named(&template) else { continue };
        // That would never end.
        if line.contains("continue") && (line.contains("while") || line.contains("until")) {
            continue;
        }
        let Some(script) = shell::parse(&line) else { continue };
        let name = |step: &shell::Step| step.words.first().map(|word| word.text.clone()).unwrap_or_default();
        let decides: Vec<String> = script
            .steps
            .iter()
            .filter(|step| step.status == Status::Decides)
            .map(name)
            .filter(|name| name.starts_with('s') && name.len() == 2)
            .collect();
        cases.push((line, count, decides));
    }

    // As the host does it: `eval` on the left of `&&`. What a command did goes to descriptor 9.
    let folder = tempfile::tempdir().unwrap();
    let mut program = String::from("exec 9>ran 2>/dev/null </dev/null\n");
    for number in 0..MOST {
        writeln!(program, "s{number}() {{ printf 's{number}=%s ' $((($OUT >> {number}) & 1)) >&9; return $((($OUT >> {number}) & 1)); }}; export -f s{number}").unwrap();
    }
    for (line, count, _) in &cases {
        let quoted = line.replace('\'', "'\\''");
        for out in 0..1 << count {
            writeln!(
                program,
                "(export OUT={out}; eval '{quoted}' && pwd >/dev/null); printf 'exit=%s\\n' $? >&9"
            )
            .unwrap();
        }
    }
    fs::write(folder.path().join("program"), program).unwrap();
    let done = Command::new("bash")
        .arg("program")
        .current_dir(&folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status()
        .expect("bash runs");
    assert!(done.success());

    let ran = fs::read_to_string(folder.path().join("ran")).unwrap();
    let mut runs = ran.lines();
    let (mut wrong, mut deciding, mut cautious) = (String::new(), 0, String::new());
    for (line, count, decides) in &cases {
        let mut always = vec![true; *count];
        let mut succeeded = false;
        for _ in 0..1 << count {
            let run = runs.next().expect("a line for every run");
            if !run.ends_with("exit=0") {
                continue;
            }
            succeeded = true;
            for name in decides {
                let good = run.contains(&format!("{name}=0"));
                if !good {
                    writeln!(
                        wrong,
                        "{name} decides, says the table, but the line succeeded as {run}:\n{line}\n"
                    )
                    .unwrap();
                }
            }
            for (number, always) in always.iter_mut().enumerate() {
                *always &= run.contains(&format!("s{number}=0"));
            }
        }
        deciding += decides.len();
        for (number, _) in always.iter().enumerate().filter(|(_, always)| succeeded && **always) {
            if !decides.contains(&format!("s{number}")) {
                writeln!(cautious, "s{number} could decide: {line:?}").unwrap();
            }
        }
    }
    if number("LINES").is_some() {
        println!("{deciding} decide; as many could have, in these lines at least:\n{cautious}");
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(deciding > wanted / 4, "only {deciding} commands decide: the lines are too odd to tell anything");
}
