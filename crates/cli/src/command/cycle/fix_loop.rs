//! `tidegate cycle fix-loop`.

use std::process::ExitCode;

use tidegate_core::event::SessionId;
use tidegate_core::feature::cycle::CycleStatus;
use tidegate_core::feature::cycle::definition::FIX_LOOP_LIMIT_OUTSIDE;
use tidegate_state::feature::cycle;

use super::project_cycle::ProjectCycle;
use crate::args::ProjectArgs;
use crate::bilingual::{Bilingual, both};
use crate::command::Outcome;
use crate::error::CliError;
use crate::own_session;
use crate::print;
use crate::print::page::Page;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate cycle fix-loop && echo \"once more\"
  tidegate cycle fix-loop --reset         start a new loop, outside of a cycle

In a cycle, each stage has `fix_loop_limit` rounds (2), which leaves room for the
stages after it. Outside of a cycle the limit is 3.

Exit codes: 0 counted, 1 the limit is reached.")]
pub(crate) struct Args {
    /// Start a new loop, outside of a cycle
    #[arg(long)]
    pub(crate) reset: bool,
    #[command(flatten)]
    pub(crate) of: ProjectArgs,
}

pub(super) fn run(args: &Args) -> Outcome {
    let place = ProjectCycle::find(&args.of)?;
    let here = &place.project.here;
    let session = place.project.session.as_ref().map_or("-", SessionId::as_str);
    if let Ok(session) = here.known_session(session) {
        own_session::check(here, &session)?;
    }
    let running = place.usable_cycle().ok().filter(|(state, _)| state.status == CycleStatus::Running);
    let owned = running.filter(|(state, _)| state.session_id.as_deref() == Some(session));
    let (key, limit, what) = match owned {
        Some((state, cycle)) => (
            cycle::fix_loop_of(state),
            cycle.fix_loop_limit,
            both!("in stage {stage}", "ステージ {stage}", stage = state.stage),
        ),
        None => (
            format!("session {session}"),
            FIX_LOOP_LIMIT_OUTSIDE,
            both!("outside of a cycle", "サイクルの外"),
        ),
    };
    let Bilingual { en, ja } = what;
    if args.reset && owned.is_some() {
        return Err(CliError::new(both!(
            "--reset does not work in a cycle: each stage has one loop",
            "サイクルの中では --reset を使えません。回数はステージごとに通して数えます"
        ))
        .hint(both!(
            "`tidegate cycle done` ends the stage, and the next one counts from 0",
            "`tidegate cycle done` でステージを終えると、次のステージは0から数えます"
        )));
    }
    let counted = cycle::count_fix_loop(&here.state, &place.project.root, &key, limit, args.reset).map_err(
        |error| {
            CliError::new(both!("cannot count this round: {error}", "回数を数えられません: {error}")).hint(
                both!(
                    "run the command again; `tidegate doctor` checks the state folder",
                    "もう一度実行してください。状態のフォルダは `tidegate doctor` で調べられます"
                ),
            )
        },
    )?;
    let Some(count) = counted else {
        if args.of.json {
            print::json(&serde_json::json!({ "count": limit, "limit": limit, "used_up": true }));
        }
        let used_up = CliError::new(both!(
            "{limit} rounds of review and fix are done, the limit {en}",
            "レビューと修正の往復が上限の{limit}回に達しました（{ja}）"
        ));
        return Err(if owned.is_some() {
            used_up.hint(both!(
                "report what is open with `tidegate cycle done --metric open=N`; more than 0 stops the cycle here",
                "残っている数を `tidegate cycle done --metric open=N` で報告してください。0でなければ、サイクルはここで止まります"
            ))
        } else {
            used_up.hint(both!(
                "report open points to the person instead of fixing them now",
                "残っている点は、今は直さずに人に報告してください"
            ))
        });
    };
    if args.of.json {
        print::json(&serde_json::json!({ "count": count, "limit": limit, "used_up": false }));
    } else {
        Page::of(both!("Round {count} of {limit} {en}", "{limit}回中{count}回目（{ja}）")).print();
    }
    Ok(ExitCode::SUCCESS)
}
