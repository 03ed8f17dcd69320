//! `tidegate memory`, as a person and an agent use it.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tidegate_core::feature::marks::{ClientProcess, SessionMark};

use crate::answer::Ran;
#[cfg(target_os = "linux")]
use crate::people::at_terminal;
use crate::people::{SESSION, attended, by_agent, code_of, types};
use crate::sandbox::{Running, Sandbox};
use crate::worker::Machine;

fn memory(sandbox: &Sandbox, args: &[&str]) -> Ran {
    sandbox.run(&[&["memory"], args].concat())
}

fn ok(ran: &Ran) -> &Ran {
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{ran:?}");
    ran
}

/// What went wrong, in one text.
fn refused(ran: &Ran) -> String {
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""), "{ran:?}");
    ran.stderr.clone()
}

fn exported(sandbox: &Sandbox) -> Vec<Value> {
    let ran = memory(sandbox, &["export"]);
    ok(&ran).stdout.lines().map(|line| serde_json::from_str(line).expect("JSON lines")).collect()
}

fn log(uid: &str, session: &str, topic: &str, text: &str, at: u64) -> String {
    json!({"kind": "log", "uid": uid, "topic": topic, "session": session, "title": text, "text": text,
        "source": "relay", "at": 1_790_000_000_000_u64 + at, "updated": 1_790_000_000_000_u64 + at})
    .to_string()
}

/// A store with a project, a topic, two sessions, and logs.
fn filled(sandbox: &Sandbox) {
    let key = sandbox.project().join(".git");
    let lines = [
        json!({"kind": "project", "uid": "p", "key": key, "name": "shop", "created": 1, "updated": 1}).to_string(),
        json!({"kind": "topic", "uid": "t", "project": "p", "title": "Search", "status": "open", "created": 2, "updated": 2})
            .to_string(),
        json!({"kind": "session", "uid": "s1", "project": "p", "root": "/shop", "created": 3, "updated": 3}).to_string(),
        json!({"kind": "session", "uid": "s2", "project": "p", "root": "/shop", "created": 3, "updated": 3}).to_string(),
        log("a1", "s1", "t", "The busy timeout is five seconds", 1000),
        log("a2", "s1", "t", "検索の設計を変更した", 2000),
        log("b1", "s2", "t", "An evil \u{1b}]0;title\u{7}\u{1b}[31m text", 3000),
    ];
    let ran = sandbox.run_with(&["memory", "import"], lines.join("\n").as_bytes());
    assert_eq!(
        ok(&ran).words(),
        "Imported 7 new rows; 0 changed, 0 already here, 0 left out because you deleted them."
    );
}

#[test]
fn before_anything_was_recorded() {
    let sandbox = Sandbox::new();
    assert_eq!(ok(&memory(&sandbox, &["search", "x", "--json"])).json(), json!({"results": []}));
    assert_eq!(ok(&memory(&sandbox, &["list", "--json"])).json(), json!({"topics": [], "next": null}));
    assert_eq!(ok(&memory(&sandbox, &["export"])).stdout, "");
    assert_eq!(ok(&memory(&sandbox, &["check"])).stdout, "Tidegate has not recorded anything yet.\n");
    assert_eq!(ok(&memory(&sandbox, &["stats"])).stdout, "Tidegate has not recorded anything yet.\n");
    assert!(
        refused(&memory(&sandbox, &["show", "topic", "1"]))
            .contains("Tidegate has not recorded anything yet\nhint: ")
    );
    assert!(!sandbox.home().join(".local/share/tidegate/memory").exists(), "looking makes nothing");
}

#[test]
fn topics_decisions_and_logs_by_hand() {
    let sandbox = Sandbox::new();
    let added = ok(&memory(&sandbox, &["topic", "add", "Search in two languages", "--json"])).json();
    let id = added["id"].as_i64().unwrap().to_string();
    assert_eq!((&added["title"], &added["status"]), (&json!("Search in two languages"), &json!("open")));
    let decision =
        ok(&memory(&sandbox, &["decision", "add", &id, "Bigrams", "--reason", "no dictionary", "--json"]))
            .json();
    let first = decision["id"].as_i64().unwrap().to_string();
    let ran = memory(&sandbox, &["decision", "supersede", &first, "Bigrams and single characters"]);
    assert!(ok(&ran).stdout.contains(&format!("replaces decision {first}.")), "{ran:?}");
    let ran = sandbox.run_with(&["memory", "log", "add", &id, "-"], b"First line\nsecond line\n");
    assert!(ok(&ran).stdout.contains("First line"), "{ran:?}");

    let listed = ok(&memory(&sandbox, &["list", "decisions"])).stdout.clone();
    assert!(
        listed.starts_with("2  Bigrams and single characters\n") && listed.lines().count() == 2,
        "{listed}"
    );
    let listed = ok(&memory(&sandbox, &["list", "decisions", "--all"])).words();
    assert!(listed.contains("replaced by decision 2"), "{listed}");
    let shown = ok(&memory(&sandbox, &["show", "topic", &id])).stdout.clone();
    assert!(
        ["Search in two languages", "Bigrams", "First line"].iter().all(|part| shown.contains(part)),
        "{shown}"
    );
    let shown = ok(&memory(&sandbox, &["show", "decision", &first])).stdout.clone();
    assert!(shown.contains("reason   no dictionary\n"), "{shown}");

    ok(&memory(&sandbox, &["topic", "edit", &id, "--title", "Search"]));
    ok(&memory(&sandbox, &["topic", "close", &id]));
    assert!(ok(&memory(&sandbox, &["list", "--closed"])).stdout.contains("Search"));
    assert_eq!(memory(&sandbox, &["list", "--open"]).stdout, "");
    ok(&memory(&sandbox, &["topic", "reopen", &id]));
    ok(&memory(&sandbox, &["decision", "retract", &first]));

    let error = refused(&memory(&sandbox, &["topic", "close", "999"]));
    assert!(error.contains("there is no topic 999") && error.contains("hint:"), "{error}");
    let error = refused(&memory(&sandbox, &["topic", "add", "x", "--project", "harbour"]));
    assert!(error.contains("no project `harbour`") && error.contains("(id 1)"), "{error}");
    assert!(refused(&memory(&sandbox, &["topic", "add", " "])).contains("empty"));
    assert_eq!(memory(&sandbox, &["topic", "edit", &id]).code, Some(2));
}

