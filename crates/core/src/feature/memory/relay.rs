//! Relays from the lines of a transcript: a person's prompt, and what became of it up to the next one.
//!
//! The format is the host's own and changes: what does not parse, and what is not known, is passed over. Of everything only so
//! much is kept as a log holds, so a relay may be of any length. Secrets are taken out before anything is cut: of half a key
//! nobody could tell what it is. The rules with examples are in `relay.md`.

use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};

use serde::de::{IgnoredAny, MapAccess, SeqAccess};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::feature::memory::job::Answer;
use crate::feature::memory::tag as meta_tag;
use crate::feature::memory::tag::MetaTag;
use crate::host::claude_code::MACHINE;
use crate::redact::{Found, redact};
use crate::text::fnv;
use crate::text::json::{Field, LongText, Member, read_object, wire_key, wire_object};
use crate::text::search;
use crate::text::search::Needle;
use crate::time::Millis;

/// How much of a prompt and of an answer is kept, from the beginning and from the end.
const PROMPT: (usize, usize) = (6 * 1024, 2 * 1024);
const ANSWER: (usize, usize) = (5 * 1024, 3 * 1024);

/// What was said on the way: so many texts of this length.
const TEXTS: usize = 24;
const TEXT: (usize, usize) = (300, 100);

/// How many written files are named, and how many kinds of tools.
const FILES: usize = 100;
const TOOLS: usize = 100;
const LONGEST_NAME: usize = 1024;

/// A relay.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Relay {
    /// The uuid of its prompt.
    pub uid: String,
    /// The session that the host wrote it for.
    pub session: Option<String>,
    /// The branch at its beginning.
    pub branch: Option<String>,
    /// When the prompt was given.
    pub at: Millis,
    /// When the last thing happened that belongs to it.
    pub ended: Millis,
    /// What was asked, and what was added while the model worked; cut in the middle where it is long.
    pub prompt: String,
    /// The last text of the main thread that is more than a tag; cut in the middle where it is long.
    pub answer: String,
    /// What was said before that, oldest first: the last few, cut.
    pub texts: Vec<String>,
    /// The last tag.
    pub tag: Option<MetaTag>,
    /// How often each tool was used.
    pub tools: BTreeMap<String, u32>,
    /// Files that were written, in the order of the last write to each.
    pub files: Vec<String>,
    /// The conversation was compacted meanwhile.
    pub compacted: bool,
    /// The person interrupted it, and nothing was answered since.
    pub interrupted: bool,
    /// The host could not get an answer, for this reason, and got none since.
    pub failed: Option<String>,
    /// What was taken out of the prompt, the answer and the names of branch and files.
    pub redacted: Found,
}

/// Takes lines, oldest first, and gives relays.
#[derive(Debug)]
pub struct Extract {
    current: Option<Building>,
    of_interest: [Needle; 4],
    expected: Option<Answer>,
    seen: bool,
}

/// A relay under way.
#[derive(Debug, Default)]
struct Building {
    relay: Relay,
    /// The message that the last text belongs to, and its whole text as long as that is not too long to be recognised.
    message: String,
    blocks: Vec<String>,
    texts: VecDeque<String>,
    /// What was taken out of the prompt, and out of the answer.
    in_prompt: Found,
    in_answer: Found,
    /// What was taken out of the branch's name and those of files.
    in_names: Found,
    /// Calls that write, until their result is known: the call and the file.
    calls: Vec<(String, String)>,
}

/// A longer answer is not recognised.
const LONGEST_ANSWER: usize = 4 * 1024 * 1024;

/// What a line did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// It belongs to the relay under way, or to none.
    Within,
    /// It begins a relay. The one before is whole.
    Begins(Option<Box<Relay>>),
}

impl Extract {
    /// Begins anywhere. What comes before the first prompt belongs to no relay.
    pub fn new(expected: Option<Answer>) -> Extract {
        let of_interest = ["\"user\"", "\"assistant\"", "compact_boundary", "queued_command"];
        let of_interest = of_interest.map(|text| Needle::new(text.as_bytes()));
        Extract { current: None, of_interest, expected, seen: false }
    }

