//! Hosts that read our entries in their own way: whatever part of one they ignore, no payload is executed, nothing is
//! blocked, and nothing but a hook's answer is printed.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Map, Value, json};

use crate::answer::{Answer, Ran};
use crate::fixtures;
use crate::sandbox::{Running, Sandbox, copy_program, in_parallel};

/// A shell that reads any of these makes the file; every quote and line end is tried by one of them. Only builtins: it
/// works in an empty environment.
fn canary(file: &Path) -> String {
    let make = format!(": >{}", file.display());
    format!("`{make}` $({make})\n{make}\n'; {make}; '\"; {make}; \"\r\n{make} # \u{0}")
}

/// Every string of a payload, but for the one that says which event it is, with canaries behind it. With its own session
/// the payload is a whole one; without, the host's own text stands where an id should.
fn infected(value: &Value, canary: &str, keeps_session: bool) -> Value {
    match value {
        Value::String(text) => json!(format!("{text} {canary}")),
        Value::Array(items) => items.iter().map(|item| infected(item, canary, keeps_session)).collect(),
        Value::Object(members) => {
            let infect = |(key, value): (&String, &Value)| {
                let is_kept = key == "hook_event_name" || (keeps_session && key == "session_id");
                (key.clone(), if is_kept { value.clone() } else { infected(value, canary, keeps_session) })
            };
            Value::Object(members.iter().map(infect).collect::<Map<_, _>>())
        }
        plain => plain.clone(),
    }
}

/// The entries of one install, by event.
struct Install {
    name: &'static str,
    hooks: Value,
    root: Option<PathBuf>,
}

impl Install {
    fn handlers(&self, event: &str) -> Vec<&Value> {
        let groups = self.hooks[event].as_array().into_iter().flatten();
        groups.flat_map(|group| group["hooks"].as_array().into_iter().flatten()).collect()
    }
}

/// Everything we register, in a home of its own.
fn installs(sandbox: &Sandbox) -> Vec<Install> {
    let read = |path: &Path| -> Value {
        let text = fs::read_to_string(path).expect("a settings file");
        serde_json::from_str::<Value>(&text).expect("JSON")["hooks"].clone()
    };
    let mut installs = Vec::new();
    for (name, flags, file) in [
        ("project", &["init"] as &[&str], sandbox.project().join(".claude/settings.local.json")),
        ("user", &["init", "--user"], sandbox.home().join(".claude/settings.json")),
        ("shared", &["init", "--shared"], sandbox.project().join(".claude/settings.json")),
    ] {
        assert_eq!(sandbox.run(flags).code, Some(0), "{name}");
        installs.push(Install { name, hooks: read(&file), root: None });
    }
    // A place with everything that a shell could take for something else.
    let root = sandbox.path().join("a b'c $(:) plugin");
    fs::create_dir_all(root.join("bin")).expect("new folders");
    let plugin = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugin");
    copy_program(&plugin.join("bin/tidegate"), &root.join("bin/tidegate"));
    installs.push(Install {
        name: "plugin",
        hooks: read(&plugin.join("hooks/hooks.json")),
        root: Some(root),
    });
    installs
}

/// How a host starts an entry.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    /// With `args`, without a shell: Claude Code since 2.1.139.
    Whole,
    /// `command` alone, by this shell with these options.
    Line(&'static str, &'static str),
    /// The same without a single variable.
    Bare(&'static str, &'static str),
}

const WAYS: [Way; 5] = [
    Way::Whole,
    Way::Line("/bin/sh", "-c"),
    Way::Line("/bin/bash", "-lc"),
    Way::Bare("/bin/sh", "-c"),
    Way::Bare("/bin/bash", "-c"),
];

