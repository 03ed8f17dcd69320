//! The address of a team's server. No output contains the password.

use std::fmt::{self, Write as _};
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::time::Duration;

use tidegate_core::feature::memory::settings::{Team, TeamUrl, Tls};
use tokio_postgres::Config;
use tokio_postgres::config::SslMode;

use super::resolve::resolve_name;
use crate::error::{Error, ErrorKind, Result};

/// The default variable for the password.
pub const PASSWORD_VARIABLE: &str = "PGPASSWORD";

const PORT: u16 = 5432;

#[derive(Clone, PartialEq, Eq)]
struct Password(String);

impl fmt::Debug for Password {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("(not shown)")
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    hosts: Vec<ServerHost>,
    user: Option<String>,
    password: Option<Password>,
    database: Option<String>,
    /// Some shared servers require these.
    options: Option<String>,
    pub(super) tls: Tls,
    /// In addition to the certificates of the system.
    pub(super) ca_file: Option<PathBuf>,
    /// Without the password.
    shown: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum ServerHost {
    Tcp(String, u16),
    Socket(String, u16),
}

impl ServerHost {
    fn is_local(&self) -> bool {
        match self {
            ServerHost::Socket(..) => true,
            ServerHost::Tcp(name, _) if name.eq_ignore_ascii_case("localhost") => true,
            ServerHost::Tcp(name, _) => name.parse().is_ok_and(|ip: IpAddr| ip.is_loopback()),
        }
    }
}

impl Address {
    /// `None` if the config names no server.
    pub fn of(
        team: &Team,
        variable: &dyn Fn(&str) -> Option<String>,
        home: Option<&str>,
    ) -> Result<Option<Address>> {
        let Some(url) = &team.url else { return Ok(None) };
        let named = team.password_variable.as_ref().map(|named| named.0.as_str());
        let password = variable(named.unwrap_or(PASSWORD_VARIABLE));
        let ca_file = team.ca_file.as_ref().map(|path| match (path.0.strip_prefix("~/"), home) {
            (Some(rest), Some(home)) => PathBuf::from(home).join(rest),
            _ => PathBuf::from(&path.0),
        });
        Address::read(url, password, team.tls, ca_file).map(Some)
    }

    /// A password in the URL takes precedence over `password`.
    pub fn read(
        url: &TeamUrl,
        password: Option<String>,
        tls: Tls,
        ca_file: Option<PathBuf>,
    ) -> Result<Address> {
        let mut address = parse_url(url.secret())?;
        address.tls = tls;
        address.ca_file = ca_file;
        address.password = address.password.or(password.filter(|text| !text.is_empty()).map(Password));
        if tls == Tls::Off
            && let Some(host) = address.hosts.iter().find(|host| !host.is_local())
        {
            let (ServerHost::Tcp(name, _) | ServerHost::Socket(name, _)) = host;
            return Err(refused_address(format!(
                "without TLS only a server on this machine is reached, not {name}"
            ))
            .hint(
                "set `[memory.team] tls = \"verify\"`, and `ca_file` if the server's certificate is your own",
            ));
        }
        Ok(address)
    }

    #[must_use]
    pub fn with_password(self, password: String) -> Address {
        Address { password: Some(Password(password)), ..self }
    }

    pub fn has_password(&self) -> bool {
        self.password.is_some()
    }

    /// Removes the password, in case the server repeated it.
    pub(super) fn without_password(&self, error: Error) -> Error {
        match &self.password {
            Some(Password(password)) if error.what.contains(password.as_str()) => {
                Error { what: error.what.replace(password.as_str(), "…"), ..error }
            }
            _ => error,
        }
    }

    /// The effective address without the password; it can be parsed again.
    pub fn shown(&self) -> &str {
        &self.shown
    }

    fn format_shown(&self) -> String {
        let mut port_of_socket = None;
        let host = |host: &ServerHost| match host {
            ServerHost::Socket(path, port) => {
                port_of_socket = Some(*port).filter(|port| *port != PORT);
                percent_encode(path)
            }
            ServerHost::Tcp(name, port) => {
                let name = if name.contains(':') { format!("[{name}]") } else { percent_encode(name) };
                if *port == PORT { name } else { format!("{name}:{port}") }
            }
        };
        let hosts: Vec<String> = self.hosts.iter().map(host).collect();
        let user = self.user.as_ref().map(|user| format!("{}@", percent_encode(user))).unwrap_or_default();
        let database =
            self.database.as_ref().map(|name| format!("/{}", percent_encode(name))).unwrap_or_default();
        let port = port_of_socket.map(|port| format!("port={port}"));
        let options = self.options.as_ref().map(|options| format!("options={}", percent_encode(options)));
        let query: Vec<String> = port.into_iter().chain(options).collect();
        let mark = if query.is_empty() { "" } else { "?" };
        format!("postgres://{user}{}{database}{mark}{}", hosts.join(","), query.join("&"))
    }

