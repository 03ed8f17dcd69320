//! `tidegate demo`: a scripted session through the real hooks, in a throw-away project.
//!
//! Claude's part and the person's are scripted ([`script`]). Everything that Tidegate says is what its hooks answered and what
//! its memory found ([`stage`]); a text that did not come is not shown.

mod cleaner;
mod page;
mod script;
mod stage;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::builder::RangedU64ValueParser;

use super::Outcome;
use crate::print::page::Page;
use crate::print::terminal::Terminal;
use page::Form;
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
    /// Delete this folder of a demo when its demo has ended
    #[arg(long, value_name = "DIR", hide = true)]
    pub(crate) clean_up: Option<PathBuf>,
}

/// From this width on, every text of the four scenes fits in 45 lines.
const ONE_SCREEN: usize = 80;

pub(crate) fn run(args: &Args) -> Outcome {
    if let Some(folder) = &args.clean_up {
        cleaner::clean_up_after_demo(folder);
        return Ok(ExitCode::SUCCESS);
    }
    cleaner::delete_left_folders(&std::env::temp_dir());
    let mut stage = Stage::new(args.keep.as_deref())?;
    let mut page = Page::new();
    let form = match Terminal::stdout().width {
        _ if args.verbose => Form::Timeline,
        columns if columns < ONE_SCREEN => Form::Narrow(columns),
        _ => Form::Screen,
    };
    if args.scene.is_none() {
        page::add_introduction(&mut page, form);
    }
    // Each scene continues the one before it.
    let last = args.scene.unwrap_or(SCENES.len());
    for (number, play) in (1..=last).zip(SCENES) {
        let scene = play(&mut stage)?;
        if args.scene.is_none_or(|wanted| wanted == number) {
            page::add_scene(&mut page, number, &scene, form);
        }
    }
    let (calls, micros) = (stage.calls, stage.micros);
    stage.remove()?;
    if args.scene.is_none() && args.keep.is_none() {
        page::add_end(&mut page, calls, micros, form);
    }
    page.print();
    Ok(ExitCode::SUCCESS)
}
