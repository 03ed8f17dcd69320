//! The language model that is asked when the classifier is not sure about a prompt.

use tidegate_core::pipeline::record::BackendOutcome;
use tidegate_state::language_model as calls;
use tidegate_state::language_model::CallCap;

use crate::backend::{self, Ready};
use crate::doctor::finding::Findings;
use crate::doctor::gathered::Gathered;
use crate::print::format_count;

pub(crate) fn check(seen: &Gathered, found: &mut Findings) {
    let settings = &seen.config.policies.phase.llm;
    let variable = |name: &str| std::env::var(name).ok();
    let Some(way) = settings.access() else {
        found.ok("none: no language model is asked about prompts");
        return;
    };
    let who = format!("`{}` with {}", way.kind.name(), way.model);
    match backend::prepare(&way, &seen.path, seen.project.as_deref(), variable) {
        Err(not) => found.warning(
            format!("{who} cannot be asked about prompts: {}", not.why),
            match not.outcome {
                BackendOutcome::NoKey => {
                    "set it in the environment that you start the client from, which may be another than this one"
                }
                _ => "install it, or set `backend = \"off\"` in `[activity.llm]` of your config",
            },
        ),
        Ok(ready) => {
            let place = match ready {
                Ready::Claude { program } => program.display().to_string(),
                Ready::Endpoint { target, .. } => target.url,
            };
            let today = seen.state.as_ref().map_or(0, |state| calls::count_taken(state, CallCap::Phases, seen.now));
            let calls = usize::try_from(today).unwrap_or(usize::MAX);
            found.ok(format!("{who} ({place}), {} of {} today", format_count(calls, "call"), settings.calls.get()));
        }
    }
}
