//! Maps records to the columns of their tables and back.

use serde_json::{Value, json};
use tidegate_core::time::Millis;
use tokio_postgres::Row;
use tokio_postgres::types::FromSql;

use super::link::TransactionError;
use super::statement::without_nul;
use crate::error::{Error, ErrorKind};
use crate::record::{
    DecisionRow, LogRow, LogSource, LogSummary, ProjectRow, Record, SessionRow, TakenBy, TopicRow,
    TopicStatus,
};

/// Ordered: references lead from later tables to earlier ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Table {
    Project,
    Session,
    Topic,
    Log,
    Decision,
}

impl Table {
    pub(super) const ALL: [Table; 5] =
        [Table::Project, Table::Session, Table::Topic, Table::Log, Table::Decision];

    pub(super) fn of(record: &Record) -> Table {
        match record {
            Record::Project(_) => Table::Project,
            Record::Session(_) => Table::Session,
            Record::Topic(_) => Table::Topic,
            Record::Log(_) => Table::Log,
            Record::Decision(_) => Table::Decision,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Table::Project => "project",
            Table::Session => "session",
            Table::Topic => "topic",
            Table::Log => "log",
            Table::Decision => "decision",
        }
    }

    /// Version 1 noted the machine that delivered such a row.
    pub(super) fn has_origin(self) -> bool {
        matches!(self, Table::Topic | Table::Log | Table::Decision)
    }

    /// Columns that clients write; triggers fill in the others. `uid` comes first.
    fn columns(self) -> &'static [(&'static str, &'static str)] {
        const TEXT: &str = "text";
        const NUMBER: &str = "bigint";
        match self {
            Table::Project => &[
                ("uid", TEXT),
                ("id", NUMBER),
                ("key", TEXT),
                ("name", TEXT),
                ("created", NUMBER),
                ("updated", NUMBER),
                ("active", NUMBER),
            ],
            Table::Session => &[
                ("uid", TEXT),
                ("project", TEXT),
                ("root", TEXT),
                ("branch", TEXT),
                ("created", NUMBER),
                ("updated", NUMBER),
            ],
            Table::Topic => &[
                ("uid", TEXT),
                ("id", NUMBER),
                ("project", TEXT),
                ("parent", TEXT),
                ("title", TEXT),
                ("status", TEXT),
                ("automatic", TEXT),
                ("offered", NUMBER),
                ("offered_at", NUMBER),
                ("created", NUMBER),
                ("updated", NUMBER),
                ("active", NUMBER),
            ],
            Table::Log => &[
                ("uid", TEXT),
                ("topic", TEXT),
                ("session", TEXT),
                ("title", TEXT),
                ("text", TEXT),
                ("prompt", TEXT),
                ("answer", TEXT),
                ("tools", TEXT),
                ("files", TEXT),
                ("source", TEXT),
                ("redacted", TEXT),
                ("notes", TEXT),
                ("summary_by", TEXT),
                ("summary_again", "boolean"),
                ("at", NUMBER),
                ("updated", NUMBER),
            ],
            Table::Decision => &[
                ("uid", TEXT),
                ("id", NUMBER),
                ("topic", TEXT),
                ("text", TEXT),
                ("reason", TEXT),
                ("supersedes", TEXT),
                ("retracted", NUMBER),
                ("session", TEXT),
                ("taken_by", TEXT),
                ("created", NUMBER),
                ("updated", NUMBER),
            ],
        }
    }

    /// Stores rows given as one JSON array: one round trip for any number. With `keeps_session`, a row
    /// without a session keeps the stored one: a machine may not share the session, or have the row from
    /// others.
    pub(super) fn upsert(self, keeps_session: bool) -> String {
        let columns = self.columns();
        let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
        let typed: Vec<String> = columns.iter().map(|(name, kind)| format!("{name} {kind}")).collect();
        let changed = names.iter().filter_map(|name| match *name {
            "uid" | "id" => None,
            "active" => Some(format!("active = greatest({}.active, excluded.active)", self.name())),
            // Only machines know the folder of a project.
            "key" => Some(format!("key = coalesce(excluded.key, {}.key)", self.name())),
            "session" if keeps_session => {
                Some(format!("session = coalesce(excluded.session, {}.session)", self.name()))
            }
            name => Some(format!("{name} = excluded.{name}")),
        });
        let changed: Vec<String> = changed.collect();
        format!(
            "INSERT INTO {table} ({names}) SELECT {names} FROM json_to_recordset(?::json) AS given ({typed}) \
             ON CONFLICT (uid) DO UPDATE SET {changed}",
            table = self.name(),
            names = names.join(", "),
            typed = typed.join(", "),
            changed = changed.join(", "),
        )
    }
}

