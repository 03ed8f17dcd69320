//! Texts for people about policies that are overridden often.

use crate::text::lang::Lang;

pub(super) fn stepped_down(lang: Lang, policy: &str) -> String {
    match lang {
        Lang::En => format!(
            "{policy} was overridden in five of its last ten interruptions in this project, so it only advises here from now on. \
             `tidegate on {policy}` lets it block again; `tidegate report` shows the interruptions."
        ),
        Lang::Ja => format!(
            "{policy} はこのプロジェクトで直近10回の介入のうち5回が人によって無効にされたため、今後ここでは助言だけを行います。\
             再びブロックさせるには `tidegate on {policy}` を、経過を見るには `tidegate report` を実行してください。"
        ),
    }
}
