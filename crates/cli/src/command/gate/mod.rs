//! `tidegate gate`: shows, checks and lets through what the policy `workflow-gate` waits for.

pub(crate) mod arguments;

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde::Serialize;
use serde_json::json;
use tidegate_core::event::SessionId;
use tidegate_core::feature::facts::Known;
use tidegate_core::feature::marks::Mark;
use tidegate_core::feature::workflow::check;
use tidegate_core::feature::workflow::check::{Finding, Found, Named, Report};
use tidegate_core::feature::workflow::manifest;
use tidegate_core::feature::workflow::manifest::is_over;
use tidegate_core::feature::workflow::marks::Mark as WorkflowMark;
use tidegate_core::feature::workflow::settings::WorkflowMode;
use tidegate_core::feature::workflow::standing::{AtGate, LetThrough, Owned, Standing};
use tidegate_core::feature::workflow::{Attached, BUILT_IN, Gate, Manifest, Workflow, report};
use tidegate_core::pipeline::record::Deeds;
use tidegate_core::text::tokens::estimate_tokens;
use tidegate_core::time::Millis;
use tidegate_state::feature::workflow;
use tidegate_state::session::marks;

use super::Outcome;
use crate::approval::{self, Consent, Given, Request, tightened};
use crate::args::KnowledgeOf;
use crate::error::CliError;
use crate::install::shell::quoted;
use crate::knowledge::{Project, said};
use crate::print;
use crate::sessions::Session;
use arguments::{Attach, Check, Detach, GateCommand, Note, Number, Phase, Skip, Start};

/// Longer is no name of a folder.
const LONGEST_ID: usize = 100;

pub(crate) fn run(command: &GateCommand) -> Outcome {
    match command {
        GateCommand::Status(args) => status(&args.of),
        GateCommand::Check(args) => check_gate(args),
        GateCommand::Pass(args) => pass(args),
        GateCommand::Skip(args) => skip(args),
        GateCommand::Report(args) => reports(args),
        GateCommand::Template(args) => template(args),
        GateCommand::Note(args) => note(args),
        GateCommand::Phase(args) => phase(args),
        GateCommand::Start(args) => start(args),
        GateCommand::Attach(args) => attach(args),
        GateCommand::Detach(args) => detach(args),
    }
}

/// A project, and the session that is meant if there is one.
struct Place {
    project: Project,
    session: Option<Session>,
}

impl Place {
    fn find(of: &KnowledgeOf) -> Result<Place, CliError> {
        let project = Project::find(of)?;
        let session = project.here.session(project.session.as_ref().map(SessionId::as_str)).ok();
        let real = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let here = project.real();
        let is_here = |session: &Session| {
            session.marks.session.root.as_deref().is_none_or(|root| real(Path::new(root)) == here)
        };
        let session = session.filter(is_here);
        Ok(Place { project, session })
    }

    /// For who goes on with a workflow: who names no session means the newest one that is in one.
    fn at_work(of: &KnowledgeOf) -> Result<Place, CliError> {
        let mut place = Place::find(of)?;
        if place.project.session.is_none() && place.attached().is_none() {
            let root = Some(place.project.root.as_path());
            let is_at_work = |session: &Session| {
                session.marks.workflow.attached.is_some()
                    && session.marks.session.root.as_deref().map(Path::new) == root
            };
            let found = place.project.here.all().into_iter().find(is_at_work);
            place.session = found.or(place.session);
        }
        Ok(place)
    }

    fn attached(&self) -> Option<&Attached> {
        self.session.as_ref().and_then(|session| session.marks.workflow.attached.as_ref())
    }

    /// The session that something is attached to.
    fn session(&self) -> Result<&Session, CliError> {
        self.session.as_ref().ok_or_else(|| {
            CliError::new("no session has been seen in this project")
                .hint("run this inside a session, or name one with --session")
        })
    }

    /// The manifest that is meant, with its project: this session's, else the only one here.
    fn manifest(&self) -> Result<(PathBuf, PathBuf), CliError> {
        if let Some(attached) = self.attached() {
            return Ok((PathBuf::from(&attached.project), PathBuf::from(&attached.manifest)));
        }
        let root = self.project.root.clone();
        let mut found = workflow::find(&self.project.root);
        match found.len() {
            0 => Err(CliError::new("there is no workflow in this project")
                .hint("`tidegate gate start ID` begins one, `tidegate gate attach PATH` takes up another")),
            1 => Ok((root, PathBuf::from(found.swap_remove(0).0))),
            _ => {
                let listed: Vec<&str> = found.iter().take(5).map(|(path, _)| path.as_str()).collect();
                let to = if self.project.session.is_some() { "this session" } else { "a session here" };
                Err(CliError::new(format!(
                    "no workflow is attached to {to}; there is\n  {}",
                    listed.join("\n  ")
                ))
                .hint("`tidegate gate attach PATH` attaches one"))
            }
        }
    }

