//! `tidegate cycle status`.

use std::process::ExitCode;

use serde::Serialize;
use tidegate_core::event::SessionId;
use tidegate_core::feature::cycle::consent::Consent;
use tidegate_core::feature::cycle::one_line::sanitize_line;
use tidegate_core::feature::cycle::success::Missing;
use tidegate_core::feature::cycle::waiting::{CycleFacts, Waiting};
use tidegate_core::feature::cycle::{CycleStatus, StageProgress, history, words};
use tidegate_core::feature::facts::Known;
use tidegate_core::meter::short_tokens;
use tidegate_core::text::lang::Lang;
use tidegate_core::time::Millis;
use tidegate_state::feature::cycle;

use super::project_cycle::{ProjectCycle, describe_missing, status_word};
use crate::args::ProjectArgs;
use crate::bilingual::{Bilingual, both};
use crate::command::Outcome;
use crate::local_time::LocalClock;
use crate::print;
use crate::print::page::Page;
use crate::print::text::{Text, data};

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
    /// It was declared done, and nothing is missing; absent if the session is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    done: Option<bool>,
    /// It was declared done.
    #[serde(skip)]
    is_said: bool,
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "serialize_missing")]
    missing: Vec<Missing>,
    #[serde(skip_serializing_if = "Option::is_none")]
    waits: Option<ShownWaiting>,
    /// How long ago the file was changed.
    #[serde(skip)]
    changed: Option<Bilingual>,
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
    #[serde(skip_serializing_if = "Option::is_none")]
    left_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    needed_tokens: Option<u64>,
    /// `stopped_reason` in words.
    #[serde(skip)]
    failure: Bilingual,
    resumes_at: &'a str,
    stages: Vec<ShownStage<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    left: Option<u64>,
}

#[derive(Serialize)]
struct ShownWaiting {
    #[serde(rename = "for")]
    what: &'static str,
    from: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    stage: Option<String>,
    /// Words to type, in the person's language.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    accepts: Vec<String>,
    #[serde(skip)]
    told: Bilingual,
}

impl ShownWaiting {
    fn new(waiting: &Waiting, lang: Lang, skill: Option<&str>) -> ShownWaiting {
        ShownWaiting {
            what: waiting.name(),
            from: waiting.from(),
            stage: waiting.stage().map(str::to_owned),
            accepts: waiting.accepts(lang, skill).into_iter().map(str::to_owned).collect(),
            told: Bilingual { en: waiting.describe(Lang::En, skill), ja: waiting.describe(Lang::Ja, skill) },
        }
    }
}

#[derive(Serialize)]
struct ShownStage<'a> {
    name: &'a str,
    skill: String,
    ended: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    failed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens: Option<u64>,
    min_left: u64,
}

fn serialize_missing<S: serde::Serializer>(missing: &[Missing], out: S) -> Result<S::Ok, S::Error> {
    out.collect_seq(missing.iter().map(Missing::name))
}

pub(super) fn run(args: &Args) -> Outcome {
    let of = &args.of;
    let place = ProjectCycle::find(of)?;
    if place.standing == Known::Absent {
        if of.json {
            print::json(&serde_json::json!({ "status": "none" }));
        } else {
            Page::of(both!(
                "There is no cycle in this project. Start one: `tidegate cycle start`",
                "このプロジェクトにはサイクルがありません。始めるには: `tidegate cycle start`"
            ))
            .print();
        }
        return Ok(ExitCode::SUCCESS);
    }
    let (state, cycle) = place.usable_cycle()?;
    let runs = cycle::read_runs(&place.project.here.state, &place.project.root);
    let stages = cycle.stages.iter().enumerate().map(|(at, known)| ShownStage {
        name: &known.name,
        skill: place.skill_name(&known.skill),
        ended: state.was_done(cycle, at),
        failed: state.status == CycleStatus::Failed && known.name == state.stage,
        tokens: state.progress(&known.name).and_then(StageProgress::tokens),
        min_left: if at == 0 { 0 } else { history::min_left(&runs, &state.cycle, cycle, at) },
    });
    let owner = state.session_id.as_deref().and_then(|id| place.project.here.known_session(id).ok());
    let left =
        owner.as_ref().and_then(|owner| place.project.here.meter(Some(owner), None).0.reading()?.left());
    let at = cycle.position(&state.stage);
    let active = owner.as_ref().and_then(|owner| owner.marks.cycle.stage.as_ref());
    let active = active.filter(|active| active.stage == state.stage && state.status == CycleStatus::Running);
    let missing = owner.as_ref().zip(active).map(|(owner, active)| place.list_missing(owner, active));
    let live = state.session_id.as_deref().is_some_and(|id| place.is_live(id));
    let none = Consent::default();
    let waiting = Waiting::find(&CycleFacts {
        state,
        cycle,
        active,
        is_live: live,
        missing: missing.as_deref().unwrap_or_default(),
        consent: place.standing.value().map_or(&none, |standing| &standing.consent),
    });
    let prompt = owner.as_ref().and_then(|owner| owner.marks.session.lang);
    let lang = place.project.here.env.lang(place.project.here.config.general.lang, prompt);
    let skill_call = place.call_of_cycle(&state.cycle, state.session_id.as_deref());
    let changed = state.updated_at.as_deref().and_then(Millis::from_iso);
    let why = state.stopped_reason.as_deref().unwrap_or("?");
    let failure = |lang| words::failure(lang, why, state.most_findings());
    let shown = ShownCycle {
        cycle: &state.cycle,
        status: state.status.name(),
        stage: &state.stage,
        number: at.map(|at| at + 1),
        of: cycle.stages.len(),
        skill: at.and_then(|at| cycle.stages.get(at)).map(|stage| place.skill_name(&stage.skill)),
        done: missing.as_ref().map(Vec::is_empty),
        is_said: active.is_some_and(|active| active.done),
        missing: missing.unwrap_or_default(),
        session: state.session_id.as_deref(),
        waits: waiting.map(|waiting| ShownWaiting::new(&waiting, lang, skill_call.as_deref())),
        changed: changed.map(|changed| LocalClock::of_system(place.project.here.now).ago(changed)),
        live,
        own: state.session_id.is_some()
            && state.session_id.as_deref() == place.project.session.as_ref().map(SessionId::as_str),
        stopped_reason: state.stopped_reason.as_deref(),
        skipped_stages: &state.skipped_stages,
        remaining_pct: state.remaining_pct,
        left_tokens: state.left_tokens,
        needed_tokens: state.needed_tokens,
        failure: Bilingual { en: failure(Lang::En), ja: failure(Lang::Ja) },
        resumes_at: state.resumes_at(),
        stages: stages.collect(),
        left,
    };
    if of.json {
        print::json(&shown);
    } else {
        cycle_page(&shown).print();
    }
    Ok(ExitCode::SUCCESS)
}

