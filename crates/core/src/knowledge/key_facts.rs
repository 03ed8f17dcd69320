//! What a compaction must not lose.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

/// What a key fact is; in the order of importance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FactKind {
    /// What the user wants kept to.
    Constraint,
    /// What was decided.
    Decision,
    /// The heading of a progress entry that was not promoted.
    Entry,
    /// What comes next.
    Next,
    /// The path of a file that was edited and not verified since.
    Unverified,
    /// The path of a file that was edited.
    File,
    /// The phase or stage that is active.
    Phase,
    /// A note that still waits.
    Note,
}

impl FactKind {
    /// All of them, the most important first.
    pub const ALL: [FactKind; 8] = [
        FactKind::Constraint,
        FactKind::Decision,
        FactKind::Entry,
        FactKind::Next,
        FactKind::Unverified,
        FactKind::File,
        FactKind::Phase,
        FactKind::Note,
    ];

    /// Whether the text is a path.
    pub fn is_path(self) -> bool {
        matches!(self, FactKind::Unverified | FactKind::File)
    }

    /// What stands above a list of them.
    fn title(self) -> &'static str {
        match self {
            FactKind::Constraint => "Constraints that the user set",
            FactKind::Decision => "Decisions",
            FactKind::Entry => "Work done that is recorded nowhere else yet",
            FactKind::Next => "Next steps",
            FactKind::Unverified => "Files edited and not verified since",
            FactKind::File => "Files edited",
            FactKind::Phase => "Where the work stands",
            FactKind::Note => "Notes not delivered yet",
        }
    }

    /// How many of a kind there is room for when there are too many of all.
    fn share(self) -> usize {
        match self {
            FactKind::Constraint | FactKind::Decision => 8,
            FactKind::Entry => 6,
            FactKind::Next | FactKind::File => 5,
            FactKind::Unverified => 4,
            FactKind::Phase => 1,
            FactKind::Note => 3,
        }
    }
}

/// One thing that has to stand in the context after a compaction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyFact {
    /// What it is.
    pub kind: FactKind,
    /// One line, at most [`LONGEST`] characters.
    pub text: String,
}

/// So many facts are noted at most.
pub const MOST: usize = 40;

/// So many characters a fact has at most.
pub const LONGEST: usize = 160;

/// Where key facts come from; each list with the most important, or the newest, first.
#[derive(Clone, Debug, Default)]
pub struct FactSources<'a> {
    /// What the user set in `task_plan.md`.
    pub constraints: Vec<&'a str>,
    /// Decisions recorded in this session.
    pub decisions: Vec<&'a str>,
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
    fn of(&self, kind: FactKind) -> Vec<&'a str> {
        match kind {
            FactKind::Constraint => self.constraints.clone(),
            FactKind::Decision => self.decisions.clone(),
            FactKind::Entry => self.headings.clone(),
            FactKind::Next => self.nexts.iter().chain(&self.open_items).copied().collect(),
            FactKind::Unverified => self.unverified.clone(),
            FactKind::File => self.files.clone(),
            FactKind::Phase => self.phase.into_iter().collect(),
            FactKind::Note => self.notes.clone(),
        }
    }
}

/// The key facts, each once, the most important first.
///
/// When there are more than [`MOST`], every kind first gets its share, so that a hundred edited files do not push out
/// the phase; what is left goes by importance.
pub fn key_facts(sources: &FactSources<'_>) -> Vec<KeyFact> {
    let mut seen = BTreeSet::new();
    let mut found: Vec<Vec<KeyFact>> = Vec::new();
    for kind in FactKind::ALL {
        let mut facts = Vec::new();
        for text in sources.of(kind) {
            // One more than can ever be used tells that there were too many.
            if facts.len() > MOST {
                break;
            }
            let text = one_line(text, kind);
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

/// One line without doubled blanks; a text that is too long ends in `…`, a path begins with `…/`.
fn one_line(text: &str, kind: FactKind) -> String {
    let text = if kind.is_path() {
        text.trim().replace(['\n', '\r'], " ")
    } else {
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let length = text.chars().count();
    if length <= LONGEST {
        return text;
    }
    if kind.is_path() {
        let from = text.char_indices().nth(length - (LONGEST - 2)).map_or(0, |(at, _)| at);
        let end = &text[from..];
        return format!("…/{}", end.find('/').map_or(end, |slash| &end[slash + 1..]));
    }
    let end = text.char_indices().nth(LONGEST - 1).map_or(text.len(), |(at, _)| at);
    let whole = &text[..end];
    // Between words where there are any nearby.
    let end = whole.rfind(' ').filter(|at| *at * 4 > end * 3).unwrap_or(end);
    format!("{}…", whole[..end].trim_end())
}

/// What is appended to the instructions for the summary; nothing without facts or without room for one.
pub fn instructions(facts: &[KeyFact], budget_chars: usize) -> Option<String> {
    const FIRST: &str = "The work goes on from this summary alone. These facts of the session are needed in it, \
                         with paths, names and numbers as they are written here:";
    listed(FIRST, facts, budget_chars)
}

/// `first`, then the facts by kind, as many as there is room for; the last line says how many there was none for.
pub(super) fn listed(first: &str, facts: &[KeyFact], budget_chars: usize) -> Option<String> {
    let lines: Vec<String> = facts.iter().map(line).collect();
    let mut length = first.chars().count();
    let mut fits = 0;
    let mut before = None;
    for (fact, line) in facts.iter().zip(&lines) {
        let title = if before == Some(fact.kind) { 0 } else { fact.kind.title().chars().count() + 2 };
        let more = title + line.chars().count() + 1;
        let left_out = facts.len() - fits - 1;
        let end = if left_out == 0 { 0 } else { left_out_line(left_out).chars().count() + 1 };
        if length + more + end > budget_chars {
            break;
        }
        length += more;
        fits += 1;
        before = Some(fact.kind);
    }
    if fits == 0 {
        return None;
    }
    let mut text = first.to_owned();
    let mut before = None;
    for (fact, line) in facts.iter().zip(&lines).take(fits) {
        if before != Some(fact.kind) {
            let _ = write!(text, "\n{}:", fact.kind.title());
            before = Some(fact.kind);
        }
        let _ = write!(text, "\n{line}");
    }
    if fits < facts.len() {
        let _ = write!(text, "\n{}", left_out_line(facts.len() - fits));
    }
    Some(text)
}

fn line(fact: &KeyFact) -> String {
    format!("- {}", fact.text)
}

fn left_out_line(count: usize) -> String {
    format!("({count} more of less weight are left out here.)")
}
