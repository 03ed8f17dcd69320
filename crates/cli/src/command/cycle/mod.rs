//! `tidegate cycle`: begins, shows and ends what the policy `cycle` chains.

pub(crate) mod arguments;
mod stats;

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde::Serialize;
use serde_json::Value;
use tidegate_core::event::SessionId;
use tidegate_core::feature::cycle::definition::FIX_LOOPS_OUTSIDE;
use tidegate_core::feature::cycle::marks::Mark as CycleMark;
use tidegate_core::feature::cycle::policy::{ID, plain};
use tidegate_core::feature::cycle::settings::CycleMode;
use tidegate_core::feature::cycle::standing::Standing;
use tidegate_core::feature::cycle::state::FILE;
use tidegate_core::feature::cycle::{ActiveStage, Cycle, Damage, Run, Spent, State, Status, Turn, history};
use tidegate_core::feature::facts::Known;
use tidegate_core::feature::marks::Mark;
use tidegate_core::meter::{Meter, short_tokens};
use tidegate_core::pipeline::record::Deeds;
use tidegate_state::feature::cycle;
use tidegate_state::feature::cycle::Change;
use tidegate_state::session::marks;

use super::Outcome;
use crate::approval::{self, tightened};
use crate::args::ProjectArgs;
use crate::error::CliError;
use crate::knowledge::{Project, said};
use crate::print;
use crate::sessions::Session;
use arguments::{CycleCommand, Done, Fail, FixLoop, Resume, Start};

pub(crate) fn run(command: &CycleCommand) -> Outcome {
    match command {
        CycleCommand::Start(args) => start(args),
        CycleCommand::Status(args) => status(&args.of),
        CycleCommand::Done(args) => done(args),
        CycleCommand::Fail(args) => fail(args),
        CycleCommand::Resume(args) => resume(args),
        CycleCommand::Abandon(args) => abandon(&args.of),
        CycleCommand::Stats(args) => stats::run(args),
        CycleCommand::FixLoop(args) => fix_loop(args),
    }
}

