//! `tidegate hook`: event in, facts gathered, policies decide, verdicts merge, record, reply.

use std::ffi::OsString;
use std::io::Read;
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use tidegate_core::event::{Action, Event, EventKind, FailedStep, Unreadable};
use tidegate_core::feature::config::Config;
use tidegate_core::feature::facts::{Facts, Known};
use tidegate_core::feature::marks::{Mark, Marks, Note};
use tidegate_core::feature::memory::job;
use tidegate_core::feature::memory::job::Job;
use tidegate_core::feature::session;
use tidegate_core::feature::verdict::{Call, CycleStep, Effect};
use tidegate_core::feature::verification::evidence;
use tidegate_core::host::answer::Reply;
use tidegate_core::host::{self, Host};
use tidegate_core::pipeline;
use tidegate_core::pipeline::gate;
use tidegate_core::pipeline::record::{Failure, Record};
use tidegate_core::pipeline::ruling::{Outcome, Ruling};
use tidegate_core::text::lang::Lang;
use tidegate_core::time::Millis;
use tidegate_state::config::off;
use tidegate_state::feature::cycle;
use tidegate_state::feature::memory::spool;
use tidegate_state::place::StateDir;
use tidegate_state::session::marks::Lock;
use tidegate_state::session::{claims, fork, marks};
use tidegate_state::{clock, config, journal};

use crate::answer;
use crate::arguments::Arguments;
use crate::deadline::{self, Deadline};
use crate::environment::Environment;
use crate::failure::{Fallback, Seen, record_id};
use crate::gather::{Gather, Gathered, cycle_root, project_root};
use crate::later::{self, Answer, Later};

/// A payload beyond this is not a hook's: 32 MiB of tool output is the most that was ever seen.
const LARGEST_PAYLOAD: u64 = 64 * 1024 * 1024;

/// The whole run. Answers on stdout; the exit code is 0 or 2.
pub fn run(args: impl Iterator<Item = OsString>) -> ExitCode {
    run_with(Arguments::parse(args))
}

/// The whole run of a call without arguments, by a host that ignores them. It always exits with 0; a denial in the text of
/// the answer stands.
pub fn run_bare() -> ExitCode {
    answer::exit_with_zero();
    run_with(Arguments::bare())
}

fn run_with(arguments: Arguments) -> ExitCode {
    let start = Instant::now();
    let fallback = Fallback {
        registration: arguments.registration,
        env: Arc::default(),
        now: clock::now(),
        start,
        state: Arc::default(),
        off: Arc::default(),
        seen: Arc::default(),
        closes: Arc::default(),
        edits: Arc::default(),
    };
    // Before the first thing that can hang: files may be on a file system that does not answer.
    let deadline = Deadline::of(arguments.registration, start);
    fallback.clone().answer_panics();
    fallback.clone().answer_when_late(deadline.clone());

    let env = Environment::of_hook();
    let _ = fallback.env.set(env.clone());
    let hook = Hook { fallback, env, deadline, via: arguments.via };
    let Answer { reply, later } = hook.answer();
    answer::start_answering();
    let exit = answer::write(&reply);
    later.into_iter().for_each(Later::carry_out);
    exit
}

struct Hook {
    fallback: Fallback,
    env: Environment,
    deadline: Deadline,
    via: Option<String>,
}

