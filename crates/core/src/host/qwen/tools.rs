//! Qwen Code's tools, by name, and their actions.

use std::borrow::Cow;

use super::payload::{Payload, ToolInput, ToolResponse};
use crate::event::EventKind;
use crate::event::action::{Action, Exit, McpCall, ShellCommand};
use crate::host::head::{self, FirstText};
use crate::text::json::{Field, LongText};

pub(super) const SHELL: &str = "run_shell_command";
pub(super) const EDITORS: [&str; 3] = ["edit", "write_file", "notebook_edit"];
pub(super) const AGENT: &str = "agent";
const MESSAGE: &str = "send_message";

/// Tools that start agents: in this session, by a script, or in a session of their own (only with its server).
pub const SPAWNING_TOOLS: &[&str] = &[AGENT, "workflow", "create_sub_session"];

/// Tools that can give work to an agent that was started before. Skills run in the conversation itself (0.24.4), and the
/// tools for a team only keep its lists: its members are started by `agent`.
pub const AGENT_TOOLS: &[&str] = &[MESSAGE];

/// Its other tools. A scenario fails at a tool that no list has, until its place is decided. Hooks hear of a tool that
/// another one calls (`exec`, `tool_call`) by its own name.
pub const OTHER_TOOLS: &[&str] = &[
    "artifact",
    "ask_user_question",
    "cron_create",
    "cron_delete",
    "cron_list",
    "display_image",
    "edit",
    "enter_plan_mode",
    "enter_worktree",
    "exec",
    "exit_plan_mode",
    "exit_worktree",
    "get_goal",
    "glob",
    "grep_search",
    "image_gen",
    "list_agents",
    "list_directory",
    "loop_wakeup",
    "lsp",
    "monitor",
    "notebook_edit",
    "propose_goal",
    "read_file",
    "read_mcp_resource",
    "record_artifact",
    "record_source",
    "report_findings",
    "request_shutdown",
    "run_shell_command",
    "save_memory",
    "skill",
    "structured_output",
    "task_create",
    "task_list",
    "task_stop",
    "task_update",
    "team_create",
    "team_delete",
    "team_plan_approval",
    "todo_write",
    "tool_call",
    "tool_search",
    "update_goal",
    "web_fetch",
    "web_search",
    "write_file",
    "zoom_image",
];

/// Moves members out of the tool's input.
pub(super) fn action<'a>(kind: EventKind, payload: &mut Payload<'a>) -> Action<'a> {
    let Some(tool) = payload.tool_name.get() else { return Action::Other };
    let input = std::mem::take(&mut payload.tool_input);
    let known = |input: Field<ToolInput<'a>>| input.value().unwrap_or_default();
    match tool.as_ref() {
        "edit" | "write_file" => {
            Action::Edit(head::edited(input, "tool_input.file_path", |input| input.file_path))
        }
        "notebook_edit" => {
            Action::Edit(head::edited(input, "tool_input.notebook_path", |input| input.notebook_path))
        }
        SHELL => Action::Command(shell_command(kind, payload, input)),
        // A skill that is not there has no event after it.
        "skill" => Action::Skill { name: head::skill_name(known(input).skill.value()), failed: false },
        name if SPAWNING_TOOLS.contains(&name) => {
            let ToolInput { description, subagent_type, name, .. } = known(input);
            Action::Spawn {
                task: description.value().or(name.value()).unwrap_or_default(),
                kind: subagent_type.value().unwrap_or_default(),
                failed: false,
                answer: said(&payload.tool_response),
            }
        }
        MESSAGE => {
            if gives_work(&known(input)) {
                Action::Message
            } else {
                Action::Other
            }
        }
        "ask_user_question" => Action::Question,
        "read_file" => Action::Read(known(input).file_path.value()),
        "task_stop" => Action::StopTask(known(input).task_id.value()),
        "exit_worktree" => Action::LeaveWorktree,
        "cron_create" | "loop_wakeup" => Action::Schedule(known(input).prompt.value()),
        name if name.starts_with("mcp__") => {
            let ToolInput { file_path, path, notebook_path, topic_id, .. } = known(input);
            Action::Mcp(McpCall {
                own_tool: head::own_tool(tool),
                topic: head::topic(topic_id),
                path: file_path.value().or(path.value()).or(notebook_path.value()),
            })
        }
        _ => Action::Other,
    }
}

