//! Texts for people about commands that wait for their approval.

use super::Doubt;
use super::marks::{ApprovalRequest, ApprovalStage};
use super::typed::Reply;
use crate::text::lang::Lang;

/// `wording` is the command and its meaning.
pub(super) fn asked(lang: Lang, code: &str, wording: &str) -> String {
    match lang {
        Lang::En => format!(
            "Claude asks you to approve {wording}. To allow it once, type `approve {code}` within ten minutes. To refuse, type \
             `refuse {code}`."
        ),
        Lang::Ja => format!(
            "Tidegate: Claude が {wording} の承認を求めています。許可する場合は10分以内に `approve {code}` と入力してください（1回限り）。\
             許可しない場合は `refuse {code}` です。"
        ),
    }
}

/// The prompt names a code but approves nothing.
pub(super) fn unclear(lang: Lang, code: &str) -> String {
    match lang {
        Lang::En => format!(
            "Tidegate did not take your prompt as an approval: it says more than the code. Type only `approve {code}` to allow \
             the request, or `refuse {code}`."
        ),
        Lang::Ja => format!(
            "Tidegate: コード以外の言葉があるため、承認とは扱いませんでした。承認する場合は `approve {code}`、しない場合は \
             `refuse {code}` とだけ入力してください。"
        ),
    }
}

/// The prompt agrees, but to nothing that can be told.
pub(super) fn without_code(lang: Lang, code: &str) -> String {
    match lang {
        Lang::En => format!(
            "Tidegate did not take your prompt as an approval: the code is missing. Type `approve {code}` to allow the request that \
             waits, or `refuse {code}`."
        ),
        Lang::Ja => format!(
            "Tidegate: コードがないため、承認とは扱いませんでした。待っている要求を承認する場合は `approve {code}`、しない場合は \
             `refuse {code}` と入力してください。"
        ),
    }
}

/// The question in the client's dialog was left without an answer.
pub(super) fn dismissed(lang: Lang, command: &str) -> String {
    match lang {
        Lang::En => format!(
            "Tidegate closed the request to run `{command}`: its question got no answer. Nothing was changed. If you want it, ask \
             Claude to request it again."
        ),
        Lang::Ja => format!(
            "Tidegate: 質問への回答がなかったため、`{command}` の要求を取り下げました。何も変更していません。必要なら Claude にもう一度\
             要求させてください。"
        ),
    }
}

/// The yes was not the person's.
pub(super) fn refused(lang: Lang, what: &str) -> String {
    match lang {
        Lang::En => format!(
            "Tidegate did not run {what}: you did not give that yes yourself. A hook answered the question, or a scheduled \
             prompt sent the code. Nothing was changed."
        ),
        Lang::Ja => format!(
            "Tidegate: {what} は実行していません。承認はご本人の操作ではありませんでした（フックが質問に答えたか、予約された\
             プロンプトがコードを送りました）。何も変更されていません。"
        ),
    }
}

/// After `refuse CODE`.
pub(super) fn refused_by_you(lang: Lang, command: &str) -> String {
    match lang {
        Lang::En => format!(
            "You refused `{command}`. Tidegate closed the request and told Claude not to run it; you don't need to do anything."
        ),
        Lang::Ja => format!(
            "Tidegate: `{command}` を拒否しました。実行しないよう Claude に伝えたので、操作は不要です。"
        ),
    }
}

/// Status line. `what` is the command and its meaning; `count` requests wait, this one among them.
pub fn waits(lang: Lang, code: &str, what: &str, count: usize) -> String {
    match (lang, count) {
        (Lang::En, 0 | 1) => format!("approve {code}? {what}"),
        (Lang::En, _) => format!("{count} wait · approve {code}? {what}"),
        (Lang::Ja, 0 | 1) => format!("承認待ち {code}: {what}"),
        (Lang::Ja, _) => format!("承認待ち{count}件 {code}: {what}"),
    }
}

/// `what` is `None` if the person has just read it.
pub(super) fn approved(lang: Lang, what: Option<&str>) -> String {
    match (lang, what) {
        (Lang::En, Some(what)) => {
            format!("You approved: {what}. Claude can run it once, within ten minutes.")
        }
        (Lang::En, None) => "You approved this. Claude can run it once, within ten minutes.".to_owned(),
        (Lang::Ja, Some(what)) => {
            format!("Tidegate: 承認しました: {what}。Claude は10分以内に1回だけ実行できます。")
        }
        (Lang::Ja, None) => "Tidegate: 承認しました。Claude は10分以内に1回だけ実行できます。".to_owned(),
    }
}

