//! Why a cycle does not continue, and what the person hears of it.

use crate::feature::cycle::consent::{ConsentChange, Owed};
use crate::feature::cycle::go_ahead;
use crate::feature::cycle::marks::Mark;
use crate::feature::cycle::one_line::sanitize_line;
use crate::feature::cycle::prompts::change_consent;
use crate::feature::cycle::success::Missing;
use crate::feature::cycle::{ActiveStage, CycleState, CycleStatus, Turn, words};
use crate::feature::facts::Facts;
use crate::feature::marks::SessionMark;
use crate::feature::verdict::{Audience, Effect, Say, Verdict};
use crate::text::cut::first_chars;

/// Notices that are given once per session.
const OVERTAKEN: &str = "cycle overtaken";
const UNREADABLE: &str = "cycle unreadable";

/// Beginnings of notices; the stage and its time follow.
const NOT_DONE: &str = "cycle not done ";
const DECLINED: &str = "cycle declined ";
const ASKED: &str = "cycle asked ";

/// A message to a person has room for this much of a reason.
const MAX_REASON_CHARS: usize = 90;

fn notice(begin: &str, stage: &ActiveStage) -> String {
    format!("{begin}{} {}", stage.stage, stage.began.0)
}

pub(super) fn is_noticed(facts: &Facts<'_>, notice: &str) -> bool {
    facts.marks.value().is_some_and(|marks| marks.session.noticed(notice))
}

/// The person said no in this stage, and was told how the cycle continues.
pub(super) fn knows_how_to_continue(stage: &ActiveStage) -> SessionMark {
    SessionMark::Notice(notice(DECLINED, stage))
}

pub(super) fn tell_person(text: String, weight: u8) -> Say {
    Say { to: Audience::User, text, weight, explains: false, when_said: Vec::new() }
}

/// Unless they know it.
pub(super) fn tell_once(
    facts: &Facts<'_>,
    verdict: &mut Verdict,
    notice: String,
    weight: u8,
    text: impl FnOnce() -> String,
) {
    if !is_noticed(facts, &notice) {
        let when_said = vec![Effect::mark(SessionMark::Notice(notice))];
        verdict.says.push(Say { when_said, ..tell_person(text(), weight) });
    }
}

pub(super) fn pause_cycle(stage: &ActiveStage, because: &'static str) -> Verdict {
    end_turn(stage, Turn::Closed, because)
}

pub(super) fn end_turn(stage: &ActiveStage, turn: Turn, because: &'static str) -> Verdict {
    let effects = (stage.turn != turn).then_some(Effect::mark(Mark::StageTurn(turn)));
    Verdict { effects: effects.into_iter().collect(), ..Verdict::silent(because) }
}

/// Claude's last message asks the person something. They hear once per stage that the cycle waits for their answer.
pub(super) fn wait_for_answer(
    facts: &Facts<'_>,
    stage: &ActiveStage,
    message: &str,
    next: Option<&str>,
    publishes: bool,
) -> Verdict {
    let asks_for_next = || match next {
        Some(next) if publishes => go_ahead::asks_for_step(message, &[next, &stage.stage, &stage.cycle]),
        next => go_ahead::asks_to_continue(message, next),
    };
    let turn = match () {
        () if go_ahead::asks_for_choice(message) => Turn::Waiting,
        () if asks_for_next() => Turn::NeedsYes,
        () => Turn::NeedsWord,
    };
    let mut verdict = end_turn(stage, turn, "the last message asks something");
    verdict.effects.extend(change_consent(facts, ConsentChange::Owe(Owed::Asked)));
    if stage.done {
        let needs_yes = publishes || turn != Turn::Waiting;
        tell_once(facts, &mut verdict, notice(ASKED, stage), 50, || {
            words::waits_for_answer(facts.lang, stage, needs_yes)
        });
    }
    verdict
}

/// No person has answered yet; the client began this turn by itself, or an agent did.
pub(super) fn wait_on(facts: &Facts<'_>, stage: &ActiveStage) -> Verdict {
    // Another turn has ended since the question: a mere "ok" may be meant for that.
    let turn = if stage.turn == Turn::NeedsYes { Turn::NeedsWord } else { stage.turn };
    let mut verdict = end_turn(stage, turn, "the person has not answered");
    let is_told = [ASKED, DECLINED].iter().any(|begin| is_noticed(facts, &notice(begin, stage)));
    if stage.done && !stage.asked && !is_told && stage.turn != Turn::Waiting {
        tell_once(facts, &mut verdict, notice(ASKED, stage), 50, || words::waits_for_yes(facts.lang, stage));
    }
    verdict
}

