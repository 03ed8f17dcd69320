//! `corpus/verify/labels.tsv`: what people said of ends of turns.

use std::fmt;
use std::fs;

use xtask::failure::{Done, Failure, While};
use xtask::workspace;

/// One end of a turn with what was true there.
#[derive(Clone, Debug)]
pub(crate) struct LabelledEnd {
    /// The transcript's file name.
    pub(crate) session: String,
    pub(crate) turn: usize,
    /// Of the last answer of the main thread.
    pub(crate) line: usize,
    /// The id of that answer.
    pub(crate) entry: String,
    pub(crate) part: Part,
    pub(crate) label: Label,
    /// It ends with a question without whose answer the work cannot continue.
    pub(crate) asks: bool,
    pub(crate) reason: String,
    /// The second reader's.
    pub(crate) second: Option<Label>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Tune,
    HeldOut,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Label {
    Verified,
    HiddenPass,
    HiddenUnknown,
    HiddenFail,
    Failed,
    Nothing,
    NotCode,
}

impl Label {
    pub(crate) const ALL: [Label; 7] = [
        Label::Verified,
        Label::HiddenPass,
        Label::HiddenUnknown,
        Label::HiddenFail,
        Label::Failed,
        Label::Nothing,
        Label::NotCode,
    ];

    fn parse(label: &str, sub: &str) -> Option<Label> {
        Some(match (label, sub) {
            ("verified", "-") => Label::Verified,
            ("hidden", "hidden-pass") => Label::HiddenPass,
            ("hidden", "hidden-unknown") => Label::HiddenUnknown,
            ("hidden", "hidden-fail") => Label::HiddenFail,
            ("failed", "-") => Label::Failed,
            ("nothing", "-") => Label::Nothing,
            ("not-code", "-") => Label::NotCode,
            _ => return None,
        })
    }

    /// Without the output's part in a hidden status.
    pub(crate) fn main(self) -> &'static str {
        match self {
            Label::HiddenPass | Label::HiddenUnknown | Label::HiddenFail => "hidden",
            other => other.name(),
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Label::Verified => "verified",
            Label::HiddenPass => "hidden-pass",
            Label::HiddenUnknown => "hidden-unknown",
            Label::HiddenFail => "hidden-fail",
            Label::Failed => "failed",
            Label::Nothing => "nothing",
            Label::NotCode => "not-code",
        }
    }
}

impl fmt::Display for Label {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

const COLUMNS: &str =
    "session\tturn\tline\tentry\tpart\tlabel\tsub\tflag\tsure\treason\tsecond\tsecond-sub\tsecond-flag";

pub(crate) fn read_labels() -> Done<Vec<LabelledEnd>> {
    let path = workspace::root().join("corpus/verify/labels.tsv");
    let text = fs::read_to_string(&path).while_(path.display())?;
    parse_labels(&text).map_err(|why| Failure::new(format!("{}: {why}", path.display())))
}

fn parse_labels(text: &str) -> Result<Vec<LabelledEnd>, String> {
    let mut lines = text.lines();
    if lines.next() != Some(COLUMNS) {
        return Err(format!("the first line is not `{}`", COLUMNS.replace('\t', " ")));
    }
    let parse = |(at, line): (usize, &str)| parse_row(line).ok_or_else(|| format!("line {}: {line}", at + 2));
    lines.enumerate().map(parse).collect()
}

fn parse_row(line: &str) -> Option<LabelledEnd> {
    let columns: Vec<&str> = line.split('\t').collect();
    let [session, turn, at, entry, part, label, sub, flag, _, reason, second, second_sub, _] =
        columns.as_slice()
    else {
        return None;
    };
    Some(LabelledEnd {
        session: (*session).to_owned(),
        turn: turn.parse().ok()?,
        line: at.parse().ok()?,
        entry: (*entry).to_owned(),
        part: match *part {
            "tune" => Part::Tune,
            "held-out" => Part::HeldOut,
            _ => return None,
        },
        label: Label::parse(label, sub)?,
        asks: *flag == "question",
        reason: (*reason).to_owned(),
        second: if *second == "-" { None } else { Some(Label::parse(second, second_sub)?) },
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use sha2::{Digest as _, Sha256};

    use super::*;

    #[test]
    fn the_table_is_whole_and_split_by_the_names_of_sessions() {
        let labels = read_labels().unwrap_or_else(|failure| panic!("{}", failure.text()));
        let ends: BTreeSet<_> = labels.iter().map(|end| (&end.session, &end.entry)).collect();
        assert_eq!((labels.len(), ends.len()), (440, 440));
        assert_eq!(labels.iter().filter(|end| end.second.is_some()).count(), 150);
        for end in &labels {
            let is_even = Sha256::digest(end.session.as_bytes())[0].is_multiple_of(2);
            assert_eq!(end.part, if is_even { Part::Tune } else { Part::HeldOut }, "{}", end.session);
        }
    }

    #[test]
    fn a_row_that_cannot_be_read_is_named() {
        let row = "a.jsonl\t1\t7\tid\ttune\tverified\t-\t-\thigh\t[own-script] tests passed\thidden\thidden-pass\t-";
        let table = |row: &str| parse_labels(&format!("{COLUMNS}\n{row}"));
        let read = table(row).unwrap();
        assert_eq!((read[0].label, read[0].second), (Label::Verified, Some(Label::HiddenPass)));
        assert!(table(&row.replace("hidden-pass", "-")).is_err());
        assert!(table(&row.replace("tune", "test")).unwrap_err().starts_with("line 2:"));
        assert!(parse_labels("").is_err());
    }
}
