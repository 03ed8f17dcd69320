//! Japanese: 「…の件は忘れて」, 「…していいです」, 「…しなくていいです」, and orders.
//!
//! A prompt becomes acts: clauses that order or permit, each with its verb. An act lifts a constraint if it does what the
//! constraint forbids, to everything that the constraint names.

mod gist;
mod text;

use std::borrow::Cow;

use crate::feature::knowledge::constraint::japanese::{
    contains_any, ends_with_any, is_other_speech, normalise, without_courtesy,
};
use crate::text::japanese::is_hiragana;
use crate::text::word_list::{Words, among, each_word};
pub(super) use gist::Gist;
use text::{all_runs, clauses, plain, runs};

const RULES: Words = "件 制限 制約 規則 ルール 禁止 凍結 縛り 約束 条件 指示 言ったこと 話 のやつ ってやつ";

const ALL: Words = "全部 すべて 全て 一切";

/// They only look like a condition.
const COURTESIES: Words = "必要なら 必要であれば 必要に応じて よければ 良ければ 何なら なんなら なら仕方ない なら仕方がない ならしょうがない のときいちいち の時いちいち それなら したかったら したければ やったら";

/// The permission comes later, or perhaps never.
const CONDITIONS: Words = "たら れば なら 場合 次第 とき てから まで待 明日 後で あとで 来週";

const PERMITS: Words = "ていい てよい て良い てもいい ても良い てもよい て大丈夫 ても大丈夫 て構 ても構 てかま てもかま て問題な ても問題な \
    んでいい んでもいい んで大丈夫 いでいい いでもいい てok てもok でok でもok んでok て問題あり ても問題あり 解禁 許可します 許可する  \
    どうぞ て平気 ても平気 て結構 てよし てええ てもええ てオッケー 可能となりました 可能になりました okになりました ていいこと";

/// A choice: 「npmでいい」.
const CHOSEN: Words =
    "でいい で大丈夫 でok でも大丈夫 でもいい で構 で問題な の許可が 許可が出 は解禁 を許可 は許可";

const RELEASES: Words = "なくていい なくてよい なくて良い なくてもいい なくても構 なくて構 なくて大丈夫 なくても大丈夫 なくて問題 なくてok なくてもok \
    せんでええ せんでもええ せんでいい 必要はな 必要はあり 必要ありま 必要ない 必要なく は不要 不要です 不要なので 不要だ 確認なし 確認不要 いらない いりません 要らない いらん なしで消 なしで進 なしでい 省略";

pub(super) struct Lift {
    parts: Vec<Part>,
}

enum Part {
    All,
    TakesBack {
        runs: Vec<String>,
        names_rule: bool,
    },
    Acts {
        clause: String,
        verb: Option<String>,
        is_permission: bool,
    },
    Releases(String),
    /// What is the case now: 「レビュー終わりました」.
    States(String),
}

