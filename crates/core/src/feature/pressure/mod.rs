//! Context warning: tells the model and the person once per level while context use climbs. Advice only.
//!
//! The rules, case by case, are in `context_warning.md`.

pub mod effect;
pub mod marks;
mod words;

use std::cmp::Ordering;

use crate::event::{Event, EventKind};
use crate::feature::config::Config;
use crate::feature::facts::{Facts, Known, Needs};
use crate::feature::marks::Marks;
use crate::feature::pressure::marks::{Mark, PressureLevel, SaidPressure};
use crate::feature::verdict::{Asks, Audience, Effect, Say, Verdict};
use crate::feature::{Feature, Mode, Policy};
use crate::host::Host;
use crate::meter::forecast::Forecast;
use crate::meter::{Reading, Source, Threshold, short_tokens};
use crate::settings::section::section;
use crate::settings::setting::choices;

section! {
    /// Section `[context_warning]`.
    Settings "context_warning" {
        /// Tell the model and the person (`advise`), only record the warning (`shadow`), or do not look (`off`).
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
    /// Tells the model and the person.
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
        if !event.is_main_thread() {
            return None;
        }
        match event.kind {
            EventKind::SessionStart => Some(Needs::default()),
            EventKind::UserPromptSubmit | EventKind::PostToolUse => {
                let mut needs = Needs { meter: true, ..Needs::default() };
                // An unchanged flow need not be read again.
                needs.knowledge.flow_changed = marks.is_some_and(|marks| marks.pressure.said.promoted);
                Some(needs)
            }
            _ => None,
        }
    }

    fn needs_more(&self, facts: &Facts<'_>, config: &Config) -> Needs {
        let said = facts.marks.value().map(|marks| marks.pressure.said).unwrap_or_default();
        let rises = |reading: &Reading| reached_level(facts, config, reading) > said.level;
        let mut needs = Needs::default();
        needs.knowledge.files = !flow_is_unchanged(facts, &said) && facts.meter.reading().is_some_and(rises);
        needs
    }

    fn decide(&self, facts: &Facts<'_>, config: &Config) -> Verdict {
        if facts.event.kind == EventKind::SessionStart && !facts.event.follows_compaction() {
            let effects = vec![Effect::Pressure(effect::Effect::TakeOver)];
            return Verdict { effects, ..Verdict::silent("a session starts without a reading") };
        }
        if facts.event.kind == EventKind::SessionStart {
            let unknown = effect::Effect::Publish { level: PressureLevel::None, reading: None };
            let effects = vec![Effect::Pressure(unknown)];
            return Verdict { effects, ..Verdict::silent("the compaction voids the last reading") };
        }
        let Some(reading) = facts.meter.reading() else { return Verdict::silent("no reading") };
        let Some(window) = reading.window else { return Verdict::silent("the window is not known") };
        let given = match &facts.marks {
            Known::Value(marks) => marks.pressure.said,
            Known::Absent => SaidPressure::default(),
            // Unknown whether it was said already: advice fails open, which means silence.
            Known::Broken(_) => return Verdict::silent("the session's state cannot be read"),
        };
        let level = reached_level(facts, config, reading);
        let now = SaidPressure {
            level,
            used: reading.used,
            reference: window.reference(),
            at: reading.at,
            promoted: false,
            looked: None,
            notes: given.notes,
            told_early: given.told_early,
            before_fork: false,
        };
        let remember = |now: SaidPressure| {
            let publish = effect::Effect::Publish { level, reading: Some(reading.clone()) };
            vec![Effect::mark(Mark::Pressure(now)), Effect::Pressure(publish)]
        };
        // A hook of a parallel call may have an older reading than the last warning.
        if reading.at < given.at {
            return Verdict::silent("a newer reading was seen");
        }
        match level.cmp(&given.level) {
            Ordering::Equal if level == PressureLevel::None => {
                let effects =
                    if is_first_reading(facts, &given, reading) { remember(now) } else { Vec::new() };
                Verdict { effects, ..Verdict::silent("below the first level") }
            }
            Ordering::Equal => {
                let effects = if given.before_fork { remember(now) } else { Vec::new() };
                Verdict { effects, ..Verdict::silent("this level was said before") }
            }
            // Use fell (a rewind), or the window grew: the next level may be said again.
            Ordering::Less if use_fell(&given, &now) => {
                Verdict { effects: remember(now), ..Verdict::silent("use fell; the warning can come again") }
            }
            Ordering::Less => Verdict::silent("this level was said before"),
            // The urgency was about losing unpromoted entries.
            Ordering::Greater if given.promoted && count_unpromoted(facts) == 0 => {
                let looked = Mark::Pressure(SaidPressure { looked: Some(facts.now), ..given });
                let effects =
                    if flow_is_unchanged(facts, &given) { Vec::new() } else { vec![Effect::mark(looked)] };
                Verdict { effects, ..Verdict::silent("every note is reviewed") }
            }
            Ordering::Greater => {
                let notes = count_unpromoted(facts);
                let weight = if level == PressureLevel::Urgent { 60 } else { 40 };
                let is_for_person = concerns_person(facts, level, notes);
                let told = if is_for_person { SaidPressure { notes, told_early: true, ..now } } else { now };
                let text = text_for_model(level, facts, reading);
                let mut says = vec![Say {
                    to: Audience::Model,
                    text,
                    weight,
                    explains: false,
                    when_said: remember(told),
                }];
                if let Some(distance) = distance(facts, reading).filter(|_| is_for_person) {
                    let notes = Some(notes).filter(|_| !facts.knowledge.takes_no_notes);
                    let text = words::warning(facts.lang, level, distance, notes);
                    // The person's text is always given. If the model's is too long for the budget, it would come back at every
                    // tool call, and the person's with it.
                    let when_said = std::mem::take(&mut says[0].when_said);
                    says.push(Say { to: Audience::User, text, weight, explains: false, when_said });
                }
                Verdict { says, asks: Asks::entry(), ..Verdict::silent("a level was reached") }
            }
        }
    }
}

