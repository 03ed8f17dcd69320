//! `tidegate memory migrate`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use serde::Serialize;
use tidegate_core::feature::memory::settings::{TeamUrl, Tls};
use tidegate_core::pipeline::record::Deeds;
use tidegate_core::settings::setting::Setting;
use tidegate_core::settings::value::Value;
use tidegate_memory::postgres::{Address, PASSWORD_VARIABLE};
use tidegate_memory::team;

use super::{Opened, line};
use crate::approval::{self, Consent, Request};
use crate::bilingual::Bilingual;
use crate::command::Outcome;
use crate::error::CliError;
use crate::print;
use crate::sessions::Here;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  PGPASSWORD=… tidegate memory migrate --to postgres://me@db.example.com/memory
  tidegate memory migrate --to postgres://me@db.example.com/memory --password-variable DB_PASSWORD
  tidegate memory migrate --to postgres://me@localhost/memory --tls off

Copies all projects, whatever the config shares. The store here does not change. Run it
again after an interruption: it continues with the rows that the server lacks. Put
the password into an environment variable: others on this machine can see a command
line. At a terminal it asks first; called by an agent it prints a code that only a
person can approve.

Exit codes: 0 all rows are there, 1 some are missing, 4 waits for a person's approval.")]
pub(crate) struct Args {
    /// Server and database: postgres://USER@HOST:PORT/DATABASE
    #[arg(long, value_name = "URL")]
    pub(crate) to: String,
    /// Environment variable with the password; without it, PGPASSWORD
    #[arg(long, value_name = "NAME")]
    pub(crate) password_variable: Option<String>,
    /// File with the certificates to check the server's against; without it, as in the config
    #[arg(long, value_name = "FILE")]
    pub(crate) ca_file: Option<PathBuf>,
    /// Protection of the connection; without it, as in the config
    #[arg(long, value_name = "HOW")]
    pub(crate) tls: Option<TlsName>,
    /// Use the approval that a person gave in this session
    #[arg(long)]
    pub(crate) approved: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum TlsName {
    Verify,
    Off,
}

/// Rows between two messages about the progress.
const SAID_EVERY: usize = 5000;

#[derive(Serialize)]
struct Moved<'a> {
    server: &'a str,
    rows: &'a BTreeMap<&'static str, usize>,
    new: usize,
    forgotten: usize,
    projects: &'a [String],
}

