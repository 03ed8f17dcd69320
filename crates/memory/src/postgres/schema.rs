//! The tables and their migrations. Forward only; a newer schema is left alone. Only `team create` makes or
//! changes tables: members have no right to.
//!
//! Plain tables and indexes in a schema of their own: no extension or superuser is needed. Ids and the order
//! of changes come from one row of counters, which every writer locks first. So writers run one after the
//! other, and a higher `change` was committed later. See [`rights`](super::rights) for who may do what.

use tokio_postgres::Client;
use tokio_postgres::error::SqlState;

use super::link::TransactionError;
use super::rights;
use super::trouble::Trouble;
use crate::error::Error;

/// One entry per version. Statements must be repeatable: without a lock, two clients may run them at once.
const TABLES: &str = "
CREATE TABLE IF NOT EXISTS tidegate.counters (
    one smallint PRIMARY KEY CHECK (one = 1),
    change bigint NOT NULL,
    project bigint NOT NULL,
    topic bigint NOT NULL,
    decision bigint NOT NULL,
    store text NOT NULL
);
INSERT INTO tidegate.counters VALUES (1, 0, 0, 0, 0, md5(random()::text || clock_timestamp()::text)) ON CONFLICT DO NOTHING;
CREATE TABLE IF NOT EXISTS tidegate.project (
    uid text PRIMARY KEY,
    id bigint NOT NULL UNIQUE,
    key text UNIQUE,
    name text NOT NULL,
    created bigint NOT NULL,
    updated bigint NOT NULL,
    active bigint NOT NULL,
    change bigint NOT NULL
);
CREATE INDEX IF NOT EXISTS project_active ON tidegate.project (active DESC, id DESC);
CREATE INDEX IF NOT EXISTS project_name ON tidegate.project (name);
CREATE TABLE IF NOT EXISTS tidegate.team_name (
    name text PRIMARY KEY,
    project text NOT NULL REFERENCES tidegate.project
);
CREATE TABLE IF NOT EXISTS tidegate.team_alias (
    uid text PRIMARY KEY,
    project text NOT NULL REFERENCES tidegate.project
);
CREATE TABLE IF NOT EXISTS tidegate.topic (
    uid text PRIMARY KEY,
    id bigint NOT NULL UNIQUE,
    project text NOT NULL REFERENCES tidegate.project,
    parent text REFERENCES tidegate.topic,
    title text NOT NULL,
    status text NOT NULL,
    automatic text,
    offered bigint NOT NULL,
    offered_at bigint,
    created bigint NOT NULL,
    updated bigint NOT NULL,
    active bigint NOT NULL,
    origin text,
    change bigint NOT NULL
);
CREATE INDEX IF NOT EXISTS topic_project ON tidegate.topic (project, active DESC);
CREATE INDEX IF NOT EXISTS topic_active ON tidegate.topic (active DESC, id DESC);
CREATE INDEX IF NOT EXISTS topic_parent ON tidegate.topic (parent);
CREATE INDEX IF NOT EXISTS topic_change ON tidegate.topic (change);
CREATE TABLE IF NOT EXISTS tidegate.session (
    uid text PRIMARY KEY,
    project text NOT NULL REFERENCES tidegate.project,
    root text NOT NULL,
    branch text,
    created bigint NOT NULL,
    updated bigint NOT NULL,
    change bigint NOT NULL
);
CREATE INDEX IF NOT EXISTS session_project ON tidegate.session (project);
CREATE TABLE IF NOT EXISTS tidegate.log (
    uid text PRIMARY KEY,
    topic text NOT NULL REFERENCES tidegate.topic,
    session text REFERENCES tidegate.session,
    title text NOT NULL,
    text text NOT NULL,
    prompt text NOT NULL,
    answer text NOT NULL,
    tools text NOT NULL,
    files text NOT NULL,
    source text NOT NULL,
    redacted text NOT NULL,
    notes text NOT NULL,
    summary_by text NOT NULL,
    summary_again boolean NOT NULL,
    at bigint NOT NULL,
    updated bigint NOT NULL,
    origin text,
    change bigint NOT NULL
);
CREATE INDEX IF NOT EXISTS log_at ON tidegate.log (at DESC, uid DESC);
CREATE INDEX IF NOT EXISTS log_topic ON tidegate.log (topic, at DESC);
CREATE INDEX IF NOT EXISTS log_session ON tidegate.log (session, at DESC);
CREATE TABLE IF NOT EXISTS tidegate.decision (
    uid text PRIMARY KEY,
    id bigint NOT NULL UNIQUE,
    topic text NOT NULL REFERENCES tidegate.topic,
    text text NOT NULL,
    reason text NOT NULL,
    supersedes text REFERENCES tidegate.decision,
    retracted bigint,
    session text REFERENCES tidegate.session,
    created bigint NOT NULL,
    updated bigint NOT NULL,
    origin text,
    change bigint NOT NULL
);
CREATE INDEX IF NOT EXISTS decision_topic ON tidegate.decision (topic, created DESC);
CREATE INDEX IF NOT EXISTS decision_created ON tidegate.decision (created DESC, id DESC);
CREATE INDEX IF NOT EXISTS decision_supersedes ON tidegate.decision (supersedes);
CREATE INDEX IF NOT EXISTS decision_session ON tidegate.decision (session);
CREATE INDEX IF NOT EXISTS decision_change ON tidegate.decision (change);
CREATE TABLE IF NOT EXISTS tidegate.offer (
    topic text NOT NULL REFERENCES tidegate.topic,
    session text NOT NULL,
    PRIMARY KEY (topic, session)
);
CREATE TABLE IF NOT EXISTS tidegate.forgotten (
    uid text PRIMARY KEY,
    kind text,
    origin text,
    change bigint NOT NULL
);
CREATE INDEX IF NOT EXISTS forgotten_change ON tidegate.forgotten (change);
CREATE TABLE IF NOT EXISTS tidegate.document (
    uid text PRIMARY KEY,
    kind text NOT NULL,
    topic text NOT NULL REFERENCES tidegate.topic,
    session text,
    at bigint NOT NULL,
    words tsvector NOT NULL
);
CREATE INDEX IF NOT EXISTS document_at ON tidegate.document (at DESC, uid DESC);
CREATE INDEX IF NOT EXISTS document_topic ON tidegate.document (topic, at DESC);
CREATE INDEX IF NOT EXISTS document_words ON tidegate.document USING gin (words);
";