#[test]
fn a_search_finds_both_languages_and_prints_what_was_agreed() {
    let sandbox = Sandbox::new();
    filled(&sandbox);
    let found = ok(&memory(&sandbox, &["search", "設計", "--json"])).json();
    assert_eq!(
        found,
        json!({"results": [{"kind": "log", "id": "a2", "title": "検索の設計を変更した", "snippet": "検索の**設計**を変更した",
            "project": "shop", "topic": "Search", "at": "2026-09-21T14:13:22.000Z", "by": "conversation, session s1"}]})
    );
    let ids = |args: &[&str]| -> Vec<String> {
        let ran = memory(&sandbox, &[&["search", "--json"], args].concat());
        let results = ok(&ran).json()["results"].as_array().unwrap().clone();
        results.iter().map(|hit| hit["id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(ids(&["\"busy timeout\""]), ["a1"]);
    assert_eq!(ids(&["busy", "timeout", "--project", "shop", "--session", "s1"]), ["a1"]);
    assert_eq!(ids(&["busy", "--since", "2026-09-22"]), Vec::<String>::new());
    assert_eq!(ids(&["busy", "--since", "2026-09-21", "--until", "2026-09-21"]), ["a1"]);
    assert_eq!(ids(&["search", "--kind", "topic"]).len(), 1);
    assert_eq!(ids(&["text", "--kind", "decision"]), Vec::<String>::new());
    for question in ["", "\"", "(", "a AND", "'; DROP TABLE log", "*"] {
        assert_eq!(ids(&[question]).len(), 0, "{question}");
    }
    let error = refused(&memory(&sandbox, &["search", "x", "--project", "nowhere"]));
    assert!(error.contains("shop (id 1)"), "{error}");
    let ran = memory(&sandbox, &["search", "busy"]);
    assert!(ok(&ran).stdout.contains("The busy timeout"), "{ran:?}");
}

#[test]
fn what_was_said_does_not_speak_to_the_terminal() {
    let sandbox = Sandbox::new();
    filled(&sandbox);
    for args in [
        &["search", "evil"][..],
        &["list", "logs"],
        &["show", "log", "b1"],
        &["show", "session", "s2"],
        &["show", "topic", "1"],
    ] {
        let ran = memory(&sandbox, args);
        assert!(ok(&ran).stdout.contains("evil"), "{ran:?}");
        assert!(!ran.stdout.contains('\u{1b}') && !ran.stdout.contains('\u{7}'), "{ran:?}");
    }
}

#[test]
fn lists_come_in_pages() {
    let sandbox = Sandbox::new();
    filled(&sandbox);
    let mut after: Option<String> = None;
    let mut uids = Vec::new();
    loop {
        let mut args = vec!["list", "logs", "--limit", "2", "--json", "--project", "shop"];
        if let Some(after) = &after {
            args.extend(["--after", after]);
        }
        let page = ok(&memory(&sandbox, &args)).json();
        uids.extend(
            page["logs"].as_array().unwrap().iter().map(|log| log["uid"].as_str().unwrap().to_owned()),
        );
        match page["next"].as_str() {
            None => break,
            Some(next) => after = Some(next.to_owned()),
        }
    }
    assert_eq!(uids, ["b1", "a2", "a1"]);
    let ran = memory(&sandbox, &["list", "logs", "--limit", "1"]);
    assert!(ran.stderr.starts_with("hint: show more with `--after "), "{ran:?}");
    assert!(refused(&memory(&sandbox, &["list", "logs", "--after", "x"])).contains("no such page"));
    assert_eq!(memory(&sandbox, &["list", "logs", "--since", "yesterday"]).code, Some(2));
}

#[test]
fn an_export_goes_into_another_machine_and_back() {
    let (one, other) = (Sandbox::new(), Sandbox::new());
    filled(&one);
    ok(&memory(&one, &["decision", "add", "1", "Bigrams"]));
    let text = ok(&memory(&one, &["export"])).stdout.clone();
    let mut reversed: Vec<&str> = text.lines().collect();
    reversed.reverse();
    let file = other.path().join("memory.jsonl");
    fs::write(&file, reversed.join("\n")).unwrap();
    let ran = memory(&other, &["import", file.to_str().unwrap(), "--json"]);
    assert_eq!(ok(&ran).json(), json!({"new": 8, "changed": 0, "kept": 0, "forgotten": 0, "left": 0}));
    assert_eq!(exported(&other), exported(&one));
    let ran = other.run_with(&["memory", "import", "-"], text.as_bytes());
    assert_eq!(
        ok(&ran).words(),
        "Imported 0 new rows; 0 changed, 8 already here, 0 left out because you deleted them."
    );
    let kinds: Vec<String> =
        exported(&one).iter().map(|row| row["kind"].as_str().unwrap().to_owned()).collect();
    assert_eq!(kinds, ["project", "topic", "session", "session", "log", "log", "log", "decision"]);
}

#[test]
fn an_import_replaces_nothing_without_a_person() {
    let sandbox = Sandbox::new();
    filled(&sandbox);
    let hostile =
        [log("a1", "s1", "t", "as an attacker has it", 9000), log("c1", "s1", "t", "new", 3000)].join("\n");
    let ran = sandbox.run_with(&["memory", "import", "--json"], hostile.as_bytes());
    let imported: Value = serde_json::from_str(ran.ok()).expect("JSON");
    assert_eq!(
        (&imported["new"], &imported["changed"], &imported["left"]),
        (&json!(1), &json!(0), &json!(1))
    );
    let exported = memory(&sandbox, &["export"]);
    assert!(
        exported.ok().contains("is five seconds") && !exported.stdout.contains("attacker"),
        "{exported:?}"
    );
    // At a terminal the person is asked, and no is no.
    #[cfg(target_os = "linux")]
    {
        let file = sandbox.path().join("hostile.jsonl");
        fs::write(&file, &hostile).expect("a new file");
        let import = ["memory", "import", file.to_str().expect("a path")];
        let no = at_terminal(&sandbox, &import, "\n");
        let asked = "log a1: The busy timeout is five seconds → as an attacker has it (text";
        assert!(no.stdout.contains("The import replaces 1 row here:"), "{no:?}");
        assert!(
            no.stdout.contains(asked)
                && no.stdout.contains("Left 1 row out: the rows here stay as they are."),
            "{no:?}"
        );
        assert!(!no.stdout.contains("at a terminal"), "{no:?}");
        let yes = at_terminal(&sandbox, &import, "y\n");
        assert!(yes.stdout.contains("1 changed"), "{yes:?}");
        assert!(memory(&sandbox, &["export"]).ok().contains("attacker"));
    }
}

fn import(sandbox: &Sandbox, lines: &[String]) -> Value {
    let ran = sandbox.run_with(&["memory", "import", "--json"], lines.join("\n").as_bytes());
    serde_json::from_str(ran.ok()).expect("JSON")
}

