//! Reads a whole transcript of any host, one relay after the other. Memory is bounded by the longest line, whatever
//! the size of the file.

use std::io;
use std::path::Path;

use tidegate_core::feature::memory::relay::{Relay, RelayExtract, RelayStep};
use tidegate_core::host::Host;
use tidegate_core::host::transcript::{ConversationOrigin, EntryKind, LineRead, Sought, TranscriptParser};

use super::relays::LONGEST_LINE;
use crate::file::bounded;
use crate::file::lines::{BoundedLine, BoundedLines};

/// A file whose first lines no host wrote is not a transcript.
const FIRST_LINES: usize = 50;

#[derive(Debug)]
pub struct ConversationReader {
    lines: BoundedLines,
    host: Host,
    parser: TranscriptParser,
    extract: Option<RelayExtract>,
    origin: ConversationOrigin,
    /// Of the relay under way.
    is_unattended: bool,
    damaged: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConversationRelay {
    pub relay: Box<Relay>,
    /// The host was started without a person.
    pub is_unattended: bool,
}

impl ConversationReader {
    /// `Ok(None)` if it is not a transcript of a known host.
    pub fn open(path: &Path) -> io::Result<Option<ConversationReader>> {
        let mut lines = BoundedLines::new(bounded::open(path)?, LONGEST_LINE);
        let Some(host) = find_host(&mut lines)? else { return Ok(None) };
        lines.restart()?;
        let mut sought = RelayExtract::SOUGHT.to_vec();
        sought.push(Sought::Origins);
        Ok(Some(ConversationReader {
            lines,
            host,
            parser: host.parser(&sought),
            extract: Some(RelayExtract::new(None)),
            origin: ConversationOrigin::default(),
            is_unattended: false,
            damaged: 0,
        }))
    }

    pub fn host(&self) -> Host {
        self.host
    }

    /// As far as it was read: the first session, the first folder, the last branch.
    pub fn origin(&self) -> &ConversationOrigin {
        &self.origin
    }

    /// Lines so far that are too long, torn or otherwise not what the host writes.
    pub fn damaged(&self) -> u64 {
        self.damaged
    }

    pub fn bytes_read(&self) -> u64 {
        self.lines.bytes_read()
    }

