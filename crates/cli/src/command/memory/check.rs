//! `tidegate memory check` and `tidegate memory backup`.

use std::process::ExitCode;

use serde::Serialize;
use tidegate_memory::memory::Healed;

use super::arguments::{Backup, Check};
use super::{Opened, line};
use crate::command::Outcome;
use crate::error::CliError;
use crate::print;

#[derive(Serialize)]
struct Checked {
    store: String,
    sound: bool,
    wrong: Vec<String>,
    /// What was rebuilt, now or when the store was opened.
    rebuilt: Option<Healed>,
}

pub(super) fn check(args: &Check) -> Outcome {
    let Some(mut opened) = Opened::look()? else {
        if args.json {
            print::json(&serde_json::json!({ "store": null, "sound": true, "wrong": [], "rebuilt": null }));
        } else {
            print::line("nothing has been recorded yet");
        }
        return Ok(ExitCode::SUCCESS);
    };
    let mut wrong = opened.memory.check()?;
    let mended = args.mend && !wrong.is_empty();
    if mended {
        opened.memory.repair(&wrong.join("; "))?;
        opened.said.clone_from(&opened.memory.healed);
        wrong = opened.memory.check()?;
    }
    let store = opened.memory.home().file().display().to_string();
    let rebuilt = opened.memory.healed.clone();
    let sound = wrong.is_empty();
    let code = if sound { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    if args.json {
        print::json(&Checked { store, sound, wrong, rebuilt });
        return Ok(code);
    }
    match rebuilt.filter(|_| args.mend) {
        Some(healed) => {
            print::line(&healed.line());
        }
        None if mended && sound => {
            print::line("the index was made anew from the texts");
        }
        None => {}
    }
    if sound {
        print::line(&format!("{store} is sound"));
    } else {
        print::line(&format!("{store} is damaged:"));
        for one in &wrong {
            print::line(&format!("  {}", line(one, 300)));
        }
        if args.mend {
            print::to_stderr(
                "hint: a copy in `backups`, beside the store, may be sound; put it in the store's place",
            );
        } else {
            print::to_stderr(
                "hint: `tidegate memory check --mend` mends it, or sets it aside and rebuilds it",
            );
        }
    }
    Ok(code)
}

pub(super) fn backup(args: &Backup) -> Outcome {
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
