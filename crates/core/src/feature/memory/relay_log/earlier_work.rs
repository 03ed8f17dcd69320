//! What a new session is told of earlier work in its project, so that it knows there is something to look up.

use crate::event::{EventKind, Start};
use crate::feature::config::Config;
use crate::feature::facts::Facts;
use crate::feature::memory::short_name::short_name;
use crate::feature::verdict::{Audience, Say};
use crate::host::Host;
use crate::text::lang::Lang;
use crate::time::describe_age;

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
            let ago = describe_age(Lang::En, facts.now.since(topic.at));
            format!("\"{}\" (topic {}, {ago})", short_name(&topic.name), topic.id)
        })
        .collect();
    if listed.is_empty() {
        return None;
    }
    // Not every other host has the memory's tools.
    let search = match event.host {
        Host::ClaudeCode => "The tool search, or `tidegate memory search`,",
        _ => "`tidegate memory search`",
    };
    let text = format!(
        "Earlier work in this project, newest first: {}. {search} finds what was said.",
        listed.join("; ")
    );
    Some(Say { to: Audience::Model, text, weight: 35, explains: false, when_said: Vec::new() })
}
