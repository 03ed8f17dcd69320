//! Approval: a command that loosens something, called by an agent, waits for a yes that only a person can
//! give.
//!
//! The command leaves a mark with a code. This policy recognises the person's answer: `approve CODE` typed
//! as a prompt, or chosen as the answer to the one question that the command prints. The command then finds
//! the approval in the marks and uses it up under the session's lock, so it counts once.
//!
//! A hook cannot tell a typed prompt from a scheduled one: the client sends the same payload. Two rules make
//! up for that. If the model puts the code into any other tool call (a scheduled prompt, a client of its
//! own), the code becomes void. And the approval must come from the same client process as the request. The
//! rules are in `approval.md` next to this file.

pub mod marks;
mod question;
mod typed;
pub mod words;

use crate::event::action::QuestionCall;
use crate::event::{Action, Event, EventKind};
use crate::feature::approval::marks::{ApprovalRequest, ApprovalStage, Mark};
use crate::feature::config::Config;
use crate::feature::config::former_names;
use crate::feature::facts::{Facts, Needs};
use crate::feature::marks::Marks;
use crate::feature::verdict::{Audience, Effect, NoEffect, Say, Verdict};
use crate::feature::{Feature, Mode, Policy};
use crate::host::Host;
use crate::host::person::{CallingClient, Person};
use crate::host::transcript::{ContentPart, EntryKind, TranscriptEntry};
use crate::settings::section::section;
use crate::settings::setting::{Setting, Shape};
use crate::settings::value::Value;
use question::Answer;
pub use question::approval_question_call;
use typed::{Reply, typed_reply};

/// The name in records. It cannot be switched off: a person could no longer approve anything.
pub const ID: &str = "approval";

section! {
    /// Section `[approval]`.
    Settings "approval" {
        /// Commands that loosen a check and may run without a person. The key counts only in `.config/tidegate/config.toml` of the home that the system's user database names, not in a folder that HOME or XDG_CONFIG_HOME points to.
        unattended: ApprovableCommands = ApprovableCommands(Vec::new()), Never;
    }
}

/// Commands that need approval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApprovableCommands(pub Vec<String>);

const APPROVABLE_COMMANDS: &[&str] = &[
    "off",
    "trust",
    "init",
    "uninstall",
    "tune",
    "compound promote",
    "cycle resume",
    "workflow skip",
    "memory decision",
    "memory forget",
    "memory import",
    "memory migrate",
    "memory team",
];

impl Setting for ApprovableCommands {
    const SHAPE: Shape = Shape::List(APPROVABLE_COMMANDS);

    fn from_value(value: &Value) -> Option<Self> {
        let Value::List(items) = value else { return None };
        let name = |item: &Value| match item {
            Value::Text(name) => {
                let name = former_names::current_command(name);
                APPROVABLE_COMMANDS.contains(&name).then(|| name.to_owned())
            }
            _ => None,
        };
        items.iter().map(name).collect::<Option<_>>().map(ApprovableCommands)
    }

