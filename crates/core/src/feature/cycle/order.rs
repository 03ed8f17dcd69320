//! A prompt that orders a cycle, and what it says about publishing.

use crate::feature::cycle::go_ahead::{is_question, read_plain};
use crate::feature::cycle::marks::Order;
use crate::text::reserved::{self, Step};
use crate::text::skill_name::{called_in, satisfies};
use crate::text::word_list::{Words, among};
use crate::text::wrapped::join_lines;

/// Said of a cycle, each orders it.
const VERBS: Words = "run start begin do launch kick execute use go continue resume restart proceed please make perform complete";
const VERBS_JA: [&str; 10] =
    ["回", "始め", "開始", "実行", "走らせ", "お願い", "進め", "続け", "再開", "やって"];
const NOT: Words = "not never no nothing without cannot stop cancel abort abandon";
const NOT_JA: [&str; 4] = ["ないで", "しない", "やめ", "中止"];

/// Next to the steps, they ask for a publishing one plainly.
const PLAIN: Words = "run start begin do dev development a an full whole complete through including end finally afterwards also and \
    change changes result work it's one";

/// The sentence may mean that a step waits, or is left out.
const DOUBTS: Words = "not never no nothing none without except but short unless until till before after only if when once wait hold \
    pause stop later tomorrow tonight monday skip first cannot instead";

/// "goes out", "go live"
const GOES: Words = "go goes going gone went get gets put puts";
const OUT: Words = "out live public online outside";
/// "keep the changes local"
const KEEPS: Words = "keep keeps stay stays remain remains leave leaves";
const HERE: Words = "local locally here machine laptop computer box uncommitted unpushed private";
const PERSON: Words = "i i'm i'll i'd i've me my myself mine";
const WAITS: Words = "before until till unless first after wait pause check approval approve permission ask ok look see review sign-off glance";

const CONCERNS_JA: [&str; 9] = [
    "外に出",
    "出す前",
    "出さない",
    "世に出",
    "見せて",
    "手元",
    "ローカル",
    "確認してから",
    "レビューしてから",
];

/// Where the rest of a quotation begins.
const MAX_SAID_CHARS: usize = 60;

/// `None` if the prompt orders no cycle; else its words about publishing, other than asking for it plainly. `cycles` are
/// their names, `steps` their publishing stages, `known` the names of all stages and cycles.
pub(super) fn read_order(said: &str, cycles: &[&str], steps: &[Step], known: &[&str]) -> Option<Order> {
    // "Do not", and "run the cycle" on the next line.
    if !orders_cycle(said, cycles) || join_lines(said).is_some_and(|joined| !orders_cycle(&joined, cycles)) {
        return None;
    }
    let text = called_in(said)
        .map_or(said, |called| called.split_once(char::is_whitespace).map_or("", |(_, rest)| rest));
    let is_end = |c: char| matches!(c, '.' | '!' | '?' | ';' | '。' | '！' | '？' | '\n');
    let find = |text: &str| {
        let mut sentences = text.split(is_end).map(str::trim).filter(|sentence| !sentence.is_empty());
        let reserved = sentences.find(|sentence| {
            reserved::reserves_any(sentence, steps)
                || concerns(sentence, steps) && !asks_plainly(sentence, steps, known)
        });
        reserved.map(|sentence| quote_around(sentence, MAX_SAID_CHARS))
    };
    // A sentence may go on over lines.
    Some(Order { reserved: find(text).or_else(|| find(&join_lines(text)?)) })
}

fn orders_cycle(said: &str, cycles: &[&str]) -> bool {
    let said = said.trim();
    if let Some(command) = called_in(said) {
        let name = command.split_whitespace().next().unwrap_or_default();
        return cycles.iter().any(|cycle| satisfies(name, cycle));
    }
    let is_end = |c: char| matches!(c, '.' | '!' | '?' | ';' | ',' | '。' | '、' | '？' | '\n');
    said.split_inclusive(is_end).any(|sentence| {
        if is_question(sentence) {
            return false;
        }
        let lower = sentence.to_lowercase().replace('’', "'");
        let words = words_of(&lower);
        let named =
            words.iter().position(|word| matches!(*word, "cycle" | "cycles") || cycles.contains(word));
        let names = named.is_some()
            || !lower.is_ascii()
                && (lower.contains("サイクル")
                    || lower.contains("cycle")
                    || cycles.iter().any(|name| lower.contains(name)));
        let is_not = |word: &&str| among(NOT, word) || word.ends_with("n't");
        // "Run the cycle but do not ship" orders it.
        let denied = words[..named.unwrap_or(words.len())].iter().any(is_not)
            || NOT_JA.iter().any(|word| lower.contains(word));
        let asks = words.iter().any(|word| among(VERBS, word))
            || !lower.is_ascii() && VERBS_JA.iter().any(|word| lower.contains(word));
        names && asks && !denied
    })
}

fn words_of(lower: &str) -> Vec<&str> {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '-' | '\'');
    lower.split(|c: char| !is_part(c)).filter(|word| !word.is_empty()).collect()
}