fn decision(uid: &str, topic: &str, text: &str, supersedes: Option<&str>) -> String {
    let at = 1_790_000_000_000_u64;
    json!({"kind": "decision", "uid": uid, "topic": topic, "text": text, "supersedes": supersedes, "created": at,
        "updated": at})
    .to_string()
}

/// Only one of the two would be compared with the row that is here.
#[test]
fn a_row_that_an_import_names_twice_is_refused() {
    let sandbox = Sandbox::new();
    filled(&sandbox);
    let before = exported(&sandbox);
    let twice = [log("a1", "s1", "t", "as an attacker has it", 9000), log("a1", "s1", "t", "harmless", 1)];
    let ran = sandbox.run_with(&["memory", "import"], twice.join("\n").as_bytes());
    let error = refused(&ran);
    assert!(error.contains("line 2: the row is there twice, first in line 1"), "{error}");
    assert_eq!(exported(&sandbox), before);
}

#[test]
fn an_import_supersedes_no_decision_without_a_person() {
    let sandbox = Sandbox::new();
    filled(&sandbox);
    import(&sandbox, &[decision("d1", "t", "Bigrams", None)]);
    // The last one supersedes a decision that is left out.
    let hostile = [
        decision("d3", "t", "Nothing", Some("d2")),
        decision("d2", "t", "Trigrams", Some("d1")),
        decision("d4", "t", "Five seconds", None),
    ];
    let imported = import(&sandbox, &hostile);
    assert_eq!((&imported["new"], &imported["left"]), (&json!(1), &json!(2)), "{imported}");
    let standing = || ok(&memory(&sandbox, &["list", "decisions"])).stdout.clone();
    assert!(standing().contains("Bigrams") && !standing().contains("Trigrams"), "{}", standing());
    #[cfg(target_os = "linux")]
    {
        let file = sandbox.path().join("hostile.jsonl");
        fs::write(&file, hostile.join("\n")).expect("a new file");
        let import = ["memory", "import", file.to_str().expect("a path")];
        let no = at_terminal(&sandbox, &import, "n\n");
        assert!(no.stdout.contains("decision 1: Bigrams → Trigrams (a new decision)"), "{no:?}");
        assert!(no.stdout.contains("the rows here stay as they are"), "{no:?}");
        assert!(standing().contains("Bigrams"), "{}", standing());
        let yes = at_terminal(&sandbox, &import, "y\n");
        assert!(yes.stdout.contains("Imported 2 new rows"), "{yes:?}");
        assert!(standing().contains("Nothing") && !standing().contains("Bigrams"), "{}", standing());
    }
}

/// The question names the change that the text does not show.
#[cfg(target_os = "linux")]
#[test]
fn the_question_of_an_import_shows_every_kind_of_change() {
    let sandbox = Sandbox::new();
    filled(&sandbox);
    let long = "the same words ".repeat(20);
    import(
        &sandbox,
        &[
            decision("d1", "t", "Bigrams", None),
            decision("d2", "t", &format!("{long}and no keys in logs"), None),
        ],
    );
    let ends = decision("d2", "t", &format!("{long}and keys in logs"), None)
        .replace("\"updated\":1790000000000", "\"updated\":1790000000001");
    let mut retracted: Value = serde_json::from_str(&decision("d1", "t", "Bigrams", None)).expect("JSON");
    retracted["updated"] = json!(1_790_000_000_001_u64);
    retracted["retracted"] = json!(7);
    let logs = (0..12).map(|n| log(&format!("n{n}"), "s1", "t", "old", 1)).collect::<Vec<_>>();
    import(&sandbox, &logs);
    let mut lines = (0..12).map(|n| log(&format!("n{n}"), "s1", "t", "new", 2)).collect::<Vec<_>>();
    lines.extend([retracted.to_string(), ends]);
    let file = sandbox.path().join("changes.jsonl");
    fs::write(&file, lines.join("\n")).expect("a new file");
    let no = at_terminal(&sandbox, &["memory", "import", file.to_str().expect("a path")], "n\n");
    for part in [
        "replaces 14 rows here",
        "decision 1: Bigrams; retracted: nothing → 7",
        "and no keys in logs → …",
        "and 4 more",
    ] {
        assert!(no.stdout.contains(part), "{part}: {no:?}");
    }
}

#[test]
fn an_agent_imports_only_into_its_own_project() {
    let sandbox = attended();
    fs::create_dir(sandbox.project().join(".git")).expect("a new folder");
    filled(&sandbox);
    let shop = sandbox.project().join(".git");
    let project = |uid: &str, key: &Path, name: &str| {
        json!({"kind": "project", "uid": uid, "key": key, "name": name, "created": 1, "updated": 1})
            .to_string()
    };
    let topic = |uid: &str, project: &str, parent: Option<&str>| {
        json!({"kind": "topic", "uid": uid, "project": project, "parent": parent, "title": "Prices", "status": "open",
            "created": 2, "updated": 2})
        .to_string()
    };
    let session =
        json!({"kind": "session", "uid": "s9", "project": "p2", "root": "/", "created": 3, "updated": 3});
    let elsewhere = Path::new("/elsewhere/bank/.git");
    import(&sandbox, &[project("p2", elsewhere, "bank"), topic("t2", "p2", None)]);
    let before = exported(&sandbox);
    let by = |lines: &[String]| {
        let file = sandbox.path().join("rows.jsonl");
        fs::write(&file, lines.join("\n")).expect("a new file");
        by_agent(&sandbox, &["memory", "import", file.to_str().expect("a path")])
    };
    for lines in [
        vec![decision("d1", "t2", "Give in", None)],
        vec![topic("t9", "p2", None)],
        vec![topic("t9", "p", Some("t2"))],
        vec![project("p9", Path::new("/elsewhere/new/.git"), "new")],
        vec![project("p9", &shop, "another name"), topic("t9", "p9", None)],
        vec![session.to_string()],
        // The file says that it moved here: the memory's own row counts.
        vec![project("p2", &shop, "bank"), decision("d1", "t2", "Give in", None)],
    ] {
        let error = refused(&by(&lines));
        assert!(
            error.contains("new rows belong to other projects than this session's"),
            "{lines:?}: {error}"
        );
        assert_eq!(exported(&sandbox), before, "{lines:?}");
    }
    let own =
        [topic("t9", "p", Some("t")), decision("d1", "t9", "Whole cents", None), topic("t2", "p2", None)];
    let ran = by(&own);
    assert_eq!(
        ok(&ran).words(),
        "Imported 2 new rows; 0 changed, 1 already here, 0 left out because you deleted them."
    );
    // Nor is a topic of its own made part of another project's.
    let error = refused(&by_agent(&sandbox, &["memory", "topic", "edit", "1", "--parent", "2"]));
    assert!(error.contains("belongs to the project bank"), "{error}");
}

