//! Putting ourselves into a project's settings, and taking ourselves out again.

mod settings;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use tidegate_state::replace;

use crate::args;
use crate::command::Outcome;
use crate::error::CliError;
use crate::print;

pub(crate) fn init(args: &args::Install) -> Outcome {
    let binary = this_program()?;
    change(args, "hooks and status line", |text| settings::install(text, &binary))?;
    let context = args.project.join(".claude/context");
    if !args.dry_run && !context.is_dir() {
        fs::create_dir_all(&context).map_err(|error| at(&context, &error))?;
        print::line(&format!("made {} for the public copies", context.display()));
    }
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn uninstall(args: &args::Install) -> Outcome {
    let binary = this_program()?;
    change(args, "entries", |text| settings::uninstall(text, &binary))?;
    if !args.dry_run {
        // Only what is empty goes; a person's notes stay.
        for folder in [".claude/context", ".claude"] {
            let _ = fs::remove_dir(args.project.join(folder));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn this_program() -> Result<PathBuf, CliError> {
    std::env::current_exe().and_then(fs::canonicalize).map_err(CliError::new)
}

/// Edits the settings file: all of it or nothing.
fn change(
    args: &args::Install,
    what: &str,
    edit: impl Fn(Option<&str>) -> Result<Option<String>, String>,
) -> Result<(), CliError> {
    if !args.project.is_dir() {
        return Err(CliError::new(format!("{} is not a folder", args.project.display()))
            .hint("name the project's folder with --project"));
    }
    let path = args.project.join(".claude/settings.local.json");
    let old = match fs::read_to_string(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        read => Some(read.map_err(|error| at(&path, &error))?),
    };
    let new = edit(old.as_deref()).map_err(|why| {
        CliError::new(format!("{}: {why}", path.display()))
            .hint("mend the file, then run this again; nothing was changed")
    })?;
    if new == old {
        print::line(&format!("{}: nothing to do", path.display()));
        return Ok(());
    }
    if args.dry_run {
        print::line(&format!("{} would be:", path.display()));
        print::line(new.as_deref().unwrap_or("(removed)"));
        return Ok(());
    }
    match &new {
        Some(text) => {
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder).map_err(|error| at(folder, &error))?;
            }
            replace::durable(&path, text.as_bytes()).map_err(|error| at(&path, &error))?;
        }
        None => fs::remove_file(&path).map_err(|error| at(&path, &error))?,
    }
    print::line(&format!("{}: {what} {}", path.display(), if old < new { "written" } else { "removed" }));
    Ok(())
}

fn at(path: &Path, error: &io::Error) -> CliError {
    CliError::new(format!("{}: {error}", PathBuf::from(path).display()))
}
