//! `tidegate activity ask`: the process that a hook starts to ask a language model about a prompt. Its result goes into
//! the journal and the session's marks; its output is not read.

use std::io::Read;
use std::process::ExitCode;
use std::time::Instant;

use tidegate_core::event::SessionId;
use tidegate_core::feature::activity::classifier::Phase;
use tidegate_core::feature::activity::marks::Mark as ActivityMark;
use tidegate_core::feature::activity::question;
use tidegate_core::feature::config::Config;
use tidegate_core::feature::facts::Known;
use tidegate_core::feature::marks::Marks;
use tidegate_core::host::person::Person;
use tidegate_core::pipeline::record::{BackendCall, BackendOutcome, Record};
use tidegate_core::redact::redact;
use tidegate_core::time::Millis;
use tidegate_hook::environment::Environment;
use tidegate_state::language_model as calls;
use tidegate_state::language_model::CallCap;
use tidegate_state::place::StateDir;
use tidegate_state::session::marks;
use tidegate_state::{clock, config, journal};

use super::Outcome;
use crate::backend::{self, Asked};
use crate::error::CliError;
use crate::program;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The session that the prompt belongs to
    #[arg(long, value_name = "ID")]
    pub(crate) session: String,
    /// When the prompt came, in milliseconds
    #[arg(long, value_name = "MS")]
    pub(crate) prompt_at: u64,
}

/// The hook sends the beginning of a prompt, which is less.
const LARGEST_PROMPT: u64 = 64 * 1024;

/// The event's name in the journal.
const EVENT: &str = "phase-llm";

pub(crate) fn run(args: &Args) -> Outcome {
    let env = Environment::of_hook();
    let Some(state) = StateDir::open_in_background(&env.place).map_err(CliError::new)? else {
        return Ok(ExitCode::SUCCESS);
    };
    let session = SessionId::parse(&args.session).map_err(CliError::new)?;
    let folder = state.session(&session);
    let Some(known) = marks_if_waiting(&marks::read(&folder), args.prompt_at) else {
        return Ok(ExitCode::SUCCESS);
    };
    let mut prompt = Vec::new();
    std::io::stdin().lock().take(LARGEST_PROMPT).read_to_end(&mut prompt).map_err(CliError::new)?;
    let user = env.place.config();
    let config = config::read(&config::Sources {
        user: user.as_deref(),
        root: known.session.root.as_deref().map(std::path::Path::new),
        state: Some(&state),
        variables: &env.settings,
        off: env.off.as_deref(),
    });
    let Some(call) = ask_backend(&state, &config, &known, &String::from_utf8_lossy(&prompt)) else {
        return Ok(ExitCode::SUCCESS);
    };
    let phase = call.phase;
    let now = clock::now();
    let mut record = Record {
        id: Record::new_id(now, std::process::id()),
        session: Some(session.to_string()),
        project: known.session.root,
        person: Person::There,
        ruling: "backend".to_owned(),
        backend: Some(call),
        ..Record::begin(EVENT, now)
    };
    journal::append(&state.journal(), now, &mut record).map_err(CliError::new)?;
    // The session may be gone by now, or a newer prompt may have another phase.
    if let Some(phase) = phase.filter(|phase| *phase != Phase::Other)
        && marks_if_waiting(&marks::read(&folder), args.prompt_at).is_some()
    {
        let mark = ActivityMark::LatePhase { phase, prompt: Millis(args.prompt_at) }.into();
        marks::lock_shared(&folder).and_then(|lock| lock.append(&[mark])).map_err(CliError::new)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// `None` if the session no longer waits for an answer about this prompt.
fn marks_if_waiting(marks: &Known<Marks>, prompt: u64) -> Option<Marks> {
    let asked = |marks: &&Marks| marks.activity.late.is_some_and(|late| late.prompt == Millis(prompt));
    marks.value().filter(asked).cloned()
}

/// `None` if no backend is configured any more.
fn ask_backend(state: &StateDir, config: &Config, marks: &Marks, prompt: &str) -> Option<BackendCall> {
    let settings = &config.policies.phase.llm;
    let project = marks.session.root.as_deref().map(std::path::Path::new);
    let variable = |name: &str| std::env::var(name).ok();
    let way = settings.access()?;
    let start = Instant::now();
    let asked = match backend::prepare(&way, &program::search_path(), project, variable) {
        Err(not) => Asked { outcome: not.outcome, why: Some(not.why), ..Asked::default() },
        Ok(ready) => match calls::try_take(state, CallCap::Phases, clock::now(), settings.calls.get()) {
            Ok(true) => backend::ask(&ready, &way, &question::phase_question(&redact(prompt).text)),
            Ok(false) => Asked { outcome: BackendOutcome::Capped, ..Asked::default() },
            // A call that cannot be counted is not made.
            Err(error) => Asked {
                outcome: BackendOutcome::Capped,
                why: Some(format!("calls cannot be counted: {error}")),
                ..Asked::default()
            },
        },
    };
    let phase = asked.said.text.as_deref().and_then(question::parse_label);
    let answered = asked.outcome == BackendOutcome::Answered;
    Some(BackendCall {
        backend: way.kind.name().to_owned(),
        model: way.model,
        outcome: if answered && phase.is_none() { BackendOutcome::NoAnswer } else { asked.outcome },
        phase,
        why: asked.why,
        ms: start.elapsed().as_millis() as u64,
        input_tokens: asked.said.input_tokens,
        output_tokens: asked.said.output_tokens,
    })
}