impl Way {
    fn command(self, handler: &Value, install: &Install, sandbox: &Sandbox) -> Command {
        let plain = sandbox.command(&[]);
        let mut variables: Vec<(OsString, OsString)> =
            plain.get_envs().filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned()))).collect();
        variables.extend(install.root.iter().map(|root| ("CLAUDE_PLUGIN_ROOT".into(), root.into())));
        let line = handler["command"].as_str().expect("a command");
        let args = handler["args"].as_array();
        let mut command = match (self, args) {
            (Way::Whole, Some(args)) => {
                let mut command = Command::new(line);
                command.args(args.iter().filter_map(Value::as_str));
                command
            }
            (Way::Whole, None) => shell("/bin/sh", "-c", line),
            (Way::Line(name, option) | Way::Bare(name, option), _) => shell(name, option, line),
        };
        command.env_clear().current_dir(sandbox.project());
        // A bash that is not within another one takes a socket for a login from elsewhere, and reads this machine's .bashrc.
        command.env("SHLVL", "2");
        if !matches!(self, Way::Bare(..)) {
            command.envs(variables);
        }
        command
    }
}

fn shell(name: &str, option: &str, line: &str) -> Command {
    let mut command = Command::new(name);
    command.args([option, line]);
    command
}

fn run(command: Command, payload: &str) -> Ran {
    let mut running = Running::start(command);
    running.send(payload.as_bytes());
    running.close();
    running.end()
}

/// Each payload in each way, through every entry for its event.
fn feed(payloads: &[(String, Value)], ways: &[Way], check: impl Fn(&str, Way, &Value, Ran) + Sync) {
    let parts: Vec<_> = payloads.chunks(payloads.len().div_ceil(6)).collect();
    in_parallel(&parts, |sandbox, part| {
        let mut installs = installs(sandbox);
        // Where the same entries stand does not matter.
        installs.dedup_by(|one, other| (&one.hooks, &one.root) == (&other.hooks, &other.root));
        let canary_file = sandbox.path().join("executed");
        for (event, payload) in *part {
            let text = payload.to_string().replace("CANARY_FILE", &canary_file.to_string_lossy());
            for (install, handler) in installs.iter().flat_map(|install| {
                install.handlers(event).into_iter().map(move |handler| (install, handler))
            }) {
                // An entry without `args` is a line for a shell, also for a host that reads all of it.
                let is_line = handler.get("args").is_none() && ways.contains(&Way::Line("/bin/sh", "-c"));
                for way in ways.iter().filter(|way| !(is_line && **way == Way::Whole)) {
                    let ran = run(way.command(handler, install, sandbox), &text);
                    let executed = canary_file.exists();
                    assert!(!executed, "{event} of {} executed by {way:?}: {handler}", install.name);
                    check(event, *way, handler, ran);
                }
            }
        }
    });
}

fn payloads(captures: &[fixtures::Capture], more: &str, keeps_session: bool) -> Vec<(String, Value)> {
    let canary = format!("{}{more}", canary(Path::new("CANARY_FILE")));
    let infect = |capture: &fixtures::Capture| infected(&capture.json(), &canary, keeps_session);
    captures.iter().map(|capture| (capture.event.clone(), infect(capture))).collect()
}

fn all_payloads() -> Vec<(String, Value)> {
    let captures = fixtures::hooks();
    [payloads(&captures, "", true), payloads(&captures, "", false)].concat()
}

#[test]
fn no_payload_is_executed_and_no_call_without_arguments_blocks() {
    feed(&all_payloads(), &WAYS, |event, way, handler, ran| {
        // The whole entry of the edit gate closes on a payload that it cannot check; nothing else ever does.
        let is_gate = event == "PreToolUse" && !handler.to_string().contains("--advice");
        let says_all = way == Way::Whole || handler.get("args").is_none();
        if !(is_gate && says_all) {
            assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{event} by {way:?}: {handler}");
        }
        let answer = Answer::of(ran);
        answer.check(event);
    });
}

#[test]
fn a_megabyte_in_every_string_is_not_executed_either() {
    // The size is the point: one payload of each event, and the two ways that differ most.
    let mut captures = fixtures::hooks();
    captures.sort_by(|one, other| one.event.cmp(&other.event));
    captures.dedup_by(|one, other| one.event == other.event);
    let large = payloads(&captures, &"`x`$(y)'\"\n".repeat(100 * 1024), true);
    feed(&large, &[Way::Whole, Way::Line("/bin/sh", "-c")], |event, way, handler, ran| {
        assert!(matches!(ran.code, Some(0 | 2)), "{event} by {way:?}: {handler} {ran:?}");
    });
}

