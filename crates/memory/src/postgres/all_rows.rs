//! Visits every row, referenced rows first.

use std::collections::BTreeMap;

use super::link::{Purpose, ServerLink};
use super::row::{self, Table};
use super::statement::Statement;
use crate::error::Result;
use crate::record::{Record, Uid};

const BATCH: i64 = 500;

pub(super) fn visit_rows(link: &mut ServerLink, take: &mut dyn FnMut(Record) -> Result<()>) -> Result<()> {
    for table in Table::ALL {
        let mut kept = Vec::new();
        let mut last = String::new();
        loop {
            let records = link.transaction(Purpose::Reading, &async |at| {
                let text = format!("SELECT * FROM {} WHERE uid > ? ORDER BY uid LIMIT ?", table.name());
                let rows = Statement::of(&text, [last.as_str().into(), BATCH.into()]).rows(at).await?;
                rows.iter()
                    .map(|found| row::read_record(table, found))
                    .collect::<std::result::Result<Vec<_>, _>>()
            })?;
            let Some(end) = records.last() else { break };
            end.uid().clone_into(&mut last);
            match table {
                // Rows that refer to their own kind have to be sorted; there are few of them.
                Table::Topic | Table::Decision => kept.extend(records),
                _ => records.into_iter().try_for_each(&mut *take)?,
            }
        }
        parents_first(kept).into_iter().try_for_each(&mut *take)?;
    }
    Ok(())
}

/// Parents before children.
pub(super) fn parents_first(records: Vec<Record>) -> Vec<Record> {
    let above: BTreeMap<Uid, Option<Uid>> =
        records.iter().map(|record| (record.uid().to_owned(), parent_of(record).cloned())).collect();
    let depth = |record: &Record| {
        let mut depth = 0;
        let mut next = above.get(record.uid()).and_then(Option::as_ref);
        while let Some(uid) = next.filter(|_| depth <= above.len()) {
            depth += 1;
            next = above.get(uid).and_then(Option::as_ref);
        }
        depth
    };
    let mut records: Vec<(usize, Record)> =
        records.into_iter().map(|record| (depth(&record), record)).collect();
    records.sort_by_key(|(depth, _)| *depth);
    records.into_iter().map(|(_, record)| record).collect()
}

fn parent_of(record: &Record) -> Option<&Uid> {
    match record {
        Record::Topic(row) => row.parent.as_ref(),
        Record::Decision(row) => row.supersedes.as_ref(),
        _ => None,
    }
}
