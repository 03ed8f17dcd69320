//! What `init` and `uninstall` tell a person.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::json;

use super::{Scope, git, run_git, said};
use crate::sandbox::Sandbox;

/// The warnings, without the one about the build under test.
fn warnings(sandbox: &Sandbox, flags: &[&str]) -> Vec<String> {
    let ran = sandbox.run(&super::words("init", flags));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let lines = ran.stderr.lines().filter(|line| !line.contains("cargo clean"));
    lines.map(|line| line.strip_prefix("warning: ").unwrap_or_else(|| panic!("{ran:?}")).to_owned()).collect()
}

#[test]
fn hooks_that_will_not_run_are_warned_of() {
    let sandbox = Sandbox::new();
    Scope::User.write(&sandbox, "{ \"disableAllHooks\": true }");
    let said = warnings(&sandbox, &[]);
    assert!(said.len() == 1 && said[0].contains("has `disableAllHooks`"), "{said:?}");
    // The nearer file decides.
    let sandbox = Sandbox::new();
    Scope::User.write(&sandbox, "{ \"disableAllHooks\": true }");
    Scope::Project.write(&sandbox, "{ \"disableAllHooks\": false }");
    assert_eq!(warnings(&sandbox, &[]), [""; 0]);
    assert_eq!(warnings(&sandbox, &["--user"]).len(), 1);
}

#[test]
fn a_second_install_is_told() {
    let sandbox = Sandbox::new();
    Scope::User.write(&sandbox, json!({ "enabledPlugins": { "tidegate@tidegate": true } }).to_string());
    for flags in [&[] as &[&str], &["--user"], &["--shared"]] {
        let said = warnings(&sandbox, flags);
        let plugin =
            said.iter().filter(|line| line.starts_with("the plugin tidegate@tidegate has the same hooks"));
        assert!(plugin.count() == 1 && said[0].contains("answers each event once"), "{said:?}");
    }
    let sandbox = Sandbox::new();
    Scope::Shared.init(&sandbox);
    let said = warnings(&sandbox, &[]);
    assert!(said.len() == 1 && said[0].contains("has the same hooks"), "{said:?}");
    assert_eq!(warnings(&sandbox, &["--shared"]), [""; 0]);
}

/// Without the sandbox's own paths.
fn plain(sandbox: &Sandbox, text: &str) -> String {
    let path = sandbox.path().display().to_string();
    let program = fs::canonicalize(env!("CARGO_BIN_EXE_tidegate")).expect("the executable");
    let text = text.replace(&program.display().to_string(), "/opt/bin/tidegate").replace(&path, "");
    // Sizes differ from run to run.
    let parts: Vec<&str> = text.split(" KB").collect();
    let (last, sizes) = parts.split_last().expect("at least one");
    let sizes = sizes.iter().map(|part| part.trim_end_matches(|c: char| c.is_ascii_digit()));
    sizes.map(|part| format!("{part}N KB")).chain([(*last).to_owned()]).collect()
}

/// A person in `~/app`, who reads at this width and in this language.
fn person(width: &str, language: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    let app = sandbox.home().join("app");
    fs::create_dir_all(app.join(".git")).expect("new folders");
    let (home, state) = (sandbox.home(), sandbox.home().join(".local/state/tidegate"));
    sandbox
        .with("COLUMNS", width.to_owned())
        .with("LANG", format!("{language}.UTF-8"))
        .with("CLAUDE_PROJECT_DIR", app)
        .with("TIDEGATE_STATE_DIR", state)
        .with("HOME", fs::canonicalize(home).expect("the home"))
}

const LANGUAGES: [(&str, &str); 2] = [("en", "C"), ("ja", "ja_JP")];

/// Everything that is said from the first look to the last, at two widths and in both languages.
#[test]
fn it_reads_well() {
    for width in ["60", "80"] {
        for (name, language) in LANGUAGES {
            let sandbox = person(width, language);
            let app = sandbox.home().join("app");
            let app = app.to_str().expect("UTF-8");
            let mut pages = Vec::new();
            for arguments in [
                &["init", "--dry-run"] as &[&str],
                &["init"],
                &["init"],
                &["init", "--preset", "strict"],
                &["uninstall", "--dry-run"],
                &["uninstall"],
                &["uninstall"],
                &["init", "--shared"],
                &["uninstall", "--shared"],
                &["init", "--user"],
                &["uninstall", "--user"],
            ] {
                let place: &[&str] = if arguments.contains(&"--user") { &[] } else { &["--project", app] };
                let shown = plain(&sandbox, &said(&sandbox, &[arguments, place].concat()));
                let too_wide = shown.lines().find(|line| columns(line) > width.parse().expect("a number"));
                assert_eq!(too_wide, None, "{arguments:?}");
                pages.push(format!("$ tidegate {}\n{shown}", arguments.join(" ")));
            }
            insta::assert_snapshot!(format!("install-{name}-{width}"), pages.join("\n"));
        }
    }
}

/// A Japanese character takes two.
fn columns(line: &str) -> usize {
    line.chars().map(|c| if (c as u32) < 0x1100 { 1 } else { 2 }).sum()
}