/// What the tests above rest on: a shell that is given such a payload as its script does execute it.
#[test]
fn an_interpreter_without_its_arguments_executes_every_payload() {
    let sandbox = Sandbox::new();
    let canary_file = sandbox.path().join("executed");
    for (event, payload) in all_payloads() {
        let text = payload.to_string().replace("CANARY_FILE", &canary_file.to_string_lossy());
        let _ = run(Command::new("/bin/sh"), &text);
        assert!(canary_file.exists(), "{event}: {text}");
        fs::remove_file(&canary_file).expect("our own");
    }
}

#[test]
fn a_call_without_arguments_is_a_hook_and_never_blocks() {
    let sandbox = Sandbox::new();
    let broken = ["", "{", "null", "[]", "not JSON", "{\"hook_event_name\":\"PreToolUse\"}", "\u{0}"];
    for input in broken {
        let ran = sandbox.run_with(&[], input.as_bytes());
        assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (Some(0), "", ""), "{input:?}");
        assert_eq!(sandbox.one_record()["failure"]["closed"], false, "{input:?}");
    }
    // A whole payload is answered as the same hook with arguments answers it.
    for capture in fixtures::hooks() {
        let (bare, named) = (Sandbox::new(), Sandbox::new());
        let ran = bare.run_with(&[], capture.text.as_bytes());
        assert_eq!(ran.code, Some(0), "{}: {ran:?}", capture.name);
        let answer = named.hook(&["--event", &capture.event], &capture.text);
        assert_eq!(ran.stdout, answer.stdout, "{}", capture.name);
        assert_eq!(bare.one_record()["event"], named.one_record()["event"], "{}", capture.name);
    }
    // A gate that could not check.
    let mut unreadable = fixtures::hook("PreToolUse.Write");
    unreadable["tool_input"] = json!([]);
    let ran = sandbox.run_with(&[], unreadable.to_string().as_bytes());
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (Some(0), "", ""));
}

/// Events that say no by their exit code say nothing without arguments.
#[test]
fn a_denial_by_exit_code_is_dropped_without_arguments() {
    let sandbox = Sandbox::new();
    sandbox.config("[task_gate]\nmode = \"block\"\n");
    fs::write(sandbox.project().join("Cargo.toml"), "[package]\nname = \"x\"\n").expect("a new file");
    let mut edit = fixtures::hook("PostToolUse.Write");
    edit["cwd"] = json!(sandbox.project());
    edit["tool_input"]["file_path"] = json!(sandbox.project().join("src/a.rs"));
    let mut done = fixtures::hook("TaskCompleted");
    done["session_id"] = edit["session_id"].clone();
    done["cwd"] = json!(sandbox.project());
    fs::create_dir(sandbox.project().join("src")).expect("a new folder");
    fs::write(sandbox.project().join("src/a.rs"), "fn a() {}\n").expect("a new file");
    let _ = sandbox.hook(&["--event", "PostToolUse"], edit.to_string());
    let ran = sandbox.run_with(&[], done.to_string().as_bytes());
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (Some(0), "", ""));
    let record = sandbox.new_records().pop().expect("a record");
    assert_eq!(record["ruling"], "deny", "{record}");
}

#[cfg(target_os = "linux")]
#[test]
fn at_a_terminal_a_call_without_arguments_is_help() {
    // `script` gives it a terminal.
    let sandbox = Sandbox::new();
    let mut command = sandbox.command(&[]);
    let line = format!("{} </dev/tty", command.get_program().to_string_lossy());
    command = Command::new("script");
    command.args(["-qec", &line, "/dev/null"]).env_clear().env("PATH", "/usr/bin:/bin");
    command.env("HOME", sandbox.home()).current_dir(sandbox.project());
    let ran = run(command, "");
    assert!(ran.stdout.contains("Usage: tidegate"), "{ran:?}");
}

