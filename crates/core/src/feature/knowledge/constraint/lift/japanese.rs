//! Japanese: 「…の件は忘れて」, 「…していいです」, 「…しなくていいです」, and orders.

use std::borrow::Cow;

use super::ConstraintKind;
use crate::feature::knowledge::constraint::japanese::{
    contains_any, ends_with_any, is_other_speech, normalise, without_courtesy,
};
use crate::text::japanese::{is_any_kanji, is_hiragana, is_katakana};
use crate::text::word_list::{Words, among, each_word};

const RULES: Words = "件 制限 制約 規則 ルール 禁止 凍結 縛り 約束 条件 指示 言ったこと 話";

const ALL: Words = "全部 すべて 全て 一切";

/// The permission comes later, or perhaps never.
/// They only look like one.
const COURTESIES: Words =
    "必要なら 必要であれば 必要に応じて よければ 良ければ 何なら なんなら それなら したかったら したければ";

const CONDITIONS: Words = "たら れば なら 場合 次第 とき てから";

const PERMITS: Words = "ていい てよい て良い てもいい ても良い てもよい て大丈夫 ても大丈夫 て構 ても構 てかま てもかま て問題な て問題あり ても問題 \
    んでいい んでもいい んで大丈夫 いでいい いでもいい てok てもok でok でもok んでok て問題あり 解禁 許可します 許可する";

const RELEASES: Words = "なくていい なくてよい なくて良い なくてもいい なくても構 なくて構 なくて大丈夫 なくても大丈夫 なくて問題 なくてok なくてもok \
    必要はな 必要はあり 必要ありま 必要な 不要";

/// Words of the same meaning in a constraint and in the permission.
const SAME: [Words; 8] = [
    "変 変更 修正 編集 触 直 改修",
    "追加 足 増 導入 入",
    "消 削除",
    "使 使用 利用",
    "コミット commit",
    "プッシュ push",
    "マージ merge",
    "デプロイ deploy",
];

/// Words that do not say what a constraint is about.
const GENERAL: Words = "新 新規 今 今回 今日 今後 先 前 後 必 絶対 直接 勝手 私 事 時 中 一切 下 願 他 以外 以内 以下 未満 禁止 不可 \
    許可 当面 毎回 解禁 大丈夫 構 問題 必要 不要 厳禁 良 的";

pub(super) struct Lift {
    parts: Vec<Part>,
}

enum Part {
    All,
    TakesBack { runs: Vec<String>, names_rule: bool },
    Permits(String),
    Releases(String),
    Orders { verb: String, runs: Vec<String> },
}

/// Without blanks and marks of code, in lower case.
fn plain(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace() && *c != '`').flat_map(char::to_lowercase).collect()
}