fn cycle_page(shown: &ShownCycle<'_>) -> Page {
    let mut page = Page::new();
    let (cycle, stage, of) = (shown.cycle, shown.stage, shown.of);
    let Bilingual { en, ja } = status_word(shown.status);
    page.heading(match shown.number {
        Some(number) => both!(
            "{cycle}: {en}, stage {stage} ({number} of {of})",
            "{cycle}: {ja}、ステージ {stage}（{number}/{of}）"
        ),
        None => both!("{cycle}: {en}, stage {stage}", "{cycle}: {ja}、ステージ {stage}"),
    });
    let session = match shown.session {
        Some(session) if shown.live => data(session),
        Some(session) => Text::from(both!("{session}, which has ended", "{session}（終了済み）")).warning(),
        None => Text::from(both!(
            "none; `tidegate cycle resume` continues it in one",
            "なし。`tidegate cycle resume` でセッションが引き継ぎます"
        ))
        .warning(),
    };
    let mut pairs = vec![(both!("session", "セッション").into(), session)];
    if let Some(left) = shown.left.map(short_tokens) {
        pairs.push((
            both!("context", "コンテキスト").into(),
            both!("{left} tokens left", "残り{left}トークン").into(),
        ));
    }
    if let Some(Bilingual { en, ja }) = &shown.changed {
        pairs.push((both!("changed", "更新").into(), both!("{en}", "{ja}").into()));
    }
    if let Some(waits) = &shown.waits {
        let Bilingual { en, ja } = &waits.told;
        let told = both!("{en}", "{ja}", en = sanitize_line(en), ja = sanitize_line(ja));
        pairs.push((both!("waits for", "待ち").into(), told.into()));
    }
    page.pairs(pairs);
    page.heading(both!("Stages", "ステージ"));
    page.pairs(
        shown
            .stages
            .iter()
            .enumerate()
            .map(|(at, stage)| (data(stage.name), describe_stage(shown, at, stage))),
    );
    if shown.status == "running" && !shown.live {
        page.gap();
        page.paragraph(both!(
            "Continue with {stage}: `tidegate cycle resume` in an open session",
            "{stage} から続けるには、開いているセッションで `tidegate cycle resume` を実行してください"
        ));
    }
    if shown.status != "running" {
        let next = shown.resumes_at;
        page.gap();
        if let Some(why) = shown.stopped_reason {
            let why = sanitize_line(why);
            let tokens = shown.needed_tokens.map(short_tokens).zip(shown.left_tokens.map(short_tokens));
            page.paragraph(match (why.as_str(), tokens) {
                ("context_budget", Some((needed, left))) => both!(
                    "Reason: {next} and what follows needed about {needed} tokens, {left} were left",
                    "理由: {next} 以降に約{needed}トークン必要でしたが、残りは{left}でした"
                ),
                ("context_budget", None) => both!(
                    "Reason: the context had no room for the next stage",
                    "理由: コンテキストに次のステージの余裕がありませんでした"
                ),
                _ => {
                    let Bilingual { en, ja } = &shown.failure;
                    both!("Reason: {en}", "理由: {ja}", en = sanitize_line(en), ja = sanitize_line(ja))
                }
            });
        }
        page.paragraph(both!(
            "Continue with {next}: `tidegate cycle resume`",
            "{next} から続けるには: `tidegate cycle resume`"
        ));
    }
    page
}

