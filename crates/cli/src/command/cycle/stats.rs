//! `tidegate cycle stats`: tokens that stages took, and the room that implies.

use std::process::ExitCode;

use serde::Serialize;
use tidegate_core::feature::cycle::history;
use tidegate_core::feature::cycle::history::Distribution;
use tidegate_core::meter::short_tokens;
use tidegate_state::feature::cycle;

use crate::args::ProjectArgs;
use crate::command::Outcome;
use crate::error::CliError;
use crate::knowledge::Project;
use crate::print;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate cycle stats
  tidegate cycle stats release --json

`from here` is the cost of a stage and all stages after it, in cycles that finished
them. With min_left = \"auto\" its 80th percentile counts, from five cycles on.")]
pub(crate) struct Args {
    /// Name of the cycle
    #[arg(value_name = "NAME", default_value = tidegate_core::feature::cycle::BUILT_IN)]
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) of: ProjectArgs,
}

#[derive(Serialize)]
struct Row {
    stage: String,
    took: Numbers,
    from_here: Numbers,
    /// As in the config.
    written: String,
    /// In force now.
    min_left: u64,
    /// From the history, once there is enough of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    learned: Option<u64>,
}

#[derive(Serialize)]
struct Numbers {
    count: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    least: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    median: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    p80: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    most: Option<u64>,
}

impl Numbers {
    fn of(numbers: &Distribution) -> Numbers {
        Numbers {
            count: numbers.count(),
            least: numbers.percentile(0),
            median: numbers.percentile(50),
            p80: numbers.percentile(80),
            most: numbers.percentile(100),
        }
    }

    fn cells(&self) -> String {
        let number = |number: Option<u64>| number.map_or_else(|| "-".to_owned(), short_tokens);
        format!(
            "{:>4} {:>7} {:>7} {:>7}",
            self.count,
            number(self.median),
            number(self.p80),
            number(self.most)
        )
    }
}

pub(super) fn run(args: &Args) -> Outcome {
    let project = Project::find(&args.of)?;
    let Some(cycle) = project.here.config.policies.cycle.cycle(&args.name) else {
        return Err(CliError::new(format!("there is no cycle {}", args.name)));
    };
    let runs = cycle::read_runs(&project.here.state, &project.root);
    let name = args.name.as_str();
    let cycle = &cycle;
    let row = |(at, stage): (usize, &tidegate_core::feature::cycle::Stage)| Row {
        stage: stage.name.clone(),
        took: Numbers::of(&history::stage_costs(&runs, name, &stage.name)),
        from_here: Numbers::of(&history::remaining_costs(&runs, name, cycle, at)),
        written: stage.min_left.to_text(),
        min_left: if at == 0 { 0 } else { history::min_left(&runs, name, cycle, at) },
        learned: history::learned_min_left(&runs, name, cycle, at),
    };
    let rows: Vec<Row> = cycle.stages.iter().enumerate().map(row).collect();
    let ended = runs.iter().filter(|run| run.cycle == name).count();
    if args.of.json {
        print::json(&serde_json::json!({ "cycle": name, "runs": ended, "stages": rows }));
        return Ok(ExitCode::SUCCESS);
    }
    print::line(&format!("{name}: {ended} ended in this project; tokens"));
    print::line(&format!("  {:<16} {:>28}   {:>28}  min_left", "", "the stage", "from here on"));
    let head = format!("{:>4} {:>7} {:>7} {:>7}", "runs", "median", "80%", "most");
    print::line(&format!("  {:<16} {head:>28}   {head:>28}", "stage"));
    for (at, row) in rows.iter().enumerate() {
        let now = if at == 0 {
            "not asked".to_owned()
        } else {
            format!("{} ({})", short_tokens(row.min_left), row.written)
        };
        let learned =
            row.learned.map(|tokens| format!(", learned {}", short_tokens(tokens))).unwrap_or_default();
        let (took, rest) = (row.took.cells(), row.from_here.cells());
        print::line(&format!("  {:<16} {took:>28}   {rest:>28}  {now}{learned}", row.stage));
    }
    Ok(ExitCode::SUCCESS)
}
