//! What a command line does, told from its text: which commands it runs, whether the status of the whole line depends on
//! each of them, where they run, and which files they write. Nothing is run and nothing is read.
//!
//! Whatever is not certain counts as unknown: a line that is not understood has no commands, and a command whose failure
//! the line could survive is *hidden*.

mod named;
mod run;
mod spot;
mod syntax;
mod table;
mod wrappers;
mod writes;

pub use spot::Spot;
pub(crate) use spot::{below, tidy};
pub(crate) use table::{Words, among, each};

/// Longest line that is looked at.
pub const LONGEST: usize = 64 * 1024;

/// The commands of a line in the order in which they are written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    /// Its commands, those in substitutions, functions and inner shells among them.
    pub steps: Vec<Step>,
    writes: Vec<Write>,
}

/// One simple command, without what only carries it (`env`, `timeout 60`, `npx`, …).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The command and its arguments; empty for assignments and redirections alone.
    pub words: Vec<Word>,
    /// Variables that are set for this command only.
    pub assigned: Vec<(String, Word)>,
    /// Whether the status of the whole line tells that this succeeded.
    pub status: Status,
    /// Where it runs.
    pub folder: Spot,
    /// Whether the line goes on without waiting for it.
    pub background: bool,
    /// Whether it runs in a container that this project describes.
    pub contained: bool,
}

impl Step {
    /// The command's own name, without the folder it was called from and what Windows adds.
    pub fn name(&self) -> Option<&str> {
        let word = self.words.first()?;
        let name = word.text.rsplit('/').next()?;
        // `$HOME/.cargo/bin/cargo` has a name; `$CARGO` has none.
        let known = word.sort == Sort::Literal
            || word.text.contains('/') && !name.contains(['$', '`', '*', '?', ')', '}']);
        let bare = [".exe", ".cmd", ".bat"].iter().find_map(|ending| name.strip_suffix(ending));
        known.then_some(bare.unwrap_or(name))
    }
}

/// One word of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// Without quotes; expansions as they are written.
    pub text: String,
    /// How far `text` is what the command gets.
    pub sort: Sort,
}

impl Word {
    /// A word that means just what it says.
    pub fn literal(text: impl Into<String>) -> Word {
        Word { text: text.into(), sort: Sort::Literal }
    }

    /// The text, where that is what the command gets.
    pub fn known(&self) -> Option<&str> {
        (self.sort == Sort::Literal).then_some(self.text.as_str())
    }
}

/// How far the text of a word is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sort {
    /// It is the text.
    Literal,
    /// It names files by a pattern.
    Pattern,
    /// An expansion decides.
    Unknown,
}

/// Whether a line can succeed without one of its commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The line succeeds only if this command ran and succeeded.
    Decides,
    /// It can succeed without.
    Hidden(Why),
}

/// Why a command's status is not that of the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// Something else follows.
    Followed,
    /// It is not the last stage of a pipe.
    Piped,
    /// Its failure has an alternative, or it is one.
    Alternative,
    /// Negated by `!`.
    Negated,
    /// Nobody waits for it.
    Background,
    /// A condition, or what depends on one.
    Conditional,
    /// The body of a loop.
    Loop,
    /// The body of a function.
    Function,
    /// Its output is what counts.
    Substitution,
    /// An earlier command may leave with success.
    NotReached,
    /// The line sets a trap.
    Trap,
    /// The line gives the name another meaning.
    Redefined,
}

impl Why {
    /// One word for tables and records.
    pub fn name(self) -> &'static str {
        match self {
            Why::Followed => "followed",
            Why::Piped => "piped",
            Why::Alternative => "alternative",
            Why::Negated => "negated",
            Why::Background => "background",
            Why::Conditional => "conditional",
            Why::Loop => "loop",
            Why::Function => "function",
            Why::Substitution => "substitution",
            Why::NotReached => "not reached",
            Why::Trap => "trap",
            Why::Redefined => "redefined",
        }
    }
}

/// A file that a line names as one it writes. Only a look at the file tells whether it did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Write {
    /// The file.
    pub path: Spot,
    /// The number of the step that writes it.
    pub step: usize,
    /// How it is written.
    pub how: How,
}

/// How a command line writes a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// The shell opens it: `>`, `>>`, `&>`.
    Redirect,
    /// The command is told to: `tee`, `sed -i`, `cp`, `patch`, a formatter.
    Command,
    /// An inline script mentions it.
    Script,
}

impl Script {
    /// The same line as if the status of none of its commands were hidden.
    #[must_use]
    pub fn revealed(&self) -> Script {
        let mut script = self.clone();
        for step in &mut script.steps {
            step.status = Status::Decides;
            step.background = false;
        }
        script
    }

    /// The files this line writes or may write, in the order of its steps.
    pub fn writes(&self) -> &[Write] {
        &self.writes
    }
}

/// What is known of the surroundings of a line, as whole paths.
#[derive(Clone, Copy, Debug, Default)]
pub struct Surroundings<'a> {
    /// The person's own folder: `~` and `$HOME`.
    pub home: Option<&'a str>,
    /// `$CLAUDE_PROJECT_DIR`.
    pub project: Option<&'a str>,
    /// Where the line starts: `$PWD`.
    pub cwd: Option<&'a str>,
}

/// Reads a command line; `None` where it is too long, too deep or not understood.
pub fn parse(text: &str) -> Option<Script> {
    parse_in(text, Surroundings::default())
}

/// As [`parse`], with what is known of where it runs.
pub fn parse_in(text: &str, surroundings: Surroundings<'_>) -> Option<Script> {
    if text.len() > LONGEST {
        return None;
    }
    run::script(&syntax::parse(text)?, surroundings)
}

/// As [`parse`], for text that a program runs with a shell of its own: there `set -e` has its effect.
pub fn parse_process(text: &str) -> Option<Script> {
    if text.len() > LONGEST {
        return None;
    }
    run::process(&syntax::parse(text)?)
}
