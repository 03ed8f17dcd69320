//! An upgrade from 0.1.0: its install comes out without a trace, a promotion that waits can still be written, its journal is still
//! shown. `../written_by/0.1.0/README.md` says how the files were made.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tidegate_state::feature::knowledge::listed;
use tidegate_state::project;

use crate::people::{SESSION, attended, by_agent, code_of, types};
use crate::sandbox::Sandbox;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/written_by/0.1.0")
}

/// Files that a test of the crate `state` reads, too.
fn in_state(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../state/tests/written_by/0.1.0").join(name)
}

fn read(path: impl AsRef<Path>) -> String {
    let path = path.as_ref();
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn put(path: &Path, text: impl AsRef<[u8]>) {
    fs::create_dir_all(path.parent().expect("a folder")).expect("a new folder");
    fs::write(path, text).expect("a new file");
}

/// A text of 0.1.0 as it would be on this machine.
fn moved(sandbox: &Sandbox, text: &str) -> String {
    let real = |path: PathBuf| fs::canonicalize(path).expect("a folder").to_string_lossy().into_owned();
    let text = text.replace("/home/dev/app", &real(sandbox.project()));
    text.replace("/home/dev", &real(sandbox.home()))
}

/// The project as `init` of 0.1.0 left it.
fn installed() -> Sandbox {
    let sandbox = Sandbox::new();
    let text = moved(&sandbox, &read(fixtures().join("install/record.json")));
    let record: Value = serde_json::from_str(&text).expect("a record");
    for file in record["files"].as_array().expect("files") {
        let written = file["written"].as_array().and_then(|texts| texts.last()?.as_str());
        put(Path::new(file["file"].as_str().expect("a path")), written.expect("a text"));
    }
    let link = sandbox.home().join(".local/share/tidegate/bin/tidegate");
    fs::create_dir_all(link.parent().expect("a folder")).expect("a new folder");
    symlink(env!("CARGO_BIN_EXE_tidegate"), link).expect("a link");
    let project = fs::canonicalize(sandbox.project()).expect("the project");
    let folder = sandbox.state().join("installs").join(project::folder_name(&project));
    put(&folder.join("record.json"), text);
    for name in BEFORE {
        put(&folder.join(name), read(fixtures().join("install").join(name)));
    }
    sandbox
}

const BEFORE: [&str; 3] = [".gitignore.before", "config.toml.before", "settings.local.json.before"];

fn files(sandbox: &Sandbox) -> Vec<PathBuf> {
    let everything = sandbox.everything().into_iter().filter(|path| !path.starts_with(sandbox.state()));
    everything.filter(|path| !path.is_dir()).collect()
}

/// To the byte, and nothing else is left.
fn assert_gone(sandbox: &Sandbox) {
    let given_back = [
        (sandbox.project().join(".gitignore"), ".gitignore.before"),
        (sandbox.project().join(".claude/settings.local.json"), "settings.local.json.before"),
        (sandbox.home().join(".config/tidegate/config.toml"), "config.toml.before"),
    ];
    for (path, before) in &given_back {
        assert_eq!(read(path), read(fixtures().join("install").join(before)), "{before}");
    }
    let expected: BTreeSet<PathBuf> = given_back.into_iter().map(|(path, _)| path).collect();
    assert_eq!(files(sandbox).into_iter().collect::<BTreeSet<_>>(), expected);
    assert!(!sandbox.project().join(".claude/skills").exists());
}

#[test]
fn an_install_is_taken_out() {
    let sandbox = installed();
    let _ = sandbox.run(&["uninstall"]).ok();
    assert_gone(&sandbox);
}

#[test]
fn an_install_is_brought_up_to_date_and_taken_out() {
    let sandbox = installed();
    assert_eq!(sandbox.run(&["init"]).code, Some(0));
    let _ = sandbox.run(&["uninstall"]).ok();
    assert_gone(&sandbox);
}

/// 0.1.0 installed every skill. Now most of them have to be asked for.
#[test]
fn skills_that_are_in_use_stay() {
    let skills = |sandbox: &Sandbox| -> BTreeSet<String> {
        let entries = fs::read_dir(sandbox.project().join(".claude/skills")).expect("a folder").flatten();
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
    };
    let all = skills(&installed());
    let of = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
    let three = ["getting-started", "compound", "verification-before-completion"];
    let cycle = ["dev-cycle", "sprint", "audit", "ship", "retrospective"];
    let workflow = ["compaction-gates", "persisting-progress-across-sessions"];
    let rules = ["code-quality-rules", "document-quality-rules"];
    assert!(all.is_superset(&of(&[&three[..], &cycle, &workflow, &rules].concat())), "{all:?}");

    // Nothing refers to them: they go, and are named with the way back.
    let sandbox = installed().with("COLUMNS", "120");
    let said = sandbox.run(&["init"]).stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(skills(&sandbox), of(&three));
    let line = said.split_once("Skills: ").and_then(|(_, rest)| rest.split_once(" Checks: "));
    let line = line.unwrap_or_else(|| panic!("{said}")).0;
    for name in [&cycle[..], &workflow, &rules].concat() {
        assert!(line.contains(name), "{line}");
    }
    assert!(line.contains("`tidegate init --with cycle,workflow,rules`"), "{line}");
    let back = sandbox.run(&["init", "--with", "cycle,workflow,rules"]);
    assert!(back.code == Some(0) && !back.stdout.contains("Skills: "), "{back:?}");
    assert!(skills(&sandbox).is_superset(&of(&[&cycle[..], &workflow, &rules].concat())));

    let upgraded = |file: &str, text: &str, kept: &[&str], removed: &[&str]| {
        let sandbox = installed();
        put(&sandbox.project().join(file), moved(&sandbox, text));
        let parts = sandbox.run(&["init", "--json"]).json()["removed_parts"].clone();
        assert_eq!(parts, serde_json::json!(removed), "{file}");
        assert_eq!(skills(&sandbox), of(&[&three[..], kept].concat()), "{file}");
        // Also once more, when it is not an upgrade any longer.
        assert_eq!(sandbox.run(&["init", "--json"]).json()["removed_parts"], serde_json::json!([]));
        assert_eq!(skills(&sandbox), of(&[&three[..], kept].concat()), "{file}");
    };
    let state = read(in_state("app/.claude/dev-cycle.state.json"));
    upgraded(".claude/dev-cycle.state.json", &state, &cycle, &["workflow", "rules"]);
    let manifest = read(in_state("app/.claude/.output/features/search/MANIFEST.yaml"));
    upgraded(".claude/.output/features/search/MANIFEST.yaml", &manifest, &workflow, &["cycle", "rules"]);
    let required = "[skill_gate.require]\ncode = [\"code-quality-rules\"]\n";
    upgraded(".claude/tidegate.toml", required, &rules, &["cycle", "workflow"]);
    let stages = "[cycle.mine]\nstages = [{ name = \"a\", skill = \"audit\" }]\n";
    upgraded("../home/.config/tidegate/config.toml", stages, &cycle, &["workflow", "rules"]);
}

#[test]
fn a_promotion_that_waits_is_written_when_a_person_agrees() {
    let sandbox = attended();
    let progress = read(in_state("app/.claude/context/progress.md"));
    put(&sandbox.project().join(".claude/context/progress.md"), progress);
    let promotions = fs::read_dir(fixtures().join("promotions")).expect("a folder");
    for path in promotions.map(|entry| entry.expect("a file").path()) {
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let written = read(path);
        assert_eq!(listed::digest(written.as_bytes()), name, "it is called by what it says");
        let here = moved(&sandbox, &written);
        let digest = listed::digest(here.as_bytes());
        listed::keep_promotion(&sandbox.session(SESSION), here.as_bytes()).expect("a new file");
        let promote = ["compound", "promote", "--only", &digest];
        let code = code_of(&by_agent(&sandbox, &promote));
        let _ = types(&sandbox, &format!("approve {code}"));
        let _ = by_agent(&sandbox, &[&promote[..], &["--approved"]].concat()).ok();
    }
    let learned = read(sandbox.project().join(".claude/context/learnings.md"));
    assert!(
        learned.contains("## Bound every loop\n") && learned.contains("1 time | 2026-11-17"),
        "{learned}"
    );
}

const FORMER_IDS: [(&str, &str); 5] = [
    ("phase", "activity"),
    ("pressure", "context-warning"),
    ("compound-nudge", "learning-reminder"),
    ("workflow-gate", "workflow"),
    ("relay-log", "recording"),
];

#[test]
fn the_journal_is_explained_and_counted() {
    let sandbox = Sandbox::new();
    let journal = read(in_state("state/journal/2026-11-17.jsonl"));
    put(&sandbox.state().join("journal/2026-11-17.jsonl"), &journal);
    // Verdicts are told by the ids of today.
    let mut renamed = journal.clone();
    for (former, now) in FORMER_IDS {
        renamed = renamed.replace(&format!(r#""policy":"{former}""#), &format!(r#""policy":"{now}""#));
    }
    assert_ne!(renamed, journal);
    let records: Vec<Value> = renamed.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let rulings: BTreeSet<&str> = records.iter().filter_map(|record| record["ruling"].as_str()).collect();
    assert!(rulings.len() > 3, "{rulings:?}");
    for ruling in rulings {
        let record = records.iter().find(|record| record["ruling"] == ruling).expect("one");
        let id = record["id"].as_str().expect("an id");
        let explained = sandbox.run(&["explain", id, "--all", "--json"]).json();
        for member in
            ["id", "at", "event", "session", "project", "ruling", "verdicts", "meter", "said", "cost"]
        {
            assert_eq!(explained[member], record[member], "{member}");
        }
        let person = if record["attended"] == true { "there" } else { "absent" };
        assert_eq!(explained["person"], person);
        assert!(sandbox.run(&["explain", id, "--all"]).ok().contains(&id[..6]));
    }
    let report = sandbox.run(&["report", "--all", "--days", "3650", "--json"]).json();
    let overridden = |policy: &Value| policy["policy"] == "skill-gate" && policy["overridden"] == 5;
    assert!(report["policies"].as_array().is_some_and(|all| all.iter().any(overridden)), "{report:#}");
    for policy in report["policies"].as_array().expect("policies") {
        let spoke = policy["spoke"].as_object().expect("counts").values();
        let outcomes = [
            "satisfied",
            "satisfied_later",
            "ignored",
            "bypassed",
            "overridden",
            "open",
            "unasked",
            "unknown",
        ];
        let counted = outcomes.map(|outcome| policy[outcome].as_u64().unwrap_or_default());
        let spoke: u64 = spoke.filter_map(Value::as_u64).sum();
        assert_eq!(counted.iter().sum::<u64>(), spoke, "{policy:#}");
    }
    let told = report["policies"].to_string();
    assert!(told.contains("\"context-warning\"") && told.contains("\"workflow\""), "{report:#}");
    for (former, now) in FORMER_IDS {
        assert!(!told.contains(&format!("\"{former}\"")), "{report:#}");
        let lines =
            |id: &str| sandbox.run(&["journal", "--all", "--policy", id, "--last", "999"]).ok().to_owned();
        assert!(!lines(now).is_empty());
        assert_eq!(lines(former), lines(now), "{former}");
    }
}

#[test]
fn every_file_is_read_here() {
    let mut names = BTreeSet::new();
    for folder in ["install", "promotions", ""] {
        let files =
            fs::read_dir(fixtures().join(folder)).expect("a folder").map(|entry| entry.expect("a file"));
        names.extend(
            files.map(|file| Path::new(folder).join(file.file_name()).to_string_lossy().into_owned()),
        );
    }
    let is_read = |name: &String| {
        name.starts_with("promotions/")
            || name
                .strip_prefix("install/")
                .is_some_and(|name| name == "record.json" || BEFORE.contains(&name))
    };
    names.retain(|name| !is_read(name));
    assert_eq!(Vec::from_iter(names), ["README.md", "install", "promotions"]);
}
