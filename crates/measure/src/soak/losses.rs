//! What went in against what journal and store have at the end.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;

use serde_json::Value;
use xtask::failure::{Done, Failure, While};
use xtask::print;

use super::session::marker;
use crate::stage::Stage;

/// Calls by event, without the status line.
pub(crate) type Calls = BTreeMap<String, u64>;

/// Of all calls: a machine that is busy with other things makes hooks miss their own deadline. They say so and are recorded.
const LATE_BOUND: f64 = 0.001;

#[derive(Default)]
struct Records {
    by_event: Calls,
    ids: BTreeSet<String>,
    all: u64,
    torn: u64,
    late: u64,
    /// By event and text.
    failures: BTreeMap<String, u64>,
}

pub(crate) fn find(
    stage: &Stage,
    program: &Path,
    called: &Calls,
    exchanges: &BTreeSet<String>,
) -> Done<Vec<String>> {
    empty_queue(stage, program)?;
    let mut problems = Vec::new();
    check_journal(stage, called, &mut problems)?;
    check_store(stage, program, exchanges, &mut problems)?;
    let left = leftovers(&stage.state());
    if !left.is_empty() {
        problems.push(format!("left in the state: {}", left.join(", ")));
    }
    Ok(problems)
}

fn empty_queue(stage: &Stage, program: &Path) -> Done {
    let mut worker = stage.command(program);
    let said = worker.args(["worker", "--once", "--json"]).output().while_("the worker")?;
    let text = String::from_utf8_lossy(&said.stdout);
    print::line(&format!(
        "    the worker at the end: {}",
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    ));
    if said.status.success() {
        return Ok(());
    }
    Err(Failure::new(format!("the worker left something: {}", String::from_utf8_lossy(&said.stderr))))
}

fn check_journal(stage: &Stage, called: &Calls, problems: &mut Vec<String>) -> Done {
    let mut records = Records::default();
    let folder = stage.state().join("journal");
    for entry in fs::read_dir(&folder).while_(folder.display())? {
        let path = entry.while_(folder.display())?.path();
        for line in BufReader::new(File::open(&path).while_(path.display())?).split(b'\n') {
            records.add(&line.while_(path.display())?);
        }
    }
    let wanted: u64 = called.values().sum();
    print::line(&format!(
        "    journal: {} records of {wanted} calls, {} twice, {} torn, {} met their own deadline",
        records.all,
        records.all - records.ids.len() as u64,
        records.torn,
        records.late
    ));
    let found: Calls = called
        .keys()
        .map(|event| (event.clone(), records.by_event.get(event).copied().unwrap_or(0)))
        .collect();
    if &found != called || records.torn > 0 || records.ids.len() as u64 != records.all {
        problems.push(format!("the journal has {found:?} of {called:?}"));
    }
    for (failure, count) in &records.failures {
        problems.push(format!("{count} times {failure}"));
    }
    if records.late as f64 > wanted as f64 * LATE_BOUND {
        problems.push(format!("{} of {wanted} hooks met their own deadline", records.late));
    }
    Ok(())
}

impl Records {
    fn add(&mut self, line: &[u8]) {
        if line.is_empty() {
            return;
        }
        let Ok(record) = serde_json::from_slice::<Value>(line) else {
            self.torn += 1;
            return;
        };
        let text = |member: &str| record[member].as_str().unwrap_or_default().to_owned();
        self.all += 1;
        self.ids.insert(text("id"));
        *self.by_event.entry(text("event")).or_default() += 1;
        if record["failure"]["class"] == "deadline" {
            self.late += 1;
        } else if !record["failure"].is_null() {
            *self.failures.entry(format!("{}: {}", text("event"), record["failure"])).or_default() += 1;
        }
    }
}

/// Each exchange once, with its own answer.
fn check_store(
    stage: &Stage,
    program: &Path,
    exchanges: &BTreeSet<String>,
    problems: &mut Vec<String>,
) -> Done {
    let mut export = stage.command(program);
    let mut export = export.args(["memory", "export"]).stdout(Stdio::piped()).spawn().while_("the export")?;
    let mut logs: BTreeMap<String, u64> = BTreeMap::new();
    let (mut all, mut mixed) = (0, 0);
    for line in export.stdout.take().into_iter().flat_map(|out| BufReader::new(out).lines()) {
        let row: Value = serde_json::from_str(&line.while_("the export")?).while_("the export")?;
        if row["kind"] != "log" {
            continue;
        }
        all += 1;
        let (prompt, answer) = (find_marker(&row["prompt"]), find_marker(&row["answer"]));
        mixed += u64::from(prompt != answer);
        *logs.entry(prompt.unwrap_or_default()).or_default() += 1;
    }
    let ended = export.wait().while_("the export")?;
    let lost = exchanges.iter().filter(|exchange| !logs.contains_key(*exchange)).collect::<Vec<_>>();
    let twice = logs.values().filter(|count| **count > 1).count();
    print::line(&format!(
        "    store: {all} logs of {} exchanges; {} lost, {twice} twice, {mixed} without their own answer",
        exchanges.len(),
        lost.len()
    ));
    if !ended.success() || !lost.is_empty() || all != exchanges.len() as u64 || mixed > 0 {
        problems.push(format!(
            "the store has not each exchange once and whole; lost: {:?}",
            &lost[..lost.len().min(5)]
        ));
    }
    Ok(())
}

fn find_marker(text: &Value) -> Option<String> {
    let text = text.as_str()?;
    let start = text.find("(soak")? + 1;
    text.get(start..start + marker(0, 0).len()).map(str::to_owned)
}

/// Jobs and temporary files.
fn leftovers(state: &Path) -> Vec<String> {
    let mut left = Vec::new();
    let spool = state.join("spool");
    for entry in fs::read_dir(&spool).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if !matches!(name.as_str(), "lock" | "worker-started") {
            left.push(format!("spool/{name}"));
        }
    }
    temporary_below(state, &mut left);
    left
}

fn temporary_below(folder: &Path, left: &mut Vec<String>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            temporary_below(&path, left);
        } else if path.extension().is_some_and(|kind| kind == "tmp") {
            left.push(path.display().to_string());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn records_are_counted_by_event_and_fault() {
        let mut records = Records::default();
        for line in [
            r#"{"id":"1","event":"Stop"}"#,
            r#"{"id":"2","event":"Stop","failure":{"class":"deadline"}}"#,
            r#"{"id":"2","event":"worker","failure":{"class":"store"}}"#,
            r#"{"id":"3""#,
            "",
        ] {
            records.add(line.as_bytes());
        }
        assert_eq!((records.all, records.ids.len(), records.torn, records.late), (3, 2, 1, 1));
        assert_eq!(records.by_event["Stop"], 2);
        assert_eq!(records.failures.len(), 1);
    }

    #[test]
    fn an_exchange_is_known_by_its_marker() {
        let text = json!(format!("It was the cookie ({}) at last", marker(17, 1)));
        assert_eq!(find_marker(&text), Some(marker(17, 1)));
        assert_eq!(find_marker(&json!("no")), None);
        assert_eq!(find_marker(&json!(null)), None);
    }

    #[test]
    fn a_job_and_a_temporary_file_are_left() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("spool")).unwrap();
        fs::write(folder.path().join("spool/lock"), "").unwrap();
        assert!(leftovers(folder.path()).is_empty());
        fs::write(folder.path().join("spool/1.json"), "").unwrap();
        fs::write(folder.path().join("kept.tmp"), "").unwrap();
        assert_eq!(leftovers(folder.path()).len(), 2);
    }
}
