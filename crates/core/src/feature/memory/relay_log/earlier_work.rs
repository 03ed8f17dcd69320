//! What a new session is told of earlier work in its project, so that it knows there is something to look up.

use crate::event::{EventKind, Start};
use crate::feature::config::Config;
use crate::feature::facts::Facts;
use crate::feature::memory::short_name::short_name;
use crate::feature::verdict::{Audience, Say};
use crate::time::Millis;

/// A conversation that goes on knows its own past.
pub(super) fn may_tell(kind: EventKind, start: Option<Start>) -> bool {
    kind == EventKind::SessionStart && matches!(start, Some(Start::Startup | Start::Clear))
}

pub(super) fn tell(facts: &Facts<'_>, config: &Config) -> Option<Say> {
    let event = facts.event;
    if !may_tell(event.kind, event.start) || !event.is_main_thread() || !facts.person.may_be_there() {
        return None;
    }
    let recent = &facts.memory.page.value()?.recent;
    let others = recent.iter().filter(|topic| topic.session.as_deref() != Some(event.session.as_str()));
    let listed: Vec<String> = others
        .take(config.memory.startup_index.get() as usize)
        .map(|topic| {
            let ago = describe_age(facts.now, topic.at);
            format!("\"{}\" (topic {}, {ago})", short_name(&topic.name), topic.id)
        })
        .collect();
    if listed.is_empty() {
        return None;
    }
    let text = format!(
        "Earlier work in this project, newest first: {}. The tool search, or `tidegate memory search`, finds what was said.",
        listed.join("; ")
    );
    Some(Say { to: Audience::Model, text, weight: 35, explains: false, when_said: Vec::new() })
}

fn describe_age(now: Millis, at: Millis) -> String {
    const MINUTE: u64 = 60_000;
    let age = now.since(at);
    let counted =
        |number: u64, unit: &str| format!("{number} {unit}{} ago", if number == 1 { "" } else { "s" });
    match age / MINUTE {
        0..60 => "less than an hour ago".to_owned(),
        minutes @ 60..2880 => counted(minutes / 60, "hour"),
        minutes => counted(minutes / 1440, "day"),
    }
}
