//! The PostgreSQL server for the tests of the team store.

use xtask::failure::{Done, Failure};
use xtask::print;
use xtask::tools;

/// Set for tests if there is no server.
pub(crate) const WITHOUT: &str = "TIDEGATE_TEST_WITHOUT_POSTGRES";

/// Installs a server only if none is found: Debian's package is large and starts a server that no test uses.
pub(crate) fn ensure() -> Done {
    if !present() {
        print::line("    missing: a PostgreSQL server; installing");
        tools::install(&["postgresql", "openssl"])?;
    }
    if present() {
        return Ok(());
    }
    Err(Failure::new("PostgreSQL was installed, but not where it is looked for")
        .next("put `initdb`, `pg_ctl` and `postgres` on the path"))
}

/// Searches like the crate `team-server`.
fn present() -> bool {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let debian =
        versions.map(|version| version.path().join("bin")).any(|folder| folder.join("initdb").is_file());
    (debian || tools::present("initdb")) && tools::present("openssl")
}
