//! The project that a command means, and its cycle.

use std::io;
use std::path::{Path, PathBuf};

use tidegate_core::event::SessionId;
use tidegate_core::feature::cycle::consent::{Base, Consent, ConsentChange, Owed};
use tidegate_core::feature::cycle::marks::Mark as CycleMark;
use tidegate_core::feature::cycle::policy::ID;
use tidegate_core::feature::cycle::reserved::publishes;
use tidegate_core::feature::cycle::settings::CycleMode;
use tidegate_core::feature::cycle::standing::CycleStanding;
use tidegate_core::feature::cycle::state::STATE_FILE;
use tidegate_core::feature::cycle::success::{Missing, is_overtaken, list_missing};
use tidegate_core::feature::cycle::{
    ActiveStage, Cycle, CycleDamage, CycleRun, CycleState, CycleStatus, DoneWhen, ReportedFindings, Turn,
    words,
};
use tidegate_core::feature::facts::Known;
use tidegate_core::feature::knowledge::marks::{Mark as KnowledgeMark, ReservedStep};
use tidegate_core::feature::marks::Mark;
use tidegate_core::feature::verification::marks::Mark as VerificationMark;
use tidegate_core::feature::verification::work::ChangeSet;
use tidegate_core::host::Host;
use tidegate_core::meter::{Meter, Reading};
use tidegate_core::pipeline::record::Deeds;
use tidegate_core::text::lang::Lang;
use tidegate_core::text::reserved::reserves;
use tidegate_hook::host::claude_code::client;
use tidegate_state::feature::cycle;
use tidegate_state::feature::cycle::CycleChange;
use tidegate_state::host::claude_code::skills;
use tidegate_state::host::{has_skill, skill_folders};
use tidegate_state::session::marks;

use crate::approval::{self, consent_to_tighten};
use crate::args::ProjectArgs;
use crate::bilingual::{Bilingual, both};
use crate::error::CliError;
use crate::knowledge::Project;
use crate::own_session;
use crate::path::real_path;
use crate::print::remark;
use crate::sessions::Session;

/// Whose word begins a stage.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Word {
    /// They run the command, or approved it.
    Person,
    Agent,
}

/// In whose shell the command runs. Other hosts may be started in a shell of Claude Code, or set its variables.
fn shell_host() -> Option<Host> {
    let is_here = |host: &Host| {
        host.traces().shell_variables.iter().any(|variable| std::env::var_os(variable).is_some())
    };
    let others = Host::ALL.iter().copied().filter(|host| *host != Host::ClaudeCode);
    others.chain([Host::ClaudeCode]).find(is_here)
}

pub(super) struct ProjectCycle {
    pub(super) project: Project,
    pub(super) standing: Known<CycleStanding>,
}

impl ProjectCycle {
    /// By which the stage's skill can be invoked here.
    pub(super) fn skill_name(&self, skill: &str) -> String {
        skills::invocable_name(skill, &self.skill_folders(shell_host().unwrap_or_default(), None))
    }

    /// What a person types to call the skill of the cycle, if there is one: in the host of this shell, else in that of the
    /// session `owner`.
    pub(super) fn call_of_cycle(&self, cycle: &str, owner: Option<&str>) -> Option<String> {
        let of_owner = || Some(SessionId::parse(owner?).ok()?.host());
        let host = shell_host().or_else(of_owner).unwrap_or_default();
        let env = &self.project.here.env;
        let folders = self.skill_folders(host, env.plugin.as_deref());
        has_skill(host, cycle, &folders, &env.place)
            .then(|| format!("{}{}", host.skill_prefix(), skills::invocable_name(cycle, &folders)))
    }

    fn skill_folders(&self, host: Host, plugin: Option<&Path>) -> Vec<PathBuf> {
        skill_folders(host, Some(&self.project.root), &self.project.here.env.place, plugin)
    }

    /// Skills that stages promise and that the client cannot find here.
    pub(super) fn find_missing_skills(&self, cycle: &Cycle) -> Vec<String> {
        let env = &self.project.here.env;
        let host = shell_host().unwrap_or_default();
        let folders = self.skill_folders(host, env.plugin.as_deref());
        let wanted = cycle.stages.iter().filter(|stage| stage.done_when.contains(&DoneWhen::Skill));
        let mut missing: Vec<String> = wanted.map(|stage| stage.skill.clone()).collect();
        missing.retain(|name| !has_skill(host, name, &folders, &env.place));
        missing.dedup();
        missing
    }

