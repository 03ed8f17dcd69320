//! Whether an answer to a question of the model decides something. A counter-question, a request for more information and
//! an answer that only steers the conversation stay in the log, and are no decisions. `choice.md` has the rules as a table.

use crate::text::one_line::single_spaced;

/// Whether a person who was asked this has decided something by this answer.
pub fn decides(question: &str, answer: &str) -> bool {
    let (question, answer) = (fold(question), fold(answer));
    let steers = is_about_agenda(&question)
        || is_about_going_on(&question) && only_steers(&answer, &STEERING)
        || is_about_doing(&question) && only_steers(&answer, &STEERING[..STEERING_A_THING]);
    !steers && sentences(&answer).any(|sentence| !is_question(sentence) && !asks_for_information(sentence))
}

fn fold(text: &str) -> String {
    single_spaced(text).to_lowercase().replace('’', "'")
}

/// With their final marks. A full stop within a number or a name ends nothing.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let ends = |(at, c): (usize, char)| {
        let after = &text[at + c.len_utf8()..];
        let is_end = match c {
            '.' | '!' | '?' => after.is_empty() || after.starts_with(' '),
            '。' | '！' | '？' => !after.starts_with(['。', '！', '？']),
            _ => false,
        };
        is_end.then_some(at + c.len_utf8())
    };
    let mut cuts: Vec<usize> = text.char_indices().filter_map(ends).chain([text.len()]).collect();
    cuts.dedup();
    let begins: Vec<usize> = [0].into_iter().chain(cuts.iter().copied()).collect();
    let parts: Vec<&str> = begins.iter().zip(cuts).map(|(from, to)| text[*from..to].trim()).collect();
    parts.into_iter().filter(|part| part.chars().any(char::is_alphanumeric))
}

/// Words that ask for agreement with what was said before them.
const TAGS: [&str; 7] = ["ok", "okay", "right", "yes", "no", "alright", "correct"];

/// First words of questions that are typed without a mark, before a word of [`AFTER_WH`].
const WH: [&str; 8] = ["what", "how", "why", "which", "who", "when", "where", "what's"];
const AFTER_WH: [&str; 25] = [
    "is",
    "are",
    "was",
    "were",
    "do",
    "does",
    "did",
    "would",
    "will",
    "can",
    "could",
    "should",
    "has",
    "have",
    "about",
    "many",
    "much",
    "long",
    "hard",
    "difficult",
    "easy",
    "big",
    "often",
    "if",
    "exactly",
];

fn is_question(sentence: &str) -> bool {
    if let Some(said) = sentence.strip_suffix(['?', '？']) {
        let said = said.trim_end_matches(['?', '？']);
        // "Redis, right?" is no question.
        return !said.rsplit_once(',').is_some_and(|(_, last)| TAGS.contains(&last.trim()));
    }
    let said = sentence.trim_end_matches(['.', '。', '!', '！']);
    if ["ですか", "ますか", "でしょうか", "ませんか", "のか", "だろうか", "かな", "どうなる", "どうなの"]
        .iter()
        .any(|end| said.ends_with(end))
    {
        return true;
    }
    let mut words = words(said).skip_while(|word| FILLERS.contains(word));
    match (words.next(), words.next()) {
        (Some("what's" | "why"), Some(_)) => true,
        (Some(first), Some(second)) => WH.contains(&first) && AFTER_WH.contains(&second),
        _ => false,
    }
}

/// Words before the first one that matters.
const FILLERS: [&str; 14] =
    ["hm", "hmm", "hmmm", "well", "ok", "okay", "so", "and", "but", "yes", "no", "first", "wait", "before"];

/// What a model does to inform a person.
const INFORMING: [&str; 10] = [
    "explain",
    "expand",
    "elaborate",
    "clarify",
    "describe",
    "compare",
    "tell me",
    "show me",
    "walk me through",
    "give me",
];

/// What a person wants to have first.
const WANTING: [&str; 9] = [
    "i need",
    "i want",
    "i'd like",
    "would like",
    "i would like",
    "like to hear",
    "like to see",
    "let me see",
    "can you",
];
const WANTED: [&str; 16] = [
    "comparison",
    "comparisons",
    "explanation",
    "explanations",
    "argument",
    "arguments",
    "more info",
    "more information",
    "more detail",
    "more details",
    "pros and cons",
    "to hear",
    "to know",
    "to understand",
    "alternatives",
    "examples",
];

fn asks_for_information(sentence: &str) -> bool {
    let said = sentence.trim_end_matches(['.', '。', '!', '！', ' ']);
    if is_japanese_request(said) {
        return true;
    }
    let plain: Vec<&str> =
        words(said).skip_while(|word| FILLERS.contains(word) || matches!(*word, "please" | "just")).collect();
    let plain = plain.join(" ");
    let has = |phrase: &&str| has_phrase(&plain, phrase);
    let asked =
        ["could you", "can you", "would you", "will you"].iter().any(|opening| plain.starts_with(opening));
    INFORMING.iter().any(|opening| begins_with_phrase(&plain, opening))
        || asked && INFORMING.iter().any(has)
        || WANTING.iter().any(has) && WANTED.iter().any(has)
}

/// 「先に説明してください」
fn is_japanese_request(said: &str) -> bool {
    const POLITE: [&str; 9] = [
        "ください",
        "下さい",
        "ほしい",
        "欲しい",
        "ほしいです",
        "欲しいです",
        "もらえますか",
        "くれますか",
        "くれ",
    ];
    const ASKING: [&str; 7] =
        ["教えて", "説明して", "比較して", "解説して", "聞かせて", "補足して", "整理して"];
    const WISHING: [&str; 5] = ["を知りたい", "が知りたい", "を聞きたい", "が聞きたい", "を見たい"];
    let bare = POLITE.iter().find_map(|end| said.strip_suffix(end)).unwrap_or(said);
    ASKING.iter().any(|verb| bare.ends_with(verb))
        || WISHING.iter().any(|wish| said.trim_end_matches("です").ends_with(wish))
}

