//! The command line: types only.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

use crate::command::cycle::arguments::CycleCommand;
use crate::command::gate::arguments::GateCommand;
use crate::command::memory::arguments::MemoryCommand;

/// One binary behind every hook and the status line of a coding agent.
#[derive(Debug, Parser)]
#[command(
    name = "tidegate",
    version,
    arg_required_else_help = true,
    after_help = "\
Start here:
  tidegate demo                    a scripted session, nothing installed
  tidegate init --project .        put the hooks and the status line into a project
  tidegate status                  what the session in this project is doing"
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Plays a scripted session through the real hooks, in a throw-away project
    #[command(after_help = "\
Examples:
  tidegate demo

Nothing is installed, no client is needed, nothing is left behind.")]
    Demo,
    /// Puts the hooks, the status line and the skills into a project, or into your own settings
    #[command(after_help = "\
Examples:
  tidegate init                                this project, for you alone
  tidegate init --project ~/code/app --dry-run
  tidegate init --preset strict
  tidegate init --shared                       hooks into the committed settings
  tidegate init --user                         all your projects

Keeps everything that is there, to the byte, and can be run again. Where it
goes: `.claude/settings.local.json`; with --shared the hooks go into
`.claude/settings.json`, where a teammate without tidegate does not notice
them; with --user it is `~/.claude/settings.json`. `tidegate uninstall` takes
exactly this out again.")]
    Init(Init),
    /// Takes out what `init` put in
    #[command(after_help = "\
Examples:
  tidegate uninstall
  tidegate uninstall --project ~/code/app --dry-run
  tidegate uninstall --shared                  the committed settings, too
  tidegate uninstall --user

What you changed since stays; a file that nobody changed is as it was before.")]
    Uninstall(Uninstall),
    /// Checks what can go wrong in the field and says how to mend it
    #[command(after_help = "\
Examples:
  tidegate doctor
  tidegate doctor --project ~/code/app --json

Exit codes: 0 nothing wrong (notes are fine), 1 something has to be mended.")]
    Doctor(Doctor),
    /// Prints one reading of the context meter
    #[command(after_help = "\
Examples:
  tidegate meter                               the session of this project
  tidegate meter --session 91b38a40-… --json
  tidegate meter --transcript session.jsonl

Exit codes: 0 a reading, 3 the use is not known.")]
    Meter(Meter),
    /// Stores what hooks left to be remembered
    #[command(after_help = "\
Examples:
  tidegate worker --once                       all of it, now
  tidegate worker --once --json

Hooks start a worker by themselves; it ends when nothing is left. With --once
it waits for one that runs.

Exit codes: 0 nothing is left, 1 something is.")]
    Worker(Worker),
    /// Shows what the session in this project is doing
    #[command(after_help = "Examples:\n  tidegate status\n  tidegate status --json")]
    Status(Status),
    /// Prints this project's journal: one line per hook run
    #[command(after_help = "\
Examples:
  tidegate journal                        the last 20 records
  tidegate journal --follow               and what comes
  tidegate journal --policy pressure --last 100
  tidegate journal --json | jq .ruling")]
    Journal(Journal),
    /// Explains a ruling: the facts, each policy's verdict, what was said to whom
    #[command(after_help = "Examples:\n  tidegate explain last\n  tidegate explain 19a8f2c1d3e-4f2")]
    Explain(Explain),
    /// Shows what became of what the policies said: done, ignored, bypassed, overridden
    #[command(after_help = "\
Examples:
  tidegate report                         this project, the last 30 days
  tidegate report --days 7 --all          every project
  tidegate report --session 91b38a40-…
  tidegate report --json | jq '.policies[] | {policy, satisfied, ignored}'

`spoke` counts denials, blocks, questions and texts. Of those that asked for
something: `done` what was asked for, `ignored` it was not, `bypassed` the file
was written through the shell instead, `overridden` a person switched the
policy off, `open` not known yet. `within` and `turns` are medians of the time
and of the prompts until it was done; 0 turns is within the same turn.")]
    Report(Report),
    /// Writes down what was done, and shows what was
    #[command(subcommand)]
    Progress(ProgressCommand),
    /// Goes from what was done to what was learned
    #[command(subcommand)]
    Compound(CompoundCommand),
    /// Shows the learnings of this project, or checks their files
    #[command(after_help = "\
Examples:
  tidegate learnings                      each file and entry, how often confirmed
  tidegate learnings check                what is malformed, with file and line
  tidegate learnings --json | jq '.files[] | {file, total, unverified}'

