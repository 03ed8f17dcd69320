//! Logins of members, made and removed by an administrator.

use super::PostgresStore;
use super::link::{Purpose, TransactionError};
use super::rights;
use super::row::get_column;
use super::statement::Statement;
use crate::error::{Error, ErrorKind, Result};

/// A new login. The password is known here only: the server gets a hash of it.
pub struct Invited {
    pub password: String,
    /// The login existed, and has a new password.
    pub again: bool,
    /// Rows that belong to this name already.
    pub rows: u64,
}

/// A member who was removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removed {
    /// Rows that stay.
    pub rows: u64,
    /// Why the login could not be deleted. It has no rights and cannot connect.
    pub login_stays: Option<String>,
    /// Why connections that were open could not be ended. They have no rights.
    pub still_connected: Option<String>,
}

/// What [`PostgresStore::create`] made.
pub struct Created {
    pub store: PostgresStore,
    /// A new one of this login. Every machine that used the store of Tidegate 0.1 knew the old one.
    pub password: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    pub name: String,
    pub rows: u64,
}

/// The longest name of a role.
const LONGEST: usize = 63;

impl PostgresStore {
    /// Makes or upgrades the tables, and the group of the members with its rights.
    pub fn create(address: super::Address, patience: super::Patience) -> Result<Created> {
        let mut store = PostgresStore::connect_to_create(address, patience)?;
        let new = new_password()?;
        let hash = postgres_protocol::password::scram_sha_256(new.as_bytes());
        let is_changed = store.link.transaction(Purpose::Writing, &async |at| {
            // One after the other, if several create at once.
            at.batch_execute("LOCK TABLE tidegate.version").await?;
            let group = group_of(at).await?;
            if !role_exists(at, &group).await? {
                at.batch_execute(&format!("CREATE ROLE {} NOLOGIN", quoted(&group))).await?;
            }
            at.batch_execute(&rights::grants(&quoted(&group))).await?;
            let is_known_to_all = is_upgraded(at).await? && list_members(at, &group).await?.is_empty();
            if is_known_to_all {
                at.batch_execute(&format!("ALTER ROLE CURRENT_USER PASSWORD '{hash}'")).await?;
            }
            Ok(is_known_to_all)
        })?;
        if is_changed {
            store.link.transaction(Purpose::Writing, &async |at| {
                end_connections(at, "session_user").await.map_err(TransactionError::from)
            })?;
        }
        Ok(Created { store, password: is_changed.then_some(new) })
    }

    /// Makes a login, or gives a member a new password.
    pub fn invite(&mut self, name: &str) -> Result<Invited> {
        check_name(name)?;
        let password = new_password()?;
        let hash = postgres_protocol::password::scram_sha_256(password.as_bytes());
        let (again, rows) = self.link.transaction(Purpose::Writing, &async |at| {
            let group = group_of(at).await?;
            check_administrator(at).await?;
            let again = is_member(at, &group, name).await?;
            if !again && role_exists(at, name).await? {
                return Err(Error::new(
                    ErrorKind::Refused,
                    format!("the server has a login `{name}` already"),
                )
                .hint("choose another name: logins are shared by all databases of a server")
                .into());
            }
            let verb = if again { "ALTER" } else { "CREATE" };
            at.batch_execute(&format!(
                // A connection that is cut keeps its locks until then, also one of another program.
                "{verb} ROLE {login} LOGIN PASSWORD '{hash}'; GRANT {group} TO {login}; \
                 ALTER ROLE {login} SET idle_in_transaction_session_timeout = '1min'",
                login = quoted(name),
                group = quoted(&group)
            ))
            .await?;
            Ok((again, count_rows(at, name).await?))
        })?;
        Ok(Invited { password, again, rows })
    }

