//! `tidegate cycle done`.

use std::process::ExitCode;

use serde_json::Value;
use tidegate_core::feature::cycle::consent::{ConsentChange, Owed};
use tidegate_core::feature::cycle::marks::Mark as CycleMark;
use tidegate_core::feature::cycle::reserved::publishes;
use tidegate_core::feature::cycle::state::{OPEN_FINDINGS, STILL_OPEN};
use tidegate_core::feature::cycle::success::Missing;
use tidegate_core::feature::cycle::{ActiveStage, Cycle, CycleState, DoneWhen, ReportedFindings, words};
use tidegate_core::text::lang::Lang;
use tidegate_state::feature::cycle;

use super::fail::{fail_stage, failed_page};
use super::project_cycle::{ProjectCycle, describe_missing};
use crate::args::ProjectArgs;
use crate::bilingual::{Bilingual, both};
use crate::command::Outcome;
use crate::error::CliError;
use crate::print;
use crate::print::page::Page;
use crate::sessions::Session;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate cycle done
  tidegate cycle done --metric files_changed=3 --metric tests=12
  tidegate cycle done --metric findings=4 --metric open=0

The next stage begins when the turn ends, if `done_when` of the stage can be seen;
this command names what is missing. `open` counts open findings: with more than 0 the
stage is not done, and once its rounds of review and fix are used up, it fails. Where
`no-open-findings` is promised, metrics such as `critical=2` or `high=1` count, too.
The closing message and the history show the metrics.")]
pub(crate) struct Args {
    /// Result of the stage, such as a count; can be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) metric: Vec<String>,
    #[command(flatten)]
    pub(crate) of: ProjectArgs,
}

pub(super) fn run(args: &Args) -> Outcome {
    let mut place = ProjectCycle::find(&args.of)?;
    if !args.metric.is_empty() {
        let (state, _, session) = place.running_cycle()?;
        let state = add_metrics(&place, state.clone(), &args.metric)?;
        report_findings(&place, &state, &session)?;
        place.write_state(Some(state.updated_at(place.project.here.now)), None)?;
        let here = &place.project.here;
        place.standing = cycle::read(Some(&here.state), &place.project.root, &here.config);
    }
    let (state, cycle, session) = place.running_cycle()?;
    if is_unfixable(&place, state, cycle) {
        let state = fail_stage(&place, state.clone(), cycle, &session, STILL_OPEN)?;
        place.record_command("done", "a stage failed", Some(&state.stage));
        if args.of.json {
            print::json(&serde_json::json!({
                "cycle": state.cycle, "stage": state.stage, "done": false, "status": "failed", "reason": STILL_OPEN,
            }));
        } else {
            failed_page(&state).print();
        }
        return Ok(ExitCode::SUCCESS);
    }
    let known = session.marks.cycle.stage.as_ref().filter(|known| known.cycle == state.cycle);
    let known = known.filter(|known| known.stage == state.stage);
    let mut marks = Vec::new();
    let active = if let Some(known) = known {
        Some(known.clone())
    } else {
        // Its marks were lost, or a hook was killed before it could write them: the file counts.
        let (at, now) = (cycle.position(&state.stage), place.project.here.now);
        let begun = at.and_then(|at| ActiveStage::begin(&state.cycle, cycle, at, now, place.turn(&session)));
        let project = Some(place.project.root.to_string_lossy().into_owned());
        let begun = begun.map(|begun| ActiveStage { project, run: state.started_at.clone(), ..begun });
        marks.extend(begun.clone().map(|begun| CycleMark::Stage(Box::new(begun)).into()));
        begun
    };
    marks.push(CycleMark::StageDone(state.stage.clone()).into());
    place.append_marks(&session.id, &marks)?;
    place.record_command("done", "a stage is done", Some(&state.stage));
    let active = active.map(|active| ActiveStage { done: true, ..active });
    let missing = active.map(|active| place.list_missing(&session, &active)).unwrap_or_default();
    let at = cycle.position(&state.stage).map_or(cycle.stages.len(), |at| at + 1);
    let next = cycle.stages.get(at);
    let mut owed = Bilingual::data("");
    if let Some(next) = next.filter(|_| missing.is_empty() && publishes(cycle, at)) {
        let base = place.look_at_base(state, &session);
        let consent =
            place.change_consent(&base.map(ConsentChange::StageDone).into_iter().collect::<Vec<_>>())?;
        let reasons = consent.owed_before(&next.name);
        owed =
            Bilingual { en: words::join_owed(Lang::En, &reasons), ja: words::join_owed(Lang::Ja, &reasons) };
    }
    if args.of.json {
        let names: Vec<String> = missing.iter().map(Missing::name).collect();
        print::json(&serde_json::json!({
            "cycle": state.cycle, "stage": state.stage, "done": missing.is_empty(), "missing": names,
            "next": next.map(|next| &next.name),
        }));
    } else {
        done_page(state, next.map(|next| next.name.as_str()), &missing, &owed).print();
    }
    Ok(ExitCode::SUCCESS)
}