/// A command line below an agent's shell, in another project, with these variables of the client left.
#[cfg(target_os = "linux")]
fn below_agent(sandbox: &Sandbox, folder: &Path, session: Option<&str>, line: &str, input: &str) -> Ran {
    let named = session.map_or(String::new(), |id| format!("CLAUDE_CODE_SESSION_ID={id}"));
    let script = format!(
        "env -u CLAUDECODE -u CLAUDE_CODE_SESSION_ID -u CLAUDE_PROJECT_DIR {named} \"$0\" {line}; exit $?"
    );
    let mut command = std::process::Command::new("sh");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_tidegate")]).env_clear();
    command
        .envs(sandbox.command(&[]).get_envs().filter_map(|(name, value)| Some((name, value?))))
        .env("CLAUDECODE", "1")
        .env("CLAUDE_CODE_SESSION_ID", SESSION)
        .current_dir(folder);
    let mut running = Running::start(command);
    running.send(input.as_bytes());
    running.close();
    running.end()
}

#[cfg(target_os = "linux")]
#[test]
fn an_agent_without_its_session_writes_into_no_project() {
    let sandbox = attended();
    let other = sandbox.path().join("other");
    fs::create_dir_all(other.join(".git")).expect("a new folder");
    let by_person = |args: &[&str]| {
        let mut command = sandbox.command(args);
        command.current_dir(&other).env_remove("CLAUDE_PROJECT_DIR");
        let mut running = Running::start(command);
        running.close();
        ok(&running.end()).stdout.clone()
    };
    by_person(&["memory", "topic", "add", "Theirs"]);
    by_person(&["memory", "decision", "add", "1", "Theirs"]);
    // A session there, of another client.
    let folder = sandbox.session("in-other");
    let marks = [
        SessionMark::Root(other.to_string_lossy().into_owned()).into(),
        SessionMark::Client(ClientProcess { process: 1, since: 1 }).into(),
    ];
    tidegate_state::session::marks::lock_shared(&folder).expect("a folder").append(&marks).expect("marks");
    let before = exported(&sandbox);
    let row = before.iter().find(|row| row["kind"] == "project").expect("a project")["uid"].clone();
    let rows = json!({ "kind": "topic", "uid": "evil", "project": row, "title": "evil", "status": "open",
        "created": 1, "updated": 1 })
    .to_string();
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": { "name": "add_topic", "arguments": { "title": "evil" } } })
    .to_string()
        + "\n";
    for (session, why) in [
        (None, "it does not name a session"),
        (Some("unseen"), "session unseen has not been seen"),
        (Some("in-other"), "it does not run in session in-other"),
    ] {
        for (line, input) in [
            ("memory decision supersede 1 evil", ""),
            ("memory decision retract 1", ""),
            ("memory decision edit 1 --text evil", ""),
            ("memory decision add 1 evil", ""),
            ("memory topic add evil", ""),
            ("memory topic close 1", ""),
            ("memory topic edit 1 --title evil", ""),
            ("memory log add 1 evil", ""),
            ("memory import", rows.as_str()),
        ] {
            let ran = below_agent(&sandbox, &other, session, line, input);
            let said = format!("error: nothing was written: an agent runs this command, and {why}\n");
            assert!(ran.code == Some(1) && ran.stderr.starts_with(&said), "{line}: {ran:?}");
        }
        let told = below_agent(&sandbox, &other, session, "mcp", &call).stdout;
        assert!(told.contains("nothing was written") && told.contains(why), "{told}");
    }
    assert_eq!(exported(&sandbox), before);
    // In its own session it writes into its own project, wherever it stands, and says who it is.
    let own = below_agent(&sandbox, &other, Some(SESSION), "memory topic add Mine --json", "");
    let own: Value = serde_json::from_str(&ok(&own).stdout).expect("JSON");
    assert_eq!(own["in_project"]["name"], "project", "{own}");
    let line = format!("memory decision add {} Mine --json", own["id"]);
    let made = below_agent(&sandbox, &other, Some(SESSION), &line, "");
    let made: Value = serde_json::from_str(&ok(&made).stdout).expect("JSON");
    assert_eq!(made["session"], SESSION, "{made}");
    let theirs = below_agent(&sandbox, &other, Some(SESSION), "memory decision supersede 1 evil", "");
    assert!(theirs.stderr.contains("this belongs to the project other"), "{theirs:?}");
}

#[test]
fn lists_name_the_session_that_recorded() {
    let sandbox = attended();
    fs::create_dir(sandbox.project().join(".git")).expect("a new folder");
    filled(&sandbox);
    let _ = by_agent(&sandbox, &["memory", "decision", "add", "1", "Bigrams"]).ok();
    ok(&memory(&sandbox, &["decision", "add", "1", "Whole cents"]));
    let by = |list: &Value| -> Vec<String> {
        list.as_array().unwrap().iter().map(|row| row["by"].as_str().unwrap().to_owned()).collect()
    };
    let listed = ok(&memory(&sandbox, &["list", "decisions", "--json"])).json();
    let mut authors = by(&listed["decisions"]);
    authors.sort();
    assert_eq!(authors, ["agent, session 91b38a40", "author not recorded"]);
    let listed = ok(&memory(&sandbox, &["list", "logs", "--json"])).json();
    assert_eq!(by(&listed["logs"])[0], "conversation, session s2");
    let shown = ok(&memory(&sandbox, &["show", "decision", "1", "--json"])).json();
    assert_eq!(shown["by"], "agent, session 91b38a40");
    for args in [&["list", "decisions"][..], &["show", "decision", "1"], &["show", "topic", "1"]] {
        let ran = memory(&sandbox, args);
        assert!(ok(&ran).words().contains("agent, session 91b38a40"), "{ran:?}");
    }
}

#[test]
fn an_import_is_all_or_nothing() {
    let sandbox = Sandbox::new();
    filled(&sandbox);
    let before = exported(&sandbox);
    let good = log("new", "s1", "t", "new", 9);
    for (lines, said) in [
        (format!("{good}\nnonsense\n\n{{\"kind\": \"dance\"}}\n"), &["line 2:", "line 4:"][..]),
        (
            format!("{good}\n{}", log("lost", "s1", "nowhere", "x", 9)),
            &["nothing was imported", "no topic nowhere"],
        ),
        (format!("{good}\n{{\"kind\": \"log\"}}"), &["line 2:", "missing field"]),
        (format!("{good}\n\u{0}\u{1}"), &["line 2:"]),
    ] {
        let ran = sandbox.run_with(&["memory", "import"], lines.as_bytes());
        let error = refused(&ran);
        assert!(said.iter().all(|part| error.contains(part)), "{error}");
        assert_eq!(exported(&sandbox), before);
    }
    let key = format!("ghp_{}", "a1B2".repeat(9));
    let ran = sandbox.run_with(&["memory", "import"], log("secret", "s1", "t", &key, 9).as_bytes());
    ok(&ran);
    assert!(!ok(&memory(&sandbox, &["export"])).stdout.contains(&key));
    let missing = sandbox.path().join("missing.jsonl");
    assert!(refused(&memory(&sandbox, &["import", missing.to_str().unwrap()])).contains("missing.jsonl"));
}

