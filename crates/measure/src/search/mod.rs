//! `cargo xtask eval-search`: how often the search of the memory finds what was meant, beside a plain BM25.
//!
//! An example of `crates/memory` asks the queries of `corpus/search`; linked into this program, every other task would
//! wait for SQLite to compile.

mod baseline;

use std::collections::BTreeMap;
use std::fs;
use std::path::{self, Path, PathBuf};

use serde_json::{Value, json};

use crate::goals;
use baseline::Bm25;
use xtask::failure::{Done, Failure, While};
use xtask::print;
use xtask::workspace::{self, cargo};

/// Kinds of queries with an answer, and the wanted recall of each in per cent.
const KINDS: [(&str, f64); 7] = [
    ("words", 90.0),
    ("forms", 90.0),
    ("names", 90.0),
    ("questions", 90.0),
    ("project_time", 85.0),
    ("language", 60.0),
    ("paraphrase", 30.0),
];
const ALL: f64 = 80.0;

/// The share of queries without an answer that have to give nothing.
const NONE: f64 = 50.0;

/// A person looks at the first five.
const FIRST: usize = 5;

struct Labelled {
    id: String,
    kind: String,
    language: String,
    text: String,
    want: Vec<String>,
    part: String,
}

/// What each of the two found, best first.
struct Answered {
    query: Labelled,
    ours: Vec<String>,
    plain: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Show {
    Table,
    Json,
    /// Also each query of the part to tune on whose wanted logs are not among the first.
    Misses,
}

/// Which queries are asked, of which logs.
#[derive(Clone, Copy)]
pub(crate) enum Set<'a> {
    /// Those of `corpus/search`, in two parts.
    Split,
    /// Those of `corpus/search/fresh`, with the logs of both.
    Fresh,
    /// Those of `corpus/search/fresh-2`, with the logs of all three.
    Fresh2,
    /// Those of a folder elsewhere, with its logs and those of all three. Only figures are shown.
    Folder(&'a str),
}

const OWN: [&str; 3] = ["corpus/search", "corpus/search/fresh", "corpus/search/fresh-2"];

impl Set<'_> {
    /// The last folder has the queries.
    fn folders(self) -> Vec<PathBuf> {
        let own = match self {
            Set::Split => 1,
            Set::Fresh => 2,
            Set::Fresh2 | Set::Folder(_) => OWN.len(),
        };
        let mut folders: Vec<PathBuf> =
            OWN[..own].iter().map(|folder| workspace::root().join(folder)).collect();
        if let Set::Folder(folder) = self {
            folders.push(path::absolute(folder).unwrap_or_else(|_| PathBuf::from(folder)));
        }
        folders
    }

    /// The part that has to reach the goals, if not all.
    fn judged(self) -> Option<&'static str> {
        match self {
            Set::Split => Some("held-out"),
            Set::Fresh | Set::Fresh2 | Set::Folder(_) => None,
        }
    }
}

pub(crate) fn evaluate(set: Set<'_>, show: Show) -> Done {
    let answered = ask_all(set)?;
    if show == Show::Json {
        print::line(&figures(&answered).to_string());
    } else {
        for part in parts_of(&answered) {
            for line in table(part, &answered) {
                print::line(&line);
            }
        }
    }
    if show == Show::Misses {
        print_misses(&answered);
    }
    let is_judged = |one: &&Answered| set.judged().is_none_or(|part| one.query.part == part);
    let judged: Vec<&Answered> = answered.iter().filter(is_judged).collect();
    let missed = missed_goals(&judged);
    if missed.is_empty() {
        return Ok(());
    }
    Err(Failure::new(format!("the search misses its goals:\n  {}", missed.join("\n  ")))
        .next("a better search, chosen by the part `tune` (--misses); what is held out stays as it is"))
}

/// As the queries name them.
fn parts_of(answered: &[Answered]) -> Vec<&str> {
    let mut parts: Vec<&str> = answered.iter().map(|one| one.query.part.as_str()).collect();
    parts.sort_unstable_by(|one, other| other.cmp(one));
    parts.dedup();
    parts
}

fn read_lines(folder: &Path, name: &str) -> Done<Vec<Value>> {
    let path = folder.join(name);
    let text = fs::read_to_string(&path).while_(path.display())?;
    text.lines().map(|line| serde_json::from_str(line).while_(path.display())).collect()
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).map(ToOwned::to_owned).collect()
}