/// Clauses; a topic before a comma belongs to the next one.
fn clauses(text: &str) -> Vec<String> {
    let mut clauses: Vec<String> = Vec::new();
    let mut topic = String::new();
    for clause in text.split(['、', '。', '（', '）', '：', ':', '；']).filter(|clause| !clause.is_empty())
    {
        let whole = format!("{topic}{clause}");
        topic.clear();
        if clause.ends_with(['は', 'も', 'を', 'に']) {
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
fn runs(text: &str) -> Vec<String> {
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
    runs.filter(|run| !run.is_empty() && !among(GENERAL, run)).collect()
}

/// A whole word in Latin letters, a part of a word otherwise.
fn mentions(text: &str, run: &str) -> bool {
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
fn names(run: &str, own: &str) -> bool {
    run == own || !own.is_ascii() && own.chars().nth(1).is_some() && run.contains(own)
}

fn mentions_meaning(text: &str, run: &str) -> bool {
    let same = SAME.iter().find(|same| among(same, run));
    mentions(text, run) || same.is_some_and(|same| each_word(same).any(|word| text.contains(word)))
}

impl Lift {
    pub(super) fn of(sentence: &str) -> Option<Lift> {
        let mut own = String::new();
        // Without what is only quoted; a name in code is the person's.
        let unmarked: Cow<'_, str> = sentence.replace('`', "").into();
        normalise(&unmarked, &mut own);
        let own = plain(&own);
        if is_other_speech(&own) || ends_with_any(&own, "ますか ですか ょうか ませんか かな") {
            return None;
        }
        let own = each_word(COURTESIES).fold(own, |own, courtesy| own.replace(courtesy, ""));
        let is_conditional = contains_any(&own, CONDITIONS);
        let mut parts = Vec::new();
        for clause in clauses(&own) {
            if let Some(part) = takes_back(&clause) {
                parts.push(part);
            } else if is_conditional || contains_any(&clause, "いいのは いいわけ てもいいですか")
            {
                // Not now, or not everything.
            } else if contains_any(&clause, RELEASES) {
                parts.push(Part::Releases(clause));
            } else if contains_any(&clause, PERMITS) {
                parts.push(Part::Permits(clause));
            } else {
                parts.extend(orders(&clause));
            }
        }
        (!parts.is_empty()).then_some(Lift { parts })
    }

    pub(super) fn covers(&self, constraint: &str) -> bool {
        let gist = Gist::of(constraint);
        self.parts.iter().any(|part| gist.is_covered_by(part))
    }
}

fn takes_back(clause: &str) -> Option<Part> {
    if contains_any(clause, "忘れない 忘れず 解除しない 撤回しない") {
        return None;
    }
    let names_rule = contains_any(clause, RULES);
    let forgets = contains_any(clause, "忘れて 撤回 取り消 取消");
    let drops = contains_any(
        clause,
        "無視して 解除 適用しな 緩和 なかったことに 白紙 取り下げ 廃止 終わり 終了 もういい",
    ) && names_rule
        || contains_any(
            clause,
            "件はなし 件なし 制限はなし 制限なし 制約はなし ルールはなし 条件はなし 話はなし",
        );
    if !forgets && !drops {
        return None;
    }
    let is_rule = |run: &String| {
        among(
            "件 制限 制約 規則 ルール 約束 条件 指示 話 言 忘 撤回 解除 無視 発言 取 消 取消 白紙 下 廃止 終 終了 昨日 先程 適用 緩和 全部 全 行数",
            run,
        )
    };
    // 「生成ファイルでは300行ルールは無視していい」 is about 300 lines.
    let rule = each_word(RULES).filter_map(|rule| clause.find(rule)).min().unwrap_or(clause.len());
    let named = clause[..rule].rsplit(['は', 'も']).next().unwrap_or_default();
    let named = if runs(named).iter().all(is_rule) { clause } else { named };
    let named = each_word(ALL).fold(named.to_owned(), |named, all| named.replace(all, "は"));
    let runs: Vec<String> = runs(&named).into_iter().filter(|run| !is_rule(run)).collect();
    if runs.is_empty() {
        return (names_rule && contains_any(clause, ALL)).then_some(Part::All);
    }
    Some(Part::TakesBack { runs, names_rule })
}

/// 「コミットして」, 「コミットお願いします」
fn orders(clause: &str) -> Option<Part> {
    let core = without_courtesy(clause);
    let asked = core.len() < clause.len() && !clause.ends_with("です");
    let stem =
        ["しておいて", "して", "しましょう", "しよう", "を"].iter().find_map(|end| core.strip_suffix(end));
    let stem = stem.or_else(|| asked.then_some(core))?;
    let mut runs = runs(stem);
    let verb = runs.pop().filter(|verb| stem.ends_with(verb.as_str()))?;
    Some(Part::Orders { verb, runs })
}

struct Gist {
    kind: ConstraintKind,
    /// What it is about, with its verb.
    runs: Vec<String>,
    for_now: bool,
    /// 「npm ではなく pnpm を使うこと」: npm.
    rejected: Option<String>,
}

impl Gist {
    fn of(constraint: &str) -> Gist {
        let text = plain(constraint);
        let rejected = text.split_once("ではなく").map(|(before, _)| before);
        let rejected = rejected.and_then(|before| runs(before).pop());
        let for_now = contains_any(&text, "まだ まで 当面");
        let is_limit = contains_any(&text, "以内 以下 未満 だけ のみ 以外");
        let forbids = contains_any(
            &text,
            "ない 禁止 不可 やめて 避けて 控えて ません NG ng 厳禁 だめ ダメ 触らず 使わず 変えず なしで",
        );
        let kind = match () {
            () if is_limit => ConstraintKind::Limits,
            () if forbids && rejected.is_none() => ConstraintKind::Forbids,
            () => ConstraintKind::Requires,
        };
        let denying = clauses(&text)
            .into_iter()
            .rfind(|clause| contains_any(clause, "ない 禁止 不可 やめて 避けて 控えて"));
        let after =
            |clause: String| clause.split_once("まで").map(|(_, after)| after.to_owned()).unwrap_or(clause);
        let own = denying.map(after).map(|clause| runs(&clause)).unwrap_or_default();
        // A clause without an object points at another one.
        let runs = if own.len() < 2 && !for_now { runs(&text) } else { own };
        Gist { kind, runs, for_now, rejected }
    }

    fn is_covered_by(&self, part: &Part) -> bool {
        let has_all = |text: &str| self.runs.iter().all(|run| mentions_meaning(text, run));
        match part {
            Part::All => true,
            Part::TakesBack { runs, names_rule } => {
                // 「依存追加」 names both 「依存」 and 「追加」.
                let is_named = |own: &&String| runs.iter().any(|run| names(run, own));
                let is_known = |run: &&String| self.runs.iter().any(|own| names(run, own));
                let (named, known) =
                    (self.runs.iter().filter(is_named).count(), runs.iter().filter(is_known).count());
                super::is_about(known, runs.len(), 0, *names_rule)
                    && super::is_about(named, named, self.runs.len(), *names_rule)
            }
            Part::Releases(text) => {
                let shared = self.runs.iter().filter(|run| mentions_meaning(text, run)).count();
                self.kind == ConstraintKind::Requires && shared > 0 && shared * 5 >= self.runs.len() * 3
            }
            Part::Permits(text) => match self.kind {
                ConstraintKind::Requires => self.rejected.as_ref().is_some_and(|rejected| {
                    ["を使", "で"]
                        .iter()
                        .any(|after| mentions(text, rejected) && text.contains(&format!("{rejected}{after}")))
                }),
                ConstraintKind::Limits => {
                    let is_number =
                        |run: &&String| run.bytes().all(|byte| byte.is_ascii_digit()) && run.len() > 1;
                    let number = self.runs.iter().find(is_number);
                    let is_named = number.map_or_else(|| has_all(text), |number| mentions(text, number));
                    contains_any(text, "超え 以上 以外 他 長 多") && !self.runs.is_empty() && is_named
                }
                ConstraintKind::Forbids => {
                    let is_whole = self.runs.len() > 1 || self.for_now || runs(text).len() <= 1;
                    !self.runs.is_empty() && has_all(text) && is_whole
                }
            },
            Part::Orders { verb, runs } => {
                let Some((own, objects)) = self.runs.split_last() else { return false };
                let names_all = objects.iter().all(|object| runs.contains(object));
                let is_same = !runs.is_empty() && names_all && runs.len() == objects.len();
                self.kind == ConstraintKind::Forbids
                    && own == verb
                    && (is_same || self.for_now && (runs.is_empty() || names_all))
            }
        }
    }
}
