//! Texts for people that belong to no feature: a failed check, an unreadable config, silent hooks.

use crate::event::FailedStep;
use crate::feature::config::{BrokenFile, ConfigOwner};
use crate::feature::skill_gate::ID as EDIT_GATE;
use crate::feature::verification::verify_stop;
use crate::text::json::NotAnObject;
use crate::text::lang::Lang;

pub(super) fn status_line_missing(lang: Lang) -> String {
    match lang {
        Lang::En => "Tidegate: a plugin cannot set the status line, which shows how full the context is. Add it with \
                     `tidegate init --user --status-line`."
            .to_owned(),
        Lang::Ja => "Tidegate: コンテキストの使用量を示すステータスラインは、プラグインでは設定できません。追加するには \
                     `tidegate init --user --status-line` を実行してください。"
            .to_owned(),
    }
}

/// A check failed.
pub(super) fn gate_closed(lang: Lang, step: &FailedStep) -> String {
    let fix = match (lang, step) {
        (_, FailedStep::Locked { .. }) => state_fix(lang, step),
        (Lang::En, FailedStep::State(_)) => "Fix: `tidegate doctor`.".to_owned(),
        (Lang::Ja, FailedStep::State(_)) => "直し方: `tidegate doctor`。".to_owned(),
        (Lang::En, _) => "Details: `tidegate log`.".to_owned(),
        (Lang::Ja, _) => "詳細: `tidegate log`。".to_owned(),
    };
    // Without usable state no command works either.
    let skip = match step {
        FailedStep::State(_) => String::new(),
        _ => match lang {
            Lang::En => format!("`tidegate off {EDIT_GATE} --for 1h`, or "),
            Lang::Ja => format!("`tidegate off {EDIT_GATE} --for 1h`、または "),
        },
    };
    match lang {
        Lang::En => format!(
            "Tidegate blocked this call because it could not check it: {step}. {fix} Skip: {skip}start Claude Code with \
             TIDEGATE_OFF={EDIT_GATE}."
        ),
        Lang::Ja => format!(
            "Tidegate: 確認できなかったため、この呼び出しをブロックしました（{}）。{fix}スキップ: {skip}TIDEGATE_OFF={EDIT_GATE} を\
             付けて Claude Code を起動",
            failed_step_in_japanese(step),
        ),
    }
}

/// The end of a turn could not be checked and is blocked once.
pub(super) fn stop_unchecked(lang: Lang, step: &FailedStep) -> String {
    match lang {
        Lang::En => format!(
            "Tidegate paused this turn once because it could not check it: {step}. {} Skip: start Claude Code with TIDEGATE_OFF={}.",
            state_fix(lang, step),
            verify_stop::ID
        ),
        Lang::Ja => format!(
            "Tidegate: {}。検証が済んだか分からないため、このターンを一度だけ保留しました。{}スキップ: TIDEGATE_OFF={} を付けて Claude \
             Code を起動",
            failed_step_in_japanese(step),
            state_fix(lang, step),
            verify_stop::ID
        ),
    }
}

/// Tells how to make the state usable again.
fn state_fix(lang: Lang, step: &FailedStep) -> String {
    match (lang, step) {
        (Lang::En, FailedStep::Locked { process: Some(id), .. }) => {
            format!("If it is suspended, `kill -CONT {id}` continues it and `kill -KILL {id}` ends it.")
        }
        (Lang::En, FailedStep::Locked { process: None, .. }) => "Continue or end that process.".to_owned(),
        (Lang::En, _) => {
            "Free disk space or make the folder writable (`tidegate doctor`).".to_owned()
        }
        (Lang::Ja, FailedStep::Locked { process: Some(id), .. }) => {
            format!("停止中なら `kill -CONT {id}` で再開、`kill -KILL {id}` で終了できます。")
        }
        (Lang::Ja, FailedStep::Locked { process: None, .. }) => {
            "そのプロセスを再開するか終了してください。".to_owned()
        }
        (Lang::Ja, _) => {
            "ディスクの空きを増やすか、フォルダを書き込み可能にしてください（場所は `tidegate doctor` で分かります）。".to_owned()
        }
    }
}

/// English uses the step's own text, because records contain it too.
fn failed_step_in_japanese(step: &FailedStep) -> String {
    match step {
        FailedStep::Payload(NotAnObject::Empty) => "入力が空です".to_owned(),
        FailedStep::Payload(NotAnObject::Json { line, column }) => {
            format!("入力が JSON ではありません（{line}行{column}桁）")
        }
        FailedStep::Payload(NotAnObject::OtherValue) => "入力が JSON オブジェクトではありません".to_owned(),
        FailedStep::Stdin(why) => format!("入力を読み取れません（{why}）"),
        FailedStep::SessionMissing => "session_id がありません".to_owned(),
        FailedStep::SessionType => "session_id が文字列ではありません".to_owned(),
        FailedStep::SessionEmpty => "session_id が空です".to_owned(),
        FailedStep::SessionTooLong => "session_id が128文字を超えています".to_owned(),
        FailedStep::SessionCharacters => "session_id に英数字と _ - 以外の文字があります".to_owned(),
        FailedStep::MemberMissing(member) => format!("{member} がありません"),
        FailedStep::MemberType(member) => format!("{member} の型が違います"),
        FailedStep::MemberEmpty(member) => format!("{member} が空です"),
        FailedStep::OtherEvent => "入力が別のイベントのものです".to_owned(),
        FailedStep::State(why) => format!("状態ディレクトリを使えません（{why}）"),
        FailedStep::Marks(why) => format!("セッションの記録を使えません（{why}）"),
        FailedStep::Locked { file, process: Some(id) } => {
            format!("プロセス {id} がロック {file} を解放しません")
        }
        FailedStep::Locked { file, process: None } => {
            format!("別のプロセスがロック {file} を解放しません")
        }
        FailedStep::Spool(why) => format!("会話を記録に回せません（{why}）"),
        FailedStep::Cycle(why) => format!("サイクルの状態を書き換えられません（{why}）"),
        FailedStep::Record(why) => format!("記録を書き込めません（{why}）"),
        FailedStep::Deadline(ms) => format!("{ms}ミリ秒以内に答えられませんでした"),
        FailedStep::Panic(why) => format!("内部エラーです（{why}）"),
    }
}