/// Not an answer to whoever leads the team.
fn gives_work(input: &ToolInput<'_>) -> bool {
    input.to.get().is_none_or(|to| to != "leader")
}

/// A text, or the first text of a list.
fn said<'a>(response: &Field<ToolResponse<'a>>) -> Option<LongText<'a>> {
    let json = response.get()?.content.get()?.0;
    let text = || serde_json::from_str::<Field<LongText<'a>>>(json).ok()?.value();
    text().or_else(|| serde_json::from_str::<Field<FirstText<'a>>>(json).ok()?.value()?.0)
}

/// Begins the answer about a command that runs on in the background.
const STARTED: &str = "Background shell started.";

fn shell_command<'a>(
    kind: EventKind,
    payload: &Payload<'a>,
    input: Field<ToolInput<'a>>,
) -> ShellCommand<'a> {
    let output = said(&payload.tool_response);
    let is_over = payload.is_interrupt != Field::Value(true);
    let report = match kind {
        EventKind::PostToolUse => output,
        EventKind::PostToolUseFailure => payload.error.get().copied().filter(|_| is_over),
        _ => None,
    };
    let head = output.map(|text| text.head(256)).filter(|head| head.starts_with(STARTED));
    let task = head.as_deref().and_then(|head| head.lines().find_map(|line| line.strip_prefix("id: ")));
    let input = input.value().unwrap_or_default();
    ShellCommand {
        line: head::command_line(&input.command),
        folder: head::command_folder(&input.directory, payload.cwd.get().map(AsRef::as_ref)),
        exit: report.map_or(Exit::Unknown, exit),
        output: [output, None, payload.error.get().copied()],
        is_cut: output.is_some_and(|text| text.head(64).starts_with(CUT)),
        background: task.map(|id| Cow::Owned(id.trim().to_owned())),
        duration: payload.duration_ms.get().copied(),
        began: None,
    }
}

/// Begin a report; a long one is cut in its middle.
const REPORTS: [&str; 2] = ["Command: ", CUT];
const CUT: &str = "Tool output was too large";

/// Behind the status.
const AFTER: [&str; 3] = ["Signal: ", "Process Group PGID: ", "Background PIDs: "];

/// The report ends with the status and a few lines about processes. The output before it may contain anything.
pub(super) fn exit(report: LongText<'_>) -> Exit {
    const END: usize = 512;
    exit_between(&report.head(64), &report.tail(END))
}

/// The same of a report in a transcript, where it may have notes.
pub(super) fn exit_before_notes(report: LongText<'_>) -> Exit {
    match exit(report) {
        Exit::Unknown => {
            let text = report.lossy();
            exit_between(&text, without_notes(&text))
        }
        known @ Exit::Known(_) => known,
    }
}

fn exit_between(head: &str, end: &str) -> Exit {
    if !REPORTS.iter().any(|start| head.starts_with(start)) {
        return Exit::Unknown;
    }
    let mut lines = end.lines().rev().skip_while(|line| AFTER.iter().any(|start| line.starts_with(start)));
    let status = lines.next().and_then(|line| line.strip_prefix("Exit Code: "));
    status.and_then(|status| status.trim().parse().ok()).map_or(Exit::Unknown, Exit::Known)
}

/// A report without what hooks said to the model about it: Qwen Code puts that behind it.
pub(super) fn without_notes(report: &str) -> &str {
    let Some((before, rest)) = report.rsplit_once("\nExit Code: ") else { return report };
    let mut lines = rest.split('\n').skip(1).peekable();
    // No output is behind the last status, and a signal follows each.
    if !lines.peek().is_some_and(|line| line.starts_with(AFTER[0])) {
        return report;
    }
    let about: usize = lines
        .take_while(|line| AFTER.iter().any(|start| line.starts_with(start)))
        .map(|line| line.len() + 1)
        .sum();
    let status = rest.split('\n').next().map_or(0, str::len);
    let end = before.len() + "\nExit Code: ".len() + status + about;
    report.get(..end).unwrap_or(report)
}
