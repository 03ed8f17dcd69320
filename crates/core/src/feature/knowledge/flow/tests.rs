use super::*;
use proptest::prelude::*;

fn headings(entries: &[&ProgressEntry<'_>]) -> String {
    entries.iter().map(|entry| entry.what).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_heading_is_a_time_and_what_was_done() {
    for (heading, at, zoned, what) in [
        ("[2026-02-18 14:30] — 認証を実装した", Some("2026-02-18T14:30:00.000Z"), false, "認証を実装した"),
        ("[2026-02-18T14:30:00Z] - wired it", Some("2026-02-18T14:30:00.000Z"), true, "wired it"),
        ("2026-02-18T14:30:00+09:00: a: b", Some("2026-02-18T05:30:00.000Z"), true, "a: b"),
        ("2026/02/18 – x - y", Some("2026-02-18T00:00:00.000Z"), false, "x - y"),
        ("【2026年2月18日】設計", Some("2026-02-18T00:00:00.000Z"), false, "設計"),
        ("**[2026-02-18]** x", Some("2026-02-18T00:00:00.000Z"), false, "x"),
        ("Session 3 — 2026-02-18", Some("2026-02-18T00:00:00.000Z"), false, "Session 3"),
        ("Session 3 (2026-02-18)", Some("2026-02-18T00:00:00.000Z"), false, "Session 3"),
        ("Session 3 (2026-02-18): x", Some("2026-02-18T00:00:00.000Z"), false, "Session 3 (2026-02-18): x"),
        ("[2026-02-18]", Some("2026-02-18T00:00:00.000Z"), false, ""),
        ("[timestamp] — x", None, false, "[timestamp] — x"),
        ("2026-02-30 — x", None, false, "2026-02-30 — x"),
        ("次の段階", None, false, "次の段階"),
        ("", None, false, ""),
    ] {
        let text = format!("# Progress\n\n## {heading}\n- x\n");
        let progress = Progress::parse(&text);
        let entry = &progress.entries[0];
        let read = (entry.at.map(Millis::iso), entry.zoned, entry.what);
        assert_eq!(read, (at.map(str::to_owned), zoned, what), "{heading}");
        assert_eq!((entry.heading, entry.line, entry.body), (heading, 3, "- x\n"));
    }
}

/// Days of one month, `-` for an entry without a time; then the newest end and the entries by age,
/// numbered from the top.
#[test]
fn which_end_is_new_and_what_is_newest() {
    for (days, end, newest_first) in [
        ("", FileEnd::Top, ""),
        ("10", FileEnd::Top, "0"),
        ("-", FileEnd::Top, "0"),
        ("- - -", FileEnd::Top, "0 1 2"),
        ("12 11 10", FileEnd::Top, "0 1 2"),
        ("10 11 12", FileEnd::Bottom, "2 1 0"),
        ("10 10 10", FileEnd::Top, "0 1 2"),
        ("10 10 11", FileEnd::Bottom, "2 1 0"),
        ("- 12 - 11", FileEnd::Top, "0 1 2 3"),
        ("- 11 - 12", FileEnd::Bottom, "3 2 1 0"),
        // Mostly at the top, once at the bottom.
        ("12 11 10 13", FileEnd::Top, "3 0 1 2"),
        ("- 12 11 10 13", FileEnd::Top, "4 0 1 2 3"),
        // Mostly at the bottom, once at the top.
        ("13 10 11 12", FileEnd::Bottom, "0 3 2 1"),
        ("11 10 12", FileEnd::Bottom, "2 0 1"),
        ("11 12 10", FileEnd::Top, "1 0 2"),
        // An entry of the year 9999 does not reverse the order.
        ("12 99 11 10", FileEnd::Top, "1 0 2 3"),
    ] {
        let day = |day: &str| match day {
            "-" => "x".to_owned(),
            "99" => "9999-12-31 x".to_owned(),
            day => format!("2026-03-{day} x"),
        };
        let text = days.split_whitespace().map(|at| format!("## {}", day(at))).collect::<Vec<_>>().join("\n");
        let progress = Progress::parse(&text);
        let order: Vec<String> =
            progress.newest_first().iter().map(|entry| (entry.line - 1).to_string()).collect();
        assert_eq!((progress.newest_end(), order.join(" ").as_str()), (end, newest_first), "{days}");
    }
}

#[test]
fn a_day_without_a_time_is_ordered_by_position() {
    let text = "## 2026-03-01 x\n## 2026-03-01 09:00 a\n## 2026-03-01 b\n## 2026-03-02 10:00 c\n";
    assert_eq!(headings(&Progress::parse(text).newest_first()), "c b a x");
}

#[test]
fn decisions_and_next_steps() {
    let text = "## x\n- Decision: use `fsync`\n- **Decision**: **two** files\n* **決定：** 一つにする\n\
        - Decisions:\n  - a\n    more of a\n  - b\n- Key change: c\n```\n- Decision: not this\n```\n\
        - Decision\n- decisional: no\n- Next: test it\n- 次：実装する\n- Next steps:\n    - d\n- 次:\n";
    let progress = Progress::parse(text);
    let entry = &progress.entries[0];
    assert_eq!(decisions(entry), ["use `fsync`", "**two** files", "一つにする", "a", "b"]);
    assert_eq!(next_steps(entry), ["test it", "実装する", "d"]);
}

fn new(what: &str) -> NewEntry {
    NewEntry { at: Millis(1_794_795_005_000), what: what.into(), ..NewEntry::default() }
}

#[test]
fn an_entry_is_written_where_and_how_the_file_has_them() {
    let full = NewEntry {
        changes: vec!["a\nb".into()],
        decisions: vec!["決めた".into()],
        rationale: Some("why".into()),
        next: vec!["c".into(), "d".into()],
        ..new("何かを\nした")
    };
    let written = "# Progress\n\n## [2026-11-16T02:10:05Z] — 何かを した\n- Key change: a b\n\
        - Decision: 決めた\n- Rationale: why\n- Next: c\n- Next: d\n";
    for empty in ["", "\n \n"] {
        assert_eq!(Progress::parse(empty).with(&full), written);
    }
    let entry = "## [2026-11-16T02:10:05Z] — x";
    for (text, expected) in [
        ("\u{feff}", format!("\u{feff}# Progress\n\n{entry}\n")),
        ("# 進捗", format!("# 進捗\n\n{entry}\n")),
        ("# 進捗\r\n", format!("# 進捗\r\n\r\n{entry}\r\n")),
        ("# P\n\n## a\n- x", format!("# P\n\n{entry}\n\n## a\n- x")),
        ("\u{feff}## a\n", format!("\u{feff}{entry}\n\n## a\n")),
        ("## a\n\n- x\n", format!("{entry}\n\n\n## a\n\n- x\n")),
        ("## a\n## b\n", format!("{entry}\n## a\n## b\n")),
        ("## 2026-01-01\n\n## 2026-01-02\n- x", format!("## 2026-01-01\n\n## 2026-01-02\n- x\n\n{entry}\n")),
        ("## 2026-01-01\n## 2026-01-02\n", format!("## 2026-01-01\n## 2026-01-02\n{entry}\n")),
        (
            "## 2026-01-01\n\n## 2026-01-02\n```\nx\n\n",
            format!("## 2026-01-01\n\n## 2026-01-02\n```\nx\n```\n\n{entry}\n"),
        ),
        ("~~~\n## a", format!("~~~\n## a\n~~~\n\n{entry}\n")),
    ] {
        assert_eq!(Progress::parse(text).with(&new("x")), expected, "{text:?}");
    }
}

#[test]
fn the_newest_stay_byte_for_byte_and_the_others_move() {
    let text =
        "# P\r\n\n## 2026-01-03\n- c  \n\n## 2026-01-01\r\n- a\n## 2026-01-02\n- b\n\n## 2026-01-04\n- d";
    let progress = Progress::parse(text);
    assert_eq!(progress.trim_to(4), None);
    assert_eq!(progress.trim_to(9), None);
    let trimmed = progress.trim_to(2).unwrap();
    assert_eq!(trimmed.kept, "# P\r\n\n## 2026-01-03\n- c  \n\n## 2026-01-04\n- d");
    let moved: Vec<&str> = trimmed.moved.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(moved, ["## 2026-01-01\r\n- a\n", "## 2026-01-02\n- b\n\n"]);
    assert_eq!(progress.trim_to(0).unwrap().kept, "# P\r\n\n");

    let archive = add_to_archive("", &trimmed.moved);
    assert_eq!(archive, "# Progress archive\n\n## 2026-01-01\r\n- a\n\n## 2026-01-02\n- b\n");
    assert_eq!(add_to_archive(&archive, &trimmed.moved), archive, "what is there is not put there again");
    let again = add_to_archive("古い\r\n", &trimmed.moved[1..]);
    assert_eq!(again, "古い\r\n\r\n## 2026-01-02\n- b\r\n");
}

#[test]
fn an_open_fence_swallows_nothing_that_follows_it() {
    let progress = Progress::parse("## 2026-01-02\n## 2026-01-01\n~~~\nx\n\n");
    let moved = progress.trim_to(0).unwrap().moved;
    let archive = add_to_archive("", &moved);
    assert_eq!(archive, "# Progress archive\n\n## 2026-01-01\n~~~\nx\n~~~\n\n## 2026-01-02\n");
    let ids: Vec<EntryId> = Progress::parse(&archive).entries.iter().map(|entry| entry.id).collect();
    assert_eq!(ids, [moved[0].0, moved[1].0]);
    assert_eq!(add_to_archive(&archive, &moved), archive);
}

#[test]
fn what_nobody_was_shown() {
    let progress = Progress::parse("## 2026-01-03 c\n## 2026-01-03 c\n## 2026-01-02 b\n## x\n");
    let archive = Progress::parse("## 2026-01-01 a\n## 2026-01-02 b\n");
    let ask = |archive, shown: &ShownEntries| headings(&unpromoted(&progress, archive, shown));
    assert_eq!(ask(None, &ShownEntries::default()), "c b x");
    assert_eq!(ask(Some(&archive), &ShownEntries::default()), "c b x a");
    let run = ShownEntries { last_run: Millis::of_day(2026, 1, 2), ..ShownEntries::default() };
    assert_eq!(ask(Some(&archive), &run), "c x");
    let ids = [progress.entries[0].id].into();
    assert_eq!(ask(Some(&archive), &ShownEntries { ids, ..run }), "b x a", "ids decide");
}

/// Letters are sections without a date, numbers days of a month.
#[test]
fn a_section_without_a_date_is_an_entry_only_if_it_is_newer_than_one_with_a_date() {
    for (sections, entries) in [
        ("a", ""),
        ("a b c", ""),
        ("12 a", "12"),
        ("a 12 11", "a 12 11"),
        ("a 12 b 11 c", "a 12 b 11"),
        ("a 11 b 12 c", "11 b 12 c"),
        // Entries that were added to a status page.
        ("a b c 12", "12"),
        ("a b c 12 13", "12 13"),
        ("a b c 12 13 d", "12 13 d"),
        // No date shows which end is new.
        ("a b c 12 12", "12 12"),
        ("a b c 12 12 12", "12 12 12"),
        ("a b 12 c", "12"),
        ("a 12 b 12 c", "12 12"),
        // The newest first below a status page.
        ("a b c 13 12", "13 12"),
        ("a b c 13 d 12 e", "13 d 12"),
    ] {
        let section = |name: &str| match name.parse::<u32>() {
            Ok(day) => format!("## 2026-03-{day} {name}\n"),
            Err(_) => format!("## {name}\n"),
        };
        let text: String = sections.split(' ').map(section).collect();
        let flow = Progress::parse_flow(&text);
        assert_eq!(headings(&flow.entries.iter().collect::<Vec<_>>()), entries, "{sections}");
    }
}

#[test]
fn the_date_of_a_page_makes_no_entry() {
    for heading in [
        "Last Updated: 2026-01-28T18:10:00Z",
        "**Last updated**: 2026-01-28",
        "Last updated by Claude — 2026-01-28 (batch 6)",
        "Last modified on 2026-01-28",
        "Updated 2026-01-28",
        "Updated: 2026/01/28 18:10 PST",
        "📅 Updated (2026-01-28)",
        "As of 2026-01-28",
        "Where we are as of 2026-01-28: phase 8",
        "Current Status (2026-01-28)",
        "2026-01-28 (last updated)",
        "最終更新: 2026年1月28日",
        "最終更新日時：2026-01-28 18:10",
        "更新 2026/1/28",
        "2026年1月28日 更新",
        "2026年1月28日時点の状況",
        "最后更新：2026-01-28",
    ] {
        let page = format!("# P\n\n## Status\n\n## {heading}\n\n## Phases\n- x\n\n## Next\n");
        let flow = Progress::parse_flow(&page);
        assert!(flow.entries.is_empty(), "{heading}: {:?}", flow.entries);
        let with = flow.with(&new("x"));
        assert!(with.starts_with(&page), "{with}");
        assert_eq!(headings(&Progress::parse_flow(&with).newest_first()), "x", "{heading}");
        // Above entries it is none of them.
        let text = format!("## {heading}\n\n## Status\n\n## 2026-02-02 b\n\n## 2026-02-01 a\n");
        assert_eq!(headings(&Progress::parse_flow(&text).newest_first()), "b a", "{heading}");
    }
    for heading in [
        "2026-01-28 — Last updated the parser",
        "[2026-01-28] — 更新",
        "[2026-01-28] — Updated",
        "Updated the parser, 2026-01-28",
        "Updated 2026-01-28: the parser",
        "Updated 2026-01-28 API",
        "Status 2026-01-28 DONE",
        "Last session 2026-01-28",
        "Session 3 (2026-01-28)",
        "Status report 2026-01-28",
        "パーサを更新 2026-01-28",
        "2026年1月28日 更新処理を直した",
        "2026-01-28",
    ] {
        let text = format!("## {heading}\n- x\n");
        assert_eq!(Progress::parse_flow(&text).entries.len(), 1, "{heading}");
    }
}

#[test]
fn a_page_with_several_dates_is_a_log() {
    for [one, other] in [
        ["Updated 2026-01-28", "Updated 2026-01-27"],
        ["Status (2026-01-28)", "Status (2026-01-27)"],
        ["2026-01-28 更新", "2026-01-27 更新"],
    ] {
        let log = format!("## {one}\n- x\n\n## {other}\n- y\n");
        assert_eq!(Progress::parse_flow(&log).entries.len(), 2, "{one}");
        let page = format!("## {one}\n- x\n\n## Phases\n\n## {one}\n- y\n");
        assert!(Progress::parse_flow(&page).entries.is_empty(), "{one}, twice");
    }
}

#[test]
fn a_status_page_is_never_trimmed_and_stays_above_its_entries() {
    let page = "## Area\n- x\n".repeat(30);
    assert_eq!(Progress::parse_flow(&page).trim_to(1), None);
    let mut text = page.clone();
    for step in 0..12 {
        // The first three in one second.
        let at = Millis(1_794_795_005_000 + u64::saturating_sub(step, 2) * 86_400_000);
        text = Progress::parse_flow(&text).with(&NewEntry {
            at,
            what: format!("step {step}"),
            ..NewEntry::default()
        });
        assert!(text.starts_with(&page), "{step}");
    }
    let trimmed = Progress::parse_flow(&text).trim_to(10).expect("two entries too many");
    assert_eq!(trimmed.moved.len(), 2);
    assert!(trimmed.kept.starts_with(&page) && trimmed.kept.contains("step 11"));
}

#[test]
fn a_set_is_the_same_in_any_order() {
    let progress = Progress::parse("## a\n## b\n## a\n");
    let [a, b, again] = &progress.entries[..] else { panic!() };
    assert_eq!(set_id(&[a, b]), set_id(&[b, again, a]));
    assert_ne!(set_id(&[a]), set_id(&[a, b]));
    assert_ne!(set_id(&[a]), set_id(&[]));
}

/// Files in any order, with and without times, with fences, blanks and line ends of both kinds.
fn file() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        4 => (1_u32..29, 0_u32..24).prop_map(|(day, hour)| format!("## [2026-02-{day:02} {hour:02}:00] — 作業")),
        2 => (1_u32..29).prop_map(|day| format!("## 2026/02/{day}: x")),
        2 => Just("## 見出し".to_owned()),
        1 => (1_u32..29).prop_map(|day| format!("## 最終更新: 2026-02-{day:02}")),
        3 => "- [a-z決定:： ]{0,8}",
        1 => Just("```".to_owned()),
        1 => Just("~~~~ md".to_owned()),
        1 => Just("# 題".to_owned()),
        2 => Just(String::new()),
    ];
    let line = (line, prop_oneof![5 => Just("\n"), 2 => Just("\r\n"), 1 => Just(" \n")])
        .prop_map(|(line, end)| line + end);
    (any::<bool>(), proptest::collection::vec(line, 0..40), any::<bool>()).prop_map(|(bom, lines, cut)| {
        let text = lines.concat();
        let text = if cut { text.trim_end() } else { &text };
        format!("{}{text}", if bom { "\u{feff}" } else { "" })
    })
}