#[cfg(unix)]
#[test]
fn an_import_reads_files_and_not_devices_and_not_for_ever() {
    let sandbox = Sandbox::new();
    let pipe = sandbox.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo").success());
    for path in ["/dev/zero", &pipe.to_string_lossy()] {
        let ran = memory(&sandbox, &["import", path]);
        assert!(refused(&ran).starts_with(&format!("error: cannot read {path}: not a file\n")), "{ran:?}");
    }
    let long = vec![b' '; 5 * 1024 * 1024];
    for given in [["memory", "import"].as_slice(), &["memory", "import", "-"]] {
        let ran = sandbox.run_with(given, &long);
        assert!(
            refused(&ran).starts_with("error: nothing was imported: line 1 is longer than 4 MiB\n"),
            "{ran:?}"
        );
    }
    let file = sandbox.path().join("memory.jsonl");
    fs::write(&file, &long).expect("a file");
    let ran = memory(&sandbox, &["import", &file.to_string_lossy()]);
    assert!(refused(&ran).contains("line 1 is longer than 4 MiB"), "{ran:?}");
}

fn holding(folder: &Path, needle: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(holding(&path, needle));
        } else if fs::read(&path)
            .is_ok_and(|bytes| bytes.windows(needle.len()).any(|part| part == needle.as_bytes()))
        {
            found.push(path);
        }
    }
    found
}

#[cfg(target_os = "linux")]
#[test]
fn a_person_forgets_at_a_terminal() {
    let sandbox = Sandbox::new();
    filled(&sandbox);
    ok(&memory(&sandbox, &["backup"]));
    let ran = at_terminal(&sandbox, &["memory", "forget", "log", "a1"], "n\n");
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert_eq!(exported(&sandbox).len(), 7);
    let ran = at_terminal(&sandbox, &["memory", "forget", "session", "s1"], "y\n");
    assert!(
        ran.code == Some(0) && ran.stdout.contains("Deleted 3 rows from the store and its copies."),
        "{ran:?}"
    );
    assert_eq!(exported(&sandbox).len(), 4);
    for word in ["busy timeout", "timeout", "設計"] {
        assert_eq!(holding(sandbox.path(), word), Vec::<PathBuf>::new(), "{word}");
    }
    let ran =
        sandbox.run_with(&["memory", "import"], log("a1", "s2", "t", "back again", 9_999_999).as_bytes());
    assert_eq!(
        ok(&ran).words(),
        "Imported 0 new rows; 0 changed, 0 already here, 1 left out because you deleted them."
    );
}

#[test]
fn an_agent_forgets_only_what_a_person_approved() {
    let sandbox = attended();
    filled(&sandbox);
    let ran = by_agent(&sandbox, &["memory", "forget", "project", "shop"]);
    // By its name, and with what goes with it: a number says nothing to a person.
    assert!(ran.stdout.contains("(This deletes project shop ("), "{ran:?}");
    assert!(ran.stdout.contains("This deletes project shop (1) for good"), "{ran:?}");
    let code = code_of(&ran);
    let again = ["memory", "forget", "project", "shop", "--approved"];
    assert!(refused(&by_agent(&sandbox, &again)).contains("there is no approval"));
    let _ = types(&sandbox, &format!("approve {code}"));
    let ran = by_agent(&sandbox, &again);
    assert!(ok(&ran).stdout.contains("Deleted 7 rows"), "{ran:?}");
    assert_eq!(exported(&sandbox), Vec::<Value>::new());
    let nobody = Sandbox::new();
    filled(&nobody);
    let error = refused(&memory(&nobody, &["forget", "log", "a1"]));
    assert!(error.contains("needs a person's yes") && error.contains("\"memory forget\""), "{error}");
    nobody.config("[approval]\nunattended = [\"memory forget\"]\n");
    ok(&memory(&nobody, &["forget", "log", "a1"]));
}

/// A decision of the person, found in an exchange.
fn of_person(sandbox: &Sandbox) {
    fs::create_dir_all(sandbox.project().join(".git")).expect("a new folder");
    filled(sandbox);
    let mut row: Value =
        serde_json::from_str(&decision("a1:0", "t", "Which queue? → SQS", None)).expect("JSON");
    row["taken_by"] = json!("person");
    row["session"] = json!("s1");
    import(sandbox, &[row.to_string()]);
}

#[test]
fn an_agent_changes_a_decision_of_the_person_only_after_their_yes() {
    let sandbox = attended();
    of_person(&sandbox);
    let shown = || ok(&memory(&sandbox, &["show", "decision", "1"])).words();
    for args in [
        &["memory", "decision", "edit", "1", "--text", "Redis"][..],
        &["memory", "decision", "retract", "1"],
        &["memory", "decision", "supersede", "1", "Redis"],
        &["memory", "decision", "confirm", "1"],
    ] {
        let ran = by_agent(&sandbox, args);
        assert!(ran.stdout.contains("Which queue? → SQS"), "it shows what is meant: {ran:?}");
        let _ = code_of(&ran);
        assert!(refused(&by_agent(&sandbox, &[args, &["--approved"]].concat())).contains("no approval"));
        // Detached and without its variables, an agent looks like a person without a terminal.
        let ran = sandbox.run(args);
        assert!(refused(&ran).contains("needs a person's yes"), "{ran:?}");
    }
    assert!(shown().contains("SQS") && !shown().contains("taken back"), "{}", shown());
    let edit = ["memory", "decision", "edit", "1", "--text", "Which queue? → Redis"];
    let code = code_of(&by_agent(&sandbox, &edit));
    let _ = types(&sandbox, &format!("approve {code}"));
    ok(&by_agent(&sandbox, &[&edit[..], &["--approved"]].concat()));
    let text = shown();
    assert!(text.contains("Decision 1 Which queue? → Redis"), "{text}");
    assert!(text.contains("Until ") && text.contains("Which queue? → SQS"), "the old text stays: {text}");
    let records = sandbox.records();
    let did = records.iter().find(|record| record["event"] == "tidegate memory decision edit 1");
    let did = did.expect("a record of the change");
    assert!(did["cause"].as_str().is_some_and(|how| how.contains(&code)), "{did}");
    // With the decision goes what it said before.
    sandbox.config("[approval]\nunattended = [\"memory forget\"]\n");
    ok(&memory(&sandbox, &["forget", "decision", "1"]));
    // The requests quoted it: they are in the session's state and in the journal for as long as these last.
    let quoted =
        |path: &PathBuf| path.ends_with("marks") || path.starts_with(sandbox.path().join("state/journal"));
    let left: Vec<PathBuf> =
        holding(sandbox.path(), "SQS").into_iter().filter(|path| !quoted(path)).collect();
    assert_eq!(left, Vec::<PathBuf>::new());
}

