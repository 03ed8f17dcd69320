//! The MCP server, by which the model searches its memory: registered in the client's own file, which the client writes at any time.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use super::{SCOPES, Scope, init, json, tree};
use crate::sandbox::Sandbox;

fn client_file(sandbox: &Sandbox) -> PathBuf {
    sandbox.home().join(".claude.json")
}

fn read(path: &Path) -> Value {
    json(&fs::read_to_string(path).expect("the file"))
}

fn project(sandbox: &Sandbox) -> String {
    fs::canonicalize(sandbox.project()).expect("the project").display().to_string()
}

fn link(sandbox: &Sandbox) -> String {
    sandbox.home().join(".local/share/tidegate/bin/tidegate").display().to_string()
}

#[test]
fn it_is_registered_where_the_client_looks() {
    let sandbox = Sandbox::new();
    Scope::Project.init(&sandbox);
    let own = json!({ "type": "stdio", "command": link(&sandbox), "args": ["mcp"], "env": {} });
    let servers = read(&client_file(&sandbox))["projects"][project(&sandbox)]["mcpServers"].clone();
    assert_eq!(servers, json!({ "tidegate": own }));
    Scope::User.init(&sandbox);
    assert_eq!(read(&client_file(&sandbox))["mcpServers"], json!({ "tidegate": own }));
    // It runs as it is registered.
    let mut server = std::process::Command::new(link(&sandbox));
    let output = server.arg("mcp").stdin(std::process::Stdio::null()).output().expect("it runs");
    assert!(output.status.success(), "{output:?}");

    let sandbox = Sandbox::new();
    Scope::Shared.init(&sandbox);
    assert!(!client_file(&sandbox).exists());
    let shared = read(&sandbox.project().join(".mcp.json"));
    assert_eq!(shared["mcpServers"]["tidegate"]["command"], "tidegate", "of each teammate");
}

#[test]
fn the_file_comes_back_to_the_byte() {
    for text in [
        "{}",
        "",
        "{\n  \"numStartups\": 3\n}",
        "{\n  \"projects\": {}\n}\n",
        "{\"projects\":{\"PROJECT\":{\"allowedTools\":[]}}}",
        "{\n  \"projects\": {\n    \"PROJECT\": {\n      \"mcpServers\": {},\n      \"a\": 1\n    }\n  },\n  \"mcpServers\": {\n    \"x\": { \"command\": \"y\" }\n  }\n}",
    ] {
        for scope in [Scope::Project, Scope::User] {
            let sandbox = Sandbox::new();
            fs::write(client_file(&sandbox), text.replace("PROJECT", &project(&sandbox)))
                .expect("a new file");
            let before = tree(&sandbox);
            scope.init(&sandbox);
            let with = fs::read_to_string(client_file(&sandbox)).expect("the file");
            assert!(with.contains("\"mcp\""), "{text}");
            assert!(!scope.init(&sandbox).contains(": written; "));
            scope.uninstall(&sandbox);
            assert_eq!(tree(&sandbox), before, "{scope:?} {text}");
        }
    }
}

/// The client rewrites its file in its own form and adds to it.
#[test]
fn what_the_client_wrote_since_stays() {
    let sandbox = Sandbox::new();
    Scope::Project.init(&sandbox);
    let mut file = read(&client_file(&sandbox));
    file["numStartups"] = json!(1);
    file["projects"][project(&sandbox)]["hasTrustDialogAccepted"] = json!(true);
    fs::write(client_file(&sandbox), file.to_string()).expect("the file");
    assert!(!Scope::Project.init(&sandbox).contains(".claude.json: written"));
    Scope::Project.uninstall(&sandbox);
    let left =
        json!({ "numStartups": 1, "projects": { project(&sandbox): { "hasTrustDialogAccepted": true } } });
    assert_eq!(read(&client_file(&sandbox)), left);
}