fn sorted(mut ids: Vec<EntryId>) -> Vec<EntryId> {
    ids.sort_unstable();
    ids
}

fn ids(text: &str) -> Vec<EntryId> {
    sorted(Progress::parse(text).entries.iter().map(|entry| entry.id).collect())
}

proptest! {
    #[test]
    fn the_order_is_a_permutation_and_keeps_to_the_clock(text in file()) {
        let progress = Progress::parse(&text);
        let newest = progress.newest_first();
        let mut lines: Vec<usize> = newest.iter().map(|entry| entry.line).collect();
        lines.sort_unstable();
        prop_assert_eq!(lines, progress.entries.iter().map(|entry| entry.line).collect::<Vec<_>>());
        let timed: Vec<_> = newest.iter().filter(|entry| entry.timed).filter_map(|entry| entry.at).collect();
        prop_assert!(timed.is_sorted_by(|newer, older| newer >= older));
    }

    #[test]
    fn a_new_entry_changes_no_other(text in file(), what in "[a-z#`決定 \n]{0,12}") {
        let new = NewEntry { next: vec![what.clone()], ..new(&what) };
        let written = Progress::parse(&text).with(&new);
        let mut before = ids(&text);
        let alone = Progress::parse("").with(&new);
        // A blank line below the heading, as in other entries, changes its text.
        let spaced = EntryId::of(
            Progress::parse(&alone).entries[0].heading,
            &format!("\n{}", Progress::parse(&alone).entries[0].body),
        );
        let after = ids(&written);
        let id = if after.contains(&spaced) { spaced } else { Progress::parse(&alone).entries[0].id };
        before.push(id);
        prop_assert_eq!(sorted(before), after);
        // Every byte of before, in its order, except blanks at the end of a file with an open fence.
        let mut rest = written.as_str();
        for line in text.trim_start_matches('\u{feff}').trim_end().split('\n') {
            let at = rest.find(line);
            prop_assert!(at.is_some(), "{:?} is lost", line);
            rest = &rest[at.unwrap() + line.len()..];
        }
    }

    #[test]
    fn trimming_keeps_each_entry_in_one_place(text in file(), keep in 0_usize..6) {
        let progress = Progress::parse(&text);
        let Some(trimmed) = progress.trim_to(keep) else {
            prop_assert!(progress.entries.len() <= keep);
            return Ok(());
        };
        let mut all = ids(&trimmed.kept);
        prop_assert_eq!(all.len(), keep);
        all.extend(trimmed.moved.iter().map(|(id, _)| *id));
        prop_assert_eq!(sorted(all), ids(&text));
        prop_assert_eq!(Progress::parse(&trimmed.kept).trim_to(keep), None);
        let bytes = trimmed.kept.len() + trimmed.moved.iter().map(|(_, text)| text.len()).sum::<usize>();
        prop_assert_eq!(bytes, text.len());

        let archive = add_to_archive("", &trimmed.moved);
        let mut unique: Vec<EntryId> = trimmed.moved.iter().map(|(id, _)| *id).collect();
        unique.sort_unstable();
        unique.dedup();
        let mut there = ids(&archive);
        there.dedup();
        prop_assert_eq!(there, unique);
        prop_assert_eq!(add_to_archive(&archive, &trimmed.moved), archive.clone());
        let unix = text.replace("\r\n", "\n");
        for edited in [unix.replace('\n', "\r\n"), unix.replace('\n', "  \n"), unix] {
            let again = Progress::parse(&edited).trim_to(keep).expect("as many entries");
            prop_assert_eq!(add_to_archive(&archive, &again.moved), archive.clone());
        }
    }

    #[test]
    fn ids_survive_other_line_ends(text in file()) {
        let unix = text.replace("\r\n", "\n");
        prop_assert_eq!(ids(&unix), ids(&text));
        prop_assert_eq!(ids(&unix.replace('\n', "\r\n")), ids(&text));
        prop_assert_eq!(ids(&unix.replace('\n', "  \n")), ids(&text));
    }
}
