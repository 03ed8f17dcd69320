//! Texts for people about workflows, their checkpoints, and blocked agents.

use super::closed::Loss;
use super::policy::ID;
use super::{AttachedWorkflow, Gate, Manifest};
use crate::feature::CONTEXT_FOLDER;
use crate::meter::{Reading, short_tokens};
use crate::text::lang::Lang;

pub(super) fn spawn_blocked(lang: Lang, reading: Option<&Reading>) -> String {
    let left = tokens_left(lang, reading);
    match lang {
        Lang::En => format!(
            "Tidegate blocked a subagent: {left}, too few for an agent and its result. Run `/compact`, then continue. Skip: \
             `tidegate off {ID} --for 1h`."
        ),
        Lang::Ja => format!(
            "Tidegate: サブエージェントの起動をブロックしました。{left}で、エージェントとその結果には足りません。`/compact` を実行してから\
             続けてください。スキップ: `tidegate off {ID} --for 1h`。"
        ),
    }
}

/// The context is nearly full.
pub(super) fn handoff_written(lang: Lang, file: &str) -> String {
    match lang {
        Lang::En => format!(
            "Tidegate wrote {CONTEXT_FOLDER}/{file}: it says how far the work is, so that a new session can continue it."
        ),
        Lang::Ja => format!(
            "Tidegate: 引き継ぎを {CONTEXT_FOLDER}/{file} に書き出しました。新しいセッションでも作業を続けられます。"
        ),
    }
}

pub(super) fn compact_now(lang: Lang, reading: Option<&Reading>) -> String {
    let left = tokens_left(lang, reading);
    match lang {
        Lang::En => format!(
            "Tidegate: a good moment for `/compact`: {left}. Soon Tidegate will block new subagents until you compact."
        ),
        Lang::Ja => format!(
            "Tidegate: `/compact` によいタイミングです（{left}）。このまま進むと、圧縮するまで新しいサブエージェントをブロックします。"
        ),
    }
}

/// `missing` is the number of missing items.
pub(super) fn gate_pending(lang: Lang, gate: usize, phase: usize, missing: usize) -> String {
    match lang {
        Lang::En => {
            let missing = match missing {
                0 => "nothing is missing, Claude only has to record it".to_owned(),
                1 => "1 item is missing".to_owned(),
                _ => format!("{missing} items are missing"),
            };
            format!(
                "Tidegate blocked a subagent at checkpoint {gate}, after phase {phase}: {missing}. Claude will complete it and retry. \
                 See it: `tidegate workflow check {gate}`. Skip: `tidegate workflow skip {gate} --reason …`."
            )
        }
        Lang::Ja => {
            let missing = match missing {
                0 => "不足はなく、あとは Claude が記録するだけです".to_owned(),
                _ => format!("{missing}件が不足しています"),
            };
            format!(
                "Tidegate: フェーズ{phase}の後のチェックポイント{gate}で、サブエージェントの起動をブロックしました。{missing}。Claude が対応して\
                 やり直します。内容: `tidegate workflow check {gate}`、スキップ: `tidegate workflow skip {gate} --reason …`。"
            )
        }
    }
}

/// The manifest of a pending gate does not tell of it any more.
pub(super) fn manifest_lost(lang: Lang, gate: usize, manifest: &str, loss: &Loss) -> String {
    match lang {
        Lang::En => {
            let what = match loss {
                Loss::Gone => "is gone",
                Loss::Unreadable(_) => "cannot be read",
                Loss::OtherWorkflow(_) => "names another workflow",
                Loss::NoPhase => "has no phase any more",
            };
            format!(
                "Tidegate blocked a subagent: checkpoint {gate} has not passed, and its manifest {manifest} {what}. Claude will restore it. \
                 Leave the workflow: `tidegate workflow detach`."
            )
        }
        Lang::Ja => {
            let what = match loss {
                Loss::Gone => "がなくなりました",
                Loss::Unreadable(_) => "が読めません",
                Loss::OtherWorkflow(_) => "が別のワークフローを指しています",
                Loss::NoPhase => "にフェーズの記録がありません",
            };
            format!(
                "Tidegate: サブエージェントの起動をブロックしました。チェックポイント{gate}は未通過ですが、マニフェスト {manifest} {what}。\
                 Claude が元に戻します。ワークフローをやめるには: `tidegate workflow detach`。"
            )
        }
    }
}

/// The session's marks do not have its workflow any more. `is_usable` if they can have it again.
pub(super) fn recovered(lang: Lang, gate: usize, manifest: &str, is_usable: bool) -> String {
    match (lang, is_usable) {
        (Lang::En, true) => format!(
            "Tidegate: part of this session's own record was lost. Checkpoint {gate} of {manifest} stays closed. Leave the workflow: \
             `tidegate workflow detach`."
        ),
        (Lang::En, false) => format!(
            "Tidegate cannot read this session's own record. Checkpoint {gate} of {manifest} stays closed. Details: `tidegate doctor`. \
             Skip: `tidegate off {ID} --for 1h`."
        ),
        (Lang::Ja, true) => format!(
            "Tidegate: このセッションの記録の一部が失われました。{manifest} のチェックポイント{gate}は閉じたままにします。ワークフローを\
             やめるには: `tidegate workflow detach`。"
        ),
        (Lang::Ja, false) => format!(
            "Tidegate: このセッションの記録を読めません。{manifest} のチェックポイント{gate}は閉じたままにします。詳細: \
             `tidegate doctor`、スキップ: `tidegate off {ID} --for 1h`。"
        ),
    }
}

