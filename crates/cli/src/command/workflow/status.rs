//! `tidegate workflow status`.

use std::process::ExitCode;

use serde::Serialize;
use serde_json::json;
use tidegate_core::feature::facts::Known;
use tidegate_core::feature::workflow::Gate;
use tidegate_core::time::Millis;
use tidegate_state::feature::workflow;

use super::finish::Open;
use super::project_workflow::{ProjectWorkflow, is_workflow_manifest, usable_manifest};
use super::verification_report::passage_name;
use crate::args::ProjectArgs;
use crate::bilingual::{Bilingual, both};
use crate::command::Outcome;
use crate::local_time::LocalClock;
use crate::print;
use crate::print::page::Page;
use crate::print::table::{Column, Table};
use crate::print::text::{Text, data};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate workflow status
  tidegate workflow status --json | jq '.gates[] | select(.state == \"pending\")'")]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) of: ProjectArgs,
}

#[derive(Serialize)]
struct ShownWorkflow<'a> {
    manifest: &'a str,
    workflow: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    feature: Option<&'a str>,
    complete: bool,
    #[serde(skip)]
    known: Knowledge,
    /// It was ended with these phases and checkpoints open.
    #[serde(skip)]
    left_open: Option<Bilingual>,
    #[serde(skip_serializing_if = "Option::is_none")]
    phase: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    phase_name: Option<&'a str>,
    of: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_write: Option<String>,
    /// Nothing happened for a day: it is only reported.
    untouched: bool,
    /// A checkpoint blocks the agents of this session.
    blocks: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<&'a str>,
    gates: Vec<ShownGate>,
}

/// How much of the workflow Tidegate can know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Knowledge {
    /// Sessions used the manifest.
    Followed,
    /// No session did: only the manifest itself says how far the work is.
    Manifest,
    /// A list of artifacts without any phase.
    NoPhases,
    /// The manifest had phases when a session used it.
    LostPhases,
}

#[derive(Serialize)]
struct ShownGate {
    gate: usize,
    after_phase: usize,
    /// `passed`, `skipped`, `pending` or `ahead`.
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<String>,
}

pub(super) fn run(args: &Args) -> Outcome {
    let of = &args.of;
    let place = ProjectWorkflow::find_attached(of)?;
    if place.attached().is_none() && workflow::find_manifests(&place.project.root).is_empty() {
        if of.json {
            print::json(&json!({ "status": "none" }));
        } else {
            Page::of(both!(
                "There is no workflow in this project. Start one: `tidegate workflow start ID`",
                "このプロジェクトにはワークフローがありません。始めるには: `tidegate workflow start ID`"
            ))
            .print();
        }
        return Ok(ExitCode::SUCCESS);
    }
    let standing = place.read_standing()?;
    let manifest = usable_manifest(&standing)?;
    let pending = standing.pending_gates();
    let gate = |gate: Gate| {
        let known = standing.clearance(gate.number);
        let state = match known {
            Some(known) => passage_name(known),
            None if pending.contains(&gate) => "pending",
            None => "ahead",
        };
        ShownGate {
            gate: gate.number,
            after_phase: gate.after,
            state,
            at: known.map(|known| known.at.iso_seconds()),
        }
    };
    let session = place.session.as_ref().filter(|session| {
        session.marks.workflow.attached.as_ref().is_some_and(|attached| attached.manifest == standing.path)
    });
    let now = place.project.here.now;
    let untouched = match place.attached().filter(|_| session.is_some()) {
        Some(attached) => attached.is_untouched(&Known::Value(standing.clone()), now),
        None => standing.is_untouched(now),
    };
    let open = Open::of(&standing, manifest);
    let is_followed = session.is_some() || standing.owner.is_some() || !standing.cleared_gates.is_empty();
    let known = match is_workflow_manifest(manifest) {
        true if is_followed => Knowledge::Followed,
        true => Knowledge::Manifest,
        // A list of artifacts can be attached, too: it had none.
        false
            if !pending.is_empty() || !standing.cleared_gates.is_empty() || place.closed_gate().is_some() =>
        {
            Knowledge::LostPhases
        }
        false => Knowledge::NoPhases,
    };
    let gates = if known == Knowledge::NoPhases { Vec::new() } else { manifest.workflow.gates() };
    let shown = ShownWorkflow {
        manifest: &standing.path,
        workflow: &manifest.name,
        feature: manifest.feature.as_deref(),
        complete: manifest.complete,
        known,
        left_open: Some(open).filter(|open| manifest.complete && !open.is_nothing()).map(|open| open.list()),
        phase: manifest.current,
        phase_name: manifest
            .current
            .and_then(|number| manifest.workflow.phase(number))
            .map(|phase| phase.name.as_str()),
        of: manifest.workflow.phases.len(),
        last_write: standing.written.map(Millis::iso_seconds),
        untouched,
        blocks: place.blocks(&standing),
        session: session.map(|session| session.id.as_str()),
        gates: gates.into_iter().map(gate).collect(),
    };
    if of.json {
        print::json(&shown);
        return Ok(ExitCode::SUCCESS);
    }
    let clock = LocalClock::of_system(place.project.here.now);
    workflow_page(&shown, |gate| standing.clearance(gate).map(|known| clock.minute_with_zone(known.at)))
        .print();
    Ok(ExitCode::SUCCESS)
}

