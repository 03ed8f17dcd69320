//! Runs the rows of tables. Each column is either *given*, then its cells make the case of a row, or *expected*, then they show
//! what comes of it.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::markdown::{self, Row};

/// Built from the given cells of a row.
pub(crate) trait Case {
    type Outcome;

    fn outcome(self) -> Self::Outcome;
}

pub(crate) type Given<C> = (&'static str, fn(&mut C, &str));
pub(crate) type Expected<C> = (&'static str, fn(&<C as Case>::Outcome) -> String);

/// Columns by their names in a header.
pub(crate) struct Vocabulary<C: Case + 'static> {
    pub name: &'static str,
    /// In the order in which they change a case.
    pub given: &'static [Given<C>],
    pub expected: &'static [Expected<C>],
}

impl<C: Case> Vocabulary<C> {
    fn names(&self) -> impl Iterator<Item = &'static str> {
        self.given.iter().map(|(name, _)| *name).chain(self.expected.iter().map(|(name, _)| *name))
    }

    fn has(&self, name: &str) -> bool {
        self.names().any(|known| known == name)
    }
}

/// What the tables of all files come to.
#[derive(Default)]
pub(crate) struct Report {
    pub rows: usize,
    /// How each wrong row should read.
    pub wrong: String,
    /// Columns by vocabulary and name.
    known: BTreeSet<(&'static str, String)>,
    used: BTreeSet<(&'static str, String)>,
}

impl Report {
    /// Runs every row of a file. A column means what the last vocabulary says that has it.
    pub(crate) fn run<C: Case>(
        &mut self,
        file: &str,
        text: &str,
        vocabularies: &[&Vocabulary<C>],
        begin: impl Fn() -> C,
    ) {
        for vocabulary in vocabularies {
            self.known.extend(vocabulary.names().map(|name| (vocabulary.name, name.to_owned())));
        }
        let rows = markdown::rows(text);
        assert!(!rows.is_empty(), "{file}: no table");
        for Row { line, header, cells } in rows {
            assert_eq!(cells.len(), header.len(), "{file}:{line}");
            for (at, name) in header.iter().enumerate() {
                let vocabulary = vocabularies.iter().rfind(|vocabulary| vocabulary.has(name));
                let Some(vocabulary) = vocabulary else {
                    panic!("{file}:{line}: no vocabulary has the column `{name}`")
                };
                assert!(!header[..at].contains(name), "{file}:{line}: `{name}` twice");
                self.used.insert((vocabulary.name, name.clone()));
            }
            let run = || is(&header, &cells, vocabularies, begin());
            let is =
                catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| vec!["a panic, shown above".into()]);
            self.rows += 1;
            if is != cells {
                let (written, is) = (cells.join(" | "), is.join(" | "));
                writeln!(self.wrong, "{file}:{line}\n  written: {written}\n  is:      {is}")
                    .expect("a String takes everything");
            }
        }
    }

    /// Columns that no table has.
    pub(crate) fn unused(&self) -> Vec<&(&'static str, String)> {
        self.known.difference(&self.used).collect()
    }
}

/// A row as it should read.
fn is<C: Case>(
    header: &[String],
    cells: &[String],
    vocabularies: &[&Vocabulary<C>],
    mut case: C,
) -> Vec<String> {
    let column = |at: usize, name: &str| {
        let overridden = vocabularies[at + 1..].iter().any(|later| later.has(name));
        header.iter().position(|column| column == name && !overridden)
    };
    for (at, vocabulary) in vocabularies.iter().enumerate() {
        for (name, change) in vocabulary.given {
            if let Some(column) = column(at, name) {
                change(&mut case, &cells[column]);
            }
        }
    }
    let outcome = case.outcome();
    let mut is = cells.to_vec();
    for (at, vocabulary) in vocabularies.iter().enumerate() {
        for (name, show) in vocabulary.expected {
            if let Some(column) = column(at, name) {
                is[column] = show(&outcome);
            }
        }
    }
    is
}
