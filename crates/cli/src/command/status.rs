//! `tidegate status`: one screen about a session.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde::Serialize;
use tidegate_core::feature::activity::classifier::Phase;
use tidegate_core::feature::approval::marks::ApprovalRequest;
use tidegate_core::feature::config::Config;
use tidegate_core::feature::facts::Known;
use tidegate_core::feature::pressure::marks::PressureLevel;
use tidegate_core::feature::verification::checks::Kinds;
use tidegate_core::feature::verification::required_checks;
use tidegate_core::feature::verification::verify_stop;
use tidegate_core::pipeline::record::{MeterRecord, Record};
use tidegate_core::text::one_line::one_line;
use tidegate_core::time::Millis;
use tidegate_state::config::switches;
use tidegate_state::feature::knowledge::boundary;
use tidegate_state::feature::verification::manifests as checks;
use tidegate_state::feature::verification::manifests::ProjectManifest;
use tidegate_state::feature::{cycle, workflow};
use tidegate_state::journal;

use super::Outcome;
use super::meter::describe_reading;
use crate::error::CliError;
use crate::host::unchecked::Unchecked;
use crate::knowledge;
use crate::print::{self, format_count};
use crate::sessions::{Here, Session};

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  tidegate status\n  tidegate status --json")]
pub(crate) struct Args {
    /// Show this session
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

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
    #[serde(skip_serializing_if = "Option::is_none")]
    survival: Option<Survived>,
    /// Entries of the flow that no person has reviewed.
    unpromoted: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    phase: Option<Phase>,
    /// Of the session's project.
    #[serde(skip_serializing_if = "Option::is_none")]
    cycle: Option<Cycle>,
    #[serde(skip_serializing_if = "Option::is_none")]
    workflow: Option<InWorkflow>,
    /// Code that was edited and not verified since.
    #[serde(skip_serializing_if = "Option::is_none")]
    unverified: Option<Unverified>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    skills: Vec<String>,
    /// Hook runs of this session in the journal.
    events: usize,
    /// Of them: rulings other than a pass, and texts given.
    interruptions: usize,
    failures: usize,
    /// A client that Tidegate started itself: nothing is gated or said.
    unguarded: bool,
    /// Hook runs that did not come from the session's client.
    not_by_client: usize,
    /// Added to the context, by estimate.
    tokens_added: usize,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    config_problems: Vec<String>,
    /// Settings of the project's own config without effect so far.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    waiting_for_trust: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    waiting_for_approval: Vec<ApprovalRequest>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    switched_off: Vec<String>,
    /// Blocking policies that only advise here.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    stepped_down: Vec<String>,
    /// Other hosts that call the hooks of this project.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unchecked_hosts: Vec<Unchecked>,
    unreadable_lines: usize,
}

#[derive(Serialize)]
struct Survived {
    /// `auto` or `manual`.
    trigger: String,
    kept: usize,
    of: usize,
    /// Facts missing in the summary, also if the conversation still has them elsewhere.
    lost: Vec<String>,
}

impl Survived {
    fn of(here: &Here, session: &Session) -> Option<Survived> {
        let boundary = boundary::read(&here.state.session(&session.id))?;
        let survival = boundary.survival?;
        let lost = survival.lost.into_iter().map(|fact| fact.text).collect();
        Some(Survived { trigger: boundary.trigger, kept: survival.kept, of: survival.of, lost })
    }
}

/// A cycle, or the reason why its file is not used.
#[derive(Serialize)]
#[serde(untagged)]
pub(in crate::command) enum Cycle {
    Stands(Box<Stands>),
    Damaged { damage: String },
}

