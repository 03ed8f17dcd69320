//! What comes beside the settings: skills and commands, ignored files, the preset, the folder for public copies.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use super::{SCOPES, Scope, git, init, run_git, tree};
use crate::sandbox::Sandbox;

fn skill(sandbox: &Sandbox) -> PathBuf {
    sandbox.project().join(".claude/skills/getting-started/SKILL.md")
}

fn put(path: PathBuf, text: impl AsRef<[u8]>) -> PathBuf {
    fs::create_dir_all(path.parent().expect("a folder")).expect("new folders");
    fs::write(&path, text).expect("a file");
    path
}

#[test]
fn skills_and_commands_come_and_go() {
    let sandbox = Sandbox::new();
    let said = Scope::Project.init(&sandbox);
    assert!(said.contains("SKILL.md: written") && said.contains("tidegate-status.md: written"), "{said}");
    assert!(
        fs::read_to_string(skill(&sandbox)).expect("a skill").starts_with("---\nname: getting-started\n")
    );
    Scope::User.init(&sandbox);
    assert!(sandbox.home().join(".claude/skills/getting-started/SKILL.md").exists());
    let other = put(sandbox.project().join(".claude/skills/mine/SKILL.md"), "mine");
    Scope::Project.uninstall(&sandbox);
    assert!(!skill(&sandbox).parent().expect("a folder").exists());
    assert!(!sandbox.project().join(".claude/commands").exists());
    assert!(other.exists() && sandbox.home().join(".claude/skills/getting-started/SKILL.md").exists());
}

#[test]
fn one_of_the_same_name_is_theirs() {
    let sandbox = Sandbox::new();
    let at = |name: &str| sandbox.project().join(".claude/skills").join(name).join("SKILL.md");
    put(at("getting-started"), "mine");
    put(at("ship"), "mine, too");
    put(sandbox.home().join(".claude/commands/compound.md"), "my command");
    let before = tree(&sandbox);
    init(&sandbox, &["--with", "cycle"]);
    init(&sandbox, &[]);
    assert_eq!(fs::read_to_string(at("getting-started")).expect("the file"), "mine");
    for name in ["getting-started", "compound", "ship"] {
        let text = fs::read_to_string(at(&format!("tidegate-{name}"))).expect(name);
        assert!(text.starts_with(&format!("---\nname: tidegate-{name}\n")), "{text}");
    }
    assert!(!at("compound").exists() && at("audit").exists());
    let text = fs::read_to_string(at("tidegate-getting-started")).expect("a skill");
    assert!(
        text.contains("skill `tidegate-compound`") && text.contains("skill `verification-before-completion`"),
        "{text}"
    );
    let text = fs::read_to_string(at("retrospective")).expect("a skill");
    assert!(text.contains("skill `tidegate-compound`"), "{text}");
    // The name is free again: it goes back to it.
    fs::remove_file(sandbox.home().join(".claude/commands/compound.md")).expect("our own");
    init(&sandbox, &[]);
    assert!(at("compound").exists() && !at("tidegate-compound").exists());
    put(sandbox.home().join(".claude/commands/compound.md"), "my command");
    Scope::Project.uninstall(&sandbox);
    assert_eq!(tree(&sandbox), before);
}

/// Rules of that name are the team's own: a second set beside them would contradict them.
#[test]
fn rules_of_the_same_name_count_as_the_rules() {
    let sandbox = Sandbox::new();
    let at = |name: &str| sandbox.project().join(".claude/skills").join(name).join("SKILL.md");
    put(at("code-quality-rules"), "mine");
    let said = init(&sandbox, &["--preset", "strict"]);
    assert!(said.contains("code-quality-rules/SKILL.md: kept; yours is used as the rules"), "{said}");
    assert!(!at("tidegate-code-quality-rules").exists() && at("document-quality-rules").exists());
    assert_eq!(fs::read_to_string(at("code-quality-rules")).expect("the file"), "mine");
}