    /// The person learns at the end of the turn that an agent gave a cycle up. Until then it begins no other one.
    pub(super) fn check_drop_told(&self, session: &Session) -> Result<(), CliError> {
        let here = &self.project.here;
        let Some(dropped) = session.marks.cycle.dropped.as_ref().filter(|_| self.reports_at_stop()) else {
            return Ok(());
        };
        if !approval::is_by_agent(&here.env) {
            return Ok(());
        }
        let cycle = &dropped.cycle;
        Err(CliError::new(both!(
            "{cycle} was given up in this turn, and the person does not know it yet",
            "{cycle} はこのターンでやめたもので、人はまだそれを知りません"
        ))
        .hint(end_the_turn()))
    }

    /// As [`check_drop_told`](Self::check_drop_told), for a state file that was removed in a stage.
    pub(super) fn check_gone_told(&self, session: &Session) -> Result<(), CliError> {
        let here = &self.project.here;
        let stage = session.marks.cycle.stage.as_ref().filter(|_| matches!(self.standing, Known::Absent));
        let is_here = |stage: &&ActiveStage| {
            let root = stage.project.as_deref().map(Path::new);
            root.is_none_or(|root| real_path(root) == self.project.real())
        };
        let Some(stage) = stage.filter(is_here).filter(|_| self.reports_at_stop()) else { return Ok(()) };
        if !approval::is_by_agent(&here.env) {
            return Ok(());
        }
        let ActiveStage { cycle, stage, .. } = stage;
        Err(CliError::new(both!(
            "the state file of {cycle} was removed in stage {stage}, and the person does not know it yet",
            "{cycle} の状態ファイルがステージ {stage} の途中で削除され、人はまだそれを知りません"
        ))
        .hint(end_the_turn()))
    }

    /// Whether the policy tells the person when a turn ends.
    fn reports_at_stop(&self) -> bool {
        let config = &self.project.here.config;
        config.policies.cycle.mode == CycleMode::On && !config.switched_off(ID)
    }

