//! Ends of turns as replayed, next to their labels.

use std::collections::{BTreeMap, BTreeSet};

use super::figures::{Share, cohens_kappa};
use super::labels::{Label, LabelledEnd};
use tidegate_replay::outcome::{HoldCause, StopOutcome};
use tidegate_replay::player::JudgedEnd;

/// A labelled end of a turn and its outcome.
pub(crate) struct Case<'a> {
    pub(crate) label: &'a LabelledEnd,
    pub(crate) judged: &'a JudgedEnd,
}

impl Case<'_> {
    fn is_passed(&self) -> bool {
        self.judged.outcome == StopOutcome::Verified
    }

    fn is(&self, labels: &[Label]) -> bool {
        labels.contains(&self.label.label)
    }

    /// Whether the outcome is another one than the label asks for.
    pub(crate) fn differs(&self) -> bool {
        match self.label.label {
            Label::Verified => !self.is_passed(),
            Label::NotCode => self.judged.outcome.is_held(),
            _ if self.label.asks && self.judged.outcome == StopOutcome::Asking => false,
            _ => !self.judged.outcome.is_held(),
        }
    }
}

/// Columns of the table of outcomes.
pub(crate) const COLUMNS: [&str; 10] = [
    "verified",
    "nothing run",
    "only before",
    "not known",
    "hidden",
    "failed",
    "too weak",
    "waiting",
    "asking",
    "no code",
];

fn column(outcome: &StopOutcome) -> usize {
    match outcome {
        StopOutcome::Verified => 0,
        StopOutcome::Held(HoldCause::NothingRun) => 1,
        StopOutcome::Held(HoldCause::OnlyBefore | HoldCause::HiddenBefore(_)) => 2,
        StopOutcome::Held(HoldCause::Unknown) => 3,
        StopOutcome::Held(HoldCause::Hidden(_)) => 4,
        StopOutcome::Held(HoldCause::Failed) => 5,
        StopOutcome::Held(HoldCause::TooWeak) => 6,
        StopOutcome::Waiting => 7,
        StopOutcome::Asking => 8,
        StopOutcome::NothingToCheck => 9,
    }
}

/// A share of ends of turns, and of sessions. A session counts as a hit if all its ends do: ends of one session
/// resemble each other, so their own interval is too narrow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shares {
    pub(crate) ends: Share,
    pub(crate) sessions: Share,
}

impl Shares {
    fn of<'a>(
        cases: &'a [Case<'a>],
        whole: impl Fn(&Case<'a>) -> bool,
        hit: impl Fn(&Case<'a>) -> bool,
    ) -> Shares {
        let mut sessions: BTreeMap<&str, bool> = BTreeMap::new();
        let whole: Vec<&Case<'a>> = cases.iter().filter(|case| whole(case)).collect();
        for case in &whole {
            *sessions.entry(&case.label.session).or_insert(true) &= hit(case);
        }
        Shares {
            ends: Share::count(whole.iter().map(|case| hit(case))),
            sessions: Share::count(sessions.into_values()),
        }
    }
}

/// A cause of holds.
pub(crate) struct CountedCause {
    pub(crate) cause: String,
    pub(crate) ends: usize,
    pub(crate) labels: Vec<(Label, usize)>,
}

/// All figures of a part.
pub(crate) struct Comparison<'a> {
    pub(crate) cases: &'a [Case<'a>],
    /// Name, and the share.
    pub(crate) shares: Vec<(&'static str, Shares)>,
}

impl<'a> Comparison<'a> {
    pub(crate) fn of(cases: &'a [Case<'a>]) -> Comparison<'a> {
        use Label::{HiddenPass, Verified};
        let is_hidden = |case: &Case<'_>| column(&case.judged.outcome) == 4;
        let shares = vec![
            (
                "precision: passed as verified, and labelled so",
                Shares::of(cases, Case::is_passed, |case| case.is(&[Verified])),
            ),
            (
                "  or labelled hidden-pass",
                Shares::of(cases, Case::is_passed, |case| case.is(&[Verified, HiddenPass])),
            ),
            (
                "recall: labelled verified, and passed",
                Shares::of(cases, |case| case.is(&[Verified]), Case::is_passed),
            ),
            (
                "  labelled verified or hidden-pass",
                Shares::of(cases, |case| case.is(&[Verified, HiddenPass]), Case::is_passed),
            ),
            ("held", Shares::of(cases, |_| true, |case| case.judged.outcome.is_held())),
            (
                "held for a hidden status, of all held",
                Shares::of(cases, |case| case.judged.outcome.is_held(), is_hidden),
            ),
            (
                "held, of those that ask the person",
                Shares::of(cases, |case| case.label.asks, |case| case.judged.outcome.is_held()),
            ),
        ];
        Comparison { cases, shares }
    }

    pub(crate) fn count_sessions(&self) -> usize {
        self.cases.iter().map(|case| &case.label.session).collect::<BTreeSet<_>>().len()
    }

    /// Per label, the number of ends and of sessions with each outcome.
    pub(crate) fn table(&self) -> Vec<(Label, [(usize, usize); COLUMNS.len()])> {
        let row = |label: Label| {
            let mut counts = [(0, 0); COLUMNS.len()];
            for (at, count) in counts.iter_mut().enumerate() {
                let inside = || {
                    self.cases
                        .iter()
                        .filter(|case| case.label.label == label && column(&case.judged.outcome) == at)
                };
                let sessions: BTreeSet<_> = inside().map(|case| &case.label.session).collect();
                *count = (inside().count(), sessions.len());
            }
            (label, counts)
        };
        Label::ALL.into_iter().map(row).collect()
    }

    /// Holds by cause, most frequent first, each with the labels.
    pub(crate) fn causes(&self) -> Vec<CountedCause> {
        let mut causes: BTreeMap<String, BTreeMap<Label, usize>> = BTreeMap::new();
        for case in self.cases {
            if let StopOutcome::Held(cause) = &case.judged.outcome {
                *causes.entry(cause.to_string()).or_default().entry(case.label.label).or_default() += 1;
            }
        }
        let mut causes: Vec<_> = causes
            .into_iter()
            .map(|(cause, labels)| CountedCause {
                cause,
                ends: labels.values().sum(),
                labels: labels.into_iter().collect(),
            })
            .collect();
        causes.sort_by_key(|counted| std::cmp::Reverse(counted.ends));
        causes
    }

    /// Sorted so that those of one sort are together.
    pub(crate) fn differences(&self) -> Vec<&Case<'a>> {
        let mut cases: Vec<&Case<'a>> = self.cases.iter().filter(|case| case.differs()).collect();
        cases.sort_by_key(|case| {
            (case.label.label, column(&case.judged.outcome), &case.label.session, case.label.turn)
        });
        cases
    }
}

