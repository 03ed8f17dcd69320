//! The command line of `tidegate memory`.

use std::path::PathBuf;

use clap::Subcommand;
use tidegate_core::time::Millis;
use tidegate_memory::view::HitKind;

use crate::args::Span;

#[derive(Debug, Subcommand)]
pub(crate) enum MemoryCommand {
    /// Finds what was said, decided and learned
    #[command(after_help = "\
Examples:
  tidegate memory search busy timeout
  tidegate memory search '\"busy timeout\"' --project . --since 30d
  tidegate memory search 設計 --kind decision --kind log
  tidegate memory search parser --json | jq -r '.results[] | .at + \" \" + .title'

All words have to be there; what stands in double quotes, one after another. Where
no text has all of them, those with most of them are found. Texts in English and
Japanese, whole words and forms of them; of the last word the beginning will do.
Logs, decisions and topics of all projects, stock and progress of those that were
worked in.")]
    Search(Search),
    /// Lists topics, logs, decisions or projects, newest first
    #[command(after_help = "\
Examples:
  tidegate memory list                          topics of all projects
  tidegate memory list logs --project . --since 7d
  tidegate memory list decisions --topic 12 --all
  tidegate memory list logs --limit 100 --json | jq -r .next

A list comes in pages: `--after` takes what the page before said was next. Times are
in UTC.")]
    List(List),
    /// Shows one topic, log, decision, session or project
    #[command(after_help = "\
Examples:
  tidegate memory show topic 12
  tidegate memory show decision 7
  tidegate memory show log 3f9a2c
  tidegate memory show session 91b38a40-…

A log is named by its id or the beginning of it.")]
    Show(Show),
    /// Adds and changes topics
    #[command(subcommand)]
    Topic(TopicCommand),
    /// Adds and changes decisions
    #[command(subcommand)]
    Decision(DecisionCommand),
    /// Writes a log by hand
    #[command(subcommand)]
    Log(LogCommand),
    /// Goes through the whole store and says what is wrong with it
    #[command(after_help = "\
Examples:
  tidegate memory check
  tidegate memory check --mend

A file that turns out to be damaged in use is set aside and rebuilt from the newest
copy, from what can still be read of it and from what waits in the spool. --mend
does so for damage that only this check finds; an index that does not fit the texts
is made anew.

Exit codes: 0 sound, 1 something is wrong.")]
    Check(Check),
    /// Makes a copy of the store now
    #[command(after_help = "\
Examples:
  tidegate memory backup
  tidegate memory backup --to /mnt/backup/memory.db

One copy a day is made by itself; the last three are kept.")]
    Backup(Backup),
    /// Prints everything as JSON lines
    #[command(after_help = "\
Examples:
  tidegate memory export > memory.jsonl
  tidegate memory export | jq -c 'select(.kind == \"decision\")'

One object a line, with a member `kind`: project, topic, session, log, decision.
What is referred to comes first. Times are milliseconds since 1970. `tidegate
memory import` takes the same, on any machine and as often as you like.")]
    Export,
    /// Takes in what `export` printed
    #[command(after_help = "\
Examples:
  tidegate memory import memory.jsonl
  ssh other tidegate memory export | tidegate memory import

New rows are added; forgotten rows stay forgotten. A project of the same name and
folder as one that is there is that one. Secrets are taken out. If a line makes no
sense, or a row is there twice, nothing is taken in, and the line is named. Reads
512 MiB at most, and lines of 4 MiB; FILE is a regular file, other input comes from
stdin.

Replacing a row with a newer version, or superseding a decision that is here, needs
your yes: at a terminal it shows these rows and asks. It cannot ask with a pipe as
its input: write a file first, and import that. Without your yes these rows are left
out and counted, unless `unattended = [\"memory import\"]` stands under [approval] in
your own config and there is no terminal. An agent never replaces a row, and imports
only rows of its own project.")]
    Import(Import),
    /// Deletes a log, a decision, a topic, a session or a project for good
    #[command(after_help = "\
Examples:
  tidegate memory forget log 3f9a2c
  tidegate memory forget decision 7
  tidegate memory forget topic 12
  tidegate memory forget session 91b38a40-…
  tidegate memory forget project shop

From the store, its copies, the spool and, with the next delivery, from the team's
store. Nothing brings it back but a new conversation. At a terminal it asks; called
by an agent it prints a code that only a person can approve.

Exit codes: 0 gone, 1 not yet gone from everywhere, or an error, 4 waits for a person's approval.")]
    Forget(Forget),
    /// Shows how much there is, and what waits
    #[command(after_help = "Examples:\n  tidegate memory stats\n  tidegate memory stats --json")]
    Stats(Json),
    /// Shows what is shared with a team, what waits to be delivered and how it went
    #[command(after_help = "\
Examples:
  tidegate memory team
  tidegate memory team --json | jq .pending

Says nothing to the server; `push` and `pull` do. docs/team.md says how to share.")]
    Team(Json),
    /// Tells the team's store now what happened here
    #[command(after_help = "\
Examples:
  tidegate memory push

The worker does this by itself after it has stored something. What the server has
already stays as it is; what it cannot take now is kept.

Exit codes: 0 nothing is left to tell, 1 something is.")]
    Push(Json),
    /// Asks the team's store now for the topics and decisions of others
    #[command(after_help = "\
Examples:
  tidegate memory pull

The worker does this by itself, too. Logs of others stay on the server and are found
there by `tidegate memory search`.")]
    Pull(Json),
    /// Copies the whole store of this machine to a server
    #[command(after_help = "\
Examples:
  PGPASSWORD=… tidegate memory migrate --to postgres://me@db.example.com/memory
  tidegate memory migrate --to postgres://me@db.example.com/memory --password-variable DB_PASSWORD
  tidegate memory migrate --to postgres://me@localhost/memory --tls off

All projects, whatever the config shares. The store here stays as it is, and can be
copied again: what the server has is left alone, so a copy that was interrupted goes
on. A password belongs into an environment variable: others on this machine can see
a command line. At a terminal it asks first; called by an agent it prints a code that
only a person can approve.

Exit codes: 0 all rows are there, 1 something is missing, 4 waits for a person's approval.")]
    Migrate(Migrate),
}

