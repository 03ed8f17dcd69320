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
enum RefusalForm {
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
    no: RefusalForm,
    text: TextChannel,
    /// `systemMessage` reaches the person.
    user: bool,
    /// `continue: false` ends the turn.
    halts: bool,
}

const fn form(no: RefusalForm, text: TextChannel, user: bool, halts: bool) -> ReplyForm {
    ReplyForm { no, text, user, halts }
}

fn reply_form(kind: EventKind) -> ReplyForm {
    use EventKind as E;
    match kind {
        E::PreToolUse => form(RefusalForm::Permission, TextChannel::Context, true, true),
        E::PreModelSwitch => form(RefusalForm::Permission, TextChannel::No, true, false),
        E::PermissionRequest => form(RefusalForm::Prompt, TextChannel::No, true, true),
        E::PostToolUse | E::PostToolBatch | E::UserPromptSubmit | E::UserPromptExpansion => {
            form(RefusalForm::Decision, TextChannel::Context, true, true)
        }
        E::Stop => form(RefusalForm::Decision, TextChannel::No, true, true),
        E::SubagentStop => form(RefusalForm::Decision, TextChannel::No, false, true),
        E::PreCompact => form(RefusalForm::Decision, TextChannel::Plain, false, false),
        E::ConfigChange => form(RefusalForm::Decision, TextChannel::No, false, false),
        E::TaskCreated | E::TeammateIdle => form(RefusalForm::Exit, TextChannel::No, true, false),
        // Its message is shown nowhere (2.1.325).
        E::TaskCompleted => form(RefusalForm::Exit, TextChannel::No, false, false),
        E::PostToolUseFailure => form(RefusalForm::Tell, TextChannel::Context, true, true),
        E::SessionStart | E::Setup | E::PostModelSwitch => {
            form(RefusalForm::Tell, TextChannel::Context, true, false)
        }
        E::SubagentStart => form(RefusalForm::Tell, TextChannel::Context, false, false),
        E::PermissionDenied | E::InstructionsLoaded | E::CwdChanged | E::FileChanged | E::DirectoryAdded => {
            form(RefusalForm::Tell, TextChannel::No, true, false)
        }
        // Nothing may go to stdout there: WorktreeCreate takes it for a path.
        E::Elicitation | E::ElicitationResult | E::WorktreeCreate => {
            form(RefusalForm::Exit, TextChannel::No, false, false)
        }
        // PostCompact refuses every hookSpecificOutput, the others drop it.
        E::PostCompact
        | E::SessionEnd
        | E::StopFailure
        | E::Notification
        | E::WorktreeRemove
        | E::MessageDisplay
        | E::Other => form(RefusalForm::Deaf, TextChannel::No, false, false),
    }
}

pub(super) fn channels(kind: EventKind) -> Channels {
    let form = reply_form(kind);
    Channels { context: form.text != TextChannel::No, user: form.user }
}

pub(super) fn reply(kind: EventKind, answer: &Answer<'_>) -> Reply {
    let form = reply_form(kind);
    if form.no == RefusalForm::Deaf {
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
        (RefusalForm::Permission, call) => {
            specific.permission_decision = Some(if call == Call::Ask { "ask" } else { "deny" });
            specific.permission_decision_reason = Some(reason);
        }
        // The host shows its prompt anyway: without an answer, it asks.
        (RefusalForm::Prompt, Call::Ask) => {}
        (RefusalForm::Prompt, call) => {
            let interrupt = (call == Call::Halt).then_some(true);
            specific.decision = Some(PromptDecision { behavior: "deny", message: reason, interrupt });
        }
        // At Stop a halt lets the turn end; a block would continue it.
        (RefusalForm::Decision, Call::Halt) if matches!(kind, EventKind::Stop | EventKind::SubagentStop) => {}
        // Events that cannot ask block instead.
        (RefusalForm::Decision, _) => output.block(kind, reason),
        (RefusalForm::Exit, _) => {
            exit = 2;
            stderr = reason;
        }
        (RefusalForm::Tell, _) => {
            if form.text == TextChannel::Context && !answer.reason.is_empty() {
                context = Some(match context {
                    Some(context) => format!("{reason}\n{context}"),
                    None => reason,
                });
            }
        }
        (RefusalForm::Deaf, _) => {}
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
    fn block(&mut self, kind: EventKind, reason: String) {
        self.decision = Some("block");
        // A refused prompt shows its reason to the person and drops the message that comes with it.
        let for_person = matches!(kind, EventKind::UserPromptSubmit | EventKind::UserPromptExpansion);
        self.reason = Some(match self.system_message.take_if(|_| for_person) {
            Some(message) => format!("{reason}\n{message}"),
            None => reason,
        });
    }

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
    decision: Option<PromptDecision>,
    #[serde(skip_serializing_if = "Option::is_none")]
    additional_context: Option<String>,
}

impl Specific {
    fn says_something(&self) -> bool {
        self.permission_decision.is_some() || self.decision.is_some() || self.additional_context.is_some()
    }
}

#[derive(Serialize)]
struct PromptDecision {
    behavior: &'static str,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    interrupt: Option<bool>,
}