    pub(super) fn find(of: &ProjectArgs) -> Result<ProjectCycle, CliError> {
        let mut project = Project::find(of)?;
        // A session that went into another worktree takes its cycle along; the file stays where it is.
        let session = project.session.as_ref().and_then(|id| project.here.known_session(id.as_str()).ok());
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

    /// For commands that change something: the named session, else the newest open one. An agent acts only for its own.
    pub(super) fn find_session(&self) -> Result<Session, CliError> {
        let session = self.find_named_session()?;
        own_session::check(&self.project.here, &session)?;
        Ok(session)
    }

    fn find_named_session(&self) -> Result<Session, CliError> {
        let here = &self.project.here;
        let Some(named) = &self.project.session else { return self.find_open_session() };
        let session = here.known_session(named.as_str())?;
        let of_stage = session.marks.cycle.stage.as_ref().and_then(|stage| stage.project.as_ref());
        let is_here = |root: &String| real_path(Path::new(root)) == self.project.real();
        match &session.marks.session.root {
            Some(root) if !is_here(root) && !of_stage.is_some_and(is_here) => {
                let (session, here) = (&session.id, self.project.root.display());
                Err(CliError::new(both!(
                    "session {session} works in {root}, not in {here}",
                    "セッション {session} の作業場所は {root} で、{here} ではありません"
                ))
                .hint(both!(
                    "run the command in that folder, or leave --project out",
                    "そのフォルダで実行するか、--project を外してください"
                )))
            }
            _ => Ok(session),
        }
    }

    /// At a terminal: the newest session here that the client has not ended. A cycle in an ended one would steer no
    /// session.
    fn find_open_session(&self) -> Result<Session, CliError> {
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
            let newest = &newest.id;
            CliError::new(both!(
                "no session is open in this project; the last one, {newest}, has ended",
                "このプロジェクトに開いているセッションがありません。最後のセッション {newest} は終わっています"
            ))
            .hint(both!(
                "start your agent and run the command there, or name a session with --session",
                "エージェントを起動してその中で実行するか、--session で指定してください"
            ))
        })
    }

    pub(super) fn usable_cycle(&self) -> Result<(&CycleState, &Cycle), CliError> {
        let standing = match &self.standing {
            Known::Value(standing) => standing,
            Known::Absent => {
                return Err(CliError::new(both!(
                    "there is no cycle in this project",
                    "このプロジェクトにはサイクルがありません"
                ))
                .hint(both!("`tidegate cycle start` starts one", "`tidegate cycle start` で始められます")));
            }
            Known::Broken(why) => {
                return Err(self.unreadable(why));
            }
        };
        if !standing.of_project {
            let file = self.state_file();
            let file = file.display();
            return Err(CliError::new(both!(
                "{file} belongs to another project",
                "{file} は別のプロジェクトのものです"
            ))
            .hint(start_anew()));
        }
        match (&standing.state, &standing.cycle) {
            (Ok(state), Some(cycle)) => Ok((state, cycle)),
            (Err(damage), _) => Err(self.damaged(damage)),
            (Ok(state), None) => Err(self.damaged(&CycleDamage::UnknownCycle(state.cycle.clone()))),
        }
    }

    pub(super) fn unreadable(&self, why: &str) -> CliError {
        let file = self.state_file();
        let file = file.display();
        CliError::new(both!("cannot read {file}: {why}", "{file} を読めません: {why}"))
            .hint(both!("move it away and try again", "別の場所に移してから、もう一度実行してください"))
    }

    pub(super) fn damaged(&self, damage: &CycleDamage) -> CliError {
        let file = self.state_file();
        let file = file.display();
        CliError::new(both!("cannot use {file}: {damage}", "{file} は使えません: {damage}"))
            .hint(start_anew())
    }

    pub(super) fn running_cycle(&self) -> Result<(&CycleState, &Cycle, Session), CliError> {
        let (state, cycle) = self.usable_cycle()?;
        let session = self.find_session()?;
        if state.status != CycleStatus::Running {
            let cycle = &state.cycle;
            let Bilingual { en, ja } = status_word(state.status.name());
            return Err(CliError::new(both!(
                "{cycle} is not running ({en})",
                "{cycle} は動いていません（{ja}）"
            ))
            .hint(both!("`tidegate cycle resume` continues it", "`tidegate cycle resume` で続けられます")));
        }
        if state.session_id.as_deref() != Some(session.id.as_str()) {
            let (cycle, session) = (&state.cycle, &session.id);
            return Err(match state.session_id.as_deref() {
                None => CliError::new(both!(
                    "{cycle} does not belong to a session yet",
                    "{cycle} はまだどのセッションのものでもありません"
                ))
                .hint(both!(
                    "`tidegate cycle resume` continues it in session {session}",
                    "`tidegate cycle resume` でセッション {session} が引き継ぎます"
                )),
                Some(owner) => CliError::new(both!(
                    "{cycle} belongs to session {owner}, not to {session}",
                    "{cycle} はセッション {owner} のもので、{session} のものではありません"
                ))
                .hint(both!(
                    "once that session has ended, `tidegate cycle resume` continues the cycle here",
                    "そのセッションが終わったあとなら、`tidegate cycle resume` でここで続けられます"
                )),
            });
        }
        if let Some(at) = cycle.position(&state.stage) {
            check_not_overtaken(&session, state, cycle, at)?;
        }
        self.check_reported(state, Some(&session))?;
        Ok((state, cycle, session))
    }

    /// Another live session that is in a stage here.
    pub(super) fn other_owner(&self, session: &Session) -> Option<&str> {
        let owner = self.standing.value()?.other_owner(session.id.as_str());
        owner.filter(|owner| self.is_live(owner))
    }

    /// The person learns of a failure when the turn ends. Until then an agent neither begins again nor drops the cycle.
    pub(super) fn check_reported(
        &self,
        state: &CycleState,
        session: Option<&Session>,
    ) -> Result<(), CliError> {
        let here = &self.project.here;
        let own = session.and_then(|session| session.marks.cycle.stage.clone());
        let owner = state.session_id.as_deref().filter(|owner| self.is_live(owner));
        let owner = owner.and_then(|owner| here.known_session(owner).ok());
        let stage = owner.and_then(|owner| owner.marks.cycle.stage);
        let is_failed = |stage: &ActiveStage| {
            let is_same = stage.stage == state.stage && stage.cycle == state.cycle;
            stage.failed.is_some() || state.status == CycleStatus::Failed && is_same
        };
        let failed = own.filter(|own| own.failed.is_some()).or(stage.filter(is_failed));
        let is_unreported = failed.is_some();
        if !is_unreported || !self.reports_at_stop() || !approval::is_by_agent(&here.env) {
            return Ok(());
        }
        let stage = failed.map_or_else(|| state.stage.clone(), |failed| failed.stage);
        Err(CliError::new(both!(
            "stage {stage} failed in this turn, and the person does not know it yet",
            "ステージ {stage} はこのターンで失敗し、人はまだそれを知りません"
        ))
        .hint(end_the_turn()))
    }

    /// What the person said in the session that had the cycle counts in the one that continues it.
    pub(super) fn take_over_reservations(&self, from: &Session, to: &Session) -> Result<(), CliError> {
        let steps = self.project.here.config.policies.cycle.steps();
        let said = &from.marks.knowledge;
        let stated = said.constraints.iter().map(|known| &known.text);
        let stated = stated.filter(|text| steps.iter().any(|step| reserves(text, step)));
        let mut reserved = to.marks.knowledge.reserved.clone();
        for text in stated.chain(said.reserved.iter().map(|known| &known.text)) {
            if !reserved.iter().any(|known| known.text == *text) {
                reserved.push(ReservedStep { text: text.clone(), old: false });
            }
        }
        if reserved == to.marks.knowledge.reserved {
            return Ok(());
        }
        self.append_marks(&to.id, &[KnowledgeMark::Reserved(reserved).into()])
    }

    /// What the session that had the cycle left unverified stays so in the one that continues it, or begins another. Checks count
    /// there only for edits that it knows.
    pub(super) fn take_over_work(&self, from: &Session, to: &Session) -> Result<Option<ChangeSet>, CliError> {
        let Some(left) = from.marks.verification.changes.clone().filter(|_| from.id != to.id) else {
            return Ok(None);
        };
        let all = left.clone().continued_with(to.marks.verification.changes.as_ref());
        self.append_marks(&to.id, &[VerificationMark::Changes(all).into()])?;
        Ok(Some(left))
    }

    /// The session of the state file, if it is still known here.
    pub(super) fn owner_of(&self, state: &CycleState) -> Option<Session> {
        self.project.here.known_session(state.session_id.as_deref()?).ok()
    }

    /// Whose word the command is.
    pub(super) fn word(&self) -> Word {
        if approval::is_by_agent(&self.project.here.env) { Word::Agent } else { Word::Person }
    }

    pub(super) fn is_live(&self, session: &str) -> bool {
        cycle::is_live(&self.project.here.state, session, self.project.here.now, client::is_running)
    }

    fn reading(&self, session: &Session) -> Option<Reading> {
        match self.project.here.meter(Some(session), None).0 {
            Meter::Current(reading) | Meter::StaleByOne(reading) => Some(reading),
            Meter::Unknown(_) => None,
        }
    }

    pub(super) fn used_tokens(&self, session: &Session) -> Option<u64> {
        self.reading(session).map(|reading| reading.used)
    }

    pub(super) fn left_tokens(&self, session: &Session) -> Option<u64> {
        self.reading(session)?.left()
    }

    /// The worktree of the session: it may not be that of the cycle's file.
    fn works_in(&self, session: &Session) -> PathBuf {
        let root = session.marks.session.root.as_deref().map(PathBuf::from);
        root.unwrap_or_else(|| self.project.root.clone())
    }

    /// The project as a stage before a publishing one leaves it.
    pub(super) fn look_at_base(&self, state: &CycleState, session: &Session) -> Option<Base> {
        cycle::look_at_base(state, &self.works_in(session), self.project.here.now)
    }

    /// What the stage under way lacks. `active` is the stage as the session's marks know it.
    pub(super) fn list_missing(&self, session: &Session, active: &ActiveStage) -> Vec<Missing> {
        let Known::Value(standing) = &self.standing else { return Vec::new() };
        let (Ok(state), Some(cycle)) = (&standing.state, &standing.cycle) else { return Vec::new() };
        let Some(stage) = cycle.position(&state.stage).and_then(|at| cycle.stages.get(at)) else {
            return Vec::new();
        };
        let evidence = cycle::look_for_evidence(standing, &self.project.root, &self.works_in(session));
        list_missing(stage, active, state, &evidence, &session.marks)
    }

    /// The cost of an attempt that did not end with success.
    pub(super) fn give_up_stage(&self, state: &mut CycleState, session: Option<&Session>) {
        let active = session.and_then(|session| session.marks.cycle.stage.as_ref());
        let active = active.filter(|active| active.stage == state.stage && active.cycle == state.cycle);
        let used = session.and_then(|session| self.used_tokens(session));
        state.give_up_stage(active.and_then(|active| active.used), used);
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
                return Err(io::Error::other("another process changed it in between"));
            }
            Ok(CycleChange { new, ended })
        });
        written.map_err(|error| {
            let file = self.state_file();
            let file = file.display();
            CliError::new(both!("cannot write {file}: {error}", "{file} に書き込めません: {error}")).hint(
                both!(
                    "nothing was changed; run the command again",
                    "何も変更していません。もう一度実行してください"
                ),
            )
        })
    }

    /// Of the stage under way.
    pub(super) fn fix_rounds(&self, state: &CycleState) -> u64 {
        cycle::fix_rounds(&self.project.here.state, &self.project.root, &cycle::fix_loop_of(state))
    }

    /// Of all stages of this run.
    pub(super) fn renew_fix_rounds(&self, state: &CycleState) -> Result<(), CliError> {
        cycle::forget_fix_loops(&self.project.here.state, &self.project.root, state).map_err(|error| {
            CliError::new(both!("cannot reset the rounds: {error}", "回数を戻せません: {error}")).hint(both!(
                "nothing was changed; run the command again",
                "何も変更していません。もう一度実行してください"
            ))
        })
    }

    pub(super) fn append_marks(&self, session: &SessionId, new: &[Mark]) -> Result<(), CliError> {
        let folder = self.project.here.state.session(session);
        let written = marks::lock_exclusive(&folder).and_then(|lock| lock.append(new));
        written.map_err(|error| {
            CliError::new(both!(
                "cannot write the state of session {session}: {error}",
                "セッション {session} の状態を書き込めません: {error}"
            ))
            .hint(both!("`tidegate cycle resume` tries again", "`tidegate cycle resume` でやり直せます"))
        })
    }

    /// An agent calls in the middle of a turn, a person from another terminal. An agent's call is not the answer that a person
    /// has to give.
    pub(super) fn turn(&self, session: &Session) -> Turn {
        let cycle = &session.marks.cycle;
        let has_failed = |last: &ActiveStage| last.failed.is_some();
        match cycle.stage.as_ref().map(|stage| stage.turn) {
            _ if !self.project.here.env.agent => Turn::Closed,
            // The person knows of the failure, and has not said that the cycle may continue.
            None if cycle.last.as_ref().is_some_and(has_failed) && !cycle.ahead && cycle.order.is_none() => {
                Turn::NeedsYes
            }
            Some(turn) if turn.waits() => turn,
            _ => Turn::Open,
        }
    }

    /// What is owed before the publishing stages of a cycle that is about to begin. The person's own word counts: their command at
    /// a terminal, their approval, or the newest prompt in this session.
    pub(super) fn take_word(&self, session: &Session, word: Word, begins: bool) -> Result<Consent, CliError> {
        let cycle = &session.marks.cycle;
        let given = ConsentChange::Given { stage_done: false };
        let change = match (word, &cycle.order) {
            (Word::Person, _) if begins => Some(ConsentChange::Ordered(None)),
            (Word::Person, _) => Some(given),
            (Word::Agent, Some(order)) => Some(ConsentChange::Ordered(order.reserved.clone())),
            (Word::Agent, None) if cycle.ahead => Some(given),
            (Word::Agent, None) => begins.then_some(ConsentChange::Owe(Owed::Unordered)),
        };
        self.change_consent(&change.into_iter().collect::<Vec<_>>())
    }

    pub(super) fn change_consent(&self, changes: &[ConsentChange]) -> Result<Consent, CliError> {
        let written = cycle::change_consent(&self.project.here.state, &self.project.root, changes);
        written.map_err(|error| {
            CliError::new(both!(
                "cannot write the state of this project: {error}",
                "このプロジェクトの状態を書き込めません: {error}"
            ))
            .hint(both!(
                "nothing was changed; run the command again",
                "何も変更していません。もう一度実行してください"
            ))
        })
    }

    /// Only a person's word begins a stage that publishes while a go-ahead is owed.
    pub(super) fn check_consent(
        consent: &Consent,
        cycle: &Cycle,
        at: usize,
        word: Word,
    ) -> Result<(), CliError> {
        let stage = &cycle.stages[at].name;
        let owed = consent.owed_before(stage);
        if word == Word::Person || owed.is_empty() || !publishes(cycle, at) {
            return Ok(());
        }
        let (en, ja) = (words::join_owed(Lang::En, &owed), words::join_owed(Lang::Ja, &owed));
        Err(CliError::new(both!(
            "{stage} waits for the person's go-ahead, because {en}",
            "{stage} は人の許可を待っています。理由: {ja}"
        ))
        .hint(both!(
            "end the turn and ask them; it continues when they say \"continue\"",
            "ターンを終えて人に尋ねてください。「続けて」と言われると続けられます"
        )))
    }

    /// Claude learns at the beginning that it will have to wait.
    pub(super) fn describe_owed(consent: &Consent, cycle: &Cycle, at: usize) -> Option<Bilingual> {
        let next = (at..cycle.stages.len()).find(|at| publishes(cycle, *at))?;
        let stage = &cycle.stages[next].name;
        let owed = consent.owed_before(stage);
        let (en, ja) = (words::join_owed(Lang::En, &owed), words::join_owed(Lang::Ja, &owed));
        (!owed.is_empty()).then(|| {
            both!(
                "Before {stage} it waits for the person's go-ahead, because {en}.",
                "{stage} の前で人の許可を待ちます。理由: {ja}。"
            )
        })
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
        let owner = state.session_id.clone().filter(|owner| owner != session.id.as_str());
        // In another session than the one that failed or waited, no mark tells whether the person knows.
        let waited = owner.as_deref().is_some_and(|owner| {
            let owner = here.known_session(owner).ok();
            state.status == CycleStatus::Failed
                || owner.and_then(|owner| owner.marks.cycle.stage).is_some_and(|stage| stage.turn.waits())
        });
        // Also those of an attempt that failed, or of another session.
        let former = owner.as_deref().and_then(|owner| here.known_session(owner).ok());
        let attempts = [Some(session), former.as_ref()].into_iter().flatten();
        let attempts = attempts.flat_map(|session| [&session.marks.cycle.stage, &session.marks.cycle.last]);
        let is_same = |known: &&ActiveStage| {
            let is_run = known.run.is_none() || known.run == state.started_at;
            known.cycle == state.cycle && known.stage == name && is_run
        };
        let findings = attempts.flatten().filter(is_same).find_map(|known| known.findings);
        let findings = findings.map(|found| ReportedFindings { rounds: self.fix_rounds(&state), ..found });
        state.session_id = Some(session.id.to_string());
        state.project = Some(self.project.root.to_string_lossy().into_owned());
        // The request in which an agent runs this may not be in the transcript yet. The hook after the call reads it.
        let used = self.used_tokens(session).filter(|_| !here.env.agent);
        let works_in = self.works_in(session);
        let found = match &self.standing {
            Known::Value(standing)
                if standing.state.as_ref().is_ok_and(|known| known.started_at == state.started_at) =>
            {
                cycle::look_at_next(standing, at, &self.project.root, &works_in)
            }
            _ => cycle::look_at_start(&cycle.stages[at], &self.project.root, &works_in),
        };
        state.begin_stage(&name, here.now, used, found);
        let state = state.updated_at(here.now);
        let active = ActiveStage::begin(&state.cycle, cycle, at, here.now, self.turn(session));
        let active = active.ok_or_else(|| no_stage(&state.cycle, &name, cycle))?;
        // Unless the person has just said so here.
        let has_word = session.marks.cycle.ahead || session.marks.cycle.order.is_some();
        let turn = if waited && here.env.agent && !has_word { Turn::NeedsWord } else { active.turn };
        let run = state.started_at.clone();
        let active = ActiveStage { project: state.project.clone(), used, turn, run, findings, ..active };
        self.write_state(Some(state.clone()), ended)?;
        self.append_marks(&session.id, &[CycleMark::Stage(Box::new(active.clone())).into()])?;
        let settings = &here.config;
        if settings.policies.cycle.mode != CycleMode::On || settings.switched_off(ID) {
            remark::warn(both!(
                "the policy `cycle` is off here, so no stage follows by itself; `tidegate on cycle` switches it on",
                "ここではポリシー `cycle` がオフのため、次のステージは自動では始まりません。オンにするには `tidegate on cycle` を実行してください"
            ));
        }
        Ok((state, active))
    }
}