#[test]
fn parts_come_when_asked_for_and_stay() {
    let sandbox = Sandbox::new();
    let at = |name: &str| sandbox.project().join(".claude/skills").join(name);
    let names = || {
        let entries = fs::read_dir(sandbox.project().join(".claude/skills")).expect("skills").flatten();
        let mut names: Vec<String> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    };
    Scope::Project.init(&sandbox);
    assert_eq!(names(), ["compound", "getting-started", "verification-before-completion"]);
    init(&sandbox, &["--with", "cycle,workflow"]);
    assert_eq!(names().len(), 10);
    Scope::Project.init(&sandbox);
    assert_eq!(names().len(), 10, "they stay without being named again");
    init(&sandbox, &["--preset", "strict"]);
    assert!(at("code-quality-rules").exists() && at("document-quality-rules").exists());
    init(&sandbox, &["--preset", "guide"]);
    assert!(!at("code-quality-rules").exists(), "they came with the preset");
    init(&sandbox, &["--with", "rules"]);
    init(&sandbox, &["--preset", "guide"]);
    assert_eq!(names().len(), 12, "they were asked for");
    Scope::Project.uninstall(&sandbox);
    assert!(!sandbox.project().join(".claude").exists());
}

#[test]
fn an_upgrade_replaces_what_we_wrote_and_keeps_what_they_changed() {
    let sandbox = Sandbox::new();
    Scope::Project.init(&sandbox);
    let current = fs::read_to_string(skill(&sandbox)).expect("a skill");
    // As if an earlier version had been installed: its text is in the record and in the file.
    let record = fs::read_dir(sandbox.state().join("installs")).expect("records").flatten();
    let record =
        record.map(|entry| entry.path().join("record.json")).find(|path| path.exists()).expect("a record");
    let mut kept = super::json(&fs::read_to_string(&record).expect("a record"));
    for file in kept["files"].as_array_mut().expect("a list") {
        if file["file"].as_str().is_some_and(|file| file.ends_with("SKILL.md")) {
            file["written"] = serde_json::json!(["earlier"]);
        }
    }
    fs::write(&record, kept.to_string()).expect("the record");
    put(skill(&sandbox), "earlier");
    assert!(Scope::Project.init(&sandbox).contains("SKILL.md: written"));
    assert_eq!(fs::read_to_string(skill(&sandbox)).expect("a skill"), current);
    put(skill(&sandbox), "changed");
    assert!(Scope::Project.init(&sandbox).contains("SKILL.md: kept; kept yours"));
    assert!(Scope::Project.uninstall(&sandbox).contains("SKILL.md: kept; kept yours"));
    assert_eq!(fs::read_to_string(skill(&sandbox)).expect("a skill"), "changed");
}

#[test]
fn a_team_ignores_what_runs_leave_behind() {
    let plain = Sandbox::new();
    Scope::Shared.init(&plain);
    assert!(!plain.project().join(".gitignore").exists());
    for theirs in [None, Some(""), Some("target\n"), Some("target"), Some("a\r\nb\r\n"), Some("a\r\nb")] {
        for forget in [false, true] {
            let sandbox = Sandbox::new();
            git(&sandbox);
            let path = sandbox.project().join(".gitignore");
            if let Some(text) = theirs {
                put(path.clone(), text);
            }
            let before = tree(&sandbox);
            Scope::Shared.init(&sandbox);
            let with = fs::read_to_string(&path).expect("the file");
            assert_eq!(with.matches(".claude/").count(), 7, "{with}");
            assert!(Scope::Shared.init(&sandbox).contains(".gitignore: unchanged; "));
            if forget {
                fs::remove_dir_all(sandbox.state()).expect("the state");
            }
            Scope::Shared.uninstall(&sandbox);
            let left = tree(&sandbox);
            assert_eq!(left.get(&path), before.get(&path), "{theirs:?}");
            assert!(forget || left == before, "{theirs:?}");
        }
    }
    let sandbox = Sandbox::new();
    git(&sandbox);
    Scope::User.init(&sandbox);
    assert!(!sandbox.project().join(".gitignore").exists());
    let odd = put(sandbox.project().join(".gitignore"), b"caf\xe9\n");
    assert!(Scope::Shared.init(&sandbox).contains(".gitignore: kept; not changed: not a text file"));
    assert_eq!(fs::read(odd).expect("the file"), b"caf\xe9\n");
}

