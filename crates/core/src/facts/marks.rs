//! Marks: small durable facts of a session, one JSON object a line.
//!
//! Every mark is set-once or latest-wins, but for the few that a session's start and a boundary void, so a long file can
//! be rewritten as a short one ([`Marks::lines`]) at any time. Hooks run in parallel: what must not be decided by
//! whose line comes last is decided under the session's lock.

use serde::{Deserialize, Serialize};

use crate::meter::forecast::SAMPLES;
use crate::meter::models::HostSettings;
use crate::time::Millis;
use crate::words::Lang;

/// One mark, as it is written. A mark of a newer version is kept as it is and otherwise passed over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mark {
    /// The session began; what stood before belongs to another one. Not for a session that goes on.
    Began {
        /// When.
        at: Millis,
    },
    /// The client started or resumed the session, or we saw it for the first time.
    Attached(Millis),
    /// The session's project.
    Root(String),
    /// Where the host writes the transcript.
    Transcript(String),
    /// The model it was last known to use.
    Model {
        /// As asked for, with `[1m]` where it was.
        id: String,
        /// When it was chosen.
        at: Millis,
    },
    /// What the host's settings files said about compaction.
    Host(HostSettings),
    /// The language of the last human prompt.
    Lang(Lang),
    /// Context use when a person's prompt came in.
    Relay(u64),
    /// The conversation was compacted.
    Boundary(Millis),
    /// The highest pressure level that was said, or that use fell back to.
    Pressure(Pressure),
}

/// How far the context pressure has been said, and at what numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Pressure {
    /// The level.
    pub level: PressureLevel,
    /// Tokens in use.
    pub used: u64,
    /// The reference point.
    pub reference: u64,
    /// When these numbers changed.
    pub at: Millis,
}

/// How far the context pressure has been said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PressureLevel {
    /// Not at all.
    #[default]
    None,
    /// The early one.
    Info,
    /// The late one.
    Urgent,
}

impl PressureLevel {
    /// The name in files.
    pub fn name(self) -> &'static str {
        match self {
            PressureLevel::None => "none",
            PressureLevel::Info => "info",
            PressureLevel::Urgent => "urgent",
        }
    }
}

/// All marks of a session, folded.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Marks {
    /// When it began, as far as we saw it.
    pub began: Option<Millis>,
    /// When the client last started or resumed it.
    pub attached: Option<Millis>,
    /// Its project.
    pub root: Option<String>,
    /// Its transcript.
    pub transcript: Option<String>,
    /// Its model, and since when.
    pub model: Option<(String, Millis)>,
    /// What the host's settings files said.
    pub host: Option<HostSettings>,
    /// The language of the last human prompt.
    pub lang: Option<Lang>,
    /// Use at the start of the last relays since the last boundary, oldest first.
    pub relays: Vec<u64>,
    /// The last compaction.
    pub boundary: Option<Millis>,
    /// How far pressure was said.
    pub pressure: Pressure,
    /// Lines we could not read: torn, or of a newer version.
    pub unread: Vec<String>,
}

/// Enough for the marks of any version; more is damage and not worth carrying along.
const UNREAD_KEPT: usize = 64;

impl Marks {
    /// Reads a marks file.
    pub fn fold(bytes: &[u8]) -> Marks {
        let mut marks = Marks::default();
        for line in bytes.split(|b| *b == b'\n').filter(|line| !line.trim_ascii().is_empty()) {
            match serde_json::from_slice(line) {
                Ok(mark) => marks.apply(mark),
                Err(_) if marks.unread.len() < UNREAD_KEPT => {
                    marks.unread.push(String::from_utf8_lossy(line).into_owned());
                }
                Err(_) => {}
            }
        }
        marks
    }

