//! What a message says against publishing the work: "This must not be shipped.", or advises against it: "I would
//! rather not release this yet."
//!
//! Only plain words count. "We did not ship it" reports, and "must not release the lock" is about code.

use super::sentences::{Language, Sentence, read_sentences, spoken_sentence, spoken_sentences};
use crate::text::japanese::is_any_kanji;
use crate::text::word_list::{Words, among};
use crate::text::wrapped::join_lines;

/// Forms that always mean the work.
const SHIPPED: Words = "ship shipped shipping merged deployed published";
/// Forms that also mean locks, cells and queues: only with nothing else as their object.
const RELEASED: Words = "release released merge deploy publish push pushed";
/// May follow them.
const AFTER: Words = "this it that yet until before as unless now today in $";

/// Between the prohibition and the form.
const BETWEEN: Words = "be get go to yet safely";
const STATE: Words = "ready safe fit";

const PROHIBITS: Words = "wouldn't mustn't shouldn't cannot can't couldn't don't never unsafe";
const MODAL: Words = "would must should can could may shall do";
const IS_NOT: Words = "not isn't aren't";

/// Advice to wait, in a sentence that names the step.
const ADVICE: [&str; 47] = [
    " rather not ",
    " prefer not to ",
    " advise against ",
    " advise not to ",
    " recommend against ",
    " recommend not to ",
    " suggest not to ",
    " recommend waiting ",
    " recommend to wait ",
    " recommend that we wait ",
    " recommend you wait ",
    " suggest waiting ",
    " suggest to wait ",
    " advise waiting ",
    " advise to wait ",
    " would wait ",
    " i'd wait ",
    " should wait ",
    " must wait ",
    " has to wait ",
    " needs to wait ",
    " better to wait ",
    " better wait ",
    " better not to ",
    " better not ",
    " hold off ",
    " i'd hold ",
    " would hold ",
    " should hold ",
    " recommend holding ",
    " suggest holding ",
    " recommend postponing ",
    " suggest postponing ",
    " recommend delaying ",
    " suggest delaying ",
    " should be postponed ",
    " should be delayed ",
    " hesitate to ",
    " reluctant to ",
    " not comfortable ",
    " uncomfortable ",
    " too early ",
    " premature ",
    " not recommend ",
    " don't recommend ",
    " wouldn't recommend ",
    " can't recommend ",
];
const AGAINST: [&str; 4] = [" speaks against ", " speak against ", " argues against ", " against releasing "];
/// The step as a thing, unless another noun follows: "the release notes".
const STEPS: Words = "release releasing releases deployment deploy deploying merge merging shipping publication publishing \
    launch launching rollout rolling go-live shipment";
const OF_STEPS: Words =
    "notes note branch branches script scripts workflow workflows build builds lock locks commit button job";
/// "releasing the lock": the step is a verb with an object of its own.
const ARTICLES: Words = "the a an its these those";

/// "Nothing speaks against it", "no reason to wait".
const NO_ADVICE: Words = "no none nothing neither nor without unnecessary";

/// Words that advise against it, in a sentence about it.
const ADVICE_JA: [&str; 19] = [
    "しない方が",
    "しないほうが",
    "待った方が",
    "待ったほうが",
    "待つべき",
    "控えた",
    "控える",
    "控えて",
    "見送",
    "見合わせ",
    "延期",
    "時期尚早",
    "早すぎ",
    "まだ早い",
    "おすすめしません",
    "お勧めしません",
    "推奨しません",
    "反対です",
    "保留",
];
const NO_ADVICE_JA: [&str; 6] = ["理由は", "理由もあり", "必要はあり", "必要はな", "必要もあり", "解除"];

const NOUNS_JA: [&str; 5] = ["出荷", "リリース", "マージ", "デプロイ", "公開"];
const PROHIBITS_JA: [&str; 13] = [
    "してはいけ",
    "してはなりません",
    "してはならない",
    "してはだめ",
    "できません",
    "できない",
    "できる状態ではな",
    "できる状態ではありません",
    "すべきではな",
    "すべきではありません",
    "すべきでな",
    "しないで",
    "不可",
];
/// After the prohibition: it does not apply.
const SETTLED_JA: [&str; 6] =
    ["はありません", "はない", "見つかりません", "ませんでした", "解消", "なくなりました"];

/// Findings that must not be shipped …
const SEVERE: Words =
    "critical criticals severe blocker blockers blocking high-severity vulnerability vulnerabilities";
