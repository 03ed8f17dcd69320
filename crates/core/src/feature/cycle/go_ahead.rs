//! What a person's words mean to a cycle: whether it may continue, or has to wait. Only what is certain counts as a yes.

use crate::text::word_list::{Words, among};

/// Each lets a cycle continue.
const CONTINUES: Words = "go continue proceed resume retry ship approved approve lgtm next";
/// Each agrees to what was asked.
const AGREES: Words = "yes y yep yeah ok okay sure fine good great try";

/// Words next to them that change nothing.
const FILLERS: Words = "on ahead it do that this please now stage the with then looks sounds is thanks thank you commit push can \
    i i've have looked reviewed checked at may to and from here all cycle perfect everything again \
    fixed";

/// Longest first: a shorter one may be the beginning of a longer.
const CONTINUES_JA: [&str; 15] = [
    "続行してください",
    "続けてください",
    "進めてください",
    "やり直して",
    "もう一度",
    "続行して",
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

const FILLERS_JA: [&str; 18] = [
    "お願いします",
    "お願い",
    "ください",
    "サイクル",
    "ステージ",
    "そのまま",
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

/// Each makes a stage wait that is not done.
const WAIT: Words = "stop wait hold pause cancel abort later";

/// Orders that a person denies to make a cycle wait.
const FORBIDDEN: Words =
    "ship commit push merge deploy release publish continue proceed go start do finish run";

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

/// Whether the words say yes and nothing else. `known` are names that may be in it. `by_name`: they have to say that the cycle
/// continues, or name a stage; a mere "ok" may be meant for something else.
pub(super) fn lets_continue(said: &str, known: &[&str], by_name: bool) -> bool {
    let said = said.trim().to_lowercase();
    if let Some(command) = said.strip_prefix('/') {
        return command.split_whitespace().next().is_some_and(|name| known.contains(&name));
    }
    if is_question(&said) {
        return false;
    }
    let least = if by_name { Assent::Continues } else { Assent::Agrees };
    let mut most = Assent::No;
    let is_part = |c: char| c.is_alphanumeric() || c == '-' || c == '\'';
    let words = said.split(|c: char| !is_part(c)).filter(|word| !word.is_empty());
    let all_known = words.fold(true, |all, word| {
        let said = match word {
            _ if !word.is_ascii() => read_japanese(word, known),
            _ if among(CONTINUES, word) => Some(Assent::Continues),
            _ if among(AGREES, word) => Some(Assent::Agrees),
            _ => (among(FILLERS, word) || known.contains(&word)).then_some(Assent::No),
        };
        most = most.max(said.unwrap_or(Assent::No));
        all && said.is_some()
    });
    all_known && most >= least
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Assent {
    No,
    Agrees,
    Continues,
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

/// Whether the words want that nothing more is done.
pub(super) fn holds_back(said: &str) -> bool {
    let said = said.to_lowercase();
    let words: Vec<&str> =
        said.split(|c: char| !c.is_alphanumeric() && c != '\'').filter(|word| !word.is_empty()).collect();
    let is_negation = |word: &str| matches!(word, "not" | "never") || word.ends_with("n't");
    let forbids =
        words.windows(2).any(|pair| is_negation(pair[0]) && (among(FORBIDDEN, pair[1]) || pair[1] == "yet"));
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