/// `id` is a wish.
pub(super) fn to_json_row(record: &Record, id: Option<i64>) -> Value {
    let text = |text: &str| Value::from(without_nul(text));
    let maybe =
        |text: &Option<String>| text.as_deref().map_or(Value::Null, |text| Value::from(without_nul(text)));
    let list = |value: &dyn erased::Json| Value::from(without_nul(&value.json()));
    match record {
        Record::Project(row) => json!({
            "uid": text(&row.uid), "id": id, "key": maybe(&row.key), "name": text(&row.name),
            "created": to_number(row.created), "updated": to_number(row.updated), "active": to_number(row.updated),
        }),
        Record::Session(row) => json!({
            "uid": text(&row.uid), "project": text(&row.project), "root": text(&row.root),
            "branch": maybe(&row.branch), "created": to_number(row.created), "updated": to_number(row.updated),
        }),
        Record::Topic(row) => json!({
            "uid": text(&row.uid), "id": id, "project": text(&row.project), "parent": maybe(&row.parent),
            "title": text(&row.title), "status": status_name(row.status), "automatic": maybe(&row.automatic),
            "offered": row.offered, "offered_at": row.offered_at.map(to_number),
            "created": to_number(row.created), "updated": to_number(row.updated), "active": to_number(row.updated),
        }),
        Record::Log(row) => json!({
            "uid": text(&row.uid), "topic": text(&row.topic), "session": maybe(&row.session),
            "title": text(&row.title), "text": text(&row.text), "prompt": text(&row.prompt),
            "answer": text(&row.answer), "tools": list(&row.tools), "files": list(&row.files),
            "source": source_name(row.source), "redacted": list(&row.redacted), "notes": list(&row.notes),
            "summary_by": text(&row.summary.by), "summary_again": row.summary.again,
            "at": to_number(row.at), "updated": to_number(row.updated),
        }),
        Record::Decision(row) => json!({
            "uid": text(&row.uid), "id": id, "topic": text(&row.topic), "text": text(&row.text),
            "reason": text(&row.reason), "supersedes": maybe(&row.supersedes),
            "retracted": row.retracted.map(to_number), "session": maybe(&row.session),
            "taken_by": row.taken_by.map(TakenBy::name),
            "created": to_number(row.created), "updated": to_number(row.updated),
        }),
    }
}

/// Lists and counts are stored as JSON.
mod erased {
    pub(super) trait Json {
        fn json(&self) -> String;
    }

    impl<T: serde::Serialize> Json for T {
        fn json(&self) -> String {
            serde_json::to_string(self).unwrap_or_default()
        }
    }
}

pub(super) fn read_record(table: Table, row: &Row) -> Result<Record, TransactionError> {
    Ok(match table {
        Table::Project => Record::Project(read_project(row)?),
        Table::Session => Record::Session(read_session(row)?),
        Table::Topic => Record::Topic(read_topic(row)?),
        Table::Log => Record::Log(read_log(row)?),
        Table::Decision => Record::Decision(read_decision(row)?),
    })
}

pub(super) fn read_project(row: &Row) -> Result<ProjectRow, TransactionError> {
    Ok(ProjectRow {
        uid: get_column(row, "uid")?,
        id: Some(get_column(row, "id")?),
        key: get_column(row, "key")?,
        name: get_column(row, "name")?,
        created: get_time(row, "created")?,
        updated: get_time(row, "updated")?,
    })
}