fn ask_all(set: Set<'_>) -> Done<Vec<Answered>> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (mut logs, mut queries) = (Vec::new(), Vec::new());
    for folder in set.folders() {
        logs.extend(read_lines(&folder, "logs.jsonl")?);
        queries = read_lines(&folder, "queries.jsonl")?;
    }
    let plain = Bm25::of(logs.iter().map(|log| {
        let mut all = vec![text(&log["prompt"]), text(&log["decision"])];
        all.extend(texts(&log["said"]));
        all.extend(texts(&log["files"]));
        all.join("\n")
    }));
    let mut command = cargo(&["run", "--quiet", "--locked", "--package", "tidegate-memory"]);
    command.args(["--example", "search_set", "--"]);
    command.args(set.folders());
    let mut ours = BTreeMap::new();
    for line in workspace::read_stdout(&mut command)?.lines() {
        let line: Value = serde_json::from_str(line).while_("reading what was found")?;
        ours.insert(text(&line["id"]), texts(&line["found"]));
    }
    let answered = queries.iter().map(|entry| {
        let query = Labelled {
            id: text(&entry["id"]),
            kind: text(&entry["kind"]),
            language: text(&entry["lang"]),
            text: text(&entry["query"]),
            want: texts(&entry["want"]),
            part: text(&entry["part"]),
        };
        let found = plain.search(&query.text).into_iter();
        let plain = found.map(|number| text(&logs[number]["id"])).collect();
        let ours = ours.remove(&query.id).ok_or_else(|| Failure::new(format!("{}: not asked", query.id)))?;
        Ok(Answered { query, ours, plain })
    });
    answered.collect()
}

impl Labelled {
    fn recall(&self, found: &[String]) -> f64 {
        let first = &found[..found.len().min(FIRST)];
        let there = self.want.iter().filter(|want| first.contains(want)).count();
        there as f64 / (self.want.len().clamp(1, FIRST) as f64)
    }

    fn reciprocal_rank(&self, found: &[String]) -> f64 {
        found.iter().position(|one| self.want.contains(one)).map_or(0.0, |place| 1.0 / (place + 1) as f64)
    }
}

/// Means over some queries, in per cent for recall.
#[derive(Clone, Copy)]
struct Means {
    count: usize,
    recall: [f64; 2],
    rank: [f64; 2],
}

impl Means {
    fn of<'a>(answered: impl Iterator<Item = &'a Answered>) -> Means {
        let mut means = Means { count: 0, recall: [0.0; 2], rank: [0.0; 2] };
        for Answered { query, ours, plain } in answered {
            means.count += 1;
            for (which, found) in [ours, plain].into_iter().enumerate() {
                means.recall[which] += query.recall(found);
                means.rank[which] += query.reciprocal_rank(found);
            }
        }
        let count = means.count as f64;
        Means {
            recall: means.recall.map(|sum| 100.0 * sum / count),
            rank: means.rank.map(|sum| sum / count),
            ..means
        }
    }
}

/// The share of queries without an answer that gave nothing, by the search and by the baseline.
fn nothing<'a>(answered: impl Iterator<Item = &'a Answered>) -> (usize, [f64; 2]) {
    let (mut count, mut empty) = (0, [0.0; 2]);
    for Answered { ours, plain, .. } in answered {
        count += 1;
        for (which, found) in [ours, plain].into_iter().enumerate() {
            empty[which] += f64::from(u8::from(found.is_empty()));
        }
    }
    (count, empty.map(|empty| 100.0 * empty / count as f64))
}

fn table(part: &str, answered: &[Answered]) -> Vec<String> {
    let of_part = || answered.iter().filter(|one| one.query.part == part);
    let mut lines = vec![format!(
        "{part:<24}{:>8}{:>10}{:>10}{:>10}{:>10}",
        "queries", "recall@5", "BM25", "MRR", "BM25"
    )];
    let mut row = |name: &str, means: Means| {
        let ([ours, plain], [rank, plain_rank]) = (means.recall, means.rank);
        let figures = format!("{ours:>10.1}{plain:>10.1}{rank:>10.3}{plain_rank:>10.3}");
        lines.push(format!("  {name:<22}{:>8}{figures}", means.count));
    };
    for (kind, _) in KINDS {
        let of_kind = || of_part().filter(|one| one.query.kind == kind);
        if of_kind().next().is_none() {
            continue;
        }
        row(kind, Means::of(of_kind()));
        for language in ["en", "ja"] {
            row(&format!("  {language}"), Means::of(of_kind().filter(|one| one.query.language == language)));
        }
    }
    row("all", Means::of(of_part().filter(|one| one.query.kind != "none")));
    for language in ["", "en", "ja"] {
        let none = of_part().filter(|one| one.query.kind == "none" && one.query.language.ends_with(language));
        let (count, [ours, plain]) = nothing(none);
        if count == 0 {
            continue;
        }
        let name =
            if language.is_empty() { "no answer: gives none".to_owned() } else { format!("  {language}") };
        lines.push(format!("  {name:<22}{count:>8}{ours:>10.1}{plain:>10.1}"));
    }
    lines
}

fn figures(answered: &[Answered]) -> Value {
    let mut parts = serde_json::Map::new();
    for part in parts_of(answered) {
        let of_part = || answered.iter().filter(|one| one.query.part == part);
        let mut figures = serde_json::Map::new();
        let mut add = |name: String, means: Means| {
            let one = |which: usize| json!({ "recall_at_5": means.recall[which], "mrr": means.rank[which] });
            figures.insert(name, json!({ "queries": means.count, "search": one(0), "bm25": one(1) }));
        };
        for (kind, _) in KINDS {
            let of_kind = || of_part().filter(|one| one.query.kind == kind);
            if of_kind().next().is_none() {
                continue;
            }
            add(kind.to_owned(), Means::of(of_kind()));
            for language in ["en", "ja"] {
                add(
                    format!("{kind} {language}"),
                    Means::of(of_kind().filter(|one| one.query.language == language)),
                );
            }
        }
        add("all".to_owned(), Means::of(of_part().filter(|one| one.query.kind != "none")));
        let (count, [ours, plain]) = nothing(of_part().filter(|one| one.query.kind == "none"));
        if count > 0 {
            figures.insert("none".to_owned(), json!({ "queries": count, "search": ours, "bm25": plain }));
        }
        parts.insert(part.to_owned(), figures.into());
    }
    parts.into()
}

