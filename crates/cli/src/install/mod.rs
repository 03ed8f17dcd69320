//! Putting ourselves into a project's or a person's settings, and taking ourselves out again.
//!
//! Everything is read, decided and, where it must be, refused before anything is changed; then what was there is kept,
//! then files are written, one at a time and each of them whole.

// What goes into which file, as text.
mod json_text;
pub(crate) mod registrations;
pub(crate) mod status_line;
mod settings;
mod gitignore;
mod preset;
mod shipped;
// Where, what for, and how it is done.
mod link;
mod target;
mod record;
mod plan;
mod step;

use std::fs;
use std::process::ExitCode;

use crate::args;
use crate::command::Outcome;
use crate::error::CliError;
use plan::Plan;
use record::Records;
use step::{Act, Report};
use target::Target;

/// `tidegate init`.
pub(crate) fn init(args: &args::Init) -> Outcome {
    let target = Target::find(&args.target)?;
    let preset = args.preset.map(args::Preset::name);
    let is_build = target.link.is_some() && link::is_build(&target.program);
    let warning = is_build.then(|| {
        format!("{} is a build: `cargo clean` takes it away, and the gates close", target.program.display())
    });
    carry_out(&target, &args.report, warning.as_deref(), |records| plan::init(&target, preset, records))
}

/// `tidegate uninstall`.
pub(crate) fn uninstall(args: &args::Uninstall) -> Outcome {
    let target = Target::find(&args.target)?;
    carry_out(&target, &args.report, None, |records| plan::uninstall(&target, records))
}

/// Plans, shows or does.
fn carry_out(
    target: &Target,
    args: &args::InstallReport,
    warning: Option<&str>,
    plan: impl Fn(&Records) -> Result<Plan, CliError>,
) -> Outcome {
    let unkept = |why: String| {
        CliError::new(format!("what is there now could not be kept: {why}")).hint("nothing was changed")
    };
    let records = Records::look(&target.env).map_err(unkept)?;
    let planned = plan(&records)?;
    let report = Report { json: args.json, dry_run: args.dry_run, warning, backup: None };
    let is_settled = |plan: &Plan, records: &Records| {
        plan.record == records.load(&target.root) && plan.steps.iter().all(|step| step.act == Act::Nothing)
    };
    if args.dry_run || is_settled(&planned, &records) {
        step::run(&planned.steps, report)?;
        return Ok(ExitCode::SUCCESS);
    }
    // Again, now that nobody else is at it.
    let (records, _lock) = Records::lock(&target.env).map_err(unkept)?;
    let planned = plan(&records)?;
    // First: files without a way back to the byte would be worse than no files. What is given back is forgotten last.
    let before = records.load(&target.root);
    let mut kept = before.clone();
    for entry in &planned.record.files {
        kept.forget(&entry.file);
        kept.files.push(entry.clone());
    }
    kept.folders.clone_from(&planned.record.folders);
    if kept != before {
        records.save(&kept).map_err(|error| unkept(error.to_string()))?;
    }
    let folder = records.folder_of(&target.root);
    let has_original = planned.record.files.iter().any(|kept| kept.original.is_some());
    step::run(&planned.steps, Report { backup: has_original.then_some(folder.as_path()), ..report })?;
    if planned.record.files.len() < kept.files.len() {
        records.save(&planned.record).map_err(|error| {
            CliError::new(format!("{}: {error}", folder.display()))
                .hint("everything else was done; run this again")
        })?;
    }
    for folder in &planned.folders {
        let _ = fs::remove_dir(folder);
    }
    Ok(ExitCode::SUCCESS)
}