pub(super) fn read_session(row: &Row) -> Result<SessionRow, TransactionError> {
    Ok(SessionRow {
        uid: get_column(row, "uid")?,
        project: get_column(row, "project")?,
        root: get_column(row, "root")?,
        branch: get_column(row, "branch")?,
        created: get_time(row, "created")?,
        updated: get_time(row, "updated")?,
    })
}

pub(super) fn read_topic(row: &Row) -> Result<TopicRow, TransactionError> {
    let status: String = get_column(row, "status")?;
    Ok(TopicRow {
        uid: get_column(row, "uid")?,
        id: Some(get_column(row, "id")?),
        project: get_column(row, "project")?,
        parent: get_column(row, "parent")?,
        title: get_column(row, "title")?,
        status: if status == "closed" { TopicStatus::Closed } else { TopicStatus::Open },
        automatic: get_column(row, "automatic")?,
        offered: u32::try_from(get_column::<i64>(row, "offered")?).unwrap_or(u32::MAX),
        offered_at: get_optional_time(row, "offered_at")?,
        created: get_time(row, "created")?,
        updated: get_time(row, "updated")?,
    })
}

pub(super) fn read_log(row: &Row) -> Result<LogRow, TransactionError> {
    let source: String = get_column(row, "source")?;
    Ok(LogRow {
        uid: get_column(row, "uid")?,
        topic: get_column(row, "topic")?,
        session: get_column(row, "session")?,
        title: get_column(row, "title")?,
        text: get_column(row, "text")?,
        prompt: get_column(row, "prompt")?,
        answer: get_column(row, "answer")?,
        tools: get_list(row, "tools")?,
        files: get_list(row, "files")?,
        source: if source == "hand" { LogSource::Hand } else { LogSource::Relay },
        redacted: get_list(row, "redacted")?,
        notes: get_list(row, "notes")?,
        summary: LogSummary { by: get_column(row, "summary_by")?, again: get_column(row, "summary_again")? },
        at: get_time(row, "at")?,
        updated: get_time(row, "updated")?,
    })
}

pub(super) fn read_decision(row: &Row) -> Result<DecisionRow, TransactionError> {
    Ok(DecisionRow {
        uid: get_column(row, "uid")?,
        id: Some(get_column(row, "id")?),
        topic: get_column(row, "topic")?,
        text: get_column(row, "text")?,
        reason: get_column(row, "reason")?,
        supersedes: get_column(row, "supersedes")?,
        retracted: get_optional_time(row, "retracted")?,
        session: get_column(row, "session")?,
        taken_by: get_column::<Option<String>>(row, "taken_by")?.as_deref().and_then(TakenBy::from_name),
        created: get_time(row, "created")?,
        updated: get_time(row, "updated")?,
    })
}

fn status_name(status: TopicStatus) -> &'static str {
    match status {
        TopicStatus::Open => "open",
        TopicStatus::Closed => "closed",
    }
}

fn source_name(source: LogSource) -> &'static str {
    match source {
        LogSource::Relay => "relay",
        LogSource::Hand => "hand",
    }
}

pub(super) fn get_column<'a, T: FromSql<'a>>(row: &'a Row, column: &str) -> Result<T, TransactionError> {
    Ok(row.try_get(column)?)
}

pub(super) fn get_time(row: &Row, column: &str) -> Result<Millis, TransactionError> {
    get_column(row, column).map(to_millis)
}

pub(super) fn get_optional_time(row: &Row, column: &str) -> Result<Option<Millis>, TransactionError> {
    Ok(get_column::<Option<i64>>(row, column)?.map(to_millis))
}

pub(super) fn to_number(time: Millis) -> i64 {
    i64::try_from(time.0).unwrap_or(i64::MAX)
}

fn to_millis(number: i64) -> Millis {
    Millis(u64::try_from(number).unwrap_or(0))
}

fn get_list<T: serde::de::DeserializeOwned>(row: &Row, column: &str) -> Result<T, TransactionError> {
    let text: &str = get_column(row, column)?;
    let wrong =
        |_| Error::new(ErrorKind::Damaged, format!("the team store has a `{column}` that cannot be read"));
    Ok(serde_json::from_str(text).map_err(wrong)?)
}
