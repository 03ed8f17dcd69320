//! From a payload of Codex to an event.

use std::borrow::Cow;

use super::payload::{Payload, ToolInput};
use super::transcript::MACHINE;
use crate::event::action::{Action, Exit, McpCall, ShellCommand};
use crate::event::prompt::Prompt;
use crate::event::{Event, EventKind, FailedStep, Permission, UnreadableEvent};
use crate::host::patch::{PATCH_LONGEST, patched_paths};
use crate::host::{Host, head};
use crate::shell::{self, How, Script, Step, Word, Write};
use crate::text::json::{Field, LongText, read_object};

/// The name for the shell, whatever the tool is called in the version.
const SHELL: &str = "Bash";
pub(super) const PATCH: &str = "apply_patch";

/// The names under which Codex offers its tool for patches to a shell.
const PATCH_PROGRAMS: [&str; 2] = [PATCH, "applypatch"];

/// Reads a payload; see [`HostWing::read`](crate::host::HostWing::read).
pub(super) fn parse(bytes: &[u8], registered: Option<EventKind>) -> Result<Event<'_>, UnreadableEvent<'_>> {
    let mut payload: Payload<'_> = read_object(bytes).map_err(|why| head::broken(bytes, registered, why))?;
    let name = std::mem::take(&mut payload.hook_event_name);
    let begun = head::begin(Host::Codex, name, &payload.session_id, registered)?;
    let kind = begun.kind;
    let start = (kind == EventKind::SessionStart).then(|| head::start(payload.source.get()));
    let prompt = payload.prompt.get().filter(|_| kind == EventKind::UserPromptSubmit);
    let prompt =
        prompt.map(|text| Prompt { text: *text, author: head::author(*text, &MACHINE), notice: None });
    let action = action(kind, &mut payload);
    Ok(Event {
        thread: head::thread(payload.agent_id, payload.agent_type),
        turn: payload.turn_id.value(),
        cwd: payload.cwd.value(),
        transcript: payload.transcript_path.value(),
        start,
        by_hand: payload.trigger.get().is_some_and(|trigger| trigger == "manual"),
        cause: payload.source.value().or(payload.trigger.value()).or(payload.reason.value()),
        // Every event names it, so only a new session's counts as a change.
        model: payload.model.value().filter(|_| start.is_some()),
        prompt,
        last_message: payload.last_assistant_message.value(),
        held_before: payload.stop_hook_active.value().unwrap_or_default(),
        permission: payload.permission_mode.value().map(permission),
        tool: head::tool_name(payload.tool_name),
        call: payload.tool_use_id.value(),
        action,
        ..begun
    })
}

fn permission(mode: Cow<'_, str>) -> Permission<'_> {
    Permission { asks_nobody: matches!(mode.as_ref(), "bypassPermissions" | "dontAsk"), mode }
}

/// Moves members out of the tool's input.
fn action<'a>(kind: EventKind, payload: &mut Payload<'a>) -> Action<'a> {
    let Some(tool) = payload.tool_name.get() else { return Action::Other };
    let input = std::mem::take(&mut payload.tool_input);
    let cwd = payload.cwd.get().map(AsRef::as_ref);
    let known = |input: Field<ToolInput<'a>>| input.value().unwrap_or_default();
    match tool.as_ref() {
        // One that fails half-way has no PostToolUse either.
        PATCH => match patched(input, cwd) {
            Ok(paths) if kind == EventKind::PreToolUse => Action::Patch(paths),
            patched => Action::Edit(patched),
        },
        SHELL
            if kind == EventKind::PreToolUse
                && let Some(paths) = patched_by_line(&input, cwd) =>
        {
            Action::Patch(paths)
        }
        SHELL => {
            let response = payload.tool_response.get().map(|response| response.0);
            shell_action(kind, &input, response)
        }
        // Some models call it by a name with a prefix: `collaborationspawn_agent`.
        name if name.ends_with("spawn_agent") => {
            let ToolInput { task_name, message, agent_type, .. } = known(input);
            Action::Spawn {
                task: task_name.value().or(message.value()).unwrap_or_default(),
                kind: agent_type.value().unwrap_or_default(),
                failed: false,
                answer: None,
            }
        }
        name if name.starts_with("mcp__") => {
            let ToolInput { file_path, path, topic_id, .. } = known(input);
            Action::Mcp(McpCall {
                own_tool: head::own_tool(tool),
                topic: head::topic(topic_id),
                path: file_path.value().or(path.value()),
            })
        }
        _ => Action::Other,
    }
}

/// Paths are relative to the working directory.
fn patched<'a>(input: Field<ToolInput<'a>>, cwd: Option<&str>) -> Result<Vec<Cow<'a, str>>, FailedStep> {
    const MEMBER: &str = "tool_input.command";
    let patch = head::required(head::required(input, "tool_input")?.command, MEMBER)?;
    let patch = patch.whole(PATCH_LONGEST).ok_or(FailedStep::MemberType(MEMBER))?;
    patched_paths(&patch, cwd).ok_or(FailedStep::MemberMissing("a file in tool_input.command"))
}

