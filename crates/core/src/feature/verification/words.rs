//! Texts for people about unverified code.

use super::verify_stop::ID;
use super::work::{ChangeSet, HiddenBy, HiddenCheck, More, WhyNot};
use crate::feature::verification::checks::{CheckKind, Kinds};
use crate::text::lang::Lang;

/// `is_known`: Tidegate knows a check of this project.
pub(super) fn stop_held(lang: Lang, changes: &ChangeSet, is_known: bool) -> String {
    let files = file_list(lang, changes);
    if changes.failure().is_some() {
        let failed = failed_since(lang, changes);
        return match lang {
            Lang::En => format!(
                "Tidegate paused \"done\": {failed}. Claude will fix it or say why it cannot; you don't need to do anything. \
                 Skip: `tidegate off {ID} --for 1h`."
            ),
            Lang::Ja => format!(
                "Tidegate: 完了を保留しました。{failed}。Claude が直すか、直せない理由を伝えるので、操作は不要です。\
                 スキップ: `tidegate off {ID} --for 1h`。"
            ),
        };
    }
    match lang {
        Lang::En if !is_known => format!(
            "Tidegate paused \"done\": {files} changed, and Tidegate knows no check here that reads it. Claude will verify it another \
             way. No checks here? `tidegate off {ID} --project .`"
        ),
        Lang::Ja if !is_known => format!(
            "Tidegate: 完了を保留しました。{files} が変更されましたが、それを対象にする検証コマンドが見つかりません。Claude が別の方法で\
             確かめます。検証がないプロジェクトなら: `tidegate off {ID} --project .`"
        ),
        Lang::En => format!(
            "Tidegate paused \"done\": {files} changed and no check has passed since. Claude will run one and finish; you don't \
             need to do anything. Skip: `tidegate off {ID} --for 1h`."
        ),
        Lang::Ja => format!(
            "Tidegate: 完了を保留しました。{files} の変更後、まだ検証が通っていません。Claude が検証してから終えるので、操作は不要です。\
             スキップ: `tidegate off {ID} --for 1h`。"
        ),
    }
}

/// For a turn that ended although code is unverified.
///
/// `check` is a command of this project that would count, in backticks.
pub(super) fn unverified(lang: Lang, changes: &ChangeSet, check: Option<&str>) -> String {
    let files = file_list(lang, changes);
    if changes.failure().is_some() {
        let failed = failed_since(lang, changes);
        return match lang {
            Lang::En => {
                format!("Tidegate: {failed}. Ask Claude to fix it, or look at the change before you use it.")
            }
            Lang::Ja => {
                format!("Tidegate: {failed}。Claude に修正を頼むか、使う前に内容を確認してください。")
            }
        };
    }
    let uncounted = changes.hidden.as_ref().map(|hidden| &hidden.line);
    let uncounted = uncounted.or(changes.uncounted.as_ref().map(|check| &check.line));
    let (en, ja) = match uncounted {
        Some(line) => {
            (format!(" (`{line}` did not count)"), format!("（`{line}` は検証として数えられませんでした）"))
        }
        None => <_>::default(),
    };
    match (lang, check) {
        (Lang::En, Some(check)) => {
            format!("Tidegate: {files} changed and no check has passed since{en}. Ask Claude to run {check}.")
        }
        (Lang::En, None) => {
            format!(
                "Tidegate: {files} changed and no check has passed since{en}. Look at the change before you use it."
            )
        }
        (Lang::Ja, Some(check)) => format!(
            "Tidegate: {files} は変更後の検証がまだ通っていません{ja}。{check} の実行を Claude に頼んでください。"
        ),
        (Lang::Ja, None) => {
            format!(
                "Tidegate: {files} は変更後の検証がまだ通っていません{ja}。使う前に内容を確認してください。"
            )
        }
    }
}

/// A clause: what a session left unverified.
pub fn not_verified(lang: Lang, changes: &ChangeSet) -> String {
    let files = || file_list(lang, changes);
    match (lang, changes.failure()) {
        (_, Some(_)) => failed_since(lang, changes),
        (Lang::En, None) => format!("no check passed for {}", files()),
        (Lang::Ja, None) => format!("{} が未検証", files()),
    }
}

