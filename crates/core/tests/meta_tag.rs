//! Runs the tables of `src/feature/memory/tag.md`, and the laws of meta tags.

use std::fmt::Write as _;

use proptest::prelude::*;
use tidegate_core::feature::memory::catalogue::NamedId;
use tidegate_core::feature::memory::tag::{TopicTag, find_last, render, without_tags};

#[test]
fn every_row_of_every_table() {
    let text = include_str!("../src/feature/memory/tag.md");
    let mut rows = 0;
    let mut wrong = String::new();
    for (number, line) in text.lines().enumerate() {
        if !line.starts_with('|') || line.starts_with("| text |") || line.starts_with("| ---") {
            continue;
        }
        let cells: Vec<String> = line
            .trim_matches('|')
            .replace("\\|", "\u{1}")
            .split('|')
            .map(|cell| cell.trim().replace('\u{1}', "|"))
            .collect();
        let [text, project, topic] = cells.as_slice() else { panic!("line {}", number + 1) };
        let tag = find_last(&unquoted(text).replace('⏎', "\n"));
        let shown = |named: Option<&NamedId>| {
            named.map_or(String::new(), |named| format!("{} {}", named.name, named.id).trim().to_owned())
        };
        let (is_project, is_topic) =
            (shown(tag.as_ref().and_then(|t| t.project.as_ref())), shown(tag.as_ref().map(|t| &t.topic)));
        rows += 1;
        if (&is_project, &is_topic) != (project, topic) {
            writeln!(wrong, "meta_tag.md:{}\n  {text}\n  is: {is_project} | {is_topic}", number + 1).unwrap();
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
    assert!(rows > 50, "only {rows} rows found");
}

/// What stands between two runs of backticks, and one space at each side where the text has backticks of its own.
fn unquoted(cell: &str) -> &str {
    let ticks = cell.bytes().take_while(|b| *b == b'`').count();
    let inner = &cell[ticks..cell.len() - ticks];
    if ticks > 2 {
        inner.strip_prefix(' ').and_then(|text| text.strip_suffix(' ')).unwrap_or(inner)
    } else {
        inner
    }
}

/// Pieces that tags and Markdown are made of.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("<!--"),
        Just("-->"),
        Just("--!>"),
        Just("[meta]"),
        Just("**[meta]**"),
        Just("project:"),
        Just("topic:"),
        Just("- topic: a (id: 1)"),
        Just("- project: b (id: 2)"),
        Just("(id: 3)"),
        Just("|"),
        Just("｜"),
        Just("`"),
        Just("``"),
        Just("```"),
        Just("~~~"),
        Just("\n"),
        Just("\n\n"),
        Just("    "),
        Just("\t"),
        Just("> "),
        Just("- "),
        Just(" "),
        Just("("),
        Just("（id：4）"),
        Just("設計"),
        Just("\\"),
        Just("\u{2028}"),
        Just("\r\n"),
        Just("<"),
        Just("!--"),
        Just("# "),
        Just("7"),
    ];
    proptest::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn what_is_written_is_found(
        project in prop_oneof![pieces(), "\\PC{0,30}", ".{0,20}"],
        topic in prop_oneof![pieces(), "\\PC{0,30}", ".{0,20}"],
        before in "[a-z \n]{0,20}",
        (n, m) in (0..i64::MAX, 0..i64::MAX),
    ) {
        let tag = render(&NamedId { id: n, name: project.clone() }, &NamedId { id: m, name: topic.clone() });
        prop_assert!(!tag.contains('\n'));
        let found = find_last(&format!("{before}\n\n{tag}\n")).expect("a tag that was written");
        prop_assert_eq!(found.project.as_ref().map(|named| named.id), Some(n));
        prop_assert_eq!(found.topic.id, m);
        // Names come back, up to what would have ended the tag; and then for good.
        let plain = |name: &str| !name.chars().any(|c| c.is_control() || "<>|｜\u{2028}\u{2029}".contains(c));
        if plain(&project) && plain(&topic) {
            let same = TopicTag {
                project: Some(NamedId { id: n, name: project.trim().to_owned() }),
                topic: NamedId { id: m, name: topic.trim().to_owned() },
            };
            prop_assert_eq!(&found, &same);
        }
        let around = format!("{before}\n\n{tag}\nend");
        prop_assert_eq!(without_tags(&around), format!("{before}\n\n\nend"));
        let again = render(found.project.as_ref().expect("seen above"), &found.topic);
        prop_assert_eq!(find_last(&again), Some(found));
    }

    #[test]
    fn any_text_is_read(text in prop_oneof![pieces(), ".{0,60}"]) {
        let rest = without_tags(&text);
        prop_assert!(rest.len() <= text.len());
        prop_assert_eq!(find_last(&text).is_none(), rest == text);
    }

    #[test]
    fn a_fence_hides_everything(text in pieces()) {
        prop_assume!(!text.contains("~~~"));
        prop_assert_eq!(find_last(&format!("~~~~\n{text}\n~~~~\n")), None);
    }
}

#[test]
fn a_text_without_its_tags() {
    for (text, rest) in [
        ("a <!-- [meta] topic: t (id: 1) --> b <!-- c -->", "a  b <!-- c -->"),
        ("a\n\n**[meta]**\n- project: p (id: 2)\n- topic: t (id: 1)\n", "a\n\n"),
        (
            "~~~\n<!-- [meta] topic: t (id: 1) -->\n~~~\n<!-- [meta] topic: t (id: 1) -->",
            "~~~\n<!-- [meta] topic: t (id: 1) -->\n~~~\n",
        ),
        ("a", "a"),
    ] {
        assert_eq!(without_tags(text), rest);
    }
}

#[test]
fn the_work_grows_with_the_text_and_no_faster() {
    // Each would take minutes if it were looked through again from every place.
    for piece in [
        "<!-- ",
        "\n<!-- ",
        "` ",
        "`` ` ",
        "\\` ",
        "| topic ",
        "> ",
        "**[meta]**\n",
        "(",
        "- ",
        "<!-- --> ",
        "a\n",
    ] {
        let text = format!("[meta]{}", piece.repeat(1_000_000 / piece.len()));
        assert_eq!(find_last(&text), None, "{piece:?}");
    }
    let ticks = (1..1400).map(|n| "`".repeat(n)).collect::<Vec<_>>().join(" ");
    assert_eq!(find_last(&format!("[meta]{ticks}")), None);
}
