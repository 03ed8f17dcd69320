//! What an agent may not do without a person: take our hooks out, or choose a looser preset.
//!
//! A person or a script may: only who works under the hooks has a reason to be rid of them.

use std::process::ExitCode;

use tidegate_core::config::preset::Preset;
use tidegate_core::config::setting::Setting;
use tidegate_core::config::value::Value;

use super::shell::quoted;
use super::target::Target;
use crate::approval::{self, Consent, Request};
use crate::args;
use crate::error::CliError;
use crate::sessions::Here;

/// Before a looser preset than the one that counts there. `Some`: not yet, and with which exit code.
pub(super) fn to_a_looser_preset(
    target: &Target,
    report: &args::InstallReport,
    chosen: args::Preset,
) -> Result<Option<ExitCode>, CliError> {
    if !target.env.agent || report.dry_run {
        return Ok(None);
    }
    let mut here = Here::find()?;
    if !target.is_user {
        here.look_at(&target.root)?;
    }
    let name = chosen.name();
    let looser = Preset::taken(&Value::from(name)).map(|preset| preset.strictness())
        < Some(here.config.general.preset.strictness());
    if !looser {
        return Ok(None);
    }
    let place = place(target);
    let would = format!(
        "This would write the preset `{name}` into your config, which is looser than what counts now."
    );
    ask(&here, "init", format!("init {place} --preset {name}"), would, report)
}

/// Before our hooks go.
pub(super) fn to_uninstall(
    target: &Target,
    args: &args::InstallTarget,
    report: &args::InstallReport,
) -> Result<Option<ExitCode>, CliError> {
    if !target.env.agent || report.dry_run {
        return Ok(None);
    }
    let shared = if args.shared { " --shared" } else { "" };
    let command = format!("uninstall {}{shared}", place(target));
    let would = "This would take Tidegate's hooks and status line out.".to_owned();
    ask(&Here::find()?, "uninstall", command, would, report)
}

fn place(target: &Target) -> String {
    if target.is_user { "--user".to_owned() } else { format!("--project {}", quoted(&target.root)) }
}

fn ask(
    here: &Here,
    name: &'static str,
    command: String,
    would: String,
    report: &args::InstallReport,
) -> Result<Option<ExitCode>, CliError> {
    let request = Request { name, command, would: &[would], approved: report.approved, json: report.json };
    match approval::consent(here, &request)? {
        Consent::Given(how) => {
            approval::record(here, &request.command, &how);
            Ok(None)
        }
        Consent::Waits(code) => Ok(Some(code)),
    }
}
