//! Settings files of all shapes: in, in again, out.

use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use serde_json::json;

use super::shapes::{needs_record, shapes};
use super::{SCOPES, Scope, handlers, init, json, tree};
use crate::sandbox::{Running, Sandbox, in_parallel};

/// Each shape in one scope, in another one for another `turn`: a text is edited in the same way everywhere, which the unit
/// tests of the edit show for all of them.
fn cases(turn: usize) -> Vec<(Scope, &'static str, String)> {
    let scopes = SCOPES.into_iter().cycle().skip(turn);
    scopes.zip(shapes()).map(|(scope, (name, text))| (scope, name, text)).collect()
}

#[test]
fn in_and_in_again_and_out_is_byte_for_byte_as_before() {
    in_parallel(&cases(0), |_, (scope, name, text)| {
        let sandbox = Sandbox::new();
        scope.write(&sandbox, text);
        let before = tree(&sandbox);
        let said = scope.init(&sandbox);
        assert!(said.contains("json: written; "), "{name}: {said}");
        let with = scope.read(&sandbox);
        let settings = json(&with.replace("\\ud800", "").replace("1e400", "1"));
        let ours =
            handlers(&settings).into_iter().filter(|(_, handler)| handler.to_string().contains("--event"));
        assert_eq!(ours.count(), 17, "{name}: {with}");
        // Lines of theirs stay lines; only the last before ours gets a comma.
        let kept: HashSet<&str> = with.lines().map(|line| line.trim_end_matches(',')).collect();
        let lost = text.lines().filter(|line| !kept.contains(line.trim_end_matches(',')));
        assert!(lost.count() <= 3, "{name}: {with}");

        let again = scope.init(&sandbox);
        assert!(!again.contains(": written; ") && again.contains(": unchanged; "), "{name}: {again}");
        assert_eq!(scope.read(&sandbox), with, "{name}");
        assert!(scope.uninstall(&sandbox).contains("hooks and status line removed"), "{name}");
        assert_eq!(tree(&sandbox), before, "{scope:?} {name}");
        assert!(scope.uninstall(&sandbox).contains("nothing of Tidegate there"), "{name}");
    });
}

/// Somebody adds to the file in between: what they added stays, and all else is as before.
#[test]
fn what_was_added_since_stays() {
    const ADDED: &str = "{\"foreign\": {\"x\": [1]}, ";
    in_parallel(&cases(1), |_, (scope, name, text)| {
        let sandbox = Sandbox::new();
        scope.write(&sandbox, text);
        scope.init(&sandbox);
        scope.write(&sandbox, scope.read(&sandbox).replacen('{', ADDED, 1));
        assert!(!scope.init(&sandbox).contains(": written; "), "{name}");
        scope.uninstall(&sandbox);
        let left = scope.read(&sandbox);
        if text.trim_matches(['{', '}', '\n']).is_empty() {
            assert_eq!(json(&left), json!({ "foreign": { "x": [1] } }), "{name}");
        } else {
            assert_eq!(left, text.replacen('{', ADDED, 1), "{scope:?} {name}");
        }
    });
}

/// The record of the install is gone, by a cleaned home or another machine: the text itself is enough.
#[test]
fn without_its_record_it_still_comes_out() {
    let mut cases = cases(2);
    cases.retain(|(_, name, _)| !needs_record(name));
    in_parallel(&cases, |_, (scope, name, text)| {
        let sandbox = Sandbox::new();
        scope.write(&sandbox, text);
        scope.init(&sandbox);
        fs::remove_dir_all(sandbox.state()).expect("the state");
        assert!(!scope.init(&sandbox).contains("json: written; "), "{name}");
        fs::remove_dir_all(sandbox.state()).expect("the state");
        scope.uninstall(&sandbox);
        assert_eq!(scope.read(&sandbox), *text, "{scope:?} {name}");
    });
}

#[test]
fn where_nothing_was_nothing_is_left() {
    for scope in SCOPES {
        let sandbox = Sandbox::new();
        let before = tree(&sandbox);
        scope.init(&sandbox);
        assert!(scope.settings(&sandbox).exists());
        scope.uninstall(&sandbox);
        assert_eq!(tree(&sandbox), before, "{scope:?}");
    }
}