fn print_misses(answered: &[Answered]) {
    for Answered { query, ours, plain } in answered.iter().filter(|one| one.query.part == "tune") {
        let first = |found: &[String]| found[..found.len().min(FIRST)].join(" ");
        let is_right = if query.want.is_empty() { ours.is_empty() } else { query.recall(ours) >= 1.0 };
        if !is_right {
            print::line(&format!(
                "{} {}: {}\n    want {}\n    have {}\n    BM25 {}",
                query.id,
                query.kind,
                query.text,
                query.want.join(" "),
                first(ours),
                first(plain)
            ));
        }
    }
}

fn missed_goals(judged: &[&Answered]) -> Vec<String> {
    let of_kind = |kind: &'static str| judged.iter().filter(move |one| one.query.kind == kind).copied();
    let mut missed = Vec::new();
    for (kind, goal) in KINDS.into_iter().filter(|(kind, _)| of_kind(kind).next().is_some()) {
        let [ours, plain] = Means::of(of_kind(kind)).recall;
        missed.extend(goals::missed([(format!("recall of {kind}").as_str(), ours, goal)]));
        missed.extend(goals::missed([(format!("recall of {kind}, beside BM25,").as_str(), ours, plain)]));
    }
    let all = Means::of(judged.iter().filter(|one| one.query.kind != "none").copied());
    missed.extend(goals::missed([("recall of all", all.recall[0], ALL)]));
    let (count, [none, _]) = nothing(of_kind("none"));
    if count > 0 {
        missed.extend(goals::missed([("nothing for nothing", none, NONE)]));
    }
    missed
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use sha2::{Digest as _, Sha256};

    use super::*;

    fn own(number: usize) -> PathBuf {
        workspace::root().join(OWN[number])
    }

    fn expect<T>(done: Done<T>) -> T {
        done.unwrap_or_else(|failure| panic!("{}", failure.text()))
    }

    #[test]
    fn the_hash_of_an_id_decides_the_part_of_a_query() {
        let logs: BTreeSet<String> = expect(read_lines(&own(0), "logs.jsonl"))
            .iter()
            .map(|log| log["id"].as_str().unwrap().to_owned())
            .collect();
        for query in expect(read_lines(&own(0), "queries.jsonl")) {
            let hash = Sha256::digest(query["id"].as_str().unwrap());
            let part = if hash[31].is_multiple_of(2) { "tune" } else { "held-out" };
            assert_eq!(query["part"], part, "{query}");
            assert!(texts(&query["want"]).iter().all(|want| logs.contains(want)), "{query}");
            assert_eq!(query["kind"] == "none", texts(&query["want"]).is_empty(), "{query}");
        }
    }

    #[test]
    fn queries_of_the_fresh_parts_want_logs_that_are_there() {
        let ids = |folder: PathBuf| {
            expect(read_lines(&folder, "logs.jsonl")).into_iter().map(|log| log["id"].to_string())
        };
        let mut logs = BTreeSet::new();
        for id in Set::Fresh2.folders().into_iter().flat_map(ids) {
            assert!(logs.insert(id.clone()), "{id} is there twice");
        }
        for (number, part) in ["fresh", "fresh-2"].into_iter().enumerate() {
            for query in expect(read_lines(&own(number + 1), "queries.jsonl")) {
                assert_eq!(query["part"], part, "{query}");
                let wanted = query["want"].as_array().unwrap();
                assert!(wanted.iter().all(|want| logs.contains(&want.to_string())), "{query}");
                assert_eq!(query["kind"] == "none", wanted.is_empty(), "{query}");
            }
        }
    }

    #[test]
    fn recall_and_rank() {
        let query = |want: &[&str]| Labelled {
            id: String::new(),
            kind: String::new(),
            language: String::new(),
            text: String::new(),
            want: want.iter().map(ToString::to_string).collect(),
            part: String::new(),
        };
        let found: Vec<String> = ["a", "b", "c", "d", "e", "f"].map(str::to_owned).to_vec();
        let is = |value: f64, wanted: f64| assert!((value - wanted).abs() < 1e-9, "{value}");
        is(query(&["b"]).recall(&found), 1.0);
        is(query(&["b", "f"]).recall(&found), 0.5);
        is(query(&["f"]).recall(&found), 0.0);
        is(query(&["f", "d"]).reciprocal_rank(&found), 0.25);
        is(query(&["x"]).reciprocal_rank(&found), 0.0);
    }
}
