//! `tidegate memory backup`.

use std::path::PathBuf;
use std::process::ExitCode;

use super::{Opened, nothing_recorded};
use crate::bilingual::both;
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
        return Err(nothing_recorded());
    };
    let copy = match &args.to {
        None => opened.memory.backup()?,
        Some(to) if to.exists() => {
            let to = to.display();
            return Err(CliError::new(both!("{to} already exists", "{to} はすでにあります"))
                .hint(both!("name a new file", "新しいファイル名を指定してください")));
        }
        Some(to) => {
            let to = std::path::absolute(to).map_err(CliError::new)?;
            opened.memory.backup_to_file(&to).map_err(|error| {
                let why = &error.what;
                CliError::new(both!("no copy was made: {why}", "コピーを作れませんでした: {why}")).hint(
                    both!(
                        "name a file in a folder that exists and that you can write to",
                        "書き込める既存のフォルダのファイル名を指定してください"
                    ),
                )
            })?;
            to
        }
    };
    if args.json {
        print::json(&serde_json::json!({ "copy": copy }));
    } else {
        // The path alone: scripts read it.
        print::line(&copy.display().to_string());
    }
    Ok(ExitCode::SUCCESS)
}
