//! Marks: small durable facts of a session, one JSON object a line.
//!
//! Every mark is set-once or latest-wins, but for the few that a session's start and a boundary void, so a long file can
//! be rewritten as a short one ([`Marks::lines`]) at any time. Hooks run in parallel: what must not be decided by
//! whose line comes last is decided under the session's lock.

use serde::{Deserialize, Serialize};

use crate::feature::activity::classifier::Phase;
use crate::feature::cycle::{ActiveStage, Turn};
use crate::feature::memory::facts::{Spooled, TopicOf};
use crate::feature::verification::work::{Background, ChangeSet, Checked, Edit, Work, Wrote, satisfies};
use crate::feature::workflow::check::SKILL;
use crate::feature::workflow::{Attached, PhaseBegan};
use crate::feature::worktree::kept::Kept;
use crate::host::person::Person;
use crate::host::window::HostSettings;
use crate::meter::forecast::SAMPLES;
use crate::text::lang::Lang;
use crate::time::Millis;

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
    /// The highest pressure level that was said, or that use fell back to.
    Pressure(Pressure),
    /// A command that waits for a person, and how far it has come.
    Approval(Approval),
    /// A skill was invoked, by the model or by a typed command.
    Skill {
        /// As the host names it: `name` or `plugin:name`.
        name: String,
        /// The subagent that did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<String>,
    },
    /// Code was edited.
    Edit(Edit),
    /// Checks succeeded.
    Checked(Checked),
    /// A check ran whose exit status was hidden: its command line.
    Hidden(String),
    /// When code was last verified.
    Verified(Millis),
    /// A check runs in the background.
    Launched(Background),
    /// A task in the background has ended.
    Ended(String),
    /// A stop was held for the change set.
    Held,
    /// A tool ran since a stop was held.
    Ran,
    /// The person was told that the change set stays unverified.
    Told,
    /// The change set as it is.
    Changes(ChangeSet),
    /// Something that is said once in a session was said: what.
    Notice(String),
    /// A directory that the person added to the project.
    Directory(String),
    /// The phase that the session entered, or that it was said anew to be in.
    Phase(Phase),
    /// A backend is asked about a prompt: when that came.
    PhaseAsked(Millis),
    /// The backend's answer.
    LatePhase {
        /// The phase.
        phase: Phase,
        /// When the prompt came that it is about.
        prompt: Millis,
    },
    /// The folder that the main thread's next command line starts in.
    Cwd(String),
    /// What code was written.
    Wrote(Wrote),
    /// Something waits to be told to the model.
    Note(Note),
    /// It was told, or is not true any more.
    NoteGiven(Note),
    /// A note about flow was left for the change set that began then.
    FlowNoted(Millis),
    /// A manual compaction was held while this set of entries was unpromoted.
    CompactionHeld(u64),
    /// What was noted before a boundary, at this time, was used for recovery.
    Recovered(Millis),
    /// The persistence files were named, as they were then.
    Listed(u64),
    /// The session knows of a handoff.
    Handoff(HandoffKnown),
    /// A person went through the entries of the flow.
    Promoted(Millis),
    /// A person was told of unpromoted entries.
    Nudged(Nudge),
    /// What only a worktree held was copied.
    WorktreeKept(Kept),
    /// The person was told where the copy of this worktree is.
    WorktreeTold(String),
    /// The stage of a cycle that this session is in, as it is.
    Stage(Box<ActiveStage>),
    /// The stage is done: somebody said so.
    StageDone(String),
    /// A stop was held because the stage was not done.
    StageHeld,
    /// A person's prompt came while a stage was under way, or its turn has ended.
    StageTurn(Turn),
    /// The public copy of the budget was written.
    BudgetCopied(Millis),
    /// The session is in no cycle any more.
    StageLeft,
    /// The workflow that this session is in, as it is.
    Workflow(Box<Attached>),
    /// A phase of it begins.
    PhaseBegan(PhaseBegan),
    /// A compaction that was asked for at the end of this phase stands in the manifest.
    CompactionNoted(usize),
    /// An agent failed: what it was to do.
    AgentFailed(u64),
    /// It was said how the same work is given to an agent again.
    AgentRetried(u64),
    /// The session is in no workflow any more.
    WorkflowLeft,
    /// The transcript was left for the worker as far as this.
    Spooled(Spooled),
    /// A call bound a topic to the session.
    TopicSet(TopicOf),
    /// The topic that turns are about.
    Topic(TopicOf),
    /// A topic was left and nothing was recorded for it.
    TopicLeft(TopicOf),
    /// A stop was held in this turn because of a tag or a topic.
    MemoryHeld(String),
    /// Decisions were named at the session's start: which.
    DecisionsTold(u64),
    /// Undecided topics were: which.
    TopicsTold(u64),
    /// The client ended the session.
    Detached,
}

