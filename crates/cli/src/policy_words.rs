//! What each policy does, in one line.

use crate::bilingual::{Bilingual, both};

/// A verb in the third person: "`skill-gate` pauses …".
pub(crate) fn describe_policy(id: &str) -> Option<Bilingual> {
    Some(match id {
        "skill-gate" => both!(
            "pauses an edit until Claude has loaded the skills that you or your team require",
            "必須のスキルを Claude が読み込むまで、編集を保留します"
        ),
        "verify-stop" => both!(
            "blocks \"done\" while changed code has no passing check",
            "変更したコードの検証が通るまで、「完了」を止めます"
        ),
        "task-gate" => both!(
            "blocks the end of a task while changed code has no passing check",
            "変更したコードの検証が通るまで、タスクの完了を止めます"
        ),
        "activity" => both!(
            "names skills and learnings that fit the kind of work",
            "作業の種類に合うスキルと学びを知らせます"
        ),
        "context-warning" => both!(
            "warns you and Claude before the context is full",
            "コンテキストがいっぱいになる前に警告します"
        ),
        "learning-reminder" => both!(
            "reminds you of progress notes that are not reviewed yet",
            "未整理の作業メモがあることを知らせます"
        ),
        "compaction" => both!(
            "carries facts across a compaction, and gives lost ones back",
            "圧縮の前後で事実を引き継ぎ、失われたものを補います"
        ),
        "cycle" => {
            both!("runs the stages of a cycle, while you use one", "サイクルの実行中、ステージを進めます")
        }
        "workflow" => both!(
            "blocks agents at the checkpoints of a workflow, while you use one",
            "ワークフローの実行中、チェックポイントでエージェントを止めます"
        ),
        "meta-tag" => both!(
            "asks Claude to tag each answer with its topic",
            "回答ごとにトピックのタグを付けるよう Claude に求めます"
        ),
        "topic-decision" => both!(
            "asks for the decision when the topic changes",
            "トピックが変わるとき、決定を書き留めるように求めます"
        ),
        "recording" => both!(
            "records your prompts and Claude's answers, on this machine",
            "プロンプトと Claude の回答を、このマシンに記録します"
        ),
        "own-settings" => both!(
            "asks you before Claude changes Tidegate's own settings or hooks",
            "Claude が Tidegate 自身の設定やフックを変える前に確認します"
        ),
        "worktree" => both!(
            "saves progress notes and learnings of a worktree that is removed",
            "削除される作業ツリーの作業メモと学びを保存します"
        ),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_policy_is_described() {
        let missing: Vec<&str> = tidegate_core::feature::switchable_policies()
            .filter(|id| describe_policy(id).is_none())
            .collect();
        assert!(missing.is_empty(), "{missing:?}");
    }
}