    /// `Ok(None)` at the end.
    pub fn next_relay(&mut self) -> io::Result<Option<ConversationRelay>> {
        let Some(extract) = &mut self.extract else { return Ok(None) };
        while let Some(line) = self.lines.next_line()? {
            let BoundedLine::Whole(line) = line else {
                self.damaged += 1;
                continue;
            };
            let text = line.trim_ascii();
            if text.is_empty() {
                continue;
            }
            if !(text.starts_with(b"{") && text.ends_with(b"}")) {
                self.damaged += 1;
                continue;
            }
            let entry = match self.parser.read_line(line) {
                LineRead::Entry(entry) => entry,
                LineRead::Skipped => continue,
                LineRead::Damaged => {
                    self.damaged += 1;
                    continue;
                }
            };
            let step = extract.entry(&entry);
            let is_start = matches!(step, RelayStep::Begins(_));
            let was_unattended = self.is_unattended;
            if (is_start || matches!(entry.kind, EntryKind::Other))
                && let Some(said) = self.host.origin(&entry)
            {
                let known = &mut self.origin;
                self.is_unattended = said.is_unattended || said.session.is_none() && self.is_unattended;
                known.is_of_agent |= said.is_of_agent && known.session.is_none();
                known.session = known.session.take().or(said.session);
                known.folder = known.folder.take().or(said.folder);
                known.branch = said.branch.or(known.branch.take());
                if known.is_of_agent {
                    self.extract = None;
                    return Ok(None);
                }
            }
            if let RelayStep::Begins(Some(relay)) = step {
                return Ok(Some(ConversationRelay { relay, is_unattended: was_unattended }));
            }
        }
        let last = self.extract.take().and_then(RelayExtract::finish);
        let is_unattended = self.is_unattended;
        Ok(last.map(|relay| ConversationRelay { relay: Box::new(relay), is_unattended }))
    }
}

/// The host that wrote one of the first lines.
fn find_host(lines: &mut BoundedLines) -> io::Result<Option<Host>> {
    for _ in 0..FIRST_LINES {
        match lines.next_line()? {
            None => return Ok(None),
            Some(BoundedLine::TooLong) => {}
            Some(BoundedLine::Whole(line)) => {
                if let Some(host) = Host::that_wrote(line) {
                    return Ok(Some(host));
                }
            }
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::lines::CHUNK;
    use proptest::prelude::*;
    use std::fs;

    /// Its lines have the members of Claude Code's, and some of their own.
    const QWEN: &str = concat!(
        r#"{"uuid":"q0","parentUuid":null,"sessionId":"s4","timestamp":"2026-11-15T12:00:00.000Z","type":"system","cwd":"/p/shop","subtype":"ui_telemetry","systemPayload":{}}"#,
        "\n",
        r#"{"uuid":"q1","parentUuid":"q0","sessionId":"s4","timestamp":"2026-11-15T12:00:00.000Z","type":"user","provenance":"real_user","cwd":"/p/shop","message":{"role":"user","parts":[{"text":"Why is the queue slow?"}]}}"#,
        "\n",
        r#"{"uuid":"q2","parentUuid":"q1","sessionId":"s4","timestamp":"2026-11-15T12:00:01.000Z","type":"assistant","provenance":"assistant_output","cwd":"/p/shop","message":{"role":"model","parts":[{"text":"A lock."}]}}"#,
        "\n",
    );

    const CLAUDE: &str = concat!(
        r#"{"type":"summary","summary":"Queue","leafUuid":"u0"}"#,
        "\n",
        r#"{"type":"user","uuid":"u1","sessionId":"s1","cwd":"/p/shop","timestamp":"2026-11-15T12:00:00.000Z","message":{"content":"Why is the queue slow?"}}"#,
        "\n",
        r#"{"type":"assistant","uuid":"a1","sessionId":"s1","timestamp":"2026-11-15T12:00:01.000Z","message":{"id":"m1","content":[{"type":"text","text":"A lock."}]}}"#,
        "\n",
        r#"{"type":"user","uuid":"u2","sessionId":"s1","cwd":"/p/shop/sub","entrypoint":"sdk-cli","timestamp":"2026-11-15T12:00:02.000Z","message":{"content":"Fix it"}}"#,
        "\n",
        r#"{"type":"user","uuid":"g1","sessionId":"s1","isSidechain":true,"message":{"content":"look around"}}"#,
        "\n",
    );

    const CODEX: &str = concat!(
        r#"{"timestamp":"2026-11-15T12:00:00.000Z","type":"session_meta","payload":{"id":"s2","cwd":"/p/shop","source":"cli","git":{"branch":"feat/x"}}}"#,
        "\n",
        r#"{"timestamp":"2026-11-15T12:00:01.000Z","type":"response_item","payload":{"type":"message","id":"m1","role":"user","content":[{"type":"input_text","text":"Hello"}]}}"#,
        "\n",
    );

    const COPILOT: &str = concat!(
        r#"{"type":"session.start","data":{"sessionId":"s3","context":{"cwd":"/p/shop"}},"id":"e0","timestamp":"2026-11-15T12:00:00.000Z"}"#,
        "\n",
        r#"{"type":"user.message","data":{"content":"Hello"},"id":"e1","timestamp":"2026-11-15T12:00:01.000Z"}"#,
        "\n",
    );

    struct Read {
        host: Option<Host>,
        relays: Vec<(String, String, bool)>,
        origin: ConversationOrigin,
        damaged: u64,
    }

    fn read(bytes: &[u8]) -> Read {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), bytes).unwrap();
        let mut all =
            Read { host: None, relays: Vec::new(), origin: ConversationOrigin::default(), damaged: 0 };
        let Some(mut reader) = ConversationReader::open(file.path()).unwrap() else { return all };
        while let Some(found) = reader.next_relay().unwrap() {
            all.relays.push((found.relay.uid, found.relay.prompt, found.is_unattended));
        }
        assert!(reader.next_relay().unwrap().is_none() && reader.bytes_read() == bytes.len() as u64);
        (all.host, all.origin, all.damaged) =
            (Some(reader.host()), reader.origin().clone(), reader.damaged());
        all
    }

    #[test]
    fn each_host_is_told_by_its_lines() {
        let claude = read(CLAUDE.as_bytes());
        assert_eq!((claude.host, claude.damaged), (Some(Host::ClaudeCode), 0));
        let relay = |uid: &str, prompt: &str, alone| (uid.to_owned(), prompt.to_owned(), alone);
        assert_eq!(
            claude.relays,
            [relay("u1", "Why is the queue slow?", false), relay("u2", "Fix it", true)]
        );
        assert_eq!(claude.origin.folder.as_deref(), Some("/p/shop"), "where it began");
        let codex = read(CODEX.as_bytes());
        assert_eq!((codex.host, codex.origin.session.as_deref()), (Some(Host::Codex), Some("s2")));
        assert_eq!((codex.relays.len(), codex.origin.branch.as_deref()), (1, Some("feat/x")));
        let copilot = read(COPILOT.as_bytes());
        assert_eq!((copilot.host, copilot.relays.len()), (Some(Host::Copilot), 1));
        let qwen = read(QWEN.as_bytes());
        assert_eq!((qwen.host, qwen.origin.session.as_deref()), (Some(Host::Qwen), Some("s4")));
        assert_eq!(qwen.relays, [relay("q1", "Why is the queue slow?", false)]);
        for other in ["", "hello\n", "{\"kind\":\"log\",\"uid\":\"u\"}\n", "{}\n[]\n"] {
            assert_eq!(read(other.as_bytes()).host, None, "{other}");
        }
    }

    #[test]
    fn runs_without_a_person_and_conversations_of_agents_are_told_apart() {
        let alone = CODEX.replace("\"cli\"", "\"exec\"");
        assert!(read(alone.as_bytes()).relays.iter().all(|(_, _, alone)| *alone));
        let agents = CODEX.replace("\"cli\"", "{\"subagent\":\"review\"}");
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), agents).unwrap();
        let mut reader = ConversationReader::open(file.path()).unwrap().unwrap();
        assert_eq!(reader.next_relay().unwrap(), None);
        assert!(reader.origin().is_of_agent);
    }

    #[test]
    fn damaged_lines_are_counted_and_cost_nothing_else() {
        let torn = &CLAUDE[..CLAUDE.len() - 20];
        let text = format!("{CLAUDE}\n   \nnot json\n\"user\"\n{{\"type\":\"user\",,}}\n{torn}");
        let read = read(text.as_bytes());
        assert_eq!((read.relays.len(), read.damaged), (4, 4));
    }

    #[test]
    fn a_long_line_is_neither_held_nor_read() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let prompt = CLAUDE.lines().nth(1).unwrap();
        let long = format!("{{\"type\":\"user\",\"x\":\"{}\"}}", "x".repeat(LONGEST_LINE + 3 * CHUNK));
        fs::write(file.path(), format!("{CLAUDE}{long}\n{}\n{long}", prompt.replace("u1", "u3"))).unwrap();
        let mut reader = ConversationReader::open(file.path()).unwrap().unwrap();
        let mut relays = 0;
        while reader.next_relay().unwrap().is_some() {
            relays += 1;
            assert!(reader.lines.capacity() < LONGEST_LINE / 4 * 5, "{}", reader.lines.capacity());
        }
        assert_eq!((relays, reader.damaged()), (3, 2));
    }

    /// Cut, bytes flipped, lines repeated, removed and mixed with those of other hosts.
    fn damaged() -> impl Strategy<Value = Vec<u8>> {
        let line = prop::sample::select(
            [CLAUDE, CODEX, COPILOT, QWEN].iter().flat_map(|text| text.lines()).collect::<Vec<_>>(),
        );
        let change = (0_usize..4, any::<prop::sample::Index>(), any::<u8>());
        prop::collection::vec((line, change), 0..20).prop_map(|lines| {
            let mut bytes = Vec::new();
            for (line, (change, at, byte)) in lines {
                let mut line = line.as_bytes().to_vec();
                let place = at.index(line.len());
                match change {
                    0 => line.truncate(place),
                    1 => line[place] ^= byte,
                    2 => line.insert(place, byte),
                    _ => {}
                }
                bytes.extend(line);
                bytes.push(b'\n');
            }
            bytes
        })
    }

    proptest! {
        #[test]
        fn anything_can_be_read(bytes in damaged(), end in any::<prop::sample::Index>()) {
            let cut = &bytes[..end.index(bytes.len() + 1)];
            let all = read(cut);
            let lines = cut.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).count();
            prop_assert!(all.relays.len() as u64 + all.damaged <= lines as u64);
        }

        #[test]
        fn random_bytes_are_not_a_conversation(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
            prop_assert!(read(&bytes).relays.is_empty());
        }
    }
}
