//! `doctor`: a healthy project first, then each thing broken on its own.

mod fixes;
mod knowledge;
mod memory;
mod other_hosts;
mod whereabouts;
mod wrappers;

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use tidegate_core::pipeline::record::{FailedCheck, Record};
use tidegate_core::time::Millis;
use tidegate_state::{clock, journal};

use crate::answer::unfold;
use crate::fixtures;
use crate::sandbox::{Sandbox, install, make_fifo};
use crate::transcript::addressed;

const EXE: &str = env!("CARGO_BIN_EXE_tidegate");
const SESSION: &str = "5baaddad-4136-48e5-b2ca-88ce0e9e343e";
const SKILLS: [&str; 2] = ["code-quality-rules", "verification-before-completion"];
const HOUR: u64 = 3_600_000;

/// Installed an hour ago, used since, nothing amiss.
fn healthy() -> Sandbox {
    let sandbox = Sandbox::new();
    let bin = sandbox.path().join("bin");
    // Nothing of this machine: it may have a client, or us.
    let sandbox = sandbox.with("PATH", &bin);
    fs::create_dir(&bin).expect("a new folder");
    symlink(EXE, bin.join("tidegate")).expect("a new link");
    script(&bin.join("claude"), "echo '2.1.325 (Claude Code)'");
    let ran = sandbox.run(&["init", "--project", "."]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    age(&local(&sandbox), 10 * HOUR);
    play(&sandbox, SESSION, HOUR, &["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"]);
    sandbox
}

fn local(sandbox: &Sandbox) -> PathBuf {
    sandbox.project().join(".claude/settings.local.json")
}

fn user(sandbox: &Sandbox) -> PathBuf {
    let folder = sandbox.home().join(".claude");
    fs::create_dir_all(&folder).expect("a new folder");
    folder.join("settings.json")
}

fn link(sandbox: &Sandbox) -> PathBuf {
    sandbox.home().join(".local/share/tidegate/bin/tidegate")
}

/// The stable link, to this program.
fn relink(sandbox: &Sandbox, program: &Path) {
    let link = link(sandbox);
    fs::create_dir_all(link.parent().expect("a folder")).expect("a new folder");
    let _ = fs::remove_file(&link);
    symlink(program, link).expect("a new link");
}

fn script(path: &Path, text: &str) {
    let _ = fs::remove_file(path);
    install(path, format!("#!/bin/sh\n{text}\n").as_bytes(), 0o755);
}

/// Makes a file so many milliseconds old.
fn age(path: &Path, ms: u64) {
    let time = UNIX_EPOCH + Duration::from_millis(clock::now().0 - ms);
    fs::File::options().append(true).open(path).expect("a file").set_modified(time).expect("our own file");
}

/// Changes a settings file, its time stays.
fn change(path: &Path, change: impl FnOnce(&mut Value)) {
    let text = fs::read_to_string(path).unwrap_or_else(|_| "{}".to_owned());
    let time = fs::metadata(path).and_then(|found| found.modified()).unwrap_or_else(|_| SystemTime::now());
    let mut settings: Value = serde_json::from_str(&text).expect("JSON");
    change(&mut settings);
    fs::write(path, settings.to_string()).expect("a file");
    fs::File::options().append(true).open(path).expect("it").set_modified(time).expect("our own file");
}

fn record(sandbox: &Sandbox, at: Millis, event: &str, session: &str, change: impl FnOnce(&mut Record)) {
    let mut record = Record::begin(event, at);
    record.id = format!("{:x}-{event}", at.0);
    record.session = Some(session.to_owned());
    record.project = Some(sandbox.project().to_string_lossy().into_owned());
    record.cost.us = 1_500;
    change(&mut record);
    journal::append(&sandbox.state().join("journal"), at, &mut record).expect("the disk has room");
}

/// A session of the client some time ago, with a turn in which everything happened.
fn transcript(sandbox: &Sandbox, session: &str, ago: u64) -> PathBuf {
    let project = fs::canonicalize(sandbox.project()).expect("the project");
    let name: String =
        project.to_string_lossy().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let folder = sandbox.home().join(".claude/projects").join(name);
    fs::create_dir_all(&folder).expect("a new folder");
    let at = Millis(clock::now().0 - ago).iso();
    let lines = [
        json!({ "type": "user", "timestamp": at, "version": "2.1.325", "message": { "content": "fix it" } }),
        json!({ "type": "assistant", "timestamp": at, "message": {
            "model": "m", "stop_reason": "tool_use", "content": [{ "type": "tool_use", "name": "Edit" }] } }),
        json!({ "type": "user", "timestamp": at, "message": { "content": [{ "type": "tool_result" }] } }),
        json!({ "type": "assistant", "timestamp": at, "message": {
            "model": "m", "stop_reason": "end_turn", "content": [{ "type": "text", "text": "done" }] } }),
    ];
    let path = folder.join(format!("{session}.jsonl"));
    fs::write(&path, lines.map(|line| format!("{line}\n")).concat()).expect("a new file");
    age(&path, ago);
    path
}

/// A session that the client ran and in which our hooks saw these events.
fn play(sandbox: &Sandbox, session: &str, ago: u64, events: &[&str]) {
    let at = Millis(clock::now().0 - ago);
    let path = transcript(sandbox, session, ago);
    for event in events {
        record(sandbox, at, event, session, |_| {});
    }
    let folder = sandbox.session(session);
    fs::create_dir_all(&folder).expect("a new folder");
    let marks =
        [json!({ "attached": at }), json!({ "root": sandbox.project() }), json!({ "transcript": path })];
    fs::write(folder.join("marks"), marks.map(|mark| format!("{mark}\n")).concat()).expect("a new file");
}

/// All findings. Whatever was broken: an exit code that says so, a fix for each problem, no crash.
fn findings(sandbox: &Sandbox) -> Vec<Value> {
    let ran = sandbox.run(&["doctor", "--json"]);
    assert_eq!(ran.stderr, "", "{ran:?}");
    let report: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
    let findings = report["checks"].as_array().expect("a list").clone();
    let wrong = findings.iter().filter(|finding| is_wrong(finding));
    assert!(wrong.clone().all(|finding| finding["cure"].is_string()), "{report:#}");
    assert_eq!(report["ok"], wrong.count() == 0, "{report:#}");
    assert_eq!(ran.code, Some(i32::from(report["ok"] == false)), "{report:#}");
    findings
}

fn is_wrong(finding: &Value) -> bool {
    finding["state"] == "warning" || finding["state"] == "problem"
}

/// What has to be fixed, as `check state: what was found (fix)`.
fn wrong(sandbox: &Sandbox) -> Vec<String> {
    let text = |finding: &Value| {
        let word = |name: &str| finding[name].as_str().expect("a text").to_owned();
        format!("{} {}: {} ({})", word("id"), word("state"), word("found"), word("cure"))
    };
    findings(sandbox).iter().filter(|finding| is_wrong(finding)).map(text).collect()
}

/// One thing is wrong: of this check and state, with these words in it.
#[track_caller]
fn only(sandbox: &Sandbox, start: &str, words: &[&str]) {
    let wrong = wrong(sandbox);
    assert_eq!(wrong.len(), 1, "{start}: {wrong:#?}");
    assert!(wrong[0].starts_with(&format!("{start}: ")), "{start}: {wrong:#?}");
    for word in words {
        assert!(wrong[0].contains(word), "{word}: {wrong:#?}");
    }
}

/// The first thing that is wrong, where one brings another along.
#[track_caller]
fn first(sandbox: &Sandbox, start: &str, words: &[&str]) {
    let wrong = wrong(sandbox);
    let first = wrong.first().unwrap_or_else(|| panic!("nothing is wrong"));
    assert!(first.starts_with(&format!("{start}: ")), "{start}: {wrong:#?}");
    assert!(words.iter().all(|word| first.contains(word)), "{words:?}: {wrong:#?}");
}

/// What a check says.
fn says(sandbox: &Sandbox, id: &str) -> (String, String) {
    let findings = findings(sandbox);
    let finding = findings.iter().find(|finding| finding["id"] == id).expect(id);
    let word = |name: &str| finding[name].as_str().expect("a text").to_owned();
    (word("state"), word("found"))
}

#[test]
fn a_healthy_project() {
    let sandbox = healthy();
    assert_eq!(wrong(&sandbox), [""; 0]);
    let findings = findings(&sandbox);
    assert!(findings.iter().all(|finding| finding["state"] == "ok"), "{findings:#?}");
    let ids: Vec<&str> = findings.iter().filter_map(|finding| finding["id"].as_str()).collect();
    insta::assert_snapshot!(ids.join(" "), @"binary paths safety settings hooks hosts installs disabled skills client state clock disk network config off backend knowledge memory transcript crashes latency life");
    let ran = sandbox.run(&["doctor"]);
    assert!(ran.ok().starts_with("No problems in "), "{ran:?}");
    assert!(ran.words().ends_with("all 23 checks passed. `tidegate doctor --all` lists them."), "{ran:?}");
    let all = sandbox.run(&["doctor", "--all"]);
    assert!(all.ok().ends_with("\n\n23 checks: no problems.\n"), "{all:?}");
    for id in ids {
        assert!(all.stdout.contains(&format!("\n{id:<10}  ok      ")), "{id}: {all:?}");
    }
    // Nothing is left behind.
    let left: Vec<PathBuf> = sandbox.everything();
    assert!(!left.iter().any(|path| path.to_string_lossy().contains(".doctor.")), "{left:?}");
    // From elsewhere, the project named.
    let elsewhere = sandbox.with("CLAUDE_PROJECT_DIR", "/");
    let project = elsewhere.project().to_string_lossy().into_owned();
    assert!(elsewhere.run(&["doctor", "--project", &project]).ok().starts_with("No problems in "));
}

#[test]
fn what_people_read() {
    let sandbox = healthy().with("TIDEGATE_OFF", "context-warning");
    fs::remove_dir_all(sandbox.project().join(".claude/skills").join(SKILLS[1])).expect("our own");
    let ran = sandbox.run(&["doctor"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(1), ""), "{ran:?}");
    let text = ran.stdout.replace(&*sandbox.path().to_string_lossy(), "[sandbox]");
    assert_eq!(text.lines().filter(|line| line.starts_with("warning: ")).count(), 1, "{text}");
    insta::assert_snapshot!(unfold(&text), @"warning: The skill `verification-before-completion` is required, but not installed. fix: Run `tidegate init --project [sandbox]/project`. note: TIDEGATE_OFF switches `context-warning` off in this shell. To switch it on again, run `unset TIDEGATE_OFF` before you start the agent. 21 other checks passed; `tidegate doctor --all` lists them.");
    let japanese = sandbox.with("LANG", "ja_JP.UTF-8");
    let ran = japanese.run(&["doctor"]);
    for word in ["警告: 必須のスキル", "直し方: ", "注意: ", "tidegate doctor --all"] {
        assert!(ran.stdout.contains(word), "{word}: {ran:?}");
    }
    let all = japanese.run(&["doctor", "--all"]);
    assert!(all.stdout.ends_with("\n確認23件: 警告1件、注意1件。\n"), "{all:?}");
    // For programs it stays English.
    let json = japanese.run(&["doctor", "--json"]);
    assert!(json.stdout.contains("is required, but not installed"), "{json:?}");
    let sandbox = japanese.with("LANG", "C.UTF-8");
    let missing = sandbox.run(&["doctor", "--project", "missing"]);
    assert!(missing.failed().contains("is not a folder\nhint: "), "{missing:?}");
}

#[test]
fn binary() {
    let sandbox = healthy().with("PATH", "/nowhere:.");
    only(&sandbox, "binary warning", &["not on PATH", "export PATH="]);

    let sandbox = healthy();
    relink(&sandbox, Path::new(EXE));
    let on_path = sandbox.path().join("bin/tidegate");
    script(&on_path, "echo tidegate 0.0.1");
    only(&sandbox, "binary warning", &["`tidegate 0.0.1`", "bin/tidegate", EXE]);
    script(&on_path, "exit 7");
    only(&sandbox, "binary problem", &["exit status: 7"]);
    fs::remove_file(&on_path).expect("our own");
    symlink(EXE, &on_path).expect("a new link");

    relink(&sandbox, &sandbox.path().join("gone"));
    // Every hook calls the link: one cause, one problem.
    let blocked =
        ["Claude Code blocks every edit", "`tidegate init --project", "`tidegate uninstall --project"];
    only(&sandbox, "paths problem", &[&blocked[..], &["is a link to nothing"]].concat());
    fs::remove_file(link(&sandbox)).expect("our own");
    only(&sandbox, "paths problem", &[&blocked[..], &["does not exist"]].concat());
    let old = sandbox.path().join("old");
    script(&old, "echo tidegate 0.0.1");
    relink(&sandbox, &old);
    first(&sandbox, "binary warning", &["`tidegate 0.0.1`", "Tidegate's link"]);
}

/// Makes every entry of ours call this program.
fn call(path: &Path, program: &str) {
    let text = fs::read_to_string(path).expect("the file");
    let settings: Value = serde_json::from_str(&text).expect("JSON");
    let old = settings["hooks"]["Stop"][0]["hooks"][0]["command"].as_str().expect("ours").to_owned();
    change(path, |settings| {
        *settings = serde_json::from_str(&settings.to_string().replace(&old, program)).expect("JSON");
    });
}

#[test]
fn paths() {
    let sandbox = healthy();
    let at = |name: &str| sandbox.path().join(name).to_string_lossy().into_owned();
    call(&local(&sandbox), &at("gone/tidegate"));
    only(
        &sandbox,
        "paths problem",
        &["starts ", "gone/tidegate, which does not exist", "`tidegate init --project"],
    );
    fs::write(at("tidegate"), "").expect("a new file");
    call(&local(&sandbox), &at("tidegate"));
    only(&sandbox, "paths problem", &["Claude Code blocks every edit", "is not executable"]);
    // Never run: a repository can name anything.
    script(Path::new(&at("tidegate")), &format!("touch {}", at("ran")));
    only(&sandbox, "paths warning", &["starts another Tidegate", "settings.local.json"]);
    assert!(!Path::new(&at("ran")).exists());
    call(&local(&sandbox), "tidegate");
    assert_eq!(wrong(&sandbox), [""; 0], "found on PATH");
}

/// The right program now, by a way that another can lead elsewhere.
#[test]
fn an_entry_that_does_not_call_the_stable_link_is_named() {
    let sandbox = healthy();
    let folder = sandbox.path().join("elsewhere");
    fs::create_dir(&folder).expect("a new folder");
    let other = folder.join("tidegate");
    let link = sandbox.home().join(".local/share/tidegate/bin/tidegate");
    std::os::unix::fs::symlink(fs::read_link(link).expect("a link"), &other).expect("a link");
    call(&local(&sandbox), &other.to_string_lossy());
    only(&sandbox, "paths warning", &["elsewhere/tidegate instead of Tidegate's own link", "`tidegate init"]);
}

#[test]
fn paths_into_the_plugin_cache() {
    let sandbox = healthy();
    let cache = sandbox.home().join(".claude/plugins/cache/market/other");
    fs::create_dir_all(cache.join("2.0")).expect("new folders");
    fs::write(cache.join("2.0/hook.sh"), "").expect("a new file");
    for (command, stale) in [
        (format!("bash '{}/1.0/hook.sh' --quick", cache.display()), true),
        ("sh ~/.claude/plugins/cache/market/other/1.0/hook.sh".to_owned(), true),
        (format!("sh {}/2.0/hook.sh", cache.display()), false),
        ("sh $SOMEWHERE/plugins/cache/x".to_owned(), false),
    ] {
        change(&user(&sandbox), |settings| {
            *settings = json!({ "hooks": { "Notification": [{ "hooks": [{ "type": "command", "command": command }] }] } });
        });
        if stale {
            only(&sandbox, "paths warning", &["Notification", "other/1.0/hook.sh", "Remove that entry"]);
        } else {
            assert_eq!(wrong(&sandbox), [""; 0], "{command}");
        }
    }
}

#[test]
fn settings() {
    for (text, place) in [
        ("{\n  \"model\": \"opus\",\n}", ":2:18: a trailing comma"),
        ("{\n  // mine\n  \"model\": \"opus\"\n}", ":2:3: a comment"),
        ("{ \"model\"", ":1:10: a colon is missing"),
        ("[]", ":1:1: the file is not a JSON object"),
    ] {
        let sandbox = healthy();
        fs::write(user(&sandbox), text).expect("a new file");
        only(&sandbox, "settings problem", &[&format!(".claude/settings.json{place}"), "Correct the file"]);
    }
    let sandbox = healthy();
    fs::create_dir(user(&sandbox)).expect("a new folder");
    only(&sandbox, "settings problem", &["settings.json: not a file"]);
    let sandbox = healthy();
    make_fifo(&user(&sandbox));
    only(&sandbox, "settings problem", &["settings.json: not a file"]);
}

#[test]
fn hooks() {
    let sandbox = healthy();
    change(&local(&sandbox), |settings| {
        settings["hooks"].as_object_mut().expect("ours").remove("Stop");
    });
    only(
        &sandbox,
        "hooks problem",
        &["differ from those of this version: Stop is not registered", "`tidegate init --project"],
    );
    let _ = sandbox.run(&["uninstall", "--project", "."]).ok();
    only(&sandbox, "hooks problem", &["Claude Code does not call Tidegate in ", "`tidegate init --project"]);

    // Fresh from `init` nothing is wrong yet.
    let sandbox = healthy();
    fs::remove_dir_all(sandbox.state().join("journal")).expect("our own");
    fs::remove_dir_all(sandbox.state().join("sessions")).expect("our own");
    let transcripts = sandbox.home().join(".claude/projects");
    fs::rename(&transcripts, sandbox.path().join("aside")).expect("our own");
    assert_eq!(wrong(&sandbox), [""; 0]);
    let (state, text) = says(&sandbox, "hooks");
    assert_eq!(state, "note", "{text}");
    // But the client has worked here since.
    fs::rename(sandbox.path().join("aside"), &transcripts).expect("our own");
    only(&sandbox, "life problem", &["did not run Tidegate's hooks in 1 of the last 1 session", "`/hooks`"]);
}

/// Enables our plugin, with its hooks or without.
fn plugin(sandbox: &Sandbox, events: &[&str]) -> PathBuf {
    let folder = sandbox.home().join(".claude/plugins/cache/market/tidegate/0.1.0");
    fs::create_dir_all(folder.join("hooks")).expect("new folders");
    fs::create_dir_all(folder.join("bin")).expect("new folders");
    script(&folder.join("bin/tidegate"), "exit 0");
    let handler = json!([{ "hooks": [{ "type": "command", "command": "x" }] }]);
    let hooks: serde_json::Map<String, Value> =
        events.iter().map(|event| ((*event).to_owned(), handler.clone())).collect();
    fs::write(folder.join("hooks/hooks.json"), json!({ "hooks": hooks }).to_string()).expect("a new file");
    for name in SKILLS {
        fs::create_dir_all(folder.join("skills").join(name)).expect("new folders");
        fs::write(folder.join("skills").join(name).join("SKILL.md"), "---\nname: x\n---\n")
            .expect("a new file");
    }
    let list = json!({ "version": 2, "plugins": { "tidegate@market": [{ "installPath": folder }] } });
    fs::write(sandbox.home().join(".claude/plugins/installed_plugins.json"), list.to_string())
        .expect("a new file");
    change(&user(sandbox), |settings| settings["enabledPlugins"]["tidegate@market"] = json!(true));
    folder
}

#[test]
fn installs() {
    let sandbox = healthy();
    fs::copy(local(&sandbox), user(&sandbox)).expect("a new file");
    only(
        &sandbox,
        "installs warning",
        &[
            "local settings and your user settings",
            "`tidegate uninstall --project",
            "`tidegate uninstall --user`",
        ],
    );
    call(&user(&sandbox), "tidegate");
    only(&sandbox, "installs warning", &["answers each event once, but Claude Code starts it 2 times"]);
    fs::remove_file(user(&sandbox)).expect("our own");

    fs::copy(local(&sandbox), sandbox.project().join(".claude/settings.json")).expect("a new file");
    // Each command says what it takes out: with `--shared` that is both.
    only(
        &sandbox,
        "installs warning",
        &[
            "shared settings",
            "/project` removes the local hooks",
            "--shared` removes the shared and the local hooks",
        ],
    );
    fs::remove_file(sandbox.project().join(".claude/settings.json")).expect("our own");

    let folder = plugin(&sandbox, &["Stop"]);
    // Both together are what README recommends.
    assert_eq!(wrong(&sandbox), [""; 0]);
    let (state, text) = says(&sandbox, "installs");
    assert!(
        state == "note" && text.contains("the plugin tidegate@market register Tidegate's hooks"),
        "{text}"
    );
    assert!(text.contains("Claude Code starts it 2 times"), "{text}");
    // A nearer file can switch it off again.
    change(&local(&sandbox), |settings| settings["enabledPlugins"]["tidegate@market"] = json!(false));
    assert_eq!(says(&sandbox, "installs").0, "ok");
    change(&local(&sandbox), |settings| settings["enabledPlugins"]["tidegate@market"] = json!(true));

    // The plugin alone, whole and then gone.
    let _ = sandbox.run(&["uninstall", "--project", "."]).ok();
    only(
        &sandbox,
        "hooks problem",
        &["at these events: SessionStart, UserPromptSubmit, PreToolUse, PostToolUse."],
    );
    plugin(&sandbox, &["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"]);
    assert_eq!(wrong(&sandbox), [""; 0]);
    fs::set_permissions(folder.join("bin/tidegate"), fs::Permissions::from_mode(0o644)).expect("our own");
    first(&sandbox, "paths problem", &["do nothing", "bin/tidegate", "`chmod +x "]);
    fs::remove_dir_all(&folder).expect("our own");
    first(&sandbox, "paths problem", &["its folder", "is gone", "`claude plugin install tidegate@market`"]);
}

#[test]
fn disabled() {
    let sandbox = healthy();
    change(&user(&sandbox), |settings| settings["disableAllHooks"] = json!(true));
    only(
        &sandbox,
        "disabled problem",
        &[".claude/settings.json has `disableAllHooks`", "Remove `disableAllHooks` from"],
    );
    change(&local(&sandbox), |settings| settings["disableAllHooks"] = json!(false));
    assert_eq!(wrong(&sandbox), [""; 0], "the nearer file counts more");
    let sandbox = sandbox.with("CLAUDE_CODE_SIMPLE", "1");
    only(&sandbox, "disabled warning", &["CLAUDE_CODE_SIMPLE", "unset"]);
}

#[test]
fn skills() {
    let sandbox = healthy();
    let skill = sandbox.project().join(".claude/skills").join(SKILLS[1]);
    fs::remove_dir_all(&skill).expect("our own");
    only(&sandbox, "skills warning", &["`verification-before-completion`", "`tidegate init --project"]);
    let of_user = sandbox.home().join(".claude/skills").join(SKILLS[1]);
    fs::create_dir_all(&of_user).expect("new folders");
    only(&sandbox, "skills warning", &["`verification-before-completion`"]);
    fs::write(of_user.join("SKILL.md"), " \n").expect("a new file");
    only(&sandbox, "skills warning", &["`verification-before-completion`"]);
    fs::write(of_user.join("SKILL.md"), "mine").expect("a new file");
    assert_eq!(wrong(&sandbox), [""; 0]);
    fs::remove_dir_all(&of_user).expect("our own");
    // `init` keeps what is not its own, so an empty one has to go first.
    fs::create_dir_all(&skill).expect("new folders");
    fs::write(skill.join("SKILL.md"), "").expect("a new file");
    only(&sandbox, "skills warning", &["`verification-before-completion`", "(Remove "]);
}

/// On models with a 200K window the client's listing is short, and its own skills take most of it.
#[test]
fn the_listing_of_skills() {
    let sandbox = healthy();
    let add = |number: usize, length: usize| {
        let folder = sandbox.home().join(format!(".claude/skills/team-{number}"));
        fs::create_dir_all(&folder).expect("new folders");
        let text = format!("---\nname: team-{number}\ndescription: {}\n---\n\nText\n", "x".repeat(length));
        fs::write(folder.join("SKILL.md"), text).expect("a new file");
    };
    (0..10).for_each(|number| add(number, 180));
    assert_eq!(wrong(&sandbox), [""; 0], "ten skills of a team and ours have room");
    add(10, 180);
    only(
        &sandbox,
        "skills warning",
        &["200K window", "lose their descriptions", "\"skillListingBudgetFraction\": "],
    );
    change(&local(&sandbox), |settings| settings["skillListingBudgetFraction"] = json!(0.02));
    assert_eq!(wrong(&sandbox), [""; 0]);
    change(&local(&sandbox), |settings| settings["skillListingBudgetFraction"] = json!(0.01));
    (0..20).for_each(|number| add(number, 400));
    let (state, text) = says(&sandbox, "skills");
    assert!(
        state == "note" && text.contains("Tidegate's skills take 2"),
        "theirs alone are too many: {state} {text}"
    );
}

#[test]
fn skills_of_the_config() {
    let sandbox = healthy();
    let rules = |text: &str| sandbox.config(format!("[skill_gate.require]\n\"*.sql\" = [\"{text}\"]\n"));
    rules("sql-rules");
    only(
        &sandbox,
        "skills warning",
        &["`sql-rules` is required", "(Put it into `.claude/skills/sql-rules`", "`tidegate off skill-gate"],
    );
    sandbox.config("preset = \"strict\"\n");
    let said = wrong(&sandbox).join("\n");
    assert!(said.contains("`code-quality-rules` of the preset is not installed"), "{said}");
    assert!(said.contains("--with rules`") && !said.contains("tidegate off skill-gate"), "{said}");
    rules("team:sql-rules");
    assert_eq!(wrong(&sandbox), [""; 0], "another plugin's is not looked for");
    sandbox.config("[activity.ship]\nskills = [\"release\"]\n");
    only(&sandbox, "skills warning", &["`release` is required"]);
}

#[test]
fn skills_of_stages() {
    let sandbox = healthy();
    let claude = sandbox.project().join(".claude");
    let _ = fs::remove_dir_all(claude.join("skills/ship"));
    assert_eq!(wrong(&sandbox), [""; 0], "nobody has begun a cycle here");
    fs::write(claude.join("dev-cycle.state.json"), "{\"stage\": \"sprint\"}").expect("a new file");
    for name in ["sprint", "audit", "retrospective"] {
        fs::create_dir_all(claude.join("skills").join(name)).expect("new folders");
        fs::write(claude.join("skills").join(name).join("SKILL.md"), "mine").expect("a new file");
    }
    let said = "The skill `ship`, which the stage `ship` of the cycle `dev-cycle` runs, is not installed";
    only(&sandbox, "skills warning", &[said, "`tidegate init --project"]);
    sandbox.config("[cycle]\nmode = \"off\"\n");
    assert_eq!(wrong(&sandbox), [""; 0], "nobody is sent to it");
    fs::remove_file(claude.join("dev-cycle.state.json")).expect("our own");
    sandbox.config("[cycle.short]\nstages = [{ name = \"a\", skill = \"do-a\" }, { name = \"b\", skill = \"team:b\" }]\n");
    let fix = "Put it into `.claude/skills/do-a`, or give the stage `a` in `[cycle.short]` another `skill`";
    only(&sandbox, "skills warning", &["`do-a`, which the stage `a` of the cycle `short` runs", fix]);
}

#[test]
fn client() {
    let sandbox = healthy();
    let claude = sandbox.path().join("bin/claude");
    script(&claude, "echo '2.1.294 (Claude Code)'");
    only(
        &sandbox,
        "client warning",
        &["Claude Code 2.1.294", "without `onFailure` (since 2.1.295)", "`claude update`"],
    );
    script(&claude, "echo '2.1.60 (Claude Code)'");
    only(
        &sandbox,
        "client warning",
        &["without `onFailure` (since 2.1.295) a gate that cannot start stays open", "7 more"],
    );
    script(&claude, "exit 1");
    only(&sandbox, "client warning", &["bin/claude cannot print its version"]);
    script(&claude, "echo hello");
    assert_eq!(wrong(&sandbox), [""; 0]);
    assert_eq!(says(&sandbox, "client").0, "note");
    // Not on PATH: what it wrote last.
    fs::remove_file(&claude).expect("our own");
    assert_eq!(wrong(&sandbox), [""; 0]);
    assert_eq!(says(&sandbox, "client").1, "Claude Code 2.1.325 (by its newest transcript).");
    let path = transcript(&sandbox, SESSION, HOUR);
    let text = fs::read_to_string(&path).expect("a transcript").replace("2.1.325", "2.1.200");
    fs::write(&path, text).expect("our own");
    only(&sandbox, "client warning", &["Claude Code 2.1.200 (by its newest transcript)"]);
}

#[test]
fn state() {
    let sandbox = healthy().with("TIDEGATE_STATE_DIR", "relative");
    only(&sandbox, "state problem", &["not an absolute path", "blocks every edit", "Set TIDEGATE_STATE_DIR"]);
    for id in ["hooks", "transcript", "crashes", "latency", "life"] {
        assert_eq!(says(&sandbox, id).0, "note", "{id}");
    }
    let ran = sandbox.run(&["doctor"]);
    assert!(
        unfold(&ran.stdout).contains("7 checks could not run: hooks, hosts, memory, transcript"),
        "{ran:?}"
    );
    assert_eq!(ran.stdout.matches("note: ").count(), 0, "{ran:?}");

    let sandbox = healthy();
    let (folder, aside) = (sandbox.state().join("journal"), sandbox.state().join("aside"));
    fs::rename(&folder, &aside).expect("our own");
    fs::write(&folder, "").expect("a new file");
    only(&sandbox, "state problem", &["journal: it is not a folder", "Move "]);
    fs::remove_file(&folder).expect("our own");
    fs::rename(&aside, &folder).expect("our own");

    // Open to others: mended, and said.
    fs::set_permissions(sandbox.state(), fs::Permissions::from_mode(0o755)).expect("our own");
    let (state, text) = says(&sandbox, "state");
    assert!(state == "note" && text.contains("made it private again"), "{state}: {text}");
    assert_eq!(says(&sandbox, "state").0, "ok");
    fs::set_permissions(sandbox.state(), fs::Permissions::from_mode(0o1777)).expect("our own");
    only(&sandbox, "state problem", &["shared with other users", "mode 0700"]);
    fs::set_permissions(sandbox.state(), fs::Permissions::from_mode(0o700)).expect("our own");

    // A torn line is nobody's fault.
    let today = folder.join(format!("{}.jsonl", clock::now().day()));
    let text = fs::read_to_string(&today).unwrap_or_default();
    fs::write(&today, format!("{text}{{\"v\":1,\"id\n")).expect("our own");
    let (state, text) = says(&sandbox, "state");
    assert!(state == "note" && text.contains("1 line"), "{state}: {text}");

    // A pipe in place of today's file: not waited for.
    fs::remove_file(&today).expect("our own");
    make_fifo(&today);
    only(&sandbox, "state problem", &["cannot record its checks in ", "it is not a file", "Move "]);
    // Another day's: history only.
    fs::remove_file(&today).expect("our own");
    make_fifo(&folder.join("2026-11-01.jsonl"));
    only(&sandbox, "state warning", &["cannot read a part of its journal", "2026-11-01.jsonl", "Move "]);
}

#[test]
fn a_state_directory_that_is_a_file_and_no_home_at_all() {
    let sandbox = healthy();
    fs::rename(sandbox.state(), sandbox.path().join("aside")).expect("our own");
    fs::write(sandbox.state(), "").expect("a new file");
    only(&sandbox, "state problem", &["is not a folder", "(Move ", "/state away"]);

    let sandbox = healthy().without("HOME").without("TIDEGATE_STATE_DIR");
    only(&sandbox, "state problem", &["neither HOME nor TIDEGATE_STATE_DIR is set"]);
    // Nothing at all to go by.
    let sandbox = ["CLAUDE_PROJECT_DIR", "LANG", "TZ", "PATH"].into_iter().fold(sandbox, Sandbox::without);
    let wrong = wrong(&sandbox);
    assert!(wrong.iter().any(|text| text.starts_with("binary warning")), "{wrong:#?}");
}

#[test]
fn clock_and_disk() {
    let sandbox = healthy();
    record(&sandbox, Millis(clock::now().0 + 48 * HOUR), "Stop", SESSION, |_| {});
    only(&sandbox, "clock warning", &["but the clock says", "Set the clock"]);
    let (state, text) = says(&healthy(), "disk");
    // How much there is on this machine is not ours to say.
    assert!(text.contains(" MB ") && text.contains("state"), "{state}: {text}");
}

#[test]
fn config() {
    let sandbox = healthy();
    sandbox.config("lang = \"ja\"\n[meter\n");
    only(&sandbox, "config warning", &["config.toml:2: ", "Correct ", "shows the values in use"]);
    sandbox.config("[meter]\nwindow = \"much\"\n");
    only(&sandbox, "config warning", &["config.toml:2: `meter.window`: ", "left out here"]);
    sandbox.config("[relay_log]\nmode = \"off\"\n");
    assert_eq!(wrong(&sandbox), [""; 0], "a hint is not a problem");
    let (state, text) = says(&sandbox, "config");
    assert_eq!(state, "note");
    assert!(text.contains("config.toml:2: `[relay_log]` is called `[recording]` now."), "{text}");
    sandbox.config("lang = \"ja\"\n");
    assert_eq!(wrong(&sandbox), [""; 0]);
    let own = sandbox.project().join(".claude/tidegate.toml");
    fs::write(&own, "lang = \"en\"\n").expect("a new file");
    assert_eq!(wrong(&sandbox), [""; 0]);
    let (state, text) = says(&sandbox, "config");
    assert!(state == "note" && text.contains("tidegate.toml:1: `lang` has no effect"), "{state}: {text}");
    fs::remove_file(&own).expect("ours");
    change(&local(&sandbox), |settings| settings["env"] = json!({ "TIDEGATE_OFF": "skill-gate", "A": "b" }));
    only(
        &sandbox,
        "config warning",
        &[
            "This repository tries to change Tidegate's settings",
            "sets TIDEGATE_OFF. Tidegate ignores that.",
            "Remove TIDEGATE_OFF",
        ],
    );
}

#[test]
fn off() {
    let sandbox = healthy().with("TIDEGATE_OFF", "skill-gate");
    assert_eq!(wrong(&sandbox), [""; 0]);
    let (state, text) = says(&sandbox, "off");
    assert!(state == "note" && text.contains("TIDEGATE_OFF switches `skill-gate` off"), "{state}: {text}");
    let sandbox = sandbox.with("TIDEGATE_OFF", "skilgate");
    only(
        &sandbox,
        "config warning",
        &["TIDEGATE_OFF: there is no policy `skilgate`; did you mean `skill-gate`?"],
    );
    let sandbox = sandbox.without("TIDEGATE_OFF");
    let list = json!([{ "policy": "context-warning", "scope": "everywhere", "since": 0 }]);
    fs::write(sandbox.state().join("off.json"), list.to_string()).expect("ours");
    let (state, text) = says(&sandbox, "off");
    assert!(state == "note" && text.contains("`context-warning` is off in every project"), "{state}: {text}");
    let sandbox = sandbox.with("TIDEGATE_GUARD", "1");
    fs::remove_file(sandbox.state().join("off.json")).expect("ours");
    only(&sandbox, "off warning", &["TIDEGATE_GUARD", "unset"]);
}

#[test]
fn transcript_of_the_newest_session() {
    let sandbox = healthy();
    let path = sandbox.path().join("t.jsonl");
    let marks = sandbox.session(SESSION).join("marks");
    let line = json!({ "transcript": path }).to_string();
    fs::write(&marks, fs::read_to_string(&marks).expect("ours") + &line + "\n").expect("ours");
    assert_eq!(wrong(&sandbox), [""; 0], "the client has not written it yet");
    fs::create_dir(&path).expect("a new folder");
    only(&sandbox, "transcript problem", &["t.jsonl: not a file", "or start a new session"]);
    fs::remove_dir(&path).expect("our own");
    make_fifo(&path);
    only(&sandbox, "transcript problem", &["t.jsonl: not a file"]);
    fs::remove_file(&path).expect("our own");
    fs::write(&path, "garbage\nmore of it\n").expect("a new file");
    only(&sandbox, "transcript warning", &["cannot read any line of ", "Start a new session"]);
    fs::write(&path, "{\"type\":\"user\"}\ngarb").expect("our own");
    assert_eq!(wrong(&sandbox), [""; 0], "a torn end is usual");
}

#[test]
fn crashes() {
    let sandbox = healthy();
    let fail = |ago: u64, class: &str, project: Option<&str>| {
        let failure = FailedCheck { class: class.to_owned(), step: format!("{class} it was"), closed: true };
        let at = Millis(clock::now().0 - ago);
        record(&sandbox, at, "PreToolUse", SESSION, |record| {
            record.id = format!("{class}-{ago}");
            record.failure = Some(failure);
            record.project = project.map(str::to_owned).or_else(|| record.project.take());
        });
    };
    fail(8 * 24 * HOUR, "panic", None);
    fail(HOUR, "panic", Some("/another/project"));
    assert_eq!(wrong(&sandbox), [""; 0], "too old, or elsewhere");
    fail(2 * HOUR, "deadline", None);
    fail(HOUR, "deadline", None);
    only(
        &sandbox,
        "crashes warning",
        &["failed 2 times", "(deadline)", "deadline it was", "`tidegate explain deadline-3600000`"],
    );
    fail(HOUR, "panic", None);
    fail(HOUR, "state", None);
    fail(HOUR, "payload", None);
    let wrong = wrong(&sandbox);
    let classes = [
        ("crashes warning: ", "failed 2 times in the last 7 days (deadline)"),
        ("crashes problem: ", "failed once in the last 7 days (panic)"),
        ("crashes warning: ", "(payload)"),
        ("crashes warning: ", "(state)"),
    ];
    assert_eq!(wrong.len(), classes.len(), "{wrong:#?}");
    for (text, (start, class)) in wrong.iter().zip(classes) {
        assert!(text.starts_with(start) && text.contains(class), "{class}: {text}");
    }
}

#[test]
fn latency() {
    let sandbox = healthy();
    let run = |us| {
        record(&sandbox, Millis(clock::now().0 - HOUR), "Stop", SESSION, |record| record.cost.us = us);
    };
    for _ in 0..90 {
        run(2_000);
    }
    for _ in 0..5 {
        run(900_000);
    }
    let (state, text) = says(&sandbox, "latency");
    assert_eq!(
        (state.as_str(), text.as_str()),
        (
            "ok",
            "Half of the last 100 hook runs took at most 2.0 ms, 95% at most 2.0 ms, the longest 900.0 ms."
        )
    );
    run(50_001);
    only(&sandbox, "latency warning", &["95% at most 50.0 ms", "TIDEGATE_STATE_DIR"]);
}

#[test]
fn life_sessions_without_a_hook() {
    let sandbox = healthy();
    // One that ran before the install, and one without an answer since.
    transcript(&sandbox, "before", 20 * HOUR);
    let empty = transcript(&sandbox, "empty", HOUR / 2);
    fs::write(&empty, "{\"type\":\"user\"}\n").expect("our own");
    assert_eq!(wrong(&sandbox), [""; 0]);
    // One that nobody heard of, but it works again.
    transcript(&sandbox, "silent-1", 2 * HOUR);
    assert_eq!(wrong(&sandbox), [""; 0]);
    let (state, text) = says(&sandbox, "life");
    assert!(state == "note" && text.contains("in 1 of the last 2 sessions"), "{state}: {text}");
    // The newest is silent: the status line alone is no sign of life.
    transcript(&sandbox, "silent-2", 0);
    fs::create_dir_all(sandbox.session("silent-2")).expect("a new folder");
    fs::write(sandbox.session("silent-2").join("bridge"), "{}\n").expect("a new file");
    only(
        &sandbox,
        "life problem",
        &["did not run Tidegate's hooks in 2 of the last 3 sessions", "first on 20", " UTC", "`/hooks`"],
    );
    // The hooks of both were there after all.
    for session in ["silent-1", "silent-2"] {
        fs::create_dir_all(sandbox.session(session)).expect("a new folder");
        fs::write(sandbox.session(session).join("claims"), "").expect("a new file");
    }
    assert_eq!(wrong(&sandbox), [""; 0]);
}

#[test]
fn life_after_real_hooks() {
    let sandbox = healthy();
    for session in ["real-1", "real-2"] {
        let path = transcript(&sandbox, session, 0);
        for capture in [
            "SessionStart.startup",
            "UserPromptSubmit.plain",
            "PreToolUse.Edit",
            "PostToolUse.Edit",
            "Stop.first",
        ] {
            let payload = addressed(fixtures::hook(capture), session, &path, &sandbox.project());
            sandbox.event(&payload).silent();
        }
    }
    // How fast this machine is, is not asked.
    let others: Vec<String> =
        wrong(&sandbox).into_iter().filter(|text| !text.starts_with("latency ")).collect();
    assert_eq!(others, [""; 0]);
    assert_eq!(says(&sandbox, "life").1, "Hooks ran in 3 sessions since the install.");
}

#[test]
fn life_events_that_never_come() {
    for event in ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"] {
        let sandbox = healthy();
        fs::remove_dir_all(sandbox.state().join("journal")).expect("our own");
        let others: Vec<&str> = ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"]
            .into_iter()
            .filter(|other| *other != event)
            .collect();
        play(&sandbox, "one", 2 * HOUR, &others);
        assert_eq!(wrong(&sandbox), [""; 0], "one session can have its reasons");
        play(&sandbox, "two", HOUR, &others);
        let text = format!("did not run the hook for {event} in any of 2 sessions");
        only(&sandbox, "life problem", &[&text, "`/hooks`"]);
        play(&sandbox, "three", HOUR, &[event]);
        assert_eq!(wrong(&sandbox), [""; 0], "{event} was seen");
    }
}

#[test]
fn pipes_everywhere() {
    let sandbox = healthy();
    let project = transcript(&sandbox, SESSION, 0);
    let places = [
        project,
        local(&sandbox),
        user(&sandbox),
        sandbox.session(SESSION).join("marks"),
        sandbox.project().join(".claude/skills").join(SKILLS[0]).join("SKILL.md"),
        sandbox.home().join(".config/tidegate/config.toml"),
        sandbox.home().join(".claude/plugins/installed_plugins.json"),
        sandbox.state().join("installs/x.json"),
    ];
    for place in places {
        let _ = fs::remove_file(&place);
        fs::create_dir_all(place.parent().expect("a folder")).expect("new folders");
        make_fifo(&place);
    }
    assert!(!wrong(&sandbox).is_empty());
}
