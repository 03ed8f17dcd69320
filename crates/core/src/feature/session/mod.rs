//! The session itself: when it began, where it works, which model it uses.

pub mod effect;
pub mod facts;
pub mod marks;

use crate::event::{Event, EventKind, Start};
use crate::feature::Feature;
use crate::feature::config::Config;
use crate::feature::facts::{Facts, Needs};
use crate::feature::marks::{Mark as AnyMark, Marks};
use crate::feature::session::facts::SessionFacts;
use crate::feature::session::marks::{Mark, Note};
use crate::text::fnv;
use crate::text::lang::Lang;

pub struct Room;

impl Feature for Room {
    /// What only the start of a session asks for.
    type Needs = bool;
    type Facts = SessionFacts;
    type Effect = effect::Effect;

    fn needs(event: &Event<'_>, marks: Option<&Marks>, _: &Config) -> Needs {
        let may_have_changed = matches!(event.kind, EventKind::SessionStart | EventKind::ConfigChange);
        Needs {
            host_settings: may_have_changed || marks.is_none_or(|marks| marks.session.host.is_none()),
            meter: event.is_main_thread() && event.is_human_prompt(),
            session: event.kind == EventKind::SessionStart
                && event.is_main_thread()
                && !event.follows_compaction(),
            ..Needs::default()
        }
    }

    fn observe(facts: &Facts<'_>, _: &Config) -> Vec<AnyMark> {
        observe_session(facts).into_iter().map(AnyMark::from).collect()
    }
}

fn observe_session(facts: &Facts<'_>) -> Vec<Mark> {
    let event = facts.event;
    let mut marks = Vec::new();
    let starts = event.kind == EventKind::SessionStart;
    // A continued session keeps its marks: `resume`, `compact`, `fork`, and one first seen in the middle.
    let begins = event.start.is_some_and(Start::is_new);
    let known = facts.marks.value().filter(|_| !begins).map(|marks| &marks.session);
    if begins {
        marks.push(Mark::Began { at: facts.now });
    }
    if starts && !event.follows_compaction() || known.is_none() {
        marks.push(Mark::Attached(facts.now));
    }
    if event.kind == EventKind::SessionEnd {
        marks.push(Mark::Detached);
    }
    if let Some(name) = event.invoked_skill() {
        let agent = event.agent().map(|agent| agent.id.to_owned());
        marks.push(Mark::Skill { name: name.to_owned(), agent });
    }
    if let Some(prompt) = event.scheduled_prompt() {
        marks.push(Mark::PromptScheduled(fnv::hash(prompt.trim().bytes())));
    }
    if event.kind == EventKind::DirectoryAdded {
        marks.extend(event.directory.as_ref().map(|path| Mark::Directory(path.to_string())));
    }
    if !event.is_main_thread() {
        return marks;
    }
    if known.and_then(|known| known.person) != Some(facts.person) {
        marks.push(Mark::Attended(facts.person));
    }
    let changed =
        |old: Option<&str>, new: Option<&str>| new.filter(|new| old != Some(*new)).map(str::to_owned);
    marks.extend(
        changed(known.and_then(|known| known.root.as_deref()), facts.root.as_deref()).map(Mark::Root),
    );
    let transcript = event.transcript.as_deref();
    marks.extend(
        changed(known.and_then(|known| known.transcript.as_deref()), transcript).map(Mark::Transcript),
    );
    let cwd = event.cwd.as_deref();
    marks.extend(changed(known.and_then(|known| known.cwd.as_deref()), cwd).map(Mark::Cwd));
    if let Some(host) =
        facts.host.as_ref().filter(|host| known.and_then(|known| known.host.as_ref()) != Some(*host))
    {
        marks.push(Mark::Host(host.clone()));
    }
    marks.extend(event.model.as_ref().map(|id| Mark::Model { id: id.to_string(), at: facts.now }));
    let outgrown = facts.meter.reading().and_then(|reading| reading.outgrown.clone());
    marks.extend(outgrown.map(|(model, used)| Mark::Outgrown { model, used }));
    if let Some(renamed) = &facts.session.renamed
        && known.map_or(!renamed.is_empty(), |known| known.renamed != *renamed)
    {
        marks.push(Mark::RenamedSkills(renamed.clone()));
    }
    if event.follows_compaction() {
        marks.push(Mark::Boundary(facts.now));
        marks.extend((!event.is_heard()).then_some(Mark::Note(Note::Compacted)));
    } else if known.is_some_and(|known| known.may_remind(event)) {
        marks.push(Mark::NoteGiven(Note::Compacted));
    }
    if let Some(prompt) = event.human_prompt() {
        let lang = Lang::of_text(&prompt);
        marks.extend(lang.filter(|lang| known.and_then(|known| known.lang) != Some(*lang)).map(Mark::Lang));
        marks.extend(facts.meter.reading().map(|reading| Mark::Relay(reading.used)));
    }
    marks
}
