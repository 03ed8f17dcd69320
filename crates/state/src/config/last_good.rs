//! Copies of config files as they could last be read, without addresses.

use std::fs;
use std::ops::Range;
use std::path::Path;

use tidegate_core::feature::config::Config;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::config::copies::Copies;
use crate::config::file::read_text;
use crate::config::parse::parse;
use crate::config::project_files;
use crate::place::StateDir;

const LAST_GOOD: Copies = Copies("config");

pub(super) fn read(state: &StateDir, file: &Path) -> Option<String> {
    LAST_GOOD.read(state, file)
}

/// Copies each config file that parses and has changed. A copy gets the modification time of its file, so that an unchanged
/// file costs one look.
pub fn keep_copies(state: &StateDir, user: Option<&Path>, root: Option<&Path>) {
    for path in user.map(Path::to_owned).into_iter().chain(project_files(root)) {
        let Ok(written) = fs::metadata(&path).and_then(|found| found.modified()) else { continue };
        if LAST_GOOD.modified(state, &path) == Some(written) {
            continue;
        }
        let Ok(Some(text)) = read_text(&path) else { continue };
        let text = without_addresses(&text);
        let is_kept = || read(state, &path).is_some_and(|copy| copy == text);
        let keep = || {
            LAST_GOOD.remove_unfinished(state, &path);
            LAST_GOOD.write(state, &path, &text).is_ok()
        };
        // Best effort: without a copy, built-in values replace a broken file.
        if is_kept() || (parse(&text, "", &Config::default()).is_ok() && keep()) {
            let _ = LAST_GOOD.set_modified(state, &path, written);
        }
    }
}

/// Replaces a text with an address in a copy. Not a valid value of any setting.
pub(super) const ADDRESS: &str = "://";

/// Addresses may contain passwords, which must not be copied. Sections, keys and line numbers stay the same.
fn without_addresses(text: &str) -> String {
    let mut spans = Vec::new();
    if let Ok(table) = DeTable::parse(text) {
        table.get_ref().values().for_each(|value| find_addresses(value, &mut spans));
    }
    spans.sort_by_key(|span| span.start);
    let (mut kept, mut at) = (String::with_capacity(text.len()), 0);
    for span in spans {
        push_without_comments(&text[at..span.start], &mut kept);
        kept.extend(["\"", ADDRESS, "\""]);
        kept.extend(text[span.clone()].matches('\n'));
        at = span.end;
    }
    push_without_comments(&text[at..], &mut kept);
    kept
}

fn find_addresses(value: &Spanned<DeValue<'_>>, spans: &mut Vec<Range<usize>>) {
    match value.get_ref() {
        DeValue::String(text) if text.contains(ADDRESS) => spans.push(value.span()),
        DeValue::Array(items) => items.iter().for_each(|item| find_addresses(item, spans)),
        DeValue::Table(table) => table.values().for_each(|value| find_addresses(value, spans)),
        _ => {}
    }
}

/// Outside of values, an address is in a comment, which is cut there. (Cutting a key leaves an open quote, and a text that does
/// not parse is not copied.)
fn push_without_comments(text: &str, kept: &mut String) {
    for line in text.split_inclusive('\n') {
        match line.find(ADDRESS) {
            Some(at) => {
                kept.push_str(&line[..at]);
                kept.extend(line.ends_with('\n').then_some('\n'));
            }
            None => kept.push_str(line),
        }
    }
}