/// The client reports neither an interrupt nor a queued prompt. A person who did not mean to hold up the cycle learns
/// why it waits.
pub(super) fn report_interruption(facts: &Facts<'_>, stage: &ActiveStage) -> Verdict {
    let mut verdict = end_turn(stage, Turn::Waiting, "the person interrupted");
    if stage.done {
        verdict.says.push(tell_person(words::stage_waits(facts.lang, stage), 50));
    }
    verdict
}

/// The person learns once per stage how the cycle continues.
pub(super) fn report_declined(facts: &Facts<'_>, stage: &ActiveStage) -> Verdict {
    let mut verdict = end_turn(stage, Turn::NeedsWord, "the person does not let it continue");
    if stage.done || !is_noticed(facts, &notice(NOT_DONE, stage)) {
        tell_once(facts, &mut verdict, notice(DECLINED, stage), 50, || {
            words::waits_for_yes(facts.lang, stage)
        });
    }
    verdict
}

/// The person said no in this stage, and knows that it takes their yes.
pub(super) fn has_declined(facts: &Facts<'_>, stage: &ActiveStage) -> bool {
    is_noticed(facts, &notice(DECLINED, stage))
}

/// Claude ended the turn again. The person learns why nothing follows: once per stage, and once after each word of theirs.
pub(super) fn leave_waiting(facts: &Facts<'_>, stage: &ActiveStage, missing: &[Missing]) -> Verdict {
    let mut verdict = pause_cycle(stage, "the stage is not done, and a stop was blocked for it");
    let notice = notice(NOT_DONE, stage);
    if stage.urged || !is_noticed(facts, &notice) {
        let told = [Effect::mark(SessionMark::Notice(notice)), Effect::mark(Mark::WaitTold)];
        let text = words::stage_not_done(facts.lang, stage, missing);
        verdict.says.push(Say { when_said: told.into(), ..tell_person(text, 50) });
    }
    verdict
}

/// Nothing is shipped because a file says so. The person learns once why nothing follows.
pub(super) fn report_overtaken(facts: &Facts<'_>, stage: &ActiveStage, state: &CycleState) -> Verdict {
    let because = match state.status {
        CycleStatus::Running => "the state file names a stage after one that is not done",
        _ => "the state file ends the cycle at a stage that is not done",
    };
    let mut verdict = pause_cycle(stage, because);
    tell_once(facts, &mut verdict, OVERTAKEN.to_owned(), 60, || words::overtaken(facts.lang, stage, state));
    verdict
}

/// Leaves the cycle as it is and tells the person once.
pub(super) fn report_unreadable(facts: &Facts<'_>, stage: &ActiveStage, why: &str) -> Verdict {
    let mut verdict = pause_cycle(stage, "the state file cannot be read");
    tell_once(facts, &mut verdict, UNREADABLE.to_owned(), 60, || {
        words::unreadable(facts.lang, &sanitize_line(why))
    });
    verdict
}

/// The file was removed while a stage was under way. Tidegate's own commands leave the stage at once.
pub(super) fn report_gone(facts: &Facts<'_>, stage: &ActiveStage) -> Verdict {
    Verdict {
        says: vec![tell_person(words::gone(facts.lang, stage), 60)],
        effects: vec![Effect::mark(Mark::StageLeft)],
        ..Verdict::silent("the state file is gone")
    }
}

/// A checkout or a merge put the file of another cycle in its place.
pub(super) fn report_replaced(facts: &Facts<'_>, stage: &ActiveStage) -> Verdict {
    Verdict {
        says: vec![tell_person(words::replaced(facts.lang, stage), 60)],
        effects: vec![Effect::mark(Mark::StageLeft)],
        ..Verdict::silent("the state file is that of another cycle")
    }
}

/// Fit for a message to a person.
pub(super) fn shorten_reason(why: &str) -> String {
    sanitize_line(first_chars(why, MAX_REASON_CHARS)).trim().to_owned()
}

/// `tidegate cycle fail` only answers its caller.
pub(super) fn report_failure(facts: &Facts<'_>, stage: &ActiveStage, why: &str) -> Verdict {
    let why = shorten_reason(why);
    let owed = change_consent(facts, ConsentChange::Owe(Owed::Failed { stage: stage.stage.clone() }));
    // Other tools also write that it failed.
    let failed = [Effect::mark(Mark::StageFailed(why.clone())), Effect::mark(Mark::StageLeft)];
    Verdict {
        says: vec![tell_person(words::failed(facts.lang, stage, &why), 60)],
        effects: owed.into_iter().chain(failed).collect(),
        ..Verdict::silent("the stage failed")
    }
}