/// Version 2: every row has an owner.
pub(super) const KNOWN: i64 = 2;

fn statements_of(version: i64) -> String {
    if version == 1 { TABLES.to_owned() } else { rights::statements() }
}

/// For this connection, on servers that know these settings. Searches ask for few rows of an index in many parts: compiling such a
/// query takes longer than running it, and reading words of texts one by one takes far longer than reading the index.
/// A machine whose link stalls would keep its locks until the server's system gives up, which takes hours.
const SETTINGS: &str = "SELECT count(set_config(given.name, given.value, false)) FROM (VALUES ('jit', 'off'), ('enable_seqscan', 'off'), \
    ('idle_in_transaction_session_timeout', '15000'), ('tcp_user_timeout', '30000')) AS given (name, value) \
    JOIN pg_catalog.pg_settings AS known ON known.name = given.name";

/// The key of the advisory lock: `tidegate` in ASCII.
const LOCK: i64 = 0x7469_6465_6761_7465;

/// For everyone who connects.
pub(super) async fn check(client: &Client, server: &str) -> Result<(), TransactionError> {
    match read_version(client, server).await? {
        Some(KNOWN) => Ok(()),
        Some(found) if found > KNOWN => Err(Trouble::NewerTables(found).at(server).into()),
        Some(found) => Err(Trouble::OlderTables(found).at(server).into()),
        None => Err(Trouble::NoTables.at(server).into()),
    }
}

/// For an administrator.
pub(super) async fn migrate(client: &mut Client, server: &str) -> Result<(), TransactionError> {
    let locked = lock_schema(client).await?;
    let done = run_migrations(client, server).await;
    if locked {
        client.batch_execute(&format!("SELECT pg_advisory_unlock({LOCK})")).await?;
    }
    done
}

