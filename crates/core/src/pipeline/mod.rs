//! From an event to its ruling, its answer and its record.

pub mod friction;
pub mod gate;
pub mod record;
pub mod ruling;
pub mod words;

use std::borrow::Cow;

use crate::event::{Event, EventKind};
use crate::feature::config::{BrokenFile, Config};
use crate::feature::facts::{Facts, Needs};
use crate::feature::marks::Marks;
use crate::feature::verdict::{Audience, Call, Say, Verdict};
use crate::feature::{self, Mode, POLICIES, Policy};
use crate::text::quoted::quoted;
use ruling::{Part, Ruling};

pub use crate::feature::{deserves_time, must_note, observe};

/// The policies that take part in this event.
fn listening<'a>(
    event: &'a Event<'_>,
    marks: Option<&'a Marks>,
    config: &'a Config,
) -> impl Iterator<Item = (&'static dyn Policy, Needs)> + 'a {
    POLICIES.iter().copied().filter(|policy| !config.switched_off(policy.id())).filter_map(move |policy| {
        let listens = policy.mode(config) != Mode::Off;
        listens.then(|| policy.needs(event, marks)).flatten().map(|needs| (policy, needs))
    })
}

/// What has to be known for this event.
pub fn needs(event: &Event<'_>, marks: Option<&Marks>, config: &Config) -> Needs {
    let of_rooms = feature::needs(event, marks, config);
    listening(event, marks, config).fold(of_rooms, |all, (_, needs)| all.and(needs))
}

/// What has to be known besides, now that all of that is known.
pub fn needs_more(facts: &Facts<'_>, config: &Config) -> Needs {
    listening(facts.event, facts.marks.value(), config)
        .fold(Needs::default(), |all, (policy, _)| all.and(policy.needs_more(facts, config)))
}

/// Asks every policy that listens. `clock` counts microseconds from anywhere.
pub fn decide(facts: &Facts<'_>, config: &Config, clock: &dyn Fn() -> u64) -> Ruling {
    let first = if config.broken.is_empty() { Ruling::pass() } else { broken_config(facts, config) };
    listening(facts.event, facts.marks.value(), config).fold(first, |ruling, (policy, _)| {
        let start = clock();
        let held = policy.yields() && ruling.call() >= Call::Deny;
        let mut verdict =
            if held { Verdict::silent("another policy holds it back") } else { policy.decide(facts, config) };
        if !policy.speaks_markup() {
            quote_verdict(&mut verdict);
        }
        let micros = clock().saturating_sub(start);
        let shadow = policy.mode(config) == Mode::Shadow;
        ruling.merge(Ruling::of(Part { policy: policy.id(), verdict, shadow, micros }))
    })
}

/// Tells the person at the start of a session which config files cannot be read. Not a policy: nobody can switch it off.
fn broken_config(facts: &Facts<'_>, config: &Config) -> Ruling {
    if facts.event.kind != EventKind::SessionStart || !facts.event.is_main_thread() {
        return Ruling::pass();
    }
    let say = |broken: &BrokenFile| Say {
        to: Audience::User,
        text: words::config_broken(facts.lang, broken),
        weight: u8::MAX,
        explains: true,
        when_said: Vec::new(),
    };
    let says = config.broken.iter().map(say).collect();
    let verdict = Verdict { says, ..Verdict::silent("a config file cannot be read") };
    Ruling::of(Part { policy: "config", verdict, shadow: false, micros: 0 })
}

/// Everything that a policy says. Whatever it put in between its own words is neutral then, so its own words have no markup.
fn quote_verdict(verdict: &mut Verdict) {
    let texts = verdict.says.iter_mut().map(|say| &mut say.text);
    for text in verdict.reason.iter_mut().chain(texts) {
        if let Cow::Owned(neutral) = quoted(text) {
            *text = neutral;
        }
    }
}
