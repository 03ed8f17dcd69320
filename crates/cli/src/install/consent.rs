//! What an agent may not do without a person: take our hooks out, lead them elsewhere, or choose a preset that is not the
//! strictest. And what nothing but a person at a terminal may agree to: writing through a link out of the project.
//!
//! A person or a script may: only who works under the hooks has a reason to be rid of them.

use std::process::ExitCode;

use super::arguments::{InstallReport, InstallTarget};
use super::leads::Detour;
use super::links_out::LinkOut;
use super::target::Target;
use crate::shell::quoted;
use tidegate_core::pipeline::record::Deeds;

use crate::approval::{self, Consent, Request};
use crate::command::init::{self, Preset};
use crate::error::CliError;
use crate::sessions::Here;

/// Before a preset that may be looser than what counts there: any but the strictest. `Some`: not yet, and with which exit
/// code.
pub(crate) fn to_a_preset(
    target: &Target,
    report: &InstallReport,
    chosen: Preset,
) -> Result<Option<ExitCode>, CliError> {
    if !approval::is_by_agent(&target.env) || report.dry_run || matches!(chosen, Preset::Strict) {
        return Ok(None);
    }
    let (name, place) = (chosen.name(), place(target));
    let would = format!("This would write the preset `{name}` into your config.");
    ask(&Here::find()?, "init", format!("init {place} --preset {name}"), None, &[would], report)
}

/// Before our hooks go.
pub(crate) fn to_uninstall(
    target: &Target,
    args: &InstallTarget,
    report: &InstallReport,
) -> Result<Option<ExitCode>, CliError> {
    if !approval::is_by_agent(&target.env) || report.dry_run {
        return Ok(None);
    }
    let shared = if args.shared { " --shared" } else { "" };
    let command = format!("uninstall {}{shared}", place(target));
    let would = "This would take Tidegate's hooks and status line out.".to_owned();
    ask(&Here::find()?, "uninstall", command, None, &[would], report)
}

/// Before anything is written through links that lead out of the project.
pub(crate) fn to_follow(links: &[LinkOut], target: &Target) -> Result<(), CliError> {
    let Some(first) = links.first() else { return Ok(()) };
    if approval::is_by_agent(&target.env) || !approval::is_at_terminal() {
        return Err(not_followed(first));
    }
    let would: Vec<String> = links.iter().map(LinkOut::said).collect();
    if approval::is_yes_at_terminal(&would)? { Ok(()) } else { Err(CliError::new("nothing was changed")) }
}

/// Before hooks that are there lead elsewhere, or block less. A person at a terminal of their own asked for it by the command
/// itself. `Some`: not yet, and with which exit code.
pub(crate) fn to_lead_elsewhere(
    detours: &[Detour],
    target: &Target,
    args: &init::Args,
) -> Result<Option<ExitCode>, CliError> {
    let Some(first) = detours.first() else { return Ok(None) };
    if !approval::is_by_agent(&target.env) && approval::is_at_terminal() {
        return Ok(None);
    }
    // Variables decide where things lead, and a command does not show them.
    let about = match detours.len() {
        1 => first.said(),
        more => format!("{}; {} more changes of this kind", first.said(), more - 1),
    };
    let shared = if args.target.shared { " --shared" } else { "" };
    let preset = args.preset.map(|preset| format!(" --preset {}", preset.name())).unwrap_or_default();
    let command = format!("init {}{shared}{preset}", place(target));
    let mut would = vec!["This would change where Tidegate's hooks lead:".to_owned()];
    would.extend(detours.iter().map(|detour| format!("  {}", detour.said())));
    ask(&Here::find()?, "init", command, Some(about), &would, &args.report)
}

/// Without a person's yes.
pub(crate) fn not_led_elsewhere(detour: &Detour) -> CliError {
    CliError::new(detour.said()).hint("it came up in the meantime: run this again; nothing was changed")
}

/// Without a person's yes.
pub(crate) fn not_followed(link: &LinkOut) -> CliError {
    CliError::new(link.said()).hint(
        "remove the link, or run `tidegate init` yourself at a terminal, where it asks you; nothing was changed",
    )
}

fn place(target: &Target) -> String {
    if target.is_user { "--user".to_owned() } else { format!("--project {}", quoted(&target.root)) }
}

fn ask(
    here: &Here,
    name: &'static str,
    command: String,
    about: Option<String>,
    would: &[String],
    report: &InstallReport,
) -> Result<Option<ExitCode>, CliError> {
    let (approved, json) = (report.approved, report.json);
    let request = Request { name, command, about, would, approved, json };
    match approval::consent(here, &request)? {
        Consent::Given(given) => {
            approval::record(here, &request.command, &given, Deeds::default());
            Ok(None)
        }
        Consent::Waits(code) => Ok(Some(code)),
    }
}
