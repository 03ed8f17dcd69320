//! `cargo xtask replay-corpus`: replays transcripts of real sessions through the core, and compares what verify-stop would have
//! said at the end of each turn with what people said.
//!
//! The crate `tidegate-replay` does the replay; the labels and the comparison are here.

mod comparison;
mod figures;
mod labels;
mod report;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use comparison::{Agreement, Case, Comparison};
use figures::Share;
use labels::{LabelledEnd, Part};
use tidegate_core::feature::config::Config;
use tidegate_replay::folder::{Halt, Keep, Replayed, SessionRecord, replay_files, replay_with};
use tidegate_replay::outcome::StopOutcome;
use tidegate_replay::player::{ClosedRun, JudgedEnd};
use tidegate_replay::report::ReplayReport;
use tidegate_replay::turn::Ending;
use tidegate_state::feature::memory::transcript_files::{self, TranscriptFile};
use xtask::failure::{Done, Failure, While};
use xtask::{print, workspace};

/// Next to the checkout.
const CORPUS: &str = "../shared/corpus/transcripts";

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
    let files = find_files(&options.folder)?;
    let played = play_files(&files)?;
    let compared = compare_with_command(&files, &played)?;
    let chosen: Vec<&LabelledEnd> =
        labels.iter().filter(|label| options.part.is_none_or(|part| part == label.part)).collect();
    let mut cases = Vec::new();
    let mut missing = Vec::new();
    for label in &chosen {
        let ends = played.get(&label.session).map(|played| played.stops.as_slice()).unwrap_or_default();
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
    let outcomes = comparison::count_outcomes(played.values().flat_map(|played| &played.stops));
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
        print::line(&format!(
            "the outcomes of `tidegate replay` are the same, at all {compared} ends of turns"
        ));
        print::line(&report::write_closing_lines(right, &closed));
        print::line(&report::write_text(part, &all, &agreement, shows));
    }
    Ok(())
}