/// Git itself agrees about what is ignored, and what is not.
#[test]
fn git_status_is_as_it_was() {
    let sandbox = Sandbox::new();
    let git = |args: &[&str]| run_git(&sandbox, &sandbox.project(), args);
    assert!(git(&["init", "--quiet"]).0);
    let exclude = sandbox.project().join(".git/info/exclude");
    let before = (tree(&sandbox), fs::read(&exclude).expect("the file"));
    init(&sandbox, &["--preset", "strict", "--with", "cycle"]);
    assert_eq!(git(&["status", "--porcelain", "--untracked-files=all"]).1, "");
    for name in ["context/context-pressure.json", "context/handoff.md", "dev-cycle.state.json"] {
        put(sandbox.project().join(".claude").join(name), "{}");
    }
    assert_eq!(git(&["status", "--porcelain", "--untracked-files=all"]).1, "");
    put(sandbox.project().join(".claude/context/progress.md"), "mine");
    put(sandbox.project().join(".claude/skills/mine/SKILL.md"), "mine");
    let seen = git(&["status", "--porcelain", "--untracked-files=all"]).1;
    assert_eq!(seen, "?? .claude/context/progress.md\n?? .claude/skills/mine/SKILL.md\n", "theirs is seen");
    for name in ["context/handoff.md", "context/progress.md", "skills/mine/SKILL.md", "dev-cycle.state.json"]
    {
        fs::remove_file(sandbox.project().join(".claude").join(name)).expect("our own");
    }
    fs::remove_dir(sandbox.project().join(".claude/skills/mine")).expect("our own");
    Scope::Project.uninstall(&sandbox);
    assert_eq!((tree(&sandbox), fs::read(&exclude).expect("the file")), before);
}

/// The file is that of all worktrees, and of all projects in them.
#[test]
fn worktrees_and_projects_in_one_repository_share_the_exclude_file() {
    let sandbox = Sandbox::new();
    let (main, tree_folder) = (sandbox.project(), sandbox.path().join("tree"));
    let git = |args: &[&str]| run_git(&sandbox, &main, args);
    assert!(git(&["init", "--quiet"]).0 && git(&["commit", "--quiet", "--allow-empty", "-m", "x"]).0);
    assert!(git(&["worktree", "add", "--quiet", tree_folder.to_str().expect("UTF-8")]).0);
    fs::create_dir(main.join("app [1]")).expect("a new folder");
    let exclude = main.join(".git/info/exclude");
    let before = fs::read(&exclude).expect("the file");
    let tree_name = tree_folder.to_str().expect("UTF-8").to_owned();
    for project in [".", "app [1]", &tree_name] {
        super::said(&sandbox, &["init", "--project", project]);
    }
    for folder in [&main, &tree_folder] {
        assert_eq!(run_git(&sandbox, folder, &["status", "--porcelain", "--untracked-files=all"]).1, "");
    }
    let _ = sandbox.run(&["uninstall", "--project", "."]).ok();
    assert_eq!(
        run_git(&sandbox, &tree_folder, &["status", "--porcelain"]).1,
        "",
        "the other worktree needs it"
    );
    let _ = sandbox.run(&["uninstall", "--project", &tree_name]).ok();
    let _ = sandbox.run(&["uninstall", "--project", "app [1]"]).ok();
    assert_eq!(fs::read(&exclude).expect("the file"), before);
}

/// 0.1 wrote a person's own patterns into a file that the team sees.
#[test]
fn an_uncommitted_gitignore_of_an_earlier_version_goes() {
    for is_committed in [false, true] {
        let sandbox = Sandbox::new();
        let git = |args: &[&str]| run_git(&sandbox, &sandbox.project(), args);
        assert!(git(&["init", "--quiet"]).0);
        Scope::Shared.init(&sandbox);
        let ignore = sandbox.project().join(".gitignore");
        if is_committed {
            assert!(git(&["add", ".gitignore"]).0 && git(&["commit", "--quiet", "-m", "x"]).0);
        }
        fs::remove_file(sandbox.project().join(".claude/settings.json")).expect("ours");
        fs::remove_file(sandbox.project().join(".mcp.json")).expect("ours");
        Scope::Project.init(&sandbox);
        assert_eq!(ignore.exists(), is_committed);
        assert_eq!(git(&["status", "--porcelain", "--untracked-files=all"]).1, "");
    }
}

#[test]
fn an_exclude_file_that_cannot_be_written_is_no_reason_to_refuse() {
    let sandbox = Sandbox::new();
    let info = sandbox.project().join(".git/info");
    fs::create_dir_all(&info).expect("new folders");
    let exclude = put(info.join("exclude"), "mine\n");
    let mut locked = fs::metadata(&exclude).expect("the file").permissions();
    locked.set_readonly(true);
    fs::set_permissions(&exclude, locked).expect("our own");
    let said = Scope::Project.init(&sandbox);
    assert!(said.contains("info/exclude: kept; cannot be written"), "{said}");
    assert_eq!(fs::read_to_string(&exclude).expect("the file"), "mine\n");
    // A `.git` file can name any folder, which need not know of it.
    let sandbox = Sandbox::new();
    let elsewhere = sandbox.path().join("elsewhere");
    put(elsewhere.join("HEAD"), "ref: refs/heads/main\n");
    put(sandbox.project().join(".git"), format!("gitdir: {}\n", elsewhere.display()));
    Scope::Project.init(&sandbox);
    assert!(!elsewhere.join("info").exists());
}