#[derive(Serialize)]
pub(in crate::command) struct Stands {
    name: String,
    /// `running`, `stopped`, `failed` or `complete`.
    status: &'static str,
    stage: String,
    number: usize,
    of: usize,
    skill: String,
    /// It steers this session.
    here: bool,
    /// The stage is over when the turn ends; known only here.
    #[serde(skip_serializing_if = "Option::is_none")]
    done: Option<bool>,
    /// Another session that it steers.
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    /// That session is still there.
    #[serde(skip_serializing_if = "Option::is_none")]
    live: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stopped_reason: Option<String>,
    resumes_at: String,
}

impl Cycle {
    pub(in crate::command) fn of(here: &Here, session: &Session) -> Option<Cycle> {
        let root = session.marks.session.root.as_deref().map(Path::new)?;
        let standing = match cycle::read(None, root, &here.config) {
            Known::Value(standing) if standing.of_project => standing,
            Known::Value(_) | Known::Absent => return None,
            Known::Broken(damage) => return Some(Cycle::Damaged { damage }),
        };
        let other = standing.other_owner(session.id.as_str()).map(str::to_owned);
        let (state, known) = match (standing.state, standing.cycle) {
            (Ok(state), Some(known)) => (state, known),
            (Err(damage), _) => return Some(Cycle::Damaged { damage: damage.to_string() }),
            (Ok(_), None) => return None,
        };
        let at = known.position(&state.stage)?;
        let running = state.status == tidegate_core::feature::cycle::CycleStatus::Running;
        let active = session.marks.cycle.stage.as_ref().filter(|active| active.stage == state.stage);
        let is_here = running && state.session_id.as_deref() == Some(session.id.as_str());
        Some(Cycle::Stands(Box::new(Stands {
            status: state.status.name(),
            number: at + 1,
            of: known.stages.len(),
            skill: known.stages[at].skill.clone(),
            here: is_here,
            done: active.filter(|_| is_here).map(|active| active.done),
            live: other.as_deref().map(|other| cycle::is_live(&here.state, other, here.now)),
            session: other,
            resumes_at: state.resumes_at().to_owned(),
            stopped_reason: state.stopped_reason,
            name: state.cycle,
            stage: state.stage,
        })))
    }

    pub(in crate::command) fn line(&self) -> String {
        let stands = match self {
            Cycle::Stands(stands) => stands.as_ref(),
            Cycle::Damaged { damage } => return format!("its file cannot be used: {}", one_line(damage)),
        };
        let Stands { name, status, stage, number, of, skill, resumes_at, .. } = stands;
        let stage = format!("{name}: stage {stage} ({number} of {of})");
        let resume = format!("`tidegate cycle resume` goes on with {resumes_at}");
        match (stands.here, &stands.session, stands.live) {
            (true, ..) if stands.done == Some(true) => format!("{stage}, done when this turn ends"),
            (true, ..) => format!("{stage}, its skill is `{skill}`"),
            (false, Some(session), Some(true)) => format!("{stage} in session {}", one_line(session)),
            (false, Some(_), _) => format!("{stage} in a session that is not there any more; {resume}"),
            (false, None, _) if *status == "running" => format!("{stage}, of no session; {resume}"),
            (false, None, _) => {
                let place = if *status == "stopped" { "after" } else { "at" };
                let why = stands.stopped_reason.as_deref();
                let why = why.map(|why| format!(" ({})", one_line(why))).unwrap_or_default();
                format!("{name}: {status} {place} stage {} ({number} of {of}){why}; {resume}", stands.stage)
            }
        }
    }
}

#[derive(Serialize)]
pub(in crate::command) struct InWorkflow {
    name: String,
    manifest: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    phase: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    phase_name: Option<String>,
    of: usize,
    /// Gates that hold agents back.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pending: Vec<usize>,
    /// Why nothing is known of its gates, or nothing held back.
    #[serde(skip_serializing_if = "Option::is_none")]
    idle: Option<String>,
}