    fn read(&self, root: &Path, path: &Path) -> Result<Standing, CliError> {
        let here = &self.project.here;
        match workflow::read(Some(&here.state), root, path, &here.config, false, &|| true) {
            Known::Value(standing) => Ok(standing),
            Known::Absent => Err(CliError::new(format!("{}: no such file", path.display()))
                .hint("`tidegate gate detach` lets go of it")),
            Known::Broken(why) => Err(CliError::new(format!("{} cannot be read: {why}", path.display()))
                .hint("a manifest is a file inside of the project")),
        }
    }

    fn standing(&self) -> Result<Standing, CliError> {
        let (root, path) = self.manifest()?;
        self.read(&root, &path)
    }

    fn report(&self, standing: &mut Standing, gate: Gate) -> Report {
        if let Ok(manifest) = &standing.manifest
            && !standing.files.iter().any(|(phase, _)| *phase == gate.after)
        {
            let names = manifest.section(gate.after).map(check::named).unwrap_or_default();
            let root = Path::new(&standing.root);
            let files = workflow::look(root, &root.join(&standing.path), names, &|| true);
            standing.files.push((gate.after, files));
        }
        let here = &self.project.here;
        let settings = &here.config.policies.workflow_gate;
        let meter = self.session.as_ref().map(|session| here.meter(Some(session), None).0);
        let marks = self.session.as_ref().map(|session| &session.marks);
        let at = AtGate {
            strict: settings.mode == WorkflowMode::Strict,
            level: meter.as_ref().and_then(|meter| settings.level(meter.reading()?)),
            boundary: marks.and_then(|marks| marks.session.boundary),
            session: marks.and_then(|marks| marks.session.began),
            attached: self.attached().filter(|attached| attached.manifest == standing.path),
            written: standing.written,
        };
        standing.check(gate, &at.after(gate.after))
    }

    fn mark(&self, session: &SessionId, new: Mark) -> Result<(), CliError> {
        let folder = self.project.here.state.session(session);
        let written = marks::lock_alone(&folder).and_then(|lock| lock.append(&[new]));
        written.map_err(|error| CliError::new(format!("session {session} cannot be told: {error}")))
    }

    fn change(
        &self,
        standing: &Standing,
        how: impl FnOnce(&str) -> Result<String, String>,
    ) -> Result<(), CliError> {
        let (state, root) = (&self.project.here.state, Path::new(&standing.root));
        workflow::change(state, root, Path::new(&standing.path), how).map_err(|error| {
            CliError::new(format!("{} was not changed: {error}", standing.path)).hint("nothing was recorded")
        })?;
        // Who writes it has it.
        let bound = self.attached().is_some_and(|attached| attached.manifest == standing.path);
        self.own(standing, self.session.as_ref().filter(|_| bound).map(|session| &session.id))
    }

    fn let_pass(&self, standing: &Standing, gate: usize, skipped: bool) -> Result<(), CliError> {
        let here = &self.project.here;
        let created = standing.manifest.as_ref().ok().and_then(|manifest| manifest.created);
        let known = LetThrough { manifest: standing.path.clone(), gate, skipped, at: here.now, created };
        workflow::let_pass(&here.state, Path::new(&standing.root), &known)
            .map_err(|error| CliError::new(format!("gate {gate} was not recorded: {error}")))
    }

    /// A manifest belongs to a session from now on: its own, or the one that writes it.
    fn own(&self, standing: &Standing, session: Option<&SessionId>) -> Result<(), CliError> {
        let Some(session) = session.filter(|session| standing.owner.as_deref() != Some(session.as_str()))
        else {
            return Ok(());
        };
        let here = &self.project.here;
        let owned = Owned { manifest: standing.path.clone(), owner: session.to_string(), at: here.now };
        workflow::own(&here.state, Path::new(&standing.root), &owned)
            .map_err(|error| CliError::new(format!("{} was not attached: {error}", standing.path)))
    }

    fn record(&self, command: &str, given: &Given, did: Deeds) {
        approval::record(&self.project.here, &format!("gate {command}"), given, did);
    }

