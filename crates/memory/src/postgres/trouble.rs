//! What can be wrong with a server or the way to it, in words: what it is, and the next step.

use super::schema::KNOWN;
use crate::error::{Error, ErrorKind};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    UnknownHost,
    PortClosed,
    /// The system's reason.
    Unreachable(String),
    /// In milliseconds.
    TimedOut(u64),
    Closed,
    NoTls,
    UnknownAuthority,
    CertificateOfOtherName,
    CertificateNotValidNow,
    /// The reason of the TLS library.
    Untrusted(String),
    NoPassword,
    WrongPassword,
    NotAdmitted,
    NoDatabase,
    NotMember,
    NoTables,
    /// The version that was found.
    OlderTables(i64),
    NewerTables(i64),
    TooManyConnections,
    Starting,
}

impl Trouble {
    pub(super) fn at(self, server: &str) -> Error {
        let mut error = Error::new(self.kind(), format!("{server}: {}", self.what())).hint(self.hint());
        error.trouble = Some((server.to_owned(), self));
        error
    }

    fn kind(&self) -> ErrorKind {
        match self {
            Trouble::UnknownHost
            | Trouble::PortClosed
            | Trouble::Unreachable(_)
            | Trouble::TimedOut(_)
            | Trouble::Closed
            | Trouble::Starting => ErrorKind::Offline,
            Trouble::TooManyConnections => ErrorKind::Busy,
            Trouble::NoTables => ErrorKind::Missing,
            Trouble::OlderTables(_) | Trouble::NewerTables(_) => ErrorKind::Newer,
            Trouble::NoTls
            | Trouble::UnknownAuthority
            | Trouble::CertificateOfOtherName
            | Trouble::CertificateNotValidNow
            | Trouble::Untrusted(_)
            | Trouble::NoPassword
            | Trouble::WrongPassword
            | Trouble::NotAdmitted
            | Trouble::NoDatabase
            | Trouble::NotMember => ErrorKind::Refused,
        }
    }

    fn what(&self) -> String {
        let plain = match self {
            Trouble::UnknownHost => "no such host is known",
            Trouble::PortClosed => "cannot be reached: no server listens on this port",
            Trouble::Unreachable(why) => return format!("cannot be reached: {why}"),
            Trouble::TimedOut(ms) => return format!("it did not answer within {ms} ms"),
            Trouble::Closed => "the connection was closed",
            Trouble::NoTls => "it does not speak TLS, and nothing is sent to it in plain text",
            Trouble::UnknownAuthority => {
                "the connection cannot be trusted: no known authority signed the server's certificate"
            }
            Trouble::CertificateOfOtherName => {
                "the connection cannot be trusted: the server's certificate is for another name"
            }
            Trouble::CertificateNotValidNow => {
                "the connection cannot be trusted: the server's certificate is not valid at this time"
            }
            Trouble::Untrusted(why) => return format!("the connection cannot be trusted: {why}"),
            Trouble::NoPassword => "it wants a password and none is known",
            Trouble::WrongPassword => "it does not accept this user with this password",
            Trouble::NotAdmitted => "it does not accept this user from this machine",
            Trouble::NoDatabase => "it has no database of this name",
            Trouble::NotMember => "this login is not a member of the team",
            Trouble::NoTables => "there is no team store in this database",
            Trouble::OlderTables(found) => {
                return format!(
                    "the team store has tables of version {found}, and this program needs version {KNOWN}"
                );
            }
            Trouble::NewerTables(found) => {
                return format!(
                    "the team store has tables of version {found}; this program knows version {KNOWN}"
                );
            }
            Trouble::TooManyConnections => "it has no free connection",
            Trouble::Starting => "it is starting or stopping",
        };
        plain.to_owned()
    }

    fn hint(&self) -> &'static str {
        match self {
            Trouble::UnknownHost => {
                "check the spelling of the host, and whether this machine is in the server's network (VPN)"
            }
            Trouble::PortClosed => {
                "check the host and the port; the administrator checks that PostgreSQL runs, and `listen_addresses`"
            }
            Trouble::Unreachable(_) | Trouble::TimedOut(_) => {
                "check the host, the port and the network (VPN, firewall), then try again"
            }
            Trouble::Closed => "check that a PostgreSQL server is at this address, then try again",
            Trouble::NoTls => {
                "let the server speak TLS (`ssl = on`); only for one on this machine, `[memory.team] tls = \"off\"`"
            }
            Trouble::UnknownAuthority | Trouble::Untrusted(_) => {
                "`--ca-file`, or `[memory.team] ca_file`, names the certificate of the authority; ask the administrator for it"
            }
            Trouble::CertificateOfOtherName => {
                "write the host in the address as it is in the certificate; the administrator knows it"
            }
            Trouble::CertificateNotValidNow => {
                "check the clock of this machine; the administrator renews the certificate"
            }
            Trouble::NoPassword => {
                "put it into PGPASSWORD, or into the variable that `[memory.team] password_variable` names"
            }
            Trouble::WrongPassword => {
                "check the user in the address and the variable with the password (`[memory.team] password_variable`, else \
                 PGPASSWORD); `tidegate memory team invite`, by the administrator, makes a new password"
            }
            Trouble::NotAdmitted => "the administrator allows it in `pg_hba.conf`",
            Trouble::NoDatabase => {
                "check the name after the last `/` of the address; the administrator creates the database"
            }
            Trouble::NotMember => "an administrator runs `tidegate memory team invite` with its name",
            Trouble::NoTables | Trouble::OlderTables(_) => {
                "an administrator runs `tidegate memory team create` on this address"
            }
            Trouble::NewerTables(_) => "upgrade tidegate on this machine",
            Trouble::TooManyConnections => {
                "try again in a moment; the administrator can raise `max_connections`"
            }
            Trouble::Starting => "try again in a minute",
        }
    }
}