fn find_files(folder: &Path) -> Done<Vec<TranscriptFile>> {
    let mut files = transcript_files::find(folder)
        .while_(folder.display())
        .map_err(|failure| failure.next("name the folder of transcripts: `cargo xtask replay-corpus DIR`"))?;
    files.sort();
    Ok(files)
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn failed(halt: &Halt) -> Failure {
    Failure::new(format!("the replay ended: {halt:?}"))
}

/// By the name of the file, with all ends of turns.
type Played = BTreeMap<String, SessionRecord<JudgedEnd>>;

/// Names the files that cannot be read, and leaves them out.
fn play_files(files: &[TranscriptFile]) -> Done<Played> {
    let keep = Keep { stop: |judged| judged, closed_runs: true };
    let played = replay_with(files, &Config::default(), None, &|_| ControlFlow::Continue(()), &keep)
        .map_err(|halt| failed(&halt))?;
    for (path, why) in &played.unreadable {
        print::to_stderr(&format!("skipped {}: {why}", path.display()));
    }
    let unread: usize = played.sessions.iter().map(|session| session.damaged_lines).sum();
    if unread > 0 {
        print::to_stderr(&format!("{unread} lines cannot be replayed and count as missing"));
    }
    Ok(played.sessions.into_iter().map(|session| (name_of(&session.path), session)).collect())
}

/// The figures here and the report of `tidegate replay` come from one engine. Returns how many ends of turns have the same outcome
/// in both; another one, or another list of untested turns, is a failure.
fn compare_with_command(files: &[TranscriptFile], played: &Played) -> Done<usize> {
    let replayed = replay_files(files, &Config::default(), None, &|_| ControlFlow::Continue(()))
        .map_err(|halt| failed(&halt))?;
    let differences = differences(played, &replayed);
    if differences.is_empty() {
        return Ok(replayed.sessions.iter().map(|session| session.stops.len()).sum());
    }
    Err(Failure::new(format!("`tidegate replay` says something else:\n  {}", differences.join("\n  "))))
}

fn differences(played: &Played, replayed: &Replayed) -> Vec<String> {
    let mut found = Vec::new();
    if played.len() != replayed.sessions.len() {
        found.push(format!("{} sessions, and {} here", replayed.sessions.len(), played.len()));
    }
    // A continued session copies turns of another one, which count once.
    let mut known = BTreeSet::new();
    let report = ReplayReport::of(replayed, None);
    let mut verified = 0;
    for session in &replayed.sessions {
        let name = name_of(&session.path);
        let here = played.get(&name).map(|played| played.stops.as_slice()).unwrap_or_default();
        let ours: Vec<_> = here
            .iter()
            .map(|end| (end.line, end.outcome.to_string(), end.has_edited, end.is_blocked))
            .collect();
        let theirs = session.stops.iter();
        let theirs: Vec<_> = theirs
            .map(|stop| (stop.line, stop.outcome.to_string(), stop.has_edited, stop.is_blocked))
            .collect();
        if ours != theirs {
            let at = ours.iter().zip(&theirs).find(|(ours, theirs)| ours != theirs);
            found.push(format!("{name}: {at:?}, of {} and {} ends", ours.len(), theirs.len()));
        }
        let counted = here.iter().filter(|end| {
            let is_new = end.end.entry.is_empty() || known.insert(end.end.entry.as_str());
            is_new && end.end.ending != Ending::InsideTurn && end.has_edited
        });
        let mut untested = Vec::new();
        for end in counted {
            verified += usize::from(end.outcome == StopOutcome::Verified);
            if let StopOutcome::Held(cause) = &end.outcome {
                untested.push((end.line, cause.to_string()));
            }
        }
        let file = session.path.display().to_string();
        let listed = report.session_list.iter().filter(|shown| shown.file == file);
        let listed: Vec<_> = listed
            .flat_map(|shown| shown.untested.iter().map(|stop| (stop.line, stop.cause.clone())))
            .collect();
        if listed != untested {
            found.push(format!("{name}: {} untested turns, and {} here", listed.len(), untested.len()));
        }
    }
    if verified != report.stops.verified {
        found.push(format!("{} verified turns, and {verified} here", report.stops.verified));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};
    use std::fs;

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

    /// A session of three turns, of which the first was not tested, the second was, and the third was killed.
    fn transcript() -> String {
        let call = |id: &str, tool: &str, input: Value| json!({"type": "assistant", "message": {"content": [{"type": "tool_use", "id": id, "name": tool, "input": input}]}});
        let result = |id: &str, output: &str, result: Value| {
            let block = json!({"type": "tool_result", "tool_use_id": id, "content": output});
            json!({"type": "user", "toolUseResult": result, "message": {"content": [block]}})
        };
        let prompt = |text: &str| json!({"type": "user", "message": {"content": text}});
        let says = |text: &str| json!({"type": "assistant", "message": {"content": [{"type": "text", "text": text}]}});
        let edit = |id: &str| {
            call(id, "Edit", json!({"file_path": "/w/a/src/a.rs", "old_string": "a", "new_string": "b"}))
        };
        let edited = |id: &str| result(id, "updated", json!({"filePath": "/w/a/src/a.rs"}));
        let entries = [
            prompt("fix it"),
            edit("c1"),
            edited("c1"),
            says("Done."),
            prompt("test it"),
            call("c2", "Bash", json!({"command": "cargo test"})),
            result("c2", "ok", json!({"stdout": "ok", "stderr": "", "interrupted": false})),
            says("Tested."),
            prompt("one more"),
            edit("c3"),
            edited("c3"),
        ];
        let line = |(at, mut entry): (usize, Value)| {
            entry["timestamp"] = json!(format!("2026-01-01T10:00:{at:02}.000Z"));
            entry["cwd"] = json!("/w/a");
            entry["sessionId"] = json!("s1");
            entry["uuid"] = json!(format!("e{at}"));
            format!("{entry}\n")
        };
        entries.into_iter().enumerate().map(line).collect()
    }

    #[test]
    fn the_figures_are_those_of_the_command() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a-1.jsonl"), transcript()).unwrap();
        fs::write(folder.path().join("b-1.jsonl"), "\0\u{1}").unwrap();
        fs::write(folder.path().join("c.txt"), "{}").unwrap();
        let files = find_files(folder.path()).unwrap_or_else(|failure| panic!("{}", failure.text()));
        let mut played = play_files(&files).unwrap_or_else(|failure| panic!("{}", failure.text()));
        assert_eq!(played.keys().collect::<Vec<_>>(), ["a-1.jsonl"]);
        let replayed =
            replay_files(&files, &Config::default(), None, &|_| ControlFlow::Continue(())).unwrap();
        let report = ReplayReport::of(&replayed, None);
        assert_eq!(compare_with_command(&files, &played).unwrap_or_default(), 3);
        // The turn that only tests changed no code.
        assert_eq!((report.stops.all, report.stops.untested, report.stops.nothing_to_check), (2, 1, 1));
        assert_eq!(report.left_out.unfinished_turns, 1);
        assert!(find_files(&folder.path().join("none")).is_err());
        let tested = &mut played.get_mut("a-1.jsonl").unwrap().stops[0];
        tested.outcome = StopOutcome::Verified;
        let named = differences(&played, &replayed);
        assert_eq!(named.len(), 3, "the end, the list and the sum: {named:?}");
        played.clear();
        assert!(compare_with_command(&files, &played).is_err());
    }
}