/// The client counts up, under its own lock; neither it nor we lose anything.
#[test]
fn a_client_that_writes_at_the_same_time_loses_nothing() {
    let sandbox = Sandbox::new();
    let (file, lock) = (client_file(&sandbox), sandbox.home().join(".claude.json.lock"));
    fs::write(&file, "{\n  \"count\": 0\n}").expect("a new file");
    let is_done = AtomicBool::new(false);
    let counted = std::thread::scope(|scope| {
        let client = scope.spawn(|| {
            let mut count = 0;
            while !is_done.load(Ordering::Relaxed) {
                if fs::create_dir(&lock).is_err() {
                    std::thread::yield_now();
                    continue;
                }
                let mut now = read(&file);
                count += 1;
                assert_eq!(now["count"], count - 1, "a lost write: {now}");
                now["count"] = json!(count);
                let new = file.with_extension("new");
                fs::write(&new, serde_json::to_string_pretty(&now).expect("plain data")).expect("a file");
                fs::rename(&new, &file).expect("the file");
                fs::remove_dir(&lock).expect("our lock");
                // As a client at work; a test that never lets go would only test patience.
                std::thread::sleep(Duration::from_millis(2));
            }
            count
        });
        for _ in 0..5 {
            Scope::Project.init(&sandbox);
            assert!(read(&file)["projects"].is_object());
            Scope::Project.uninstall(&sandbox);
            assert!(read(&file).get("projects").is_none());
        }
        is_done.store(true, Ordering::Relaxed);
        client.join().expect("the client")
    });
    assert!(counted > 0 && read(&file)["count"] == counted);
    assert!(!lock.exists());
}

#[test]
fn a_lock_that_was_left_behind_is_taken() {
    let sandbox = Sandbox::new();
    let lock = sandbox.home().join(".claude.json.lock");
    fs::create_dir(&lock).expect("a new folder");
    let long_ago = std::time::SystemTime::now() - Duration::from_mins(1);
    fs::File::open(&lock).expect("the folder").set_modified(long_ago).expect("a time");
    Scope::Project.init(&sandbox);
    assert!(client_file(&sandbox).exists() && !lock.exists());
}

#[test]
fn a_server_of_theirs_is_kept_and_no_second_one_registered() {
    let own = json!({ "mcpServers": { "tidegate": { "command": "python3", "args": ["mine.py"] } } });
    let sandbox = Sandbox::new();
    fs::write(client_file(&sandbox), own.to_string()).expect("a new file");
    let said = Scope::User.init(&sandbox);
    assert!(said.contains(".claude.json: kept; kept your MCP server"), "{said}");
    Scope::User.uninstall(&sandbox);
    assert_eq!(fs::read_to_string(client_file(&sandbox)).expect("the file"), own.to_string());
    // A team's file, or the plugin, has it already.
    let sandbox = Sandbox::new();
    Scope::Shared.init(&sandbox);
    let said = sandbox.run(&["init", "--json"]);
    assert!(said.ok().contains("your team's .mcp.json has the MCP server"), "{said:?}");
    assert!(!client_file(&sandbox).exists());
    let sandbox = Sandbox::new();
    Scope::User.write(&sandbox, json!({ "enabledPlugins": { "tidegate@tidegate": true } }).to_string());
    let said = sandbox.run(&["init", "--json"]);
    assert!(said.ok().contains("the plugin tidegate@tidegate has the MCP server"), "{said:?}");
    assert!(!client_file(&sandbox).exists());
}

#[test]
fn a_file_that_cannot_be_read_is_left_and_the_rest_is_done() {
    for text in ["{ broken", "[]", "{\"projects\": 5}"] {
        let sandbox = Sandbox::new();
        fs::write(client_file(&sandbox), text).expect("a new file");
        let said = Scope::Project.init(&sandbox);
        assert!(said.contains(".claude.json: kept; Claude has no memory tools: "), "{said}");
        assert!(Scope::Project.settings(&sandbox).exists());
        Scope::Project.uninstall(&sandbox);
        assert_eq!(fs::read_to_string(client_file(&sandbox)).expect("the file"), text);
    }
}

/// An entry that cannot be taken out is named, and a second run knows what was there before.
#[test]
fn what_uninstall_cannot_take_out_is_not_forgotten() {
    let damage = |path: &Path, text: &str| fs::write(path, text.replacen('{', "{,", 1)).expect("the file");
    let lock = |path: &Path, _: &str| set_mode(path, 0o400);
    for (why, spoil) in
        [("a name in double quotes is missing", &damage as &dyn Fn(&Path, &str)), ("is read-only", &lock)]
    {
        let sandbox = Sandbox::new();
        let (file, before) = (client_file(&sandbox), "{\n  \"numStartups\": 3\n}");
        fs::write(&file, before).expect("a new file");
        Scope::Project.init(&sandbox);
        let with = fs::read_to_string(&file).expect("the file");
        spoil(&file, &with);
        for _ in 0..2 {
            let said = Scope::Project.uninstall(&sandbox);
            assert!(
                said.contains(".claude.json: kept; Tidegate's MCP server is still registered there: "),
                "{said}"
            );
            assert!(said.contains(why), "{said}");
        }
        set_mode(&file, 0o600);
        fs::write(&file, &with).expect("the file");
        let said = Scope::Project.uninstall(&sandbox);
        assert!(said.contains("MCP server removed"), "{said}");
        assert_eq!(fs::read_to_string(&file).expect("the file"), before, "with the list that `init` made");
    }
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("our own");
}

