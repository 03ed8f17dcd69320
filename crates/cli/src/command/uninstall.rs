//! `tidegate uninstall`.

use super::Outcome;
use crate::install::arguments::{InstallReport, InstallTarget};
use crate::install::target::Target;
use crate::install::{carry_out, consent, plan};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate uninstall
  tidegate uninstall --project ~/code/app --dry-run
  tidegate uninstall --shared                  the committed settings, too
  tidegate uninstall --user

What you changed since stays; a file that nobody changed is as it was before.")]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) target: InstallTarget,
    #[command(flatten)]
    pub(crate) report: InstallReport,
}

pub(crate) fn run(args: &Args) -> Outcome {
    let target = Target::find(&args.target)?;
    if let Some(code) = consent::to_uninstall(&target, &args.target, &args.report)? {
        return Ok(code);
    }
    carry_out(&target, &args.report, &[], None, |records| plan::plan_uninstall(&target, records))
}
