//! Messages that the host kept whole over a boundary: it names them in the boundary's own entry of the transcript.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::ControlFlow;

use serde::de::{IgnoredAny, MapAccess, SeqAccess};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::text::json::{Field, Member, read_object, wire_key, wire_object};
use crate::text::search;
use crate::time::Millis;

/// What stands in the conversation after a boundary beside its summary.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Preserved {
    /// Messages that were kept whole.
    pub texts: Vec<String>,
    /// The client has put into the conversation what was printed before the compaction. It does so after `/compact`
    /// (seen with 2.1.325), and neither after an automatic one nor after a summary that was asked for while rewinding.
    pub repeated: bool,
    /// The host has written the boundary down. It does so some 100 ms late.
    pub known: bool,
}

/// A scan of a transcript, line by line from the newest to the oldest.
#[derive(Debug)]
pub struct Scan {
    /// A boundary that is older is another one.
    since: Millis,
    /// Of the messages that were kept, those that were not met yet; `None` before the boundary.
    named: Option<BTreeSet<String>>,
    found: Preserved,
    /// What was printed before the compaction was met.
    repeated: bool,
    /// Lines since the last one that counted.
    idle: usize,
}

/// A boundary that lies further back is not the last event's; what it kept stands just before it, with little in between.
const FURTHEST: usize = 500;
const IN_BETWEEN: usize = 64;

/// Together they are compared with a few dozen facts; more is not worth the time.
const LONGEST: usize = 256 * 1024;

impl Scan {
    /// A scan for the boundary whose key facts were noted then.
    pub fn new(since: Millis) -> Scan {
        Scan { since, named: None, found: Preserved::default(), repeated: false, idle: 0 }
    }

    /// Takes the next older line; breaks when nothing older can change the result.
    pub fn line(&mut self, line: &[u8]) -> ControlFlow<()> {
        self.idle += 1;
        let most = if self.named.is_some() { IN_BETWEEN } else { FURTHEST };
        if self.idle > most {
            return ControlFlow::Break(());
        }
        let Some(named) = &mut self.named else {
            if search::find(line, b"compact_boundary").is_some() {
                return self.boundary(line);
            }
            self.repeated |= search::find(line, b"<local-command-stdout>Compacted PreCompact [").is_some();
            return ControlFlow::Continue(());
        };
        let Ok(entry) = read_object::<Entry<'_>>(line) else { return ControlFlow::Continue(()) };
        if entry.uuid.get().is_none_or(|id| !named.remove(id.as_ref())) {
            return ControlFlow::Continue(());
        }
        self.idle = 0;
        let content = entry.message.value().map(|message| message.content);
        let content = content.or_else(|| entry.attachment.value().map(|attachment| attachment.content));
        let text = content.and_then(Field::value).map(|content| plain(content.0)).unwrap_or_default();
        let length: usize = self.found.texts.iter().map(String::len).sum();
        if length + text.len() > LONGEST {
            return ControlFlow::Break(());
        }
        self.found.texts.push(text);
        if named.is_empty() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn boundary(&mut self, line: &[u8]) -> ControlFlow<()> {
        let Ok(entry) = read_object::<Entry<'_>>(line) else { return ControlFlow::Continue(()) };
        if entry.subtype.get().is_none_or(|kind| kind != "compact_boundary") {
            return ControlFlow::Continue(());
        }
        let at = entry.timestamp.get().and_then(|text| Millis::from_iso(text));
        if at.is_some_and(|at| at < self.since) {
            return ControlFlow::Break(());
        }
        self.found.known = true;
        self.found.repeated = self.repeated;
        let kept = entry.compaction.value().and_then(|found| found.preserved.value());
        let ids = kept.and_then(|kept| kept.uuids.value()).unwrap_or_default().0;
        if ids.is_empty() {
            return ControlFlow::Break(());
        }
        self.idle = 0;
        self.named = Some(ids.into_iter().map(Cow::into_owned).collect());
        ControlFlow::Continue(())
    }

    /// What was found; nothing where there is no boundary.
    pub fn finish(self) -> Preserved {
        self.found
    }
}

/// JSON as words: whatever is in it stands in the conversation, be it text, a call or its result.
fn plain(json: &str) -> String {
    json.replace("\\n", "\n").replace("\\t", " ").replace("\\\"", "\"")
}

/// A value as it stands in the line.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Verbatim<'a>(&'a str);

impl<'de> Deserialize<'de> for Field<Verbatim<'de>> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&'de RawValue>::deserialize(deserializer)?;
        Ok(Field::Value(Verbatim(raw.get())))
    }
}

