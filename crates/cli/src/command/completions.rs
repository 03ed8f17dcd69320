//! `tidegate completions` and `tidegate man`: made from the one definition of the command line.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use clap::CommandFactory;

use super::Outcome;
use crate::args::{self, Arguments};
use crate::error::CliError;
use crate::print;

pub(crate) fn completions(args: &args::Completions) {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Arguments::command(), "tidegate", &mut script);
    // A reader that went away is no error.
    let _ = std::io::stdout().lock().write_all(&script);
}

pub(crate) fn man(args: &args::Man) -> Outcome {
    let Some(folder) = &args.out else {
        let _ = std::io::stdout().lock().write_all(&page(Arguments::command())?);
        return Ok(ExitCode::SUCCESS);
    };
    fs::create_dir_all(folder).map_err(|error| at(folder, &error))?;
    clap_mangen::generate_to(Arguments::command(), folder).map_err(|error| at(folder, &error))?;
    print::line(&format!("{}: one page per command", folder.display()));
    Ok(ExitCode::SUCCESS)
}

fn page(command: clap::Command) -> Result<Vec<u8>, CliError> {
    let mut page = Vec::new();
    clap_mangen::Man::new(command).render(&mut page).map_err(CliError::new)?;
    Ok(page)
}

fn at(path: &Path, error: &std::io::Error) -> CliError {
    CliError::new(format!("{}: {error}", path.display()))
}
