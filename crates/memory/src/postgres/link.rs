//! The connection to the server: opened on demand, reopened when it breaks, always with a time limit.
//!
//! Both sides limit every wait: a timeout here, `statement_timeout` there. A broken connection is reopened
//! once, and a transaction that lost against another one is repeated.

use std::error::Error as _;
use std::future::Future;
use std::io;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::time::{Instant, timeout_at};
use tokio_postgres::error::{DbError, SqlState};
use tokio_postgres::{Client, Config, IsolationLevel, NoTls, Transaction};

use super::address::Address;
use super::schema;
use super::tls::Rustls;
use super::trouble::Trouble;
use crate::error::{Error, ErrorKind, Result};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// From name resolution to login.
    pub connect: Duration,
    pub transaction: Duration,
    /// Everything since the store was opened.
    pub whole: Option<Duration>,
}

impl Patience {
    /// For a person who waits.
    pub const SHORT: Patience = Patience {
        connect: Duration::from_secs(1),
        transaction: Duration::from_secs(1),
        whole: Some(Duration::from_millis(1500)),
    };

    /// For a background process.
    pub const LONG: Patience =
        Patience { connect: Duration::from_secs(10), transaction: Duration::from_mins(1), whole: None };
}

/// Retries of a transaction that conflicts with another one.
const CONFLICTS: u32 = 8;

pub(super) struct ServerLink {
    address: Address,
    patience: Patience,
    until: Option<Instant>,
    tls: Option<Rustls>,
    runtime: Runtime,
    client: Option<Client>,
    /// Makes or upgrades the tables when it connects.
    creates: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// One consistent state.
    Reading,
    Writing,
}

impl ServerLink {
    /// Does not connect yet.
    pub(super) fn new(address: Address, patience: Patience, creates: bool) -> Result<ServerLink> {
        let tls = if address.is_encrypted() { Some(Rustls::new(address.ca_file.as_deref())?) } else { None };
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| Error::new(ErrorKind::Io, format!("no runtime: {error}")))?;
        let until = patience.whole.map(|whole| Instant::now() + whole);
        Ok(ServerLink { address, patience, until, tls, runtime, client: None, creates })
    }

    /// Without the password.
    pub(super) fn shown(&self) -> &str {
        self.address.shown()
    }

    /// Runs `work` in one transaction. `work` must be repeatable: it runs again on a new connection if the
    /// old one broke, and after a conflict with another transaction.
    pub(super) fn transaction<T>(
        &mut self,
        purpose: Purpose,
        work: &impl AsyncFn(&Transaction<'_>) -> std::result::Result<T, TransactionError>,
    ) -> Result<T> {
        let mut conflicts = 0;
        loop {
            let (mut client, fresh) = match self.client.take().filter(|client| !client.is_closed()) {
                Some(client) => (client, false),
                None => (self.connect()?, true),
            };
            let limit = self.remaining_time(self.patience.transaction);
            let ran =
                run_with_limit(&self.runtime, limit, run_transaction(&mut client, purpose, limit, work));
            match ran {
                Ok(Ok(done)) => {
                    self.client = Some(client);
                    return Ok(done);
                }
                Ok(Err(TransactionError::Own(error))) => {
                    self.client = Some(client);
                    return Err(error);
                }
                Ok(Err(TransactionError::Server(error))) => {
                    let state = error.code();
                    let lost = [SqlState::T_R_SERIALIZATION_FAILURE, SqlState::T_R_DEADLOCK_DETECTED];
                    if state.is_some_and(|state| lost.contains(state)) && conflicts < CONFLICTS {
                        conflicts += 1;
                        self.client = Some(client);
                    } else if is_connection_lost(&error) && !fresh {
                        // Reconnects: the server may have restarted since the last call.
                    } else {
                        return Err(self.address.without_password(explain_error(&error, self.shown())));
                    }
                }
                // A running request cannot be cancelled, so the connection is dropped with it.
                Err(TimedOut) => return Err(timeout_error(self.shown(), limit)),
            }
        }
    }

    /// At most what is left of the overall limit.
    fn remaining_time(&self, limit: Duration) -> Duration {
        self.until.map_or(limit, |until| limit.min(until.saturating_duration_since(Instant::now())))
    }

    /// Tries each address in turn; the first server that answers decides.
    fn connect(&self) -> Result<Client> {
        let until = Instant::now() + self.remaining_time(self.patience.connect);
        let mut error = Trouble::UnknownHost.at(self.shown());
        for (place, config) in
            self.address.configs(self.remaining_time(self.patience.connect)).into_iter().enumerate()
        {
            match self.connect_to(&config, until.saturating_duration_since(Instant::now())) {
                Err(found) if found.kind == ErrorKind::Offline => {
                    if place == 0 {
                        error = found;
                    }
                }
                done => return done,
            }
        }
        Err(error)
    }

    fn connect_to(&self, config: &Config, limit: Duration) -> Result<Client> {
        let (tls, shown) = (self.tls.clone(), self.shown());
        let connected = run_with_limit(&self.runtime, limit, async move {
            match tls {
                Some(tls) => config.connect(tls).await.map(|(client, driver)| {
                    tokio::spawn(driver);
                    client
                }),
                None => config.connect(NoTls).await.map(|(client, driver)| {
                    tokio::spawn(driver);
                    client
                }),
            }
        });
        let mut client = match connected {
            Ok(Ok(client)) => client,
            Ok(Err(error)) => return Err(self.address.without_password(explain_error(&error, shown))),
            Err(TimedOut) => return Err(timeout_error(shown, limit)),
        };
        let limit = self.remaining_time(self.patience.transaction);
        let prepared = run_with_limit(&self.runtime, limit, async {
            if self.creates {
                schema::migrate(&mut client, shown).await
            } else {
                schema::check(&client, shown).await
            }
        });
        match prepared {
            Ok(Ok(())) => Ok(client),
            Ok(Err(TransactionError::Own(error))) => Err(error),
            Ok(Err(TransactionError::Server(error))) => {
                Err(self.address.without_password(explain_error(&error, shown)))
            }
            Err(TimedOut) => Err(timeout_error(shown, limit)),
        }
    }
}

