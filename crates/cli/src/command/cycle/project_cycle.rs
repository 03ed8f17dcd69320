//! The project that a command means, and its cycle.

use std::io;
use std::path::{Path, PathBuf};

use tidegate_core::event::SessionId;
use tidegate_core::feature::cycle::marks::Mark as CycleMark;
use tidegate_core::feature::cycle::policy::ID;
use tidegate_core::feature::cycle::settings::CycleMode;
use tidegate_core::feature::cycle::standing::CycleStanding;
use tidegate_core::feature::cycle::state::STATE_FILE;
use tidegate_core::feature::cycle::{
    ActiveStage, Cycle, CycleDamage, CycleRun, CycleState, CycleStatus, Turn,
};
use tidegate_core::feature::facts::Known;
use tidegate_core::feature::marks::Mark;
use tidegate_core::meter::Meter;
use tidegate_core::pipeline::record::Deeds;
use tidegate_state::feature::cycle;
use tidegate_state::feature::cycle::CycleChange;
use tidegate_state::host::claude_code::skills;
use tidegate_state::session::marks;

use crate::approval::{self, consent_to_tighten};
use crate::args::ProjectArgs;
use crate::error::CliError;
use crate::knowledge::Project;
use crate::path::real_path;
use crate::print;
use crate::sessions::Session;

pub(super) struct ProjectCycle {
    pub(super) project: Project,
    pub(super) standing: Known<CycleStanding>,
}

impl ProjectCycle {
    /// By which the stage's skill can be invoked here.
    pub(super) fn skill_name(&self, skill: &str) -> String {
        let host = self.project.here.env.place.host();
        let folders = skills::folders(Some(&self.project.root), host.as_deref(), None);
        skills::invocable_name(skill, &folders)
    }

    pub(super) fn find(of: &ProjectArgs) -> Result<ProjectCycle, CliError> {
        let mut project = Project::find(of)?;
        // A session that went into another worktree takes its cycle along; the file stays where it is.
        let session = project.session.as_ref().and_then(|id| project.here.session(Some(id.as_str())).ok());
        let of_stage = session.and_then(|session| session.marks.cycle.stage?.project).map(PathBuf::from);
        let elsewhere =
            of_stage.filter(|root| of.project.is_none() && root.join(".claude").join(STATE_FILE).is_file());
        if let Some(root) = elsewhere.filter(|root| *root != project.root) {
            project.here.look_at(&root)?;
            project.root = root;
        }
        let standing = cycle::read(Some(&project.here.state), &project.root, &project.here.config);
        Ok(ProjectCycle { project, standing })
    }

    pub(super) fn state_file(&self) -> PathBuf {
        self.project.root.join(".claude").join(STATE_FILE)
    }

    /// The named session, else the newest open one.
    pub(super) fn find_session(&self) -> Result<Session, CliError> {
        let here = &self.project.here;
        let Some(named) = &self.project.session else { return self.find_open_session() };
        let session = here.session(Some(named.as_str()))?;
        let of_stage = session.marks.cycle.stage.as_ref().and_then(|stage| stage.project.as_ref());
        let is_here = |root: &String| real_path(Path::new(root)) == self.project.real();
        match &session.marks.session.root {
            Some(root) if !is_here(root) && !of_stage.is_some_and(is_here) => Err(CliError::new(format!(
                "session {} works in {root}, not in {}",
                session.id,
                self.project.root.display()
            ))),
            _ => Ok(session),
        }
    }

    /// At a terminal: the newest session here that the client has not ended. A cycle in an ended one would steer no
    /// session.
    pub(super) fn find_open_session(&self) -> Result<Session, CliError> {
        let newest = self.project.here.session(None)?;
        let is_here = |session: &Session| {
            let root = session.marks.session.root.as_deref().map(Path::new);
            root.is_some_and(|root| real_path(root) == self.project.real())
        };
        let open = self
            .project
            .here
            .all()
            .into_iter()
            .find(|session| !session.marks.session.detached && is_here(session));
        open.ok_or_else(|| {
            CliError::new(format!(
                "no session is open in this project; the last one, {}, has ended",
                newest.id
            ))
            .hint("start the client and run it there, or name a session with --session")
        })
    }

    pub(super) fn usable_cycle(&self) -> Result<(&CycleState, &Cycle), CliError> {
        let standing = match &self.standing {
            Known::Value(standing) => standing,
            Known::Absent => {
                return Err(CliError::new("there is no cycle in this project")
                    .hint("`tidegate cycle start` begins one"));
            }
            Known::Broken(why) => {
                return Err(self.unreadable(why));
            }
        };
        if !standing.of_project {
            return Err(CliError::new(format!("{} belongs to another project", self.state_file().display()))
                .hint("`tidegate cycle start` puts it aside and begins anew"));
        }
        match (&standing.state, &standing.cycle) {
            (Ok(state), Some(cycle)) => Ok((state, cycle)),
            (Err(damage), _) => Err(self.damaged(damage)),
            (Ok(state), None) => Err(self.damaged(&CycleDamage::UnknownCycle(state.cycle.clone()))),
        }
    }