impl Hook {
    fn answer(&self) -> Answer {
        let state = StateDir::open(&self.env.place);
        if let Ok(state) = &state {
            let _ = self.fallback.state.set(state.clone());
            let switches = off::read(state);
            let places =
                if switches.is_empty() { Vec::new() } else { off::places(self.env.project.as_deref()) };
            let _ = self.fallback.off.set((switches, places));
        }
        let bytes = match read_payload() {
            Ok(bytes) => bytes,
            Err(why) => return self.fail_unread(state.as_ref().ok(), &FailedStep::Stdin(why)),
        };
        let registered = self.fallback.registration.event;
        let parsed = Host::ClaudeCode.read(&bytes, registered);
        // Claude Code puts the session's id into a variable, which no other host knows.
        let is_vouched_for = match (&parsed, self.env.session.as_deref()) {
            (Ok(event), Some(session)) => event.session.as_str() == session,
            (Err(unreadable), Some(_)) => matches!(unreadable.step, FailedStep::Payload(_)),
            (_, None) => false,
        };
        if !is_vouched_for {
            let host = Host::detect(&bytes, Environment::other_host());
            if host != Host::ClaudeCode {
                return self.foreign(host, host.read(&bytes, registered), state.ok());
            }
        }
        let event = match parsed {
            Ok(event) => event,
            Err(Unreadable { kind, name, step }) => {
                let _ = self.fallback.seen.set(Seen { kind, name: name.into_owned(), ..Seen::default() });
                return self.fail_unread(state.as_ref().ok(), &step);
            }
        };
        // A session's start is once, and leaves the marks that all else rests on.
        let turned_out = self.fallback.registration.event.is_none() && deadline::of_gate(event.kind);
        if turned_out || event.ended_task().is_some() || event.kind == EventKind::SessionStart {
            self.deadline.extend();
        }
        let root = project_root(&event, &self.env);
        let _ = self.fallback.seen.set(Seen {
            host: event.host,
            kind: Some(event.kind),
            name: event.name.to_string(),
            session: Some(event.session.to_string()),
            agent: event.agent_id().map(str::to_owned),
            tool: event.tool_name().map(str::to_owned),
            project: root.as_deref().map(|root| root.to_string_lossy().into_owned()),
        });
        let mut config = kept(self.config(state.as_ref().ok(), root.as_deref()));
        if let Some((switches, _)) = self.fallback.off.get() {
            let session = Some(event.session.as_str());
            switches.apply(&mut config, self.fallback.now, root.as_deref(), session);
        }
        let ignored =
            |name: &String| format!("{name} is ignored: the project's settings set it, or cannot be read");
        config.problems.extend(self.env.ignored.iter().map(ignored));
        let _ = self.fallback.closes.set(config.edit_gate_closes());
        let state = match state {
            Ok(state) => state,
            Err(why) => {
                let closed = self.fail(&FailedStep::State(why), Some(&config), None);
                let open = closed == Reply::default();
                return if open {
                    self.without_state(&event, &bytes, &config, root).into()
                } else {
                    closed.into()
                };
            }
        };
        if self.env.guard {
            unguarded(&state, &event, &self.env, self.fallback.now);
            return Answer::default();
        }
        let folder = state.session(&event.session);
        // What could not be noted when it happened is unverified all the same.
        match event.kind {
            EventKind::Stop | EventKind::TaskCompleted => drop(marks::take_up_unnoted(&folder)),
            // And what ran now may be its check, which counts only for what is known to be unverified.
            EventKind::PostToolUse if matches!(event.action, Action::Command(_) | Action::Skill { .. }) => {
                drop(marks::try_take_up_unnoted(&folder));
            }
            _ => {}
        }
        let marks = self.read_marks(&event, &state, &folder, root.as_deref());
        // A gate decides whether an agent is spawned, and the reading it rests on may be worth a wait.
        if event.spawn().is_some() && marks.value().is_some_and(|marks| marks.workflow.is_some()) {
            self.deadline.extend();
        }
        // What was lost is told once, and what was kept beside the summary has to be read first.
        if marks.value().is_some_and(|marks| marks.notes.contains(&Note::Lost)) {
            self.deadline.extend();
        }
        // A person's yes is worth a wait: on a busy machine they would have to type it again.
        if event.kind == EventKind::UserPromptSubmit
            && marks.value().is_some_and(|marks| !marks.approvals.is_empty())
        {
            self.deadline.extend();
        }
        let prompt = marks.value().and_then(|marks| marks.lang);
        let run = Run { hook: self, event: &event, payload: &bytes, config: &config, state, folder };
        run.rule(marks, root).unwrap_or_else(|step| self.fail(&step, Some(&config), prompt).into())
    }

    /// Records a call by another host. It gets no answer: a wrong one could deny every edit there.
    fn foreign(
        &self,
        host: Host,
        parsed: Result<Event<'_>, Unreadable<'_>>,
        state: Option<StateDir>,
    ) -> Answer {
        let (name, session, tool, root) = match parsed {
            Ok(event) => {
                let root = project_root(&event, &self.env);
                let tool = event.tool_name().map(str::to_owned);
                (event.name.to_string(), Some(event.session.to_string()), tool, root)
            }
            Err(unreadable) => (unreadable.name.into_owned(), None, None, None),
        };
        let now = self.fallback.now;
        let mut record = Record {
            id: record_id(now),
            host: host.name().to_owned(),
            session,
            tool,
            project: root.map(|root| root.to_string_lossy().into_owned()),
            ruling: "foreign".to_owned(),
            ..Record::begin(&name, now)
        };
        record.cost.us = self.fallback.micros();
        if let Some(state) = state {
            let _ = journal::append(&state.journal(), now, &mut record);
        }
        Answer::default()
    }