Reads `.claude/context/learnings*.md` and the file that `[knowledge] global` in
your own config names. An entry is a `## title` with `- **Learning**:`,
`- **Context**:`, `- **Implication**:` and
`- **Confirmed**: 4 times | 2026-02-18 | implement, design`.

Exit codes: 0 fine, 1 `check` found something malformed.")]
    Learnings(Learnings),
    /// Writes down what another session needs to go on with this work
    #[command(after_help = "\
Examples:
  tidegate handoff                        writes .claude/context/handoff.md
  tidegate handoff --dry-run              prints it, and writes nothing
  tidegate handoff --json | jq -r .file

Goal and constraints, where a cycle or workflow stands, decisions, edits that
were not verified, entries that no person has gone through, next steps, open
items and questions, paths: from the project's files and from what the hooks
saw. What is not known is left out. A session that starts here within a day is
told of the file, once. It is written anew each time; what a person wrote or
changed there is kept beside it as handoff.kept.md.")]
    Handoff(Handoff),
    /// Runs stages one after another in a session, each only while there is room for it
    #[command(subcommand)]
    Cycle(CycleCommand),
    /// Checks the gates between the phases of a workflow, and lets through what passes
    #[command(subcommand)]
    Gate(GateCommand),
    /// Finds, shows and changes what is remembered of conversations
    #[command(subcommand)]
    Memory(MemoryCommand),
    /// Shows the settings and where each comes from; prints their schema
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Says which phase of work a prompt asks for
    #[command(subcommand)]
    Phase(PhaseCommand),
    /// Trusts what a project's own config says beyond tightening
    #[command(after_help = "\
Examples:
  tidegate trust                 show what waits, ask, remember the files as they are
  tidegate trust --revoke

A project's `.claude/tidegate.toml` and `.claude/tidegate.local.toml` can make
policies stricter by themselves. Everything else in them waits until a person
has seen it. Any change to a file revokes its trust.

Exit codes: 0 done or nothing waits, 4 waits for a person's approval.")]
    Trust(Trust),
    /// Switches a policy off, or lists what is switched off
    #[command(after_help = "\
Examples:
  tidegate off                              what is switched off
  tidegate off pressure --for 2h            in this project, for two hours
  tidegate off skill-gate --project ~/code/app
  tidegate off skill-gate --session         in this project's newest session
  tidegate off skill-gate --everywhere

Works from another terminal while a session is stuck. At a terminal it asks;
called by an agent it prints a code that only a person can approve.
Without any file: TIDEGATE_OFF=skill-gate in the client's environment.

Exit codes: 0 done, 4 waits for a person's approval.")]
    Off(Off),
    /// Switches a policy on again
    #[command(after_help = "\
Examples:
  tidegate on skill-gate
  tidegate on skill-gate --project ~/code/app
  tidegate on skill-gate --everywhere      wherever it was switched off

A policy that only advises in a project, since people overrode it so often there,
blocks again.")]
    On(On),
    /// Prints a completion script for a shell
    #[command(after_help = "\
Examples:
  tidegate completions bash > ~/.local/share/bash-completion/completions/tidegate
  tidegate completions zsh > ~/.zfunc/_tidegate
  tidegate completions fish > ~/.config/fish/completions/tidegate.fish")]
    Completions(Completions),
    /// Prints the manual page, or writes one per command
    #[command(after_help = "\
Examples:
  tidegate man | man -l -
  tidegate man --out ~/.local/share/man/man1")]
    Man(Man),
    /// Prints what is checked in and made from the code
    #[command(hide = true)]
    Reference(Reference),
    /// Serves tools and resources to the model, on stdin and stdout (called by the client)
    #[command(after_help = "\
Speaks the Model Context Protocol, one JSON message a line, until its input ends. The plugin registers it by itself.

Examples:
  claude mcp add --scope user tidegate -- tidegate mcp

Tools: get_startup_context, search, timeline, list_projects, list_topics, add_topic, set_topic, close_topic, get_logs, add_log,
list_decisions, add_decision, supersede_decision, get_context_status, list_unpromoted. See docs/mcp.md.")]
    Mcp,
    /// Answers one hook event (called by the client)
    #[command(after_help = "\
Reads one payload from stdin. Answers on stdout, with exit code 0 or 2.

