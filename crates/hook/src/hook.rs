//! `tidegate hook`: event in, facts gathered, policies decide, verdicts merge, record, reply.

use std::ffi::OsString;
use std::io::{self, Read};
use std::mem::ManuallyDrop;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use tidegate_core::event::{Action, Event, EventKind, FailedStep, UnreadableEvent};
use tidegate_core::feature::config::Config;
use tidegate_core::feature::facts::{Facts, Known};
use tidegate_core::feature::marks::{Mark, Marks, SessionMark};
use tidegate_core::feature::verdict::{AsStep, Call, Carried, Effect, When};
use tidegate_core::host::answer::Reply;
use tidegate_core::host::{self, Host};
use tidegate_core::pipeline;
use tidegate_core::pipeline::gate;
use tidegate_core::pipeline::record::{Failure, Record};
use tidegate_core::pipeline::ruling::{Outcome, Ruling};
use tidegate_core::text::lang::Lang;
use tidegate_core::time::Millis;
use tidegate_state::config::off;
use tidegate_state::feature::{self, Where, put};
use tidegate_state::file::lock::{Held, Keeps};
use tidegate_state::place::StateDir;
use tidegate_state::session::marks::Lock;
use tidegate_state::session::{claims, fork, marks};
use tidegate_state::{clock, config, journal};

use crate::answer;
use crate::arguments::Arguments;
use crate::deadline::{self, Deadline};
use crate::environment::Environment;
use crate::failure::{Fallback, Seen, record_id};
use crate::gather::{Gather, project_root};
use crate::later::{Answer, Later};
use crate::{caller, client};

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
    hook.answer()
}

fn give(reply: &Reply) -> ExitCode {
    answer::start_answering();
    answer::write(reply)
}

struct Hook {
    fallback: Fallback,
    env: Environment,
    deadline: Deadline,
    via: Option<String>,
}

