//! Texts for people about recording, answers without a topic, and topics without a decision.

use super::{meta_tag, relay_log, topic_decision};
use crate::text::lang::Lang;

pub(super) fn tag_missing(lang: Lang) -> String {
    let policy = meta_tag::ID;
    match lang {
        Lang::En => format!(
            "Tidegate had the agent go on: its answer did not say which topic it belongs to. To work without meta tags: \
             `tidegate off {policy} --for 1h` in another terminal."
        ),
        Lang::Ja => format!(
            "回答にトピックを示すメタタグがなかったため、エージェントに作業を続けさせました。メタタグなしで作業するには、別の端末で \
             `tidegate off {policy} --for 1h` を実行してください。"
        ),
    }
}

/// `topic`: name and id of the topic that was left without a record.
pub(super) fn topic_undecided(lang: Lang, topic: &str) -> String {
    let policy = topic_decision::ID;
    match lang {
        Lang::En => format!(
            "Tidegate had the agent go on: the topic {topic} was left, and neither a decision nor a log was recorded for it. To \
             work without this: `tidegate off {policy} --for 1h` in another terminal."
        ),
        Lang::Ja => format!(
            "トピック {topic} に決定事項もログも記録されないまま話題が移ったため、エージェントに作業を続けさせました。この確認なしで\
             作業するには、別の端末で `tidegate off {policy} --for 1h` を実行してください。"
        ),
    }
}

pub(super) fn conversations_are_recorded(lang: Lang) -> String {
    let policy = relay_log::ID;
    match lang {
        Lang::En => format!(
            "Tidegate records your prompts and Claude's answers in this project, on this machine only, so that later sessions can \
             find them. To stop: `tidegate off {policy}`"
        ),
        Lang::Ja => format!(
            "Tidegate: このプロジェクトでの入力とClaudeの回答を、後のセッションで探せるように記録します。保存先はこのマシンだけです。\
             止めるには: `tidegate off {policy}`"
        ),
    }
}