/// Findings that were reported stay open until something was done about them. The session's marks know them, too: the file can
/// be edited.
fn report_findings(place: &ProjectCycle, state: &CycleState, session: &Session) -> Result<(), CliError> {
    let (open, at) = (state.most_findings().unwrap_or_default(), place.project.here.now);
    let rounds = place.fix_rounds(state);
    let stage = session.marks.cycle.stage.as_ref();
    let known = stage.filter(|stage| stage.stage == state.stage).and_then(|stage| stage.findings);
    let work = &session.marks.verification;
    let was_worked_on = |known: &ReportedFindings| {
        rounds > known.rounds || work.wrote.last > known.at || work.verified.is_some_and(|at| at > known.at)
    };
    if let Some(known) = known.filter(|known| open < known.open && !was_worked_on(known)) {
        let before = known.open;
        let (findings, were) = if before == 1 { ("finding", "was") } else { ("findings", "were") };
        return Err(CliError::new(both!(
            "{before} open {findings} {were} reported before, and nothing has changed since",
            "前に未対応の指摘が{before}件と報告され、そのあと何も変わっていません"
        ))
        .hint(both!(
            "fix them, or review them again; `tidegate cycle fix-loop` begins the round",
            "直すか、もう一度レビューしてください。`tidegate cycle fix-loop` で回を始めます"
        )));
    }
    // In the project, too: it outlives the session and the cycle.
    let stage = state.stage.clone();
    place.change_consent(&[match open {
        0 => ConsentChange::Fixed(stage),
        most => ConsentChange::Owe(Owed::Findings { stage, most, open: true }),
    }])?;
    if open == 0 && known.is_none() {
        return Ok(());
    }
    let new = ReportedFindings { open, at, rounds };
    place.append_marks(&session.id, &[CycleMark::FindingsReported(new).into()])
}

/// `owed`: why a go-ahead is owed before the next stage; empty where none is.
fn done_page(state: &CycleState, next: Option<&str>, missing: &[Missing], owed: &Bilingual) -> Page {
    let CycleState { cycle, stage, .. } = state;
    if !missing.is_empty() {
        let Bilingual { en, ja } = describe_missing(missing);
        let mut page = Page::of(both!(
            "Stage {stage} of {cycle} is not done yet: {en}.",
            "{cycle} のステージ {stage} はまだ完了ではありません: {ja}。"
        ));
        page.paragraph(both!(
            "Tidegate looks again when this turn ends. If it cannot be done: `tidegate cycle fail REASON`",
            "このターンの終わりにもう一度確認します。終えられない場合は: `tidegate cycle fail 理由`"
        ));
        return page;
    }
    let Bilingual { en, ja } = match next {
        None => {
            both!("The cycle completes when this turn ends.", "このターンが終わるとサイクルは完了です。")
        }
        Some(next) if !owed.en.is_empty() => both!(
            "{next} waits for the person's go-ahead, because {en}. End the turn without its work; it starts when they say \"continue\".",
            "{next} は人の許可を待ちます。理由: {ja}。その作業はせずにターンを終えてください。「続けて」と言われると始まります。",
            en = owed.en,
            ja = owed.ja
        ),
        Some(next) => both!(
            "{next} starts when this turn ends, if the context has room for it.",
            "コンテキストに余裕があれば、このターンの終わりに {next} を始めます。"
        ),
    };
    Page::of(both!(
        "Stage {stage} of {cycle} is done. {en}",
        "{cycle} のステージ {stage} を完了にしました。{ja}"
    ))
}

/// Findings are open, and the stage has no round left to fix them.
fn is_unfixable(place: &ProjectCycle, state: &CycleState, cycle: &Cycle) -> bool {
    let (here, root) = (&place.project.here, &place.project.root);
    let rounds = || cycle::fix_rounds(&here.state, root, &cycle::fix_loop_of(state));
    let stage = cycle.position(&state.stage).and_then(|at| cycle.stages.get(at));
    let counts_all = stage.is_some_and(|stage| stage.done_when.contains(&DoneWhen::NoOpenFindings));
    let open = if counts_all { state.most_findings() } else { state.open_findings() };
    open.is_some_and(|open| open > 0) && rounds() >= cycle.fix_loop_limit
}

fn add_metrics(place: &ProjectCycle, mut state: CycleState, new: &[String]) -> Result<CycleState, CliError> {
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
    for metric in new {
        let (key, value) =
            metric.split_once('=').filter(|(key, _)| !key.trim().is_empty()).ok_or_else(|| {
                CliError::new(both!("`{metric}` is not a metric", "`{metric}` は結果の形になっていません"))
                    .hint(both!("write it as KEY=VALUE", "KEY=VALUE の形で書いてください"))
            })?;
        let (key, value) = (key.trim(), value.trim());
        if new
            .iter()
            .filter(|other| other.split_once('=').is_some_and(|(name, _)| name.trim() == key))
            .count()
            > 1
        {
            return Err(CliError::new(both!("`{key}` is given twice", "`{key}` が2回指定されています"))
                .hint(both!("give each metric once", "結果は1つずつ指定してください")));
        }
        if key == OPEN_FINDINGS && value.parse::<u64>().is_err() {
            return Err(CliError::new(both!(
                "`{metric}`: `open` takes the number of open findings",
                "`{metric}`: `open` には未対応の指摘の数を書きます"
            ))
            .hint(both!("for example `--metric open=0`", "例: `--metric open=0`")));
        }
        let number = serde_json::from_str::<serde_json::Number>(value).ok().map(Value::Number);
        metrics.insert(key.to_owned(), number.unwrap_or_else(|| Value::from(value)));
    }
    Ok(state)
}
