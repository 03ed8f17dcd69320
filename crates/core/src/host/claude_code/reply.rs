//! Replies on the wire. One table: how each event says no, asks, ends the turn, carries text.
//!
//! A wrong form silently opens a gate: the host drops an answer that does not fit its schema. So the table is
//! data, every row of it was seen on the real client or stands in its types, and `tests/replies.rs` keeps a
//! snapshot of every event with every call.

use serde::Serialize;

use crate::event::EventKind;
use crate::host::answer::{Answer, Call, Channels, Reply};

/// How an event says no.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Refusal {
    /// `hookSpecificOutput.permissionDecision`, which can also ask.
    Permission,
    /// `hookSpecificOutput.decision`, of a permission prompt.
    Prompt,
    /// `decision: "block"`.
    Decision,
    /// Exit 2 with the reason on stderr.
    Exit,
    /// It cannot. The reason is given as context, if the event carries any.
    Tell,
    /// It cannot, and the host ignores all its texts.
    Deaf,
}

/// How an event carries text for the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TextChannel {
    /// `hookSpecificOutput.additionalContext`.
    Context,
    /// Plain stdout, which the host appends to its instructions for the summary.
    Plain,
    /// Not without side effects: on Stop and SubagentStop context starts another turn.
    No,
}

struct ReplyForm {
    no: Refusal,
    text: TextChannel,
    /// `systemMessage` reaches the person.
    user: bool,
    /// `continue: false` ends the turn.
    halts: bool,
}

const fn form(no: Refusal, text: TextChannel, user: bool, halts: bool) -> ReplyForm {
    ReplyForm { no, text, user, halts }
}

fn reply_form(kind: EventKind) -> ReplyForm {
    use EventKind as E;
    match kind {
        E::PreToolUse => form(Refusal::Permission, TextChannel::Context, true, true),
        E::PreModelSwitch => form(Refusal::Permission, TextChannel::No, true, false),
        E::PermissionRequest => form(Refusal::Prompt, TextChannel::No, true, true),
        E::PostToolUse | E::PostToolBatch | E::UserPromptSubmit | E::UserPromptExpansion => {
            form(Refusal::Decision, TextChannel::Context, true, true)
        }
        E::Stop => form(Refusal::Decision, TextChannel::No, true, true),
        E::SubagentStop => form(Refusal::Decision, TextChannel::No, false, true),
        E::PreCompact => form(Refusal::Decision, TextChannel::Plain, false, false),
        E::ConfigChange => form(Refusal::Decision, TextChannel::No, false, false),
        E::TaskCreated | E::TeammateIdle => form(Refusal::Exit, TextChannel::No, true, false),
        // Its message is shown nowhere (2.1.325).
        E::TaskCompleted => form(Refusal::Exit, TextChannel::No, false, false),
        E::PostToolUseFailure => form(Refusal::Tell, TextChannel::Context, true, true),
        E::SessionStart | E::Setup | E::PostModelSwitch => {
            form(Refusal::Tell, TextChannel::Context, true, false)
        }
        E::SubagentStart => form(Refusal::Tell, TextChannel::Context, false, false),
        E::PermissionDenied | E::InstructionsLoaded | E::CwdChanged | E::FileChanged | E::DirectoryAdded => {
            form(Refusal::Tell, TextChannel::No, true, false)
        }
        // Nothing may go to stdout there: WorktreeCreate takes it for a path.
        E::Elicitation | E::ElicitationResult | E::WorktreeCreate => {
            form(Refusal::Exit, TextChannel::No, false, false)
        }
        // PostCompact refuses every hookSpecificOutput, the others drop it.
        E::PostCompact
        | E::SessionEnd
        | E::StopFailure
        | E::Notification
        | E::WorktreeRemove
        | E::MessageDisplay
        | E::Other => form(Refusal::Deaf, TextChannel::No, false, false),
    }
}

pub(super) fn channels(kind: EventKind) -> Channels {
    let form = reply_form(kind);
    Channels { context: form.text != TextChannel::No, user: form.user }
}

