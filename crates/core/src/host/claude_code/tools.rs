//! Claude Code's tools, by name, and their actions.

use std::borrow::Cow;

use super::payload::{Payload, SentMessage, ToolInput};
use super::question;
use crate::event::EventKind;
use crate::event::action::{Action, Exit, McpCall, ShellCommand};
use crate::host::head;
use crate::text::json::{Field, LongText};

/// Tools that start agents. Older versions call `Agent` `Task`; `Workflow` runs a script that starts many.
pub const SPAWNING_TOOLS: &[&str] = &["Agent", "Task", "Workflow"];

/// Tools that can give work to an agent in another way: to one that was started before, or by a skill that runs in one.
pub const AGENT_TOOLS: &[&str] = &[MESSAGE_TOOL, "Skill"];

const MESSAGE_TOOL: &str = "SendMessage";

/// The client's other tools. A scenario fails at a tool that neither list has, until its place is decided.
pub const OTHER_TOOLS: &[&str] = &[
    "AskUserQuestion",
    "Bash",
    "CronCreate",
    "CronDelete",
    "CronList",
    "DeferredToolPlaceholder",
    "Edit",
    "EnterPlanMode",
    "EnterWorktree",
    "ExitPlanMode",
    "ExitWorktree",
    "ListAgents",
    "Monitor",
    "NotebookEdit",
    "Read",
    "ReportFindings",
    "ScheduleWakeup",
    "TaskCreate",
    "TaskGet",
    "TaskList",
    "TaskStop",
    "TaskUpdate",
    "ToolSearch",
    "WebFetch",
    "WebSearch",
    "Write",
];

/// Moves members out of the tool's input.
pub(super) fn action<'a>(kind: EventKind, payload: &mut Payload<'a>) -> Action<'a> {
    let tool = match payload.tool_name.get() {
        Some(tool) => tool,
        None if kind == EventKind::UserPromptExpansion => {
            let name = std::mem::take(&mut payload.command_name);
            return Action::Skill { name: head::skill_name(name.value()), failed: false };
        }
        None => return Action::Other,
    };
    let response = payload.tool_response.get();
    let input = std::mem::take(&mut payload.tool_input);
    let known = |input: Field<ToolInput<'a>>| input.value().unwrap_or_default();
    match tool.as_ref() {
        "Edit" | "Write" | "MultiEdit" => {
            Action::Edit(head::edited(input, "tool_input.file_path", |input| input.file_path))
        }
        "NotebookEdit" => {
            Action::Edit(head::edited(input, "tool_input.notebook_path", |input| input.notebook_path))
        }
        "Bash" => Action::Command(shell_command(kind, payload, input)),
        "PowerShell" => Action::OtherShell(shell_command(kind, payload, input)),
        "Skill" => Action::Skill {
            name: head::skill_name(known(input).skill.value()),
            failed: response.is_some_and(|response| response.success == Field::Value(false)),
        },
        name if SPAWNING_TOOLS.contains(&name) => {
            let ToolInput { description, subagent_type, name, .. } = known(input);
            let status = response.and_then(|response| response.status.get());
            Action::Spawn {
                task: description.value().or(name.value()).unwrap_or_default(),
                kind: subagent_type.value().unwrap_or_default(),
                failed: status.is_some_and(|status| matches!(status.as_ref(), "failed" | "error")),
                answer: response.and_then(|response| response.content.get()?.0),
            }
        }
        MESSAGE_TOOL => {
            if gives_work(&known(input), payload.agent_id.get().is_some()) {
                Action::Message
            } else {
                Action::Other
            }
        }
        question::TOOL => Action::Question,
        "Read" => Action::Read(known(input).file_path.value()),
        "TaskStop" | "KillShell" => Action::StopTask(known(input).task_id.value()),
        "ExitWorktree" => Action::LeaveWorktree,
        "CronCreate" | "ScheduleWakeup" => Action::Schedule(known(input).prompt.value()),
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

/// Not an answer to whoever started this agent, and not the end of another one. An agent can have the name of the one above, which
/// in the main thread means that agent.
fn gives_work(input: &ToolInput<'_>, by_agent: bool) -> bool {
    let is_end =
        |message: &SentMessage<'_>| message.kind.get().is_some_and(|kind| kind.starts_with("shutdown_"));
    let is_above = |to: &Cow<'_, str>| matches!(to.as_ref(), "main" | "team-lead");
    let ends = input.message.get().is_some_and(is_end);
    let answers = by_agent && input.to.get().is_some_and(is_above);
    !(ends || answers)
}

fn shell_command<'a>(
    kind: EventKind,
    payload: &Payload<'a>,
    input: Field<ToolInput<'a>>,
) -> ShellCommand<'a> {
    let response = payload.tool_response.get();
    ShellCommand {
        line: head::command_line(&input.value().unwrap_or_default().command),
        folder: None,
        exit: exit(kind, payload),
        output: [
            response.and_then(|response| response.stdout.get().copied()),
            response.and_then(|response| response.stderr.get().copied()),
            payload.error.get().copied(),
        ],
        is_cut: response.is_some_and(|response| response.persisted_output != Field::Missing),
        background: response.and_then(|response| response.background_task.get().cloned()),
        duration: payload.duration_ms.get().copied(),
        began: None,
    }
}

/// A successful event means status 0, with one exception: the host takes a 1 from `grep`, `diff` and the like
/// for a success and explains it (seen with 2.1.325). A failed one begins with its status. A response of
/// another shape does not come from this host.
fn exit(kind: EventKind, payload: &Payload<'_>) -> Exit {
    if kind == EventKind::PostToolUseFailure {
        let is_over = payload.is_interrupt != Field::Value(true);
        return payload.error.get().filter(|_| is_over).map_or(Exit::Unknown, |error| failed_status(*error));
    }
    match &payload.tool_response {
        _ if kind != EventKind::PostToolUse => Exit::Unknown,
        Field::WrongType => Exit::Unknown,
        Field::Missing => Exit::Known(0),
        Field::Value(response) if response.interrupted == Field::Value(true) => Exit::Unknown,
        Field::Value(response) => Exit::Known(i32::from(response.status_explained != Field::Missing)),
    }
}

/// Beginnings of texts of the host about a call that did not run to its end.
const NOT_RUN: [&str; 9] = [
    "<tool_use_error>",
    "Command timed out",
    "[Request interrupted",
    "The user doesn't want to",
    "Permission to use",
    "Claude requested permissions",
    "This command requires approval",
    "PreToolUse:",
    "Hook ",
];

/// `Exit code 101`, then the output. Older versions give only the output.
fn failed_status(error: LongText<'_>) -> Exit {
    let head = error.head(64);
    if NOT_RUN.iter().any(|other| head.starts_with(other)) {
        return Exit::Unknown;
    }
    let Some(rest) = head.strip_prefix("Exit code ") else { return Exit::Known(1) };
    match rest.split(|c: char| !c.is_ascii_digit()).next().and_then(|status| status.parse().ok()) {
        Some(0) | None => Exit::Unknown,
        Some(status) => Exit::Known(status),
    }
}