/// Without the program, shared and plugin entries are silent; only the plugin says so, when a session starts.
#[test]
fn without_the_program_entries_are_silent() {
    let sandbox = Sandbox::new();
    let installs = installs(&sandbox);
    fs::remove_file(sandbox.home().join(".local/share/tidegate/bin/tidegate")).expect("the link");
    for install in installs.iter().filter(|install| ["shared", "plugin"].contains(&install.name)) {
        for event in install.hooks.as_object().expect("events").keys() {
            for (handler, way) in
                install.handlers(event).into_iter().flat_map(|handler| WAYS.map(|way| (handler, way)))
            {
                let ran = run(way.command(handler, install, &sandbox), "{}");
                assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{event} {way:?} {handler}");
                let speaks =
                    install.name == "plugin" && event == "SessionStart" && !matches!(way, Way::Bare(..));
                assert_eq!(ran.stdout.is_empty(), !speaks, "{event} {way:?} {ran:?}");
            }
        }
    }
}

/// Entries as 0.1 wrote them.
fn old_shared(event: &str) -> Value {
    let line = concat!(
        r#"set -f; IFS=:; for d in "${XDG_DATA_HOME:-$HOME/.local/share}/tidegate/bin" $PATH; do case $d in "#,
        r#"/*) [ -f "$d/tidegate" ] && [ -x "$d/tidegate" ] && exec "$d/tidegate" "$@";; esac; done; exit 0"#,
    );
    json!([{ "hooks": [{
        "type": "command",
        "command": "sh",
        "args": ["-c", line, "tidegate", "hook", "--event", event, "--via", "shared"],
    }] }])
}

fn old_plugin(event: &str) -> Value {
    json!([{ "hooks": [{
        "type": "command",
        "command": "sh",
        "args": ["${CLAUDE_PLUGIN_ROOT}/bin/tidegate", "hook", "--event", event, "--via", "plugin"],
    }] }])
}

fn put(path: &Path, content: &Value) {
    fs::create_dir_all(path.parent().expect("a folder")).expect("new folders");
    fs::write(path, serde_json::to_string_pretty(content).expect("JSON")).expect("a new file");
}

/// Doctor's findings about this.
fn safety(sandbox: &Sandbox) -> (Option<i32>, Vec<Value>) {
    let ran = sandbox.run(&["doctor", "--json"]);
    let report: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    let is_it = |finding: &&Value| finding["id"] == "safety" && finding["state"] != "ok";
    (ran.code, report["checks"].as_array().expect("checks").iter().filter(is_it).cloned().collect())
}

