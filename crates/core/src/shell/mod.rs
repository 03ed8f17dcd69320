//! Command lines, understood from their text: the commands, whether the status of the whole line depends on
//! each of them, their folders, and the files they write. Nothing is run and nothing is read.
//!
//! `syntax` is the grammar, `run` goes through it as a shell would. Whatever is not certain counts as
//! unknown: a line that is not understood has no commands, and a command whose failure the line could
//! survive is *hidden*. Length, depth and the work that loops and variables multiply are bounded.
//!
//! The rules are the tables in `shell.md`. `tests/commands_in_a_shell.rs` asks a real `bash` whether the
//! statuses are right, on lines made at random. The parser is Tidegate's own: the one maintained library
//! brings 55 crates onto the hook path, and a deep nest ends its process.

mod named;
mod run;
mod spot;
mod syntax;
mod wrappers;
mod writes;

pub use named::{files_in_patch, files_in_text};
pub use spot::Spot;
pub(crate) use spot::{below, tidy};

/// Longer lines are not parsed.
pub const LONGEST: usize = 64 * 1024;

/// The commands of a line in the order in which they are written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    /// Its commands, those in substitutions, functions and inner shells among them.
    pub steps: Vec<Step>,
    writes: Vec<Write>,
}

/// One simple command, without its wrappers (`env`, `timeout 60`, `npx`, …).
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The command and its arguments; empty for assignments and redirections alone.
    pub words: Vec<Word>,
    /// Variables that are set for this command, or exported before it in the line.
    pub assigned: Vec<(String, Word)>,
    /// Its part in the status of the whole line.
    pub status: Status,
    /// The folder it runs in.
    pub folder: Spot,
    /// It reads a file or a text that the line names (`<`, `<<`, `<<<`).
    pub fed: bool,
    /// The line does not wait for it.
    pub background: bool,
    /// It may run any number of times.
    pub repeats: bool,
    /// It runs in a container that this project describes.
    pub contained: bool,
    /// Something ends it after a while (`timeout`).
    pub limited: bool,
}

impl Step {
    /// The command's own name, without its folder and without an ending of Windows.
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
    /// The certainty that the command gets `text`.
    pub sort: Sort,
}

impl Word {
    /// A word without expansions.
    pub fn literal(text: impl Into<String>) -> Word {
        Word { text: text.into(), sort: Sort::Literal }
    }

    /// The text, where the command certainly gets it.
    pub fn known(&self) -> Option<&str> {
        (self.sort == Sort::Literal).then_some(self.text.as_str())
    }
}

/// The certainty of a word's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sort {
    /// It is the text.
    Literal,
    /// It names files by a pattern.
    Pattern,
    /// An expansion decides.
    Unknown,
}

/// A command's part in the status of its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The line succeeds only if this command ran and succeeded.
    Decides,
    /// The line can succeed without it.
    Hidden(Why),
}

/// The reason that a command's status is not that of the line.
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
    /// It runs in the background.
    Background,
    /// A condition, or a branch of one.
    Conditional,
    /// The body of a loop.
    Loop,
    /// The body of a function.
    Function,
    /// A substitution: only its output is used.
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

/// A file that a line names as one it writes. Whether it did, only the file itself can show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Write {
    /// The file.
    pub path: Spot,
    /// The number of the step that writes it.
    pub step: usize,
    /// The shell, the command, or a script.
    pub how: How,
}

/// The means by which a command line writes a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// The shell opens it: `>`, `>>`, `&>`.
    Redirect,
    /// The command is told to: `tee`, `sed -i`, `cp`, `patch`, a formatter.
    Command,
    /// An inline script mentions it.
    Script,
    /// The command changes every file that fits this pattern.
    Pattern,
    /// It is a patch, which names the files.
    Patch,
    /// The command changes files in place, and the text does not tell which.
    Unknown,
    /// The command removes it, and would have failed if it had not been there.
    Removal,
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

/// The known surroundings of a line, as whole paths.
#[derive(Clone, Copy, Debug, Default)]
pub struct Surroundings<'a> {
    /// The person's own folder: `~` and `$HOME`.
    pub home: Option<&'a str>,
    /// `$CLAUDE_PROJECT_DIR`.
    pub project: Option<&'a str>,
    /// The folder the line starts in: `$PWD`.
    pub cwd: Option<&'a str>,
}

/// Reads a command line; `None` where it is too long, too deep or not understood.
pub fn parse(text: &str) -> Option<Script> {
    parse_in(text, Surroundings::default())
}

/// As [`parse`], in known surroundings.
pub fn parse_in(text: &str, surroundings: Surroundings<'_>) -> Option<Script> {
    if text.len() > LONGEST {
        return None;
    }
    run::list_steps(&syntax::parse(text)?, surroundings)
}

/// As [`parse`], for text that a program runs with a shell of its own: there `set -e` has its effect.
pub fn parse_process(text: &str) -> Option<Script> {
    if text.len() > LONGEST {
        return None;
    }
    run::list_steps_of_process(&syntax::parse(text)?)
}
