//! Changes of a manifest's text, each of which touches only its own lines.

use super::is_finished;
use crate::feature::workflow::definition::Workflow;
use crate::text::yaml;
use crate::text::yaml::{Scalar, Unfit};
use crate::time::Millis;

pub fn new_manifest(id: &str, workflow: &str, definition: &Workflow, now: Millis) -> String {
    let first = definition.phases.first().map(|phase| phase.name.as_str()).unwrap_or_default();
    let now = now.iso_seconds();
    format!(
        "feature_name: {name}\nworkflow: {workflow}\nstatus: in-progress\ncreated_at: \"{now}\"\ncurrent_phase: 1\nphases:\n  \
         1_{first}:\n    status: in_progress\n    started_at: \"{now}\"\n",
        name = yaml::quote(id),
    )
}

pub fn note_passed(text: &str, gate: usize, at: Millis, before: u64, after: u64) -> Result<String, Unfit> {
    let number = gate.to_string();
    let members = [
        ("status", Scalar::from("passed")),
        ("at", Scalar::Text(at.iso_seconds())),
        ("before_tokens", Scalar::Whole(before)),
        ("after_tokens", Scalar::Whole(after)),
    ];
    let set = |text: String, (key, value): &(&str, Scalar)| yaml::set(&text, &["gates", &number, key], value);
    members.iter().try_fold(text.to_owned(), set)
}

/// Notes in a phase's section that a person skipped the compaction after it, and why.
pub fn note_skipped(text: &str, section: &str, reason: &str, at: Millis) -> Result<String, Unfit> {
    let members = [
        ("compaction_skipped", Scalar::Flag(true)),
        ("skip_reason", Scalar::from(reason)),
        ("skip_timestamp", Scalar::Text(at.iso_seconds())),
    ];
    let set =
        |text: String, (key, value): &(&str, Scalar)| yaml::set(&text, &["phases", section, key], value);
    members.iter().try_fold(text.to_owned(), set)
}

/// Values to write into a phase's section.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PhaseNote<'a> {
    pub status: Option<&'a str>,
    pub summary: Option<&'a str>,
    /// Replaces the whole list.
    pub artifacts: Vec<String>,
}

/// Adds the time of completion if the status says that the phase is over.
pub fn note_phase(text: &str, section: &str, note: &PhaseNote<'_>, now: Millis) -> Result<String, Unfit> {
    let mut text = text.to_owned();
    let mut set = |key: &str, value: Scalar| -> Result<(), Unfit> {
        text = yaml::set(&text, &["phases", section, key], &value)?;
        Ok(())
    };
    if let Some(status) = note.status {
        set("status", Scalar::from(status))?;
        if is_finished(status) {
            set("completed_at", Scalar::Text(now.iso_seconds()))?;
        }
    }
    if !note.artifacts.is_empty() {
        set("artifacts", Scalar::Texts(note.artifacts.clone()))?;
    }
    if let Some(summary) = note.summary {
        set("summary", Scalar::from(summary))?;
    }
    Ok(text)
}

/// The last phase is finished.
pub fn complete_workflow(text: &str) -> Result<String, Unfit> {
    yaml::set(text, &["status"], &Scalar::from("complete"))
}

/// Completes the phase `ended` and begins another one.
pub fn begin_phase(
    text: &str,
    ended: Option<&str>,
    number: usize,
    section: &str,
    now: Millis,
) -> Result<String, Unfit> {
    let complete = PhaseNote { status: Some("complete"), ..PhaseNote::default() };
    let text = match ended {
        Some(ended) => note_phase(text, ended, &complete, now)?,
        None => text.to_owned(),
    };
    let text = yaml::set(&text, &["current_phase"], &Scalar::Whole(number as u64))?;
    let text = yaml::set(&text, &["phases", section, "status"], &Scalar::from("in_progress"))?;
    yaml::set(&text, &["phases", section, "started_at"], &Scalar::Text(now.iso_seconds()))
}

/// Notes in a phase's section that the level of context use caused a compaction.
pub fn note_compacted(text: &str, section: &str) -> Result<String, Unfit> {
    yaml::set(text, &["phases", section, "token_triggered_compaction"], &Scalar::Flag(true))
}
