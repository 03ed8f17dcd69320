//! `tidegate top`: all sessions of this machine, live, in the terminal.

use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use super::{Outcome, off};
use crate::args::Span;
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

/// As `tidegate off`, for the project of the chosen session.
fn switch_off(project: Option<&str>) -> Result<(), CliError> {
    let back = both!("Enter returns to the sessions.", "Enter で一覧に戻ります。");
    let Some(project) = project else {
        return ask(&both!(
            "The project of this session is not known, so nothing can be switched off in it. Enter returns to the sessions.",
            "このセッションのプロジェクトがわからないため、オフにできません。Enter で一覧に戻ります。"
        ))
        .map(drop);
    };
    let args = |policy: Option<String>, time: Option<Span>| off::Args {
        policy,
        r#for: time,
        project: Some(PathBuf::from(project)),
        session: None,
        everywhere: false,
        approved: false,
        json: false,
    };
    // A folder that is gone is told, and does not end the view.
    if let Err(error) = off::run(&args(None, None)) {
        error.report();
        return ask(&back).map(drop);
    }
    let Some(policy) = ask(&both!(
        "Policy to switch off in {project} (empty: none): ",
        "{project} でオフにするポリシー（空欄: なし）: "
    ))?
    else {
        return Ok(());
    };
    let time = loop {
        let typed = ask(&both!(
            "For how long: 30m, 2h, 1d (empty: until you switch it on): ",
            "期間: 30m、2h、1d（空欄: オンに戻すまで）: "
        ))?;
        match typed.map(|typed| typed.parse::<Span>()).transpose() {
            Ok(time) => break time,
            Err(why) => drop(CliError::new(why).report()),
        }
    };
    if let Err(error) = off::run(&args(Some(policy), time)) {
        error.report();
    }
    ask(&back).map(drop)
}

fn ask(question: &Bilingual) -> Result<Option<String>, CliError> {
    print::to_stderr(question.get(language::current()));
    std::io::stderr().flush().map_err(CliError::new)?;
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).map_err(CliError::new)?;
    let line = line.trim();
    Ok((!line.is_empty()).then(|| line.to_owned()))
}
