//! `tidegate memory backup`.

use std::path::PathBuf;
use std::process::ExitCode;

use super::Opened;
use crate::command::Outcome;
use crate::error::CliError;
use crate::print;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate memory backup
  tidegate memory backup --to /mnt/backup/memory.db

Tidegate makes one copy a day and keeps the last three.")]
pub(crate) struct Args {
    /// Write the copy to this file instead
    #[arg(long, value_name = "FILE")]
    pub(crate) to: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

pub(super) fn run(args: &Args) -> Outcome {
    let Some(mut opened) = Opened::look()? else {
        return Err(CliError::new("nothing has been recorded yet"));
    };
    let copy = match &args.to {
        None => opened.memory.backup()?,
        Some(to) if to.exists() => {
            return Err(CliError::new(format!("{} is there already", to.display())).hint("name a new file"));
        }
        Some(to) => {
            let to = std::path::absolute(to).map_err(CliError::new)?;
            opened.memory.backup_to_file(&to)?;
            to
        }
    };
    if args.json {
        print::json(&serde_json::json!({ "copy": copy }));
    } else {
        print::line(&format!("{}", copy.display()));
    }
    Ok(ExitCode::SUCCESS)
}