#[test]
fn an_agent_changes_its_own_decisions_freely() {
    let sandbox = attended();
    fs::create_dir(sandbox.project().join(".git")).expect("a new folder");
    filled(&sandbox);
    let run = |args: &[&str]| ok(&by_agent(&sandbox, &[&["memory", "decision"], args].concat())).words();
    run(&["add", "1", "Bigrams"]);
    run(&["edit", "1", "--text", "Trigrams"]);
    run(&["supersede", "1", "Words"]);
    assert!(run(&["retract", "3"]).contains("Took decision 3 back."));
    let listed = ok(&memory(&sandbox, &["list", "decisions", "--all"])).words();
    assert!(listed.contains("earlier wording"), "{listed}");
}

#[test]
fn damage_is_said_and_mended() {
    let sandbox = Sandbox::new();
    filled(&sandbox);
    let copy = PathBuf::from(ok(&memory(&sandbox, &["backup"])).stdout.trim());
    assert!(copy.is_file());
    assert!(ok(&memory(&sandbox, &["check"])).stdout.ends_with("is sound.\n"));
    // By its name in 0.1, too.
    for repair in ["--repair", "--mend"] {
        assert!(ok(&memory(&sandbox, &["check", repair])).stdout.ends_with("is sound.\n"));
    }
    let store = copy.parent().unwrap().with_file_name("memory.db");
    fs::write(&store, "x".repeat(50_000)).unwrap();
    let ran = memory(&sandbox, &["list", "logs"]);
    assert!(
        ran.stderr.contains("warning: the memory was damaged") && ran.stderr.contains("rebuilt it from"),
        "{ran:?}"
    );
    assert_eq!(ran.stdout.matches("session s").count(), 3);
    assert_eq!(ok(&memory(&sandbox, &["list", "logs"])).stderr, "", "said once");
    assert!(
        sandbox
            .records()
            .iter()
            .any(|record| record["cause"].as_str().is_some_and(|cause| cause.contains("damaged")))
    );
    let stats = ok(&memory(&sandbox, &["stats", "--json"])).json();
    assert_eq!((&stats["logs"], stats["damaged"].as_array().unwrap().len()), (&json!(3), 1));
    let to = sandbox.path().join("copy.db");
    ok(&memory(&sandbox, &["backup", "--to", to.to_str().unwrap()]));
    assert!(to.is_file());
    assert!(refused(&memory(&sandbox, &["backup", "--to", to.to_str().unwrap()])).contains("already exists"));
}

#[cfg(unix)]
#[test]
fn a_folder_that_cannot_be_written_is_named() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = Sandbox::new();
    let data = sandbox.path().join("data");
    fs::write(&data, "a file").unwrap();
    let sandbox = sandbox.with("TIDEGATE_DATA_DIR", data.as_os_str());
    for args in [&["topic", "add", "x"][..], &["list"]] {
        let error = refused(&memory(&sandbox, args));
        assert!(error.contains(data.to_str().unwrap()), "{error}");
    }
    fs::remove_file(&data).unwrap();
    fs::create_dir(&data).unwrap();
    ok(&memory(&sandbox, &["topic", "add", "x"]));
    if crate::sandbox::is_root(&sandbox) {
        return;
    }
    fs::set_permissions(data.join("memory"), fs::Permissions::from_mode(0o500)).unwrap();
    assert!(refused(&memory(&sandbox, &["topic", "add", "y"])).contains("memory"));
    fs::set_permissions(data.join("memory"), fs::Permissions::from_mode(0o700)).unwrap();
    ok(&memory(&sandbox, &["topic", "add", "y"]));
}

/// Eight processes, each with many rows and one transaction each: none is lost, none fails.
#[test]
fn many_write_at_once() {
    let sandbox = Sandbox::new();
    filled(&sandbox);
    let imports: Vec<String> = (0..8)
        .map(|writer| {
            let lines = (0..200)
                .map(|n| log(&format!("w{writer}-{n}"), "s1", "t", &format!("writer {writer} row {n}"), n));
            lines.collect::<Vec<_>>().join("\n")
        })
        .collect();
    let mut running: Vec<Running> = imports
        .iter()
        .map(|lines| {
            let mut running = Running::start(sandbox.command(&["memory", "import"]));
            running.send(lines.as_bytes());
            running.close();
            running
        })
        .collect();
    for process in running.drain(..) {
        let ran = process.end();
        assert!(ok(&ran).stdout.starts_with("Imported 200 new rows"), "{ran:?}");
    }
    let stats = ok(&memory(&sandbox, &["stats", "--json"])).json();
    assert_eq!(stats["logs"], json!(1603));
    assert!(ok(&memory(&sandbox, &["check"])).stdout.ends_with("is sound.\n"));
}

/// No room: nothing is lost, nothing is half there, and it is said.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_said_and_costs_nothing() {
    let sandbox = Sandbox::new();
    filled(&sandbox);
    let before = exported(&sandbox);
    let lines: Vec<String> = (0..3000)
        .map(|n| log(&format!("big{n}"), "s1", "t", &format!("row {n} {}", "filler ".repeat(40)), n))
        .collect();
    let plain = sandbox.command(&["memory", "import"]);
    let mut limited = std::process::Command::new("sh");
    // Files may grow to a megabyte, and growing further is an error instead of the end.
    limited.args(["-c", "trap '' XFSZ; ulimit -f 2048; exec \"$0\" \"$@\""]);
    limited.arg(plain.get_program()).args(plain.get_args()).env_clear().current_dir(sandbox.project());
    limited.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let mut running = Running::start(limited);
    running.send(lines.join("\n").as_bytes());
    running.close();
    let error = refused(&running.end());
    assert!(error.contains("nothing was imported: the memory cannot be"), "{error}");
    assert_eq!(exported(&sandbox), before);
    assert!(ok(&memory(&sandbox, &["check"])).stdout.ends_with("is sound.\n"));
    let ran = sandbox.run_with(&["memory", "import"], lines.join("\n").as_bytes());
    assert!(ok(&ran).stdout.starts_with("Imported 3000 new rows"), "{ran:?}");
}

