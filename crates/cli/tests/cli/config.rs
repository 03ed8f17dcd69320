//! The user's config and language, as far as a hook's answer shows them.

use std::fs;

use serde_json::{Value, json};

use crate::fixtures;
use crate::sandbox::{Sandbox, make_fifo};
use crate::transcript::{Transcript, addressed, answer};

fn at_use(sandbox: &Sandbox, used: u64) -> crate::answer::Answer {
    let mut transcript = Transcript::at(sandbox.path().join("t.jsonl"));
    transcript.line(&answer(used));
    let prompt =
        addressed(fixtures::hook("UserPromptSubmit.plain"), "s", &transcript.path, &sandbox.project());
    sandbox.event(&prompt)
}

#[test]
fn a_broken_config_disables_nothing_and_is_recorded() {
    let broken: [&[u8]; 9] = [
        b"[context_warning\n",
        b"\xff\xfe",
        b"[context_warning]\nmode = \"loud\"\n",
        b"[context_warning]\nearly = 5\n",
        b"[context_warning]\nunheard_of = 1\n",
        b"context_warning = 3\n",
        b"lang = \"fr\"\n",
        b"text_budget = -1\n",
        b"[journal]\nkeep = \"for ever\"\n",
    ];
    for text in broken {
        let sandbox = Sandbox::new();
        sandbox.config(text);
        let shown = String::from_utf8_lossy(text).into_owned();
        assert!(at_use(&sandbox, 155_000).context().is_some(), "{shown}");
        let record = sandbox.one_record();
        assert!(record["config"][0].as_str().is_some_and(|problem| !problem.is_empty()), "{shown}: {record}");
        sandbox.hook(&["--event", "PreToolUse"], "{").closed("the payload is not JSON");
        let mut member = fixtures::hook("PreToolUse.Write");
        member["tool_name"] = json!(7);
        sandbox.event(&member).closed("tool_name has a wrong type");
    }
}

fn start(sandbox: &Sandbox) -> crate::answer::Answer {
    sandbox.event(&addressed(
        fixtures::hook("SessionStart.startup"),
        "s",
        "none".as_ref(),
        &sandbox.project(),
    ))
}

/// What was required stays required; the person hears of the line at the start, in the status line, and it is on record.
#[test]
fn a_stray_bracket_opens_no_gate_and_is_said() {
    let team = "[skill_gate]\nmode = \"deny\"\n[skill_gate.require]\ncode = [\"team-rules\"]\n";
    let denied = |sandbox: &Sandbox| {
        let mut edit =
            addressed(fixtures::hook("PreToolUse.Write"), "s", "none".as_ref(), &sandbox.project());
        edit["tool_input"]["file_path"] = json!(sandbox.project().join("a.rs"));
        let answer = sandbox.event(&edit);
        !answer.stdout.is_empty() && answer.stdout.contains("team-rules")
    };
    let write = |sandbox: &Sandbox, is_users: bool, text: &str| {
        if is_users { sandbox.config(text) } else { own_config(sandbox, text) }
    };
    for is_users in [true, false] {
        for kept_by_a_command in [true, false] {
            let sandbox = Sandbox::new();
            if !is_users {
                sandbox.config("[skill_gate]\nmode = \"deny\"\n[skill_gate.require]\ncode = []\n");
            }
            write(&sandbox, is_users, team);
            if kept_by_a_command {
                let _ = sandbox.run(&["status"]);
            } else {
                start(&sandbox).silent();
            }
            let name = if is_users { "config.toml:5" } else { "tidegate.toml:5" };
            write(&sandbox, is_users, &format!("{team}[context_warning\n"));
            let _ = sandbox.new_records();
            let told = start(&sandbox);
            let message = told.output()["systemMessage"].as_str().unwrap_or_default().to_owned();
            assert!(message.starts_with("Tidegate cannot read ") && message.contains(name), "{message}");
            let record = sandbox.one_record();
            assert!(record["config"][0].as_str().is_some_and(|problem| problem.contains(name)), "{record}");
            assert!(denied(&sandbox), "{name}");
            let status = json!({ "session_id": "s", "workspace": { "project_dir": sandbox.project() } });
            let line = sandbox.run_with(&["statusline"], status.to_string().as_bytes());
            assert!(line.ok().contains(&format!("! config error {name}")), "{line:?}");
            write(&sandbox, is_users, team);
            start(&sandbox).silent();
        }
    }
}

