//! Failures: a gate closes and names the step that failed, advice is silent, and both leave a record.
//!
//! Everything that goes wrong (payload, session id, state, disk, deadline, panic) ends here, so that a gate
//! cannot open by accident. The record has a class of its own and never looks like a policy's verdict. After
//! a deadline or a panic the answer comes first, and the record gets a moment: its file system may be what
//! hangs.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock, mpsc};
use std::time::{Duration, Instant};

use tidegate_core::event::{EventKind, FailedStep};
use tidegate_core::feature::config::{Config, parse_off_list};
use tidegate_core::feature::marks::Mark;
use tidegate_core::feature::skill_gate;
use tidegate_core::host::Host;
use tidegate_core::host::answer::{Answer, Reply};
use tidegate_core::pipeline::gate::{ClosedGate, Registration};
use tidegate_core::pipeline::record::{FailedCheck, HookCost, Record, SaidTexts};
use tidegate_core::text::lang::Lang;
use tidegate_core::time::Millis;
use tidegate_state::config::switches::Switches;
use tidegate_state::journal;
use tidegate_state::place::StateDir;
use tidegate_state::session::marks;

use crate::environment::Environment;
use crate::hook::answer;
use crate::hook::deadline::Deadline;
use crate::patience::stretch_grace;

/// Everything that a failure needs. Exists before anything can fail; the cells are filled as the run learns more.
#[derive(Clone, Debug)]
pub(crate) struct Fallback {
    pub registration: Registration,
    /// The host that the registration names.
    pub registered: Option<Host>,
    /// Empty until the variables are checked.
    pub env: Arc<OnceLock<Environment>>,
    pub now: Millis,
    pub start: Instant,
    /// Empty until the state directory was opened.
    pub state: Arc<OnceLock<StateDir>>,
    /// Switches that a person set by command, and the project's paths, if they are known.
    pub off: Arc<OnceLock<(Switches, Vec<PathBuf>)>>,
    pub seen: Arc<OnceLock<Seen>>,
    /// Whether the gate closes by the config, once that is read.
    pub closes: Arc<OnceLock<bool>>,
    /// Edits that this event has to add to the marks, and the session's folder.
    pub edits: Arc<OnceLock<(PathBuf, Vec<Mark>)>>,
}

/// The parts of the payload that a record needs, as far as it parsed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    pub host: Host,
    pub kind: Option<EventKind>,
    pub name: String,
    pub session: Option<String>,
    pub agent: Option<String>,
    pub tool: Option<String>,
    pub project: Option<String>,
    /// A command that is not a patch: no gate of edits closes for it, so no failure keeps it from running.
    pub is_plain_command: bool,
    /// The main thread's turn ends, and no hook has blocked that yet. Without a check it is blocked only once: a full
    /// disk must not keep a turn from ever ending.
    pub stops_first: bool,
}

/// Time for the record after the answer was given.
const GRACE: Duration = Duration::from_millis(50);

impl Fallback {
    pub(crate) fn fail(
        &self,
        step: &FailedStep,
        config: Option<&Config>,
        prompt: Option<Lang>,
    ) -> (Reply, Record) {
        let holds = self.holds_stop(step, config);
        let closed = if holds {
            Some(ClosedGate::for_stop(self.host(), step, self.lang(config, prompt)))
        } else {
            self.closes(config).then(|| ClosedGate::for_call(self.host(), step, self.lang(config, prompt)))
        };
        let seen = self.seen.get().cloned().unwrap_or_default();
        let registered = self.registration.event.map_or("", EventKind::name);
        let name = if seen.name.is_empty() { registered } else { &seen.name };
        let to_model = closed.as_ref().map_or("", |closed| &closed.model);
        let (host, kind) = (self.host(), EventKind::from_name(name));
        let copies = host.copies_of_reason(kind);
        let record = Record {
            id: record_id(self.now),
            session: seen.session.or_else(|| self.env.get()?.session.clone()),
            agent: seen.agent,
            tool: seen.tool,
            project: seen.project.or_else(|| {
                self.env.get()?.project.as_ref().map(|project| project.to_string_lossy().into_owned())
            }),
            person: self.env.get().map(|env| env.person).unwrap_or_default(),
            ruling: "failed".to_owned(),
            cost: HookCost { us: self.micros(), ..HookCost::of_texts(to_model, copies, "") },
            failure: Some(FailedCheck {
                class: step.class().to_owned(),
                step: step.to_string(),
                closed: closed.is_some(),
            }),
            ..Record::begin_for(host, name, self.now)
        };
        match closed {
            None => (host.reply(kind, &Answer::default()), record),
            Some(closed) => {
                let reply = if holds { closed.stop_reply(host) } else { closed.reply(host) };
                let said = SaidTexts { model: Some(closed.model), user: Some(closed.user), dropped: 0 };
                (reply, Record { said, ..record })
            }
        }
    }

