//! Approval: a command that loosens something, called by an agent, waits for a yes that only a person can give.
//!
//! The command leaves a mark with a code. Here a person's answer is recognised: `approve CODE` typed as a prompt, or
//! chosen as the answer to the one question that the command gives out. Where the model puts the code into any other tool call (a
//! prompt to be sent later, a client of its own), the code is void. The rules are in `approval.md` beside this file.

pub mod marks;
mod question;
pub mod words;

use crate::event::action::QuestionCall;
use crate::event::{Action, Event, EventKind};
use crate::feature::approval::marks::{Approval as Request, ApprovalStage, Mark};
use crate::feature::config::Config;
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
pub use question::to_ask;

/// The name in records. It cannot be switched off: nothing would be left that a person could say yes with.
pub const ID: &str = "approval";

section! {
    /// Section `[approval]`.
    Settings "approval" {
        /// Commands that loosen something and may run where no person is there to be asked. It counts only in `.config/tidegate/config.toml` in the home that the system's user database names: a config folder that HOME or XDG_CONFIG_HOME moves cannot allow anything.
        unattended: Commands = Commands(Vec::new()), Never;
    }
}

/// Commands that a person has to agree to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commands(pub Vec<String>);

/// All there are.
const COMMANDS: &[&str] = &[
    "off",
    "trust",
    "init",
    "uninstall",
    "compound promote",
    "gate skip",
    "memory forget",
    "memory import",
    "memory migrate",
];

impl Setting for Commands {
    const SHAPE: Shape = Shape::List(COMMANDS);

    fn from_value(value: &Value) -> Option<Self> {
        let Value::List(items) = value else { return None };
        let name = |item: &Value| match item {
            Value::Text(name) if COMMANDS.contains(&name.as_str()) => Some(name.clone()),
            _ => None,
        };
        items.iter().map(name).collect::<Option<_>>().map(Commands)
    }

    fn to_value(&self) -> Value {
        Value::List(self.0.iter().map(|name| name.as_str().into()).collect())
    }
}

/// What this room adds to the aggregates.
pub struct Room;

impl Feature for Room {
    type Needs = ();
    type Facts = ();
    type Effect = NoEffect;

    /// A person's yes is worth a wait: on a busy machine they would have to type it again.
    fn deserves_time(event: &Event<'_>, marks: &Marks) -> bool {
        event.kind == EventKind::UserPromptSubmit && !marks.approval.requests.is_empty()
    }
}

/// The policy.
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
        // One that was used or is void is no reason to read a tool's input.
        let open = |request: &Request| {
            matches!(request.stage, ApprovalStage::Asked | ApprovalStage::Questioned(_))
                || request.is_refusal_unsaid()
        };
        let requests = marks.is_some_and(|marks| marks.approval.requests.iter().any(open));
        match event.kind {
            EventKind::UserPromptSubmit if event.is_main_thread() => {
                let prompt = event.human_prompt()?;
                let asked = marks.map(|marks| marks.approval.requests.as_slice()).filter(|_| requests);
                let is_named = || asked.is_some_and(|asked| named(&prompt, asked).next().is_some());
                (typed_code(&prompt).is_some() || is_named()).then_some(known)
            }
            EventKind::PreToolUse if requests && asks(event) => Some(tool),
            EventKind::PostToolUse | EventKind::PostToolUseFailure if requests => Some(tool),
            _ => None,
        }
    }

    fn decide(&self, facts: &Facts<'_>, _: &Config) -> Verdict {
        // Without marks there is no request, and what cannot be read approves nothing.
        let none = Vec::new();
        let requests = facts.marks.value().map_or(&none, |marks| &marks.approval.requests);
        match facts.event.kind {
            EventKind::UserPromptSubmit => typed(facts, requests),
            EventKind::PreToolUse => put_to_the_person(facts, requests),
            EventKind::PostToolUse if asks(facts.event) => answered(facts, requests),
            _ => show(facts, requests, mentioned(facts, requests)),
        }
    }
}

fn asks(event: &Event<'_>) -> bool {
    matches!(event.action, Action::Question)
}