/// `cleared` tells when a checkpoint passed or was skipped.
fn workflow_page(shown: &ShownWorkflow<'_>, cleared: impl Fn(usize) -> Option<String>) -> Page {
    let mut page = Page::new();
    let name = shown.workflow;
    page.heading(match shown.feature {
        Some(feature) if shown.known == Knowledge::NoPhases => {
            both!("Manifest: {feature}", "マニフェスト: {feature}")
        }
        None if shown.known == Knowledge::NoPhases => both!("Manifest", "マニフェスト"),
        Some(feature) => both!("Workflow {name}: {feature}", "ワークフロー {name}: {feature}"),
        None => both!("Workflow {name}", "ワークフロー {name}"),
    });
    let of = shown.of;
    let phase: Text = match (shown.phase, shown.phase_name) {
        _ if shown.known == Knowledge::NoPhases => {
            both!("none: the manifest lists no phases", "なし（マニフェストにフェーズがありません）").into()
        }
        _ if shown.known == Knowledge::LostPhases => Text::from(both!(
            "not known: the manifest lost its phases",
            "不明（マニフェストからフェーズが消えています）"
        ))
        .warning(),
        _ if shown.is_complete_by_itself() => {
            both!("complete, as the manifest says", "完了（マニフェストによる）").into()
        }
        _ if shown.left_open.is_some() => {
            let Bilingual { en, ja } = shown.left_open.clone().unwrap_or_default();
            Text::from(both!("ended with {en} open", "{ja} を残して終了")).warning()
        }
        _ if shown.complete => Text::from(both!("all complete", "すべて完了")).good(),
        (Some(number), Some(phase)) => {
            let phase = phase.replace(['_', '-'], " ");
            both!("{number} of {of} ({phase})", "{number}/{of}（{phase}）").into()
        }
        _ => Text::from(both!("not known", "わかりません")).warning(),
    };
    let session: Text = match shown.session {
        Some(id) => data(id),
        None if shown.complete || shown.known == Knowledge::NoPhases => both!("none", "なし").into(),
        None => Text::from(both!(
            "none; `tidegate workflow attach PATH` inside a session uses it",
            "なし。セッションの中で `tidegate workflow attach パス` を実行すると使えます"
        )),
    };
    page.pairs([
        (both!("phase", "フェーズ").into(), phase),
        (both!("session", "セッション").into(), session),
        (both!("manifest", "マニフェスト").into(), data(shown.manifest)),
    ]);
    if shown.untouched && !shown.complete && !shown.gates.is_empty() {
        page.gap();
        page.paragraph(both!(
            "The manifest has not changed for a day, so its checkpoints block nothing.",
            "マニフェストは1日以上変更されていないため、チェックポイントは何も止めません。"
        ));
    }
    if shown.gates.is_empty() {
        page.gap();
        page.paragraph(describe_next(shown));
        return page;
    }
    page.heading(both!("Checkpoints", "チェックポイント"));
    let mut table = Table::new([
        Column::text(both!("number", "番号")),
        Column::text(both!("after", "位置")),
        Column::text(both!("state", "状態")),
    ]);
    for gate in &shown.gates {
        let after = gate.after_phase;
        let at = cleared(gate.gate).unwrap_or_default();
        table.row([
            data(gate.gate),
            both!("phase {after}", "フェーズ{after}のあと").into(),
            if at.is_empty() && shown.is_complete_by_itself() {
                both!("no record", "記録なし").into()
            } else {
                describe_state(gate.state, &at, shown.blocks)
            },
        ]);
    }
    page.table(table);
    page.gap();
    page.paragraph(describe_next(shown));
    page
}

impl ShownWorkflow<'_> {
    /// Tidegate saw nothing of the work.
    fn is_complete_by_itself(&self) -> bool {
        self.complete && self.known == Knowledge::Manifest && self.left_open.is_some()
    }
}

