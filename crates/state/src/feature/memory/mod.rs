//! Files between hooks and the memory store: jobs go to the store, the catalogue comes back.

pub mod catalogue;
pub mod conversation;
pub mod relays;
pub mod retries;
pub mod spool;
pub mod transcript_files;
mod worker;

use std::io;
use std::path::Path;

use tidegate_core::event::Event;
use tidegate_core::feature::facts::Facts;
use tidegate_core::feature::memory::catalogue::{MOST, OWN};
use tidegate_core::feature::memory::effect::Effect;
use tidegate_core::feature::memory::facts::{MemoryFacts, Needs, TurnAnswer, topics_in_question, turn_ends};
use tidegate_core::feature::memory::job::{Job, VERSION};
use tidegate_core::feature::memory::settings::StartupProjects;
use tidegate_core::feature::memory::tag as meta_tag;

use crate::feature::HookContext;
use crate::host::transcript;
use crate::project;

/// In bytes from the end of an answer, which are searched for its tag.
const LONGEST_ANSWER: usize = 256 * 1024;

pub(super) fn read_facts(facts: &Facts<'_>, needs: Needs, here: &HookContext<'_>) -> MemoryFacts {
    let mut memory = MemoryFacts::default();
    let transcript = facts.event.transcript.as_deref().map(Path::new);
    if needs.transcript {
        let found = transcript.and_then(|path| std::fs::metadata(path).ok());
        memory.length = found.filter(std::fs::Metadata::is_file).map(|found| found.len());
    }
    if needs.topics && turn_ends(facts.event) {
        memory.answer = last_answer(facts.event, transcript, here.in_time);
    }
    // The page helps to write a tag, and to judge one that names a topic by its id.
    let names_own = memory.tag().is_some_and(|tag| tag.topic.id == OWN);
    let page = needs.page && !(names_own && turn_ends(facts.event));
    if needs.transcript || page {
        memory.project = here.root.map(project::memory_project);
    }
    let Some(state) = here.state else { return memory };
    if needs.topics {
        let mut ids: Vec<i64> = memory.tag().map(|tag| tag.topic.id).into_iter().collect();
        ids.extend(facts.marks.value().into_iter().flat_map(topics_in_question));
        ids.retain(|id| *id > OWN);
        ids.dedup();
        memory.topics = ids.into_iter().map(|id| (id, catalogue::read_topic(state, id))).collect();
    }
    if let Some(project) = memory.project.as_ref().filter(|_| page) {
        memory.page = catalogue::read_project(state, &project.key);
    }
    if needs.undecided {
        let settings = &here.config.memory;
        // The project's own topics can be anywhere in the list.
        let most = match settings.startup_projects {
            StartupProjects::All => settings.startup_topics.get() as usize,
            StartupProjects::This => MOST,
        };
        memory.undecided = catalogue::read_first_undecided(state, most);
    }
    memory
}

/// From the payload, else from the transcript.
fn last_answer(
    event: &Event<'_>,
    transcript: Option<&Path>,
    in_time: &dyn Fn() -> bool,
) -> Option<TurnAnswer> {
    let text = match event.last_message.filter(|text| !text.is_empty()) {
        // Avoids decoding a text without a tag.
        Some(text) if !text.mentions(b"[meta]") => return Some(TurnAnswer { tag: None }),
        Some(text) => text.tail(LONGEST_ANSWER).into_owned(),
        None => {
            let said = transcript::last_answer(event.host, transcript?, in_time)?;
            let tag = meta_tag::find_last(&said.text);
            // A missing tag can be told only from the final text.
            return (tag.is_some() || said.last).then_some(TurnAnswer { tag });
        }
    };
    Some(TurnAnswer { tag: meta_tag::find_last(&text) })
}

pub(super) fn carry_out(effect: &Effect, here: &HookContext<'_>) -> io::Result<()> {
    let state = here.state()?;
    match effect {
        Effect::Spool { work, .. } => {
            let (at, session, work) = (here.now, here.session.to_string(), (**work).clone());
            spool::put(state, &Job { v: VERSION, at, session, work })
        }
        Effect::StartWorker { waits, starts } => {
            if (*waits || spool::has_jobs(state)) && spool::worker_is_due(state, here.now, *starts)? {
                worker::start(state, here)?;
            }
            Ok(())
        }
    }
}