/// Teammates and tools have to read a team's file; the client's own is full of secrets.
#[test]
fn a_new_file_is_readable_for_its_readers() {
    let sandbox = Sandbox::new();
    for scope in [Scope::Shared, Scope::Project] {
        let _ = sandbox.run(&super::words("init", scope.flags()));
    }
    let _ = sandbox.run(&["init", "--user"]);
    let mode = |path: PathBuf| fs::metadata(path).expect("the file").permissions().mode() & 0o777;
    let settings = mode(Scope::Shared.settings(&sandbox));
    assert_eq!(mode(sandbox.project().join(".mcp.json")), settings, "like the other shared file");
    assert_eq!(mode(client_file(&sandbox)), 0o600);
}

/// `init` prints the file for a person, or for an agent.
#[test]
fn a_difference_shows_nothing_of_others() {
    for pretty in [true, false] {
        let sandbox = Sandbox::new();
        let servers = json!({ "x": { "command": "y", "env": { "TOKEN": "s3cr3t" } } });
        let file = json!({ "projects": { project(&sandbox): { "mcpServers": servers } }, "oauth": "s3cr3t" });
        let text = if pretty { format!("{file:#}") } else { file.to_string() };
        fs::write(client_file(&sandbox), text).expect("a file");
        let shown = |arguments: &[&str]| {
            let ran = sandbox.run(arguments);
            assert!(!ran.stdout.contains("s3cr3t") && !ran.stderr.contains("s3cr3t"), "{ran:?}");
            assert!(ran.stdout.contains(".claude.json") && ran.stdout.contains("mcp"), "{ran:?}");
            ran.stdout
        };
        let text = shown(&["init", "--diff"]);
        assert!(
            text.contains("+        \"tidegate\": {\n") && text.contains("Only Tidegate's part of"),
            "{text}"
        );
        shown(&["init", "--dry-run", "--json"]);
        Scope::Project.init(&sandbox);
        assert!(shown(&["uninstall", "--diff"]).contains("-        \"tidegate\": {\n"));
        shown(&["uninstall", "--dry-run", "--json"]);
    }
}

/// What the file holds of others is not copied anywhere.
#[test]
fn secrets_in_the_file_stay_there() {
    let sandbox = Sandbox::new();
    let secret = json!({ "mcpServers": { "x": { "env": { "TOKEN": "s3cr3t" } } } });
    fs::write(client_file(&sandbox), secret.to_string()).expect("a file");
    for scope in SCOPES {
        let _ = sandbox.run(&super::words("init", scope.flags()));
    }
    for path in sandbox.everything().into_iter().filter(|path| *path != client_file(&sandbox)) {
        let text = fs::read(&path).unwrap_or_default();
        assert!(!text.windows(6).any(|part| part == b"s3cr3t"), "{}", path.display());
    }
}

#[test]
fn worktrees_share_the_entry_as_the_client_has_it() {
    let sandbox = Sandbox::new();
    let (main, tree_folder) = (sandbox.project(), sandbox.path().join("tree"));
    let git = |args: &[&str]| assert!(super::run_git(&sandbox, &main, args).0, "{args:?}");
    git(&["init", "--quiet"]);
    git(&["commit", "--quiet", "--allow-empty", "-m", "x"]);
    let name = tree_folder.to_str().expect("UTF-8");
    git(&["worktree", "add", "--quiet", name]);
    init(&sandbox, &["--project", name]);
    Scope::Project.init(&sandbox);
    let projects = read(&client_file(&sandbox))["projects"].clone();
    assert_eq!(projects.as_object().expect("projects").keys().collect::<Vec<_>>(), [&project(&sandbox)]);
    Scope::Project.uninstall(&sandbox);
    assert!(client_file(&sandbox).exists(), "the other worktree needs it");
    let _ = sandbox.run(&["uninstall", "--project", name]).ok();
    assert!(!client_file(&sandbox).exists());
}