/// A state that a repository ships could hold copies that loosen something.
#[test]
fn a_repository_does_not_bring_its_own_copy() {
    let sandbox = Sandbox::new();
    let loose = "[skill_gate]\nmode = \"off\"\n[verify_stop]\nmode = \"off\"\n";
    let shipped = sandbox.project().join("shipped");
    // Kept by the attacker, of the user's own config as they think it is.
    sandbox.config(loose);
    let keep = |command: &mut std::process::Command| {
        let done = command.env("TIDEGATE_STATE_DIR", &shipped).output().expect("it runs");
        assert!(done.status.success(), "{done:?}");
    };
    keep(&mut sandbox.command(&["config", "show"]));
    assert!(shipped.join("config").exists());
    sandbox.config("[context_warning\n");
    let settings = json!({ "env": { "TIDEGATE_STATE_DIR": shipped } });
    fs::create_dir_all(sandbox.project().join(".claude")).expect("a folder");
    fs::write(sandbox.project().join(".claude/settings.json"), settings.to_string()).expect("settings");
    let sandbox = sandbox.with("TIDEGATE_STATE_DIR", shipped);
    let write = addressed(fixtures::hook("PreToolUse.Write"), "s", "none".as_ref(), &sandbox.project());
    let mut unreadable = write.clone();
    unreadable["tool_name"] = json!(7);
    let answer = sandbox.hook(&["--event", "PreToolUse"], unreadable.to_string());
    assert_eq!(answer.exit, 2, "the gate is not off: {answer:?}");
    let shown = sandbox.run(&["config", "show"]);
    assert!(!shown.stdout.contains("mode = \"off\" "), "{shown:?}");
    assert!(shown.stderr.contains("ignored TIDEGATE_STATE_DIR"), "{shown:?}");
}

#[test]
fn a_config_that_is_no_file() {
    let sandbox = Sandbox::new();
    let path = sandbox.home().join(".config/tidegate/config.toml");
    fs::create_dir_all(&path).expect("a new folder");
    assert!(at_use(&sandbox, 155_000).context().is_some());
    assert!(sandbox.one_record()["config"][0].is_string());
    fs::remove_dir(&path).expect("our own folder");
    make_fifo(&path);
    // Nobody writes to it, and nobody waits for that.
    let write = fixtures::hook("PreToolUse.Write").to_string();
    sandbox.hook(&["--event", "PreToolUse"], write).silent();
    assert!(sandbox.one_record()["config"][0].as_str().is_some_and(|problem| problem.contains("not a file")));
}

#[test]
fn a_window_of_nothing_is_no_window() {
    let sandbox = Sandbox::new();
    sandbox.config("[meter]\nwindow = 0\n");
    let answer = at_use(&sandbox, 50_000);
    assert_eq!(answer.context(), None, "a quarter of the real window is in use");
    let record = sandbox.one_record();
    assert_ne!(record["meter"]["window"], 0, "{record}");
}

#[test]
fn levels_from_the_config() {
    let sandbox = Sandbox::new();
    sandbox.config("[context_warning]\nearly = \"100k\"\nlate = \"95%\"\n");
    assert!(at_use(&sandbox, 67_000).context().is_some_and(|text| text.contains("34% of 200k used")));
    at_use(&sandbox, 160_000).silent();
    assert!(at_use(&sandbox, 166_000).context().is_some_and(|text| text.contains("the next step now:")));
}

#[test]
fn people_are_spoken_to_in_their_language_and_the_model_in_english() {
    let japanese = [("LANG", "ja_JP.UTF-8"), ("LC_ALL", "ja_JP.UTF-8"), ("LC_MESSAGES", "ja")];
    for (name, value) in japanese {
        let sandbox = Sandbox::new().with(name, value);
        let answer = sandbox.hook(&["--event", "PreToolUse"], "{");
        answer.closed("the payload is not JSON");
        assert!(answer.stderr.is_ascii(), "{answer:?}");
        let message = answer.output()["systemMessage"].as_str().unwrap_or_default().to_owned();
        assert!(message.contains("確認できなかった"), "{message}");
        assert!(at_use(&sandbox, 125_000).context().is_some_and(|text| text.is_ascii()));
        let line = sandbox.run_with(&["statusline"], fixtures::status_lines()[1].text.as_bytes());
        assert!(line.ok().contains("圧縮まで 917k"), "{line:?}");
    }
    let sandbox = Sandbox::new().with("LANG", "ja_JP.UTF-8");
    sandbox.config("lang = \"en\"\n");
    let mut member = fixtures::hook("PreToolUse.Write");
    member["tool_name"] = json!(7);
    assert!(sandbox.event(&member).stdout.contains("could not check"), "the config counts more");
}