#[derive(Debug, clap::Args)]
pub(crate) struct Migrate {
    /// The server and database: postgres://USER@HOST:PORT/DATABASE
    #[arg(long, value_name = "URL")]
    pub(crate) to: String,
    /// The environment variable that holds the password; unless told, PGPASSWORD
    #[arg(long, value_name = "NAME")]
    pub(crate) password_variable: Option<String>,
    /// A file with the certificates that the server's is checked against; unless told, as in the config
    #[arg(long, value_name = "FILE")]
    pub(crate) ca_file: Option<PathBuf>,
    /// How the connection is protected; unless told, as in the config
    #[arg(long, value_name = "HOW")]
    pub(crate) tls: Option<TlsName>,
    /// A person has approved it
    #[arg(long)]
    pub(crate) approved: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum TlsName {
    Verify,
    Off,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Search {
    /// What to look for
    #[arg(value_name = "QUERY", required = true, num_args = 1..)]
    pub(crate) query: Vec<String>,
    #[command(flatten)]
    pub(crate) of: Of,
    /// Only this kind; can be given several times
    #[arg(long, value_name = "KIND")]
    pub(crate) kind: Vec<KindName>,
    /// At most so many
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..=200))]
    pub(crate) limit: u16,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// What rows are looked for by.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Of {
    /// Only of this project: its name, its id, or a folder in it
    #[arg(long, value_name = "PROJECT")]
    pub(crate) project: Option<String>,
    /// Only of this topic
    #[arg(long, value_name = "ID")]
    pub(crate) topic: Option<i64>,
    /// Only of this session
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// Only from then on: `2026-11-01`, or `7d` ago; days are those of UTC
    #[arg(long, value_name = "WHEN")]
    pub(crate) since: Option<When>,
    /// Only until then, a day included
    #[arg(long, value_name = "WHEN")]
    pub(crate) until: Option<When>,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum KindName {
    Log,
    Decision,
    Topic,
    Stock,
    Progress,
}

impl KindName {
    pub(crate) fn kind(self) -> HitKind {
        match self {
            KindName::Log => HitKind::Log,
            KindName::Decision => HitKind::Decision,
            KindName::Topic => HitKind::Topic,
            KindName::Stock => HitKind::Stock,
            KindName::Progress => HitKind::Progress,
        }
    }
}

