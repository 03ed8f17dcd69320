use super::confirmations::*;
use super::section::*;
use super::*;
use crate::feature::knowledge::document::Newline;
use proptest::prelude::*;

const FILE: &str = "# 学び\n\n## Locks\n- **Learning**: one lock per file\n  and per process\n- **Context**: state\n\
                    - **Implication**: no deadlock\n- **Confirmed**: 4回 | 2026-02-18 | implement, design\n\n\
                    ## Clocks\n- **Learning**: clocks go backwards\n\n```\n## no entry\n- **Confirmed**: 9回 | 2026-02-18 | x\n```\n";

fn ids(text: &str) -> Vec<EntryId> {
    Stock::parse(text).entries.iter().map(|entry| entry.id).collect()
}

#[test]
fn what_an_entry_says() {
    let stock = Stock::parse(FILE);
    assert_eq!(stock.problems, []);
    let [locks, clocks] = &stock.entries[..] else { panic!("{stock:?}") };
    assert_eq!((locks.title, locks.line, locks.count()), ("Locks", 3, 4));
    assert_eq!(locks.learning, Some("one lock per file\n  and per process"));
    assert_eq!((locks.context, locks.implication), (Some("state"), Some("no deadlock")));
    assert_eq!(locks.confirmed.as_ref().unwrap().phases, ["implement", "design"]);
    assert_eq!((clocks.title, clocks.line, clocks.context), ("Clocks", 10, None));
    assert!(clocks.is_unverified());
    let confidence = Confidence::of(&stock.entries);
    assert_eq!(confidence, Confidence { total: 2, average: 2.0, unverified: 1 });
    assert_eq!(Confidence::of([]), Confidence::default());
}

#[test]
fn what_is_no_learning() {
    let stock = Stock::parse("## a\nwords\n\n## b\n- **Learning**:\n- **Confirmed**: many\n");
    let problems: Vec<_> = stock.problems.iter().map(|problem| (problem.line, problem.what)).collect();
    assert_eq!(
        problems,
        [(1, LearningFault::NoLearning), (4, LearningFault::NoLearning), (6, LearningFault::NoCount)]
    );
}

#[test]
fn an_average_has_one_decimal() {
    let line = |count| format!("## {count}\n- **Confirmed**: {count}回 | 2026-02-18 | x\n");
    let text = [line(1), line(2), line(2)].concat();
    let confidence = Confidence::of(&Stock::parse(&text).entries);
    assert!((confidence.average - 1.7).abs() < 1e-9, "{confidence:?}");
}

const NEW: NewLearning<'_> = NewLearning {
    title: "Pipes\n## x",
    learning: "pipes  block",
    context: "",
    implication: "poll first",
    date: "2026-11-16",
    phase: Some("debug"),
    form: CountForm::Times,
};

#[test]
fn a_new_entry() {
    let entry =
        "## Pipes ## x\n- **Learning**: pipes block\n- **Implication**: poll first\n- **Confirmed**: ";
    assert_eq!(append_learning("", &NEW), format!("# Learnings\n\n{entry}1 time | 2026-11-16 | debug\n"));
    assert_eq!(append_learning(FILE, &NEW), format!("{FILE}\n{entry}1回 | 2026-11-16 | debug\n"));
    assert_eq!(
        append_learning("# Mine\r\n\r\n## a\r\n~~~", &NEW),
        format!("# Mine\n\n## a\n~~~\n~~~\n\n{entry}1 time | 2026-11-16 | debug\n").replace('\n', "\r\n")
    );
}

#[test]
fn confirming() {
    let [locks, clocks] = ids(FILE)[..] else { panic!() };
    let once = confirm_learning(FILE, locks, "2026-11-16", Some("Design")).unwrap();
    assert_eq!(once, FILE.replace("4回 | 2026-02-18", "5回 | 2026-11-16"));
    let twice = confirm_learning(&once, locks, "2026-11-17", Some("debug")).unwrap();
    assert_eq!(
        twice,
        FILE.replace("4回 | 2026-02-18 | implement, design", "6回 | 2026-11-17 | implement, design, debug")
    );
    let first = confirm_learning(FILE, clocks, "2026-11-16", None).unwrap();
    let line = "- **Learning**: clocks go backwards\n";
    assert_eq!(first, FILE.replace(line, &format!("{line}- **Confirmed**: 1回 | 2026-11-16\n")));
    assert_eq!(confirm_learning(FILE, EntryId::of("none", ""), "2026-11-16", None), None);
}

