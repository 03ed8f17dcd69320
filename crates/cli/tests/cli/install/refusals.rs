//! What is refused leaves everything as it is, and says where and why. What is only tried, too.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use super::{SCOPES, Scope, git, said, tree};
use crate::sandbox::{Sandbox, make_fifo};

#[test]
fn a_missing_folder_is_an_error_with_a_hint() {
    let sandbox = Sandbox::new();
    let missing = sandbox.path().join("missing");
    for command in ["init", "uninstall"] {
        let ran = sandbox.run(&[command, "--project", &missing.to_string_lossy()]);
        let text = ran.failed();
        assert!(text.contains("is not a folder") && text.contains("\nhint: "), "{text}");
    }
    assert!(!missing.exists());
}

#[test]
fn what_the_client_could_not_read_is_refused_where_it_stands() {
    let cases: [(&[u8], &str, &str); 14] = [
        (b"{", "1:2", "too early"),
        (b"[]", "1:1", "not a JSON object"),
        (b"\"x\"", "1:1", "not a JSON object"),
        (b"{\n  \"hooks\": 5\n}", "2:12", "`hooks` is not an object"),
        (b"{\n  \"hooks\": {\n    \"Stop\": {}\n  }\n}", "3:13", "`hooks.Stop` is not an array"),
        (b"{\n  \"a\": 1,\n}\n", "2:9", "trailing comma"),
        (b"{\r\n  // why\r\n  \"a\": 1\r\n}", "2:3", "comment"),
        (b"{ \"a\": /* b */ 1 }", "1:8", "comment"),
        (b"\xef\xbb\xbf{ a: 1 }", "1:3", "double quotes"),
        (b"{ \"a\": 1 } x", "1:12", "behind the end"),
        (b"{ \"a\": \"\xff\" }", "1:9", "not UTF-8"),
        (b"{\n\"\xe3\x81\x82\": 'x' }", "2:6", "a value is missing"),
        (b"{ \"a\": 1 \"b\": 2 }", "1:10", "comma is missing"),
        (b"{\"a\": \"x\ty\"}", "1:9", "control character"),
    ];
    for scope in SCOPES {
        for (text, place, what) in cases {
            let sandbox = Sandbox::new();
            scope.write(&sandbox, text);
            let before = sandbox.everything();
            let said = scope.refused(&sandbox, "init");
            let name = scope.settings(&sandbox);
            let name = name.file_name().expect("a name").to_string_lossy();
            assert!(said.contains(&format!("{name}:{place}: ")) && said.contains(what), "{said}");
            assert!(said.contains("nothing was changed"), "{said}");
            let is_odd = what.contains("comment") || what.contains("trailing");
            assert_eq!(said.contains("Claude Code ignores"), is_odd, "{said}");
            assert_eq!(fs::read(scope.settings(&sandbox)).expect("the file"), text);
            assert_eq!(sandbox.everything(), before, "no state, no link, nothing");
        }
    }
    let deep = Sandbox::new();
    Scope::Project.write(&deep, "[".repeat(200_000));
    assert!(Scope::Project.refused(&deep, "init").contains("nested too deeply"));
}

#[test]
fn a_status_line_that_is_none_is_refused() {
    for text in
        ["{\"statusLine\": null}", "{\"statusLine\": {\"type\": \"command\"}}", "{\"statusLine\": \"x\"}"]
    {
        let sandbox = Sandbox::new();
        Scope::Project.write(&sandbox, text);
        let said = Scope::Project.refused(&sandbox, "init");
        assert!(said.contains("settings.local.json:1:16: `statusLine`"), "{said}");
        assert_eq!(Scope::Project.read(&sandbox), text);
    }
}

/// Whoever adds a comment after `init` has switched us off, and must be able to get rid of us.
#[test]
fn uninstall_takes_comments_and_refuses_only_what_is_broken() {
    for scope in SCOPES {
        let sandbox = Sandbox::new();
        scope.write(&sandbox, "{\n  \"a\": 1\n}\n");
        scope.init(&sandbox);
        let odd = scope.read(&sandbox).replacen("\"a\": 1,", "\"a\": 1, // one", 1);
        let end = odd.rfind('}').expect("an end");
        let odd = format!("{}, /* two */ }}\n", odd[..end].trim_end());
        scope.write(&sandbox, &odd);
        scope.refused(&sandbox, "init");
        scope.uninstall(&sandbox);
        let left = scope.read(&sandbox);
        assert!(
            left.contains("// one\n") && left.contains("/* two */") && !left.contains("tidegate"),
            "{left}"
        );

        scope.write(&sandbox, "{ \"a\": }");
        let said = scope.refused(&sandbox, "uninstall");
        assert!(said.contains(":1:8: broken JSON: "), "{said}");
        assert_eq!(scope.read(&sandbox), "{ \"a\": }");
    }
}