pub(super) fn config_broken(lang: Lang, broken: &BrokenFile) -> String {
    let place = broken.location();
    match lang {
        Lang::En => {
            let fix = if broken.line.is_some() { "fix that line" } else { "fix the file" };
            match (broken.has_copy, broken.owner) {
                (true, ConfigOwner::User) => format!(
                    "Tidegate cannot read {place}. Until you {fix}, the last readable copy of the file counts, and readable lines \
                     that are stricter."
                ),
                (true, ConfigOwner::Project) => format!(
                    "Tidegate cannot read {place}. Until you {fix}, only stricter values count of its readable lines and its last \
                     readable copy."
                ),
                (false, ConfigOwner::User) => format!(
                    "Tidegate cannot read {place} and has no earlier copy. Until you {fix}, built-in values count, and readable \
                     lines that are stricter."
                ),
                (false, ConfigOwner::Project) => format!(
                    "Tidegate cannot read {place} and has no earlier copy. Until you {fix}, only readable lines that are stricter \
                     count."
                ),
            }
        }
        Lang::Ja => {
            let fix = if broken.line.is_some() { "その行" } else { "ファイル" };
            match (broken.has_copy, broken.owner) {
                (true, ConfigOwner::User) => format!(
                    "Tidegate: {place} を読み取れません。{fix}を修正するまでは、最後に読み取れた内容と、読み取れる行のうちより厳しい設定を使います。"
                ),
                (true, ConfigOwner::Project) => format!(
                    "Tidegate: {place} を読み取れません。{fix}を修正するまでは、読み取れる行と最後に読み取れた内容のうち、より厳しい設定だけを使います。"
                ),
                (false, ConfigOwner::User) => format!(
                    "Tidegate: {place} を読み取れず、以前の控えもありません。{fix}を修正するまでは、既定値と、読み取れる行のうちより厳しい設定だけを使います。"
                ),
                (false, ConfigOwner::Project) => format!(
                    "Tidegate: {place} を読み取れず、以前の控えもありません。{fix}を修正するまでは、読み取れる行のうちより厳しい設定だけを使います。"
                ),
            }
        }
    }
}

/// Status line: file name and line of an unreadable config.
pub fn config_sign(lang: Lang, place: &str) -> String {
    match lang {
        Lang::En => format!("! config error {place}"),
        Lang::Ja => format!("! 設定エラー {place}"),
    }
}

/// Status line: no hook was seen in this session.
pub fn hooks_silent(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "! hooks silent (tidegate doctor)",
        Lang::Ja => "! フック無応答 (tidegate doctor)",
    }
}

/// Status line: no hook was seen lately.
pub fn hooks_stopped(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "! hooks stopped (tidegate doctor)",
        Lang::Ja => "! フック停止 (tidegate doctor)",
    }
}

/// Status line: a policy that is off, and for how many more minutes.
pub fn policy_off(lang: Lang, policy: &str, minutes: Option<u64>) -> String {
    let rest = minutes.map(|minutes| match (lang, minutes) {
        (Lang::En, 0..=99) => format!("{minutes} min"),
        (Lang::En, _) => format!("{} h", minutes.div_ceil(60)),
        (Lang::Ja, 0..=99) => format!("{minutes}分"),
        (Lang::Ja, _) => format!("{}時間", minutes.div_ceil(60)),
    });
    match (lang, rest) {
        (Lang::En, Some(rest)) => format!("{policy} off for {rest}"),
        (Lang::En, None) => format!("{policy} off"),
        (Lang::Ja, Some(rest)) => format!("{policy} オフ（あと{rest}）"),
        (Lang::Ja, None) => format!("{policy} オフ"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without a line there is none to fix, and only a user's own copy counts as a whole.
    #[test]
    fn a_broken_config_is_told_as_it_is() {
        let said = |lang: Lang, line, has_copy, owner| {
            config_broken(lang, &BrokenFile { file: "/c.toml".to_owned(), line, has_copy, owner })
        };
        for (lang, the_line, only) in [(Lang::En, "that line", "only"), (Lang::Ja, "その行", "だけ")] {
            for (has_copy, owner) in [
                (true, ConfigOwner::User),
                (true, ConfigOwner::Project),
                (false, ConfigOwner::User),
                (false, ConfigOwner::Project),
            ] {
                assert!(said(lang, Some(3), has_copy, owner).contains(the_line));
                assert!(!said(lang, None, has_copy, owner).contains(the_line));
            }
            assert!(!said(lang, None, true, ConfigOwner::User).contains(only));
            assert!(said(lang, None, true, ConfigOwner::Project).contains(only));
        }
    }
}