/// It says something about publishing.
fn concerns(sentence: &str, steps: &[Step]) -> bool {
    let lower = sentence.to_lowercase().replace('’', "'");
    let words = words_of(&lower);
    let has = |list: Words| words.iter().any(|word| among(list, word));
    let goes_out = words.windows(2).any(|pair| among(GOES, pair[0]) && among(OUT, pair[1]));
    goes_out
        || has(KEEPS) && has(HERE)
        || has(PERSON) && has(WAITS)
        || steps.iter().any(|step| reserved::find_mention(&lower, step).is_some())
        || !lower.is_ascii() && CONCERNS_JA.iter().any(|word| lower.contains(word))
}

/// "run the dev cycle and ship it"
fn asks_plainly(sentence: &str, steps: &[Step], known: &[&str]) -> bool {
    let lower = sentence.to_lowercase().replace('’', "'");
    let words = words_of(&lower);
    if words.iter().any(|word| among(DOUBTS, word) || word.ends_with("n't")) {
        return false;
    }
    let parts = lower
        .split([',', '、', ':', '：', '(', ')'])
        .flat_map(|part| part.split(" and "))
        .flat_map(|part| part.split(" then "));
    parts.filter(|part| concerns(part, steps)).all(|part| {
        let plain = part.replace("まで", "").replace("回して", "").replace("最後", "");
        read_plain(&plain, known, PLAIN).is_some()
    })
}

/// The part of a sentence that matters: around its first word about publishing.
pub(super) fn quote_around(sentence: &str, most: usize) -> String {
    let count = sentence.chars().count();
    if count <= most {
        return sentence.to_owned();
    }
    let any = Step { publishes: true, ..Step::default() };
    let lower = sentence.to_lowercase();
    let at = reserved::find_mention(&lower, &any).map_or(0, |at| lower[..at].chars().count());
    // Some words before it, and as many after it as there is room for.
    let from = at.saturating_sub(most / 2).min(count.saturating_sub(most - 1));
    let mut rest: Vec<char> = sentence.chars().skip(from).collect();
    if from > 0 {
        let word = rest.iter().take(12).position(|c| c.is_whitespace()).map_or(0, |blank| blank + 1);
        rest.drain(..word);
        rest.insert(0, '…');
    }
    if rest.len() > most {
        rest.truncate(most - 1);
        rest.push('…');
    }
    rest.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feature::cycle::settings::Settings;

    fn order(said: &str) -> Option<Order> {
        let steps = Settings::default().publishing_steps();
        let known = ["dev-cycle", "sprint", "audit", "ship", "retrospective"];
        read_order(said, &known[..1], &steps, &known)
    }

    #[test]
    fn plain_orders() {
        for said in [
            "/dev-cycle",
            "/dev-cycle add a retry to the uploader",
            "/tidegate-cycle:dev-cycle fix the login",
            "$dev-cycle fix the login",
            "run a cycle",
            "Run the dev cycle.",
            "run the dev cycle and ship it",
            "Run the full dev cycle: sprint, audit, ship, retrospective.",
            "/dev-cycle add a retry, then commit and push it",
            "please start dev-cycle for the new parser",
            "/dev-cycle add a retry to the uploader,\nwith three attempts",
            "サイクルを回して",
            "サイクルを回してshipまでお願いします",
            "dev cycleを実行してください。リトライを追加。",
        ] {
            assert_eq!(order(said), Some(Order { reserved: None }), "{said}");
        }
    }

    #[test]
    fn orders_that_say_more_about_publishing() {
        for said in [
            "/dev-cycle pause before ship",
            "Run the dev cycle. Shipping is off limits.",
            "Run the dev cycle. Do everything short of shipping",
            "/dev-cycle fix it, we'll ship tomorrow",
            "サイクルを回して。shipはスキップで",
            "サイクルを回して。出荷は明日にします",
            "run the dev cycle, and let me review before anything goes out",
            "/dev-cycle 出す前に一度見せてください。",
            "Run the dev cycle, let me have a glance before anything goes out",
            "run the dev cycle; keep the changes local",
            "/dev-cycle add a retry. Leave the changes uncommitted.",
            "run the dev cycle but never, ever, ship",
            "Run the cycle, but stop after the audit.",
            "Run the dev cycle, but do not ship before I looked at it.",
            "dev cycleを回して。auditまでで止めて",
            "/dev-cycle do everything but ship",
            "/dev-cycle I want to look at it first",
            "/dev-cycle improve a.py, and keep the loop as it is. Do not\nrelease it.",
            "/dev-cycle improve a.py. Do not\nmerge it.",
            "/dev-cycle improve a.py. I want to\nreview the diff first.",
            "/dev-cycle improve a.py, but let me\napprove the result.",
            "/dev-cycle improve a.py. I decide when it goes\nout.",
        ] {
            assert!(order(said).is_some_and(|order| order.reserved.is_some()), "{said}: {:?}", order(said));
        }
    }

    #[test]
    fn what_orders_nothing() {
        for said in [
            "what is in this project?",
            "what was the cycle about?",
            "do not run the dev cycle",
            "please do not\nrun the dev cycle",
            "the cycle failed",
            "hello",
            "/compact",
            "/clear",
            "use tabs",
            "",
        ] {
            assert_eq!(order(said), None, "{said}");
        }
    }

    #[test]
    fn the_part_that_matters_is_quoted() {
        let long = "Add a retry with exponential backoff to the uploader and to all of its callers but do not ship before I looked";
        let quoted = quote_around(long, 60);
        assert!(quoted.contains("do not ship before I") && quoted.chars().count() <= 61, "{quoted}");
        assert_eq!(quote_around("do not ship", 60), "do not ship");
    }
}