/// … are still there.
const REMAINS: Words = "remain remains remaining open unresolved unfixed outstanding left still";
const NONE: Words = "no none zero 0 nothing without resolved fixed closed";

/// Verdicts against it, as words in a row.
const VERDICTS: [&str; 19] = [
    " verdict reject ",
    " release blocked ",
    " release is blocked ",
    " showstopper ",
    " show-stopper ",
    " showstoppers ",
    " no-go ",
    " is a release blocker ",
    " is a blocker ",
    " audit failed ",
    " audit result failed ",
    " verdict fail ",
    " verdict failed ",
    " verdict rejected ",
    " result fail ",
    " result failed ",
    " changes requested ",
    " critical issues found ",
    " blocks the release ",
];

const VERDICTS_JA: [&str; 6] =
    ["不合格", "リリース不可", "出荷不可", "差し戻し", "残っています", "未解決です"];
const SEVERE_JA: [&str; 5] = ["重大", "致命的", "深刻", "脆弱性", "critical"];

/// The work is not ready, in other words than a prohibition.
fn condemns_english(sentence: &str) -> bool {
    let words: Vec<&str> =
        sentence.trim_start_matches('^').trim_end_matches('$').split_whitespace().collect();
    let has = |list: Words| words.iter().any(|word| among(list, word));
    let dangerous =
        has("shipping releasing merging deploying") && has("dangerous unsafe risky irresponsible reckless");
    let unfixed = has("couldn't cannot can't not") && has("fix") && has(SEVERE);
    let verdict = VERDICTS.iter().any(|verdict| sentence.contains(verdict));
    let severe = has(SEVERE) || sentence.contains(" high severity ");
    let is_not_fixed = NOT_FIXED.iter().any(|words| sentence.contains(words));
    verdict && !has("no none nothing neither without not")
        || sentence.contains(" verdict no go ")
        || !has(NONE) && severe && has(REMAINS)
        || severe && is_not_fixed && !has("no none nothing")
        || counts_open(&words)
        || is_not_ready(&words)
        || dangerous
        || unfixed
}

const NOT_FIXED: [&str; 5] =
    [" not fixed ", " isn't fixed ", " not been fixed ", " not resolved ", " unfixed "];

/// "Open findings: 2", "Two findings remain open."
fn counts_open(words: &[&str]) -> bool {
    let has = |list: Words| words.iter().any(|word| among(list, word));
    let is_count = |word: &&str| {
        word.parse::<u64>().is_ok_and(|count| count > 0)
            || among("one two three four five six seven eight nine ten several some many", word)
    };
    has("finding findings issues vulnerabilities bugs problems")
        && has("remain remains open unresolved unfixed outstanding")
        && words.iter().any(is_count)
        && !has(NONE)
}

/// "This is not ready."
fn is_not_ready(words: &[&str]) -> bool {
    let of_work = |word: &str| among("this it that work change changes code branch release", word);
    let words = words.strip_suffix(&["yet"]).unwrap_or(words);
    matches!(words, [.., of, "is" | "are", "not", "ready"] | [.., of, "isn't" | "aren't", "ready"] if of_work(of))
}

fn condemns_japanese(sentence: &str) -> bool {
    // Not "10件".
    let is_none =
        sentence.match_indices("0件").any(|(at, _)| !sentence[..at].ends_with(|c: char| c.is_ascii_digit()));
    let is_settled = is_none
        || ["ません", "ない", "なし", "解消", "修正済"].iter().any(|settled| sentence.contains(settled));
    let is_severe = SEVERE_JA.iter().any(|word| sentence.contains(word));
    let (verdicts, remains) = VERDICTS_JA.split_at(4);
    let is_open = ["未解決の", "未対応の", "未修正の"].iter().any(|word| sentence.contains(word));
    let is_defect =
        ["バグ", "問題", "欠陥", "不具合", "脆弱性", "指摘"].iter().any(|word| sentence.contains(word));
    let is_there = ["があります", "が見つかりました", "があり、"].iter().any(|end| sentence.contains(end));
    !is_settled
        && (is_open && sentence.contains('件')
            || is_severe && is_defect && is_there
            || verdicts.iter().any(|verdict| sentence.contains(verdict))
            || is_severe && remains.iter().any(|word| sentence.contains(word)))
}

