//! Texts for people about recording, answers without a topic, and topics without a decision.

use super::{meta_tag, relay_log, topic_decision};
use crate::text::lang::Lang;

pub(super) fn tag_missing(lang: Lang) -> String {
    let policy = meta_tag::ID;
    match lang {
        Lang::En => format!(
            "Tidegate asked Claude to add the missing topic tag to its answer; you don't need to do anything. To work without tags: \
             `tidegate off {policy} --for 1h`"
        ),
        Lang::Ja => format!(
            "Tidegate: 回答にトピックのタグがなかったため、Claude に付けるよう求めました。何もする必要はありません。タグなしで作業するには: \
             `tidegate off {policy} --for 1h`"
        ),
    }
}

/// `topic`: name and id of the topic that was left without a record.
pub(super) fn topic_undecided(lang: Lang, topic: &str) -> String {
    let policy = topic_decision::ID;
    match lang {
        Lang::En => format!(
            "Tidegate asked Claude to record a decision for the topic {topic}, or to close it, before the next topic. You don't need to do \
             anything. To work without this: `tidegate off {policy} --for 1h`"
        ),
        Lang::Ja => format!(
            "Tidegate: トピック {topic} が未記録のまま話題が移ったため、決定を記録するか終了するよう Claude に求めました。何もする必要は\
             ありません。これなしで作業するには: `tidegate off {policy} --for 1h`"
        ),
    }
}

/// `is_shared`: a team's server stores some projects, too.
pub(super) fn conversations_are_recorded(lang: Lang, is_shared: bool) -> String {
    let policy = relay_log::ID;
    match lang {
        Lang::En => {
            let place = if is_shared {
                "on this machine and, for shared projects, on your team's server"
            } else {
                "on this machine only"
            };
            format!(
                "Tidegate records your prompts and Claude's answers in this project, {place}, so that later sessions can find them. \
                 To stop: `tidegate off {policy}`"
            )
        }
        Lang::Ja => {
            let place = if is_shared {
                "保存先はこのマシンと、共有プロジェクトではチームのサーバーです"
            } else {
                "保存先はこのマシンだけです"
            };
            format!(
                "Tidegate: このプロジェクトでの入力と Claude の回答を、後のセッションで探せるように記録します。{place}。\
                 止めるには: `tidegate off {policy}`"
            )
        }
    }
}