/// One step, which Claude takes.
fn describe_next(shown: &ShownWorkflow<'_>) -> Bilingual {
    if shown.known == Knowledge::NoPhases {
        return both!(
            "Without phases there are no checkpoints, and Tidegate cannot tell what is left to do.",
            "フェーズがないため、チェックポイントはなく、残りの作業もわかりません。"
        );
    }
    if shown.known == Knowledge::LostPhases {
        return both!(
            "Restore `phases` and `current_phase` in the manifest.",
            "マニフェストの `phases` と `current_phase` を元に戻してください。"
        );
    }
    if shown.is_complete_by_itself() {
        return both!(
            "No session used it here, so Tidegate cannot tell whether all of it was done.",
            "ここでは使ったセッションがないため、すべて終わったかどうかはわかりません。"
        );
    }
    let pending = shown.gates.iter().find(|gate| gate.state == "pending");
    if let Some(ShownGate { gate, .. }) = pending {
        return both!(
            "See what checkpoint {gate} needs: `tidegate workflow check {gate}`",
            "チェックポイント{gate}に足りないものを見るには: `tidegate workflow check {gate}`"
        );
    }
    let Some(phase) = shown.phase.filter(|_| !shown.complete) else {
        return match &shown.left_open {
            _ if !shown.complete => both!(
                "The manifest names no current phase. Start the next one: `tidegate workflow phase N`",
                "マニフェストに今のフェーズがありません。次を始めるには: `tidegate workflow phase 番号`"
            ),
            Some(_) => both!(
                "It was ended before all of it was done. No session continues it.",
                "すべて終わる前に終了しました。引き継ぐセッションはありません。"
            ),
            None => both!("Nothing is left to do.", "残りの作業はありません。"),
        };
    };
    let next = phase + 1;
    match shown.gates.iter().find(|gate| gate.after_phase == phase && gate.state == "ahead") {
        Some(ShownGate { gate, .. }) => both!(
            "At the end of this phase, Claude passes checkpoint {gate}. See what it needs: `tidegate workflow template {gate}`",
            "このフェーズの終わりに、Claude がチェックポイント{gate}を通過します。必要なものを見るには: `tidegate workflow template {gate}`"
        ),
        None if phase == shown.of => both!(
            "It is the last phase: `tidegate workflow note {phase} --status complete` ends the workflow",
            "最後のフェーズです。`tidegate workflow note {phase} --status complete` でワークフローが終わります"
        ),
        None => both!(
            "At the end of this phase: `tidegate workflow phase {next}`",
            "このフェーズが終わったら: `tidegate workflow phase {next}`"
        ),
    }
}

fn describe_state(state: &str, at: &str, blocks: bool) -> Text {
    match state {
        "passed" => Text::from(both!("passed {at}", "{at} に通過")).good(),
        "skipped" => Text::from(both!("skipped {at}", "{at} に省略")).warning(),
        "pending" if blocks => Text::from(both!("blocks agents", "エージェントを止めています")).warning(),
        "pending" => Text::from(both!("not passed", "未通過")).warning(),
        "ahead" => Text::from(both!("not reached yet", "これから")).dim(),
        other => Bilingual::data(other).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::print::looks::assert_looks;

    #[test]
    fn a_workflow_looks_well() {
        let gate = |gate, after_phase, state| ShownGate { gate, after_phase, state, at: None };
        let mut shown = ShownWorkflow {
            manifest: ".claude/.output/features/user-dashboard/MANIFEST.yaml",
            workflow: "feature",
            feature: Some("user-dashboard"),
            complete: false,
            known: Knowledge::Followed,
            left_open: None,
            phase: Some(9),
            phase_name: Some("design_verification"),
            of: 16,
            last_write: None,
            untouched: false,
            blocks: true,
            session: Some("91b38a40-3ead-4aa8-8407-24d36ddad7be"),
            gates: vec![gate(1, 3, "passed"), gate(2, 8, "pending"), gate(3, 13, "ahead")],
        };
        let cleared = |gate| (gate == 1).then(|| "2026-11-18 01:00 JST".to_owned());
        assert_looks("workflow", &workflow_page(&shown, cleared));
        (shown.session, shown.untouched, shown.blocks) = (None, true, false);
        assert_looks("workflow-untouched", &workflow_page(&shown, cleared));
        (shown.complete, shown.known) = (true, Knowledge::Manifest);
        shown.left_open = Some(both!("checkpoints 2, 3", "チェックポイント 2, 3"));
        assert_looks("workflow-complete-by-itself", &workflow_page(&shown, |_| None));
        (shown.complete, shown.known, shown.left_open) = (false, Knowledge::NoPhases, None);
        (shown.phase, shown.phase_name, shown.gates) = (None, None, Vec::new());
        assert_looks("workflow-without-phases", &workflow_page(&shown, |_| None));
    }
}