    /// Takes the next line.
    pub fn line(&mut self, line: &[u8]) -> Step {
        if !self.of_interest.iter().any(|needle| needle.is_in(line)) {
            return Step::Within;
        }
        let Ok(entry) = read_object::<Entry<'_>>(line) else { return Step::Within };
        if entry.sidechain.get() == Some(&true) {
            return Step::Within;
        }
        match entry.kind.get().map(AsRef::as_ref) {
            Some("user") => match entry.prompt() {
                Some(prompt) => return self.begin(&entry, line, &prompt),
                None => self.with(|building| building.user(&entry)),
            },
            Some("assistant") => {
                self.with(|building| building.assistant(&entry));
                if let (Some(expected), Some(building)) = (&self.expected, &self.current) {
                    self.seen |= building.is_answer(expected);
                }
            }
            Some("attachment") => self.with(|building| building.attachment(&entry)),
            Some("system") if entry.subtype.get().is_some_and(|kind| kind == "compact_boundary") => {
                self.with(|building| building.relay.compacted = true);
            }
            _ => {}
        }
        Step::Within
    }

    /// Whether the answer that is expected is in the relay under way.
    pub fn answered(&self) -> bool {
        self.seen
    }

    /// The relay under way, as far as it went.
    pub fn finish(self) -> Option<Relay> {
        self.current.map(Building::done)
    }

    fn begin(&mut self, entry: &Entry<'_>, line: &[u8], prompt: &str) -> Step {
        let clean = redact(prompt);
        let text =
            |field: &Field<Cow<'_, str>>| field.get().map(|text| shortened(text)).filter(|t| !t.is_empty());
        let branch = redact(entry.branch.get().map(AsRef::as_ref).unwrap_or_default());
        let at = entry.at().unwrap_or_default();
        let relay = Relay {
            // Every prompt has one; should it not, what is in the line is as good a name.
            uid: text(&entry.uuid).unwrap_or_else(|| format!("{:016x}", fnv::hash(line.iter().copied()))),
            session: text(&entry.session),
            branch: Some(shortened(&branch.text)).filter(|branch| !matches!(branch.as_str(), "" | "HEAD")),
            at,
            ended: at,
            prompt: cut(&clean.text, PROMPT),
            ..Relay::default()
        };
        self.seen = false;
        let building =
            Building { relay, in_prompt: clean.found, in_names: branch.found, ..Building::default() };
        let before = self.current.replace(building);
        Step::Begins(before.map(|building| Box::new(building.done())))
    }

    fn with(&mut self, change: impl FnOnce(&mut Building)) {
        if let Some(building) = &mut self.current {
            change(building);
        }
    }
}

/// Whether a relay begins at this line.
pub fn begins(line: &[u8]) -> bool {
    beginning(line).is_some()
}

/// When the prompt was given with which a relay begins at this line. Without a time in it that is later than everything.
pub fn beginning(line: &[u8]) -> Option<Millis> {
    search::find(line, b"\"user\"")?;
    let entry = read_object::<Entry<'_>>(line).ok()?;
    let begins = entry.kind.get().is_some_and(|kind| kind == "user")
        && entry.sidechain.get() != Some(&true)
        && entry.prompt().is_some();
    begins.then(|| entry.at().unwrap_or(Millis(u64::MAX)))
}

impl Building {
    fn touch(&mut self, entry: &Entry<'_>) {
        self.relay.ended = entry.at().unwrap_or_default().max(self.relay.ended);
    }

    /// A line that stands where prompts do: results of tools, above all.
    fn user(&mut self, entry: &Entry<'_>) {
        let Some(content) = entry.message.get().and_then(|message| message.content.get()) else { return };
        match content {
            Content::Text(text) if is_interruption(&text.head(64)) => self.relay.interrupted = true,
            Content::Text(_) => {}
            Content::Blocks(blocks) => {
                for block in blocks {
                    let failed = block.failed.get() == Some(&true);
                    if let Some(call) = block.call.get().filter(|_| failed) {
                        self.calls.retain(|(id, _)| id != call);
                    }
                    let text = block.text.get().map(|text| text.head(64)).unwrap_or_default();
                    self.relay.interrupted |= is_interruption(&text);
                }
            }
        }
        self.touch(entry);
    }

