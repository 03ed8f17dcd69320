//! `tidegate memory import`: conversations that agents left, or rows that `export` printed.

mod rows;
mod transcripts;

use std::io;
use std::path::{Path, PathBuf};

use tidegate_state::feature::memory::conversation::ConversationReader;

use super::row_filter::When;
use crate::bilingual::both;
use crate::command::Outcome;
use crate::error::CliError;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate memory import --dry-run             count what is there
  tidegate memory import                       all conversations on this machine
  tidegate memory import --since 90d
  tidegate memory import ~/.claude/projects ~/.codex/sessions
  tidegate memory import memory.jsonl          rows that `export` printed
  ssh other tidegate memory export | tidegate memory import

Conversations: reads transcripts of Claude Code, Codex, Copilot CLI and Qwen Code, and adds
what Tidegate would have recorded then, without secrets. Each exchange is stored once, however
often you import it. An import that was interrupted continues when you run it again.
Damaged lines are counted and left out. Subagents, runs without a person, and projects
where recording is off are left out, too. Without PATH it reads ~/.claude/projects,
~/.codex/sessions, ~/.copilot/session-state and ~/.qwen/projects. An agent cannot import conversations.

Rows of `export`: adds new rows and leaves out rows that you deleted with `forget`. If
one line cannot be read, or a row is there twice, nothing is added and the error names
the line. Reads up to 512 MiB, in lines of up to 4 MiB. Rows that would replace an
existing row need your yes: at a terminal the command shows them and asks; give it a
file for that, not a pipe. Without your yes it leaves them out and says how many.
Without a terminal, `unattended = [\"memory import\"]` under [approval] in your own config
allows them. An agent never replaces a row, and imports only rows of its own project.")]
pub(crate) struct Args {
    /// Transcripts or folders with them, or one file of `export`; `-` reads an export from stdin
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Only exchanges since then: `90d`, or `2026-11-01`
    #[arg(long, value_name = "WHEN")]
    pub(crate) since: Option<When>,
    /// Count the conversations and store nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Kind of the files
    #[arg(long, value_name = "FORMAT", default_value = "auto")]
    pub(crate) format: Format,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// Look at the first lines
    Auto,
    /// Rows that `tidegate memory export` printed
    Export,
    /// Conversations as an agent wrote them
    Transcript,
}

pub(super) fn run(args: &Args) -> Outcome {
    match find_source(args)? {
        Source::Transcripts => transcripts::run(args),
        Source::Rows(_) if args.dry_run || args.since.is_some() => Err(CliError::new(both!(
            "--dry-run and --since are for conversations, not for rows of `export`",
            "--dry-run と --since は会話の取り込み用です。`export` の行には使えません"
        ))
        .hint(both!(
            "leave them out: an import of rows asks before it replaces anything",
            "外して実行してください。行を置き換える前に確認します"
        ))),
        Source::Rows(file) => rows::run(file.as_deref(), args.json),
    }
}

enum Source {
    Transcripts,
    /// From stdin without a file.
    Rows(Option<PathBuf>),
}

fn find_source(args: &Args) -> Result<Source, CliError> {
    let is_stdin = |path: &Path| path == Path::new("-");
    match (args.format, args.paths.as_slice()) {
        (Format::Transcript, paths) if paths.iter().any(|path| is_stdin(path)) => Err(CliError::new(both!(
            "a conversation cannot be read from stdin",
            "会話は標準入力から読めません"
        ))
        .hint(both!("name its file", "ファイルを指定してください"))),
        (Format::Transcript, _) => Ok(Source::Transcripts),
        (Format::Auto, []) if args.dry_run || args.since.is_some() || !is_piped() => Ok(Source::Transcripts),
        (Format::Auto | Format::Export, []) => Ok(Source::Rows(None)),
        (Format::Auto | Format::Export, [path]) if is_stdin(path) => Ok(Source::Rows(None)),
        (Format::Export, [path]) => Ok(Source::Rows(Some(path.clone()))),
        (Format::Auto, [path]) if is_transcript(path) => Ok(Source::Transcripts),
        (Format::Auto, [path]) => Ok(Source::Rows(Some(path.clone()))),
        (_, paths) => match paths.iter().find(|path| args.format == Format::Export || !is_transcript(path)) {
            None => Ok(Source::Transcripts),
            Some(path) => {
                let path = path.display();
                Err(CliError::new(both!(
                    "{path} cannot be imported together with others: it is not a transcript",
                    "{path} は会話のファイルではないので、ほかと一緒には取り込めません"
                ))
                .hint(both!(
                    "import a file of `tidegate memory export` by itself",
                    "`tidegate memory export` のファイルは1つずつ取り込んでください"
                )))
            }
        },
    }
}

/// A folder counts as one. A file that is damaged from its first line on does not.
fn is_transcript(path: &Path) -> bool {
    path.is_dir() || ConversationReader::open(path).is_ok_and(|reader| reader.is_some())
}

/// Whether another program's output, or a file, is on stdin. A terminal, `/dev/null` and a closed stdin are neither.
fn is_piped() -> bool {
    #[cfg(unix)]
    {
        use std::os::fd::AsFd;
        use std::os::unix::fs::FileTypeExt;
        let stdin = io::stdin();
        let Ok(copy) = stdin.as_fd().try_clone_to_owned() else { return false };
        let kind = std::fs::File::from(copy).metadata().map(|found| found.file_type());
        kind.is_ok_and(|kind| kind.is_file() || kind.is_fifo() || kind.is_socket())
    }
    #[cfg(not(unix))]
    !io::IsTerminal::is_terminal(&io::stdin())
}
