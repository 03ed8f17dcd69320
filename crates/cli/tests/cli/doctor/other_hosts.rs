//! The hooks of other hosts: whether they are there, can start the program, and are run at all.

use std::fs;
use std::path::{Path, PathBuf};

use super::{findings, is_wrong, link};
use crate::sandbox::Sandbox;

const HOSTS: [(&str, &str, &str); 4] = [
    ("codex", ".codex/hooks.json", ".codex/hooks.json"),
    ("copilot", ".github/hooks/tidegate.json", ".copilot/hooks/tidegate.json"),
    ("qwen", ".qwen/settings.json", ".qwen/settings.json"),
    ("opencode", ".opencode/plugins/tidegate.js", ".opencode/plugins/tidegate.js"),
];

fn put(path: PathBuf, text: &str) -> PathBuf {
    fs::create_dir_all(path.parent().expect("a folder")).expect("new folders");
    fs::write(&path, text).expect("a new file");
    path
}

fn init(sandbox: &Sandbox, host: &str, place: &[&str]) {
    let ran = sandbox.run(&[&["init", "--host", host], place].concat());
    assert_eq!(ran.code, Some(0), "{ran:?}");
}

/// What is wrong with a host, each as `state: what was found (fix)`.
fn wrong(sandbox: &Sandbox, id: &str) -> Vec<String> {
    let word = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let findings = findings(sandbox);
    let its = findings.iter().filter(|finding| finding["id"] == id && is_wrong(finding));
    its.map(|it| format!("{}: {} ({})", word(&it["state"]), word(&it["found"]), word(&it["cure"]))).collect()
}

/// One of the things that are wrong has all of these words.
#[track_caller]
fn says(sandbox: &Sandbox, id: &str, words: &[&str]) {
    let wrong = wrong(sandbox, id);
    assert!(wrong.iter().any(|it| words.iter().all(|word| it.contains(word))), "{words:?}: {wrong:#?}");
}

/// Nothing that is wrong has this word.
#[track_caller]
fn is_silent(sandbox: &Sandbox, id: &str, word: &str) {
    let wrong = wrong(sandbox, id);
    assert!(!wrong.iter().any(|it| it.contains(word)), "{word}: {wrong:#?}");
}

fn real(path: &Path) -> String {
    fs::canonicalize(path).expect("a folder").display().to_string()
}

#[test]
fn a_program_that_is_missing_is_named_with_what_follows() {
    for (host, in_project, in_home) in HOSTS {
        for (place, file) in [("--project", in_project), ("--user", in_home)] {
            let sandbox = Sandbox::new();
            let project = sandbox.project().display().to_string();
            let (flags, root) = match place {
                "--user" => (vec!["--user"], sandbox.home()),
                _ => (vec!["--project", &project], sandbox.project()),
            };
            init(&sandbox, host, &flags);
            is_silent(&sandbox, host, "which");
            let effect =
                if host == "copilot" { "Copilot CLI denies every edit" } else { "checks nothing in" };
            let file = root.join(file).display().to_string();
            let again = format!("tidegate init {} --host {host}`", flags.join(" "));
            let words = |why| [effect, file.as_str(), why, again.as_str()].map(str::to_owned);
            fs::remove_file(link(&sandbox)).expect("our link");
            says(&sandbox, host, &words("does not exist").each_ref().map(String::as_str));
            std::os::unix::fs::symlink("/nowhere/tidegate", link(&sandbox)).expect("a new link");
            says(&sandbox, host, &words("is a link to nothing").each_ref().map(String::as_str));
        }
    }
}

#[test]
fn hooks_of_both_places_run_twice() {
    for (host, in_project, in_home) in HOSTS {
        let sandbox = Sandbox::new();
        init(&sandbox, host, &["--project", "."]);
        is_silent(&sandbox, host, "twice");
        init(&sandbox, host, &["--user"]);
        let root = real(&sandbox.project());
        match host {
            "codex" => {
                is_silent(&sandbox, host, "twice");
                let config = sandbox.home().join(".codex/config.toml");
                let text = fs::read_to_string(&config).expect("our server");
                put(config, &format!("{text}\n[projects.\"{root}\"]\ntrust_level = \"trusted\"\n"));
            }
            "copilot" => {
                is_silent(&sandbox, host, "twice");
                put(
                    sandbox.home().join(".copilot/config.json"),
                    &format!("{{ \"trustedFolders\": [\"{root}\"] }}"),
                );
            }
            _ => {}
        }
        says(&sandbox, host, &["warning: ", "twice", in_project, in_home, "uninstall", "--user --host"]);
    }
}

