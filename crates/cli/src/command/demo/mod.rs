//! `tidegate demo`: a scripted session through the real hooks, in a throw-away project.
//!
//! Claude's part and the person's are scripted ([`script`]). Everything that Tidegate says is what its hooks answered and what
//! its memory found ([`stage`]); a text that did not come is not shown.

mod page;
mod script;
mod stage;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::builder::RangedU64ValueParser;

use super::Outcome;
use crate::print::page::Page;
use script::SCENES;
use stage::Stage;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate demo
  tidegate demo --scene 3           only the compaction
  tidegate demo --verbose           every hook call, with the reason of each policy

Needs no Claude Code and installs nothing.")]
pub(crate) struct Args {
    /// Show only this scene
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<usize>::new().range(1..=SCENES.len() as u64))]
    pub(crate) scene: Option<usize>,
    /// Show every hook call with its reasons
    #[arg(long)]
    pub(crate) verbose: bool,
    /// Play in this new folder and leave it there: a home whose project is `shop`
    #[arg(long, value_name = "DIR", hide = true)]
    pub(crate) keep: Option<PathBuf>,
}

pub(crate) fn run(args: &Args) -> Outcome {
    let mut stage = Stage::new(args.keep.as_deref())?;
    let mut page = Page::new();
    if args.scene.is_none() {
        page::add_introduction(&mut page, args.verbose);
    }
    // Each scene continues the one before it.
    let last = args.scene.unwrap_or(SCENES.len());
    for (number, play) in (1..=last).zip(SCENES) {
        let scene = play(&mut stage)?;
        if args.scene.is_none_or(|wanted| wanted == number) {
            page::add_scene(&mut page, number, &scene, args.verbose);
        }
    }
    let (calls, micros) = (stage.calls, stage.micros);
    stage.remove()?;
    if args.scene.is_none() && args.keep.is_none() {
        page::add_end(&mut page, calls, micros, args.verbose);
    }
    page.print();
    Ok(ExitCode::SUCCESS)
}
