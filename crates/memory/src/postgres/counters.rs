//! The last id of each kind and the last change number, in one row that every writer locks until it commits.

use std::collections::{BTreeMap, BTreeSet};

use tokio_postgres::Transaction;

use super::link::TransactionError;
use super::row::{Table, get_column};
use super::statement::Statement;
use crate::error::{Error, ErrorKind};

/// Holds the lock until the transaction ends.
pub(super) struct Counters {
    change: i64,
    ids: BTreeMap<Table, i64>,
}

impl Counters {
    pub(super) async fn lock(transaction: &Transaction<'_>) -> Result<Counters, TransactionError> {
        let statement =
            Statement::new("SELECT change, project, topic, decision FROM counters WHERE one = 1 FOR UPDATE");
        let row = statement.row(transaction).await?;
        let row =
            row.ok_or_else(|| Error::new(ErrorKind::Damaged, "the team store has lost its counters"))?;
        let mut ids = BTreeMap::new();
        for table in Table::ALL.into_iter().filter(|table| table.has_ids()) {
            ids.insert(table, get_column(&row, table.name())?);
        }
        Ok(Counters { change: get_column(&row, "change")?, ids })
    }

    pub(super) fn change(&mut self) -> i64 {
        self.change += 1;
        self.change
    }

    /// Reserves `count` change numbers and returns the number before the first.
    pub(super) fn changes(&mut self, count: usize) -> i64 {
        let before = self.change;
        self.change += i64::try_from(count).unwrap_or_default();
        before
    }

    /// The wished id if it is free, else the next one.
    pub(super) fn id(
        &mut self,
        table: Table,
        wanted: Option<i64>,
        taken: &mut BTreeSet<(Table, i64)>,
    ) -> i64 {
        let last = self.ids.entry(table).or_default();
        let id = wanted.filter(|id| !taken.contains(&(table, *id))).unwrap_or(*last + 1);
        *last = id.max(*last);
        taken.insert((table, id));
        id
    }

    pub(super) async fn unlock(&self, transaction: &Transaction<'_>) -> Result<(), TransactionError> {
        let id = |table| self.ids.get(&table).copied().unwrap_or_default().into();
        let values = [self.change.into(), id(Table::Project), id(Table::Topic), id(Table::Decision)];
        let text = "UPDATE counters SET change = ?, project = ?, topic = ?, decision = ? WHERE one = 1";
        Statement::of(text, values).run(transaction).await?;
        Ok(())
    }
}
