//! The project that a command means, its session and their workflow.

use std::path::{Path, PathBuf};

use tidegate_core::event::SessionId;
use tidegate_core::feature::facts::Known;
use tidegate_core::feature::marks::Mark;
use tidegate_core::feature::workflow::check;
use tidegate_core::feature::workflow::check::GateReport;
use tidegate_core::feature::workflow::settings::WorkflowMode;
use tidegate_core::feature::workflow::standing::{ClearedGate, GateContext, ManifestOwner, WorkflowStanding};
use tidegate_core::feature::workflow::{AttachedWorkflow, Gate, Manifest, Workflow};
use tidegate_core::pipeline::record::Deeds;
use tidegate_state::feature::workflow;
use tidegate_state::session::marks;

use crate::approval::{self, Consent, Given, Request};
use crate::args::ProjectArgs;
use crate::bilingual::Bilingual;
use crate::error::CliError;
use crate::knowledge::Project;
use crate::path::real_path;
use crate::print;
use crate::sessions::Session;

pub(super) struct ProjectWorkflow {
    pub(super) project: Project,
    pub(super) session: Option<Session>,
}

impl ProjectWorkflow {
    pub(super) fn find(of: &ProjectArgs) -> Result<ProjectWorkflow, CliError> {
        let project = Project::find(of)?;
        let session = project.here.session(project.session.as_ref().map(SessionId::as_str)).ok();
        let here = project.real();
        let is_here = |session: &Session| {
            session.marks.session.root.as_deref().is_none_or(|root| real_path(Path::new(root)) == here)
        };
        let session = session.filter(is_here);
        Ok(ProjectWorkflow { project, session })
    }

