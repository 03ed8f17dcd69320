//! Asks a language model about a prompt, or for a summary: by Claude Code's own program, or by `curl` at an
//! endpoint. Only if the user's own config says so, and never in a hook process: a hook starts `tidegate
//! phase ask` or the worker after its answer, and does not wait.

mod endpoint;
pub(crate) mod summariser;

use std::path::{Path, PathBuf};
use std::time::Duration;

use tidegate_core::language_model::backend::{BackendKind, EndpointTarget, ModelAccess};
use tidegate_core::language_model::{ModelAnswer, ModelQuestion};
use tidegate_core::pipeline::record::BackendOutcome;

use crate::host::claude_code::language_model::ask_claude;
use crate::program::{self, NotRun};

/// An answer is a word or a few lines, with some JSON around it.
pub(crate) const LARGEST_ANSWER: u64 = 256 * 1024;

/// A backend with everything it needs.
pub(crate) enum Ready {
    Claude { program: PathBuf },
    Endpoint { curl: PathBuf, target: EndpointTarget, key: Option<String> },
}

#[derive(Debug)]
pub(crate) struct NotReady {
    pub(crate) outcome: BackendOutcome,
    pub(crate) why: String,
}

#[derive(Debug, Default)]
pub(crate) struct Asked {
    pub(crate) outcome: BackendOutcome,
    pub(crate) said: ModelAnswer,
    pub(crate) why: Option<String>,
}

impl Asked {
    pub(crate) fn failed(why: impl Into<String>) -> Asked {
        Asked { outcome: BackendOutcome::Failed, why: Some(why.into()), ..Asked::default() }
    }

    pub(crate) fn not_run(why: &NotRun) -> Asked {
        match why {
            NotRun::Late => Asked { outcome: BackendOutcome::Timeout, ..Asked::default() },
            NotRun::Start(error) => Asked::failed(error.kind().to_string()),
        }
    }

    pub(crate) fn read(kind: BackendKind, text: &str) -> Asked {
        let said = ModelAnswer::parse(kind, text);
        let outcome = if said.text.is_some() { BackendOutcome::Answered } else { BackendOutcome::NoAnswer };
        Asked { outcome, said, why: None }
    }
}

/// Checks that the program and the key are there.
pub(crate) fn prepare(
    way: &ModelAccess,
    path: &[PathBuf],
    project: Option<&Path>,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<Ready, NotReady> {
    let find = |name: &str| {
        let outcome = BackendOutcome::NoProgram;
        let found = program::find_on_path(path, name)
            .ok_or_else(|| NotReady { outcome, why: format!("`{name}` is not on PATH") })?;
        // A repository must not choose the program.
        if project.is_some_and(|project| program::is_in(&found, project)) {
            return Err(NotReady { outcome, why: format!("`{name}` on PATH is in the project itself") });
        }
        Ok(found)
    };
    let Some(target) = way.target.clone() else {
        return find("claude").map(|program| Ready::Claude { program });
    };
    find("curl").and_then(|curl| {
        let key =
            variable(&target.key_variable).map(|key| key.trim().to_owned()).filter(|key| !key.is_empty());
        let why = match &key {
            None if !target.loopback => "is not set",
            Some(key) if !key.bytes().all(|b| b.is_ascii_graphic()) => "holds no key",
            _ => return Ok(Ready::Endpoint { curl, target, key }),
        };
        Err(NotReady { outcome: BackendOutcome::NoKey, why: format!("{} {why}", target.key_variable) })
    })
}

/// Blocks for up to the configured timeout.
pub(crate) fn ask(ready: &Ready, way: &ModelAccess, question: &ModelQuestion) -> Asked {
    let limit = Duration::from_secs(way.timeout_s);
    match ready {
        Ready::Claude { program } => ask_claude(program, &way.model, question, limit),
        Ready::Endpoint { curl, target, key } => {
            let request = endpoint::Request { form: way.kind, target, key: key.as_deref(), limit };
            request.ask(curl, &way.model, question)
        }
    }
}