    /// A payload that could not be read: what is known of the project is what the host's environment says.
    fn fail_unread(&self, state: Option<&StateDir>, step: &FailedStep) -> Answer {
        let mut config = self.config(state, self.env.project.as_deref());
        config.off_by_command = self.fallback.switched_off();
        self.fail(step, Some(&config), None).into()
    }

    fn config(&self, state: Option<&StateDir>, root: Option<&Path>) -> Config {
        let user = self.env.place.config();
        config::read(&config::Sources {
            user: user.as_deref(),
            root,
            state,
            variables: &self.env.settings,
            off: self.env.off.as_deref(),
        })
    }

    /// What can be said to a call without state, where the gate that needs it is switched off: an edit of our own files is
    /// still a person's to decide.
    fn without_state(
        &self,
        event: &Event<'_>,
        payload: &[u8],
        config: &Config,
        root: Option<PathBuf>,
    ) -> Reply {
        if event.kind != EventKind::PreToolUse || self.env.guard {
            return Reply::default();
        }
        // Nothing is below it.
        let (env, now, folder) = (&self.env, self.fallback.now, Path::new("/dev/null"));
        let in_time = || self.deadline.in_time();
        let gather = Gather { env, config, payload, state: None, folder, now, in_time: &in_time };
        let gathered = gather.facts(event, Known::Absent, root);
        let ruling = pipeline::decide(&gathered.facts, config, &|| self.fallback.micros());
        let outcome = ruling.settle(event.host, event.kind, event.main_thread(), config.text_budget(event));
        event.host.reply(event.kind, &outcome.answer())
    }

    /// The session's marks; a fork that has none yet takes those of the session it copied.
    fn read_marks(
        &self,
        event: &Event<'_>,
        state: &StateDir,
        folder: &Path,
        root: Option<&Path>,
    ) -> Known<Marks> {
        let in_time = || self.deadline.in_time();
        match (marks::read(folder), event.copied_tokens) {
            (Known::Absent, Some(tokens)) => fork::inherit(state, &event.session, root, tokens, &in_time)
                .map_or(Known::Absent, Known::Value),
            (marks, _) => marks,
        }
    }

    fn fail(&self, step: &FailedStep, config: Option<&Config>, prompt: Option<Lang>) -> Reply {
        let (reply, mut record) = self.fallback.fail(step, config, prompt);
        self.fallback.write_down(&mut record);
        reply
    }
}

/// One event that could be read, on its way to an answer. Whatever fails on it fails the whole run.
struct Run<'a> {
    hook: &'a Hook,
    event: &'a Event<'a>,
    payload: &'a [u8],
    config: &'a Config,
    state: StateDir,
    /// The session's.
    folder: PathBuf,
}