    fn to_value(&self) -> Value {
        Value::List(self.0.iter().map(|name| name.as_str().into()).collect())
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ApprovalFacts {
    /// A request of another session waits with the typed code.
    pub is_of_other_session: bool,
}

pub struct Room;

impl Feature for Room {
    /// Whether the typed code is another session's.
    type Needs = bool;
    type Facts = ApprovalFacts;
    type Effect = NoEffect;

    /// A person's yes is worth a wait: on a busy machine they would have to type it again.
    fn deserves_time(event: &Event<'_>, marks: &Marks) -> bool {
        event.kind == EventKind::UserPromptSubmit && !marks.approval.requests.is_empty()
    }
}

pub struct Approval;

impl Policy for Approval {
    fn id(&self) -> &'static str {
        ID
    }

    fn mode(&self, _: &Config) -> Mode {
        Mode::Live
    }

    fn needs(&self, event: &Event<'_>, marks: Option<&Marks>) -> Option<Needs> {
        let client = marks.is_some_and(|marks| !marks.approval.requests.is_empty());
        let known = Needs { client, ..Needs::default() };
        let tool = Needs { tool: true, ..known };
        // Used and void requests are no reason to read a tool's input.
        let open = |request: &ApprovalRequest| {
            matches!(request.stage, ApprovalStage::Asked | ApprovalStage::Questioned(_))
                || request.is_refusal_unsaid()
        };
        let requests = marks.is_some_and(|marks| marks.approval.requests.iter().any(open));
        match event.kind {
            EventKind::UserPromptSubmit if event.is_main_thread() => {
                let prompt = event.human_prompt()?;
                let asked = marks.map(|marks| marks.approval.requests.as_slice()).filter(|_| requests);
                let concerns = |asked: &[ApprovalRequest]| {
                    requests_named_in(&prompt, asked).next().is_some()
                        || typed::agrees_without_code(&prompt)
                        || asked.iter().any(ApprovalRequest::is_in_dialog)
                };
                let known_codes = marks.map(|marks| marks.approval.requests.as_slice()).unwrap_or_default();
                (typed_reply(&prompt, known_codes).is_some() || asked.is_some_and(concerns)).then_some(known)
            }
            EventKind::PreToolUse if requests && is_question(event) => Some(tool),
            EventKind::PostToolUse | EventKind::PostToolUseFailure if requests => Some(tool),
            _ => None,
        }
    }

    fn needs_more(&self, facts: &Facts<'_>, _: &Config) -> Needs {
        let known = facts.marks.value().map(|marks| marks.approval.requests.as_slice()).unwrap_or_default();
        let typed = || typed_code(&facts.event.human_prompt()?);
        let is_prompt = facts.event.kind == EventKind::UserPromptSubmit;
        let is_unknown =
            is_prompt && typed().is_some_and(|code| known.iter().all(|request| request.code != code));
        Needs { approval: is_unknown, ..Needs::default() }
    }

    fn decide(&self, facts: &Facts<'_>, _: &Config) -> Verdict {
        // Without marks there is no request; unreadable marks approve nothing.
        let none = Vec::new();
        let requests = facts.marks.value().map_or(&none, |marks| &marks.approval.requests);
        match facts.event.kind {
            EventKind::UserPromptSubmit => decide_on_prompt(facts, requests),
            EventKind::PreToolUse => decide_on_question(facts, requests),
            EventKind::PostToolUse if is_question(facts.event) => decide_on_answer(facts, requests),
            EventKind::PostToolUseFailure if is_question(facts.event) => {
                let asked: Vec<&ApprovalRequest> =
                    requests.iter().filter(|request| is_put_by(request, facts)).collect();
                dismiss_requests(facts, &asked, "the question was not answered")
            }
            _ => show_requests(facts, requests, void_mentioned(facts, requests)),
        }
    }
}

fn is_question(event: &Event<'_>) -> bool {
    matches!(event.action, Action::Question)
}

/// Requests whose code appears in the prompt, in any context.
fn requests_named_in<'r>(
    prompt: &'r str,
    requests: &'r [ApprovalRequest],
) -> impl Iterator<Item = &'r ApprovalRequest> {
    requests.iter().filter(move |request| typed::contains_code(prompt, &request.code))
}

/// The bearing of a transcript entry on a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ApprovalEvidence {
    Nothing,
    /// A person typed it, or answered the question of this tool call.
    Yes(Option<String>),
    /// A hook answered the question, or the host sent the prompt by itself.
    NotByAPerson,
}

/// The code of an approval or a refusal, in one piece.
pub fn typed_code(prompt: &str) -> Option<String> {
    typed_reply(prompt, &[]).map(|(_, code)| code)
}

/// Only a line of a transcript with the code in it can be an approval.
pub fn mentions_code(line: &[u8], code: &str) -> bool {
    typed::contains_code(&String::from_utf8_lossy(line), code)
}

pub fn find_approval(host: Host, entry: &TranscriptEntry<'_>, request: &ApprovalRequest) -> ApprovalEvidence {
    let is_typed = |prompt: String| {
        typed_reply(&prompt, std::slice::from_ref(request))
            .is_some_and(|(reply, code)| reply == Reply::Approve && code == request.code)
    };
    if entry.typed_prompt().is_some_and(is_typed) {
        return ApprovalEvidence::Yes(None);
    }
    if entry.sent_prompt().is_some_and(is_typed) {
        return ApprovalEvidence::NotByAPerson;
    }
    match &entry.kind {
        EntryKind::Result(result)
            if !entry.is_of_agent
                && question::read_answer(host, result.output, request) == Answer::Approval =>
        {
            if result.is_by_hook {
                return ApprovalEvidence::NotByAPerson;
            }
            ApprovalEvidence::Yes(entry.parts().into_iter().find_map(|part| match part {
                ContentPart::Result(result) => result.call.map(Into::into),
                _ => None,
            }))
        }
        _ => ApprovalEvidence::Nothing,
    }
}

