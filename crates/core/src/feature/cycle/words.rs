//! Texts for people about cycles.

use super::history::StageCost;
use super::state::STATE_FILE;
use super::{ActiveStage, CycleDamage};
use crate::meter::short_tokens;
use crate::text::lang::Lang;

pub(super) fn stage_begins(lang: Lang, done: &ActiveStage, next: &str) -> String {
    let ActiveStage { cycle, stage, number, of, .. } = done;
    match lang {
        Lang::En => format!("{cycle}: stage {number} of {of} ({stage}) is done, {next} begins."),
        Lang::Ja => format!("{cycle}: ステージ {number}/{of}（{stage}）が完了し、{next} を始めます。"),
    }
}

/// Stopped for lack of context: tokens left, and tokens that the rest needs.
pub(super) fn stopped(lang: Lang, after: &ActiveStage, skipped: &[String], left: u64, needed: u64) -> String {
    let ActiveStage { cycle, stage, .. } = after;
    let (left, needed) = (short_tokens(left), short_tokens(needed));
    match lang {
        Lang::En => format!(
            "{cycle} stopped after {stage}: {left} tokens are left, and what comes next needs about {needed}. Not begun: {}. To go on in a new session: \
             `tidegate cycle resume` there, or /dev-cycle.",
            skipped.join(", ")
        ),
        Lang::Ja => format!(
            "{cycle} は {stage} の後で停止しました。残り {left} トークンに対し、次のステージ以降には約 {needed} が必要です。未実行: {}。新しいセッションで \
             `tidegate cycle resume` または /dev-cycle を実行すると再開できます。",
            skipped.join("、")
        ),
    }
}

/// A stage is done, but the cycle waits because a prompt came before the previous turn had ended.
pub(super) fn stage_waits(lang: Lang, stage: &ActiveStage) -> String {
    let ActiveStage { cycle, stage, .. } = stage;
    match lang {
        Lang::En => format!(
            "{cycle} waits at {stage}: a prompt came before the turn before it had ended. It goes on when the next turn ends."
        ),
        Lang::Ja => format!(
            "{cycle} は {stage} で待っています。前のターンが終わる前に次のプロンプトが届いたためです。次のターンが終わると先へ進みます。"
        ),
    }
}

pub(super) fn unreadable(lang: Lang, why: &str) -> String {
    match lang {
        Lang::En => {
            format!(
                "The cycle's file .claude/{STATE_FILE} cannot be read ({why}). No stage is begun until it can."
            )
        }
        Lang::Ja => format!(
            "サイクルのファイル .claude/{STATE_FILE} を読めません（{why}）。読めるようになるまで次のステージは始めません。"
        ),
    }
}

/// `metrics` is reported by the stages themselves.
pub(super) fn complete(lang: Lang, cycle: &str, stages: &[StageCost], metrics: &str) -> String {
    let took = |took: &StageCost| match (took.tokens, lang) {
        (Some(tokens), Lang::En | Lang::Ja) => format!("{} {}", took.name, short_tokens(tokens)),
        (None, Lang::En) => format!("{} (not known)", took.name),
        (None, Lang::Ja) => format!("{}（不明）", took.name),
    };
    let stages: Vec<String> = stages.iter().map(took).collect();
    match lang {
        Lang::En => {
            let metrics = if metrics.is_empty() { String::new() } else { format!(" {metrics}.") };
            format!("{cycle} is complete. Tokens by stage: {}.{metrics}", stages.join(", "))
        }
        Lang::Ja => {
            let metrics = if metrics.is_empty() { String::new() } else { format!("{metrics}。") };
            format!("{cycle} が完了しました。ステージごとのトークン: {}。{metrics}", stages.join("、"))
        }
    }
}

/// A cycle of this project has stopped and can be resumed.
pub(super) fn waits(lang: Lang, cycle: &str, done: &[String], skipped: &[String]) -> String {
    match lang {
        Lang::En => {
            let done = if done.is_empty() { "nothing".to_owned() } else { done.join(", ") };
            format!(
                "A {cycle} of this project has stopped. Done: {done}. Not begun: {}. To go on here: `tidegate cycle resume`, or /dev-cycle; \
                 to leave it: `tidegate cycle abandon`.",
                skipped.join(", ")
            )
        }
        Lang::Ja => {
            let done = if done.is_empty() { "なし".to_owned() } else { done.join("、") };
            format!(
                "このプロジェクトの {cycle} が停止しています。完了: {done}。未実行: {}。ここで再開するには `tidegate cycle resume` または \
                 /dev-cycle を、やめるには `tidegate cycle abandon` を実行してください。",
                skipped.join("、")
            )
        }
    }
}

/// A cycle of this project was left in the middle of a stage.
pub(super) fn left(lang: Lang, cycle: &str, stage: &str, number: usize, of: usize) -> String {
    match lang {
        Lang::En => format!(
            "A {cycle} of this project was in stage {stage} ({number} of {of}) in a session that has ended or was silent for an hour. To \
             go on with that stage here: `tidegate cycle resume`, or /dev-cycle; to leave it: `tidegate cycle abandon`."
        ),
        Lang::Ja => format!(
            "このプロジェクトの {cycle} は、終了したか1時間応答のないセッションで、ステージ {number}/{of}（{stage}）の途中です。ここでその\
             ステージから再開するには `tidegate cycle resume` または /dev-cycle を、やめるには `tidegate cycle abandon` を実行してください。"
        ),
    }
}

pub(super) fn damaged(lang: Lang, damage: &CycleDamage) -> String {
    match lang {
        Lang::En => {
            let kept = match damage {
                CycleDamage::UnknownCycle(_) => "; trust or the config may say why",
                _ => "; the file is kept beside it with .bad in its name",
            };
            format!(
                "The cycle's file .claude/{STATE_FILE} cannot be used: {damage}. No stage is begun{kept}. `tidegate cycle start` begins anew."
            )
        }
        Lang::Ja => {
            let why = match damage {
                CycleDamage::NoObject => "JSONオブジェクトではありません".to_owned(),
                CycleDamage::Member(name) => format!("`{name}` の値が不正です"),
                CycleDamage::UnknownCycle(_) => "サイクルが設定にありません".to_owned(),
                CycleDamage::UnknownStage(_) => "ステージがサイクルにありません".to_owned(),
            };
            let kept = match damage {
                CycleDamage::UnknownCycle(_) => "設定または信頼の状態を確認してください。",
                _ => "ファイルは名前に .bad を付けて残してあります。",
            };
            format!(
                "サイクルのファイル .claude/{STATE_FILE} を使えません: {why}。次のステージは始めません。{kept}`tidegate cycle start` で\
                 最初から始められます。"
            )
        }
    }
}

/// Status line: the stage under way.
pub fn stage(lang: Lang, stage: &str, number: usize, of: usize) -> String {
    match lang {
        Lang::En | Lang::Ja => format!("{stage} {number}/{of}"),
    }
}