#[test]
fn confirming_what_could_not_be_read() {
    let text = "## a\n- Learning: x\n- Confirmed: often\n";
    let now = confirm_learning(text, ids(text)[0], "2026-11-16", None).unwrap();
    assert_eq!(now, "## a\n- Learning: x\n- Confirmed: 1 time | 2026-11-16\n- Confirmed: often\n");
    let text = "## a\n- **Confirmed**: 0 times | 2026-02-18 | x\n";
    let now = confirm_learning(text, ids(text)[0], "2026-11-16", None).unwrap();
    assert_eq!(now, "## a\n- **Confirmed**: 1 time | 2026-11-16 | x\n");
    for (text, now) in [
        ("## a", "## a\n- **Confirmed**: 1 time | 2026-11-16"),
        ("## a\n```\nx", "## a\n- **Confirmed**: 1 time | 2026-11-16\n```\nx"),
        ("## a\nwords\n\n## b\n", "## a\nwords\n- **Confirmed**: 1 time | 2026-11-16\n\n## b\n"),
    ] {
        assert_eq!(confirm_learning(text, ids(text)[0], "2026-11-16", None).unwrap(), now);
    }
}

#[test]
fn merging() {
    let text = "## a\n- **Learning**: x\n- **Confirmed**: 2 times | 2026-02-18 | design\n\n## b\n- **Learning**: y\n\n\
                ## c\n- **Learning**: z\n- **Context**: here\n- **Confirmed**: 3 times | 2026-03-18 | Design, debug\n\nwords";
    let [a, b, c] = ids(text)[..] else { panic!() };
    assert_eq!(
        merge_learnings(text, a, c).unwrap(),
        "## a\n- **Learning**: x\n- **Confirmed**: 5 times | 2026-03-18 | design, debug\n- **Also**: c\n\
         - **Learning**: z\n- **Context**: here\n\nwords\n\n## b\n- **Learning**: y\n\n"
    );
    assert_eq!(
        merge_learnings(text, b, a).unwrap(),
        "## b\n- **Learning**: y\n- **Confirmed**: 2 times | 2026-02-18 | design\n- **Also**: a\n- **Learning**: x\n\n\
         ## c\n- **Learning**: z\n- **Context**: here\n- **Confirmed**: 3 times | 2026-03-18 | Design, debug\n\nwords"
    );
    assert_eq!(merge_learnings(text, a, a), None);
    assert_eq!(merge_learnings(text, a, EntryId::of("none", "")), None);
}

#[test]
fn two_of_the_same() {
    let one = "## a\n- **Learning**: x\n- **Confirmed**: 2回 | 2026-02-18 | design\n";
    let text = format!("{one}{one}");
    let id = ids(&text)[0];
    assert_eq!(merge_learnings(&text, id, id).unwrap(), one.replace("2回", "4回"));
}

/// Entries as people write them, in any order and partly broken.
fn file() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        4 => "- \\*\\*(Learning|Context|Implication)\\*\\*: [a-z学び ]{0,6}\n",
        2 => "- \\*\\*Confirmed\\*\\*: [0-4](回| times) \\| 2026-0[1-9]-1[0-9]( \\| [a-c](, [a-c])?)?\n",
        1 => "- \\*\\*Confirmed\\*\\*[: ][0-4回| ]{0,6}\n",
        1 => Just("```\n".to_owned()),
        1 => Just("\n".to_owned()),
        1 => "( {2})?[a-z設計 -]{1,6}\n",
    ];
    let entry = ("[a-c設 ]{0,3}", proptest::collection::vec(line, 0..7))
        .prop_map(|(title, lines)| format!("## {title}\n{}", lines.concat()));
    let preamble = prop_oneof![Just(""), Just("\u{feff}"), Just("# 学び\n\n"), Just("words\n")];
    (preamble, proptest::collection::vec(entry, 1..6), any::<bool>(), any::<bool>()).prop_map(
        |(preamble, entries, windows, cut)| {
            let mut text = format!("{preamble}{}", entries.concat());
            if cut {
                text.pop();
            }
            if windows { text.replace('\n', "\r\n") } else { text }
        },
    )
}

/// The texts of all entries except those at these indices.
fn others<'a>(text: &'a str, but: &[usize]) -> Vec<&'a str> {
    let entries = Stock::parse(text).entries;
    let ranges = entries.into_iter().enumerate().filter(|(index, _)| !but.contains(index));
    ranges.map(|(_, entry)| &text[entry.range]).collect()
}

fn counts(text: &str) -> Vec<u32> {
    Stock::parse(text).entries.iter().map(Learning::count).collect()
}