fn decide_on_prompt(facts: &Facts<'_>, requests: &[ApprovalRequest]) -> Verdict {
    let prompt = facts.event.human_prompt().unwrap_or_default();
    let Some((reply, code)) = typed_reply(&prompt, requests) else {
        return decide_on_other_prompt(facts, requests, &prompt);
    };
    let waiting = requests.iter().find(|request| request.code == code && request.waits(facts.now));
    let Some(request) = waiting else {
        // It approves nothing, so it does not matter who typed it.
        let text = facts.person.may_be_there().then(|| nothing_waits(facts, requests, reply, &code));
        let says = text.map(|text| say(Audience::User, text)).into_iter().collect();
        return Verdict { says, ..Verdict::silent("no request waits with this code") };
    };
    if reply == Reply::Refuse {
        // A refusal loosens nothing, so it counts from everyone.
        return refuse_request(facts, request);
    }
    let elsewhere = (!is_client_of(request, facts)).then_some(Doubt::OtherClient);
    if let Some(doubt) = find_doubt(facts).or(elsewhere) {
        let said = words::not_counted(facts.lang, request, doubt);
        let says = said.map(|text| say(Audience::User, text)).into_iter().collect();
        return Verdict { says, ..Verdict::silent(doubt.because()) };
    }
    approve_requests(facts, &[request], PersonsYes::Typed)
}

/// It approves nothing, but the person may believe that it did. The client shows no prompt next to its dialog: whoever types
/// one has left the question.
fn decide_on_other_prompt(facts: &Facts<'_>, requests: &[ApprovalRequest], prompt: &str) -> Verdict {
    let waits = |request: &&ApprovalRequest| request.waits(facts.now);
    let explain = |text: String, because: &'static str| Verdict {
        says: vec![say(Audience::User, text)],
        ..Verdict::silent(because)
    };
    if let Some(named) = requests_named_in(prompt, requests).find(waits) {
        let text = words::unclear(facts.lang, &named.code);
        return explain(text, "the prompt names a code and is not an approval");
    }
    let left: Vec<&ApprovalRequest> =
        requests.iter().filter(waits).filter(|request| request.is_in_dialog()).collect();
    if !left.is_empty() && facts.typed_prompt().is_some() {
        return dismiss_requests(facts, &left, "the person turned to something else");
    }
    let asked = requests.iter().rev().find(waits).filter(|_| typed::agrees_without_code(prompt));
    asked.map_or_else(Verdict::pass, |request| {
        explain(words::without_code(facts.lang, &request.code), "the prompt agrees without the code")
    })
}

fn nothing_waits(facts: &Facts<'_>, requests: &[ApprovalRequest], reply: Reply, code: &str) -> String {
    let closed = requests.iter().rev().find(|request| request.code == code).map(|request| &request.stage);
    let waiting = requests.iter().rev().find(|request| request.waits(facts.now));
    if closed.is_none() && facts.approval.is_of_other_session {
        return words::of_other_session(facts.lang, code);
    }
    words::nothing_waits(facts.lang, reply, code, closed, waiting)
}

/// Why a typed approval does not count as a person's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Doubt {
    Absent,
    Unsaid,
    NotByClient,
    Unattended,
    OfAgent,
    OtherClient,
}

impl Doubt {
    fn because(self) -> &'static str {
        match self {
            Doubt::Absent => "no person is there to approve it",
            Doubt::Unsaid => "the host does not say whether a person is there",
            Doubt::NotByClient => "the hook was not started by the client",
            Doubt::Unattended => "the client says that no person is there",
            Doubt::OfAgent => "an agent started this client",
            Doubt::OtherClient => "it was typed into another client",
        }
    }
}

