//! A prompt that orders a cycle, and what it says about publishing.

use crate::feature::cycle::go_ahead::{is_question, read_plain};
use crate::feature::cycle::marks::Order;
use crate::text::reserved::{self, Step};
use crate::text::skill_name::{called_in, satisfies};
use crate::text::word_list::{Words, among};
use crate::text::wrapped::join_lines;

/// At the beginning of a clause, before the cycle's name, each orders it: also "go on with" and "kick off".
const VERBS: Words = "run start begin do launch execute use continue resume restart perform complete on off";
/// Before such a verb they change nothing.
const LEADS: Words =
    "please pls ok okay now then and so just also let's lets go carry ahead kick again finally next";
/// Between the verb and the name.
const ARTICLES: Words = "the a an another one full whole complete entire new dev development our your with";
/// As a request ends. Not what is done, was done or would be: 「回している」「回してから」「回しても」.
const REQUESTS_JA: [&str; 14] = [
    "回して",
    "まわして",
    "始めて",
    "開始して",
    "実行して",
    "走らせて",
    "進めて",
    "続けて",
    "再開して",
    "やって",
    "お願い",
    "回そう",
    "始めよう",
    "使って",
];
const NO_REQUEST_JA: [char; 5] = ['い', 'る', 'た', 'も', 'か'];
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
/// What a cycle does outside of the working folder, and its parts.
const REACHES: Words =
    "git github gitlab remote remotes upstream stage stages step steps irreversible dry dry-run qa";
const WAITS: Words = "before until till unless first after wait pause check approval approve permission ask ok look see review sign-off glance";

const CONCERNS_JA: [&str; 17] = [
    "git",
    "リモート",
    "アップロード",
    "段階",
    "勝手に",
    "誰にも",
    "最後は",
    "最終確認",
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
    let is_end = |c: char| matches!(c, '.' | '!' | '?' | ';' | ',' | '。' | '、' | '？');
    // A quotation orders nothing.
    let lines = said.lines().filter(|line| !line.trim_start().starts_with(['>', '"', '“', '「']));
    lines.flat_map(|line| line.split_inclusive(is_end)).any(|clause| {
        if is_question(clause) {
            return false;
        }
        let lower = clause.to_lowercase().replace('’', "'");
        lower.split(" and ").any(|part| orders_in_english(part, cycles)) || orders_in_japanese(&lower, cycles)
    })
}

/// "please start a dev cycle", and not "use fewer CPU cycles" or "I'll run the dev cycle".
fn orders_in_english(clause: &str, cycles: &[&str]) -> bool {
    let words = words_of(clause);
    let mut rest = words.iter().copied().skip_while(|word| among(LEADS, word));
    let orders = rest.next().is_some_and(|verb| among(VERBS, verb));
    // "Bob: run the dev cycle" may be another person's words.
    let is_label =
        clause.contains(':') && !clause.split(':').next().is_some_and(|before| before.contains("cycle"));
    orders
        && !is_label
        && rest
            .find(|word| !among(ARTICLES, word))
            .is_some_and(|name| name == "cycle" || cycles.contains(&name))
}

fn orders_in_japanese(clause: &str, cycles: &[&str]) -> bool {
    if clause.is_ascii() || NOT_JA.iter().any(|word| clause.contains(word)) {
        return false;
    }
    let mut names = ["サイクル", "dev cycle"].into_iter().chain(cycles.iter().copied());
    let Some(after) = names.find_map(|name| clause.find(name).map(|at| &clause[at + name.len()..])) else {
        return false;
    };
    REQUESTS_JA.iter().any(|request| {
        let behind = after.find(request).map(|at| &after[at + request.len()..]);
        behind.is_some_and(|behind| !behind.starts_with(NO_REQUEST_JA))
    }) || ["開始", "実行", "再開"]
        .iter()
        .any(|noun| after.trim_end_matches(['。', '、', ' ']).ends_with(noun))
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
        || has(REACHES)
        || words.iter().any(|word| word.starts_with("--no"))
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
            "Fix the login and run a full dev cycle",
            "ok, now go ahead and start another dev-cycle",
            "Fix the login, then use the dev cycle.",
            "dev-cycleを実行",
            "go on with the cycle",
            "let's kick off a dev cycle",
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
            "/dev-cycle x. Don't touch git.",
            "/dev-cycle x. Stop after stage 2.",
            "/dev-cycle x. Only the first two stages.",
            "/dev-cycle x. The last step is mine.",
            "/dev-cycle x. No GitHub.",
            "/dev-cycle x. Dry run only.",
            "/dev-cycle x. Ask before anything irreversible.",
            "/dev-cycle --no-ship x",
            "/dev-cycle 直して。gitは触らないで",
            "/dev-cycle 直して。勝手に進めないで",
            "/dev-cycle 直して。各段階で確認して",
            "/dev-cycle 直して。最後は私がやる",
            "/dev-cycle 直して。まだ誰にも見せないで",
            "/dev-cycle 直して。アップロード禁止",
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
            "use fewer CPU cycles",
            "Fix the import cycle and make it faster",
            "Fix the import cycle and run the tests.",
            "why did you run the dev cycle",
            "I'll run the dev cycle myself later",
            "Bob: run the dev cycle",
            "> run the dev cycle",
            "dev-cycleを回すとどうなるか説明して",
            "サイクルを回していいですか",
            "サイクルを回してからレビューします",
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
