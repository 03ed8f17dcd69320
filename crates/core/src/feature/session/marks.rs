//! The session itself: when it began, where it works, what it was told. Other rooms hear these marks.

use serde::{Deserialize, Serialize};

use crate::feature::marks::RoomMarks;
use crate::host::person::Person;
use crate::host::window::HostSettings;
use crate::meter::forecast::SAMPLES;
use crate::text::lang::Lang;
use crate::text::skill_name::satisfies;
use crate::time::Millis;

/// One mark, as it is written.
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
    /// Whether a person is there.
    Attended(Person),
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
    /// A skill was invoked, by the model or by a typed command.
    Skill {
        /// As the host names it: `name` or `plugin:name`.
        name: String,
        /// The subagent that did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<String>,
    },
    /// Something that is said once in a session was said: what.
    Notice(String),
    /// A directory that the person added to the project.
    Directory(String),
    /// The folder that the main thread's next command line starts in.
    Cwd(String),
    /// Something waits to be told to the model.
    Note(Note),
    /// It was told, or is not true any more.
    NoteGiven(Note),
    /// A person went through the entries of the flow.
    Promoted(Millis),
    /// The client ended the session.
    Detached,
    /// A client that called the session's hooks, for which the system vouches.
    Client(ClientProcess),
}

/// A process of the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientProcess {
    /// Its number.
    pub process: u64,
    /// When it began, as the system counts: numbers are used again.
    pub since: u64,
}

impl Mark {
    /// Whether the main thread invoked this skill. A subagent's call is only its own.
    pub fn invokes(&self, skill: &str) -> bool {
        matches!(self, Mark::Skill { name, agent: None } if satisfies(name, skill))
    }
}

/// What waits for the next event that can carry it. The words are found when it is told: by then it may not be true any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Note {
    /// Key facts that the last summary lost.
    Lost,
    /// Entries that nobody promoted.
    Promote,
    /// Code was written and no entry since.
    Flow,
    /// A topic was left and nothing was recorded for it.
    TopicLeft,
    /// A tag names a topic that does not exist.
    UnknownTopic(i64),
}

/// The marks, folded.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Marks {
    /// When it began, as far as we saw it.
    pub began: Option<Millis>,
    /// When the client last started or resumed it.
    pub attached: Option<Millis>,
    /// Whether a person was there when we last looked.
    pub person: Option<Person>,
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
    /// Skills that were invoked, each with the subagent that did, oldest first.
    pub skills: Vec<(String, Option<String>)>,
    /// What was said that is said once, oldest first.
    pub notices: Vec<String>,
    /// Directories that the person added to the project.
    pub directories: Vec<String>,
    /// The folder that the main thread's next command line starts in.
    pub cwd: Option<String>,
    /// What waits to be told to the model.
    pub notes: Vec<Note>,
    /// The client has ended the session, and not begun it again.
    pub detached: bool,
    /// The clients that called its hooks, newest last. With one of them, calls of others do not count.
    pub clients: Vec<ClientProcess>,
}

/// Notices that begin so hold until the next boundary: what was said of a full context may be true again.
pub const UNTIL_BOUNDARY: &str = "workflow ";

/// More skills than a session uses; the oldest are forgotten.
const SKILLS_KEPT: usize = 64;

/// Texts that are said once in a session are few; tasks by their subject may be more.
const NOTICES_KEPT: usize = 64;

/// More than there are kinds of them, topics aside.
const NOTES_KEPT: usize = 8;

/// More clients than are in one session at once.
const CLIENTS_KEPT: usize = 4;

/// More than anybody adds.
const DIRECTORIES_KEPT: usize = 8;

impl RoomMarks for Marks {
    type Mark = Mark;

    fn apply(&mut self, mark: Mark) {
        match mark {
            Mark::Began { at } => *self = Marks { began: Some(at), ..Marks::default() },
            Mark::Attached(at) => {
                self.attached = Some(at);
                self.detached = false;
            }
            Mark::Detached => self.detached = true,
            Mark::Client(client) => {
                self.clients.retain(|known| *known != client);
                self.clients.push(client);
                if self.clients.len() > CLIENTS_KEPT {
                    self.clients.remove(0);
                }
            }
            Mark::Attended(person) => self.person = Some(person),
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
                self.notices.retain(|notice| !notice.starts_with(UNTIL_BOUNDARY));
            }
            Mark::Skill { name, agent } => self.invoke(name, agent),
            Mark::Notice(what) => keep(&mut self.notices, what, NOTICES_KEPT),
            Mark::Directory(path) => keep(&mut self.directories, path, DIRECTORIES_KEPT),
            Mark::Cwd(path) => self.cwd = Some(path),
            Mark::Note(note) => keep(&mut self.notes, note, NOTES_KEPT),
            Mark::NoteGiven(note) => self.notes.retain(|known| *known != note),
            Mark::Promoted(_) => self.notes.retain(|note| *note != Note::Promote),
        }
    }

    fn opening(&self) -> Vec<Mark> {
        self.began.map(|at| Mark::Began { at }).into_iter().collect()
    }

    fn short(&self) -> Vec<Mark> {
        let mut marks = Vec::new();
        marks.extend(self.attached.map(Mark::Attached));
        marks.extend(self.person.map(Mark::Attended));
        marks.extend(self.root.clone().map(Mark::Root));
        marks.extend(self.transcript.clone().map(Mark::Transcript));
        marks.extend(self.model.clone().map(|(id, at)| Mark::Model { id, at }));
        marks.extend(self.host.clone().map(Mark::Host));
        marks.extend(self.lang.map(Mark::Lang));
        marks.extend(self.boundary.map(Mark::Boundary));
        marks.extend(self.relays.iter().copied().map(Mark::Relay));
        let skill = |(name, agent): &(String, Option<String>)| Mark::Skill {
            name: name.clone(),
            agent: agent.clone(),
        };
        marks.extend(self.skills.iter().map(skill));
        marks.extend(self.notices.iter().cloned().map(Mark::Notice));
        marks.extend(self.directories.iter().cloned().map(Mark::Directory));
        marks.extend(self.cwd.clone().map(Mark::Cwd));
        marks.extend(self.notes.iter().copied().map(Mark::Note));
        marks.extend(self.detached.then_some(Mark::Detached));
        marks.extend(self.clients.iter().copied().map(Mark::Client));
        marks
    }
}