pub(super) enum TransactionError {
    /// From the server or the network.
    Server(tokio_postgres::Error),
    /// From this program.
    Own(Error),
}

impl From<tokio_postgres::Error> for TransactionError {
    fn from(error: tokio_postgres::Error) -> TransactionError {
        TransactionError::Server(error)
    }
}

impl From<Error> for TransactionError {
    fn from(error: Error) -> TransactionError {
        TransactionError::Own(error)
    }
}

async fn run_transaction<T>(
    client: &mut Client,
    purpose: Purpose,
    limit: Duration,
    work: &impl AsyncFn(&Transaction<'_>) -> std::result::Result<T, TransactionError>,
) -> std::result::Result<T, TransactionError> {
    let builder = client.build_transaction();
    let transaction = match purpose {
        Purpose::Reading => {
            builder.isolation_level(IsolationLevel::RepeatableRead).read_only(true).start().await?
        }
        // Writers run one after the other, because each locks the counters first.
        Purpose::Writing => builder.start().await?,
    };
    // The server aborts too, and holds no locks for a client that is gone.
    let limit = limit.as_millis().max(1);
    let limit = format!("SET LOCAL statement_timeout = {limit}; SET LOCAL search_path = tidegate");
    transaction.batch_execute(&limit).await?;
    let done = work(&transaction).await?;
    transaction.commit().await?;
    Ok(done)
}

struct TimedOut;

fn run_with_limit<T>(
    runtime: &Runtime,
    limit: Duration,
    work: impl Future<Output = T>,
) -> std::result::Result<T, TimedOut> {
    runtime.block_on(async { timeout_at(Instant::now() + limit, work).await.map_err(|_| TimedOut) })
}

fn timeout_error(shown: &str, limit: Duration) -> Error {
    Trouble::TimedOut(limit.as_millis() as u64).at(shown)
}

/// Whether the connection is lost.
fn is_connection_lost(error: &tokio_postgres::Error) -> bool {
    let ended = [
        SqlState::ADMIN_SHUTDOWN,
        SqlState::CRASH_SHUTDOWN,
        SqlState::CANNOT_CONNECT_NOW,
        SqlState::DATABASE_DROPPED,
        SqlState::IDLE_SESSION_TIMEOUT,
        SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT,
    ];
    error.is_closed()
        || find_cause::<io::Error>(error).is_some()
        || error.code().is_some_and(|state| ended.contains(state))
}

/// Searches the chain of causes.
fn find_cause<E: std::error::Error + 'static>(error: &tokio_postgres::Error) -> Option<&E> {
    let mut next = error.source();
    while let Some(cause) = next {
        if let Some(found) = cause.downcast_ref() {
            return Some(found);
        }
        // An `io::Error` does not list its inner error as a source.
        if let Some(found) =
            cause.downcast_ref::<io::Error>().and_then(io::Error::get_ref).and_then(|e| e.downcast_ref())
        {
            return Some(found);
        }
        next = cause.source();
    }
    None
}

