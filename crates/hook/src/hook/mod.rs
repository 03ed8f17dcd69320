//! `tidegate hook`: event in, facts gathered, policies decide, verdicts merge, record, reply.
//!
//! ```text
//! registration ─► deadline ─ payload ─► host, Event ─ marks, Gather ─► Facts ─ decide ─► Outcome
//!                                                                                            │
//!      later: effects, house ◄─ reply ◄─ marks ◄─ record ◄─ effects that come first ◄────────┘
//! ```
//!
//! The order of the last line is an invariant ([`event_run`]): whatever fails on the way, a text that was
//! not marked as said is said again. A failure at any step has one place, [`failure`]. A host that is only
//! recorded gets no answer, and a caller that is not the session's client changes nothing ([`caller`]).
//!
//! Every instruction is paid at every tool call. Large values are not freed ([`keep_until_exit`]). Bytes are
//! searched without asking the processor (`core/src/text/search.rs`). Lists of words are one text each
//! (`core/src/text/word_list.rs`), and tables are `static`, which exist once, not `const`. `cargo xtask
//! budget` counts the rest.

mod answer;
mod arguments;
mod deadline;
mod event_run;
mod failure;
mod gather;
mod later;
mod unreported;

use std::ffi::OsString;
use std::io::Read;
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use tidegate_core::event::{Action, Event, EventKind, Exit, FailedStep, UnreadableEvent};
use tidegate_core::feature::config::Config;
use tidegate_core::feature::facts::{Facts, Known};
use tidegate_core::feature::marks::{Marks, SessionMark};
use tidegate_core::host::Host;
use tidegate_core::host::answer::{Answer, Reply};
use tidegate_core::host::person::Person;
use tidegate_core::pipeline;
use tidegate_core::pipeline::record::Record;
use tidegate_core::text::lang::Lang;
use tidegate_core::time::Millis;
use tidegate_state::config::switches;
use tidegate_state::feature::HookContext;
use tidegate_state::host::{find_transcript, transcript};
use tidegate_state::place::StateDir;
use tidegate_state::session::{fork, marks};
use tidegate_state::{clock, config, journal};

use crate::environment::Environment;
use crate::hook::arguments::Arguments;
use crate::hook::deadline::Deadline;
use crate::hook::event_run::{EventRun, describe_marks_error};
use crate::hook::failure::{Fallback, Seen, record_id};
use crate::hook::gather::{Gather, project_root};
use crate::host::claude_code::{caller, client};

/// In bytes. The largest real payload had 32 MiB of tool output.
const LARGEST_PAYLOAD: u64 = 64 * 1024 * 1024;

/// Answers on stdout; the exit code is 0 or 2.
pub fn run(args: impl Iterator<Item = OsString>) -> ExitCode {
    run_with(Arguments::parse(args))
}

/// For a host that ignores arguments. Always exits with 0; a denial in the answer's text still counts.
pub fn run_bare() -> ExitCode {
    answer::exit_with_zero();
    run_with(Arguments::bare())
}

fn run_with(arguments: Arguments) -> ExitCode {
    let start = Instant::now();
    let fallback = Fallback {
        registration: arguments.registration,
        registered: arguments.host,
        env: Arc::default(),
        now: clock::now(),
        start,
        state: Arc::default(),
        off: Arc::default(),
        seen: Arc::default(),
        closes: Arc::default(),
        edits: Arc::default(),
    };
    // Before anything that can hang: files may be on a file system that does not answer.
    let deadline = Deadline::of(arguments.registration, start);
    fallback.clone().answer_panics();
    fallback.clone().answer_when_late(deadline.clone());

    let env = Environment::of_hook();
    let _ = fallback.env.set(env.clone());
    let hook = Hook { fallback, env, deadline, via: arguments.via, marks: None };
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
    /// Of the session, if something before its time needed them.
    marks: Option<Known<Marks>>,
}