    /// One per way to the server; empty if no host has an address.
    pub(super) fn configs(&self, limit: Duration) -> Vec<Config> {
        let mut configs = Vec::new();
        for host in &self.hosts {
            match host {
                #[cfg(unix)]
                ServerHost::Socket(path, port) => {
                    let mut config = self.login_config();
                    config.host_path(path).port(*port);
                    configs.push(config);
                }
                ServerHost::Tcp(name, port) => {
                    configs.extend(resolve_name(name, limit).into_iter().map(|address| {
                        let mut config = self.login_config();
                        config.host(name).hostaddr(address).port(*port);
                        config
                    }));
                }
                #[cfg(not(unix))]
                ServerHost::Socket(..) => {}
            }
        }
        configs
    }

    fn login_config(&self) -> Config {
        let mut config = Config::new();
        if let Some(user) = &self.user {
            config.user(user);
        }
        if let Some(Password(password)) = &self.password {
            config.password(password);
        }
        if let Some(database) = &self.database {
            config.dbname(database);
        }
        if let Some(options) = &self.options {
            config.options(options);
        }
        config.ssl_mode(if self.is_encrypted() { SslMode::Require } else { SslMode::Disable });
        config.application_name("tidegate");
        config
    }

    /// As [`Address::shown`], for another login.
    pub fn as_user(&self, name: &str) -> String {
        Address { user: Some(name.to_owned()), ..self.clone() }.format_shown()
    }

    /// A local socket needs no encryption: the permissions of its folder control access.
    pub fn is_encrypted(&self) -> bool {
        self.tls == Tls::Verify && self.hosts.iter().any(|host| matches!(host, ServerHost::Tcp(..)))
    }
}

fn refused_address(what: impl Into<String>) -> Error {
    Error::new(ErrorKind::Refused, what)
}

/// Splits from the end, because a password may contain any character. Errors name a problem and never quote
/// the URL.
fn parse_url(url: &str) -> Result<Address> {
    let wrong = |what: &str| {
        refused_address(format!("the address of the team store cannot be read: {what}"))
            .hint("it has the form postgres://USER@HOST:PORT/DATABASE; special characters in a part are written as %XX")
    };
    let decoded = |text: &str| percent_decode(text).ok_or_else(|| wrong("a `%` that no two digits follow"));
    let rest = url.split_once("://").map(|(_, rest)| rest).ok_or_else(|| wrong("no `://`"))?;
    let (login, rest) = rest.rsplit_once('@').map_or((None, rest), |(login, rest)| (Some(login), rest));
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (hosts, database) = rest.split_once('/').unwrap_or((rest, ""));
    let (mut user, mut password) = match login.map(|login| login.split_once(':').unwrap_or((login, ""))) {
        None => (None, None),
        Some((user, password)) => {
            (Some(decoded(user)?), Some(decoded(password)?).filter(|text| !text.is_empty()))
        }
    };
    let (mut hosts, mut port) = (hosts.to_owned(), None);
    let (mut options, mut database) = (None, Some(decoded(database)?).filter(|name| !name.is_empty()));
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        match name {
            "host" if !hosts.is_empty() => return Err(wrong("a host before the `?` and one after it")),
            "host" => value.clone_into(&mut hosts),
            "port" => port = value.parse().ok(),
            "user" => user = Some(decoded(value)?),
            "password" => password = Some(decoded(value)?),
            "dbname" => database = Some(decoded(value)?),
            "options" => options = Some(decoded(value)?),
            "sslmode" if value == "disable" => {
                return Err(wrong("`sslmode=disable`")
                    .hint("`[memory.team] tls = \"off\"` says that, for a server on this machine"));
            }
            // The server's name is always verified, which is stricter than any of these.
            "sslmode" | "channel_binding" | "application_name" | "connect_timeout" => {}
            _ => {
                return Err(wrong("an option that is not known")
                    .hint("host, port, user, password, dbname, options and sslmode can follow the `?`"));
            }
        }
    }
    let host = |text: &str| {
        let text = percent_decode(text)?;
        if text.starts_with('/') {
            // PostgreSQL's own clients also accept a port for a socket.
            return Some(ServerHost::Socket(text, port.unwrap_or(PORT)));
        }
        let (name, number) = match text.strip_prefix('[').and_then(|text| text.split_once(']')) {
            Some((name, rest)) => (name, rest.strip_prefix(':')),
            None => text.split_once(':').map_or((text.as_str(), None), |(name, number)| (name, Some(number))),
        };
        let number = number.map_or(Some(port.unwrap_or(PORT)), |number| number.parse().ok())?;
        let name = if name.is_empty() { Ipv4Addr::LOCALHOST.to_string() } else { name.to_owned() };
        Some(ServerHost::Tcp(name, number))
    };
    let hosts: Option<Vec<ServerHost>> = hosts.split(',').map(host).collect();
    let hosts = hosts.ok_or_else(|| wrong("the host or the port"))?;
    let sockets = hosts.iter().filter(|host| matches!(host, ServerHost::Socket(..))).count();
    if sockets != 0 && sockets != hosts.len() {
        return Err(wrong("a socket next to a host"));
    }
    let mut address = Address {
        hosts,
        user,
        password: password.map(Password),
        database,
        options,
        tls: Tls::Verify,
        ca_file: None,
        shown: String::new(),
    };
    address.shown = address.format_shown();
    Ok(address)
}