/// Outcomes of all ends of turns, labelled or not, most frequent first.
pub(crate) fn count_outcomes<'a>(ends: impl Iterator<Item = &'a JudgedEnd>) -> Vec<(String, usize)> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for judged in ends {
        *counts.entry(judged.outcome.to_string()).or_default() += 1;
    }
    let mut counts: Vec<(String, usize)> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    counts
}

/// How far two readers agree.
pub(crate) struct Agreement {
    pub(crate) labels: Share,
    pub(crate) kappa: Option<f64>,
    /// With the output's part in a hidden status.
    pub(crate) whole: Share,
    pub(crate) whole_kappa: Option<f64>,
}

impl Agreement {
    pub(crate) fn of(labels: &[&LabelledEnd]) -> Agreement {
        let whole: Vec<(Label, Label)> =
            labels.iter().filter_map(|end| Some((end.label, end.second?))).collect();
        let main: Vec<(&str, &str)> =
            whole.iter().map(|(first, second)| (first.main(), second.main())).collect();
        let names: BTreeSet<&str> = Label::ALL.iter().map(|label| label.main()).collect();
        let names: Vec<&str> = names.into_iter().collect();
        Agreement {
            labels: Share::count(main.iter().map(|(first, second)| first == second)),
            kappa: cohens_kappa(&main, &names),
            whole: Share::count(whole.iter().map(|(first, second)| first == second)),
            whole_kappa: cohens_kappa(&whole, &Label::ALL),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::labels::Part;
    use tidegate_core::time::Millis;
    use tidegate_replay::turn::{Ending, TurnEnd};

    fn label(session: &str, turn: usize, label: Label) -> LabelledEnd {
        LabelledEnd {
            session: session.to_owned(),
            turn,
            line: turn * 10,
            entry: format!("{session}{turn}"),
            part: Part::Tune,
            label,
            asks: false,
            reason: String::new(),
            second: None,
        }
    }

    fn judged(outcome: StopOutcome) -> JudgedEnd {
        let end = TurnEnd {
            turn: 1,
            entry: String::new(),
            ending: Ending::Stop,
            said: String::new(),
            running: Vec::new(),
        };
        JudgedEnd {
            end,
            line: 1,
            at: Millis(0),
            is_blocked: outcome.is_held(),
            outcome,
            has_edited: true,
            run: None,
            edit_line: None,
        }
    }

    #[test]
    fn ends_and_sessions_are_counted_apart() {
        let held = |cause| StopOutcome::Held(cause);
        let pairs = [
            (label("a", 1, Label::Verified), judged(StopOutcome::Verified)),
            (label("a", 2, Label::Nothing), judged(StopOutcome::Verified)),
            (label("b", 1, Label::Verified), judged(StopOutcome::Verified)),
            (label("b", 2, Label::HiddenPass), judged(held(HoldCause::Hidden("| tail".into())))),
            (label("c", 1, Label::Verified), judged(held(HoldCause::Unknown))),
            (label("c", 2, Label::Failed), judged(StopOutcome::NothingToCheck)),
        ];
        let cases: Vec<Case<'_>> = pairs.iter().map(|(label, judged)| Case { label, judged }).collect();
        let all = Comparison::of(&cases);
        let share = |at: usize| (all.shares[at].1.ends, all.shares[at].1.sessions);
        let of = |hits, of| Share { hits, of };
        assert_eq!(share(0), (of(2, 3), of(1, 2)), "precision");
        assert_eq!(share(2), (of(2, 3), of(2, 3)), "recall");
        assert_eq!(share(3), (of(2, 4), of(1, 3)), "recall with hidden passes");
        assert_eq!(share(5), (of(1, 2), of(1, 2)), "hidden of held");
        assert_eq!(all.count_sessions(), 3);
        let differing: Vec<_> = all.differences().iter().map(|case| case.label.entry.as_str()).collect();
        assert_eq!(differing, ["c1", "c2", "a2"]);
        assert_eq!(all.table()[0].1[0], (2, 2));
        assert_eq!(all.causes().len(), 2);
    }

    #[test]
    fn readers_agree_in_labels_before_they_agree_in_outputs() {
        let mut ends =
            [label("a", 1, Label::HiddenPass), label("a", 2, Label::Nothing), label("a", 3, Label::Failed)];
        ends[0].second = Some(Label::HiddenFail);
        ends[1].second = Some(Label::Nothing);
        let agreement = Agreement::of(&ends.iter().collect::<Vec<_>>());
        assert_eq!((agreement.labels, agreement.whole), (Share { hits: 2, of: 2 }, Share { hits: 1, of: 2 }));
        assert_eq!(agreement.kappa, Some(1.0));
    }
}