fn find_doubt(facts: &Facts<'_>) -> Option<Doubt> {
    match (facts.person, facts.client) {
        (Person::Absent, _) => Some(Doubt::Absent),
        (Person::Unknown, _) => Some(Doubt::Unsaid),
        (Person::There, CallingClient::Unknown) => Some(Doubt::NotByClient),
        (Person::There, CallingClient::Unattended) => Some(Doubt::Unattended),
        (Person::There, CallingClient::OfAgent) => Some(Doubt::OfAgent),
        (Person::There, CallingClient::OfPerson(_)) => None,
    }
}

fn is_client_of(request: &ApprovalRequest, facts: &Facts<'_>) -> bool {
    matches!(facts.client, CallingClient::OfPerson(client) if request.client == Some(client))
}

/// A question counts only if the model did not supply the answer.
fn decide_on_question(facts: &Facts<'_>, requests: &[ApprovalRequest]) -> Verdict {
    let Some(question) = facts.event.host.question(facts.tool_input) else {
        return Verdict::silent("no question to read");
    };
    let Some(id) = facts.event.call.as_deref() else {
        return Verdict::silent("a call without an id");
    };
    let about = requests
        .iter()
        .filter(|request| request.waits(facts.now) && question::is_about(&question, &request.code));
    let about: Vec<&ApprovalRequest> = about.collect();
    if about.is_empty() {
        return Verdict::silent("no code in the question");
    }
    if question.is_answered {
        return void_requests(facts, &about, "the question came with its answer");
    }
    if let Some(request) = about.iter().find(|request| !question::is_for(&question, request)) {
        let text = format!("{}. {}", NOT_THE_QUESTION, how_to_ask(facts.event.host, request));
        return Verdict {
            says: vec![say(Audience::Model, text)],
            ..Verdict::silent("it is not the question that was given")
        };
    }
    let asked = |request: &&ApprovalRequest| {
        let stage = ApprovalStage::Questioned(id.to_string());
        Effect::mark(Mark::Approval(ApprovalRequest { stage, ..(*request).clone() }))
    };
    Verdict { effects: about.iter().map(asked).collect(), ..Verdict::silent("a person is asked") }
}

fn decide_on_answer(facts: &Facts<'_>, requests: &[ApprovalRequest]) -> Verdict {
    let about: Vec<&ApprovalRequest> = requests.iter().filter(|request| is_put_by(request, facts)).collect();
    if about.is_empty() {
        return Verdict::silent("no code in the question");
    }
    let with = |wanted: Answer| {
        let answered = about.iter().filter(|request| {
            question::read_answer(facts.event.host, facts.tool_response, request) == wanted
        });
        answered.copied().collect::<Vec<&ApprovalRequest>>()
    };
    let (approved, declined) = (with(Answer::Approval), with(Answer::Other));
    if approved.is_empty() && declined.is_empty() {
        return dismiss_requests(facts, &about, "the question was not answered");
    }
    let elsewhere = !about.iter().all(|request| is_client_of(request, facts));
    let doubt = find_doubt(facts).or(elsewhere.then_some(Doubt::OtherClient));
    if let Some(doubt) = doubt {
        let told = approved.iter().filter_map(|request| words::not_counted(facts.lang, request, doubt));
        let says = told.map(|text| say(Audience::User, text)).collect();
        let because = match doubt {
            Doubt::OtherClient => "it was answered in another client",
            doubt => doubt.because(),
        };
        return Verdict { says, ..Verdict::silent(because) };
    }
    if let Some(late) = approved.iter().find(|request| !request.waits(facts.now)) {
        let text = nothing_waits(facts, requests, Reply::Approve, &late.code);
        return Verdict {
            says: vec![say(Audience::User, text)],
            ..Verdict::silent("no request waits with this code")
        };
    }
    let mut verdict = decline_requests(&declined);
    if !approved.is_empty() {
        let given = approve_requests(facts, &approved, PersonsYes::Answered);
        verdict.because = given.because;
        verdict.says.extend(given.says);
        verdict.effects.extend(given.effects);
    }
    verdict
}

/// This call put it to the person.
fn is_put_by(request: &ApprovalRequest, facts: &Facts<'_>) -> bool {
    let id = facts.event.call.as_deref();
    matches!(&request.stage, ApprovalStage::Questioned(call) if Some(call.as_str()) == id)
}

