//! Whether the client itself calls: anything that can run a command can write a payload into a hook.

/// Whether this process's standard input is a socket that the process `client` made, as the client does for its hooks.
/// A pipe in a shell command is none, and the system vouches for the process.
#[cfg(target_os = "linux")]
pub(crate) fn is_client(client: u64) -> bool {
    use rustix::net::AddressFamily;
    use rustix::net::sockopt::{socket_domain, socket_peercred};
    let stdin = std::io::stdin();
    // Other sockets have no process at their end.
    if socket_domain(&stdin) != Ok(AddressFamily::UNIX) {
        return false;
    }
    socket_peercred(&stdin).is_ok_and(|peer| u64::try_from(peer.pid.as_raw_nonzero().get()) == Ok(client))
}

/// FallbackFolders: whether `client` is the parent. The command of a shell tool has a shell for its parent.
#[cfg(all(unix, not(target_os = "linux")))]
pub(crate) fn is_client(client: u64) -> bool {
    u64::from(std::os::unix::process::parent_id()) == client
}

#[cfg(not(unix))]
pub(crate) fn is_client(_: u64) -> bool {
    true
}

/// Claude Code sets this variable for its shell tool and not for its hooks.
pub(crate) fn is_shell_tool() -> bool {
    std::env::var("AI_AGENT").is_ok_and(|agent| agent.ends_with("_agent"))
}
