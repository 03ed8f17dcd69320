//! Texts for people about policies that are overridden often.

use crate::text::lang::Lang;

pub(super) fn stepped_down(lang: Lang, policy: &str) -> String {
    match lang {
        Lang::En => format!(
            "Tidegate: {policy} only advises in this project from now on, because people overrode 5 of its last 10 interruptions \
             (`tidegate report` lists them). To let it block again: `tidegate on {policy}`"
        ),
        Lang::Ja => format!(
            "Tidegate: このプロジェクトでは {policy} の直近10回の介入のうち5回が無効にされたため、今後は助言だけを行います（一覧: \
             `tidegate report`）。再びブロックさせるには: `tidegate on {policy}`"
        ),
    }
}
