//! Lines of a pasted exchange: `alice: …`, `[10:32] bob> …`, `山田: …`.

use crate::text::japanese::{is_any_kanji, is_hiragana, is_katakana};
use crate::text::word_list::{Words, among, each_word};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Speaker {
    /// With the time of the message.
    Timed,
    /// A side of a conversation with an assistant.
    Program,
    /// A word that is not a usual label of one's own lines.
    Named,
}

/// Labels that are not names.
const LABELS: Words = "note notes important todo fixme rule rules constraint constraints requirement requirements warning caution reminder \
    remember task tasks goal goals context scope fix feat feature chore refactor bug bugs issue expected actual result results steps step \
    example examples nb ps btw edit update question questions answer add remove change changes http https file files test tests testing \
    docs doc api ui db cli ci backend frontend server client style format language commits commit title summary description details \
    problem cause reason plan status done next also please but and so now then first second third finally one two error info in out \
    input output parser lexer auth login database schema migration migrations build deploy config logging cache queue search payments \
    billing header footer page form button modal sidebar router models views templates styles memory network security performance perf \
    accessibility naming types errors dependencies deps tooling infra app web mobile ios android worker imports logs names tone length \
    deadline budget hint caveat condition conditions limit limits scope-wise also-note attention before after do don't dont never always must only no yes ok \
    unity godot unreal rust python java kotlin swift javascript typescript react vue angular svelte golang ruby rails django flask php laravel \
    wordpress flutter docker kubernetes terraform aws sql postgres mysql git node html css excel vba bash cpp arduino esp32 homework context";

const LABELS_JA: Words = "注意 重要 メモ 補足 条件 制約 ルール 要件 前提 目的 目標 背景 期待 実際 結果 手順 例 追記 質問 お願い 方針 範囲 対象 禁止 必須 \
    やること 依頼 要望 実装 設計 テスト 画面 仕様 対応 修正 確認 原因 現状 理由 概要 詳細 期限 優先 言語 文体 形式 命名 問題 課題 変更 追加 削除 \
    ただし なお また それと あと もの こと 内容 納期 環境";

const PROGRAMS: Words = "user human assistant ai claude system q a";

/// Longest name, in characters.
const LONGEST: usize = 20;

pub(super) fn speaker_of(text: &str) -> Option<Speaker> {
    // Most lines have none of them.
    let at = text.find([':', '：', '>'])?;
    let (head, rest) = text.split_at(at);
    let (head, is_timed) = match head.find(['[', '(']) {
        // `bob (10:32): …`: the first colon belongs to the time.
        Some(open) if is_time(&head[open + 1..], rest) => {
            after_time(rest)?;
            (&head[..open], true)
        }
        _ => match head.rsplit_once(' ') {
            // `Alice 10:32 AM`, a line of its own.
            Some((name, hour)) if is_time(hour, rest) => {
                after_time(rest)?;
                (name, true)
            }
            _ => (head, false),
        },
    };
    let is_separator = rest.starts_with('：') || rest[1..].starts_with(' ');
    if !is_timed && !is_separator {
        return None;
    }
    let name = head.trim().trim_start_matches('@');
    if !is_name(name) {
        return None;
    }
    Some(match is_timed {
        true => Speaker::Timed,
        false if among(PROGRAMS, &name.to_ascii_lowercase()) => Speaker::Program,
        false => Speaker::Named,
    })
}

/// `hour` before the colon that `rest` begins with.
fn is_time(hour: &str, rest: &str) -> bool {
    let minute = rest.as_bytes().get(1..3).is_some_and(|minute| minute.iter().all(u8::is_ascii_digit));
    matches!(hour.len(), 1 | 2) && hour.bytes().all(|byte| byte.is_ascii_digit()) && minute
}

/// What follows the minutes: nothing, `AM`, or a closing mark and the message.
fn after_time(rest: &str) -> Option<()> {
    let rest = rest.get(3..)?.trim_start();
    let rest = ["AM", "PM", "am", "pm"].iter().find_map(|half| rest.strip_prefix(half)).unwrap_or(rest);
    (rest.is_empty() || rest.starts_with([']', ')'])).then_some(())
}

fn is_name(name: &str) -> bool {
    if name.is_empty() || name.chars().count() > LONGEST {
        return false;
    }
    if name.is_ascii() {
        let is_word = |word: &str| {
            word.starts_with(|c: char| c.is_ascii_alphabetic())
                && word.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '\''))
        };
        let words: Vec<&str> = name.split(' ').collect();
        let is_full = || {
            words.len() == 2 && words.iter().all(|word| word.starts_with(|c: char| c.is_ascii_uppercase()))
        };
        let is_label = words.iter().any(|word| among(LABELS, &word.to_ascii_lowercase()));
        return (words.len() == 1 || is_full()) && words.iter().all(|word| is_word(word)) && !is_label;
    }
    let is_japanese = |c: char| {
        is_any_kanji(c) || is_hiragana(c) || is_katakana(c) || matches!(c, 'ー' | '々' | ' ' | '\u{3000}')
    };
    name.chars().all(is_japanese) && !each_word(LABELS_JA).any(|label| name.contains(label))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_speaks() {
        for (text, expected) in [
            ("alice: never use tabs", Some(Speaker::Named)),
            ("Alice Smith: never use tabs", Some(Speaker::Named)),
            ("@bob: ok", Some(Speaker::Named)),
            ("bob> don't deploy", Some(Speaker::Named)),
            ("山田: 触らないで", Some(Speaker::Named)),
            ("山田さん：触らないで", Some(Speaker::Named)),
            ("bob [10:32]: don't deploy", Some(Speaker::Timed)),
            ("bob (9:05): don't deploy", Some(Speaker::Timed)),
            ("Alice 10:32 AM", Some(Speaker::Timed)),
            ("山田 10:32", Some(Speaker::Timed)),
            ("Assistant: never", Some(Speaker::Program)),
            ("note: don't touch it", None),
            ("Important: no new files", None),
            ("注意: 触らないで", None),
            ("src/a.rs: don't touch", None),
            ("a.rs: don't touch", None),
            ("http://a.b", None),
            ("use a:b", None),
            ("Two more things: no mocks", None),
            ("Run it at 10:30 and don't commit", None),
            ("meet at 10:30", None),
            ("don't: ever", None),
            ("a -> b", None),
            ("", None),
        ] {
            assert_eq!(speaker_of(text), expected, "{text}");
        }
    }
}
