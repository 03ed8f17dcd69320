//! Headings that date a page as a whole, not work that was done: `Last updated: 2026-01-28`.
//!
//! Such a heading would make a person's status page a list of entries, and a compaction would move its sections.

use std::ops::Range;

use super::super::timestamp;
use crate::time::Millis;

/// `last updated`, `last modified on`, `last edited by me`: whatever follows the date.
const LAST: [&str; 13] = [
    "updated",
    "update",
    "modified",
    "edited",
    "changed",
    "revised",
    "reviewed",
    "refreshed",
    "synced",
    "checked",
    "verified",
    "saved",
    "compacted",
];

/// May come between one of [`LAST`] and the date.
const AFTER_LAST: [&str; 5] = ["on", "at", "by", "date", "time"];

/// Only if nothing follows the date: `Updated 2026-01-28: parser` may be work.
const ALONE: [&str; 16] = [
    "updated",
    "created",
    "generated",
    "modified",
    "as of",
    "updated on",
    "created on",
    "generated on",
    "created at",
    "updated at",
    "status",
    "current status",
    "project status",
    "current state",
    "date created",
    "date updated",
];

const LAST_EAST: [&str; 16] = [
    "最終更新",
    "最終更新日",
    "最終更新日時",
    "最終更新者",
    "更新日",
    "更新日時",
    "最終編集",
    "最終変更",
    "最終確認",
    "最終確認日",
    "作成日",
    "作成日時",
    "最后更新",
    "最近更新",
    "更新时间",
    "最后更新时间",
];

const ALONE_EAST: [&str; 9] =
    ["更新", "作成", "現状", "現在", "状況", "状態", "現在の状況", "現在の状態", "ステータス"];

/// Directly after the date: 「2026年2月18日時点」.
const BEHIND_EAST: [&str; 5] = ["時点", "現在", "更新", "最終更新", "更新版"];

/// Zones that people write behind a time. Other capitals may be what was done: `Updated 2026-01-28 API`.
const ZONES: [&str; 17] = [
    "UTC", "GMT", "Z", "JST", "PST", "PDT", "EST", "EDT", "CST", "CDT", "MST", "MDT", "CET", "CEST", "BST",
    "IST", "KST",
];

/// The date of the page that this heading says, if it does.
pub(super) fn page_date(heading: &str) -> Option<Millis> {
    let found = timestamp::find_first(heading)?;
    dates_page(heading, &found.range).then_some(found.at)
}

fn dates_page(heading: &str, date: &Range<usize>) -> bool {
    let is_sign = |c: char| !c.is_alphanumeric();
    let (before, after) = (&heading[..date.start], &heading[date.end..]);
    let label = before.trim_matches(is_sign).to_lowercase();
    let rest = after.trim_matches(is_sign);
    // A zone of its own: `2026-01-28 18:10 PST`.
    let is_alone = rest.is_empty() || ZONES.contains(&rest);
    if label.is_empty() {
        // `[2026-02-18] — 更新` is an entry.
        let is_open = !before.contains(['[', '【']);
        let behind = after.trim_start();
        let said = behind.trim_matches(is_sign).to_lowercase();
        return is_open
            && (behind.starts_with("時点")
                || BEHIND_EAST.contains(&behind.trim_end())
                || behind.starts_with(['(', '（'])
                    && (is_last(&said) || LAST_EAST.contains(&said.as_str())));
    }
    is_last(&label)
        || LAST_EAST.contains(&label.as_str())
        || label.ends_with(" as of")
        || is_alone && (ALONE.contains(&label.as_str()) || ALONE_EAST.contains(&label.as_str()))
}

fn is_last(label: &str) -> bool {
    let mut words = label.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let begins = words.next() == Some("last") && words.next().is_some_and(|word| LAST.contains(&word));
    begins && words.next().is_none_or(|word| AFTER_LAST.contains(&word))
}
