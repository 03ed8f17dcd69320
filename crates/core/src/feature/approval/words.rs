//! Texts for people about commands that wait for their yes.

use crate::text::lang::Lang;

/// An agent asks a person to approve a command; `wording` is the command and its meaning.
pub(super) fn asked(lang: Lang, code: &str, wording: &str) -> String {
    match lang {
        Lang::En => format!(
            "Claude asks you to approve {wording}. To allow it once, type `approve {code}` within ten minutes. To refuse, you \
             don't need to do anything."
        ),
        Lang::Ja => format!(
            "Tidegate: Claude が {wording} の承認を求めています。許可する場合は10分以内に `approve {code}` と入力してください（1回限り）。\
             許可しない場合は何もする必要はありません。"
        ),
    }
}

/// A prompt names a code and approves nothing.
pub(super) fn unclear(lang: Lang, code: &str) -> String {
    match lang {
        Lang::En => format!("Nothing was approved. To approve it, type `approve {code}` and nothing else."),
        Lang::Ja => {
            format!(
                "Tidegate: まだ承認されていません。承認する場合は `approve {code}` とだけ入力してください。"
            )
        }
    }
}

/// Status line: an approval waits.
pub fn waits(lang: Lang, code: &str, command: &str) -> String {
    match lang {
        Lang::En => format!("approve {code}? tidegate {command}"),
        Lang::Ja => format!("承認待ち {code}: tidegate {command}"),
    }
}

/// A person approved this.
pub(super) fn approved(lang: Lang, what: &str) -> String {
    match lang {
        Lang::En => format!("Approved, once and for ten minutes: {what}"),
        Lang::Ja => format!("承認しました（1回限り、10分間有効）: {what}"),
    }
}

/// A person approved a code that no request waits with.
pub(super) fn nothing_to_approve(lang: Lang, code: &str) -> String {
    match lang {
        Lang::En => format!(
            "No request waits with the code {code}: it was approved already, is void, is older than ten minutes, or is of another session."
        ),
        Lang::Ja => format!(
            "コード {code} で承認待ちの要求はありません。承認済み、無効、10分経過、または別のセッションのものです。"
        ),
    }
}

/// The model used a code.
pub(super) fn void(lang: Lang, code: &str, command: &str) -> String {
    match lang {
        Lang::En => format!(
            "The agent put the approval code {code} into a tool call, so the code is void and `tidegate {command}` was not approved."
        ),
        Lang::Ja => format!(
            "エージェントが承認コード {code} をツール呼び出しに使ったため、コードは無効になりました。`tidegate {command}` は承認されていません。"
        ),
    }
}