impl Hook {
    /// Answers, then does the work that can wait for the answer.
    fn answer(mut self) -> ExitCode {
        let state = self.open_state();
        let bytes = match read_payload() {
            Ok(bytes) => bytes,
            Err(why) => return give(&self.fail_unread(state.as_ref().ok(), &FailedStep::Stdin(why))),
        };
        let (host, parsed) = self.parse(&bytes);
        if host.is_only_recorded() {
            self.record_foreign(host, parsed, state.ok());
            return give(&Reply::default());
        }
        let parsed = if host == Host::ClaudeCode { parsed } else { self.serve_other(host, parsed) };
        let event = match parsed {
            Ok(event) => event,
            Err(UnreadableEvent { kind, name, step }) => {
                let _ =
                    self.fallback.seen.set(Seen { host, kind, name: name.into_owned(), ..Seen::default() });
                return give(&self.fail_unread(state.as_ref().ok(), &step));
            }
        };
        // A session starts once, and everything later rests on the marks of its start.
        let turned_out = self.fallback.registration.event.is_none() && deadline::is_of_gate(event.kind);
        if turned_out || event.ended_task().is_some() || event.kind == EventKind::SessionStart {
            self.deadline.extend();
        }
        let root = project_root(&event, &self.env);
        let root = root.as_deref();
        self.note_seen(&event, root);
        let config = keep_until_exit(self.config_for(&event, state.as_ref().ok(), root));
        let _ = self.fallback.closes.set(config.edit_gate_closes());
        let state = match state {
            Ok(state) => state,
            Err(why) => return give(&self.fail_state(why, &event, &bytes, &config, root)),
        };
        if self.env.guard {
            record_unguarded(&state, &event, &self.env, self.fallback.now);
            return give(&unchecked(&event));
        }
        let folder = state.session(&event.session);
        if let Err(step) = self.collect_unnoted(&event, &state, &folder) {
            return give(&self.fail(&step, Some(&config), None));
        }
        let marks = self.read_marks(&event, &state, &folder, root);
        let (caller, only_answers) = self.check_caller(&event, marks.value());
        let marks = if only_answers || !unreported::is_awaited(&event, marks.value()) {
            marks
        } else {
            let in_time = || self.deadline.in_time();
            let here = self.here(&event, &config, Some(&state), &folder, root, &in_time);
            match unreported::collect(&event, &self.env, &here, marks, self.deadline.patience()) {
                Ok(marks) => marks,
                Err(step) => return give(&self.fail(&step, Some(&config), None)),
            }
        };
        if marks.value().is_some_and(|marks| pipeline::deserves_time(&event, marks)) {
            self.deadline.extend();
        }
        let prompt = marks.value().and_then(|marks| marks.session.lang);
        let in_time = || self.deadline.in_time();
        let here = self.here(&event, &config, Some(&state), &folder, root, &in_time);
        let (event, payload, state) = (&event, bytes.as_slice(), &state);
        let run = EventRun { hook: &self, event, payload, state, here: &here, caller, only_answers };
        let answer = run.rule(marks).unwrap_or_else(|step| self.fail(&step, Some(&config), prompt).into());
        let answer = keep_until_exit(answer);
        let exit = give(&answer.reply);
        answer.later.carry_out(state, &here);
        exit
    }

    fn open_state(&self) -> Result<StateDir, String> {
        let state = StateDir::open(&self.env.place);
        if let Ok(state) = &state {
            let _ = self.fallback.state.set(state.clone());
            let switches = switches::read(state);
            let places = if switches.is_empty() {
                Vec::new()
            } else {
                switches::project_paths(self.env.project.as_deref())
            };
            let _ = self.fallback.off.set((switches, places));
        }
        state
    }

