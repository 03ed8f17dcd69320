//! The laws of meta tags. Their tables are in `src/feature/memory/tag.md`.

use proptest::prelude::*;
use tidegate_core::feature::memory::catalogue::NamedId;
use tidegate_core::feature::memory::tag::{TopicTag, find_last, render, without_tags};

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
