//! Relays from the entries of a transcript: a person's prompt, and everything up to the next one.
//!
//! Only as much is kept as a log holds, so a relay may be of any length. Secrets are removed before anything
//! is cut: half a key could not be recognised. The rules with examples are in `relay.md`.

use std::collections::BTreeMap;

use crate::event::action::{OWN_HEADER, QuestionAnswers};
use crate::feature::memory::job::AnswerDigest;
use crate::feature::memory::said::{AnsweredQuestion, Said, SaidParts};
use crate::feature::memory::tag as meta_tag;
use crate::feature::memory::tag::TopicTag;
use crate::host::transcript::{
    AnswerEntry as Message, CallTask, CallText, ContentPart, EntryContent, EntryKind, LazyText, PromptEntry,
    Sought, ToolCall, ToolResult, TranscriptEntry,
};
use crate::redact::{Found, redact};
use crate::text::cut::{cut_middle, cut_to_word, first_bytes};
use crate::text::fnv;
use crate::text::one_line::single_spaced;
use crate::time::Millis;

/// Bytes kept of a prompt and of an answer, from the beginning and from the end.
const PROMPT: (usize, usize) = (6 * 1024, 2 * 1024);
const ANSWER: (usize, usize) = (5 * 1024, 3 * 1024);

/// Most characters of a command line, or of an agent's task.
const TASK: usize = 120;

/// Most answered questions that are kept apart.
const ANSWERED: usize = 50;

/// Most calls of commands, agents and questions whose results are awaited at once.
const AWAITED: usize = 100;

/// Most written files, and most tools, that are named.
const FILES: usize = 100;
const TOOLS: usize = 100;
const LONGEST_NAME: usize = 1024;
/// Far more than is kept of a command line, so that no secret is cut in half.
const LONGEST_COMMAND: usize = 64 * 1024;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Relay {
    /// The uuid of its prompt.
    pub uid: String,
    /// The session that the host wrote it for.
    pub session: Option<String>,
    /// The branch at its beginning.
    pub branch: Option<String>,
    /// The time of the prompt.
    pub at: Millis,
    /// The time of its last entry.
    pub ended: Millis,
    /// With later additions while the model worked; a long text is cut in the middle.
    pub prompt: String,
    /// The last text of the main thread that is more than a tag; a long text is cut in the middle.
    pub answer: String,
    /// All that was said, the answer included; long texts are cut in the middle.
    pub said: Vec<Said>,
    /// Questions of the model that the person answered, the first few.
    pub answered: Vec<AnsweredQuestion>,
    /// The last tag.
    pub tag: Option<TopicTag>,
    /// Number of uses of each tool.
    pub tools: BTreeMap<String, u32>,
    /// Written files, in the order of the last write to each.
    pub files: Vec<String>,
    /// The conversation was compacted meanwhile.
    pub compacted: bool,
    /// The person interrupted it, and no answer came since.
    pub interrupted: bool,
    /// The reason why the host could not get an answer, if none came since.
    pub failed: Option<String>,
    /// Secrets removed from the prompt, from what was said and from the names of branch and files.
    pub redacted: Found,
}

/// Takes entries, oldest first, and gives relays.
#[derive(Debug)]
pub struct RelayExtract {
    current: Option<RelayBuilder>,
    expected: Option<AnswerDigest>,
    seen: bool,
}

/// A relay under way.
#[derive(Debug, Default)]
struct RelayBuilder {
    relay: Relay,
    /// The message of the last text, and all its blocks unless they are too long to be recognised.
    message: String,
    blocks: Vec<String>,
    said: SaidParts,
    /// Secrets removed from the prompt, and from what was said.
    in_prompt: Found,
    in_said: Found,
    /// Secrets removed from the names of branch and files.
    in_names: Found,
    /// Call and file of each write, until its result is known.
    calls: Vec<(String, String)>,
    /// Calls whose results belong to what was said.
    awaited: Vec<(String, AwaitedCall)>,
    /// The call of each answered question.
    asked_by: Vec<String>,
}

#[derive(Debug)]
enum AwaitedCall {
    Command(String),
    Agent(String),
    Question,
}

/// A longer answer is not recognised.
const LONGEST_ANSWER: usize = 4 * 1024 * 1024;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RelayStep {
    /// The entry belongs to the relay under way, or to none.
    Within,
    /// The entry begins a relay. Holds the previous one, which is complete.
    Begins(Option<Box<Relay>>),
}