/// Explains known problems, else passes on the server's message.
fn explain_error(error: &tokio_postgres::Error, shown: &str) -> Error {
    if let Some(found) = find_cause::<rustls::Error>(error) {
        return explain_certificate(found).at(shown);
    }
    if let Some(found) = error.as_db_error() {
        return explain_answer(found, shown);
    }
    if let Some(found) = find_cause::<io::Error>(error) {
        let trouble = match found.kind() {
            io::ErrorKind::ConnectionRefused => Trouble::PortClosed,
            io::ErrorKind::UnexpectedEof
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::BrokenPipe => Trouble::Closed,
            _ => Trouble::Unreachable(found.to_string()),
        };
        return trouble.at(shown);
    }
    if error.is_closed() {
        return Trouble::Closed.at(shown);
    }
    let mut said = error.to_string();
    if let Some(cause) = error.source() {
        said = format!("{said}: {cause}");
    }
    if said.contains("password missing") {
        return Trouble::NoPassword.at(shown);
    }
    if said.contains("TLS") {
        return Trouble::NoTls.at(shown);
    }
    Error::new(ErrorKind::Other, format!("{shown}: {said}"))
}

fn explain_certificate(error: &rustls::Error) -> Trouble {
    use rustls::CertificateError as Certificate;
    match error {
        rustls::Error::InvalidCertificate(found) => match found {
            Certificate::UnknownIssuer => Trouble::UnknownAuthority,
            Certificate::NotValidForName | Certificate::NotValidForNameContext { .. } => {
                Trouble::CertificateOfOtherName
            }
            Certificate::Expired
            | Certificate::ExpiredContext { .. }
            | Certificate::NotValidYet
            | Certificate::NotValidYetContext { .. } => Trouble::CertificateNotValidNow,
            _ => Trouble::Untrusted(error.to_string()),
        },
        _ => Trouble::Untrusted(error.to_string()),
    }
}

/// The server's own message says more than the words for it, and names the user or the database.
fn explain_answer(found: &DbError, shown: &str) -> Error {
    let (state, said) = (found.code().code(), found.message());
    let trouble = match state {
        "28P01" => Trouble::WrongPassword,
        "28000" => Trouble::NotAdmitted,
        "3D000" => Trouble::NoDatabase,
        "53300" => Trouble::TooManyConnections,
        "57P03" => Trouble::Starting,
        _ => {
            let kind = match state {
                "57P01" | "57P02" | "57P05" | "25P03" => ErrorKind::Offline,
                "55P03" | "57014" | "40001" | "40P01" => ErrorKind::Busy,
                code if code.starts_with("08") => ErrorKind::Offline,
                "53100" | "53200" => ErrorKind::Io,
                "42501" | "3F000" | "25006" => ErrorKind::Refused,
                _ => ErrorKind::Other,
            };
            let error = Error::new(kind, format!("{shown}: {said} ({state})"));
            return match state {
                // Writers run one after the other.
                "55P03" | "57014" => error.hint(
                    "another connection may hold the lock for writing; Tidegate's own ends within 15 seconds, and \
                     `SELECT * FROM pg_stat_activity` shows the administrator who it is",
                ),
                "42501" => error.hint("the login lacks a right; the administrator runs `tidegate memory team create` again"),
                _ => error.hint("the message is the server's; `tidegate memory team` shows whether the next try works"),
            };
        }
    };
    Error { what: format!("{shown}: {said}"), ..trouble.at(shown) }
}
