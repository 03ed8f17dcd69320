//! What a person's words mean to a cycle: whether it may continue, or has to wait. Only what is certain counts as a yes.

use crate::text::word_list::{Words, among};

/// Each lets a cycle continue.
const YES: Words =
    "yes y yep yeah ok okay sure go continue proceed resume ship lgtm approved approve next fine good great";

/// May stand beside them and change nothing.
const FILLERS: Words = "on ahead it do that this please now stage the with then looks sounds is thanks thank you commit push can \
    i i've have looked reviewed checked at may to and from here all cycle perfect everything";

/// Longest first: a shorter one may be the beginning of a longer.
const YES_JA: [&str; 18] = [
    "続行してください",
    "続けてください",
    "進めてください",
    "問題ありません",
    "続行して",
    "続けて",
    "進めて",
    "進んで",
    "大丈夫",
    "いいよ",
    "いいです",
    "どうぞ",
    "承認",
    "次へ",
    "次に",
    "はい",
    "続行",
    "了解",
];

const FILLERS_JA: [&str; 16] = [
    "お願いします",
    "お願い",
    "ください",
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

/// What a person forbids who wants a cycle to wait.
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

/// Whether the words say yes and nothing else. `known` are names that may be in it.
pub(super) fn lets_continue(said: &str, known: &[&str]) -> bool {
    let said = said.trim().to_lowercase();
    if let Some(command) = said.strip_prefix('/') {
        return command.split_whitespace().next().is_some_and(|name| known.contains(&name));
    }
    if is_question(&said) {
        return false;
    }
    let mut agrees = false;
    let is_part = |c: char| c.is_alphanumeric() || c == '-' || c == '\'';
    let words = said.split(|c: char| !is_part(c)).filter(|word| !word.is_empty());
    let all_known = words.fold(true, |all, word| {
        let said = if word.is_ascii() {
            let is_filler = among(FILLERS, word) || known.contains(&word);
            among(YES, word).then_some(true).or(is_filler.then_some(false))
        } else {
            read_japanese(word, known)
        };
        agrees |= said == Some(true);
        all && said.is_some()
    });
    all_known && agrees
}

/// Whether a Japanese run of words agrees; `None` if it says anything else.
fn read_japanese(text: &str, known: &[&str]) -> Option<bool> {
    let (mut rest, mut agrees) = (text, false);
    while !rest.is_empty() {
        if let Some(after) = YES_JA.iter().find_map(|yes| rest.strip_prefix(yes)) {
            (rest, agrees) = (after, true);
        } else if let Some(after) = FILLERS_JA.iter().chain(known).find_map(|word| rest.strip_prefix(word)) {
            rest = after;
        } else {
            return None;
        }
    }
    Some(agrees)
}

/// Words of a question that no yes answers.
const CHOICE: Words = "which what how where who when whose or";
const CHOICE_JA: [&str; 8] = ["どちら", "どれ", "どの", "どう", "何", "いつ", "誰", "それとも"];

/// Whether the last message asks the person to choose or to tell something, not for a yes.
pub(super) fn asks_for_choice(message: &str) -> bool {
    let is_end = |c: char| matches!(c, '.' | '!' | '?' | '。' | '！' | '？' | '\n');
    let has_words = |sentence: &&str| sentence.contains(char::is_alphanumeric);
    let Some(last) = message.split_inclusive(is_end).rfind(has_words).map(str::to_lowercase) else {
        return false;
    };
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
        || words.last() == Some(&"first")
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
            assert!(lets_continue(yes, &KNOWN), "{yes}");
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
            assert!(!lets_continue(other, &KNOWN), "{other}");
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