fn describe_stage(shown: &ShownCycle<'_>, at: usize, stage: &ShownStage<'_>) -> Text {
    let is_current = stage.name == shown.stage && shown.status == "running";
    let waits_for_person = shown.waits.as_ref().is_some_and(|waits| waits.from == "person");
    let skill = &stage.skill;
    match (stage.ended, stage.tokens.map(short_tokens)) {
        (true, Some(tokens)) => Text::from(both!("done, {tokens} tokens", "完了、{tokens}トークン")).good(),
        (true, None) => Text::from(both!("done", "完了")).good(),
        (false, _) if is_current && shown.done == Some(true) && waits_for_person => {
            Text::from(both!("done, waits for you", "完了、あなたを待っています")).warning()
        }
        (false, _) if is_current && shown.done == Some(true) => {
            both!("done when this turn ends", "このターンの終わりに完了").into()
        }
        (false, _) if is_current && shown.is_said => {
            let Bilingual { en, ja } = describe_missing(&shown.missing);
            Text::from(both!("not done yet: {en}", "未完了: {ja}")).warning()
        }
        (false, _) if stage.failed => Text::from(both!("failed", "失敗")).warning(),
        (false, _) if is_current => both!("in progress, skill `{skill}`", "進行中、スキル `{skill}`").into(),
        (false, _) if stage.name == shown.stage => {
            Text::from(both!("stopped here", "ここで止まっています")).warning()
        }
        (false, _) if at > 0 => {
            let room = short_tokens(stage.min_left);
            Text::from(both!("needs about {room} tokens", "約{room}トークン必要")).dim()
        }
        (false, _) => Text::from(both!("not started", "未着手")).dim(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::print::looks::assert_looks;

    #[test]
    fn a_cycle_looks_well() {
        let stage = |name: &'static str, ended, tokens, min_left| ShownStage {
            name,
            skill: name.to_owned(),
            ended,
            failed: false,
            tokens,
            min_left,
        };
        let stages = || {
            vec![
                stage("sprint", true, Some(61_200), 0),
                stage("audit", false, None, 100_000),
                stage("ship", false, None, 60_000),
            ]
        };
        let waits = |waiting: &Waiting| Some(ShownWaiting::new(waiting, Lang::En, Some("/dev-cycle")));
        let skipped = ["audit".to_owned(), "ship".to_owned()];
        let running = ShownCycle {
            cycle: "dev-cycle",
            status: "running",
            stage: "audit",
            number: Some(2),
            of: 3,
            skill: Some("audit".to_owned()),
            done: None,
            is_said: false,
            missing: Vec::new(),
            waits: waits(&Waiting::Work("audit".to_owned())),
            changed: Some(both!("3 days ago", "3日前")),
            session: Some("91b38a40-3ead-4aa8-8407-24d36ddad7be"),
            live: true,
            own: true,
            stopped_reason: None,
            skipped_stages: &[],
            remaining_pct: None,
            left_tokens: None,
            needed_tokens: None,
            failure: Bilingual::data(""),
            resumes_at: "audit",
            stages: stages(),
            left: Some(46_000),
        };
        assert_looks("cycle", &cycle_page(&running));
        let stopped = ShownCycle {
            status: "stopped",
            live: false,
            stopped_reason: Some("context_budget"),
            skipped_stages: &skipped,
            left_tokens: Some(43_000),
            needed_tokens: Some(100_000),
            left: None,
            waits: waits(&Waiting::Room("audit".to_owned())),
            stages: stages(),
            ..running
        };
        assert_looks("cycle-stopped", &cycle_page(&stopped));
        let failure = both!("2 findings are open", "指摘が2件残っています");
        let mut failed = ShownCycle {
            status: "failed",
            stopped_reason: Some("open_findings"),
            failure,
            waits: waits(&Waiting::Repair("audit".to_owned())),
            stages: stages(),
            ..stopped
        };
        failed.stages[1].failed = true;
        assert_looks("cycle-failed", &cycle_page(&failed));
        let said = ShownCycle {
            status: "running",
            is_said: true,
            missing: vec![Missing::Check("`a.rs`".to_owned()), Missing::OpenFindings(2)],
            waits: waits(&Waiting::Answer),
            stages: stages(),
            ..failed
        };
        assert_looks("cycle-not-done", &cycle_page(&said));
        let because = ["3 findings were open in audit".to_owned(), "audit で指摘が3件あった".to_owned()];
        let go_ahead =
            Waiting::GoAhead { before: Some("ship".to_owned()), assent: false, because: Some(because) };
        let asked = ShownCycle {
            done: Some(true),
            live: true,
            missing: Vec::new(),
            waits: waits(&go_ahead),
            stages: stages(),
            ..said
        };
        assert_looks("cycle-go-ahead", &cycle_page(&asked));
    }
}
