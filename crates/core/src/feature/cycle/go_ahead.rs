//! What a person's words mean to a cycle: whether it may continue, or has to wait. Only what is certain counts as a yes.

use crate::text::skill_name::{called_in, satisfies};
use crate::text::word_list::{Words, among};

/// Each lets a cycle continue.
const CONTINUES: Words = "go continue proceed resume retry ship approved approve lgtm next commit push merge release deploy publish";
/// Each agrees to what was asked.
const AGREES: Words = "yes y yep yeah ok okay sure fine good great try";
/// What a person says that they did.
const DID: Words =
    "looked reviewed checked tested fixed approved committed pushed merged shipped released done";

/// Words next to them that change nothing.
const FILLERS: Words = "on ahead it do that this please now stage the with then looks sounds is thanks thank you \
    at to and from here all dev cycle perfect everything again already";

/// Longest first: a shorter one may be the beginning of a longer.
const CONTINUES_JA: [&str; 21] = [
    "続行してください",
    "続けてください",
    "進めてください",
    "リリースして",
    "プッシュして",
    "コミットして",
    "デプロイして",
    "やり直して",
    "マージして",
    "もう一度",
    "続行して",
    "出荷して",
    "続けて",
    "進めて",
    "進んで",
    "どうぞ",
    "承認",
    "再開",
    "次へ",
    "次に",
    "続行",
];
const AGREES_JA: [&str; 6] = ["問題ありません", "大丈夫", "いいよ", "いいです", "はい", "了解"];

const FILLERS_JA: [&str; 36] = [
    "私がコミットしました",
    "自分でコミットしました",
    "手動でコミットしました",
    "コミットしました",
    "プッシュしました",
    "コミット済みです",
    "リリースしました",
    "コミット済み",
    "マージしました",
    "コミットした",
    "確認しました",
    "出荷しました",
    "直しました",
    "完了しました",
    "お願いします",
    "問題ないので",
    "見ました",
    "ください",
    "サイクル",
    "ステージ",
    "そのまま",
    "お願い",
    "では",
    "ので",
    "します",
    "です",
    "ます",
    "して",
    "を",
    "に",
    "へ",
    "で",
    "は",
    "よ",
    "ね",
    "の",
];

/// More is not a plain yes.
const MAX_YES_BYTES: usize = 200;

/// Whether the words say yes and nothing else. `known` are names that may be in it. `by_name`: they have to say that the cycle
/// continues, or name a stage; a mere "ok" may be meant for something else. Words that are only quoted are not the person's.
pub(super) fn lets_continue(said: &str, known: &[&str], by_name: bool) -> bool {
    let said = said.trim();
    if said.len() > MAX_YES_BYTES || is_quoted(said) || is_question(said) {
        return false;
    }
    let said = said.to_lowercase();
    if let Some(command) = called_in(&said) {
        let (name, rest) = command.split_once(char::is_whitespace).unwrap_or((command, ""));
        let calls = |known: &&str| satisfies(name, known);
        return known.iter().any(calls) && (rest.trim().is_empty() || read_plain(rest, known, "").is_some());
    }
    let least = if by_name { Assent::Continues } else { Assent::Agrees };
    read_plain(&said, known, "").is_some_and(|most| most >= least)
}

