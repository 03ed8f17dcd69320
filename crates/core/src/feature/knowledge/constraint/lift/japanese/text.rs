//! Japanese text as clauses, and as runs of one script.

use crate::text::japanese::{is_any_kanji, is_hiragana, is_katakana};
use crate::text::word_list::{Words, among};

/// Words that deny, and those that do not say what a constraint is about.
pub(super) const GENERAL: Words = "新 新規 今 今回 今日 今後 先 前 後 必 絶対 直接 勝手 私 事 時 中 一切 下 願 他 以外 以内 以下 未満 禁止 不可 \
    許可 当面 毎回 解禁 大丈夫 構 問題 必要 不要 厳禁 良 的 待 保留 控 避 却下 勘弁 無 止 駄目 方針 方向 前提 ok ng 既 存 既存 現在 気 好 一度 今度 次 時間 分間 日 週 省 飛 大前提 大事 俺 僕 自分 欲 助 幸 手 凍結中 ダメ アカン 自体 配下 側 全部 絶 対 思 一旦 設計 計画";

/// Other ways to write the same verb.
const USUAL: [(&str, &str); 19] = [
    ("いじ", "触"),
    ("さわ", "触"),
    ("手を入れ", "触れ"),
    ("手は入れ", "触れ"),
    ("手も入れ", "触れ"),
    ("手をつけ", "触れ"),
    ("手を付け", "触れ"),
    ("手を加え", "触れ"),
    ("変更を加え", "変更し"),
    ("変更は加え", "変更し"),
    ("変更を入れ", "変更し"),
    ("影響を出", "触れ"),
    ("影響出", "触れ"),
    ("影響は出", "触れ"),
    ("書き換", "書換"),
    ("差し替", "替"),
    ("置き換", "換"),
    ("とっ", "取っ"),
    ("まま", "儘"),
];

/// Words before a verb that say how.
const HOW: [&str; 9] = ["一切", "全部", "直接", "絶対", "毎回", "勝手", "今回", "全て", "以外"];

/// Without blanks and marks of code, in lower case.
pub(super) fn plain(text: &str) -> String {
    // 「sleep(2)入れて」
    let call = text.find('(').and_then(|open| Some((open, open + text[open..].find(')')?)));
    let call = call.filter(|(open, close)| {
        *open > 0 && text.as_bytes()[open - 1].is_ascii_alphanumeric() && text[*open..*close].is_ascii()
    });
    let text =
        &call.map_or(text.to_owned(), |(open, close)| format!("{}{}", &text[..open], &text[close + 1..]));
    let plain: String =
        text.chars().filter(|c| !c.is_whitespace() && *c != '`').flat_map(char::to_lowercase).collect();
    USUAL.iter().fold(
        plain,
        |plain, (form, usual)| if plain.contains(form) { plain.replace(form, usual) } else { plain },
    )
}

/// Clauses; a topic before a comma belongs to the next one.
pub(super) fn clauses(text: &str) -> Vec<String> {
    let mut clauses: Vec<String> = Vec::new();
    let mut topic = String::new();
    for clause in text.split(['、', '。', '（', '）', '：', ':', '；']).filter(|clause| !clause.is_empty())
    {
        let whole = format!("{topic}{clause}");
        topic.clear();
        if clause.ends_with(['は', 'も', 'を', 'に'])
            || ["ってやつ", "のやつ", "の件", "ルール", "縛り"].iter().any(|end| clause.ends_with(end))
        {
            topic = whole;
        } else {
            clauses.push(whole);
        }
    }
    if !topic.is_empty() {
        clauses.push(topic);
    }
    clauses
}

/// They are a part of the word before them.
const ENDINGS: [&str; 6] = ["以内", "以下", "未満", "禁止", "不可", "必須"];

/// Characters of one script in a row: what a sentence is about, and the stems of its verbs.
pub(super) fn runs(text: &str) -> Vec<String> {
    let without_how = |run: String| {
        let rest = HOW.iter().find_map(|how| run.strip_prefix(how)).filter(|rest| !rest.is_empty());
        rest.map(str::to_owned).unwrap_or(run)
    };
    let mut runs: Vec<String> = all_runs(text).into_iter().map(without_how).collect();
    runs.retain(|run| !among(GENERAL, run));
    runs
}

pub(super) fn all_runs(text: &str) -> Vec<String> {
    #[derive(Clone, Copy, PartialEq)]
    enum Script {
        Kanji,
        Katakana,
        Latin,
    }
    let script = |c: char| match c {
        c if is_any_kanji(c) => Some(Script::Kanji),
        c if is_katakana(c) || c == 'ー' => Some(Script::Katakana),
        c if c.is_alphanumeric() && !is_hiragana(c) => Some(Script::Latin),
        '_' | '/' | '.' | '-' => Some(Script::Latin),
        _ => None,
    };
    let mut runs: Vec<(String, Option<Script>)> = Vec::new();
    let mut before = None;
    for c in text.chars() {
        let now = script(c);
        match runs.last_mut() {
            Some((run, _)) if now.is_some() && now == before => run.push(c),
            _ if now.is_some() => runs.push((c.to_string(), now)),
            _ => {}
        }
        before = now;
    }
    let without_ending =
        |run: &str| ENDINGS.iter().find_map(|end| run.strip_suffix(end)).unwrap_or(run).to_owned();
    let runs = runs.into_iter().map(|(run, _)| without_ending(run.trim_matches(['.', '-', '/'])));
    runs.filter(|run| !run.is_empty()).collect()
}

/// A whole word in Latin letters, a part of a word otherwise.
pub(super) fn mentions(text: &str, run: &str) -> bool {
    if !run.is_ascii() {
        // 「テスト」 is not 「テストデータ」.
        let is_katakana = |c: char| is_katakana(c) || c == 'ー';
        let is_word = run.chars().all(is_katakana);
        let borders = |c: Option<char>| !is_word || !c.is_some_and(is_katakana);
        return text.match_indices(run).any(|(at, _)| {
            borders(text[..at].chars().next_back()) && borders(text[at + run.len()..].chars().next())
        });
    }
    text.match_indices(run).any(|(at, _)| {
        let is_word = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_');
        !is_word(text[..at].chars().next_back()) && !is_word(text[at + run.len()..].chars().next())
    })
}

/// Whether `run` is the word `own`, or a compound with it.
pub(super) fn names(run: &str, own: &str) -> bool {
    run == own || !own.is_ascii() && own.chars().nth(1).is_some() && run.contains(own)
}