/// `None` if no person would read it.
pub(super) fn not_counted(lang: Lang, request: &ApprovalRequest, doubt: Doubt) -> Option<String> {
    let code = &request.code;
    let command = request.terms().next().unwrap_or_default();
    let why = match (lang, doubt) {
        (_, Doubt::Absent) => return None,
        (Lang::En, Doubt::Unsaid) => "Claude Code does not say whether a person is there",
        (Lang::En, Doubt::NotByClient) => "a script runs between Claude Code and Tidegate's hook",
        (Lang::En, Doubt::Unattended) => "Claude Code says that no person is there",
        (Lang::En, Doubt::OfAgent) => "an agent started this Claude Code",
        (Lang::En, Doubt::OtherClient) => "another Claude Code asked for it",
        (Lang::Ja, Doubt::Unsaid) => "Claude Code からは、人が操作しているか分かりません",
        (Lang::Ja, Doubt::NotByClient) => "Claude Code と Tidegate のフックの間にスクリプトがあります",
        (Lang::Ja, Doubt::Unattended) => "Claude Code は無人だと伝えています",
        (Lang::Ja, Doubt::OfAgent) => "この Claude Code はエージェントが起動したものです",
        (Lang::Ja, Doubt::OtherClient) => "承認を求めたのは別の Claude Code です",
    };
    Some(match lang {
        Lang::En => format!(
            "`approve {code}` did not count, because {why}: Tidegate cannot tell that you typed it. To allow it, run `{command}` \
             yourself in a terminal."
        ),
        Lang::Ja => format!(
            "Tidegate: `approve {code}` は承認になりませんでした。{why}。ご本人の入力だと確認できません。許可する場合は、ご自身で\
             端末から `{command}` を実行してください。"
        ),
    })
}

/// `closed` is the request with this code, `waiting` another one that can still be approved.
pub(super) fn nothing_waits(
    lang: Lang,
    reply: Reply,
    code: &str,
    closed: Option<&ApprovalStage>,
    waiting: Option<&ApprovalRequest>,
) -> String {
    let why = match (lang, closed) {
        (Lang::En, Some(ApprovalStage::Given)) => "you approved it already",
        (Lang::En, Some(ApprovalStage::Used)) => "you approved it already and Claude has run it",
        (Lang::En, Some(ApprovalStage::Declined)) => "you refused it",
        (Lang::En, Some(ApprovalStage::Void | ApprovalStage::Refused)) => "Tidegate cancelled it",
        (Lang::En, Some(ApprovalStage::Asked | ApprovalStage::Questioned(_))) => {
            "it is older than ten minutes"
        }
        (Lang::En, None) => "no session has a request with that code",
        (Lang::Ja, Some(ApprovalStage::Given)) => "すでに承認済みです",
        (Lang::Ja, Some(ApprovalStage::Used)) => "すでに承認され、実行されました",
        (Lang::Ja, Some(ApprovalStage::Declined)) => "あなたが拒否しました",
        (Lang::Ja, Some(ApprovalStage::Void | ApprovalStage::Refused)) => "Tidegate が無効にしました",
        (Lang::Ja, Some(ApprovalStage::Asked | ApprovalStage::Questioned(_))) => "10分を過ぎました",
        (Lang::Ja, None) => "その要求はどのセッションにもありません",
    };
    let (did_en, did_ja) = match reply {
        Reply::Approve => ("approved", "承認"),
        Reply::Refuse => ("refused", "拒否"),
    };
    match (lang, waiting) {
        (Lang::En, Some(other)) => format!(
            "Tidegate {did_en} nothing for {code}: {why}. Another request waits: {}. To allow it, type `approve {}`.",
            other.wording(),
            other.code
        ),
        (Lang::En, None) if reply == Reply::Refuse => {
            format!("Tidegate {did_en} nothing for {code}: {why}.")
        }
        (Lang::En, None) => {
            format!("Tidegate {did_en} nothing for {code}: {why}. Ask Claude to request it again.")
        }
        (Lang::Ja, None) if reply == Reply::Refuse => {
            format!("Tidegate: {code} では何も{did_ja}していません（{why}）。")
        }
        (Lang::Ja, Some(other)) => format!(
            "Tidegate: {code} では何も{did_ja}していません（{why}）。別の要求が待っています: {}。許可する場合は `approve {}` と入力して\
             ください。",
            other.wording(),
            other.code
        ),
        (Lang::Ja, None) => format!(
            "Tidegate: {code} では何も{did_ja}していません（{why}）。必要なら Claude にもう一度要求させてください。"
        ),
    }
}

/// The code is that of a request in another session.
pub(super) fn of_other_session(lang: Lang, code: &str) -> String {
    match lang {
        Lang::En => format!(
            "Tidegate did nothing with {code}: another session asked for it, and it counts only there. Type the same in that \
             session."
        ),
        Lang::Ja => format!(
            "Tidegate: {code} は別のセッションの要求なので、ここでは効きません。そのセッションで同じように入力してください。"
        ),
    }
}

/// The model used the code.
pub(super) fn void(lang: Lang, code: &str, command: &str) -> String {
    match lang {
        Lang::En => format!(
            "Tidegate cancelled the code {code}: Claude used it in a tool call. `{command}` is not approved; you don't need to do \
             anything."
        ),
        Lang::Ja => format!(
            "Tidegate: Claude がツール呼び出しに承認コード {code} を使ったため、コードを無効にしました。`{command}` は承認されていません。\
             操作は不要です。"
        ),
    }
}
