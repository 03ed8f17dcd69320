//! The tables and their migrations. Forward only.

/// `TIDE` in the file header marks a store of Tidegate.
pub(super) const APPLICATION: i32 = 0x5449_4445;

/// Step N migrates from version N to version N + 1.
pub(super) const STEPS: &[&str] = &[FIRST_TABLES, SENT_ROWS, OTHERS_INDEX, PULLED_ROWS, TAKEN_BY];

pub(super) const VERSION: u32 = STEPS.len() as u32;

/// Logs of earlier versions hold only the last message of an answer.
pub(super) const WHOLE_TEXTS: u32 = 5;

/// The first version.
///
/// `doc` is the row id of a text in the index: its time, a counter, and two bits for the table. So the order
/// of `doc` is the order of time, and a time span is a range of `doc`. The columns `active`, `recorded`,
/// `logs` and `decisions` are derived, because counting a million logs on every read would be too slow.
/// `find` is the search index of logs, and at first of all other texts too.
const FIRST_TABLES: &str = r#"
CREATE TABLE project (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    uid TEXT NOT NULL UNIQUE,
    key TEXT UNIQUE,
    name TEXT NOT NULL,
    created INTEGER NOT NULL,
    updated INTEGER NOT NULL,
    active INTEGER NOT NULL,
    shared INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX project_active ON project (active, id);
CREATE INDEX project_name ON project (name);

CREATE TABLE topic (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    uid TEXT NOT NULL UNIQUE,
    doc INTEGER NOT NULL UNIQUE,
    project INTEGER NOT NULL REFERENCES project (id),
    parent INTEGER REFERENCES topic (id) ON DELETE SET NULL,
    title TEXT NOT NULL,
    closed INTEGER NOT NULL,
    automatic TEXT,
    offered INTEGER NOT NULL,
    offered_at INTEGER,
    created INTEGER NOT NULL,
    updated INTEGER NOT NULL,
    active INTEGER NOT NULL,
    recorded INTEGER,
    logs INTEGER NOT NULL DEFAULT 0,
    decisions INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX topic_active ON topic (active, id);
CREATE INDEX topic_project ON topic (project, active, id);
CREATE INDEX topic_counts ON topic (project, automatic, logs, decisions);
CREATE INDEX topic_parent ON topic (parent);
CREATE INDEX topic_undecided ON topic (active, id) WHERE closed = 0 AND automatic IS NULL AND decisions = 0;

CREATE TABLE session (
    id INTEGER PRIMARY KEY,
    uid TEXT NOT NULL UNIQUE,
    project INTEGER NOT NULL REFERENCES project (id),
    root TEXT NOT NULL,
    branch TEXT,
    created INTEGER NOT NULL,
    updated INTEGER NOT NULL
);
CREATE INDEX session_project ON session (project);

CREATE TABLE log (
    doc INTEGER PRIMARY KEY,
    uid TEXT NOT NULL UNIQUE,
    topic INTEGER NOT NULL REFERENCES topic (id),
    session INTEGER REFERENCES session (id),
    at INTEGER NOT NULL,
    updated INTEGER NOT NULL,
    source TEXT NOT NULL,
    title TEXT NOT NULL,
    text TEXT NOT NULL,
    prompt TEXT NOT NULL,
    answer TEXT NOT NULL,
    more TEXT NOT NULL,
    again INTEGER NOT NULL
);
CREATE INDEX log_topic ON log (topic);
CREATE INDEX log_session ON log (session);
CREATE INDEX log_again ON log (again) WHERE again = 1;

CREATE TABLE decision (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    uid TEXT NOT NULL UNIQUE,
    doc INTEGER NOT NULL UNIQUE,
    topic INTEGER NOT NULL REFERENCES topic (id),
    text TEXT NOT NULL,
    reason TEXT NOT NULL,
    supersedes INTEGER REFERENCES decision (id) ON DELETE SET NULL,
    retracted INTEGER,
    session INTEGER REFERENCES session (id),
    created INTEGER NOT NULL,
    updated INTEGER NOT NULL
);
CREATE INDEX decision_topic ON decision (topic, doc);
CREATE INDEX decision_supersedes ON decision (supersedes);
CREATE INDEX decision_session ON decision (session);

CREATE TABLE note (
    doc INTEGER PRIMARY KEY,
    project INTEGER NOT NULL REFERENCES project (id),
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    title TEXT NOT NULL,
    text TEXT NOT NULL,
    at INTEGER NOT NULL
);
CREATE INDEX note_project ON note (project);

CREATE TABLE offered (
    topic INTEGER NOT NULL REFERENCES topic (id) ON DELETE CASCADE,
    session TEXT NOT NULL,
    PRIMARY KEY (topic, session)
) WITHOUT ROWID;

CREATE TABLE forgotten (
    uid TEXT PRIMARY KEY
) WITHOUT ROWID;

CREATE TABLE outbox (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,
    uid TEXT NOT NULL
);

CREATE TABLE about (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;

CREATE VIRTUAL TABLE find USING fts5 (
    tokens, content = '', columnsize = 0, detail = none, tokenize = "ascii tokenchars ':'"
);
INSERT INTO find (find, rank) VALUES ('secure-delete', 1);
CREATE VIRTUAL TABLE term USING fts5vocab ('find', 'row');
"#;

/// Rows that a team may have received, whether or not their project is still shared: their deletion has to be
/// delivered too. For projects shared so far it is unknown how much was delivered, so all their rows count.
const SENT_ROWS: &str = "
CREATE TABLE told (
    uid TEXT PRIMARY KEY
) WITHOUT ROWID;
INSERT OR IGNORE INTO told
    SELECT uid FROM project WHERE shared
    UNION ALL SELECT session.uid FROM session JOIN project ON project.id = session.project WHERE shared
    UNION ALL SELECT topic.uid FROM topic JOIN project ON project.id = topic.project WHERE shared
    UNION ALL SELECT log.uid FROM log JOIN topic ON topic.id = log.topic
        JOIN project ON project.id = topic.project WHERE shared
    UNION ALL SELECT decision.uid FROM decision JOIN topic ON topic.id = decision.topic
        JOIN project ON project.id = topic.project WHERE shared;
";

/// `few` is the search index of everything except logs: a common word is in a million logs, but in few
/// decisions. The next rebuild of the index fills it.
const OTHERS_INDEX: &str = r#"
CREATE VIRTUAL TABLE few USING fts5 (
    tokens, content = '', columnsize = 0, detail = none, tokenize = "ascii tokenchars ':'"
);
INSERT INTO few (few, rank) VALUES ('secure-delete', 1);
CREATE VIRTUAL TABLE few_term USING fts5vocab ('few', 'row');
"#;

/// Topics and decisions that came from a team's store, with the machine that delivered each. For rows from
/// before this list the origin is unknown: they count as local, and no pull changes them. A wrong guess would
/// give others control over a row of this machine.
const PULLED_ROWS: &str = "
CREATE TABLE pulled (
    kind TEXT NOT NULL,
    uid TEXT NOT NULL,
    origin TEXT NOT NULL,
    PRIMARY KEY (kind, uid)
) WITHOUT ROWID;
";

/// Who took a decision: `person` or `model`.
const TAKEN_BY: &str = "ALTER TABLE decision ADD COLUMN taken_by TEXT;";