    fn assistant(&mut self, entry: &Entry<'_>) {
        let Some(message) = entry.message.get() else { return };
        let Some(Content::Blocks(blocks)) = message.content.get() else { return };
        if entry.api_error.get() == Some(&true) {
            let why = blocks.iter().find_map(|block| block.text.get()).map(|text| text.head(512));
            self.relay.failed = Some(redact(&why.unwrap_or_default()).text.into_owned());
            self.touch(entry);
            return;
        }
        if message.model.get().is_some_and(|model| model == "<synthetic>") {
            return;
        }
        self.touch(entry);
        for block in blocks {
            match block.kind.get().map(AsRef::as_ref) {
                Some("text") => {
                    let text = block.text.get().map(|text| text.lossy()).unwrap_or_default();
                    if !text.trim().is_empty() {
                        let id = message.id.get().map(AsRef::as_ref).unwrap_or_default();
                        self.said(id, &text);
                    }
                }
                Some("tool_use") => self.called(block),
                _ => {}
            }
        }
    }

    /// A text of the main thread.
    fn said(&mut self, id: &str, text: &str) {
        (self.relay.interrupted, self.relay.failed) = (false, None);
        if let Some(tag) = meta_tag::find(text) {
            self.relay.tag = Some(tag);
        }
        let same = !id.is_empty() && id == self.message;
        if !same {
            self.blocks.clear();
            self.message = shortened(id);
        }
        let held: usize = self.blocks.iter().map(String::len).sum();
        if held + text.len() <= LONGEST_ANSWER {
            self.blocks.push(text.to_owned());
        } else {
            // Part of an answer is not recognised; and an answer of that length not at all.
            self.blocks = vec![cut(text, ANSWER)];
        }
        if meta_tag::without(text).trim().is_empty() {
            return;
        }
        let clean = redact(text);
        let before = std::mem::take(&mut self.relay.answer);
        if same && !before.is_empty() {
            self.relay.answer = cut(&format!("{before}\n\n{}", clean.text), ANSWER);
            self.in_answer.merge(&clean.found);
            return;
        }
        if !before.is_empty() {
            if self.texts.len() == TEXTS {
                self.texts.pop_front();
            }
            self.texts.push_back(cut(&before, TEXT));
        }
        self.relay.answer = cut(&clean.text, ANSWER);
        self.in_answer = clean.found;
    }

    fn called(&mut self, block: &Block<'_>) {
        let Some(name) = block.name.get().map(|name| shortened(name)).filter(|name| !name.is_empty()) else {
            return;
        };
        let writes = matches!(name.as_str(), "Edit" | "Write" | "MultiEdit" | "NotebookEdit");
        if let Some(count) = self.relay.tools.get_mut(&name) {
            *count = count.saturating_add(1);
        } else if self.relay.tools.len() < TOOLS {
            self.relay.tools.insert(name, 1);
        }
        let Some(input) = block.input.get().filter(|_| writes) else { return };
        let Some(path) = input.file_path.get().or(input.notebook_path.get()).filter(|path| !path.is_empty())
        else {
            return;
        };
        let id = block.id.get().map(|id| shortened(id)).unwrap_or_default();
        let clean = redact(path);
        let path = shortened(&clean.text);
        if !clean.found.is_empty() && !self.calls.iter().any(|(_, known)| *known == path) {
            self.in_names.merge(&clean.found);
        }
        self.calls.push((id, path));
        // Written again and again, a file is one; the oldest go first.
        if self.calls.len() > 4 * FILES {
            let files = self.files();
            self.calls = files.into_iter().map(|path| (String::new(), path)).collect();
        }
    }

    /// What a person typed while the model worked.
    fn attachment(&mut self, entry: &Entry<'_>) {
        let Some(text) = entry.queued_prompt() else { return };
        let clean = redact(&text);
        self.relay.prompt = cut(&format!("{}\n\n{}", self.relay.prompt, clean.text), PROMPT);
        self.in_prompt.merge(&clean.found);
        self.touch(entry);
    }

    /// Whether the last text is the answer that the host told of. Blocks of one message are one text there.
    fn is_answer(&self, expected: &Answer) -> bool {
        let is = |text: &str| text.len() as u64 == expected.bytes && fnv::hash(text.bytes()) == expected.hash;
        let either = |text: &str| is(text) || is(text.trim());
        let Some(last) = self.blocks.last() else { return false };
        either(last)
            || self.blocks.len() > 1 && ["", "\n", "\n\n"].iter().any(|by| either(&self.blocks.join(by)))
    }