#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "flags of a command line")]
pub(crate) struct List {
    /// What
    #[arg(value_name = "WHAT", default_value = "topics")]
    pub(crate) what: ListOf,
    #[command(flatten)]
    pub(crate) of: Of,
    /// Only open topics, or decisions of open topics
    #[arg(long, conflicts_with = "closed")]
    pub(crate) open: bool,
    /// Only closed ones
    #[arg(long)]
    pub(crate) closed: bool,
    /// Also topics that were made for a session, and decisions that do not stand any more
    #[arg(long)]
    pub(crate) all: bool,
    /// At most so many
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) limit: u16,
    /// The page after this one
    #[arg(long, value_name = "PLACE", allow_hyphen_values = true)]
    pub(crate) after: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ListOf {
    Topics,
    Logs,
    Decisions,
    Projects,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Show {
    /// What
    #[arg(value_name = "WHAT")]
    pub(crate) what: ShowOf,
    /// Its id
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum ShowOf {
    Topic,
    Log,
    Decision,
    Session,
    Project,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TopicCommand {
    /// Begins a topic
    #[command(after_help = "\
Examples:
  tidegate memory topic add \"Search in two languages\"
  tidegate memory topic add \"Snippets\" --parent 12
  tidegate memory topic add \"Prices\" --project shop")]
    Add(TopicAdd),
    /// Changes a topic's title, project or place
    #[command(after_help = "\
Examples:
  tidegate memory topic edit 12 --title \"Search\"
  tidegate memory topic edit 12 --project harbour
  tidegate memory topic edit 12 --no-parent

A topic that was made for a session is one like others once it has a title of yours.")]
    Edit(TopicEdit),
    /// Says that nobody works on a topic any more
    #[command(after_help = "Examples:\n  tidegate memory topic close 12")]
    Close(Id),
    /// Says that somebody works on it again
    #[command(after_help = "Examples:\n  tidegate memory topic reopen 12")]
    Reopen(Id),
}

#[derive(Debug, clap::Args)]
pub(crate) struct TopicAdd {
    /// What it is about, in one line
    #[arg(value_name = "TITLE")]
    pub(crate) title: String,
    /// Its project: name, id, or a folder in it; unless told, that of this folder
    #[arg(long, value_name = "PROJECT")]
    pub(crate) project: Option<String>,
    /// The topic that it is a part of
    #[arg(long, value_name = "ID")]
    pub(crate) parent: Option<i64>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("what").required(true).multiple(true).args(["title", "project", "parent", "no_parent"]))]
pub(crate) struct TopicEdit {
    /// The topic
    #[arg(value_name = "ID")]
    pub(crate) id: i64,
    /// Its new title
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Option<String>,
    /// Its new project: name, id, or a folder in it
    #[arg(long, value_name = "PROJECT")]
    pub(crate) project: Option<String>,
    /// The topic that it is a part of
    #[arg(long, value_name = "ID", conflicts_with = "no_parent")]
    pub(crate) parent: Option<i64>,
    /// It is part of no other
    #[arg(long)]
    pub(crate) no_parent: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// A number and how it is answered.
#[derive(Debug, clap::Args)]
pub(crate) struct Id {
    /// Its number
    #[arg(value_name = "ID")]
    pub(crate) id: i64,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum DecisionCommand {
    /// Writes a decision down
    #[command(after_help = "\
Examples:
  tidegate memory decision add 12 \"Bigrams for Japanese\" --reason \"no dictionary to ship\"

The topic stays open.")]
    Add(DecisionAdd),
    /// Mends how a decision is written down
    #[command(after_help = "\
Examples:
  tidegate memory decision edit 7 --reason \"no dictionary to ship, and none to update\"
  tidegate memory decision edit 7 --topic 14")]
    Edit(DecisionEdit),
    /// Puts another decision in its place
    #[command(after_help = "\
Examples:
  tidegate memory decision supersede 7 \"Bigrams and single characters\"")]
    Supersede(Supersede),
    /// Takes a decision back
    #[command(after_help = "\
Examples:
  tidegate memory decision retract 7

What it took the place of stands again.")]
    Retract(Id),
}

