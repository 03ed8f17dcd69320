//! The row of counters, which every writer locks until it commits. Triggers give out ids and change numbers
//! (see [`rights`](super::rights)).

use tokio_postgres::Transaction;

use super::link::TransactionError;
use super::row::get_column;
use super::statement::Statement;
use crate::error::{Error, ErrorKind};

/// The login that writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Writer {
    pub(super) name: String,
    pub(super) is_administrator: bool,
}

impl Writer {
    /// Locks the counters.
    pub(super) async fn begin(transaction: &Transaction<'_>) -> Result<Writer, TransactionError> {
        let text = "SELECT session_user::text AS name, tidegate.is_administrator() AS trusted, \
                    EXISTS (SELECT 1 FROM counters WHERE one = 1) AS counted, tidegate.begin_writing()::text";
        let row = Statement::new(text).row(transaction).await?;
        let lost = || Error::new(ErrorKind::Damaged, "the team store has lost its counters");
        let row = row.ok_or_else(lost)?;
        if !get_column::<bool>(&row, "counted")? {
            return Err(lost().into());
        }
        Ok(Writer { name: get_column(&row, "name")?, is_administrator: get_column(&row, "trusted")? })
    }
}

/// Reserves `count` change numbers and returns the number before the first. For administrators.
pub(super) async fn reserve_changes(
    transaction: &Transaction<'_>,
    count: usize,
) -> Result<i64, TransactionError> {
    let count = i64::try_from(count).unwrap_or_default();
    let text = "UPDATE counters SET change = change + ? WHERE one = 1 RETURNING change";
    let row = Statement::of(text, [count.into()]).row(transaction).await?;
    let last: i64 = row.as_ref().map(|row| get_column(row, "change")).transpose()?.unwrap_or_default();
    Ok(last - count)
}
