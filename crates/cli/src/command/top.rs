//! `tidegate top`: all sessions of this machine, live, in the terminal.

use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use super::{Outcome, off};
use crate::bilingual::{Bilingual, both};
use crate::error::CliError;
use crate::language;
use crate::print;
use crate::top;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate top

Keys: arrows choose a session, `e` explains its last event, `/` searches the memory,
`o` switches a policy off, `q` quits. It shows what `tidegate status --json` and
`tidegate log --json` print for programs.")]
pub(crate) struct Args {}

pub(crate) fn run(_: &Args) -> Outcome {
    if !std::io::stdout().is_terminal() || !std::io::stdin().is_terminal() {
        return Err(CliError::new(both!("`top` needs a terminal", "`top` にはターミナルが必要です")).hint(
            both!(
                "`tidegate status --json` prints the same for programs",
                "プログラムからは `tidegate status --json` を使ってください"
            ),
        ));
    }
    top::run(&switch_off)?;
    Ok(ExitCode::SUCCESS)
}

/// As `tidegate off`, with its questions.
fn switch_off(project: Option<&str>) -> Result<(), CliError> {
    let args = |policy: Option<String>| off::Args {
        policy,
        r#for: None,
        project: project.map(PathBuf::from),
        session: None,
        everywhere: false,
        approved: false,
        json: false,
    };
    off::run(&off::Args { project: None, ..args(None) })?;
    let Some(policy) = ask(&both!(
        "Policy to switch off in this project (empty: none): ",
        "このプロジェクトでオフにするポリシー（空欄: なし）: "
    ))?
    else {
        return Ok(());
    };
    if let Err(error) = off::run(&args(Some(policy))) {
        error.report();
    }
    ask(&both!("Enter returns to the sessions.", "Enter で一覧に戻ります。")).map(drop)
}

fn ask(question: &Bilingual) -> Result<Option<String>, CliError> {
    print::to_stderr(question.get(language::current()));
    std::io::stderr().flush().map_err(CliError::new)?;
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).map_err(CliError::new)?;
    let line = line.trim();
    Ok((!line.is_empty()).then(|| line.to_owned()))
}
