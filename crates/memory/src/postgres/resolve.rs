//! Resolves server names.
//!
//! On Linux through the system's `getent`: this program is linked statically, and the C library then resolves
//! names only where its own version is installed and nothing but files and DNS is configured.

use std::io::Read;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, ToSocketAddrs};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// In bytes; more than any name has.
const LARGEST: u64 = 64 * 1024;

/// Best first; empty if there is no answer in time.
pub(super) fn resolve_name(name: &str, limit: Duration) -> Vec<IpAddr> {
    if let Ok(address) = name.parse() {
        return vec![address];
    }
    // By definition, whatever a resolver says.
    if name.eq_ignore_ascii_case("localhost") {
        return vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()];
    }
    // The name becomes a command line argument.
    if name.is_empty()
        || !name.chars().all(|c| c.is_alphanumeric() || matches!(c, '.' | '-' | '_'))
        || name.starts_with('-')
    {
        return Vec::new();
    }
    match spawn_getent(name) {
        Some(child) => parse_addresses(&read_output(child, limit)),
        None => resolve_with_library(name, limit),
    }
}

fn spawn_getent(name: &str) -> Option<Child> {
    if !cfg!(target_os = "linux") {
        return None;
    }
    ["/usr/bin/getent", "/bin/getent"].iter().find_map(|program| {
        let mut getent = Command::new(program);
        getent.args(["ahosts", name]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        getent.spawn().ok()
    })
}

/// The output if the child ends in time; it is killed either way.
fn read_output(mut child: Child, limit: Duration) -> String {
    let (sender, receiver) = mpsc::channel();
    if let Some(stdout) = child.stdout.take() {
        thread::spawn(move || {
            let mut text = String::new();
            let _ = stdout.take(LARGEST).read_to_string(&mut text);
            let _ = sender.send(text);
        });
    }
    let text = receiver.recv_timeout(limit).unwrap_or_default();
    let _ = child.kill();
    let _ = child.wait();
    text
}

/// `192.0.2.1       STREAM db.example.com`, repeated per socket type.
fn parse_addresses(text: &str) -> Vec<IpAddr> {
    let mut all = Vec::new();
    for address in text.lines().filter_map(|line| line.split_whitespace().next()?.parse().ok()) {
        if !all.contains(&address) {
            all.push(address);
        }
    }
    all
}

/// The thread may outlive the call: the library cannot be interrupted.
fn resolve_with_library(name: &str, limit: Duration) -> Vec<IpAddr> {
    let (sender, receiver) = mpsc::channel();
    let name = name.to_owned();
    thread::spawn(move || {
        let found = (name.as_str(), 0).to_socket_addrs().into_iter().flatten();
        let _ = sender.send(found.map(|address| address.ip()).collect::<Vec<_>>());
    });
    receiver.recv_timeout(limit).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_getent_prints_and_what_no_name_is() {
        let printed =
            "192.0.2.1       STREAM db.example.com\n192.0.2.1       DGRAM  \n2001:db8::1     STREAM\nx\n\n";
        let expected: Vec<IpAddr> = vec!["192.0.2.1".parse().unwrap(), "2001:db8::1".parse().unwrap()];
        assert_eq!(parse_addresses(printed), expected);
        let limit = Duration::from_secs(5);
        assert_eq!(resolve_name("192.0.2.7", limit), ["192.0.2.7".parse::<IpAddr>().unwrap()]);
        assert_eq!(resolve_name("localhost", limit).len(), 2);
        for name in ["", "-x", "a b", "a;b", "a/b"] {
            assert_eq!(resolve_name(name, limit), Vec::<IpAddr>::new(), "{name}");
        }
    }
}
