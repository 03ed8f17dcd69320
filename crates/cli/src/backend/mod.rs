//! Asking a language model what a prompt is about: by the client's own program, or by `curl` at an endpoint. Only where the
//! user's own config says so, and never on the way of a hook.

mod claude;
mod endpoint;

use std::path::{Path, PathBuf};
use std::time::Duration;

use tidegate_core::policy::phase::backend::{Backend, Kind, Target};
use tidegate_core::policy::phase::question::Answer;
use tidegate_core::record::BackendOutcome;

use crate::program::{self, NotRun};

/// An answer is a word; what is around it is bounded.
const LARGEST_ANSWER: u64 = 256 * 1024;

/// Everything that asking takes.
pub(crate) enum Ready {
    Claude { program: PathBuf },
    Endpoint { curl: PathBuf, target: Target, key: Option<String> },
}

/// Why it cannot be asked.
#[derive(Debug)]
pub(crate) struct NotReady {
    pub(crate) outcome: BackendOutcome,
    pub(crate) why: String,
}

/// What came of it.
#[derive(Debug, Default)]
pub(crate) struct Asked {
    pub(crate) outcome: BackendOutcome,
    pub(crate) answer: Answer,
    pub(crate) why: Option<String>,
}

impl Asked {
    fn failed(why: impl Into<String>) -> Asked {
        Asked { outcome: BackendOutcome::Failed, why: Some(why.into()), ..Asked::default() }
    }

    fn not_run(why: &NotRun) -> Asked {
        match why {
            NotRun::Late => Asked { outcome: BackendOutcome::Timeout, ..Asked::default() },
            NotRun::Start(error) => Asked::failed(error.kind().to_string()),
        }
    }

    fn read(kind: Kind, text: &str) -> Asked {
        let answer = Answer::read(kind, text);
        let outcome =
            if answer.phase.is_some() { BackendOutcome::Answered } else { BackendOutcome::NoAnswer };
        Asked { outcome, answer, why: None }
    }
}

/// Looks whether all is there that asking takes. `None` where no backend is configured.
pub(crate) fn prepare(
    settings: &Backend,
    path: &[PathBuf],
    project: Option<&Path>,
    variable: impl Fn(&str) -> Option<String>,
) -> Option<Result<Ready, NotReady>> {
    if settings.backend == Kind::Off {
        return None;
    }
    let find = |name: &str| {
        let outcome = BackendOutcome::NoProgram;
        let found = program::find_on_path(path, name)
            .ok_or_else(|| NotReady { outcome, why: format!("`{name}` is not on PATH") })?;
        // A repository does not choose what is run.
        if project.is_some_and(|project| program::is_in(&found, project)) {
            return Err(NotReady { outcome, why: format!("`{name}` on PATH is in the project itself") });
        }
        Ok(found)
    };
    let Some(target) = settings.target() else {
        return Some(find("claude").map(|program| Ready::Claude { program }));
    };
    Some(find("curl").and_then(|curl| {
        let key =
            variable(&target.key_variable).map(|key| key.trim().to_owned()).filter(|key| !key.is_empty());
        let why = match &key {
            None if !target.loopback => "is not set",
            Some(key) if !key.bytes().all(|b| b.is_ascii_graphic()) => "holds no key",
            _ => return Ok(Ready::Endpoint { curl, target, key }),
        };
        Err(NotReady { outcome: BackendOutcome::NoKey, why: format!("{} {why}", target.key_variable) })
    }))
}

/// Asks. Takes as long as the settings allow.
pub(crate) fn ask(ready: &Ready, settings: &Backend, prompt: &str) -> Asked {
    let limit = Duration::from_secs(settings.timeout_s.get());
    match ready {
        Ready::Claude { program } => claude::ask(program, settings.model(), prompt, limit),
        Ready::Endpoint { curl, target, key } => {
            let request = endpoint::Request { form: settings.backend, target, key: key.as_deref(), limit };
            request.ask(curl, settings.model(), prompt)
        }
    }
}