    /// The last files, each once, in the order of the last write to each.
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
        self.relay.texts = self.texts.into();
        self.relay.redacted = self.in_prompt;
        self.relay.redacted.merge(&self.in_answer);
        self.relay.redacted.merge(&self.in_names);
        self.relay
    }
}

/// What a person typed, by a line of the transcript of the main thread.
pub fn typed_prompt(line: &[u8]) -> Option<String> {
    let entry = read_object::<Entry<'_>>(line).ok()?;
    if entry.sidechain.get() == Some(&true) {
        return None;
    }
    match entry.kind.get().map(AsRef::as_ref) {
        Some("user") => entry.prompt(),
        Some("attachment") => entry.queued_prompt(),
        _ => None,
    }
}

impl Entry<'_> {
    fn at(&self) -> Option<Millis> {
        self.timestamp.get().and_then(|text| Millis::from_iso(text))
    }

    /// What a person typed while the model worked.
    fn queued_prompt(&self) -> Option<String> {
        let attachment = self.attachment.get()?;
        let queued = attachment.kind.get().is_some_and(|kind| kind == "queued_command");
        let of_person = attachment.human_turn.get() == Some(&true)
            || attachment
                .origin
                .get()
                .and_then(|origin| origin.kind.get())
                .is_some_and(|kind| kind == "human");
        let mode = attachment.mode.get().map(AsRef::as_ref);
        if !queued || !of_person || !matches!(mode, None | Some("prompt")) {
            return None;
        }
        attachment.prompt.get().map(words).filter(|text| is_of_a_person(text))
    }

    /// What a person asked here, if a person did.
    fn prompt(&self) -> Option<String> {
        let is = |field: &Field<bool>| field.get() == Some(&true);
        if self.result != Field::Missing || is(&self.meta) || is(&self.summary) || is(&self.visible_only) {
            return None;
        }
        let origin = self.turn_origin.get().map(AsRef::as_ref);
        let source = self.source.get().map(AsRef::as_ref);
        if source == Some("system") || !matches!(origin, None | Some("human" | "sdk")) {
            return None;
        }
        let content = self.message.get().and_then(|message| message.content.get())?;
        let text = words(content);
        if let Some(command) = typed_command(&text) {
            // What a person runs in the client alone has no turn, and so no origin of one.
            return origin.is_some().then_some(command);
        }
        if let Some(line) =
            between(&text, "<bash-input>", "</bash-input>").filter(|_| text.starts_with("<bash-input>"))
        {
            return Some(format!("! {}", line.trim()));
        }
        is_of_a_person(&text).then_some(text)
    }
}

/// The text of a prompt, where images are named; nothing for the results of tools.
fn words(content: &Content<'_>) -> String {
    let blocks = match content {
        Content::Text(text) => return text.lossy().trim().to_owned(),
        Content::Blocks(blocks) => blocks,
    };
    let mut text = String::new();
    for block in blocks {
        let part = match block.kind.get().map(AsRef::as_ref) {
            Some("tool_result") => return String::new(),
            Some("image") => Cow::Borrowed("[image]"),
            Some("document") => Cow::Borrowed("[document]"),
            Some("text") => block.text.get().map(|text| text.lossy()).unwrap_or_default(),
            _ => continue,
        };
        // Reminders of the host's stand beside what was typed.
        let part = part.trim();
        if part.is_empty() || blocks.len() > 1 && part.starts_with("<system-reminder>") {
            continue;
        }
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(part);
    }
    text
}

fn is_of_a_person(text: &str) -> bool {
    const OUTPUT: [&str; 2] = ["<bash-stdout>", "<bash-stderr>"];
    let text = text.trim_start();
    let machine = MACHINE.iter().chain(&OUTPUT).any(|start| text.starts_with(start));
    !text.is_empty() && !machine && !is_interruption(text)
}

fn is_interruption(text: &str) -> bool {
    text.trim_start().starts_with("[Request interrupted by user")
}

/// `/name arguments` from the form in which the client writes a command down.
fn typed_command(text: &str) -> Option<String> {
    if !text.starts_with("<command-message>") && !text.starts_with("<command-name>") {
        return None;
    }
    let name = between(text, "<command-name>", "</command-name>")
        .or_else(|| between(text, "<command-message>", "</command-message>"))?;
    let name = name.trim().trim_start_matches('/');
    let arguments = between(text, "<command-args>", "</command-args>").unwrap_or_default().trim();
    Some(format!("/{name} {arguments}").trim_end().to_owned())
}

