//! Agents that call Tidegate: one folder for each host that is answered, and the files and calls of all others.

pub(crate) mod claude_code;
pub(crate) mod codex;
pub(crate) mod copilot;
pub(crate) mod installed;
pub(crate) mod opencode;
pub(crate) mod page;
pub(crate) mod qwen;
pub(crate) mod registered;
pub(crate) mod agent_homes;
pub(crate) mod unchecked;

use tidegate_core::host::Host;

/// What texts call the agent of a session, from its name in records. Every command that speaks of one asks here.
pub(crate) fn agent_name(host: &str) -> &str {
    // Version 0.1 recorded no name.
    if host.is_empty() || host == Host::ClaudeCode.name() { "Claude" } else { Host::title(host) }
}
