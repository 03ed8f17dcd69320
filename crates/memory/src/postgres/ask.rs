//! SQL statements with numbered parameters, built piece by piece.

use std::fmt::Write as _;

use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Row, Transaction};

use super::link::Failed;

#[derive(Clone, Debug)]
pub(super) enum Given {
    /// PostgreSQL text cannot contain NUL; see [`without_nul`].
    Text(String),
    Number(i64),
    Texts(Vec<String>),
    Numbers(Vec<i64>),
}

impl Given {
    fn typed(&self) -> (&(dyn ToSql + Sync), Type) {
        match self {
            Given::Text(value) => (value, Type::TEXT),
            Given::Number(value) => (value, Type::INT8),
            Given::Texts(values) => (values, Type::TEXT_ARRAY),
            Given::Numbers(values) => (values, Type::INT8_ARRAY),
        }
    }
}

impl From<&str> for Given {
    fn from(text: &str) -> Given {
        Given::Text(without_nul(text))
    }
}

impl From<i64> for Given {
    fn from(number: i64) -> Given {
        Given::Number(number)
    }
}

impl From<Vec<String>> for Given {
    fn from(texts: Vec<String>) -> Given {
        Given::Texts(texts.iter().map(|text| without_nul(text)).collect())
    }
}

impl From<Vec<i64>> for Given {
    fn from(numbers: Vec<i64>) -> Given {
        Given::Numbers(numbers)
    }
}

/// Replaces NUL, the one character that PostgreSQL cannot store, with its visible symbol.
pub(super) fn without_nul(text: &str) -> String {
    text.replace('\0', "\u{2400}")
}

#[derive(Clone, Debug, Default)]
pub(super) struct Ask {
    text: String,
    given: Vec<Given>,
}

impl Ask {
    pub(super) fn new(text: impl Into<String>) -> Ask {
        Ask { text: text.into(), given: Vec::new() }
    }

    /// Each `?` in `text` stands for the next value.
    pub(super) fn add<const COUNT: usize>(&mut self, text: &str, values: [Given; COUNT]) -> &mut Ask {
        let mut parts = text.split('?');
        self.text.push_str(parts.next().unwrap_or_default());
        for (part, value) in parts.zip(values) {
            self.given.push(value);
            let _ = write!(self.text, "${}", self.given.len());
            self.text.push_str(part);
        }
        self
    }

    pub(super) fn of<const COUNT: usize>(text: &str, values: [Given; COUNT]) -> Ask {
        let mut ask = Ask::default();
        ask.add(text, values);
        ask
    }

    pub(super) async fn rows(&self, transaction: &Transaction<'_>) -> Result<Vec<Row>, Failed> {
        let given: Vec<_> = self.given.iter().map(Given::typed).collect();
        Ok(transaction.query_typed(&self.text, &given).await?)
    }

    pub(super) async fn row(&self, transaction: &Transaction<'_>) -> Result<Option<Row>, Failed> {
        Ok(self.rows(transaction).await?.into_iter().next())
    }

    /// Returns the number of affected rows.
    pub(super) async fn run(&self, transaction: &Transaction<'_>) -> Result<u64, Failed> {
        let given: Vec<_> = self.given.iter().map(Given::typed).collect();
        Ok(transaction.execute_typed(&self.text, &given).await?)
    }
}