#[test]
fn it_says_what_is_checked_recorded_and_how_to_undo_it_in_few_lines() {
    let sandbox = Sandbox::new().with("COLUMNS", "120");
    let dry = said(&sandbox, &["init", "--dry-run"]);
    assert!(dry.lines().count() <= 12 && dry.contains("`tidegate init --diff`"), "{dry}");
    let text = said(&sandbox, &["init"]);
    assert!(text.lines().count() <= 7, "{text}");
    for part in [
        "Checks: ",
        "Records: ",
        "`tidegate off recording`",
        "`tidegate uninstall`",
        "Next: ",
        "`tidegate doctor`",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(said(&sandbox, &["init"]).starts_with("Nothing to change"), "nothing was done");
    let sandbox = Sandbox::new();
    sandbox.config("[recording]\nmode = \"off\"\n");
    let text = said(&sandbox, &["init"]);
    assert!(text.contains("recording is off") && !text.contains("off recording"), "{text}");
}

fn in_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn it_names_the_check_of_the_project() {
    let sandbox = Sandbox::new();
    let none = in_one_line(&said(&sandbox, &["init"]));
    assert!(
        none.contains("found no check command here. Name yours in ~/.config/tidegate/config.toml"),
        "{none}"
    );
    let sandbox = Sandbox::new();
    fs::write(sandbox.project().join("Cargo.toml"), "[package]\nname = \"a\"\n").expect("a new file");
    fs::create_dir(sandbox.project().join("src")).expect("a new folder");
    let shown = in_one_line(&said(&sandbox, &["init"]));
    assert!(shown.contains("needs a check that passed. Here: `cargo test`"), "{shown}");
    let sandbox = Sandbox::new();
    sandbox.config("[verify_stop.commands]\ntest = [\"tools/check.sh\"]\n");
    let shown = in_one_line(&said(&sandbox, &["init"]));
    assert!(shown.contains("Here: `tools/check.sh`"), "{shown}");
    let everywhere = in_one_line(&said(&sandbox, &["init", "--user"]));
    assert!(!everywhere.contains("Here: "), "{everywhere}");
    assert!(everywhere.contains("`tidegate off recording --everywhere`"), "{everywhere}");
}

#[test]
fn it_names_a_skill_and_a_status_line_that_were_there() {
    let sandbox = Sandbox::new();
    sandbox.install_skill("compound");
    Scope::User
        .write(&sandbox, json!({ "statusLine": { "type": "command", "command": "date" } }).to_string());
    let shown = in_one_line(&said(&sandbox, &["init"]));
    assert!(
        shown.contains("Skills: your own compound stays, so Tidegate's is called tidegate-compound."),
        "{shown}"
    );
    assert!(shown.contains("Status line: yours stays; Tidegate's part follows it."), "{shown}");
    let other = in_one_line(&said(&Sandbox::new(), &["init"]));
    assert!(!other.contains("Skills: ") && !other.contains("Status line: "), "{other}");
}

#[test]
fn it_names_the_repository_around_a_subfolder() {
    let sandbox = Sandbox::new();
    git(&sandbox);
    fs::create_dir(sandbox.project().join("web")).expect("a new folder");
    let shown = in_one_line(&said(&sandbox, &["init", "--project", "web"]));
    let top = sandbox.project();
    let top = top.file_name().expect("a name").to_string_lossy();
    assert!(
        shown.contains("/web is inside the repository ") && shown.contains(&format!("/{top}`")),
        "{shown}"
    );
    assert!(!in_one_line(&said(&sandbox, &["init"])).contains("inside the repository"));
}

/// The first line does not promise what `git status` does not keep.
#[test]
fn it_says_what_git_will_list() {
    let promise = "`git status` stays as it was";
    let shown = |prepare: &dyn Fn(&Sandbox)| {
        let sandbox = Sandbox::new();
        let run = |args: &[&str]| run_git(&sandbox, &sandbox.project(), args);
        run(&["init", "--quiet"]);
        prepare(&sandbox);
        let shown = in_one_line(&said(&sandbox, &["init"]));
        let (_, listed) = run(&["status", "--porcelain", "--", ".claude"]);
        assert_eq!(shown.contains(promise), listed.is_empty(), "{shown} {listed}");
        shown
    };
    shown(&|_| {});
    let tracked = shown(&|sandbox| {
        Scope::Project.write(sandbox, "{}\n");
        run_git(sandbox, &sandbox.project(), &["add", "--force", ".claude"]);
        run_git(sandbox, &sandbox.project(), &["commit", "--quiet", "-m", "x"]);
    });
    assert!(tracked.contains("git rm --cached .claude/settings.local.json"), "{tracked}");
    let included = shown(&|sandbox| {
        fs::write(sandbox.project().join(".gitignore"), "!.claude/**\n").expect("a new file");
    });
    assert!(included.contains("`git status` lists .claude/settings.local.json and "), "{included}");
    let read_only = shown(&|sandbox| {
        let exclude = sandbox.project().join(".git/info/exclude");
        fs::create_dir_all(exclude.parent().expect("a folder")).expect("new folders");
        fs::write(&exclude, "").expect("a new file");
        fs::set_permissions(&exclude, fs::Permissions::from_mode(0o444)).expect("our own");
    });
    assert!(read_only.contains("`git status` will list Tidegate's files"), "{read_only}");
}

/// What is stored elsewhere, too, is not "on this machine only".
#[test]
fn it_says_who_gets_the_recorded_text() {
    let records = |config: &str, flags: &[&str]| {
        let sandbox = Sandbox::new().with("COLUMNS", "120");
        sandbox.config(config.replace("PROJECT", &sandbox.project().display().to_string()));
        let text = said(&sandbox, &[&["init"], flags].concat());
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let line = words.split_once("Records: ").and_then(|(_, rest)| rest.split_once(" Undo: "));
        line.unwrap_or_else(|| panic!("{text}")).0.to_owned()
    };
    let team = |projects: &str| {
        format!(
            "[memory.team]\nurl = \"postgres://me:s3cr3t@db.example.com/memory\"\nprojects = [{projects}]\n"
        )
    };
    for shared in ["\"project\"", "\"PROJECT\""] {
        let line = records(&team(shared), &[]);
        assert!(line.contains("and on your team's server postgres://me@db.example.com/memory."), "{line}");
        assert!(!line.contains("only") && !line.contains("s3cr3t"), "{line}");
    }
    for other in ["", "\"harbour\""] {
        let line = records(&team(other), &[]);
        assert!(line.contains("on this machine only") && !line.contains("example.com"), "{line}");
    }
    let line = records(&team("\"harbour\""), &["--user"]);
    assert!(line.contains("those of harbour also on your team's server postgres://me@db"), "{line}");
    let line =
        records("[memory.summary]\nwith = \"openai\"\nendpoint = \"https://llm.example.com/v1\"\n", &[]);
    assert!(
        line.contains("https://llm.example.com/v1/chat/completions gets them to write summaries"),
        "{line}"
    );
    assert!(!line.contains("only"), "{line}");
}

#[cfg(target_os = "linux")]
#[test]
fn recording_that_was_switched_off_is_not_announced() {
    let sandbox = Sandbox::new();
    let ran = crate::people::at_terminal(&sandbox, &["off", "recording"], "");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let text = said(&sandbox, &["init"]);
    assert!(text.contains("recording is off"), "{text}");
}

#[test]
fn a_difference_shows_settings_first() {
    let sandbox = Sandbox::new();
    git(&sandbox);
    let shown = said(&sandbox, &["init", "--diff"]);
    assert!(shown.starts_with("--- /dev/null\n+++ ./.claude/settings.local.json\n"), "{shown}");
    for line in ["+name: getting-started\n", "+# tidegate: end\n", "+        \"tidegate\": {\n"] {
        assert!(shown.contains(line), "{line}: {shown}");
    }
    super::init(&sandbox, &[]);
    let shown = said(&sandbox, &["uninstall", "--diff"]);
    assert!(shown.contains("-name: getting-started\n"), "{shown}");
}

#[test]
fn paths_for_machines_are_absolute() {
    let sandbox = Sandbox::new();
    for flags in [&["init", "--json", "--dry-run"] as &[&str], &["init", "--json"]] {
        let report = sandbox.run(flags).json();
        let changes = report["changes"].as_array().expect("a list");
        let is_absolute = |change: &serde_json::Value| {
            change["file"].as_str().is_some_and(|file| Path::new(file).is_absolute())
        };
        assert!(changes.len() > 5 && changes.iter().all(is_absolute), "{report}");
    }
}

#[test]
fn below_an_install_it_is_named() {
    let sandbox = Sandbox::new().with("COLUMNS", "120");
    Scope::Project.init(&sandbox);
    let below = sandbox.project().join("src");
    fs::create_dir(&below).expect("a new folder");
    let ran = sandbox.run(&["uninstall", "--project", "src", "--json"]);
    let expected = format!("`tidegate uninstall --project {}`", sandbox.project().display());
    assert!(ran.ok().contains("installed in a folder above") && ran.ok().contains(&expected), "{ran:?}");
    assert!(Scope::Project.settings(&sandbox).exists());
}

#[test]
fn an_install_above_is_named() {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.project().join(".git")).expect("a new folder");
    fs::create_dir_all(sandbox.project().join("src/deep")).expect("new folders");
    let first = sandbox.run(&["init"]);
    assert!(!first.stderr.contains("has an install, too"), "{first:?}");
    let second = sandbox.run(&["init", "--project", "src/deep"]);
    assert!(second.code == Some(0) && second.stderr.contains("has an install, too"), "{second:?}");
}

/// After `init`, nobody has to be told to run it.
#[test]
fn status_after_init_says_what_comes_next() {
    let sandbox = Sandbox::new();
    let before = sandbox.run(&["status"]);
    assert!(before.failed().contains("tidegate init"), "{before:?}");
    Scope::Project.init(&sandbox);
    let after = sandbox.run(&["status"]);
    assert!(!after.failed().contains("tidegate init") && after.stderr.contains("`claude`"), "{after:?}");
}
