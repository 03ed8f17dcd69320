//! Variables that a repository sets in the client's settings: commands, the MCP server and what they start do without them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::answer::Ran;
use crate::sandbox::{Running, Sandbox};

/// A machine whose project ships a store and a state, and settings that lead to them.
struct Hostile(Sandbox);

impl Hostile {
    fn new() -> Hostile {
        let hostile = Hostile(Sandbox::new().without("TIDEGATE_STATE_DIR").without("CLAUDE_PROJECT_DIR"));
        // As the attacker made it, before there were settings.
        let ran = hostile.run(&hostile.0.project(), &["memory", "topic", "add", "planted"]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert!(hostile.shipped("data").join("memory/memory.db").exists());
        let env = json!({
            "TIDEGATE_DATA_DIR": hostile.shipped("data"),
            "TIDEGATE_STATE_DIR": hostile.shipped("state"),
        });
        hostile.settings(&env);
        hostile
    }

    fn shipped(&self, name: &str) -> PathBuf {
        self.0.project().join("shipped").join(name)
    }

    fn settings(&self, env: &Value) {
        let folder = self.0.project().join(".claude");
        fs::create_dir_all(&folder).expect("a folder");
        fs::write(folder.join("settings.json"), json!({ "env": env }).to_string()).expect("settings");
    }

    /// A command as the client's shell starts it, with what the settings set.
    fn command(&self, cwd: &Path, args: &[&str]) -> std::process::Command {
        let mut command = self.0.command(args);
        command.current_dir(cwd);
        for name in ["data", "state"] {
            command.env(format!("TIDEGATE_{}_DIR", name.to_uppercase()), self.shipped(name));
        }
        command
    }

    fn run(&self, cwd: &Path, args: &[&str]) -> Ran {
        Running::start(self.command(cwd, args)).end()
    }
}

fn listed(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran:?}"))
}

fn nothing() -> Value {
    json!({"topics": [], "next": null})
}

const NOTE: &str =
    "note: ignored TIDEGATE_DATA_DIR, TIDEGATE_STATE_DIR: the project's settings set it, or cannot be read\n";

#[test]
fn a_store_that_a_repository_ships_is_not_served_by_commands() {
    let hostile = Hostile::new();
    let below = hostile.0.project().join("src");
    fs::create_dir(&below).expect("a folder");
    for cwd in [hostile.0.project(), below] {
        let ran = hostile.run(&cwd, &["memory", "list", "--json"]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert_eq!((listed(&ran), ran.stderr.as_str()), (nothing(), NOTE));
    }
    // Settings that cannot be read may set anything.
    fs::write(hostile.0.project().join(".claude/settings.json"), "{broken").expect("settings");
    let mut command = hostile.command(&hostile.0.project(), &["memory", "list", "--json"]);
    command.env("CLAUDECODE", "1");
    let ran = Running::start(command).end();
    assert_eq!((listed(&ran), ran.stderr.as_str()), (nothing(), NOTE));
    // A person's own variables count where no project sets them.
    fs::remove_file(hostile.0.project().join(".claude/settings.json")).expect("settings");
    let ran = hostile.run(&hostile.0.project(), &["memory", "list", "--json"]);
    assert_eq!((ran.json()["topics"][0]["title"].clone(), ran.stderr.as_str()), (json!("planted"), ""));
}

/// The client's shell can be anywhere; the session's project is known to the state that hooks use.
#[test]
fn nor_by_a_command_of_the_session_elsewhere() {
    let hostile = Hostile::new();
    let start = json!({
        "hook_event_name": "SessionStart", "session_id": "s", "source": "startup", "cwd": hostile.0.project(),
        "transcript_path": hostile.0.path().join("t.jsonl"),
    });
    let mut hook = hostile.command(&hostile.0.project(), &["hook", "--event", "SessionStart"]);
    hook.env("CLAUDE_PROJECT_DIR", hostile.0.project()).env("CLAUDE_CODE_SESSION_ID", "s");
    let mut hook = Running::start(hook);
    hook.send(start.to_string().as_bytes());
    hook.close();
    assert_eq!(hook.end().code, Some(0));
    assert!(hostile.0.home().join(".local/state/tidegate/sessions/s/marks").exists());
    let mut command = hostile.command(hostile.0.path(), &["memory", "list", "--json"]);
    command.env("CLAUDE_CODE_SESSION_ID", "s");
    let ran = Running::start(command).end();
    assert_eq!((listed(&ran), ran.stderr.as_str()), (nothing(), NOTE));
}

#[test]
fn a_store_that_a_repository_ships_is_not_served_by_the_mcp_server() {
    let hostile = Hostile::new();
    let call = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "list_topics", "arguments": {}}
    });
    let mut server = Running::start(hostile.command(&hostile.0.project(), &["mcp"]));
    server.send(format!("{call}\n").as_bytes());
    server.close();
    let ran = server.end();
    let answer: Value = serde_json::from_str(ran.stdout.trim()).unwrap_or_else(|_| panic!("{ran:?}"));
    assert_eq!(answer["result"]["structuredContent"]["topics"], json!([]), "{answer}");
}

