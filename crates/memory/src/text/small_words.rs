//! Words that say little about what is looked for.

use std::collections::HashSet;
use std::sync::OnceLock;

use super::stem::stem;

/// Left out unless a question has no other words.
const SMALL: &str = "a about actually again ain all already also always am an and any anyone anything are aren as at be been \
    being both but by can cannot could couldn d did didn do does doesn doing don done each else ever every everything for from \
    get gets getting got had has hasn have haven having he her here him his how i if in into is isn it its just let ll m may me \
    might must my need no not of off on once one ones only or our ours out over please re really s shall she should shouldn so \
    some someone something still such t than that the their them then there these they thing things this those though to too up \
    us ve very was wasn we were weren what whatever when where whether which while who whom whose why will with won would wouldn \
    y yes yet you your";

/// Part of nearly every question, but sometimes what it is about.
const FAINT: &str = "after ago agree ask because become before call came cause change choose come decide decision discuss \
    during end find fine first fix give go good happen happened idea instead issue keep kind know last later leave like look \
    lot make many matter mean mention more most much new now old other own part people pick plan problem put question reason \
    regard remember result right said same say see seem settle show side solution solve start stop sure take talk tell think \
    time try turn until use want way well went whole without work wrong";

const FAINT_HAN: &str = "件 時 前 後 方 事 何 話 結局 今回 理由 方法 場合 必要 自分 最初 最後 以前 現在 今 誰 内容 状況 際 \
    決定 対応 原因 問題 使用 利用 変更 確認 対策 結果 解決 修正 上 中 下 他 別 私 僕 我々 彼 数 分 回 的 等 用 度 言 思 出 入 見 \
    来 行 直 使 決 教 知 作 始 終 処理";

/// Left out between other characters.
const SMALL_HIRAGANA: &str = "が の を に へ と で や は も から まで より か な ね よ ので のに けど けれど でも だけ ほど ばかり \
    など なら ば て た だ です ます でした ました ません する した して しない される された させる いる いた いない ある あった ない \
    なかった なる なった こと もの ところ ため ように ような よう どう どうして どの どれ どこ どんな どうやって いつ だれ なぜ なに なん \
    なんで それ これ あれ その この あの そこ ここ そう こう という といった って っけ かな かも でしょう だろう しまう しまった おく \
    おいた くる きた いく いった もらう もらった くれる くれた やる やった できる できた できない すべき べき とき たら れば ず まま \
    について による により に対して ても では には とは のは のか んだ んだっけ してる していた している しました されて されている \
    せず さ せ し え い き け ち り み れ る く う す っ わ め げ べ ぎ じ び";

/// In any case. Asked for each term of the thesaurus, and for each word of a question.
pub(super) fn is_small(word: &str) -> bool {
    static WORDS: OnceLock<HashSet<&'static str>> = OnceLock::new();
    let words = WORDS.get_or_init(|| SMALL.split_whitespace().collect());
    word.is_ascii() && words.contains(word.to_ascii_lowercase().as_str())
}

/// Also in another form.
pub(super) fn is_faint(word: &str) -> bool {
    static STEMS: OnceLock<HashSet<String>> = OnceLock::new();
    let stemmed = |word: &str| {
        let mut word = word.to_ascii_lowercase();
        stem(&mut word);
        word
    };
    let stems = STEMS.get_or_init(|| FAINT.split_whitespace().map(stemmed).collect());
    stems.contains(&stemmed(word)) || has(FAINT_HAN, word)
}

fn has(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|one| one.eq_ignore_ascii_case(word))
}

/// What is left of syllables behind a word without particles and endings; empty if nothing is.
pub(super) fn content_of(hiragana: &str) -> &str {
    let mut rest = hiragana;
    loop {
        if has(SMALL_HIRAGANA, rest) {
            return "";
        }
        let longest = |found: &mut dyn Iterator<Item = &'static str>| found.map(str::len).max();
        let mut small =
            SMALL_HIRAGANA.split_whitespace().filter(|one| rest.starts_with(one) && one.len() < rest.len());
        let Some(front) = longest(&mut small) else { break };
        // A single syllable may as well begin a word: only particles are taken off.
        if front == 3 && !"がのをにへとではもか".contains(&rest[..3]) {
            break;
        }
        rest = &rest[front..];
    }
    let mut ends =
        SMALL_HIRAGANA.split_whitespace().filter(|one| rest.ends_with(one) && one.len() < rest.len());
    let end = [&mut ends as &mut dyn Iterator<Item = &'static str>].into_iter().flatten().map(str::len).max();
    &rest[..rest.len() - end.unwrap_or_default()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_small() {
        assert!(is_small("the") && is_small("How") && !is_small("parser"));
        assert!(is_faint("happen") && is_faint("結局") && !is_faint("設計"));
    }

    #[test]
    fn what_is_left_of_syllables() {
        for (text, left) in [
            ("が", ""),
            ("したのは", ""),
            ("がずれる", "ずれ"),
            ("まとめ", "まと"),
            ("について", ""),
            ("をやりなおす", "やりなお"),
        ] {
            assert_eq!(content_of(text), left, "{text}");
        }
    }
}
