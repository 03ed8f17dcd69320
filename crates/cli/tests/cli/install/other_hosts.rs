//! Installs for other hosts: their files come back, and one host's uninstall leaves the others alone.

use std::fs;
use std::path::PathBuf;

use super::{said, tree};
use crate::answer::unfold;
use crate::sandbox::Sandbox;

const HOSTS: [&str; 4] = ["codex", "copilot", "qwen", "opencode"];

fn put(path: PathBuf, text: &str) -> PathBuf {
    fs::create_dir_all(path.parent().expect("a folder")).expect("new folders");
    fs::write(&path, text).expect("a new file");
    path
}

fn link(sandbox: &Sandbox) -> PathBuf {
    sandbox.home().join(".local/share/tidegate/bin/tidegate")
}

#[test]
fn codexs_config_comes_back_to_the_byte() {
    for text in ["model = \"x\"\r\n[features]\r\na = true\r\n", "model = \"x\"", "\u{feff}model = \"x\"\n"] {
        for place in ["--project=.", "--user"] {
            let sandbox = Sandbox::new();
            let folder = if place == "--user" { sandbox.home() } else { sandbox.project() };
            put(folder.join(".codex/config.toml"), text);
            let before = tree(&sandbox);
            said(&sandbox, &["init", "--host", "codex", place]);
            said(&sandbox, &["uninstall", "--host", "codex", place]);
            assert_eq!(tree(&sandbox), before, "{text:?}");
        }
    }
}

#[test]
fn a_config_of_codex_that_has_no_room_is_named() {
    let sandbox = Sandbox::new();
    let file = put(sandbox.project().join(".codex/config.toml"), "a = 1\nmcp_servers = 3\n");
    let shown = unfold(&said(&sandbox, &["init", "--host", "codex"]));
    assert!(shown.contains("not changed: line 2: `mcp_servers` is not a table"), "{shown}");
    assert_eq!(fs::read_to_string(file).expect("the config"), "a = 1\nmcp_servers = 3\n");
}

#[test]
fn a_plugin_of_their_own_is_refused() {
    let sandbox = Sandbox::new();
    put(sandbox.project().join(".opencode/plugins/tidegate.js"), "export const Mine = 1\n");
    let before = tree(&sandbox);
    let ran = sandbox.run(&["init", "--host", "opencode"]);
    assert!(unfold(ran.failed()).contains(".opencode/plugins/tidegate.js is another plugin"), "{ran:?}");
    assert!(ran.stderr.contains("nothing was changed"), "{ran:?}");
    assert_eq!(tree(&sandbox), before);
}

#[test]
fn a_plugin_that_they_changed_goes_and_a_copy_stays() {
    let sandbox = Sandbox::new();
    said(&sandbox, &["init", "--host", "opencode"]);
    let file = sandbox.project().join(".opencode/plugins/tidegate.js");
    let changed = fs::read_to_string(&file).expect("the plugin") + "// mine\n";
    fs::write(&file, &changed).expect("the plugin");
    let shown = unfold(&said(&sandbox, &["uninstall", "--host", "opencode"]));
    assert!(shown.contains("a copy with your changes is in"), "{shown}");
    assert!(!file.exists());
    let copies = fs::read_dir(sandbox.state().join("installs/replaced")).expect("copies").flatten();
    let copies: Vec<String> = copies.filter_map(|copy| fs::read_to_string(copy.path()).ok()).collect();
    assert!(copies.contains(&changed));
}

/// Qwen Code takes comments out before it reads its settings.
#[test]
fn comments_in_qwens_settings_stay() {
    let sandbox = Sandbox::new();
    let text = "{\n  // mine\n  \"model\": { \"name\": \"x\" } /* the last */\n}\n";
    let file = put(sandbox.project().join(".qwen/settings.json"), text);
    said(&sandbox, &["init", "--host", "qwen"]);
    let written = fs::read_to_string(&file).expect("settings");
    assert!(written.contains("// mine") && written.contains("--host qwen"), "{written}");
    let again = said(&sandbox, &["init", "--host", "qwen"]);
    assert!(again.contains("Nothing to change"), "{again}");
    said(&sandbox, &["uninstall", "--host", "qwen"]);
    assert_eq!(fs::read_to_string(&file).expect("settings"), text);
    // It does not take trailing commas.
    fs::write(&file, "{\n  \"a\": 1,\n}\n").expect("settings");
    let ran = sandbox.run(&["init", "--host", "qwen"]);
    let words = unfold(ran.failed());
    assert!(
        words.contains(":2:9: a trailing comma") && words.contains("Qwen Code reads no hooks"),
        "{ran:?}"
    );
    assert!(!words.contains("Claude"), "{ran:?}");
}

#[test]
fn one_hosts_uninstall_leaves_the_others_a_program() {
    for host in HOSTS {
        let sandbox = Sandbox::new();
        super::run_git(&sandbox, &sandbox.project(), &["init", "--quiet"]);
        said(&sandbox, &["init"]);
        said(&sandbox, &["init", "--host", host]);
        said(&sandbox, &["uninstall", "--host", "claude-code"]);
        assert!(link(&sandbox).exists(), "{host} still starts it");
        let (_, status) = super::run_git(&sandbox, &sandbox.project(), &["status", "--porcelain"]);
        assert_eq!(status, "", "{host}");
        said(&sandbox, &["uninstall", "--host", host]);
        assert!(!link(&sandbox).is_symlink(), "{host}: {:?}", sandbox.everything());
    }
}

#[test]
fn an_uninstall_for_a_host_without_an_install_names_those_that_have_one() {
    let sandbox = Sandbox::new();
    let shown = unfold(&said(&sandbox, &["uninstall", "--host", "codex"]));
    assert!(shown.starts_with("Tidegate is not installed for Codex in "), "{shown}");
    said(&sandbox, &["init", "--host", "qwen"]);
    let shown = unfold(&said(&sandbox, &["uninstall", "--host", "codex"]));
    assert!(shown.contains("for Codex in") && shown.contains("`tidegate uninstall --host qwen`"), "{shown}");
    let shown = unfold(&said(&sandbox, &["uninstall", "--host", "qwen"]));
    assert!(shown.contains("Removed Tidegate from"), "{shown}");
}

#[cfg(target_os = "linux")]
#[test]
fn everything_recorded_goes_with_the_last_install_of_any_host() {
    use crate::people::at_terminal;

    for host in HOSTS {
        for place in ["--project=.", "--user"] {
            let sandbox = Sandbox::new().with("COLUMNS", "200");
            said(&sandbox, &["init", "--host", host, place]);
            let other = if place == "--user" { "--project=." } else { "--user" };
            let ran = at_terminal(&sandbox, &["uninstall", "--purge", other], "y\n");
            // A terminal breaks lines.
            let said = ran.stdout.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
            assert!(ran.code == Some(1) && said.contains("would stay and record again"), "{ran:?}");
            assert!(said.contains(&format!("--host {host}`")), "{ran:?}");
            let ran = at_terminal(&sandbox, &["uninstall", "--purge", place], "y\n");
            assert_eq!(ran.code, Some(0), "{host} {place}: {ran:?}");
            assert!(!sandbox.state().exists(), "{host} {place}");
        }
    }
}
