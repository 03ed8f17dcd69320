//! Hosts other than the pinned client that read Claude Code's hook files, run offline.
//!
//! Each has its own driver. All run in a [`Home`] with a dummy key and the scripted model as their proxy,
//! which refuses requests to any other address.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cache;
use crate::home::{Home, proxies};
use crate::openai::OpenAi;
use crate::tidegate;

pub mod codex;
pub mod copilot;
pub mod opencode;
mod process;
pub mod qwen;
pub mod trial;
pub mod witness;

pub use process::Output;

/// A dummy for the scripted model.
const DUMMY_KEY: &str = "sk-dummy-0000000000000000";

/// A host in `hosts.txt`: in the folder that `TIDEGATE_HOSTS` names, or in the cache.
pub fn executable(name: &str) -> PathBuf {
    let version = version(name);
    let folder = std::env::var_os("TIDEGATE_HOSTS").map_or_else(cache::clients, PathBuf::from);
    // The link was made when the host was fetched: the path within its package depends on the platform.
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

/// With the environment of the home and no network but the scripted model.
fn command(home: &Home, model: &OpenAi, program: &Path) -> Command {
    let mut command = home.command(program);
    command.envs(proxies(&model.proxy_url()));
    command
}

/// Waits until Tidegate's worker has emptied its queue. Otherwise it would write into a home that is being
/// removed.
pub fn settle(home: &Home) {
    process::run(home.command(tidegate::binary()).args(["worker", "--once"]));
}
