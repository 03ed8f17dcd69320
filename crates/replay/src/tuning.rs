//! When to warn, from how past sessions came to their compactions.
//!
//! A warning comes at the first event that sees the tokens left fall below its threshold. So each compaction has a smallest
//! threshold that would have left enough turns, and the proposal is enough for 95 of 100 of them.

use serde::Serialize;
use tidegate_core::time::Millis;

use crate::context::{Ahead, ContextCourse, CurvePoint, PlayedCompaction};

/// With fewer compactions, 95 of 100 means nothing.
pub const ENOUGH: usize = 20;

const PERCENT: usize = 95;

/// Thresholds are whole thousands.
const STEP: u32 = 1000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Proposal {
    /// Turns that it leaves.
    pub turns: u32,
    /// Tokens left.
    pub tokens: u32,
    /// Compactions before which it leaves them.
    pub in_time: usize,
    /// How often it warns in all sessions.
    pub warnings: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tuning {
    /// Automatic ones.
    pub compactions: usize,
    /// Of them, those with enough turns before them for any warning to leave that many.
    pub reachable: usize,
    /// `None` without enough of them.
    pub early: Option<Proposal>,
    /// Leaves one turn. After the early one, which gives way to it.
    pub late: Option<Proposal>,
    pub in_time_now: InTime,
}

/// Reachable compactions before which the warnings of the replay itself came in time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct InTime {
    pub early: usize,
    /// With one turn left.
    pub late: usize,
}

/// The answers between two compactions.
struct Span<'a> {
    points: &'a [CurvePoint],
    /// The automatic compaction at its end.
    end: Option<&'a PlayedCompaction>,
}

fn spans(course: &ContextCourse, since: Millis) -> Vec<Span<'_>> {
    let mut spans = Vec::new();
    let mut from = 0;
    for compaction in &course.compactions {
        let is_counted = !compaction.is_by_hand && !compaction.is_copy && compaction.at >= since;
        let end = is_counted.then_some(compaction);
        spans.push(Span { points: &course.curve[from..compaction.answers], end });
        from = compaction.answers;
    }
    spans.push(Span { points: &course.curve[from..], end: None });
    spans
}

impl Span<'_> {
    /// The smallest threshold that leaves so many turns; `None` if none does.
    fn needed(&self, turns: u32) -> Option<u32> {
        let end = u32::try_from(self.end?.turn).unwrap_or(u32::MAX);
        let latest = end.checked_sub(turns)?;
        let left = |point: &CurvePoint| point.left.filter(|_| point.seen.is_some_and(|seen| seen <= latest));
        self.points.iter().filter_map(left).min()
    }

    /// A warning that another transcript shows, too, counts there.
    fn warns(&self, tokens: u32, since: Millis) -> bool {
        let is_heard =
            |point: &&CurvePoint| point.seen.is_some() && point.left.is_some_and(|left| left <= tokens);
        self.points.iter().find(is_heard).is_some_and(|point| !point.is_copy && point.at >= since)
    }
}

impl Tuning {
    /// For early warnings that leave at least `turns`. `since`: only compactions and warnings from then on.
    pub fn of<'a>(
        courses: impl Iterator<Item = &'a ContextCourse>,
        turns: u32,
        since: Option<Millis>,
    ) -> Tuning {
        let since = since.unwrap_or_default();
        let mut tuning = Tuning::default();
        let mut all = Vec::new();
        for course in courses {
            all.extend(spans(course, since));
        }
        tuning.compactions = all.iter().filter(|span| span.end.is_some()).count();
        // The same ones for both: so the late warning needs no more than the early one.
        let reachable: Vec<&Span<'_>> = all.iter().filter(|span| span.needed(turns).is_some()).collect();
        tuning.reachable = reachable.len();
        let ends = || reachable.iter().filter_map(|span| span.end);
        let leaves =
            |ahead: Option<Ahead>, turns: u32| ahead.is_some_and(|ahead| ahead.turns >= turns as usize);
        tuning.in_time_now = InTime {
            early: ends().filter(|end| leaves(end.early, turns)).count(),
            late: ends().filter(|end| leaves(end.late, 1)).count(),
        };
        if let Some((early, needed)) = find_distance(&reachable, turns).zip(find_distance(&reachable, 1)) {
            // At the place of the early warning, the late one would hide it; below, it could come after the last answer.
            let late = needed.max(STEP);
            let early = early.max(late + STEP);
            let propose = |turns, tokens| Some(propose(&all, &reachable, (turns, tokens), since));
            tuning.early = propose(turns, early);
            tuning.late = propose(1, late);
        }
        tuning
    }
}

