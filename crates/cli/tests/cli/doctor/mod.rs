//! `doctor`: a healthy project first, then each thing broken on its own.

mod knowledge;
mod memory;
mod mending;
mod whereabouts;

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use tidegate_core::pipeline::record::{FailedCheck, Record};
use tidegate_core::time::Millis;
use tidegate_state::{clock, journal};

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

/// All findings. Whatever was broken: an exit code that says so, a cure for each thing that is wrong, no crash.
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

/// What is wrong, as `check state: what was found (cure)`.
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
    assert_eq!(ran.ok().lines().count(), 24, "{ran:?}");
    assert!(ran.stdout.ends_with("\n23 checks: nothing wrong\n"), "{ran:?}");
    // Nothing is left behind.
    let left: Vec<PathBuf> = sandbox.everything();
    assert!(!left.iter().any(|path| path.to_string_lossy().contains(".doctor.")), "{left:?}");
    // From elsewhere, the project named.
    let elsewhere = sandbox.with("CLAUDE_PROJECT_DIR", "/");
    let project = elsewhere.project().to_string_lossy().into_owned();
    assert!(elsewhere.run(&["doctor", "--project", &project]).ok().contains("nothing wrong"));
}

#[test]
fn what_people_read() {
    let sandbox = healthy().with("TIDEGATE_OFF", "context-warning");
    fs::remove_dir_all(sandbox.project().join(".claude/skills").join(SKILLS[1])).expect("our own");
    let ran = sandbox.run(&["doctor"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(1), ""), "{ran:?}");
    let text = ran.stdout.replace(&*sandbox.path().to_string_lossy(), "[sandbox]");
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with("ok ")).collect();
    insta::assert_snapshot!(lines.join("\n"), @"
    warning  skills      the skill `verification-before-completion` is required, but not installed
                         cure: `tidegate init --project [sandbox]/project` installs it
    note     off         `context-warning` is switched off by TIDEGATE_OFF in this environment
                         cure: `unset TIDEGATE_OFF` before starting the client switches it on again
    23 checks: 1 warning, 1 note
    ");
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
    first(&sandbox, "binary problem", &["link to nothing", "`tidegate init --project"]);
    fs::remove_file(link(&sandbox)).expect("our own");
    first(&sandbox, "binary warning", &["stable link", "is missing", "`tidegate init --project"]);
    let old = sandbox.path().join("old");
    script(&old, "echo tidegate 0.0.1");
    relink(&sandbox, &old);
    first(&sandbox, "binary warning", &["`tidegate 0.0.1`", "behind the stable link"]);
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
    only(&sandbox, "paths problem", &["stale", "gone/tidegate does not exist", "`tidegate init --project"]);
    fs::write(at("tidegate"), "").expect("a new file");
    call(&local(&sandbox), &at("tidegate"));
    only(&sandbox, "paths problem", &["stale", "is not executable"]);
    // Never run: a repository can name anything.
    script(Path::new(&at("tidegate")), &format!("touch {}", at("ran")));
    only(&sandbox, "paths warning", &["entries of ours call a foreign tidegate", "settings.local.json"]);
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
    only(&sandbox, "paths warning", &["entries of ours call", "elsewhere/tidegate, not the stable link"]);
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
            only(&sandbox, "paths warning", &["Notification", "other/1.0/hook.sh", "take that entry out"]);
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
        only(&sandbox, "settings problem", &[&format!(".claude/settings.json{place}"), "mend the file"]);
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
        &["differs from what this version registers: Stop is not registered", "`tidegate init --project"],
    );
    let _ = sandbox.run(&["uninstall", "--project", "."]).ok();
    only(&sandbox, "hooks problem", &["no hook of ours is registered", "`tidegate init --project"]);

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
    let wrong = wrong(&sandbox);
    assert!(wrong.len() == 2 && wrong[0].starts_with("hooks warning: "), "{wrong:#?}");
    assert!(wrong[0].contains("none has ever been seen firing"), "{wrong:#?}");
    assert!(wrong[1].starts_with("life problem: "), "{wrong:#?}");
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
        &["local settings and the user's", "`tidegate uninstall --project", "`tidegate uninstall --user`"],
    );
    call(&user(&sandbox), "tidegate");
    only(&sandbox, "installs warning", &["answered once, but costs 2 processes"]);
    fs::remove_file(user(&sandbox)).expect("our own");

    fs::copy(local(&sandbox), sandbox.project().join(".claude/settings.json")).expect("a new file");
    // Each command says what it takes out: with `--shared` that is both.
    only(
        &sandbox,
        "installs warning",
        &[
            "shared settings",
            "/project` takes out the local ones",
            "--shared` takes out the local and the shared",
        ],
    );
    fs::remove_file(sandbox.project().join(".claude/settings.json")).expect("our own");

    let folder = plugin(&sandbox, &["Stop"]);
    // Both together are what README recommends.
    assert_eq!(wrong(&sandbox), [""; 0]);
    let (state, text) = says(&sandbox, "installs");
    assert!(
        state == "note" && text.contains("the plugin tidegate@market: each event is answered once"),
        "{text}"
    );
    assert!(text.contains("costs 2 processes"), "{text}");
    // A nearer file can switch it off again.
    change(&local(&sandbox), |settings| settings["enabledPlugins"]["tidegate@market"] = json!(false));
    assert_eq!(says(&sandbox, "installs").0, "ok");
    change(&local(&sandbox), |settings| settings["enabledPlugins"]["tidegate@market"] = json!(true));

    // The plugin alone, whole and then gone.
    let _ = sandbox.run(&["uninstall", "--project", "."]).ok();
    only(
        &sandbox,
        "hooks problem",
        &["not registered: SessionStart, UserPromptSubmit, PreToolUse, PostToolUse"],
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
        &[".claude/settings.json has `disableAllHooks`", "take `disableAllHooks`"],
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
    only(&sandbox, "skills warning", &["`verification-before-completion`", "(remove "]);
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
        &["the listing of skills has about ", "\"skillListingBudgetFraction\": "],
    );
    change(&local(&sandbox), |settings| settings["skillListingBudgetFraction"] = json!(0.02));
    assert_eq!(wrong(&sandbox), [""; 0]);
    change(&local(&sandbox), |settings| settings["skillListingBudgetFraction"] = json!(0.01));
    (0..20).for_each(|number| add(number, 400));
    let (state, text) = says(&sandbox, "skills");
    assert!(
        state == "note" && text.contains("Tidegate's take 2"),
        "theirs alone are too many: {state} {text}"
    );
}

