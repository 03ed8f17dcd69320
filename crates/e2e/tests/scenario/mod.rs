#[cfg(unix)]
mod codex;
mod copilot;
mod compaction;
mod context;
mod cycle;
mod denial;
mod failure;
#[cfg(unix)]
mod first_session;
#[cfg(unix)]
mod foreign_host;
mod fork;
mod forms;
mod install;
mod knowledge;
mod listing;
mod long_day;
mod memory;
#[cfg(unix)]
mod mcp;
#[cfg(unix)]
mod opencode;
#[cfg(unix)]
mod opencode_plugin;
mod parallel;
#[cfg(unix)]
mod people;
mod phase;
#[cfg(unix)]
mod phase_llm;
#[cfg(unix)]
mod plugin;
mod prefix;
#[cfg(unix)]
mod qwen;
mod pressure;
mod registrations;
mod skill_gate;
mod statusline;
mod task_gate;
#[cfg(unix)]
mod upgrade;
mod verify_stop;
mod windows;
mod work;
mod workflow;

/// Enough text for the client to compact.
fn filler() -> String {
    "a line of the work so far\n".repeat(4_000)
}
