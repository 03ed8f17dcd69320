//! SQL statements with numbered parameters, built piece by piece.

use std::fmt::Write as _;

use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Row, Transaction};

use super::link::TransactionError;

#[derive(Clone, Debug)]
pub(super) enum SqlValue {
    /// PostgreSQL text cannot contain NUL; see [`without_nul`].
    Text(String),
    Number(i64),
    Texts(Vec<String>),
    Numbers(Vec<i64>),
}

impl SqlValue {
    fn typed(&self) -> (&(dyn ToSql + Sync), Type) {
        match self {
            SqlValue::Text(value) => (value, Type::TEXT),
            SqlValue::Number(value) => (value, Type::INT8),
            SqlValue::Texts(values) => (values, Type::TEXT_ARRAY),
            SqlValue::Numbers(values) => (values, Type::INT8_ARRAY),
        }
    }
}

impl From<&str> for SqlValue {
    fn from(text: &str) -> SqlValue {
        SqlValue::Text(without_nul(text))
    }
}

impl From<i64> for SqlValue {
    fn from(number: i64) -> SqlValue {
        SqlValue::Number(number)
    }
}

impl From<Vec<String>> for SqlValue {
    fn from(texts: Vec<String>) -> SqlValue {
        SqlValue::Texts(texts.iter().map(|text| without_nul(text)).collect())
    }
}

impl From<Vec<i64>> for SqlValue {
    fn from(numbers: Vec<i64>) -> SqlValue {
        SqlValue::Numbers(numbers)
    }
}

/// Replaces NUL, the one character that PostgreSQL cannot store, with its visible symbol.
pub(super) fn without_nul(text: &str) -> String {
    text.replace('\0', "\u{2400}")
}

#[derive(Clone, Debug, Default)]
pub(super) struct Statement {
    text: String,
    given: Vec<SqlValue>,
}

impl Statement {
    pub(super) fn new(text: impl Into<String>) -> Statement {
        Statement { text: text.into(), given: Vec::new() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Each `?` in `text` stands for the next value.
    pub(super) fn add<const COUNT: usize>(
        &mut self,
        text: &str,
        values: [SqlValue; COUNT],
    ) -> &mut Statement {
        let mut parts = text.split('?');
        self.text.push_str(parts.next().unwrap_or_default());
        for (part, value) in parts.zip(values) {
            self.given.push(value);
            let _ = write!(self.text, "${}", self.given.len());
            self.text.push_str(part);
        }
        self
    }

    pub(super) fn of<const COUNT: usize>(text: &str, values: [SqlValue; COUNT]) -> Statement {
        let mut statement = Statement::default();
        statement.add(text, values);
        statement
    }

    pub(super) async fn rows(&self, transaction: &Transaction<'_>) -> Result<Vec<Row>, TransactionError> {
        let given: Vec<_> = self.given.iter().map(SqlValue::typed).collect();
        Ok(transaction.query_typed(&self.text, &given).await?)
    }

    pub(super) async fn row(&self, transaction: &Transaction<'_>) -> Result<Option<Row>, TransactionError> {
        Ok(self.rows(transaction).await?.into_iter().next())
    }

    /// Returns the number of affected rows.
    pub(super) async fn run(&self, transaction: &Transaction<'_>) -> Result<u64, TransactionError> {
        let given: Vec<_> = self.given.iter().map(SqlValue::typed).collect();
        Ok(transaction.execute_typed(&self.text, &given).await?)
    }
}
