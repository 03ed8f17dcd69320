//! A language model that sums relays up, as often as the user's config allows, each call in the journal.

use std::path::{Path, PathBuf};
use std::time::Instant;

use tidegate_core::feature::memory::settings::Summary;
use tidegate_core::feature::memory::summary;
use tidegate_core::feature::memory::summary::RelaySummary;
use tidegate_core::language_model::ModelQuestion;
use tidegate_core::language_model::backend::ModelAccess;
use tidegate_core::pipeline::record::{BackendCall, BackendOutcome, Record};
use tidegate_core::redact::redact;
use tidegate_core::text::lang::Lang;
use tidegate_memory::worker::{NoSummary, Summarise};
use tidegate_state::language_model as calls;
use tidegate_state::language_model::CallCap;
use tidegate_state::place::StateDir;
use tidegate_state::{clock, journal};

use super::{Asked, NotReady, Ready};

/// The event's name in the journal.
const EVENT: &str = "summary-llm";

/// Tokens of a summary, where they can be limited.
const TOKENS: u32 = 1000;

pub(crate) struct Summariser<'a> {
    way: ModelAccess,
    ready: Result<Ready, NotReady>,
    most: u64,
    state: &'a StateDir,
    /// The journal tells only once why it cannot be asked.
    told: bool,
}

impl<'a> Summariser<'a> {
    /// `None` without a configured model. `projects` are the sources of the worker's relays: none of them may choose
    /// the program.
    pub(crate) fn of(
        settings: &Summary,
        path: &[PathBuf],
        projects: &[PathBuf],
        state: &'a StateDir,
    ) -> Option<Summariser<'a>> {
        let way = settings.access()?;
        let variable = |name: &str| std::env::var(name).ok();
        let prepare = |project: Option<&Path>| super::prepare(&way, path, project, variable);
        let refused = projects.iter().find_map(|project| prepare(Some(project)).err());
        let ready = refused.map_or_else(|| prepare(None), Err);
        Some(Summariser { way, ready, most: settings.calls_per_hour.get(), state, told: false })
    }

    /// Asks, if this hour's calls are not used up.
    fn ask(&self, question: &ModelQuestion) -> Asked {
        let ready = match &self.ready {
            Ok(ready) => ready,
            Err(not) => {
                return Asked { outcome: not.outcome, why: Some(not.why.clone()), ..Asked::default() };
            }
        };
        match calls::try_take(self.state, CallCap::Summaries, clock::now(), self.most) {
            Ok(true) => super::ask(ready, &self.way, question),
            Ok(false) => Asked { outcome: BackendOutcome::Capped, ..Asked::default() },
            // A call that cannot be counted is not made.
            Err(error) => Asked::failed(format!("calls cannot be counted: {error}")),
        }
    }

    fn record(&mut self, outcome: BackendOutcome, asked: &Asked, ms: u64) {
        // Without this, one missing program would be reported for each relay.
        if !outcome.was_asked() && std::mem::replace(&mut self.told, true) {
            return;
        }
        let now = clock::now();
        let call = BackendCall {
            backend: self.way.kind.name().to_owned(),
            model: self.way.model.clone(),
            outcome,
            phase: None,
            why: asked.why.clone(),
            ms,
            input_tokens: asked.said.input_tokens,
            output_tokens: asked.said.output_tokens,
        };
        let mut record = Record {
            id: Record::new_id(now, std::process::id()),
            ruling: "backend".to_owned(),
            backend: Some(call),
            ..Record::begin(EVENT, now)
        };
        // A missing record must not cost the summary.
        let _ = journal::append(&self.state.journal(), now, &mut record);
    }
}

impl Summarise for Summariser<'_> {
    fn name(&self) -> String {
        self.way.model.clone()
    }

    fn sum_up(&mut self, message: String, lang: Lang) -> Result<RelaySummary, NoSummary> {
        let question = ModelQuestion { instruction: summary::instruction(lang), message, tokens: TOKENS };
        let start = Instant::now();
        let asked = self.ask(&question);
        let told = asked.said.text.as_deref().and_then(|text| summary::parse_answer(&redact(text).text));
        let outcome = match asked.outcome {
            BackendOutcome::Answered if told.is_none() => BackendOutcome::NoAnswer,
            outcome => outcome,
        };
        self.record(outcome, &asked, start.elapsed().as_millis() as u64);
        match (told, outcome) {
            (Some(told), _) => Ok(told),
            (None, BackendOutcome::Capped) => Err(NoSummary::LimitReached),
            (None, outcome) => {
                let why = asked.why.map(|why| format!(": {why}")).unwrap_or_default();
                Err(NoSummary::Failed(format!("{}{why}", outcome.name())))
            }
        }
    }
}
