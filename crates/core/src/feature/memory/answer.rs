//! The last answer of a turn in a transcript, for a host that does not tell it.

use std::borrow::Cow;
use std::ops::ControlFlow;

use serde::de::{IgnoredAny, MapAccess, SeqAccess};

use crate::text::json::{Field, Member, read_object, wire_key, wire_object};

/// A scan of a transcript, line by line from the newest to the oldest.
#[derive(Debug, Default)]
pub struct Scan {
    found: Option<Said>,
    lines: usize,
    /// A result of a tool was met: what was said before it may not be the last word.
    results: bool,
}

/// What an assistant said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// The text.
    pub text: String,
    /// Nothing came after it. Else the last word of the turn may still be on its way into the file.
    pub last: bool,
}

/// Further back than this an answer is not the last one.
const FURTHEST: usize = 200;

impl Scan {
    /// Takes the next older line; breaks when nothing older can change the result.
    pub fn line(&mut self, line: &[u8]) -> ControlFlow<()> {
        self.lines += 1;
        if self.lines > FURTHEST {
            return ControlFlow::Break(());
        }
        let Ok(entry) = read_object::<Entry<'_>>(line) else { return ControlFlow::Continue(()) };
        let is = |kind: &str| entry.kind.get().is_some_and(|found| found == kind);
        let aside = |flag: &Field<bool>| flag.get().copied().unwrap_or_default();
        if aside(&entry.sidechain) {
            return ControlFlow::Continue(());
        }
        if is("user") {
            // The result of a tool is a part of the turn, and what the host puts in is nobody's word.
            let is_result = !matches!(entry.result, Field::Missing);
            self.results |= is_result;
            let spoken = !is_result && !aside(&entry.meta);
            return if spoken { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
        }
        if !is("assistant") {
            return ControlFlow::Continue(());
        }
        let content = entry.message.value().and_then(|message| message.content.value());
        // An answer is several entries: thoughts, calls, text.
        match content.map(|content| content.0).filter(|text| !text.is_empty()) {
            Some(text) => {
                self.found = Some(Said { text, last: !self.results });
                ControlFlow::Break(())
            }
            None => ControlFlow::Continue(()),
        }
    }

    /// What was said, if anything was.
    pub fn finish(self) -> Option<Said> {
        self.found
    }
}

/// The text of a message: all of its text blocks.
#[derive(Clone, Debug, Default, PartialEq)]
struct Texts(String);

impl<'de> Member<'de> for Texts {
    fn text(text: Cow<'de, str>) -> Option<Self> {
        Some(Texts(text.into_owned()))
    }

    fn list<A: SeqAccess<'de>>(mut seq: A) -> Result<Option<Self>, A::Error> {
        let mut texts = Vec::new();
        while let Some(block) = seq.next_element::<Field<Block<'de>>>()? {
            let block = block.value().filter(|block| block.kind.get().is_some_and(|kind| kind == "text"));
            texts.extend(block.and_then(|block| block.text.value()).map(Cow::into_owned));
        }
        Ok(Some(Texts(texts.join("\n"))))
    }
}

wire_object! {
    struct Entry<'a> {
        kind as "type": Cow<'a, str>,
        sidechain as "isSidechain": bool,
        meta as "isMeta": bool,
        // Whatever it is, it is there.
        result as "toolUseResult": bool,
        message: Message<'a>,
    }
}

wire_object! {
    struct Message<'a> {
        content: Texts,
    }
}

wire_object! {
    struct Block<'a> {
        kind as "type": Cow<'a, str>,
        text: Cow<'a, str>,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn last(lines: &[&str]) -> Option<Said> {
        let mut scan = Scan::default();
        let _ = lines.iter().rev().try_for_each(|line| scan.line(line.as_bytes()));
        scan.finish()
    }

    #[test]
    fn the_last_text_since_a_person_spoke() {
        let prompt = r#"{"type": "user", "message": {"content": "go on"}}"#;
        let text = r#"{"type": "assistant", "message": {"content": [{"type": "text", "text": "done"}, {"type": "text", "text": "<!-- -->"}]}}"#;
        let call = r#"{"type": "assistant", "message": {"content": [{"type": "tool_use", "name": "Read"}]}}"#;
        let result = r#"{"type": "user", "toolUseResult": {"x": 1}, "message": {"content": [{"type": "tool_result"}]}}"#;
        let failed = r#"{"type": "user", "toolUseResult": "Error: no", "message": {"content": []}}"#;
        let aside = r#"{"type": "assistant", "isSidechain": true, "message": {"content": "of an agent"}}"#;
        let meta = r#"{"type": "user", "isMeta": true, "message": {"content": "a skill"}}"#;
        let done = |last| Some(Said { text: "done\n<!-- -->".to_owned(), last });
        assert_eq!(last(&[prompt, text]), done(true));
        assert_eq!(last(&[prompt, text, call, aside, meta, "{\"torn"]), done(true));
        assert_eq!(last(&[prompt, text, call, result]), done(false));
        assert_eq!(last(&[prompt, text, call, failed]), done(false));
        assert_eq!(last(&[prompt, text, prompt]), None, "of the turn before");
        assert_eq!(last(&[prompt, text, prompt, call, result]), None);
        assert_eq!(last(&[]), None);
        let far: Vec<&str> = [prompt, text].into_iter().chain(std::iter::repeat_n(result, 300)).collect();
        assert_eq!(last(&far), None);
    }
}
