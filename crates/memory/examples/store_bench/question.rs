//! The questions and their expected hits.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use tidegate_memory::sqlite::SqliteStore;
use tidegate_memory::store::Store;
use tidegate_memory::view::{Filter, Hit, HitKind, LocalTime, Query};

use super::corpus::{self, APART, COMMON, Corpus, NEEDLES, PHRASE, RARE, RARE_PAIR, Random};
use super::samples::Samples;
use super::{Done, open, output};

const LIMIT: usize = 20;

/// As people ask, in words that the thesaurus has much for.
const PLAIN: [&[&str]; 2] = [
    &[
        "why did the site get slow when everyone came at once",
        "how did we stop the password mail from being sent twice",
        "the price on the bill was wrong for customers abroad",
        "what broke after the server was moved to the new machine",
        "who may see the private data of customers in the report",
        "the import lost rows because the file had another encoding",
        "users cannot log in after the update of the app",
        "where do we keep the copies of the database and how long",
        "tests that fail only sometimes on the build server",
        "the screen stays empty until the page is loaded again",
        "memory grows until the process is killed",
        "the order of the list is different on the phone",
    ],
    &[
        "みんなが一斉に来たときにサイトが重くなった原因",
        "パスワードのメールが二回送られるのをどう止めたか",
        "海外の顧客の請求金額が間違っていた",
        "サーバーを新しい機械に移した後で何が壊れたか",
        "顧客の個人情報を帳票で見られる人は誰か",
        "文字コードが違ってファイルの取り込みで行が消えた",
        "アプリの更新後にログインできない",
        "データベースの控えをどこに何日保管するか",
        "ときどきだけ失敗するテスト",
        "画面を読み直すまで何も表示されない",
        "プロセスが止められるまでメモリが増え続ける",
        "電話では一覧の順番が違う",
    ],
];