#[test]
fn a_preset_goes_into_the_users_config_and_out_again() {
    for (scope, key) in [(Scope::Project, "project"), (Scope::Shared, "project"), (Scope::User, "preset = ")]
    {
        for theirs in
            [None, Some("# mine\nlang = \"ja\" # yes\n\n[context_warning]\nearly = \"47k\"\n"), Some("")]
        {
            let sandbox = Sandbox::new();
            if let Some(theirs) = theirs {
                sandbox.config(theirs);
            }
            let path = sandbox.home().join(".config/tidegate/config.toml");
            scope.init(&sandbox);
            assert_eq!(fs::read_to_string(&path).ok().as_deref(), theirs, "not without being told");
            let before = tree(&sandbox).get(&path).cloned();
            let flags = [scope.flags(), &["--preset", "guide"]].concat();
            assert!(init(&sandbox, &flags).contains("config.toml: written; preset guide"));
            assert!(init(&sandbox, &flags).contains("config.toml: unchanged; preset guide"));
            let flags = [scope.flags(), &["--preset", "strict"]].concat();
            init(&sandbox, &flags);
            let text = fs::read_to_string(&path).expect("the config");
            assert!(text.contains("preset = \"strict\"") && text.contains(key), "{text}");
            let root = fs::canonicalize(sandbox.project()).expect("the project");
            assert_eq!(
                text.contains(&format!("[project.\"{}\"]", root.display())),
                key == "project",
                "{text}"
            );
            assert!(scope.uninstall(&sandbox).contains("preset removed"));
            assert_eq!(tree(&sandbox).get(&path).cloned(), before);
        }
    }
}

#[test]
fn a_preset_of_the_users_own_comes_back_and_one_of_ours_does_not() {
    let sandbox = Sandbox::new();
    let config =
        || fs::read_to_string(sandbox.home().join(".config/tidegate/config.toml")).expect("the config");
    for (told, left) in [("guide", "preset = \"guide\" # mine\n"), ("strict", "preset = \"guide\" # mine\n")]
    {
        sandbox.config("preset = \"guide\" # mine\n");
        init(&sandbox, &["--user", "--preset", told]);
        assert!(config().contains(told));
        Scope::User.uninstall(&sandbox);
        assert_eq!(config(), left);
    }
    // Changed by hand between two of ours.
    for scope in [Scope::User, Scope::Project] {
        sandbox.config("# mine\n");
        init(&sandbox, &[scope.flags(), &["--preset", "guide"]].concat());
        sandbox.config(format!("{}\n[meter]\nwindow = 1\n", config()));
        init(&sandbox, &[scope.flags(), &["--preset", "strict"]].concat());
        scope.uninstall(&sandbox);
        assert!(!config().contains("preset") && config().contains("window = 1"), "{}", config());
    }
}

/// Only a preset that `init` wrote, and that is as it wrote it, goes.
#[test]
fn a_preset_for_the_project_that_a_person_wrote_stays() {
    let config = |sandbox: &Sandbox| {
        fs::read_to_string(sandbox.home().join(".config/tidegate/config.toml")).expect("the config")
    };
    let own = |sandbox: &Sandbox, name: &str| {
        let root = fs::canonicalize(sandbox.project()).expect("the project");
        format!("# mine\n[project.\"{}\"]\npreset = \"{name}\"\n", root.display())
    };
    // `init` wrote none.
    let sandbox = Sandbox::new();
    sandbox.config(own(&sandbox, "guide"));
    Scope::Project.init(&sandbox);
    let said = Scope::Project.uninstall(&sandbox);
    assert!(said.contains("config.toml: kept; your preset `guide` for this project stays"), "{said}");
    assert_eq!(config(&sandbox), own(&sandbox, "guide"));
    // `init` wrote another one over it, and later the file was changed elsewhere.
    init(&sandbox, &["--preset", "strict"]);
    sandbox.config(format!("lang = \"en\"\n{}", config(&sandbox)));
    Scope::Project.uninstall(&sandbox);
    assert_eq!(config(&sandbox), format!("lang = \"en\"\n{}", own(&sandbox, "guide")));
    // They changed what `init` wrote.
    let sandbox = Sandbox::new();
    init(&sandbox, &["--preset", "strict"]);
    sandbox.config(own(&sandbox, "observe"));
    let said = Scope::Project.uninstall(&sandbox);
    assert!(said.contains("your preset `observe` for this project stays"), "{said}");
    assert_eq!(config(&sandbox), own(&sandbox, "observe"));
}

