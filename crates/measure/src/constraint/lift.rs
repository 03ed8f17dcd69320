//! Pairs of a constraint and a later prompt: whether the prompt takes it back.

use std::path::Path;

use serde_json::Value;
use tidegate_core::feature::knowledge::constraint::lifted;

use super::examples::{EXAM, authors, folder, read_lines};
use super::percent;
use crate::goals;
use xtask::failure::{Done, Failure};
use xtask::print;

/// Per cent of the held-out constraints of a language that the prompt leaves. A wrongly dropped constraint is lost in
/// silence; one that stays too long is said again and can be taken back again.
const STANDING: f64 = 98.0;
/// Per cent of those that the prompt takes back.
const RECALL: f64 = 60.0;

pub(super) struct Pair {
    constraint: String,
    prompt: String,
    is_lifted: bool,
}

/// The author whose held-out pairs have to reach the goals.
const JUDGE: &str = "ordinary";

/// The pairs of an author.
pub(super) struct Part {
    pub(super) title: String,
    pub(super) counts: Counts,
    pub(super) has_goals: bool,
}

/// Those that are held out, or are examinations, are only counted.
pub(super) fn each_part(language: &str) -> Done<Vec<Part>> {
    let mut parts = Vec::new();
    for author in authors()? {
        for (file, is_held_out) in [("lift", false), ("lift-held-out", true)] {
            let path = folder().join(&author).join(format!("{file}.{language}.jsonl"));
            if path.exists() {
                let is_shown = !is_held_out && !author.starts_with(EXAM);
                let held_out = if is_held_out { ", held out" } else { "" };
                parts.push(Part {
                    title: format!("{author}{held_out}"),
                    counts: Counts::of(&read_pairs(&path, language)?, is_shown),
                    has_goals: is_held_out && author == JUDGE,
                });
            }
        }
    }
    if parts.iter().any(|part| part.has_goals) {
        return Ok(parts);
    }
    Err(Failure::new(format!("no held-out pairs of {JUDGE} in {language}")))
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