/// Unpromoted entries that a person was told of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Nudge {
    /// Which.
    pub set: u64,
    /// How many.
    pub entries: usize,
}

/// A handoff that a session wrote or was told of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HandoffKnown {
    /// When it was written.
    pub at: Millis,
    /// By this session, and not told to it since.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub wrote: bool,
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

/// What a backend was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Late {
    /// When the prompt came.
    pub prompt: Millis,
    /// The answer, once it is there.
    pub phase: Option<Phase>,
}

/// A command that loosens something, called by an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Approval {
    /// What a person names it by.
    pub code: String,
    /// The command, without our own name.
    pub command: String,
    /// What that means, where the command does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    /// When it was asked for or, later, approved.
    pub at: Millis,
    /// The process of the client that the agent runs in, where it says so: a second client may work on the same session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<u64>,
    /// The person was shown what they are asked for, without the model's help.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shown: bool,
    /// How far it has come.
    pub stage: ApprovalStage,
}

/// How far a request has come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ApprovalStage {
    /// It waits.
    Asked,
    /// It waits, and this tool call has put it to the person.
    Questioned(String),
    /// A person said yes.
    Given,
    /// The command ran.
    Used,
    /// It cannot be approved any more.
    Void,
}

/// Characters of what a request means: a plan can be long, and it is read at a glance.
const LONGEST_ABOUT: usize = 400;

/// How long a request waits for its answer, and an approval for its use.
pub const APPROVAL_MS: u64 = 10 * 60 * 1000;

/// Letters and digits that are not taken for one another.
pub const CODE_LETTERS: &[u8; 31] = b"23456789ABCDEFGHJKLMNPQRSTUVWXY";

/// Short enough to type, long enough not to turn up by chance.
pub const CODE_LENGTH: usize = 6;

impl Approval {
    /// Whether a person could still say yes.
    pub fn waits(&self, now: Millis) -> bool {
        matches!(self.stage, ApprovalStage::Asked | ApprovalStage::Questioned(_)) && self.in_time(now)
    }

    /// Whether this command may run now.
    pub fn allows(&self, command: &str, now: Millis) -> bool {
        self.stage == ApprovalStage::Given && self.command == command && self.in_time(now)
    }

    fn in_time(&self, now: Millis) -> bool {
        // The clock may have been set back, by a little on its own, by more by somebody.
        now.since(self.at) < APPROVAL_MS && self.at.since(now) < 60_000
    }

    /// What a person has to be shown before a yes to it counts: the whole command, and what it means where the command does
    /// not tell.
    pub fn terms(&self) -> impl Iterator<Item = String> {
        let about = self.about.as_ref().map(|about| match about.char_indices().nth(LONGEST_ABOUT) {
            Some((end, _)) => format!("{}…", &about[..end]),
            None => about.clone(),
        });
        std::iter::once(format!("tidegate {}", self.command)).chain(about)
    }

    /// The same in one line.
    pub fn wording(&self) -> String {
        let terms: Vec<String> = self.terms().collect();
        match terms.as_slice() {
            [command, about] => format!("`{command}` ({about})"),
            _ => format!("`{}`", terms.concat()),
        }
    }