    pub(super) fn unreadable(&self, why: &str) -> CliError {
        CliError::new(format!("{} cannot be read: {why}", self.state_file().display()))
            .hint("move it away and try again")
    }

    pub(super) fn damaged(&self, damage: &CycleDamage) -> CliError {
        CliError::new(format!("{} cannot be used: {damage}", self.state_file().display()))
            .hint("`tidegate cycle start` puts it aside and begins anew")
    }

    pub(super) fn running_cycle(&self) -> Result<(&CycleState, &Cycle, Session), CliError> {
        let (state, cycle) = self.usable_cycle()?;
        let session = self.find_session()?;
        if state.status != CycleStatus::Running {
            return Err(CliError::new(format!(
                "the {} is not running: {}",
                state.cycle,
                state.status.name()
            ))
            .hint("`tidegate cycle resume` goes on with it"));
        }
        if state.session_id.as_deref() != Some(session.id.as_str()) {
            let owner = state
                .session_id
                .as_deref()
                .map_or_else(|| "no session".to_owned(), |id| format!("session {id}"));
            return Err(CliError::new(format!(
                "the {} belongs to {owner}, not to {}",
                state.cycle, session.id
            ))
            .hint("`tidegate cycle resume` takes it over, unless that session is still there"));
        }
        Ok((state, cycle, session))
    }

    /// Another live session that is in a stage here.
    pub(super) fn other_owner(&self, session: &Session) -> Option<&str> {
        let owner = self.standing.value()?.other_owner(session.id.as_str());
        owner.filter(|owner| self.is_live(owner))
    }

    pub(super) fn is_live(&self, session: &str) -> bool {
        cycle::is_live(&self.project.here.state, session, self.project.here.now)
    }

    pub(super) fn used_tokens(&self, session: &Session) -> Option<u64> {
        match self.project.here.meter(Some(session), None).0 {
            Meter::Current(reading) | Meter::StaleByOne(reading) => Some(reading.used),
            Meter::Unknown(_) => None,
        }
    }

    /// Writes only if the file still has the text that was read.
    pub(super) fn write_state(
        &self,
        new: Option<CycleState>,
        ended: Option<CycleRun>,
    ) -> Result<(), CliError> {
        let old = self.standing.value().map(|standing| standing.text.clone());
        let written = cycle::change(&self.project.here.state, &self.project.root, |now| {
            if now != old.as_deref() {
                return Err(io::Error::other("somebody changed it in between"));
            }
            Ok(CycleChange { new, ended })
        });
        written.map_err(|error| {
            CliError::new(format!("{} was not written: {error}", self.state_file().display()))
                .hint("nothing was changed; try it again")
        })
    }

    pub(super) fn append_marks(&self, session: &SessionId, new: &[Mark]) -> Result<(), CliError> {
        let folder = self.project.here.state.session(session);
        let written = marks::lock_exclusive(&folder).and_then(|lock| lock.append(new));
        written.map_err(|error| {
            CliError::new(format!("session {session} cannot be told: {error}"))
                .hint("`tidegate cycle resume` tries it again")
        })
    }

    /// An agent calls in the middle of a turn, a person from another terminal.
    pub(super) fn turn(&self) -> Turn {
        if self.project.here.env.agent { Turn::Open } else { Turn::Closed }
    }

    pub(super) fn record_command(&self, command: &str, how: &str, stage: Option<&str>) {
        let given = consent_to_tighten(&self.project.here, how);
        let did = Deeds { stage: stage.map(str::to_owned), ..Deeds::default() };
        approval::record_command(&self.project.here, &format!("cycle {command}"), &given, did);
    }

    pub(super) fn begin_stage(
        &self,
        mut state: CycleState,
        cycle: &Cycle,
        at: usize,
        session: &Session,
        ended: Option<CycleRun>,
    ) -> Result<(CycleState, ActiveStage), CliError> {
        let name = cycle.stages[at].name.clone();
        let here = &self.project.here;
        state.session_id = Some(session.id.to_string());
        state.project = Some(self.project.root.to_string_lossy().into_owned());
        state.begin_stage(&name, self.used_tokens(session));
        let state = state.updated_at(here.now);
        let active = ActiveStage::begin(&state.cycle, cycle, at, here.now, self.turn());
        let active = active.ok_or_else(|| CliError::new(format!("the cycle has no stage {name}")))?;
        let active = ActiveStage { project: state.project.clone(), ..active };
        self.write_state(Some(state.clone()), ended)?;
        self.append_marks(&session.id, &[CycleMark::Stage(Box::new(active.clone())).into()])?;
        let settings = &here.config;
        if settings.policies.cycle.mode != CycleMode::On || settings.switched_off(ID) {
            print::to_stderr("warning: the policy `cycle` is not on here, so no stage will follow by itself");
        }
        Ok((state, active))
    }
}
