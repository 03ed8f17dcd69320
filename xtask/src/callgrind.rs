//! Instructions of one run, counted by callgrind.

use std::fs;
use std::path::Path;

use crate::failure::{Done, Failure, While};
use crate::stage::{self, Case, Stage};

/// A run under valgrind can be slow enough to meet its own deadline; then it is repeated.
const TRIES: usize = 8;

/// Counts the instructions of a case, in a fresh home.
pub(crate) fn count(binary: &Path, case: &Case) -> Done<u64> {
    for _ in 0..TRIES {
        if let Some(count) = try_count(binary, case)? {
            return Ok(count);
        }
    }
    Err(Failure::new(format!("{} met its own deadline under valgrind {TRIES} times", case.name))
        .next("try again when the machine is less busy"))
}

/// `None` when the run was too slow to do its work.
fn try_count(binary: &Path, case: &Case) -> Done<Option<u64>> {
    let stage = Stage::new()?;
    let binary = stage.install(binary)?;
    let session = stage.session(&binary, 1)?;
    // The call is in the transcript already: the longer way.
    let number = 1000;
    stage.begin_turn(&session, case, number)?;
    let (profile, log) = (stage.at("callgrind.out"), stage.at("valgrind.log"));
    let mut call = stage.command(&binary);
    call.args(case.patient_arguments());
    let mut valgrind = stage.command(Path::new("valgrind"));
    valgrind
        .arg("--tool=callgrind")
        .arg(format!("--callgrind-out-file={}", profile.display()))
        .arg(format!("--log-file={}", log.display()))
        .arg(call.get_program())
        .args(call.get_args());
    let before = stage.journal()?.records.len();
    let (_, output) = stage::feed(&mut valgrind, stage.payload(case, &session, number, "").as_bytes())?;
    let records = stage.journal()?.records;
    let late = records[before..].iter().any(|record| {
        record["failure"]["class"] == "deadline" || record["meter"]["unknown"].as_str().is_some()
    });
    if late {
        return Ok(None);
    }
    case.check(&output)?;
    if records.len() - before != usize::from(case.is_recorded()) {
        return Err(Failure::new(format!("{} wrote {} records", case.name, records.len() - before)));
    }
    let text = fs::read_to_string(&profile).while_(profile.display())?;
    let total = text.lines().find_map(|line| line.strip_prefix("totals: "));
    let total = total.and_then(|total| total.trim().parse().ok());
    total.map(Some).ok_or_else(|| Failure::new("callgrind wrote no total"))
}
