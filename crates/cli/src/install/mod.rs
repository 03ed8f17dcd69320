//! Putting ourselves into a project's settings, and taking ourselves out again.

mod backup;
mod settings;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use tidegate_hook::environment::Environment;
use tidegate_state::replace;

use crate::args;
use crate::command::Outcome;
use crate::error::CliError;
use crate::print;
use settings::Around;

pub(crate) fn init(args: &args::Install) -> Outcome {
    let place = Place::find(args)?;
    let old = place.read()?;
    let around = place.around()?;
    let new = settings::install(old.as_deref(), &around).map_err(|why| place.refused(&why))?;
    if Some(&new) == old.as_ref() {
        print::line(&format!("{}: our hooks and status line are there already", place.file.display()));
    } else if args.dry_run {
        place.would_be(Some(&new));
    } else {
        let without_us = settings::uninstall(old.as_deref(), &around).map_err(|why| place.refused(&why))?;
        // First: settings without a way back to the byte would be worse than no settings.
        backup::keep(&place.env, &place.file, old.as_deref(), without_us, &new).map_err(|why| {
            CliError::new(format!("the settings as they are could not be kept: {why}"))
                .hint("nothing was changed")
        })?;
        place.write(&new)?;
        print::line(&format!("{}: hooks and status line written", place.file.display()));
    }
    let context = args.project.join(".claude/context");
    if !args.dry_run && !context.is_dir() {
        fs::create_dir_all(&context).map_err(|error| at(&context, &error))?;
        print::line(&format!("{}: made, for the public copies", context.display()));
    }
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn uninstall(args: &args::Install) -> Outcome {
    let place = Place::find(args)?;
    let old = place.read()?;
    // Untouched since `init`: exactly what was there before. Else our entries are taken out of what is there now.
    let new = match backup::original(&place.env, &place.file, old.as_deref()) {
        Some(original) => original,
        None => settings::uninstall(old.as_deref(), &place.around()?).map_err(|why| place.refused(&why))?,
    };
    if new == old {
        print::line(&format!("{}: nothing of ours there", place.file.display()));
    } else if args.dry_run {
        place.would_be(new.as_deref());
    } else {
        match &new {
            Some(text) => place.write(text)?,
            None => fs::remove_file(&place.file).map_err(|error| at(&place.file, &error))?,
        }
        backup::forget(&place.env, &place.file);
        print::line(&format!("{}: our hooks and status line removed", place.file.display()));
        // Ours goes, and what is empty without it; a person's notes stay.
        let _ = fs::remove_file(args.project.join(".claude/context/context-pressure.json"));
        for folder in [".claude/context", ".claude"] {
            let _ = fs::remove_dir(args.project.join(folder));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Where we install.
struct Place {
    env: Environment,
    project: PathBuf,
    file: PathBuf,
}

impl Place {
    fn find(args: &args::Install) -> Result<Place, CliError> {
        if !args.project.is_dir() {
            return Err(CliError::new(format!("{} is not a folder", args.project.display()))
                .hint("name the project's folder with --project"));
        }
        let project = args.project.clone();
        let file = project.join(".claude/settings.local.json");
        Ok(Place { env: Environment::of_process(), project, file })
    }

    fn read(&self) -> Result<Option<String>, CliError> {
        match fs::read_to_string(&self.file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            read => read.map(Some).map_err(|error| at(&self.file, &error)),
        }
    }

    fn write(&self, text: &str) -> Result<(), CliError> {
        if let Some(folder) = self.file.parent() {
            fs::create_dir_all(folder).map_err(|error| at(folder, &error))?;
        }
        replace::durable(&self.file, text.as_bytes()).map_err(|error| at(&self.file, &error))
    }

    /// This program, and the status line that the client would draw without our entry.
    fn around(&self) -> Result<Around, CliError> {
        let binary = std::env::current_exe().and_then(fs::canonicalize).map_err(CliError::new)?;
        let binary = binary.to_str().ok_or_else(|| CliError::new("the path of this program is not UTF-8"))?;
        let farther = [
            Some(self.project.join(".claude/settings.json")),
            self.env.place.host().map(|host| host.join("settings.json")),
        ];
        let line = farther
            .into_iter()
            .flatten()
            .find_map(|path| settings::foreign_status_line(&fs::read_to_string(path).ok()?, binary));
        Ok(Around { binary: binary.to_owned(), status_line: line })
    }

    fn would_be(&self, text: Option<&str>) {
        print::line(&format!("{} would be:", self.file.display()));
        print::line(text.unwrap_or("(removed)"));
    }

    fn refused(&self, why: &str) -> CliError {
        CliError::new(format!("{}: {why}", self.file.display()))
            .hint("mend the file, then run this again; nothing was changed")
    }
}

fn at(path: &Path, error: &io::Error) -> CliError {
    CliError::new(format!("{}: {error}", path.display()))
}
