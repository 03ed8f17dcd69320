//! `tidegate init`.

use std::path::Path;

use super::Outcome;
use crate::host::claude_code;
use crate::host::claude_code::shipped::Part;
use crate::install::arguments::{InstallReport, InstallTarget};
use crate::install::links_out::{self, LinkOut};
use crate::install::plan::Choice;
use crate::install::target::Target;
use crate::install::{carry_out, consent, leads, open_records, plan, warnings};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate init                                this project, for you alone
  tidegate init --project ~/code/app --dry-run
  tidegate init --preset strict
  tidegate init --shared                       hooks into the committed settings
  tidegate init --user                         all your projects

Keeps everything that is there, to the byte, and can be run again. Where it
goes: `.claude/settings.local.json`; with --shared the hooks go into
`.claude/settings.json`, where a teammate without tidegate does not notice
them; with --user it is `~/.claude/settings.json`. `tidegate uninstall` takes
exactly this out again.")]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) target: InstallTarget,
    #[command(flatten)]
    pub(crate) report: InstallReport,
    /// How strict to be here; written into your own config
    #[arg(long, value_name = "PRESET")]
    pub(crate) preset: Option<Preset>,
    /// More skills, separated by commas
    #[arg(long, value_name = "PART", value_delimiter = ',')]
    pub(crate) with: Vec<Part>,
    /// Add only the status line; the plugin brings the rest
    #[arg(long, conflicts_with_all = ["shared", "preset", "with"])]
    pub(crate) status_line: bool,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum Preset {
    /// Decides and records, says nothing
    Observe,
    /// Advises, and gates what is usually regretted
    Guide,
    /// Gates everything there is a gate for
    Strict,
}

impl Preset {
    /// As in a config.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Preset::Observe => "observe",
            Preset::Guide => "guide",
            Preset::Strict => "strict",
        }
    }
}

pub(crate) fn run(args: &Args) -> Outcome {
    let target = Target::find(&args.target)?;
    let preset = args.preset.map(Preset::name);
    let is_strict = preset.map_or_else(|| target.is_strict(), |preset| preset == Preset::Strict.name());
    let choice = Choice { preset, with: &args.with, is_strict, status_line_only: args.status_line };
    let mut warnings = warnings::of_init(&target);
    let next = if target.is_user {
        "start the client in a project, then `tidegate doctor` there says whether the hooks ran".to_owned()
    } else {
        let place = if target.shown == Path::new(".") {
            "here".to_owned()
        } else {
            format!("in {}", target.shown.display())
        };
        format!(
            "start the client {place}, trust the folder, then `tidegate doctor` says whether the hooks ran"
        )
    };
    if let Some(preset) = args.preset
        && let Some(code) = consent::to_a_preset(&target, &args.report, preset)?
    {
        return Ok(code);
    }
    let planned = plan::plan_init(&target, &choice, &open_records(&target)?)?;
    let links = links_out::find_links(&planned, &target);
    let detours = leads::find_detours(&planned, &target);
    if !args.report.dry_run {
        consent::to_follow(&links, &target)?;
        if let Some(code) = consent::to_lead_elsewhere(&detours, &target, args)? {
            return Ok(code);
        }
    }
    warnings.extend(links.iter().map(LinkOut::said));
    warnings.extend(claude_code::warnings::left_by(&planned, &target));
    carry_out(&target, &args.report, &warnings, Some(&next), |records| {
        let plan = plan::plan_init(&target, &choice, records)?;
        // Links and detours that appeared after the question were not agreed to.
        if let Some(link) = links_out::find_links(&plan, &target).iter().find(|link| !links.contains(link)) {
            return Err(consent::not_followed(link));
        }
        match leads::find_detours(&plan, &target).iter().find(|detour| !detours.contains(detour)) {
            Some(detour) if !args.report.dry_run => Err(consent::not_led_elsewhere(detour)),
            _ => Ok(plan),
        }
    })
}