/// "I recommend waiting with the release."
fn advises_english(sentence: &str) -> bool {
    let words: Vec<&str> =
        sentence.trim_start_matches('^').trim_end_matches('$').split_whitespace().collect();
    let has_advice = || ADVICE.iter().chain(&AGAINST).any(|advice| sentence.contains(advice));
    let next = |at: usize| words.get(at + 1).copied().unwrap_or("$");
    let is_noun = |at: usize| at > 0 && among(ARTICLES, words[at - 1]);
    let has_object = |at: usize| among(ARTICLES, next(at)) && !is_noun(at);
    let names_step = |at: usize, word: &str| {
        among(SHIPPED, word)
            || among(RELEASED, word) && among(AFTER, next(at))
            || among(STEPS, word) && !among(OF_STEPS, next(at)) && !has_object(at)
            || goes_out(word, next(at))
    };
    has_advice()
        && !words.iter().any(|word| among(NO_ADVICE, word))
        && words.iter().enumerate().any(|(at, word)| names_step(at, word))
}

fn goes_out(word: &str, next: &str) -> bool {
    among("go goes going", word) && among("out live public", next)
}

fn advises_japanese(sentence: &str) -> bool {
    NOUNS_JA.iter().chain(&["本番"]).any(|noun| sentence.contains(noun))
        && ADVICE_JA.iter().any(|advice| sentence.contains(advice))
        && !NO_ADVICE_JA.iter().any(|none| sentence.contains(none))
}

const UNFINISHED: [&str; 20] = [
    " could not run the tests ",
    " couldn't run the tests ",
    " unable to run the tests ",
    " have not reviewed ",
    " haven't reviewed ",
    " not reviewed yet ",
    " could not finish ",
    " couldn't finish ",
    " not finished yet ",
    " is not finished ",
    " is unfinished ",
    " i did not build ",
    " not implemented yet ",
    " have not implemented ",
    " not started yet ",
    " i have not run the tests ",
    " i haven't run the tests ",
    " half of it works ",
    " only half of ",
    " still to do ",
];
const UNFINISHED_JA: [&str; 8] = [
    "途中です",
    "未着手",
    "未完了です",
    "終わっていません",
    "まだ実装していません",
    "完了していません",
    "残りは次回",
    "実装できませんでした",
];

/// The sentence in which a message says that the work asked for is not finished: "Step 1 of 5 is done, 2 to 5 remain."
pub fn find_unfinished(message: &str) -> Option<String> {
    unfinished_in(message).or_else(|| unfinished_in(&join_lines(message)?))
}

fn unfinished_in(message: &str) -> Option<String> {
    let (language, sentences) = read_sentences(message);
    let at = sentences.iter().position(|sentence| {
        let text = sentence.text.to_lowercase();
        match language {
            Language::Japanese => UNFINISHED_JA.iter().any(|word| text.contains(word)),
            Language::English => UNFINISHED.iter().any(|word| text.contains(word)) || counts_less(&text),
        }
    })?;
    spoken_sentence(message, at)
}

/// Before the numbers: "Reviewed 2 of 7 files."
const DID: Words = "reviewed audited converted migrated finished completed ported checked";

/// "2 of 7 files are converted."
fn counts_less(sentence: &str) -> bool {
    let words: Vec<&str> = sentence.split_whitespace().collect();
    let number = |word: &str| word.parse::<u64>().ok();
    let is_progress = |from: usize| {
        words[from..].iter().any(|word| {
            among("done remain remains remaining converted migrated finished ported complete left", word)
        })
    };
    words.windows(3).enumerate().any(|(at, part)| {
        let counted =
            part[1] == "of" && number(part[0]).zip(number(part[2])).is_some_and(|(some, all)| some < all);
        let did = at.checked_sub(1).is_some_and(|before| among(DID, words[before]));
        counted && (did || is_progress(at))
    })
}

/// The sentence that forbids to publish, as it was written; else the one that advises against it. A sentence may go on over lines.
pub fn find_prohibition(message: &str) -> Option<String> {
    prohibition_in(message).or_else(|| prohibition_in(&join_lines(message)?))
}

