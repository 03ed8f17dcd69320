//! Facts that a compaction must not lose.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use crate::text::cut::first_chars;
use crate::text::quoted::{quoted, quoted_line};

/// In the order of importance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FactKind {
    /// From a prompt: the person's own words.
    Stated,
    /// From the plan.
    Constraint,
    /// From `progress.md`.
    Decision,
    /// From the manifest of a workflow.
    Manifest,
    /// A decision of the memory that is valid: of an earlier session, or of a teammate.
    Standing,
    Next,
    /// The path of a file that was edited and not verified since.
    Unverified,
    /// The path of an edited file.
    File,
    /// The heading of an unpromoted progress entry. Its text is safe in its file; only the knowledge of it
    /// can be lost.
    Entry,
    /// The active phase or stage.
    Phase,
    /// A note that still waits.
    Note,
}

impl FactKind {
    /// The most important first.
    pub const ALL: [FactKind; 11] = [
        FactKind::Stated,
        FactKind::Constraint,
        FactKind::Decision,
        FactKind::Manifest,
        FactKind::Standing,
        FactKind::Next,
        FactKind::Unverified,
        FactKind::File,
        FactKind::Entry,
        FactKind::Phase,
        FactKind::Note,
    ];

    pub fn is_path(self) -> bool {
        matches!(self, FactKind::Unverified | FactKind::File)
    }

    /// The title of a list. A file from the repository may say anything, so facts are attributed to the file,
    /// never to the user.
    fn title(self) -> &'static str {
        match self {
            FactKind::Stated => "The user's own words in this session, as written",
            FactKind::Constraint => "Constraints in the file task_plan.md",
            FactKind::Decision => "Decisions in the file progress.md",
            FactKind::Manifest => "In the file MANIFEST.yaml of the workflow",
            FactKind::Standing => "Earlier decisions in the project's memory",
            FactKind::Entry => "Progress notes in the file progress.md",
            FactKind::Next => "Next steps in the progress notes or the plan",
            FactKind::Unverified => "Files edited, without a passed check since",
            FactKind::File => "Files edited",
            FactKind::Phase => "State of the work",
            FactKind::Note => "Facts from files and edits that an earlier summary lost",
        }
    }

    /// Most facts of one kind when there are too many overall.
    fn share(self) -> usize {
        match self {
            FactKind::Stated | FactKind::Constraint | FactKind::Decision => 8,
            FactKind::Entry => 6,
            FactKind::Next | FactKind::File | FactKind::Standing => 5,
            FactKind::Unverified | FactKind::Manifest => 4,
            FactKind::Note => 3,
            FactKind::Phase => 1,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyFact {
    pub kind: FactKind,
    /// One line, at most [`LONGEST`] characters.
    pub text: String,
}

/// Most facts noted.
pub const MOST: usize = 40;

/// Most characters of a fact.
pub const LONGEST: usize = 160;

/// Each list has the most important, or the newest, first.
#[derive(Clone, Debug, Default)]
pub struct FactSources<'a> {
    /// From the person's prompts.
    pub stated: Vec<&'a str>,
    /// From `task_plan.md`.
    pub constraints: Vec<&'a str>,
    /// Decisions recorded in this session.
    pub decisions: Vec<&'a str>,
    /// Valid decisions of the memory about open topics.
    pub standing: Vec<&'a str>,
    /// From the manifest of the workflow under way.
    pub manifest: Vec<&'a str>,
    /// Headings of unpromoted entries, without their timestamps.
    pub headings: Vec<&'a str>,
    /// Next steps of the newest entries.
    pub nexts: Vec<&'a str>,
    /// Unfinished items of the plan.
    pub open_items: Vec<&'a str>,
    /// Files edited and not verified since.
    pub unverified: Vec<&'a str>,
    /// Files edited in this session.
    pub files: Vec<&'a str>,
    /// The active phase or stage, and its next step.
    pub phase: Option<&'a str>,
    /// Notes that wait.
    pub notes: Vec<&'a str>,
}

impl<'a> FactSources<'a> {
    fn texts(&self, kind: FactKind) -> Vec<&'a str> {
        match kind {
            FactKind::Stated => self.stated.clone(),
            FactKind::Constraint => self.constraints.clone(),
            FactKind::Decision => self.decisions.clone(),
            FactKind::Standing => self.standing.clone(),
            FactKind::Manifest => self.manifest.clone(),
            FactKind::Entry => self.headings.clone(),
            FactKind::Next => self.nexts.iter().chain(&self.open_items).copied().collect(),
            FactKind::Unverified => self.unverified.clone(),
            FactKind::File => self.files.clone(),
            FactKind::Phase => self.phase.into_iter().collect(),
            FactKind::Note => self.notes.clone(),
        }
    }
}