    /// Their rows stay. The rights end first: nothing that the member owns elsewhere on the server prevents that.
    pub fn remove_member(&mut self, name: &str) -> Result<Removed> {
        check_name(name)?;
        let login = quoted(name);
        let rows = self.link.transaction(Purpose::Writing, &async |at| {
            let group = group_of(at).await?;
            check_administrator(at).await?;
            if !is_member(at, &group, name).await? {
                return Err(Error::new(ErrorKind::Missing, format!("`{name}` is not a member of this team"))
                    .hint("`tidegate memory team members` lists the members")
                    .into());
            }
            at.batch_execute(&format!("REVOKE {} FROM {login}; ALTER ROLE {login} NOLOGIN", quoted(&group)))
                .await?;
            if is_member(at, &group, name).await? {
                return Err(Error::new(
                    ErrorKind::Refused,
                    format!("`{name}` is still a member: another login of the server let them in"),
                )
                .hint(format!("a superuser runs: REVOKE {} FROM {login}", quoted(&group)))
                .into());
            }
            count_rows(at, name).await
        })?;
        let ended = self.link.transaction(Purpose::Writing, &async |at| {
            // Only those who belong to a role may end its connections and delete what it owns.
            at.batch_execute(&format!("GRANT {login} TO CURRENT_USER")).await?;
            end_connections(at, &format!("'{name}'")).await.map_err(TransactionError::from)
        });
        let dropped = self.link.transaction(Purpose::Writing, &async |at| {
            let drop = format!("DROP OWNED BY {login}; DROP ROLE {login}");
            at.batch_execute(&drop).await.map_err(TransactionError::from)
        });
        let (still_connected, login_stays) = (ended.err(), dropped.err());
        Ok(Removed {
            rows,
            login_stays: login_stays.map(|error| error.what),
            still_connected: still_connected.map(|error| error.what),
        })
    }

    pub fn members(&mut self) -> Result<Vec<Member>> {
        self.link.transaction(Purpose::Reading, &async |at| {
            let group = group_of(at).await?;
            let mut members = Vec::new();
            for name in list_members(at, &group).await? {
                members.push(Member { rows: count_rows(at, &name).await?, name });
            }
            Ok(members)
        })
    }

    /// The login of this connection.
    pub fn login(&mut self) -> Result<(String, bool)> {
        self.link.transaction(Purpose::Reading, &async |at| {
            let text = "SELECT session_user::text AS name, tidegate.is_administrator() AS trusted";
            let row = Statement::new(text).row(at).await?;
            let row =
                row.ok_or_else(|| Error::new(ErrorKind::Other, "the server does not say who this is"))?;
            Ok((get_column(&row, "name")?, get_column(&row, "trusted")?))
        })
    }
}

type Server<'a> = tokio_postgres::Transaction<'a>;

/// One per database: roles are shared by all databases of a server.
async fn group_of(at: &Server<'_>) -> std::result::Result<String, TransactionError> {
    let row = Statement::new("SELECT 'tidegate_' || current_database() AS name").row(at).await?;
    let name: String = row.as_ref().map(|row| get_column(row, "name")).transpose()?.unwrap_or_default();
    if name.len() > LONGEST {
        return Err(Error::new(ErrorKind::Refused, "the name of the database is too long")
            .hint("use a database with a name of at most 54 bytes")
            .into());
    }
    Ok(name)
}

/// Logins in the group. Since PostgreSQL 16 the administrator who made it is in it, too.
async fn list_members(at: &Server<'_>, group: &str) -> std::result::Result<Vec<String>, TransactionError> {
    let text = "SELECT DISTINCT m.rolname::text AS name FROM pg_catalog.pg_auth_members a \
                JOIN pg_catalog.pg_roles g ON g.oid = a.roleid JOIN pg_catalog.pg_roles m ON m.oid = a.member \
                WHERE g.rolname = ? AND m.rolcanlogin \
                AND NOT pg_has_role(m.oid, (SELECT nspowner FROM pg_catalog.pg_namespace WHERE nspname = 'tidegate'), 'MEMBER') \
                ORDER BY 1";
    let rows = Statement::of(text, [group.into()]).rows(at).await?;
    rows.iter().map(|row| get_column(row, "name")).collect()
}

