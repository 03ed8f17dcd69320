//! `tidegate explain`: why a ruling came out as it did.

use std::process::ExitCode;

use tidegate_core::feature::verdict::Asks;
use tidegate_core::host::Host;
use tidegate_core::host::person::Person;
use tidegate_core::pipeline::record::{BackendCall, Deeds, Record, SwitchedPolicy};
use tidegate_state::journal;

use super::Outcome;
use super::meter::describe_reading;
use crate::error::CliError;
use crate::print;
use crate::sessions::Here;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  tidegate explain last\n  tidegate explain 19a8f2c1d3e-4f2")]
pub(crate) struct Args {
    /// Id from `tidegate log`, or `last` for the newest that said or blocked something
    #[arg(value_name = "RECORD", default_value = "last")]
    pub(crate) record: String,
    /// Only this session
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// All projects, not only this one
    #[arg(long)]
    pub(crate) all: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) fn run(args: &Args) -> Outcome {
    let here = Here::find()?;
    let record = find_record(&here, args)?;
    if args.json {
        print::json(&record);
        return Ok(ExitCode::SUCCESS);
    }
    for line in explain_record(&record) {
        print::line(&line);
    }
    Ok(ExitCode::SUCCESS)
}

fn find_record(here: &Here, args: &Args) -> Result<Record, CliError> {
    // Calls by other hosts decide nothing: they are shown only if there is nothing else.
    find_among(here, args, |record| record.ruling != "foreign").or_else(|_| find_among(here, args, |_| true))
}

fn find_among(here: &Here, args: &Args, is_shown: fn(&Record) -> bool) -> Result<Record, CliError> {
    let wanted = |record: &Record| {
        if args.record == "last" {
            !is_quiet(record)
                && is_shown(record)
                && record.ruling != "command"
                && here.concerns(record, args.session.as_deref(), args.all)
        } else {
            record.id == args.record
        }
    };
    for path in journal::list_files(&here.state.journal()).map_err(CliError::new)?.iter().rev() {
        let entries =
            journal::read(path).map_err(|error| CliError::new(format!("{}: {error}", path.display())))?;
        if let Some(record) = entries.records.into_iter().rev().find(wanted) {
            return Ok(record);
        }
    }
    Err(if args.record == "last" {
        CliError::new("no record of this project in which something was said or decided")
            .hint("--all looks in every project; `tidegate journal` lists the records")
    } else {
        CliError::new(format!("no record `{}`", args.record))
            .hint("`tidegate journal` lists the records with their ids")
    })
}

fn list_asks(asks: &Asks) -> Vec<String> {
    let mut wanted = Vec::new();
    if !asks.skills.is_empty() {
        wanted.push(format!("invoking {}", asks.skills.join(" and ")));
    }
    wanted.extend(asks.any_skill.iter().map(|skill| format!("invoking {skill}")));
    wanted.extend(asks.any_file.iter().map(|file| format!("reading {file}")));
    wanted.extend(asks.verified.then(|| "verifying the work".to_owned()));
    let said = |stage: &String| {
        format!("saying that stage {stage} is done (`tidegate cycle done`) or cannot be (`fail`)")
    };
    wanted.extend(asks.stage.as_ref().map(said));
    wanted
}

/// Deeds that settle earlier interruptions.
pub(super) fn list_deeds(did: &Deeds) -> impl Iterator<Item = String> {
    let hidden =
        did.hidden.as_ref().map(|line| format!("a check verified nothing, its status is hidden: {line}"));
    let off =
        did.switched_off.as_ref().map(|off| format!("a policy was switched off: {}", describe_switch(off)));
    let stage =
        did.stage.as_ref().map(|stage| format!("somebody said that a stage is done, or cannot be: {stage}"));
    let up: Vec<String> = did.stepped_up.iter().map(describe_switch).collect();
    let up = (!up.is_empty()).then(|| format!("a policy was let block again: {}", up.join(", ")));
    let lists = [
        ("a skill was invoked", &did.skills),
        ("code was edited", &did.edited),
        ("code was written through the shell", &did.edited_by_shell),
        ("a file was read", &did.read),
        ("the work was verified", &did.verified),
        ("checks succeeded, and are not enough", &did.checked),
        ("checks run in the background", &did.launched),
    ];
    lists
        .into_iter()
        .filter(|(_, list)| !list.is_empty())
        .map(|(what, list)| format!("{what}: {}", list.join(", ")))
        .chain(hidden)
        .chain(stage)
        .chain(off)
        .chain(up)
}

fn describe_switch(what: &SwitchedPolicy) -> String {
    let place = match (&what.session, &what.project) {
        (Some(session), _) => format!("in session {session}"),
        (None, Some(project)) => format!("in {project}"),
        (None, None) => "in every project".to_owned(),
    };
    format!("{} {place}", what.policy)
}

