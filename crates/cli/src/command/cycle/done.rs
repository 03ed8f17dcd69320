//! `tidegate cycle done`.

use std::process::ExitCode;

use serde_json::Value;
use tidegate_core::feature::cycle::ActiveStage;
use tidegate_core::feature::cycle::marks::Mark as CycleMark;

use super::project_cycle::ProjectCycle;
use crate::args::ProjectArgs;
use crate::bilingual::{Bilingual, both};
use crate::command::Outcome;
use crate::error::CliError;
use crate::print;
use crate::print::page::Page;

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
            let file = place.state_file();
            let file = file.display();
            return Err(CliError::new(both!(
                "cannot add metrics: `metrics` of this stage in {file} is not an object",
                "結果を追加できません。{file} にあるこのステージの `metrics` がオブジェクトではありません"
            ))
            .hint(both!(
                "remove that member, or leave --metric out",
                "その項目を削除するか、--metric を付けずに実行してください"
            )));
        };
        for metric in &args.metric {
            let (key, value) =
                metric.split_once('=').filter(|(key, _)| !key.trim().is_empty()).ok_or_else(|| {
                    CliError::new(both!(
                        "`{metric}` is not a metric",
                        "`{metric}` は結果の形になっていません"
                    ))
                    .hint(both!("write it as KEY=VALUE", "KEY=VALUE の形で書いてください"))
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
        let Bilingual { en, ja } = match next.map(|next| &next.name) {
            None => {
                both!("The cycle completes when this turn ends.", "このターンが終わるとサイクルは完了です。")
            }
            Some(next) => both!(
                "{next} starts when this turn ends, if the context has room for it.",
                "コンテキストに余裕があれば、このターンの終わりに {next} を始めます。"
            ),
        };
        let (cycle, stage) = (&state.cycle, &state.stage);
        Page::of(both!(
            "Stage {stage} of {cycle} is done. {en}",
            "{cycle} のステージ {stage} を完了にしました。{ja}"
        ))
        .print();
    }
    Ok(ExitCode::SUCCESS)
}
