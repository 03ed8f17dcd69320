//! `tidegate memory check`.

use std::process::ExitCode;

use serde::Serialize;
use tidegate_memory::memory::Healed;

use super::{Opened, line};
use crate::command::Outcome;
use crate::print;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate memory check
  tidegate memory check --mend

Tidegate repairs damage by itself when it meets it: it sets the file aside and
rebuilds the store from the newest copy and everything that is still readable.
--mend does the same for damage that only this check finds.

Exit codes: 0 sound, 1 damaged.")]
pub(crate) struct Args {
    /// Repair the damage that this check finds
    #[arg(long)]
    pub(crate) mend: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Serialize)]
struct Checked {
    store: String,
    sound: bool,
    wrong: Vec<String>,
    /// Rebuilt now, or when the store was opened.
    rebuilt: Option<Healed>,
}

pub(super) fn run(args: &Args) -> Outcome {
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
