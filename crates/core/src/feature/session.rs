//! What every event leaves in a session's marks, whatever the policies think of it.

use crate::event::{EventKind, Start};
use crate::feature::activity::classifier::Phase;
use crate::feature::activity::settings::PhaseMode;
use crate::feature::activity::told as phase;
use crate::feature::config::Config;
use crate::feature::facts::{Facts, Known};
use crate::feature::marks::Mark;
use crate::feature::memory::facts as memory;
use crate::feature::memory::relay_log;
use crate::feature::verification::evidence;
use crate::host::window::HostSettings;
use crate::text::lang::Lang;

/// Whether this event is a reason to read the host's settings files again.
pub fn wants_host_settings(kind: EventKind, marks: &Known<crate::feature::marks::Marks>) -> bool {
    matches!(kind, EventKind::SessionStart | EventKind::ConfigChange)
        || marks.value().is_none_or(|marks| marks.host.is_none())
}

/// The marks of this event. `root` is the project as the hook found it, `host` the settings if they were read.
pub fn marks(
    facts: &Facts<'_>,
    config: &Config,
    root: Option<&str>,
    host: Option<&HostSettings>,
) -> Vec<Mark> {
    let event = facts.event;
    let mut marks = Vec::new();
    let starts = event.kind == EventKind::SessionStart;
    // A session that goes on keeps its marks: `resume`, `compact`, `fork`, and one we meet in the middle.
    let begins = event.start.is_some_and(Start::is_new);
    let known = match &facts.marks {
        // Whatever is in that file, adding to it would not make it readable.
        Known::Broken(_) => return marks,
        _ if begins => None,
        marks => marks.value(),
    };
    if begins {
        marks.push(Mark::Began { at: facts.now });
    }
    if starts && !event.compacted() || known.is_none() {
        marks.push(Mark::Attached(facts.now));
    }
    // A client that starts anew has none of the old one's tasks.
    if starts && !event.compacted() {
        let tasks = known.map(|known| known.work.background.as_slice()).unwrap_or_default();
        marks.extend(tasks.iter().map(|check| Mark::Ended(check.task.clone())));
    }
    if facts.event.kind == EventKind::SessionEnd {
        marks.push(Mark::Detached);
    }
    marks.extend(evidence::marks(facts, config));
    if !facts.event.main_thread() {
        return marks;
    }
    if known.and_then(|known| known.person) != Some(facts.person) {
        marks.push(Mark::Attended(facts.person));
    }
    let changed =
        |old: Option<&str>, new: Option<&str>| new.filter(|new| old != Some(*new)).map(str::to_owned);
    marks.extend(changed(known.and_then(|known| known.root.as_deref()), root).map(Mark::Root));
    let transcript = event.transcript.as_deref();
    marks.extend(
        changed(known.and_then(|known| known.transcript.as_deref()), transcript).map(Mark::Transcript),
    );
    let cwd = event.cwd.as_deref();
    marks.extend(changed(known.and_then(|known| known.cwd.as_deref()), cwd).map(Mark::Cwd));
    if let Some(host) = host.filter(|host| known.and_then(|known| known.host.as_ref()) != Some(*host)) {
        marks.push(Mark::Host(host.clone()));
    }
    marks.extend(event.model.as_ref().map(|id| Mark::Model { id: id.to_string(), at: facts.now }));
    if event.compacted() {
        marks.push(Mark::Boundary(facts.now));
    }
    marks.extend(memory::chosen(facts).map(Mark::TopicSet));
    marks.extend(relay_log::passed_over(facts, config));
    let looks = config.policies.phase.mode != PhaseMode::Off;
    if looks && (facts.guess.is_some() || facts.event.skill().is_some()) {
        let told = phase::told(facts, config).ok();
        // Told anew, the present phase makes an answer void that is still to come.
        let news =
            |phase: &Phase| known.is_none_or(|known| known.phase != Some(*phase) || known.late.is_some());
        marks.extend(told.filter(news).map(Mark::Phase));
    }
    if let Some(prompt) = facts.event.human_prompt() {
        let lang = Lang::of_text(&prompt);
        marks.extend(lang.filter(|lang| known.and_then(|known| known.lang) != Some(*lang)).map(Mark::Lang));
        marks.extend(facts.meter.reading().map(|reading| Mark::Relay(reading.used)));
    }
    marks
}
