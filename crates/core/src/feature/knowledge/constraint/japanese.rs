//! How Japanese sentences are compared, and whose words they are.

use super::sentences::quotation_end;
use crate::text::word_list::{Words, end_among, holds_one};

/// Without code, quotations and the final punctuation.
pub(super) fn normalise(sentence: &str, to: &mut String) {
    to.clear();
    let mut at = 0;
    while let Some(c) = sentence[at..].chars().next() {
        let end = quotation_end(sentence, at);
        at += c.len_utf8();
        match c {
            '笑' | 'ｗ' | '🙏' | '♪' | '〜' | '～'
                if sentence[at..].trim().chars().all(|c| !c.is_alphanumeric()) => {}
            _ if end.is_some() || matches!(c, '"' | '`') => {
                to.push('…');
                at = end.unwrap_or(at);
            }
            ' ' | '\u{3000}' | '\n' | '\t' => {}
            '，' | ',' => to.push('、'),
            _ => to.push(c),
        }
    }
    let end = to.trim_end_matches(['。', '．', '.', '！', '!', '…']).len();
    to.truncate(end);
}

pub(super) fn contains_any(text: &str, wanted: Words) -> bool {
    holds_one(wanted, text)
}

pub(super) fn ends_with_any(text: &str, wanted: Words) -> bool {
    end_among(wanted, text).is_some()
}

/// The person reports what another person, a text or a program says, or guesses.
pub(super) fn is_other_speech(text: &str) -> bool {
    const SAID: Words = "と言う と言って と言われ と書いて と書かれて とのこと とあります とあるけど とある と出ます と出る \
        そうです 違いない はずだ はずなの はずです かもしれ らしい と表示 と怒られ とコメント と聞きました に言われ によると 仕様では 法律では \
        GDPRでは というコメント という注意 という警告 という文 というエラー というメッセージ というテスト という表示 って言 って怒 って書 って出 という内容 という趣旨 って感じ みたいな文 という旨 との旨 と必ず入れ と入れて と明記 と記載 と載せ 規約では ルールでは 規定では 仕様書では と指摘され と注意され んだって らしいんだ だそう とされてい と言った は言った が言った と言っていた";
    // 「私が…と言うまで」 is the person's own.
    let text = &text.replace("と言うまで", "");
    contains_any(text, SAID)
        || text.ends_with("みたいな")
        || text.ends_with("はず")
        || text.contains("思い") && !text.contains("絶対")
}

/// 「ください」 and its like at the end.
pub(super) fn without_courtesy(text: &str) -> &str {
    const ENDS: Words = "もらっていいですか もらってもいいですか もらっていい いただいてもいいですか くださいね ください 下さい お願いいたします お願いします お願いね お願い してほしいです ほしいです \
        ほしい 欲しいです 欲しい もらえますか もらえませんか いただけますか いただけませんか くれますか \
        くれませんか くれる いただけると助かります もらえると助かります いただけると嬉しい もらえると嬉しい \
        もらえる です だよ だ ね よ な";
    let mut rest = text;
    loop {
        let cut = end_among(ENDS, rest).map(|end| &rest[..rest.len() - end.len()]);
        match cut.filter(|cut| !cut.is_empty()) {
            // 「必要な」, 「みたいな」: a part of a word.
            Some(cut)
                if !rest.ends_with('な')
                    || cut.ends_with(['る', 'う', 'す', 'く', 'つ', 'む', 'ぐ', 'ぶ']) =>
            {
                rest = cut;
            }
            _ => return rest,
        }
    }
}

/// Whether the sentence tells to do something.
fn is_order(core: &str, text: &str) -> bool {
    core.len() < text.len() && !text.ends_with("です")
        || core.ends_with(['て', 'で', 'に'])
        || core.ends_with("こと")
        || ends_with_any(text, "します する なさい")
}

/// Whether the sentence orders a text that has rules of its own: 「運用ルールを書いて」. What follows without an order is in that text.
pub(super) fn orders_rules(text: &str) -> bool {
    const TEXTS: Words = "規約 ルール ガイドライン ポリシー 手順書 マニュアル 注意事項 注意書き 貼り紙 掲示 文面 告知 お知らせ 案内 要項 README CONTRIBUTING";
    const WRITES: Words =
        "書いて 書き起こ 作って 作成 考えて 足して 追記 載せる まとめて 起こして 用意 ドラフト 下書き";
    contains_any(text, TEXTS) && contains_any(text, WRITES) && is_order(without_courtesy(text), text)
}

/// Whether a sentence after such an order is a part of the text, and no order of its own.
pub(super) fn is_of_text(text: &str) -> bool {
    let core = without_courtesy(text);
    core.len() == text.len() && !core.ends_with(['て', 'で', 'に', 'な']) || text.ends_with("です")
}
