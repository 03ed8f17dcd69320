//! The context of a replayed session: how full it was at each answer, where Tidegate would have warned, and what each
//! compaction lost.

use std::collections::{BTreeSet, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use serde::Serialize;
use tidegate_core::feature::knowledge::key_facts::KeyFact;
use tidegate_core::feature::knowledge::survival::{Survival, measure_survival};
use tidegate_core::feature::pressure::marks::PressureLevel;
use tidegate_core::meter::Reading;
use tidegate_core::time::Millis;

use crate::moment::CompactionStart;

/// One answer of the main thread. Small: a folder of transcripts has hundreds of thousands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CurvePoint {
    /// In the transcript, counted from 1.
    pub line: u32,
    pub turn: u32,
    pub at: Millis,
    /// Tokens of the request.
    pub used: u32,
    /// Tokens to the point at which the client compacts, or to the end of the window.
    pub left: Option<u32>,
    /// The turn of the first event that could carry a warning about it.
    pub seen: Option<u32>,
    /// Of the answer, the same in each transcript that has it.
    id: u64,
    /// Another transcript has it, too: a continued session begins with a copy of the one before.
    pub is_copy: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum WarningLevel {
    Early,
    Late,
}

impl WarningLevel {
    pub(crate) fn of(level: PressureLevel) -> Option<WarningLevel> {
        match level {
            PressureLevel::None => None,
            PressureLevel::Info => Some(WarningLevel::Early),
            PressureLevel::Urgent => Some(WarningLevel::Late),
        }
    }
}

/// A context warning that Tidegate would have given.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GivenWarning {
    pub level: WarningLevel,
    pub line: usize,
    pub turn: usize,
    pub at: Millis,
    pub used: u64,
    pub left: Option<u64>,
    /// Turns left that it would have named.
    pub turns_left: Option<u32>,
    /// The person would have heard it, too.
    pub is_for_person: bool,
    /// Answers before it, in the whole session.
    answers: usize,
    pub is_copy: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct PlayedCompaction {
    pub line: usize,
    pub turn: usize,
    pub at: Millis,
    /// A person asked for it.
    pub is_by_hand: bool,
    /// According to the client; else the last request.
    pub tokens_before: Option<u64>,
    /// The entry's id.
    pub entry: String,
    /// The first warning since the last compaction, and since when.
    pub early: Option<Ahead>,
    /// The first late one.
    pub late: Option<Ahead>,
    /// Facts to keep that were known before it.
    pub facts: Vec<KeyFact>,
    /// `None` without a summary.
    pub survival: Option<Survival>,
    /// Number of answers before it, in the whole session.
    pub answers: usize,
    pub is_copy: bool,
    /// Messages that the client kept whole.
    kept: Vec<String>,
}

/// How long before a compaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Ahead {
    pub turns: usize,
    /// Answers of the model: a long turn has many.
    pub answers: usize,
}

/// A forecast that Tidegate would have shown, and how it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ForecastCheck {
    /// Turns left.
    pub predicted: u32,
    pub real: u32,
    /// Of the compaction.
    #[serde(skip)]
    pub at: Millis,
    #[serde(skip)]
    pub is_copy: bool,
}

/// Everything about the context of one session.
#[derive(Clone, Debug, Default)]
pub struct ContextCourse {
    pub curve: Vec<CurvePoint>,
    pub warnings: Vec<GivenWarning>,
    pub compactions: Vec<PlayedCompaction>,
    pub forecasts: Vec<ForecastCheck>,
    /// Tokens of the window at the last answer.
    pub window: Option<u64>,
    /// Forecasts since the last compaction: the turn, and turns left.
    open: Vec<(usize, u32)>,
}