#[derive(Debug, clap::Args)]
pub(crate) struct DecisionAdd {
    /// The topic
    #[arg(value_name = "TOPIC")]
    pub(crate) topic: i64,
    /// What was decided; `-` reads it from stdin
    #[arg(value_name = "TEXT")]
    pub(crate) text: String,
    /// Why
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("what").required(true).multiple(true).args(["text", "reason", "topic"]))]
pub(crate) struct DecisionEdit {
    /// The decision
    #[arg(value_name = "ID")]
    pub(crate) id: i64,
    /// What was decided; `-` reads it from stdin
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) text: Option<String>,
    /// Why
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
    /// Its topic
    #[arg(long, value_name = "ID")]
    pub(crate) topic: Option<i64>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Supersede {
    /// The decision
    #[arg(value_name = "ID")]
    pub(crate) id: i64,
    /// What was decided instead; `-` reads it from stdin
    #[arg(value_name = "TEXT")]
    pub(crate) text: String,
    /// Why
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum LogCommand {
    /// Adds a log to a topic
    #[command(after_help = "\
Examples:
  tidegate memory log add 12 \"Asked the people who run it: weekly is enough\"
  tidegate memory log add 12 - --title \"Minutes\" < minutes.txt")]
    Add(LogAdd),
}

#[derive(Debug, clap::Args)]
pub(crate) struct LogAdd {
    /// The topic
    #[arg(value_name = "TOPIC")]
    pub(crate) topic: i64,
    /// What there is to say; `-` reads it from stdin
    #[arg(value_name = "TEXT")]
    pub(crate) text: String,
    /// One line; unless told, the first of the text
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Check {
    /// Rebuild what is damaged
    #[arg(long)]
    pub(crate) mend: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Backup {
    /// Write the copy here instead of among the others
    #[arg(long, value_name = "FILE")]
    pub(crate) to: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Import {
    /// JSON lines; unless told, or with `-`, from stdin
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Forget {
    /// What
    #[arg(value_name = "WHAT")]
    pub(crate) what: ForgetOf,
    /// Its id; of a project also its name, or a folder in it
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// A person approved this command in this session
    #[arg(long)]
    pub(crate) approved: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ForgetOf {
    Log,
    Decision,
    Topic,
    Session,
    Project,
}

impl ForgetOf {
    pub(crate) fn name(self) -> &'static str {
        match self {
            ForgetOf::Log => "log",
            ForgetOf::Decision => "decision",
            ForgetOf::Topic => "topic",
            ForgetOf::Session => "session",
            ForgetOf::Project => "project",
        }
    }
}

#[derive(Debug, clap::Args)]
pub(crate) struct Json {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// A point in time: a day, a moment in UTC, or how long ago.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    /// The day that begins then.
    Day(Millis),
    /// Exactly then.
    At(Millis),
    /// So many milliseconds ago.
    Ago(u64),
}

impl When {
    /// The time from which on something is meant.
    pub(crate) fn since(self, now: Millis) -> Millis {
        match self {
            When::Day(at) | When::At(at) => at,
            When::Ago(ms) => now.before(ms),
        }
    }

    /// The time before which something is meant.
    pub(crate) fn until(self, now: Millis) -> Millis {
        match self {
            When::Day(at) => Millis(at.0 + 86_400_000),
            When::At(_) | When::Ago(_) => self.since(now),
        }
    }
}

impl std::str::FromStr for When {
    type Err = String;

    fn from_str(text: &str) -> Result<When, String> {
        let day = || {
            let mut numbers = text.split('-').map(|number| number.parse().ok());
            let day = Millis::of_day(numbers.next()??, numbers.next()??, numbers.next()??);
            day.filter(|_| numbers.next().is_none())
        };
        let when = day()
            .map(When::Day)
            .or_else(|| Millis::from_iso(text).map(When::At))
            .or_else(|| text.parse::<Span>().ok().map(|span| When::Ago(span.0)));
        when.ok_or_else(|| "use a day such as 2026-11-01, or how long ago: 30m, 12h, 7d".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_in_time() {
        let now = Millis(1_794_743_488_759);
        let day =
            |text: &str| text.parse::<When>().map(|when| (when.since(now).iso(), when.until(now).iso()));
        let span = |from: &str, to: &str| Ok((from.to_owned(), to.to_owned()));
        assert_eq!(day("2026-11-01"), span("2026-11-01T00:00:00.000Z", "2026-11-02T00:00:00.000Z"));
        assert_eq!(day("1d"), span("2026-11-14T11:51:28.759Z", "2026-11-14T11:51:28.759Z"));
        let moment = "2026-11-01T10:00:00Z";
        assert_eq!(day(moment), span("2026-11-01T10:00:00.000Z", "2026-11-01T10:00:00.000Z"));
        for text in ["", "yesterday", "2026-11", "2026-13-01", "2026-11-01-02", "-3d", "7"] {
            assert!(text.parse::<When>().is_err(), "{text}");
        }
    }
}
