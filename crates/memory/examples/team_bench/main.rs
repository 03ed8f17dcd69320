//! A team of 500 members with 500,000 logs on one PostgreSQL server: the time of a push and of a search while all of them push,
//! pull and search, and whether everything arrives. `cargo xtask bench team` runs it.
//!
//! Times are printed and not asserted, because they depend on the machine. Lost rows fail the run.

#[path = "../store_bench/corpus.rs"]
#[expect(dead_code, reason = "the benchmark of the embedded store uses the rest of it")]
mod corpus;
mod day;
mod member;
#[path = "../store_bench/samples.rs"]
mod samples;
mod server;

use std::collections::BTreeSet;
use std::io::Write;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tidegate_memory::record::{Record, Uid};
use tidegate_memory::view::{HitKind, Query};

use corpus::{APART, COMMON, Corpus, PHRASE, RARE, Random};
use member::{Member, ProjectList};
use samples::Samples;
use server::Server;

type Done<T = ()> = Result<T, String>;

/// In milliseconds, at the 99th percentile.
const PUSH_GOAL: f64 = 50.0;
const SEARCH_GOAL: f64 = 200.0;

/// Topics of a backlog in one transaction, with their logs about as many rows as a machine sends at once.
const TOPICS_OF_A_STEP: usize = 5;

/// Members that send a backlog at the same time.
const FILLING: usize = 4;

const LOGS_OF_A_TOPIC: usize = 20;

#[derive(Clone, Copy, Debug)]
struct Options {
    members: usize,
    logs: usize,
    /// Of the day in which all members work.
    seconds: u64,
}

const USAGE: &str = "team_bench [--members 500] [--logs 500000] [--seconds 300]";

fn main() -> ExitCode {
    match options(std::env::args().skip(1)).and_then(run) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn options(mut words: impl Iterator<Item = String>) -> Done<Options> {
    let mut options = Options { members: 500, logs: 500_000, seconds: 300 };
    while let Some(word) = words.next() {
        let value: usize = words.next().and_then(|text| text.parse().ok()).filter(|n| *n > 0).ok_or(USAGE)?;
        match word.as_str() {
            "--members" => options.members = value,
            "--logs" => options.logs = value,
            "--seconds" => options.seconds = value as u64,
            _ => return Err(USAGE.to_owned()),
        }
    }
    Ok(options)
}

fn line(text: &str) {
    let _ = writeln!(std::io::stdout().lock(), "{text}");
}

fn run(options: Options) -> Done {
    let begun = Instant::now();
    let server = Server::start(options.members)?;
    let corpus = Corpus::new();
    let members = server.invite_members(options.members)?;
    line(&format!("{} members invited in {:.0} s", members.len(), begun.elapsed().as_secs_f64()));
    let projects = ProjectList::adopt(&corpus, &members)?;
    let topics = options.logs.div_ceil(LOGS_OF_A_TOPIC);
    let sent = Mutex::new(BTreeSet::new());
    // Sizes and times at a fifth and at the end show the growth.
    for (from, to) in [(0, topics / 5), (topics / 5, topics)] {
        server.with_collecting_index(|| fill(&corpus, &members, from..to, &sent))?;
        server.show_sizes()?;
        show_searches(&searches_alone(&corpus, &members[0], &projects)?);
    }
    let day = day::spend(&options, &corpus, &members, &projects, topics, &sent)?;
    day.show();
    let sent = sent.into_inner().map_err(|error| error.to_string())?;
    let mut problems = day.problems;
    problems.extend(server.find_missing(&sent)?);
    problems.extend(member::find_unpulled(&members, &projects, &sent)?);
    line(&format!("The whole run took {:.0} s.", begun.elapsed().as_secs_f64()));
    if problems.is_empty() {
        line(&format!("All {} rows that were sent are there, and every member can pull them.", sent.len()));
        return Ok(());
    }
    Err(format!("{} things are wrong:\n  {}", problems.len(), problems.join("\n  ")))
}

/// The rows of a topic: it, its sessions, logs and decisions, in the order in which they happened.
fn rows_of_topic(corpus: &Corpus, topic: usize, logs: std::ops::Range<usize>) -> Vec<Record> {
    let (mut known, mut rows) = (BTreeSet::new(), Vec::new());
    for number in 0..logs.end {
        let mut of_log = Vec::new();
        corpus.records(topic * LOGS_OF_A_TOPIC + number, &mut known, &mut of_log);
        if number >= logs.start {
            rows.extend(of_log);
        }
    }
    rows.retain(|record| !matches!(record, Record::Project(_)));
    rows
}

/// Members deliver what they wrote before they joined.
fn fill(
    corpus: &Corpus,
    members: &[Member],
    topics: std::ops::Range<usize>,
    sent: &Mutex<BTreeSet<Uid>>,
) -> Done {
    let begun = Instant::now();
    // Topics are the members' in turns.
    let steps: Vec<Vec<usize>> = topics
        .clone()
        .step_by(members.len() * TOPICS_OF_A_STEP)
        .flat_map(|first| (first..first + members.len()).map(move |topic| (first, topic)))
        .map(|(first, topic)| {
            let end = topics.end.min(first + members.len() * TOPICS_OF_A_STEP);
            (topic..end).step_by(members.len()).collect()
        })
        .collect();
    let (next, failures) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..FILLING {
            scope.spawn(|| {
                while let Some(step) = steps.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(why) = deliver_backlog(corpus, members, step, sent) {
                        failures.lock().expect("no thread panics with it").push(why);
                        return;
                    }
                }
            });
        }
    });
    if let Some(why) = failures.into_inner().map_err(|error| error.to_string())?.pop() {
        return Err(why);
    }
    let (logs, seconds) = (topics.len() * LOGS_OF_A_TOPIC, begun.elapsed().as_secs_f64());
    line(&format!("{logs} logs delivered in {seconds:.0} s: {:.0} a second", logs as f64 / seconds));
    Ok(())
}