pub(super) fn reply(kind: EventKind, answer: &Answer<'_>) -> Reply {
    let form = reply_form(kind);
    if form.no == Refusal::Deaf {
        return Reply::default();
    }
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let mut context = some(answer.context).filter(|_| form.text == TextChannel::Context);
    let mut output = Output { system_message: some(answer.user).filter(|_| form.user), ..Output::default() };
    let mut specific = Specific { hook_event_name: kind.name(), ..Specific::default() };
    let reason = some(answer.reason).unwrap_or_else(|| "not now".to_owned());
    let (mut exit, mut stderr) = (0, String::new());

    if answer.call == Call::Halt && form.halts {
        output.keep_going = Some(false);
        output.stop_reason = Some(reason.clone());
    }
    match (form.no, answer.call) {
        (_, Call::Pass) => {}
        (Refusal::Permission, call) => {
            specific.permission_decision = Some(if call == Call::Ask { "ask" } else { "deny" });
            specific.permission_decision_reason = Some(reason);
        }
        // The host shows its prompt anyway: without an answer, it asks.
        (Refusal::Prompt, Call::Ask) => {}
        (Refusal::Prompt, call) => {
            let interrupt = (call == Call::Halt).then_some(true);
            specific.decision = Some(Prompt { behavior: "deny", message: reason, interrupt });
        }
        // At Stop a halt lets the turn end; a block would continue it.
        (Refusal::Decision, Call::Halt) if matches!(kind, EventKind::Stop | EventKind::SubagentStop) => {}
        // Events that cannot ask block instead.
        (Refusal::Decision, _) => {
            output.decision = Some("block");
            // A refused prompt shows its reason to the person and drops the message that comes with it.
            let for_person = matches!(kind, EventKind::UserPromptSubmit | EventKind::UserPromptExpansion);
            output.reason = Some(match output.system_message.take_if(|_| for_person) {
                Some(message) => format!("{reason}\n{message}"),
                None => reason,
            });
        }
        (Refusal::Exit, _) => {
            exit = 2;
            stderr = reason;
        }
        (Refusal::Tell, _) => {
            if form.text == TextChannel::Context && !answer.reason.is_empty() {
                context = Some(match context {
                    Some(context) => format!("{reason}\n{context}"),
                    None => reason,
                });
            }
        }
        (Refusal::Deaf, _) => {}
    }
    if form.text == TextChannel::Plain && output.decision.is_none() {
        return Reply { exit, stdout: answer.context.to_owned(), stderr };
    }
    specific.additional_context = context;
    if specific.says_something() {
        output.hook_specific_output = Some(specific);
    }
    Reply { exit, stdout: output.json(), stderr }
}

/// Only the model sees stderr, so the person's text goes to stdout.
pub(super) fn refuse(model: &str, user: &str) -> Reply {
    let output = Output { system_message: Some(user.to_owned()), ..Output::default() };
    Reply { exit: 2, stdout: output.json(), stderr: model.to_owned() }
}

/// The host refuses `null` for an optional member, hence the `skip_serializing_if`.
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Output {
    #[serde(rename = "continue", skip_serializing_if = "Option::is_none")]
    keep_going: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stop_reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system_message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hook_specific_output: Option<Specific>,
}

impl Output {
    /// Empty when there is nothing to say: "no opinion" prints nothing.
    fn json(&self) -> String {
        match serde_json::to_string(self) {
            Ok(json) if json != "{}" => json,
            _ => String::new(),
        }
    }
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Specific {
    hook_event_name: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    permission_decision: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    permission_decision_reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<Prompt>,
    #[serde(skip_serializing_if = "Option::is_none")]
    additional_context: Option<String>,
}

impl Specific {
    fn says_something(&self) -> bool {
        self.permission_decision.is_some() || self.decision.is_some() || self.additional_context.is_some()
    }
}

#[derive(Serialize)]
struct Prompt {
    behavior: &'static str,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    interrupt: Option<bool>,
}