/// Codex takes a patch out of a command line and applies it itself, and without a PostToolUse. It does so for a line that
/// does nothing else, but the program of that name edits the same files in any other.
fn patched_by_line<'a>(input: &Field<ToolInput<'a>>, cwd: Option<&str>) -> Option<Vec<Cow<'a, str>>> {
    let command = input.get()?.command.get()?;
    if !PATCH_PROGRAMS.iter().any(|name| command.mentions(name.as_bytes())) {
        return None;
    }
    let text = command.lossy();
    let script = shell::parse(&text).unwrap_or_default();
    let patches = |step: &Step| step.name().is_some_and(|name| PATCH_PROGRAMS.contains(&name));
    if !script.steps.is_empty() && !script.steps.iter().any(patches) {
        return None;
    }
    let cwd = cwd.unwrap_or_default();
    let is_patched =
        |write: &&Write| write.how == How::Command && script.steps.get(write.step).is_some_and(patches);
    let patched = script.writes().iter().filter(is_patched);
    let paths: Vec<_> =
        patched.filter_map(|write| write.path.resolve(cwd, cwd, None)).map(Cow::Owned).collect();
    // A folder or a text that only a shell knows: the files are named all the same.
    let named = patched_paths(&text, Some(cwd)).unwrap_or_default();
    let missing =
        if paths.len() < named.len() || has_unplaced(&script, patches) { named } else { Vec::new() };
    let mut all = paths;
    all.extend(missing);
    (!all.is_empty()).then_some(all)
}

/// Whether one of these steps edits files in a folder that only a shell knows.
fn has_unplaced(script: &Script, is_wanted: impl Fn(&Step) -> bool) -> bool {
    let is_placed =
        |number| script.writes().iter().any(|write| write.step == number && write.how == How::Command);
    script.steps.iter().enumerate().any(|(number, step)| is_wanted(step) && !is_placed(number))
}

/// The payload has no exit status: Codex writes it into the rollout.
fn shell_action<'a>(kind: EventKind, input: &Field<ToolInput<'a>>, response: Option<&'a str>) -> Action<'a> {
    let line = input.get().and_then(|input| head::command_line(&input.command));
    let output = response.and_then(|json| serde_json::from_str::<Field<LongText<'a>>>(json).ok()?.value());
    if kind == EventKind::PostToolUse
        && let Some(read) = line.as_deref().and_then(read_skill)
        // A file that is not there leaves an error, and one that Codex shortened begins with a remark.
        && output.is_some_and(|text| text.head(64).trim_start().starts_with("---") && read.is_whole(text))
    {
        return Action::Skill { name: Some(Cow::Owned(read.skill)), failed: false };
    }
    Action::Command(ShellCommand {
        line,
        folder: None,
        exit: Exit::Unknown,
        output: [output, None, None],
        is_cut: false,
        background: None,
        duration: None,
        began: None,
    })
}

/// A command that prints the file of a skill and does nothing else: Codex has no tool for skills.
struct SkillRead {
    skill: String,
    limit: Limit,
}

/// How much of a file a command prints, from its beginning. Less than that was all of it.
#[derive(Clone, Copy)]
enum Limit {
    None,
    Lines(usize),
    Bytes(usize),
}

impl SkillRead {
    fn is_whole(&self, output: LongText<'_>) -> bool {
        match self.limit {
            Limit::None => true,
            Limit::Lines(limit) => output.lossy().lines().count() < limit,
            Limit::Bytes(limit) => output.lossy().len() < limit,
        }
    }
}

fn read_skill(line: &str) -> Option<SkillRead> {
    if !line.contains("SKILL.md") {
        return None;
    }
    let script = shell::parse(line)?;
    let [step] = script.steps.as_slice() else { return None };
    let words: Option<Vec<&str>> = step.words.iter().skip(1).map(Word::known).collect();
    let words: Vec<&str> = words?.into_iter().filter(|word| *word != "--").collect();
    let (path, options) = words.split_last()?;
    let limit = read_limit(step.name()?, options)?;
    let skill = path.strip_suffix("/SKILL.md")?.rsplit('/').next().filter(|name| !name.is_empty())?;
    Some(SkillRead { skill: skill.to_owned(), limit })
}

/// `None` for a program that may leave out something, or more than one file.
fn read_limit(program: &str, options: &[&str]) -> Option<Limit> {
    let number = |text: &str| text.parse::<usize>().ok();
    match (program, options) {
        ("cat" | "less" | "bat", []) | ("bat", ["-p" | "-pp" | "--plain"]) => Some(Limit::None),
        ("tail", ["-n" | "-c", "+1"] | ["-n+1"]) => Some(Limit::None),
        ("head", []) => Some(Limit::Lines(10)),
        ("head", ["-n" | "--lines", lines]) => number(lines).map(Limit::Lines),
        ("head", ["-c" | "--bytes", bytes]) => number(bytes).map(Limit::Bytes),
        ("head", [option]) => {
            let lines = ["-n", "--lines=", "-"].iter().find_map(|start| option.strip_prefix(start));
            lines.and_then(number).map(Limit::Lines)
        }
        ("sed", ["-n", range]) => match range.strip_prefix("1,")?.strip_suffix('p')? {
            "$" => Some(Limit::None),
            lines => number(lines).map(Limit::Lines),
        },
        _ => None,
    }
}
