//! The public copy of the budget, for other tools, and the first reading of a stage.

use crate::feature::cycle::marks::Mark;
use crate::feature::cycle::{ActiveStage, effect};
use crate::feature::facts::Facts;
use crate::feature::verdict::{Effect, Verdict};
use crate::meter::Reading;

/// Minimum time between two public copies of the budget.
const MIN_COPY_INTERVAL_MS: u64 = 30_000;

/// After a tool call: the first reading of the stage, and the public copy of the budget.
pub(super) fn note_use(facts: &Facts<'_>, stage: &ActiveStage) -> Verdict {
    let reading = facts.meter.reading().filter(|_| stage.used.is_none());
    let used = reading.map(|reading| Effect::mark(Mark::StageUsed(reading.used)));
    let copy = copy_budget(facts, stage);
    let because = match (&used, copy.is_empty()) {
        (_, false) => "the copy of the budget is old",
        (Some(_), true) => "the first reading of the stage",
        (None, true) => return Verdict::pass(),
    };
    Verdict { effects: used.into_iter().chain(copy).collect(), ..Verdict::silent(because) }
}

pub(super) fn copy_budget(facts: &Facts<'_>, stage: &ActiveStage) -> Vec<Effect> {
    if facts.now.since(stage.copied) < MIN_COPY_INTERVAL_MS && stage.copied <= facts.now {
        return Vec::new();
    }
    let Some(used_pct) = facts.meter.reading().and_then(Reading::used_pct) else { return Vec::new() };
    let copied = Effect::mark(Mark::BudgetCopied(facts.now));
    let project = stage.project.clone();
    let publish = Effect::Cycle(effect::Effect::PublishBudget { project, used_pct });
    vec![copied, publish]
}