/// Each once, the most important first.
///
/// When there are more than [`MOST`], every kind first gets its share, so that a hundred edited files do not
/// push out the phase. The rest of the room goes by importance.
pub fn select_key_facts(sources: &FactSources<'_>) -> Vec<KeyFact> {
    let mut seen = BTreeSet::new();
    let mut found: Vec<Vec<KeyFact>> = Vec::new();
    for kind in FactKind::ALL {
        let mut facts = Vec::new();
        for text in sources.texts(kind) {
            // One more than can ever be used shows that there were too many.
            if facts.len() > MOST {
                break;
            }
            let text = short_fact(text, kind);
            if !text.is_empty() && seen.insert(text.to_lowercase()) {
                facts.push(KeyFact { kind, text });
            }
        }
        found.push(facts);
    }
    let mut room: Vec<usize> =
        FactKind::ALL.iter().zip(&found).map(|(kind, of)| of.len().min(kind.share())).collect();
    let mut left = MOST.saturating_sub(room.iter().sum());
    for (room, of) in room.iter_mut().zip(&found) {
        let more = left.min(of.len() - *room);
        *room += more;
        left -= more;
    }
    found.into_iter().zip(room).flat_map(|(of, room)| of.into_iter().take(room)).collect()
}

/// The person's words as a fact.
pub fn stated_fact(text: &str) -> KeyFact {
    KeyFact { kind: FactKind::Stated, text: short_fact(text, FactKind::Stated) }
}

/// One line without doubled blanks; a text that is too long ends in `…`, a path begins with `…/`.
fn short_fact(text: &str, kind: FactKind) -> String {
    let text = if kind.is_path() { quoted(text.trim()).replace('\n', " ") } else { quoted_line(text) };
    let length = text.chars().count();
    if length <= LONGEST {
        return text;
    }
    if kind.is_path() {
        let from = text.char_indices().nth(length - (LONGEST - 2)).map_or(0, |(at, _)| at);
        let end = &text[from..];
        return format!("…/{}", end.find('/').map_or(end, |slash| &end[slash + 1..]));
    }
    let whole = first_chars(&text, LONGEST - 1);
    // Between words, if a gap is near.
    let end = whole.rfind(' ').filter(|at| *at * 4 > whole.len() * 3).unwrap_or(whole.len());
    format!("{}…", whole[..end].trim_end())
}

/// Appended to the instructions for the summary. `None` without facts or without room for one.
pub fn summary_instructions(facts: &[KeyFact], budget_chars: usize) -> Option<String> {
    const FIRST: &str = "Keep these facts in the summary, with paths, names and numbers exactly as written here: the work \
                         continues from the summary alone. Attribute the words of a file to that file, not to the user.";
    list_facts(FIRST, facts, budget_chars).map(|(text, _)| text)
}

/// `first`, then the facts by kind, as many as fit; the last line counts the others. Also returns the number of those that fit.
pub(super) fn list_facts(first: &str, facts: &[KeyFact], budget_chars: usize) -> Option<(String, usize)> {
    let mut text = first.to_owned();
    let mut length = text.chars().count();
    let mut before = None;
    // The longest beginning that fits together with the line about omitted facts.
    let (mut fits, mut end) = (0, 0);
    for (index, fact) in facts.iter().enumerate() {
        let from = text.len();
        if before != Some(fact.kind) {
            let _ = write!(text, "\n{}:", fact.kind.title());
            before = Some(fact.kind);
        }
        let _ = write!(text, "\n- {}", fact.text);
        length += text[from..].chars().count();
        let left_out = left_out(facts.len() - index - 1).chars().count();
        if length > budget_chars {
            break;
        }
        if length + left_out <= budget_chars {
            (fits, end) = (index + 1, text.len());
        }
    }
    text.truncate(end);
    text.push_str(&left_out(facts.len() - fits));
    (fits > 0).then_some((text, fits))
}

