//! `tidegate hook`: event in, facts gathered, policies decide, verdicts merge, record, reply.

use std::ffi::OsString;
use std::io::Read;
use std::process::ExitCode;
use std::time::{Instant, SystemTime};

use tidegate_core::config::Config;
use tidegate_core::event::{self, Event, EventKind, FailedStep, Unreadable};
use tidegate_core::facts::session;
use tidegate_core::facts::{Facts, Known};
use tidegate_core::gate::{self, EDIT_GATE, Registration};
use tidegate_core::policy;
use tidegate_core::record::Record;
use tidegate_core::reply::{self, Reply};
use tidegate_core::ruling::Outcome;
use tidegate_core::time::Millis;
use tidegate_core::verdict::{Call, Effect};
use tidegate_state::marks::Lock;
use tidegate_state::place::StateDir;
use tidegate_state::{claims, config, fork, journal, marks, pressure_file};

use crate::answer;
use crate::deadline::Deadline;
use crate::environment::Environment;
use crate::failure::{Fallback, record_id};
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
    let now = now();
    let arguments = Arguments::parse(args);
    let env = Environment::of_process();
    let state = StateDir::open(&env.place);
    let fallback = Fallback {
        registration: arguments.registration,
        env,
        now,
        start,
        state: state.as_ref().ok().cloned(),
    };
    answer_panics(fallback.clone());
    let deadline = Deadline::of(arguments.registration, start);
    answer_when_late(deadline, fallback.clone());

    let hook = Hook { fallback, state, deadline, via: arguments.via };
    let reply = hook.answer();
    if !answer::claim() {
        // Somebody else is answering and will end the process.
        loop {
            std::thread::park();
        }
    }
    answer::write(&reply)
}

struct Hook {
    fallback: Fallback,
    state: Result<StateDir, String>,
    deadline: Deadline,
    via: Option<String>,
}

impl Hook {
    fn answer(&self) -> Reply {
        let bytes = match read_payload() {
            Ok(bytes) => bytes,
            Err(why) => return self.fallback.answer(&FailedStep::Stdin(why), None, None, None),
        };
        match event::parse(&bytes, self.fallback.registration.event) {
            Ok(event) => self.rule(&event),
            Err(Unreadable { kind, step }) => self.fallback.answer(&step, kind, None, None),
        }
    }

    fn rule(&self, event: &Event<'_>) -> Reply {
        let (env, now) = (&self.fallback.env, self.fallback.now);
        let config = config::read(env.place.config().as_deref(), env.off.as_deref());
        let session = event.session.as_str();
        let fail =
            |step: FailedStep| self.fallback.answer(&step, Some(event.kind), Some(session), Some(&config));
        let state = match &self.state {
            Ok(state) => state,
            Err(why) => return fail(FailedStep::State(why.clone())),
        };
        if env.guard {
            let _ = journal::append(&state.journal(), now, &unguarded(event, env, now));
            return Reply::default();
        }

        // Facts.
        let folder = state.session(&event.session);
        let in_time = || self.deadline.in_time();
        let root = project_root(event, env);
        let mut marks = marks::read(&folder);
        if let (Known::Absent, Some(tokens)) = (&marks, event.forked_with()) {
            let copied = fork::inherit(state, &event.session, root.as_deref(), tokens, &in_time);
            marks = copied.map_or(Known::Absent, Known::Value);
        }
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
        let duplicate = self.is_duplicate(event, state);
        if duplicate {
            // The other registration says it and writes it down. A denial stands in both: if that one died,
            // this one still holds.
            let Outcome { call, reason, .. } = outcome;
            outcome = Outcome { call, reason, ..Outcome::default() };
        }

        // Record, and what else is to be written; then the reply.
        if !duplicate {
            let mut record = Record::of(&gathered.facts, &ruling, &outcome);
            if let Err(why) = write(state, &gathered, &outcome, lock, &mut record, &config, &self.fallback) {
                if gates {
                    return fail(FailedStep::Record(why));
                }
                // Advice that cannot be marked as given would come again and again.
                if outcome.call == Call::Pass {
                    return Reply::default();
                }
            }
        }
        reply::reply(event.kind, &outcome)
    }

    /// Whether another registration of this event was here first.
    fn is_duplicate(&self, event: &Event<'_>, state: &StateDir) -> bool {
        let payload = &event.payload;
        let id = [&payload.tool_use_id, &payload.prompt_id, &payload.source]
            .into_iter()
            .find_map(|field| field.get());
        let (id, via) = (id.map_or("", AsRef::as_ref), self.via.as_deref().unwrap_or("settings"));
        claims::is_duplicate(&state.session(&event.session), &event.name, id, via).unwrap_or(false)
    }
}

/// Carries out the effects and appends the record.
fn write(
    state: &StateDir,
    gathered: &Gathered<'_>,
    outcome: &Outcome,
    lock: Option<Lock>,
    record: &mut Record,
    config: &Config,
    fallback: &Fallback,
) -> Result<(), String> {
    let Gathered { facts, root, host } = gathered;
    let folder = state.session(&facts.event.session);
    let root_text = root.as_deref().map(|root| root.to_string_lossy().into_owned());
    let mut new_marks = session::marks(facts, root_text.as_deref(), host.as_ref());
    for effect in &outcome.effects {
        if let Effect::Mark(mark) = effect {
            new_marks.push(mark.clone());
        }
    }
    if !new_marks.is_empty() {
        let lock = lock.map_or_else(|| marks::lock_shared(&folder), Ok);
        let appended = lock.and_then(|lock| lock.append(&new_marks));
        appended.map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    for effect in &outcome.effects {
        if let (Effect::PublishPressure(level), Some(reading), Some(root)) =
            (effect, facts.meter.reading(), root)
        {
            // A copy for others: without it we lose nothing.
            let _ = pressure_file::write(root, &facts.event.session, reading, *level, facts.now);
        }
    }
    if facts.event.kind == EventKind::SessionStart {
        journal::keep_house(state, facts.now, config.journal.keep_days());
    }
    record.id = record_id(facts.now);
    record.project = root_text;
    record.config.clone_from(&config.problems);
    record.cost.us = fallback.micros();
    journal::append(&state.journal(), facts.now, record).map_err(|error| error.to_string())
}

/// A session that we started ourselves: nothing is gated or said in it, and the record shows that.
fn unguarded(event: &Event<'_>, env: &Environment, now: Millis) -> Record {
    Record {
        id: record_id(now),
        session: Some(event.session.to_string()),
        attended: env.attended,
        ruling: "unguarded".to_owned(),
        ..Record::begin(&event.name, now)
    }
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

fn now() -> Millis {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Millis(since.as_millis() as u64)
}

/// A bug of ours: the gate's answer or silence, never a stack trace.
fn answer_panics(fallback: Fallback) {
    std::panic::set_hook(Box::new(move |info| {
        let place = info.location().map(|at| format!("{}:{}", at.file(), at.line())).unwrap_or_default();
        end(&fallback, &FailedStep::Panic(place));
    }));
}

fn answer_when_late(deadline: Deadline, fallback: Fallback) {
    deadline.watch(move || end(&fallback, &FailedStep::Deadline(deadline.limit_ms())));
}

/// Ends the process with the answer for a failure, unless it has been answered already.
#[expect(clippy::exit, reason = "called where there is nowhere to return to: a panic, another thread")]
fn end(fallback: &Fallback, step: &FailedStep) {
    if answer::claim() {
        let reply = fallback.answer(step, None, None, None);
        let _ = answer::write(&reply);
        std::process::exit(i32::from(reply.exit));
    }
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