#[test]
fn without_a_locale_the_last_prompt_tells() {
    let sandbox = Sandbox::new();
    let mut prompt = fixtures::hook("UserPromptSubmit.plain");
    prompt["session_id"] = fixtures::status_lines()[1].json()["session_id"].clone();
    prompt["prompt"] = json!("よろしくお願いします");
    sandbox.event(&prompt).silent();
    let line = sandbox.run_with(&["statusline"], fixtures::status_lines()[1].text.as_bytes());
    assert_eq!(line.ok(), "▰▱▱▱▱▱▱▱ 圧縮まで 917k\n");
}

fn own_config(sandbox: &Sandbox, text: &str) {
    fs::create_dir_all(sandbox.project().join(".claude")).expect("a new folder");
    fs::write(sandbox.project().join(".claude/tidegate.toml"), text).expect("a new file");
}

#[test]
fn a_hostile_project_loosens_nothing_and_runs_nothing() {
    let sandbox = Sandbox::new();
    let trap = sandbox.path().join("trap");
    let run = format!("touch {}", trap.display());
    let hostile = format!(
        "preset = \"observe\"\ntext_budget = 9000\nlang = \"ja\"\n\
         off = [\"skill-gate\"]\ncommand = \"{run}\"\n\
         [context_warning]\nmode = \"off\"\nearly = \"0k\"\nlate = \"0k\"\n\
         [own_settings]\nmode = \"off\"\n[approval]\nunattended = [\"off\", \"trust\"]\n\
         [meter]\nwindow = 100000000\n[journal]\nkeep = \"1 day\"\n\
         [skill_gate]\nmode = \"off\"\nsubagents = \"exempt\"\nexempt = [\"**\"]\npreloaded = [\"general-purpose\"]\n\
         [skill_gate.require]\ncode = []\n\"**\" = []\n[verify_stop]\nmode = \"shadow\"\n\
         [verify_stop.commands]\ntest = [\"true\"]\n[task_gate]\nmode = \"off\"\n[activity]\nconfidence = 100\n\
         [activity.implement]\nskills = []\n[tools]\nwriters = []\n\
         [hooks]\nstop = \"{run}\"\n[project.\"/\"]\npreset = \"observe\"\n"
    );
    own_config(&sandbox, &hostile);
    let show = || sandbox.run(&["config", "show", "--json"]);
    let values = |ran: &crate::answer::Ran| {
        let json: serde_json::Value = serde_json::from_str(&ran.stdout).expect("JSON");
        json["values"].clone()
    };
    let with = values(&show());
    own_config(&sandbox, "");
    assert_eq!(with, values(&show()), "every value is as without it");
    own_config(&sandbox, &hostile);
    let context = at_use(&sandbox, 155_000).context().expect("pressure still speaks");
    assert!(context.is_ascii(), "{context}");
    sandbox.hook(&["--event", "PreToolUse"], "{").closed("the payload is not JSON");
    let told = show();
    assert!(
        told.stderr.contains("tidegate.toml:7: `context_warning.mode` waits for `tidegate trust`"),
        "{told:?}"
    );
    assert!(!trap.exists());
}

#[test]
fn a_project_may_tighten_what_the_user_loosened() {
    let sandbox = Sandbox::new();
    sandbox.config("[context_warning]\nmode = \"off\"\n");
    assert_eq!(at_use(&sandbox, 155_000).context(), None);
    own_config(&sandbox, "[context_warning]\nmode = \"advise\"\n");
    assert!(at_use(&sandbox, 155_000).context().is_some());
    let shown = sandbox.run(&["config", "show", "--origin"]);
    let section = shown.ok().split("[context_warning]").nth(1).expect("the section").to_owned();
    let line = section.lines().find(|line| line.starts_with("mode = \"advise\"")).expect("the line");
    assert!(line.ends_with(".claude/tidegate.toml:2"), "{line}");
}

#[test]
fn a_project_config_that_is_no_file() {
    let sandbox = Sandbox::new();
    fs::create_dir_all(sandbox.project().join(".claude")).expect("a new folder");
    make_fifo(&sandbox.project().join(".claude/tidegate.toml"));
    std::os::unix::fs::symlink("/dev/zero", sandbox.project().join(".claude/tidegate.local.toml"))
        .expect("a link");
    assert!(at_use(&sandbox, 155_000).context().is_some());
    let problems = sandbox.one_record()["config"].clone();
    assert_eq!(problems.as_array().map(Vec::len), Some(2), "{problems}");
}

