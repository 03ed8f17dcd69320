//! Texts for people about the status line.

use crate::text::lang::Lang;

pub(super) fn status_line_missing(lang: Lang) -> String {
    match lang {
        Lang::En => "Tidegate: a plugin cannot set the status line, which shows how full the context is. To add it: \
                     `tidegate init --user --status-line`"
            .to_owned(),
        Lang::Ja => "Tidegate: コンテキストの使用量を示すステータスラインは、プラグインでは設定できません。追加するには: \
                     `tidegate init --user --status-line`"
            .to_owned(),
    }
}
