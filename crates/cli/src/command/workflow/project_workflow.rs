//! The project that a command means, its session and their workflow.

use std::path::{Path, PathBuf};

use tidegate_core::event::SessionId;
use tidegate_core::feature::facts::Known;
use tidegate_core::feature::marks::Mark;
use tidegate_core::feature::workflow::check;
use tidegate_core::feature::workflow::check::GateReport;
use tidegate_core::feature::workflow::closed::{ClosedGate, PendingGate};
use tidegate_core::feature::workflow::marks::Mark as WorkflowMark;
use tidegate_core::feature::workflow::policy::ID;
use tidegate_core::feature::workflow::settings::WorkflowMode;
use tidegate_core::feature::workflow::standing::{
    ClearedGate, GateContext, ManifestOwner, SeenClosed, WorkflowStanding,
};
use tidegate_core::feature::workflow::{AttachedWorkflow, Gate, Manifest, Workflow};
use tidegate_core::pipeline::record::Deeds;
use tidegate_core::text::yaml::Unfit;
use tidegate_state::feature::workflow;
use tidegate_state::feature::workflow::SoughtManifest;
use tidegate_state::session::marks;

use crate::approval::{self, Consent, Given, Request};
use crate::args::ProjectArgs;
use crate::bilingual::{Bilingual, both};
use crate::error::CliError;
use crate::knowledge::Project;
use crate::own_session;
use crate::path::real_path;
use crate::print::remark;
use crate::sessions::Session;

pub(super) struct ProjectWorkflow {
    pub(super) project: Project,
    pub(super) session: Option<Session>,
}

impl ProjectWorkflow {
    pub(super) fn find(of: &ProjectArgs) -> Result<ProjectWorkflow, CliError> {
        let project = Project::find(of)?;
        let session = match &project.session {
            Some(own) => project.here.known_session(own.as_str()).ok(),
            None => project.here.session(None).ok(),
        };
        let here = project.real();
        let is_here = |session: &Session| {
            session.marks.session.root.as_deref().is_none_or(|root| real_path(Path::new(root)) == here)
        };
        let session = session.filter(is_here);
        Ok(ProjectWorkflow { project, session })
    }

    /// At a terminal no session is named: then the newest one with a workflow is meant.
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

    /// For commands that change something: an agent acts only for its own session.
    pub(super) fn find_to_change(of: &ProjectArgs) -> Result<ProjectWorkflow, CliError> {
        let place = ProjectWorkflow::find_attached(of)?;
        place.check_caller()?;
        Ok(place)
    }

    pub(super) fn check_caller(&self) -> Result<(), CliError> {
        self.session.as_ref().map_or(Ok(()), |session| own_session::check(&self.project.here, session))
    }

    pub(super) fn attached(&self) -> Option<&AttachedWorkflow> {
        self.session.as_ref().and_then(|session| session.marks.workflow.attached.as_ref())
    }

    pub(super) fn known_session(&self) -> Result<&Session, CliError> {
        self.session.as_ref().ok_or_else(|| {
            CliError::new(both!(
                "Tidegate has not seen a session in this project",
                "このプロジェクトのセッションがまだありません"
            ))
            .hint(both!(
                "run this inside a session, or name one with --session",
                "セッションの中で実行するか、--session で指定してください"
            ))
        })
    }

    /// This session's manifest, else the only one in the project; with its project.
    pub(super) fn find_manifest(&self) -> Result<(PathBuf, PathBuf), CliError> {
        if let Some(attached) = self.attached() {
            return Ok((PathBuf::from(&attached.project), PathBuf::from(&attached.manifest)));
        }
        let root = self.project.root.clone();
        let mut found = workflow::find_manifests(&self.project.root);
        if found.len() > 1 {
            // Other tools keep lists of artifacts under the same name.
            let is_list = |path: &str| {
                let standing = self.read_manifest(&root, Path::new(path));
                standing.is_ok_and(|standing| {
                    standing.manifest.is_ok_and(|manifest| !is_workflow_manifest(&manifest))
                })
            };
            let phased: Vec<_> = found.iter().filter(|(path, _)| !is_list(path)).cloned().collect();
            found = if phased.is_empty() { found } else { phased };
        }
        match found.len() {
            0 => Err(CliError::new(both!(
                "there is no workflow in this project",
                "このプロジェクトにはワークフローがありません"
            ))
            .hint(both!(
                "`tidegate workflow start ID` starts one, `tidegate workflow attach PATH` uses an existing manifest",
                "`tidegate workflow start ID` で始めるか、`tidegate workflow attach PATH` で今あるマニフェストを使ってください"
            ))),
            1 => Ok((root, PathBuf::from(found.swap_remove(0).0))),
            _ => {
                let listed: Vec<&str> = found.iter().take(5).map(|(path, _)| path.as_str()).collect();
                let listed = listed.join("\n  ");
                let error = if self.project.session.is_some() {
                    both!(
                        "this session does not use a workflow; the project has:\n  {listed}",
                        "このセッションはワークフローを使っていません。プロジェクトにあるもの:\n  {listed}"
                    )
                } else {
                    both!(
                        "no session here uses a workflow; the project has:\n  {listed}",
                        "ここにはワークフローを使っているセッションがありません。プロジェクトにあるもの:\n  {listed}"
                    )
                };
                Err(CliError::new(error).hint(both!(
                    "`tidegate workflow attach PATH` uses one",
                    "`tidegate workflow attach PATH` で使うものを選んでください"
                )))
            }
        }
    }