impl InWorkflow {
    pub(in crate::command) fn of(here: &Here, session: &Session) -> Option<InWorkflow> {
        let attached = session.marks.workflow.attached.as_ref()?;
        let root = Path::new(&attached.project);
        let path = Path::new(&attached.manifest);
        let read = workflow::read(Some(&here.state), root, path, &here.config, false, &|| true);
        let last = attached.current();
        let mut shown = InWorkflow {
            name: attached.workflow.clone(),
            manifest: attached.manifest.clone(),
            phase: last.map(|last| last.number),
            phase_name: None,
            of: attached.of,
            pending: Vec::new(),
            idle: None,
        };
        let standing = match read {
            Known::Value(standing) => standing,
            Known::Absent => return Some(InWorkflow { idle: Some("its manifest is gone".into()), ..shown }),
            Known::Broken(why) => return Some(InWorkflow { idle: Some(why), ..shown }),
        };
        match &standing.manifest {
            Err(damage) => shown.idle = Some(format!("its manifest cannot be used: {damage}")),
            Ok(manifest) if manifest.complete => shown.idle = Some("complete".to_owned()),
            Ok(_) if standing.is_untouched(here.now) => {
                shown.idle = Some("not touched for a day, so it is only reported".to_owned());
            }
            Ok(manifest) => {
                shown.pending = standing.pending_gates().iter().map(|gate| gate.number).collect();
                shown.phase = manifest.current;
                let phase = manifest.current.and_then(|number| manifest.workflow.phase(number));
                shown.phase_name = phase.map(|phase| phase.name.clone());
            }
        }
        Some(shown)
    }

    pub(in crate::command) fn line(&self) -> String {
        let phase = match (self.phase, &self.phase_name) {
            (Some(number), Some(name)) => {
                format!("phase {number} of {} ({})", self.of, name.replace(['_', '-'], " "))
            }
            (Some(number), None) => format!("phase {number} of {}", self.of),
            _ => "its phase is not known".to_owned(),
        };
        let mut line = format!("{}: {phase}", self.name);
        if let Some(idle) = &self.idle {
            line = format!("{line}, {}", one_line(idle));
        }
        if let Some(gate) = self.pending.first() {
            line =
                format!("{line}; gate {gate} holds agents back, `tidegate workflow check {gate}` tells why");
        }
        line
    }
}

#[derive(Serialize)]
pub(in crate::command) struct Unverified {
    /// The first few.
    files: Vec<String>,
    /// All of them.
    count: usize,
    /// The first edit.
    since: String,
    /// Checks that succeeded since the last edit and are not enough.
    checked: Kinds,
    /// Stops held for it.
    held: u32,
    /// Checks that would verify it.
    settled_by: Vec<String>,
}

impl Unverified {
    pub(in crate::command) fn of(here: &Here, session: &Session) -> Option<Unverified> {
        let changes = session.marks.verification.changes.as_ref()?;
        let root = session.marks.session.root.as_deref().map(Path::new);
        let added: Vec<PathBuf> = session.marks.session.directories.iter().map(PathBuf::from).collect();
        let edited: Vec<PathBuf> = changes.files.iter().map(PathBuf::from).collect();
        let mut roots = root.map(|root| checks::roots(root, &added)).unwrap_or_default();
        checks::add_worktrees(&mut roots, &edited);
        let manifests = checks::read(&roots, &[], &changes.files);
        let seen: Vec<_> = manifests.iter().map(ProjectManifest::seen).collect();
        let project = tidegate_core::feature::verification::checks::read_project(&seen);
        let missing = required_checks::missing_kinds(Some(&project), &here.config, changes.checked);
        let mut settled_by = verify_stop::example_commands(Some(&project), &here.config, missing);
        settled_by.push(format!("the skill {}", required_checks::SKILL));
        Some(Unverified {
            files: changes.files.clone(),
            count: changes.count(),
            since: changes.began.iso(),
            checked: changes.checked,
            held: changes.held,
            settled_by,
        })
    }

