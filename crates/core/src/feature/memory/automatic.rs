//! The automatic topic of a session that named none: its title and its id.

use crate::feature::memory::relay::Relay;
use crate::feature::memory::summary;
use crate::text::fnv;
use crate::time::Millis;

/// Branches that say nothing about the work on them.
const SAY_NOTHING: [&str; 5] = ["main", "master", "trunk", "develop", "HEAD"];

/// The same for the same session, so that it is made only once. A session has one in each project that its
/// tags name.
pub fn topic_uid(session: &str, project: Option<&str>) -> String {
    let named = |seed: &str| {
        let parts = [seed, session, project.unwrap_or_default()];
        fnv::hash(parts.into_iter().flat_map(|part| part.bytes().chain([0])))
    };
    let (high, low) = (named("topic"), named("of a session"));
    format!(
        "{:08x}-{:04x}-8{:03x}-{:04x}-{:012x}",
        high >> 32,
        high >> 16 & 0xffff,
        high & 0xfff,
        low >> 48 & 0x3fff | 0x8000,
        low & 0xffff_ffff_ffff
    )
}

/// From the first question, and from the branch if that says something.
pub fn topic_title(first: &Relay, branch: Option<&str>) -> String {
    let title = summary::title(first);
    let branch = branch.filter(|branch| !SAY_NOTHING.contains(branch));
    match (title.is_empty(), branch) {
        (true, None) => "session".to_owned(),
        (true, Some(branch)) => branch.to_owned(),
        (false, None) => title,
        (false, Some(branch)) => format!("{title} ({branch})"),
    }
}

/// The title once the first question is forgotten.
pub fn title_without_question(begun: Millis) -> String {
    format!("session of {}", begun.day())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_has_one_topic_in_each_project() {
        let uid = topic_uid("s", None);
        assert_eq!(uid, topic_uid("s", None));
        assert_eq!((uid.len(), uid.matches('-').count()), (36, 4));
        let others = [topic_uid("t", None), topic_uid("s", Some("p")), topic_uid("", Some("sp"))];
        assert!(others.iter().all(|other| *other != uid));
    }

    #[test]
    fn it_is_called_by_the_question_and_the_branch() {
        let title = |prompt: &str, branch| {
            topic_title(&Relay { prompt: prompt.to_owned(), ..Relay::default() }, branch)
        };
        assert_eq!(title("Fix the parser\nplease", Some("main")), "Fix the parser");
        assert_eq!(title("設計", Some("feat/search")), "設計 (feat/search)");
        assert_eq!((title("", None), title("", Some("x"))), ("session".to_owned(), "x".to_owned()));
    }
}
