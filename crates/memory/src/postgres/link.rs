//! The connection to the server: opened on demand, reopened when it breaks, always with a time limit.

use std::error::Error as _;
use std::future::Future;
use std::io;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::time::{Instant, timeout_at};
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Config, IsolationLevel, NoTls, Transaction};

use super::address::Address;
use super::schema;
use super::tls::Rustls;
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

pub(super) struct Link {
    address: Address,
    patience: Patience,
    until: Option<Instant>,
    tls: Option<Rustls>,
    runtime: Runtime,
    client: Option<Client>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum For {
    /// One consistent state.
    Reading,
    Writing,
}

impl Link {
    /// Does not connect yet.
    pub(super) fn new(address: Address, patience: Patience) -> Result<Link> {
        let tls = if address.encrypted() { Some(Rustls::new(address.ca_file.as_deref())?) } else { None };
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| Error::new(ErrorKind::Io, format!("no runtime: {error}")))?;
        let until = patience.whole.map(|whole| Instant::now() + whole);
        Ok(Link { address, patience, until, tls, runtime, client: None })
    }

    /// Without the password.
    pub(super) fn shown(&self) -> &str {
        self.address.shown()
    }

    /// Runs `work` in one transaction. `work` must be repeatable: it runs again on a new connection if the
    /// old one broke, and after a conflict with another transaction.
    pub(super) fn transaction<T>(
        &mut self,
        purpose: For,
        work: &impl AsyncFn(&Transaction<'_>) -> std::result::Result<T, Failed>,
    ) -> Result<T> {
        let mut conflicts = 0;
        loop {
            let (mut client, fresh) = match self.client.take().filter(|client| !client.is_closed()) {
                Some(client) => (client, false),
                None => (self.connect()?, true),
            };
            let limit = self.left(self.patience.transaction);
            let ran = bounded(&self.runtime, limit, run(&mut client, purpose, limit, work));
            match ran {
                Ok(Ok(done)) => {
                    self.client = Some(client);
                    return Ok(done);
                }
                Ok(Err(Failed::Ours(error))) => {
                    self.client = Some(client);
                    return Err(error);
                }
                Ok(Err(Failed::Theirs(error))) => {
                    let state = error.code();
                    let lost = [SqlState::T_R_SERIALIZATION_FAILURE, SqlState::T_R_DEADLOCK_DETECTED];
                    if state.is_some_and(|state| lost.contains(state)) && conflicts < CONFLICTS {
                        conflicts += 1;
                        self.client = Some(client);
                    } else if gone(&error) && !fresh {
                        // Reconnects: the server may have restarted since the last call.
                    } else {
                        return Err(self.address.cleaned(told(&error, self.shown())));
                    }
                }
                // A running request cannot be cancelled, so the connection is dropped with it.
                Err(Late) => return Err(late(self.shown(), limit)),
            }
        }
    }

    /// At most what is left of the overall limit.
    fn left(&self, limit: Duration) -> Duration {
        self.until.map_or(limit, |until| limit.min(until.saturating_duration_since(Instant::now())))
    }

    /// Tries each address in turn; the first server that answers decides.
    fn connect(&self) -> Result<Client> {
        let until = Instant::now() + self.left(self.patience.connect);
        let mut error = Error::new(ErrorKind::Offline, format!("{}: no such host is known", self.shown()))
            .hint("what is to be delivered is kept and sent later");
        for (place, config) in self.address.configs(self.left(self.patience.connect)).into_iter().enumerate()
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
        let connected = bounded(&self.runtime, limit, async move {
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
            Ok(Err(error)) => return Err(self.address.cleaned(told(&error, shown))),
            Err(Late) => return Err(late(shown, limit)),
        };
        let limit = self.left(self.patience.transaction);
        match bounded(&self.runtime, limit, schema::migrate(&mut client)) {
            Ok(Ok(())) => Ok(client),
            Ok(Err(Failed::Ours(error))) => Err(error),
            Ok(Err(Failed::Theirs(error))) => Err(self.address.cleaned(told(&error, shown))),
            Err(Late) => Err(late(shown, limit)),
        }
    }
}

pub(super) enum Failed {
    /// From the server or the network.
    Theirs(tokio_postgres::Error),
    /// From this program.
    Ours(Error),
}

impl From<tokio_postgres::Error> for Failed {
    fn from(error: tokio_postgres::Error) -> Failed {
        Failed::Theirs(error)
    }
}

impl From<Error> for Failed {
    fn from(error: Error) -> Failed {
        Failed::Ours(error)
    }
}

async fn run<T>(
    client: &mut Client,
    purpose: For,
    limit: Duration,
    work: &impl AsyncFn(&Transaction<'_>) -> std::result::Result<T, Failed>,
) -> std::result::Result<T, Failed> {
    let builder = client.build_transaction();
    let transaction = match purpose {
        For::Reading => {
            builder.isolation_level(IsolationLevel::RepeatableRead).read_only(true).start().await?
        }
        // Writers run one after the other, because each locks the counters first.
        For::Writing => builder.start().await?,
    };
    // The server aborts too, and holds no locks for a client that is gone.
    let limit = limit.as_millis().max(1);
    let limit = format!("SET LOCAL statement_timeout = {limit}; SET LOCAL search_path = tidegate");
    transaction.batch_execute(&limit).await?;
    let done = work(&transaction).await?;
    transaction.commit().await?;
    Ok(done)
}

struct Late;

fn bounded<T>(
    runtime: &Runtime,
    limit: Duration,
    work: impl Future<Output = T>,
) -> std::result::Result<T, Late> {
    runtime.block_on(async { timeout_at(Instant::now() + limit, work).await.map_err(|_| Late) })
}

fn late(shown: &str, limit: Duration) -> Error {
    Error::new(ErrorKind::Offline, format!("{shown} did not answer within {} ms", limit.as_millis()))
        .hint("what is to be delivered is kept and sent later")
}

/// Whether the connection is lost.
fn gone(error: &tokio_postgres::Error) -> bool {
    let ended = [
        SqlState::ADMIN_SHUTDOWN,
        SqlState::CRASH_SHUTDOWN,
        SqlState::CANNOT_CONNECT_NOW,
        SqlState::DATABASE_DROPPED,
        SqlState::IDLE_SESSION_TIMEOUT,
    ];
    error.is_closed()
        || reason::<io::Error>(error).is_some()
        || error.code().is_some_and(|state| ended.contains(state))
}

/// Searches the chain of causes.
fn reason<E: std::error::Error + 'static>(error: &tokio_postgres::Error) -> Option<&E> {
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
fn told(error: &tokio_postgres::Error, shown: &str) -> Error {
    let at = |kind, what: String| Error::new(kind, format!("{shown}: {what}"));
    if let Some(found) = reason::<rustls::Error>(error) {
        return at(ErrorKind::Refused, format!("the connection cannot be trusted: {found}")).hint(
            "`[memory.team] ca_file` names the certificate that the server's is signed by; the address has to have the name that is in it",
        );
    }
    if let Some(found) = error.as_db_error() {
        let (state, said) = (found.code(), found.message());
        if [SqlState::INVALID_PASSWORD, SqlState::INVALID_AUTHORIZATION_SPECIFICATION].contains(state) {
            return at(ErrorKind::Refused, said.to_owned()).hint(
                "`[memory.team] password_variable` names the environment variable that holds the password",
            );
        }
        let kind = match state.code() {
            "57P01" | "57P02" | "57P03" | "57P05" => ErrorKind::Offline,
            "55P03" | "57014" | "53300" | "40001" | "40P01" => ErrorKind::Busy,
            code if code.starts_with("08") => ErrorKind::Offline,
            "53100" | "53200" => ErrorKind::Io,
            "42501" | "3D000" | "3F000" | "25006" => ErrorKind::Refused,
            _ => ErrorKind::Other,
        };
        return at(kind, format!("{said} ({})", state.code()));
    }
    if let Some(found) = reason::<io::Error>(error) {
        return at(ErrorKind::Offline, format!("cannot be reached: {found}"))
            .hint("what is to be delivered is kept and sent later");
    }
    if error.is_closed() {
        return at(ErrorKind::Offline, "the connection was closed".to_owned());
    }
    let mut said = error.to_string();
    if let Some(cause) = error.source() {
        said = format!("{said}: {cause}");
    }
    if said.contains("password missing") {
        return at(ErrorKind::Refused, "it wants a password and none is known".to_owned())
            .hint("`[memory.team] password_variable` names the environment variable that holds it");
    }
    if said.contains("TLS") {
        return at(ErrorKind::Refused, "it does not speak TLS, and nothing is sent to it in plain text".to_owned())
            .hint("let the server speak TLS (`ssl = on`); only for one on this machine, `[memory.team] tls = \"off\"`");
    }
    at(ErrorKind::Other, said)
}