/// Enough for 95 of 100 of these compactions.
fn find_distance(reachable: &[&Span<'_>], turns: u32) -> Option<u32> {
    let mut needed: Vec<u32> = reachable.iter().filter_map(|span| span.needed(turns)).collect();
    if needed.len() < ENOUGH {
        return None;
    }
    needed.sort_unstable();
    let at = (needed.len() * PERCENT).div_ceil(100) - 1;
    Some(needed[at].div_ceil(STEP) * STEP)
}

fn propose(
    all: &[Span<'_>],
    reachable: &[&Span<'_>],
    (turns, tokens): (u32, u32),
    since: Millis,
) -> Proposal {
    let is_in_time = |span: &&&Span<'_>| span.needed(turns).is_some_and(|needed| needed <= tokens);
    Proposal {
        turns,
        tokens,
        in_time: reachable.iter().filter(is_in_time).count(),
        warnings: all.iter().filter(|span| span.warns(tokens, since)).count(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::made_up::MadeUp;
    use crate::player::play_session;
    use crate::seen_files::ProjectFiles;
    use tidegate_core::feature::config::Config;
    use tidegate_core::meter::Threshold;

    /// Ten turns, each of which adds so many tokens, then a compaction at 160k.
    fn course(growth: u64, config: &Config) -> ContextCourse {
        let mut made = MadeUp::new();
        for turn in 0..10 {
            made = made.prompt("go").answers(160_000 - (9 - turn) * growth, "done");
        }
        let session = made.prompt("next").compacts("auto", 160_000, "Summary").answers(20_000, "on").read();
        play_session(&session, "/w/shop", &ProjectFiles::default(), config).unwrap().context
    }

    #[test]
    fn a_proposal_leaves_its_turns_in_the_engine_too() {
        let own = Config::default();
        let courses: Vec<ContextCourse> = (0..40).map(|n| course(1_000 + n * 200, &own)).collect();
        let tuning = Tuning::of(courses.iter(), 3, None);
        assert_eq!((tuning.compactions, tuning.reachable), (40, 40));
        let early = tuning.early.unwrap();
        assert!(early.in_time >= 38 && early.warnings >= early.in_time, "{early:?}");
        let mut changed = Config::default();
        changed.policies.pressure.early = Threshold::Tokens(u64::from(early.tokens));
        let in_time = (0..40).filter(|n| {
            let course = course(1_000 + n * 200, &changed);
            course.compactions[0].early.is_some_and(|ahead| ahead.turns >= 3)
        });
        assert_eq!(in_time.count(), early.in_time);
    }

    #[test]
    fn the_late_warning_comes_after_the_early_one() {
        let own = Config::default();
        let pair = |turns: u32, growth: u64| {
            let courses: Vec<ContextCourse> = (0..ENOUGH).map(|_| course(growth, &own)).collect();
            let tuning = Tuning::of(courses.iter(), turns, None);
            let late = tuning.late.unwrap();
            assert!(late.in_time * 100 >= tuning.reachable * 95, "{late:?}");
            (tuning.early.unwrap().tokens, tuning.late.unwrap().tokens)
        };
        for (turns, growth) in [(1, 1_000), (1, 20), (3, 1), (3, 4_000)] {
            let (early, late) = pair(turns, growth);
            assert!(late < early && late >= STEP, "{turns}, {growth}: {early}, {late}");
        }
    }

    /// Warnings and compactions are of the same time as the turns by which they are divided.
    #[test]
    fn only_the_chosen_time_counts() {
        let own = Config::default();
        let courses: Vec<ContextCourse> = (0..40).map(|n| course(1_000 + n * 200, &own)).collect();
        let all = Tuning::of(courses.iter(), 3, None);
        let end = courses[0].compactions[0].at;
        let now = Tuning::of(courses.iter(), 3, Some(end));
        assert_eq!(now.compactions, 40);
        let warnings = |tuning: Tuning| tuning.early.map(|early| early.warnings);
        assert!(warnings(all) > warnings(now), "{all:?} {now:?}");
        let by_replay =
            courses.iter().filter(|course| course.compactions[0].late.is_some_and(|late| late.turns > 0));
        assert_eq!(all.in_time_now.late, by_replay.count());
        let later = Tuning::of(courses.iter(), 3, Some(Millis(end.0 + 86_400_000)));
        assert_eq!((later.compactions, later.early), (0, None));
    }

    #[test]
    fn few_compactions_are_no_evidence() {
        let own = Config::default();
        let courses: Vec<ContextCourse> = (0..ENOUGH as u64 - 1).map(|n| course(1_000 + n, &own)).collect();
        let tuning = Tuning::of(courses.iter(), 3, None);
        assert_eq!((tuning.early, tuning.late, tuning.compactions), (None, None, ENOUGH - 1));
    }
}
