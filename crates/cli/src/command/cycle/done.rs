//! `tidegate cycle done`.

use std::process::ExitCode;

use serde_json::Value;
use tidegate_core::feature::cycle::ActiveStage;
use tidegate_core::feature::cycle::marks::Mark as CycleMark;

use super::project_cycle::ProjectCycle;
use crate::args::ProjectArgs;
use crate::command::Outcome;
use crate::error::CliError;
use crate::print;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate cycle done
  tidegate cycle done --metric files_changed=3 --metric tests=12

The next stage begins when the turn ends. The closing message and the history show
the metrics.")]
pub(crate) struct Args {
    /// Result of the stage, such as a count; can be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) metric: Vec<String>,
    #[command(flatten)]
    pub(crate) of: ProjectArgs,
}

pub(super) fn run(args: &Args) -> Outcome {
    let place = ProjectCycle::find(&args.of)?;
    let (state, cycle, session) = place.running_cycle()?;
    if !args.metric.is_empty() {
        let mut state = state.clone();
        let stage =
            state.metrics.entry(state.stage.clone()).or_insert_with(|| Value::Object(serde_json::Map::new()));
        let Value::Object(metrics) = stage else {
            return Err(CliError::new("the metrics of this stage in the state file are no table"));
        };
        for metric in &args.metric {
            let (key, value) =
                metric.split_once('=').filter(|(key, _)| !key.trim().is_empty()).ok_or_else(|| {
                    CliError::new(format!("{metric} is no metric")).hint("write it as KEY=VALUE")
                })?;
            let number = serde_json::from_str::<serde_json::Number>(value.trim()).ok().map(Value::Number);
            metrics.insert(key.trim().to_owned(), number.unwrap_or_else(|| Value::from(value)));
        }
        place.write_state(Some(state.updated_at(place.project.here.now)), None)?;
    }
    let known = session.marks.cycle.stage.as_ref().filter(|known| known.cycle == state.cycle);
    let mut marks = Vec::new();
    if known.is_none_or(|known| known.stage != state.stage) {
        // Its marks were lost, or a hook was killed before it could write them: the file counts.
        let (at, now) = (cycle.position(&state.stage), place.project.here.now);
        let begun = at.and_then(|at| ActiveStage::begin(&state.cycle, cycle, at, now, place.turn()));
        let project = Some(place.project.root.to_string_lossy().into_owned());
        marks.extend(begun.map(|begun| CycleMark::Stage(Box::new(ActiveStage { project, ..begun })).into()));
    }
    marks.push(CycleMark::StageDone(state.stage.clone()).into());
    place.append_marks(&session.id, &marks)?;
    place.record_command("done", "a stage is done", Some(&state.stage));
    let next = cycle.position(&state.stage).and_then(|at| cycle.stages.get(at + 1));
    if args.of.json {
        print::json(&serde_json::json!({
            "cycle": state.cycle, "stage": state.stage, "done": true, "next": next.map(|next| &next.name),
        }));
    } else {
        let then = next.map_or_else(
            || "the cycle is complete when this turn ends".to_owned(),
            |next| format!("{} begins when this turn ends, if there is room for it", next.name),
        );
        print::line(&format!("stage {} of {} is done; {then}", state.stage, state.cycle));
    }
    Ok(ExitCode::SUCCESS)
}