#[test]
fn what_its_owner_locked_is_left_alone() {
    for scope in SCOPES {
        let sandbox = Sandbox::new();
        git(&sandbox);
        let lock = |path: &std::path::Path, mode| {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("a mode");
        };
        scope.write(&sandbox, "{ \"a\": 1 }");
        lock(&scope.settings(&sandbox), 0o444);
        let before = sandbox.everything();
        let said = scope.refused(&sandbox, "init");
        assert!(said.contains("is read-only") && said.contains("chmod u+w"), "{said}");
        assert_eq!((scope.read(&sandbox).as_str(), sandbox.everything()), ("{ \"a\": 1 }", before));

        lock(&scope.settings(&sandbox), 0o600);
        scope.init(&sandbox);
        let with = scope.read(&sandbox);
        lock(&scope.settings(&sandbox), 0o400);
        assert!(!scope.init(&sandbox).contains(": written; "), "nothing has to be written");
        assert!(scope.refused(&sandbox, "uninstall").contains("is read-only"));
        assert_eq!(scope.read(&sandbox), with);
    }
}

#[test]
fn what_is_no_file_is_refused() {
    let sandbox = Sandbox::new();
    let path = Scope::Project.settings(&sandbox);
    fs::create_dir_all(&path).expect("new folders");
    assert!(Scope::Project.refused(&sandbox, "init").contains("is not a file"));
    fs::remove_dir(&path).expect("our own folder");
    make_fifo(&path);
    assert!(Scope::Project.refused(&sandbox, "init").contains("is not a file"));
    fs::remove_file(&path).expect("our own pipe");
    symlink("nowhere.json", &path).expect("a link");
    let said = Scope::Project.refused(&sandbox, "init");
    assert!(said.contains("is a link to nowhere.json, which does not exist"), "{said}");
    assert!(fs::symlink_metadata(&path).expect("the link").is_symlink());
}

/// A folder that is a link to nothing.
#[test]
fn a_dangling_folder_is_refused_in_words() {
    for (link, to) in [(".claude/skills", "gone"), (".claude", "../gone"), (".claude/context", "gone/too")] {
        let sandbox = Sandbox::new();
        let link = sandbox.project().join(link);
        fs::create_dir_all(link.parent().expect("a folder")).expect("new folders");
        symlink(to, &link).expect("a link");
        let before = tree(&sandbox);
        for flags in [&["init"] as &[&str], &["init", "--dry-run"]] {
            let ran = sandbox.run(flags);
            let said = ran.failed();
            assert!(said.contains("is a link to ") && said.contains("which does not exist"), "{said}");
            assert!(said.contains("nothing was changed"), "{said}");
        }
        assert_eq!(tree(&sandbox), before);
    }
}

#[test]
fn without_a_place_for_the_backup_nothing_is_changed() {
    let sandbox = Sandbox::new().with("TIDEGATE_STATE_DIR", "relative");
    assert!(Scope::Project.refused(&sandbox, "init").contains("nothing was changed"));
    let sandbox = sandbox.with("TIDEGATE_STATE_DIR", "/dev/null/x");
    assert!(Scope::Project.refused(&sandbox, "init").contains("nothing was changed"));
    assert_eq!(tree(&sandbox).len(), 3);
}

#[test]
fn flags_that_contradict_each_other_are_refused() {
    let sandbox = Sandbox::new();
    for flags in [&["--user", "--shared"] as &[&str], &["--user", "--project", "."], &["--preset", "loud"]] {
        assert_eq!(sandbox.run(&super::words("init", flags)).code, Some(2), "{flags:?}");
    }
    assert_eq!(sandbox.run(&["uninstall", "--preset", "strict"]).code, Some(2));
}

#[test]
fn a_difference_is_shown_and_nothing_changed() {
    for scope in SCOPES {
        let sandbox = Sandbox::new();
        git(&sandbox);
        let flags = [&["init", "--diff", "--preset", "strict"], scope.flags()].concat();
        scope.write(&sandbox, "{\n  \"a\": 1\n}\n");
        let before = (tree(&sandbox), sandbox.everything());
        let said = said(&sandbox, &flags);
        for line in [
            "-  \"a\": 1\n",
            "+  \"a\": 1,\n",
            "+  \"hooks\": {\n",
            "+++ ",
            "@@ -1,3 +1,",
            "+preset = \"strict\"\n",
        ] {
            assert!(said.contains(line), "{line}: {said}");
        }
        assert!(said.contains("link to "), "{said}");
        assert_eq!((tree(&sandbox), sandbox.everything()), before, "{scope:?}");

        scope.init(&sandbox);
        let before = (tree(&sandbox), sandbox.everything());
        let ran = sandbox.run(&[&["uninstall", "--diff"], scope.flags()].concat());
        assert!(ran.ok().contains("+  \"a\": 1\n") && ran.ok().contains("-  \"hooks\": {\n"), "{ran:?}");
        assert_eq!((tree(&sandbox), sandbox.everything()), before, "{scope:?}");
    }
}

