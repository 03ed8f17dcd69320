//! `tidegate top`: all sessions of this machine, live, in the terminal.

use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;

use tidegate_core::text::hidden::show_name;

use super::{Outcome, off};
use crate::args::Span;
use crate::bilingual::both;
use crate::error::CliError;
use crate::top;
use crate::top::question::ask;

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

/// Typed as a word: a slip of the hand gives a time, or nothing.
const FOREVER: &str = "forever";

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
    let shown = show_name(project);
    let policy = loop {
        let asked = ask(&both!(
            "Policy to switch off in {shown} (empty: none): ",
            "{shown} でオフにするポリシー（空欄: なし）: "
        ))?;
        let Some(typed) = asked else { return Ok(()) };
        match off::find_policy(&typed) {
            Ok(policy) => break policy.to_owned(),
            Err(error) => drop(error.report()),
        }
    };
    let time = loop {
        let asked = ask(&both!(
            "For how long: 30m, 2h, 1d, or `forever`, until you switch it on (empty: cancel): ",
            "期間: 30m、2h、1d。オンに戻すまでなら `forever`（空欄: 中止）: "
        ))?;
        let Some(typed) = asked else { return Ok(()) };
        if typed.eq_ignore_ascii_case(FOREVER) {
            break None;
        }
        match typed.parse::<Span>() {
            Ok(time) => break Some(time),
            Err(_) => drop(
                CliError::new(both!(
                    "use a time such as 30m, 2h or 1d, up to 365d, or `forever`",
                    "30m、2h、1d のような期間（365d まで）か `forever` と入力してください"
                ))
                .report(),
            ),
        }
    };
    if let Err(error) = off::run(&args(Some(policy), time)) {
        error.report();
    }
    ask(&back).map(drop)
}
