//! Hosts: one folder each, and one list.
//!
//! A folder holds everything particular to a host, behind the functions of [`HostWing`]; the rest of the
//! code knows only their arguments and results. A function without a default is all that a recorded host
//! needs; each other one has a default that says "not known". To add a host: make its folder, add its line
//! to the list in `event/host.rs`.

pub mod answer;
pub mod capability;
pub mod claude_code;
pub mod codex;
mod common_reply;
pub mod copilot;
pub mod detect;
mod head;
pub mod opencode;
mod patch;
pub mod person;
pub mod qwen;
pub mod transcript;
pub mod unknown;
pub mod variables;
pub mod window;

use crate::event::action::{PersonQuestion, QuestionAnswers, QuestionCall, QuestionInput, RawTool};
pub use crate::event::host::Host;
use crate::event::host::hosts;
use crate::event::status::StatusInput;
use crate::event::{Event, EventKind, Start, UnreadableEvent};
use answer::{Answer, Call, Channels, Reply};
use capability::{Capability, Support};
use detect::{Signs, Traces};
use person::Person;
use transcript::{ConversationOrigin, Sought, TranscriptEntry, TranscriptParser};
use variables::{HostVariables, Lookup};
use window::{HostSettings, Window};

/// A host that is only recorded needs no more than its signs and `read`.
pub trait HostWing {
    /// Calls are recorded and answered with nothing.
    const IS_ONLY_RECORDED: bool = false;

    /// What its payloads leave out stands in its transcript, in time for the hook: exit statuses, the window, whether a
    /// person is there, the summary of a compaction.
    const TELLS_BY_TRANSCRIPT: bool = false;

    /// No event follows a compaction: only the transcript tells that one has ended.
    const COMPACTS_SILENTLY: bool = false;

    /// How to invoke a skill, for the model, where there is no tool for it. Begins with a space.
    const SKILL_HINT: &'static str = "";

    /// A person writes it before the name of a skill to have it run.
    const SKILL_PREFIX: &'static str = "/";

    /// The folder in a project from whose `skills` the host loads skills, and no other host has to.
    const SKILL_HOME: &'static str = ".claude";

    /// Between the names of an MCP server and its tool, where the host does not write `mcp__SERVER__TOOL`.
    const MCP_SEPARATOR: Option<&'static str> = None;

    /// With it a person compacts the conversation.
    const COMPACT_COMMAND: &'static str = "/compact";

    /// Every path to a settings file of the host contains one of these.
    const SETTINGS_NAMES: &'static [&'static str] = &[];

    /// For the documentation and for people.
    fn support(_: Capability) -> Support {
        capability::NOTHING
    }

    /// Hosts may share a folder, so this takes the host.
    fn traces(_: Host) -> Traces;

    /// Whether only this host can have sent the payload.
    fn sent(_: Host, _: &Signs<'_>) -> bool {
        false
    }

    /// `registered` is the event in the hook's registration, if it names one. The payload's own name counts
    /// more, but a broken payload may have none.
    fn read(
        host: Host,
        payload: &[u8],
        registered: Option<EventKind>,
    ) -> Result<Event<'_>, UnreadableEvent<'_>>;

    fn channels(_: EventKind) -> Channels {
        Channels::default()
    }

    /// Whether texts of a session's start arrive, in addition to what its channels say.
    fn hears_at(_: Start) -> bool {
        true
    }

    /// The strictest call up to this one that the event can carry. A stricter one would be dropped, and the tool would
    /// run.
    fn deliverable(_: EventKind, call: Call) -> Call {
        call
    }

    /// Puts an answer into the form of its event.
    fn reply(_: EventKind, _: &Answer<'_>) -> Reply {
        Reply::default()
    }

    /// Refuses a call that could not be checked, with a text for the model and one for the person.
    fn refuse(_: &str, _: &str) -> Reply {
        Reply::default()
    }

    fn raw_tool(_: &[u8]) -> RawTool<'_> {
        RawTool::default()
    }

    /// From the input of a call that asks the person.
    fn question(_: &str) -> Option<QuestionInput> {
        None
    }

    /// From the response of such a call. `None` if the person gave no answer.
    fn question_answers(_: &str) -> Option<QuestionAnswers> {
        None
    }

    /// `None` if the host has no tool that asks the person.
    fn question_call(_: &PersonQuestion) -> Option<QuestionCall> {
        None
    }

    /// A parser for lines of these kinds; without any kind, for all lines.
    fn parser(_: &[Sought]) -> TranscriptParser {
        TranscriptParser::of_nothing()
    }

    /// Whether this is a line of a transcript of this host, and of no other.
    fn wrote(_: &[u8]) -> bool {
        false
    }

    /// `None` if the entry does not say where the conversation takes place.
    fn origin(_: &TranscriptEntry<'_>) -> Option<ConversationOrigin> {
        None
    }

    /// From the first line of a transcript.
    fn person(_: &[u8]) -> Person {
        Person::Unknown
    }

    /// Whether a line of a transcript says that a hook changed the input of this call. Then the hook may have
    /// answered the question in it.
    fn is_changed_by_hook(_: &[u8], _: &str) -> bool {
        false
    }

    fn status(_: &[u8]) -> Option<StatusInput<'_>> {
        None
    }

    /// `model` as the host was asked for it. `told` comes from the config or the host itself, which know the
    /// size better than the folder's table. `used` tokens were in use at once: no smaller window is right.
    fn window(_: &str, told: Option<u64>, used: u64, _: &HostSettings) -> Option<Window> {
        told.filter(|tokens| *tokens >= used).map(|tokens| Window { tokens, compact_at: None })
    }

    /// Whether two ids name one model.
    fn is_same_model(one: &str, other: &str) -> bool {
        one == other
    }

    /// How many times the model reads the reason of a denial at this event.
    fn copies_of_reason(_: EventKind) -> usize {
        1
    }

    /// Variables that the host sets for its hooks, and those that people set for the host.
    fn variables(_: Lookup<'_>) -> HostVariables {
        HostVariables::default()
    }
}

