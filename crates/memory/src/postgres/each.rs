//! Visits every row, referenced rows first.

use std::collections::BTreeMap;

use super::ask::Ask;
use super::link::{For, Link};
use super::row::{self, Table};
use crate::error::Result;
use crate::record::{Record, Uid};

const BATCH: i64 = 500;

pub(super) fn each(link: &mut Link, take: &mut dyn FnMut(Record) -> Result<()>) -> Result<()> {
    for table in Table::ALL {
        let mut kept = Vec::new();
        let mut last = String::new();
        loop {
            let records = link.transaction(For::Reading, &async |at| {
                let text = format!("SELECT * FROM {} WHERE uid > ? ORDER BY uid LIMIT ?", table.name());
                let rows = Ask::of(&text, [last.as_str().into(), BATCH.into()]).rows(at).await?;
                rows.iter().map(|found| row::record(table, found)).collect::<std::result::Result<Vec<_>, _>>()
            })?;
            let Some(end) = records.last() else { break };
            end.uid().clone_into(&mut last);
            match table {
                // Rows that refer to their own kind have to be sorted; there are few of them.
                Table::Topic | Table::Decision => kept.extend(records),
                _ => records.into_iter().try_for_each(&mut *take)?,
            }
        }
        in_order(kept).into_iter().try_for_each(&mut *take)?;
    }
    Ok(())
}

/// Parents before children.
pub(super) fn in_order(records: Vec<Record>) -> Vec<Record> {
    let above: BTreeMap<Uid, Option<Uid>> =
        records.iter().map(|record| (record.uid().to_owned(), above(record).cloned())).collect();
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

fn above(record: &Record) -> Option<&Uid> {
    match record {
        Record::Topic(row) => row.parent.as_ref(),
        Record::Decision(row) => row.supersedes.as_ref(),
        _ => None,
    }
}