impl Hook {
    /// Answers, and then does what could wait for that.
    fn answer(&self) -> ExitCode {
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
            Err(why) => return give(&self.fail_unread(state.as_ref().ok(), &FailedStep::Stdin(why))),
        };
        let registered = self.fallback.registration.event;
        let mut host = Host::ClaudeCode;
        let mut parsed = host.read(&bytes, registered);
        // Claude Code puts the session's id into a variable, which no other host knows.
        let is_vouched_for = match (&parsed, self.env.session.as_deref()) {
            (Ok(event), Some(session)) => event.session.as_str() == session,
            (Err(unreadable), Some(_)) => matches!(unreadable.step, FailedStep::Payload(_)),
            (_, None) => false,
        };
        if !is_vouched_for {
            host = Host::detect(&bytes, Environment::other_host());
            if host != Host::ClaudeCode {
                parsed = host.read(&bytes, registered);
            }
            if host.is_only_recorded() {
                self.record_foreign(host, parsed, state.ok());
                return give(&Reply::default());
            }
        }
        let event = match parsed {
            Ok(event) => event,
            Err(UnreadableEvent { kind, name, step }) => {
                let _ =
                    self.fallback.seen.set(Seen { host, kind, name: name.into_owned(), ..Seen::default() });
                return give(&self.fail_unread(state.as_ref().ok(), &step));
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
            stops_first: event.kind == EventKind::Stop && event.is_main_thread() && !event.held_before,
        });
        let root = root.as_deref();
        let mut config = kept(self.config(state.as_ref().ok(), root));
        if let Some((switches, _)) = self.fallback.off.get() {
            let session = Some(event.session.as_str());
            switches.apply(&mut config, self.fallback.now, root, session);
        }
        let ignored = |name: &String| {
            format!(
                "{name} is ignored: the project's settings set it, or cannot be read, or the client was not started with it"
            )
        };
        config.problems.extend(self.env.ignored.iter().map(ignored));
        let _ = self.fallback.closes.set(config.edit_gate_closes());
        let state = match state {
            Ok(state) => state,
            Err(why) => {
                self.see_edits_without_state(&event, &bytes, &config, root);
                let closed = self.fail(&FailedStep::State(why), Some(&config), None);
                let open = closed == Reply::default();
                return give(&if open { self.without_state(&event, &bytes, &config, root) } else { closed });
            }
        };
        if self.env.guard {
            unguarded(&state, &event, &self.env, self.fallback.now);
            return give(&Reply::default());
        }
        let folder = state.session(&event.session);
        // What could not be noted when it happened is unverified all the same.
        match event.kind {
            EventKind::Stop | EventKind::TaskCompleted => {
                let elsewhere = Environment::signs_elsewhere(event.session.as_str(), state.root());
                let taken = marks::take_up_unnoted(&folder, &elsewhere, self.deadline.patience());
                if let Err(error) = taken
                    && event.kind == EventKind::Stop
                {
                    return give(&self.fail(&of_marks(&error), Some(&config), None));
                }
            }
            // And what ran now may be its check, which counts only for what is known to be unverified.
            EventKind::PostToolUse if matches!(event.action, Action::Command(_) | Action::Skill { .. }) => {
                drop(marks::try_take_up_unnoted(&folder));
            }
            _ => {}
        }
        let marks = self.read_marks(&event, &state, &folder, root);
        let clients = marks.value().map(|marks| marks.session.clients.as_slice()).unwrap_or_default();
        let vouches = |client: &u64| caller::is(*client) && !Environment::is_of_shell_tool();
        let caller = self.env.client.filter(vouches);
        let starts = event.kind == EventKind::SessionStart;
        let is_known = caller.is_some_and(|caller| client::is_known(caller, clients, starts));
        let only_answers = !clients.is_empty() && !is_known && !client::is_of_session(caller, clients);
        let caller = caller.filter(|_| !is_known);
        if marks.value().is_some_and(|marks| pipeline::deserves_time(&event, marks)) {
            self.deadline.extend();
        }
        let prompt = marks.value().and_then(|marks| marks.session.lang);
        let in_time = || self.deadline.in_time();
        let here = self.here(&event, &config, Some(&state), &folder, root, &in_time);
        let (event, payload, state) = (&event, bytes.as_slice(), &state);
        let run = Run { hook: self, event, payload, state, here: &here, caller, only_answers };
        let answer = run.rule(marks).unwrap_or_else(|step| self.fail(&step, Some(&config), prompt).into());
        let answer = kept(answer);
        let exit = give(&answer.reply);
        answer.later.carry_out(state, &here);
        exit
    }

    fn here<'a>(
        &'a self,
        event: &'a Event<'a>,
        config: &'a Config,
        state: Option<&'a StateDir>,
        folder: &'a Path,
        root: Option<&'a Path>,
        in_time: &'a dyn Fn() -> bool,
    ) -> Where<'a> {
        let env = &self.env;
        Where {
            now: self.fallback.now,
            config,
            place: &env.place,
            state,
            session: &event.session,
            folder,
            root,
            started_in: env.project.as_deref(),
            plugin: env.plugin.as_deref(),
            ignored: &env.ignored,
            in_time,
        }
    }

    /// Records a call by another host. It gets no answer: a wrong one could deny every edit there.
    fn record_foreign(
        &self,
        host: Host,
        parsed: Result<Event<'_>, UnreadableEvent<'_>>,
        state: Option<StateDir>,
    ) {
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
            session,
            tool,
            project: root.map(|root| root.to_string_lossy().into_owned()),
            ruling: "foreign".to_owned(),
            ..Record::begin_for(host, &name, now)
        };
        record.cost.us = self.fallback.micros();
        if let Some(state) = state {
            let _ = journal::append(&state.journal(), now, &mut record);
        }
    }

    /// A payload that could not be read: what is known of the project is what the host's environment says.
    fn fail_unread(&self, state: Option<&StateDir>, step: &FailedStep) -> Reply {
        let mut config = self.config(state, self.env.project.as_deref());
        config.off_by_command = self.fallback.switched_off();
        self.fail(step, Some(&config), None)
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
        root: Option<&Path>,
    ) -> Reply {
        if event.kind != EventKind::PreToolUse || self.env.guard {
            return Reply::default();
        }
        let in_time = || self.deadline.in_time();
        // Nothing is below it.
        let here = self.here(event, config, None, Path::new("/dev/null"), root, &in_time);
        let facts = Gather { env: &self.env, payload, here: &here }.facts(event, Known::Absent);
        let ruling = pipeline::decide(&facts, config, &|| self.fallback.micros());
        let outcome =
            ruling.settle(event.host, event.kind, event.is_main_thread(), config.text_budget(event));
        event.host.reply(event.kind, &outcome.answer())
    }

    /// Keeps the edits of this event at hand: they leave a sign if the event cannot be noted.
    fn see_edits(&self, facts: &Facts<'_>, config: &Config, folder: &Path) {
        let edits = pipeline::must_note(facts, config);
        if !edits.is_empty() {
            let _ = self.fallback.edits.set((folder.to_owned(), edits));
        }
    }

    /// The same where there is no state to read from.
    fn see_edits_without_state(
        &self,
        event: &Event<'_>,
        payload: &[u8],
        config: &Config,
        root: Option<&Path>,
    ) {
        if !matches!(event.kind, EventKind::PostToolUse | EventKind::PostToolUseFailure) {
            return;
        }
        let in_time = || self.deadline.in_time();
        // Nothing is below it.
        let here = self.here(event, config, None, Path::new("/dev/null"), root, &in_time);
        let facts = Gather { env: &self.env, payload, here: &here }.facts(event, Known::Absent);
        self.see_edits(&facts, config, here.folder);
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
            (Known::Absent, Some(tokens)) => {
                fork::inherit(state, event.host, &event.session, root, tokens, &in_time)
                    .map_or(Known::Absent, Known::Value)
            }
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
    state: &'a StateDir,
    here: &'a Where<'a>,
    /// A client that called, and that the session's marks do not know yet.
    caller: Option<u64>,
    /// The client of this session did not call: any command can write a payload into a hook. Nothing is changed, and a gate
    /// answers as always.
    only_answers: bool,
}