/// Overwrites the page that the table of logs begins with: opening the store does not show it.
fn damage_logs(store: &Path) {
    let mut bytes = fs::read(store).expect("a store");
    let place = |bytes: &[u8], text: &[u8]| {
        bytes.windows(text.len()).position(|part| part == text).expect("a list of tables")
    };
    // In the list of tables the number of that page stands between these words.
    let after_name = place(&bytes, b"tableloglog") + b"tableloglog".len();
    let length = place(&bytes[after_name..], b"CREATE TABLE log");
    let page =
        bytes[after_name..after_name + length].iter().fold(0, |page, byte| page << 8 | usize::from(*byte));
    bytes[(page - 1) * 4096..page * 4096].fill(0xa5);
    fs::write(store, bytes).expect("a damaged store");
}

#[test]
fn damage_that_shows_in_use_is_said() {
    type Args = fn(&str) -> Vec<&str>;
    let to = |sandbox: &Sandbox| sandbox.path().join("copy.db").to_str().unwrap().to_owned();
    let commands: [(&str, Args); 7] = [
        ("list", |_| vec!["list", "logs"]),
        ("search", |_| vec!["search", "timeout"]),
        ("log add", |_| vec!["log", "add", "1", "x"]),
        ("export", |_| vec!["export"]),
        ("backup", |_| vec!["backup"]),
        ("backup --to", |to| vec!["backup", "--to", to]),
        ("forget", |_| vec!["forget", "log", "a1"]),
    ];
    for (name, args) in commands {
        let sandbox = Sandbox::new();
        sandbox.config("[approval]\nunattended = [\"memory forget\"]\n");
        filled(&sandbox);
        ok(&memory(&sandbox, &["backup"]));
        damage_logs(&sandbox.home().join(".local/share/tidegate/memory/memory.db"));
        let ran = memory(&sandbox, &args(&to(&sandbox)));
        assert_eq!(ran.code, Some(0), "{name}: {ran:?}");
        assert_eq!(ran.stderr.matches("warning: the memory was damaged").count(), 1, "{name}: {ran:?}");
        if name == "export" {
            assert_eq!(ran.stdout.lines().count(), 7, "each row once");
        }
    }
}

#[test]
fn the_worker_says_that_damage_showed() {
    let machine = Machine::new();
    machine.turn("s1", "u1");
    machine.emptied();
    damage_logs(&machine.sandbox.home().join(".local/share/tidegate/memory/memory.db"));
    machine.turn("s1", "u2");
    let told = machine.emptied();
    assert!(told["troubles"].to_string().contains("the memory was damaged"), "{told}");
}

#[test]
fn a_log_is_forgotten_with_the_title_that_it_gave() {
    let machine = Machine::new();
    let sandbox = &machine.sandbox;
    sandbox.config("[approval]\nunattended = [\"memory forget\"]\n");
    for uid in ["u1", "u2"] {
        machine.turn("s1", uid);
        machine.emptied();
    }
    ok(&memory(sandbox, &["backup"]));
    let title = ok(&memory(sandbox, &["list", "--all", "--json"])).json()["topics"][0]["title"].clone();
    let title = title.as_str().unwrap();
    ok(&memory(sandbox, &["forget", "log", "u1"]));
    let data = sandbox.home().join(".local/share/tidegate");
    assert_eq!(holding(&data, title), Vec::<PathBuf>::new(), "{title}");
    let listed = ok(&memory(sandbox, &["list", "logs", "--json"])).json();
    assert_eq!(listed["logs"].as_array().map(Vec::len), Some(1), "{listed}");
}

#[test]
fn topics_and_decisions_are_forgotten() {
    let sandbox = Sandbox::new();
    sandbox.config("[approval]\nunattended = [\"memory forget\"]\n");
    filled(&sandbox);
    ok(&memory(&sandbox, &["decision", "add", "1", "Bigrams"]));
    assert!(refused(&memory(&sandbox, &["forget", "decision", "x"])).contains("is not a number"));
    assert!(ok(&memory(&sandbox, &["forget", "decision", "1"])).stdout.starts_with("Deleted 1 row from"));
    assert!(ok(&memory(&sandbox, &["forget", "topic", "1"])).stdout.starts_with("Deleted 4 rows from"));
    assert!(refused(&memory(&sandbox, &["forget", "topic", "1"])).contains("no topic 1"));
    let machine = Machine::new();
    machine.turn("s1", "u1");
    machine.emptied();
    let error = refused(&memory(&machine.sandbox, &["forget", "topic", "1"]));
    assert!(
        error.contains("automatic topic of a session") && error.contains("forget session s1`"),
        "{error}"
    );
}

#[test]
fn a_name_that_two_projects_have_is_not_guessed() {
    let sandbox = Sandbox::new();
    filled(&sandbox);
    let other = json!({"kind": "project", "uid": "p2", "key": "/elsewhere/shop/.git", "name": "shop", "created": 1, "updated": 9});
    ok(&sandbox.run_with(&["memory", "import"], other.to_string().as_bytes()));
    let error = refused(&memory(&sandbox, &["forget", "project", "shop"]));
    let here = sandbox.project();
    for part in ["2 projects are called `shop`", "id 1", "id 2", "/elsewhere/shop", here.to_str().unwrap()] {
        assert!(error.contains(part), "{part}: {error}");
    }
    let listed = ok(&memory(&sandbox, &["list", "projects"])).stdout.clone();
    assert!(listed.contains(" · /elsewhere/shop\n") && listed.contains(here.to_str().unwrap()), "{listed}");
    sandbox.config("[approval]\nunattended = [\"memory forget\"]\n");
    ok(&memory(&sandbox, &["forget", "project", "2"]));
    assert_eq!(exported(&sandbox).len(), 7);
}

/// A session that only the spool knows is forgotten: what waits is taken away, and nothing of it is stored later.
#[test]
fn a_session_that_waits_is_forgotten() {
    for stored in [false, true] {
        let machine = Machine::new();
        let sandbox = &machine.sandbox;
        sandbox.config("[approval]\nunattended = [\"memory forget\"]\n");
        if stored {
            machine.turn("other", "u0");
            machine.emptied();
        }
        machine.turn("s1", "u1");
        assert!(refused(&memory(sandbox, &["forget", "session", "s2"])).contains("no"));
        let ran = memory(sandbox, &["forget", "session", "s1", "--json"]);
        assert_eq!(ok(&ran).json()["jobs"], json!(1));
        assert_eq!(machine.jobs(), 0);
        machine.turn("s1", "u2");
        machine.emptied();
        let kinds = exported(sandbox);
        assert!(!kinds.iter().any(|row| row.to_string().contains("s1") || row["uid"] == "u2"), "{kinds:?}");
    }
}

