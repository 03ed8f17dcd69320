//! The cost of searches, writes and lists in a store that grows to a million logs. `cargo xtask bench store`
//! runs it.
//!
//! Times are printed and not asserted, because they depend on the machine. The found texts are asserted.

mod corpus;
mod question;
mod samples;

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{SystemTime, UNIX_EPOCH};

use tidegate_memory::record::Record;
use tidegate_memory::sqlite::SqliteStore;
use tidegate_memory::store::Store;
use tidegate_memory::view::{Filter, Forget, Page};

use corpus::Corpus;
use question::Questions;
use samples::Samples;

type Done<T = ()> = Result<T, String>;

/// For a search, in milliseconds.
const GOAL: f64 = 50.0;

/// Per transaction.
const AT_ONCE: usize = 10_000;

struct Options {
    sizes: Vec<usize>,
    runs: usize,
    /// A filter on the names of the kinds of questions.
    only: String,
    /// Keeps the store in this folder; otherwise it is temporary.
    folder: Option<PathBuf>,
    /// Only writes a store with so many logs, for another benchmark.
    fill: Option<usize>,
    /// A `tidegate` to measure as well.
    program: Option<PathBuf>,
}

const USAGE: &str = "store_bench [--sizes 1000,100000,1000000] [--runs N] [--only TEXT] [--in FOLDER] [--fill N] [--program TIDEGATE]";

