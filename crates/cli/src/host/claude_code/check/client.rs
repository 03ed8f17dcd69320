//! The client's version, compared with the features that Tidegate relies on.

use std::fmt::{self, Display};

use crate::doctor::finding::Findings;
use crate::doctor::gathered::Gathered;
use crate::program::{find_on_path, read_version};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Version([u32; 3]);

/// A feature of the client, its first version, and the effect of its absence.
struct Feature {
    name: &'static str,
    since: Version,
    without: &'static str,
}

const fn feature(name: &'static str, since: [u32; 3], without: &'static str) -> Feature {
    Feature { name, since: Version(since), without }
}

/// Newest first, as measured on the client and read in its changelog.
const FEATURES: &[Feature] = &[
    feature("`onFailure`", [2, 1, 295], "a gate that cannot be started at all is open"),
    feature("model-switch events", [2, 1, 251], "after a switch the window is known one request later"),
    feature("exit 2 beside broken output", [2, 1, 214], "a failing gate can be open"),
    feature("`prompt_id`", [2, 1, 196], "two installs may both answer a prompt"),
    feature("`background_tasks`", [2, 1, 145], "a pause for background work looks like the end"),
    feature("`args` of hooks", [2, 1, 139], "an edit that cannot be checked is not held back"),
    feature("blocking PreCompact", [2, 1, 105], "a compaction cannot be held back"),
    feature("PostCompact", [2, 1, 76], "a compaction is noticed one event later"),
    feature("`agent_id`", [2, 1, 69], "subagents cannot be told from the main thread"),
    feature("`last_assistant_message`", [2, 1, 47], "the reading at Stop is stale"),
];

pub(crate) fn check(seen: &Gathered, found: &mut Findings) {
    const UPDATE: &str = "`claude update` brings a newer client";
    let newest = || seen.client.sessions.iter().find_map(|session| session.shown.version.clone());
    let found_there = find_on_path(&seen.path, "claude");
    if let Some(path) = found_there.as_ref().filter(|path| seen.is_in_project(path)) {
        found.note(format!("`claude` on PATH is {}, in the project itself: it was not run", path.display()));
    }
    let (text, place) = match found_there.filter(|path| !seen.is_in_project(path)) {
        Some(path) => match read_version(&path) {
            Ok(text) => (text, path.display().to_string()),
            Err(why) => {
                found.warning(format!("{} {why}", path.display()), "install the client again");
                return;
            }
        },
        None => (newest().unwrap_or_default(), "by its newest transcript".to_owned()),
    };
    if text.is_empty() && !found.is_empty() {
        return;
    }
    if text.is_empty() {
        found.note("`claude` is not on PATH and has left no transcript: its version is not known");
        return;
    }
    let Some(version) = Version::parse(&text) else {
        found.note(format!("the client's version is not known: `{text}` ({place})"));
        return;
    };
    let lacking: Vec<&Feature> = FEATURES.iter().filter(|feature| version < feature.since).collect();
    let list: Vec<String> = lacking
        .iter()
        .map(|feature| format!("{} (since {}): {}", feature.name, feature.since, feature.without))
        .collect();
    let text = format!("client {version} ({place}) is too old for {}", list.join("; "));
    if lacking.is_empty() {
        found.ok(format!("client {version} ({place})"));
    } else {
        found.warning(text, UPDATE);
    }
}

impl Version {
    /// For example `2.1.325 (Claude Code)`.
    fn parse(text: &str) -> Option<Version> {
        let word = text.split_whitespace().next()?.trim_start_matches('v');
        let mut parts = word.split(['.', '-', '+']).map(str::parse);
        let mut next = || parts.next()?.ok();
        Some(Version([next()?, next()?, next()?]))
    }
}

impl Display for Version {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [major, minor, patch] = self.0;
        write!(out, "{major}.{minor}.{patch}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_and_compared_by_number() {
        assert_eq!(Version::parse("2.1.325 (Claude Code)"), Some(Version([2, 1, 325])));
        assert_eq!(Version::parse("v2.1.9-beta.1"), Some(Version([2, 1, 9])));
        assert!(Version([2, 1, 9]) < Version([2, 1, 47]));
        for text in ["", "claude", "2.1", "2.x.1"] {
            assert_eq!(Version::parse(text), None, "{text}");
        }
        assert!(FEATURES.is_sorted_by(|newer, older| newer.since > older.since));
    }
}