fn describe_call(call: &BackendCall) -> String {
    let came = match call.phase {
        Some(phase) => format!("it named the phase `{}`", phase.name()),
        None => format!("it named no phase: {}", call.outcome.name()),
    };
    let why = call.why.as_ref().map(|why| format!(" ({why})")).unwrap_or_default();
    let tokens = match (call.input_tokens, call.output_tokens) {
        (None, None) => String::new(),
        (input, output) => {
            format!(", {} tokens in and {} out", input.unwrap_or_default(), output.unwrap_or_default())
        }
    };
    format!(
        "  the backend `{}` was to be asked about a prompt, with {}; {came}{why}, after {} ms{tokens}",
        call.backend, call.model, call.ms
    )
}

/// Nothing said, nothing refused, nothing failed.
fn is_quiet(record: &Record) -> bool {
    matches!(record.ruling.as_str(), "pass" | "backend")
        && record.failure.is_none()
        && record.said.model.is_none()
        && record.said.user.is_none()
}

pub(crate) fn explain_record(record: &Record) -> Vec<String> {
    let mut lines = vec![format!("{}  {} at {}", record.id, record.event, record.at)];
    let mut fact = |name: &str, value: Option<&str>| {
        if let Some(value) = value {
            lines.push(format!("  {name:<9} {value}"));
        }
    };
    fact("session", record.session.as_deref());
    fact("project", record.project.as_deref());
    fact("tool", record.tool.as_deref());
    fact("cause", record.cause.as_deref());
    fact("subagent", record.agent.as_deref());
    let is_foreign = record.ruling == "foreign";
    fact("host", is_foreign.then_some(record.host.as_str()));
    match record.person {
        Person::Absent => fact("person", Some("absent: the run is unattended")),
        Person::Unknown if is_foreign => fact("person", Some("unknown: this host does not say")),
        Person::Unknown | Person::There => {}
    }
    if let Some(meter) = &record.meter {
        lines.extend(
            describe_reading(meter)
                .into_iter()
                .map(|line| format!("  {}", line.replacen("context:", "context  ", 1))),
        );
    }
    lines.push(match &record.failure {
        Some(failure) => format!(
            "ruling: could not check ({}: {}), {}",
            failure.class,
            failure.step,
            if failure.closed { "so the gate stayed closed" } else { "so nothing was said" }
        ),
        None => format!("ruling: {}", record.ruling),
    });
    for verdict in &record.verdicts {
        let shadow = if verdict.shadow { ", only recorded (shadow)" } else { "" };
        let because =
            if verdict.because.is_empty() { String::new() } else { format!(": {}", verdict.because) };
        lines
            .push(format!("  {} says {}{because}{shadow} ({} µs)", verdict.policy, verdict.call, verdict.us));
        for (label, text) in [
            ("reason", &verdict.reason),
            ("to the model", &verdict.says.model),
            ("to you", &verdict.says.user),
        ] {
            if let Some(text) = text {
                lines.push(format!("    {label}: {}", text.replace('\n', "\n      ")));
            }
        }
        let wanted = list_asks(&verdict.asks);
        if !wanted.is_empty() {
            lines.push(format!("    satisfied by: {}", wanted.join(", or ")));
        }
    }
    lines.extend(list_deeds(&record.did).map(|done| format!("  here {done}")));
    if let Some(call) = &record.backend {
        lines.push(describe_call(call));
        return lines;
    }
    if is_foreign {
        lines.push(format!(
            "  {} called: Tidegate records its calls and checks nothing there",
            Host::title(&record.host)
        ));
        return lines;
    }
    if record.ruling == "not-client" {
        lines.push(
            "  the session's client did not call: nothing was changed, and a gate answered as always"
                .to_owned(),
        );
        return lines;
    }
    let of_hook = !matches!(record.ruling.as_str(), "unguarded" | "command");
    if record.verdicts.is_empty() && record.failure.is_none() && of_hook {
        lines.push("  no policy took part in this event".to_owned());
    }
    for (by, off) in [("TIDEGATE_OFF", &record.off), ("`tidegate off`", &record.off_by_command)] {
        if !off.is_empty() {
            lines.push(format!("  switched off by {by}: {}", off.join(", ")));
        }
    }
    for (label, text) in [("the model was told", &record.said.model), ("you were told", &record.said.user)] {
        if let Some(text) = text {
            lines.push(format!("{label}: {}", text.replace('\n', "\n  ")));
        }
    }
    if record.said.dropped > 0 {
        lines.push(format!("left out for length: {}", record.said.dropped));
    }
    lines.push(format!(
        "cost: {} bytes (about {} tokens), {} extra turns, {} µs",
        record.cost.bytes, record.cost.tokens, record.cost.turns, record.cost.us
    ));
    lines.extend(record.config.iter().map(|problem| format!("config: {problem}")));
    lines
}