impl Run<'_> {
    fn rule(&self, marks: Known<Marks>, root: Option<PathBuf>) -> Result<Answer, FailedStep> {
        if self.gates() {
            if let Known::Broken(why) = &marks {
                return Err(FailedStep::Marks(why.clone()));
            }
            gate::check_members(self.event)?;
            if root.is_none() && self.event.edit_paths().is_some() {
                // What belongs to the project cannot be told without one.
                return Err(FailedStep::MemberMissing("cwd"));
            }
        }
        let in_time = || self.hook.deadline.in_time();
        let (env, now) = (&self.hook.env, self.hook.fallback.now);
        let (config, payload, folder) = (self.config, self.payload, self.folder.as_path());
        let gather =
            Gather { env, config, payload, state: Some(&self.state), folder, now, in_time: &in_time };
        let mut gathered = kept(gather.facts(self.event, marks, root));
        if matches!(self.event.kind, EventKind::PostToolUse | EventKind::PostToolUseFailure)
            && !gathered.facts.files.is_empty()
        {
            let edits = evidence::edit_marks(&gathered.facts, config);
            if !edits.is_empty() {
                let _ = self.hook.fallback.edits.set((self.folder.clone(), edits));
            }
        }
        let (ruling, outcome, lock) = self.decide(&mut gathered, &gather)?;
        if self.is_duplicate() {
            // What the other one wrote down about a stop is why this one would hold it again.
            if self.event.kind == EventKind::Stop {
                return Ok(Answer::default());
            }
            // The other registration says it and writes it down. A denial stands in both: if that one died,
            // this one still holds.
            let answer = host::answer::Answer { context: "", user: "", ..outcome.answer() };
            return Ok(self.event.host.reply(self.event.kind, &answer).into());
        }
        self.write_down(&gathered, &kept(ruling), &kept(outcome), lock)
    }

    /// Whether this is a gate that nobody switched off.
    fn gates(&self) -> bool {
        self.hook.fallback.registration.gates(Some(self.event.kind)) && self.config.edit_gate_closes()
    }

    /// Asks the policies. Hooks of parallel calls see the same marks: what is to happen once is looked at a second time,
    /// alone, and the lock is kept until that is written down.
    fn decide(
        &self,
        gathered: &mut Gathered<'_>,
        gather: &Gather<'_>,
    ) -> Result<(Ruling, Outcome, Option<Lock>), FailedStep> {
        let decide = |facts: &Facts<'_>| {
            let ruling = pipeline::decide(facts, self.config, &|| self.hook.fallback.micros());
            let budget = self.config.text_budget(self.event);
            let outcome = ruling.settle(self.event.host, self.event.kind, self.event.main_thread(), budget);
            (ruling, outcome)
        };
        let (ruling, outcome) = decide(&gathered.facts);
        if outcome.effects.is_empty() {
            return Ok((ruling, outcome, None));
        }
        let lock = marks::lock_alone(&self.folder).map_err(|error| FailedStep::Marks(error.to_string()))?;
        let mut is_same = put(&mut gathered.facts.marks, marks::read(&self.folder));
        // Another hook of this session may have begun the next stage.
        if gathered.facts.cycle != Known::Absent {
            let root = cycle_root(&gathered.facts, gathered.root.as_deref()).map(Path::to_owned);
            is_same &= put(&mut gathered.facts.cycle, gather.cycle(self.event, root.as_deref()));
        }
        // A gate may have been passed by a command of this session.
        if gathered.facts.workflow != Known::Absent {
            let workflow = gather.workflow(&gathered.facts, gathered.root.as_deref());
            is_same &= put(&mut gathered.facts.workflow, workflow);
        }
        // Hardly ever has anything changed, and the same facts lead to the same ruling.
        let (ruling, outcome) = if is_same { (ruling, outcome) } else { decide(&gathered.facts) };
        Ok((ruling, outcome, Some(lock)))
    }

    /// The record, then what is to be remembered, then the reply. In this order a failure on the way loses nothing:
    /// what was not marked as said will be said.
    fn write_down(
        &self,
        gathered: &Gathered<'_>,
        ruling: &Ruling,
        outcome: &Outcome,
        lock: Option<Lock>,
    ) -> Result<Answer, FailedStep> {
        let now = self.hook.fallback.now;
        let failed = |error: std::io::Error| FailedStep::Marks(error.to_string());
        let mut new_marks = marks_of(gathered, self.config, outcome);
        let lock = match lock {
            None if !new_marks.is_empty() => Some(marks::lock_shared(&self.folder).map_err(failed)?),
            lock => lock,
        };

        answer::start_recording();
        // Before anything is answered: a stop that is held for a stage which never began would lead nowhere.
        for step in cycle_steps(outcome) {
            let root = cycle_root(&gathered.facts, gathered.root.as_deref());
            let root = root.ok_or_else(|| FailedStep::Cycle("no project".to_owned()))?;
            cycle::carry_out(&self.state, root, step)
                .map_err(|error| FailedStep::Cycle(error.to_string()))?;
        }
        // Before the mark that says so, and before the answer: after that nobody comes back for it. What could not be left is
        // left with the next turn.
        let spooled = self.spool(outcome);
        if spooled.is_err() {
            new_marks.retain(|mark| !matches!(mark, Mark::Spooled(_)));
        }
        let mut record = kept(Record::of(&gathered.facts, ruling, outcome, &new_marks));
        record.id = record_id(now);
        record.project = gathered.root.as_deref().map(|root| root.to_string_lossy().into_owned());
        record.config.clone_from(&self.config.problems);
        record.off.clone_from(&self.config.off);
        record.off_by_command.clone_from(&self.config.off_by_command);
        record.cost.us = self.hook.fallback.micros();
        if let Err(error) = spooled {
            let step = FailedStep::Spool(error.to_string());
            let (class, closed) = (step.class().to_owned(), false);
            record.failure = Some(Failure { class, step: step.to_string(), closed });
        }
        let written = journal::append(&self.state.journal(), now, &mut record)
            .map_err(|error| FailedStep::Record(error.to_string()))
            .and_then(|()| lock.map_or(Ok(()), |lock| lock.append(&new_marks).map_err(failed)));

        let mut later = Vec::new();
        match written {
            Ok(()) => {
                later.extend(later::effects(&self.state, &self.folder, self.config, gathered, outcome));
                later.extend(later::told(&self.state, gathered, outcome));
                later.extend(later::question(gathered, &new_marks));
            }
            // Advice that cannot be marked as given would come again and again, and a stop that is held without being
            // counted would be held for ever.
            Err(step)
                if self.gates() || outcome.call == Call::Pass || self.event.kind != EventKind::PreToolUse =>
            {
                return Err(step);
            }
            Err(_) => {}
        }
        if self.event.kind == EventKind::SessionStart {
            let (state, session) = (self.state.clone(), self.event.session.clone());
            let user = self.hook.env.place.config();
            later.push(Later::KeepConfig { state: state.clone(), user, root: gathered.root.clone() });
            later.push(Later::KeepHouse { state, session, now, days: self.config.journal.keep.0 });
            // A person started the client without a policy: that may have been once too often.
            if let Some(root) = &gathered.root
                && gathered.facts.person.may_be_there()
                && !self.config.off.is_empty()
            {
                let (state, config, root) = (self.state.clone(), self.config.clone(), root.clone());
                later.push(Later::StepDown { state, config: Box::new(config), root, now });
            }
        }
        Ok(Answer { reply: self.event.host.reply(self.event.kind, &outcome.answer()), later })
    }

    /// Leaves the jobs that the ruling has for the worker.
    fn spool(&self, outcome: &Outcome) -> std::io::Result<()> {
        let works = outcome.effects.iter().filter_map(|effect| match effect {
            Effect::Spool(work) => Some(work.as_ref()),
            _ => None,
        });
        for work in works {
            let (at, session) = (self.hook.fallback.now, self.event.session.to_string());
            spool::put(&self.state, &Job { v: job::VERSION, at, session, work: work.clone() })?;
        }
        Ok(())
    }

    /// Whether another registration of this event was here first. Without a name it is told by the program it calls.
    fn is_duplicate(&self) -> bool {
        let id =
            [&self.event.call, &self.event.turn, &self.event.cause].into_iter().find_map(Option::as_deref);
        let program = || std::env::current_exe().unwrap_or_default().to_string_lossy().into_owned();
        let via = self.hook.via.clone().unwrap_or_else(program);
        let (id, now) = (id.unwrap_or_default(), self.hook.fallback.now);
        claims::is_duplicate(&self.folder, &self.event.name, id, &via, now).unwrap_or(false)
    }
}