#[test]
fn the_rule_of_the_strict_preset_comes_and_goes_with_it() {
    for scope in SCOPES {
        let sandbox = Sandbox::new();
        let rules = scope.settings(&sandbox).parent().expect("a folder").join("rules");
        let rule = rules.join("meta-tag.md");
        let preset = |name| init(&sandbox, &[scope.flags(), &["--preset", name]].concat());
        scope.init(&sandbox);
        preset("guide");
        assert!(!rules.exists(), "{scope:?}: only strict asks for tags");
        preset("strict");
        let text = fs::read_to_string(&rule).expect("the rule");
        assert!(text.contains("<!-- [meta] project: NAME (id: N) | topic: NAME (id: M) -->"), "{text}");
        // It stays what it is without being told, and goes with another preset.
        assert!(scope.init(&sandbox).contains("meta-tag.md: unchanged; "));
        assert!(preset("guide").contains("meta-tag.md: removed") && !rules.exists(), "{scope:?}");
        preset("strict");
        let mine = put(rules.join("mine.md"), "mine");
        assert!(scope.uninstall(&sandbox).contains("meta-tag.md: removed"));
        assert!(!rule.exists() && mine.exists());
        // One that somebody wrote or changed is theirs.
        put(rule.clone(), "my own");
        assert!(preset("strict").contains("meta-tag.md: kept; kept yours"));
        scope.uninstall(&sandbox);
        assert_eq!(fs::read_to_string(&rule).expect("theirs"), "my own");
    }
}

#[test]
fn presets_of_several_projects_do_not_disturb_each_other() {
    let sandbox = Sandbox::new();
    sandbox.config("# mine\n");
    for name in ["a", "b"] {
        fs::create_dir(sandbox.project().join(name)).expect("a new folder");
        init(&sandbox, &["--project", name, "--preset", "strict"]);
    }
    let config =
        || fs::read_to_string(sandbox.home().join(".config/tidegate/config.toml")).expect("the config");
    let _ = sandbox.run(&["uninstall", "--project", "a"]).ok();
    assert!(!config().contains("/a\"") && config().contains("/b\""), "{}", config());
    let _ = sandbox.run(&["uninstall", "--project", "b"]).ok();
    assert_eq!(config(), "# mine\n");
}

#[test]
fn a_broken_config_is_refused_before_anything_is_changed() {
    for (text, place) in [("lang = \"ja\"\n[x\n", ":2:"), ("project = 3\n", ":1:")] {
        let sandbox = Sandbox::new();
        sandbox.config(text);
        let before = sandbox.everything();
        let ran = sandbox.run(&["init", "--preset", "strict"]);
        assert!(ran.failed().contains(&format!("config.toml{place}")), "{ran:?}");
        assert_eq!(sandbox.everything(), before);
        // It is in nobody's way without a preset, nor when we go.
        Scope::Project.init(&sandbox);
        Scope::Project.uninstall(&sandbox);
    }
}

