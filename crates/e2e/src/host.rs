//! Hosts other than the pinned client that read Claude Code's hook files: found, started offline, and listened to.
//!
//! Each has a driver of its own. All of them run in a [`Home`] with a dummy key, and have the scripted model as their
//! proxy, so that a request to any other address is refused.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cache;
use crate::home::{Home, proxies};
use crate::openai::OpenAi;
use crate::tidegate;

pub mod codex;
pub mod copilot;
mod process;
pub mod qwen;
pub mod witness;

pub use process::Output;

/// The key that hosts send to the scripted model. It opens nothing.
const DUMMY_KEY: &str = "sk-dummy-0000000000000000";

/// The executable of a host in `hosts.txt`: in the folder that `TIDEGATE_HOSTS` names, or in the cache.
pub fn executable(name: &str) -> PathBuf {
    let version = version(name);
    let folder = std::env::var_os("TIDEGATE_HOSTS").map_or_else(cache::clients, PathBuf::from);
    // A link that was made when the host was fetched: where the executable is in its package depends on the platform.
    let link = folder.join(format!("{name}-{version}")).join("executable");
    link.canonicalize().unwrap_or_else(|_| {
        panic!("no {name} at {}: run `cargo xtask e2e`, which fetches it", link.display())
    })
}

fn version(name: &str) -> &'static str {
    let rows = include_str!("../hosts.txt").lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let row = rows.filter(|row| row.first() == Some(&name)).find_map(|row| row.get(1).copied());
    row.unwrap_or_else(|| panic!("{name} is not in hosts.txt"))
}

/// A command of a host, with the environment of the home and no way out but the scripted model.
fn command(home: &Home, model: &OpenAi, program: &Path) -> Command {
    let mut command = home.command(program);
    command.envs(proxies(&model.proxy_url()));
    command
}

/// Waits until Tidegate's worker has emptied its queue. Left to itself, it would write into a home that is being removed.
pub fn settle(home: &Home) {
    process::run(home.command(tidegate::binary()).args(["worker", "--once"]));
}
