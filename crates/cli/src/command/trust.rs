//! `tidegate trust`: what a project's own config files say beyond tightening counts only after a person has seen it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde::Serialize;
use tidegate_core::config::layer::Waiting;
use tidegate_state::{bounded, claims, config, trust};

use super::Outcome;
use crate::approval::{self, Consent, Request};
use crate::args;
use crate::error::CliError;
use crate::print;
use crate::sessions::Here;

/// More than this is no config, and was not read as one.
const LARGEST: u64 = 256 * 1024;

#[derive(Serialize)]
struct Report {
    project: PathBuf,
    files: Vec<File>,
    /// What waits, or counts now.
    values: Vec<Line>,
    digest: String,
    trusted: bool,
}

#[derive(Serialize)]
struct File {
    path: PathBuf,
    #[serde(skip)]
    text: String,
    /// As it is now.
    trusted: bool,
    /// It was trusted with another text.
    changed: bool,
}

#[derive(Serialize)]
struct Line {
    key: String,
    value: String,
    instead_of: String,
    origin: String,
    /// Only the user's own config may say this; trust does not help.
    never: bool,
}

pub(crate) fn run(args: &args::Trust) -> Outcome {
    let mut here = Here::find()?;
    if let Some(project) = &args.project {
        here.look_at(project)?;
    }
    let root = here.root.clone().ok_or_else(|| CliError::new("the project is not known"))?;
    let files = files(&here, &root);
    if args.revoke {
        return revoke(&here, &files, args.json);
    }
    let values: Vec<Line> = here.config.waiting.iter().map(line).collect();
    let digest = digest(&files);
    let report = Report { project: root, files, values, digest, trusted: false };
    if let Some(only) = &args.only
        && *only != report.digest
    {
        return Err(CliError::new("the files have changed since this was asked for")
            .hint("run `tidegate trust` again and look at what it would allow now"));
    }
    if !report.values.iter().any(|value| !value.never) {
        nothing_waits(&here, report, args.json);
        return Ok(ExitCode::SUCCESS);
    }
    let request = Request {
        name: "trust",
        command: format!("trust --only {}", report.digest),
        would: &would(&report),
        approved: args.approved,
        json: args.json,
    };
    let how = match approval::consent(&here, &request)? {
        Consent::Given(how) => how,
        Consent::Waits(code) => return Ok(code),
    };
    for file in &report.files {
        trust::remember(&here.state, &file.path, &file.text).map_err(CliError::new)?;
    }
    approval::record(&here, &request.command, &how);
    if args.json {
        print::json(&Report { trusted: true, ..report });
    } else {
        print::line("Trusted as they are; any change revokes it:");
        for file in &report.files {
            print::line(&format!("  {}", file.path.display()));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn revoke(here: &Here, files: &[File], json: bool) -> Outcome {
    let mut revoked = Vec::new();
    for file in files {
        if trust::revoke(&here.state, &file.path).map_err(CliError::new)? {
            revoked.push(&file.path);
        }
    }
    if !revoked.is_empty() {
        approval::record(here, "trust --revoke", "revoked");
    }
    if json {
        print::json(&revoked);
    } else if revoked.is_empty() {
        print::line("none of this project's files was trusted");
    } else {
        for path in &revoked {
            print::line(&format!("no longer trusted: {}", path.display()));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn nothing_waits(here: &Here, report: Report, json: bool) {
    if json {
        let trusted = report.files.iter().all(|file| file.trusted) && !report.files.is_empty();
        print::json(&Report { trusted, ..report });
        return;
    }
    if report.files.is_empty() {
        print::line(&format!("{} has no config of its own", report.project.display()));
    }
    for file in &report.files {
        let state = if file.trusted { "trusted as it is" } else { "only tightens: nothing waits for trust" };
        print::line(&format!("{}: {state}", file.path.display()));
    }
    for value in &report.values {
        print::line(&never(value));
    }
    here.config.problems.iter().for_each(|problem| print::to_stderr(&format!("warning: {problem}")));
}

fn would(report: &Report) -> Vec<String> {
    let mut lines =
        vec![format!("This project's own config would be allowed to set, in {}:", report.project.display())];
    for value in report.values.iter().filter(|value| !value.never) {
        lines
            .push(format!("  {} = {}  (now {})  {}", value.key, value.value, value.instead_of, value.origin));
    }
    lines.extend(report.values.iter().filter(|value| value.never).map(never));
    lines.extend(
        report
            .files
            .iter()
            .filter(|file| file.changed)
            .map(|file| format!("  note: {} has changed since it was trusted", file.path.display())),
    );
    lines
}

fn never(value: &Line) -> String {
    format!(
        "  {} = {} stays without effect: only your own config can say it  ({})",
        value.key, value.value, value.origin
    )
}

fn files(here: &Here, root: &Path) -> Vec<File> {
    let read = |path: PathBuf| {
        let text = String::from_utf8(bounded::read(&path, LARGEST).ok()?).ok()?;
        let before = trust::trusted_text(&here.state, &path);
        let trusted = before.as_deref() == Some(&text);
        Some(File { path, text, trusted, changed: before.is_some() && !trusted })
    };
    config::project_files(Some(root)).filter_map(read).collect()
}

/// Names these files as they are: an approval is for what the person was shown.
fn digest(files: &[File]) -> String {
    let mut all = String::new();
    for file in files {
        let _ = write!(all, "{}\0{}\0", file.path.display(), file.text);
    }
    format!("{:016x}", claims::hash(&[&all]))
}

fn line(waiting: &Waiting) -> Line {
    Line {
        key: waiting.assignment.path(),
        value: waiting.assignment.value.to_string(),
        instead_of: waiting.now.to_string(),
        origin: waiting.assignment.origin.to_string(),
        never: waiting.never,
    }
}