#[test]
fn doctor_fails_on_old_entries_wherever_they_are_and_init_replaces_them() {
    let shared =
        json!({ "model": "opus", "hooks": { "Stop": old_shared("Stop"), "Setup": [{ "hooks": [] }] } });
    let plugin = json!({ "hooks": { "Stop": old_plugin("Stop") } });
    for (below_home, file, content) in [
        (false, ".claude/settings.json", &shared),
        (false, ".qwen/settings.json", &shared),
        (false, ".github/hooks/x.json", &shared),
        (true, ".claude/settings.json", &shared),
        (true, ".codex/hooks.json", &shared),
        (true, ".claude/plugins/cache/market/tidegate/0.1.0/hooks/hooks.json", &plugin),
        (true, ".codex/plugins/cache/market/tidegate/0.1.0/hooks/hooks.json", &plugin),
        (true, ".qwen/extensions/tidegate/hooks/hooks.json", &plugin),
        (true, ".copilot/installed-plugins/_direct/plugin/hooks/hooks.json", &plugin),
        (
            false,
            ".claude/settings.local.json",
            &json!({ "hooks": { "Stop": old_shared("Stop")[0]["hooks"] } }),
        ),
    ] {
        let sandbox = Sandbox::new();
        assert_eq!(sandbox.run(&["init"]).code, Some(0));
        let path = if below_home { sandbox.home() } else { sandbox.project() }.join(file);
        put(&path, content);
        let (code, found) = safety(&sandbox);
        assert_eq!((code, found.len()), (Some(1), 1), "{file}: {found:#?}");
        assert_eq!(found[0]["state"], "problem");
        let text = found[0]["found"].as_str().expect("a text");
        assert!(text.contains(&*path.to_string_lossy()) && text.contains("shell scripts"), "{text}");
        // Doctor's own command is enough.
        let fix = found[0]["cure"].as_str().expect("a fix");
        let command = fix.split('`').find(|part| part.starts_with("tidegate init"));
        let words: Vec<&str> = command.expect("a command").split(' ').collect();
        assert_eq!(words[..2], ["tidegate", "init"], "{fix}");
        let ran = sandbox.run(&words[1..]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert_eq!(safety(&sandbox).1, [json!(null); 0], "{file}");
        let new = fs::read_to_string(&path).expect("the file");
        assert!(!new.contains("\"sh\"") && !new.contains("\"args\": [\n"), "{file}: {new}");
        assert_eq!(serde_json::from_str::<Value>(&new).expect("JSON")["model"], content["model"]);
    }
}

/// A plain `init` replaces what a teammate committed, and says so.
#[test]
fn init_replaces_old_entries_that_others_put_there() {
    let sandbox = Sandbox::new();
    let committed = sandbox.project().join(".claude/settings.json");
    put(&committed, &json!({ "hooks": { "Stop": old_shared("Stop") } }));
    let sandbox = sandbox.with("COLUMNS", "120");
    let ran = sandbox.run(&["init", "--diff"]);
    assert!(ran.stdout.contains("settings.json") && ran.stdout.contains("--via shared"), "{ran:?}");
    let ran = sandbox.run(&["init"]);
    assert!(
        ran.stdout.contains("settings.json: replaces hooks that other agents would run as shell scripts"),
        "{ran:?}"
    );
    let text = fs::read_to_string(&committed).expect("the file");
    assert!(!text.contains("\"sh\""), "{text}");
    // They are still the team's, and go by the team's own command.
    assert_eq!(sandbox.run(&["uninstall"]).code, Some(0));
    assert!(fs::read_to_string(&committed).expect("the file").contains("--via shared"));
    assert_eq!(sandbox.run(&["uninstall", "--shared"]).code, Some(0));
    assert!(!committed.exists() || !fs::read_to_string(&committed).expect("the file").contains("tidegate"));
}

/// Doctor names a handler in this file with this fix, and `init` leaves the file as it is.
#[track_caller]
fn is_named_and_left_alone(file: &str, event: &str, handler: &Value, fix: &str) {
    let sandbox = Sandbox::new();
    assert_eq!(sandbox.run(&["init"]).code, Some(0));
    let path = sandbox.project().join(file);
    put(&path, &json!({ "hooks": { event: [{ "hooks": [handler] }] } }));
    let before = fs::read(&path).expect("the file");
    let (code, found) = safety(&sandbox);
    assert_eq!((code, found.len()), (Some(1), 1), "{found:#?}");
    assert!(found[0]["cure"].as_str().is_some_and(|told| told.contains(fix)), "{found:#?}");
    let ran = sandbox.run(&["init"]);
    assert_eq!((ran.code, fs::read(&path).expect("the file")), (Some(0), before));
    // `init` says what it leaves, once and in the same words.
    let warnings: Vec<&str> = ran.stderr.lines().filter(|line| line.contains("shell scripts")).collect();
    assert!(warnings.len() == 1 && warnings[0].starts_with("warning: "), "{ran:?}");
    assert!(warnings[0].contains(&*path.to_string_lossy()) && warnings[0].contains(fix), "{ran:?}");
}

/// An importer dropped `args` and left a shell alone: nothing tells its origin.
#[test]
fn a_lone_shell_in_the_settings_of_another_agent_is_a_problem_for_a_person() {
    let shell = json!({ "type": "command", "command": "sh" });
    is_named_and_left_alone(".gemini/settings.json", "BeforeTool", &shell, "Delete this entry in ");
}

/// A person's own script around the program is theirs to rewrite.
#[test]
fn a_wrapper_of_a_persons_own_is_named_and_left_alone() {
    for script in ["tidegate hook --event Stop | tee log", "command -v tidegate >>log; exec tidegate \"$@\""]
    {
        let args = json!(["-c", script, "_", "hook", "--event", "Stop"]);
        let wrapper = json!({ "type": "command", "command": "/bin/bash", "args": args });
        is_named_and_left_alone(
            ".claude/settings.json",
            "Stop",
            &wrapper,
            "settings.json, then run `tidegate init",
        );
    }
}

/// Copilot runs a plugin of a local marketplace from its folder. That is a checkout, and its owner updates it.
#[test]
fn a_plugin_that_an_agent_runs_in_place_is_named() {
    let sandbox = Sandbox::new();
    assert_eq!(sandbox.run(&["init"]).code, Some(0));
    let checkout = sandbox.path().join("checkout");
    put(&checkout.join("plugin/hooks/hooks.json"), &json!({ "hooks": { "Stop": old_plugin("Stop") } }));
    let source = json!({ "source": { "source": "directory", "path": checkout } });
    put(
        &sandbox.home().join(".copilot/settings.json"),
        &json!({ "extraKnownMarketplaces": { "tidegate": source } }),
    );
    let (code, found) = safety(&sandbox);
    assert_eq!((code, found.len()), (Some(1), 1), "{found:#?}");
    assert!(found[0]["cure"].as_str().is_some_and(|fix| fix.contains("`git pull`")), "{found:#?}");
}

/// Neither takes for ever: a pipe and a device where settings should be, and a thousand old entries.
#[test]
fn hostile_files_do_not_hold_init_up() {
    let sandbox = Sandbox::new();
    fs::create_dir_all(sandbox.project().join(".claude")).expect("a new folder");
    let settings = sandbox.project().join(".claude/settings.json");
    crate::sandbox::make_fifo(&settings);
    assert_eq!(sandbox.run(&["init"]).code, Some(0));
    fs::remove_file(&settings).expect("our own");
    symlink("/dev/zero", &settings).expect("a link");
    assert_eq!(sandbox.run(&["init"]).code, Some(0));
    fs::remove_file(&settings).expect("our own");
    let many: Vec<Value> = (0..1000).map(|_| old_shared("Stop")[0].clone()).collect();
    put(&settings, &json!({ "hooks": { "Stop": many } }));
    assert_eq!(sandbox.run(&["init"]).code, Some(0));
    assert_eq!(safety(&sandbox).1.len(), 0);
}

/// A file that cannot be written does not keep `init` from the others.
#[test]
fn a_locked_copy_is_named_and_the_rest_is_replaced() {
    let sandbox = Sandbox::new();
    let locked = sandbox.home().join(".codex/hooks.json");
    let open = sandbox.project().join(".claude/settings.json");
    for file in [&locked, &open] {
        put(file, &json!({ "hooks": { "Stop": old_shared("Stop") } }));
    }
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o444)).expect("our own");
    let ran = sandbox.run(&["init"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stdout.contains("hooks.json: other agents run its hooks as shell scripts"), "{ran:?}");
    assert!(!fs::read_to_string(&open).expect("the file").contains("\"sh\""));
    assert!(fs::read_to_string(&locked).expect("the file").contains("\"sh\""));
    // What was replaced is kept.
    let kept = fs::read_dir(sandbox.state().join("installs/replaced")).expect("copies").flatten();
    let texts: Vec<String> = kept.map(|entry| fs::read_to_string(entry.path()).expect("a copy")).collect();
    assert!(texts.len() == 1 && texts[0].contains("\"sh\""), "{texts:?}");
}