#[test]
fn skills_of_the_config() {
    let sandbox = healthy();
    let rules = |text: &str| sandbox.config(format!("[skill_gate.require]\n\"*.sql\" = [\"{text}\"]\n"));
    rules("sql-rules");
    only(&sandbox, "skills warning", &["`sql-rules` is required", "(put it into `.claude/skills/sql-rules`"]);
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
    let said = "the skill `ship` of stage `ship` of the cycle `dev-cycle` is not installed";
    only(&sandbox, "skills warning", &[said, "`tidegate init --project"]);
    sandbox.config("[cycle]\nmode = \"off\"\n");
    assert_eq!(wrong(&sandbox), [""; 0], "nobody is sent to it");
    fs::remove_file(claude.join("dev-cycle.state.json")).expect("our own");
    sandbox.config("[cycle.short]\nstages = [{ name = \"a\", skill = \"do-a\" }, { name = \"b\", skill = \"team:b\" }]\n");
    let cure = "put it into `.claude/skills/do-a`, or give stage `a` in [cycle.short] another `skill`";
    only(&sandbox, "skills warning", &["`do-a` of stage `a` of the cycle `short`", cure]);
}

#[test]
fn client() {
    let sandbox = healthy();
    let claude = sandbox.path().join("bin/claude");
    script(&claude, "echo '2.1.294 (Claude Code)'");
    only(&sandbox, "client warning", &["client 2.1.294", "`onFailure` (since 2.1.295)", "`claude update`"]);
    script(&claude, "echo '2.1.60 (Claude Code)'");
    only(
        &sandbox,
        "client warning",
        &["`args` of hooks", "PostCompact", "blocking PreCompact", "`prompt_id`"],
    );
    script(&claude, "exit 1");
    only(&sandbox, "client warning", &["bin/claude cannot say its version"]);
    script(&claude, "echo hello");
    assert_eq!(wrong(&sandbox), [""; 0]);
    assert_eq!(says(&sandbox, "client").0, "note");
    // Not on PATH: what it wrote last.
    fs::remove_file(&claude).expect("our own");
    assert_eq!(wrong(&sandbox), [""; 0]);
    assert_eq!(says(&sandbox, "client").1, "client 2.1.325 (by its newest transcript)");
    let path = transcript(&sandbox, SESSION, HOUR);
    let text = fs::read_to_string(&path).expect("a transcript").replace("2.1.325", "2.1.200");
    fs::write(&path, text).expect("our own");
    only(&sandbox, "client warning", &["client 2.1.200 (by its newest transcript)"]);
}

#[test]
fn state() {
    let sandbox = healthy().with("TIDEGATE_STATE_DIR", "relative");
    only(&sandbox, "state problem", &["not an absolute path", "set TIDEGATE_STATE_DIR"]);
    for id in ["hooks", "transcript", "crashes", "latency", "life"] {
        assert_eq!(says(&sandbox, id).0, "note", "{id}");
    }

    let sandbox = healthy();
    let (folder, aside) = (sandbox.state().join("journal"), sandbox.state().join("aside"));
    fs::rename(&folder, &aside).expect("our own");
    fs::write(&folder, "").expect("a new file");
    let texts = wrong(&sandbox);
    assert!(texts.iter().all(|text| text.starts_with("state ")), "{texts:#?}");
    assert!(texts[0].contains("journal: it is not a folder") && texts[0].contains("move "), "{texts:#?}");
    fs::remove_file(&folder).expect("our own");
    fs::rename(&aside, &folder).expect("our own");

    // Open to others: mended, and said.
    fs::set_permissions(sandbox.state(), fs::Permissions::from_mode(0o755)).expect("our own");
    let (state, text) = says(&sandbox, "state");
    assert!(state == "note" && text.contains("private again"), "{state}: {text}");
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
    let wrong = wrong(&sandbox);
    assert!(wrong[0].starts_with("state problem: no record can be written to "), "{wrong:#?}");
    assert!(wrong.iter().any(|text| text.contains("a part of the journal cannot be read")), "{wrong:#?}");
}