impl Marks {
    fn invoke(&mut self, name: String, agent: Option<String>) {
        let skill = (name, agent);
        self.skills.retain(|known| *known != skill);
        self.skills.push(skill);
        if self.skills.len() > SKILLS_KEPT {
            // A subagent's own first: it is gone before its session.
            let at = self.skills.iter().position(|(_, agent)| agent.is_some()).unwrap_or_default();
            self.skills.remove(at);
        }
    }

    /// Whether a skill was invoked: by its own name, or as `plugin:name`. `own` is what only this agent's own calls
    /// count for; `None` takes everybody's.
    pub fn invoked(&self, skill: &str, own: Option<&str>) -> bool {
        self.skills.iter().any(|(name, agent)| {
            let same = satisfies(name, skill);
            same && own.is_none_or(|own| agent.as_deref().unwrap_or_default() == own)
        })
    }

    /// Whether this was said already.
    pub fn noticed(&self, what: &str) -> bool {
        self.notices.iter().any(|known| known == what)
    }
}

/// The newest last, each once.
fn keep<T: PartialEq>(list: &mut Vec<T>, new: T, most: usize) {
    list.retain(|known| *known != new);
    list.push(new);
    if list.len() > most {
        list.remove(0);
    }
}

#[cfg(test)]
pub(in crate::feature) mod tests {
    use super::*;
    use proptest::prelude::*;

    pub(in crate::feature) fn mark() -> impl Strategy<Value = Mark> {
        prop_oneof![
            (0u64..1 << 40).prop_map(|at| Mark::Began { at: Millis(at) }),
            (0u64..1 << 40).prop_map(|at| Mark::Attached(Millis(at))),
            any::<bool>().prop_map(|there| Mark::Attended(there.into())),
            "[a-z/]{1,12}".prop_map(Mark::Root),
            "/[a-z/]{1,24}".prop_map(Mark::Transcript),
            ("[a-z0-9-]{1,12}", 0u64..1 << 40).prop_map(|(id, at)| Mark::Model { id, at: Millis(at) }),
            Just(Mark::Host(HostSettings::default())),
            Just(Mark::Lang(Lang::Ja)),
            (0u64..1_000_000).prop_map(Mark::Relay),
            (0u64..1 << 40).prop_map(|at| Mark::Boundary(Millis(at))),
            ("[a-z:]{1,24}", proptest::option::of("[a-z0-9]{8}"))
                .prop_map(|(name, agent)| Mark::Skill { name, agent }),
            // As stages and gates ask for them.
            "(a|b|persisting-progress-across-sessions)".prop_map(|name| Mark::Skill { name, agent: None }),
            "[a-z/]{1,24}".prop_map(Mark::Notice),
            Just(Mark::Notice("workflow 80".into())),
            "/[a-z/]{1,24}".prop_map(Mark::Directory),
            "/[a-z/]{1,24}".prop_map(Mark::Cwd),
            note().prop_map(Mark::Note),
            note().prop_map(Mark::NoteGiven),
            (0u64..1 << 40).prop_map(|at| Mark::Promoted(Millis(at))),
            Just(Mark::Detached),
            (0u64..8, 0u64..4).prop_map(|(process, since)| Mark::Client(ClientProcess { process, since })),
        ]
    }

    fn note() -> impl Strategy<Value = Note> {
        prop_oneof![
            Just(Note::Lost),
            Just(Note::Flow),
            Just(Note::Promote),
            Just(Note::TopicLeft),
            (1i64..99).prop_map(Note::UnknownTopic),
        ]
    }

    #[test]
    fn a_skill_is_everybodys_or_ones_own() {
        let mut marks = Marks::default();
        marks.invoke("tidegate:rules".into(), Some("a1".into()));
        assert!(marks.invoked("rules", None));
        assert!(marks.invoked("rules", Some("a1")));
        assert!(!marks.invoked("rules", Some("a2")) && !marks.invoked("rules", Some("")));
        for number in 0..100 {
            marks.invoke(format!("skill-{number}"), None);
        }
        assert_eq!(marks.skills.len(), SKILLS_KEPT);
    }
}