/// Its last phase has ended.
pub(super) fn complete(lang: Lang, manifest: &Manifest) -> String {
    let (workflow, of) = (&manifest.name, manifest.workflow.phases.len());
    if let Some(current) = manifest.current.filter(|current| *current < of) {
        return match lang {
            Lang::En => format!(
                "Tidegate: the manifest says that the workflow {workflow} is complete, at phase {current} of {of}. Its checkpoints no \
                 longer apply here."
            ),
            Lang::Ja => format!(
                "Tidegate: マニフェストによると、ワークフロー {workflow} はフェーズ {current}/{of} で完了です。チェックポイントはもう適用しません。"
            ),
        };
    }
    match lang {
        Lang::En => format!(
            "Tidegate: the workflow {workflow} is complete, so its checkpoints no longer apply here. You don't need to do anything."
        ),
        Lang::Ja => format!(
            "Tidegate: ワークフロー {workflow} が完了しました。チェックポイントはもう適用しません。何もする必要はありません。"
        ),
    }
}

/// A session continues the workflow of one that ended.
pub(super) fn taken_over(lang: Lang, workflow: &AttachedWorkflow, gate: Option<Gate>) -> String {
    let AttachedWorkflow { workflow: id, of, name, .. } = workflow;
    let name = name.replace(['_', '-'], " ");
    let number = workflow.current().map_or(0, |current| current.number);
    match lang {
        Lang::En => {
            let gate =
                gate.map(|gate| format!(" Checkpoint {} blocks subagents.", gate.number)).unwrap_or_default();
            format!(
                "Tidegate: this session continues the unfinished workflow {id}, phase {number} of {of} ({name}).{gate} Stop using it: \
                 `tidegate workflow detach`."
            )
        }
        Lang::Ja => {
            let gate = gate
                .map(|gate| format!("チェックポイント{}がサブエージェントを止めています。", gate.number))
                .unwrap_or_default();
            format!(
                "Tidegate: 途中のワークフロー {id} を引き継ぎました（フェーズ {number}/{of}、{name}）。{gate}やめるには: \
                 `tidegate workflow detach`。"
            )
        }
    }
}

/// The manifest of this session's workflow was removed or damaged while no checkpoint was pending.
pub(super) fn unknown(lang: Lang, manifest: &str, is_gone: bool) -> String {
    match (lang, is_gone) {
        (Lang::En, true) => format!(
            "Tidegate: {manifest}, the manifest of this session's workflow, is gone. No checkpoint blocks agents until it is back."
        ),
        (Lang::En, false) => format!(
            "Tidegate cannot read {manifest}, the manifest of this session's workflow. No checkpoint blocks agents until it is \
             repaired."
        ),
        (Lang::Ja, true) => format!(
            "Tidegate: このセッションのワークフローのマニフェスト {manifest} がなくなりました。戻るまで、チェックポイントは何も止めません。"
        ),
        (Lang::Ja, false) => format!(
            "Tidegate: このセッションのワークフローのマニフェスト {manifest} を読めません。直るまで、チェックポイントは何も止めません。"
        ),
    }
}

/// Workflows that no running session uses; `first` is the manifest of one.
pub(super) fn unfinished(lang: Lang, count: usize, first: &str) -> String {
    match lang {
        Lang::En => {
            let are = if count == 1 { "1 workflow is".to_owned() } else { format!("{count} workflows are") };
            format!(
                "Tidegate: {are} unfinished here; nothing is blocked. To continue, ask Claude to run \
                 `tidegate workflow attach {first}`."
            )
        }
        Lang::Ja => format!(
            "Tidegate: 途中のワークフローが{count}件あります（今は何も止めません）。続けるには、Claude に \
             `tidegate workflow attach {first}` を実行させてください。"
        ),
    }
}

/// As part of a sentence: `6.5k tokens are left before compaction`.
fn tokens_left(lang: Lang, reading: Option<&Reading>) -> String {
    let compacts =
        reading.and_then(|reading| reading.window).is_some_and(|window| window.compact_at.is_some());
    match (lang, reading.and_then(Reading::left).map(short_tokens), compacts) {
        (Lang::En, Some(left), true) => format!("{left} tokens are left before compaction"),
        (Lang::En, Some(left), false) => format!("{left} tokens are left in the window"),
        (Lang::En, None, _) => "the context is nearly full".to_owned(),
        (Lang::Ja, Some(left), true) => format!("圧縮まで残り {left} トークン"),
        (Lang::Ja, Some(left), false) => format!("残り {left} トークン"),
        (Lang::Ja, None, _) => "コンテキストがほぼ満杯".to_owned(),
    }
}

/// Status line: the phase under way.
pub fn phase(lang: Lang, name: &str, number: usize, of: usize) -> String {
    match lang {
        Lang::En => format!("phase {number}/{of} {name}"),
        Lang::Ja => format!("フェーズ {number}/{of} {name}"),
    }
}

/// Status line: the end of the phase is the moment for a compaction.
pub fn plan_compaction(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "compact at the phase's end",
        Lang::Ja => "フェーズの終わりに圧縮",
    }
}