fn left_out(count: usize) -> String {
    if count == 0 { String::new() } else { format!("\n({count} further facts had no room here.)") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn fact(kind: FactKind, text: &str) -> KeyFact {
        KeyFact { kind, text: text.into() }
    }

    #[test]
    fn each_once_and_the_important_first() {
        let sources = FactSources {
            files: vec!["src/a.rs", "src/b.rs", "src/a.rs"],
            unverified: vec!["src/b.rs"],
            decisions: vec!["SQLite\n  for the index", "sqlite for the INDEX", " "],
            nexts: vec!["test it"],
            open_items: vec!["document it", "test it"],
            phase: Some("implement"),
            ..FactSources::default()
        };
        let expected = [
            fact(FactKind::Decision, "SQLite for the index"),
            fact(FactKind::Next, "test it"),
            fact(FactKind::Next, "document it"),
            fact(FactKind::Unverified, "src/b.rs"),
            fact(FactKind::File, "src/a.rs"),
            fact(FactKind::Phase, "implement"),
        ];
        assert_eq!(select_key_facts(&sources), expected);
        assert_eq!(select_key_facts(&FactSources::default()), []);
    }

    #[test]
    fn many_of_one_kind_leave_room_for_the_others() {
        let names: Vec<String> = (0..100).map(|number| format!("src/{number}.rs")).collect();
        let many: Vec<&str> = names.iter().map(String::as_str).collect();
        let facts = select_key_facts(&FactSources {
            headings: many.clone(),
            files: many,
            phase: Some("debug"),
            ..FactSources::default()
        });
        let count = |kind| facts.iter().filter(|fact| fact.kind == kind).count();
        assert_eq!((facts.len(), count(FactKind::Phase)), (MOST, 1));
        let facts = select_key_facts(&FactSources {
            files: names.iter().map(String::as_str).collect(),
            decisions: vec!["one"],
            ..FactSources::default()
        });
        assert_eq!((facts.len(), facts[0].kind), (MOST, FactKind::Decision));
    }

    #[test]
    fn what_is_too_long() {
        let words = "word ".repeat(60);
        let text = short_fact(&words, FactKind::Decision);
        assert!(text.ends_with("word…") && text.chars().count() <= LONGEST, "{text}");
        assert_eq!(short_fact(&"長".repeat(300), FactKind::Decision).chars().count(), LONGEST);
        let path = short_fact(&format!("{}end.rs", "folder/".repeat(60)), FactKind::File);
        assert!(path.starts_with("…/folder/") && path.ends_with("/end.rs"), "{path}");
    }

    #[test]
    fn what_the_summary_is_told() {
        let facts = [
            fact(FactKind::Constraint, "no regex"),
            fact(FactKind::Decision, "SQLite"),
            fact(FactKind::Decision, "索引は別"),
            fact(FactKind::File, "src/a.rs"),
        ];
        let all = "Keep these facts in the summary, with paths, names and numbers exactly as written here: the work \
                   continues from the summary alone. Attribute the words of a file to that file, not to the user.\n\
                   Constraints in the file task_plan.md:\n- no regex\nDecisions in the file progress.md:\n\
                   - SQLite\n- 索引は別\nFiles edited:\n- src/a.rs";
        assert_eq!(summary_instructions(&facts, 2000).unwrap(), all);
        let length = all.chars().count();
        assert_eq!(summary_instructions(&facts, length).unwrap(), all);
        let less = summary_instructions(&facts, length - 1).unwrap();
        assert!(less.ends_with("- no regex\n(3 further facts had no room here.)"), "{less}");
        assert_eq!(summary_instructions(&facts, 60), None);
        assert_eq!(summary_instructions(&[], 2000), None);
    }

    #[test]
    fn on_disk() {
        let text = r#"{"kind":"unverified","text":"src/a.rs"}"#;
        assert_eq!(serde_json::to_string(&fact(FactKind::Unverified, "src/a.rs")).unwrap(), text);
    }

    proptest! {
        #[test]
        fn bounds_hold(texts in proptest::collection::vec("\\PC{0,200}", 0..60), budget in 0_usize..4000) {
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let facts = select_key_facts(&FactSources {
                constraints: texts.clone(), files: texts.clone(), notes: texts, ..FactSources::default()
            });
            prop_assert!(facts.len() <= MOST);
            prop_assert!(facts.iter().all(|fact| (1..=LONGEST).contains(&fact.text.chars().count())));
            prop_assert!(facts.is_sorted_by_key(|fact| fact.kind));
            if let Some(text) = summary_instructions(&facts, budget) {
                prop_assert!(text.chars().count() <= budget);
            }
        }
    }
}
