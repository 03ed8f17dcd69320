//! From an event to its ruling, its answer and its record. Knows the features only through their list.

pub mod friction;
pub mod gate;
mod naming;
pub mod record;
pub mod ruling;
pub mod words;

use std::borrow::Cow;

use crate::event::{Event, EventKind};
use crate::feature::config::{BrokenFile, Config};
use crate::feature::facts::{Facts, Needs, Told};
use crate::feature::marks::Marks;
use crate::feature::verdict::{Audience, Call, Effect, Say, Verdict};
use crate::feature::{self, Mode, POLICIES, Policy};
use crate::host::Host;
use crate::text::quoted::quoted;
use crate::text::skill_name::with_own_names;
use ruling::{Ruling, RulingPart};

pub use crate::feature::{deserves_time, must_note, observe};
pub use naming::name_agent;

fn listening_policies<'a>(
    event: &'a Event<'_>,
    marks: Option<&'a Marks>,
    config: &'a Config,
) -> impl Iterator<Item = (&'static dyn Policy, Needs)> + 'a {
    POLICIES.iter().copied().filter(|policy| !config.switched_off(policy.id())).filter_map(move |policy| {
        let listens = policy.mode(config) != Mode::Off;
        listens.then(|| policy.needs(event, marks)).flatten().map(|needs| (policy, needs))
    })
}

pub fn needs(event: &Event<'_>, marks: Option<&Marks>, config: &Config) -> Needs {
    let of_rooms = feature::needs(event, marks, config);
    listening_policies(event, marks, config).fold(of_rooms, |all, (_, needs)| all.and(needs))
}

/// Second round, once the facts of the first are known.
pub fn needs_more(facts: &Facts<'_>, config: &Config) -> Needs {
    listening_policies(facts.event, facts.marks.value(), config)
        .fold(Needs::default(), |all, (policy, _)| all.and(policy.needs_more(facts, config)))
}

/// `clock` returns microseconds from any origin.
pub fn decide(facts: &Facts<'_>, config: &Config, clock: &dyn Fn() -> u64) -> Ruling {
    let first = if config.broken.is_empty() { Ruling::pass() } else { report_broken_config(facts, config) };
    let first = first.merge(report_missing_status_line(facts));
    listening_policies(facts.event, facts.marks.value(), config).fold(first, |ruling, (policy, _)| {
        let start = clock();
        let held = policy.yields() && ruling.call() >= Call::Deny;
        let mut verdict =
            if held { Verdict::silent("another policy blocks it") } else { policy.decide(facts, config) };
        if !policy.speaks_markup() {
            quote_verdict(&mut verdict);
        }
        name_skills(&mut verdict, facts);
        if facts.event.host != Host::ClaudeCode {
            naming::name_host(&mut verdict, facts.event.host);
        }
        if verdict == Verdict::pass() {
            // Nothing to say, to do or to explain.
            return ruling;
        }
        let micros = clock().saturating_sub(start);
        let shadow = policy.mode(config) == Mode::Shadow;
        ruling.merge(Ruling::from_part(RulingPart { policy: policy.id(), verdict, shadow, micros }))
    })
}

/// Tells the person at the start of a session which config files cannot be read. Not a policy, so it cannot be
/// switched off.
fn report_broken_config(facts: &Facts<'_>, config: &Config) -> Ruling {
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
    Ruling::from_part(RulingPart { policy: "config", verdict, shadow: false, micros: 0 })
}

/// Tells the person once that the status line is missing, which a plugin cannot bring.
fn report_missing_status_line(facts: &Facts<'_>) -> Ruling {
    if !facts.session.untold.contains(&Told::StatusLine) || !facts.person.may_be_there() {
        return Ruling::pass();
    }
    let say = Say {
        to: Audience::User,
        text: words::status_line_missing(facts.lang),
        weight: 20,
        explains: false,
        when_said: vec![Effect::told(Told::StatusLine)],
    };
    let verdict = Verdict { says: vec![say], ..Verdict::silent("the status line is missing") };
    Ruling::from_part(RulingPart { policy: "status-line", verdict, shadow: false, micros: 0 })
}

/// Texts name Tidegate's skills as they are called here: `init` gives one a longer name if the person has another of that
/// name. In the folders of other hosts they keep their short ones.
fn name_skills(verdict: &mut Verdict, facts: &Facts<'_>) {
    if facts.event.host != Host::ClaudeCode {
        return;
    }
    let known = || facts.marks.value().map_or(&[][..], |marks| &marks.session.renamed);
    let renamed = facts.session.renamed.as_deref().unwrap_or_else(known);
    if renamed.is_empty() {
        return;
    }
    let texts = verdict.says.iter_mut().map(|say| &mut say.text);
    for text in verdict.reason.iter_mut().chain(texts) {
        *text = with_own_names(text, renamed);
    }
}

/// Neutralises all text of a policy, including quoted parts. A policy's own words must therefore contain no markup.
fn quote_verdict(verdict: &mut Verdict) {
    let texts = verdict.says.iter_mut().map(|say| &mut say.text);
    for text in verdict.reason.iter_mut().chain(texts) {
        if let Cow::Owned(neutral) = quoted(text) {
            *text = neutral;
        }
    }
}
