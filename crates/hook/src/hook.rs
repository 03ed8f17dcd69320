//! `tidegate hook`: event in, facts gathered, policies decide, verdicts merge, record, reply.

use std::borrow::Cow;
use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use tidegate_core::config::Config;
use tidegate_core::event::wire::Field;
use tidegate_core::event::{self, Event, EventKind, FailedStep, SessionId, Unreadable};
use tidegate_core::facts::marks::{Mark, PressureLevel};
use tidegate_core::facts::{Facts, Known, session};
use tidegate_core::gate::{self, EDIT_GATE, Registration};
use tidegate_core::meter::Reading;
use tidegate_core::policy;
use tidegate_core::record::Record;
use tidegate_core::reply::{self, Reply};
use tidegate_core::ruling::Outcome;
use tidegate_core::time::Millis;
use tidegate_core::verdict::{Call, Effect};
use tidegate_core::words::Lang;
use tidegate_state::place::StateDir;
use tidegate_state::{claims, clock, config, fork, journal, marks, pressure_file};

use crate::answer;
use crate::deadline::Deadline;
use crate::environment::Environment;
use crate::failure::{Fallback, Seen, record_id};
use crate::gather::{Gather, Gathered, project_root};

/// A payload beyond this is not a hook's: 32 MiB of tool output is the most that was ever seen.
const LARGEST_PAYLOAD: u64 = 64 * 1024 * 1024;

/// What the registration wrote on our command line.
#[derive(Debug, Default)]
struct Arguments {
    registration: Registration,
    /// Which install registered us, where there can be two.
    via: Option<String>,
}

impl Arguments {
    /// By hand and without a refusal: whatever stands there, the exit code stays ours.
    fn parse(mut args: impl Iterator<Item = OsString>) -> Arguments {
        let mut parsed = Arguments::default();
        while let Some(arg) = args.next() {
            let arg = arg.to_string_lossy();
            let (name, value) = match arg.split_once('=') {
                Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
                None => (arg.into_owned(), None),
            };
            let mut value =
                || value.clone().or_else(|| args.next().map(|next| next.to_string_lossy().into_owned()));
            match name.as_str() {
                "--event" => parsed.registration.event = value().map(|name| EventKind::from_name(&name)),
                "--advice" => parsed.registration.advice = true,
                "--via" => parsed.via = value(),
                _ => {}
            }
        }
        parsed
    }
}

/// The whole run. Answers on stdout; the exit code is 0 or 2.
pub fn run(args: impl Iterator<Item = OsString>) -> ExitCode {
    let start = Instant::now();
    let arguments = Arguments::parse(args);
    let fallback = Fallback {
        registration: arguments.registration,
        env: Arc::default(),
        now: clock::now(),
        start,
        state: Arc::default(),
        seen: Arc::default(),
    };
    // Before the first thing that can hang: files may be on a file system that does not answer.
    let deadline = Deadline::of(arguments.registration, start);
    fallback.clone().answer_panics();
    fallback.clone().answer_when_late(deadline);

    let env = Environment::of_hook();
    let _ = fallback.env.set(env.clone());
    let hook = Hook { fallback, env, deadline, via: arguments.via };
    let Answer { reply, later } = hook.answer();
    answer::start_answering();
    let exit = answer::write(&reply);
    later.into_iter().for_each(Later::carry_out);
    exit
}

/// A reply, and what can wait until it is given.
#[derive(Default)]
struct Answer {
    reply: Reply,
    later: Vec<Later>,
}

impl From<Reply> for Answer {
    fn from(reply: Reply) -> Answer {
        Answer { reply, later: Vec::new() }
    }
}

/// What nobody waits for, and what may fail without a loss.
enum Later {
    /// Bring the public copy of the pressure up to date.
    Publish { root: PathBuf, session: SessionId, reading: Reading, level: PressureLevel, now: Millis },
    /// Clear away what is too old.
    KeepHouse { state: StateDir, session: SessionId, now: Millis, days: u64 },
}