    /// Without `--session`, uses the newest session attached to a workflow.
    pub(super) fn find_attached(of: &ProjectArgs) -> Result<ProjectWorkflow, CliError> {
        let mut place = ProjectWorkflow::find(of)?;
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

    pub(super) fn attached(&self) -> Option<&AttachedWorkflow> {
        self.session.as_ref().and_then(|session| session.marks.workflow.attached.as_ref())
    }

    pub(super) fn known_session(&self) -> Result<&Session, CliError> {
        self.session.as_ref().ok_or_else(|| {
            CliError::new("no session has been seen in this project")
                .hint("run this inside a session, or name one with --session")
        })
    }

    /// This session's manifest, else the only one in the project; with its project.
    pub(super) fn find_manifest(&self) -> Result<(PathBuf, PathBuf), CliError> {
        if let Some(attached) = self.attached() {
            return Ok((PathBuf::from(&attached.project), PathBuf::from(&attached.manifest)));
        }
        let root = self.project.root.clone();
        let mut found = workflow::find_manifests(&self.project.root);
        match found.len() {
            0 => Err(CliError::new("there is no workflow in this project").hint(
                "`tidegate workflow start ID` begins one, `tidegate workflow attach PATH` takes up another",
            )),
            1 => Ok((root, PathBuf::from(found.swap_remove(0).0))),
            _ => {
                let listed: Vec<&str> = found.iter().take(5).map(|(path, _)| path.as_str()).collect();
                let to = if self.project.session.is_some() { "this session" } else { "a session here" };
                Err(CliError::new(format!(
                    "no workflow is attached to {to}; there is\n  {}",
                    listed.join("\n  ")
                ))
                .hint("`tidegate workflow attach PATH` attaches one"))
            }
        }
    }

    pub(super) fn read_manifest(&self, root: &Path, path: &Path) -> Result<WorkflowStanding, CliError> {
        let here = &self.project.here;
        match workflow::read(Some(&here.state), root, path, &here.config, false, &|| true) {
            Known::Value(standing) => Ok(standing),
            Known::Absent => Err(CliError::new(format!("{}: no such file", path.display()))
                .hint("`tidegate workflow detach` lets go of it")),
            Known::Broken(why) => Err(CliError::new(format!("{} cannot be read: {why}", path.display()))
                .hint("a manifest is a file inside of the project")),
        }
    }

    pub(super) fn read_standing(&self) -> Result<WorkflowStanding, CliError> {
        let (root, path) = self.find_manifest()?;
        self.read_manifest(&root, &path)
    }

    pub(super) fn check_gate(&self, standing: &mut WorkflowStanding, gate: Gate) -> GateReport {
        if let Ok(manifest) = &standing.manifest
            && !standing.files.iter().any(|(phase, _)| *phase == gate.after)
        {
            let names = manifest.section(gate.after).map(check::files_to_examine).unwrap_or_default();
            let root = Path::new(&standing.root);
            let files = workflow::check_files(root, &root.join(&standing.path), names, &|| true);
            standing.files.push((gate.after, files));
        }
        let here = &self.project.here;
        let settings = &here.config.policies.workflow_gate;
        let meter = self.session.as_ref().map(|session| here.meter(Some(session), None).0);
        let marks = self.session.as_ref().map(|session| &session.marks);
        let at = GateContext {
            strict: settings.mode == WorkflowMode::Strict,
            level: meter.as_ref().and_then(|meter| settings.level(meter.reading()?)),
            boundary: marks.and_then(|marks| marks.session.boundary),
            session: marks.and_then(|marks| marks.session.began),
            attached: self.attached().filter(|attached| attached.manifest == standing.path),
            written: standing.written,
        };
        standing.check_gate(gate, &at.moment_after(gate.after))
    }

    pub(super) fn append_mark(&self, session: &SessionId, new: Mark) -> Result<(), CliError> {
        let folder = self.project.here.state.session(session);
        let written = marks::lock_exclusive(&folder).and_then(|lock| lock.append(&[new]));
        written.map_err(|error| CliError::new(format!("session {session} cannot be told: {error}")))
    }

    pub(super) fn change_manifest(
        &self,
        standing: &WorkflowStanding,
        how: impl FnOnce(&str) -> Result<String, String>,
    ) -> Result<(), CliError> {
        let (state, root) = (&self.project.here.state, Path::new(&standing.root));
        workflow::change(state, root, Path::new(&standing.path), how).map_err(|error| {
            CliError::new(format!("{} was not changed: {error}", standing.path)).hint("nothing was recorded")
        })?;
        // The session that writes a manifest owns it.
        let bound = self.attached().is_some_and(|attached| attached.manifest == standing.path);
        self.record_owner(standing, self.session.as_ref().filter(|_| bound).map(|session| &session.id))
    }

    pub(super) fn record_passage(
        &self,
        standing: &WorkflowStanding,
        gate: usize,
        skipped: bool,
    ) -> Result<(), CliError> {
        let here = &self.project.here;
        let created = standing.manifest.as_ref().ok().and_then(|manifest| manifest.created);
        let known = ClearedGate { manifest: standing.path.clone(), gate, skipped, at: here.now, created };
        workflow::record_let_through(&here.state, Path::new(&standing.root), &known)
            .map_err(|error| CliError::new(format!("gate {gate} was not recorded: {error}")))
    }

    pub(super) fn record_owner(
        &self,
        standing: &WorkflowStanding,
        session: Option<&SessionId>,
    ) -> Result<(), CliError> {
        let Some(session) = session.filter(|session| standing.owner.as_deref() != Some(session.as_str()))
        else {
            return Ok(());
        };
        let here = &self.project.here;
        let owned =
            ManifestOwner { manifest: standing.path.clone(), owner: session.to_string(), at: here.now };
        workflow::record_owner(&here.state, Path::new(&standing.root), &owned)
            .map_err(|error| CliError::new(format!("{} was not attached: {error}", standing.path)))
    }

    pub(super) fn record_command(&self, command: &str, given: &Given, did: Deeds) {
        approval::record_command(&self.project.here, &format!("workflow {command}"), given, did);
    }

    /// For commands that leave a gate behind.
    pub(super) fn ask_consent(
        &self,
        command: String,
        about: String,
        would: &[String],
        approved: bool,
        json: bool,
    ) -> Result<Consent, CliError> {
        let would = Bilingual::lines(would);
        let request =
            Request { name: "workflow skip", command, about: Some(about), would: &would, approved, json };
        approval::ask_consent(&self.project.here, &request)
    }

    pub(super) fn pending_gate(&self) -> Option<usize> {
        let attached = self.attached()?;
        let standing =
            self.read_manifest(Path::new(&attached.project), Path::new(&attached.manifest)).ok()?;
        standing.blocking_gate(self.session.as_ref()?.id.as_str(), self.project.here.now)
    }

    pub(super) fn warn_if_off(&self) {
        let config = &self.project.here.config;
        let mode = config.policies.workflow_gate.mode;
        let id = tidegate_core::feature::workflow::policy::ID;
        if !matches!(mode, WorkflowMode::On | WorkflowMode::Strict) || config.switched_off(id) {
            print::to_stderr(&format!(
                "warning: the policy `{id}` is not on here, so no gate holds anything back"
            ));
        }
    }
}

pub(super) fn usable_manifest(standing: &WorkflowStanding) -> Result<&Manifest, CliError> {
    standing.manifest.as_ref().map_err(|damage| {
        CliError::new(format!("write verified: {} cannot be used: {damage}", standing.path))
            .hint("mend it by hand; until then nothing is recorded, and its gates hold nothing back")
    })
}

pub(super) fn find_gate(workflow: &Workflow, name: &str, number: usize) -> Result<Gate, CliError> {
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

/// Accepts a phase by number or name; returns its number and the key of its section.
pub(super) fn find_section(manifest: &Manifest, word: &str) -> Result<(usize, String), CliError> {
    let number = manifest.workflow.phase_number(word).ok_or_else(|| {
        let names: Vec<&str> = manifest.workflow.phases.iter().map(|phase| phase.name.as_str()).collect();
        CliError::new(format!("the workflow {} has no phase {word}", manifest.name))
            .hint(format!("there is {}", names.join(", ")))
    })?;
    let name = manifest.workflow.phase(number).map(|phase| phase.name.as_str()).unwrap_or_default();
    let key =
        manifest.section(number).map_or_else(|| format!("{number}_{name}"), |section| section.key.clone());
    Ok((number, key))
}

/// An approval is for one manifest: another one may be attached when it is used.
pub(super) fn check_named(named: Option<&Path>, meant: &str) -> Result<(), CliError> {
    match named {
        Some(named) if named != Path::new(meant) => Err(CliError::new(format!(
            "{} is not the manifest of this session: that is {meant}",
            named.display()
        ))
        .hint("`tidegate workflow attach PATH` takes up another one")),
        _ => Ok(()),
    }
}
