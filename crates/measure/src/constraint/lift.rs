//! Pairs of a constraint and a later prompt: whether the prompt takes it back.

use std::path::{Path, PathBuf};

use serde_json::Value;
use tidegate_core::feature::knowledge::constraint::lifted;

use super::{percent, read_lines, was_examination};
use crate::goals;
use xtask::failure::Done;
use xtask::print;
use xtask::workspace;

/// Per cent of the held-out constraints of a language that the prompt leaves. A wrongly dropped constraint is lost in
/// silence; one that stays too long is said again and can be taken back again.
const STANDING: f64 = 98.0;
/// Per cent of those that the prompt takes back.
const RECALL: f64 = 60.0;

/// The small batches of the reviewers and of the week have no goal of their own.
pub(super) const PARTS: [&str; 10] = [
    "train",
    "held-out",
    "readers-train",
    "readers-held-out",
    "week-train",
    "week-held-out",
    "users-train",
    "users-held-out",
    "elsewhere",
    "elsewhere-2",
];

pub(super) struct Pair {
    constraint: String,
    prompt: String,
    is_lifted: bool,
}

fn part_file(part: &str, language: &str) -> PathBuf {
    let file = if was_examination(part) { format!("{part}/lift") } else { format!("lift-{part}") };
    workspace::root().join(format!("corpus/constraint/{file}.{language}.jsonl"))
}

pub(super) fn read_pairs(path: &Path, language: &str) -> Done<Vec<Pair>> {
    read_lines(path, |line| {
        let entry: Value = serde_json::from_str(line).ok()?;
        (entry.as_object()?.len() == 4 && entry["lang"] == language).then_some(())?;
        let text = |key: &str| entry[key].as_str().map(str::to_owned);
        let (constraint, prompt) = (text("constraint")?, text("prompt")?);
        Some(Pair { constraint, prompt, is_lifted: entry["lifted"].as_bool()? })
    })
}

/// Of pairs.
#[derive(Clone, Copy, Default)]
pub(super) struct Counts {
    standing: usize,
    left: usize,
    lifted: usize,
    found: usize,
}

impl Counts {
    pub(super) fn of_part(part: &str, language: &str) -> Done<Counts> {
        Ok(Counts::of(&read_pairs(&part_file(part, language), language)?, !part.ends_with("held-out")))
    }

    pub(super) fn of(pairs: &[Pair], shows_wrong: bool) -> Counts {
        let mut counts = Counts::default();
        for Pair { constraint, prompt, is_lifted } in pairs {
            let is_found = !lifted(std::slice::from_ref(constraint), prompt).is_empty();
            if shows_wrong && is_found != *is_lifted {
                let what = if *is_lifted { "takes back" } else { "leaves" };
                print::line(&format!("    {prompt:?} {what} {constraint:?}"));
            }
            if *is_lifted {
                counts.lifted += 1;
                counts.found += usize::from(is_found);
            } else {
                counts.standing += 1;
                counts.left += usize::from(!is_found);
            }
        }
        counts
    }

    pub(super) fn summary(self) -> String {
        let Counts { standing, left, lifted, found } = self;
        let wrong = standing - left;
        format!(
            "{} pairs; wrongly {:.1}% ({wrong} of {standing}), precision {:.1}% ({found} of {}), recall {:.1}% ({found} of {lifted})",
            standing + lifted,
            percent(wrong, standing),
            percent(found, found + wrong),
            found + wrong,
            percent(found, lifted),
        )
    }

    pub(super) fn missed_goals(self) -> Vec<String> {
        goals::missed([
            ("constraints left standing", percent(self.left, self.standing), STANDING),
            ("recall of those taken back", percent(self.found, self.lifted), RECALL),
        ])
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use tidegate_core::feature::knowledge::constraint::find_constraints;
    use tidegate_core::text::fnv;

    use super::*;
    use crate::phase::LANGUAGES;

    #[test]
    fn the_hash_of_a_pair_decides_its_part() {
        let mut seen = BTreeSet::new();
        for language in LANGUAGES {
            for part in ["train", "held-out", "week-train", "week-held-out"] {
                let pairs = read_pairs(&part_file(part, language), language)
                    .unwrap_or_else(|failure| panic!("{}", failure.text()));
                let lifted = pairs.iter().filter(|pair| pair.is_lifted).count();
                let is_week = part.starts_with("week");
                let least = if is_week { 15 } else { 30 };
                assert!(lifted >= 15 && pairs.len() - lifted >= least, "{part} {language}: {lifted}");
                for Pair { constraint, prompt, .. } in pairs {
                    let both = format!("{constraint}\n{prompt}");
                    let hash = fnv::hash(both.bytes());
                    let held_out = if is_week { hash % 2 == 0 } else { hash % 5 < 2 };
                    assert_eq!(held_out, part.ends_with("held-out"), "{both}");
                    // The week's are named as the person wrote them, also those that no rule finds.
                    assert!(
                        is_week || find_constraints(&constraint) == [constraint.as_str()],
                        "{constraint}"
                    );
                    assert!(seen.insert(both), "twice: {prompt}");
                }
            }
        }
    }
}