fn prohibition_in(message: &str) -> Option<String> {
    let (language, sentences) = read_sentences(message);
    let forbids = |sentence: &Sentence| match language {
        // A Japanese message may have English sentences.
        Language::Japanese => {
            forbids_japanese(&sentence.text)
                || condemns_japanese(&sentence.text)
                || forbids_english(&sentence.text.to_lowercase())
        }
        Language::English => forbids_english(&sentence.text) || condemns_english(&sentence.text),
    };
    let advises = |sentence: &Sentence| {
        !sentence.is_question
            && match language {
                Language::Japanese => {
                    advises_japanese(&sentence.text) || advises_english(&sentence.text.to_lowercase())
                }
                Language::English => advises_english(&sentence.text),
            }
    };
    let at = sentences.iter().position(forbids).or_else(|| sentences.iter().position(advises));
    match at {
        Some(at) => spoken_sentence(message, at),
        // A few Japanese words without any hiragana.
        None if language == Language::English && message.chars().any(is_any_kanji) => {
            let is_against = |said: &String| condemns_japanese(said) || forbids_japanese(said);
            spoken_sentences(message).into_iter().find(is_against)
        }
        None => None,
    }
}

fn forbids_english(sentence: &str) -> bool {
    if [" no longer ", " nothing ", " fixed now "].iter().any(|settled| sentence.contains(settled)) {
        return false;
    }
    let words: Vec<&str> = sentence.trim_start_matches('^').split_whitespace().collect();
    words.iter().enumerate().any(|(at, word)| {
        let next = words.get(at + 1).copied().unwrap_or("$");
        let means_work = among(SHIPPED, word)
            || among(RELEASED, word) && among(AFTER, next)
            || goes_out(word, next)
            || *word == "rolled" && next == "out";
        means_work && is_prohibited(&words[..at])
    })
}

fn is_prohibited(before: &[&str]) -> bool {
    let is_between = |word: &&&str| among(BETWEEN, word) || among(STATE, word);
    let between = before.iter().rev().take_while(is_between).count();
    let (before, between) = before.split_at(before.len() - between);
    let has_state = between.iter().any(|word| among(STATE, word));
    match before {
        [.., word] if among(PROHIBITS, word) => true,
        [.., modal, "not"] if among(MODAL, modal) => true,
        [.., word] if among(IS_NOT, word) => has_state,
        _ => false,
    }
}