#[test]
fn public_copies_go_and_notes_stay() {
    for path in [
        "context/context-pressure.json",
        "context/last-compact.json",
        "context/compound-last-run.json",
        ".context-budget.json",
    ] {
        let sandbox = Sandbox::new();
        let name = path.rsplit('/').next().expect("a name");
        let copy = put(sandbox.project().join(".claude").join(path), "{}");
        assert!(Scope::Project.uninstall(&sandbox).contains("nothing of Tidegate"));
        assert!(copy.exists(), "not ours");
        // One that was there before us is theirs, also when we are put in twice.
        Scope::Project.init(&sandbox);
        Scope::Project.init(&sandbox);
        let said = Scope::Project.uninstall(&sandbox);
        assert!(
            said.contains(&format!("{name}: kept; was there before Tidegate")) && copy.exists(),
            "{said}"
        );
        fs::remove_file(&copy).expect("our own");
        Scope::Project.init(&sandbox);
        put(copy.clone(), "{}");
        let note = put(sandbox.project().join(".claude/context/progress.md"), "mine");
        let archive = put(sandbox.project().join(".claude/context/progress.archive.md"), "mine");
        let dry = sandbox.run(&["uninstall", "--dry-run"]);
        assert!(dry.ok().contains(name), "{dry:?}");
        let said = Scope::Project.uninstall(&sandbox);
        assert!(said.contains(&format!("{name}: removed")), "{said}");
        assert!(!copy.exists() && note.exists() && archive.exists());
        // Without a record, but with our entries there, it is ours.
        Scope::Project.init(&sandbox);
        put(copy.clone(), "{}");
        fs::remove_dir_all(sandbox.state()).expect("the state");
        Scope::Project.init(&sandbox);
        Scope::Project.uninstall(&sandbox);
        assert!(!copy.exists());
    }
}

#[test]
fn where_a_cycle_stands_stays_and_that_is_said() {
    let sandbox = Sandbox::new();
    Scope::Project.init(&sandbox);
    let at = |name: &str| sandbox.project().join(".claude").join(name);
    let state = put(at("dev-cycle.state.json"), "{\"stage\": \"audit\"}");
    let bad = put(at("dev-cycle.state.json.bad.2"), "{");
    let other = put(at("dev-cycle.state.jsonl"), "theirs");
    let said = Scope::Project.uninstall(&sandbox);
    for name in ["dev-cycle.state.json", "dev-cycle.state.json.bad.2"] {
        let line = format!("{name}: kept; state of a cycle; delete it if you do not need it\n");
        assert!(said.contains(&line), "{said}");
    }
    assert!(!said.contains("jsonl") && state.exists() && bad.exists() && other.exists(), "{said}");
    // Not ours any more, and so not to be spoken of.
    assert!(!Scope::Project.uninstall(&sandbox).contains("dev-cycle"));
}

/// Knowledge is switched on by the folder: ours goes when nothing is in it, one that was there stays.
#[test]
fn the_context_folder_is_made_and_goes_when_it_is_ours_and_empty() {
    let context = |sandbox: &Sandbox| sandbox.project().join(".claude/context");
    let sandbox = Sandbox::new();
    let said = Scope::Project.init(&sandbox);
    assert!(
        said.contains("context: written; new folder for progress notes") && context(&sandbox).is_dir(),
        "{said}"
    );
    put(context(&sandbox).join("last-compact.json"), "{}");
    Scope::Project.uninstall(&sandbox);
    assert!(!context(&sandbox).exists());

    fs::create_dir_all(context(&sandbox)).expect("a new folder");
    Scope::Project.init(&sandbox);
    Scope::Project.uninstall(&sandbox);
    assert!(context(&sandbox).is_dir(), "it was there before");

    fs::remove_dir(context(&sandbox)).expect("our own");
    Scope::Project.init(&sandbox);
    put(context(&sandbox).join("learnings.md"), "mine");
    Scope::Project.uninstall(&sandbox);
    assert!(context(&sandbox).join("learnings.md").exists());

    let sandbox = Sandbox::new();
    Scope::User.init(&sandbox);
    assert!(!sandbox.home().join(".claude/context").exists(), "a user is no project");
}

#[test]
fn it_says_what_it_did_and_where_the_old_is() {
    for scope in SCOPES {
        let sandbox = Sandbox::new();
        scope.write(&sandbox, "{ \"model\": \"opus\" }\n");
        let ran = sandbox.run(&super::words("init", &[scope.flags(), &["--json"]].concat()));
        let backup = super::json(ran.ok())["backup"].as_str().map(PathBuf::from);
        let backup = backup.unwrap_or_else(|| panic!("{ran:?}"));
        let names: Vec<_> =
            fs::read_dir(&backup).expect("a folder").flatten().map(|entry| entry.file_name()).collect();
        assert!(names.iter().any(|name| name.to_string_lossy().ends_with(".before")), "{names:?}");
        let again = sandbox.run(&super::words("init", &[scope.flags(), &["--json"]].concat()));
        assert!(super::json(again.ok())["backup"].is_null(), "{again:?}");
    }
}

