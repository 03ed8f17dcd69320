//! The text of a phase's summary: its paths, and whether it tells what was decided.

/// Paths taken from one text.
pub(super) const MAX_PATHS: usize = 100;

/// Finds paths that contain folders and end in a folder or a file extension. Not matched: `24/24`, `and/or`,
/// patterns, addresses. A bare file name counts on a line that mentions details.
pub fn find_paths(text: &str) -> Vec<String> {
    find(text, false)
}

/// Leaves out the paths that the text calls removed or moved away.
pub fn find_existing_paths(text: &str) -> Vec<String> {
    find(text, true)
}

fn find(text: &str, only_existing: bool) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let ends_words = |c: char| c.is_whitespace() || matches!(c, '、' | '。' | '（' | '）' | '：' | '→');
    for line in text.lines() {
        let details = line.to_lowercase().contains("details") || line.contains("詳細");
        for clause in clauses(line) {
            let named = if only_existing { without_removed(clause) } else { clause };
            for path in named.split(ends_words).filter_map(|word| parse_path(word, details)) {
                if found.len() < MAX_PATHS && !found.iter().any(|known| known == path) {
                    found.push(path.to_owned());
                }
            }
        }
    }
    found
}

/// Verbs that begin another statement in a list: `removed a, added b`.
const OTHER_VERBS: [&str; 14] = [
    "added",
    "adds",
    "created",
    "creates",
    "changed",
    "modified",
    "updated",
    "kept",
    "wrote",
    "introduced",
    "edited",
    "new",
    "see",
    "details",
];

const REMOVALS: [&str; 10] = [
    "removed", "removes", "deleted", "deletes", "dropped", "removing", "deleting", "gone", "retired",
    "obsolete",
];

/// The old place of what was moved does not exist, the new one does.
const MOVES: [&str; 4] = ["renamed", "renames", "moved", "moves"];

/// Parts of a line that make a statement of their own.
fn clauses(line: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut from = 0;
    let mut previous_end = 0;
    for (at, word) in words(line) {
        let ends_sentence = line[..at].trim_end().ends_with(['.', ';', '。', '；']);
        if at > from && (ends_sentence || OTHER_VERBS.contains(&plain(word).as_str())) {
            parts.push(&line[from..at]);
            from = at;
        }
        previous_end = at + word.len();
    }
    parts.push(&line[from..previous_end.max(from)]);
    // Japanese statements also end with a comma: 「a を削除、b を追加」.
    parts.into_iter().flat_map(|part| part.split_inclusive(['。', '、'])).collect()
}

/// With their places.
fn words(line: &str) -> impl Iterator<Item = (usize, &str)> {
    let parts = line.split_inclusive(char::is_whitespace).scan(0, |end, part| {
        let at = *end;
        *end += part.len();
        Some((at, part.trim_end()))
    });
    parts.filter(|(_, word)| !word.is_empty())
}

fn plain(word: &str) -> String {
    word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase()
}

/// The part of a clause that names existing files.
fn without_removed(clause: &str) -> &str {
    if clause.contains("削除") || clause.contains("廃止") {
        return "";
    }
    let says = |verbs: &[&str]| words(clause).any(|(_, word)| verbs.contains(&plain(word).as_str()));
    if says(&REMOVALS) {
        return "";
    }
    if !says(&MOVES) {
        return clause;
    }
    let to = words(clause).find(|(_, word)| matches!(*word, "to" | "into" | "→" | "->" | "=>"));
    to.map_or("", |(at, _)| &clause[at..])
}

/// With `bare`, also accepts a name without folders.
fn parse_path(word: &str, bare: bool) -> Option<&str> {
    const AROUND: [char; 15] = ['`', '"', '\'', '(', ')', '[', ']', '<', '>', ',', ';', '*', '|', '「', '」'];
    let inner = word.trim_matches(AROUND);
    if word.contains("://") || word.contains(['{', '}', '$', '…']) || inner.contains(['*', '<', '>']) {
        return None;
    }
    // `src/a.rs:12`, `src/a.rs#L12`.
    let inner = inner.trim_end_matches(['.', ':', '!', '?']).split('#').next().unwrap_or_default();
    let without_line = inner.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, ':' | '-'));
    let has_line = inner[without_line.len()..].starts_with(':');
    let path = if has_line { without_line } else { inner };
    let last = path.rsplit('/').next().unwrap_or_default();
    let (stem, ending) = last.rsplit_once('.').unwrap_or_default();
    let has_ending = (1..=8).contains(&ending.len())
        && ending.starts_with(|c: char| c.is_ascii_alphabetic())
        && ending.chars().all(|c| c.is_ascii_alphanumeric());
    if !path.contains('/') {
        let is_document = ["md", "txt", "json", "yaml", "yml", "log", "html", "csv"].contains(&ending);
        return (bare && is_document && !stem.is_empty()).then_some(path);
    }
    let leads = path.starts_with("./") || path.starts_with("../") || last.is_empty() || has_ending;
    let names_something = path.split('/').any(|part| !part.is_empty());
    (leads && names_something).then_some(path)
}