#[test]
fn forgetting_that_is_not_finished_is_said() {
    let sandbox = Sandbox::new();
    sandbox.config("[approval]\nunattended = [\"memory forget\"]\n");
    filled(&sandbox);
    let copy = PathBuf::from(ok(&memory(&sandbox, &["backup"])).stdout.trim());
    let in_the_way = copy.with_file_name("new.tmp.tidegate-half");
    fs::create_dir(&in_the_way).unwrap();
    fs::write(in_the_way.join("x"), "").unwrap();
    let error = refused(&memory(&sandbox, &["forget", "log", "a1"]));
    assert!(
        error.contains("but not everywhere yet")
            && error.contains("the next `tidegate memory` command continues"),
        "{error}"
    );
    let ran = memory(&sandbox, &["stats"]);
    assert!(ran.stderr.starts_with("warning: Tidegate deleted it from the store, but not"), "{ran:?}");
    fs::remove_dir_all(&in_the_way).unwrap();
    ok(&memory(&sandbox, &["stats"]));
    assert_eq!(holding(sandbox.path(), "busy timeout"), Vec::<PathBuf>::new());
}

/// Twelve commands in a folder that nothing is known of yet: it is one project.
#[test]
fn a_folder_that_many_meet_at_once_is_one_project() {
    let sandbox = Sandbox::new();
    let running: Vec<Running> = (0..12)
        .map(|n| Running::start(sandbox.command(&["memory", "topic", "add", &format!("Topic {n}")])))
        .collect();
    for process in running {
        ok(&process.end());
    }
    let projects = ok(&memory(&sandbox, &["list", "projects", "--json"])).json();
    let projects = projects["projects"].as_array().unwrap();
    assert_eq!((projects.len(), &projects[0]["topics"]), (1, &json!(12)), "{projects:?}");
}

#[test]
fn a_list_says_what_it_leaves_out() {
    let machine = Machine::new();
    machine.turn("s1", "u1");
    machine.emptied();
    let ran = memory(&machine.sandbox, &["list"]);
    assert!(
        ran.code == Some(0) && ran.stderr.contains("`--all`") && ran.stderr.contains("list logs"),
        "{ran:?}"
    );
    let ran = memory(&machine.sandbox, &["list", "--project", ".", "--since", "2030-01-01"]);
    assert_eq!(ran.stderr, "Nothing to list.\n");
    for args in [
        &["projects", "--since", "2030-01-01"][..],
        &["projects", "--project", "."],
        &["projects", "--open"],
        &["logs", "--closed"],
    ] {
        let error = refused(&memory(&machine.sandbox, &[&["list"], args].concat()));
        assert!(error.contains(args[1]) && error.contains("does not work for a list of"), "{error}");
    }
    for kind in ["logs", "projects"] {
        let listed = ok(&memory(&machine.sandbox, &["list", kind, "--all", "--json"])).json();
        assert_eq!(listed[kind].as_array().map(Vec::len), Some(1), "{listed}");
    }
}

#[cfg(unix)]
#[test]
fn a_folder_that_cannot_be_read_is_not_empty() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = Sandbox::new();
    filled(&sandbox);
    if crate::sandbox::is_root(&sandbox) {
        return;
    }
    let folder = sandbox.home().join(".local/share/tidegate/memory");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o000)).unwrap();
    let ran = memory(&sandbox, &["list", "logs"]);
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).unwrap();
    assert!(refused(&ran).contains(folder.to_str().unwrap()), "{ran:?}");
}

#[test]
fn texts_have_their_limits() {
    let sandbox = Sandbox::new();
    filled(&sandbox);
    let long = "x".repeat(70_000);
    let error = refused(&memory(&sandbox, &["decision", "add", "1", "Bigrams", "--reason", &long]));
    assert!(error.contains("the reason is longer than 65536 bytes"), "{error}");
    ok(&memory(&sandbox, &["decision", "add", "1", "Bigrams"]));
    assert!(refused(&memory(&sandbox, &["decision", "edit", "1", "--reason", &long])).contains("the reason"));
    // Of three bytes each: cut anywhere, it would be no text.
    let japanese = "設".repeat(60_000);
    let ran = sandbox.run_with(&["memory", "log", "add", "1", "-"], japanese.as_bytes());
    assert!(refused(&ran).contains("longer than 65536 bytes"), "{ran:?}");
    let ran = sandbox.run_with(&["memory", "log", "add", "1", "-"], b"\xff\xfe");
    assert!(refused(&ran).contains("not UTF-8"), "{ran:?}");
    ok(&sandbox.run_with(&["memory", "decision", "edit", "1", "--text", "-"], b"Bigrams for both\n"));
    assert!(ok(&memory(&sandbox, &["show", "decision", "1"])).stdout.contains("Bigrams for both"));
}

#[test]
fn a_time_beyond_all_times_is_not_imported() {
    let sandbox = Sandbox::new();
    filled(&sandbox);
    for (member, at) in [("updated", u64::MAX), ("created", 253_402_300_800_000)] {
        let mut topic = json!({"kind": "topic", "uid": "t9", "project": "p", "title": "Late", "status": "open",
            "created": 2, "updated": 2});
        topic[member] = json!(at);
        let ran = sandbox.run_with(&["memory", "import"], topic.to_string().as_bytes());
        assert!(refused(&ran).contains("line 1: a time is thousands of years from now"), "{ran:?}");
    }
}

/// A project at the same place on another machine is the same one.
#[test]
fn what_is_imported_is_found_in_its_project() {
    let sandbox = Sandbox::new();
    filled(&sandbox);
    let key = sandbox.project().join(".git");
    let lines = [
        json!({"kind": "project", "uid": "q", "key": key, "name": "shop", "created": 1, "updated": 5}).to_string(),
        json!({"kind": "topic", "uid": "qt", "project": "q", "title": "Prices", "status": "open", "created": 2, "updated": 2})
            .to_string(),
    ];
    let ran = sandbox.run_with(&["memory", "import"], lines.join("\n").as_bytes());
    assert_eq!(
        ok(&ran).words(),
        "Imported 1 new row; 0 changed, 1 already here, 0 left out because you deleted them."
    );
    let listed = ok(&memory(&sandbox, &["list", "--project", "shop"])).stdout.clone();
    assert!(listed.contains("Prices") && listed.contains("Search"), "{listed}");
    let projects = ok(&memory(&sandbox, &["list", "projects", "--json"])).json();
    assert_eq!(projects["projects"].as_array().map(Vec::len), Some(1), "{projects}");
}
