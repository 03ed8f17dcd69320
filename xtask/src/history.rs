//! A made-up week of work for the pictures, played through the hooks of a debug build: several projects, a session with
//! compactions, warnings and blocks, a cycle and a workflow.
//!
//! It has a clock of its own, which the program follows: the pictures show the same times on every day.

use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use xtask::failure::{Done, Failure, While};

/// When the pictures are taken: 2026-11-18, 16:40 UTC. In milliseconds, as all times here.
pub(crate) const NOW: u64 = 1_795_020_000_000;

const MINUTE: u64 = 60_000;
const DAY: u64 = 1440 * MINUTE;

/// How far the program's clock is ahead of the machine's.
pub(crate) fn offset_to(at: u64) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_millis());
    (i128::from(at) - i128::try_from(now).unwrap_or_default()).to_string()
}

/// What a turn does before its end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Work {
    Answers,
    /// Edits and runs the tests.
    Tests,
    /// Says "done" before it runs them.
    Hasty,
    /// Hides the status of the first run.
    Pipes,
}

/// A session that is played.
struct Player<'a> {
    program: &'a Path,
    home: &'a Path,
    project: &'static str,
    id: &'static str,
    is_japanese: bool,
    at: u64,
    calls: u32,
    prompts: u32,
}

type Play = fn(&mut Player<'_>) -> Done;

pub(crate) fn write(program: &Path, home: &Path) -> Done {
    for (project, file) in PROJECTS {
        let folder = home.join(project);
        fs::create_dir_all(folder.join("src")).while_(folder.display())?;
        let manifest = r#"{ "scripts": { "test": "vitest run" } }"#;
        fs::write(folder.join("package.json"), manifest).while_(folder.display())?;
        fs::write(folder.join(file), "export {}\n").while_(folder.display())?;
    }
    let start = |project, id, days: u64, minute: u64| Player {
        program,
        home,
        project,
        id,
        is_japanese: false,
        at: NOW - NOW % DAY - days * DAY + minute * MINUTE,
        calls: 0,
        prompts: 0,
    };
    let orders_session = Player {
        is_japanese: true,
        ..start("受注管理", "e1c84d57-7e02-4d3b-b1a9-2b8f4c9d6e03", 1, 10 * 60 + 5)
    };
    let week: [(Play, Player<'_>); 5] = [
        (login_page, start("shop", "5d0e63b1-9c1f-4c8e-8a54-6f1b9a20e611", 5, 9 * 60 + 12)),
        (orders, orders_session),
        (retry, start("docs-site", "93ab1f6c-5a0d-4f2e-8c47-d3e5b7a91c24", 0, 8 * 60 + 20)),
        (password_reset, start("shop", LONG, 0, 9 * 60 + 2)),
        (invoices, start("billing", "b27f90ac-42d7-4b0a-9f7e-0f6c1a5d7b32", 0, 13 * 60 + 40)),
    ];
    for (play, mut session) in week {
        let held = hold_workers_off(home)?;
        play(&mut session)?;
        drop(held);
        session.run(&["worker", "--once"], "")?;
    }
    Ok(())
}

/// While it is held, hooks start no worker: whether it comes before the next event is chance.
fn hold_workers_off(home: &Path) -> Done<File> {
    let folder = home.join(".local/state/tidegate/spool");
    fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder).while_(folder.display())?;
    let path = folder.join("lock");
    let file = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(&path);
    let file = file.while_(path.display())?;
    file.lock().while_(path.display())?;
    Ok(file)
}

/// Folders of the home, each with the file that is edited.
const PROJECTS: [(&str, &str); 4] = [
    ("shop", "src/login.ts"),
    ("billing", "src/invoice.ts"),
    ("受注管理", "src/order.ts"),
    ("docs-site", "src/search.ts"),
];

/// The session with the most to see.
const LONG: &str = "7c41d9e2-0b35-4e6a-9d18-a4f27c3b8e50";

fn login_page(session: &mut Player<'_>) -> Done {
    session.begin()?;
    session.turn("build a login page; never change the public API", Work::Tests, 31_000)?;
    session.turn("how long should people stay logged in?", Work::Answers, 44_000)?;
    session.claude(&[
        "progress",
        "add",
        "login page done, tests pass",
        "--decision",
        "a signed cookie, valid for 30 days",
    ])?;
    session.turn("then do it like that", Work::Hasty, 63_000)?;
    session.turn("add a logout button", Work::Tests, 79_000)?;
    session.end()
}

fn invoices(session: &mut Player<'_>) -> Done {
    session.begin()?;
    session.turn("add invoices with a running number", Work::Answers, 28_000)?;
    session.claude(&["workflow", "start", "invoices"])?;
    session.claude(&["workflow", "phase", "3"])?;
    session.turn("look at how orders are stored", Work::Answers, 52_000)?;
    session.claude_with(
        &["workflow", "note", "3", "--output", "discovery.md"],
        "Orders are rows with a currency.\n",
    )?;
    session.claude(&[
        "workflow",
        "note",
        "3",
        "--summary",
        "Orders are rows; a number is never used twice. Details: discovery.md",
        "--status",
        "complete",
    ])?;
    session.claude(&[
        "progress",
        "add",
        "discovery of invoices done",
        "--decision",
        "an invoice keeps its number, also when it is cancelled",
    ])?;
    session.turn("summarise what you found", Work::Answers, 71_000)?;
    session.turn("write the first test", Work::Pipes, 96_000)
}

fn orders(session: &mut Player<'_>) -> Done {
    session.begin()?;
    session.turn("注文の検索を速くして。公開APIは変えないで", Work::Tests, 34_000)?;
    session.turn("索引を追加して", Work::Hasty, 68_000)?;
    session.claude(&[
        "progress",
        "add",
        "検索の索引を追加、テスト通過",
        "--decision",
        "注文番号に一意の索引を付ける",
    ])?;
    session.turn("大きなデータで測って", Work::Answers, 97_000)?;
    session.turn("結果をまとめて", Work::Answers, 126_000)?;
    session.turn("次はキャンセル処理", Work::Tests, 149_000)?;
    session.compact(
        "auto",
        (166_000, 12_000),
        "src/order.ts: 検索の索引を追加、テスト通過。次はキャンセル処理。",
    )?;
    session.turn("続けて", Work::Hasty, 38_000)?;
    session.turn("エラーの文言も直して", Work::Tests, 57_000)?;
    session.end()
}

fn retry(session: &mut Player<'_>) -> Done {
    session.begin()?;
    session.prompt("run the dev cycle: add a retry to the search")?;
    session.claude(&["cycle", "start", "--anyway"])?;
    session.skill("sprint")?;
    session.edit(21_000)?;
    session.bash("npm test", 26_000)?;
    session.claude(&["cycle", "done"])?;
    session.stop("The retry is in, and its tests pass.", 31_000)?;
    session.skill("audit")?;
    session.bash("git diff --stat", 44_000)?;
    session.stop("The audit is still running.", 52_000)
}

fn password_reset(session: &mut Player<'_>) -> Done {
    session.begin()?;
    let turns = [
        ("add a password reset by mail; never change the public API", Work::Tests, 29_000),
        ("which table holds the tokens?", Work::Answers, 43_000),
        ("make them expire after one hour", Work::Hasty, 61_000),
        ("and only once", Work::Tests, 79_000),
        ("look through the server's logs", Work::Answers, 98_000),
        ("the mail needs a plain-text part", Work::Pipes, 121_000),
        ("look through those of last week, too", Work::Answers, 147_000),
    ];
    for (prompt, work, used) in turns {
        session.turn(prompt, work, used)?;
    }
    session.claude(&[
        "progress",
        "add",
        "reset mail done, tests pass",
        "--decision",
        "a reset token lives for one hour and works once",
    ])?;
    session.turn("add a test for an expired token", Work::Answers, 158_000)?;
    session.compact(
        "auto",
        (167_000, 11_000),
        "src/login.ts: reset mail done, tests pass. Next: a test for an expired token.",
    )?;
    let turns = [
        ("continue", Work::Tests, 27_000),
        ("show a message when the token has expired", Work::Hasty, 46_000),
        ("translate it", Work::Answers, 64_000),
        ("add it to the end-to-end tests", Work::Tests, 86_000),
        ("why is the second one slow?", Work::Answers, 109_000),
        ("then use a fake clock there", Work::Tests, 128_000),
    ];
    for (prompt, work, used) in turns {
        session.turn(prompt, work, used)?;
    }
    session.claude(&["progress", "add", "end-to-end tests use a fake clock"])?;
    session.compact(
        "manual",
        (128_000, 9_000),
        "src/login.ts: a reset token lives for one hour and works once; never change the public API.",
    )?;
    session.turn("continue with the settings page", Work::Answers, 22_000)?;
    session.turn("add the form for a new password", Work::Hasty, 41_000)?;
    session.prompt("make the button wider")?;
    session.edit(48_000)
}

impl Player<'_> {
    fn wait(&mut self, minutes: u64) {
        // A little more, so that no start of a process carries a duration over a whole second or minute.
        self.at += minutes * (MINUTE + 700);
    }

    fn begin(&mut self) -> Done {
        self.event("SessionStart", json!({ "source": "startup", "model": MODEL }))
    }

    fn end(&mut self) -> Done {
        self.event("SessionEnd", json!({ "reason": "other" }))
    }

    fn turn(&mut self, prompt: &str, work: Work, used: u64) -> Done {
        self.prompt(prompt)?;
        let done = if self.is_japanese { "終わりました。" } else { "Finished." };
        if work == Work::Answers {
            self.bash("git log --oneline", used - 6_000)?;
            return self.stop(done, used);
        }
        self.edit(used - 8_000)?;
        if work == Work::Pipes {
            self.bash("npm test | tail -3", used - 6_000)?;
        }
        if work != Work::Tests {
            self.stop(done, used - 4_000)?;
        }
        self.bash("npm test", used - 2_000)?;
        self.stop(done, used)
    }

    fn prompt(&mut self, prompt: &str) -> Done {
        self.wait(6);
        self.prompts += 1;
        self.event("UserPromptSubmit", json!({ "prompt": prompt }))?;
        let message = json!({ "role": "user", "content": prompt });
        self.line(json!({ "type": "user", "uuid": format!("prompt-{}", self.prompts), "isSidechain": false,
            "turnOrigin": "human", "message": message }))
    }

    fn stop(&mut self, message: &str, used: u64) -> Done {
        self.wait(2);
        self.answer(&json!({ "type": "text", "text": message }), used)?;
        self.event("Stop", json!({ "stop_hook_active": false, "last_assistant_message": message }))
    }

    fn edit(&mut self, used: u64) -> Done {
        let file = PROJECTS.iter().find(|(name, _)| *name == self.project).map_or("", |(_, file)| file);
        let input = json!({ "file_path": self.folder().join(file), "content": format!("export {{}} // {}\n", self.calls) });
        self.tool("Write", &input, &json!({ "type": "update" }), used)
    }

    fn bash(&mut self, command: &str, used: u64) -> Done {
        let result = json!({ "stdout": "", "stderr": "", "interrupted": false });
        self.tool("Bash", &json!({ "command": command }), &result, used)
    }

    fn skill(&mut self, name: &str) -> Done {
        self.tool(
            "Skill",
            &json!({ "skill": name }),
            &json!({ "success": true, "commandName": name }),
            18_000,
        )
    }

    fn tool(&mut self, name: &str, input: &Value, result: &Value, used: u64) -> Done {
        self.wait(1);
        let id = format!("toolu_{}", self.calls);
        self.answer(&json!({ "type": "tool_use", "id": id, "name": name, "input": input }), used)?;
        let call = json!({ "tool_name": name, "tool_input": input, "tool_use_id": id });
        self.event("PreToolUse", call.clone())?;
        let mut done = call;
        done["tool_response"] = result.clone();
        self.event("PostToolUse", done)
    }

    fn compact(&mut self, trigger: &str, (before, after): (u64, u64), summary: &str) -> Done {
        self.wait(3);
        self.event("PreCompact", json!({ "trigger": trigger, "custom_instructions": "" }))?;
        self.wait(1);
        self.event("SessionStart", json!({ "source": "compact", "model": MODEL }))?;
        self.event("PostCompact", json!({ "trigger": trigger, "compact_summary": summary }))?;
        let meta = json!({ "trigger": trigger, "preTokens": before, "postTokens": after });
        self.line(json!({ "type": "system", "subtype": "compact_boundary", "compactMetadata": meta }))
    }

    fn answer(&mut self, block: &Value, used: u64) -> Done {
        self.calls += 1;
        let usage = json!({ "input_tokens": 10, "cache_read_input_tokens": used - 10, "output_tokens": 400 });
        let message = json!({ "id": format!("msg_{}", self.calls), "model": MODEL, "content": [block], "usage": usage });
        self.line(
            json!({ "type": "assistant", "isSidechain": false, "requestedModel": MODEL, "message": message }),
        )
    }

    fn line(&self, mut entry: Value) -> Done {
        entry["timestamp"] = json!(crate::transcripts::iso(self.at / 1000));
        let path = self.transcript();
        let file = OpenOptions::new().append(true).create(true).open(&path);
        file.and_then(|mut file| writeln!(file, "{entry}")).while_(path.display())
    }

    fn event(&mut self, name: &str, mut members: Value) -> Done {
        members["session_id"] = json!(self.id);
        members["hook_event_name"] = json!(name);
        members["transcript_path"] = json!(self.transcript());
        members["cwd"] = json!(self.folder());
        members["prompt_id"] = json!(format!("{}-{}", self.id, self.prompts));
        self.run(&["hook", "--event", name], &members.to_string())
    }

    /// A command that Claude runs in its shell.
    fn claude(&mut self, words: &[&str]) -> Done {
        self.claude_with(words, "")
    }

    fn claude_with(&mut self, words: &[&str], input: &str) -> Done {
        self.wait(1);
        self.run(words, input)
    }

    fn run(&self, words: &[&str], input: &str) -> Done {
        let mut command = Command::new(self.program);
        command
            .args(words)
            .env_clear()
            .current_dir(self.folder())
            .env("HOME", self.home)
            .env("CLAUDE_PROJECT_DIR", self.folder())
            .env("PATH", "/usr/bin:/bin")
            .env("TZ", "UTC")
            .env("LANG", if self.is_japanese { "ja_JP.UTF-8" } else { "C.UTF-8" })
            .env("TEST_TIDEGATE_CLOCK", offset_to(self.at))
            // A busy machine makes no hook late.
            .env("TEST_TIDEGATE_PATIENCE", "100")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        if words[0] != "hook" && words[0] != "worker" {
            command.env("CLAUDE_CODE_SESSION_ID", self.id);
        }
        let mut child = command.spawn().while_(words[0])?;
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(input.as_bytes()).while_(words[0])?;
        }
        let ran = child.wait_with_output().while_(words[0])?;
        if ran.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&ran.stderr).into_owned();
        Err(Failure::new(format!("`tidegate {}` in the history of the pictures: {said}", words.join(" "))))
    }

    fn folder(&self) -> PathBuf {
        self.home.join(self.project)
    }

    fn transcript(&self) -> PathBuf {
        self.home.join(format!("{}.jsonl", self.id))
    }
}

const MODEL: &str = "claude-sonnet-4-6";