async fn run_migrations(client: &mut Client, server: &str) -> Result<(), TransactionError> {
    // Another client may have migrated while this one waited.
    let found = match read_version(client, server).await {
        Err(TransactionError::Own(error)) if matches!(error.trouble, Some((_, Trouble::NotMember))) => {
            return Err(of_other_login(client, error).await);
        }
        found => found?.unwrap_or(0),
    };
    if found == 1 && !is_own_schema(client).await? {
        return Err(of_other_login(client, Trouble::OlderTables(found).at(server)).await);
    }
    if found > KNOWN {
        return Err(Trouble::NewerTables(found).at(server).into());
    }
    let transaction = client.transaction().await?;
    if found == 0 {
        // Not `IF NOT EXISTS`: that needs the right to create schemas even if an administrator created this
        // one.
        let exists = "SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = 'tidegate'";
        if transaction.query(exists, &[]).await?.is_empty() {
            transaction.batch_execute("CREATE SCHEMA tidegate").await?;
        }
        let versions = "CREATE TABLE IF NOT EXISTS tidegate.version (version bigint PRIMARY KEY, at timestamptz NOT NULL DEFAULT now())";
        transaction.batch_execute(versions).await?;
    }
    for version in found + 1..=KNOWN {
        transaction.batch_execute(&statements_of(version)).await?;
        let done =
            format!("INSERT INTO tidegate.version (version) VALUES ({version}) ON CONFLICT DO NOTHING");
        transaction.batch_execute(&done).await?;
    }
    if found == 1 {
        // Another identity: every machine delivers its rows again and so becomes their owner.
        let identity = "UPDATE tidegate.counters SET store = md5(random()::text || clock_timestamp()::text)";
        transaction.batch_execute(identity).await?;
    }
    transaction.commit().await?;
    Ok(())
}

async fn is_own_schema(client: &Client) -> Result<bool, TransactionError> {
    let text = "SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = 'tidegate' AND pg_get_userbyid(nspowner) = session_user";
    Ok(!client.query_typed(text, &[]).await?.is_empty())
}

/// Tables belong to the login that made them. In 0.1 that is the one that all machines share.
async fn of_other_login(client: &Client, error: Error) -> TransactionError {
    let text =
        "SELECT pg_get_userbyid(nspowner)::text FROM pg_catalog.pg_namespace WHERE nspname = 'tidegate'";
    let found = client.query_typed(text, &[]).await.ok();
    let owner: Option<String> = found.and_then(|rows| rows.first().and_then(|row| row.try_get(0).ok()));
    let Some(owner) = owner else { return error.into() };
    error
        .hint(format!(
            "the tables belong to the login `{owner}`: run `tidegate memory team create` with it; tables of Tidegate 0.1 are \
             upgraded, and it gets a new password that only you see"
        ))
        .into()
}

/// `None` without tables.
async fn read_version(client: &Client, server: &str) -> Result<Option<i64>, TransactionError> {
    let text = format!("SELECT max(version), ({SETTINGS}) FROM tidegate.version");
    let row = client.query_typed(&text, &[]).await;
    match row {
        Ok(rows) => Ok(rows.first().and_then(|row| row.get(0))),
        Err(error)
            if error.code().is_some_and(|state| {
                [SqlState::UNDEFINED_TABLE, SqlState::INVALID_SCHEMA_NAME].contains(state)
            }) =>
        {
            Ok(None)
        }
        Err(error) if error.code() == Some(&SqlState::INSUFFICIENT_PRIVILEGE) => {
            Err(Trouble::NotMember.at(server).into())
        }
        Err(error) => Err(error.into()),
    }
}

/// Returns `false` on a server without advisory locks. Two clients that start at once may then conflict, and
/// one has to start over.
async fn lock_schema(client: &Client) -> Result<bool, TransactionError> {
    match client.batch_execute(&format!("SELECT pg_advisory_lock({LOCK})")).await {
        Ok(()) => Ok(true),
        Err(error)
            if error.code().is_some_and(|state| {
                [SqlState::FEATURE_NOT_SUPPORTED, SqlState::UNDEFINED_FUNCTION].contains(state)
            }) =>
        {
            Ok(false)
        }
        Err(error) => Err(error.into()),
    }
}