/// The home directory as a project: its host folder is the user's own.
#[test]
fn a_project_in_the_home_leaves_the_users_skills() {
    for user_first in [true, false] {
        let sandbox = Sandbox::new();
        let home = sandbox.home();
        let home = home.to_str().expect("UTF-8");
        if user_first {
            Scope::User.init(&sandbox);
        }
        init(&sandbox, &["--project", home]);
        if !user_first {
            Scope::User.init(&sandbox);
        }
        let _ = sandbox.run(&["uninstall", "--project", home]).ok();
        assert!(sandbox.home().join(".claude/skills/getting-started/SKILL.md").exists());
        assert!(sandbox.home().join(".local/share/tidegate/bin/tidegate").exists());
        Scope::User.uninstall(&sandbox);
        assert_eq!(tree(&sandbox).len(), 3, "{:?}", tree(&sandbox).keys());
    }
}

/// A repository can hold a link to anywhere.
#[test]
fn a_linked_gitignore_is_not_written() {
    let sandbox = Sandbox::new();
    git(&sandbox);
    let victim = put(sandbox.path().join("bashrc"), "precious\n");
    let path = sandbox.project().join(".gitignore");
    symlink("../bashrc", &path).expect("a link");
    let said = Scope::Shared.init(&sandbox);
    assert!(said.contains(".gitignore: kept; not changed: git does not follow a link here"), "{said}");
    assert_eq!(fs::read_to_string(&victim).expect("the file"), "precious\n");
    // Nor when we go, whatever stands in it.
    let ours =
        "precious\n\n# tidegate: what runs leave behind\n.claude/settings.local.json\n# tidegate: end\n";
    fs::write(&victim, ours).expect("our own file");
    Scope::Shared.uninstall(&sandbox);
    assert_eq!(fs::read_to_string(&victim).expect("the file"), ours);
}

/// Each link that `init` would write through, and a file that would be written behind it.
const LINKS: [(&str, &str); 3] = [
    (".claude", "settings.local.json"),
    (".claude/skills", "getting-started/SKILL.md"),
    (".claude/commands", "tidegate-off.md"),
];

fn linked_out(link: &str) -> (Sandbox, PathBuf) {
    let sandbox = Sandbox::new();
    let elsewhere = sandbox.path().join("elsewhere");
    fs::create_dir(&elsewhere).expect("a new folder");
    let link = sandbox.project().join(link);
    fs::create_dir_all(link.parent().expect("a folder")).expect("new folders");
    symlink(&elsewhere, &link).expect("a link");
    (sandbox, elsewhere)
}

#[test]
fn init_writes_through_no_link_out_of_the_project() {
    for (link, file) in LINKS {
        let (sandbox, elsewhere) = linked_out(link);
        let before = tree(&sandbox);
        let ran = sandbox.run(&["init"]);
        let said = ran.failed();
        assert!(said.contains(&format!("{link} leads out of the project")), "{said}");
        assert!(said.contains(&*elsewhere.to_string_lossy()) && said.contains("at a terminal"), "{said}");
        assert_eq!(tree(&sandbox), before, "{link}");
        // What would be done can be looked at.
        let dry = sandbox.run(&["init", "--dry-run"]);
        assert!(dry.code == Some(0) && dry.stderr.contains("leads out of the project"), "{dry:?}");
        assert_eq!(tree(&sandbox), before, "{link}");
        assert!(!elsewhere.join(file).exists());
    }
    let sandbox = Sandbox::new();
    let victim = put(sandbox.path().join("victim.json"), "{}");
    fs::create_dir(sandbox.project().join(".claude")).expect("a new folder");
    for (scope, name) in [(Scope::Project, "settings.local.json"), (Scope::Shared, "settings.json")] {
        let link = sandbox.project().join(".claude").join(name);
        symlink(&victim, &link).expect("a link");
        assert!(scope.refused(&sandbox, "init").contains(&format!("{name} leads out of the project")));
        fs::remove_file(&link).expect("our own link");
    }
    assert_eq!(fs::read_to_string(&victim).expect("the file"), "{}");
}

#[cfg(target_os = "linux")]
#[test]
fn at_a_terminal_init_asks_before_it_writes_through_a_link() {
    for (link, file) in LINKS {
        let (sandbox, elsewhere) = linked_out(link);
        let no = crate::people::at_terminal(&sandbox, &["init"], "n\n");
        assert!(no.code == Some(1) && no.stdout.contains("leads out of the project"), "{no:?}");
        assert!(!elsewhere.join(file).exists(), "{link}");
        // An agent that drives a terminal is not a person.
        let sandbox = sandbox.with("CLAUDECODE", "1");
        let agent = crate::people::at_terminal(&sandbox, &["init"], "y\n");
        assert!(agent.code == Some(1) && !elsewhere.join(file).exists(), "{agent:?}");
        let sandbox = sandbox.without("CLAUDECODE");
        let yes = crate::people::at_terminal(&sandbox, &["init"], "y\n");
        assert!(yes.code == Some(0) && elsewhere.join(file).exists(), "{yes:?}");
    }
}

