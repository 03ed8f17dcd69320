//! Qwen Code's tools, by name, and their actions.

use std::borrow::Cow;

use super::payload::{Payload, Said, ToolInput, ToolResponse};
use crate::event::action::{Action, Exit, McpCall, ShellCommand};
use crate::event::{EventKind, FailedStep};
use crate::host::head;
use crate::text::json::{Field, LongText};

/// A longer command line is not inspected.
const COMMAND_LONGEST: usize = 64 * 1024;

pub(super) const SHELL: &str = "run_shell_command";
pub(super) const EDITORS: [&str; 3] = ["edit", "write_file", "notebook_edit"];
pub(super) const AGENT: &str = "agent";

/// Moves members out of the tool's input.
pub(super) fn action<'a>(kind: EventKind, payload: &mut Payload<'a>) -> Action<'a> {
    let Some(tool) = payload.tool_name.get() else { return Action::Other };
    let input = std::mem::take(&mut payload.tool_input);
    let known = |input: Field<ToolInput<'a>>| input.value().unwrap_or_default();
    match tool.as_ref() {
        "edit" | "write_file" => Action::Edit(edited(input, "tool_input.file_path", |input| input.file_path)),
        "notebook_edit" => {
            Action::Edit(edited(input, "tool_input.notebook_path", |input| input.notebook_path))
        }
        SHELL => Action::Command(shell_command(kind, payload, input)),
        // A skill that is not there has no event after it.
        "skill" => Action::Skill { name: skill(known(input).skill.value()), failed: false },
        AGENT | "workflow" => {
            let ToolInput { description, subagent_type, name, .. } = known(input);
            Action::Spawn {
                task: description.value().or(name.value()).unwrap_or_default(),
                kind: subagent_type.value().unwrap_or_default(),
                failed: false,
                answer: said(&payload.tool_response),
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

/// An editing tool writes exactly one file.
fn edited<'a>(
    input: Field<ToolInput<'a>>,
    member: &'static str,
    path: impl FnOnce(ToolInput<'a>) -> Field<Cow<'a, str>>,
) -> Result<Vec<Cow<'a, str>>, FailedStep> {
    head::one_path(path(head::required(input, "tool_input")?), member)
}

/// The model may write a skill as a person would type it, with a slash.
fn skill(name: Option<Cow<'_, str>>) -> Option<Cow<'_, str>> {
    let name = match name? {
        Cow::Borrowed(name) => Cow::Borrowed(name.strip_prefix('/').unwrap_or(name)),
        Cow::Owned(name) => Cow::Owned(name.strip_prefix('/').map(str::to_owned).unwrap_or(name)),
    };
    Some(name).filter(|name| !name.is_empty())
}

fn said<'a>(response: &Field<ToolResponse<'a>>) -> Option<LongText<'a>> {
    response.get()?.content.get().and_then(|content| Said::first(content.0))
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
    ShellCommand {
        line: input.value().unwrap_or_default().command.get().and_then(|line| line.whole(COMMAND_LONGEST)),
        exit: report.map_or(Exit::Unknown, exit),
        output: [output, None, payload.error.get().copied()],
        is_cut: output.is_some_and(|text| text.head(64).starts_with(CUT)),
        background: task.map(|id| Cow::Owned(id.trim().to_owned())),
        duration: payload.duration_ms.get().copied(),
    }
}

/// Begin a report; a long one is cut in its middle.
const REPORTS: [&str; 2] = ["Command: ", CUT];
const CUT: &str = "Tool output was too large";

/// The report ends with the status and a few lines about processes. The output before it may contain anything.
pub(super) fn exit(report: LongText<'_>) -> Exit {
    const END: usize = 512;
    const AFTER: [&str; 3] = ["Signal: ", "Process Group PGID: ", "Background PIDs: "];
    let head = report.head(64);
    if !REPORTS.iter().any(|start| head.starts_with(start)) {
        return Exit::Unknown;
    }
    let end = report.tail(END);
    let mut lines = end.lines().rev().skip_while(|line| AFTER.iter().any(|start| line.starts_with(start)));
    let status = lines.next().and_then(|line| line.strip_prefix("Exit Code: "));
    status.and_then(|status| status.trim().parse().ok()).map_or(Exit::Unknown, Exit::Known)
}