    /// Whether a text could be a code.
    pub fn is_code(text: &str) -> bool {
        text.len() == CODE_LENGTH && text.bytes().all(|b| CODE_LETTERS.contains(&b.to_ascii_uppercase()))
    }
}

/// Old requests are forgotten beyond so many.
const APPROVALS_KEPT: usize = 8;

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
    /// A person went through the entries since: what was said is said again only for a new one.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub promoted: bool,
    /// When no new one was found after that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub looked: Option<Millis>,
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
    /// How far pressure was said.
    pub pressure: Pressure,
    /// Commands that waited for a person, oldest first.
    pub approvals: Vec<Approval>,
    /// What it did to the code, and what was proved since.
    pub work: Work,
    /// What was said that is said once, oldest first.
    pub notices: Vec<String>,
    /// Directories that the person added to the project.
    pub directories: Vec<String>,
    /// The folder that the main thread's next command line starts in.
    pub cwd: Option<String>,
    /// What the session is about now.
    pub phase: Option<Phase>,
    /// What a backend was asked about it since it was last known.
    pub late: Option<Late>,
    /// What waits to be told to the model.
    pub notes: Vec<Note>,
    /// The change set that a note about flow was left for: when it began.
    pub flow_noted: Option<Millis>,
    /// The set of entries that a manual compaction was last held for.
    pub compaction_held: Option<u64>,
    /// One was held since the last boundary.
    pub held_since_boundary: bool,
    /// What was last used for recovery: when it was noted.
    pub recovered: Option<Millis>,
    /// The persistence files as they were last named.
    pub listed: Option<u64>,
    /// The last handoff that it knows of.
    pub handoff: Option<HandoffKnown>,
    /// The unpromoted entries that a person was last told of, since somebody went through them.
    pub nudge: Option<Nudge>,
    /// Worktrees of which there is a copy, and nobody knows it yet; oldest first.
    pub worktrees: Vec<Kept>,
    /// The stage of a cycle that the session is in.
    pub stage: Option<ActiveStage>,
    /// The workflow that the session is in.
    pub workflow: Option<Attached>,
    /// How far the transcript was left for the worker.
    pub spooled: Option<Spooled>,
    /// The topic that a call last bound to the session.
    pub topic_set: Option<TopicOf>,
    /// The topic that turns are about, as far as they say so.
    pub topic: Option<TopicOf>,
    /// The last topic that was left with nothing recorded for it.
    pub topic_left: Option<TopicOf>,
    /// The turn in which a stop was last held because of a tag or a topic.
    pub memory_held: Option<String>,
    /// The decisions that were last named at the session's start.
    pub decisions_told: Option<u64>,
    /// The undecided topics that were.
    pub topics_told: Option<u64>,
    /// The client has ended the session, and not begun it again.
    pub detached: bool,
    /// Lines we could not read: torn, or of a newer version.
    pub unread: Vec<String>,
}

/// Texts that are said once in a session are few; tasks by their subject may be more.
const NOTICES_KEPT: usize = 64;

/// Notices of workflows begin so: a boundary voids them.
pub const WORKFLOW_NOTICE: &str = "workflow ";

/// More than there are kinds of them, topics aside.
const NOTES_KEPT: usize = 8;

/// More than anybody adds.
const DIRECTORIES_KEPT: usize = 8;