/// `doctor` asks the client's program for its version; here that program writes down what it was given.
#[test]
fn programs_that_are_started_get_no_certificates_and_proxies_of_a_repository() {
    let sandbox = Sandbox::new();
    let (bin, given) = (sandbox.path().join("bin"), sandbox.path().join("given"));
    fs::create_dir(&bin).expect("a folder");
    let claude = bin.join("claude");
    fs::write(&claude, format!("#!/bin/sh\nenv > '{}'\necho 2.1.325\n", given.display())).expect("a program");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
    fs::set_permissions(&claude, mode).expect("its mode");
    let path = format!("{}:/usr/bin:/bin", bin.display());
    let names = ["SSL_CERT_FILE", "SSL_CERT_DIR", "CURL_CA_BUNDLE", "https_proxy", "ALL_PROXY", "LD_AUDIT"];
    let seen = || {
        let mut command = sandbox.command(&["doctor"]);
        command.env("PATH", &path).env("NO_PROXY", "localhost");
        for name in names {
            command.env(name, "/evil");
        }
        let ran = Running::start(command).end();
        let given = fs::read_to_string(&given).unwrap_or_else(|_| panic!("{ran:?}"));
        let is_given = |name: &&str| given.lines().any(|line| line == format!("{name}=/evil"));
        names.into_iter().filter(is_given).collect::<Vec<_>>()
    };
    assert_eq!(seen(), names, "a person's own reach it");
    fs::create_dir(sandbox.project().join(".claude")).expect("a folder");
    let env: BTreeMap<&str, &str> = names.into_iter().map(|name| (name, "/evil")).collect();
    fs::write(sandbox.project().join(".claude/settings.local.json"), json!({ "env": env }).to_string())
        .expect("settings");
    assert_eq!(seen(), Vec::<&str>::new());
    let kept = fs::read_to_string(&given).expect("what it was given");
    assert!(kept.contains("NO_PROXY=localhost"), "{kept}");
    let env: BTreeMap<&str, &str> = names.into_iter().map(|name| (name, "/theirs")).collect();
    fs::write(sandbox.project().join(".claude/settings.local.json"), json!({ "env": env }).to_string())
        .expect("settings");
    assert_eq!(seen(), names, "a person's own are not those of the repository");
}

/// A repository that calls itself the home directory does not become the user's own settings by that.
#[test]
fn a_home_of_a_repository_is_ignored_and_a_persons_own_is_not() {
    let hostile = Hostile::new();
    let project = hostile.0.project();
    let env = json!({"HOME": project, "TIDEGATE_DATA_DIR": 1, "TIDEGATE_STATE_DIR": 1});
    hostile.settings(&env);
    let ran = hostile.run(&project, &["memory", "list", "--json"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), NOTE), "its own home still counts");
    let mut command = hostile.command(&project, &["memory", "list", "--json"]);
    command.env("HOME", &project);
    let ran = Running::start(command).end();
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("HOME") && ran.stderr.contains("ignored"), "{ran:?}");
    assert!(!project.join(".local").exists());
}

/// As settings for a container do, whose user has that home anyway.
#[test]
fn a_home_that_a_repository_names_is_still_a_persons_own() {
    let sandbox = Sandbox::new().without("TIDEGATE_STATE_DIR").without("TIDEGATE_DATA_DIR");
    let added = sandbox.run(&["memory", "topic", "add", "mine"]);
    assert_eq!(added.code, Some(0), "{added:?}");
    fs::create_dir_all(sandbox.project().join(".claude")).expect("a folder");
    let settings = json!({ "env": { "HOME": sandbox.home(), "TIDEGATE_OFF": "skill-gate" } });
    fs::write(sandbox.project().join(".claude/settings.json"), settings.to_string()).expect("settings");
    let ran = sandbox.run(&["memory", "list", "--json"]);
    assert_eq!((ran.json()["topics"][0]["title"].clone(), ran.stderr.as_str()), (json!("mine"), ""));
    let mut hook = sandbox.command(&["hook", "--event", "SessionStart"]);
    hook.env("TIDEGATE_OFF", "skill-gate");
    let mut hook = Running::start(hook);
    let start = json!({
        "hook_event_name": "SessionStart", "session_id": "s", "source": "startup", "cwd": sandbox.project(),
    });
    hook.send(start.to_string().as_bytes());
    hook.close();
    assert_eq!(hook.end().code, Some(0));
    assert!(sandbox.home().join(".local/state/tidegate/sessions/s/marks").exists());
}

/// The client hands none of these on; another version or host might.
#[test]
fn hooks_ignore_a_place_of_a_repository() {
    let sandbox = Sandbox::new().without("TIDEGATE_STATE_DIR");
    let (theirs, ours) = (sandbox.project().join("xdg"), sandbox.path().join("xdg"));
    fs::create_dir(sandbox.project().join(".claude")).expect("a folder");
    let settings = json!({ "env": { "XDG_STATE_HOME": theirs } });
    fs::write(sandbox.project().join(".claude/settings.json"), settings.to_string()).expect("settings");
    for (place, expected) in [(&theirs, sandbox.home().join(".local/state")), (&ours, ours.clone())] {
        let mut hook = sandbox.command(&["hook", "--event", "SessionStart"]);
        hook.env("XDG_STATE_HOME", place);
        let mut hook = Running::start(hook);
        let start = json!({
            "hook_event_name": "SessionStart", "session_id": "s", "source": "startup", "cwd": sandbox.project(),
        });
        hook.send(start.to_string().as_bytes());
        hook.close();
        assert_eq!(hook.end().code, Some(0));
        assert!(expected.join("tidegate/sessions/s/marks").exists(), "{}", expected.display());
    }
    assert!(!theirs.exists());
}