    /// Takes one more mark.
    pub fn apply(&mut self, mark: Mark) {
        match mark {
            Mark::Began { at } => *self = Marks { began: Some(at), ..Marks::default() },
            Mark::Attached(at) => self.attached = Some(at),
            Mark::Root(path) => self.root = Some(path),
            Mark::Transcript(path) => self.transcript = Some(path),
            Mark::Model { id, at } => self.model = Some((id, at)),
            Mark::Host(settings) => self.host = Some(settings),
            Mark::Lang(lang) => self.lang = Some(lang),
            Mark::Relay(used) => {
                self.relays.push(used);
                if self.relays.len() > SAMPLES + 1 {
                    self.relays.remove(0);
                }
            }
            Mark::Boundary(at) => {
                self.boundary = Some(at);
                self.relays.clear();
                self.pressure = Pressure::default();
            }
            Mark::Pressure(pressure) => self.pressure = pressure,
        }
    }

    /// The shortest file that reads back the same.
    pub fn lines(&self) -> String {
        let mut marks = Vec::new();
        marks.extend(self.began.map(|at| Mark::Began { at }));
        marks.extend(self.attached.map(Mark::Attached));
        marks.extend(self.root.clone().map(Mark::Root));
        marks.extend(self.transcript.clone().map(Mark::Transcript));
        marks.extend(self.model.clone().map(|(id, at)| Mark::Model { id, at }));
        marks.extend(self.host.clone().map(Mark::Host));
        marks.extend(self.lang.map(Mark::Lang));
        marks.extend(self.boundary.map(Mark::Boundary));
        marks.extend(self.relays.iter().copied().map(Mark::Relay));
        marks.extend((self.pressure != Pressure::default()).then_some(Mark::Pressure(self.pressure)));
        let mut lines = write_lines(&marks);
        for line in &self.unread {
            lines.push_str(line);
            lines.push('\n');
        }
        lines
    }
}

/// Marks as they are appended to the file.
pub fn write_lines(marks: &[Mark]) -> String {
    let mut lines = String::new();
    for mark in marks {
        lines.push_str(&serde_json::to_string(mark).expect("marks have no maps with other keys than text"));
        lines.push('\n');
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn mark() -> impl Strategy<Value = Mark> {
        prop_oneof![
            (0u64..1 << 40).prop_map(|at| Mark::Began { at: Millis(at) }),
            "[a-z/]{1,12}".prop_map(Mark::Root),
            ("[a-z0-9-]{1,12}", 0u64..1 << 40).prop_map(|(id, at)| Mark::Model { id, at: Millis(at) }),
            Just(Mark::Host(HostSettings::default())),
            Just(Mark::Lang(Lang::Ja)),
            (0u64..1_000_000).prop_map(Mark::Relay),
            (0u64..1 << 40).prop_map(|at| Mark::Boundary(Millis(at))),
            (0u64..1_000_000).prop_map(|used| Mark::Pressure(Pressure {
                level: PressureLevel::Urgent,
                used,
                ..Pressure::default()
            })),
            Just(Mark::Pressure(Pressure::default())),
            (0u64..1 << 40).prop_map(|at| Mark::Attached(Millis(at))),
        ]
    }

    proptest! {
        #[test]
        fn the_short_file_reads_back_the_same(marks in proptest::collection::vec(mark(), 0..200)) {
            let long = Marks::fold(write_lines(&marks).as_bytes());
            prop_assert_eq!(&Marks::fold(long.lines().as_bytes()), &long);
            prop_assert!(long.lines().len() < 4096);
        }

        #[test]
        fn any_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = Marks::fold(&bytes);
        }
    }

    #[test]
    fn a_torn_line_and_a_newer_mark_are_passed_over_and_kept() {
        let marks = Marks::fold(b"{\"relay\":5}\n{\"something-new\":{\"x\":1}}\n{\"rel");
        assert_eq!(marks.relays, [5]);
        assert_eq!(marks.unread.len(), 2);
        assert!(marks.lines().contains("something-new"));
    }

    #[test]
    fn a_new_beginning_forgets() {
        let marks =
            Marks::fold(b"{\"relay\":5}\n{\"pressure\":{\"level\":\"info\"}}\n{\"began\":{\"at\":7}}\n");
        assert_eq!(
            (marks.began, marks.relays.len(), marks.pressure.level),
            (Some(Millis(7)), 0, PressureLevel::None)
        );
    }
}