#[test]
fn for_machines_it_is_json() {
    let sandbox = Sandbox::new();
    Scope::Project.write(&sandbox, "{ \"a\": 1 }");
    let what_of = |report: &serde_json::Value, name: &str| {
        let changes = report["changes"].as_array().expect("a list").iter();
        let ends =
            |change: &&serde_json::Value| change["file"].as_str().is_some_and(|file| file.ends_with(name));
        changes.clone().find(ends).map(|change| change["what"].as_str().unwrap_or_default().to_owned())
    };
    let init = |flags: &[&str]| sandbox.run(&[&["init", "--json"], flags].concat()).json();
    let report = init(&["--dry-run"]);
    assert!(
        report["dry_run"] == true && report["changes"].to_string().contains("\"diff\":\"--- "),
        "{report}"
    );
    let report = init(&[]);
    assert_eq!(what_of(&report, "settings.local.json").as_deref(), Some("written"), "{report}");
    assert!(
        report["warnings"][0].as_str().is_some_and(|warning| warning.contains("cargo clean")),
        "{report}"
    );
    let backup = report["backup"].as_str().expect("a path").to_owned();
    let kept = fs::read_to_string(format!("{backup}/settings.local.json.before"));
    assert_eq!(kept.expect("what was there before"), "{ \"a\": 1 }");
    let report = init(&[]);
    assert_eq!(what_of(&report, "settings.local.json").as_deref(), Some("unchanged"), "{report}");
    fs::write(sandbox.project().join(".claude/commands/tidegate-status.md"), "mine").expect("a file");
    let ran = sandbox.run(&["uninstall", "--json"]);
    assert_eq!(what_of(&ran.json(), "settings.local.json").as_deref(), Some("written"), "{ran:?}");
    assert_eq!(what_of(&ran.json(), "SKILL.md").as_deref(), Some("removed"), "{ran:?}");
    assert_eq!(what_of(&ran.json(), "tidegate-status.md").as_deref(), Some("kept"), "{ran:?}");
    assert!(!std::path::Path::new(&backup).exists(), "nothing to give back any more");
}

#[test]
fn a_path_that_is_not_utf_8_is_refused_in_words() {
    use std::os::unix::ffi::OsStrExt;
    let sandbox = Sandbox::new();
    let folder = sandbox.project().join(std::ffi::OsStr::from_bytes(b"caf\xe9"));
    fs::create_dir(&folder).expect("a new folder");
    for flags in [&["init", "--json", "--project"] as &[&str], &["init", "--project"]] {
        let mut command = sandbox.command(flags);
        command.arg(&folder);
        let output = command.output().expect("it runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains("UTF-8") && said.contains("nothing was changed"), "{said}");
    }
    assert_eq!(fs::read_dir(&folder).expect("the folder").count(), 0);
}

#[test]
fn a_folder_that_cannot_be_written_is_refused_in_advance() {
    for (folder, scope) in
        [("project/.claude", Scope::Project), ("project", Scope::Shared), ("home/.claude", Scope::User)]
    {
        let sandbox = Sandbox::new();
        git(&sandbox);
        let folder = sandbox.path().join(folder);
        fs::create_dir_all(&folder).expect("new folders");
        let lock = |mode| fs::set_permissions(&folder, fs::Permissions::from_mode(mode)).expect("a mode");
        lock(0o555);
        let before = sandbox.everything();
        for flags in [&[] as &[&str], &["--dry-run"]] {
            let ran = sandbox.run(&[&["init"], scope.flags(), flags].concat());
            let said = ran.failed();
            assert!(said.contains(" cannot be written") && said.contains("`chmod u+wx /"), "{said}");
            assert!(said.contains("nothing was changed"), "{said}");
        }
        assert_eq!(sandbox.everything(), before);
        lock(0o755);
        scope.init(&sandbox);
        let with = tree(&sandbox);
        lock(0o555);
        assert!(!scope.init(&sandbox).contains(": written; "), "nothing has to be written");
        assert!(scope.refused(&sandbox, "uninstall").contains("chmod u+wx"));
        assert_eq!(tree(&sandbox), with);
        lock(0o755);
    }
}
