//! The plugin's selector: which program it becomes, and what it does where there is none.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::sandbox::install;

/// What the selector may be run by. One that is not on this machine is passed over.
const SHELLS: [&str; 5] = ["/bin/sh", "/bin/dash", "/bin/bash", "/usr/bin/dash", "/usr/bin/bash"];

/// As unfriendly as a folder's name gets.
const FOLDER: &str = "a b'c\"d$(e)*;é";

fn selector() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugin/bin/tidegate")
}

/// A copy of the plugin's folder, and places to put programs.
struct Machine {
    folder: TempDir,
    shell: &'static str,
}

impl Machine {
    /// Does the same with each shell.
    fn each(test: impl Fn(&Machine)) {
        let shells: Vec<_> = SHELLS.into_iter().filter(|shell| Path::new(shell).exists()).collect();
        assert!(!shells.is_empty(), "no shell");
        for shell in shells {
            let machine = Machine { folder: tempfile::tempdir().expect("a temporary folder"), shell };
            machine.copy_selector("plugin/bin/tidegate");
            test(&machine);
        }
    }

    fn at(&self, path: &str) -> PathBuf {
        self.folder.path().join(FOLDER).join(path)
    }

    fn copy_selector(&self, to: &str) {
        fs::create_dir_all(self.at(to).parent().expect("a folder")).expect("a new folder");
        install(&self.at(to), &fs::read(selector()).expect("the selector"), 0o755);
    }

    /// A program that says who it is, what it was given and what it reads.
    fn put(&self, path: &str) -> &Machine {
        let text = format!(
            "#!/bin/sh\nprintf '%s|' '{path}' \"$@\"\nwhile read -r line; do printf '%s' \"$line\"; done\n"
        );
        self.write(path, &text, 0o755)
    }

    fn write(&self, path: &str, text: &str, mode: u32) -> &Machine {
        fs::create_dir_all(self.at(path).parent().expect("a folder")).expect("a new folder");
        install(&self.at(path), text.as_bytes(), mode);
        self
    }

    /// The selector as the plugin's hooks call it, with nothing in its environment.
    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(self.shell);
        command.arg(self.at("plugin/bin/tidegate")).args(args).env_clear().current_dir(self.folder.path());
        command
    }

    fn path(&self, folders: &[&str]) -> String {
        let folders = folders.iter().map(|folder| match *folder {
            "" | "." => (*folder).to_owned(),
            folder => self.at(folder).display().to_string(),
        });
        folders.collect::<Vec<_>>().join(":")
    }
}

fn run(mut command: Command, input: &str) -> Output {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the shell starts");
    let _ = std::io::Write::write_all(&mut child.stdin.take().expect("a pipe"), input.as_bytes());
    child.wait_with_output().expect("it ends")
}

