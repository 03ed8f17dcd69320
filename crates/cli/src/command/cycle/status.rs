//! `tidegate cycle status`.

use std::process::ExitCode;

use serde::Serialize;
use tidegate_core::event::SessionId;
use tidegate_core::feature::cycle::policy::sanitize_line;
use tidegate_core::feature::cycle::{CycleStatus, StageTokens, history};
use tidegate_core::feature::facts::Known;
use tidegate_core::meter::short_tokens;
use tidegate_state::feature::cycle;

use super::project_cycle::ProjectCycle;
use crate::args::ProjectArgs;
use crate::command::Outcome;
use crate::print;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate cycle status
  tidegate cycle status --json | jq -r .stage")]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) of: ProjectArgs,
}

#[derive(Serialize)]
struct ShownCycle<'a> {
    cycle: &'a str,
    status: &'a str,
    stage: &'a str,
    number: Option<usize>,
    of: usize,
    skill: Option<String>,
    /// Its skill was invoked, or `cycle done` was called; absent if the session is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    done: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<&'a str>,
    live: bool,
    /// It belongs to the session that asks.
    own: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stopped_reason: Option<&'a str>,
    skipped_stages: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    remaining_pct: Option<f64>,
    resumes_at: &'a str,
    stages: Vec<ShownStage<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    left: Option<u64>,
}

#[derive(Serialize)]
struct ShownStage<'a> {
    name: &'a str,
    skill: String,
    ended: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens: Option<u64>,
    min_left: u64,
}

pub(super) fn run(args: &Args) -> Outcome {
    let of = &args.of;
    let place = ProjectCycle::find(of)?;
    if place.standing == Known::Absent {
        if of.json {
            print::json(&serde_json::json!({ "status": "none" }));
        } else {
            print::line("there is no cycle in this project; `tidegate cycle start` begins one");
        }
        return Ok(ExitCode::SUCCESS);
    }
    let (state, cycle) = place.usable_cycle()?;
    let runs = cycle::read_runs(&place.project.here.state, &place.project.root);
    let stages = cycle.stages.iter().enumerate().map(|(at, known)| {
        let spent = state.stages.iter().find(|(name, _)| *name == known.name).map(|(_, spent)| *spent);
        ShownStage {
            name: &known.name,
            skill: place.skill_name(&known.skill),
            ended: state.was_done(cycle, at),
            tokens: spent.and_then(StageTokens::tokens),
            min_left: if at == 0 { 0 } else { history::min_left(&runs, &state.cycle, cycle, at) },
        }
    });
    let owner = state.session_id.as_deref().and_then(|id| place.project.here.session(Some(id)).ok());
    let left =
        owner.as_ref().and_then(|owner| place.project.here.meter(Some(owner), None).0.reading()?.left());
    let at = cycle.position(&state.stage);
    let shown = ShownCycle {
        cycle: &state.cycle,
        status: state.status.name(),
        stage: &state.stage,
        number: at.map(|at| at + 1),
        of: cycle.stages.len(),
        skill: at.and_then(|at| cycle.stages.get(at)).map(|stage| place.skill_name(&stage.skill)),
        done: owner
            .as_ref()
            .and_then(|owner| owner.marks.cycle.stage.as_ref())
            .filter(|stage| stage.stage == state.stage && state.status == CycleStatus::Running)
            .map(|stage| stage.done),
        session: state.session_id.as_deref(),
        live: state.session_id.as_deref().is_some_and(|id| place.is_live(id)),
        own: state.session_id.is_some()
            && state.session_id.as_deref() == place.project.session.as_ref().map(SessionId::as_str),
        stopped_reason: state.stopped_reason.as_deref(),
        skipped_stages: &state.skipped_stages,
        remaining_pct: state.remaining_pct,
        resumes_at: state.resumes_at(),
        stages: stages.collect(),
        left,
    };
    if of.json {
        print::json(&shown);
    } else {
        print_status(&shown);
    }
    Ok(ExitCode::SUCCESS)
}

fn print_status(shown: &ShownCycle<'_>) {
    let number = shown.number.map(|number| format!(" ({number} of {})", shown.of)).unwrap_or_default();
    print::line(&format!("{}: {}, stage {}{number}", shown.cycle, shown.status, shown.stage));
    match shown.session {
        Some(session) if shown.live => print::line(&format!("session  {session}")),
        Some(session) => print::line(&format!("session  {session}, which is not there any more")),
        None => print::line("session  none: nobody is steered until `tidegate cycle resume`"),
    };
    if let Some(left) = shown.left {
        print::line(&format!("left     {} tokens", short_tokens(left)));
    }
    for (at, stage) in shown.stages.iter().enumerate() {
        let took = match (stage.ended, stage.tokens) {
            (true, Some(tokens)) => format!("took {}", short_tokens(tokens)),
            (true, None) => "done".to_owned(),
            (false, _) if stage.name == shown.stage && shown.status == "running" => {
                let done = if shown.done == Some(true) { "done when this turn ends" } else { "under way" };
                format!("{done}, skill `{}`", stage.skill)
            }
            (false, _) if at > 0 => format!("needs about {}", short_tokens(stage.min_left)),
            (false, _) => "not begun".to_owned(),
        };
        print::line(&format!("  {:<16} {took}", stage.name));
    }
    if shown.status != "running" {
        let why = shown.stopped_reason.map(|why| format!(" ({})", sanitize_line(why))).unwrap_or_default();
        print::line(&format!(
            "{}{why}; `tidegate cycle resume` goes on with {}",
            shown.status, shown.resumes_at
        ));
    }
}
