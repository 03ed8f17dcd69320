//! What a cycle waits for, from whom, and the words with which a person lets it continue.

use super::words;
use crate::feature::cycle::consent::Consent;
use crate::feature::cycle::reserved::publishes;
use crate::feature::cycle::success::Missing;
use crate::feature::cycle::{ActiveStage, Cycle, CycleState, CycleStatus, Turn};
use crate::text::lang::Lang;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Waiting {
    /// Claude has to finish this stage.
    Work(String),
    /// The end of Claude's turn; then this stage waits for the person's word.
    TurnEnd(Option<String>),
    GoAhead {
        /// `None`: the cycle completes.
        before: Option<String>,
        /// A mere "yes" is enough, because Claude asked for this step.
        assent: bool,
        /// Why it is owed.
        because: Option<[String; 2]>,
    },
    /// Any answer to Claude's question, or any prompt after an interruption.
    Answer,
    /// No session has it: it was left in the middle of this stage.
    Session(String),
    /// It stopped for lack of context, before this stage.
    Room(String),
    /// This stage failed.
    Repair(String),
}

/// What is known of a cycle.
pub struct CycleFacts<'a> {
    pub state: &'a CycleState,
    pub cycle: &'a Cycle,
    /// By the marks of its session, if that is still there.
    pub active: Option<&'a ActiveStage>,
    /// Its session is still there.
    pub is_live: bool,
    pub missing: &'a [Missing],
    pub consent: &'a Consent,
}

impl Waiting {
    /// `None` if the cycle is complete.
    pub fn find(known: &CycleFacts<'_>) -> Option<Waiting> {
        let CycleFacts { state, cycle, .. } = known;
        let active = known.active.filter(|active| active.stage == state.stage);
        Some(match state.status {
            CycleStatus::Complete => return None,
            CycleStatus::Stopped => Waiting::Room(state.resumes_at().to_owned()),
            CycleStatus::Failed => Waiting::Repair(state.stage.clone()),
            CycleStatus::Running if !known.is_live => Waiting::Session(state.stage.clone()),
            CycleStatus::Running => match active {
                Some(active) if active.failed.is_some() => Waiting::Repair(state.stage.clone()),
                Some(active) => known.in_stage(active, cycle.position(&state.stage).unwrap_or_default() + 1),
                None => Waiting::Work(state.stage.clone()),
            },
        })
    }

    /// For JSON.
    pub fn name(&self) -> &'static str {
        match self {
            Waiting::Work(_) => "work",
            Waiting::TurnEnd(_) => "turn-end",
            Waiting::GoAhead { .. } => "go-ahead",
            Waiting::Answer => "answer",
            Waiting::Session(_) => "session",
            Waiting::Room(_) => "room",
            Waiting::Repair(_) => "repair",
        }
    }

    /// For JSON.
    pub fn from(&self) -> &'static str {
        match self {
            Waiting::Work(_) | Waiting::TurnEnd(_) => "agent",
            _ => "person",
        }
    }

    /// The stage that is meant.
    pub fn stage(&self) -> Option<&str> {
        match self {
            Waiting::Work(stage)
            | Waiting::Session(stage)
            | Waiting::Room(stage)
            | Waiting::Repair(stage) => Some(stage),
            Waiting::TurnEnd(stage) | Waiting::GoAhead { before: stage, .. } => stage.as_deref(),
            Waiting::Answer => None,
        }
    }

    /// Words to type, each enough on its own. `skill` is the call of the cycle's own skill, where there is one.
    pub fn accepts<'w>(&self, lang: Lang, skill: Option<&'w str>) -> Vec<&'w str> {
        let (yes, go_on) = match lang {
            Lang::En => ("yes", "continue"),
            Lang::Ja => ("はい", "続けて"),
        };
        match self {
            Waiting::Work(_) | Waiting::TurnEnd(_) => Vec::new(),
            Waiting::GoAhead { assent: true, .. } => vec![yes, go_on],
            Waiting::GoAhead { .. } | Waiting::Answer => vec![go_on],
            Waiting::Session(_) | Waiting::Room(_) | Waiting::Repair(_) => {
                skill.into_iter().chain([go_on]).collect()
            }
        }
    }

    /// For a person.
    pub fn describe(&self, lang: Lang, skill: Option<&str>) -> String {
        words::waiting(lang, self, skill)
    }
}