    /// Asks a person where a gate is to be left behind.
    fn consent(
        &self,
        command: String,
        about: String,
        would: &[String],
        approved: bool,
        json: bool,
    ) -> Result<Consent, CliError> {
        let request = Request { name: "gate skip", command, about: Some(about), would, approved, json };
        approval::consent(&self.project.here, &request)
    }
}

/// What the manifest says.
fn usable(standing: &Standing) -> Result<&Manifest, CliError> {
    standing.manifest.as_ref().map_err(|damage| {
        CliError::new(format!("write verified: {} cannot be used: {damage}", standing.path))
            .hint("mend it by hand; until then nothing is recorded, and its gates hold nothing back")
    })
}

fn gate_of(workflow: &Workflow, name: &str, number: usize) -> Result<Gate, CliError> {
    workflow.gate(number).ok_or_else(|| {
        let gates = workflow.gates();
        let listed: Vec<String> =
            gates.iter().map(|gate| format!("{} after phase {}", gate.number, gate.after)).collect();
        let hint = if listed.is_empty() {
            "it has none".to_owned()
        } else {
            format!("there is {}", listed.join(", "))
        };
        CliError::new(format!("the workflow {name} has no gate {number}")).hint(hint)
    })
}

/// The gate that somebody means who names none: the one that holds agents back, else the next.
fn next_gate(standing: &Standing, manifest: &Manifest) -> Result<Gate, CliError> {
    let open = |gate: &Gate| standing.is_let_through(gate.number).is_none();
    let current = manifest.current.unwrap_or_default();
    let gates = manifest.workflow.gates();
    let ahead = gates.iter().copied().find(|gate| gate.after >= current && open(gate));
    let found = standing.pending().first().copied().or(ahead).or(gates.last().copied());
    found.ok_or_else(|| CliError::new(format!("the workflow {} has no gates", manifest.name)))
}

#[derive(Serialize)]
struct ShownReport<'a> {
    manifest: &'a str,
    gate: usize,
    after_phase: usize,
    phase: &'a str,
    /// Nothing is missing now.
    passed: bool,
    /// `passed` or `skipped`, where that was recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    recorded: Option<&'static str>,
    missing: Vec<&'a str>,
    before_tokens: u64,
    after_tokens: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    reduction_pct: Option<f64>,
    steps: Vec<ShownStep<'a>>,
}

#[derive(Serialize)]
struct ShownStep<'a> {
    step: &'static str,
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'a str>,
}

fn shown<'a>(report: &'a Report, standing: &'a Standing) -> ShownReport<'a> {
    let step = |(step, finding): &'a (check::Step, Finding)| {
        let (state, why) = match finding {
            Finding::Met => ("met", None),
            Finding::Missing(what) => ("missing", Some(what.as_str())),
            Finding::Unknown(why) => ("unknown", Some(why.as_str())),
        };
        ShownStep { step: step.name(), state, why }
    };
    ShownReport {
        manifest: &standing.path,
        gate: report.gate.number,
        after_phase: report.gate.after,
        phase: &report.phase,
        passed: report.is_met(),
        recorded: standing.is_let_through(report.gate.number).map(state_of),
        missing: report.missing(),
        before_tokens: report.before,
        after_tokens: report.after,
        reduction_pct: report.reduction().map(|tenths| tenths as f64 / 10.0),
        steps: report.steps.iter().map(step).collect(),
    }
}

/// How a gate was let through.
fn state_of(known: &LetThrough) -> &'static str {
    if known.skipped { "skipped" } else { "passed" }
}

fn print_report(report: &Report, standing: &Standing, json: bool) {
    if json {
        print::json(&shown(report, standing));
        return;
    }
    print::line(report.text(&standing.path).trim_end());
    if let Some(skipped) = standing.is_let_through(report.gate.number).filter(|known| known.skipped) {
        print::line(&format!(
            "A person let it be skipped at {}; it holds no agents back.",
            skipped.at.iso_seconds()
        ));
    }
}