proptest! {
    #[test]
    fn appending_changes_nothing_else(text in file()) {
        let now = append_learning(&text, &NEW);
        prop_assert!(now.starts_with(&text));
        let stock = Stock::parse(&now);
        prop_assert_eq!(stock.entries.len(), Stock::parse(&text).entries.len() + 1);
        let new = stock.entries.last().unwrap();
        prop_assert_eq!((new.learning, new.count()), (Some("pipes block"), 1));
        prop_assert_eq!(Newline::of(&now), Newline::of(&text));
    }

    #[test]
    fn confirming_raises_one_count(text in file(), which in any::<prop::sample::Index>()) {
        let before = Stock::parse(&text);
        let id = before.entries[which.index(before.entries.len())].id;
        let at = before.entries.iter().position(|entry| entry.id == id).unwrap();
        let now = confirm_learning(&text, id, "2026-11-16", Some("debug")).unwrap();
        let mut expected = counts(&text);
        expected[at] += 1;
        prop_assert_eq!(counts(&now), expected);
        prop_assert_eq!(ids(&now), ids(&text));
        prop_assert_eq!(others(&now, &[at]), others(&text, &[at]));
        let after = Stock::parse(&now).entries[at].confirmed.clone().unwrap();
        prop_assert_eq!(&after.date, "2026-11-16");
        prop_assert!(after.phases.contains(&"debug".to_owned()));
        // Every line is there, except the `Confirmed` line.
        let entry = &text[before.entries[at].range.clone()];
        let lines = entry.lines().filter(|line| parse_bullet(line).is_none_or(|found| found.label != BulletLabel::Confirmed));
        for line in lines {
            prop_assert!(now.contains(line.trim_end()), "{line:?}");
        }
        let preamble = before.entries[0].range.start;
        prop_assert_eq!(&now[..preamble], &text[..preamble]);
    }

    #[test]
    fn merging_loses_nothing(text in file(), keep in any::<prop::sample::Index>(), away in any::<prop::sample::Index>()) {
        let before = Stock::parse(&text).entries;
        let (keep, away) = (before[keep.index(before.len())].id, before[away.index(before.len())].id);
        let kept = before.iter().position(|entry| entry.id == keep).unwrap();
        let gone = before.iter().enumerate().position(|(at, entry)| at != kept && entry.id == away);
        let Some(gone) = gone else {
            prop_assert_eq!(merge_learnings(&text, keep, away), None);
            return Ok(());
        };
        let now = merge_learnings(&text, keep, away).unwrap();
        let after = Stock::parse(&now).entries;
        prop_assert_eq!(after.len(), before.len() - 1);
        let place = kept - usize::from(gone < kept);
        prop_assert_eq!(others(&now, &[place]), others(&text, &[kept, gone]));
        let (a, b, both) = (&before[kept], &before[gone], &after[place]);
        prop_assert_eq!(both.count(), a.count() + b.count());
        prop_assert_eq!(both.title, a.title);
        let all = |of: fn(&Confirmations) -> Vec<String>| -> Vec<String> {
            let mut all: Vec<String> = [a, b].iter().filter_map(|entry| entry.confirmed.as_ref()).flat_map(of).collect();
            all.sort();
            all.dedup();
            all
        };
        if let Some(confirmed) = &both.confirmed {
            let mut phases = confirmed.phases.clone();
            phases.sort();
            prop_assert_eq!(phases, all(|confirmed| confirmed.phases.clone()));
            let dates = all(|confirmed| vec![confirmed.date.clone()]);
            prop_assert_eq!(Some(&confirmed.date), dates.last());
        }
        let section = &now[both.range.clone()];
        for entry in [a, b] {
            for line in text[entry.range.clone()].lines() {
                let read = parse_bullet(line).filter(|found| found.label == BulletLabel::Confirmed);
                let words = line.strip_prefix("## ").unwrap_or(line).trim();
                if read.is_none_or(|read| Confirmations::parse(read.value).is_err()) {
                    prop_assert!(section.contains(words), "{words:?} is not in {section:?}");
                }
            }
        }
    }

    #[test]
    fn any_text_is_survived(text in "[#*: 0-9a-zA-Z回|`~\\-\n設]{0,80}") {
        let stock = Stock::parse(&text);
        for entry in &stock.entries {
            let _ = confirm_learning(&text, entry.id, "2026-11-16", None);
            let _ = merge_learnings(&text, stock.entries[0].id, entry.id);
        }
        let _ = append_learning(&text, &NEW);
    }
}