impl Lift {
    /// `restates`: the sentence is itself a constraint.
    pub(super) fn of(sentence: &str, restates: bool) -> Option<Lift> {
        let mut own = String::new();
        // Without what is only quoted; a name in code is the person's.
        let unmarked: Cow<'_, str> = sentence.replace('`', "").into();
        normalise(&unmarked, &mut own);
        let own = plain(&own);
        let own = own.trim_end_matches(['？', '?', 'ー', '〜', '～', '笑', 'w', '♪']);
        let asks_for = ends_with_any(
            own,
            "もらえますか もらえませんか くれますか くれませんか いただけますか いただけませんか くれる もらえる",
        );
        let is_question = sentence.ends_with(['？', '?'])
            || ends_with_any(own, "ますか ですか ょうか ませんか かな っけ の");
        // 「触るなって言ったけど、あれは忘れて」
        let own = ["って言ったけど、", "と言ったけど、", "って言いましたが、", "と言いましたが、"]
            .iter()
            .fold(own.to_owned(), |own, said| own.replace(said, "の件は"));
        let own = own.replace("制限、なし", "制限なし").replace("制約、なし", "制約なし");
        let own = own.as_str();
        if is_question && !asks_for
            || is_other_speech(own)
            || ends_with_any(own, "ていいって ていいってさ てもいいって okって")
        {
            return None;
        }
        let own = each_word(COURTESIES).fold(own.to_owned(), |own, courtesy| own.replace(courtesy, ""));
        // A reason is no condition: 「来週捨てるので」.
        let is_reason = |clause: &&str| ends_with_any(clause, "ので から んで ため");
        let is_conditional = own
            .split('、')
            .filter(|clause| !is_reason(clause))
            .any(|clause| contains_any(clause, CONDITIONS));
        // 「…にもあったので、そっちも直して」
        let path = all_runs(&own).into_iter().rfind(|run| run.is_ascii() && run.contains('/'));
        let own = path.map_or(own.clone(), |path| own.replace("そっち", &path).replace("そちら", &path));
        let mut parts = Vec::new();
        for clause in clauses(&own) {
            if let Some(part) = takes_back(&clause).filter(|_| !restates) {
                parts.push(part);
            } else if is_conditional || contains_any(&clause, "いいのは いいわけ てもいいですか 自分で 私が")
            {
                // Not now, not everything, or not by Claude.
            } else if contains_any(&clause, RELEASES) && !restates {
                parts.push(Part::Releases(clause));
            } else {
                parts.extend(acts(&clause));
                parts.extend(first_of_two(&clause).and_then(acts));
                if ends_with_any(&clause, "た たよ たね ました ましたよ です ですよ たので たから ましたので")
                {
                    parts.push(Part::States(clause));
                }
            }
        }
        // 「依存の追加、許可します」
        if !is_conditional
            && let [.., before, last] = clauses(&own).as_slice()
            && ["許可します", "許可する", "解禁です", "okです", "ok", "大丈夫です"].contains(&last.as_str())
            && !contains_any(before, "て で は")
        {
            parts.extend(acts(&format!("{before}を{last}")));
        }
        // What is done with it may be in another clause than its name.
        if !is_conditional
            && let [.., before, _] = clauses(&own).as_slice()
            && before.ends_with(['は', 'も'])
        {
            parts.extend(acts(&own));
        }
        (!parts.is_empty()).then_some(Lift { parts })
    }

    pub(super) fn covers(&self, gist: &Gist) -> bool {
        self.parts.iter().any(|part| gist.is_covered_by(part))
    }
}

fn takes_back(clause: &str) -> Option<Part> {
    if contains_any(clause, "忘れない 忘れず 解除しない 撤回しない") {
        return None;
    }
    let clause = without_reason(clause);
    let names_rule = contains_any(clause, RULES);
    // 「凍結解除されました」
    if clause.contains("凍結") && contains_any(clause, "解除 終わり 終了 明け") {
        return Some(Part::TakesBack { runs: vec!["凍結".to_owned()], names_rule });
    }
    if names_rule && clause.contains("行数") && contains_any(clause, "なし 忘れて 無視 解除 廃止 撤回 緩和")
    {
        return Some(Part::TakesBack { runs: vec!["行数".to_owned()], names_rule });
    }
    let forgets = contains_any(clause, "忘れて 撤回 取り消 取消");
    let drops = contains_any(
        clause,
        "無視して 解除 適用しな 緩和 なかったことに 白紙 取り下げ 廃止 終わり 終了 もういい 気にしなくて 気にせず",
    ) && names_rule
        || ends_with_any(clause, "もういい もういいです もういいや もういいよ はもうなし")
        || contains_any(
            clause,
            "制限もなし 制約もなし 制限はもうなし 制約はもうなし ルールはもうなし 件はもうなし 全部なし 全てなし すべてなし ルールなし 縛りなし 制限なし \
             件はなし 件なし 制限はなし 制限なし 制約はなし ルールはなし 条件はなし 話はなし",
        );
    if !forgets && !drops {
        return None;
    }
    let is_rule = |run: &String| {
        among(
            "件 制限 制約 規則 ルール 約束 条件 指示 話 言 忘 撤回 解除 無視 発言 取 消 取消 白紙 下 廃止 終 終了 昨日 先程 例 適用 緩和 全部 全 行数",
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

/// 「コミットして」, 「コミットしていいよ」, 「コミットお願いします」
fn acts(clause: &str) -> Option<Part> {
    if contains_any(without_reason(clause), "てない ていない まだ") {
        return None;
    }
    let first = |list: Words| each_word(list).filter_map(|end| clause.find(end)).min();
    let at = first(PERMITS)
        .or_else(|| first(CHOSEN))
        .or_else(|| ["ok", "okです", "可です"].iter().find_map(|end| clause.strip_suffix(end)).map(str::len));
    if let Some(at) = at {
        // 「pushしてもいいことを説明して」, 「docsだけコミットしていい」, 「本番にはデプロイしていい」
        let named =
            clause.split("ていい").nth(1).or_else(|| clause.split("てもいい").nth(1)).unwrap_or_default();
        if named.starts_with(['こ', 'と', 'か']) || is_partial(&clause[..at]) {
            return None;
        }
        return Some(Part::Acts {
            clause: clause.to_owned(),
            verb: verb_of(&clause[..at]),
            is_permission: true,
        });
    }
    if contains_any(without_reason(clause), "ないで 禁止 ないよう ません ずに") {
        return None;
    }
    let core = without_courtesy(clause);
    let is_order = core.len() < clause.len() && !clause.ends_with("です")
        || ends_with_any(core, "て で よう ましょう 頼む よろしく くれ ちゃお ちゃおう しよ しよう しましょ");
    is_order.then(|| Part::Acts { clause: clause.to_owned(), verb: verb_of(core), is_permission: false })
}

/// Only for a part: 「docsだけ」, 「ステージングには」; not 「今回だけ」.
fn is_partial(permitted: &str) -> bool {
    let only = permitted.find("だけ").map(|at| &permitted[..at]);
    only.is_some_and(|before| !ends_with_any(before, "今回 一度 一回 1回 今 今日 この件 これ"))
        || ["には", "へは", "では"].iter().any(|contrast| {
            permitted.find(contrast).is_some_and(|at| {
                runs(&permitted[..at]).last().is_some_and(|run| permitted[..at].ends_with(run.as_str()))
            })
        })
}

/// What follows 「…ので」.
fn without_reason(clause: &str) -> &str {
    let ends = ["ので", "から", "んで", "たし"].iter().filter_map(|end| Some(clause.rfind(end)? + end.len()));
    let at = ends.max().filter(|at| !runs(&clause[*at..]).is_empty());
    at.map_or(clause, |at| &clause[at..])
}

/// 「サーバー立ち上げて」, of 「サーバー立ち上げて確認して」.
fn first_of_two(clause: &str) -> Option<&str> {
    let at = clause.find('て')? + 'て'.len_utf8();
    let (first, second) = clause.split_at(at);
    let continues = second.chars().next().is_some_and(|c| !is_hiragana(c)) && all_runs(second).len() == 1;
    (continues && !second.contains('を') && contains_any(second, "て ます")).then_some(first)
}

/// The last word before its own ending: not the object of 「テストもやって」.
fn verb_of(stem: &str) -> Option<String> {
    let stem = stem.trim_end_matches("もう").trim_end_matches(['を', 'は', 'も', 'で']);
    // 「デザインを今風にして」
    if contains_any(stem, "参考に 元に 例に 見本に 手本に 前提に 対象に") {
        return None;
    }
    if ends_with_any(stem, "一覧にして 表にして リストにして") {
        return None;
    }
    if stem.ends_with("にして") || stem.ends_with("にしちゃって") || stem.ends_with("にしと") {
        return Some("変".to_owned());
    }
    let verb = all_runs(stem).pop()?;
    let after = stem.rfind(verb.as_str()).map_or("", |at| &stem[at + verb.len()..]);
    (!after.starts_with(['は', 'も', 'が', 'に', 'を', 'で', 'の'])).then_some(verb)
}