fn check_gate(args: &Check) -> Outcome {
    let place = Place::at_work(&args.of)?;
    let mut standing = place.standing()?;
    let manifest = usable(&standing)?;
    let gate = match args.gate {
        Some(number) => gate_of(&manifest.workflow, &manifest.name, number)?,
        None => next_gate(&standing, manifest)?,
    };
    let report = place.report(&mut standing, gate);
    print_report(&report, &standing, args.of.json);
    if report.is_met() && !args.of.json && standing.is_let_through(gate.number).is_none() {
        print::to_stderr(&format!("hint: `tidegate gate pass {}` records it", gate.number));
    }
    Ok(if report.is_met() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn reports(args: &Check) -> Outcome {
    let place = Place::at_work(&args.of)?;
    let mut standing = place.standing()?;
    let manifest = usable(&standing)?;
    let gates = match args.gate {
        Some(number) => vec![gate_of(&manifest.workflow, &manifest.name, number)?],
        None => manifest.workflow.gates(),
    };
    let current = manifest.current.unwrap_or_default();
    let reached = |gate: &Gate| args.gate.is_some() || gate.after <= current;
    let gates: Vec<Gate> = gates.into_iter().filter(reached).collect();
    let reports: Vec<Report> = gates.into_iter().map(|gate| place.report(&mut standing, gate)).collect();
    if args.of.json {
        let shown: Vec<ShownReport<'_>> = reports.iter().map(|report| shown(report, &standing)).collect();
        print::json(&shown);
        return Ok(ExitCode::SUCCESS);
    }
    if reports.is_empty() {
        print::line("no gate was reached yet");
    }
    for (at, report) in reports.iter().enumerate() {
        if at > 0 {
            print::line("");
        }
        print_report(report, &standing, false);
    }
    Ok(ExitCode::SUCCESS)
}

fn pass(args: &Number) -> Outcome {
    let place = Place::at_work(&args.of)?;
    let mut standing = place.standing()?;
    let manifest = usable(&standing)?;
    let gate = gate_of(&manifest.workflow, &manifest.name, args.gate)?;
    let section = manifest.section(gate.after);
    let is_finished = manifest.current.is_some_and(|current| current > gate.after)
        || section.and_then(|section| section.status.as_deref()).is_some_and(is_over);
    if !is_finished {
        return Err(CliError::new(format!("phase {} is not finished", gate.after)).hint(format!(
            "`tidegate gate note {} --status complete` says that it is, `tidegate gate phase {}` moves on",
            gate.after,
            gate.after + 1
        )));
    }
    let report = place.report(&mut standing, gate);
    if !report.is_met() {
        print_report(&report, &standing, args.of.json);
        return Ok(ExitCode::FAILURE);
    }
    let now = place.project.here.now;
    place.change(&standing, |text| {
        manifest::note_passed(text, gate.number, now, report.before, report.after)
            .map_err(|why| why.to_string())
    })?;
    place.let_pass(&standing, gate.number, false)?;
    let did = Deeds { gate: Some(gate.number), ..Deeds::default() };
    place.record(
        &format!("pass {}", gate.number),
        &tightened(&place.project.here, "everything was there"),
        did,
    );
    print_report(&report, &standing, args.of.json);
    Ok(ExitCode::SUCCESS)
}

fn skip(args: &Skip) -> Outcome {
    let place = Place::at_work(&args.of)?;
    let standing = place.standing()?;
    let manifest = usable(&standing)?;
    let gate = gate_of(&manifest.workflow, &manifest.name, args.gate)?;
    check_named(args.manifest.as_deref(), &standing.path)?;
    let reason = said("the reason", &args.reason)?;
    if let Some(known) = standing.is_let_through(gate.number) {
        return Err(CliError::new(format!(
            "gate {} was {} at {}; there is nothing to skip",
            gate.number,
            state_of(known),
            known.at.iso_seconds()
        )));
    }
    let phase = manifest.workflow.phase(gate.after).map(|phase| phase.name.clone()).unwrap_or_default();
    let would = risks(gate, &standing.path);
    let (path, why) = (quoted(Path::new(&standing.path)), quoted(Path::new(&reason)));
    let command = format!("gate skip {} --manifest {path} --reason {why}", gate.number);
    let about = format!(
        "workflow {}: go on without gate {} after phase {} ({}); risks: the context may run out in a later phase, agents work worse in a full one, the \
         workflow may have to begin again",
        titled(manifest),
        gate.number,
        gate.after,
        phase.replace('_', " ")
    );
    let given = match place.consent(command, about, &would, args.approved, args.of.json)? {
        Consent::Given(given) => given,
        Consent::Waits(code) => return Ok(code),
    };
    let key = manifest
        .section(gate.after)
        .map_or_else(|| format!("{}_{phase}", gate.after), |section| section.key.clone());
    let now = place.project.here.now;
    place.change(&standing, |text| {
        manifest::note_skipped(text, &key, &reason, now).map_err(|why| why.to_string())
    })?;
    place.let_pass(&standing, gate.number, true)?;
    let did = Deeds { skipped_gate: Some(gate.number), ..Deeds::default() };
    let recorded = Given { how: format!("{}: {reason}", given.how), ..given };
    place.record(&format!("skip {}", gate.number), &recorded, did);
    if args.of.json {
        print::json(&json!({
            "manifest": standing.path, "gate": gate.number, "skipped": true, "reason": reason, "approval": given.how,
        }));
    } else {
        print::line(&format!(
            "gate {} after phase {} is skipped: {reason} ({})",
            gate.number, gate.after, given.how
        ));
    }
    Ok(ExitCode::SUCCESS)
}

/// An approval is for one manifest: another one may be attached when it is used.
fn check_named(named: Option<&Path>, meant: &str) -> Result<(), CliError> {
    match named {
        Some(named) if named != Path::new(meant) => Err(CliError::new(format!(
            "{} is not the manifest of this session: that is {meant}",
            named.display()
        ))
        .hint("`tidegate gate attach PATH` takes up another one")),
        _ => Ok(()),
    }
}

/// A workflow by its name, and by that of the feature it is for.
fn titled(manifest: &Manifest) -> String {
    match manifest.feature.as_deref() {
        Some(feature) => format!("{} ({feature})", manifest.name),
        None => manifest.name.clone(),
    }
}

/// What a person is shown before a gate is skipped.
fn risks(gate: Gate, path: &str) -> Vec<String> {
    vec![
        format!(
            "This would skip the compaction gate between phase {} and phase {} of {path}.",
            gate.after,
            gate.after + 1
        ),
        "Risks:".to_owned(),
        "- the context window runs out in a later phase".to_owned(),
        "- agents work worse in a context full of old output".to_owned(),
        "- the workflow fails and has to begin again".to_owned(),
        format!(
            "Alternative: what `tidegate gate check {}` lists as missing, usually a few minutes of work.",
            gate.number
        ),
    ]
}

fn template(args: &Number) -> Outcome {
    let place = Place::at_work(&args.of)?;
    let is_none = place.attached().is_none() && workflow::find(&place.project.root).is_empty();
    let (gate, text) = if is_none {
        // Also for who wants to see it before there is a workflow.
        let built_in = Workflow::default();
        let gate = gate_of(&built_in, BUILT_IN, args.gate)?;
        (gate, report::template(&built_in, gate, &format!("{}/ID/{}", manifest::FOLDER, manifest::FILE)))
    } else {
        let standing = place.standing()?;
        let manifest = usable(&standing)?;
        let gate = gate_of(&manifest.workflow, &manifest.name, args.gate)?;
        (gate, report::template(&manifest.workflow, gate, &standing.path))
    };
    if args.of.json {
        print::json(&json!({ "gate": gate.number, "after_phase": gate.after, "template": text }));
    } else {
        print::line(text.trim_end());
    }
    Ok(ExitCode::SUCCESS)
}

/// The phase that a word means, and the key of its section.
fn section_of(manifest: &Manifest, word: &str) -> Result<(usize, String), CliError> {
    let number = manifest.workflow.number(word).ok_or_else(|| {
        let names: Vec<&str> = manifest.workflow.phases.iter().map(|phase| phase.name.as_str()).collect();
        CliError::new(format!("the workflow {} has no phase {word}", manifest.name))
            .hint(format!("there is {}", names.join(", ")))
    })?;
    let name = manifest.workflow.phase(number).map(|phase| phase.name.as_str()).unwrap_or_default();
    let key =
        manifest.section(number).map_or_else(|| format!("{number}_{name}"), |section| section.key.clone());
    Ok((number, key))
}

fn note(args: &Note) -> Outcome {
    let place = Place::at_work(&args.of)?;
    let standing = place.standing()?;
    let manifest = usable(&standing)?;
    let (number, key) = section_of(manifest, &args.phase)?;
    let mut artifacts = manifest.section(number).map(|section| section.artifacts.clone()).unwrap_or_default();
    let before = artifacts.len();
    are_there(&place, &standing, &args.artifact)?;
    if let Some(name) = &args.output {
        write_output(&place, &standing, name)?;
    }
    for name in args.artifact.iter().chain(&args.output) {
        if !artifacts.contains(name) {
            artifacts.push(name.clone());
        }
    }
    let wanted = manifest::Note {
        status: args.status.as_deref(),
        summary: args.summary.as_deref().map(str::trim).filter(|summary| !summary.is_empty()),
        artifacts: if artifacts.len() > before { artifacts } else { Vec::new() },
    };
    if wanted == manifest::Note::default() && args.output.is_none() {
        return Err(CliError::new("there is nothing to write")
            .hint("give it a --summary, an --artifact, an --output or a --status"));
    }
    let now = place.project.here.now;
    place
        .change(&standing, |text| manifest::note(text, &key, &wanted, now).map_err(|why| why.to_string()))?;
    let tokens = wanted.summary.map(estimate_tokens);
    if args.of.json {
        print::json(
            &json!({ "manifest": standing.path, "phase": number, "section": key, "summary_tokens": tokens }),
        );
        return Ok(ExitCode::SUCCESS);
    }
    print::line(&format!("phases.{key} in {} was written", standing.path));
    if let Some(tokens) = tokens.filter(|tokens| *tokens > check::LONGEST_SUMMARY) {
        print::to_stderr(&format!(
            "warning: the summary is about {tokens} tokens, and a gate lets at most {} through",
            check::LONGEST_SUMMARY
        ));
    }
    Ok(ExitCode::SUCCESS)
}

/// Refuses artifacts that a gate would not take: nothing takes them out of the manifest again.
fn are_there(place: &Place, standing: &Standing, names: &[String]) -> Result<(), CliError> {
    let root = &place.project.root;
    for Named { name, found } in workflow::look(root, &root.join(&standing.path), names.to_vec(), &|| true) {
        match found {
            Found::Missing => {
                return Err(CliError::new(format!(
                    "there is no file {name}, beside the manifest or in the project"
                ))
                .hint("write it first; --output writes one beside the manifest"));
            }
            Found::Outside => {
                return Err(CliError::new(format!("{name} is outside of the project"))
                    .hint("copy it into the project, or give it to --output"));
            }
            Found::File { .. } | Found::Unread(_) | Found::Folder => {}
        }
    }
    Ok(())
}

/// Writes what comes in to a file beside the manifest.
fn write_output(place: &Place, standing: &Standing, name: &str) -> Result<(), CliError> {
    let fits = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    if name.is_empty() || name.starts_with('.') || !name.chars().all(fits) || name == manifest::FILE {
        return Err(CliError::new(format!("{name} cannot be the name of a file here"))
            .hint("use letters, digits, `-`, `_` and `.`; --artifact names files elsewhere"));
    }
    let mut text = Vec::new();
    std::io::stdin()
        .lock()
        .take(workflow::LARGEST_OUTPUT + 1)
        .read_to_end(&mut text)
        .map_err(CliError::new)?;
    if text.trim_ascii().is_empty() {
        return Err(CliError::new("nothing came in on standard input"));
    }
    let (state, root) = (&place.project.here.state, Path::new(&standing.root));
    workflow::write_output(state, root, Path::new(&standing.path), name, &text)
        .map_err(|error| CliError::new(format!("{name} was not written: {error}")))
}

fn phase(args: &Phase) -> Outcome {
    let place = Place::at_work(&args.of)?;
    let standing = place.standing()?;
    let manifest = usable(&standing)?;
    let (number, key) = section_of(manifest, &args.phase)?;
    if manifest.current == Some(number) {
        return Err(CliError::new(format!("phase {number} is under way already")));
    }
    let ended = manifest.current.filter(|current| *current < number);
    let ended =
        ended.map(|current| section_of(manifest, &current.to_string())).transpose()?.map(|(_, key)| key);
    let now = place.project.here.now;
    place.change(&standing, |text| {
        manifest::move_on(text, ended.as_deref(), number, &key, now).map_err(|why| why.to_string())
    })?;
    let standing = place.read(Path::new(&standing.root), Path::new(&standing.path))?;
    let waits = standing.pending().first().copied();
    if args.of.json {
        print::json(
            &json!({ "manifest": standing.path, "phase": number, "pending_gate": waits.map(|gate| gate.number) }),
        );
        return Ok(ExitCode::SUCCESS);
    }
    print::line(&format!("phase {number} begins: phases.{key} in {}", standing.path));
    if let Some(gate) = waits {
        print::line(&format!(
            "gate {} after phase {} was not let through; `tidegate gate check {0}` shows what is missing",
            gate.number, gate.after
        ));
    }
    Ok(ExitCode::SUCCESS)
}

fn start(args: &Start) -> Outcome {
    let place = Place::find(&args.of)?;
    let here = &place.project.here;
    let settings = &here.config.policies.workflow_gate;
    let Some(definition) = settings.workflow(&args.workflow) else {
        let names: Vec<&str> = settings.workflow_names().collect();
        return Err(CliError::new(format!("there is no workflow {}", args.workflow))
            .hint(format!("there is {}; the config can have others as [workflow.NAME]", names.join(", "))));
    };
    let fits = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    let id = args.id.as_str();
    if id.is_empty() || id.starts_with('.') || id.chars().count() > LONGEST_ID || !id.chars().all(fits) {
        return Err(CliError::new(format!("{id} cannot be the name of a folder here"))
            .hint("use letters, digits, `-`, `_` and `.`"));
    }
    let pending = held_back(&place);
    if let Some(gate) = pending {
        return Err(CliError::new(format!("gate {gate} of this session's workflow was not let through"))
            .hint("`tidegate gate check` shows what is missing, `tidegate gate detach` lets go of that workflow"));
    }
    let text = manifest::begin(id, &args.workflow, &definition, here.now);
    let path = workflow::create(&here.state, &place.project.root, id, &text).map_err(|error| {
        let failed = CliError::new(format!("the manifest was not made: {error}"));
        if error.kind() == std::io::ErrorKind::AlreadyExists {
            let path = format!("{}/{id}/{}", manifest::FOLDER, manifest::FILE);
            return failed.hint(format!("`tidegate gate attach {path}` takes it up"));
        }
        failed
    })?;
    let standing = place.read(&place.project.root, Path::new(&path))?;
    let manifest = usable(&standing)?;
    let session = place.session.as_ref().map(|session| &session.id);
    if let Some(session) = session {
        place.own(&standing, Some(session))?;
        place.mark(
            session,
            WorkflowMark::Workflow(Box::new(standing.attach(manifest, Some(here.now)))).into(),
        )?;
    }
    place.record(&format!("start {id}"), &tightened(here, "a workflow began"), Deeds::default());
    show_bound(&args.of, &standing, manifest, session);
    warn_if_off(&place);
    Ok(ExitCode::SUCCESS)
}

fn show_bound(of: &KnowledgeOf, standing: &Standing, manifest: &Manifest, session: Option<&SessionId>) {
    if of.json {
        print::json(&json!({
            "manifest": standing.path, "workflow": manifest.name, "phase": manifest.current,
            "session": session.map(SessionId::as_str),
        }));
        return;
    }
    let phase = manifest.current.and_then(|number| Some((number, manifest.workflow.phase(number)?)));
    let phase = phase.map(|(number, phase)| {
        format!(", phase {number} of {} ({})", manifest.workflow.phases.len(), phase.title())
    });
    let to = session.map_or_else(
        || format!("no session here yet; `tidegate gate attach {}` inside of one attaches it", standing.path),
        |session| format!("attached to session {session}"),
    );
    print::line(&format!("{}: workflow {}{}; {to}", standing.path, manifest.name, phase.unwrap_or_default()));
}

fn warn_if_off(place: &Place) {
    let config = &place.project.here.config;
    let mode = config.policies.workflow_gate.mode;
    let id = tidegate_core::feature::workflow::policy::ID;
    if !matches!(mode, WorkflowMode::On | WorkflowMode::Strict) || config.switched_off(id) {
        print::to_stderr(&format!(
            "warning: the policy `{id}` is not on here, so no gate holds anything back"
        ));
    }
}

/// The gate that holds this session back, if one does.
fn held_back(place: &Place) -> Option<usize> {
    let attached = place.attached()?;
    let standing = place.read(Path::new(&attached.project), Path::new(&attached.manifest)).ok()?;
    standing.holds_back(place.session.as_ref()?.id.as_str(), place.project.here.now)
}

fn attach(args: &Attach) -> Outcome {
    let place = Place::find(&args.of)?;
    let session = place.session()?;
    let cwd = std::env::current_dir().unwrap_or_default();
    let root = &place.project.root;
    let standing = place.read(root, &cwd.join(&args.path)).or_else(|_| place.read(root, &args.path))?;
    let manifest = usable(&standing)?;
    let is_other = place.attached().is_some_and(|attached| attached.manifest != standing.path);
    if let Some(gate) = held_back(&place).filter(|_| is_other) {
        return Err(CliError::new(format!("gate {gate} of this session's workflow was not let through"))
            .hint("`tidegate gate check` shows what is missing, `tidegate gate detach` lets go of that workflow"));
    }
    place.own(&standing, Some(&session.id))?;
    place.mark(&session.id, WorkflowMark::Workflow(Box::new(standing.attach(manifest, None))).into())?;
    place.record(
        &format!("attach {}", standing.path),
        &tightened(&place.project.here, "a workflow was attached"),
        Deeds::default(),
    );
    show_bound(&args.of, &standing, manifest, Some(&session.id));
    warn_if_off(&place);
    Ok(ExitCode::SUCCESS)
}

fn detach(args: &Detach) -> Outcome {
    let place = Place::at_work(&args.of)?;
    let session = place.session()?;
    let Some(attached) = place.attached() else {
        return Err(CliError::new(format!("session {} is in no workflow", session.id)));
    };
    check_named(args.manifest.as_deref(), &attached.manifest)?;
    let mut given = tightened(&place.project.here, "a workflow was let go");
    if let Some(gate) = held_back(&place) {
        let would = [
            format!("This would let go of {}, whose gate {gate} was not let through.", attached.manifest),
            format!("Alternative: what `tidegate gate check {gate}` lists as missing."),
        ];
        let about = format!("let go of a workflow whose gate {gate} was not passed");
        let command = format!("gate detach --manifest {}", quoted(Path::new(&attached.manifest)));
        given = match place.consent(command, about, &would, args.approved, args.of.json)? {
            Consent::Given(given) => given,
            Consent::Waits(code) => return Ok(code),
        };
    }
    place.mark(&session.id, WorkflowMark::WorkflowLeft.into())?;
    place.record("detach", &given, Deeds::default());
    if args.of.json {
        print::json(
            &json!({ "manifest": attached.manifest, "session": session.id.as_str(), "attached": false }),
        );
    } else {
        print::line(&format!("session {} let go of {}", session.id, attached.manifest));
    }
    Ok(ExitCode::SUCCESS)
}

#[derive(Serialize)]
struct Shown<'a> {
    manifest: &'a str,
    workflow: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    feature: Option<&'a str>,
    complete: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    phase: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    phase_name: Option<&'a str>,
    of: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_write: Option<String>,
    /// Nobody wrote to it for a day: it is only reported.
    untouched: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<&'a str>,
    gates: Vec<ShownGate>,
}

#[derive(Serialize)]
struct ShownGate {
    gate: usize,
    after_phase: usize,
    /// `passed`, `skipped`, `pending` or `ahead`.
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<String>,
}

fn status(of: &KnowledgeOf) -> Outcome {
    let place = Place::at_work(of)?;
    if place.attached().is_none() && workflow::find(&place.project.root).is_empty() {
        if of.json {
            print::json(&json!({ "status": "none" }));
        } else {
            print::line("there is no workflow in this project; `tidegate gate start ID` begins one");
        }
        return Ok(ExitCode::SUCCESS);
    }
    let standing = place.standing()?;
    let manifest = usable(&standing)?;
    let pending = standing.pending();
    let gate = |gate: Gate| {
        let known = standing.is_let_through(gate.number);
        let state = match known {
            Some(known) => state_of(known),
            None if pending.contains(&gate) => "pending",
            None => "ahead",
        };
        ShownGate {
            gate: gate.number,
            after_phase: gate.after,
            state,
            at: known.map(|known| known.at.iso_seconds()),
        }
    };
    let session = place.session.as_ref().filter(|session| {
        session.marks.workflow.attached.as_ref().is_some_and(|attached| attached.manifest == standing.path)
    });
    let shown = Shown {
        manifest: &standing.path,
        workflow: &manifest.name,
        feature: manifest.feature.as_deref(),
        complete: manifest.complete,
        phase: manifest.current,
        phase_name: manifest
            .current
            .and_then(|number| manifest.workflow.phase(number))
            .map(|phase| phase.name.as_str()),
        of: manifest.workflow.phases.len(),
        last_write: standing.written.map(Millis::iso_seconds),
        untouched: standing.is_untouched(place.project.here.now),
        session: session.map(|session| session.id.as_str()),
        gates: manifest.workflow.gates().into_iter().map(gate).collect(),
    };
    if of.json {
        print::json(&shown);
        return Ok(ExitCode::SUCCESS);
    }
    let phase = match (shown.phase, shown.phase_name) {
        _ if shown.complete => "complete".to_owned(),
        (Some(number), Some(name)) => {
            format!("phase {number} of {} ({})", shown.of, name.replace(['_', '-'], " "))
        }
        _ => "its phase is not known".to_owned(),
    };
    print::line(&format!("{}: workflow {}, {phase}", shown.manifest, shown.workflow));
    let session = shown
        .session
        .map_or_else(|| "attached to no session here".to_owned(), |id| format!("attached to session {id}"));
    let untouched = if shown.untouched { ", not touched for a day, so it is only reported" } else { "" };
    print::line(&format!("  {session}{untouched}"));
    for gate in &shown.gates {
        let at = gate.at.as_ref().map(|at| format!(" at {at}")).unwrap_or_default();
        print::line(&format!("  gate {} after phase {}: {}{at}", gate.gate, gate.after_phase, gate.state));
    }
    Ok(ExitCode::SUCCESS)
}
