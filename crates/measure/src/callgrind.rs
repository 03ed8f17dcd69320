//! One run under callgrind: its instructions, and the functions it ran.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::Path;

use crate::stage::{self, Case, Stage};
use xtask::failure::{Done, Failure, While};

/// Valgrind can make a run miss its own deadline; that run did less work and does not count.
const TRIES: usize = 8;

/// Prepares the home; the returned lock is held until the run is over.
pub(crate) type Before = fn(&Stage) -> Done<Option<File>>;

/// In a fresh home.
pub(crate) fn count_instructions(binary: &Path, case: &Case) -> Done<u64> {
    let profile = run_profile(binary, case, |_| Ok(None))?;
    let total = profile.lines().find_map(|line| line.strip_prefix("totals: "));
    let total = total.and_then(|total| total.trim().parse().ok());
    total.ok_or_else(|| Failure::new("callgrind wrote no total"))
}

/// Mangled names.
pub(crate) fn list_functions(binary: &Path, case: &Case, before: Before) -> Done<BTreeSet<String>> {
    Ok(function_names(&run_profile(binary, case, before)?))
}

/// Callgrind names a function once and then refers to it by number.
fn function_names(profile: &str) -> BTreeSet<String> {
    let named = profile.lines().filter_map(|line| {
        let (_, name) = line.strip_prefix("fn=(").or(line.strip_prefix("cfn=("))?.split_once(") ")?;
        Some(name.to_owned())
    });
    named.collect()
}

fn run_profile(binary: &Path, case: &Case, before: Before) -> Done<String> {
    for _ in 0..TRIES {
        if let Some(profile) = try_profile(binary, case, before)? {
            return Ok(profile);
        }
    }
    Err(Failure::new(format!("{} met its own deadline under valgrind {TRIES} times", case.name))
        .next("try again when the machine is less busy"))
}

/// `None` if the run missed its deadline.
fn try_profile(binary: &Path, case: &Case, before: Before) -> Done<Option<String>> {
    let stage = Stage::new()?;
    let binary = stage.install(binary)?;
    let session = stage.session_for(&binary, case, 1)?;
    let _held = before(&stage)?;
    // The call is already in the transcript: the more expensive case.
    let number = 1000;
    stage.begin_turn(&session, case, number)?;
    let (profile, log) = (stage.at("callgrind.out"), stage.at("valgrind.log"));
    let mut valgrind = stage.command_of_host(Path::new("valgrind"), case, &session);
    valgrind
        .args(["--tool=callgrind", "--demangle=no"])
        .arg(format!("--callgrind-out-file={}", profile.display()))
        .arg(format!("--log-file={}", log.display()))
        .arg(&binary)
        .args(case.patient_arguments());
    let before = stage.journal()?.records.len();
    let (_, output) =
        stage::run_with_input(&mut valgrind, stage.payload(case, &session, number, "").as_bytes())?;
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
    fs::read_to_string(&profile).while_(profile.display()).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_named_once() {
        let profile =
            "fl=(1) ???\nfn=(2) main\n0 5\ncfn=(7) _RNvC1a1b\ncalls=1 0\n0 3\n\nfn=(7)\n0 3\ntotals: 8\n";
        assert_eq!(function_names(profile), BTreeSet::from(["_RNvC1a1b".to_owned(), "main".to_owned()]));
    }
}
