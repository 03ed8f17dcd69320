//! Context pressure: warns once per level while context use climbs. Advice only.
//!
//! The rules, case by case, are in `context_warning.md`.

pub mod effect;
pub mod marks;

use std::cmp::Ordering;
use std::fmt::Write as _;

use crate::event::{Event, EventKind};
use crate::feature::config::Config;
use crate::feature::facts::{Facts, Known, Needs};
use crate::feature::marks::Marks;
use crate::feature::pressure::marks::{Mark, PressureLevel, SaidPressure};
use crate::feature::verdict::{Audience, Effect, Say, Verdict};
use crate::feature::{Feature, Mode, Policy};
use crate::meter::forecast::Forecast;
use crate::meter::{Reading, Threshold, short_tokens};
use crate::settings::section::section;
use crate::settings::setting::choices;

section! {
    /// Section `[context_warning]`.
    Settings "context_warning" {
        /// Whether it tells the model (`advise`), only records what it would have said (`shadow`), or does not look.
        mode: PressureMode = PressureMode::Advise, Tightens;
        /// When to warn early: tokens left before Claude Code compacts, or turns left. `"47k"` and `"17k"` adapt to the window. They shrink in proportion if it compacts below 167k tokens, and mean 80k and 50k before it is full if it never compacts.
        early: Threshold = Threshold::EARLY, WithTrust;
        /// When to warn late, in the same form.
        late: Threshold = Threshold::LATE, WithTrust;
    }
    presets {
        mode: PressureMode::Shadow, PressureMode::Advise;
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PressureMode {
    /// Tells the model.
    Advise,
    /// Only records.
    Shadow,
    Off,
}

choices!(PressureMode {
    "off" => PressureMode::Off,
    "shadow" => PressureMode::Shadow,
    "advise" => PressureMode::Advise,
});

pub struct Room;

impl Feature for Room {
    type Needs = ();
    type Facts = ();
    type Effect = effect::Effect;
}

pub struct Pressure;

impl Policy for Pressure {
    fn id(&self) -> &'static str {
        "context-warning"
    }

    fn mode(&self, config: &Config) -> Mode {
        match config.policies.pressure.mode {
            PressureMode::Advise => Mode::Live,
            PressureMode::Shadow => Mode::Shadow,
            PressureMode::Off => Mode::Off,
        }
    }

    fn needs(&self, event: &Event<'_>, marks: Option<&Marks>) -> Option<Needs> {
        // A subagent has its own context, and text for it reaches only the subagent.
        let listens = matches!(event.kind, EventKind::UserPromptSubmit | EventKind::PostToolUse);
        (listens && event.is_main_thread()).then(|| {
            let mut needs = Needs { meter: true, ..Needs::default() };
            // An unchanged flow need not be read again.
            needs.knowledge.flow_changed = marks.is_some_and(|marks| marks.pressure.said.promoted);
            needs
        })
    }

    fn needs_more(&self, facts: &Facts<'_>, config: &Config) -> Needs {
        let said = facts.marks.value().map(|marks| marks.pressure.said).unwrap_or_default();
        let rises = |reading: &Reading| reached_level(facts, config, reading) > said.level;
        let mut needs = Needs::default();
        needs.knowledge.files = !flow_is_unchanged(facts, &said) && facts.meter.reading().is_some_and(rises);
        needs
    }

    fn decide(&self, facts: &Facts<'_>, config: &Config) -> Verdict {
        let Some(reading) = facts.meter.reading() else { return Verdict::silent("no reading") };
        let Some(window) = reading.window else { return Verdict::silent("the window is not known") };
        let given = match &facts.marks {
            Known::Value(marks) => marks.pressure.said,
            Known::Absent => SaidPressure::default(),
            // Unknown whether it was said already: advice fails open, which means silence.
            Known::Broken(_) => return Verdict::silent("the marks cannot be read"),
        };
        let level = reached_level(facts, config, reading);
        let now = SaidPressure {
            level,
            used: reading.used,
            reference: window.reference(),
            at: reading.at,
            promoted: false,
            looked: None,
        };
        let remember = vec![
            Effect::mark(Mark::Pressure(now)),
            Effect::Pressure(effect::Effect::Publish { level, reading: reading.clone() }),
        ];
        // A hook of a parallel call may have an older reading than the last warning.
        if reading.at < given.at {
            return Verdict::silent("a newer reading was seen");
        }
        match level.cmp(&given.level) {
            Ordering::Equal if level == PressureLevel::None => Verdict::silent("below the first level"),
            Ordering::Equal => Verdict::silent("this level was said before"),
            // Use fell (a rewind), or the window grew: the next level may be said again.
            Ordering::Less if use_fell(&given, &now) => {
                Verdict { effects: remember, ..Verdict::silent("use fell; armed again") }
            }
            Ordering::Less => Verdict::silent("this level was said before"),
            // The urgency was about losing unpromoted entries.
            Ordering::Greater if given.promoted && count_unpromoted(facts) == 0 => {
                let looked = Mark::Pressure(SaidPressure { looked: Some(facts.now), ..given });
                let effects =
                    if flow_is_unchanged(facts, &given) { Vec::new() } else { vec![Effect::mark(looked)] };
                Verdict { effects, ..Verdict::silent("everything is promoted") }
            }
            Ordering::Greater => {
                let say = Say {
                    to: Audience::Model,
                    text: pressure_text(level, facts, reading),
                    weight: if level == PressureLevel::Urgent { 60 } else { 40 },
                    explains: false,
                    when_said: remember,
                };
                Verdict { says: vec![say], ..Verdict::silent("a level was reached") }
            }
        }
    }
}

/// A few tokens less are jitter: tools come and go in a request.
fn use_fell(said: &SaidPressure, now: &SaidPressure) -> bool {
    now.reference > said.reference || now.used + now.reference / 50 < said.used
}

fn reached_level(facts: &Facts<'_>, config: &Config, reading: &Reading) -> PressureLevel {
    config.policies.pressure.level(reading, facts.forecast().as_ref())
}

impl Settings {
    pub fn level(&self, reading: &Reading, forecast: Option<&Forecast>) -> PressureLevel {
        if self.late.reached(reading, forecast) {
            PressureLevel::Urgent
        } else if self.early.reached(reading, forecast) {
            PressureLevel::Info
        } else {
            PressureLevel::None
        }
    }
}

/// Flow is unchanged since it was last read and found promoted. Saves reading all of it at every tool call.
fn flow_is_unchanged(facts: &Facts<'_>, said: &SaidPressure) -> bool {
    said.promoted
        && said
            .looked
            .is_some_and(|looked| facts.knowledge.flow_changed.is_none_or(|changed| changed < looked))
}

/// Zero if unknown.
fn count_unpromoted(facts: &Facts<'_>) -> usize {
    facts.knowledge.files.as_ref().map_or(0, |knowledge| knowledge.unpromoted.len())
}

/// Numbers first, then their meaning. Facts, no commands.
fn pressure_text(level: PressureLevel, facts: &Facts<'_>, reading: &Reading) -> String {
    let mut text = String::from(match level {
        PressureLevel::Urgent => "Context is running out: ",
        PressureLevel::Info | PressureLevel::None => "Context use: ",
    });
    if let (Some(window), Some(percent), Some(left)) = (reading.window, reading.used_pct(), reading.left()) {
        let before = if window.compact_at.is_some() {
            "before the client compacts"
        } else {
            "before the window is full"
        };
        let _ = write!(
            text,
            "{}% of {} tokens are in use, {} tokens are left {before}",
            percent.round() as u64,
            short_tokens(window.tokens),
            short_tokens(left),
        );
    }
    if let Some(Forecast { turns, fewest, most }) = facts.forecast() {
        let _ = match turns {
            0 => write!(text, ", less than a turn at this session's pace"),
            1 => write!(text, ", about 1 turn at this session's pace ({fewest} to {most})"),
            _ => write!(text, ", about {turns} turns at this session's pace ({fewest} to {most})"),
        };
    }
    // A host that never compacts makes no summary to rely on.
    let compacts = reading.window.is_some_and(|window| window.compact_at.is_some());
    text += if compacts { ". After that the conversation survives only as a summary." } else { "." };
    // Decisions for a person go with a person's prompt; in the middle of a turn the text names what the model
    // can do alone.
    match (facts.event.kind, count_unpromoted(facts)) {
        (EventKind::PostToolUse, _) => {
            text += " An entry in progress.md is kept as written: `tidegate progress add \"what was done\"` makes one, with \
                     --decision and --next.";
        }
        (_, 0) => {}
        (_, entries) => {
            let (entries, them) = match entries {
                1 => ("1 entry of progress.md is".to_owned(), "it"),
                _ => (format!("{entries} entries of progress.md are"), "them"),
            };
            let _ = write!(text, " {entries} not promoted to learnings; ");
            let _ = match level {
                PressureLevel::Urgent => write!(text, "`/compound` now would preserve {them} before that."),
                PressureLevel::Info | PressureLevel::None => {
                    write!(text, "the next pause in the work is a good moment for `/compound`.")
                }
            };
        }
    }
    text
}
