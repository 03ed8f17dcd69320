//! The tables of `tag.md`, `relay.md` and `choice.md`: where a tag is found, what begins a relay, and which answers decide.

use tidegate_core::feature::memory::catalogue::NamedId;
use tidegate_core::feature::memory::choice::decides;
use tidegate_core::feature::memory::relay::{RelayExtract, begins_relay};
use tidegate_core::feature::memory::tag::{TopicTag, find_last};
use tidegate_core::host::Host;

use crate::markdown::code;
use crate::vocabulary::{Case, Report, Vocabulary};

pub(crate) fn run(report: &mut Report) -> Vec<String> {
    let [tag, relay, choice] =
        ["feature/memory/tag.md", "feature/memory/relay.md", "feature/memory/choice.md"];
    report.run(tag, &crate::source(tag), &[&TAG], Answer::default);
    report.run(relay, &crate::source(relay), &[&RELAY], Entry::default);
    report.run(choice, &crate::source(choice), &[&CHOICE], Exchange::default);
    vec![tag.to_owned(), relay.to_owned(), choice.to_owned()]
}

#[derive(Default)]
struct Answer {
    text: String,
}

impl Case for Answer {
    type Outcome = Option<TopicTag>;

    fn outcome(self) -> Option<TopicTag> {
        find_last(&self.text)
    }
}

static TAG: Vocabulary<Answer> = Vocabulary {
    name: "tag",
    given: &[("text", |case, cell| case.text = code(cell))],
    expected: &[
        ("project", |tag| named(tag.as_ref().and_then(|tag| tag.project.as_ref()))),
        ("topic", |tag| named(tag.as_ref().map(|tag| &tag.topic))),
    ],
};

fn named(named: Option<&NamedId>) -> String {
    named.map_or(String::new(), |named| format!("{} {}", named.name, named.id).trim().to_owned())
}

/// An entry of a transcript.
#[derive(Default)]
struct Entry {
    members: String,
    content: String,
}

impl Case for Entry {
    type Outcome = String;

    /// The prompt of the relay that it begins.
    fn outcome(self) -> String {
        let Entry { members, content } = self;
        let comma = if members.is_empty() { "" } else { "," };
        let entry = format!(
            r#"{{"type": "user", "uuid": "u", "message": {{"role": "user", "content": {content}}}{comma}{members}}}"#
        );
        let mut extract = RelayExtract::new(None);
        let parser = Host::ClaudeCode.parser(&RelayExtract::SOUGHT);
        parser.entry(entry.as_bytes()).iter().for_each(|entry| drop(extract.entry(entry)));
        let prompt = extract.finish().map(|relay| relay.prompt).unwrap_or_default();
        let parsed = Host::ClaudeCode.parser(&[]).entry(entry.as_bytes()).expect("an entry");
        assert_eq!(begins_relay(&parsed), !prompt.is_empty(), "{entry}");
        prompt
    }
}

static RELAY: Vocabulary<Entry> = Vocabulary {
    name: "relay",
    given: &[
        ("members", |case, cell| case.members = code(cell)),
        ("content", |case, cell| case.content = code(cell)),
    ],
    expected: &[("prompt", |prompt| prompt.replace('\n', "⏎"))],
};

/// A question and its answer.
#[derive(Default)]
struct Exchange {
    question: String,
    answer: String,
}

impl Case for Exchange {
    type Outcome = bool;

    fn outcome(self) -> bool {
        decides(&self.question, &self.answer)
    }
}

static CHOICE: Vocabulary<Exchange> = Vocabulary {
    name: "choice",
    given: &[
        ("question", |case, cell| cell.clone_into(&mut case.question)),
        ("answer", |case, cell| cell.clone_into(&mut case.answer)),
    ],
    expected: &[("decides", |decides| if *decides { "yes" } else { "no" }.to_owned())],
};