fn percent_encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

fn percent_decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let digits = std::str::from_utf8(rest.get(..2)?).ok()?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = &rest[2..];
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_core::settings::setting::Setting;
    use tidegate_core::settings::value::Value;

    fn read(url: &str, tls: Tls) -> Result<Address> {
        let url = TeamUrl::from_value(&Value::from(url)).unwrap_or_else(|| panic!("{url}"));
        Address::read(&url, Some("beside".to_owned()), tls, None)
    }

    #[test]
    fn parts_of_an_address() {
        // URL; user, password, hosts, database.
        for (url, parts) in [
            ("postgres://db.example.com/memory", "- beside db.example.com:5432 memory"),
            ("postgres://me@db:5433/m", "me beside db:5433 m"),
            ("postgres://me:pw@db/m", "me pw db:5432 m"),
            ("postgres://me:p%40w%2F@db/m", "me p@w/ db:5432 m"),
            ("postgres://me:se@cr/et?x@db/m", "me se@cr/et?x db:5432 m"),
            ("postgres://db?user=me&password=pw&dbname=m", "me pw db:5432 m"),
            ("postgres://me@a:1,b:2/m?sslmode=verify-full", "me beside a:1,b:2 m"),
            ("postgres://me@[::1]:5433/m", "me beside ::1:5433 m"),
            ("postgres://me@%2Frun%2Fpg/m", "me beside /run/pg/5432 m"),
            ("postgres:///m?host=/run/pg&port=7", "- beside /run/pg/7 m"),
        ] {
            let address = read(url, Tls::Verify).unwrap_or_else(|error| panic!("{url}: {error}"));
            let hosts: Vec<String> = address
                .hosts
                .iter()
                .map(|host| match host {
                    ServerHost::Tcp(name, port) => format!("{name}:{port}"),
                    ServerHost::Socket(path, port) => format!("{path}/{port}"),
                })
                .collect();
            let or = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
            let password = address.password.clone().map_or("-".to_owned(), |password| password.0);
            let found =
                format!("{} {password} {} {}", or(&address.user), hosts.join(","), or(&address.database));
            assert_eq!(found, parts, "{url}");
            // The shown address leads to the same place.
            let again = read(address.shown(), Tls::Verify).unwrap();
            let place =
                |address: &Address| (address.hosts.clone(), address.user.clone(), address.database.clone());
            assert_eq!(place(&again), place(&address), "{}", address.shown());
            assert!(address.shown() == again.shown() && !address.shown().contains("pw"));
        }
        let elsewhere =
            read("postgres://me@db.example.com/m?port=7&user=you&dbname=other", Tls::Verify).unwrap();
        assert_eq!(elsewhere.shown(), "postgres://you@db.example.com:7/other");
        assert!(read("postgres://me@db.example.com/m?host=localhost", Tls::Verify).is_err());
    }

    #[test]
    fn what_is_wrong_is_named_and_never_quoted() {
        for url in [
            "postgres://me:sEcReT%@db/m",
            "postgres://me:sEcReT@db:port/m",
            "postgres://me:x@db/m?sEcReT=1",
            "postgres://me:x@db/m?sslmode=disable&password=sEcReT",
            "postgres://me:sEcReT@db:99999/m",
        ] {
            let error = read(url, Tls::Verify).unwrap_err();
            assert!(!format!("{error:?}").contains("sEcReT"), "{error:?}");
        }
        let address = read("postgres://me:sEcReT@db/m?password=sEcReT", Tls::Verify).unwrap();
        let config = read("postgres://me:sEcReT@localhost/m", Tls::Verify).unwrap().configs(Duration::ZERO);
        assert!(!format!("{address:?} {config:?}").contains("sEcReT"), "{address:?}");
    }

    #[test]
    fn without_tls_only_this_machine_is_reached() {
        for (host, here) in [
            ("localhost", true),
            ("127.0.0.1:5433", true),
            ("127.8.0.1", true),
            ("[::1]", true),
            ("%2Frun%2Fpg", true),
            ("db.example.com", false),
            ("localhost.example.com", false),
            ("127.0.0.1.example.com", false),
            ("10.0.0.1", false),
            ("localhost,db", false),
            ("0.0.0.0", false),
        ] {
            let found = read(&format!("postgres://me@{host}/m"), Tls::Off);
            assert_eq!(found.is_ok(), here, "{host}: {found:?}");
        }
        assert!(read("postgres://me@db/m", Tls::Verify).unwrap().is_encrypted());
        assert!(read("postgres://me@%2Frun,db/m", Tls::Verify).is_err());
        assert!(!read("postgres://me@%2Frun/m", Tls::Verify).unwrap().is_encrypted());
    }
}
