//! `tidegate man`: made from the one definition of the command line.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::CommandFactory;

use super::Outcome;
use crate::args::Cli;
use crate::bilingual::both;
use crate::error::CliError;
use crate::print;
use crate::print::page::Page;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate man | man -l -
  tidegate man --out ~/.local/share/man/man1")]
pub(crate) struct Args {
    /// Write one page per command into this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}

pub(crate) fn run(args: &Args) -> Outcome {
    let Some(folder) = &args.out else {
        print::to_stdout(&render_page(Cli::command())?);
        return Ok(ExitCode::SUCCESS);
    };
    fs::create_dir_all(folder).map_err(|error| failed_at(folder, &error))?;
    clap_mangen::generate_to(Cli::command(), folder).map_err(|error| failed_at(folder, &error))?;
    let folder = folder.display();
    Page::of(both!(
        "Wrote one page per command to {folder}",
        "コマンドごとのページを {folder} に書き出しました"
    ))
    .print();
    Ok(ExitCode::SUCCESS)
}

fn render_page(command: clap::Command) -> Result<Vec<u8>, CliError> {
    let mut page = Vec::new();
    clap_mangen::Man::new(command).render(&mut page).map_err(CliError::new)?;
    Ok(page)
}

fn failed_at(path: &Path, error: &std::io::Error) -> CliError {
    let path = path.display();
    CliError::new(both!("cannot write to {path}: {error}", "{path} に書き込めません: {error}"))
        .hint(both!("name a folder that you can write to", "書き込めるフォルダを指定してください"))
}