impl RelayExtract {
    /// The entries that matter.
    pub const SOUGHT: [Sought; 5] =
        [Sought::Prompts, Sought::Answers, Sought::Boundaries, Sought::Added, Sought::Rewritten];

    /// May begin anywhere: entries before the first prompt belong to no relay.
    pub fn new(expected: Option<AnswerDigest>) -> RelayExtract {
        RelayExtract { current: None, expected, seen: false }
    }

    pub fn entry(&mut self, entry: &TranscriptEntry<'_>) -> RelayStep {
        if entry.is_of_agent {
            return RelayStep::Within;
        }
        match &entry.kind {
            EntryKind::Prompt(prompt) => match prompt.typed() {
                Some(prompt) => return self.begin(entry, &prompt),
                None => self.with(|building| {
                    building.conclude("", prompt.conclusion.as_ref());
                    building.input(entry);
                }),
            },
            EntryKind::Result(result) => {
                self.with(|building| {
                    building.results(entry, result);
                    building.input(entry);
                });
            }
            EntryKind::Answer(message) => {
                self.with(|building| building.assistant(entry, message));
                if let (Some(expected), Some(building)) = (&self.expected, &self.current) {
                    self.seen |= building.is_answer(expected);
                }
            }
            EntryKind::Added(prompt) => self.with(|building| building.added(entry, prompt)),
            EntryKind::Rewritten(call) => self.with(|building| building.rewritten(call)),
            EntryKind::Boundary(_) => self.with(|building| building.relay.compacted = true),
            EntryKind::Other
            | EntryKind::Began(_)
            | EntryKind::Ended(_)
            | EntryKind::Patched(_)
            | EntryKind::Count(_) => {}
        }
        RelayStep::Within
    }

    /// Whether the expected answer is in the relay under way.
    pub fn answered(&self) -> bool {
        self.seen
    }

    /// The relay under way, as far as it went.
    pub fn finish(self) -> Option<Relay> {
        self.current.map(RelayBuilder::done)
    }

    fn begin(&mut self, entry: &TranscriptEntry<'_>, prompt: &str) -> RelayStep {
        let clean = redact(prompt);
        let name = |name: Option<&str>| name.map(shorten_name).filter(|name| !name.is_empty());
        let branch = redact(entry.branch.as_deref().unwrap_or_default());
        let at = entry.at.unwrap_or_default();
        let relay = Relay {
            // Every prompt has an id; if not, the line's hash is as good.
            uid: name(entry.id.as_deref())
                .unwrap_or_else(|| format!("{:016x}", fnv::hash(entry.line.iter().copied()))),
            session: name(entry.session.as_deref()),
            branch: Some(shorten_name(&branch.text)).filter(|branch| !matches!(branch.as_str(), "" | "HEAD")),
            at,
            ended: at,
            prompt: cut_middle(&clean.text, PROMPT),
            ..Relay::default()
        };
        self.seen = false;
        let building =
            RelayBuilder { relay, in_prompt: clean.found, in_names: branch.found, ..RelayBuilder::default() };
        let before = self.current.replace(building);
        RelayStep::Begins(before.map(|building| Box::new(building.done())))
    }

    fn with(&mut self, change: impl FnOnce(&mut RelayBuilder)) {
        if let Some(building) = &mut self.current {
            change(building);
        }
    }
}

pub fn begins_relay(entry: &TranscriptEntry<'_>) -> bool {
    relay_start(entry).is_some()
}

/// The time of the prompt that begins a relay. Without a time it counts as later than everything.
pub fn relay_start(entry: &TranscriptEntry<'_>) -> Option<Millis> {
    let is_main = !entry.is_of_agent;
    let begins = matches!(&entry.kind, EntryKind::Prompt(prompt) if is_main && prompt.typed().is_some());
    begins.then(|| entry.at.unwrap_or(Millis(u64::MAX)))
}

impl RelayBuilder {
    fn touch(&mut self, entry: &TranscriptEntry<'_>) {
        self.relay.ended = entry.at.unwrap_or_default().max(self.relay.ended);
    }