/// The person hears of every late level. After the first early one in a session the status line is enough, unless many
/// more notes wait.
fn concerns_person(facts: &Facts<'_>, level: PressureLevel, notes: usize) -> bool {
    let knows =
        facts.marks.value().is_some_and(|marks| marks.pressure.said.told_early && !marks.are_news(notes));
    facts.person.may_be_there() && (level == PressureLevel::Urgent || !knows)
}

/// The public copy still says that the reading is unknown since the compaction, or since the fork began.
fn is_first_reading(facts: &Facts<'_>, given: &SaidPressure, reading: &Reading) -> bool {
    let boundary = facts.marks.value().and_then(|marks| marks.session.boundary);
    // The compaction's own estimate is too low.
    let follows_boundary = boundary.is_some_and(|boundary| given.at < boundary);
    reading.source != Source::Boundary && (follows_boundary || given.before_fork)
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

/// `None` if the window is unknown.
fn distance<'a>(facts: &Facts<'a>, reading: &Reading) -> Option<words::Distance<'a>> {
    let turns = facts.forecast().as_ref().and_then(Forecast::shown_turns);
    let host = Host::title(facts.event.host.name());
    let compacts = reading.window?.compact_at.map(|_| host);
    Some(words::Distance { left: reading.left()?, turns, compacts })
}

/// Asks for the only thing that the model can do alone: only a person can type `/compound`.
fn text_for_model(level: PressureLevel, facts: &Facts<'_>, reading: &Reading) -> String {
    let when = if level == PressureLevel::Urgent { " now" } else { "" };
    let ask = if facts.knowledge.takes_no_notes {
        String::new()
    } else {
        format!(
            "Write down decisions and the next step{when}: `tidegate progress add \"what was done\" --decision \"if any\" --next \"the next step\"`. "
        )
    };
    let (Some(distance), Some(window), Some(percent)) =
        (distance(facts, reading), reading.window, reading.used_pct())
    else {
        return ask.trim_end().to_owned();
    };
    let (percent, window) = (percent.round() as u64, short_tokens(window.tokens));
    let turns = match distance.turns {
        None => String::new(),
        Some(0) => "less than a turn, ".to_owned(),
        Some(1) => "about 1 turn, ".to_owned(),
        Some(turns) => format!("about {turns} turns, "),
    };
    let left = short_tokens(distance.left);
    let state = match (distance.left, distance.compacts) {
        (0, Some(host)) => format!("{host} is about to compact the conversation to a summary"),
        (_, Some(host)) => {
            format!("{left} tokens are left before {host} compacts the conversation to a summary")
        }
        (_, None) => format!("{left} tokens are left before the context window is full"),
    };
    format!("{ask}{state} ({turns}{percent}% of {window} used).")
}
