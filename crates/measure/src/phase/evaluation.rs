//! `cargo xtask eval-phase`: accuracy of the committed parameters on the held-out prompts.

use std::fmt::Write as _;

use tidegate_core::feature::activity::begun_phase::wanted_confidence;
use tidegate_core::feature::activity::classifier as phase;
use tidegate_core::feature::activity::classifier::Phase;
use tidegate_core::feature::config::Config;

use super::corpus::{self, Example, LANGUAGES};
use crate::goals;
use xtask::failure::{Done, Failure};
use xtask::print;

const PHASES: usize = Phase::ALL.len();
const GOAL: f64 = 90.0;
const GOAL_HARD: f64 = 85.0;
/// A few words have little to go by.
const GOAL_SHORT: f64 = 80.0;

/// The parts that are measured, with two floors, so that they cannot get worse in silence: per cent of the prompts that ask
/// for an activity and begin it (below the confidence that is set, nothing happens), and of the activities that begin and
/// were meant.
const FLOORS: [(&str, f64, f64); 3] =
    [("held-out", 87.5, 96.5), ("short", 80.0, 98.5), ("short-2", 74.0, 94.0)];

/// Lower bounds of the confidence groups.
const STEPS: [f64; 5] = [0.9, 0.7, 0.5, 0.3, 0.0];

pub(crate) fn run() -> Done {
    let mut missed = Vec::new();
    for language in LANGUAGES {
        let judged = JudgedPrompts::of(&corpus::read_examples("held-out", language)?);
        let (all, hard) = (judged.percent(|_| true), judged.percent(|one| one.hard));
        print::line(&format!(
            "{language}: {all:.1}% of {} (goal ≥ {GOAL}%), hard {hard:.1}% of {} (goal ≥ {GOAL_HARD}%)",
            judged.0.len(),
            judged.0.iter().filter(|one| one.hard).count()
        ));
        let short = JudgedPrompts::of(&corpus::read_examples("short", language)?);
        let right = short.percent(|_| true);
        print::line(&format!("{language}, short: {right:.1}% of {} (goal ≥ {GOAL_SHORT}%)", short.0.len()));
        short.table().iter().for_each(|line| print::line(line));
        for (part, entered, rightly) in FLOORS {
            let found = JudgedPrompts::of(&corpus::read_examples(part, language)?).entered();
            print::line(&format!("{language}, {part}, entered: {}", found.summary()));
            let below = found.below(entered, rightly);
            missed.extend(below.into_iter().map(|what| format!("{language}, {part}: {what}")));
        }
        judged.table().into_iter().chain(judged.by_confidence()).for_each(|line| print::line(&line));
        let goals = [
            ("of all, the right share", all, GOAL),
            ("of the hard ones, the right share", hard, GOAL_HARD),
            ("of the short ones, the right share", right, GOAL_SHORT),
        ];
        missed.extend(goals::missed(goals).into_iter().map(|what| format!("{language}: {what}")));
    }
    if missed.is_empty() {
        return Ok(());
    }
    Err(Failure::new(format!("the classifier misses its goals:\n  {}", missed.join("\n  ")))
        .next("better features or more training prompts; what is held out stays as it is"))
}

struct JudgedPrompt {
    label: usize,
    guess: usize,
    confidence: f64,
    hard: bool,
}

/// Activities that prompts begin.
struct Entered {
    meant: usize,
    begun: usize,
    right: usize,
}

impl Entered {
    fn shares(&self) -> (f64, f64) {
        let percent = |of: usize| 100.0 * self.right as f64 / of as f64;
        (percent(self.meant), percent(self.begun))
    }

    fn summary(&self) -> String {
        let Entered { meant, begun, right } = self;
        let (entered, _) = self.shares();
        format!("{right} of {meant} ({entered:.1}%), {} wrong ones", begun - right)
    }

    fn below(&self, least: f64, least_rightly: f64) -> Vec<String> {
        let (entered, rightly) = self.shares();
        goals::missed([
            ("of the activities asked for, the share that begins", entered, least),
            ("of the activities that begin, the share that was meant", rightly, least_rightly),
        ])
    }
}

struct JudgedPrompts(Vec<JudgedPrompt>);

impl JudgedPrompts {
    fn of(examples: &[Example]) -> JudgedPrompts {
        let one = |example: &Example| {
            let guess = phase::classify_prompt(&example.prompt);
            JudgedPrompt {
                label: example.phase as usize,
                guess: guess.phase as usize,
                confidence: guess.confidence,
                hard: example.hard,
            }
        };
        JudgedPrompts(examples.iter().map(one).collect())
    }

    fn percent(&self, which: impl Fn(&JudgedPrompt) -> bool) -> f64 {
        let (mut right, mut all) = (0_u32, 0_u32);
        for one in self.0.iter().filter(|one| which(one)) {
            right += u32::from(one.label == one.guess);
            all += 1;
        }
        if all == 0 { f64::NAN } else { 100.0 * f64::from(right) / f64::from(all) }
    }

    /// What happens with the settings as they come.
    fn entered(&self) -> Entered {
        let wanted = wanted_confidence(&Config::default());
        let other = Phase::Other as usize;
        let begins = |one: &&JudgedPrompt| one.guess != other && one.confidence >= wanted;
        let begun: Vec<&JudgedPrompt> = self.0.iter().filter(begins).collect();
        Entered {
            meant: self.0.iter().filter(|one| one.label != other).count(),
            begun: begun.len(),
            right: begun.iter().filter(|one| one.label == one.guess).count(),
        }
    }

    /// The confusion matrix: a row per true phase, a column per answer.
    fn table(&self) -> Vec<String> {
        let mut counts = [[0_u32; PHASES]; PHASES];
        for one in &self.0 {
            counts[one.label][one.guess] += 1;
        }
        let mut head = format!("    {:<12}", "meant");
        for phase in Phase::ALL {
            let _ = write!(head, "{:>6}", &phase.name()[..phase.name().len().min(5)]);
        }
        let mut lines = vec![head + "   recall  precision"];
        for phase in Phase::ALL {
            let mut line = format!("    {:<12}", phase.name());
            for count in counts[phase as usize] {
                let cell = if count == 0 { "·".to_owned() } else { count.to_string() };
                let _ = write!(line, "{cell:>6}");
            }
            let recall = self.percent(|one| one.label == phase as usize);
            let precision = self.percent(|one| one.guess == phase as usize);
            lines.push(format!("{line}{recall:>8.1}%{precision:>10.1}%"));
        }
        lines
    }

    /// Accuracy by confidence.
    fn by_confidence(&self) -> Vec<String> {
        let mut below = f64::INFINITY;
        let mut lines = Vec::new();
        for from in STEPS {
            let inside = |one: &JudgedPrompt| (from..below).contains(&one.confidence);
            let count = self.0.iter().filter(|one| inside(one)).count();
            if count > 0 {
                lines.push(format!(
                    "    confidence from {from:.1}: {:>5.1}% of {count}",
                    self.percent(inside)
                ));
            }
            below = from;
        }
        lines
    }
}
