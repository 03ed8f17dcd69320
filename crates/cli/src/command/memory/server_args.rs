//! Options of commands that connect to a server which the config need not name.

use std::fmt::Write as _;
use std::path::PathBuf;

use tidegate_core::feature::memory::settings::{TeamUrl, Tls};
use tidegate_core::settings::setting::Setting;
use tidegate_core::settings::value::Value;
use tidegate_memory::postgres::{Address, PASSWORD_VARIABLE};

use super::line;
use crate::bilingual::both;
use crate::error::CliError;
use crate::print::remark;
use crate::sessions::Here;

#[derive(Debug, clap::Args)]
pub(crate) struct ServerArgs {
    /// Environment variable with the password; without it, PGPASSWORD
    #[arg(long, value_name = "NAME")]
    pub(crate) password_variable: Option<String>,
    /// File with the certificates to check the server's against; without it, as in the config
    #[arg(long, value_name = "FILE")]
    pub(crate) ca_file: Option<PathBuf>,
    /// Protection of the connection; without it, as in the config
    #[arg(long, value_name = "HOW")]
    pub(crate) tls: Option<TlsName>,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum TlsName {
    Verify,
    Off,
}

impl ServerArgs {
    /// Nothing of `url` is repeated: it may hold a password.
    pub(super) fn address(&self, here: &Here, url: &str) -> Result<Address, CliError> {
        let url = TeamUrl::from_value(&Value::from(url)).ok_or_else(|| {
            CliError::new(both!(
                "this is not the address of a PostgreSQL server",
                "PostgreSQL サーバーのアドレスではありません"
            ))
            .hint(both!(
                "write it as postgres://USER@HOST:PORT/DATABASE",
                "postgres://USER@HOST:PORT/DATABASE の形で書いてください"
            ))
        })?;
        let team = &here.config.memory.team;
        let named = self
            .password_variable
            .as_deref()
            .or(team.password_variable.as_ref().map(|named| named.0.as_str()));
        let password = std::env::var(named.unwrap_or(PASSWORD_VARIABLE)).ok();
        let tls = self.choose_tls(here);
        let home = here.env.place.home.as_deref();
        let ca_file = self.ca_file.clone().or_else(|| {
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
            remark::warn(both!(
                "others on this machine can see a password on a command line; put it into {variable}",
                "コマンドラインのパスワードは、このマシンのほかの人にも見えます。{variable} に入れてください",
                variable = named.unwrap_or(PASSWORD_VARIABLE)
            ));
        }
        Ok(Address::read(&url, password, tls, ca_file)?)
    }

    fn choose_tls(&self, here: &Here) -> Tls {
        match self.tls {
            None => here.config.memory.team.tls,
            Some(TlsName::Verify) => Tls::Verify,
            Some(TlsName::Off) => Tls::Off,
        }
    }

    /// Keys of `[memory.team]` for this server, without the password.
    pub(super) fn settings(&self, here: &Here, address: &Address) -> Vec<(&'static str, Value)> {
        let mut keys = vec![("url", Value::from(address.shown()))];
        let settings = &here.config.memory.team;
        let named = self.password_variable.as_deref();
        if let Some(name) = named.or(settings.password_variable.as_ref().map(|named| named.0.as_str())) {
            keys.push(("password_variable", Value::from(name)));
        }
        let given = self.ca_file.as_ref().map(|path| path.display().to_string());
        if let Some(path) = given.or_else(|| settings.ca_file.as_ref().map(|path| path.0.clone())) {
            keys.push(("ca_file", Value::from(path.as_str())));
        }
        if self.choose_tls(here) == Tls::Off {
            keys.push(("tls", Value::from("off")));
        }
        keys
    }

    /// The text that is approved: the address, and how the server is verified.
    pub(super) fn approved_command(&self, command: &str, address: &Address) -> String {
        let mut command = format!("{command} {}", line(address.shown(), 400));
        let tls = self.tls.as_ref().map(|tls| match tls {
            TlsName::Verify => "verify".to_owned(),
            TlsName::Off => "off".to_owned(),
        });
        let ca_file = self.ca_file.as_ref().map(|path| path.display().to_string());
        for (option, value) in
            [("tls", tls), ("ca-file", ca_file), ("password-variable", self.password_variable.clone())]
        {
            if let Some(value) = value {
                let _ = write!(command, " --{option} {}", line(&value, 400));
            }
        }
        command
    }
}