/// What the program that was found printed.
fn found(command: Command) -> String {
    let output = run(command, "payload\n");
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn places_are_tried_in_order_and_arguments_and_input_arrive() {
    Machine::each(|machine| {
        let call = || {
            let mut command = machine.command(&["hook", "--event", "Stop", "a b", "", "$x"]);
            command
                .env("PATH", machine.path(&["one", "two"]))
                .env("HOME", machine.at("home"))
                .env("CLAUDE_PLUGIN_DATA", machine.at("data"));
            found(command)
        };
        let places = [
            "two/tidegate",
            "one/tidegate",
            "home/.local/share/tidegate/bin/tidegate",
            "data/bin/tidegate",
            "plugin/bin/tidegate-bin",
        ];
        // From the last to the first: each new one counts more than those before it.
        for place in places {
            machine.put(place);
            assert_eq!(call(), format!("{place}|hook|--event|Stop|a b||$x|payload"), "{}", machine.shell);
        }
        let mut command = machine.command(&[]);
        command.env("XDG_DATA_HOME", machine.at("xdg"));
        fs::remove_file(machine.at("plugin/bin/tidegate-bin")).expect("our own file");
        machine.put("xdg/tidegate/bin/tidegate");
        assert_eq!(found(command), "xdg/tidegate/bin/tidegate|payload");
    });
}

#[test]
fn what_is_no_program_is_passed_over() {
    Machine::each(|machine| {
        machine.write("plugin/bin/tidegate-bin", "not executable", 0o644);
        fs::create_dir_all(machine.at("data/bin/tidegate")).expect("a folder instead of a program");
        fs::create_dir_all(machine.at("home/.local/share/tidegate/bin")).expect("a folder");
        symlink(machine.at("gone"), machine.at("home/.local/share/tidegate/bin/tidegate")).expect("a link");
        fs::create_dir_all(machine.at("one/tidegate")).expect("a folder instead of a program");
        machine.put("two/tidegate");
        let mut command = machine.command(&["status"]);
        command
            .env("PATH", machine.path(&["one", "missing", "two"]))
            .env("HOME", machine.at("home"))
            .env("CLAUDE_PLUGIN_DATA", machine.at("data"));
        assert_eq!(found(command), "two/tidegate|status|payload");
    });
}

/// The folder that somebody works in must not choose the program.
#[test]
fn relative_folders_are_not_looked_into() {
    Machine::each(|machine| {
        for name in ["bin/tidegate", "tidegate/bin/tidegate", ".local/share/tidegate/bin/tidegate"] {
            machine.put(name);
        }
        let mut command = machine.command(&["status"]);
        command
            .current_dir(machine.at(""))
            .env("PATH", "bin:.::")
            .env("XDG_DATA_HOME", ".")
            .env("CLAUDE_PLUGIN_DATA", ".");
        assert_eq!(run(command, "").status.code(), Some(127));
        let mut command = machine.command(&["status"]);
        command.current_dir(machine.at("")).env("HOME", ".");
        assert_eq!(run(command, "").status.code(), Some(127));
    });
}

#[test]
fn copies_of_itself_end_the_search_somewhere() {
    Machine::each(|machine| {
        for copy in ["one/tidegate", "two/tidegate", "three/tidegate"] {
            machine.copy_selector(copy);
        }
        fs::create_dir_all(machine.at("linked")).expect("a new folder");
        symlink(machine.at("plugin/bin/tidegate"), machine.at("linked/tidegate")).expect("a link");
        let folders = ["plugin/bin", "linked", "one", "two", "one", "plugin/bin", "three", "real"];
        let call = |args: &[&str]| {
            let mut command = machine.command(args);
            command.env("PATH", machine.path(&folders)).env("HOME", machine.at("home"));
            command
        };
        let output = run(call(&["status"]), "");
        assert_eq!(output.status.code(), Some(127), "{output:?}");
        let output = run(call(&["hook", "--event", "Stop"]), "{}");
        assert!(
            output.status.success() && output.stdout.is_empty() && output.stderr.is_empty(),
            "{output:?}"
        );

        machine.put("real/tidegate");
        assert_eq!(found(call(&["status"])), "real/tidegate|status|payload");
        // A fixed place that leads back here is a broken install, not an endless one.
        machine.copy_selector("home/.local/share/tidegate/bin/tidegate");
        assert_eq!(found(call(&["status"])), "real/tidegate|status|payload");
        // The trace that is left in the environment means nothing to another process.
        let mut command = call(&["status"]);
        command.env("TIDEGATE_SELECTOR", "1:/nowhere");
        assert_eq!(found(command), "real/tidegate|status|payload");
    });
}

/// As the client's shell finds it: by PATH, by its own first line.
#[test]
fn it_can_be_typed() {
    let machine = Machine { folder: tempfile::tempdir().expect("a temporary folder"), shell: "/bin/sh" };
    machine.copy_selector("plugin/bin/tidegate");
    machine.put("real/tidegate");
    let mut command = Command::new("/bin/sh");
    command.args(["-c", "tidegate status"]).env_clear();
    command.env("PATH", machine.path(&["plugin/bin", "real"]));
    assert_eq!(found(command), "real/tidegate|status|payload");
    let mut command = Command::new("/bin/sh");
    command.args(["tidegate", "status"]).env_clear().current_dir(machine.at("plugin/bin"));
    machine.put("plugin/bin/tidegate-bin");
    assert_eq!(found(command), "plugin/bin/tidegate-bin|status|payload");
}

#[test]
fn without_a_program_hooks_let_everything_through() {
    Machine::each(|machine| {
        let none = |args: &[&str], input: &str, variables: &[(&str, &str)]| {
            let mut command = machine.command(args);
            command.envs(variables.iter().copied());
            let output = run(command, input);
            assert!(output.stderr.is_empty() || args.first().is_some_and(|it| *it != "hook"), "{output:?}");
            (output.status.code(), String::from_utf8(output.stdout).expect("text"))
        };
        let silent = (Some(0), String::new());
        for event in ["UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "PreCompact", "SessionEnd", ""]
        {
            assert_eq!(none(&["hook", "--event", event, "--via", "plugin"], "{}", &[]), silent, "{event}");
        }
        assert_eq!(none(&["hook"], "{}", &[]), silent);
        assert_eq!(none(&["hook", "--event"], "{}", &[("PATH", "")]), silent);
        assert_eq!(none(&[], "{}", &[]), silent, "a host that ignores arguments");

        let start = ["hook", "--event", "SessionStart", "--via", "plugin"];
        let compacted = r#"{"hook_event_name":"SessionStart","source":"compact"}"#;
        assert_eq!(none(&start, compacted, &[]), silent, "said before in this session");
        for (input, variables, part) in [
            (r#"{"source":"startup"}"#, &[] as &[(&str, &str)], "nothing is metered or gated"),
            ("{\"source\":\"resume\"}\n", &[("PATH", "")], "cargo install --path crates/cli"),
            ("", &[("LANG", "ja_JP.UTF-8")], "見つかりません"),
            ("", &[("LANG", "ja_JP.UTF-8"), ("LC_ALL", "C")], "no tidegate program was found"),
        ] {
            let (code, text) = none(&start, input, variables);
            let message: Value = serde_json::from_str(&text).expect("one JSON object");
            assert_eq!(code, Some(0));
            assert!(message["systemMessage"].as_str().is_some_and(|text| text.contains(part)), "{message}");
            assert_eq!(message.as_object().expect("an object").len(), 1);
        }
        assert_eq!(none(&["hook", "--event=SessionStart"], "", &[]).1.lines().count(), 1);

        for args in [&["status"] as &[&str], &["mcp"], &["statusline"], &["--version"]] {
            assert_eq!(none(args, "", &[]), (Some(127), String::new()), "{args:?}");
        }
        let output = run(machine.command(&["status"]), "");
        let text = String::from_utf8(output.stderr).expect("text");
        assert!(text.starts_with("error: no tidegate program was found"), "{text}");
        assert!(text.contains("\nhint: in a checkout of Tidegate, `cargo install"), "{text}");
    });
}

/// A hook is a process start on every tool call: the selector itself starts none.
#[test]
fn it_uses_builtins_only() {
    Machine::each(|machine| {
        // Whatever it would call is not there to be called, and a missing command would complain.
        for args in [&["hook", "--event", "SessionStart"] as &[&str], &["hook", "--event", "Stop"]] {
            let mut command = machine.command(args);
            command.env("PATH", machine.path(&["empty"]));
            let output = run(command, "{}");
            assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
        }
    });
}
