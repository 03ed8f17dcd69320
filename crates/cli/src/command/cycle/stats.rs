//! `tidegate cycle stats`: tokens that stages took, and the room that implies.

use std::process::ExitCode;

use serde::Serialize;
use tidegate_core::feature::cycle::history;
use tidegate_core::feature::cycle::history::Distribution;
use tidegate_core::meter::short_tokens;
use tidegate_state::feature::cycle;

use super::project_cycle::no_cycle;
use crate::args::ProjectArgs;
use crate::bilingual::{both, count_en};
use crate::command::Outcome;
use crate::knowledge::Project;
use crate::print;
use crate::print::page::Page;
use crate::print::table::{Column, Table};
use crate::print::text::{Text, data};

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
}

pub(super) fn run(args: &Args) -> Outcome {
    let project = Project::find(&args.of)?;
    let Some(cycle) = project.here.config.policies.cycle.cycle(&args.name) else {
        let names: Vec<&str> = project.here.config.policies.cycle.cycle_names().collect();
        return Err(no_cycle(&args.name, &names));
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
    stats_page(name, ended, &rows).print();
    Ok(ExitCode::SUCCESS)
}

fn stats_page(name: &str, ended: usize, rows: &[Row]) -> Page {
    let mut page = Page::new();
    page.heading(both!(
        "{name}: {n} in this project, in tokens",
        "{name}: このプロジェクトで{ended}回、単位はトークン",
        n = count_en(ended, "cycle")
    ));
    if rows.iter().all(|row| row.took.count == 0) {
        page.paragraph(both!(
            "No stage has ended yet, so its cost is not known.",
            "まだ終わったステージがないため、かかった量はわかりません。"
        ));
    } else {
        page.heading(both!("Each stage", "ステージごと"));
        page.table(numbers_table(rows, |row| &row.took));
        page.heading(both!("From a stage to the end", "そのステージから最後まで"));
        page.table(numbers_table(rows, |row| &row.from_here));
    }
    page.heading(both!("Room that a stage needs before it starts", "始めるときに必要な余裕"));
    page.pairs(rows.iter().enumerate().map(|(at, row)| (data(&row.stage), describe_room(at, row))));
    page
}

fn numbers_table(rows: &[Row], of: impl Fn(&Row) -> &Numbers) -> Table {
    let mut table = Table::new([
        Column::text(both!("stage", "ステージ")),
        Column::number(both!("times", "回数")),
        Column::number(both!("median", "中央値")),
        Column::number(both!("80 of 100 below", "8割がこれ以下")),
        Column::number(both!("most", "最大")),
    ]);
    let number = |number: Option<u64>| data(number.map_or_else(|| "-".to_owned(), short_tokens));
    for row in rows {
        let numbers = of(row);
        table.row([
            data(&row.stage),
            data(numbers.count),
            number(numbers.median),
            number(numbers.p80),
            number(numbers.most),
        ]);
    }
    table
}

fn describe_room(at: usize, row: &Row) -> Text {
    if at == 0 {
        return Text::from(both!("none: it always starts", "不要（いつでも始めます）")).dim();
    }
    let (room, written) = (short_tokens(row.min_left), &row.written);
    let text =
        Text::from(both!("{room} tokens (min_left = {written})", "{room}トークン（min_left = {written}）"));
    match row.learned.map(short_tokens) {
        Some(learned) => text + both!("; {learned} by past cycles", "、過去のサイクルからは{learned}"),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::print::looks::assert_looks;

    #[test]
    fn costs_look_well() {
        let none = || Numbers { count: 0, least: None, median: None, p80: None, most: None };
        let row = |stage: &str, took, min_left, learned| Row {
            stage: stage.to_owned(),
            took,
            from_here: none(),
            written: "30%".to_owned(),
            min_left,
            learned,
        };
        let took = Numbers {
            count: 7,
            least: Some(9_000),
            median: Some(41_000),
            p80: Some(58_300),
            most: Some(121_000),
        };
        let rows = [row("sprint", took, 0, None), row("retrospective", none(), 60_000, Some(71_000))];
        assert_looks("cycle-stats", &stats_page("dev-cycle", 7, &rows));
        assert_looks("cycle-stats-empty", &stats_page("dev-cycle", 0, &rows[1..]));
    }
}