    /// The waiting gate, and the checks that would satisfy it.
    pub(in crate::command) fn lines(&self) -> [String; 2] {
        let more = self.count - self.files.len();
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        let files = self.files.join(", ");
        [
            format!("verify-stop: edited and not verified since: {files}{more}"),
            format!("settled by {}", self.settled_by.join(", ")),
        ]
    }
}

pub(crate) fn run(args: &Args) -> Outcome {
    let here = Here::find()?;
    let mut records: Vec<Record> = Vec::new();
    let mut unreadable_lines = 0;
    for file in journal::list_files(&here.state.journal()).map_err(CliError::new)? {
        let entries = journal::read(&file).map_err(CliError::new)?;
        unreadable_lines += entries.skipped;
        records.extend(entries.records.into_iter().filter(|record| record.backend.is_none()));
    }
    let unchecked_hosts =
        Unchecked::among(records.iter().filter(|record| here.concerns(record, None, false)));
    let session = here.session(args.session.as_deref()).inspect_err(|_| {
        // Such a host leaves no session, so its calls are listed by themselves.
        for host in &unchecked_hosts {
            print::to_stderr(&format!("note: {}", host.line()));
        }
    })?;
    records.retain(|record| record.session.as_deref() == Some(session.id.as_str()));
    let (meter, forecast) = here.meter(Some(&session), None);
    let spoke = |record: &&Record| {
        matches!(record.ruling.as_str(), "ask" | "deny" | "halt")
            || record.said.model.is_some()
            || record.said.user.is_some()
    };
    let (switched_off, stepped_down) = list_switches(&here, &session, &records);
    let status = Status {
        session: session.id.to_string(),
        project: session.marks.session.root.clone(),
        began: session.marks.session.began.map(Millis::iso),
        meter: MeterRecord::from_meter(&meter, forecast, here.now),
        pressure_said: session.marks.pressure.said.level.name(),
        last_boundary: session.marks.session.boundary.map(Millis::iso),
        survival: Survived::of(&here, &session),
        unpromoted: session
            .marks
            .session
            .root
            .as_deref()
            .map_or(0, |root| count_unpromoted(&here, Path::new(root))),
        phase: session.marks.activity.phase,
        cycle: Cycle::of(&here, &session),
        workflow: InWorkflow::of(&here, &session),
        unverified: Unverified::of(&here, &session),
        skills: session.marks.session.skills.iter().map(|(name, _)| name.clone()).collect(),
        events: records.len(),
        interruptions: records.iter().filter(spoke).count(),
        failures: records.iter().filter(|record| record.failure.is_some()).count(),
        unguarded: records.iter().any(|record| record.ruling == "unguarded"),
        not_by_client: records.iter().filter(|record| record.ruling == "not-client").count(),
        tokens_added: records.iter().map(|record| record.cost.tokens).sum(),
        config_problems: here.config.problems.clone(),
        waiting_for_trust: here
            .config
            .waiting
            .iter()
            .filter(|waiting| !waiting.never)
            .map(|waiting| waiting.assignment.path())
            .collect(),
        waiting_for_approval: session
            .marks
            .approval
            .requests
            .iter()
            .filter(|request| request.waits(here.now))
            .cloned()
            .collect(),
        switched_off,
        stepped_down,
        unchecked_hosts,
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
    for line in describe_reading(&status.meter) {
        print::line(&line.replacen("context:", "context ", 1));
    }
    let said = match session.marks.pressure.said.level {
        PressureLevel::None => "nothing said yet at this use".to_owned(),
        PressureLevel::Info => "`info` was said; `urgent` is said once when it is reached".to_owned(),
        PressureLevel::Urgent => "`urgent` was said, the last level".to_owned(),
    };
    print::line(&format!("pressure {said}"));
    if let Some(boundary) = &status.last_boundary {
        print::line(&format!("compacted {boundary}"));
    }
    if let Some(Survived { trigger, kept, of, lost }) = &status.survival {
        print::line(&format!(
            "         {trigger}: the summary kept {kept} of {}",
            format_count(*of, "key fact")
        ));
        for fact in lost {
            print::line(&format!("         not in it: {fact}"));
        }
    }
    if status.unpromoted > 0 {
        let entries = if status.unpromoted == 1 { "entry" } else { "entries" };
        print::line(&format!(
            "flow     {} {entries} unpromoted; /compound goes through them",
            status.unpromoted
        ));
    }
    if let Some(phase) = status.phase {
        print::line(&format!("phase    {}", phase.name()));
    }
    if let Some(cycle) = &status.cycle {
        print::line(&format!("cycle    {}", cycle.line()));
    }
    if let Some(workflow) = &status.workflow {
        print::line(&format!("workflow {}", workflow.line()));
    }
    if !status.skills.is_empty() {
        print::line(&format!("skills   {}", status.skills.join(", ")));
    }
    if let Some(unverified) = &status.unverified {
        let [armed, settled] = unverified.lines();
        print::line(&format!("armed    {armed}"));
        print::line(&format!("         {settled}"));
    }
    print::line(&format!(
        "hooks    {}, {}, {}, about {} added to the context",
        format_count(status.events, "run"),
        format_count(status.interruptions, "interruption"),
        format_count(status.failures, "failed check"),
        format_count(status.tokens_added, "token")
    ));
    if status.unguarded {
        print::line(
            "warning: this session runs unguarded (TIDEGATE_GUARD is set in it): nothing is gated or said",
        );
    }
    if status.not_by_client > 0 {
        print::line(&format!(
            "warning: {} did not come from the client and changed nothing (a script between the client and Tidegate must pass \
             its input on unread: `exec tidegate hook …`)",
            print::format_count(status.not_by_client, "hook run")
        ));
    }
    if !status.switched_off.is_empty() {
        print::line(&format!(
            "warning: switched off in this session: {} (`tidegate off` lists them)",
            status.switched_off.join(", ")
        ));
    }
    for policy in &status.stepped_down {
        print::line(&format!(
            "note: {policy} only advises here since people overrode it so often (`tidegate on {policy}` lets it block again)"
        ));
    }
    for host in &status.unchecked_hosts {
        print::line(&format!("note: {}", host.line()));
    }
    for problem in &status.config_problems {
        print::line(&format!("warning: config: {problem}"));
    }
    if !status.waiting_for_trust.is_empty() {
        print::line(&format!(
            "note: this project's config waits for `tidegate trust`: {}",
            status.waiting_for_trust.join(", ")
        ));
    }
    for request in &status.waiting_for_approval {
        print::line(&format!(
            "waiting  {}: type `approve {}` in the session",
            request.wording(),
            request.code
        ));
    }
    if status.unreadable_lines > 0 {
        print::line(&format!("note: {} lines of the journal could not be read", status.unreadable_lines));
    }
    Ok(ExitCode::SUCCESS)
}

/// Unreadable files count as none here: `learnings check` and `doctor` report them.
fn count_unpromoted(here: &Here, root: &Path) -> usize {
    let knowledge = knowledge::read_knowledge(here, root);
    knowledge.map_or(0, |known| known.entries().iter().filter(|entry| entry.unpromoted).count())
}

/// Policies that are off by command, which counts at once, or by the client's environment, which only its hooks see;
/// and those that stepped down.
pub(crate) fn list_switches(
    here: &Here,
    session: &Session,
    records: &[Record],
) -> (Vec<String>, Vec<String>) {
    let root = session.marks.session.root.as_deref().map(Path::new);
    let mut config = Config { off_by_command: Vec::new(), stepped_down: Vec::new(), ..here.config.clone() };
    switches::read(&here.state).apply(&mut config, here.now, root, Some(session.id.as_str()));
    let of_client: Vec<String> = records.last().map(|record| record.off.clone()).unwrap_or_default();
    let mut all: Vec<String> = of_client.into_iter().chain(config.off_by_command).collect();
    all.sort();
    all.dedup();
    (all, config.stepped_down)
}