/// Each is looked for at every event that could tell of it.
const WORKTREES_KEPT: usize = 8;

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
            Mark::Attached(at) => {
                self.attached = Some(at);
                self.detached = false;
            }
            Mark::Detached => self.detached = true,
            Mark::Attended(person) => self.person = Some(person),
            Mark::Root(path) => self.root = Some(path),
            Mark::Transcript(path) => {
                // Of another file nothing was left yet.
                if self.transcript.as_ref() != Some(&path) {
                    self.spooled = None;
                }
                self.transcript = Some(path);
            }
            Mark::Spooled(spooled) => self.spooled = Some(spooled),
            Mark::TopicSet(topic) => self.topic_set = Some(topic),
            Mark::Topic(topic) => self.topic = Some(topic),
            Mark::TopicLeft(topic) => self.topic_left = Some(topic),
            Mark::MemoryHeld(turn) => self.memory_held = Some(turn),
            Mark::DecisionsTold(which) => self.decisions_told = Some(which),
            Mark::TopicsTold(which) => self.topics_told = Some(which),
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
                self.held_since_boundary = false;
                // What was said of a full context may be true again.
                self.notices.retain(|notice| !notice.starts_with(WORKFLOW_NOTICE));
            }
            Mark::Pressure(pressure) => self.pressure = pressure,
            Mark::Approval(approval) => {
                self.approvals.retain(|known| known.code != approval.code);
                self.approvals.push(approval);
                if self.approvals.len() > APPROVALS_KEPT {
                    // One that can come to nothing any more, else the oldest.
                    let over =
                        |known: &Approval| matches!(known.stage, ApprovalStage::Used | ApprovalStage::Void);
                    let at = self.approvals.iter().position(over).unwrap_or_default();
                    self.approvals.remove(at);
                }
            }
            Mark::Skill { name, agent } => {
                // A subagent's stage is nobody's.
                if let Some(stage) = self.stage.as_mut().filter(|_| agent.is_none()) {
                    stage.done |= satisfies(&name, &stage.skill);
                }
                if let Some(workflow) = self.workflow.as_mut().filter(|_| agent.is_none())
                    && satisfies(&name, SKILL)
                {
                    workflow.seen.iter_mut().for_each(|seen| seen.skill = true);
                }
                self.work.invoke(name, agent);
            }
            Mark::Stage(stage) => self.stage = Some(*stage),
            Mark::StageDone(name) => {
                if let Some(stage) = self.stage.as_mut().filter(|stage| stage.stage == name) {
                    stage.done = true;
                }
            }
            // Each changes one thing: hooks that run at once do not undo each other's.
            Mark::StageHeld => self.change_stage(|stage| stage.held = true),
            Mark::StageTurn(turn) => self.change_stage(|stage| {
                stage.turn = turn;
                if turn != Turn::Closed {
                    stage.chained = 0;
                }
            }),
            Mark::BudgetCopied(at) => self.change_stage(|stage| stage.copied = at),
            Mark::StageLeft => self.stage = None,
            Mark::Workflow(workflow) => self.workflow = Some(*workflow),
            Mark::PhaseBegan(new) => self.change_workflow(|workflow| workflow.begin(&new)),
            Mark::CompactionNoted(number) => self.change_workflow(|workflow| {
                let noted = workflow.seen.iter_mut().filter(|seen| seen.number == number);
                noted.for_each(|seen| seen.asked = false);
            }),
            Mark::AgentFailed(work) => self.change_workflow(|workflow| workflow.fail(work)),
            Mark::AgentRetried(work) => {
                self.change_workflow(|workflow| workflow.failed.retain(|known| *known != work));
            }
            Mark::WorkflowLeft => self.workflow = None,
            Mark::Edit(edit) => self.work.edit(&edit),
            Mark::Wrote(wrote) => self.work.wrote = wrote,
            Mark::Checked(checked) => self.work.check(&checked),
            Mark::Verified(at) => self.work.verified = Some(at),
            Mark::Launched(background) => self.work.launch(background),
            Mark::Ended(task) => self.work.end(&task),
            Mark::Changes(changes) => self.work.changes = Some(changes),
            Mark::Hidden(command) => self.change(|changes| changes.hidden = Some(command)),
            Mark::Held => self.change(|changes| {
                changes.held += 1;
                changes.ran = false;
            }),
            Mark::Ran => self.change(|changes| changes.ran = true),
            Mark::Told => self.change(|changes| changes.told = true),
            Mark::Notice(what) => keep(&mut self.notices, what, NOTICES_KEPT),
            Mark::Phase(phase) => {
                self.phase = Some(phase);
                self.late = None;
            }
            Mark::PhaseAsked(prompt) => self.late = Some(Late { prompt, phase: None }),
            // An answer to a question that was void, or that a newer prompt replaced, is none.
            Mark::LatePhase { phase, prompt } => {
                if let Some(late) = self.late.as_mut().filter(|late| late.prompt == prompt) {
                    late.phase = Some(phase);
                }
            }
            Mark::Cwd(path) => self.cwd = Some(path),
            Mark::Note(note) => {
                self.notes.retain(|known| *known != note);
                self.notes.push(note);
                if self.notes.len() > NOTES_KEPT {
                    self.notes.remove(0);
                }
            }
            Mark::NoteGiven(note) => self.notes.retain(|known| *known != note),
            Mark::FlowNoted(began) => self.flow_noted = Some(began),
            Mark::CompactionHeld(set) => {
                self.compaction_held = Some(set);
                self.held_since_boundary = true;
            }
            Mark::Recovered(noted) => self.recovered = Some(noted),
            Mark::Listed(files) => self.listed = Some(files),
            Mark::Handoff(known) => self.handoff = Some(known),
            Mark::Nudged(nudge) => self.nudge = Some(nudge),
            // What was urgent was that nothing was promoted.
            Mark::Promoted(at) => {
                self.pressure = Pressure {
                    level: PressureLevel::None,
                    at,
                    promoted: true,
                    looked: None,
                    ..self.pressure
                };
                self.notes.retain(|note| *note != Note::Promote);
                self.nudge = None;
            }
            Mark::Directory(path) => keep(&mut self.directories, path, DIRECTORIES_KEPT),
            Mark::WorktreeKept(kept) => {
                self.worktrees.retain(|known| known.worktree != kept.worktree);
                self.worktrees.push(kept);
                if self.worktrees.len() > WORKTREES_KEPT {
                    self.worktrees.remove(0);
                }
            }
            Mark::WorktreeTold(worktree) => self.worktrees.retain(|known| known.worktree != worktree),
        }
    }

    fn change(&mut self, how: impl FnOnce(&mut ChangeSet)) {
        if let Some(changes) = &mut self.work.changes {
            how(changes);
        }
    }

    fn change_stage(&mut self, how: impl FnOnce(&mut ActiveStage)) {
        if let Some(stage) = &mut self.stage {
            how(stage);
        }
    }

    fn change_workflow(&mut self, how: impl FnOnce(&mut Attached)) {
        if let Some(workflow) = &mut self.workflow {
            how(workflow);
        }
    }

    /// Whether this was said already.
    pub fn noticed(&self, what: &str) -> bool {
        self.notices.iter().any(|known| known == what)
    }

    /// The shortest file that reads back the same.
    pub fn lines(&self) -> String {
        let mut marks = Vec::new();
        marks.extend(self.began.map(|at| Mark::Began { at }));
        marks.extend(self.attached.map(Mark::Attached));
        marks.extend(self.person.map(Mark::Attended));
        marks.extend(self.root.clone().map(Mark::Root));
        marks.extend(self.transcript.clone().map(Mark::Transcript));
        marks.extend(self.model.clone().map(|(id, at)| Mark::Model { id, at }));
        marks.extend(self.host.clone().map(Mark::Host));
        marks.extend(self.lang.map(Mark::Lang));
        // One that was held before the last boundary does not count after it.
        let held = self.compaction_held.map(Mark::CompactionHeld);
        marks.extend(held.clone().filter(|_| !self.held_since_boundary));
        marks.extend(self.boundary.map(Mark::Boundary));
        marks.extend(held.filter(|_| self.held_since_boundary));
        marks.extend(self.relays.iter().copied().map(Mark::Relay));
        marks.extend((self.pressure != Pressure::default()).then_some(Mark::Pressure(self.pressure)));
        marks.extend(self.approvals.iter().cloned().map(Mark::Approval));
        let skill = |(name, agent): &(String, Option<String>)| Mark::Skill {
            name: name.clone(),
            agent: agent.clone(),
        };
        marks.extend(self.work.skills.iter().map(skill));
        marks.extend(self.work.verified.map(Mark::Verified));
        marks.extend(self.work.changes.clone().map(Mark::Changes));
        marks.extend(self.work.background.iter().cloned().map(Mark::Launched));
        marks.extend(self.notices.iter().cloned().map(Mark::Notice));
        marks.extend(self.directories.iter().cloned().map(Mark::Directory));
        marks.extend(self.phase.map(Mark::Phase));
        if let Some(Late { prompt, phase }) = self.late {
            marks.push(Mark::PhaseAsked(prompt));
            marks.extend(phase.map(|phase| Mark::LatePhase { phase, prompt }));
        }
        marks.extend(self.cwd.clone().map(Mark::Cwd));
        marks.extend((self.work.wrote != Wrote::default()).then(|| Mark::Wrote(self.work.wrote.clone())));
        marks.extend(self.notes.iter().copied().map(Mark::Note));
        marks.extend(self.flow_noted.map(Mark::FlowNoted));
        marks.extend(self.recovered.map(Mark::Recovered));
        marks.extend(self.listed.map(Mark::Listed));
        marks.extend(self.handoff.map(Mark::Handoff));
        marks.extend(self.nudge.map(Mark::Nudged));
        marks.extend(self.worktrees.iter().cloned().map(Mark::WorktreeKept));
        marks.extend(self.stage.clone().map(|stage| Mark::Stage(Box::new(stage))));
        marks.extend(self.workflow.clone().map(|workflow| Mark::Workflow(Box::new(workflow))));
        marks.extend(self.spooled.map(Mark::Spooled));
        marks.extend(self.topic_set.clone().map(Mark::TopicSet));
        marks.extend(self.topic.clone().map(Mark::Topic));
        marks.extend(self.topic_left.clone().map(Mark::TopicLeft));
        marks.extend(self.memory_held.clone().map(Mark::MemoryHeld));
        marks.extend(self.decisions_told.map(Mark::DecisionsTold));
        marks.extend(self.topics_told.map(Mark::TopicsTold));
        marks.extend(self.detached.then_some(Mark::Detached));
        let mut lines = write_lines(&marks);
        for line in &self.unread {
            lines.push_str(line);
            lines.push('\n');
        }
        lines
    }
}