/// Words that people put around an approval.
const POLITE: [&str; 9] =
    ["please", "yes", "ok", "okay", "thanks", "はい", "お願いします", "ください", "どうぞ"];

/// The code of a prompt that is nothing but `approve CODE`, on one line.
fn typed_code(prompt: &str) -> Option<String> {
    let line = prompt.trim();
    if line.contains(['\n', '\r', '\t']) {
        return None;
    }
    let words = line.split([' ', '\u{3000}', '`', ',', '.', '!', '、', '。', '！']);
    let said =
        |word: &&str| !word.is_empty() && !POLITE.iter().any(|polite| word.eq_ignore_ascii_case(polite));
    let mut words = words.filter(said);
    let (verb, code) = (words.next()?, words.next()?);
    let alone = words.next().is_none() && (verb.eq_ignore_ascii_case("approve") || verb == "承認");
    (alone && Request::is_code(code)).then(|| code.to_ascii_uppercase())
}

/// The requests whose code a prompt holds, whatever it says about them.
fn named<'r>(prompt: &'r str, requests: &'r [Request]) -> impl Iterator<Item = &'r Request> {
    requests.iter().filter(move |request| question::holds(prompt, &request.code))
}

/// What an entry of the transcript says about a yes to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// Nothing.
    Nothing,
    /// A person typed it, or answered the question of this call.
    Yes(Option<String>),
    /// It is there, and not from a person: a hook answered the question, or the host sent the prompt by itself.
    NotByAPerson,
}

/// Whether an entry of a transcript of this host is a person's yes to this request: a prompt they typed, or their answer to a question.
pub fn said(host: Host, entry: &TranscriptEntry<'_>, request: &Request) -> Said {
    let is_typed = |prompt: String| typed_code(&prompt).is_some_and(|code| code == request.code);
    if entry.typed_prompt().is_some_and(is_typed) {
        return Said::Yes(None);
    }
    if entry.sent_prompt().is_some_and(is_typed) {
        return Said::NotByAPerson;
    }
    match &entry.kind {
        EntryKind::Result(result)
            if !entry.is_of_agent && question::answer(host, result.output, request) == Answer::Approval =>
        {
            if result.is_by_hook {
                return Said::NotByAPerson;
            }
            Said::Yes(entry.parts().into_iter().find_map(|part| match part {
                ContentPart::Result { call, .. } => call.map(Into::into),
                _ => None,
            }))
        }
        _ => Said::Nothing,
    }
}

/// A person typed `approve CODE`.
fn typed(facts: &Facts<'_>, requests: &[Request]) -> Verdict {
    let prompt = facts.event.human_prompt().unwrap_or_default();
    let Some(code) = typed_code(&prompt) else {
        // The person may believe that this was an approval.
        let mut waiting = named(&prompt, requests).filter(|request| request.waits(facts.now));
        let Some(request) = waiting.next() else { return Verdict::pass() };
        return Verdict {
            says: vec![say(Audience::User, words::unclear(facts.lang, &request.code))],
            ..Verdict::silent("the prompt names a code and is not an approval")
        };
    };
    let waiting = requests.iter().find(|request| request.code == code && request.waits(facts.now));
    let elsewhere = waiting.filter(|request| !is_client_of(request, facts)).map(|_| Doubt::OtherClient);
    if let Some(doubt) = doubt(facts).or(elsewhere) {
        let said = waiting.and_then(|request| words::not_counted(facts.lang, request, doubt));
        let says = said.map(|text| say(Audience::User, text)).into_iter().collect();
        return Verdict { says, ..Verdict::silent(doubt.because()) };
    }
    match waiting {
        Some(request) => give(facts, &[request], "a person typed the approval"),
        None => Verdict {
            says: vec![say(Audience::User, words::nothing_to_approve(facts.lang, &code))],
            ..Verdict::silent("no request waits with this code")
        },
    }
}