impl Later {
    fn carry_out(self) {
        match self {
            Later::Publish { root, session, reading, level, now } => {
                let _ = pressure_file::write(&root, &session, &reading, level, now);
            }
            Later::KeepHouse { state, session, now, days } => {
                journal::keep_house(&state, &session, now, days);
            }
        }
    }
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
        }
        let bytes = match read_payload() {
            Ok(bytes) => bytes,
            Err(why) => return self.fail(&FailedStep::Stdin(why), None, None).into(),
        };
        match event::parse(&bytes, self.fallback.registration.event) {
            Ok(event) => {
                let owned = |field: &Field<Cow<'_, str>>| field.get().map(ToString::to_string);
                let _ = self.fallback.seen.set(Seen {
                    kind: Some(event.kind),
                    name: event.name.to_string(),
                    session: Some(event.session.to_string()),
                    agent: owned(&event.payload.agent_id),
                    tool: owned(&event.payload.tool_name),
                    project: project_root(&event, &self.env).map(|root| root.to_string_lossy().into_owned()),
                });
                self.rule(&event, state)
            }
            Err(Unreadable { kind, name, step }) => {
                let _ = self.fallback.seen.set(Seen { kind, name: name.into_owned(), ..Seen::default() });
                self.fail(&step, None, None).into()
            }
        }
    }

    fn fail(&self, step: &FailedStep, config: Option<&Config>, prompt: Option<Lang>) -> Reply {
        let reply = self.fallback.reply(step, config, prompt);
        self.fallback.record(step, &reply, config, prompt);
        reply
    }

    fn rule(&self, event: &Event<'_>, state: Result<StateDir, String>) -> Answer {
        let (env, now) = (&self.env, self.fallback.now);
        let mut config = config::read(env.place.config().as_deref(), env.off.as_deref());
        let ignored =
            env.ignored.iter().map(|name| format!("{name} is set by the project's settings and ignored"));
        config.problems.extend(ignored);
        let state = match state {
            Ok(state) => state,
            Err(why) => return self.fail(&FailedStep::State(why), Some(&config), None).into(),
        };
        let folder = state.session(&event.session);
        if env.guard {
            unguarded(&state, event, env, now);
            return Answer::default();
        }

        // Facts.
        let in_time = || self.deadline.in_time();
        let root = project_root(event, env);
        let mut marks = marks::read(&folder);
        if let (Known::Absent, Some(tokens)) = (&marks, event.forked_with()) {
            let copied = fork::inherit(&state, &event.session, root.as_deref(), tokens, &in_time);
            marks = copied.map_or(Known::Absent, Known::Value);
        }
        let prompt = marks.value().and_then(|marks| marks.lang);
        let fail = |step: FailedStep| Answer::from(self.fail(&step, Some(&config), prompt));
        let gates = self.fallback.registration.gates(Some(event.kind)) && !config.switched_off(EDIT_GATE);
        if gates {
            if let Known::Broken(why) = &marks {
                return fail(FailedStep::Marks(why.clone()));
            }
            if let Err(step) = gate::check_members(event) {
                return fail(step);
            }
        }
        let gather = Gather { env, config: &config, folder: &folder, now, in_time: &in_time };
        let mut gathered = gather.facts(event, marks, root);

        // Ruling.
        let decide = |facts: &Facts<'_>| {
            let ruling = policy::decide(facts, &config, &|| self.fallback.micros());
            let outcome = ruling.settle(event.kind, event.main_thread(), config.general.text_budget);
            (ruling, outcome)
        };
        let (mut ruling, mut outcome) = decide(&gathered.facts);
        let mut lock = None;
        if !outcome.effects.is_empty() {
            // Hooks of parallel calls see the same marks. What is to happen once is decided again, alone.
            match marks::lock_alone(&folder) {
                Ok(alone) => lock = Some(alone),
                Err(error) => return fail(FailedStep::Marks(error.to_string())),
            }
            gathered.facts.marks = marks::read(&folder);
            (ruling, outcome) = decide(&gathered.facts);
        }
        if self.is_duplicate(event, &folder) {
            // The other registration says it and writes it down. A denial stands in both: if that one died,
            // this one still holds.
            let Outcome { call, reason, .. } = outcome;
            return reply::reply(event.kind, &Outcome { call, reason, ..Outcome::default() }).into();
        }

        let new_marks = marks_of(&gathered, &outcome);
        if lock.is_none() && !new_marks.is_empty() {
            match marks::lock_shared(&folder) {
                Ok(shared) => lock = Some(shared),
                Err(error) => return fail(FailedStep::Marks(error.to_string())),
            }
        }

        // The record, then what is to be remembered, then the reply. In this order a failure on the way loses
        // nothing: what was not marked as said will be said.
        answer::start_recording();
        let mut record = Record::of(&gathered.facts, &ruling, &outcome);
        record.id = record_id(now);
        record.project = gathered.root.as_deref().map(|root| root.to_string_lossy().into_owned());
        record.config.clone_from(&config.problems);
        record.off.clone_from(&config.off);
        record.cost.us = self.fallback.micros();
        let written = journal::append(&state.journal(), now, &record)
            .map_err(|error| FailedStep::Record(error.to_string()))
            .and_then(|()| match lock {
                Some(lock) => lock.append(&new_marks).map_err(|error| FailedStep::Marks(error.to_string())),
                None => Ok(()),
            });
        match written {
            // Advice that cannot be marked as given would come again and again.
            Err(step) if gates || outcome.call == Call::Pass => fail(step),
            written => {
                let mut later = Vec::new();
                if written.is_ok() {
                    later.extend(copies(&gathered, &outcome));
                }
                if event.kind == EventKind::SessionStart {
                    let (session, days) = (event.session.clone(), config.journal.keep_days());
                    later.push(Later::KeepHouse { state, session, now, days });
                }
                Answer { reply: reply::reply(event.kind, &outcome), later }
            }
        }
    }

    /// Whether another registration of this event was here first. Without a name it is told by the program it calls.
    fn is_duplicate(&self, event: &Event<'_>, folder: &Path) -> bool {
        let payload = &event.payload;
        let id = [&payload.tool_use_id, &payload.prompt_id, &payload.source]
            .into_iter()
            .find_map(|field| field.get());
        let program = || std::env::current_exe().unwrap_or_default().to_string_lossy().into_owned();
        let via = self.via.clone().unwrap_or_else(program);
        claims::is_duplicate(folder, &event.name, id.map_or("", AsRef::as_ref), &via, self.fallback.now)
            .unwrap_or(false)
    }
}

