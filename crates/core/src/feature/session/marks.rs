//! Marks of the session itself: when it began, where it works, what it was told. Other rooms hear these marks.

use serde::{Deserialize, Serialize};

use crate::event::{Event, EventKind};
use crate::feature::marks::RoomMarks;
use crate::host::person::Person;
use crate::host::window::HostSettings;
use crate::meter::forecast::SAMPLES;
use crate::text::lang::Lang;
use crate::text::skill_name::satisfies;
use crate::time::Millis;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mark {
    /// A new session: earlier marks belong to another one. Not left when a session is resumed.
    Began {
        at: Millis,
    },
    /// The client started or resumed the session, or a hook saw it for the first time.
    Attached(Millis),
    Attended(Person),
    /// The session's project.
    Root(String),
    Transcript(String),
    Model {
        /// As requested, including `[1m]`.
        id: String,
        at: Millis,
    },
    /// More tokens were in use than the window that was known for the model.
    Outgrown {
        model: String,
        used: u64,
    },
    /// Settings about compaction, from the host's settings files.
    Host(HostSettings),
    /// Language of the last human prompt.
    Lang(Lang),
    /// Context use when a human prompt arrived.
    Relay(u64),
    /// The conversation was compacted.
    Boundary(Millis),
    /// Invoked by the model or by a typed command.
    Skill {
        /// As the host names it: `name` or `plugin:name`.
        name: String,
        /// The subagent that invoked it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<String>,
    },
    /// Skills of Tidegate that have the longer name in this session.
    RenamedSkills(Vec<String>),
    /// A text that is given once per session was given.
    Notice(String),
    /// Added to the project by the person.
    Directory(String),
    /// The folder in which the main thread's next command line starts.
    Cwd(String),
    Note(Note),
    /// Delivered, or no longer true.
    NoteGiven(Note),
    /// A person reviewed the entries of the flow.
    Promoted(Millis),
    /// The client ended the session.
    Detached,
    /// A client that called the session's hooks, verified through the operating system.
    Client(ClientProcess),
    /// The hash of a prompt that the model scheduled.
    PromptScheduled(u64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientProcess {
    pub process: u64,
    /// Start time as the system counts it, because process ids are reused.
    pub since: u64,
}

impl Mark {
    /// Only by the main thread: a subagent's call counts for itself.
    pub fn invokes(&self, skill: &str) -> bool {
        matches!(self, Mark::Skill { name, agent: None } if satisfies(name, skill))
    }
}

/// A message that waits for an event that can carry it. Its text is written on delivery: it may no longer be
/// true by then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Note {
    /// Key facts missing from the last summary.
    Lost,
    /// How many key facts the last summary kept, for the person.
    Kept,
    /// A compaction began whose end only the transcript will tell.
    Compacting,
    /// A compaction ended where no hook could speak: reminders wait for the next event that carries them.
    Compacted,
    /// Entries of the flow that are not reviewed.
    Promote,
    /// Code was written, but no entry since.
    Flow,
    /// A topic was left without recording anything for it.
    TopicLeft,
    /// A tag names a topic that does not exist.
    UnknownTopic(i64),
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Marks {
    /// `None` if the beginning was not observed.
    pub began: Option<Millis>,
    /// When the client last started or resumed it.
    pub attached: Option<Millis>,
    pub person: Option<Person>,
    pub root: Option<String>,
    pub transcript: Option<String>,
    /// With the time since when.
    pub model: Option<(String, Millis)>,
    /// Tokens that exceeded the window known for a model; the last model counts.
    pub outgrown: Option<(String, u64)>,
    pub host: Option<HostSettings>,
    /// Language of the last human prompt.
    pub lang: Option<Lang>,
    /// Context use at the start of each relay since the last boundary, oldest first.
    pub relays: Vec<u64>,
    pub boundary: Option<Millis>,
    /// With the subagent that invoked it, oldest first.
    pub skills: Vec<(String, Option<String>)>,
    /// Skills of Tidegate that have the longer name, because theirs was taken.
    pub renamed: Vec<String>,
    /// Oldest first.
    pub notices: Vec<String>,
    pub directories: Vec<String>,
    /// The folder in which the main thread's next command line starts.
    pub cwd: Option<String>,
    pub notes: Vec<Note>,
    pub detached: bool,
    /// Newest last. Once there is one, calls from other processes do not count.
    pub clients: Vec<ClientProcess>,
    /// Hashes of prompts that the model scheduled: the host submits them like those of the person.
    pub scheduled: Vec<u64>,
}

/// Notices with this prefix hold until the next boundary: a warning about a full context may be due again.
pub const UNTIL_BOUNDARY: &str = "workflow ";

/// More than a session uses; the oldest is forgotten.
const SKILLS_KEPT: usize = 64;

/// Few texts are given once per session; tasks, listed by subject, may be more.
const NOTICES_KEPT: usize = 64;

/// More than there are kinds, apart from topics.
const NOTES_KEPT: usize = 8;

/// More than attach to one session at once.
const CLIENTS_KEPT: usize = 4;

/// More than a model schedules in one session, if it means well.
const SCHEDULED_KEPT: usize = 256;

/// More than a person adds.
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
            Mark::Outgrown { model, used } => self.outgrown = Some((model, used)),
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
            Mark::Skill { name, agent } => self.note_skill(name, agent),
            Mark::RenamedSkills(names) => self.renamed = names,
            Mark::Notice(what) => push_unique(&mut self.notices, what, NOTICES_KEPT),
            Mark::Directory(path) => push_unique(&mut self.directories, path, DIRECTORIES_KEPT),
            Mark::Cwd(path) => self.cwd = Some(path),
            Mark::PromptScheduled(hash) => push_unique(&mut self.scheduled, hash, SCHEDULED_KEPT),
            Mark::Note(note) => push_unique(&mut self.notes, note, NOTES_KEPT),
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
        marks.extend(self.outgrown.clone().map(|(model, used)| Mark::Outgrown { model, used }));
        marks.extend(self.host.clone().map(Mark::Host));
        marks.extend(self.lang.map(Mark::Lang));
        marks.extend(self.boundary.map(Mark::Boundary));
        marks.extend(self.relays.iter().copied().map(Mark::Relay));
        let skill = |(name, agent): &(String, Option<String>)| Mark::Skill {
            name: name.clone(),
            agent: agent.clone(),
        };
        marks.extend(self.skills.iter().map(skill));
        marks.extend((!self.renamed.is_empty()).then(|| Mark::RenamedSkills(self.renamed.clone())));
        marks.extend(self.notices.iter().cloned().map(Mark::Notice));
        marks.extend(self.directories.iter().cloned().map(Mark::Directory));
        marks.extend(self.cwd.clone().map(Mark::Cwd));
        marks.extend(self.notes.iter().copied().map(Mark::Note));
        marks.extend(self.detached.then_some(Mark::Detached));
        marks.extend(self.clients.iter().copied().map(Mark::Client));
        marks.extend(self.scheduled.iter().copied().map(Mark::PromptScheduled));
        marks
    }
}