fn forbids_japanese(sentence: &str) -> bool {
    NOUNS_JA.iter().any(|noun| {
        sentence.match_indices(noun).any(|(at, _)| {
            let rest = &sentence[at + noun.len()..];
            let rest = rest.strip_prefix(['は', 'を', 'も']).unwrap_or(rest);
            let after = PROHIBITS_JA.iter().find_map(|end| rest.strip_prefix(end));
            after.is_some_and(|after| !SETTLED_JA.iter().any(|settled| after.contains(settled)))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prohibitions() {
        for message in [
            "CRITICAL: this must not be shipped.",
            "Two findings remain. Do not ship this.",
            "**The change should not be merged yet.**",
            "It isn't ready to be released.",
            "The branch is not safe to merge.",
            "This can't be deployed as it is: the migration drops a column.",
            "Don't release it before the key is rotated.",
            "- Verdict: not ready to ship",
            "監査の結果、このまま出荷してはいけません。",
            "致命的な問題が1件あり、リリースできません。",
            "まだ出荷できる状態ではありません。",
            "この変更はマージすべきではありません。",
            "監査の結果です。This must not be shipped.",
            "2 critical findings remain open: SQL injection in login.js and a leaked key.",
            "Verdict: NO-GO.",
            "I would not ship this.",
            "This is a release blocker; the fix needs another day.",
            "Audit result: FAILED. 3 critical issues.",
            "Changes requested: the auth bypass has to be fixed before the release.",
            "Shipping this as is would be dangerous.",
            "The audit found a critical security hole that I could not fix.",
            "重大な脆弱性が2件残っています。リリース不可です。",
            "The critical finding is not fixed.",
            "A high severity issue is open.",
            "Open findings: 2",
            "Two findings remain open.",
            "This is not ready.",
            "Verdict: reject",
            "Verdict: no go",
            "Release blocked by the missing migration.",
            "Showstopper: the login accepts any password.",
            "出荷不可",
            "監査結果: 不合格",
            "未解決の指摘が2件",
            "未解決の指摘が10件あります。",
            "致命的なバグがあります。",
            "The key is in the repository, so it must\nnot be shipped before it is repaired.",
            "Two problems. My advice: do not\nship it",
            "Critical\nfindings remain.",
            "The branch is not ready to be\nreleased",
        ] {
            assert!(find_prohibition(message).is_some(), "{message}");
        }
    }

    #[test]
    fn advice_to_wait() {
        for message in [
            "I would rather not release this yet.",
            "This should not go out before the load test.",
            "I recommend waiting with the release.",
            "The audit is over. I'd hold off on shipping until the flaky test is understood.",
            "I don't recommend merging this today.",
            "My advice: better not deploy this before Monday, the migration is slow.",
            "It is too early to release.",
            "The release should be postponed.",
            "I hesitate to ship this.",
            "This shouldn't be rolled out to everyone.",
            "The release has to wait for the security review.",
            "One thing speaks against the release: the cache is not invalidated.",
            "まだリリースしない方がよいです。",
            "リリースは来週まで待ったほうがよいと思います。",
            "今の状態での出荷はおすすめしません。",
            "負荷試験が終わるまで本番への反映は見送るべきです。",
            "リリースは時期尚早です。",
        ] {
            assert!(find_prohibition(message).is_some(), "{message}");
        }
        for message in [
            "Nothing speaks against the release.",
            "I see no reason to hold off on shipping.",
            "I would rather not release the lock here, so the guard is kept.",
            "I'd rather not touch the release notes.",
            "Callers should wait for the queue; the audit found nothing.",
            "The retry would wait two seconds. It is ready to ship.",
            "Shall I hold off on the release?",
            "All findings are fixed, the change can go out.",
            "リリースを見送る理由はありません。",
            "リリースを待つ必要はありません。",
            "保留中のリクエストを再送するようにしました。",
        ] {
            assert!(find_prohibition(message).is_none(), "{message}");
        }
    }

    #[test]
    fn the_sentence_is_named_as_it_was_written() {
        for (message, said) in [
            (
                "All is tested. **CRITICAL**: this must not be shipped.\nBye.",
                "CRITICAL: this must not be shipped",
            ),
            ("I'd hold off on shipping. Do not ship this.", "Do not ship this"),
            ("監査の結果です。このまま出荷してはいけません。", "このまま出荷してはいけません"),
        ] {
            assert_eq!(find_prohibition(message).as_deref(), Some(said), "{message}");
        }
        let unfinished = find_unfinished("It runs. Step 1 of 5 is done, 2 to 5 remain.");
        assert_eq!(unfinished.as_deref(), Some("Step 1 of 5 is done, 2 to 5 remain"));
    }

    #[test]
    fn work_that_remains() {
        for message in [
            "Step 1 of 5 is done, steps 2 to 5 remain.",
            "2 of 7 files are converted.",
            "I could not finish: the API is missing.",
            "Half of it works; the rest I did not build.",
            "I have not run the tests.",
            "Reviewed 2 of 7 files.",
            "I could not run the tests.",
            "I have not reviewed half of the files yet.",
            "Only 2 of 7 files\nare converted.",
            "実装は途中です。残りは未着手です。",
        ] {
            assert!(find_unfinished(message).is_some(), "{message}");
        }
        for message in [
            "All of it is done.",
            "All 14 of 14 tests pass.",
            "One of the tests was slow.",
            "7 of 7 files are converted.",
            "全部終わりました。",
        ] {
            assert!(find_unfinished(message).is_none(), "{message}");
        }
    }

    #[test]
    fn reports_and_code() {
        for message in [
            "",
            "Ready to ship.",
            "All findings are fixed. Nothing blocks the release.",
            "The old report said \"must not be shipped\"; that is fixed now.",
            "Open findings: 0",
            "All two critical findings are fixed, none is open.",
            "The client waits while the cache is not ready.",
            "未解決の指摘は0件です。",
            "No critical findings remain.",
            "Both critical findings were fixed; none is left open.",
            "The three remaining findings are cosmetic.",
            "重大な指摘は残っていません。",
            "No finding is open; it can be shipped.",
            "We did not ship anything yet.",
            "The worker must not release the lock twice; fixed.",
            "A reader must not merge cells of another table.",
            "The old finding no longer says that it must not be shipped.",
            "Nothing here must not be shipped.",
            "I never push to a queue that is full.",
            "The tag is not pushed.",
            "出荷してよい状態です。",
            "出荷できない理由はありません。",
            "リリースできない問題は解消しました。",
            "ロックをリリースしました。",
        ] {
            assert!(find_prohibition(message).is_none(), "{message}");
        }
    }
}