impl CycleFacts<'_> {
    /// `next` is the position of the stage that follows.
    fn in_stage(&self, active: &ActiveStage, next: usize) -> Waiting {
        let is_done = active.done && self.missing.is_empty();
        let before = self.cycle.stages.get(next).map(|next| next.name.clone());
        let owed = before.as_deref().filter(|_| publishes(self.cycle, next));
        let owed = owed.map(|stage| self.consent.owed_before(stage)).filter(|owed| !owed.is_empty());
        let go_ahead = |assent| Waiting::GoAhead {
            before: before.clone(),
            assent,
            because: owed
                .as_deref()
                .map(|owed| [Lang::En, Lang::Ja].map(|lang| words::join_owed(lang, owed))),
        };
        match active.turn {
            Turn::NeedsYes if is_done => go_ahead(true),
            Turn::NeedsWord | Turn::Declined if is_done => go_ahead(false),
            Turn::Waiting if is_done && publishes(self.cycle, next) => go_ahead(false),
            Turn::NeedsYes | Turn::NeedsWord | Turn::Waiting => Waiting::Answer,
            Turn::Interrupted if is_done => Waiting::TurnEnd(before),
            Turn::Open | Turn::Closed if is_done => Waiting::TurnEnd(before.filter(|_| owed.is_some())),
            Turn::Open | Turn::Closed | Turn::Interrupted | Turn::Declined => {
                Waiting::Work(self.state.stage.clone())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feature::cycle::consent::{ConsentChange, Owed};
    use crate::feature::cycle::go_ahead::lets_continue;
    use crate::time::Millis;

    fn state(stage: &str, status: CycleStatus) -> CycleState {
        let mut state = CycleState::started("dev-cycle", Millis(0));
        (state.stage, state.status) = (stage.to_owned(), status);
        state
    }

    fn find(stage: &str, turn: Turn, done: bool, consent: &Consent) -> Waiting {
        let cycle = Cycle::default();
        let state = state(stage, CycleStatus::Running);
        let at = cycle.position(stage).expect("a stage");
        let active = ActiveStage::begin("dev-cycle", &cycle, at, Millis(0), turn).expect("a stage");
        let active = ActiveStage { done, ..active };
        let missing = if done { Vec::new() } else { vec![Missing::Word] };
        let known = CycleFacts {
            state: &state,
            cycle: &cycle,
            active: Some(&active),
            is_live: true,
            missing: &missing,
            consent,
        };
        Waiting::find(&known).expect("it is not complete")
    }

    #[test]
    fn a_stage_waits_for_somebody() {
        let (none, owed) = (Consent::default(), Consent::default().after(&ConsentChange::Owe(Owed::Said)));
        let name = |stage, turn, done, consent| {
            let waiting = find(stage, turn, done, consent);
            (waiting.name(), waiting.from(), waiting.stage().map(str::to_owned))
        };
        let stage = |name: &str| Some(name.to_owned());
        for (stage_now, turn, done, consent, expected) in [
            ("sprint", Turn::Open, false, &none, ("work", "agent", stage("sprint"))),
            ("sprint", Turn::Declined, false, &none, ("work", "agent", stage("sprint"))),
            ("sprint", Turn::Open, true, &none, ("turn-end", "agent", None)),
            ("audit", Turn::Open, true, &owed, ("turn-end", "agent", stage("ship"))),
            ("audit", Turn::Interrupted, true, &none, ("turn-end", "agent", stage("ship"))),
            ("sprint", Turn::Waiting, true, &none, ("answer", "person", None)),
            ("sprint", Turn::NeedsYes, false, &none, ("answer", "person", None)),
            ("audit", Turn::Waiting, true, &none, ("go-ahead", "person", stage("ship"))),
            ("audit", Turn::NeedsYes, true, &none, ("go-ahead", "person", stage("ship"))),
            ("audit", Turn::NeedsWord, true, &owed, ("go-ahead", "person", stage("ship"))),
            ("retrospective", Turn::Declined, true, &none, ("go-ahead", "person", None)),
        ] {
            assert_eq!(name(stage_now, turn, done, consent), expected, "{stage_now} {turn:?} {done}");
        }
    }

    #[test]
    fn a_file_alone_tells_it_too() {
        let cycle = Cycle::default();
        let consent = Consent::default();
        let find = |status, is_live| {
            let state = state("audit", status);
            let known = CycleFacts {
                state: &state,
                cycle: &cycle,
                active: None,
                is_live,
                missing: &[],
                consent: &consent,
            };
            Waiting::find(&known).map(|waiting| waiting.name())
        };
        assert_eq!(find(CycleStatus::Running, true), Some("work"));
        assert_eq!(find(CycleStatus::Running, false), Some("session"));
        assert_eq!(find(CycleStatus::Stopped, false), Some("room"));
        assert_eq!(find(CycleStatus::Failed, true), Some("repair"));
        assert_eq!(find(CycleStatus::Complete, true), None);
    }

    #[test]
    fn the_words_that_are_named_count() {
        let known = |cycle| [cycle, "sprint", "audit", "ship", "retrospective"];
        let calls = [
            ("dev-cycle", Some("/dev-cycle")),
            ("dev-cycle", Some("/tidegate-dev-cycle")),
            ("dev-cycle", Some("$dev-cycle")),
            ("release", Some("/release")),
            ("release", None),
        ];
        assert!(!lets_continue("/dev-cycle", &known("release"), true), "the skill of another cycle");
        for waiting in [
            find("audit", Turn::NeedsYes, true, &Consent::default()),
            find("audit", Turn::NeedsWord, true, &Consent::default()),
            Waiting::Answer,
            Waiting::Session("audit".into()),
            Waiting::Room("ship".into()),
            Waiting::Repair("ship".into()),
        ] {
            let by_name = !matches!(waiting, Waiting::GoAhead { assent: true, .. });
            for (cycle, skill) in calls {
                for word in [Lang::En, Lang::Ja].into_iter().flat_map(|lang| waiting.accepts(lang, skill)) {
                    assert!(lets_continue(word, &known(cycle), by_name), "{word}: {waiting:?} of {cycle}");
                }
            }
        }
    }
}
