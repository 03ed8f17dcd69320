//! The caller of a hook: any command can write a payload into one, so Claude Code itself has to be recognised.

/// Standard input has to be a socket that the process `client` made, as Claude Code does for its hooks. The system
/// vouches for the process, and a pipe in a shell command is not a socket.
#[cfg(target_os = "linux")]
pub(crate) fn is_client(client: u64) -> bool {
    use rustix::net::AddressFamily;
    use rustix::net::sockopt::{socket_domain, socket_peercred};
    let stdin = std::io::stdin();
    // Other sockets do not name the process at their end.
    if socket_domain(&stdin) != Ok(AddressFamily::UNIX) {
        return false;
    }
    socket_peercred(&stdin).is_ok_and(|peer| u64::try_from(peer.pid.as_raw_nonzero().get()) == Ok(client))
}

/// Elsewhere, `client` has to be the parent. A command of the shell tool has a shell as its parent.
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