/// Why a typed approval is not taken for a person's.
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
            Doubt::Absent => "nobody is there to approve it",
            Doubt::Unsaid => "the host does not say whether a person is there",
            Doubt::NotByClient => "the hook was not started by the client",
            Doubt::Unattended => "the client says that nobody is there",
            Doubt::OfAgent => "an agent started this client",
            Doubt::OtherClient => "it was typed into another client",
        }
    }
}

/// Why an approval cannot be a person's.
fn doubt(facts: &Facts<'_>) -> Option<Doubt> {
    match (facts.person, facts.client) {
        (Person::Absent, _) => Some(Doubt::Absent),
        (Person::Unknown, _) => Some(Doubt::Unsaid),
        (Person::There, CallingClient::Unknown) => Some(Doubt::NotByClient),
        (Person::There, CallingClient::Unattended) => Some(Doubt::Unattended),
        (Person::There, CallingClient::OfAgent) => Some(Doubt::OfAgent),
        (Person::There, CallingClient::OfPerson(_)) => None,
    }
}

/// Whether the client that called is the one that the request came from.
fn is_client_of(request: &Request, facts: &Facts<'_>) -> bool {
    matches!(facts.client, CallingClient::OfPerson(client) if request.client == Some(client))
}

/// The model is about to put a question to the person. It counts only if it does not come with its own answer.
fn put_to_the_person(facts: &Facts<'_>, requests: &[Request]) -> Verdict {
    let Some(question) = facts.event.host.question(facts.tool_input) else {
        return Verdict::silent("no question to read");
    };
    let Some(id) = facts.event.call.as_deref() else {
        return Verdict::silent("a call without an id");
    };
    let about = requests
        .iter()
        .filter(|request| request.waits(facts.now) && question::is_about(&question, &request.code));
    let about: Vec<&Request> = about.collect();
    if about.is_empty() {
        return Verdict::silent("no code in the question");
    }
    if question.is_answered {
        return void(facts, &about, "the question came with its answer");
    }
    if let Some(request) = about.iter().find(|request| !question::is_for(&question, request)) {
        let text = format!("{}. {}", HIDES, ask_again(facts.event.host, request));
        return Verdict {
            says: vec![say(Audience::Model, text)],
            ..Verdict::silent("it is not the question that was given")
        };
    }
    let asked = |request: &&Request| {
        let stage = ApprovalStage::Questioned(id.to_string());
        Effect::mark(Mark::Approval(Request { stage, ..(*request).clone() }))
    };
    Verdict { effects: about.iter().map(asked).collect(), ..Verdict::silent("a person is asked") }
}

/// The person has answered.
fn answered(facts: &Facts<'_>, requests: &[Request]) -> Verdict {
    let id = facts.event.call.as_deref();
    let asked = |request: &&Request| match &request.stage {
        ApprovalStage::Questioned(call) => request.waits(facts.now) && Some(call.as_str()) == id,
        _ => false,
    };
    let about: Vec<&Request> = requests.iter().filter(asked).collect();
    if about.is_empty() {
        return Verdict::silent("no code in the question");
    }
    if let Some(doubt) = doubt(facts) {
        return Verdict::silent(doubt.because());
    }
    if !about.iter().all(|request| is_client_of(request, facts)) {
        return Verdict::silent("it was answered in another client");
    }
    let with = |wanted: Answer| {
        let answered = about
            .iter()
            .filter(|request| question::answer(facts.event.host, facts.tool_response, request) == wanted);
        answered.copied().collect::<Vec<&Request>>()
    };
    let (approved, declined) = (with(Answer::Approval), with(Answer::Other));
    if approved.is_empty() && declined.is_empty() {
        return Verdict::silent("the question was not answered");
    }
    let mut verdict = decline(&declined);
    if !approved.is_empty() {
        let given = give(facts, &approved, "a person answered the question");
        verdict.because = given.because;
        verdict.says.extend(given.says);
        verdict.effects.extend(given.effects);
    }
    verdict
}

