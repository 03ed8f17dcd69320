//! The clients and hosts that `cargo xtask` fetched.

use std::path::PathBuf;

/// In the user's cache.
pub(crate) fn clients() -> PathBuf {
    let absolute = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".cache")));
    cache.expect("HOME or XDG_CACHE_HOME, to find the client").join("tidegate/clients")
}
