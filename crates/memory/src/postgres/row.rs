//! Maps records to the columns of their tables and back.

use serde_json::{Value, json};
use tidegate_core::time::Millis;
use tokio_postgres::Row;
use tokio_postgres::types::FromSql;

use super::ask::without_nul;
use super::link::Failed;
use crate::error::{Error, ErrorKind};
use crate::record::{Decision, Log, Project, Record, Session, Source, Status, Summary, Topic};

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

    pub(super) fn has_ids(self) -> bool {
        matches!(self, Table::Project | Table::Topic | Table::Decision)
    }

    /// `uid` comes first.
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
                ("change", NUMBER),
            ],
            Table::Session => &[
                ("uid", TEXT),
                ("project", TEXT),
                ("root", TEXT),
                ("branch", TEXT),
                ("created", NUMBER),
                ("updated", NUMBER),
                ("change", NUMBER),
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
                ("origin", TEXT),
                ("change", NUMBER),
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
                ("origin", TEXT),
                ("change", NUMBER),
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
                ("created", NUMBER),
                ("updated", NUMBER),
                ("origin", TEXT),
                ("change", NUMBER),
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
            // A row keeps its id and its origin.
            "uid" | "id" | "origin" => None,
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

pub(super) fn columns(record: &Record, id: Option<i64>, change: i64, origin: Option<&str>) -> Value {
    let text = |text: &str| Value::from(without_nul(text));
    let maybe =
        |text: &Option<String>| text.as_deref().map_or(Value::Null, |text| Value::from(without_nul(text)));
    let list = |value: &dyn erased::Json| Value::from(without_nul(&value.json()));
    match record {
        Record::Project(row) => json!({
            "uid": text(&row.uid), "id": id, "key": maybe(&row.key), "name": text(&row.name),
            "created": number(row.created), "updated": number(row.updated), "active": number(row.updated), "change": change,
        }),
        Record::Session(row) => json!({
            "uid": text(&row.uid), "project": text(&row.project), "root": text(&row.root),
            "branch": maybe(&row.branch), "created": number(row.created), "updated": number(row.updated), "change": change,
        }),
        Record::Topic(row) => json!({
            "uid": text(&row.uid), "id": id, "project": text(&row.project), "parent": maybe(&row.parent),
            "title": text(&row.title), "status": status(row.status), "automatic": maybe(&row.automatic),
            "offered": row.offered, "offered_at": row.offered_at.map(number),
            "created": number(row.created), "updated": number(row.updated), "active": number(row.updated),
            "origin": origin, "change": change,
        }),
        Record::Log(row) => json!({
            "uid": text(&row.uid), "topic": text(&row.topic), "session": maybe(&row.session),
            "title": text(&row.title), "text": text(&row.text), "prompt": text(&row.prompt),
            "answer": text(&row.answer), "tools": list(&row.tools), "files": list(&row.files),
            "source": source(row.source), "redacted": list(&row.redacted), "notes": list(&row.notes),
            "summary_by": text(&row.summary.by), "summary_again": row.summary.again,
            "at": number(row.at), "updated": number(row.updated), "origin": origin, "change": change,
        }),
        Record::Decision(row) => json!({
            "uid": text(&row.uid), "id": id, "topic": text(&row.topic), "text": text(&row.text),
            "reason": text(&row.reason), "supersedes": maybe(&row.supersedes),
            "retracted": row.retracted.map(number), "session": maybe(&row.session),
            "created": number(row.created), "updated": number(row.updated), "origin": origin, "change": change,
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

pub(super) fn record(table: Table, row: &Row) -> Result<Record, Failed> {
    Ok(match table {
        Table::Project => Record::Project(project(row)?),
        Table::Session => Record::Session(session(row)?),
        Table::Topic => Record::Topic(topic(row)?),
        Table::Log => Record::Log(log(row)?),
        Table::Decision => Record::Decision(decision(row)?),
    })
}

pub(super) fn project(row: &Row) -> Result<Project, Failed> {
    Ok(Project {
        uid: get(row, "uid")?,
        id: Some(get(row, "id")?),
        key: get(row, "key")?,
        name: get(row, "name")?,
        created: time(row, "created")?,
        updated: time(row, "updated")?,
    })
}

pub(super) fn session(row: &Row) -> Result<Session, Failed> {
    Ok(Session {
        uid: get(row, "uid")?,
        project: get(row, "project")?,
        root: get(row, "root")?,
        branch: get(row, "branch")?,
        created: time(row, "created")?,
        updated: time(row, "updated")?,
    })
}

pub(super) fn topic(row: &Row) -> Result<Topic, Failed> {
    let status: String = get(row, "status")?;
    Ok(Topic {
        uid: get(row, "uid")?,
        id: Some(get(row, "id")?),
        project: get(row, "project")?,
        parent: get(row, "parent")?,
        title: get(row, "title")?,
        status: if status == "closed" { Status::Closed } else { Status::Open },
        automatic: get(row, "automatic")?,
        offered: u32::try_from(get::<i64>(row, "offered")?).unwrap_or(u32::MAX),
        offered_at: maybe_time(row, "offered_at")?,
        created: time(row, "created")?,
        updated: time(row, "updated")?,
    })
}

pub(super) fn log(row: &Row) -> Result<Log, Failed> {
    let source: String = get(row, "source")?;
    Ok(Log {
        uid: get(row, "uid")?,
        topic: get(row, "topic")?,
        session: get(row, "session")?,
        title: get(row, "title")?,
        text: get(row, "text")?,
        prompt: get(row, "prompt")?,
        answer: get(row, "answer")?,
        tools: list(row, "tools")?,
        files: list(row, "files")?,
        source: if source == "hand" { Source::Hand } else { Source::Relay },
        redacted: list(row, "redacted")?,
        notes: list(row, "notes")?,
        summary: Summary { by: get(row, "summary_by")?, again: get(row, "summary_again")? },
        at: time(row, "at")?,
        updated: time(row, "updated")?,
    })
}

pub(super) fn decision(row: &Row) -> Result<Decision, Failed> {
    Ok(Decision {
        uid: get(row, "uid")?,
        id: Some(get(row, "id")?),
        topic: get(row, "topic")?,
        text: get(row, "text")?,
        reason: get(row, "reason")?,
        supersedes: get(row, "supersedes")?,
        retracted: maybe_time(row, "retracted")?,
        session: get(row, "session")?,
        created: time(row, "created")?,
        updated: time(row, "updated")?,
    })
}

fn status(status: Status) -> &'static str {
    match status {
        Status::Open => "open",
        Status::Closed => "closed",
    }
}

fn source(source: Source) -> &'static str {
    match source {
        Source::Relay => "relay",
        Source::Hand => "hand",
    }
}

pub(super) fn get<'a, T: FromSql<'a>>(row: &'a Row, column: &str) -> Result<T, Failed> {
    Ok(row.try_get(column)?)
}

pub(super) fn time(row: &Row, column: &str) -> Result<Millis, Failed> {
    get(row, column).map(millis)
}

pub(super) fn maybe_time(row: &Row, column: &str) -> Result<Option<Millis>, Failed> {
    Ok(get::<Option<i64>>(row, column)?.map(millis))
}

pub(super) fn number(time: Millis) -> i64 {
    i64::try_from(time.0).unwrap_or(i64::MAX)
}

fn millis(number: i64) -> Millis {
    Millis(u64::try_from(number).unwrap_or(0))
}

fn list<T: serde::de::DeserializeOwned>(row: &Row, column: &str) -> Result<T, Failed> {
    let text: &str = get(row, column)?;
    let wrong =
        |_| Error::new(ErrorKind::Damaged, format!("the team store has a `{column}` that cannot be read"));
    Ok(serde_json::from_str(text).map_err(wrong)?)
}
