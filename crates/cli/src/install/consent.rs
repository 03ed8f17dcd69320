//! Steps of an install that need a person. An agent may not remove the hooks, point them elsewhere, or choose a preset
//! other than the strictest. Only a person at a terminal may agree to writing through a link out of the project.
//!
//! A person or a script is not asked about the first three: only an agent under the hooks has a reason to remove them. While
//! an agent works in the project, a script may be the agent's: it can start a command outside of its own processes.

use std::process::ExitCode;

use super::arguments::{InstallReport, InstallTarget};
use super::leads::Detour;
use super::links_out::LinkOut;
use super::target::Target;
use crate::shell::quote_path;
use tidegate_core::pipeline::record::Deeds;
use tidegate_hook::process::is_agent_at_work;

use crate::approval::{self, Consent, Request};
use crate::bilingual::{Bilingual, both};
use crate::command::init::{self, Preset};
use crate::error::CliError;
use crate::host::claude_code::shipped::Part;
use crate::sessions::Here;

/// Any preset but the strictest may be looser than the one in force. `Some`: not yet, with the exit code.
pub(crate) fn to_a_preset(target: &Target, args: &init::Args) -> Result<Option<ExitCode>, CliError> {
    let Some(chosen) = args.preset.filter(|preset| !matches!(preset, Preset::Strict)) else {
        return Ok(None);
    };
    if args.report.only_shows() || !may_be_agent(target) {
        return Ok(None);
    }
    let name = chosen.name();
    let would = both!(
        "This would write the preset `{name}` into your config.",
        "プリセット `{name}` を設定ファイルに書き込みます。"
    );
    let command = init_command(&target_arguments(target), args);
    ask_person(&Here::find()?, "init", command, None, &[would], &args.report)
}

/// `Some`: not yet, with the exit code.
pub(crate) fn to_uninstall(
    target: &Target,
    args: &InstallTarget,
    report: &InstallReport,
) -> Result<Option<ExitCode>, CliError> {
    if report.only_shows() || !may_be_agent(target) {
        return Ok(None);
    }
    let shared = if args.shared { " --shared" } else { "" };
    let command = format!("uninstall {}{shared}", target_arguments(target));
    let would = both!(
        "This would remove Tidegate's hooks and status line.",
        "Tidegate のフックとステータスラインを外します。"
    );
    ask_person(&Here::find()?, "uninstall", command, None, &[would], report)
}

pub(crate) fn to_follow(links: &[LinkOut], target: &Target) -> Result<(), CliError> {
    let Some(first) = links.first() else { return Ok(()) };
    if approval::is_by_agent(&target.env) || !approval::is_at_terminal() {
        return Err(not_followed(first));
    }
    let would: Vec<Bilingual> = links.iter().map(LinkOut::said).collect();
    if approval::is_yes_at_terminal(&would)? { Ok(()) } else { Err(nothing_changed()) }
}

/// Before existing hooks are pointed elsewhere, or block less. A person at their own terminal asked for it by the
/// command itself. `Some`: not yet, with the exit code.
pub(crate) fn to_lead_elsewhere(
    detours: &[Detour],
    target: &Target,
    args: &init::Args,
) -> Result<Option<ExitCode>, CliError> {
    let Some(first) = detours.first() else { return Ok(None) };
    if !approval::is_by_agent(&target.env) && approval::is_at_terminal() {
        return Ok(None);
    }
    // Variables decide the paths, and a command does not show them.
    let about = match detours.len() {
        1 => first.said().en,
        more => format!("{}; {} more changes of this kind", first.said().en, more - 1),
    };
    let mut would = vec![both!(
        "This would change what Tidegate's hooks start:",
        "Tidegate のフックが起動するものが変わります:"
    )];
    would.extend(detours.iter().map(|detour| {
        let Bilingual { en, ja } = detour.said();
        both!("  {en}", "  {ja}")
    }));
    let command = init_command(&target_arguments(target), args);
    ask_person(&Here::find()?, "init", command, Some(about), &would, &args.report)
}