Some agents ignore the arguments of a hook. So `tidegate` without arguments,
and not at a terminal, is a hook, too; it then always exits with 0.

Examples:
  tidegate hook --event Stop < payload.json")]
    Hook {
        /// The event this registration was written for
        #[arg(long, value_name = "NAME")]
        event: Option<String>,
        /// This registration gates nothing: a failed check is silent
        #[arg(long)]
        advice: bool,
        /// Which install registered this hook, where there can be two
        #[arg(long, value_name = "NAME", hide = true)]
        via: Option<String>,
    },
    /// Draws the status line (called by the client)
    #[command(after_help = "\
Reads the status-line payload from stdin and prints one line.

Examples:
  tidegate statusline
  tidegate statusline --wrap 'my-status-line --short'")]
    Statusline {
        /// A status line to run first; ours is put behind it
        #[arg(long, value_name = "CMD", num_args = 1.., allow_hyphen_values = true)]
        wrap: Vec<String>,
    },
}

#[derive(Debug, clap::Args)]
pub(crate) struct Init {
    #[command(flatten)]
    pub(crate) target: InstallTarget,
    #[command(flatten)]
    pub(crate) report: InstallReport,
    /// How strict to be here; written into your own config
    #[arg(long, value_name = "PRESET")]
    pub(crate) preset: Option<Preset>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Uninstall {
    #[command(flatten)]
    pub(crate) target: InstallTarget,
    #[command(flatten)]
    pub(crate) report: InstallReport,
}

/// Where an install goes.
#[derive(Debug, clap::Args)]
pub(crate) struct InstallTarget {
    /// The project's folder
    #[arg(long, value_name = "DIR", default_value = ".", conflicts_with = "user")]
    pub(crate) project: PathBuf,
    /// Your own settings, for all projects
    #[arg(long)]
    pub(crate) user: bool,
    /// The settings that the project's team shares
    #[arg(long, conflicts_with = "user")]
    pub(crate) shared: bool,
}

/// How an install is told.
#[derive(Debug, clap::Args)]
pub(crate) struct InstallReport {
    /// Print what would change, as a diff, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// A person approved this command in this session
    #[arg(long)]
    pub(crate) approved: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum Preset {
    /// Decides and records, says nothing
    Observe,
    /// Advises, and gates what is usually regretted
    Guide,
    /// Gates everything there is a gate for
    Strict,
}

impl Preset {
    /// As it stands in a config.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Preset::Observe => "observe",
            Preset::Guide => "guide",
            Preset::Strict => "strict",
        }
    }
}

