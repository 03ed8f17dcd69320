//! The PostgreSQL server for the tests of the team store.

use xtask::failure::{Done, Failure};
use xtask::print;
use xtask::tools;

/// Set for tests if there is no server.
pub(crate) const WITHOUT: &str = "TIDEGATE_TEST_WITHOUT_POSTGRES";

/// Installs a server only if none is found: Debian's package is large and starts a server that no test uses.
pub(crate) fn ensure_server() -> Done {
    if !is_installed() {
        print::line("    missing: a PostgreSQL server; installing");
        tools::install_packages(&["postgresql", "openssl"])?;
    }
    if is_installed() {
        return Ok(());
    }
    Err(Failure::new("PostgreSQL was installed, but not where it is looked for")
        .next("put `initdb`, `pg_ctl` and `postgres` on the path"))
}

/// Searches like the crate `team-server`.
fn is_installed() -> bool {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let debian =
        versions.map(|version| version.path().join("bin")).any(|folder| folder.join("initdb").is_file());
    (debian || tools::is_on_path("initdb")) && tools::is_on_path("openssl")
}