#[test]
fn the_host_folder_can_be_elsewhere() {
    let sandbox = Sandbox::new();
    let elsewhere = sandbox.path().join("else/where");
    let sandbox = sandbox.with("CLAUDE_CONFIG_DIR", &elsewhere);
    init(&sandbox, &["--user"]);
    assert!(elsewhere.join("settings.json").exists() && !sandbox.home().join(".claude").exists());
    Scope::User.uninstall(&sandbox);
    assert!(!elsewhere.exists());
}

#[test]
fn only_gates_block_and_a_team_is_never_locked_out() {
    for scope in SCOPES {
        let sandbox = Sandbox::new();
        scope.init(&sandbox);
        let settings = json(&scope.read(&sandbox));
        for (event, handler) in handlers(&settings) {
            let is_gate = event == "PreToolUse" && !handler.to_string().contains("--advice");
            assert_eq!(
                handler.get("onFailure").is_some(),
                is_gate && !matches!(scope, Scope::Shared),
                "{handler}"
            );
            if matches!(scope, Scope::Shared) {
                let line = handler["command"].as_str().expect("a line");
                assert!(handler.get("args").is_none() && line.contains("--via shared;"), "{handler}");
                assert!(
                    !handler.to_string().contains(&*sandbox.path().to_string_lossy()),
                    "no path of one person"
                );
            } else {
                let link = sandbox.home().join(".local/share/tidegate/bin/tidegate");
                assert_eq!(handler["command"].as_str(), link.to_str());
                assert_eq!(handler["args"].as_array().expect("a list")[..3], ["hook", "--event", &*event]);
            }
        }
        // Theirs would be hidden by one that is committed.
        assert_eq!(settings.get("statusLine").is_some(), !matches!(scope, Scope::Shared));
        let own = Scope::Project.settings(&sandbox);
        if matches!(scope, Scope::Shared) {
            let own = json(&fs::read_to_string(own).expect("the person's own settings"));
            assert!(own.get("hooks").is_none() && own["statusLine"]["command"].is_string(), "{own}");
        }
    }
}

/// As the client runs it.
fn run_shared(sandbox: &Sandbox, event: &str) -> (i32, String) {
    let settings = json(&Scope::Shared.read(sandbox));
    let (_, handler) = handlers(&settings).into_iter().find(|(name, _)| name == event).expect("a handler");
    let line = handler["command"].as_str().expect("a line");
    let plain = sandbox.command(&[]);
    let mut command = std::process::Command::new("/bin/sh");
    command
        .args(["-c", line])
        .env_clear()
        .envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.current_dir(sandbox.project());
    let mut running = Running::start(command);
    running.send(b"{");
    running.close();
    let ran = running.end();
    (ran.code.expect("an exit code"), ran.stdout + &ran.stderr)
}

#[test]
fn the_shared_hooks_find_the_program_or_are_silent() {
    let sandbox = Sandbox::new();
    Scope::Shared.init(&sandbox);
    let (code, said) = run_shared(&sandbox, "PreToolUse");
    assert!(code == 2 && said.contains("the payload is not JSON"), "{code} {said}");
    // A teammate who has it on the path only, and one who has none.
    let link = sandbox.home().join(".local/share/tidegate/bin/tidegate");
    fs::remove_file(&link).expect("the link");
    assert_eq!(run_shared(&sandbox, "PreToolUse"), (0, String::new()));
    let bin = sandbox.path().join("bin");
    fs::create_dir(&bin).expect("a new folder");
    symlink(env!("CARGO_BIN_EXE_tidegate"), bin.join("tidegate")).expect("a link");
    let sandbox = sandbox.with("PATH", format!("{}:/usr/bin:/bin", bin.display()));
    assert_eq!(run_shared(&sandbox, "PreToolUse").0, 2);
}

