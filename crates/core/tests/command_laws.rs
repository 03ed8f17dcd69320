//! Laws of command lines: what hides a status hides it from evidence, too, and no line ends the process.

use proptest::prelude::*;
use tidegate_core::feature::verification::checks::{
    ExtraChecks, ProjectChecks, RunPlace, SeenFile, read_project,
};
use tidegate_core::shell::{self, Status};

const PLACE: RunPlace<'static> = RunPlace { roots: &["/repo"], cwd: "/repo", end: None, links: &[] };

fn everything() -> ProjectChecks {
    let scripts = r#"{"scripts": {"test": "vitest run", "lint": "eslint ."}}"#;
    let makefile = "test:\n\tgo test ./...\n";
    read_project(&[
        SeenFile { folder: "", name: "Cargo.toml", text: Some("") },
        SeenFile { folder: "", name: "package.json", text: Some(scripts) },
        SeenFile { folder: "", name: "pyproject.toml", text: Some("") },
        SeenFile { folder: "", name: "go.mod", text: None },
        SeenFile { folder: "", name: "Makefile", text: Some(makefile) },
    ])
}

fn proves(line: &str) -> bool {
    let script = shell::parse(line);
    script.is_some_and(|script| !everything().evidence(&script, PLACE, &ExtraChecks::default()).is_empty())
}

fn checks() -> impl Strategy<Value = String> {
    let command = prop::sample::select(vec![
        "cargo test",
        "cargo clippy -- -D warnings",
        "npm test",
        "npx tsc --noEmit",
        "pytest -q",
        "go test ./...",
        "make test",
        "uv run pytest",
    ]);
    let before =
        prop::sample::select(vec!["", "cd . && ", "git status; ", "A=1 ", "timeout 60 ", "echo x | cat && "]);
    let after =
        prop::sample::select(vec!["", " > log 2>&1", " 2>&1", " && echo ok", " || exit 1", " < /dev/null"]);
    (before, command, after).prop_map(|(before, command, after)| format!("{before}{command}{after}"))
}

proptest! {
    #[test]
    fn what_proves_something_proves_nothing_once_it_is_hidden(line in checks()) {
        prop_assert!(proves(&line), "{line}");
        let hidden = [
            // In a shell of its own, so that `exit` leaves only that.
            format!("({line}) || true"),
            format!("({line}); true"),
            format!("({line}) | cat"),
            format!("({line}) &"),
            format!("! ({line})"),
            format!("if ({line}); then :; fi"),
            format!("while ({line}); do break; done"),
            format!("f() {{ {line}\n}}"),
            format!("echo \"$({line})\""),
            format!("exit 0; {line}"),
            format!("echo '{line}'"),
            format!("# {line}"),
        ];
        for hidden in hidden {
            prop_assert!(!proves(&hidden), "{hidden}");
        }
        // `… || exit 1; true` still fails where the check fails, and `… && echo ok | cat` where it does.
        if !line.contains("exit") {
            for hidden in [format!("{line}; true"), format!("{line}\ntrue"), format!("{line} || true"), format!("{line} &")] {
                prop_assert!(!proves(&hidden), "{hidden}");
            }
        }
        if !line.contains("exit") && !line.contains("echo ok") {
            prop_assert!(!proves(&format!("{line} | cat")), "{line}");
        }
    }

    #[test]
    fn what_keeps_a_status_keeps_the_proof(line in checks()) {
        let kept = [
            format!("({line})"),
            format!("{{ {line}\n}}"),
            format!("{line}\n"),
            format!("true; {line}"),
            format!("set -o pipefail; {{ {line}\n}} | cat"),
            format!("{{ {line}\n}} | tail -5; exit ${{PIPESTATUS[0]}}"),
            format!("{{ {line}\n}}; exit $?"),
            format!("bash -c '{line}'"),
            format!("eval '{line}'"),
            format!("time {{ {line}\n}}"),
        ];
        for kept in kept {
            prop_assert!(proves(&kept), "{kept}");
        }
    }

    #[test]
    fn no_text_ends_the_process(text in "\\PC{0,80}") {
        let _ = shell::parse(&text);
        let _ = proves(&text);
    }

    #[test]
    fn no_odd_line_ends_the_process(parts in prop::collection::vec(prop::sample::select(vec![
        "a", " ", "\n", ";", "&", "|", "(", ")", "{", "}", "<", ">", "<<", "'", "\"", "`", "$", "$(", "${", "((", "[[", "]]",
        "if", "then", "fi", "for", "in", "do", "done", "case", "esac", "EOF", "\\", "#", "!", "=", "é", "exit", "cargo test",
    ]), 0..40)) {
        let line = parts.concat();
        if let Some(script) = shell::parse(&line) {
            let all = everything().evidence(&script, PLACE, &ExtraChecks::default());
            prop_assert!(all.iter().all(|found| script.steps[found.step].status == Status::Decides));
        }
    }
}

#[test]
fn depth_and_length_have_an_end() {
    for (open, close) in
        [("( ", " )"), ("$(", ")"), ("{ ", "; }"), ("`", "`"), ("${a:-", "}"), ("\"$(", ")\""), ("if ", "")]
    {
        let deep = format!("{}a{}", open.repeat(4_000), close.repeat(4_000));
        assert!(deep.len() < shell::LONGEST);
        assert!(shell::parse(&deep).is_none() || open == "`", "{open}");
    }
    assert!(shell::parse(&"a".repeat(shell::LONGEST + 1)).is_none());
    assert!(shell::parse(&"a; ".repeat(600)).is_none(), "more commands than anybody writes");
    let many = "for a in 1 2 3 4; do ".repeat(6) + "b" + &"; done".repeat(6);
    assert!(shell::parse(&many).is_none(), "loops in loops are not written out without end");
    let nested = (0..6).fold("a".to_owned(), |inner, _| format!("eval {}", shell_quoted(&inner)));
    assert!(shell::parse(&nested).is_some());
}

fn shell_quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}