    pub(super) fn read_manifest(&self, root: &Path, path: &Path) -> Result<WorkflowStanding, CliError> {
        let shown = path.display();
        match self.look_up(root, path) {
            Known::Value(standing) => Ok(standing),
            Known::Absent => Err(CliError::new(both!(
                "there is no file {shown}",
                "{shown} というファイルはありません"
            ))
            .hint(both!(
                "restore it, or run `tidegate workflow detach` if a session still uses it",
                "ファイルを戻してください。セッションが使っている場合は `tidegate workflow detach` でやめられます"
            ))),
            Known::Broken(why) => Err(CliError::new(both!(
                "cannot read {shown}: {why}",
                "{shown} を読めません: {why}"
            ))
            .hint(both!(
                "name a manifest inside the project",
                "プロジェクトの中にあるマニフェストを指定してください"
            ))),
        }
    }

    fn look_up(&self, root: &Path, path: &Path) -> Known<WorkflowStanding> {
        let here = &self.project.here;
        let sought = SoughtManifest { root, path: path.to_owned(), attached: self.attached(), left: false };
        workflow::read(Some(&here.state), &sought, &here.config, &|| true)
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
        let moment = self.gate_context(standing).moment_after(gate.after);
        standing.check_gate(gate, &moment)
    }

    fn gate_context(&self, standing: &WorkflowStanding) -> GateContext<'_> {
        let here = &self.project.here;
        let settings = &here.config.policies.workflow_gate;
        let meter = self.session.as_ref().map(|session| here.meter(Some(session), None).0);
        let marks = self.session.as_ref().map(|session| &session.marks);
        GateContext {
            strict: settings.mode == WorkflowMode::Strict,
            level: meter.as_ref().and_then(|meter| settings.level(meter.reading()?)),
            used_pct: meter
                .as_ref()
                .and_then(|meter| meter.reading()?.used_pct())
                .map(|percent| percent.round() as u64),
            boundary: marks.and_then(|marks| marks.session.boundary),
            session: marks.and_then(|marks| marks.session.began),
            attached: self.attached().filter(|attached| attached.manifest == standing.path),
            written: standing.written,
            now: here.now,
        }
    }

    pub(super) fn append_mark(&self, session: &SessionId, new: Mark) -> Result<(), CliError> {
        let folder = self.project.here.state.session(session);
        let written = marks::lock_exclusive(&folder).and_then(|lock| lock.append(&[new]));
        written.map_err(|error| {
            CliError::new(both!(
                "cannot write the state of session {session}: {error}",
                "セッション {session} の状態を書き込めません: {error}"
            ))
            .hint(both!(
                "run the command again; `tidegate doctor` checks the state folder",
                "もう一度実行してください。状態のフォルダは `tidegate doctor` で調べられます"
            ))
        })
    }

    pub(super) fn change_manifest(
        &self,
        standing: &WorkflowStanding,
        how: impl FnOnce(&str) -> Result<String, Unfit>,
    ) -> Result<(), CliError> {
        let (state, root) = (&self.project.here.state, Path::new(&standing.root));
        let how = |text: &str| how(text).map_err(|why| why.to_string());
        workflow::change(state, root, Path::new(&standing.path), how).map_err(|error| {
            let path = &standing.path;
            CliError::new(both!("cannot change {path}: {error}", "{path} を変更できません: {error}")).hint(
                both!(
                    "nothing was recorded; correct the cause and run the command again",
                    "何も記録していません。原因を直してから、もう一度実行してください"
                ),
            )
        })?;
        // The session that writes a manifest owns it.
        let session = self.session.as_ref().filter(|_| self.uses(standing));
        self.record_owner(standing, session.map(|session| &session.id))
    }

    pub(super) fn record_passage(
        &self,
        standing: &WorkflowStanding,
        gate: usize,
        skipped: bool,
    ) -> Result<ClearedGate, CliError> {
        let here = &self.project.here;
        let created = standing.manifest.as_ref().ok().and_then(|manifest| manifest.created);
        let known = ClearedGate { manifest: standing.path.clone(), gate, skipped, at: here.now, created };
        workflow::record_cleared_gate(&here.state, Path::new(&standing.root), &known).map_err(|error| {
            CliError::new(both!(
                "cannot record checkpoint {gate}: {error}",
                "チェックポイント{gate}を記録できません: {error}"
            ))
            .hint(both!("run the command again", "もう一度実行してください"))
        })?;
        if let Some(session) = self.session.as_ref().filter(|_| self.uses(standing)) {
            self.append_mark(&session.id, WorkflowMark::GateOpen(gate).into())?;
        }
        Ok(known)
    }

    /// The session is attached to this manifest.
    pub(super) fn uses(&self, standing: &WorkflowStanding) -> bool {
        self.attached().is_some_and(|attached| attached.manifest == standing.path)
    }

    /// After a change of the manifest: notes the checkpoints that it closed. A session that did not use it does so from now on.
    pub(super) fn follow_change(&self, standing: &WorkflowStanding) -> Result<(), CliError> {
        let Some(session) = &self.session else { return Ok(()) };
        let standing = self.read_manifest(Path::new(&standing.root), Path::new(&standing.path))?;
        let now = self.project.here.now;
        let manifest = usable_manifest(&standing)?;
        if manifest.complete && standing.pending_gates().is_empty() {
            // In a session the hook after this command ends it, and tells the person.
            let ends = self.uses(&standing) && !approval::is_by_agent(&self.project.here.env);
            return if ends {
                self.append_mark(&session.id, WorkflowMark::WorkflowLeft.into())
            } else {
                Ok(())
            };
        }
        if self.uses(&standing) {
            let closed = standing.closed_gates(now);
            self.remember_closed(&standing, &closed)?;
            let mark = |gate| WorkflowMark::GatePending(gate).into();
            return closed.into_iter().try_for_each(|gate| self.append_mark(&session.id, mark(gate)));
        }
        self.record_owner(&standing, Some(&session.id))?;
        let new = standing.attach(manifest, None, now);
        self.remember_closed(&standing, &new.pending)?;
        self.append_mark(&session.id, WorkflowMark::Workflow(Box::new(new)).into())
    }

    /// For the case that the session's marks are lost.
    pub(super) fn remember_closed(
        &self,
        standing: &WorkflowStanding,
        closed: &[PendingGate],
    ) -> Result<(), CliError> {
        let Some(session) = self.session.as_ref().filter(|_| !closed.is_empty()) else { return Ok(()) };
        let workflow = standing.manifest.as_ref().map(|manifest| manifest.name.clone()).unwrap_or_default();
        let (manifest, closed) = (standing.path.clone(), closed.to_vec());
        let seen = SeenClosed { manifest, workflow, closed, by: session.id.to_string() };
        let state = &self.project.here.state;
        workflow::record_seen_closed(state, Path::new(&standing.root), &seen).map_err(|error| {
            let path = &standing.path;
            CliError::new(both!(
                "cannot record the checkpoints of {path}: {error}",
                "{path} のチェックポイントを記録できません: {error}"
            ))
            .hint(both!("run the command again", "もう一度実行してください"))
        })
    }

    /// This session stops using the manifest, and the next one does not take it over.
    pub(super) fn release(&self, attached: &AttachedWorkflow) -> Result<(), CliError> {
        let here = &self.project.here;
        let path = &attached.manifest;
        let released = ManifestOwner { manifest: path.clone(), owner: String::new(), at: here.now };
        workflow::record_owner(&here.state, Path::new(&attached.project), &released).map_err(|error| {
            CliError::new(both!("cannot detach {path}: {error}", "{path} の使用をやめられません: {error}"))
                .hint(both!("run the command again", "もう一度実行してください"))
        })
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
        workflow::record_owner(&here.state, Path::new(&standing.root), &owned).map_err(|error| {
            let path = &standing.path;
            CliError::new(both!("cannot attach {path}: {error}", "{path} を使い始められません: {error}"))
                .hint(both!("run the command again", "もう一度実行してください"))
        })
    }

    pub(super) fn record_command(&self, command: &str, given: &Given, did: Deeds) {
        approval::record_command(&self.project.here, &format!("workflow {command}"), given, did);
    }

    /// For commands that leave a gate behind.
    pub(super) fn ask_consent(
        &self,
        command: String,
        about: String,
        would: &[Bilingual],
        approved: bool,
        json: bool,
    ) -> Result<Consent, CliError> {
        let request = Request { name: "workflow skip", command, about: Some(about), would, approved, json };
        approval::ask_consent(&self.project.here, &request)
    }

    /// The gate that blocks this session's agents, whatever became of its manifest.
    pub(super) fn closed_gate(&self) -> Option<ClosedGate> {
        let attached = self.attached()?;
        let known = self.look_up(Path::new(&attached.project), Path::new(&attached.manifest));
        attached.closed_gate(&known, self.session.as_ref()?.id.as_str(), self.project.here.now)
    }

    /// The checkpoint that does not allow another workflow in this session: a closed one, and for an agent also one whose phase
    /// the session has reached.
    pub(super) fn gate_to_keep(&self) -> Option<usize> {
        if !approval::is_by_agent(&self.project.here.env) {
            return self.closed_gate().map(|closed| closed.gate().number);
        }
        let attached = self.attached()?;
        let known = self.look_up(Path::new(&attached.project), Path::new(&attached.manifest));
        let session = self.session.as_ref()?.id.as_str();
        attached.gate_to_keep(&known, session, self.project.here.now).map(|gate| gate.number)
    }

    /// The next checkpoint that an agent would leave behind.
    pub(super) fn next_gate(&self, attached: &AttachedWorkflow) -> Option<usize> {
        if !approval::is_by_agent(&self.project.here.env) {
            return None;
        }
        let known = self.look_up(Path::new(&attached.project), Path::new(&attached.manifest));
        let standing = known.value()?;
        let manifest = standing.manifest.as_ref().ok().filter(|manifest| !manifest.complete)?;
        let is_ahead = |gate: &Gate| standing.clearance(gate.number).is_none();
        manifest.workflow.gates().into_iter().find(is_ahead).map(|gate| gate.number)
    }

    /// A workflow that no running session uses.
    pub(super) fn find_left(&self, path: &Path) -> Result<AttachedWorkflow, CliError> {
        let here = &self.project.here;
        let standing = self.read_manifest(&self.project.root, path)?;
        let owner = standing.owner.as_deref().filter(|owner| !owner.is_empty());
        let owner = owner.and_then(|owner| here.known_session(owner).ok());
        let is_own = |owner: &Session| self.session.as_ref().is_some_and(|session| session.id == owner.id);
        if let Some(owner) = owner.filter(|owner| !owner.marks.session.detached && !is_own(owner)) {
            let (path, owner) = (&standing.path, &owner.id);
            return Err(CliError::new(both!(
                "session {owner} uses {path}",
                "{path} はセッション {owner} が使っています"
            ))
            .hint(both!(
                "run `tidegate workflow detach` there",
                "そのセッションで `tidegate workflow detach` を実行してください"
            )));
        }
        let now = here.now;
        Ok(match &standing.manifest {
            Ok(manifest) => standing.attach(manifest, None, now),
            Err(_) => AttachedWorkflow {
                project: standing.root.clone(),
                manifest: standing.path.clone(),
                ..AttachedWorkflow::default()
            },
        })
    }

    /// As the hook would decide before the next agent.
    pub(super) fn blocks(&self, standing: &WorkflowStanding) -> bool {
        let is_closed = match self.closed_gate() {
            Some(ClosedGate::Pending(_)) => {
                standing.find_blocking_gate(&self.gate_context(standing)).is_some()
            }
            Some(ClosedGate::Lost(..)) => true,
            None => false,
        };
        is_closed && self.is_on()
    }

    fn is_on(&self) -> bool {
        let config = &self.project.here.config;
        matches!(config.policies.workflow_gate.mode, WorkflowMode::On | WorkflowMode::Strict)
            && !config.switched_off(ID)
    }

    pub(super) fn warn_if_off(&self) {
        if !self.is_on() {
            let id = ID;
            remark::warn(both!(
                "the policy `{id}` is off here, so no checkpoint blocks anything; `tidegate on {id}` switches it on",
                "ここではポリシー `{id}` がオフのため、チェックポイントは何も止めません。オンにするには `tidegate on {id}` を実行してください"
            ));
        }
    }
}