/// Part of a sentence: the check that failed, and when.
pub fn failed_since(lang: Lang, changes: &ChangeSet) -> String {
    let check = changes.failure().and_then(|failed| failed.shown());
    let (files, reopened) = (file_list(lang, changes), changes.is_reopened());
    match (lang, check.map(|check| format!("`{check}`"))) {
        (Lang::En, Some(check)) if reopened => format!("{check} passed before and fails now"),
        (Lang::En, check) => {
            format!("{} failed after {files} changed", check.unwrap_or_else(|| "a check".to_owned()))
        }
        (Lang::Ja, Some(check)) if reopened => format!("前は通っていた {check} が失敗しています"),
        (Lang::Ja, check) => {
            format!("{files} の変更後、{} が失敗しています", check.unwrap_or_else(|| "検証".to_owned()))
        }
    }
}

/// To the model, before it runs the first check.
pub(super) fn how_to_check() -> &'static str {
    "Run a test, type check or build on its own before you finish: `| tail`, `;` or `|| true` behind it hides its exit \
     status, and then it may not count (`set -o pipefail` keeps the status of a pipe)."
}

/// To the model: the reason that a check since the last edit did not count.
pub(super) fn why_not(changes: &ChangeSet) -> Option<String> {
    if let Some(HiddenCheck { line, by }) = changes.hidden.as_deref() {
        let how = match by {
            HiddenBy::Pipe => "the pipe hides its exit status (`set -o pipefail` would show it)",
            HiddenBy::Next => "the command after it hides its exit status",
            HiddenBy::Or => "`||` hides its exit status",
            HiddenBy::Not => "`!` inverts its exit status",
            HiddenBy::Background => "the line does not wait for it because of `&`",
            HiddenBy::Condition => "a condition hides its exit status",
            HiddenBy::Other => "the line does not show its exit status",
        };
        return Some(format!("`{line}` did not count: {how}."));
    }
    changes.uncounted.as_ref().map(|check| match check.why {
        WhyNot::OnlyLists => format!("`{}` did not count: it only lists and runs nothing.", check.line),
        WhyNot::OnlyLint => format!("`{}` was not enough: it only checks syntax or style.", check.line),
        WhyNot::OtherKind => format!("`{}` was not enough: this project has another check.", check.line),
        WhyNot::TreeMoved => {
            format!(
                "`{}` did not count: git replaced the changed files before it, or changed them after it.",
                check.line
            )
        }
        WhyNot::Unread => format!("`{}` did not count: it does not read the changed files.", check.line),
        WhyNot::NoTests => format!("`{}` did not count: it ran no test.", check.line),
        WhyNot::Stashed => {
            format!(
                "`{}` did not count: the changes were in git's stash. Run `git stash pop` first.",
                check.line
            )
        }
        WhyNot::Elsewhere => {
            format!(
                "`{}` did not count: another commit is checked out. Run `git checkout -` first.",
                check.line
            )
        }
    })
}

fn file_list(lang: Lang, changes: &ChangeSet) -> String {
    match lang {
        // The same list as for the model.
        Lang::En => changes.list_files(),
        Lang::Ja => {
            let names = changes.shown_files().collect::<Vec<_>>().join("、");
            match changes.more() {
                More::None => names,
                More::Some(more) => format!("{names} ほか{more}件"),
                More::Many(more) => format!("{names} ほか{more}件以上"),
            }
        }
    }
}

/// In the status line.
pub fn unverified_files(lang: Lang, count: usize) -> String {
    match lang {
        Lang::En => format!("✗ {count} unverified"),
        Lang::Ja => format!("✗ 未検証 {count}"),
    }
}

/// In the status line.
pub fn failed_check(lang: Lang, kind: CheckKind) -> &'static str {
    match (lang, kind) {
        (Lang::En, CheckKind::Test) => "✗ test failed",
        (Lang::En, CheckKind::Typecheck) => "✗ type check failed",
        (Lang::En, CheckKind::Build) => "✗ build failed",
        (Lang::En, CheckKind::Lint) => "✗ lint failed",
        (Lang::Ja, CheckKind::Test) => "✗ テスト失敗",
        (Lang::Ja, CheckKind::Typecheck) => "✗ 型チェック失敗",
        (Lang::Ja, CheckKind::Build) => "✗ ビルド失敗",
        (Lang::Ja, CheckKind::Lint) => "✗ リント失敗",
    }
}

/// In the status line. Without kinds, only the skill was invoked.
pub fn verified(lang: Lang, proof: Kinds) -> &'static str {
    match (lang, proof.has(CheckKind::Test), proof.is_empty()) {
        (Lang::En, true, _) => "✓ tested",
        (Lang::Ja, true, _) => "✓ テスト済み",
        (Lang::En, false, false) => "✓ checked",
        (Lang::Ja, false, false) => "✓ 検証済み",
        (Lang::En, false, true) => "✓ by skill, no check ran",
        (Lang::Ja, false, true) => "✓ スキルのみ（検証の実行なし）",
    }
}