fn small(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

impl ContextCourse {
    /// `message` is the id that the model's service gave the answer.
    pub(crate) fn answer(
        &mut self,
        line: usize,
        turn: usize,
        (message, at): (&str, Millis),
        reading: &Reading,
    ) {
        let mut id = DefaultHasher::new();
        (message, message.is_empty().then_some((at.0, reading.used))).hash(&mut id);
        self.window = reading.window.map(|window| window.tokens).or(self.window);
        self.curve.push(CurvePoint {
            line: small(line as u64),
            turn: small(turn as u64),
            at,
            used: small(reading.used),
            left: reading.left().map(small),
            seen: None,
            id: id.finish(),
            is_copy: false,
        });
    }

    /// Marks what another transcript has already shown; `known` are the answers and compactions of all so far.
    pub(crate) fn mark_copies(&mut self, known: &mut HashSet<u64>) {
        for point in &mut self.curve {
            point.is_copy = !known.insert(point.id);
        }
        let curve = &self.curve;
        for warning in &mut self.warnings {
            warning.is_copy = warning.answers.checked_sub(1).is_some_and(|last| curve[last].is_copy);
        }
        let mut copied = BTreeSet::new();
        for compaction in self.compactions.iter_mut().filter(|compaction| !compaction.entry.is_empty()) {
            let mut id = DefaultHasher::new();
            compaction.entry.hash(&mut id);
            compaction.is_copy = !known.insert(id.finish());
            if compaction.is_copy {
                copied.insert(compaction.at);
            }
        }
        for forecast in &mut self.forecasts {
            forecast.is_copy = copied.contains(&forecast.at);
        }
    }

    /// An event in this turn could have carried a warning.
    pub(crate) fn seen(&mut self, turn: usize) {
        if let Some(last) = self.curve.last_mut().filter(|last| last.seen.is_none()) {
            last.seen = Some(small(turn as u64));
        }
    }

    pub(crate) fn forecast(&mut self, turn: usize, turns: u32) {
        self.open.push((turn, turns));
    }

    pub(crate) fn warn(&mut self, warning: GivenWarning) {
        self.warnings.push(GivenWarning { answers: self.curve.len(), ..warning });
    }

    pub(crate) fn compact(&mut self, start: &CompactionStart, line: usize, turn: usize, at: Millis) {
        let answers = self.curve.len();
        let before = self.compactions.last().map_or(0, |last| last.answers);
        let since = self.warnings.iter().filter(|warning| warning.answers > before);
        let ahead = |warning: &GivenWarning| Ahead {
            turns: turn.saturating_sub(warning.turn),
            answers: answers - warning.answers,
        };
        let late = since.clone().find(|warning| warning.level == WarningLevel::Late).map(ahead);
        let early = since.clone().next().map(ahead);
        let open = std::mem::take(&mut self.open);
        // A person may compact at any time, which no forecast can know.
        if !start.is_by_hand {
            self.forecasts.extend(open.into_iter().map(|(from, predicted)| ForecastCheck {
                predicted,
                real: small(turn.saturating_sub(from) as u64),
                at,
                is_copy: false,
            }));
        }
        self.compactions.push(PlayedCompaction {
            line,
            turn,
            at,
            is_by_hand: start.is_by_hand,
            tokens_before: start.tokens_before.or(self
                .curve
                .last()
                .filter(|_| answers > before)
                .map(|last| u64::from(last.used))),
            entry: start.entry.clone(),
            early,
            late,
            facts: Vec::new(),
            survival: None,
            answers,
            is_copy: false,
            kept: start.kept.clone(),
        });
    }

    pub(crate) fn keep_facts(&mut self, facts: &[KeyFact]) {
        if let Some(last) = self.compactions.last_mut() {
            last.facts = facts.to_vec();
        }
    }

    /// A fact in a message that the client kept whole is not lost.
    pub(crate) fn measure(&mut self, survival: &Survival) {
        let Some(last) = self.compactions.last_mut() else { return };
        let kept: Vec<&str> = last.kept.iter().map(String::as_str).collect();
        let found = measure_survival(&survival.lost, "", &kept);
        last.survival = Some(Survival { kept: survival.kept + found.kept, of: survival.of, ..found });
        last.kept = Vec::new();
    }
}

impl Ahead {
    /// A warning after the last answer leaves nothing that could still be done.
    pub fn is_in_time(self) -> bool {
        self.turns + self.answers > 0
    }
}

impl PlayedCompaction {
    pub fn was_warned(&self) -> bool {
        self.early.is_some_and(Ahead::is_in_time)
    }
}

impl GivenWarning {
    pub(crate) fn new(
        level: WarningLevel,
        reading: &Reading,
        turns_left: Option<u32>,
        is_for_person: bool,
        (line, turn, at): (usize, usize, Millis),
    ) -> GivenWarning {
        let (used, left) = (reading.used, reading.left());
        GivenWarning {
            level,
            line,
            turn,
            at,
            used,
            left,
            turns_left,
            is_for_person,
            answers: 0,
            is_copy: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::made_up::MadeUp;
    use crate::player::play_session;
    use crate::seen_files::ProjectFiles;
    use tidegate_core::feature::config::Config;

    fn course(made: MadeUp, config: &Config) -> ContextCourse {
        play_session(&made.read(), "/w/shop", &ProjectFiles::default(), config).unwrap().context
    }

    fn climbing() -> MadeUp {
        let made = MadeUp::new().prompt("Never touch the file src/old.rs in this task.").edits("src/new.rs");
        [60_000, 90_000, 125_000, 140_000, 152_000, 160_000]
            .into_iter()
            .fold(made, |made, used| made.answers(used, "done").prompt("go on with it"))
    }

    #[test]
    fn an_answer_counts_once() {
        let course = course(climbing(), &Config::default());
        let used: Vec<u32> = course.curve.iter().map(|point| point.used).collect();
        assert_eq!(used, [60_000, 90_000, 125_000, 140_000, 152_000, 160_000]);
        assert_eq!(course.window, Some(200_000));
        assert!(course.curve.iter().all(|point| point.seen == Some(point.turn + 1)));
    }

    #[test]
    fn warnings_come_once_per_level_and_again_after_a_compaction() {
        let made = climbing().compacts("auto", 161_000, "x").answers(30_000, "on").prompt("b");
        let course = course(made.answers(130_000, "more").prompt("c").says("d"), &Config::default());
        let levels: Vec<(WarningLevel, usize)> =
            course.warnings.iter().map(|warning| (warning.level, warning.turn)).collect();
        assert_eq!(levels, [(WarningLevel::Early, 4), (WarningLevel::Late, 6), (WarningLevel::Early, 9)]);
        let compaction = &course.compactions[0];
        assert_eq!((compaction.turn, compaction.tokens_before), (7, Some(161_000)));
        assert_eq!(compaction.early, Some(Ahead { turns: 3, answers: 3 }));
        assert_eq!(compaction.late.map(|late| late.turns), Some(1));
    }

    #[test]
    fn a_sudden_compaction_comes_without_a_warning() {
        let made =
            MadeUp::new().prompt("a").answers(60_000, "b").prompt("paste").compacts("auto", 180_000, "x");
        let course = course(made.answers(20_000, "on"), &Config::default());
        assert!(course.warnings.is_empty() && !course.compactions[0].was_warned());
    }

    #[test]
    fn a_warning_right_at_the_compaction_is_none() {
        let full = || MadeUp::new().prompt("a").answers(160_000, "b").prompt("paste");
        let at_once = course(full().compacts("auto", 180_000, "x").answers(20_000, "on"), &Config::default());
        let compaction = &at_once.compactions[0];
        assert_eq!(compaction.early, Some(Ahead { turns: 0, answers: 0 }));
        assert!(!compaction.was_warned());
        let made = full().answers(165_000, "c").compacts("auto", 180_000, "x").answers(20_000, "on");
        let one_answer = course(made, &Config::default());
        assert_eq!(one_answer.compactions[0].early, Some(Ahead { turns: 0, answers: 1 }));
        assert!(one_answer.compactions[0].was_warned());
    }

    #[test]
    fn lost_facts_are_those_that_the_summary_does_not_name() {
        let lost = |summary: &str| {
            let course = course(climbing().compacts("manual", 161_000, summary), &Config::default());
            let survival = course.compactions[0].survival.clone().unwrap();
            let lost: Vec<String> = survival.lost.into_iter().map(|fact| fact.text).collect();
            (survival.of, lost)
        };
        let (of, nothing) = lost("Never touch the file src/old.rs in this task. Edited src/new.rs.");
        assert_eq!((of, nothing.len()), (2, 0));
        assert_eq!(lost("Edited src/new.rs.").1, ["Never touch the file src/old.rs in this task."]);
    }

    #[test]
    fn forecasts_are_compared_with_the_next_automatic_compaction() {
        let even = (0..9).fold(MadeUp::new(), |made, n| made.prompt("go").answers(120_000 + n * 9_000, "ok"));
        let course =
            course(even.prompt("x").compacts("auto", 195_000, "s").answers(9_000, "y"), &Config::default());
        assert!(!course.forecasts.is_empty());
        assert!(
            course.forecasts.iter().all(|check| check.predicted.abs_diff(check.real) <= 1),
            "{:?}",
            course.forecasts
        );
    }
}