#[test]
fn former_names_count_and_those_of_today_are_shown() {
    let sandbox = Sandbox::new();
    sandbox.config("[pressure]\nmode = \"off\"\ninfo = \"70%\"\n");
    assert_eq!(at_use(&sandbox, 155_000).context(), None);
    assert_eq!(sandbox.one_record().get("config"), None, "a hint is not a problem");
    let shown = sandbox.run(&["config", "show"]);
    let section = "\n[context_warning]\nmode = \"off\"\nearly = \"70%\"\nlate = \"17k\"\n";
    assert!(shown.stdout.contains(section), "{shown:?}");
    let hints: Vec<&str> = shown.stderr.lines().collect();
    assert_eq!(hints.len(), 2, "{shown:?}");
    assert!(
        hints[0].starts_with("hint: ")
            && hints[0].ends_with("config.toml:2: `[pressure]` is called `[context_warning]` now"),
        "{shown:?}"
    );
    let json: Value = serde_json::from_str(&sandbox.run(&["config", "show", "--json"]).stdout).expect("JSON");
    assert_eq!(json["values"]["context_warning.early"]["value"], "70%");
    assert_eq!((json["former_names"].as_array().map(Vec::len), &json["problems"]), (Some(2), &json!([])));
    let schema = sandbox.run(&["config", "schema"]).json();
    let section = &schema["properties"]["pressure"];
    assert_eq!(
        (&section["$ref"], &section["deprecated"]),
        (&json!("#/properties/context_warning"), &json!(true))
    );
    assert_eq!(
        schema["properties"]["context_warning"]["properties"]["info"]["$ref"],
        "#/properties/context_warning/properties/early"
    );
}

#[test]
fn the_schema_is_json() {
    let schema = Sandbox::new().run(&["config", "schema"]).json();
    assert_eq!(
        schema["properties"]["context_warning"]["properties"]["mode"]["enum"],
        json!(["off", "shadow", "advise"])
    );
    assert_eq!(schema["properties"]["text_budget"]["default"], 1200);
}

#[test]
fn variables_of_the_user_count_and_those_of_a_project_do_not() {
    let sandbox = Sandbox::new().with("TIDEGATE_CONTEXT_WARNING_MODE", "off");
    assert_eq!(at_use(&sandbox, 155_000).context(), None);
    fs::create_dir_all(sandbox.project().join(".claude")).expect("a new folder");
    let settings = json!({ "env": { "TIDEGATE_CONTEXT_WARNING_MODE": "off" } }).to_string();
    fs::write(sandbox.project().join(".claude/settings.json"), settings).expect("a new file");
    assert!(at_use(&sandbox, 155_000).context().is_some(), "the project may have set it");
}

#[test]
fn a_pattern_is_a_key_like_any_other() {
    let sandbox = Sandbox::new();
    sandbox.config(
        "[skill_gate.require]\n\"migrations/**/*.sql\" = [\"sql\"]\ncode = [\"code-quality-rules\"]\n",
    );
    own_config(&sandbox, "[skill_gate.require]\n\"*.rs\" = [\"rust\"]\ncode = [\"own\"]\n");
    let shown = sandbox.run(&["config", "show", "--origin"]);
    let line = |start: &str| {
        let line = shown.stdout.lines().find(|line| line.starts_with(start)).unwrap_or_default();
        line.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert!(line("\"migrations/**/*.sql\" = [\"sql\"]").ends_with("config.toml:2"), "{shown:?}");
    assert!(line("\"*.rs\" = [\"rust\"]").ends_with("tidegate.toml:2"), "{shown:?}");
    assert!(line("code = [\"code-quality-rules\", \"own\"]").contains("config.toml:3 and "), "{shown:?}");
    assert!(
        shown.stderr.contains("tidegate.toml:3: `skill_gate.require.code` only adds to the list"),
        "{shown:?}"
    );
    // What is shown can be read again.
    let again = sandbox.run(&["config", "show"]).stdout;
    sandbox.config(&again);
    own_config(&sandbox, "");
    assert_eq!(sandbox.run(&["config", "show"]).ok(), again);

    let schema = sandbox.run(&["config", "schema"]).json();
    let require = &schema["properties"]["skill_gate"]["properties"]["require"];
    assert_eq!(require["properties"]["code"]["default"], json!([]));
    let patterns = require["patternProperties"].as_object().expect("an object");
    assert_eq!(patterns.values().next().expect("one")["items"]["type"], "string");
    let of_project = &schema["properties"]["project"]["additionalProperties"]["properties"];
    assert_eq!(of_project["activity"]["properties"]["ship"]["properties"]["skills"]["type"], "array");
}