#[derive(Debug, clap::Args)]
pub(crate) struct Doctor {
    /// The project's folder
    #[arg(long, value_name = "DIR")]
    pub(crate) project: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Completions {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Man {
    /// Write one page per command into this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Reference {
    pub(crate) of: ReferenceOf,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum ReferenceOf {
    Commands,
    Settings,
    Schema,
    PluginHooks,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Prints every value as it counts here
    #[command(after_help = "\
Examples:
  tidegate config show --origin
  tidegate config show --json | jq '.values[\"pressure.mode\"]'

A later layer counts more: built in, ~/.config/tidegate/config.toml, its
[project.\"/path\"] section, .claude/tidegate.toml, .claude/tidegate.local.toml,
TIDEGATE_* variables. A project's own files can only tighten until trusted.")]
    Show(ConfigShow),
    /// Prints the JSON schema of a config file
    #[command(after_help = "Examples:\n  tidegate config schema > config.schema.json")]
    Schema,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PhaseCommand {
    /// Reads prompts as JSON lines and prints the phase of each
    #[command(after_help = "\
Examples:
  echo '{\"prompt\": \"why does the build fail?\"}' | tidegate phase classify
  jq -c '{prompt}' prompts.json | tidegate phase classify --time

One line of JSON for each line of input, in order: the phase and how sure the
classifier is, from 0 to 1. Phases: research, brainstorm, spec, design, plan,
implement, debug, review, ship, reflect, other. Other members of an object are
ignored. A line that is no such object is answered with its error, on stderr
with its number, and the command goes on.

Exit codes: 0 all lines were read, 1 some were not.")]
    Classify(PhaseClassify),
    /// Has a language model asked about the prompt on stdin (called by a hook)
    #[command(hide = true)]
    Ask(PhaseAsk),
}

#[derive(Debug, Subcommand)]
pub(crate) enum ProgressCommand {
    /// Adds an entry to `.claude/context/progress.md`
    #[command(after_help = "\
Examples:
  tidegate progress add \"Parser reads CRLF files\"
  tidegate progress add \"Chose one lock per project\" --change src/lock.rs \\
      --decision \"flock, not a lock file\" --rationale \"it goes with the process\" \\
      --next \"the same for the archive\"

The entry goes where the newest entries of the file are; the file and its folder
are made where they are missing. Works in any folder of the project and in its
worktrees, each of which has a file of its own.")]
    Add(ProgressAdd),
    /// Lists the entries, newest first
    #[command(after_help = "\
Examples:
  tidegate progress list
  tidegate progress list --unpromoted
  tidegate progress list --json | jq -r '.entries[].what'")]
    List(ProgressList),
    /// Prints an entry
    #[command(after_help = "\
Examples:
  tidegate progress show 3f9a
  tidegate progress show 3f9a --json

An entry is named by its id or the beginning of it.")]
    Show(ProgressShow),
}

#[derive(Debug, clap::Args)]
pub(crate) struct ProgressAdd {
    /// What was done, in one line
    #[arg(value_name = "WHAT")]
    pub(crate) what: String,
    /// A key change; can be given several times
    #[arg(long, value_name = "TEXT")]
    pub(crate) change: Vec<String>,
    /// Something that was decided; can be given several times
    #[arg(long, value_name = "TEXT")]
    pub(crate) decision: Vec<String>,
    /// Why
    #[arg(long, value_name = "TEXT")]
    pub(crate) rationale: Option<String>,
    /// What comes next; can be given several times
    #[arg(long, value_name = "TEXT")]
    pub(crate) next: Vec<String>,
    #[command(flatten)]
    pub(crate) of: KnowledgeOf,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ProgressList {
    /// Only those that were not gone through with a person
    #[arg(long)]
    pub(crate) unpromoted: bool,
    #[command(flatten)]
    pub(crate) of: KnowledgeOf,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ProgressShow {
    /// The entry's id, or the beginning of it
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    #[command(flatten)]
    pub(crate) of: KnowledgeOf,
}

/// Whose flow and stock.
#[derive(Debug, clap::Args)]
pub(crate) struct Handoff {
    /// Print what would be written, and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) of: KnowledgeOf,
}

#[derive(Debug, clap::Args)]
pub(crate) struct KnowledgeOf {
    /// The project of this session
    #[arg(long, value_name = "ID", conflicts_with = "project")]
    pub(crate) session: Option<String>,
    /// Another project than that of the current folder
    #[arg(long, value_name = "DIR")]
    pub(crate) project: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CompoundCommand {
    /// Lists the entries that no person has gone through, with learnings that say the same
    #[command(after_help = "\
Examples:
  tidegate compound list
  tidegate compound list --json | jq -r '.entries[] | .id + \" \" + .what'

What is listed is remembered: `tidegate compound done` means exactly that. A long
list comes in parts; `not_listed` is how many wait for the next one.")]
    List(CompoundList),
    /// Writes learnings, once a person has agreed to them
    #[command(after_help = "\
Examples:
  tidegate compound promote --entry 3f9a --to coding --title \"One lock per project\" \\
      --learning \"flock ends with its process\" --context \"two terminals\" \\
      --implication \"no stale lock files\" --phase implement
  tidegate compound promote --confirm 81c2 --phase review
  tidegate compound promote --merge 81c2 0b77
  tidegate compound promote --plan plan.json
  tidegate compound promote --plan - < plan.json

A plan is a JSON list; one yes covers all of it:
  [{\"entry\": \"3f9a\", \"to\": \"coding\", \"title\": \"…\", \"learning\": \"…\",
    \"context\": \"…\", \"implication\": \"…\", \"phase\": \"implement\"},
   {\"confirm\": \"81c2\", \"phase\": \"review\"},
   {\"merge\": [\"81c2\", \"0b77\"]}]

It prints what it would write. At a terminal it then asks; called by an agent it
prints a code that only a person can approve. `--to global` is the file that
`[knowledge] global` in your own config names.

Exit codes: 0 written, 4 waits for a person's approval.")]
    Promote(Box<CompoundPromote>),
    /// Remembers that a person has gone through what was listed
    #[command(after_help = "\
Examples:
  tidegate compound done
  tidegate compound done --promoted 2

Nothing is promoted by it, and what was not listed stays unpromoted. Called by an
agent in a session where nobody is there, it is refused.")]
    Done(CompoundDone),
}

#[derive(Debug, clap::Args)]
pub(crate) struct CompoundList {
    #[command(flatten)]
    pub(crate) of: KnowledgeOf,
}

#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("what").required(true).args(["title", "confirm", "merge", "plan", "only"]))]
pub(crate) struct CompoundPromote {
    /// The entry that it was learned from; can be given several times
    #[arg(long, value_name = "ID", requires = "title")]
    pub(crate) entry: Vec<String>,
    /// Which file it goes to
    #[arg(long, value_name = "FILE", requires = "title")]
    pub(crate) to: Option<StockName>,
    /// The title of a new learning
    #[arg(long, value_name = "TEXT", requires_all = ["entry", "to", "learning", "context", "implication"])]
    pub(crate) title: Option<String>,
    /// What was learned
    #[arg(long, value_name = "TEXT", requires = "title")]
    pub(crate) learning: Option<String>,
    /// Where it comes from
    #[arg(long, value_name = "TEXT", requires = "title")]
    pub(crate) context: Option<String>,
    /// What follows from it
    #[arg(long, value_name = "TEXT", requires = "title")]
    pub(crate) implication: Option<String>,
    /// A learning that held once more
    #[arg(long, value_name = "ID")]
    pub(crate) confirm: Option<String>,
    /// Two learnings that say the same: the second goes into the first
    #[arg(long, value_names = ["A", "B"], num_args = 2)]
    pub(crate) merge: Vec<String>,
    /// The phase of work in which it was seen
    #[arg(long, value_name = "PHASE", conflicts_with_all = ["merge", "plan", "only"])]
    pub(crate) phase: Option<String>,
    /// Several at once: a file with a JSON list, or `-` for stdin
    #[arg(long, value_name = "FILE")]
    pub(crate) plan: Option<PathBuf>,
    /// What was shown with this digest, and nothing else
    #[arg(long, value_name = "DIGEST")]
    pub(crate) only: Option<String>,
    /// A person approved this command in this session
    #[arg(long)]
    pub(crate) approved: bool,
    #[command(flatten)]
    pub(crate) of: KnowledgeOf,
}

/// A file of learnings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum StockName {
    /// `learnings-coding.md`
    Coding,
    /// `learnings-design.md`
    Design,
    /// `learnings-feature-spec.md`
    FeatureSpec,
    /// `learnings.md`
    General,
    /// The file that your own config names
    Global,
}

#[derive(Debug, clap::Args)]
pub(crate) struct CompoundDone {
    /// How many were promoted; unless told, as many as were since the list
    #[arg(long, value_name = "N")]
    pub(crate) promoted: Option<u64>,
    #[command(flatten)]
    pub(crate) of: KnowledgeOf,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Learnings {
    /// What to do
    #[arg(value_enum, default_value_t = LearningsDo::List)]
    pub(crate) r#do: LearningsDo,
    #[command(flatten)]
    pub(crate) of: KnowledgeOf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum LearningsDo {
    /// Show what there is
    List,
    /// Show only what is malformed or twice there
    Check,
}

#[derive(Debug, clap::Args)]
pub(crate) struct PhaseClassify {
    /// Add how long each prompt took, in microseconds
    #[arg(long)]
    pub(crate) time: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ConfigShow {
    /// Print where each value comes from
    #[arg(long)]
    pub(crate) origin: bool,
    /// Another project than that of the current folder
    #[arg(long, value_name = "DIR")]
    pub(crate) project: Option<PathBuf>,
    /// Print JSON, with origins
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct PhaseAsk {
    /// The session that the prompt belongs to
    #[arg(long, value_name = "ID")]
    pub(crate) session: String,
    /// When the prompt came, in milliseconds
    #[arg(long, value_name = "MS")]
    pub(crate) prompt_at: u64,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Trust {
    /// Another project than that of the current folder
    #[arg(long, value_name = "DIR")]
    pub(crate) project: Option<PathBuf>,
    /// Trust this project's files no more
    #[arg(long, conflicts_with_all = ["approved", "only"])]
    pub(crate) revoke: bool,
    /// Only if the files are still those that were shown with this digest
    #[arg(long, value_name = "DIGEST")]
    pub(crate) only: Option<String>,
    /// A person approved this command in this session
    #[arg(long)]
    pub(crate) approved: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Off {
    /// The policy; without one, lists what is switched off
    #[arg(value_name = "POLICY")]
    pub(crate) policy: Option<String>,
    /// For this long: 30m, 2h, 1d
    #[arg(long, value_name = "TIME", requires = "policy")]
    pub(crate) r#for: Option<Span>,
    /// In another project than that of the current folder
    #[arg(long, value_name = "DIR", conflicts_with_all = ["session", "everywhere"], requires = "policy")]
    pub(crate) project: Option<PathBuf>,
    /// Only in this session; without ID in this project's newest
    #[arg(long, value_name = "ID", num_args = 0..=1, default_missing_value = "", requires = "policy")]
    pub(crate) session: Option<String>,
    /// In every project of this user
    #[arg(long, conflicts_with = "session", requires = "policy")]
    pub(crate) everywhere: bool,
    /// A person approved this command in this session
    #[arg(long, requires = "policy")]
    pub(crate) approved: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct On {
    /// The policy
    #[arg(value_name = "POLICY")]
    pub(crate) policy: String,
    /// In another project than that of the current folder
    #[arg(long, value_name = "DIR", conflicts_with = "everywhere")]
    pub(crate) project: Option<PathBuf>,
    /// Wherever it was switched off
    #[arg(long)]
    pub(crate) everywhere: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// A length of time: `90s`, `30m`, `2h`, `1d`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span(pub(crate) u64);

const UNITS: [(&str, u64); 4] = [("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)];

impl std::str::FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Span, String> {
        let parsed = UNITS.iter().find_map(|(unit, ms)| {
            let number: u64 = text.trim().strip_suffix(unit)?.trim().parse().ok()?;
            number.checked_mul(*ms).filter(|ms| (1..=365 * 86_400_000).contains(ms))
        });
        parsed.map(Span).ok_or_else(|| "use a time such as 30m, 2h or 1d, up to 365d".to_owned())
    }
}

impl std::fmt::Display for Span {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let whole = UNITS.iter().rev().find(|(_, ms)| self.0.is_multiple_of(*ms));
        let (unit, ms) = whole.unwrap_or(&UNITS[0]);
        write!(out, "{}{unit}", self.0 / ms)
    }
}

#[derive(Debug, clap::Args)]
pub(crate) struct Meter {
    /// Read this transcript
    #[arg(long, value_name = "PATH", conflicts_with = "session")]
    pub(crate) transcript: Option<PathBuf>,
    /// Read this session
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Status {
    /// Show this session
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Journal {
    /// Wait for more records
    #[arg(long, short)]
    pub(crate) follow: bool,
    /// Only this session
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// All projects, not only this one
    #[arg(long)]
    pub(crate) all: bool,
    /// Only records in which this policy took part
    #[arg(long, value_name = "ID")]
    pub(crate) policy: Option<String>,
    /// So many of the newest
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) last: usize,
    /// Print the records as they are written
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Report {
    /// So many days, with today
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=3650))]
    pub(crate) days: u64,
    /// Only this session
    #[arg(long, value_name = "ID", conflicts_with = "all")]
    pub(crate) session: Option<String>,
    /// All projects, not only this one
    #[arg(long)]
    pub(crate) all: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Explain {
    /// A record's id, or `last`: the newest record in which something was said or decided
    #[arg(value_name = "RECORD", default_value = "last")]
    pub(crate) record: String,
    /// Only this session
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// All projects, not only this one
    #[arg(long)]
    pub(crate) all: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Worker {
    /// In the foreground: wait for a worker that runs, then empty the queue
    #[arg(long)]
    pub(crate) once: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_sound() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn every_command_has_examples() {
        fn check(command: &clap::Command) {
            let shown: Vec<&clap::Command> =
                command.get_subcommands().filter(|inner| !inner.is_hide_set()).collect();
            if shown.is_empty() {
                let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
                assert!(help.contains("Examples:\n  "), "{}", command.get_name());
            }
            shown.into_iter().for_each(check);
        }
        check(&Arguments::command());
    }

    #[test]
    fn times_read_back_as_they_are_shown() {
        for (text, shown) in [("90s", "90s"), ("60m", "1h"), ("2h", "2h"), ("48h", "2d"), (" 5 m", "5m")] {
            assert_eq!(text.parse::<Span>().map(|span| span.to_string()).as_deref(), Ok(shown), "{text}");
        }
        for text in ["", "2", "h", "-1h", "0h", "366d", "2w", "99999999999999999999d"] {
            assert!(text.parse::<Span>().is_err(), "{text}");
        }
    }
}