/// Whether the tables are from version 1: a new store gets all its versions in one transaction.
async fn is_upgraded(at: &Server<'_>) -> std::result::Result<bool, TransactionError> {
    let row = Statement::new("SELECT count(DISTINCT at) > 1 AS upgraded FROM version").row(at).await?;
    row.as_ref().map(|row| get_column(row, "upgraded")).transpose().map(Option::unwrap_or_default)
}

/// Of a login, except for this connection.
async fn end_connections(at: &Server<'_>, login: &str) -> std::result::Result<(), tokio_postgres::Error> {
    at.batch_execute(&format!(
        "SELECT pg_terminate_backend(pid) FROM pg_catalog.pg_stat_activity \
         WHERE usename = {login} AND pid <> pg_backend_pid()"
    ))
    .await
}

async fn role_exists(at: &Server<'_>, name: &str) -> std::result::Result<bool, TransactionError> {
    let found = Statement::of("SELECT 1 FROM pg_catalog.pg_roles WHERE rolname = ?", [name.into()]);
    Ok(found.row(at).await?.is_some())
}

async fn is_member(at: &Server<'_>, group: &str, name: &str) -> std::result::Result<bool, TransactionError> {
    let text = "SELECT 1 FROM pg_catalog.pg_auth_members a JOIN pg_catalog.pg_roles g ON g.oid = a.roleid \
                JOIN pg_catalog.pg_roles m ON m.oid = a.member WHERE g.rolname = ? AND m.rolname = ?";
    Ok(Statement::of(text, [group.into(), name.into()]).row(at).await?.is_some())
}

async fn check_administrator(at: &Server<'_>) -> std::result::Result<(), TransactionError> {
    let row = Statement::new("SELECT tidegate.is_administrator() AS trusted").row(at).await?;
    if row.as_ref().map(|row| get_column(row, "trusted")).transpose()?.unwrap_or(false) {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Refused, "this login is not the administrator of the team")
        .hint("use the login that ran `tidegate memory team create`")
        .into())
}

async fn count_rows(at: &Server<'_>, owner: &str) -> std::result::Result<u64, TransactionError> {
    let text = "SELECT (SELECT count(*) FROM log WHERE owner = ?) + (SELECT count(*) FROM decision WHERE owner = ?) \
                + (SELECT count(*) FROM topic WHERE owner = ?) AS rows";
    let row = Statement::of(text, [owner.into(), owner.into(), owner.into()]).row(at).await?;
    let rows: i64 = row.as_ref().map(|row| get_column(row, "rows")).transpose()?.unwrap_or_default();
    Ok(u64::try_from(rows).unwrap_or_default())
}

/// Others read it as the author of rows.
fn check_name(name: &str) -> Result<()> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '-' | '.');
    let sound = (1..=40).contains(&name.len())
        && name.chars().all(plain)
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && !name.starts_with("pg_")
        && !name.starts_with("tidegate");
    if sound {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Refused, "this cannot be the name of a member").hint(
        "use 1 to 40 lower-case letters, digits, `_`, `-` or `.`, beginning with a letter; not `pg_…` or `tidegate…`",
    ))
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// 24 letters, digits, `-` and `_`: 144 random bits, and no character that a shell or an address changes.
fn new_password() -> Result<String> {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut bytes = [0; 24];
    rustls::crypto::ring::default_provider()
        .secure_random
        .fill(&mut bytes)
        .map_err(|_| Error::new(ErrorKind::Io, "the system gives no random numbers"))?;
    Ok(bytes.iter().map(|byte| char::from(LETTERS[usize::from(byte & 63)])).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_could_mislead_are_refused() {
        for name in ["ann", "ann-b", "a.n_n2"] {
            check_name(name).unwrap();
        }
        for name in
            ["", "Ann", "-ann", "9a", "pg_monitor", "tidegate_x", "a\"b", "a b", "ｂｏｂ", &"a".repeat(41)]
        {
            assert!(check_name(name).is_err(), "{name}");
        }
    }

    #[test]
    fn passwords_differ_and_need_no_quotes() {
        let (one, other) = (new_password().unwrap(), new_password().unwrap());
        assert!(one != other && one.len() == 24);
        assert!(one.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_')), "{one}");
    }
}
