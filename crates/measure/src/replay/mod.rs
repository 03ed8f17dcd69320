//! `cargo xtask replay-corpus`: replays transcripts of real sessions through the core, and compares what verify-stop would have
//! said at the end of each turn with what people said.
//!
//! The crate `tidegate-replay` does the replay; the labels and the comparison are here.

mod comparison;
mod figures;
mod labels;
mod report;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use comparison::{Agreement, Case, Comparison};
use figures::Share;
use labels::{LabelledEnd, Part};
use tidegate_core::feature::config::Config;
use tidegate_replay::player::{self, ClosedRun, PlayedSession};
use tidegate_replay::scratch;
use tidegate_replay::seen_files::{ProjectFiles, SharedTexts};
use tidegate_replay::transcript::{self, ReplaySession};
use xtask::failure::{Done, Failure, While};
use xtask::{print, workspace};

/// Next to the checkout.
const CORPUS: &str = "../shared/corpus/transcripts";

/// Sessions between two lines of progress.
const STEP: usize = 25;

#[derive(Debug, PartialEq, Eq)]
struct Options {
    folder: PathBuf,
    /// `None` for both.
    part: Option<Part>,
    /// Also differences of the part that is held out.
    shows: bool,
    json: bool,
}

impl Options {
    fn parse(words: &[&str]) -> Done<Options> {
        let folder = workspace::root().join(CORPUS);
        let mut options = Options { folder, part: Some(Part::Tune), shows: false, json: false };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match *word {
                "--show" => options.shows = true,
                "--json" => options.json = true,
                "--part" => {
                    options.part = match words.next() {
                        Some(&"tune") => Some(Part::Tune),
                        Some(&"held-out") => Some(Part::HeldOut),
                        Some(&"all") => None,
                        _ => return Err(misread("--part takes `tune`, `held-out` or `all`")),
                    }
                }
                folder if !folder.starts_with('-') => options.folder = PathBuf::from(folder),
                other => return Err(misread(&format!("no such option: `{other}`"))),
            }
        }
        Ok(options)
    }
}

fn misread(what: &str) -> Failure {
    Failure::new(what).next("`cargo xtask --help` lists the options")
}

pub(crate) fn run(words: &[&str]) -> Done {
    let options = Options::parse(words)?;
    let labels = labels::read_labels()?;
    let sessions = read_sessions(&options.folder)?;
    let played = play_all(&sessions);
    let chosen: Vec<&LabelledEnd> =
        labels.iter().filter(|label| options.part.is_none_or(|part| part == label.part)).collect();
    let mut cases = Vec::new();
    let mut missing = Vec::new();
    for label in &chosen {
        let ends = played.get(&label.session).map(|played| played.ends.as_slice()).unwrap_or_default();
        match ends.iter().find(|judged| judged.end.entry == label.entry) {
            Some(judged) => cases.push(Case { label, judged }),
            None => missing.push(format!("{}:{}", label.session, label.line)),
        }
    }
    if !missing.is_empty() {
        print::to_stderr(&format!("labels without an end of a turn: {}", missing.join(", ")));
    }
    let part = match options.part {
        Some(Part::Tune) => "tune",
        Some(Part::HeldOut) => "held-out",
        None => "all",
    };
    let shows = options.shows || options.part == Some(Part::Tune);
    let (all, agreement) = (Comparison::of(&cases), Agreement::of(&chosen));
    let outcomes = comparison::count_outcomes(played.values().flat_map(|played| &played.ends));
    let closed: Vec<(&String, &ClosedRun)> =
        played.iter().flat_map(|(name, played)| played.closed.iter().map(move |run| (name, run))).collect();
    let right = Share::count(closed.iter().map(|(_, run)| run.succeeded));
    if options.json {
        let mut value = report::write_json(part, &all, &agreement, shows);
        value["all_ends"] = outcomes
            .into_iter()
            .map(|(outcome, count)| (outcome, count.into()))
            .collect::<serde_json::Map<_, _>>()
            .into();
        value["closing_lines_right"] = right.to_json();
        print::line(&value.to_string());
    } else {
        print::line(&report::write_overview(played.len(), &outcomes));
        print::line(&report::write_closing_lines(right, &closed));
        print::line(&report::write_text(part, &all, &agreement, shows));
    }
    Ok(())
}