/// The folder that somebody works in must not choose the program.
#[test]
fn the_shared_hooks_look_in_absolute_places_only() {
    let sandbox = Sandbox::new();
    Scope::Shared.init(&sandbox);
    fs::remove_file(sandbox.home().join(".local/share/tidegate/bin/tidegate")).expect("the link");
    let put = |path: &str| {
        let path = sandbox.project().join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("new folders");
        fs::write(&path, "#!/bin/sh\necho planted\n").expect("a new file");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("our own");
    };
    for path in ["tidegate", "bin/tidegate", "data/tidegate/bin/tidegate"] {
        put(path);
    }
    let sandbox = sandbox.with("XDG_DATA_HOME", "data").with("PATH", ".:bin::/usr/bin:/bin");
    assert_eq!(run_shared(&sandbox, "PreToolUse"), (0, String::new()));
    // Neither a folder nor a file that is no program.
    let data = sandbox.path().join("data");
    fs::create_dir_all(data.join("tidegate/bin/tidegate")).expect("new folders");
    let other = sandbox.path().join("other");
    fs::create_dir_all(&other).expect("a new folder");
    fs::write(other.join("tidegate"), "no program").expect("a new file");
    let sandbox =
        sandbox.with("XDG_DATA_HOME", &data).with("PATH", format!("{}:/usr/bin:/bin", other.display()));
    assert_eq!(run_shared(&sandbox, "PreToolUse"), (0, String::new()));
    // Where somebody has their data, and behind relative folders on the path.
    fs::remove_dir(data.join("tidegate/bin/tidegate")).expect("our own");
    symlink(env!("CARGO_BIN_EXE_tidegate"), data.join("tidegate/bin/tidegate")).expect("a link");
    assert_eq!(run_shared(&sandbox, "PreToolUse").0, 2);
    let bin = data.join("tidegate/bin");
    let sandbox =
        sandbox.without("XDG_DATA_HOME").with("PATH", format!(".:bin:{}:/usr/bin:/bin", bin.display()));
    assert_eq!(run_shared(&sandbox, "PreToolUse").0, 2);
}

#[test]
fn entries_of_an_earlier_version_are_replaced() {
    let old = |event: &str| json!({ "hooks": [{ "type": "command", "command": "/old/place/tidegate", "args": ["hook", "--event", event] }] });
    let theirs = json!({ "hooks": [{ "type": "command", "command": "theirs" }] });
    let earlier = json!({
        "model": "opus",
        "hooks": { "Stop": [theirs, old("Stop")], "PreCompact": [old("PreCompact")], "Setup": [old("Setup")] },
        "statusLine": { "type": "command", "command": "'/old/place/tidegate' statusline --wrap 'echo hi'", "padding": 1 },
    });
    let left = json!({
        "model": "opus",
        "hooks": { "Stop": [theirs] },
        "statusLine": { "type": "command", "command": "echo hi", "padding": 1 },
    });
    for scope in [Scope::Project, Scope::User] {
        let sandbox = Sandbox::new();
        scope.write(&sandbox, serde_json::to_string_pretty(&earlier).expect("plain data"));
        assert!(scope.init(&sandbox).contains("json: written; "));
        assert!(!scope.read(&sandbox).contains("/old/place"));
        scope.uninstall(&sandbox);
        assert_eq!(json(&scope.read(&sandbox)), left);
    }
}

#[test]
fn the_status_line_of_a_farther_file_is_shown_and_not_copied_back() {
    let sandbox = Sandbox::new();
    Scope::User.write(
        &sandbox,
        "{\"statusLine\": {\"type\": \"command\", \"command\": \"echo \\\"it's theirs\\\"\"}}",
    );
    // Ours in the user's settings, around theirs, does not hide theirs from the project's.
    for user_too in [false, true] {
        if user_too {
            Scope::User.init(&sandbox);
        }
        Scope::Project.init(&sandbox);
        let command = json(&Scope::Project.read(&sandbox))["statusLine"]["command"].clone();
        let command = command.as_str().expect("a command");
        assert_eq!(command.matches("theirs").count(), 1, "{command}");
        let line = |command: &str| {
            let mut shell = std::process::Command::new("/bin/sh");
            shell.args(["-c", command]).env_clear().env("HOME", sandbox.home()).env("PATH", "/usr/bin:/bin");
            let mut running = Running::start(shell);
            running.send(b"{}");
            running.close();
            running.end().ok().to_owned()
        };
        assert!(line(command).starts_with("it's theirs · "), "{}", line(command));
        fs::rename(sandbox.home().join(".local"), sandbox.home().join("gone")).expect("a folder");
        assert_eq!(
            line(command),
            "it's theirs\ntidegate: not found. Install it again, or delete its hooks in your settings\n"
        );
        fs::rename(sandbox.home().join("gone"), sandbox.home().join(".local")).expect("a folder");
        Scope::Project.uninstall(&sandbox);
        assert!(!Scope::Project.settings(&sandbox).exists());
    }
}