#[test]
fn a_state_directory_that_is_a_file_and_no_home_at_all() {
    let sandbox = healthy();
    fs::rename(sandbox.state(), sandbox.path().join("aside")).expect("our own");
    fs::write(sandbox.state(), "").expect("a new file");
    only(&sandbox, "state problem", &["is not a folder", "(move ", "/state away"]);

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
    only(&sandbox, "clock warning", &["but the clock says", "set the clock right"]);
    let (state, text) = says(&healthy(), "disk");
    // How much there is on this machine is not ours to say.
    assert!(text.contains(" MB ") && text.contains("state"), "{state}: {text}");
}

#[test]
fn config() {
    let sandbox = healthy();
    sandbox.config("lang = \"ja\"\n[meter\n");
    only(&sandbox, "config warning", &["config.toml:2: ", "mend ", "shows what counts until then"]);
    sandbox.config("[meter]\nwindow = \"much\"\n");
    only(&sandbox, "config warning", &["config.toml:2: `meter.window`: ", "left out here"]);
    sandbox.config("[relay_log]\nmode = \"off\"\n");
    assert_eq!(wrong(&sandbox), [""; 0], "a hint is not a problem");
    let (state, text) = says(&sandbox, "config");
    assert_eq!(state, "note");
    assert!(text.ends_with("config.toml:2: `[relay_log]` is called `[recording]` now"), "{text}");
    sandbox.config("lang = \"ja\"\n");
    assert_eq!(wrong(&sandbox), [""; 0]);
    let own = sandbox.project().join(".claude/tidegate.toml");
    fs::write(&own, "lang = \"en\"\n").expect("a new file");
    assert_eq!(wrong(&sandbox), [""; 0]);
    let (state, text) = says(&sandbox, "config");
    assert!(state == "note" && text.contains("tidegate.toml:1: `lang` has no effect"), "{state}: {text}");
    fs::remove_file(&own).expect("ours");
    change(&local(&sandbox), |settings| settings["env"] = json!({ "TIDEGATE_OFF": "skill-gate", "A": "b" }));
    only(&sandbox, "config warning", &["TIDEGATE_OFF is set in the project's settings", "ignored"]);
}

#[test]
fn off() {
    let sandbox = healthy().with("TIDEGATE_OFF", "skill-gate");
    assert_eq!(wrong(&sandbox), [""; 0]);
    let (state, text) = says(&sandbox, "off");
    assert!(state == "note" && text.contains("`skill-gate` is switched off"), "{state}: {text}");
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
    assert!(
        state == "note" && text.contains("`context-warning` is switched off in every project"),
        "{state}: {text}"
    );
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
    only(&sandbox, "transcript problem", &["t.jsonl: not a file", "start a new session"]);
    fs::remove_dir(&path).expect("our own");
    make_fifo(&path);
    only(&sandbox, "transcript problem", &["t.jsonl: not a file"]);
    fs::remove_file(&path).expect("our own");
    fs::write(&path, "garbage\nmore of it\n").expect("a new file");
    only(&sandbox, "transcript warning", &["no line of ", "start a new session"]);
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
        &["2 × deadline", "deadline it was", "`tidegate explain deadline-3600000`"],
    );
    fail(HOUR, "panic", None);
    fail(HOUR, "state", None);
    fail(HOUR, "payload", None);
    let wrong = wrong(&sandbox);
    let starts: Vec<&str> = wrong.iter().filter_map(|text| text.split(" in the last").next()).collect();
    assert_eq!(
        starts,
        [
            "crashes warning: 2 × deadline",
            "crashes problem: 1 × panic",
            "crashes warning: 1 × payload",
            "crashes warning: 1 × state"
        ]
    );
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
        ("ok", "the last 100 hook runs: median 2.0 ms, p95 2.0 ms, longest 900.0 ms")
    );
    run(50_001);
    only(&sandbox, "latency warning", &["p95 50.0 ms", "TIDEGATE_STATE_DIR"]);
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
    only(&sandbox, "life problem", &["no hook was seen in 2 of the last 3 sessions", "since 20", "`/hooks`"]);
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
    assert_eq!(says(&sandbox, "life").1, "hooks ran in 3 sessions since the install");
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
        let text = format!("{event} is registered, but was not seen in any of 2 sessions");
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
