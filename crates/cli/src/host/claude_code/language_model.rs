//! Claude Code's own program with the user's login, as a language model: no tools, no hooks, no servers, nothing of a
//! project, nothing kept.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use tidegate_core::language_model::ModelQuestion;
use tidegate_core::language_model::backend::BackendKind;

use crate::backend::{Asked, LARGEST_ANSWER};
use crate::program;

/// Variables about the session that called the hook. This call is another session.
const OF_THE_SESSION: [&str; 14] = [
    "AI_AGENT",
    "CLAUDECODE",
    "CLAUDE_CODE_CHILD_SESSION",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_MESSAGING_SOCKET",
    "CLAUDE_CODE_MESSAGING_TOKEN",
    "CLAUDE_CODE_SESSION_ATTENDED",
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_EFFORT",
    "CLAUDE_ENV_FILE",
    "CLAUDE_PID",
    "CLAUDE_PLUGIN_DATA",
    "CLAUDE_PLUGIN_ROOT",
    "CLAUDE_PROJECT_DIR",
];

/// The message goes through stdin: other users can read command lines. The instruction is not secret.
pub(crate) fn ask_claude(program: &Path, model: &str, question: &ModelQuestion, limit: Duration) -> Asked {
    let folder = match tempfile::Builder::new().prefix("tidegate-").tempdir() {
        Ok(folder) => folder,
        Err(error) => return Asked::failed(format!("no temporary folder: {}", error.kind())),
    };
    let mut command = Command::new(program);
    command
        .args(["-p", "--output-format", "json", "--no-session-persistence"])
        .args(["--model", model, "--system-prompt", &question.instruction])
        .args(["--tools", "", "--strict-mcp-config", "--disable-slash-commands"])
        .args(["--setting-sources", "user", "--settings", r#"{"disableAllHooks":true}"#])
        // No CLAUDE.md and no plugins. A client that does not know the variable ignores it.
        .env("CLAUDE_CODE_SAFE_MODE", "1")
        // A hook that runs all the same does nothing.
        .env("TIDEGATE_GUARD", "1")
        .current_dir(folder.path());
    for name in OF_THE_SESSION {
        command.env_remove(name);
    }
    match program::run(&mut command, question.message.as_bytes(), LARGEST_ANSWER, limit) {
        Err(why) => Asked::not_run(&why),
        Ok(ran) if !ran.status.success() => Asked::failed(ran.status.to_string()),
        Ok(ran) => Asked::read(BackendKind::Claude, &String::from_utf8_lossy(&ran.stdout)),
    }
}