#[test]
fn a_linked_file_stays_a_link_and_keeps_its_mode() {
    for scope in SCOPES {
        let sandbox = Sandbox::new();
        // Out of a project nothing is written without a question; out of the person's own folder it is.
        let folder = if matches!(scope, Scope::User) { sandbox.path().to_owned() } else { sandbox.project() };
        let real = folder.join("dotfiles.json");
        fs::write(&real, "{ \"a\": 1 }").expect("a new file");
        fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).expect("a mode");
        let path = scope.settings(&sandbox);
        fs::create_dir_all(path.parent().expect("a folder")).expect("new folders");
        symlink(&real, &path).expect("a link");
        scope.init(&sandbox);
        assert!(fs::read_to_string(&real).expect("the file").contains("--event"));
        let check = || {
            assert_eq!(fs::read_link(&path).expect("a link"), real);
            assert_eq!(fs::metadata(&real).expect("the file").permissions().mode() & 0o777, 0o640);
        };
        check();
        scope.uninstall(&sandbox);
        check();
        assert_eq!(fs::read_to_string(&real).expect("the file"), "{ \"a\": 1 }");
    }
}

#[test]
fn eight_at_once_are_as_one() {
    for scope in SCOPES {
        let alone = Sandbox::new();
        scope.write(&alone, "{\n  \"a\": 1\n}\n");
        scope.init(&alone);
        let sandbox = Sandbox::new();
        scope.write(&sandbox, "{\n  \"a\": 1\n}\n");
        let words = super::words("init", scope.flags());
        let running: Vec<Running> = (0..8).map(|_| Running::start(sandbox.command(&words))).collect();
        for mut one in running {
            one.close();
            assert_eq!(one.end().code, Some(0));
        }
        let path = |sandbox: &Sandbox| sandbox.path().to_string_lossy().into_owned();
        assert_eq!(
            scope.read(&sandbox).replace(&path(&sandbox), ""),
            scope.read(&alone).replace(&path(&alone), "")
        );
        scope.uninstall(&sandbox);
        assert_eq!(scope.read(&sandbox), "{\n  \"a\": 1\n}\n");
    }
}

#[test]
fn projects_with_like_names_keep_their_own() {
    let sandbox = Sandbox::new();
    let names =
        [("日本", "{ \"a\":1 }"), ("中国", "{ \"b\":2 }"), ("x-y", "{ \"c\":3 }"), ("x/y", "{ \"d\":4 }")];
    for (name, text) in names {
        let folder = sandbox.project().join(name);
        fs::create_dir_all(folder.join(".claude")).expect("new folders");
        fs::write(folder.join(".claude/settings.local.json"), text).expect("a new file");
        init(&sandbox, &["--project", name]);
    }
    for (name, text) in names {
        let way = if name == "x/y" { "x/../x/y" } else { name };
        let _ = sandbox.run(&["uninstall", "--project", way]).ok();
        let left = fs::read_to_string(sandbox.project().join(name).join(".claude/settings.local.json"));
        assert_eq!(left.expect("the file"), text, "{name}");
    }
}

#[test]
fn hooks_that_a_team_shares_are_taken_out_only_when_told() {
    let sandbox = Sandbox::new();
    Scope::Shared.init(&sandbox);
    let ran = sandbox.run(&["init"]);
    assert!(ran.code == Some(0) && ran.stderr.contains("settings.json has the same hooks"), "{ran:?}");
    let said = Scope::Project.uninstall(&sandbox);
    assert!(said.contains("`tidegate uninstall --shared` removes them"), "{said}");
    assert!(!Scope::Project.settings(&sandbox).exists());
    assert!(sandbox.project().join(".claude/skills/getting-started/SKILL.md").exists());
    assert!(sandbox.home().join(".local/share/tidegate/bin/tidegate").exists(), "{said}");
    Scope::Shared.uninstall(&sandbox);
    assert_eq!(tree(&sandbox).len(), 3, "only the folders of the test");
}