pub(super) fn is_quoted(said: &str) -> bool {
    said.contains(['"', '`', '“', '”', '„', '«', '»', '「', '」', '『', '』'])
        || said.lines().any(|line| line.trim_start().starts_with(['>', '＞']))
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Assent {
    No,
    Agrees,
    Continues,
}

/// How far words agree, in lower case; `None` if they say anything else than `more`.
pub(super) fn read_plain(said: &str, known: &[&str], more: Words) -> Option<Assent> {
    let said = said.replace('’', "'");
    let is_part = |c: char| c.is_alphanumeric() || c == '-' || c == '\'';
    let words: Vec<&str> = said.split(|c: char| !is_part(c)).filter(|word| !word.is_empty()).collect();
    let at = |at: usize| words.get(at).copied().unwrap_or_default();
    let mut most = Assent::No;
    for (index, word) in words.iter().enumerate() {
        let did = |from: usize| among(DID, at(from));
        let read = match *word {
            word if !word.is_ascii() => read_japanese(word, known),
            // "I looked at it", not "I ship it".
            "i" => (did(index + 1) || among("have already", at(index + 1))).then_some(Assent::No),
            "i've" | "have" => (did(index + 1) || at(index + 1) == "already").then_some(Assent::No),
            // "You can ship", not "can I ship".
            "can" | "may" => (index > 0 && at(index - 1) == "you").then_some(Assent::No),
            word if among(CONTINUES, word) => Some(Assent::Continues),
            word if among(AGREES, word) => Some(Assent::Agrees),
            word => (among(FILLERS, word) || among(DID, word) || among(more, word) || known.contains(&word))
                .then_some(Assent::No),
        };
        most = most.max(read?);
    }
    Some(most)
}

/// How far a Japanese run of words agrees; `None` if it says anything else.
fn read_japanese(text: &str, known: &[&str]) -> Option<Assent> {
    let (mut rest, mut most) = (text, Assent::No);
    while !rest.is_empty() {
        let after = |words: &[&'static str]| words.iter().find_map(|word| rest.strip_prefix(word));
        if let Some(after) = after(&CONTINUES_JA) {
            (rest, most) = (after, Assent::Continues);
        } else if let Some(after) = after(&AGREES_JA) {
            (rest, most) = (after, most.max(Assent::Agrees));
        } else if let Some(after) = FILLERS_JA.iter().chain(known).find_map(|word| rest.strip_prefix(word)) {
            rest = after;
        } else {
            return None;
        }
    }
    Some(most)
}

/// What a message that asks to begin the next stage speaks of.
const ASKS: Words = "continue proceed resume go-ahead next cycle stage ship shipping release commit push merge deploy publish";
const ASKS_JA: [&str; 14] = [
    "続け",
    "続行",
    "進め",
    "進んで",
    "次の",
    "ステージ",
    "サイクル",
    "出荷",
    "リリース",
    "コミット",
    "プッシュ",
    "マージ",
    "承認",
    "デプロイ",
];

/// Whether the last message asks for a yes to the next stage, and not to something else.
pub(super) fn asks_to_continue(message: &str, next: Option<&str>) -> bool {
    let Some(last) = last_sentence(message) else { return false };
    let is_part = |c: char| c.is_alphanumeric() || c == '-';
    last.split(|c: char| !is_part(c)).any(|word| among(ASKS, word) || next == Some(word))
        || last.contains("go ahead")
        || last.contains("go on")
        || ASKS_JA.iter().any(|word| last.contains(word))
}

/// Words around the step in a question for it.
const ASKING: Words = "shall should may can could i we want me for would like ready your waiting before confirm confirmation approval \
    go-ahead shipping committing pushing merging releasing deploying publishing commits pr";
const ASKING_JA: [&str; 34] = [
    "よろしいでしょうか",
    "よろしいですか",
    "いいでしょうか",
    "いいですか",
    "よいですか",
    "良いですか",
    "しますか",
    "しましょうか",
    "ましょうか",
    "ますか",
    "ステージ",
    "サイクル",
    "リリース",
    "コミット",
    "プッシュ",
    "デプロイ",
    "マージ",
    "しても",
    "続けても",
    "続けて",
    "進めても",
    "進めて",
    "続行",
    "出荷",
    "進め",
    "続け",
    "進んで",
    "次の",
    "この",
    "まま",
    "も",
    "して",
    "に",
    "を",
];

/// Whether the last message asks for a publishing step and for nothing else: a mere yes answers it.
pub(super) fn asks_for_step(message: &str, known: &[&str]) -> bool {
    let Some(last) = last_sentence(message) else { return false };
    let last = last.trim_end_matches(['?', '？', '。', '.', '!']).trim();
    let clause = last.rsplit([',', '、', ':', '：', ';']).next().unwrap_or_default().trim();
    let reads = |run: &str| {
        let mut rest = run;
        while !rest.is_empty() {
            let word = ASKING_JA.iter().chain(known).find_map(|word| rest.strip_prefix(word));
            match word {
                Some(after) => rest = after,
                None => return false,
            }
        }
        true
    };
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '-' | '\'');
    let mut words = clause.split(|c: char| !is_part(c)).filter(|word| !word.is_empty());
    let is_known = |word: &str| {
        if word.is_ascii() {
            among(ASKING, word) || among(CONTINUES, word) || among(FILLERS, word) || known.contains(&word)
        } else {
            reads(word)
        }
    };
    asks_to_continue(clause, known.first().copied()) && words.all(is_known)
}

fn last_sentence(message: &str) -> Option<String> {
    let is_end = |c: char| matches!(c, '.' | '!' | '?' | '。' | '！' | '？' | '\n');
    let has_words = |sentence: &&str| sentence.contains(char::is_alphanumeric);
    message.split_inclusive(is_end).rfind(has_words).map(str::to_lowercase)
}

/// Words of a question that no yes answers.
const CHOICE: Words = "which what how where who when whose or";
const CHOICE_JA: [&str; 8] = ["どちら", "どれ", "どの", "どう", "何", "いつ", "誰", "それとも"];

/// Whether the last message asks the person to choose or to tell something, not for a yes.
pub(super) fn asks_for_choice(message: &str) -> bool {
    let Some(last) = last_sentence(message) else { return false };
    last.split(|c: char| !c.is_alphanumeric()).any(|word| among(CHOICE, word))
        || CHOICE_JA.iter().any(|word| last.contains(word))
}

/// Each makes a stage wait that publishes nothing; one that does waits after any other word.
const WAIT: Words = "stop wait hold pause cancel abort later";
const WAIT_JA: [&str; 12] = [
    "待って",
    "止め",
    "やめ",
    "ストップ",
    "中止",
    "保留",
    "あとで",
    "後で",
    "まだ",
    "しないで",
    "だめ",
    "先に",
];

/// Whether the words want that nothing more is done.
pub(super) fn holds_back(said: &str) -> bool {
    let said = said.to_lowercase();
    let words: Vec<&str> =
        said.split(|c: char| !c.is_alphanumeric() && c != '\'').filter(|word| !word.is_empty()).collect();
    let is_negation = |word: &str| matches!(word, "not" | "never") || word.ends_with("n't");
    let forbids = words.windows(2).any(|pair| {
        is_negation(pair[0]) && (among(CONTINUES, pair[1]) || among("yet start begin do finish run", pair[1]))
    });
    matches!(words.as_slice(), ["no" | "nope" | "いいえ"])
        || words.iter().any(|word| among(WAIT, word))
        || words.last() == Some(&"first") && words != ["the", "first"] && words != ["first"]
        || forbids
        || WAIT_JA.iter().any(|word| said.contains(word))
}

pub(super) fn is_question(said: &str) -> bool {
    let said = said.trim();
    said.ends_with(['?', '？']) || said.trim_end_matches('。').ends_with("ですか")
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: [&str; 5] = ["dev-cycle", "sprint", "audit", "ship", "retrospective"];

    #[test]
    fn only_a_plain_yes_lets_it_continue() {
        for yes in [
            "yes",
            "Yes, please.",
            "OK",
            "ok thanks",
            "go on",
            "go ahead",
            "continue",
            "Continue with ship",
            "ship it",
            "proceed to the next stage",
            "LGTM, ship it now",
            "resume the cycle",
            "/dev-cycle",
            "yes, commit and push it",
            "I looked at it, you can ship",
            "ok, I've reviewed it, go ahead",
            "はい",
            "はい、お願いします。",
            "続けてください",
            "そのまま進めてください",
            "shipに進めて",
            "了解です",
            "次へ",
        ] {
            assert!(lets_continue(yes, &KNOWN, false), "{yes}");
        }
        for other in [
            "",
            "no",
            "No. Don't commit yet.",
            "not yet",
            "stop",
            "hello",
            "thanks",
            "What does a.js do?",
            "ok?",
            "yes?",
            "ok, show me the diff first",
            "do not ship it, I go to lunch",
            "yes, but fix the typo first",
            "ship it tomorrow",
            "hello, I am back from holiday",
            "go to lunch",
            "I looked at it",
            "go look at it",
            "/compact",
            "continue after I looked at it",
            "okay so what now",
            "いいえ",
            "まだコミットしないで。",
            "差分を見せて",
            "はい、でも先に型を直して",
            "続けていいですか",
            "待って",
            "ship looks wrong, app.py is missing. revert app.py and start the sprint again",
            "ship? no",
            "continue only after I say so",
            "when CI is green, continue",
            "let's ship this next week",
            "No. continue reading the diff and tell me what you think",
            "how long does ship take",
            "fix the bug in ship.py",
            "mail from Bob: ship it",
            "続けないで",
            "進めていいか迷っている",
            "Show me the diff",
            "Let me test it",
            "not convinced",
            "let me check the diff",
            "absolutely not",
            "nah",
            "-1",
            "veto",
            "I reject this",
            "いや",
            "ダメです",
            "not so fast",
            "park it",
            "enough for today",
            "can I ship",
            "I will ship it",
            "I ship it",
            "> continue",
            "```\ncontinue\n```",
            "\"continue\"",
            "「続けて」",
            "/dev-cycle but do not ship",
        ] {
            assert!(!lets_continue(other, &KNOWN, false), "{other}");
        }
    }

    #[test]
    fn a_mere_assent_may_be_meant_for_something_else() {
        for assent in ["ok", "ok thanks", "yes", "good", "great", "looks good", "了解", "はい"] {
            assert!(!lets_continue(assent, &KNOWN, true), "{assent}");
        }
        for word in [
            "continue",
            "ok, go ahead",
            "yes, ship it",
            "/dev-cycle",
            "続けて",
            "はい、進めてください",
            "try again, resume",
            "I committed it. Continue.",
            "コミットしました。続けて",
            "commit it",
            "committed, continue",
        ] {
            assert!(lets_continue(word, &KNOWN, true), "{word}");
        }
        for asked in
            ["Shall I ship it?", "May I continue?", "出荷してよいですか？", "Waiting for your go-ahead."]
        {
            assert!(asks_to_continue(asked, Some("ship")), "{asked}");
        }
        for asked in ["Should I also update the README?", "Shall I show the diff?", "READMEも直しますか？"]
        {
            assert!(!asks_to_continue(asked, Some("ship")), "{asked}");
        }
    }

    #[test]
    fn a_mere_yes_answers_only_a_question_for_the_step() {
        for asked in [
            "The audit is clean. Shall I ship it now?",
            "Shall I commit it?",
            "The audit is over, ship it?",
            "Do you want me to commit and push?",
            "May I continue?",
            "Waiting for your confirmation before shipping.",
            "監査は終わりました。出荷してよいですか？",
            "コミットしてもよろしいですか？",
            "shipに進めてもいいですか？",
        ] {
            assert!(asks_for_step(asked, &KNOWN), "{asked}");
        }
        for other in [
            "Shall I fix the bug in ship.py?",
            "Shall I continue reading the diff?",
            "Shall I commit the test data as well?",
            "Should I also update the README before I ship?",
            "Shall I ship to staging or to production?",
            "READMEも直してから出荷しますか？",
            "Which schema shall I use?",
            "",
        ] {
            assert!(!asks_for_step(other, &KNOWN), "{other}");
        }
    }

    #[test]
    fn a_stage_under_way_waits_for_who_holds_it_back() {
        for held in [
            "stop",
            "wait, not yet. what would the commit message be?",
            "Don't commit yet.",
            "do not ship this",
            "no",
            "please hold on",
            "never push",
            "待って",
            "まだコミットしないで",
        ] {
            assert!(holds_back(held), "{held}");
        }
        for other in [
            "the new schema",
            "no, use the old one",
            "fix the test too",
            "yes",
            "旧スキーマで",
            "don't touch the API",
            "",
        ] {
            assert!(!holds_back(other), "{other}");
        }
    }

    #[test]
    fn a_choice_is_answered_by_any_words() {
        for choice in [
            "Both would do. **Which schema shall I use?**",
            "Shall I use tabs or spaces?",
            "どちらの方式がよいか教えてください。",
        ] {
            assert!(asks_for_choice(choice), "{choice}");
        }
        for other in [
            "What a day. Shall I ship it?",
            "出荷してよいですか？",
            "Waiting for your confirmation before shipping.",
            "",
        ] {
            assert!(!asks_for_choice(other), "{other}");
        }
    }
}