    fn parse<'a>(&self, bytes: &'a [u8]) -> (Host, Result<Event<'a>, UnreadableEvent<'a>>) {
        let registered = self.fallback.registration.event;
        let parsed = Host::ClaudeCode.read(bytes, registered);
        // Claude Code puts the session's id into a variable, which no other host knows.
        let is_vouched_for = match (&parsed, self.env.session.as_deref()) {
            (Ok(event), Some(session)) => event.session.as_str() == session,
            (Err(unreadable), Some(_)) => matches!(unreadable.step, FailedStep::Payload(_)),
            (_, None) => false,
        };
        if is_vouched_for && self.fallback.registered.is_none() {
            return (Host::ClaudeCode, parsed);
        }
        match Host::detect(bytes, self.fallback.registered, Environment::other_host) {
            Host::ClaudeCode => (Host::ClaudeCode, parsed),
            host => (host, host.read(bytes, registered)),
        }
    }

    /// For a host other than Claude Code: its own variables, and what its payload leaves out.
    #[cold]
    fn serve_other<'a>(
        &mut self,
        host: Host,
        parsed: Result<Event<'a>, UnreadableEvent<'a>>,
    ) -> Result<Event<'a>, UnreadableEvent<'a>> {
        self.env = self.env.for_host(host);
        let Ok(mut event) = parsed else { return parsed };
        if self.env.project.is_none() {
            self.env.project = self.known_project(&event);
        }
        if !host.tells_by_transcript() {
            return Ok(event);
        }
        if event.transcript.is_none() {
            let moved = self.env.host_home.as_deref();
            let found = find_transcript(host, &event.session, &self.env.place, moved);
            event.transcript = found.map(|path| path.to_string_lossy().into_owned().into());
        }
        let Some(path) = event.transcript.as_deref() else { return Ok(event) };
        let path = Path::new(path);
        if self.env.person == Person::Unknown {
            self.env.person = transcript::read_person(host, path);
        }
        if event.lacks_run() {
            let in_time = || self.deadline.in_time();
            let found = transcript::read_run(&event, path, &in_time);
            let began = || transcript::read_beginning(&event, path, &in_time);
            let (began, exit) = found.unwrap_or_else(|| (began(), Exit::Unknown));
            event.set_run(began, exit);
        }
        Ok(event)
    }

    /// The session's, for a call of a tool: from a host that names no project, its folder may be one of the call's own.
    fn known_project(&mut self, event: &Event<'_>) -> Option<PathBuf> {
        event.tool_name()?;
        let folder = self.fallback.state.get()?.session(&event.session);
        let marks = self.marks.insert(marks::read(&folder));
        marks.value()?.session.root.as_ref().map(PathBuf::from)
    }

    /// Keeps what a failure from here on has to report.
    fn note_seen(&self, event: &Event<'_>, root: Option<&Path>) {
        let _ = self.fallback.seen.set(Seen {
            host: event.host,
            kind: Some(event.kind),
            name: event.name.to_string(),
            session: Some(event.session.to_string()),
            agent: event.agent_id().map(str::to_owned),
            tool: event.tool_name().map(str::to_owned),
            project: root.map(|root| root.to_string_lossy().into_owned()),
            is_plain_command: event.is_plain_command(),
            stops_first: event.kind == EventKind::Stop && event.is_main_thread() && !event.held_before,
        });
    }

    /// The config with the switches that a person set by command, and the variables that were ignored as problems.
    fn config_for(&self, event: &Event<'_>, state: Option<&StateDir>, root: Option<&Path>) -> Config {
        let mut config = self.config(state, root);
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
        config
    }

    /// Edits that could not be noted when they happened are unverified all the same.
    fn collect_unnoted(&self, event: &Event<'_>, state: &StateDir, folder: &Path) -> Result<(), FailedStep> {
        match event.kind {
            EventKind::Stop | EventKind::TaskCompleted => {
                let fallbacks = Environment::unnoted_fallbacks(event.session.as_str(), state.root());
                let collected = marks::collect_unnoted(folder, &fallbacks, self.deadline.patience());
                if let Err(error) = collected
                    && event.kind == EventKind::Stop
                {
                    return Err(describe_marks_error(&error));
                }
            }
            // This call may be their check, which counts only for edits that are noted.
            EventKind::PostToolUse if matches!(event.action, Action::Command(_) | Action::Skill { .. }) => {
                drop(marks::try_collect_unnoted(folder));
            }
            _ => {}
        }
        Ok(())
    }

    /// The calling client, if the marks do not know it yet; and whether the call changes nothing, because another process than the
    /// session's client made it.
    fn check_caller(&self, event: &Event<'_>, marks: Option<&Marks>) -> (Option<u64>, bool) {
        let clients = marks.map(|marks| marks.session.clients.as_slice()).unwrap_or_default();
        let vouches = |client: &u64| caller::is_client(*client) && !caller::is_shell_tool();
        let caller = self.env.client.filter(vouches);
        let starts = event.kind == EventKind::SessionStart;
        let is_known = caller.is_some_and(|caller| client::is_known(caller, clients, starts));
        let only_answers = !clients.is_empty() && !is_known && !client::is_of_session(caller, clients);
        // Another host's shell tool names its session, and its hooks do not.
        let is_own_shell = event.host != Host::ClaudeCode
            && self.env.session.as_deref().is_some_and(|session| session == event.session.as_str());
        (caller.filter(|_| !is_known), only_answers || is_own_shell)
    }

    fn here<'a>(
        &'a self,
        event: &'a Event<'a>,
        config: &'a Config,
        state: Option<&'a StateDir>,
        folder: &'a Path,
        root: Option<&'a Path>,
        in_time: &'a dyn Fn() -> bool,
    ) -> HookContext<'a> {
        let env = &self.env;
        HookContext {
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
            is_running: client::is_running,
            is_started_by: client::is_started_by,
        }
    }

    /// Without an answer: a wrong one could deny every edit there.
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

    /// For an unreadable payload: only the host's environment names the project.
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

    fn fail_state(
        &self,
        why: String,
        event: &Event<'_>,
        payload: &[u8],
        config: &Config,
        root: Option<&Path>,
    ) -> Reply {
        self.see_edits_without_state(event, payload, config, root);
        let closed = self.fail(&FailedStep::State(why), Some(config), None);
        let open = closed == unchecked(event);
        if open { self.answer_without_state(event, payload, config, root) } else { closed }
    }

    /// Without state, if its gate is switched off: edits of our own files are still the person's decision.
    fn answer_without_state(
        &self,
        event: &Event<'_>,
        payload: &[u8],
        config: &Config,
        root: Option<&Path>,
    ) -> Reply {
        if event.kind != EventKind::PreToolUse || self.env.guard {
            return unchecked(event);
        }
        let in_time = || self.deadline.in_time();
        // Has no files below it.
        let here = self.here(event, config, None, Path::new("/dev/null"), root, &in_time);
        let facts = Gather { env: &self.env, payload, here: &here }.facts(event, Known::Absent);
        let ruling = pipeline::decide(&facts, config, &|| self.fallback.micros());
        let outcome = ruling.settle(event.host, event.kind, event.is_heard(), config.text_budget(event));
        event.host.reply(event.kind, &outcome.answer())
    }

    /// Keeps the edits at hand: they leave a sign if the event cannot be noted.
    fn see_edits(&self, facts: &Facts<'_>, config: &Config, folder: &Path) {
        let edits = pipeline::must_note(facts, config);
        if !edits.is_empty() {
            let _ = self.fallback.edits.set((folder.to_owned(), edits));
        }
    }

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
        // Has no files below it.
        let here = self.here(event, config, None, Path::new("/dev/null"), root, &in_time);
        let facts = Gather { env: &self.env, payload, here: &here }.facts(event, Known::Absent);
        self.see_edits(&facts, config, here.folder);
    }

    /// A fork without marks inherits those of the session that it copied.
    fn read_marks(
        &mut self,
        event: &Event<'_>,
        state: &StateDir,
        folder: &Path,
        root: Option<&Path>,
    ) -> Known<Marks> {
        // At other events edits may have been added to them.
        let known = self.marks.take().filter(|_| event.kind == EventKind::PreToolUse);
        let in_time = || self.deadline.in_time();
        match (known.unwrap_or_else(|| marks::read(folder)), event.copied_tokens) {
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

/// In a session that Tidegate started itself, nothing is checked or said, and `status` shows that.
fn record_unguarded(state: &StateDir, event: &Event<'_>, env: &Environment, now: Millis) {
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

/// Without an opinion. Some hosts want to hear even that.
fn unchecked(event: &Event<'_>) -> Reply {
    event.host.reply(event.kind, &Answer::default())
}

/// For large values that live until the process ends with the answer: freeing them would cost one instruction in
/// thirty.
fn keep_until_exit<T>(value: T) -> ManuallyDrop<T> {
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