pub(super) fn usable_manifest(standing: &WorkflowStanding) -> Result<&Manifest, CliError> {
    standing.manifest.as_ref().map_err(|damage| {
        let path = &standing.path;
        CliError::new(both!("cannot use {path}: {damage}", "{path} は使えません: {damage}")).hint(both!(
            "correct the file by hand; until then Tidegate records nothing, and a checkpoint that blocked agents still does",
            "ファイルを直してください。それまでは何も記録せず、止めていたチェックポイントは止めたままです"
        ))
    })
}

/// A manifest without phases that names no workflow is a list of artifacts, which other tools keep under the same name.
pub(super) fn is_workflow_manifest(manifest: &Manifest) -> bool {
    manifest.named || manifest.has_phases()
}

/// For commands that look at a gate of the project's only manifest. That of the session may have lost its phases and still
/// has its gates.
pub(super) fn check_lists_phases(
    place: &ProjectWorkflow,
    standing: &WorkflowStanding,
) -> Result<(), CliError> {
    let has_none = standing.manifest.as_ref().is_ok_and(|manifest| !is_workflow_manifest(manifest));
    if place.uses(standing) || !has_none {
        return Ok(());
    }
    let path = &standing.path;
    Err(CliError::new(both!(
        "{path} lists no phases, so it has no checkpoints",
        "{path} にはフェーズがないため、チェックポイントもありません"
    ))
    .hint(both!(
        "`tidegate workflow start ID` starts a workflow; `tidegate workflow attach PATH` uses another manifest",
        "`tidegate workflow start ID` で始めるか、`tidegate workflow attach パス` で別のマニフェストを使ってください"
    )))
}