/// One file by two ways is planned once.
#[test]
fn a_linked_home_of_the_client_is_written_once() {
    let sandbox = Sandbox::new();
    let real = sandbox.path().join("dotfiles");
    put(&real.join("settings.json"), &json!({ "hooks": { "Stop": old_shared("Stop") } }));
    symlink(&real, sandbox.home().join(".claude")).expect("a link");
    let ran = sandbox.run(&["init", "--user"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let text = fs::read_to_string(real.join("settings.json")).expect("the file");
    assert!(
        text.contains("SessionStart") && text.contains("statusLine") && !text.contains("\"sh\""),
        "{text}"
    );
    assert_eq!(safety(&sandbox).1.len(), 0);
}

/// Doctor names installs in other projects, too, and a file that runs nothing is no problem.
#[test]
fn old_entries_of_other_projects_are_named() {
    let sandbox = Sandbox::new();
    let other = sandbox.path().join("other");
    fs::create_dir(&other).expect("a new folder");
    let other_name = other.to_string_lossy().into_owned();
    assert_eq!(sandbox.run(&["init", "--shared", "--project", &other_name]).code, Some(0));
    put(&other.join(".claude/settings.json"), &json!({ "hooks": { "Stop": old_shared("Stop") } }));
    assert_eq!(sandbox.run(&["init"]).code, Some(0));
    let (code, found) = safety(&sandbox);
    assert_eq!((code, found.len()), (Some(1), 1), "{found:#?}");
    let fix = found[0]["cure"].as_str().expect("a fix");
    assert!(fix.contains(&format!("`tidegate init --project {other_name} --shared`")), "{fix}");
    assert_eq!(sandbox.run(&["init", "--project", &other_name, "--shared"]).code, Some(0));
    assert_eq!(safety(&sandbox).1.len(), 0);
    // No JSON: no agent reads it either.
    put(&sandbox.project().join(".qwen/settings.json"), &json!(5));
    fs::write(sandbox.project().join(".gemini"), "a file in the place of a folder").expect("a new file");
    assert_eq!(safety(&sandbox).1.len(), 0);
}

/// The file of another folder that holds these entries is named, and its fix is enough.
#[track_caller]
fn is_named_elsewhere(sandbox: &Sandbox, root: &Path, name: &str) {
    let file = root.join(".claude").join(name);
    let before = fs::read(&file).ok();
    put(&file, &json!({ "hooks": { "Stop": old_shared("Stop") } }));
    let (code, found) = safety(sandbox);
    assert_eq!((code, found.len()), (Some(1), 1), "{name}: {found:#?}");
    let is_it = |text: &Value| text.as_str().is_some_and(|text| text.contains(&*file.to_string_lossy()));
    assert!(is_it(&found[0]["found"]), "{found:#?}");
    // Only a file that a team shares is committed.
    assert_eq!(is_it(&found[0]["cure"]), name == "settings.json", "{found:#?}");
    let fix = found[0]["cure"].as_str().expect("a fix");
    let command = fix.split('`').find(|part| part.starts_with("tidegate init")).expect("a command");
    let ran = sandbox.run(&command.split(' ').skip(1).collect::<Vec<_>>());
    assert_eq!((ran.code, safety(sandbox).1.len()), (Some(0), 0), "{name}: {ran:?}");
    match before {
        Some(before) => fs::write(&file, before).expect("the file as it was"),
        None => fs::remove_file(&file).expect("our own"),
    }
}

/// Doctor looks at both files of a known project, whichever of them `init` wrote.
#[test]
fn old_entries_in_any_file_of_a_known_project_are_named() {
    let sandbox = Sandbox::new();
    assert_eq!(sandbox.run(&["init"]).code, Some(0));
    let installed = sandbox.path().join("installed");
    fs::create_dir(&installed).expect("a new folder");
    assert_eq!(sandbox.run(&["init", "--project", &installed.to_string_lossy()]).code, Some(0));
    is_named_elsewhere(&sandbox, &installed, "settings.json");

    // No install there, only a session.
    let visited = sandbox.path().join("visited");
    fs::create_dir_all(visited.join(".git")).expect("a new folder");
    let mut start = fixtures::hook("SessionStart.startup");
    start["cwd"] = json!(visited);
    let mut hook = sandbox.command(&["hook", "--event", "SessionStart"]);
    hook.current_dir(&visited).env("CLAUDE_PROJECT_DIR", &visited);
    assert_eq!(run(hook, &start.to_string()).code, Some(0));
    for name in ["settings.local.json", "settings.json"] {
        is_named_elsewhere(&sandbox, &visited, name);
    }
}

#[test]
fn old_entries_in_other_worktrees_of_the_repository_are_named() {
    let sandbox = Sandbox::new();
    let (project, tree) = (sandbox.project(), sandbox.path().join("tree"));
    let known = project.join(".git/worktrees/tree");
    fs::create_dir_all(&known).expect("a repository");
    fs::create_dir_all(&tree).expect("a worktree");
    fs::write(tree.join(".git"), format!("gitdir: {}\n", known.display())).expect("a file");
    fs::write(known.join("commondir"), "../..\n").expect("a file");
    fs::write(known.join("gitdir"), format!("{}\n", tree.join(".git").display())).expect("a file");
    assert_eq!(sandbox.run(&["init"]).code, Some(0));
    for name in ["settings.local.json", "settings.json"] {
        is_named_elsewhere(&sandbox, &tree, name);
    }
}

/// `init --user` does not write a project's files, and names the one that it is run in.
#[test]
fn init_names_old_entries_of_the_scope_that_it_does_not_write() {
    let sandbox = Sandbox::new();
    for name in ["settings.json", "settings.local.json"] {
        let file = sandbox.project().join(".claude").join(name);
        put(&file, &json!({ "hooks": { "Stop": old_shared("Stop") } }));
    }
    let ran = sandbox.run(&["init", "--user"]);
    let warnings: Vec<&str> = ran.stderr.lines().filter(|line| line.contains("shell scripts")).collect();
    assert_eq!((ran.code, warnings.len()), (Some(0), 2), "{ran:?}");
    for warning in warnings {
        let project = sandbox.project().to_string_lossy().into_owned();
        assert!(warning.contains(&format!("`tidegate init --project {project} --shared`")), "{warning}");
    }
}

/// Other checkouts keep the old entries until they get the commit.
#[test]
fn init_says_which_replaced_file_to_commit() {
    for (flags, in_git, says) in
        [(&["init"] as &[&str], true, true), (&["init", "--shared"], true, true), (&["init"], false, false)]
    {
        let sandbox = Sandbox::new().with("COLUMNS", "120");
        if in_git {
            fs::create_dir_all(sandbox.project().join(".git")).expect("a repository");
        }
        put(
            &sandbox.project().join(".claude/settings.json"),
            &json!({ "hooks": { "Stop": old_shared("Stop") } }),
        );
        let ran = sandbox.run(flags);
        assert_eq!(ran.stdout.contains("; commit .claude/settings.json"), says, "{flags:?}: {ran:?}");
        assert!(!sandbox.run(flags).stdout.contains("commit"), "said once");
    }
}

/// The line that is missing next to a team's hooks comes by the team's command: a plain `init` would register them twice.
#[test]
fn a_status_line_next_to_shared_hooks_does_not_register_them_twice() {
    let sandbox = Sandbox::new();
    assert_eq!(sandbox.run(&["init", "--shared"]).code, Some(0));
    fs::remove_file(sandbox.project().join(".claude/settings.local.json")).expect("the line");
    let report = sandbox.run(&["doctor", "--json"]);
    let report: Value = serde_json::from_str(&report.stdout).expect("JSON");
    let mut hooks = report["checks"].as_array().expect("checks").iter().filter(|it| it["id"] == "hooks");
    let line = hooks.find(|it| it["found"].as_str().is_some_and(|found| found.contains("status line")));
    let next = line.and_then(|line| line["cure"].as_str()).expect("a note");
    assert!(next.contains(" --shared`"), "{next}");
}
