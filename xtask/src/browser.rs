//! `cargo xtask browser`: the pages of `tidegate serve` in Chromium, by `crates/cli/tests/browser/pages.mjs`.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::{hosts, package, transcripts};
use serde_json::{Value, json};
use xtask::failure::{Done, Failure, While};
use xtask::tools;
use xtask::workspace::{self, cargo};

/// The only place of these versions.
const PLAYWRIGHT: &str = "1.65.1";
const AXE: &str = "4.14.0";

/// An exchange whose texts are scripts, and one in Japanese.
const ROWS: &str = r#"{"kind":"project","uid":"bp","key":"@PROJECT@","name":"shop","created":1,"updated":1}
{"kind":"topic","uid":"bt","project":"bp","title":"<script>window.hacked=1</script>","status":"open","created":2,"updated":2}
{"kind":"log","uid":"hostile","topic":"bt","title":"<script>window.hacked=2</script>","text":"<img src=x onerror=window.hacked=3>","prompt":"<script>window.hacked=4</script>","answer":"script","source":"relay","at":1790000000000,"updated":1790000000000}
{"kind":"log","uid":"japanese","topic":"bt","title":"検索の設計を変更","text":"設計を見直した","source":"relay","at":1790000000001,"updated":1790000000001}
"#;

/// Returns why it cannot run, after trying to get what it needs.
pub(crate) fn unavailable() -> Option<String> {
    let missing = tools::ensure_programs(&["chromium"]);
    if let Some(missing) = missing.first() {
        return Some(format!("no {missing}"));
    }
    fetch_scripts().err().map(|failure| failure.what().to_owned())
}

pub(crate) fn run() -> Done {
    if let Some(why) = unavailable() {
        return Err(Failure::new(why).next("install Debian's packages `chromium` and `npm`"));
    }
    workspace::run(&mut cargo(&["build", "--quiet", "--locked", "--package", "tidegate"]))?;
    run_built(&workspace::target_folder()?.join("debug/tidegate"))
}

pub(crate) fn run_built(program: &Path) -> Done {
    with_server(program, ROWS, |server| {
        let (_, axe) = fetch_scripts()?;
        begin_work(program, &server.home)?;
        let (past, hostile) = (server.home.join("past"), server.home.join("hostile"));
        transcripts::write(&past)?;
        write_hostile(&hostile)?;
        let mut script = server.script("pages.mjs")?;
        for (name, words) in [
            ("REPLAY", vec!["replay".as_ref(), past.as_os_str()]),
            ("REPORT", vec!["report".as_ref()]),
            ("HOSTILE_REPLAY", vec!["replay".as_ref(), hostile.as_os_str()]),
        ] {
            let file = server.home.join(format!("{name}.html"));
            let mut command = alone(program, &server.home);
            command.args(words).arg("--html").arg(&file).current_dir(server.home.join("shop"));
            workspace::read_output(&mut command)?;
            script.env(name, file);
        }
        script.env("TIDEGATE", program).env("AXE", axe).env("HOSTILE", "hostile");
        workspace::run(&mut script)
    })
}

/// Stages in one session and a workflow in another.
fn begin_work(program: &Path, home: &Path) -> Done {
    let manifest = ".claude/.output/features/login/MANIFEST.yaml";
    let path = home.join("shop").join(manifest);
    fs::create_dir_all(path.parent().unwrap_or(home)).while_(path.display())?;
    let text = "feature_name: login\ncurrent_phase: 3\nphases:\n  1_setup: {status: complete}\n  3_discovery: {status: in_progress}\n";
    fs::write(&path, text).while_(path.display())?;
    for words in [
        &["cycle", "start", "--session", "monday", "--anyway"][..],
        &["workflow", "attach", manifest, "--session", "next-monday"],
    ] {
        workspace::read_output(alone(program, home).args(words).current_dir(home.join("shop")))?;
    }
    Ok(())
}

/// A script, an image and characters of a terminal.
const HOSTILE: &str = "<script>window.hacked=1</script><img src=\"http://127.0.0.1:9/x\" onerror=\"window.hacked=2\">\u{1b}[31m\u{202e}";