pub(super) fn find_gate(workflow: &Workflow, name: &str, number: usize) -> Result<Gate, CliError> {
    workflow.gate(number).ok_or_else(|| {
        let gates = workflow.gates();
        let listed = gates.iter().map(|gate| {
            let (number, after) = (gate.number, gate.after);
            both!("{number} (after phase {after})", "{number}（フェーズ{after}のあと）")
        });
        let Bilingual { en, ja } = Bilingual::list(listed);
        let hint = if gates.is_empty() {
            both!("it has no checkpoints", "チェックポイントが1つもありません")
        } else {
            both!("use one of: {en}", "使える番号: {ja}")
        };
        CliError::new(both!(
            "the workflow {name} has no checkpoint {number}",
            "ワークフロー {name} にチェックポイント{number}はありません"
        ))
        .hint(hint)
    })
}

/// Accepts a phase by number or name; returns its number and the key of its section.
pub(super) fn find_section(manifest: &Manifest, word: &str) -> Result<(usize, String), CliError> {
    let number = manifest.workflow.phase_number(word).ok_or_else(|| {
        let names: Vec<&str> = manifest.workflow.phases.iter().map(|phase| phase.name.as_str()).collect();
        let (name, names) = (&manifest.name, names.join(", "));
        CliError::new(both!(
            "the workflow {name} has no phase {word}",
            "ワークフロー {name} にフェーズ {word} はありません"
        ))
        .hint(both!("use a number, or one of: {names}", "番号か、次のどれかを指定してください: {names}"))
    })?;
    let name = manifest.workflow.phase(number).map(|phase| phase.name.as_str()).unwrap_or_default();
    let key =
        manifest.section(number).map_or_else(|| format!("{number}_{name}"), |section| section.key.clone());
    Ok((number, key))
}

/// An approval is for one manifest: another one may be attached when it is used.
pub(super) fn check_named(named: Option<&Path>, meant: &str) -> Result<(), CliError> {
    match named {
        Some(named) if named != Path::new(meant) => {
            let named = named.display();
            Err(CliError::new(both!(
                "{named} is not the manifest of this session; it uses {meant}",
                "{named} はこのセッションのマニフェストではありません（{meant} を使っています）"
            ))
            .hint(both!(
                "`tidegate workflow attach PATH` uses another one",
                "`tidegate workflow attach PATH` で別のものを使えます"
            )))
        }
        _ => Ok(()),
    }
}