    /// Entries in the place of prompts, mostly results of tools.
    fn input(&mut self, entry: &TranscriptEntry<'_>) {
        let Some(parts) = entry.content.and_then(EntryContent::parts) else { return };
        for part in parts {
            match part {
                ContentPart::Result(result) if result.failed => {
                    self.calls.retain(|(id, _)| Some(id.as_str()) != result.call.as_deref());
                }
                ContentPart::Interruption => self.relay.interrupted = true,
                _ => {}
            }
        }
        self.touch(entry);
    }

    /// Answers of a person, conclusions of agents, and commands that failed.
    fn results(&mut self, entry: &TranscriptEntry<'_>, result: &ToolResult<'_>) {
        if self.awaited.is_empty() {
            return;
        }
        for part in entry.parts() {
            let ContentPart::Result(part) = part else { continue };
            let found = self.awaited.iter().position(|(id, _)| Some(id.as_str()) == part.call.as_deref());
            match found.map(|at| self.awaited.remove(at).1) {
                Some(AwaitedCall::Question) => {
                    if let Some(answers) = result.answers() {
                        self.answered(part.call.as_deref().unwrap_or_default(), answers);
                    }
                }
                Some(AwaitedCall::Agent(task)) => self.conclude(&task, part.conclusion.as_ref()),
                Some(AwaitedCall::Command(command)) => {
                    if let Some(printed) = part.failure.as_ref().and_then(LazyText::text) {
                        let printed = redact(&printed);
                        self.in_said.merge(&printed.found);
                        self.said.push(Said::failure(command, &printed.text));
                    }
                }
                None => {}
            }
        }
    }

    /// A hook may have put the answer into the question: older clients do not write down who decided.
    fn rewritten(&mut self, call: &str) {
        self.awaited.retain(|(id, awaited)| id != call || !matches!(awaited, AwaitedCall::Question));
        let mut asked_by = self.asked_by.iter();
        self.relay.answered.retain(|_| asked_by.next().is_none_or(|id| id != call));
        self.asked_by.retain(|id| id != call);
    }

    fn answered(&mut self, call: &str, answers: QuestionAnswers) {
        // An approval of a command is not worth remembering.
        if answers.only.is_some_and(|question| question.header == OWN_HEADER) {
            return;
        }
        for given in answers.given {
            let Some(answer) = given.text else { continue };
            let (question, answer) = (redact(&given.question), redact(&answer));
            self.in_said.merge(&question.found);
            self.in_said.merge(&answer.found);
            let answered = AnsweredQuestion::new(&question.text, &answer.text);
            if self.relay.answered.len() < ANSWERED {
                self.relay.answered.push(answered.clone());
                self.asked_by.push(call.to_owned());
            }
            self.said.push(Said::Answer(answered));
        }
    }

    fn conclude(&mut self, task: &str, conclusion: Option<&LazyText<'_>>) {
        let Some(text) = conclusion.and_then(LazyText::text) else { return };
        let clean = redact(&text);
        let text = cut_middle(&clean.text, ANSWER);
        if !text.is_empty() {
            self.in_said.merge(&clean.found);
            self.said.push(Said::Conclusion(if task.is_empty() { text } else { format!("{task}: {text}") }));
        }
    }

    fn assistant(&mut self, entry: &TranscriptEntry<'_>, message: &Message<'_>) {
        let Some(parts) = entry.content.and_then(EntryContent::parts) else { return };
        if entry.is_error {
            let why = parts.iter().find_map(ContentPart::text).map(|text| text.head(512)).unwrap_or_default();
            self.relay.failed = Some(redact(&why).text.into_owned());
            self.touch(entry);
            return;
        }
        if message.is_of_host {
            return;
        }
        self.touch(entry);
        for part in &parts {
            match part {
                ContentPart::Text(text) => {
                    let text = text.lossy();
                    if !text.trim().is_empty() {
                        self.said(&message.message, &text);
                    }
                }
                ContentPart::Call(call) => self.called(call),
                ContentPart::Result(_) | ContentPart::Interruption => {}
            }
        }
    }