pub(crate) fn not_led_elsewhere(detour: &Detour) -> CliError {
    CliError::new(detour.said()).hint(both!(
        "this changed in the meantime: run it again; nothing was changed",
        "途中で状況が変わりました。もう一度実行してください。何も変更していません"
    ))
}

pub(crate) fn not_followed(link: &LinkOut) -> CliError {
    CliError::new(link.said()).hint(both!(
        "remove the link, or run `tidegate init` yourself at a terminal, where it asks you; nothing was changed",
        "リンクを消すか、ご自身の端末で `tidegate init` を実行してください（確認があります）。何も変更していません"
    ))
}

/// Everything that was recorded goes for good, so only a person at a terminal may say yes: no flag, no code, no config.
pub(crate) fn to_purge(target: &Target, would: &[Bilingual]) -> Result<(), CliError> {
    if approval::is_by_agent(&target.env) || !approval::is_at_terminal() {
        let what = both!(
            "`--purge` needs you at a terminal, where it asks",
            "`--purge` は確認のため、ご自身の端末でのみ実行できます"
        );
        return Err(CliError::new(what).hint(both!(
            "run `tidegate uninstall --purge` in a terminal of your own; nothing was changed",
            "ご自身の端末で `tidegate uninstall --purge` を実行してください。何も変更していません"
        )));
    }
    if approval::is_yes_at_terminal(would)? { Ok(()) } else { Err(nothing_changed()) }
}

fn nothing_changed() -> CliError {
    CliError::new(both!("nothing was changed", "何も変更していません"))
}

fn may_be_agent(target: &Target) -> bool {
    approval::is_by_agent(&target.env)
        || !approval::is_at_terminal() && is_agent_at_work((!target.is_user).then_some(target.root.as_path()))
}

/// In full: a person approves exactly what runs.
fn init_command(place: &str, args: &init::Args) -> String {
    // Every field is named, so that a new one is not left out.
    let init::Args {
        target: InstallTarget { project: _, user: _, shared, host: _ },
        report: _,
        preset,
        with,
        status_line,
    } = args;
    let mut words = vec![format!("init {place}")];
    if *shared {
        words.push("--shared".to_owned());
    }
    if let Some(preset) = preset {
        words.push(format!("--preset {}", preset.name()));
    }
    if !with.is_empty() {
        words.push(format!("--with {}", Part::list(with)));
    }
    if *status_line {
        words.push("--status-line".to_owned());
    }
    words.join(" ")
}

fn target_arguments(target: &Target) -> String {
    let place =
        if target.is_user { "--user".to_owned() } else { format!("--project {}", quote_path(&target.root)) };
    match target.host {
        Some(host) => format!("{place} --host {}", host.name()),
        None => place,
    }
}

fn ask_person(
    here: &Here,
    name: &'static str,
    command: String,
    about: Option<String>,
    would: &[Bilingual],
    report: &InstallReport,
) -> Result<Option<ExitCode>, CliError> {
    let (approved, json) = (report.approved, report.json);
    let request = Request { name, command, about, would, approved, json };
    match approval::ask_consent(here, &request)? {
        Consent::Given(given) => {
            approval::record_command(here, &request.command, &given, Deeds::default());
            Ok(None)
        }
        Consent::Waits(code) => Ok(Some(code)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(clap::Parser)]
    struct Typed {
        #[command(flatten)]
        args: init::Args,
    }

    #[test]
    fn the_command_to_approve_is_the_whole_one() {
        for (typed, command) in [
            ("", ""),
            (
                "--shared --with workflow,cycle --preset observe",
                " --shared --preset observe --with workflow,cycle",
            ),
            ("--with rules", " --with rules"),
            ("--status-line", " --status-line"),
            ("--json --approved --dry-run", ""),
        ] {
            let words = ["init"].into_iter().chain(typed.split_whitespace());
            let args = <Typed as clap::Parser>::parse_from(words).args;
            assert_eq!(init_command("--project /p", &args), format!("init --project /p{command}"), "{typed}");
        }
    }
}