/// Puts what is known now in the place of what was; whether that is the same.
fn put<T: PartialEq>(known: &mut T, now: T) -> bool {
    let before = std::mem::replace(known, now);
    before == *known
}

/// What the ruling changes about where the cycle stands.
fn cycle_steps(outcome: &Outcome) -> impl Iterator<Item = &CycleStep> {
    outcome.effects.iter().filter_map(|effect| match effect {
        Effect::Cycle(step) => Some(step.as_ref()),
        _ => None,
    })
}

/// What this event leaves in the session's marks, and what the ruling adds.
fn marks_of(gathered: &Gathered<'_>, config: &Config, outcome: &Outcome) -> Vec<Mark> {
    let root = gathered.root.as_deref().map(Path::to_string_lossy);
    let mut marks = session::marks(&gathered.facts, config, root.as_deref(), gathered.host.as_ref());
    marks.extend(outcome.effects.iter().filter_map(|effect| match effect {
        Effect::Mark(mark) => Some(mark.clone()),
        Effect::Cycle(step) => Some(step.mark.clone()),
        _ => None,
    }));
    marks
}

/// A session that we started ourselves: nothing is gated or said in it, and `status` shows that.
fn unguarded(state: &StateDir, event: &Event<'_>, env: &Environment, now: Millis) {
    let folder = state.session(&event.session);
    if let Known::Absent = marks::read(&folder) {
        let _ = marks::lock_shared(&folder).and_then(|lock| lock.append(&[Mark::Attached(now)]));
    }
    let mut record = Record {
        id: record_id(now),
        session: Some(event.session.to_string()),
        person: env.person,
        ruling: "unguarded".to_owned(),
        ..Record::begin(&event.name, now)
    };
    let _ = journal::append(&state.journal(), now, &mut record);
}

/// Something large that lasts as long as the process, which ends with the answer: to take it apart and give each piece of
/// memory back would be one instruction in thirty of a run.
fn kept<T>(value: T) -> ManuallyDrop<T> {
    ManuallyDrop::new(value)
}

fn read_payload() -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    std::io::stdin()
        .lock()
        .take(LARGEST_PAYLOAD + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| error.to_string())?;
    if bytes.len() as u64 > LARGEST_PAYLOAD {
        return Err(format!("larger than {} MiB", LARGEST_PAYLOAD / 1024 / 1024));
    }
    Ok(bytes)
}