fn deliver_backlog(
    corpus: &Corpus,
    members: &[Member],
    topics: &[usize],
    sent: &Mutex<BTreeSet<Uid>>,
) -> Done {
    let Some(first) = topics.first() else { return Ok(()) };
    let member = &members[first % members.len()];
    let rows: Vec<Record> =
        topics.iter().flat_map(|topic| rows_of_topic(corpus, *topic, 0..LOGS_OF_A_TOPIC)).collect();
    member.with_store(|store| member.deliver(store, &rows))?;
    sent.lock().map_err(|error| error.to_string())?.extend(rows.iter().map(|record| record.uid().to_owned()));
    Ok(())
}

/// Of every kind some, in both languages.
fn questions(corpus: &Corpus) -> Vec<(&'static str, Query)> {
    let mut all = Vec::new();
    let mut add = |name, text: String| {
        // As in a search of a machine, which has topics and decisions of others itself.
        let query = Query { text, limit: 20, kinds: vec![HitKind::Log], ..Query::default() };
        all.push((name, query));
    };
    for language in 0..2 {
        let words = &corpus.words[language];
        let mut random = Random::new(language as u64);
        let [one, other] = COMMON[language];
        for _ in 0..10 {
            let mut some = |from: usize, to: usize, many: usize| -> String {
                let some: Vec<&str> =
                    (0..many).map(|_| words[from + random.below(to - from)].as_str()).collect();
                some.join(" ")
            };
            add("a rare word", some(8_000, 30_000, 1));
            add("a middling word", some(100, 500, 1));
            add("four words", some(5, 300, 4));
            add("eight words", some(200, 3_000, 8));
        }
        add("in no more than 15 texts", RARE[language].to_owned());
        add("in half of all texts", one.to_owned());
        add("both in half of all texts", format!("{one} {other}"));
        add("two that hardly meet", APART[language].join(" "));
        add("a phrase", format!("\"{}\"", PHRASE[language].join([" ", ""][language])));
        add("with a project", format!("project-0 {one}"));
        add("with one that is nowhere", format!("{one} {}", ["xyzzyx", "鷽鷽"][language]));
    }
    all
}

/// By a member alone on the server.
fn searches_alone(
    corpus: &Corpus,
    member: &Member,
    projects: &ProjectList,
) -> Done<Vec<(&'static str, Samples)>> {
    let mut kinds: Vec<(&'static str, Samples)> = Vec::new();
    for (name, query) in questions(corpus) {
        let place = kinds.iter().position(|(known, _)| *known == name).unwrap_or(kinds.len());
        if place == kinds.len() {
            kinds.push((name, Samples::default()));
        }
        for _ in 0..3 {
            member.with_store(|store| {
                kinds[place].1.time(|| store.search_in(projects.of(member), &query)).map(drop)
            })?;
        }
    }
    Ok(kinds)
}

fn show_searches(kinds: &[(&'static str, Samples)]) {
    line("search by one member alone, ms: p50 / p99 / max, p99 on the client's processor");
    let mut all = Samples::default();
    for (name, samples) in kinds {
        line(&format!("    {name:<44}{}", samples.line()));
        all.extend(samples);
    }
    line(&format!("    {:<44}{}", "all of these together", all.line()));
    let (clock, processor) = all.sums();
    line(&format!("    {:.0}% of the time on the client's processor", 100.0 * processor / clock.max(0.001)));
}

fn verdict(samples: &Samples, goal: f64) -> &'static str {
    if samples.percentile(99) <= goal { "ok" } else { "OVER" }
}

fn after(begun: Instant, time: Duration) {
    std::thread::sleep((begun + time).saturating_duration_since(Instant::now()));
}
