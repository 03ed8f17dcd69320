//! Texts at the start of a session: decisions of the project, and undecided topics. Names and ids only.

use std::fmt::Write as _;

use crate::event::Start;
use crate::feature::config::Config;
use crate::feature::facts::Facts;
use crate::feature::memory::catalogue;
use crate::feature::memory::catalogue::{ProjectPage, TOLD_LONGEST, UndecidedTopic};
use crate::feature::memory::effect;
use crate::feature::memory::job::Work;
use crate::feature::memory::marks::Mark;
use crate::feature::memory::settings::StartupProjects;
use crate::feature::memory::short_name::short_name;
use crate::feature::verdict::{Audience, Effect, Say, Verdict};

/// Decisions come before topics when there is not enough room.
pub(super) fn tell(facts: &Facts<'_>, config: &Config) -> Verdict {
    let says: Vec<Say> = tell_decisions(facts).into_iter().chain(offer_topics(facts, config)).collect();
    let because =
        if says.is_empty() { "nothing new to name" } else { "decisions and open topics were named" };
    Verdict { says, ..Verdict::silent(because) }
}

/// After a compaction the session does not know it any more.
fn is_still_known(facts: &Facts<'_>, told: Option<u64>, which: u64) -> bool {
    let goes_on = !matches!(facts.event.start, Some(Start::Startup | Start::Clear | Start::Compact));
    goes_on && told == Some(which)
}

fn tell_decisions(facts: &Facts<'_>) -> Option<Say> {
    let page = facts.memory.page.value().filter(|page| !page.decisions.is_empty())?;
    let told = facts.marks.value().and_then(|marks| marks.memory.decisions_told);
    if is_still_known(facts, told, page.which) {
        return None;
    }
    let text = decisions_text(page);
    let when_said = vec![Effect::mark(Mark::DecisionsTold(page.which))];
    Some(Say { to: Audience::Model, text, weight: 45, explains: false, when_said })
}

fn decisions_text(page: &ProjectPage) -> String {
    let mut text =
        format!("Decisions in the memory of {}, each with its author:", short_name(&page.project.name));
    let mut length = text.chars().count();
    let mut listed = 0;
    for decision in &page.decisions {
        let next = catalogue::decision_text(decision);
        length += next.chars().count();
        if length > TOLD_LONGEST {
            break;
        }
        text.push_str(&next);
        listed += 1;
    }
    text.pop();
    let _ = match page.decisions.len() - listed + page.more {
        0 => write!(text, "."),
        more => write!(text, " and {more} more. list_decisions names them all."),
    };
    text
}

fn offer_topics(facts: &Facts<'_>, config: &Config) -> Option<Say> {
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
    let which = catalogue::list_hash(topics.iter().map(|topic| (topic.topic.id, topic.topic.name.as_str())));
    let told = facts.marks.value().and_then(|marks| marks.memory.topics_told);
    if is_still_known(facts, told, which) {
        return None;
    }
    let page = facts.memory.page.value();
    let is_own = |topic: &&UndecidedTopic| page.is_some_and(|page| page.is_own_project(topic.project.id));
    let (own, others): (Vec<&UndecidedTopic>, Vec<&UndecidedTopic>) = topics.into_iter().partition(is_own);
    let mut parts = Vec::new();
    if !own.is_empty() {
        parts.push(format!(
            "Call set_topic with an id if this session works on one of these topics, which have no decision yet (newest first): {}.",
            list_topics(&own)
        ));
    }
    if !others.is_empty() {
        parts.push(format!(
            "Ask get_logs about these topics of other projects if the work touches them; they have no decision yet, and sessions \
             there record it: {}.",
            list_topics(&others)
        ));
    }
    let text = parts.join("\n");
    let mut when_said = vec![Effect::mark(Mark::TopicsTold(which))];
    // Counts as one offer, however often the conversation is compacted.
    if told != Some(which) {
        let topics = own.iter().chain(&others).map(|topic| topic.topic.id).collect();
        when_said.push(Effect::Memory(effect::Effect::Spool {
            work: Box::new(Work::Offered { topics }),
            mark: None,
        }));
    }
    Some(Say { to: Audience::Model, text, weight: 30, explains: false, when_said })
}

fn list_topics(topics: &[&UndecidedTopic]) -> String {
    let listed = topics.iter().map(|topic| {
        let (title, project) = (short_name(&topic.topic.name), short_name(&topic.project.name));
        let by = if topic.by.is_empty() { String::new() } else { format!(", {}", short_name(&topic.by)) };
        format!("\"{title}\" (id {}, project {project}{by})", topic.topic.id)
    });
    listed.collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feature::memory::catalogue::{Decided, NamedId};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_page_has_all_that_is_told(names in proptest::collection::vec("\\PC{0,120}|[a-z \u{200b}\n]{0,40}", 1..60)) {
            let project = NamedId { id: 3, name: "shop".to_owned() };
            let decided = |(id, name): (i64, &String)| Decided { id, name: name.clone(), by: "agent".to_owned() };
            let all: Vec<Decided> = (1..).zip(&names).map(decided).collect();
            let page = ProjectPage::new("/p/.git".to_owned(), project, all.clone());
            let whole = ProjectPage { decisions: all.clone(), more: 0, ..page.clone() };
            prop_assert_eq!(decisions_text(&page), decisions_text(&whole));
            prop_assert_eq!(page.decisions.len() + page.more, all.len());
            prop_assert_eq!(page.which, catalogue::list_hash(all.iter().map(|decided| (decided.id, decided.name.as_str()))));
        }
    }
}