/// What this event leaves in the session's marks, and what the ruling adds.
fn marks_of(gathered: &Gathered<'_>, outcome: &Outcome) -> Vec<Mark> {
    let root = gathered.root.as_deref().map(Path::to_string_lossy);
    let mut marks = session::marks(&gathered.facts, root.as_deref(), gathered.host.as_ref());
    marks.extend(outcome.effects.iter().filter_map(|effect| match effect {
        Effect::Mark(mark) => Some(mark.clone()),
        Effect::PublishPressure(_) => None,
    }));
    marks
}

/// The public copies that the ruling changes.
fn copies(gathered: &Gathered<'_>, outcome: &Outcome) -> Vec<Later> {
    let Gathered { facts, root, .. } = gathered;
    let copy = |effect: &Effect| {
        let (Effect::PublishPressure(level), Some(reading), Some(root)) =
            (effect, facts.meter.reading(), root)
        else {
            return None;
        };
        let session = facts.event.session.clone();
        Some(Later::Publish {
            root: root.clone(),
            session,
            reading: reading.clone(),
            level: *level,
            now: facts.now,
        })
    };
    outcome.effects.iter().filter_map(copy).collect()
}

/// A session that we started ourselves: nothing is gated or said in it, and `status` shows that.
fn unguarded(state: &StateDir, event: &Event<'_>, env: &Environment, now: Millis) {
    let folder = state.session(&event.session);
    if let Known::Absent = marks::read(&folder) {
        let _ = marks::lock_shared(&folder).and_then(|lock| lock.append(&[Mark::Attached(now)]));
    }
    let record = Record {
        id: record_id(now),
        session: Some(event.session.to_string()),
        attended: env.attended,
        ruling: "unguarded".to_owned(),
        ..Record::begin(&event.name, now)
    };
    let _ = journal::append(&state.journal(), now, &record);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_never_refused() {
        let parse = |args: &[&str]| Arguments::parse(args.iter().map(OsString::from)).registration;
        assert_eq!(parse(&["--event", "Stop"]).event, Some(EventKind::Stop));
        assert_eq!(
            parse(&["--event=PreToolUse", "--advice"]),
            Registration { event: Some(EventKind::PreToolUse), advice: true }
        );
        assert_eq!(parse(&["--event"]).event, None);
        assert_eq!(parse(&["--bogus", "x", "--event", "New"]).event, Some(EventKind::Other));
    }
}