/// Any other tool: a code in its input is on its way to where it could come back as a prompt.
fn mentioned(facts: &Facts<'_>, requests: &[Request]) -> Verdict {
    let about =
        |request: &&Request| request.waits(facts.now) && question::holds(facts.tool_input, &request.code);
    let about: Vec<&Request> = requests.iter().filter(about).collect();
    if about.is_empty() {
        return Verdict::silent("no code in the call");
    }
    void(facts, &about, "the code was part of a tool call")
}

/// Shows the person what they are asked for, once: the model may word it as it likes.
fn show(facts: &Facts<'_>, requests: &[Request], mut verdict: Verdict) -> Verdict {
    let is_new = |request: &&Request| !request.shown && request.waits(facts.now);
    if !verdict.effects.is_empty() || !facts.event.is_main_thread() || !facts.person.may_be_there() {
        return verdict;
    }
    for request in requests.iter().filter(|request| request.is_refusal_unsaid()) {
        let said = Request { shown: true, ..request.clone() };
        verdict.because = "the person is told that a yes was not theirs";
        verdict.says.push(Say {
            when_said: vec![Effect::mark(Mark::Approval(said))],
            ..say(Audience::User, words::refused(facts.lang, &request.wording()))
        });
    }
    for request in requests.iter().filter(is_new) {
        let shown = Request { shown: true, ..request.clone() };
        verdict.because = "the person is shown what is asked of them";
        verdict.says.push(Say {
            when_said: vec![Effect::mark(Mark::Approval(shown))],
            ..say(Audience::User, words::asked(facts.lang, &request.code, &request.wording()))
        });
    }
    verdict
}

fn give(facts: &Facts<'_>, requests: &[&Request], because: &'static str) -> Verdict {
    let mut verdict = Verdict::silent(because);
    for request in requests {
        let given = Request { stage: ApprovalStage::Given, at: facts.now, ..(*request).clone() };
        let command = &request.command;
        // A digest says nothing to a person, and what the model told them need not be what they approve.
        let meaning = request.terms().last().filter(|_| request.about.is_some());
        let what = meaning.unwrap_or_else(|| request.wording());
        verdict.says.push(say(Audience::User, words::approved(facts.lang, &what)));
        verdict.says.push(say(
            Audience::Model,
            format!(
                "The person approved `tidegate {command}` once. Within ten minutes, `tidegate {command} --approved` \
                 carries it out."
            ),
        ));
        verdict.effects.push(Effect::mark(Mark::Approval(given)));
    }
    verdict
}

/// A question is put once: another answer than yes ends the request.
fn decline(requests: &[&Request]) -> Verdict {
    let mut verdict = Verdict::silent("the answer is no approval");
    for request in requests {
        let void = Request { stage: ApprovalStage::Void, ..(*request).clone() };
        let text = format!(
            "The person did not approve `tidegate {}`: only the answer `approve` does. That request is closed.",
            request.command
        );
        verdict.says.push(say(Audience::Model, text));
        verdict.effects.push(Effect::mark(Mark::Approval(void)));
    }
    verdict
}

fn void(facts: &Facts<'_>, requests: &[&Request], because: &'static str) -> Verdict {
    let mut verdict = Verdict::silent(because);
    for request in requests {
        let code = &request.code;
        let command = request.terms().next().unwrap_or_default();
        let void = Request { stage: ApprovalStage::Void, ..(*request).clone() };
        verdict.says.push(say(Audience::User, words::void(facts.lang, code, &command)));
        verdict.says.push(say(
            Audience::Model,
            format!("The code {code} was in a tool call, so it is void: only a person can give an approval."),
        ));
        verdict.effects.push(Effect::mark(Mark::Approval(void)));
    }
    verdict
}

const HIDES: &str = "That is not the question that Tidegate gave, so an answer to it approves nothing";

/// How the model asks so that an answer counts.
fn ask_again(host: Host, request: &Request) -> String {
    let ask = |QuestionCall { tool, input }| format!("Ask with {tool} and exactly this input: {input}");
    to_ask(host, request).map(ask).unwrap_or_default()
}

fn say(to: Audience, text: String) -> Say {
    Say { to, text, weight: 90, explains: true, when_said: Vec::new() }
}
