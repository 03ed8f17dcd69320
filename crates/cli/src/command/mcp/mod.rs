//! `tidegate mcp`: the tools and resources for the model, on stdin and stdout, until the input ends.
//!
//! The protocol is the official SDK's (`rmcp`), on a runtime of one thread that exists only here. Two parts
//! of the SDK are replaced. Lines and their JSON are read in [`wire`], which also knows batches
//! (2025-03-26). The handshake is left out, because the SDK ends at a notification that comes too early;
//! Claude Code 2.1.325 has no handshake at all, asks `server/discover` and then speaks 2026-07-28.
//!
//! Nothing is kept between calls: the server lives as long as the client, and the store may be set aside or
//! changed under it. Calls run next to the loop.

mod memory;
mod resource;
mod server;
mod session;
mod tool;
mod under_way;
mod wire;

use std::process::ExitCode;
use std::time::Duration;

use rmcp::service::serve_directly;
use tokio::runtime::Builder;

use crate::bilingual::both;
use crate::command::Outcome;
use crate::error::CliError;
pub(crate) use tool::define_tools;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Speaks the Model Context Protocol, one JSON message a line, until its input ends. `tidegate init` and the plugin register it.

Examples:
  claude mcp add --scope user tidegate -- tidegate mcp

Tools: get_startup_context, search, timeline, list_projects, list_topics, add_topic, set_topic, close_topic, get_logs, add_log,
list_decisions, add_decision, supersede_decision, get_context_status, list_unpromoted. See docs/mcp.md.")]
pub(crate) struct Args;

/// Calls at the same time; more wait. A client rarely has more than a few under way.
const CALLS: usize = 4;

/// Wait for calls after the input has ended: a little longer than they wait for a store.
const LAST_CALLS: Duration = Duration::from_secs(11);

/// Serves until the input ends or nobody reads the answers; neither is an error.
pub(crate) fn run() -> Outcome {
    let runtime =
        Builder::new_current_thread().enable_time().max_blocking_threads(CALLS).build().map_err(|error| {
            CliError::new(both!(
                "the server did not start: {error}",
                "サーバーを起動できませんでした: {error}"
            ))
        })?;
    runtime.block_on(async {
        // Without the handshake of the SDK, which ends at a notification that comes too early: a client that says hello
        // in any order, or not at all, is answered.
        let running = serve_directly(server::Server, wire::Wire::start(), None);
        // It ends with the input; the reason does not matter.
        drop(running.waiting().await);
    });
    // The client may have left while a store was busy: its calls are still written down.
    under_way::UNDER_WAY.wait(LAST_CALLS);
    // The reading thread may wait for a line that never comes.
    runtime.shutdown_background();
    Ok(ExitCode::SUCCESS)
}