impl Marks {
    fn note_skill(&mut self, name: String, agent: Option<String>) {
        let skill = (name, agent);
        self.skills.retain(|known| *known != skill);
        self.skills.push(skill);
        if self.skills.len() > SKILLS_KEPT {
            // A subagent's own skills go first: it ends before its session.
            let at = self.skills.iter().position(|(_, agent)| agent.is_some()).unwrap_or_default();
            self.skills.remove(at);
        }
    }

    /// The model hears of nothing before the compaction any more, unless it is reminded at this event: the session's start, or, where
    /// that is silent, the first prompt or tool result afterwards.
    pub fn may_remind(&self, event: &Event<'_>) -> bool {
        if event.kind == EventKind::SessionStart {
            return event.follows_compaction();
        }
        self.notes.contains(&Note::Compacted)
            && event.is_main_thread()
            && matches!(event.kind, EventKind::UserPromptSubmit | EventKind::PostToolUse)
    }

    /// Matches the skill's own name or `plugin:name`. With `own`, only calls of that agent count (`""` is the main
    /// thread).
    pub fn invoked(&self, skill: &str, own: Option<&str>) -> bool {
        self.skills.iter().any(|(name, agent)| {
            let same = satisfies(name, skill);
            same && own.is_none_or(|own| agent.as_deref().unwrap_or_default() == own)
        })
    }

    pub fn outgrown_window(&self) -> Option<(&str, u64)> {
        self.outgrown.as_ref().map(|(model, used)| (model.as_str(), *used))
    }

    pub fn noticed(&self, what: &str) -> bool {
        self.notices.iter().any(|known| known == what)
    }
}

/// Appends, without duplicates; drops the oldest.
fn push_unique<T: PartialEq>(list: &mut Vec<T>, new: T, most: usize) {
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
            proptest::collection::vec("(ship|compound)", 0..3).prop_map(Mark::RenamedSkills),
            "[a-z/]{1,24}".prop_map(Mark::Notice),
            Just(Mark::Notice("workflow 80".into())),
            "/[a-z/]{1,24}".prop_map(Mark::Directory),
            "/[a-z/]{1,24}".prop_map(Mark::Cwd),
            note().prop_map(Mark::Note),
            note().prop_map(Mark::NoteGiven),
            (0u64..1 << 40).prop_map(|at| Mark::Promoted(Millis(at))),
            Just(Mark::Detached),
            (0u64..8).prop_map(Mark::PromptScheduled),
            (0u64..8, 0u64..4).prop_map(|(process, since)| Mark::Client(ClientProcess { process, since })),
        ]
    }

    fn note() -> impl Strategy<Value = Note> {
        prop_oneof![
            Just(Note::Lost),
            Just(Note::Kept),
            Just(Note::Compacted),
            Just(Note::Flow),
            Just(Note::Promote),
            Just(Note::TopicLeft),
            (1i64..99).prop_map(Note::UnknownTopic),
        ]
    }

    #[test]
    fn a_skill_is_everybodys_or_ones_own() {
        let mut marks = Marks::default();
        marks.note_skill("tidegate:rules".into(), Some("a1".into()));
        assert!(marks.invoked("rules", None));
        assert!(marks.invoked("rules", Some("a1")));
        assert!(!marks.invoked("rules", Some("a2")) && !marks.invoked("rules", Some("")));
        for number in 0..100 {
            marks.note_skill(format!("skill-{number}"), None);
        }
        assert_eq!(marks.skills.len(), SKILLS_KEPT);
    }
}
