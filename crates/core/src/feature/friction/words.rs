//! Texts for people about policies that are overridden often.

use crate::text::lang::Lang;

pub(super) fn stepped_down(lang: Lang, policy: &str) -> String {
    match lang {
        Lang::En => format!(
            "Tidegate: {policy} only advises in this project from now on, because you overrode five of its last ten \
             interruptions here. To have it block again: `tidegate on {policy}`. Details: `tidegate report`."
        ),
        Lang::Ja => format!(
            "Tidegate: このプロジェクトでは {policy} を助言だけに切り替えました。直近10回のうち5回、無効にされたためです。再びブロック\
             させるには `tidegate on {policy}`、詳細は `tidegate report` で確認できます。"
        ),
    }
}