#[test]
fn links_within_the_project_are_followed() {
    let sandbox = Sandbox::new();
    fs::create_dir_all(sandbox.project().join("config/shared")).expect("new folders");
    symlink("config", sandbox.project().join(".claude")).expect("a link");
    symlink("shared", sandbox.project().join("config/skills")).expect("a link");
    Scope::Project.init(&sandbox);
    assert!(sandbox.project().join("config/shared/getting-started/SKILL.md").exists());
}

/// Changing owners takes root.
#[test]
fn a_persons_own_dotfiles_are_followed_and_those_of_others_are_not() {
    let sandbox = Sandbox::new();
    let dotfiles = sandbox.home().join("dotfiles");
    fs::create_dir_all(&dotfiles).expect("a new folder");
    fs::create_dir_all(sandbox.home().join(".claude")).expect("a new folder");
    symlink(&dotfiles, sandbox.home().join(".claude/skills")).expect("a link");
    if crate::sandbox::is_root(&sandbox) {
        std::os::unix::fs::chown(&dotfiles, Some(12345), None).expect("a new owner");
        assert!(Scope::User.refused(&sandbox, "init").contains("skills leads out of"));
        std::os::unix::fs::chown(&dotfiles, Some(0), None).expect("a new owner");
    }
    Scope::User.init(&sandbox);
    assert!(dotfiles.join("getting-started/SKILL.md").exists());
}

/// What is kept for a person is what was there, not what we would give back.
#[test]
fn the_backup_is_the_first_file_to_the_byte() {
    let sandbox = Sandbox::new();
    let old = "{ \"statusLine\": {\"type\": \"command\", \"command\": \"'/old/tidegate' statusline --wrap 'mine'\"} }";
    Scope::Project.write(&sandbox, old);
    let report = sandbox.run(&["init", "--json"]).json();
    let backup = PathBuf::from(report["backup"].as_str().expect("a path")).join("settings.local.json.before");
    assert_eq!(fs::read_to_string(&backup).expect("the backup"), old);
    // Changed by others, and written by us once more.
    let text =
        Scope::Project.read(&sandbox).replacen('{', "{ \"new\": 1, ", 1).replace("PreCompact", "Setup");
    Scope::Project.write(&sandbox, text);
    assert!(Scope::Project.init(&sandbox).contains("written"));
    assert_eq!(fs::read_to_string(&backup).expect("the backup"), old);
    Scope::Project.uninstall(&sandbox);
    assert!(Scope::Project.read(&sandbox).contains("\"command\": \"mine\""));
    assert!(!backup.exists());
    // A new install keeps what is there then.
    Scope::Project.write(&sandbox, "{ \"later\": 1 }");
    Scope::Project.init(&sandbox);
    assert_eq!(fs::read_to_string(&backup).expect("the backup"), "{ \"later\": 1 }");
}

/// A killed process leaves its temporary files; whatever else looks like it stays.
#[test]
fn the_next_install_clears_what_a_killed_one_left() {
    let sandbox = Sandbox::new();
    git(&sandbox);
    let at = |path: &str| put(sandbox.project().join(path), "x");
    let left = [
        at(".claude/.settings.local.json.123.0.tmp"),
        at(".git/info/.exclude.77.1.tmp"),
        at(".claude/skills/getting-started/.SKILL.md.9.4.tmp"),
        put(sandbox.home().join(".local/share/tidegate/bin/.tidegate.12.tmp"), "x"),
    ];
    let theirs = [
        at(".claude/.settings.local.json.tmp"),
        at(".claude/.settings.local.json.mine.0.tmp"),
        at(".claude/.other.json.123.0.tmp"),
        at(".claude/settings.local.json.123.0.tmp"),
        at(".git/info/exclude.77.1.tmp"),
    ];
    Scope::Project.init(&sandbox);
    assert!(left.iter().all(|path| !path.exists()), "{left:?}");
    assert!(theirs.iter().all(|path| path.exists()), "{theirs:?}");
}