/// "Which areas do you want to discuss?": whatever the answer, it only says what comes next.
fn is_about_agenda(question: &str) -> bool {
    [
        "want to discuss",
        "like to discuss",
        "want to talk about",
        "like to talk about",
        "議論したい",
        "話し合いたい",
    ]
    .iter()
    .any(|phrase| question.contains(phrase))
}

/// Questions about what comes next in the conversation.
const GOING_ON: [&str; 14] = [
    "more questions",
    "any questions",
    "anything else",
    "move to the next",
    "move to next",
    "move to the last",
    "next area",
    "next topic",
    "next section",
    "next question",
    "are we done",
    "all done",
    "do next",
    "what next",
];

/// About the conversation only if a side of it is the one who does so: an import that continues is another matter.
const CONTINUING: [&str; 5] = ["continue", "proceed", "move on", "go on", "keep going"];
const WHO: [&str; 8] = ["or", "we", "i", "you", "me to", "you to", "want to", "ready to"];

const GOING_ON_JA: [&str; 18] = [
    "ほかに質問",
    "他に質問",
    "続けて質問",
    "次に進",
    "次へ進",
    "次の項目",
    "次の話題",
    "次のテーマ",
    "次は何",
    "次に何",
    "このまま続け",
    "このまま進",
    "先に進",
    "作業を続け",
    "話を続け",
    "終わりにし",
    "これで完了",
    "完了しますか",
];

fn is_about_going_on(question: &str) -> bool {
    GOING_ON.iter().any(|phrase| has_phrase(question, phrase))
        || GOING_ON_JA.iter().any(|phrase| question.contains(phrase))
        || ["続けますか", "つづけますか", "進めますか"].iter().any(|phrase| question.starts_with(phrase))
        || CONTINUING.iter().any(|verb| continues_conversation(question, verb))
}

/// To continue with something is another matter, too.
fn continues_conversation(question: &str, verb: &str) -> bool {
    question.match_indices(verb).any(|(at, _)| {
        let (before, after) = (question[..at].trim_end(), &question[at + verb.len()..]);
        let ends = |who: &&str| {
            before.strip_suffix(*who).is_some_and(|rest| rest.is_empty() || rest.ends_with([' ', ',']))
        };
        !after.starts_with(" with")
            && !after.starts_with(char::is_alphanumeric)
            && (before.is_empty() || WHO.iter().any(ends))
    })
}

/// "What would you like to do with this todo?" may be about the matter itself, so fewer words steer.
fn is_about_doing(question: &str) -> bool {
    ["would you like to do", "do you want to do"].iter().any(|phrase| has_phrase(question, phrase))
}

/// Words of answers such as "Next area" and "Work on it now", of which one has to be among [`STEERING`].
const WITH_STEERING: [&str; 37] = [
    "go",
    "move",
    "on",
    "keep",
    "more",
    "to",
    "for",
    "the",
    "it",
    "this",
    "that",
    "with",
    "all",
    "else",
    "area",
    "areas",
    "topic",
    "topics",
    "step",
    "steps",
    "section",
    "question",
    "questions",
    "item",
    "todo",
    "let's",
    "lets",
    "we",
    "are",
    "i'm",
    "is",
    "please",
    "recommended",
    "here",
    "ok",
    "okay",
    "right",
];
const STEERING: [&str; 20] = [
    "next", "continue", "done", "proceed", "going", "work", "now", "later", "resume", "start", "begin",
    "finish", "finished", "back", "ahead", "skip", "stop", "yes", "no", "nothing",
];
/// Of these the last ones could also say what becomes of a thing.
const STEERING_A_THING: usize = 11;

const STEERING_JA: [&str; 24] = [
    "つづける",
    "続ける",
    "続けて",
    "続行",
    "次へ",
    "次に進む",
    "次",
    "進む",
    "進める",
    "進めて",
    "完了",
    "終了",
    "終わり",
    "終える",
    "スキップ",
    "飛ばす",
    "戻る",
    "後で",
    "あとで",
    "中断",
    "やめる",
    "はい",
    "いいえ",
    "以上",
];

fn only_steers(answer: &str, steering: &[&str]) -> bool {
    let japanese =
        answer.trim_end_matches(['。', '！', '!', '.']).trim_end_matches("ください").trim_end_matches("する");
    if STEERING_JA.contains(&japanese) {
        return true;
    }
    // A command of the host, such as /review.
    if answer.split(' ').any(|word| word.len() > 1 && word.starts_with('/')) && words(answer).count() <= 4 {
        return true;
    }
    let steers = |word: &str| steering.contains(&word);
    answer.is_ascii()
        && words(answer).any(steers)
        && words(answer).all(|word| steers(word) || WITH_STEERING.contains(&word))
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '\'').filter(|word| !word.is_empty())
}

/// Whole words.
fn has_phrase(text: &str, phrase: &str) -> bool {
    text.match_indices(phrase).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + phrase.len()..]);
        !before.ends_with(|c: char| c.is_ascii_alphanumeric())
            && !after.starts_with(|c: char| c.is_ascii_alphanumeric())
    })
}

fn begins_with_phrase(text: &str, phrase: &str) -> bool {
    text.strip_prefix(phrase).is_some_and(|after| !after.starts_with(|c: char| c.is_ascii_alphanumeric()))
}