wire_object! {
    struct Entry<'a> {
        uuid: Cow<'a, str>,
        subtype: Cow<'a, str>,
        timestamp: Cow<'a, str>,
        message: Message<'a>,
        attachment: Message<'a>,
        compaction as "compactMetadata": Compaction<'a>,
    }
}

wire_object! {
    struct Message<'a> {
        content: Verbatim<'a>,
    }
}

wire_object! {
    struct Compaction<'a> {
        preserved as "preservedMessages": Kept<'a>,
    }
}

wire_object! {
    struct Kept<'a> {
        uuids: Ids<'a>,
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Ids<'a>(Vec<Cow<'a, str>>);

impl<'de> Member<'de> for Ids<'de> {
    fn list<A: SeqAccess<'de>>(mut seq: A) -> Result<Option<Self>, A::Error> {
        let mut ids = Vec::new();
        while let Some(id) = seq.next_element::<Field<Cow<'de, str>>>()? {
            ids.extend(id.value());
        }
        Ok(Some(Ids(ids)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scan(lines: &[&str]) -> Vec<String> {
        found(lines).texts
    }

    fn found(lines: &[&str]) -> Preserved {
        let mut scan = Scan::new(Millis(1000));
        for line in lines.iter().rev() {
            if scan.line(line.as_bytes()).is_break() {
                break;
            }
        }
        scan.finish()
    }

    const OLD: &str = r#"{"type":"user","uuid":"u1","message":{"content":"an old prompt"}}"#;
    const KEPT: &str = r#"{"type":"assistant","uuid":"u2","message":{"content":[{"type":"text","text":"the \"kept\"\nanswer"}]}}"#;
    const BOUNDARY: &str = r#"{"type":"system","subtype":"compact_boundary","uuid":"b","compactMetadata":{"trigger":"auto","preservedMessages":{"anchorUuid":"s","uuids":["u2","gone"]}}}"#;
    const AFTER: &str = r#"{"type":"assistant","uuid":"u3","message":{"content":[{"type":"text","text":"compact_boundary"}]}}"#;

    #[test]
    fn only_what_the_boundary_names() {
        let texts = scan(&[OLD, KEPT, BOUNDARY, AFTER]);
        assert_eq!(texts.len(), 1);
        assert!(texts[0].contains("the \"kept\"\nanswer"), "{}", texts[0]);
    }

    #[test]
    fn without_a_boundary_or_without_names_nothing() {
        assert!(scan(&[OLD, KEPT, AFTER]).is_empty());
        let silent = BOUNDARY.replace("preservedMessages", "other");
        assert!(scan(&[OLD, KEPT, &silent]).is_empty());
        let odd = BOUNDARY.replace(r#"["u2","gone"]"#, r#""u2""#);
        assert!(scan(&[KEPT, &odd, "not json", ""]).is_empty());
    }

    #[test]
    fn what_was_printed_before_is_in_the_conversation_only_after_the_boundary() {
        let printed = r#"{"type":"user","uuid":"u4","message":{"content":"<local-command-stdout>Compacted PreCompact [tidegate hook] completed successfully: x</local-command-stdout>"}}"#;
        assert!(found(&[KEPT, BOUNDARY, printed, AFTER]).repeated);
        assert!(!found(&[printed, KEPT, BOUNDARY, AFTER]).repeated, "of the boundary before");
        assert!(!found(&[KEPT, AFTER, printed]).repeated, "no boundary");
        let silent = BOUNDARY.replace("preservedMessages", "other");
        assert!(found(&[&silent, printed]).repeated);
    }

    #[test]
    fn an_older_boundary_is_another_one() {
        let dated =
            |at: &str| BOUNDARY.replace("\"uuid\":\"b\"", &format!("\"uuid\":\"b\",\"timestamp\":\"{at}\""));
        let (before, after) = (dated("1970-01-01T00:00:00.999Z"), dated("1970-01-01T00:00:01.000Z"));
        assert_eq!(found(&[KEPT, &before, AFTER]), Preserved::default());
        let there = found(&[KEPT, &after, AFTER]);
        assert!(there.known && there.texts.len() == 1);
        assert!(!found(&[KEPT, AFTER]).known);
    }

    #[test]
    fn the_last_boundary_counts() {
        let first = BOUNDARY.replace("u2", "u1");
        let texts = scan(&[OLD, &first, KEPT, BOUNDARY]);
        assert_eq!(texts.len(), 1);
        assert!(texts[0].contains("answer") && !texts[0].contains("u2"), "{texts:?}");
    }
}