    /// A text of the main thread.
    fn said(&mut self, id: &str, text: &str) {
        (self.relay.interrupted, self.relay.failed) = (false, None);
        if let Some(tag) = meta_tag::find_last(text) {
            self.relay.tag = Some(tag);
        }
        let same = !id.is_empty() && id == self.message;
        if !same {
            self.blocks.clear();
            self.message = shorten_name(id);
        }
        let held: usize = self.blocks.iter().map(String::len).sum();
        if held + text.len() <= LONGEST_ANSWER {
            self.blocks.push(text.to_owned());
        } else {
            // Neither a part of an answer nor an answer of that length is recognised.
            self.blocks = vec![cut_middle(text, ANSWER)];
        }
        if meta_tag::without_tags(text).trim().is_empty() {
            return;
        }
        let clean = redact(text);
        let before = std::mem::take(&mut self.relay.answer);
        self.in_said.merge(&clean.found);
        if same && !before.is_empty() {
            self.relay.answer = cut_middle(&format!("{before}\n\n{}", clean.text), ANSWER);
            self.said.extend_text(&cut_middle(&clean.text, ANSWER));
            return;
        }
        self.relay.answer = cut_middle(&clean.text, ANSWER);
        self.said.push(Said::Text(self.relay.answer.clone()));
    }

    fn called(&mut self, call: &ToolCall<'_>) {
        let tool = shorten_name(&call.tool);
        if tool.is_empty() {
            return;
        }
        if let Some(count) = self.relay.tools.get_mut(&tool) {
            *count = count.saturating_add(1);
        } else if self.relay.tools.len() < TOOLS {
            self.relay.tools.insert(tool, 1);
        }
        for path in &call.files {
            self.writes(shorten_name(&call.id), path);
        }
        let text = |text: &CallText<'_>| one_line(&redact(&text.head(LONGEST_COMMAND)).text);
        let awaited = match &call.task {
            CallTask::Command(command) => AwaitedCall::Command(text(command)),
            CallTask::Agent(task) => AwaitedCall::Agent(task.as_ref().map(text).unwrap_or_default()),
            CallTask::Question => AwaitedCall::Question,
            CallTask::Other => return,
        };
        if self.awaited.len() == AWAITED {
            self.awaited.remove(0);
        }
        self.awaited.push((shorten_name(&call.id), awaited));
    }

    fn writes(&mut self, id: String, path: &str) {
        let clean = redact(path);
        let path = shorten_name(&clean.text);
        if !clean.found.is_empty() && !self.calls.iter().any(|(_, known)| *known == path) {
            self.in_names.merge(&clean.found);
        }
        self.calls.push((id, path));
        // A file that is written repeatedly counts once; the oldest are dropped.
        if self.calls.len() > 4 * FILES {
            let files = self.files();
            self.calls = files.into_iter().map(|path| (String::new(), path)).collect();
        }
    }

    /// A prompt that a person typed while the model worked.
    fn added(&mut self, entry: &TranscriptEntry<'_>, prompt: &PromptEntry<'_>) {
        self.conclude("", prompt.conclusion.as_ref());
        let Some(text) = prompt.typed() else { return };
        let clean = redact(&text);
        self.relay.prompt = cut_middle(&format!("{}\n\n{}", self.relay.prompt, clean.text), PROMPT);
        self.in_prompt.merge(&clean.found);
        self.touch(entry);
    }

    /// Whether the last text is the answer that the host sent. The host joins the blocks of one message.
    fn is_answer(&self, expected: &AnswerDigest) -> bool {
        let is = |text: &str| text.len() as u64 == expected.bytes && fnv::hash(text.bytes()) == expected.hash;
        let either = |text: &str| is(text) || is(text.trim());
        let Some(last) = self.blocks.last() else { return false };
        either(last)
            || self.blocks.len() > 1 && ["", "\n", "\n\n"].iter().any(|by| either(&self.blocks.join(by)))
    }

    /// Each once, in the order of the last write to each.
    fn files(&self) -> Vec<String> {
        let mut files: Vec<String> = Vec::new();
        for (_, path) in self.calls.iter().rev() {
            if files.len() < FILES && !files.contains(path) {
                files.push(path.clone());
            }
        }
        files.reverse();
        files
    }

    fn done(mut self) -> Relay {
        self.relay.files = self.files();
        self.relay.said = self.said.done();
        self.relay.redacted = self.in_prompt;
        self.relay.redacted.merge(&self.in_said);
        self.relay.redacted.merge(&self.in_names);
        self.relay
    }
}

fn one_line(text: &str) -> String {
    cut_to_word(&single_spaced(text), TASK).into_owned()
}

fn shorten_name(text: &str) -> String {
    first_bytes(text, LONGEST_NAME).to_owned()
}