/// The newest last, each once.
fn keep(list: &mut Vec<String>, new: String, most: usize) {
    list.retain(|known| *known != new);
    list.push(new);
    if list.len() > most {
        list.remove(0);
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
    use crate::feature::memory::catalogue::Named;
    use crate::feature::verification::checks::Kinds;
    use proptest::prelude::*;

    fn mark() -> impl Strategy<Value = Mark> {
        prop_oneof![
            (0u64..1 << 40).prop_map(|at| Mark::Began { at: Millis(at) }),
            "[a-z/]{1,12}".prop_map(Mark::Root),
            ("[a-z0-9-]{1,12}", 0u64..1 << 40).prop_map(|(id, at)| Mark::Model { id, at: Millis(at) }),
            Just(Mark::Host(HostSettings::default())),
            Just(Mark::Lang(Lang::Ja)),
            any::<bool>().prop_map(|there| Mark::Attended(there.into())),
            (0u64..1_000_000).prop_map(Mark::Relay),
            (0u64..1 << 40).prop_map(|at| Mark::Boundary(Millis(at))),
            (0u64..1_000_000).prop_map(|used| Mark::Pressure(Pressure {
                level: PressureLevel::Urgent,
                used,
                ..Pressure::default()
            })),
            Just(Mark::Pressure(Pressure::default())),
            ("[A-Y2-9]{2}", 0u64..1 << 40).prop_map(|(code, at)| Mark::Approval(Approval {
                code,
                command: "off skill-gate".into(),
                about: None,
                at: Millis(at),
                client: Some(at),
                shown: at % 2 == 0,
                stage: ApprovalStage::Questioned("toolu_1".into()),
            })),
            (0u64..1 << 40).prop_map(|at| Mark::Attached(Millis(at))),
            ("[ab]", "[a-z]{1,8}").prop_map(|(worktree, copy)| Mark::WorktreeKept(Kept { worktree, copy })),
            "[ab]".prop_map(Mark::WorktreeTold),
            ("[a-z:]{1,24}", proptest::option::of("[a-z0-9]{8}"))
                .prop_map(|(name, agent)| Mark::Skill { name, agent }),
            ("[a-z/]{1,40}", 0u64..1 << 40, any::<bool>()).prop_map(|(file, at, shell)| Mark::Edit(Edit {
                file,
                at: Millis(at),
                shell
            })),
            (0u64..1 << 40, any::<bool>()).prop_map(|(at, verified)| Mark::Checked(Checked {
                kinds: Kinds::TEST,
                at: Millis(at),
                seen: Millis(at),
                verified,
            })),
            Just(Mark::Hidden("cargo test | tail".into())),
            ("[a-z0-9]{9}", 0u64..1 << 40).prop_map(|(task, at)| Mark::Launched(Background {
                task,
                kinds: Kinds::BUILD,
                at: Millis(at),
                awaited: Some("p".into()),
            })),
            "[a-z0-9]{9}".prop_map(Mark::Ended),
            Just(Mark::Held),
            Just(Mark::Ran),
            Just(Mark::Told),
            "[a-z/]{1,24}".prop_map(Mark::Notice),
            "/[a-z/]{1,24}".prop_map(Mark::Directory),
            Just(Mark::Phase(Phase::Debug)),
            (0u64..3).prop_map(|prompt| Mark::PhaseAsked(Millis(prompt))),
            (0u64..3).prop_map(|prompt| Mark::LatePhase { phase: Phase::Plan, prompt: Millis(prompt) }),
            "/[a-z/]{1,24}".prop_map(Mark::Cwd),
            Just(Mark::Note(Note::Lost)),
            Just(Mark::Note(Note::Flow)),
            Just(Mark::Note(Note::Promote)),
            "/[a-z/]{1,24}".prop_map(Mark::Transcript),
            (0u64..1 << 40).prop_map(|at| Mark::Verified(Millis(at))),
            ("[a-z/]{1,24}", 0u64..1 << 40).prop_map(|(file, at)| Mark::Wrote(Wrote {
                files: vec![file],
                last: Millis(at),
                began: Millis(at),
            })),
            (0u64..1 << 40).prop_map(|at| Mark::Pressure(Pressure {
                at: Millis(at),
                promoted: true,
                looked: Some(Millis(at)),
                ..Pressure::default()
            })),
            Just(Mark::NoteGiven(Note::Lost)),
            (0u64..1 << 40).prop_map(|at| Mark::FlowNoted(Millis(at))),
            any::<u64>().prop_map(Mark::CompactionHeld),
            (0u64..1 << 40).prop_map(|at| Mark::Recovered(Millis(at))),
            any::<u64>().prop_map(Mark::Listed),
            (0u64..1 << 40, any::<bool>())
                .prop_map(|(at, wrote)| Mark::Handoff(HandoffKnown { at: Millis(at), wrote })),
            any::<u64>().prop_map(|set| Mark::Nudged(Nudge { set, entries: 3 })),
            (0u64..1 << 40).prop_map(|at| Mark::Promoted(Millis(at))),
            "[ab]".prop_map(|stage| Mark::Stage(Box::new(ActiveStage {
                skill: stage.clone(),
                stage,
                ..ActiveStage::default()
            }))),
            "[ab]".prop_map(Mark::StageDone),
            Just(Mark::StageHeld),
            Just(Mark::StageTurn(Turn::Interrupted)),
            Just(Mark::BudgetCopied(Millis(9))),
            Just(Mark::StageLeft),
            ("[ab]", 0usize..3).prop_map(|(manifest, number)| Mark::Workflow(Box::new(Attached {
                manifest,
                seen: vec![crate::feature::workflow::SeenPhase { number, ..Default::default() }],
                ..Attached::default()
            }))),
            (0usize..40, proptest::option::of(0u64..1 << 40), proptest::option::of(0u8..100), any::<bool>())
                .prop_map(|(number, at, level, asked)| Mark::PhaseBegan(PhaseBegan {
                    number,
                    name: "implementation".into(),
                    at: at.map(Millis),
                    level,
                    asked,
                })),
            (0usize..40).prop_map(Mark::CompactionNoted),
            any::<u64>().prop_map(Mark::AgentFailed),
            (0u64..3).prop_map(Mark::AgentRetried),
            Just(Mark::Skill { name: SKILL.into(), agent: None }),
            Just(Mark::Notice("workflow 80".into())),
            Just(Mark::WorkflowLeft),
            Just(Mark::Detached),
            (0u64..1 << 40, 0u64..1 << 40).prop_map(|(to, at)| Mark::Spooled(Spooled {
                to,
                at: Millis(at),
                passed: (at % 3 == 0).then_some(Millis(at))
            })),
            topic().prop_map(Mark::TopicSet),
            topic().prop_map(Mark::Topic),
            topic().prop_map(Mark::TopicLeft),
            "[0-9a-f-]{36}".prop_map(Mark::MemoryHeld),
            any::<u64>().prop_map(Mark::DecisionsTold),
            any::<u64>().prop_map(Mark::TopicsTold),
            (1i64..99).prop_map(|id| Mark::Note(Note::UnknownTopic(id))),
            Just(Mark::Note(Note::TopicLeft)),
        ]
    }

    fn topic() -> impl Strategy<Value = TopicOf> {
        let named = || (0i64..1 << 40, "[a-z設計]{0,60}").prop_map(|(id, name)| Named { id, name });
        let times = (0u64..1 << 40, 0u64..1 << 40);
        (named(), proptest::option::of(named()), times).prop_map(|(topic, project, (since, at))| TopicOf {
            topic,
            project,
            since: Millis(since),
            at: Millis(at),
        })
    }

    proptest! {
        #[test]
        fn the_short_file_reads_back_the_same(marks in proptest::collection::vec(mark(), 0..200)) {
            let long = Marks::fold(write_lines(&marks).as_bytes());
            prop_assert_eq!(&Marks::fold(long.lines().as_bytes()), &long);
            prop_assert!(long.lines().len() < 10 * 1024);
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
    fn a_late_answer_counts_for_its_prompt_and_until_something_newer() {
        let fold = |marks: &[Mark]| Marks::fold(write_lines(marks).as_bytes()).late;
        let answer = |prompt| Mark::LatePhase { phase: Phase::Plan, prompt: Millis(prompt) };
        let asked = |prompt| Mark::PhaseAsked(Millis(prompt));
        let there = Some(Late { prompt: Millis(2), phase: Some(Phase::Plan) });
        assert_eq!(fold(&[asked(2), answer(2)]), there);
        assert_eq!(fold(&[asked(1), asked(2), answer(2)]), there);
        let waits = Some(Late { prompt: Millis(2), phase: None });
        assert_eq!(fold(&[asked(1), answer(1), asked(2)]), waits);
        assert_eq!(fold(&[asked(1), asked(2), answer(1)]), waits, "of an older prompt");
        for newer in [Mark::Phase(Phase::Debug), Mark::Began { at: Millis(3) }] {
            assert_eq!(fold(&[asked(2), answer(2), newer.clone()]), None);
            assert_eq!(fold(&[asked(2), newer, answer(2)]), None);
        }
        assert_eq!(fold(&[answer(2)]), None, "nobody asked");
    }

    #[test]
    fn another_transcript_was_not_left_yet() {
        let spooled = Spooled { to: 9, at: Millis(1), passed: None };
        let at = |path: &str| Mark::Transcript(path.into());
        let fold = |marks: &[Mark]| Marks::fold(write_lines(marks).as_bytes()).spooled;
        assert_eq!(fold(&[at("/a"), Mark::Spooled(spooled), at("/a")]), Some(spooled));
        assert_eq!(fold(&[at("/a"), Mark::Spooled(spooled), at("/b")]), None);
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
