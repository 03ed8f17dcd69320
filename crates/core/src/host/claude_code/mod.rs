//! Claude Code: its payloads, tools, replies, models, settings files and transcripts.

mod event;
mod models;
mod payload;
mod question;
mod reply;
pub mod settings_file;
mod status;
pub mod tools;
mod transcript;
mod variables;

use crate::event::action::{PersonQuestion, QuestionAnswers, QuestionCall, QuestionInput, RawTool};
use crate::event::status::StatusInput;
use crate::event::{Event, EventKind, UnreadableEvent};
use crate::host::answer::{Answer, Channels, Reply};
use crate::host::capability::{Capability, Support};
use crate::host::detect::Traces;
use crate::host::transcript::{ConversationOrigin, Sought, TranscriptEntry, TranscriptParser};
use crate::host::variables::{HostVariables, Lookup};
use crate::host::window::{HostSettings, Window};
use crate::host::{Host, HostWing, head};

pub(crate) use event::MACHINE;

pub struct Wing;

impl HostWing for Wing {
    const SETTINGS_NAMES: &'static [&'static str] = &["settings", ".claude"];

    /// Every policy was made for it.
    fn support(_: Capability) -> Support {
        Support::Full
    }

    fn traces(_: Host) -> Traces {
        Traces {
            hook_variables: &[],
            shell_variables: &["CLAUDECODE", "CLAUDE_CODE_SESSION_ID", "AI_AGENT"],
            programs: &["claude"],
            folders: &["claude"],
            packages: &["claude-code", "claude-agent-sdk"],
            // Where npm could not link the executable (2.1.325).
            launchers: &["cli-wrapper.cjs"],
        }
    }

    fn read(
        _: Host,
        payload: &[u8],
        registered: Option<EventKind>,
    ) -> Result<Event<'_>, UnreadableEvent<'_>> {
        event::parse(payload, registered)
    }

    fn channels(kind: EventKind) -> Channels {
        reply::channels(kind)
    }

    fn reply(kind: EventKind, answer: &Answer<'_>) -> Reply {
        reply::reply(kind, answer)
    }

    fn refuse(model: &str, user: &str) -> Reply {
        reply::refuse(model, user)
    }

    fn raw_tool(payload: &[u8]) -> RawTool<'_> {
        head::raw_tool(payload)
    }

    fn question(input: &str) -> Option<QuestionInput> {
        question::parse_input(input)
    }

    fn question_answers(response: &str) -> Option<QuestionAnswers> {
        question::parse_response(response)
    }

    fn question_call(question: &PersonQuestion) -> Option<QuestionCall> {
        Some(question::question_call(question))
    }

    fn parser(kinds: &[Sought]) -> TranscriptParser {
        transcript::parser(kinds)
    }

    fn wrote(line: &[u8]) -> bool {
        transcript::wrote(line)
    }

    fn origin(entry: &TranscriptEntry<'_>) -> Option<ConversationOrigin> {
        transcript::origin(entry)
    }

    fn is_changed_by_hook(line: &[u8], call: &str) -> bool {
        transcript::is_changed_by_hook(line, call)
    }

    fn status(payload: &[u8]) -> Option<StatusInput<'_>> {
        status::read(payload)
    }

    fn window(model: &str, told: Option<u64>, used: u64, settings: &HostSettings) -> Option<Window> {
        Some(models::window(model, told, used, settings))
    }

    fn is_same_model(one: &str, other: &str) -> bool {
        models::is_same_model(one, other)
    }

    /// A blocked stop reaches the model as the error of the hook's command and again as feedback (seen with
    /// 2.1.325).
    fn copies_of_reason(kind: EventKind) -> usize {
        if kind == EventKind::Stop { 2 } else { 1 }
    }

    fn variables(get: Lookup<'_>) -> HostVariables {
        variables::read(get)
    }
}