/// Refuses a stage that comes after the session's own, if that is not done: the state file was moved on.
pub(super) fn check_not_overtaken(
    session: &Session,
    state: &CycleState,
    cycle: &Cycle,
    at: usize,
) -> Result<(), CliError> {
    let marks = &session.marks.cycle;
    let left = marks.last.as_ref().filter(|last| last.cycle == state.cycle && last.run == state.started_at);
    let own = marks.stage.as_ref().or(left);
    let waits = |own: &ActiveStage| {
        own.turn.waits() && marks.stage.is_some() && cycle.position(&own.stage).is_none_or(|own| at > own)
    };
    let Some(own) = own.filter(|own| is_overtaken(own, state, cycle, at) || waits(own)) else {
        return Ok(());
    };
    let (open, name) = (&own.stage, &cycle.stages[at].name);
    Err(CliError::new(both!(
        "{name} comes after {open}, which is not done",
        "{name} の前の {open} が終わっていません"
    ))
    .hint(both!(
        "`tidegate cycle resume --from {open}` continues there",
        "`tidegate cycle resume --from {open}` でそこから続けられます"
    )))
}

fn end_the_turn() -> Bilingual {
    both!(
        "end the turn: Tidegate then tells the person, who decides how to continue",
        "ターンを終えてください。Tidegate が人に伝え、続け方は人が決めます"
    )
}