/// Names the files that cannot be read, and leaves them out.
fn read_sessions(folder: &Path) -> Done<Vec<ReplaySession>> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .while_(folder.display())
        .map_err(|failure| failure.next("name the folder of transcripts: `cargo xtask replay-corpus DIR`"))?
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.extension().is_some_and(|end| end == "jsonl"))
        .collect();
    files.sort();
    let read = each(&files, "read", |path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let bytes = fs::read(path).while_(&name)?;
        let session = transcript::read_session(&name, &String::from_utf8_lossy(&bytes));
        if session.folders.is_empty() {
            return Err(Failure::new(format!("{name}: no entry names a folder")));
        }
        Ok(session)
    });
    let unread: usize = read.iter().map(|session| session.unread_lines).sum();
    if unread > 0 {
        print::to_stderr(&format!("{unread} lines are not JSON objects and count as missing"));
    }
    Ok(read)
}

/// Ends of turns by the name of the session.
fn play_all(sessions: &[ReplaySession]) -> BTreeMap<String, PlayedSession> {
    let mut projects: BTreeMap<(String, String), ProjectFiles> = BTreeMap::new();
    let root_of = |session: &ReplaySession| scratch::find_root(&session.folders).unwrap_or_default();
    let mut shared = SharedTexts::default();
    for session in sessions {
        let root = root_of(session);
        projects.entry(project_key(session, &root)).or_default().add(&root, &session.seen, &mut shared);
    }
    let config = Config::default();
    projects.values_mut().for_each(ProjectFiles::sort);
    let played = each(sessions, "replayed", |session| {
        let root = root_of(session);
        let played = player::play_session(session, &root, &projects[&project_key(session, &root)], &config);
        let named = |error| Failure::new(format!("{}: {error}", session.name));
        played.map(|played| (session.name.clone(), played)).map_err(named)
    });
    played.into_iter().collect()
}

fn project_key(session: &ReplaySession, root: &str) -> (String, String) {
    let name = session.name.strip_suffix(".jsonl").unwrap_or(&session.name);
    scratch::project_key(name, root)
}

/// In parallel, in the order of the items. Names each failure, and leaves its item out.
fn each<T: Sync, R: Send>(items: &[T], done: &str, work: impl Fn(&T) -> Done<R> + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let take = || {
        let mut results = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(at) else { return results };
            results.push((at, work(item)));
            if (at + 1).is_multiple_of(STEP) {
                print::to_stderr(&format!("  {done} {} of {} sessions", at + 1, items.len()));
            }
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let mut all: Vec<(usize, Done<R>)> = std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(take)).collect();
        running.into_iter().flat_map(|thread| thread.join().expect("a replay does not panic")).collect()
    });
    all.sort_by_key(|(at, _)| *at);
    let mut results = Vec::new();
    for (_, result) in all {
        match result {
            Ok(result) => results.push(result),
            Err(failure) => print::to_stderr(&format!("skipped {}", failure.what())),
        }
    }
    results
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &[&str]) -> Result<Options, String> {
        Options::parse(words).map_err(|failure| failure.text())
    }

    #[test]
    fn differences_of_the_held_out_part_are_shown_only_on_request() {
        let plain = parse(&[]).unwrap();
        assert_eq!(
            (plain.part, plain.shows, plain.folder.ends_with(CORPUS)),
            (Some(Part::Tune), false, true)
        );
        let options = parse(&["/t", "--part", "all", "--show", "--json"]).unwrap();
        assert_eq!(options, Options { folder: "/t".into(), part: None, shows: true, json: true });
        assert!(parse(&["--part", "test"]).unwrap_err().contains("`held-out`"));
        assert!(parse(&["--shw"]).unwrap_err().contains("`--shw`"));
    }

    #[test]
    fn a_transcript_that_cannot_be_read_is_left_out() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a-1.jsonl"), "{\"type\": \"user\", \"cwd\": \"/w/a\"}\n").unwrap();
        fs::write(folder.path().join("b-1.jsonl"), "\0\u{1}").unwrap();
        fs::write(folder.path().join("c.txt"), "{}").unwrap();
        let sessions = read_sessions(folder.path()).unwrap_or_else(|failure| panic!("{}", failure.text()));
        assert_eq!(sessions.iter().map(|session| session.name.as_str()).collect::<Vec<_>>(), ["a-1.jsonl"]);
        assert!(read_sessions(&folder.path().join("none")).is_err());
    }
}
