//! A stop in a stage that is not done: blocked once, with the next steps for the model.

use std::fmt::Write as _;

use crate::feature::cycle::ActiveStage;
use crate::feature::cycle::consent::{ConsentChange, Owed};
use crate::feature::cycle::marks::Mark;
use crate::feature::cycle::prompts::change_consent;
use crate::feature::cycle::success::Missing;
use crate::feature::facts::Facts;
use crate::feature::verdict::{Asks, Call, Effect, Verdict};

/// A stop before the stage is done.
pub(super) fn block_stop(facts: &Facts<'_>, stage: &ActiveStage, missing: &[Missing]) -> Verdict {
    let ActiveStage { cycle, stage: name, skill, number, of, done, .. } = stage;
    let counts = |missing: &Missing| {
        matches!(
            missing,
            Missing::Report | Missing::OpenFindings(_) | Missing::Severe(..) | Missing::Forbidden(_)
        )
    };
    let mut report = String::from("run `tidegate cycle done");
    if missing.iter().any(counts) {
        report.push_str(" --metric open=N");
    }
    for missing in missing {
        if let Missing::Severe(name, _) = missing {
            let _ = write!(report, " --metric {name}=N");
        }
    }
    report.push('`');
    let mut steps: Vec<String> = missing.iter().filter_map(Missing::action).collect();
    if steps.is_empty() {
        steps.push(format!("finish the work and {report}"));
    } else if missing
        .iter()
        .any(|missing| counts(missing) || matches!(missing, Missing::Word | Missing::Unfinished(_)))
    {
        steps.push(format!("then {report}"));
    }
    let mut reason = capitalize(&steps.join("; "));
    let _ = write!(reason, ": stage {name} ({number} of {of}) of the cycle {cycle} is not done");
    if *done {
        reason.push_str(", although `tidegate cycle done` was called");
    }
    reason.push_str(". If it cannot be done, run `tidegate cycle fail REASON`.");
    request_full_answer(facts, &mut reason);
    let is_skill = |missing: &Missing| matches!(missing, Missing::Skill(_));
    let asks = if missing.iter().any(is_skill) {
        Asks::stage(name.as_str(), skill.as_str())
    } else {
        Asks { stage: Some(name.clone()), ..Asks::default() }
    };
    Verdict {
        call: Call::Deny,
        reason: Some(reason),
        because: "the stage is not done",
        effects: std::iter::once(Effect::mark(Mark::StageHeld))
            .chain(reopen_if_contradicted(missing))
            .collect(),
        asks,
        ..Verdict::pass()
    }
}

/// Other words in the next message do not settle it: the model has to report the stage as done again.
pub(super) fn reopen_if_contradicted(missing: &[Missing]) -> Option<Effect> {
    let contradicts = |missing: &Missing| matches!(missing, Missing::Forbidden(_) | Missing::Unfinished(_));
    missing.iter().any(contradicts).then(|| Effect::mark(Mark::StageReopened))
}

fn capitalize(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(chars).collect()
}

/// Without a person, the last message is the result of the run.
pub(super) fn request_full_answer(facts: &Facts<'_>, reason: &mut String) {
    if !facts.person.may_be_there() {
        reason.push_str(
            " At the end, give the whole final answer again: the last message of this run is its result.",
        );
    }
}

/// They are settled only by the person.
pub(super) fn owe_findings(facts: &Facts<'_>, stage: &ActiveStage, missing: &Missing) -> Option<Effect> {
    let stage = stage.stage.clone();
    let owed = match missing {
        Missing::OpenFindings(most) | Missing::Severe(_, most) => {
            Owed::Findings { stage, most: *most, open: true }
        }
        Missing::Forbidden(said) => Owed::Forbidden { stage, said: Some(said.clone()) },
        _ => return None,
    };
    change_consent(facts, ConsentChange::Owe(owed))
}