fn between<'a>(text: &'a str, open: &str, close: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(open)?;
    rest.split_once(close).map(|(inner, _)| inner)
}

/// A text of at most so many bytes from the beginning and from the end, with `…` where something is missing.
pub fn cut(text: &str, (head, tail): (usize, usize)) -> String {
    let text = text.trim();
    if text.len() <= head + tail {
        return text.to_owned();
    }
    let first = &text[..text.floor_char_boundary(head)];
    let last = &text[text.ceil_char_boundary(text.len() - tail)..];
    format!("{}\n…\n{}", first.trim_end(), last.trim_start())
}

fn shortened(text: &str) -> String {
    text[..text.floor_char_boundary(LONGEST_NAME)].to_owned()
}

wire_object! {
    /// One line of a transcript.
    struct Entry<'a> {
        kind as "type": Cow<'a, str>,
        subtype: Cow<'a, str>,
        uuid: Cow<'a, str>,
        timestamp: Cow<'a, str>,
        session as "sessionId": Cow<'a, str>,
        branch as "gitBranch": Cow<'a, str>,
        sidechain as "isSidechain": bool,
        meta as "isMeta": bool,
        summary as "isCompactSummary": bool,
        visible_only as "isVisibleInTranscriptOnly": bool,
        api_error as "isApiErrorMessage": bool,
        source as "promptSource": Cow<'a, str>,
        turn_origin as "turnOrigin": Cow<'a, str>,
        // Whether it is there is all that matters.
        result as "toolUseResult": bool,
        message: Message<'a>,
        attachment: Attachment<'a>,
    }
}

wire_object! {
    struct Message<'a> {
        id: Cow<'a, str>,
        model: Cow<'a, str>,
        content: Content<'a>,
    }
}

wire_object! {
    struct Attachment<'a> {
        kind as "type": Cow<'a, str>,
        prompt: Content<'a>,
        mode as "commandMode": Cow<'a, str>,
        human_turn as "humanTurn": bool,
        origin: Origin<'a>,
    }
}

wire_object! {
    struct Origin<'a> {
        kind: Cow<'a, str>,
    }
}

wire_object! {
    struct Block<'a> {
        kind as "type": Cow<'a, str>,
        text: LongText<'a>,
        id: Cow<'a, str>,
        name: Cow<'a, str>,
        input: Input<'a>,
        call as "tool_use_id": Cow<'a, str>,
        failed as "is_error": bool,
    }
}

wire_object! {
    struct Input<'a> {
        file_path: Cow<'a, str>,
        notebook_path: Cow<'a, str>,
    }
}

/// What a message says: a text, or a list of blocks of which unknown ones are passed over.
#[derive(Clone, Debug, PartialEq)]
enum Content<'a> {
    Text(LongText<'a>),
    Blocks(Vec<Block<'a>>),
}

struct Blocks<'a>(Vec<Block<'a>>);

impl<'de> Member<'de> for Blocks<'de> {
    fn list<A: SeqAccess<'de>>(mut seq: A) -> Result<Option<Self>, A::Error> {
        let mut blocks = Vec::new();
        while let Some(block) = seq.next_element::<Field<Block<'de>>>()? {
            blocks.extend(block.value());
        }
        Ok(Some(Blocks(blocks)))
    }
}

impl<'de> Deserialize<'de> for Field<Content<'de>> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&'de RawValue>::deserialize(deserializer)?.get();
        // What stands in a line was read as JSON once, so reading it again does not fail but for odd texts.
        Ok(match raw.as_bytes().first() {
            Some(b'"') => {
                let text = serde_json::from_str::<Field<LongText<'de>>>(raw).ok().and_then(Field::value);
                text.map_or(Field::WrongType, |text| Field::Value(Content::Text(text)))
            }
            Some(b'[') => {
                let list = serde_json::from_str::<Field<Blocks<'de>>>(raw).ok().and_then(Field::value);
                list.map_or(Field::WrongType, |blocks| Field::Value(Content::Blocks(blocks.0)))
            }
            Some(b'n') => Field::Missing,
            _ => Field::WrongType,
        })
    }
}