#[test]
fn hooks_that_are_gone_are_named() {
    for (host, in_project, _) in HOSTS {
        let sandbox = Sandbox::new();
        init(&sandbox, host, &["--project", "."]);
        let file = sandbox.project().join(in_project);
        for gone in [Some("{}\n"), None] {
            match gone {
                Some(text) => fs::write(&file, text).expect("the file"),
                None => fs::remove_file(&file).expect("the file"),
            }
            let again = format!("--host {host}`");
            says(&sandbox, host, &["problem: ", in_project, "any more", "tidegate init", &again]);
        }
        let ran = sandbox.run(&["uninstall", "--host", host]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert!(wrong(&sandbox, host).is_empty());
    }
    // One event of several.
    let sandbox = Sandbox::new();
    init(&sandbox, "codex", &["--project", "."]);
    super::change(&sandbox.project().join(".codex/hooks.json"), |file| {
        file["hooks"].as_object_mut().expect("events").remove("Stop");
    });
    says(&sandbox, "codex", &["lacks Tidegate's hooks for Stop", "tidegate init"]);
}

#[test]
fn codex_with_its_hooks_switched_off() {
    let sandbox = Sandbox::new();
    init(&sandbox, "codex", &["--project", "."]);
    is_silent(&sandbox, "codex", "features");
    let trusted = format!("[projects.\"{}\"]\ntrust_level = \"trusted\"\n", real(&sandbox.project()));
    let person = put(sandbox.home().join(".codex/config.toml"), &trusted);
    for off in ["hooks = false", "codex_hooks = false"] {
        fs::write(&person, format!("{trusted}[features]\n{off}\n")).expect("the config");
        says(&sandbox, "codex", &["problem: ", &person.display().to_string(), "[features]"]);
    }
    // The project's own file counts more, if Codex reads it.
    let project = sandbox.project().join(".codex/config.toml");
    let text = fs::read_to_string(&project).expect("our server");
    fs::write(&project, format!("{text}\n[features]\nhooks = true\n")).expect("the config");
    is_silent(&sandbox, "codex", "features");
    fs::write(&project, format!("{text}\n[features]\nhooks = false\n")).expect("the config");
    fs::write(&person, &trusted).expect("the config");
    says(&sandbox, "codex", &["problem: ", ".codex/config.toml", "[features]"]);
    fs::write(&person, "[features]\nhooks = true\n").expect("the config");
    is_silent(&sandbox, "codex", "features");
    // Codex does not start with a broken one.
    fs::write(&person, "[features\n").expect("the config");
    let wrong = wrong(&sandbox, "codex");
    assert!(wrong.len() == 1, "{wrong:#?}");
    says(&sandbox, "codex", &["problem: ", &format!("{}:1 is not TOML", person.display()), "unclosed table"]);
}

#[test]
fn codex_in_a_project_that_it_does_not_trust() {
    let sandbox = Sandbox::new();
    init(&sandbox, "codex", &["--project", "."]);
    let words = ["problem: ", "does not trust", "Start `codex`"];
    says(&sandbox, "codex", &words);
    let person = sandbox.home().join(".codex/config.toml");
    let level = |path: &str, level: &str| format!("[projects.\"{path}\"]\ntrust_level = \"{level}\"\n");
    let root = real(&sandbox.project());
    put(person.clone(), &level(&root, "untrusted"));
    says(&sandbox, "codex", &words);
    put(person.clone(), &level(&root, "trusted"));
    is_silent(&sandbox, "codex", "does not trust");
    says(&sandbox, "codex", &["/hooks"]);
    // The repository around it counts, too, unless the folder has a word of its own.
    fs::create_dir(sandbox.path().join(".git")).expect("a new folder");
    let above = real(sandbox.path());
    put(person.clone(), &level(&above, "trusted"));
    is_silent(&sandbox, "codex", "does not trust");
    put(person.clone(), &(level(&above, "trusted") + &level(&root, "untrusted")));
    says(&sandbox, "codex", &words);
    // A person's own hooks need no trusted project.
    let sandbox = Sandbox::new();
    init(&sandbox, "codex", &["--user"]);
    is_silent(&sandbox, "codex", "does not trust");
    says(&sandbox, "codex", &["/hooks"]);
}

#[test]
fn codex_refuses_a_whole_file_for_one_key() {
    for (key, what) in [
        ("\"extra\": 1, ", "unknown field `extra`"),
        ("\"hooks\": {}, ", "duplicate field `hooks`"),
        ("\"hooks\": { \"Stop\": [], \"Stop\": [] }, \"description\": \"", "duplicate field `Stop`"),
    ] {
        let sandbox = Sandbox::new();
        init(&sandbox, "codex", &["--project", "."]);
        let file = sandbox.project().join(".codex/hooks.json");
        let text = fs::read_to_string(&file).expect("our hooks");
        let text = match key.strip_suffix('"') {
            Some(_) => text.replacen("\"Stop\":", "\"Stop\": [], \"Stop\":", 1),
            None => text.replacen('{', &format!("{{{key}"), 1),
        };
        fs::write(&file, &text).expect("the hooks");
        says(&sandbox, "codex", &["problem: ", "Codex does not read", ".codex/hooks.json:", what]);
        let ran = sandbox.run(&["init", "--host", "codex"]);
        assert!(ran.failed().contains(what), "{ran:?}");
        assert!(ran.stderr.contains("nothing was changed"), "{ran:?}");
        assert_eq!(fs::read_to_string(&file).expect("the hooks"), text);
    }
}

#[test]
fn copilot_with_its_hooks_switched_off() {
    for (file, place) in [
        ("project/.github/copilot/settings.json", "--user"),
        ("project/.github/copilot/settings.local.json", "--project=."),
        ("home/.copilot/settings.json", "--project=."),
    ] {
        let sandbox = Sandbox::new();
        init(&sandbox, "copilot", &[place]);
        let trusted = format!("{{ \"trustedFolders\": [\"{}\"] }}", real(&sandbox.project()));
        put(sandbox.home().join(".copilot/config.json"), &trusted);
        assert!(wrong(&sandbox, "copilot").is_empty());
        put(sandbox.path().join(file), "{\n  // for a while\n  \"disableAllHooks\": true\n}\n");
        let shown = file.split_once('/').expect("a folder").1;
        says(&sandbox, "copilot", &["problem: ", shown, "disableAllHooks"]);
    }
}

#[test]
fn copilot_in_a_folder_that_it_does_not_trust() {
    let sandbox = Sandbox::new();
    init(&sandbox, "copilot", &["--project", "."]);
    let words = ["problem: ", "does not trust", "config.json", "Start `copilot`"];
    says(&sandbox, "copilot", &words);
    let (project, config) = (real(&sandbox.project()), sandbox.home().join(".copilot/config.json"));
    for (folders, trusts) in [
        (format!("\"trustedFolders\": [\"{project}\"]"), true),
        (format!("\"trusted_folders\": [\"/x\", \"{project}/\"]"), true),
        (format!("\"trustedFolders\": [\"{}\"]", real(sandbox.path())), true),
        ("\"trustedFolders\": [\"/\"]".to_owned(), true),
        (format!("\"trustedFolders\": [\"{project}/src\", \"{project}2\"]"), false),
        ("\"trustedFolders\": 7".to_owned(), false),
        ("\"trustedFolders\": [\"\", \".\"]".to_owned(), false),
    ] {
        put(config.clone(), &format!("// User settings belong in settings.json.\n{{ {folders} }}\n"));
        let wrong = wrong(&sandbox, "copilot");
        assert_eq!(wrong.is_empty(), trusts, "{folders}: {wrong:#?}");
    }
    // Settings of that name elsewhere do not count.
    fs::remove_file(&config).expect("the config");
    put(sandbox.home().join(".copilot/settings.json"), &format!("{{ \"trustedFolders\": [\"{project}\"] }}"));
    says(&sandbox, "copilot", &words);
    // A person's own hooks need no trusted folder.
    let sandbox = Sandbox::new();
    init(&sandbox, "copilot", &["--user"]);
    assert!(wrong(&sandbox, "copilot").is_empty());
}

/// Codex reads the hooks of the main checkout there, if the worktree has a folder for Codex.
#[test]
fn codex_in_a_linked_worktree() {
    let sandbox = Sandbox::new();
    let (main, tree) = (sandbox.path().join("main"), sandbox.project());
    let (git, linked) = (main.join(".git"), main.join(".git/worktrees/project"));
    put(git.join("HEAD"), "ref: refs/heads/main\n");
    put(linked.join("HEAD"), "ref: refs/heads/other\n");
    put(linked.join("commondir"), "../..\n");
    put(linked.join("gitdir"), &format!("{}/.git\n", real(&tree)));
    put(tree.join(".git"), &format!("gitdir: {}\n", real(&linked)));
    let person = sandbox.home().join(".codex/config.toml");
    put(person, &format!("[projects.\"{}\"]\ntrust_level = \"trusted\"\n", real(&main)));
    init(&sandbox, "codex", &["--project", "."]);
    let main = real(&main);
    says(&sandbox, "codex", &["problem: ", "linked worktree", &main, "tidegate init --project"]);
    let all = findings(&sandbox);
    assert!(all.iter().all(|it| it["id"] != "codex" || it["state"] != "ok"), "{all:#?}");
    init(&sandbox, "codex", &["--project", &main]);
    is_silent(&sandbox, "codex", "linked worktree");
    says(&sandbox, "codex", &[&format!("{main}/.codex/hooks.json"), "/hooks"]);
    fs::remove_dir_all(tree.join(".codex")).expect("the worktree's own");
    says(&sandbox, "codex", &["problem: ", "without a `.codex` folder", "mkdir"]);
    fs::create_dir(tree.join(".codex")).expect("a new folder");
    is_silent(&sandbox, "codex", "worktree");
    // The main checkout's file is checked as if this were it.
    let hooks = Path::new(&main).join(".codex/hooks.json");
    let text = fs::read_to_string(&hooks).expect("our hooks");
    fs::write(&hooks, text.replacen('{', "{ \"version\": 1,", 1)).expect("the hooks");
    let again = format!("tidegate init --project {main}");
    says(
        &sandbox,
        "codex",
        &["problem: ", "does not read", &hooks.display().to_string(), "`version`", &again],
    );
    fs::write(&hooks, text).expect("the hooks");
    is_silent(&sandbox, "codex", "twice");
    init(&sandbox, "codex", &["--user"]);
    says(&sandbox, "codex", &["twice", &hooks.display().to_string(), &format!("uninstall --project {main}")]);
}

#[test]
fn qwen_with_its_hooks_switched_off_or_without_trust() {
    let sandbox = Sandbox::new();
    init(&sandbox, "qwen", &["--project", "."]);
    assert!(wrong(&sandbox, "qwen").is_empty());
    let person = put(sandbox.home().join(".qwen/settings.json"), "{ \"disableAllHooks\": true }");
    says(&sandbox, "qwen", &["problem: ", "disableAllHooks"]);
    let project = sandbox.project().join(".qwen/settings.json");
    super::change(&project, |file| file["disableAllHooks"] = false.into());
    assert!(wrong(&sandbox, "qwen").is_empty(), "the project's word counts more");

    let trust = sandbox.home().join(".qwen/trustedFolders.json");
    let root = real(&sandbox.project());
    let folders = |rules: &[(&str, &str)]| {
        let rules = rules.iter().map(|(path, level)| format!("{path:?}: {level:?}"));
        put(trust.clone(), &format!("{{ {} }}", rules.collect::<Vec<_>>().join(", ")));
    };
    folders(&[(&root, "DO_NOT_TRUST")]);
    assert!(wrong(&sandbox, "qwen").is_empty(), "folders are not asked about by default");
    fs::write(&person, "{ \"security\": { \"folderTrust\": { \"enabled\": true } } }").expect("settings");
    let words = ["problem: ", "does not trust", "/trust"];
    says(&sandbox, "qwen", &words);
    folders(&[]);
    says(&sandbox, "qwen", &["problem: ", "does not trust", " yet: ", "`qwen -p`"]);
    folders(&[("/", "DO_NOT_TRUST"), (&root, "TRUST_FOLDER")]);
    assert!(wrong(&sandbox, "qwen").is_empty(), "the nearest word counts");
    folders(&[("/", "TRUST_FOLDER"), (&real(sandbox.path()), "DO_NOT_TRUST")]);
    says(&sandbox, "qwen", &words);
    folders(&[(&root, "TRUST_PARENT"), ("/", "DO_NOT_TRUST")]);
    assert!(wrong(&sandbox, "qwen").is_empty());
    init(&sandbox, "qwen", &["--user"]);
    says(&sandbox, "qwen", &["twice"]);
    folders(&[(&root, "DO_NOT_TRUST")]);
    is_silent(&sandbox, "qwen", "twice");
    let other = put(sandbox.path().join("rules.json"), &format!("{{ {root:?}: \"TRUST_FOLDER\" }}"));
    let sandbox = sandbox.with("QWEN_CODE_TRUSTED_FOLDERS_PATH", other.display().to_string());
    says(&sandbox, "qwen", &["twice"]);
}