/// A code in the input of any other tool could come back as a prompt.
fn void_mentioned(facts: &Facts<'_>, requests: &[ApprovalRequest]) -> Verdict {
    let about = |request: &&ApprovalRequest| {
        request.waits(facts.now) && typed::contains_code(facts.tool_input, &request.code)
    };
    let about: Vec<&ApprovalRequest> = requests.iter().filter(about).collect();
    if about.is_empty() {
        return Verdict::silent("no code in the call");
    }
    void_requests(facts, &about, "the code was part of a tool call")
}

/// Shows the person the request once: the model may word it as it likes.
fn show_requests(facts: &Facts<'_>, requests: &[ApprovalRequest], mut verdict: Verdict) -> Verdict {
    let is_new = |request: &&ApprovalRequest| !request.shown && request.waits(facts.now);
    if !verdict.effects.is_empty() || !facts.event.is_main_thread() || !facts.person.may_be_there() {
        return verdict;
    }
    for request in requests.iter().filter(|request| request.is_refusal_unsaid()) {
        let said = ApprovalRequest { shown: true, ..request.clone() };
        verdict.because = "a yes did not come from the person";
        verdict.says.push(Say {
            when_said: vec![Effect::mark(Mark::Approval(said))],
            ..say(Audience::User, words::refused(facts.lang, &request.wording()))
        });
    }
    for request in requests.iter().filter(is_new) {
        let shown = ApprovalRequest { shown: true, ..request.clone() };
        verdict.because = "the person is shown what is asked of them";
        verdict.says.push(Say {
            when_said: vec![Effect::mark(Mark::Approval(shown))],
            ..say(Audience::User, words::asked(facts.lang, &request.code, &request.wording()))
        });
    }
    verdict
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PersonsYes {
    Typed,
    /// The question named the whole command.
    Answered,
}

fn approve_requests(facts: &Facts<'_>, requests: &[&ApprovalRequest], yes: PersonsYes) -> Verdict {
    let mut verdict = Verdict::silent(match yes {
        PersonsYes::Typed => "a person typed the approval",
        PersonsYes::Answered => "a person answered the question",
    });
    for request in requests {
        let given = ApprovalRequest { stage: ApprovalStage::Given, at: facts.now, ..(*request).clone() };
        let command = &request.command;
        // A digest means nothing to a person, and the model may have told them something else.
        let meaning = request.terms().last().filter(|_| request.about.is_some());
        let what = (yes == PersonsYes::Typed).then(|| meaning.unwrap_or_else(|| request.wording()));
        verdict.says.push(say(Audience::User, words::approved(facts.lang, what.as_deref())));
        verdict.says.push(say(
            Audience::Model,
            format!("Run `tidegate {command} --approved` within ten minutes: the person approved it, once."),
        ));
        verdict.effects.push(Effect::mark(Mark::Approval(given)));
    }
    verdict
}

/// A question is asked once: any other answer ends the request.
fn decline_requests(requests: &[&ApprovalRequest]) -> Verdict {
    let mut verdict = Verdict::silent("the answer is not an approval");
    for request in requests {
        let declined = ApprovalRequest { stage: ApprovalStage::Declined, ..(*request).clone() };
        let text = format!(
            "Do not run `tidegate {}`: the person did not approve it, and the request is closed.",
            request.command
        );
        verdict.says.push(say(Audience::Model, text));
        verdict.effects.push(Effect::mark(Mark::Approval(declined)));
    }
    verdict
}

/// A question that the person leaves without an answer is over, too: what they say next is about something else.
fn dismiss_requests(facts: &Facts<'_>, requests: &[&ApprovalRequest], because: &'static str) -> Verdict {
    let mut verdict = Verdict { because, ..decline_requests(requests) };
    for request in requests.iter().filter(|_| facts.person.may_be_there()) {
        let command = request.terms().next().unwrap_or_default();
        verdict.says.push(say(Audience::User, words::dismissed(facts.lang, &command)));
    }
    verdict
}

fn refuse_request(facts: &Facts<'_>, request: &ApprovalRequest) -> Verdict {
    let mut verdict = decline_requests(&[request]);
    verdict.because = "a person typed the refusal";
    let command = request.terms().next().unwrap_or_default();
    verdict.says.push(say(Audience::User, words::refused_by_you(facts.lang, &command)));
    verdict
}

fn void_requests(facts: &Facts<'_>, requests: &[&ApprovalRequest], because: &'static str) -> Verdict {
    let mut verdict = Verdict::silent(because);
    for request in requests {
        let code = &request.code;
        let command = request.terms().next().unwrap_or_default();
        let void = ApprovalRequest { stage: ApprovalStage::Void, ..(*request).clone() };
        verdict.says.push(say(Audience::User, words::void(facts.lang, code, &command)));
        verdict.says.push(say(
            Audience::Model,
            format!("Leave the code {code} to the person: it was in a tool call, so Tidegate cancelled the request."),
        ));
        verdict.effects.push(Effect::mark(Mark::Approval(void)));
    }
    verdict
}

const NOT_THE_QUESTION: &str =
    "An answer to this question approves nothing, because it is not the question that Tidegate gave";

fn how_to_ask(host: Host, request: &ApprovalRequest) -> String {
    let ask = |QuestionCall { tool, input }| format!("Ask with {tool} and exactly this input: {input}");
    approval_question_call(host, request).map(ask).unwrap_or_default()
}

fn say(to: Audience, text: String) -> Say {
    Say { to, text, weight: 90, explains: true, when_said: Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value as Json, json};

    fn request() -> ApprovalRequest {
        ApprovalRequest {
            code: "K7QF2M".into(),
            command: "off skill-gate".into(),
            about: None,
            at: crate::time::Millis(0),
            client: Some(7),
            shown: true,
            stage: ApprovalStage::Given,
        }
    }

    fn evidence(line: &Json) -> ApprovalEvidence {
        let line = line.to_string();
        let entry = Host::ClaudeCode.parser(&[]).entry(line.as_bytes()).expect("an entry");
        find_approval(Host::ClaudeCode, &entry, &request())
    }

    fn prompt(text: &str, origin: &str) -> Json {
        json!({ "type": "user", "uuid": "u1", "turnOrigin": origin, "message": { "content": text } })
    }

    fn answer(text: &str) -> Json {
        let request = request();
        let call = approval_question_call(Host::ClaudeCode, &request).expect("a call");
        let asked: Json = serde_json::from_str(&call.input).expect("JSON");
        json!({ "type": "user",
            "toolUseResult": { "questions": asked["questions"], "answers": { request.question(): text } },
            "message": { "content": [{ "type": "tool_result", "tool_use_id": "t1", "content": "x" }] } })
    }

    #[test]
    fn a_typed_approval_of_this_request_is_a_persons() {
        let typed = |text| evidence(&prompt(text, "human"));
        assert_eq!(typed("approve K7QF2M"), ApprovalEvidence::Yes(None));
        for other in ["refuse K7QF2M", "approve K7QF2X", "approve", "go on"] {
            assert_eq!(typed(other), ApprovalEvidence::Nothing, "{other}");
        }
        assert_eq!(evidence(&prompt("approve K7QF2M", "scheduled")), ApprovalEvidence::NotByAPerson);
        let mut of_agent = prompt("approve K7QF2M", "human");
        of_agent["isSidechain"] = true.into();
        assert_eq!(evidence(&of_agent), ApprovalEvidence::Nothing);
    }

    #[test]
    fn an_answer_is_a_persons_unless_a_hook_or_an_agent_gave_it() {
        assert_eq!(evidence(&answer("approve")), ApprovalEvidence::Yes(Some("t1".into())));
        assert_eq!(evidence(&answer("no")), ApprovalEvidence::Nothing);
        let mut by_hook = answer("approve");
        by_hook["permissionDecision"] = json!({ "decision": "accept", "source": "hook" });
        assert_eq!(evidence(&by_hook), ApprovalEvidence::NotByAPerson);
        let mut of_agent = answer("approve");
        of_agent["isSidechain"] = true.into();
        assert_eq!(evidence(&of_agent), ApprovalEvidence::Nothing);
    }

    #[test]
    fn lines_with_the_code_are_looked_at() {
        assert!(mentions_code(b"{\"content\":\"approve k7q-f2m\"}", "K7QF2M"));
        assert!(!mentions_code(b"{\"content\":\"approve K7QF2X\"}", "K7QF2M"));
    }
}