fn real(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// A project and its cycle.
struct Place {
    project: Project,
    standing: Known<Standing>,
}

impl Place {
    fn find(of: &ProjectArgs) -> Result<Place, CliError> {
        let mut project = Project::find(of)?;
        // A session that went into another worktree takes its cycle along; the file stays where it is.
        let session = project.session.as_ref().and_then(|id| project.here.session(Some(id.as_str())).ok());
        let of_stage = session.and_then(|session| session.marks.cycle.stage?.project).map(PathBuf::from);
        let elsewhere =
            of_stage.filter(|root| of.project.is_none() && root.join(".claude").join(FILE).is_file());
        if let Some(root) = elsewhere.filter(|root| *root != project.root) {
            project.here.look_at(&root)?;
            project.root = root;
        }
        let standing = cycle::read(Some(&project.here.state), &project.root, &project.here.config);
        Ok(Place { project, standing })
    }

    fn file(&self) -> PathBuf {
        self.project.root.join(".claude").join(FILE)
    }

    /// The session that is meant.
    fn session(&self) -> Result<Session, CliError> {
        let here = &self.project.here;
        let Some(named) = &self.project.session else { return self.open_session() };
        let session = here.session(Some(named.as_str()))?;
        let of_stage = session.marks.cycle.stage.as_ref().and_then(|stage| stage.project.as_ref());
        let is_here = |root: &String| real(Path::new(root)) == self.project.real();
        match &session.marks.session.root {
            Some(root) if !is_here(root) && !of_stage.is_some_and(is_here) => Err(CliError::new(format!(
                "session {} works in {root}, not in {}",
                session.id,
                self.project.root.display()
            ))),
            _ => Ok(session),
        }
    }

    /// For who is at a terminal: the newest session here that the client has not ended. One that ended would be in a cycle
    /// for nobody.
    fn open_session(&self) -> Result<Session, CliError> {
        let newest = self.project.here.session(None)?;
        let is_here = |session: &Session| {
            let root = session.marks.session.root.as_deref().map(Path::new);
            root.is_some_and(|root| real(root) == self.project.real())
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

    /// The cycle that is there and can be used.
    fn cycle(&self) -> Result<(&State, &Cycle), CliError> {
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
            return Err(CliError::new(format!("{} belongs to another project", self.file().display()))
                .hint("`tidegate cycle start` puts it aside and begins anew"));
        }
        match (&standing.state, &standing.cycle) {
            (Ok(state), Some(cycle)) => Ok((state, cycle)),
            (Err(damage), _) => Err(self.damaged(damage)),
            (Ok(state), None) => Err(self.damaged(&Damage::UnknownCycle(state.cycle.clone()))),
        }
    }

    fn unreadable(&self, why: &str) -> CliError {
        CliError::new(format!("{} cannot be read: {why}", self.file().display()))
            .hint("move it away and try again")
    }

    fn damaged(&self, damage: &Damage) -> CliError {
        CliError::new(format!("{} cannot be used: {damage}", self.file().display()))
            .hint("`tidegate cycle start` puts it aside and begins anew")
    }

    /// The running cycle of the session that is meant.
    fn own(&self) -> Result<(&State, &Cycle, Session), CliError> {
        let (state, cycle) = self.cycle()?;
        let session = self.session()?;
        if state.status != Status::Running {
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

    /// Another session that is in a stage here and still there.
    fn other_owner(&self, session: &Session) -> Option<&str> {
        let owner = self.standing.value()?.other_owner(session.id.as_str());
        owner.filter(|owner| self.is_live(owner))
    }

    fn is_live(&self, session: &str) -> bool {
        cycle::is_live(&self.project.here.state, session, self.project.here.now)
    }

    fn used(&self, session: &Session) -> Option<u64> {
        match self.project.here.meter(Some(session), None).0 {
            Meter::Current(reading) | Meter::StaleByOne(reading) => Some(reading.used),
            Meter::Unknown(_) => None,
        }
    }

    /// Writes the file, if it still says what was looked at.
    fn write(&self, new: Option<State>, ended: Option<Run>) -> Result<(), CliError> {
        let old = self.standing.value().map(|standing| standing.text.clone());
        let written = cycle::change(&self.project.here.state, &self.project.root, |now| {
            if now != old.as_deref() {
                return Err(io::Error::other("somebody changed it in between"));
            }
            Ok(Change { new, ended })
        });
        written.map_err(|error| {
            CliError::new(format!("{} was not written: {error}", self.file().display()))
                .hint("nothing was changed; try it again")
        })
    }

    /// What the session remembers of it.
    fn mark(&self, session: &SessionId, new: &[Mark]) -> Result<(), CliError> {
        let folder = self.project.here.state.session(session);
        let written = marks::lock_alone(&folder).and_then(|lock| lock.append(new));
        written.map_err(|error| {
            CliError::new(format!("session {session} cannot be told: {error}"))
                .hint("`tidegate cycle resume` tries it again")
        })
    }

    /// Called in the middle of a turn, or from another terminal.
    fn turn(&self) -> Turn {
        if self.project.here.env.agent { Turn::Open } else { Turn::Closed }
    }

    fn record(&self, command: &str, how: &str, stage: Option<&str>) {
        let given = tightened(&self.project.here, how);
        let did = Deeds { stage: stage.map(str::to_owned), ..Deeds::default() };
        approval::record(&self.project.here, &format!("cycle {command}"), &given, did);
    }

    /// A stage begins in a session.
    fn begin(
        &self,
        mut state: State,
        cycle: &Cycle,
        at: usize,
        session: &Session,
        ended: Option<Run>,
    ) -> Result<(State, ActiveStage), CliError> {
        let name = cycle.stages[at].name.clone();
        let here = &self.project.here;
        state.session_id = Some(session.id.to_string());
        state.project = Some(self.project.root.to_string_lossy().into_owned());
        state.begin_stage(&name, self.used(session));
        let state = state.at(here.now);
        let active = ActiveStage::begin(&state.cycle, cycle, at, here.now, self.turn());
        let active = active.ok_or_else(|| CliError::new(format!("the cycle has no stage {name}")))?;
        let active = ActiveStage { project: state.project.clone(), ..active };
        self.write(Some(state.clone()), ended)?;
        self.mark(&session.id, &[CycleMark::Stage(Box::new(active.clone())).into()])?;
        let settings = &here.config;
        if settings.policies.cycle.mode != CycleMode::On || settings.switched_off(ID) {
            print::to_stderr("warning: the policy `cycle` is not on here, so no stage will follow by itself");
        }
        Ok((state, active))
    }
}

fn start(args: &Start) -> Outcome {
    let mut place = Place::find(&args.of)?;
    let session = place.session()?;
    let cycles = &place.project.here.config.policies.cycle;
    let Some(cycle) = cycles.cycle(&args.name) else {
        let names: Vec<&str> = cycles.cycle_names().collect();
        return Err(CliError::new(format!("there is no cycle {}", args.name))
            .hint(format!("there is {}; the config can have others as [cycle.NAME]", names.join(", "))));
    };
    let unusable = match &place.standing {
        Known::Broken(why) => {
            return Err(place.unreadable(why));
        }
        Known::Value(found) if found.state.is_err() || !found.of_project => Some(found.text.clone()),
        _ => None,
    };
    if let Some(text) = unusable {
        let here = &place.project.here;
        let aside = cycle::set_aside(&here.state, &place.project.root, &text).map_err(|error| {
            CliError::new(format!("{} cannot be put aside: {error}", place.file().display()))
        })?;
        if let Some(aside) = aside {
            print::to_stderr(&format!(
                "note: a file that cannot be used here was put aside: {}",
                aside.display()
            ));
        }
        place.standing = cycle::read(Some(&here.state), &place.project.root, &here.config);
    }
    let now = place.project.here.now;
    let mut ended = None;
    if let Known::Value(Standing { state: Ok(old), cycle, .. }) = &place.standing {
        if let Some(owner) = place.other_owner(&session) {
            return Err(CliError::new(format!(
                "session {owner} is in stage {} of {} here",
                old.stage, old.cycle
            ))
            .hint("`tidegate cycle abandon` leaves that one"));
        }
        if old.status == Status::Running && old.session_id.as_deref() == Some(session.id.as_str()) {
            return Err(CliError::new(format!("this session is in stage {} of {}", old.stage, old.cycle))
                .hint("`tidegate cycle status` shows it, `tidegate cycle abandon` leaves it"));
        }
        let how = if old.status == Status::Running { "abandoned" } else { old.status.name() };
        ended = Some(Run::of(old, cycle.as_ref(), how, now));
        print::to_stderr(&format!(
            "note: the {} at stage {} ({how}) went to the history",
            old.cycle, old.stage
        ));
    }
    let begun = place.begin(State::started(&args.name, now), &cycle, 0, &session, ended)?;
    place.record("start", "a cycle began", None);
    show_begun(&args.of, &begun, &session);
    Ok(ExitCode::SUCCESS)
}

fn show_begun(of: &ProjectArgs, (state, active): &(State, ActiveStage), session: &Session) {
    if of.json {
        print::json(&serde_json::json!({
            "cycle": state.cycle, "stage": state.stage, "skill": active.skill, "number": active.number, "of": active.of,
            "session": session.id.as_str(), "status": state.status.name(),
        }));
    } else {
        print::line(&format!(
            "{}: stage {} of {}, {}, begins in session {}; its skill is `{}`",
            state.cycle, active.number, active.of, active.stage, session.id, active.skill
        ));
    }
}

fn resume(args: &Resume) -> Outcome {
    let place = Place::find(&args.of)?;
    let (state, cycle) = place.cycle()?;
    let session = place.session()?;
    if let Some(owner) = place.other_owner(&session) {
        return Err(CliError::new(format!(
            "session {owner} is in stage {} of {} here",
            state.stage, state.cycle
        ))
        .hint("`tidegate cycle abandon` leaves that one"));
    }
    let name = args.from.as_deref().unwrap_or_else(|| state.resumes_at());
    let Some(at) = cycle.position(name) else {
        return Err(CliError::new(format!("{} has no stage {name}", state.cycle))
            .hint(format!("there is {}", cycle.names(0).join(", "))));
    };
    let mut state = state.clone();
    state.started_at.get_or_insert_with(|| place.project.here.now.iso());
    let begun = place.begin(state, cycle, at, &session, None)?;
    place.record("resume", "a cycle goes on", None);
    show_begun(&args.of, &begun, &session);
    Ok(ExitCode::SUCCESS)
}

fn done(args: &Done) -> Outcome {
    let place = Place::find(&args.of)?;
    let (state, cycle, session) = place.own()?;
    if !args.metric.is_empty() {
        let mut state = state.clone();
        let stage =
            state.metrics.entry(state.stage.clone()).or_insert_with(|| Value::Object(serde_json::Map::new()));
        let Value::Object(metrics) = stage else {
            return Err(CliError::new("the metrics of this stage in the state file are no table"));
        };
        for metric in &args.metric {
            let (key, value) =
                metric.split_once('=').filter(|(key, _)| !key.trim().is_empty()).ok_or_else(|| {
                    CliError::new(format!("{metric} is no metric")).hint("write it as KEY=VALUE")
                })?;
            let number = serde_json::from_str::<serde_json::Number>(value.trim()).ok().map(Value::Number);
            metrics.insert(key.trim().to_owned(), number.unwrap_or_else(|| Value::from(value)));
        }
        place.write(Some(state.at(place.project.here.now)), None)?;
    }
    let known = session.marks.cycle.stage.as_ref().filter(|known| known.cycle == state.cycle);
    let mut marks = Vec::new();
    if known.is_none_or(|known| known.stage != state.stage) {
        // Its marks were lost, or a hook was killed before it could write them: the file counts.
        let (at, now) = (cycle.position(&state.stage), place.project.here.now);
        let begun = at.and_then(|at| ActiveStage::begin(&state.cycle, cycle, at, now, place.turn()));
        let project = Some(place.project.root.to_string_lossy().into_owned());
        marks.extend(begun.map(|begun| CycleMark::Stage(Box::new(ActiveStage { project, ..begun })).into()));
    }
    marks.push(CycleMark::StageDone(state.stage.clone()).into());
    place.mark(&session.id, &marks)?;
    place.record("done", "a stage is done", Some(&state.stage));
    let next = cycle.position(&state.stage).and_then(|at| cycle.stages.get(at + 1));
    if args.of.json {
        print::json(&serde_json::json!({
            "cycle": state.cycle, "stage": state.stage, "done": true, "next": next.map(|next| &next.name),
        }));
    } else {
        let then = next.map_or_else(
            || "the cycle is complete when this turn ends".to_owned(),
            |next| format!("{} begins when this turn ends, if there is room for it", next.name),
        );
        print::line(&format!("stage {} of {} is done; {then}", state.stage, state.cycle));
    }
    Ok(ExitCode::SUCCESS)
}

fn fail(args: &Fail) -> Outcome {
    let place = Place::find(&args.of)?;
    let (state, cycle, session) = place.own()?;
    let reason = said("the reason", &args.reason)?;
    let mut failed = state.clone();
    failed.status = Status::Failed;
    failed.stopped_reason = Some(reason.clone());
    failed.skipped_stages = cycle.position(&state.stage).map(|at| cycle.names(at + 1)).unwrap_or_default();
    place.write(Some(failed.at(place.project.here.now)), None)?;
    place.mark(&session.id, &[CycleMark::StageLeft.into()])?;
    place.record("fail", "a stage failed", Some(&state.stage));
    if args.of.json {
        print::json(&serde_json::json!({
            "cycle": state.cycle, "stage": state.stage, "status": "failed", "reason": reason,
        }));
    } else {
        print::line(&format!("{} ended at stage {}: {reason}", state.cycle, state.stage));
    }
    Ok(ExitCode::SUCCESS)
}

fn abandon(of: &ProjectArgs) -> Outcome {
    let place = Place::find(of)?;
    let (state, cycle) = place.cycle()?;
    let run = Run::of(state, Some(cycle), "abandoned", place.project.here.now);
    place.write(None, Some(run))?;
    let owner = state.session_id.as_deref().and_then(|id| SessionId::parse(id).ok());
    if let Some(owner) = owner.filter(|_| state.status == Status::Running) {
        // It sees at its next stop that the file is gone; this is sooner.
        let _ = place.mark(&owner, &[CycleMark::StageLeft.into()]);
    }
    place.record("abandon", "a cycle was left", None);
    if of.json {
        print::json(
            &serde_json::json!({ "cycle": state.cycle, "stage": state.stage, "status": "abandoned" }),
        );
    } else {
        print::line(&format!(
            "{} was left at stage {}; what it took is in the history",
            state.cycle, state.stage
        ));
    }
    Ok(ExitCode::SUCCESS)
}

#[derive(Serialize)]
struct Shown<'a> {
    cycle: &'a str,
    status: &'a str,
    stage: &'a str,
    number: Option<usize>,
    of: usize,
    skill: Option<&'a str>,
    /// Its skill was invoked, or somebody said so; absent where the session is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    done: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<&'a str>,
    live: bool,
    /// It is that of the session which asks.
    own: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stopped_reason: Option<&'a str>,
    skipped_stages: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    remaining_pct: Option<f64>,
    resumes_at: &'a str,
    stages: Vec<ShownStage<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    left: Option<u64>,
}

#[derive(Serialize)]
struct ShownStage<'a> {
    name: &'a str,
    skill: &'a str,
    ended: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens: Option<u64>,
    min_left: u64,
}

fn status(of: &ProjectArgs) -> Outcome {
    let place = Place::find(of)?;
    if place.standing == Known::Absent {
        if of.json {
            print::json(&serde_json::json!({ "status": "none" }));
        } else {
            print::line("there is no cycle in this project; `tidegate cycle start` begins one");
        }
        return Ok(ExitCode::SUCCESS);
    }
    let (state, cycle) = place.cycle()?;
    let runs = cycle::runs(&place.project.here.state, &place.project.root);
    let stages = cycle.stages.iter().enumerate().map(|(at, known)| {
        let spent = state.stages.iter().find(|(name, _)| *name == known.name).map(|(_, spent)| *spent);
        ShownStage {
            name: &known.name,
            skill: &known.skill,
            ended: state.was_done(cycle, at),
            tokens: spent.and_then(Spent::tokens),
            min_left: if at == 0 { 0 } else { history::min_left(&runs, &state.cycle, cycle, at) },
        }
    });
    let owner = state.session_id.as_deref().and_then(|id| place.project.here.session(Some(id)).ok());
    let left =
        owner.as_ref().and_then(|owner| place.project.here.meter(Some(owner), None).0.reading()?.left());
    let at = cycle.position(&state.stage);
    let shown = Shown {
        cycle: &state.cycle,
        status: state.status.name(),
        stage: &state.stage,
        number: at.map(|at| at + 1),
        of: cycle.stages.len(),
        skill: at.and_then(|at| cycle.stages.get(at)).map(|stage| stage.skill.as_str()),
        done: owner
            .as_ref()
            .and_then(|owner| owner.marks.cycle.stage.as_ref())
            .filter(|stage| stage.stage == state.stage && state.status == Status::Running)
            .map(|stage| stage.done),
        session: state.session_id.as_deref(),
        live: state.session_id.as_deref().is_some_and(|id| place.is_live(id)),
        own: state.session_id.is_some()
            && state.session_id.as_deref() == place.project.session.as_ref().map(SessionId::as_str),
        stopped_reason: state.stopped_reason.as_deref(),
        skipped_stages: &state.skipped_stages,
        remaining_pct: state.remaining_pct,
        resumes_at: state.resumes_at(),
        stages: stages.collect(),
        left,
    };
    if of.json {
        print::json(&shown);
    } else {
        print_status(&shown);
    }
    Ok(ExitCode::SUCCESS)
}

fn print_status(shown: &Shown<'_>) {
    let number = shown.number.map(|number| format!(" ({number} of {})", shown.of)).unwrap_or_default();
    print::line(&format!("{}: {}, stage {}{number}", shown.cycle, shown.status, shown.stage));
    match shown.session {
        Some(session) if shown.live => print::line(&format!("session  {session}")),
        Some(session) => print::line(&format!("session  {session}, which is not there any more")),
        None => print::line("session  none: nobody is steered until `tidegate cycle resume`"),
    };
    if let Some(left) = shown.left {
        print::line(&format!("left     {} tokens", short_tokens(left)));
    }
    for (at, stage) in shown.stages.iter().enumerate() {
        let took = match (stage.ended, stage.tokens) {
            (true, Some(tokens)) => format!("took {}", short_tokens(tokens)),
            (true, None) => "done".to_owned(),
            (false, _) if stage.name == shown.stage && shown.status == "running" => {
                let done = if shown.done == Some(true) { "done when this turn ends" } else { "under way" };
                format!("{done}, skill `{}`", stage.skill)
            }
            (false, _) if at > 0 => format!("needs about {}", short_tokens(stage.min_left)),
            (false, _) => "not begun".to_owned(),
        };
        print::line(&format!("  {:<16} {took}", stage.name));
    }
    if shown.status != "running" {
        let why = shown.stopped_reason.map(|why| format!(" ({})", plain(why))).unwrap_or_default();
        print::line(&format!(
            "{}{why}; `tidegate cycle resume` goes on with {}",
            shown.status, shown.resumes_at
        ));
    }
}

fn fix_loop(args: &FixLoop) -> Outcome {
    let place = Place::find(&args.of)?;
    let here = &place.project.here;
    let session = place.project.session.as_ref().map_or("-", SessionId::as_str);
    let running = place.cycle().ok().filter(|(state, _)| state.status == Status::Running);
    let owned = running.filter(|(state, _)| state.session_id.as_deref() == Some(session));
    let (key, limit, what) = match owned {
        Some((state, cycle)) => (
            format!("{} {}", state.run_id(), state.stage),
            cycle.fix_loop_limit,
            format!("in stage {}", state.stage),
        ),
        None => (format!("session {session}"), FIX_LOOPS_OUTSIDE, "outside of a cycle".to_owned()),
    };
    if args.reset && owned.is_some() {
        return Err(CliError::new("in a cycle each stage has one loop, and it goes on"));
    }
    let counted = cycle::count_fix_loop(&here.state, &place.project.root, &key, limit, args.reset)
        .map_err(|error| CliError::new(format!("it could not be counted: {error}")))?;
    let Some(count) = counted else {
        if args.of.json {
            print::json(&serde_json::json!({ "count": limit, "limit": limit, "used_up": true }));
        }
        return Err(CliError::new(format!(
            "review and fix went round {limit} times, which is the limit {what}"
        ))
        .hint("what is still open is reported to the person instead of fixed now"));
    };
    if args.of.json {
        print::json(&serde_json::json!({ "count": count, "limit": limit, "used_up": false }));
    } else {
        print::line(&format!("round {count} of {limit} {what}"));
    }
    Ok(ExitCode::SUCCESS)
}
