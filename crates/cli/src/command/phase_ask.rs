//! `tidegate phase ask`: the process that a hook leaves behind to have a language model asked about a prompt. Nobody reads what
//! it prints; what it finds goes into the journal and the session's marks.

use std::io::Read;
use std::process::ExitCode;
use std::time::Instant;

use tidegate_core::config::Config;
use tidegate_core::event::SessionId;
use tidegate_core::facts::Known;
use tidegate_core::facts::marks::{Mark, Marks};
use tidegate_core::phase::Phase;
use tidegate_core::record::{BackendCall, BackendOutcome, Record};
use tidegate_core::time::Millis;
use tidegate_hook::environment::Environment;
use tidegate_state::place::StateDir;
use tidegate_state::{clock, config, daily_calls, journal, marks};

use super::Outcome;
use crate::args;
use crate::backend::{self, Asked};
use crate::error::CliError;
use crate::program;

/// The hook sends the beginning of a prompt, which is less.
const LARGEST_PROMPT: u64 = 64 * 1024;

/// The event's name in the journal.
const EVENT: &str = "phase-llm";

pub(crate) fn run(args: &args::PhaseAsk) -> Outcome {
    let env = Environment::of_hook();
    let state = StateDir::open(&env.place).map_err(CliError::new)?;
    let session = SessionId::parse(&args.session).map_err(CliError::new)?;
    let folder = state.session(&session);
    let Some(known) = waits(&marks::read(&folder), args.prompt_at) else {
        return Ok(ExitCode::SUCCESS);
    };
    let mut prompt = Vec::new();
    std::io::stdin().lock().take(LARGEST_PROMPT).read_to_end(&mut prompt).map_err(CliError::new)?;
    let user = env.place.config();
    let config = config::read(&config::Sources {
        user: user.as_deref(),
        root: known.root.as_deref().map(std::path::Path::new),
        state: Some(&state),
        variables: &env.settings,
        off: env.off.as_deref(),
    });
    let Some(call) = call(&state, &config, &known, &String::from_utf8_lossy(&prompt)) else {
        return Ok(ExitCode::SUCCESS);
    };
    let phase = call.phase;
    let now = clock::now();
    let record = Record {
        id: Record::id(now, std::process::id()),
        session: Some(session.to_string()),
        project: known.root,
        attended: true,
        ruling: "backend".to_owned(),
        backend: Some(call),
        ..Record::begin(EVENT, now)
    };
    journal::append(&state.journal(), now, &record).map_err(CliError::new)?;
    // The session may be gone by now, or something newer may have told its phase.
    if let Some(phase) = phase.filter(|phase| *phase != Phase::Other)
        && waits(&marks::read(&folder), args.prompt_at).is_some()
    {
        let mark = Mark::LatePhase { phase, prompt: Millis(args.prompt_at) };
        marks::lock_shared(&folder).and_then(|lock| lock.append(&[mark])).map_err(CliError::new)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The session's marks, if it still waits for the answer about this prompt.
fn waits(marks: &Known<Marks>, prompt: u64) -> Option<Marks> {
    let asked = |marks: &&Marks| marks.late.is_some_and(|late| late.prompt == Millis(prompt));
    marks.value().filter(asked).cloned()
}

/// Asks, if today's calls are not used up. `None` where no backend is configured any more.
fn call(state: &StateDir, config: &Config, session: &Marks, prompt: &str) -> Option<BackendCall> {
    let settings = &config.policies.phase.llm;
    let project = session.root.as_deref().map(std::path::Path::new);
    let variable = |name: &str| std::env::var(name).ok();
    let ready = backend::prepare(settings, &program::search_path(), project, variable)?;
    let start = Instant::now();
    let asked = match ready {
        Err(not) => Asked { outcome: not.outcome, why: Some(not.why), ..Asked::default() },
        Ok(ready) => match daily_calls::take(state, clock::now(), settings.calls.get()) {
            Ok(true) => backend::ask(&ready, settings, prompt),
            Ok(false) => Asked { outcome: BackendOutcome::Capped, ..Asked::default() },
            // What cannot be counted is not asked.
            Err(error) => Asked {
                outcome: BackendOutcome::Capped,
                why: Some(format!("calls cannot be counted: {error}")),
                ..Asked::default()
            },
        },
    };
    Some(BackendCall {
        backend: settings.backend.name().to_owned(),
        model: settings.model().to_owned(),
        outcome: asked.outcome,
        phase: asked.answer.phase,
        why: asked.why,
        ms: start.elapsed().as_millis() as u64,
        input_tokens: asked.answer.input_tokens,
        output_tokens: asked.answer.output_tokens,
    })
}
