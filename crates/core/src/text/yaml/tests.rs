use super::*;
use proptest::prelude::*;

fn text_at<'a>(text: &'a str, node: &Node<'_>) -> &'a str {
    &text[node.span.clone()]
}

#[test]
fn values_know_where_they_stand() {
    let text = "\u{feff}# 日本語\r\nname: \"ユーザー\" # é\r\nphases:\r\n  1: done\r\n  two: {a: 語, b: }\r\nlast: x";
    let root = parse(text).unwrap();
    assert_eq!(text_at(text, root.get("name").unwrap()), "\"ユーザー\"");
    let phases = root.get("phases").unwrap();
    assert_eq!(text_at(text, phases.get("1").unwrap()), "done");
    assert_eq!(text_at(text, phases.get("two").unwrap().get("a").unwrap()), "語");
    assert!(phases.get("two").unwrap().get("b").unwrap().is_nothing());
    assert_eq!(text_at(text, root.get("last").unwrap()), "x");
}

#[test]
fn what_is_no_manifest_is_said() {
    let of = |text: &str| parse(text).unwrap_err();
    for text in ["", "# nothing\n", "- a\n- b\n", "text", "\u{feff}", "---\n"] {
        assert_eq!(of(text), Unreadable::NoMap, "{text:?}");
    }
    assert_eq!(of("a: 1\na: 2\n"), Unreadable::Twice("a".into()));
    assert_eq!(of("a:\n  b: 1\n  b: 2\n"), Unreadable::Twice("b".into()));
    assert_eq!(of("a: 1\n---\nb: 2\n"), Unreadable::Documents);
    for torn in ["a:\n\t- b\n", "a: \"x\n", "a: [1, 2\n", "a: {b: 1\n", "a: *nothing\n", "a\nb: 1\n"] {
        assert!(matches!(of(torn), Unreadable::Syntax(..)), "{torn:?}: {:?}", parse(torn));
    }
    let deep = format!("a: {}1{}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(matches!(of(&deep), Unreadable::TooMuch | Unreadable::Syntax(..)));
    let nested: String = (0..200).flat_map(|depth| [" ".repeat(depth), "a:\n".to_owned()]).collect();
    assert_eq!(of(&nested), Unreadable::TooMuch);
    let again = format!("a: &a \"{}\"\nb: [{}]\n", "x".repeat(20_000), "*a, ".repeat(5000));
    assert_eq!(of(&again), Unreadable::TooMuch);
}

#[test]
fn aliases_and_tags_are_read() {
    let root = parse("base: &b done\ncopy: *b\nmap: &m {a: 1}\nother: *m\nnumber: !!str 3\n").unwrap();
    assert_eq!(root.get("copy").and_then(Node::text), Some("done"));
    assert_eq!(root.get("number").and_then(Node::text), Some("3"));
    assert!(matches!(root.get("other").unwrap().kind, Kind::Alias));
    assert_eq!(set("a: &x 1\nb: *x\n", &["b"], &"c".into()), Err(Unfit::Shared("b".into())));
}

/// Old text, path, value, new text.
#[test]
fn changes_touch_nothing_else() {
    for (old, path, value, new) in [
        ("a: 1 # one\nb: 2\n", "a", "x", "a: x # one\nb: 2\n"),
        ("a: 'old'\n", "a", "New one", "a: \"New one\"\n"),
        ("a: 1", "b", "x", "a: 1\nb: x"),
        ("a: 1\r\nb: 2\r\n", "c", "x", "a: 1\r\nb: 2\r\nc: x\r\n"),
        ("\u{feff}a: 1\n", "b", "x", "\u{feff}a: 1\nb: x\n"),
        ("a: 1\n\n# end\n", "b", "x", "a: 1\nb: x\n\n# end\n"),
        (
            "a:\n    b: 1\n    # inner\n# outer\nc: 2\n",
            "a.d",
            "x",
            "a:\n    b: 1\n    d: x\n    # inner\n# outer\nc: 2\n",
        ),
        (
            "a:\n  b: |\n    line\n\n    # no comment\n\nc: 2\n",
            "a.d",
            "x",
            "a:\n  b: |\n    line\n\n    # no comment\n  d: x\n\nc: 2\n",
        ),
        ("a:\n- 1\n- 2\nb:\n- 3\n", "c", "x", "a:\n- 1\n- 2\nb:\n- 3\nc: x\n"),
        ("a:\n  l:\n  - 1\n  - 2\nb: 1\n", "a.c", "x", "a:\n  l:\n  - 1\n  - 2\n  c: x\nb: 1\n"),
        ("a: {b: 1, c: 2} # k\n", "a.d", "x", "a: {b: 1, c: 2, d: x} # k\n"),
        ("a: {}\n", "a.b.c", "x", "a: {b: {c: x}}\n"),
        ("a: {} # none yet\nb: 1\n", "a.c", "x", "a: {c: x} # none yet\nb: 1\n"),
        ("a: null # none yet\nb: 1\n", "a.c.d", "x", "a: {c: {d: x}} # none yet\nb: 1\n"),
        ("a: {b: ~}\n", "a.b.c", "x", "a: {b: {c: x}}\n"),
        ("a: { b: 1 }\n", "a.b", "x", "a: { b: x }\n"),
        ("a: {b: }\n", "a.c", "x", "a: {b: , c: x}\n"),
        ("a:\nb: 1\n", "a", "x", "a: x\nb: 1\n"),
        ("a: # later\nb: 1\n", "a.c.d", "x", "a: # later\n  c:\n    d: x\nb: 1\n"),
        (
            "a:\n   b: 1\nc: 1\n",
            "g.1.status",
            "passed",
            "a:\n   b: 1\nc: 1\ng:\n   1:\n      status: passed\n",
        ),
        ("---\na: 1\n...\n", "b", "x", "---\na: 1\nb: x\n...\n"),
        ("a: x\n", "a", "x", "a: x\n"),
        ("a: \"two\n  lines\"\nb: 1\n", "c", "x", "a: \"two\n  lines\"\nb: 1\nc: x\n"),
        ("b: 1\na: \"two\n  lines\"\n", "c", "x", "b: 1\na: \"two\n  lines\"\nc: x\n"),
        ("a: [1, 2] # l\nb: 1\n", "a", "x", "a: x # l\nb: 1\n"),
        ("a: {b: 1,\n    c: 2}\nz: 1\n", "a.d", "x", "a: {b: 1,\n    c: 2, d: x}\nz: 1\n"),
    ] {
        let path: Vec<&str> = path.split('.').collect();
        assert_eq!(set(old, &path, &value.into()).as_deref(), Ok(new), "{old:?}");
    }
}

#[test]
fn what_cannot_be_changed_alone_is_refused() {
    for (old, path) in [
        ("a: |\n  x\n", "a"),
        ("a: [1,\n  2]\n", "a"),
        ("a:\n- 1\n", "a"),
        ("a: [1]\n", "a.b"),
        ("a: x\n", "a.b"),
        ("a: \"two\n  lines\"\n", "a"),
        ("a:\n  b: 1\n", "a"),
        ("<<: 1\n? [k]\n: v\n", "<<.x"),
        ("a: !!str \"1\" # why\n", "a"),
        ("a: &x '1' # why\n", "a"),
        ("a: &x 1\n", "a"),
        ("a: &m\n  c: 1\nb:\n  <<: *m\n", "a.b"),
        ("a: &m {c: 1}\nb: *m\n", "a.b"),
    ] {
        let path: Vec<&str> = path.split('.').collect();
        assert!(set(old, &path, &"x".into()).is_err(), "{old:?}");
    }
    assert!(matches!(set("- a\n", &["b"], &"x".into()), Err(Unfit::Unreadable(_))));
}

#[test]
fn a_list_can_be_a_value() {
    let texts = Scalar::Texts(vec!["a.md".into(), "b: c".into()]);
    for old in ["a: 1\n", "a: [x]\n", "a:\n", "b: 1\n"] {
        let new = set(old, &["a"], &texts).unwrap();
        assert!(texts.reads_as(parse(&new).unwrap().get("a").unwrap()), "{new}");
    }
}

#[test]
fn any_text_can_be_a_value() {
    for value in [
        "", "a: b", "# no", "true", "12", "- x", "\"q\"", "a\nb", "日本", "\u{1}", "*x", "&x", "\\", " ",
        "\u{2028}", "\u{85}",
    ] {
        let new = set("a: 1\n", &["b"], &value.into()).unwrap();
        assert_eq!(parse(&new).unwrap().get("b").unwrap().key(), Some(value), "{new:?}");
        assert_eq!(new.lines().count(), 2, "{new:?}");
    }
}

/// Manifests as people write them, in several layouts.
fn manifest() -> impl Strategy<Value = String> {
    let comment = prop_oneof![Just(String::new()), Just(" # note".to_owned()), Just("   # 注: x".to_owned())];
    let value = prop_oneof![
        Just("done".to_owned()),
        Just("\"in: quotes\"".to_owned()),
        Just("'it''s'".to_owned()),
        Just("[a, b]".to_owned()),
        Just("{status: complete, n: 1}".to_owned()),
        Just("日本語の値".to_owned()),
        Just(String::new()),
    ];
    let entry = (0usize..6, value, comment).prop_map(|(shape, value, comment)| (shape, value, comment));
    let layout = (1usize..5, any::<bool>(), any::<bool>(), any::<bool>());
    (proptest::collection::vec(entry, 1..6), layout).prop_map(|(entries, (step, crlf, bom, last))| {
        let indent = " ".repeat(step);
        let mut text = String::from("# head\nfeature: x\nphases:\n");
        for (at, (shape, value, comment)) in entries.iter().enumerate() {
            let section = match shape {
                0 => format!("{indent}{at}_p: {value}{comment}\n"),
                1 => format!(
                    "{indent}{at}_p:{comment}\n{indent}{indent}status: done\n{indent}{indent}note: {value}\n"
                ),
                2 => format!(
                    "{indent}{at}_p:\n{indent}{indent}log: |\n{indent}{indent} a: b\n\n{indent}{indent} # c\n"
                ),
                3 => format!(
                    "{indent}{at}_p:\n{indent}{indent}list:\n{indent}{indent}- a{comment}\n{indent}{indent}- b\n"
                ),
                4 => format!(
                    "\n{indent}# before\n{indent}{at}_p: >-\n{indent}{indent}folded\n{indent}{indent}text\n"
                ),
                _ => format!("{indent}{at}_p: \"a\n{indent}{indent}b\"{comment}\n"),
            };
            text.push_str(&section);
        }
        text += "# tail\nend: 1\n";
        if !last {
            text.truncate(text.len() - 1);
        }
        let text = if crlf { text.replace('\n', "\r\n") } else { text };
        if bom { format!("{BOM}{text}") } else { text }
    })
}

proptest! {
    #[test]
    fn a_change_reads_back_and_leaves_the_other_lines(old in manifest(), at in 0usize..7, deep in 0usize..3, value in ".{0,20}") {
        let phase = format!("{at}_p");
        let paths = [vec!["gates", "1", "status"], vec!["phases", &phase, "skip_reason"], vec!["phases", &phase]];
        let path = paths[deep].as_slice();
        prop_assume!(parse(&old).is_ok());
        if let Ok(new) = set(&old, path, &Scalar::Text(value.clone())) {
            let root = parse(&new).unwrap();
            let found = path.iter().try_fold(&root, |node, key| node.get(key));
            prop_assert_eq!(found.and_then(Node::key), Some(value.as_str()));
            // The other lines are there, to the byte and in their order.
            let (mut kept, mut lost) = (new.split_inclusive('\n'), 0);
            for line in old.split_inclusive('\n') {
                let before = kept.clone();
                if kept.by_ref().all(|known| known.trim_end_matches(['\r', '\n']) != line.trim_end_matches(['\r', '\n'])) {
                    kept = before;
                    lost += 1;
                }
            }
            prop_assert!(lost <= 1, "{lost} lines changed:\n{old}\n=>\n{new}");
            prop_assert_eq!(old.ends_with('\n'), new.ends_with('\n'));
            prop_assert_eq!(old.contains("\r\n"), new.contains("\r\n"));
            prop_assert!(!old.contains("\r\n") || !new.replace("\r\n", "").contains('\n'));
        } else {
            // The record of a gate can always be written into a map.
            prop_assert!(deep > 0, "refused:\n{old}");
        }
    }

    #[test]
    fn any_text_is_survived(text in "[ -~\\n\\t:{}\\[\\]#&*|>'\"?!%@`,語é-]{0,200}") {
        let _ = parse(&text);
        let _ = set(&text, &["gates", "1", "status"], &"passed".into());
    }
}