pub(super) fn run(args: &Args) -> Outcome {
    let Some(mut opened) = Opened::look()? else {
        return Err(CliError::new("nothing has been recorded yet"));
    };
    let address = server_address(&opened.here, args)?;
    let sizes = opened.memory.store().sizes()?;
    let would = vec![format!(
        "This copies everything that is remembered here to {}: {} projects with {} topics, {} decisions and {} logs.",
        address.shown(),
        sizes.projects,
        sizes.topics + sizes.automatic_topics,
        sizes.decisions,
        sizes.logs
    )];
    let request = Request {
        name: "memory migrate",
        command: approved_command(args, &address),
        about: Some(would.join(" ")),
        would: &Bilingual::lines(&would),
        approved: args.approved,
        json: args.json,
    };
    let given = match approval::ask_consent(&opened.here, &request)? {
        Consent::Given(given) => given,
        Consent::Waits(code) => return Ok(code),
    };
    let mut next = 0;
    let mut progress = |done: usize| {
        if !args.json && done >= next {
            print::to_stderr(&format!("{done} rows are there"));
            next = done + SAID_EVERY;
        }
    };
    let moved = team::migrate(&mut opened.memory, &address, &mut progress)?;
    approval::record_command(&opened.here, &request.command, &given, Deeds::default());
    if args.json {
        print::json(&Moved {
            server: address.shown(),
            rows: &moved.rows,
            new: moved.new,
            forgotten: moved.forgotten,
            projects: &moved.projects,
        });
        return Ok(ExitCode::SUCCESS);
    }
    let kinds: Vec<String> = moved.rows.iter().map(|(kind, count)| format!("{count} {kind}s")).collect();
    let (all, kinds) = (moved.all(), kinds.join(", "));
    if moved.forgotten == 0 {
        print::line(&format!("all {all} rows are on {}: {kinds}", address.shown()));
    } else {
        print::line(&format!(
            "{} of {all} rows are on {}; {} were forgotten there and stay so; here are {kinds}",
            all - moved.forgotten,
            address.shown(),
            moved.forgotten
        ));
    }
    print::line(&format!("{} of them are new there", moved.new));
    print::line("the store of this machine is as it was; to share what comes, in your own config:");
    print::line("");
    print::line("  [memory.team]");
    print::line(&format!("  url = {}", Value::from(address.shown())));
    let team = &opened.here.config.memory.team;
    let named = args.password_variable.as_deref();
    if let Some(name) = named.or(team.password_variable.as_ref().map(|named| named.0.as_str())) {
        print::line(&format!("  password_variable = {}", Value::from(name)));
    }
    let given = args.ca_file.as_ref().map(|path| path.display().to_string());
    if let Some(path) = given.or_else(|| team.ca_file.as_ref().map(|path| path.0.clone())) {
        print::line(&format!("  ca_file = {}", Value::from(path.as_str())));
    }
    if choose_tls(&opened.here, args) == Tls::Off {
        print::line("  tls = \"off\"");
    }
    let projects = Value::List(moved.projects.iter().map(|name| Value::from(name.as_str())).collect());
    print::line(&format!("  projects = {projects}"));
    Ok(ExitCode::SUCCESS)
}

/// The text that is approved: the address, and how the server is verified.
fn approved_command(args: &Args, address: &Address) -> String {
    let mut command = format!("memory migrate --to {}", line(address.shown(), 400));
    let tls = args.tls.as_ref().map(|tls| match tls {
        TlsName::Verify => "verify".to_owned(),
        TlsName::Off => "off".to_owned(),
    });
    let ca_file = args.ca_file.as_ref().map(|path| path.display().to_string());
    for (option, value) in
        [("tls", tls), ("ca-file", ca_file), ("password-variable", args.password_variable.clone())]
    {
        if let Some(value) = value {
            let _ = write!(command, " --{option} {}", line(&value, 400));
        }
    }
    command
}

fn choose_tls(here: &Here, args: &Args) -> Tls {
    match args.tls {
        None => here.config.memory.team.tls,
        Some(TlsName::Verify) => Tls::Verify,
        Some(TlsName::Off) => Tls::Off,
    }
}

fn server_address(here: &Here, args: &Args) -> Result<Address, CliError> {
    // Nothing of it is repeated: it may hold a password.
    let url = TeamUrl::from_value(&Value::from(args.to.as_str())).ok_or_else(|| {
        CliError::new("--to takes the address of a PostgreSQL server")
            .hint("it has the form postgres://USER@HOST:PORT/DATABASE")
    })?;
    let team = &here.config.memory.team;
    let named =
        args.password_variable.as_deref().or(team.password_variable.as_ref().map(|named| named.0.as_str()));
    let password = std::env::var(named.unwrap_or(PASSWORD_VARIABLE)).ok();
    let tls = choose_tls(here, args);
    let home = here.env.place.home.as_deref();
    let ca_file = args.ca_file.clone().or_else(|| {
        let named = team.ca_file.as_ref()?;
        Some(
            named
                .0
                .strip_prefix("~/")
                .zip(home)
                .map_or_else(|| named.0.clone().into(), |(rest, home)| home.join(rest)),
        )
    });
    let given = Address::read(&url, None, tls, ca_file.clone())?;
    if given.has_password() {
        print::to_stderr(&format!(
            "warning: others on this machine can see a password on a command line; put it into {}",
            named.unwrap_or(PASSWORD_VARIABLE)
        ));
    }
    Ok(Address::read(&url, password, tls, ca_file)?)
}