/// A transcript whose texts are scripts: its project, a prompt, an edit, and a command that hides its exit status.
fn write_hostile(folder: &Path) -> Done {
    let root = format!("/home/you/code/{HOSTILE}");
    let file = format!("{root}/src/session.ts");
    let answer = |id: &str, block: Value| {
        let usage = json!({"input_tokens": 120_000});
        json!({"type": "assistant", "message": {"id": id, "model": HOSTILE, "usage": usage, "content": [block]}})
    };
    let result = |id: &str, result: Value| {
        let block = json!({"type": "tool_result", "tool_use_id": id, "content": HOSTILE});
        json!({"type": "user", "toolUseResult": result, "message": {"content": [block]}})
    };
    let call = |id: &str, tool: &str, input: Value| {
        answer(id, json!({"type": "tool_use", "id": id, "name": tool, "input": input}))
    };
    let entries = [
        json!({"type": "user", "message": {"content": format!("Never touch the file src/old.ts. {HOSTILE}")}}),
        call("c1", "Edit", json!({"file_path": file, "old_string": HOSTILE, "new_string": HOSTILE})),
        result("c1", json!({"filePath": file})),
        call("c2", "Bash", json!({"command": format!("npm test | tail -3 # {HOSTILE}")})),
        result("c2", json!({"stdout": HOSTILE, "stderr": "", "interrupted": false})),
        answer("m3", json!({"type": "text", "text": HOSTILE})),
        json!({"type": "system", "subtype": "compact_boundary", "compactMetadata": {"trigger": "auto", "preTokens": 160_000}}),
        json!({"type": "user", "isCompactSummary": true, "message": {"content": HOSTILE}}),
        answer("m4", json!({"type": "text", "text": HOSTILE})),
    ];
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs());
    let line = |(at, mut entry): (usize, Value)| {
        entry["timestamp"] = json!(transcripts::iso(now - 3_600 + 40 * at as u64));
        entry["cwd"] = json!(root);
        entry["sessionId"] = json!(HOSTILE);
        entry["uuid"] = json!(format!("{at} {HOSTILE}"));
        format!("{entry}\n")
    };
    let text: String = entries.into_iter().enumerate().map(line).collect();
    fs::create_dir_all(folder).while_(folder.display())?;
    let path = folder.join("0d9f3c1e-1111-2222-3333-444455556666.jsonl");
    fs::write(&path, text).while_(path.display())
}

/// `docs/pictures`. The program decides what is in the home.
pub(crate) fn take_pictures(program: &Path, folder: &Path) -> Done {
    with_server(program, "", |server| {
        let mut script = server.script("pictures.mjs")?;
        transcripts::write(&server.home.join("past"))?;
        for (name, command) in [("replay", vec!["replay", "--html"]), ("report", vec!["report", "--html"])] {
            let file = server.home.join(format!("{name}.html"));
            let mut words = alone(program, &server.home);
            words.args(command).arg(&file).current_dir(server.home.join("shop"));
            if name == "replay" {
                words.arg(server.home.join("past"));
            }
            workspace::read_output(&mut words)?;
            script.env(name.to_uppercase(), file);
        }
        workspace::run(script.env("FOLDER", folder))
    })
}

/// A server of the demo's data.
struct Server {
    home: PathBuf,
    url: String,
}

impl Server {
    /// A script of `crates/cli/tests/browser`, in the demo's project.
    fn script(&self, name: &str) -> Done<Command> {
        let (playwright, _) = fetch_scripts()?;
        let mut script = alone(&hosts::program("node")?, &self.home);
        script.arg(workspace::root().join("crates/cli/tests/browser").join(name));
        script.current_dir(self.home.join("shop")).env("PAGES", &self.url);
        script.env("CHROMIUM", "/usr/bin/chromium").env("PLAYWRIGHT", playwright);
        Ok(script)
    }
}

fn alone(program: &Path, home: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .env_clear()
        .env("HOME", home)
        .env("PATH", "/usr/bin:/bin")
        .env("LANG", "C.UTF-8")
        .env("TZ", "UTC");
    command
}

/// `rows` are added to the memory.
fn with_server(program: &Path, rows: &str, work: impl FnOnce(&Server) -> Done) -> Done {
    let folder = tempfile::tempdir().while_("a temporary folder")?;
    let home = folder.path().join("home");
    workspace::read_output(alone(program, &home).args(["demo", "--keep"]).arg(&home))?;
    if !rows.is_empty() {
        // While an agent works on this machine, only rows of the project itself are taken.
        let project = fs::canonicalize(home.join("shop")).while_("the demo's project")?;
        let rows = rows.replace("@PROJECT@", &project.to_string_lossy());
        let mut import = alone(program, &home);
        let import = import
            .args(["memory", "import"])
            .current_dir(&project)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn();
        let mut import = import.while_("tidegate memory import")?;
        if let Some(mut stdin) = import.stdin.take() {
            stdin.write_all(rows.as_bytes()).while_("tidegate memory import")?;
        }
        if !import.wait().while_("tidegate memory import")?.success() {
            return Err(Failure::new("tidegate memory import refused the rows"));
        }
    }
    let mut serve = alone(program, &home);
    let serve = serve.args(["serve", "--json"]).current_dir(home.join("shop")).stdout(Stdio::piped()).spawn();
    let mut serve = serve.while_("tidegate serve")?;
    let mut said = String::new();
    if let Some(out) = serve.stdout.take() {
        BufReader::new(out).read_line(&mut said).while_("tidegate serve")?;
    }
    // {"url":"http://…"}
    let url = said.split('"').nth(3).unwrap_or_default().to_owned();
    let done = work(&Server { home, url });
    let _ = serve.kill();
    let _ = serve.wait();
    done
}

/// What the script loads: playwright and axe, from the cache.
fn fetch_scripts() -> Done<(PathBuf, PathBuf)> {
    let playwright = package::fetch_scripts("playwright-core", PLAYWRIGHT)?;
    let axe = package::fetch_scripts("axe-core", AXE)?;
    Ok((playwright.join("index.js"), axe.join("axe.min.js")))
}