    fn host(&self) -> Host {
        self.seen.get().map(|seen| seen.host).or(self.registered).unwrap_or_default()
    }

    /// Best effort; the answer stands anyway. An edit that was not noted leaves a sign, or the turn would end as if
    /// there had been none.
    pub(crate) fn write_down(&self, record: &mut Record) {
        if let Some((session, edits)) = self.edits.get() {
            let id = self.seen.get().and_then(|seen| seen.session.as_deref()).unwrap_or_default();
            let state = self.env.get().and_then(|env| env.place.state().ok());
            let elsewhere = state.map(|state| Environment::unnoted_fallbacks(id, &state)).unwrap_or_default();
            let _ = marks::save_unnoted(session, &elsewhere, edits);
        }
        if let Some(state) = self.state.get() {
            let _ = journal::append(&state.journal(), self.now, record);
        }
    }

    /// Whether to block the end of a turn because the session's state cannot be used.
    fn holds_stop(&self, step: &FailedStep, config: Option<&Config>) -> bool {
        let ends = self.seen.get().is_some_and(|seen| seen.stops_first);
        ends && step.is_of_state()
            && config.is_some_and(Config::stop_gate_closes)
            && !self.env.get().is_some_and(|env| env.guard)
    }

    /// Whether the gate closes on failure: unless a person switched it off, as far as that is known.
    fn closes(&self, config: Option<&Config>) -> bool {
        let env = self.env.get();
        let unknown = || {
            let variable = env.and_then(|env| env.off.as_deref()).map(parse_off_list).unwrap_or_default();
            !variable.iter().chain(&self.switched_off()).any(|id| id == skill_gate::ID)
        };
        let known = config.map(Config::edit_gate_closes).or_else(|| self.closes.get().copied());
        let closes = known.unwrap_or_else(unknown);
        let seen = self.seen.get();
        let kind = seen.and_then(|seen| seen.kind);
        // A failure closes nothing for another host. Claude Code names its session in a variable.
        let is_foreign = || {
            env.is_some_and(|env| env.session.is_none())
                && Environment::other_host().is_some_and(Host::is_only_recorded)
        };
        self.registration.closes_on_failure(kind)
            && closes
            && !seen.is_some_and(|seen| seen.is_plain_command)
            && !env.is_some_and(|env| env.guard)
            && !is_foreign()
    }

    /// Policies that a person switched off by command, as far as project and session are known. Reads no file: a read
    /// may be what hangs.
    pub(crate) fn switched_off(&self) -> Vec<String> {
        let Some((switches, places)) = self.off.get() else { return Vec::new() };
        let session = self.seen.get().and_then(|seen| seen.session.as_deref());
        switches.off_here(self.now, places, session)
    }

    fn lang(&self, config: Option<&Config>, prompt: Option<Lang>) -> Lang {
        let configured = config.and_then(|config| config.general.lang);
        self.env.get().map_or_else(|| configured.unwrap_or_default(), |env| env.lang(configured, prompt))
    }

    pub(crate) fn micros(&self) -> u64 {
        self.start.elapsed().as_micros() as u64
    }

    /// After a panic: the gate's answer or silence, never a stack trace.
    pub(crate) fn answer_panics(self) {
        std::panic::set_hook(Box::new(move |info| {
            let place = info.location().map(|at| format!("{}:{}", at.file(), at.line())).unwrap_or_default();
            if answer::interrupt_all() {
                self.end(&FailedStep::Panic(place));
            }
            // After the answer, a panic must not change it: death by a signal would.
            answer::end_after_answer();
        }));
    }

    /// A run that is already recording its ruling gets a little longer.
    pub(crate) fn answer_when_late(self, deadline: Deadline) {
        let limit = deadline.clone();
        deadline.watch(move |again| {
            let late = if again { answer::interrupt_all() } else { answer::interrupt_work() };
            if late {
                self.end(&FailedStep::Deadline(limit.limit_ms()));
            }
            if again {
                answer::end_after_answer();
            }
        });
    }

    /// The record comes second and has little time: its file system may be what hangs.
    fn end(&self, step: &FailedStep) -> ! {
        let (reply, mut record) = self.fail(step, None, None);
        let _ = answer::write(&reply);
        let (done, wait) = mpsc::channel();
        let fallback = self.clone();
        let writer = std::thread::Builder::new().spawn(move || {
            fallback.write_down(&mut record);
            done.send(())
        });
        if writer.is_ok() {
            let _ = wait.recv_timeout(stretch_grace(GRACE));
        }
        std::process::exit(i32::from(reply.exit))
    }
}

pub(crate) fn record_id(now: Millis) -> String {
    Record::new_id(now, std::process::id())
}