impl Run<'_> {
    fn rule(&self, marks: Known<Marks>) -> Result<Answer, FailedStep> {
        if self.gates() {
            if let Known::Broken(why) = &marks {
                return Err(FailedStep::Marks(why.clone()));
            }
            gate::check_members(self.event)?;
            if self.here.root.is_none() && self.event.edit_paths().is_some() {
                // What belongs to the project cannot be told without one.
                return Err(FailedStep::MemberMissing("cwd"));
            }
        }
        // Marks that cannot be read would be taken for those of a session without edits.
        if let (Known::Broken(why), EventKind::Stop) = (&marks, self.event.kind)
            && self.here.config.stop_gate_closes()
        {
            return Err(FailedStep::Marks(why.clone()));
        }
        let gather = Gather { env: &self.hook.env, payload: self.payload, here: self.here };
        let mut facts = kept(gather.facts(self.event, marks));
        if self.only_answers {
            return Ok(self.answer_only(&facts));
        }
        self.hook.see_edits(&facts, self.here.config, self.here.folder);
        if let (Known::Broken(why), Some(_)) = (&facts.marks, self.hook.fallback.edits.get()) {
            return Err(FailedStep::Marks(why.clone()));
        }
        let (ruling, outcome, lock) = self.decide(&mut facts)?;
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
        self.write_down(&facts, &kept(ruling), &mut kept(outcome), lock)
    }

    /// What a caller gets that is not the session's client.
    fn answer_only(&self, facts: &Facts<'_>) -> Answer {
        let now = self.hook.fallback.now;
        let event = self.event;
        let mut record = Record {
            id: record_id(now),
            session: Some(event.session.to_string()),
            tool: event.tool_name().map(str::to_owned),
            project: facts.root.as_deref().map(str::to_owned),
            person: self.hook.env.person,
            ruling: "not-client".to_owned(),
            ..Record::begin_for(event.host, &event.name, now)
        };
        record.cost.us = self.hook.fallback.micros();
        let _ = journal::append(&self.state.journal(), now, &mut record);
        // If this is the client after all, a turn must be able to end.
        let answers = match event.kind {
            EventKind::PreToolUse => true,
            EventKind::Stop => !event.held_before,
            _ => false,
        };
        if !answers {
            return Answer::default();
        }
        let config = self.here.config;
        let ruling = pipeline::decide(facts, config, &|| self.hook.fallback.micros());
        let outcome =
            ruling.settle(event.host, event.kind, event.is_main_thread(), config.text_budget(event));
        event.host.reply(event.kind, &outcome.answer()).into()
    }

    /// Whether this is a gate that nobody switched off.
    fn gates(&self) -> bool {
        self.hook.fallback.registration.gates(Some(self.event.kind)) && self.here.config.edit_gate_closes()
    }

    /// Asks the policies. Hooks of parallel calls see the same marks: what is to happen once is looked at a second time,
    /// alone, and the lock is kept until that is written down.
    fn decide(&self, facts: &mut Facts<'_>) -> Result<(Ruling, Outcome, Option<Lock>), FailedStep> {
        let decide = |facts: &Facts<'_>| {
            let ruling = pipeline::decide(facts, self.here.config, &|| self.hook.fallback.micros());
            let budget = self.here.config.text_budget(self.event);
            let outcome =
                ruling.settle(self.event.host, self.event.kind, self.event.is_main_thread(), budget);
            (ruling, outcome)
        };
        let (ruling, outcome) = decide(facts);
        if outcome.effects.is_empty() {
            return Ok((ruling, outcome, None));
        }
        let lock = self.lock(Keeps::Alone)?;
        let mut is_same = put(&mut facts.marks, marks::read(self.here.folder));
        is_same &= feature::read_again(facts, self.here);
        // Hardly ever has anything changed, and the same facts lead to the same ruling.
        let (ruling, outcome) = if is_same { (ruling, outcome) } else { decide(facts) };
        Ok((ruling, outcome, Some(lock)))
    }

    fn lock(&self, keeps: Keeps) -> Result<Lock, FailedStep> {
        let patience = self.hook.deadline.patience();
        marks::lock(self.here.folder, keeps, patience).map_err(|error| of_marks(&error))
    }

    /// The record, then what is to be remembered, then the reply. In this order a failure on the way loses nothing:
    /// what was not marked as said will be said.
    fn write_down(
        &self,
        facts: &Facts<'_>,
        ruling: &Ruling,
        outcome: &mut Outcome,
        lock: Option<Lock>,
    ) -> Result<Answer, FailedStep> {
        let (now, config) = (self.here.now, self.here.config);
        let mut new_marks = pipeline::observe(facts, config);
        new_marks.extend(self.client_marks(facts, &new_marks));
        let observed = new_marks.len();
        new_marks.extend(outcome.effects.iter().filter_map(Effect::leaves));
        let lock = match lock {
            None if !new_marks.is_empty() => Some(self.lock(Keeps::Shared)?),
            lock => lock,
        };

        answer::start_recording();
        self.carry_out(outcome, |when| match when {
            When::Needed(step) => Some(step),
            When::Tried(_) | When::Answered => None,
        })?;
        // Before the marks that say so.
        let tried = self.carry_out(outcome, |when| match when {
            When::Tried(step) => Some(step),
            When::Needed(_) | When::Answered => None,
        });
        if tried.is_err() {
            new_marks.truncate(observed);
            let done = outcome.effects.iter().filter(|effect| !matches!(effect.when(), When::Tried(_)));
            new_marks.extend(done.filter_map(Effect::leaves));
        }
        let mut record = kept(Record::of(facts, ruling, outcome, &new_marks));
        record.id = record_id(now);
        record.project = facts.root.as_deref().map(str::to_owned);
        record.config.clone_from(&config.problems);
        record.off.clone_from(&config.off);
        record.off_by_command.clone_from(&config.off_by_command);
        record.cost.us = self.hook.fallback.micros();
        if let Err(step) = tried {
            let (class, closed) = (step.class().to_owned(), false);
            record.failure = Some(Failure { class, step: step.to_string(), closed });
        }
        let written = journal::append(&self.state.journal(), now, &mut record)
            .map_err(|error| FailedStep::Record(error.to_string()))
            .and_then(|()| {
                lock.map_or(Ok(()), |lock| lock.append(&new_marks).map_err(|error| of_marks(&error)))
            });

        let mut later = Later::default();
        match written {
            Ok(()) => {
                later.keeps_house = self.event.kind == EventKind::SessionStart;
                later.attended = facts.person.may_be_there();
            }
            // Advice that cannot be marked as given would come again and again, and a stop that is held without being
            // counted would be held for ever.
            Err(step)
                if self.gates() || outcome.call == Call::Pass || self.event.kind != EventKind::PreToolUse =>
            {
                return Err(step);
            }
            Err(_) => outcome.effects.clear(),
        }
        let reply = self.event.host.reply(self.event.kind, &outcome.answer());
        later.effects = std::mem::take(&mut outcome.effects);
        Ok(Answer { reply, later })
    }

    /// The client that called, where the marks do not know it or begin anew.
    fn client_marks(&self, facts: &Facts<'_>, new: &[Mark]) -> Vec<Mark> {
        let begins = new.iter().any(|mark| matches!(mark, Mark::Session(SessionMark::Began { .. })));
        let known = facts.marks.value().map(|marks| marks.session.clients.as_slice()).unwrap_or_default();
        let kept = known.iter().copied().filter(|_| begins);
        let clients = kept.chain(self.caller.and_then(client::process));
        clients.map(|client| SessionMark::Client(client).into()).collect()
    }

    /// Carries out the effects of one time, in their order, as far as none fails.
    fn carry_out(&self, outcome: &Outcome, is_time: fn(When) -> Option<AsStep>) -> Result<(), FailedStep> {
        for effect in &outcome.effects {
            if let Some(step) = is_time(effect.when()) {
                feature::carry_out(effect, self.here).map_err(|error| step(error.to_string()))?;
            }
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
        claims::is_duplicate(self.here.folder, &self.event.name, id, &via, now).unwrap_or(false)
    }
}

/// Why the session's marks cannot be used.
fn of_marks(error: &io::Error) -> FailedStep {
    match Held::of(error) {
        Some(held) => FailedStep::Locked { file: held.file.display().to_string(), process: held.process },
        None => FailedStep::Marks(error.to_string()),
    }
}

/// A session that we started ourselves: nothing is gated or said in it, and `status` shows that.
fn unguarded(state: &StateDir, event: &Event<'_>, env: &Environment, now: Millis) {
    let folder = state.session(&event.session);
    if let Known::Absent = marks::read(&folder) {
        let _ =
            marks::lock_shared(&folder).and_then(|lock| lock.append(&[SessionMark::Attached(now).into()]));
    }
    let mut record = Record {
        id: record_id(now),
        session: Some(event.session.to_string()),
        person: env.person,
        ruling: "unguarded".to_owned(),
        ..Record::begin_for(event.host, &event.name, now)
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
