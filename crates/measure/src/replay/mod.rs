//! `cargo xtask replay-corpus`: replays transcripts of real sessions through the core, and compares what verify-stop would have
//! said at the end of each turn with what people said.
//!
//! The crate `tidegate-replay` does the replay; the labels and the comparison are here.

mod comparison;
mod figures;
mod labels;
mod report;

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use comparison::{Agreement, Case, Comparison};
use figures::Share;
use labels::{LabelledEnd, Part};
use tidegate_core::feature::config::Config;
use tidegate_replay::folder::{Keep, SessionRecord, replay_with};
use tidegate_replay::player::{ClosedRun, JudgedEnd};
use tidegate_state::feature::memory::transcript_files;
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
    let played = play_folder(&options.folder)?;
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
        print::line(&report::write_closing_lines(right, &closed));
        print::line(&report::write_text(part, &all, &agreement, shows));
    }
    Ok(())
}

/// Sessions by the name of the file, each with all ends of its turns. Names the files that cannot be read, and leaves them
/// out.
fn play_folder(folder: &Path) -> Done<BTreeMap<String, SessionRecord<JudgedEnd>>> {
    let mut files = transcript_files::find(folder)
        .while_(folder.display())
        .map_err(|failure| failure.next("name the folder of transcripts: `cargo xtask replay-corpus DIR`"))?;
    files.sort();
    let keep = Keep { stop: |judged| judged, closed_runs: true };
    let played = replay_with(&files, &Config::default(), None, &|_| ControlFlow::Continue(()), &keep)
        .map_err(|halt| Failure::new(format!("the replay ended: {halt:?}")))?;
    for (path, why) in &played.unreadable {
        print::to_stderr(&format!("skipped {}: {why}", path.display()));
    }
    let unread: usize = played.sessions.iter().map(|session| session.damaged_lines).sum();
    if unread > 0 {
        print::to_stderr(&format!("{unread} lines cannot be replayed and count as missing"));
    }
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Ok(played.sessions.into_iter().map(|session| (name(&session.path), session)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};
    use std::fs;
    use tidegate_replay::folder::replay_files;
    use tidegate_replay::report::ReplayReport;

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
        let played = play_folder(folder.path()).unwrap_or_else(|failure| panic!("{}", failure.text()));
        assert_eq!(played.keys().collect::<Vec<_>>(), ["a-1.jsonl"]);
        let outcomes = comparison::count_outcomes(played.values().flat_map(|played| &played.stops));
        let files = transcript_files::find(folder.path()).unwrap();
        let go_on = |_| ControlFlow::Continue(());
        let replayed = replay_files(&files, &Config::default(), None, &go_on).unwrap();
        let report = ReplayReport::of(&replayed, None);
        assert_eq!(
            outcomes.iter().map(|(_, count)| count).sum::<usize>(),
            report.stops.all + report.left_out.unfinished_turns
        );
        // The turn that only tests changed no code.
        assert_eq!((report.stops.all, report.stops.untested, report.stops.nothing_to_check), (2, 1, 1));
        assert_eq!(report.left_out.unfinished_turns, 1);
        assert!(play_folder(&folder.path().join("none")).is_err());
    }
}
