//! What a session is told at its start: decisions of the project, and topics that nobody decided. Names and ids only.

use std::fmt::Write as _;

use crate::config::Config;
use crate::facts::Facts;
use crate::facts::marks::Mark;
use crate::fnv;
use crate::memory::catalogue::{Named, UndecidedTopic};
use crate::memory::job::Work;
use crate::memory::settings::StartupProjects;
use crate::memory::shown::{cut, shown};
use crate::verdict::{Audience, Effect, Say, Verdict};

/// How much of the budget decisions may take: as many as fit into so many characters.
const DECISIONS_LONGEST: usize = 500;

/// Decisions are sentences, and longer than names.
const DECISION_LONGEST: usize = 90;

/// Says it. Decisions count more than topics when there is not enough room.
pub(super) fn tell(facts: &Facts<'_>, config: &Config) -> Verdict {
    let says: Vec<Say> = decisions(facts).into_iter().chain(topics(facts, config)).collect();
    let because = if says.is_empty() { "nothing that is news" } else { "what is decided and what is not" };
    Verdict { says, ..Verdict::silent(because) }
}

/// Whether the session was told this, and still knows it: after a compaction it does not.
fn is_known(facts: &Facts<'_>, told: Option<u64>, which: u64) -> bool {
    let source = facts.event.payload.source.get().map(AsRef::as_ref);
    let goes_on = !matches!(source, Some("startup" | "clear" | "compact"));
    goes_on && told == Some(which)
}

fn which<'a>(named: impl Iterator<Item = &'a Named>) -> u64 {
    let mut hash = Hash(fnv::START);
    for named in named {
        let _ = writeln!(hash, "{} {}", named.id, named.name);
    }
    hash.0
}

/// Takes text and keeps its hash.
struct Hash(u64);

impl std::fmt::Write for Hash {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        self.0 = fnv::go_on(self.0, text.bytes());
        Ok(())
    }
}

fn decisions(facts: &Facts<'_>) -> Option<Say> {
    let page = facts.memory.page.value().filter(|page| !page.decisions.is_empty())?;
    let which = which(page.decisions.iter());
    let told = facts.marks.value().and_then(|marks| marks.decisions_told);
    if is_known(facts, told, which) {
        return None;
    }
    let mut text = format!("Decisions that stand in {}:", shown(&page.project.name));
    let mut length = text.chars().count();
    let mut listed = 0;
    for decision in &page.decisions {
        let next = format!(" \"{}\" (id {});", cut(&decision.name, DECISION_LONGEST), decision.id);
        length += next.chars().count();
        if length > DECISIONS_LONGEST {
            break;
        }
        text.push_str(&next);
        listed += 1;
    }
    text.pop();
    let _ = match page.decisions.len() - listed {
        0 => write!(text, "."),
        more => write!(text, " and {more} more. list_decisions names them all."),
    };
    let when_said = vec![Effect::Mark(Mark::DecisionsTold(which))];
    Some(Say { to: Audience::Model, text, weight: 45, explains: false, when_said })
}

fn topics(facts: &Facts<'_>, config: &Config) -> Option<Say> {
    let settings = &config.memory;
    let this = facts.memory.page.value().map(|page| page.project.id);
    let wanted = |topic: &&UndecidedTopic| match settings.startup_projects {
        StartupProjects::All => true,
        StartupProjects::This => this == Some(topic.project.id),
    };
    let all = &facts.memory.undecided.value()?.topics;
    let topics: Vec<&UndecidedTopic> =
        all.iter().filter(wanted).take(settings.startup_topics.get() as usize).collect();
    if topics.is_empty() {
        return None;
    }
    let which = which(topics.iter().map(|topic| &topic.topic));
    let told = facts.marks.value().and_then(|marks| marks.topics_told);
    if is_known(facts, told, which) {
        return None;
    }
    let listed: Vec<String> = topics
        .iter()
        .map(|topic| {
            let (title, project) = (shown(&topic.topic.name), shown(&topic.project.name));
            format!("\"{title}\" (id {}, project {project})", topic.topic.id)
        })
        .collect();
    let text = format!(
        "Topics without a decision, newest first: {}. Nobody has to take one up; set_topic with its id makes one this session's.",
        listed.join("; ")
    );
    let mut when_said = vec![Effect::Mark(Mark::TopicsTold(which))];
    // The same session is one offer, however often its conversation is compacted.
    if told != Some(which) {
        let topics = topics.iter().map(|topic| topic.topic.id).collect();
        when_said.push(Effect::Spool(Box::new(Work::Offered { topics })));
    }
    Some(Say { to: Audience::Model, text, weight: 30, explains: false, when_said })
}
