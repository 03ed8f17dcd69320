//! The programs that Tidegate's entries in a settings file start, before and after a change.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::registrations::{self, Calls, OwnEntry, Starts};
use super::settings_text::line_of;
use super::status_line;
use crate::install::leads::Detour;
use crate::json_text::{Document, Node};
use crate::program::{is_program, real_place};

/// In place of an event.
const STATUS_LINE: &str = "the status line";

struct LeadingEntry {
    event: String,
    starts: Starts,
    gates: bool,
    blocks: bool,
    is_misread: bool,
}

pub(crate) struct Calling<'a> {
    /// Path of this program in settings.
    pub(crate) program: &'a str,
    pub(crate) home: Option<&'a Path>,
}

pub(crate) fn compare_entries(file: &Path, old: &str, new: &str, calling: &Calling<'_>) -> Vec<Detour> {
    let (old_entries, new_entries) = (read_entries(old, calling.program), read_entries(new, calling.program));
    let mut detours = Vec::new();
    for old in old_entries.iter().filter(|old| old.starts_something(calling.home)) {
        let same = |new: &&LeadingEntry| new.event == old.event && new.gates == old.gates;
        let known: Vec<&LeadingEntry> = new_entries.iter().filter(same).collect();
        let is_weaker = |new: &&LeadingEntry| old.blocks && !new.blocks;
        let detour = if known.is_empty() || known.iter().all(is_weaker) {
            Detour::Weaker { file: file.to_owned(), event: old.event.clone() }
        } else if known.iter().any(|new| starts_same(&new.starts, &old.starts)) {
            continue;
        } else {
            let (from, to) = (starts_name(&old.starts), starts_name(&known[0].starts));
            Detour::Entries { file: file.to_owned(), from, to }
        };
        if !detours.contains(&detour) {
            detours.push(detour);
        }
    }
    detours
}

impl LeadingEntry {
    /// Not an entry for an unknown event or a missing program, nor one that other agents misread: replacing that is
    /// more important.
    fn starts_something(&self, home: Option<&Path>) -> bool {
        let in_home = |path: &str| {
            let below = path.strip_prefix("$HOME/").or_else(|| path.strip_prefix("~/"))?;
            Some(home?.join(below))
        };
        let is_known = || registrations::REGISTRATIONS.iter().any(|known| known.event.name() == self.event);
        let is_there = match &self.starts {
            Starts::Program(path) => {
                let path = in_home(path).unwrap_or_else(|| PathBuf::from(path));
                !path.is_absolute() || is_program(&path).is_ok()
            }
            _ => true,
        };
        is_there && !self.is_misread && (self.event == STATUS_LINE || is_known())
    }
}

fn starts_same(a: &Starts, b: &Starts) -> bool {
    match (a, b) {
        (Starts::Program(a), Starts::Program(b)) => real_place(Path::new(a)) == real_place(Path::new(b)),
        _ => a == b,
    }
}

fn starts_name(starts: &Starts) -> String {
    match starts {
        Starts::Program(path) => path.clone(),
        Starts::Selector => "the tidegate of each teammate".to_owned(),
        Starts::PluginSelector => "the plugin's tidegate".to_owned(),
    }
}

/// With the status line as an entry without an event.
fn read_entries(text: &str, program: &str) -> Vec<LeadingEntry> {
    let Ok(document) = Document::parse(text) else { return Vec::new() };
    let hooks = document.root.get("hooks").and_then(Node::members).unwrap_or_default();
    let mut entries = Vec::new();
    for event in hooks {
        for group in event.value.elements().unwrap_or_default() {
            let group = document.value(&group.value);
            for handler in group["hooks"].as_array().into_iter().flatten() {
                if registrations::classify_handler(handler, program) == Calls::Us
                    && let Some(entry) = OwnEntry::read(handler)
                {
                    let blocks = handler.get("onFailure").and_then(Value::as_str) == Some("block");
                    let gates = !entry.is_advice();
                    let (event, is_misread) = (event.key.clone(), entry.runs_payload);
                    entries.push(LeadingEntry { event, starts: entry.starts, gates, blocks, is_misread });
                }
            }
        }
    }
    if let Some(called) = line_of(&document.root).and_then(status_line::called_program) {
        let (event, starts) = (STATUS_LINE.to_owned(), Starts::Program(called));
        entries.push(LeadingEntry { event, starts, gates: false, blocks: false, is_misread: false });
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn settings(program: &str, words: &[&str], block: bool) -> String {
        let mut handler = json!({ "type": "command", "command": program, "args": words });
        if block {
            handler["onFailure"] = json!("block");
        }
        json!({ "hooks": { "PreToolUse": [{ "hooks": [handler] }] } }).to_string()
    }

    #[test]
    fn a_detour_is_another_program_a_lost_entry_or_one_that_blocks_less() {
        let gate: &[&str] = &["hook", "--event", "PreToolUse"];
        let advice: &[&str] = &["hook", "--event", "PreToolUse", "--advice"];
        let (ours, gone) = ("/bin/sh", "/no/such/tidegate");
        let of = |old: &str, new: &str| {
            compare_entries(Path::new("/f"), old, new, &Calling { program: ours, home: None }).len()
        };
        let now = settings(ours, gate, true);
        assert_eq!(of(&now, &now), 0);
        assert_eq!(of("{}", &now), 0, "a first install");
        assert_eq!(of(&settings(gone, gate, true), &now), 0, "what led nowhere");
        assert_eq!(of(&now, &settings("/other/tidegate", gate, true)), 1);
        assert_eq!(of(&now, &settings(ours, gate, false)), 1);
        assert_eq!(of(&now, &settings(ours, advice, false)), 1);
        assert_eq!(of(&now, "{}"), 1);
        assert_eq!(of(&now, ""), 1);
    }
}