fn start_anew() -> Bilingual {
    both!(
        "`tidegate cycle start` sets the file aside and starts a new cycle",
        "`tidegate cycle start` を実行すると、このファイルをよけて新しく始めます"
    )
}

pub(super) fn no_stage(name: &str, stage: &str, cycle: &Cycle) -> CliError {
    let names = cycle.names(0).join(", ");
    CliError::new(both!("{name} has no stage {stage}", "{name} にステージ {stage} はありません"))
        .hint(both!("use one of: {names}", "使えるもの: {names}"))
}

/// Another session works on the cycle of this project.
pub(super) fn owned_by(owner: &str, state: &CycleState) -> CliError {
    let (stage, cycle) = (&state.stage, &state.cycle);
    CliError::new(both!(
        "session {owner} is in stage {stage} of {cycle} here",
        "ここではセッション {owner} が {cycle} のステージ {stage} を進めています"
    ))
    .hint(both!(
        "a person can give that cycle up with `tidegate cycle abandon`",
        "人が `tidegate cycle abandon` を実行すると、そのサイクルをやめられます"
    ))
}

pub(super) fn no_cycle(name: &str, known: &[&str]) -> CliError {
    let known = known.join(", ");
    CliError::new(both!("there is no cycle {name}", "{name} というサイクルはありません")).hint(both!(
        "use one of: {known}; [cycle.NAME] in your config adds another",
        "使えるもの: {known}。設定の [cycle.NAME] で増やせます"
    ))
}

/// Clauses, one after another.
pub(super) fn describe_missing(missing: &[Missing]) -> Bilingual {
    let join = |lang, between: &str| {
        missing.iter().map(|missing| missing.describe(lang)).collect::<Vec<_>>().join(between)
    };
    Bilingual { en: join(Lang::En, "; "), ja: join(Lang::Ja, "、") }
}

/// `status` as in the state file.
pub(super) fn status_word(status: &str) -> Bilingual {
    match status {
        "running" => both!("running", "進行中"),
        "stopped" => both!("stopped", "停止中"),
        "failed" => both!("failed", "失敗"),
        "complete" => both!("complete", "完了"),
        "abandoned" => both!("given up", "中止"),
        other => Bilingual::data(other),
    }
}
