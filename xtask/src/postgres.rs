//! The PostgreSQL server that tests of the team store start for themselves.

use xtask::failure::{Done, Failure};
use xtask::print;
use xtask::tools;

/// Said to tests where there is no server.
pub(crate) const WITHOUT: &str = "TIDEGATE_TEST_WITHOUT_POSTGRES";

/// Installs a server where none is found. Debian's package is large and starts a server of its own, which nothing here
/// talks to; it is only installed where the programs are not there in any other way.
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

/// As the crate `team-server` looks for it.
fn present() -> bool {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let debian =
        versions.map(|version| version.path().join("bin")).any(|folder| folder.join("initdb").is_file());
    (debian || tools::present("initdb")) && tools::present("openssl")
}
