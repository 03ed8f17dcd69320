//! `tidegate status`: one screen about a session.

use std::process::ExitCode;

use serde::Serialize;
use tidegate_core::facts::marks::PressureLevel;
use tidegate_core::record::{MeterRecord, Record};
use tidegate_core::time::Millis;
use tidegate_state::journal;

use super::Outcome;
use super::meter::describe;
use crate::args;
use crate::error::CliError;
use crate::print;
use crate::sessions::Here;

#[derive(Serialize)]
struct Status {
    session: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    project: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    began: Option<String>,
    meter: MeterRecord,
    /// The highest pressure level that was said since use last fell.
    pressure_said: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_boundary: Option<String>,
    /// Hook runs of this session in the journal.
    events: usize,
    /// Of them: rulings other than a pass, and texts given.
    interruptions: usize,
    /// Checks that failed.
    failures: usize,
    /// A host we started ourselves: nothing is gated or said.
    unguarded: bool,
    /// Characters, by estimate tokens, put into the context.
    tokens_added: usize,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    config_problems: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    switched_off: Vec<String>,
    /// Lines of the journal that could not be read.
    unreadable_lines: usize,
}

pub(crate) fn run(args: &args::Status) -> Outcome {
    let here = Here::find()?;
    let session = here.session(args.session.as_deref())?;
    let (meter, forecast) = here.meter(Some(&session), None);
    let mut records: Vec<Record> = Vec::new();
    let mut unreadable_lines = 0;
    for file in journal::files(&here.state.journal()).map_err(CliError::new)? {
        let entries = journal::read(&file).map_err(CliError::new)?;
        unreadable_lines += entries.skipped;
        records.extend(
            entries
                .records
                .into_iter()
                .filter(|record| record.session.as_deref() == Some(session.id.as_str())),
        );
    }
    let spoke = |record: &&Record| {
        matches!(record.ruling.as_str(), "ask" | "deny" | "halt")
            || record.said.model.is_some()
            || record.said.user.is_some()
    };
    let status = Status {
        session: session.id.to_string(),
        project: session.marks.root.clone(),
        began: session.marks.began.map(Millis::iso),
        meter: MeterRecord::of(&meter, forecast, here.now),
        pressure_said: session.marks.pressure.level.name(),
        last_boundary: session.marks.boundary.map(Millis::iso),
        events: records.len(),
        interruptions: records.iter().filter(spoke).count(),
        failures: records.iter().filter(|record| record.failure.is_some()).count(),
        unguarded: records.iter().any(|record| record.ruling == "unguarded"),
        tokens_added: records.iter().map(|record| record.cost.tokens).sum(),
        config_problems: here.config.problems.clone(),
        switched_off: records.last().map(|record| record.off.clone()).unwrap_or_default(),
        unreadable_lines,
    };
    if args.json {
        print::json(&status);
        return Ok(ExitCode::SUCCESS);
    }
    print::line(&format!("session  {}", status.session));
    print::line(&format!("project  {}", status.project.as_deref().unwrap_or("unknown")));
    if let Some(began) = &status.began {
        print::line(&format!("since    {began}"));
    }
    for line in describe(&status.meter) {
        print::line(&line.replacen("context:", "context ", 1));
    }
    let said = match session.marks.pressure.level {
        PressureLevel::None => "nothing said yet at this use".to_owned(),
        PressureLevel::Info => "`info` was said; `urgent` is said once when it is reached".to_owned(),
        PressureLevel::Urgent => "`urgent` was said, the last level".to_owned(),
    };
    print::line(&format!("pressure {said}"));
    if let Some(boundary) = &status.last_boundary {
        print::line(&format!("compacted {boundary}"));
    }
    print::line(&format!(
        "hooks    {} runs, {} interruptions, {} failed checks, about {} tokens added to the context",
        status.events, status.interruptions, status.failures, status.tokens_added
    ));
    if status.unguarded {
        print::line(
            "warning: this session runs unguarded (TIDEGATE_GUARD is set in it): nothing is gated or said",
        );
    }
    if !status.switched_off.is_empty() {
        print::line(&format!(
            "warning: switched off in this session by TIDEGATE_OFF: {}",
            status.switched_off.join(", ")
        ));
    }
    for problem in &status.config_problems {
        print::line(&format!("warning: config: {problem}; the default is used"));
    }
    if status.unreadable_lines > 0 {
        print::line(&format!("note: {} lines of the journal could not be read", status.unreadable_lines));
    }
    Ok(ExitCode::SUCCESS)
}
