//! 2. What is known about an event: plain data, gathered by the hook or written by hand in a test.

use crate::event::Event;
use crate::feature::activity::classifier::Guess;
use crate::feature::cycle::standing::Standing;
use crate::feature::knowledge::boundary::Boundary;
use crate::feature::knowledge::facts::Knowledge;
use crate::feature::knowledge::preserved::Preserved;
use crate::feature::marks::Marks;
use crate::feature::memory::facts::Remembered;
use crate::feature::verification::checks::{Evidence, Project};
use crate::feature::workflow;
use crate::feature::worktree::kept::Worktrees;
use crate::file_class::FileClass;
use crate::host::person::{Client, Person};
use crate::meter::Meter;
use crate::meter::forecast::{self, Forecast};
use crate::text::lang::Lang;
use crate::time::Millis;

/// A fact that may be missing, and why. A policy has to say what it does in each case; a fact can also be
/// stale, which for the meter is part of its own type ([`Meter`]).
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Known<T> {
    /// Known.
    Value(T),
    /// There is none, and that is no fault.
    #[default]
    Absent,
    /// It could not be read.
    Broken(String),
}

impl<T> Known<T> {
    /// The value, if there is one.
    pub fn value(&self) -> Option<&T> {
        match self {
            Known::Value(value) => Some(value),
            Known::Absent | Known::Broken(_) => None,
        }
    }
}

/// What policies want to know. Nothing else is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "a list of questions, each asked or not")]
pub struct Needs {
    /// The context meter: the bridge and the end of the transcript.
    pub meter: bool,
    /// What the tool was given and gave back.
    pub tool: bool,
    /// Whether the file to be edited is one of ours.
    pub own_file: bool,
    /// The files that the call is about to write or has written.
    pub files: bool,
    /// The verifying commands of the project.
    pub checks: bool,
    /// What the prompt asks for, and which stock is there.
    pub phase: bool,
    /// What was noted before the last compaction.
    pub boundary: bool,
    /// Worktrees that go or have gone.
    pub worktrees: bool,
    /// Where the project's cycle stands.
    pub cycle: bool,
    /// Where the session's workflow stands.
    pub workflow: bool,
    /// How long the transcript is, and which project is remembered.
    pub transcript: bool,
    /// The tag at the end of a turn, and what the catalogue says of the topics in question.
    pub topics: bool,
    /// What the catalogue says of the project.
    pub page: bool,
    /// What the catalogue says a session may be offered.
    pub undecided: bool,
    /// The meter of this very request: worth a short wait.
    pub current: bool,
}

/// A file that a call is about to write or has written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Touched {
    /// Its path below the project's root, or whole where it is in another folder that belongs to the project; `None`
    /// outside.
    pub inside: Option<String>,
    /// Its path below the root or that other folder, as patterns see it; empty outside.
    pub below: String,
    /// What it is for.
    pub class: FileClass,
    /// Which step of the command line wrote it; `None` for an editing tool.
    pub step: Option<usize>,
}

/// A file that decides what Tidegate does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnFile {
    /// The user's config.
    Config,
    /// The project's config, in the host's own folder.
    ProjectConfig,
    /// The host's settings, where our hooks stand.
    Host,
    /// Our private state.
    State,
    /// The program that hooks start, or a file in whose place it would be found.
    Program,
    /// What registers our plugin, or says where it is.
    Plugin,
    /// The store of what is remembered.
    Memory,
}

impl Needs {
    /// What either of them needs.
    #[must_use]
    pub fn and(self, other: Needs) -> Needs {
        Needs {
            meter: self.meter || other.meter,
            tool: self.tool || other.tool,
            own_file: self.own_file || other.own_file,
            files: self.files || other.files,
            checks: self.checks || other.checks,
            phase: self.phase || other.phase,
            boundary: self.boundary || other.boundary,
            worktrees: self.worktrees || other.worktrees,
            cycle: self.cycle || other.cycle,
            workflow: self.workflow || other.workflow,
            transcript: self.transcript || other.transcript,
            topics: self.topics || other.topics,
            page: self.page || other.page,
            undecided: self.undecided || other.undecided,
            current: self.current || other.current,
        }
    }
}

/// What the success of a command line proves about the project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Proof {
    /// Checks without which it could not have succeeded.
    pub evidence: Vec<Evidence>,
    /// A check in it whose failure would not have shown: the line.
    pub hidden: Option<String>,
}

/// Everything a policy may look at.
#[derive(Clone, Debug)]
pub struct Facts<'a> {
    /// When the hook was called.
    pub now: Millis,
    /// What happened.
    pub event: &'a Event<'a>,
    /// What this session did so far.
    pub marks: Known<Marks>,
    /// How full the context is.
    pub meter: Meter,
    /// Whether a person is there.
    pub person: Person,
    /// The client, where it is sure that it called. Only known at a person's answer while an approval is asked for.
    pub client: Client,
    /// The language for people.
    pub lang: Lang,
    /// JSON of what the tool was given; empty where nobody needs it.
    pub tool_input: &'a str,
    /// JSON of what the tool gave back; empty where nobody needs it.
    pub tool_response: &'a str,
    /// Which of our files is about to be edited.
    pub own_file: Option<OwnFile>,
    /// Files that the call is about to write or, of a command line, has changed.
    pub files: Vec<Touched>,
    /// What the command line that ran proves, if it succeeded.
    pub proof: Proof,
    /// Nothing of what was edited and not verified is there any more.
    pub edits_gone: bool,
    /// The verifying commands of the project, where somebody needs them.
    pub checks: Option<Project>,
    /// What the prompt asks for, where somebody needs it.
    pub guess: Option<Guess>,
    /// Stock files in the project's `.claude/context/`, by name.
    pub stock: Vec<String>,
    /// Flow and stock, where somebody wants to speak of them and they can be read.
    pub knowledge: Option<Knowledge>,
    /// When `progress.md` was last changed; asked only where that spares reading it.
    pub flow_changed: Option<Millis>,
    /// What was noted before the last compaction of this session.
    pub boundary: Option<Boundary>,
    /// What stands in the conversation beside the last summary, as far as the host has written that down.
    pub preserved: Preserved,
    /// Worktrees that go or have gone.
    pub worktrees: Worktrees,
    /// Where the project's cycle stands, where somebody needs it.
    pub cycle: Known<Standing>,
    /// Where the session's workflow stands, where somebody needs it.
    pub workflow: Known<workflow::standing::Standing>,
    /// What is remembered, as far as somebody needs it.
    pub memory: Remembered,
}

impl Facts<'_> {
    /// Turns left, if the session is old enough to tell.
    pub fn forecast(&self) -> Option<Forecast> {
        let left = self.meter.reading()?.left()?;
        forecast::forecast(&self.marks.value()?.relays, left)
    }
}