macro_rules! dispatch {
    ($($(#[$meta:meta])* $host:ident, $name:literal, $title:literal => $folder:ident;)*) => {
        impl Host {
            /// [`HostWing::support`].
            pub fn support(self, capability: Capability) -> Support {
                match self { $(Host::$host => $folder::Wing::support(capability),)* }
            }

            /// [`HostWing::traces`].
            pub fn traces(self) -> Traces {
                match self { $(Host::$host => $folder::Wing::traces(self),)* }
            }

            /// [`HostWing::sent`].
            pub fn sent(self, signs: &Signs<'_>) -> bool {
                match self { $(Host::$host => $folder::Wing::sent(self, signs),)* }
            }

            /// [`HostWing::parser`].
            pub fn parser(self, kinds: &[Sought]) -> TranscriptParser {
                match self { $(Host::$host => $folder::Wing::parser(kinds),)* }
            }

            /// [`HostWing::wrote`].
            pub fn wrote(self, line: &[u8]) -> bool {
                match self { $(Host::$host => $folder::Wing::wrote(line),)* }
            }

            /// [`HostWing::origin`].
            pub fn origin(self, entry: &TranscriptEntry<'_>) -> Option<ConversationOrigin> {
                match self { $(Host::$host => $folder::Wing::origin(entry),)* }
            }

            /// [`HostWing::is_changed_by_hook`].
            pub fn is_changed_by_hook(self, line: &[u8], call: &str) -> bool {
                match self { $(Host::$host => $folder::Wing::is_changed_by_hook(line, call),)* }
            }

            /// [`HostWing::read`].
            pub fn read(
                self,
                payload: &[u8],
                registered: Option<EventKind>,
            ) -> Result<Event<'_>, UnreadableEvent<'_>> {
                match self { $(Host::$host => $folder::Wing::read(self, payload, registered),)* }
            }

            /// [`HostWing::channels`].
            pub fn channels(self, kind: EventKind) -> Channels {
                match self { $(Host::$host => $folder::Wing::channels(kind),)* }
            }

            /// [`HostWing::hears_at`].
            pub fn hears_at(self, start: Start) -> bool {
                match self { $(Host::$host => $folder::Wing::hears_at(start),)* }
            }

            /// [`HostWing::deliverable`].
            pub fn deliverable(self, kind: EventKind, call: Call) -> Call {
                match self { $(Host::$host => $folder::Wing::deliverable(kind, call),)* }
            }

            /// [`HostWing::person`].
            pub fn person(self, first_line: &[u8]) -> Person {
                match self { $(Host::$host => $folder::Wing::person(first_line),)* }
            }

            /// [`HostWing::SKILL_HINT`].
            pub fn skill_hint(self) -> &'static str {
                match self { $(Host::$host => $folder::Wing::SKILL_HINT,)* }
            }

            /// [`HostWing::SKILL_PREFIX`].
            pub fn skill_prefix(self) -> &'static str {
                match self { $(Host::$host => $folder::Wing::SKILL_PREFIX,)* }
            }

            /// [`HostWing::SKILL_HOME`].
            pub fn skill_home(self) -> &'static str {
                match self { $(Host::$host => $folder::Wing::SKILL_HOME,)* }
            }

            /// [`HostWing::MCP_SEPARATOR`].
            pub fn mcp_separator(self) -> Option<&'static str> {
                match self { $(Host::$host => $folder::Wing::MCP_SEPARATOR,)* }
            }

            /// [`HostWing::COMPACT_COMMAND`].
            pub fn compact_command(self) -> &'static str {
                match self { $(Host::$host => $folder::Wing::COMPACT_COMMAND,)* }
            }

            /// [`HostWing::TELLS_BY_TRANSCRIPT`].
            pub fn tells_by_transcript(self) -> bool {
                match self { $(Host::$host => $folder::Wing::TELLS_BY_TRANSCRIPT,)* }
            }

            /// [`HostWing::COMPACTS_SILENTLY`].
            pub fn compacts_silently(self) -> bool {
                match self { $(Host::$host => $folder::Wing::COMPACTS_SILENTLY,)* }
            }

            /// [`HostWing::reply`].
            pub fn reply(self, kind: EventKind, answer: &Answer<'_>) -> Reply {
                match self { $(Host::$host => $folder::Wing::reply(kind, answer),)* }
            }

            /// [`HostWing::refuse`].
            pub fn refuse(self, model: &str, user: &str) -> Reply {
                match self { $(Host::$host => $folder::Wing::refuse(model, user),)* }
            }

            /// [`HostWing::raw_tool`].
            pub fn raw_tool(self, payload: &[u8]) -> RawTool<'_> {
                match self { $(Host::$host => $folder::Wing::raw_tool(payload),)* }
            }

            /// [`HostWing::question`].
            pub fn question(self, input: &str) -> Option<QuestionInput> {
                match self { $(Host::$host => $folder::Wing::question(input),)* }
            }

            /// [`HostWing::question_answers`].
            pub fn question_answers(self, response: &str) -> Option<QuestionAnswers> {
                match self { $(Host::$host => $folder::Wing::question_answers(response),)* }
            }

            /// [`HostWing::question_call`].
            pub fn question_call(self, question: &PersonQuestion) -> Option<QuestionCall> {
                match self { $(Host::$host => $folder::Wing::question_call(question),)* }
            }

            /// [`HostWing::window`].
            pub fn window(
                self, model: &str, told: Option<u64>, used: u64, settings: &HostSettings,
            ) -> Option<Window> {
                match self { $(Host::$host => $folder::Wing::window(model, told, used, settings),)* }
            }

            /// [`HostWing::is_same_model`].
            pub fn is_same_model(self, one: &str, other: &str) -> bool {
                match self { $(Host::$host => $folder::Wing::is_same_model(one, other),)* }
            }

            /// [`HostWing::copies_of_reason`].
            pub fn copies_of_reason(self, kind: EventKind) -> usize {
                match self { $(Host::$host => $folder::Wing::copies_of_reason(kind),)* }
            }

            /// [`HostWing::variables`].
            pub fn variables(self, get: Lookup<'_>) -> HostVariables {
                match self { $(Host::$host => $folder::Wing::variables(get),)* }
            }

            /// [`HostWing::IS_ONLY_RECORDED`].
            pub fn is_only_recorded(self) -> bool {
                match self { $(Host::$host => $folder::Wing::IS_ONLY_RECORDED,)* }
            }

            /// [`HostWing::SETTINGS_NAMES`].
            pub fn settings_names(self) -> &'static [&'static str] {
                match self { $(Host::$host => $folder::Wing::SETTINGS_NAMES,)* }
            }

            /// [`HostWing::status`].
            pub fn status(self, payload: &[u8]) -> Option<StatusInput<'_>> {
                match self { $(Host::$host => $folder::Wing::status(payload),)* }
            }
        }
    };
}

hosts!(dispatch);

impl Host {
    /// Whether its name for a tool of an MCP server means this one, as a config names it: `mcp__SERVER__TOOL`.
    pub fn is_mcp_tool(self, tool: &str, wanted: &str) -> bool {
        if tool == wanted {
            return true;
        }
        let Some(separator) = self.mcp_separator() else { return false };
        let Some((server, name)) = wanted.strip_prefix("mcp__").and_then(|rest| rest.split_once("__")) else {
            return false;
        };
        let rest = tool.strip_prefix(server).and_then(|rest| rest.strip_prefix(separator));
        rest == Some(name)
    }

    /// The host that wrote a line of a transcript.
    pub fn that_wrote(line: &[u8]) -> Option<Host> {
        // Claude Code is the first of them, and some others write lines much like its own.
        Host::ALL.iter().rev().find(|host| host.wrote(line)).copied()
    }
}