fn main() -> ExitCode {
    match options(std::env::args().skip(1)).and_then(|options| run(&options)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn options(mut words: impl Iterator<Item = String>) -> Done<Options> {
    let sizes = vec![1_000, 100_000, 1_000_000];
    let mut options =
        Options { sizes, runs: 100, only: String::new(), folder: None, fill: None, program: None };
    while let Some(word) = words.next() {
        let value = words.next().ok_or(USAGE)?;
        let number = |text: &str| text.parse::<usize>().ok().filter(|n| *n > 0).ok_or(USAGE);
        match word.as_str() {
            "--sizes" => options.sizes = value.split(',').map(number).collect::<Result<_, _>>()?,
            "--runs" => options.runs = number(&value)?,
            "--only" => options.only = value,
            "--in" => options.folder = Some(value.into()),
            "--fill" => options.fill = Some(number(&value)?),
            "--program" => options.program = Some(value.into()),
            _ => return Err(USAGE.to_owned()),
        }
    }
    Ok(options)
}

fn line(text: &str) {
    let _ = writeln!(std::io::stdout().lock(), "{text}");
}

fn run(options: &Options) -> Done {
    let temporary;
    let folder = if let Some(folder) = &options.folder {
        folder.as_path()
    } else {
        temporary = tempfile::tempdir().map_err(|error| error.to_string())?;
        temporary.path()
    };
    let path = folder.join("memory").join("memory.db");
    let corpus = Corpus::new();
    if let Some(size) = options.fill {
        let mut store = open(&path)?;
        write(&mut store, &corpus, size)?;
        merge(&mut store)?;
        return show_size(&mut store, &path);
    }
    let mut problems = Vec::new();
    let mut columns = Vec::new();
    for size in &options.sizes {
        let mut store = open(&path)?;
        write(&mut store, &corpus, *size)?;
        merge(&mut store)?;
        show_size(&mut store, &path)?;
        let questions = Questions::new(&corpus, *size);
        let mut column = Vec::new();
        for question in questions.all.iter().filter(|question| question.name.contains(&options.only)) {
            column.push((question.name.clone(), question.ask(&mut store, options.runs, &mut problems)?));
        }
        for language in ["en", "ja"] {
            let mut all = Samples::default();
            for (_, samples) in column.iter().filter(|(name, _)| name.starts_with(language)) {
                all.extend(samples);
            }
            column.push((format!("{language}: all of these together"), all));
        }
        column.push(("new connection each time".to_owned(), questions.fresh(&path, options.runs)?));
        if let Some(program) = &options.program {
            column.push((
                "a process each time".to_owned(),
                questions.processes(program, folder, options.runs, &mut problems)?,
            ));
        }
        columns.push(column);
        rest(&mut store, &corpus, *size, options.runs)?;
    }
    show(&options.sizes, &columns);
    if problems.is_empty() {
        line("Everything that had to be found was found.");
        return Ok(());
    }
    Err(format!("{} things are wrong:\n  {}", problems.len(), problems.join("\n  ")))
}

fn open(path: &Path) -> Done<SqliteStore> {
    Ok(SqliteStore::open(path).map_err(|error| error.to_string())?.store)
}

/// Grows the store to this size.
fn write(store: &mut SqliteStore, corpus: &Corpus, size: usize) -> Done {
    let there = store.sizes().map_err(|error| error.to_string())?.logs as usize;
    let (mut samples, mut known, mut records) = (Samples::default(), BTreeSet::new(), Vec::new());
    let mut number = there;
    while number < size {
        let end = size.min(number + AT_ONCE);
        for one in number..end {
            corpus.records(one, &mut known, &mut records);
        }
        // As in an import: referenced rows first, then by time.
        records.sort_by_key(|record| match record {
            Record::Project(_) => 0,
            Record::Topic(_) => 1,
            Record::Session(_) => 2,
            Record::Log(_) => 3,
            Record::Decision(_) => 4,
        });
        samples.time(|| store.put(&records)).map_err(|error| error.to_string())?;
        records.clear();
        number = end;
    }
    if there < size {
        let (clock, processor) = samples.sums();
        let each = processor * 1e6 / (size - there) as f64;
        line(&format!(
            "{} logs written in {clock:.0} s, {processor:.0} s on the processor, {each:.0} µs each",
            size - there
        ));
    }
    Ok(())
}

/// As the worker does when it has nothing else to do, only to the end.
fn merge(store: &mut SqliteStore) -> Done {
    let mut samples = Samples::default();
    samples.time(|| store.merge_index(u32::MAX)).map_err(|error| error.to_string())?;
    let (clock, processor) = samples.sums();
    line(&format!("the index was merged in {clock:.1} s, {processor:.1} s on the processor"));
    Ok(())
}

fn show_size(store: &mut SqliteStore, path: &Path) -> Done {
    let sizes = store.sizes().map_err(|error| error.to_string())?;
    let on_disk = |end: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(end);
        std::fs::metadata(name).map_or(0, |found| found.len()) / 1_000_000
    };
    line(&format!(
        "{} logs, {} projects, {} topics ({} automatic), {} sessions, {} decisions: {} MB, and {} MB of write-ahead log",
        sizes.logs,
        sizes.projects,
        sizes.topics + sizes.automatic_topics,
        sizes.automatic_topics,
        sizes.sessions,
        sizes.decisions,
        on_disk(""),
        on_disk("-wal"),
    ));
    Ok(())
}

/// Writing one relay, and lists.
fn rest(store: &mut SqliteStore, corpus: &Corpus, size: usize, runs: usize) -> Done {
    let page = Page { limit: 50, after: None };
    let all = Filter::default();
    let project = Filter { project: Some(1), ..Filter::default() };
    let topic =
        Filter { topic: Some(corpus::topic_of(size / 2).cast_signed() as i64 + 1), ..Filter::default() };
    let session = Filter { session: Some(corpus::session_of(size / 2)), ..Filter::default() };
    let mut time =
        |name: &str,
         act: &mut dyn FnMut(&mut SqliteStore, usize) -> Result<(), tidegate_memory::error::Error>|
         -> Done {
            let mut samples = Samples::default();
            for number in 0..runs {
                samples.time(|| act(store, number)).map_err(|error| error.to_string())?;
            }
            line(&format!("    {name:<44}{}", samples.line()));
            Ok(())
        };
    // New ones in addition to the corpus, and then newer versions of the same.
    let begun = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64);
    let relay = |number: usize, more: &str| {
        let mut log = corpus.log(size - 1 - number);
        log.uid = format!("relay-{begun}-{number}");
        log.answer.push_str(more);
        log.updated.0 += more.len() as u64;
        Record::Log(log)
    };
    time("put: a relay", &mut |store, number| store.put(&[relay(number, "")]).map(|_| ()))?;
    time("put: it went on", &mut |store, number| {
        store.put(&[relay(number, " and then something else was done")]).map(|_| ())
    })?;
    time("put: it comes again", &mut |store, number| store.put(&[relay(number, "")]).map(|_| ()))?;
    time("forget: it", &mut |store, number| {
        store.forget(&Forget::Log(format!("relay-{begun}-{number}"))).map(|_| ())
    })?;
    time("undecided, of all projects", &mut |store, _| store.undecided_topics(None, 50).map(|_| ()))?;
    time("undecided, of the largest project", &mut |store, _| {
        store.undecided_topics(Some(1), 50).map(|_| ())
    })?;
    time("projects, a page", &mut |store, _| store.projects(&page).map(|_| ()))?;
    for (name, filter) in [("all", &all), ("the largest project", &project)] {
        time(&format!("topics of {name}, a page"), &mut |store, _| store.topics(filter, &page).map(|_| ()))?;
        time(&format!("decisions of {name}, a page"), &mut |store, _| {
            store.decisions(filter, &page).map(|_| ())
        })?;
        time(&format!("logs of {name}, a page"), &mut |store, _| store.logs(filter, &page).map(|_| ()))?;
    }
    time("logs of a topic, a page", &mut |store, _| store.logs(&topic, &page).map(|_| ()))?;
    time("logs of a session, a page", &mut |store, _| store.logs(&session, &page).map(|_| ()))
}

fn show(sizes: &[usize], columns: &[Vec<(String, Samples)>]) {
    let heads: String = sizes.iter().fold(String::new(), |heads, size| {
        let column = format!("{size} logs");
        format!("{heads}{column:>34}")
    });
    line(&format!("{:<44}{heads}", "search, ms: p50 / p99 / max, p99 on the processor"));
    let Some(first) = columns.first() else { return };
    for (row, (name, _)) in first.iter().enumerate() {
        let mut text = format!("{name:<44}");
        for column in columns {
            let samples = &column[row].1;
            let verdict = if samples.percentile(99) <= GOAL { "ok" } else { "OVER" };
            let column = format!("{} {verdict}", samples.line());
            text = format!("{text}{column:>34}");
        }
        line(&text);
    }
    line(&format!("goal: p99 at most {GOAL} ms"));
}

fn output(command: &mut Command) -> Done<String> {
    let output = command.output().map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