/// Also matches the statement that there was none, and the lines that summaries of discovery, implementation and
/// testing have in their place: patterns, deviations, results of tests.
pub fn tells_decisions(summary: &str) -> bool {
    const WORDS: [&str; 10] =
        ["decision", "decided", "we chose", "chose ", "chosen", "決定", "決め", "判断", "方針", "採用"];
    const LABELS: [&str; 9] = [
        "patterns",
        "key patterns",
        "deviations",
        "coverage",
        "tests",
        "unit tests",
        "integration tests",
        "e2e tests",
        "test results",
    ];
    let summary = summary.to_lowercase();
    let is_labelled = |line: &str| {
        let line = line.trim_start_matches(|c: char| !c.is_alphanumeric());
        let labelled = line.split_once(':').filter(|(label, rest)| {
            LABELS.contains(&label.trim().trim_end_matches('*')) && !rest.trim_matches(['*', ' ']).is_empty()
        });
        labelled.is_some()
    };
    WORDS.iter().any(|word| summary.contains(word)) || summary.lines().any(is_labelled)
}

/// What each line of the summary says was decided.
pub fn decision_lines(summary: &str) -> Vec<&str> {
    summary.lines().filter_map(told_decision).collect()
}

fn told_decision(line: &str) -> Option<&str> {
    let (label, rest) = line.split_once([':', '：'])?;
    let label = label.to_lowercase();
    let is_decision = label.contains("decision") || label.contains("決定") || label.ends_with("patterns");
    // Several sentences may be on one line: `React 19. Key decisions: keep the store. Details: a.md`.
    let rest = [". Details", ". Full details"]
        .iter()
        .find_map(|end| rest.split_once(end))
        .map_or(rest, |(rest, _)| rest);
    let rest = rest.trim().trim_end_matches('.');
    let says_none = matches!(rest.to_lowercase().as_str(), "" | "none" | "なし" | "-");
    (is_decision && !says_none).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn paths_in_a_text() {
        for (text, found) in [
            ("12 files in src/sections/assets/, src/hooks/", &["src/sections/assets/", "src/hooks/"][..]),
            ("Full details: .feature-development/discovery.md", &[".feature-development/discovery.md"]),
            ("Full details: discovery.md (phases.testing), e.g. Node.js", &["discovery.md"]),
            ("Built with Node.js and README.md", &[]),
            ("see `src/a.rs:12` and (./b), [c](docs/c.md).", &["src/a.rs", "./b"]),
            ("24/24 passed, and/or, N/A, 6/6 (2 retries), TCP/IP, v1.2/v1.3", &[]),
            ("https://example.org/a/b.html e2e/*.spec.ts src/{a,b}.rs application/json", &[]),
            ("詳細は docs/設計.md、src/日本/ を参照", &["docs/設計.md", "src/日本/"]),
            ("/etc/hosts.conf ../up/x.txt src/a.rs#L4-L9", &["/etc/hosts.conf", "../up/x.txt", "src/a.rs"]),
        ] {
            assert_eq!(find_paths(text), found, "{text}");
        }
    }

    #[test]
    fn decisions_are_told() {
        for text in [
            "- Key decisions: None",
            "We decided to keep it",
            "決定事項: なし",
            "chose Vitest",
            "- Technologies: React 19\n- Patterns: feature folders, hooks\n- Affected files: 12",
            "- **Unit tests**: 24/24 passed",
            "- Coverage: 87% (target: 80%)",
            "- Deviations: None (all per plan)",
        ] {
            assert!(tells_decisions(text), "{text}");
        }
        for text in ["Technologies: React. Affected files: 12", "- Patterns:", "Ran the tests: all of them"] {
            assert!(!tells_decisions(text), "{text}");
        }
    }

    #[test]
    fn removed_files_need_not_exist() {
        for (text, exist) in [
            ("Removed src/old.ts", &[][..]),
            ("- Removed: src/old.ts, src/older.ts; details in docs/new.md", &["docs/new.md"]),
            ("src/old.ts was deleted. src/new.ts has it now", &["src/new.ts"]),
            ("Removed src/old.ts, added src/new.ts", &["src/new.ts"]),
            ("Renamed src/old.ts to src/new.ts", &["src/new.ts"]),
            ("moved src/old/ into src/new/", &["src/new/"]),
            ("src/old.ts を削除、src/new.ts を追加", &["src/new.ts"]),
            ("Files modified: src/a.ts, src/b.ts", &["src/a.ts", "src/b.ts"]),
            (
                "Key decisions: keep src/a.ts. Removed the cache. Details: docs/x.md",
                &["src/a.ts", "docs/x.md"],
            ),
        ] {
            assert_eq!(find_existing_paths(text), exist, "{text}");
        }
    }

    #[test]
    fn decisions_are_found() {
        for (text, found) in [
            (
                "Phase 3: COMPLETE\n- Key decisions: keep the hooks\n- Full details: a.md",
                &["keep the hooks"][..],
            ),
            ("React 19, hooks.\nKey decisions: keep the store. Details: discovery.md", &["keep the store"]),
            ("- Key patterns: feature folders, hooks", &["feature folders, hooks"]),
            ("Key decisions: none", &[]),
            ("決定: ストアは残す", &["ストアは残す"]),
        ] {
            assert_eq!(decision_lines(text), found, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_summary_is_looked_through(text in ".{0,200}") {
            let _ = (find_paths(&text), find_existing_paths(&text), tells_decisions(&text), decision_lines(&text));
        }
    }
}