/// Words of time, by the name of the kind.
const TIMES: [&[(&str, &[&str])]; 2] = [
    &[
        ("en: a week", &["last week", "this week"]),
        ("en: a month of some year", &["in March", "in November"]),
    ],
    &[("ja: a week", &["先週", "今週"]), ("ja: a month of some year", &["3月", "11月"])],
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Found {
    /// The needles, and behind them at most what has only some of the words.
    Needles,
    /// As many as the limit.
    Full,
    /// At least one.
    Some,
    /// Not checked.
    Any,
}

pub(crate) struct Question {
    pub(crate) name: String,
    /// In turns.
    queries: Vec<Query>,
    found: Found,
    size: usize,
}

pub(crate) struct Questions {
    pub(crate) all: Vec<Question>,
}

fn query(text: impl Into<String>) -> Query {
    Query { text: text.into(), limit: LIMIT, ..Query::default() }
}

impl Questions {
    pub(crate) fn new(corpus: &Corpus, size: usize) -> Questions {
        let mut all = Vec::new();
        let mut add = |name: String, found: Found, queries: Vec<Query>| {
            all.push(Question { name, queries, found, size });
        };
        for (language, name) in ["en", "ja"].into_iter().enumerate() {
            let words = &corpus.words[language];
            let mut random = Random::new(language as u64);
            let mut some = |from: usize, to: usize, many: usize| -> String {
                let words: Vec<&str> =
                    (0..many).map(|_| words[from + random.below(to - from)].as_str()).collect();
                words.join(" ")
            };
            let [one, other] = COMMON[language];
            add(format!("{name}: a needle"), Found::Needles, vec![query(RARE[language])]);
            add(
                format!("{name}: rare words"),
                Found::Any,
                (0..100).map(|_| query(some(8_000, 30_000, 1))).collect(),
            );
            add(
                format!("{name}: middling words"),
                Found::Some,
                (0..100).map(|_| query(some(100, 500, 1))).collect(),
            );
            add(
                format!("{name}: the commonest words"),
                Found::Full,
                (0..30).map(|n| query(words[n].clone())).collect(),
            );
            add(format!("{name}: in half of all"), Found::Full, vec![query(one), query(other)]);
            add(format!("{name}: both in half of all"), Found::Full, vec![query(format!("{one} {other}"))]);
            add(
                format!("{name}: two that hardly meet"),
                Found::Needles,
                vec![query(APART[language].join(" "))],
            );
            let apart = APART[language].join(" ");
            add(
                format!("{name}: common and hardly meeting"),
                Found::Any,
                vec![query(format!("{one} {other} {apart}"))],
            );
            add(
                format!("{name}: a phrase of common words"),
                Found::Any,
                vec![query(format!("\"{}\"", PHRASE[language].join([" ", ""][language])))],
            );
            if language == 1 {
                add("ja: a long word of common ones".to_owned(), Found::Any, vec![query(PHRASE[1].concat())]);
                add("ja: a needle of two characters".to_owned(), Found::Needles, vec![query(RARE_PAIR)]);
                add(
                    "ja: one character".to_owned(),
                    Found::Full,
                    vec![query(&COMMON[1][0][..3]), query(&COMMON[1][1][..3])],
                );
            }
            add(
                format!("{name}: four words"),
                Found::Any,
                (0..100).map(|_| query(some(5, 300, 4))).collect(),
            );
            add(
                format!("{name}: eight words, no text has all"),
                Found::Any,
                (0..100).map(|_| query(some(200, 3_000, 8))).collect(),
            );
            add(
                format!("{name}: a question in plain words"),
                Found::Any,
                PLAIN[language].iter().map(|text| query(*text)).collect(),
            );
            add(
                format!("{name}: common, and one that is nowhere"),
                Found::Full,
                [one, other].map(|word| query(format!("{word} {}", ["xyzzyx", "鷽鷽"][language]))).to_vec(),
            );
            let with = |filter: Filter| {
                let filter = &filter;
                [one, other].map(|word| Query { filter: filter.clone(), ..query(word) }).to_vec()
            };
            let middle = size / 2;
            add(
                format!("{name}: common, largest project"),
                Found::Full,
                with(Filter { project: Some(1), ..Filter::default() }),
            );
            add(
                format!("{name}: common, small projects"),
                Found::Any,
                (200..300)
                    .map(|project| Query {
                        filter: Filter { project: Some(project), ..Filter::default() },
                        ..query(one)
                    })
                    .collect(),
            );
            let topic = corpus::topic_of(middle).cast_signed() as i64 + 1;
            add(
                format!("{name}: common, a topic"),
                Found::Some,
                with(Filter { topic: Some(topic), ..Filter::default() }),
            );
            add(
                format!("{name}: common, a session"),
                Found::Some,
                with(Filter { session: Some(corpus::session_of(middle)), ..Filter::default() }),
            );
            let span = |from: usize| Filter {
                since: Some(corpus::at(from)),
                until: Some(corpus::at(from + size / 10)),
                ..Filter::default()
            };
            add(format!("{name}: common, an early tenth"), Found::Full, with(span(size / 10)));
            let needle = Query { filter: span(0), ..query(format!("{} {}", RARE[language], one)) };
            add(format!("{name}: needle and common, a tenth"), Found::Any, vec![needle]);
            let now = LocalTime { now: corpus::at(size), offsets: Vec::new() };
            let at_a_time = |text: &str| Query { local: Some(now.clone()), ..query(text) };
            for (name, times) in TIMES[language] {
                let asked = times.iter().flat_map(|time| {
                    [format!("{one} {other} {time}"), format!("{} {time}", PLAIN[language][0])]
                });
                add((*name).to_owned(), Found::Any, asked.map(|text| at_a_time(&text)).collect());
            }
            let decisions = |word: &str| Query { kinds: vec![HitKind::Decision], ..query(word) };
            add(
                format!("{name}: common, decisions"),
                Found::Any,
                (0..30).map(|n| decisions(&words[n])).collect(),
            );
        }
        Questions { all }
    }

    /// Each question in a newly opened store.
    pub(crate) fn fresh(&self, path: &Path, runs: usize) -> Done<Samples> {
        let mut samples = Samples::default();
        for query in self.turns(runs) {
            let asked = || open(path)?.search(query).map_err(|error| error.to_string());
            samples.time(asked)?;
        }
        Ok(samples)
    }

    /// Each question without a filter, in its own process.
    pub(crate) fn processes(
        &self,
        program: &Path,
        data: &Path,
        runs: usize,
        problems: &mut Vec<String>,
    ) -> Done<Samples> {
        let mut samples = Samples::default();
        for query in self.turns(runs).filter(|query| query.filter == Filter::default()) {
            let mut command = Command::new(program);
            command.env("TIDEGATE_DATA_DIR", data).env("TIDEGATE_STATE_DIR", data.join("state"));
            command.args(["memory", "search", "--json", "--", &query.text]);
            let printed = samples.time(|| output(&mut command))?;
            if !printed.starts_with('{') {
                problems.push(format!("{}: {printed}", query.text));
            }
        }
        Ok(samples)
    }

    fn turns(&self, runs: usize) -> impl Iterator<Item = &Query> {
        let kinds = &self.all;
        (0..runs * 2).filter_map(move |number| {
            let kind = kinds.get(number % kinds.len())?;
            kind.queries.get(number / kinds.len() % kind.queries.len())
        })
    }
}

impl Question {
    /// Checks the hits.
    pub(crate) fn ask(
        &self,
        store: &mut SqliteStore,
        runs: usize,
        problems: &mut Vec<String>,
    ) -> Done<Samples> {
        let mut samples = Samples::default();
        for number in 0..runs {
            let query = &self.queries[number % self.queries.len()];
            let hits = samples.time(|| store.search(query)).map_err(|error| error.to_string())?.hits;
            if number < self.queries.len()
                && let Some(wrong) = self.wrong(&hits)
            {
                problems.push(format!("{} logs, {}, {}: {wrong}", self.size, self.name, query.text));
            }
        }
        Ok(samples)
    }

    fn wrong(&self, hits: &[Hit]) -> Option<String> {
        match self.found {
            Found::Any => None,
            Found::Some => hits.is_empty().then(|| "nothing was found".to_owned()),
            Found::Full => (hits.len() != LIMIT).then(|| format!("{} hits", hits.len())),
            Found::Needles => {
                let there = NEEDLES.iter().filter(|number| **number < self.size);
                let wanted: BTreeSet<String> = there.map(|number| corpus::log_uid(*number)).collect();
                let found: BTreeSet<String> =
                    hits.iter().take(wanted.len()).map(|hit| hit.uid.clone()).collect();
                (wanted != found)
                    .then(|| format!("{} of {} needles", found.intersection(&wanted).count(), wanted.len()))
            }
        }
    }
}
