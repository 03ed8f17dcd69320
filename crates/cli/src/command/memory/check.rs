//! `tidegate memory check`.

use std::process::ExitCode;

use serde::Serialize;
use tidegate_memory::memory::Healed;

use super::{Opened, describe_healed, line};
use crate::bilingual::both;
use crate::command::Outcome;
use crate::print;
use crate::print::page::Page;
use crate::print::remark;
use crate::print::text::data;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate memory check
  tidegate memory check --repair

Tidegate repairs damage by itself when it meets it: it sets the file aside and
rebuilds the store from the newest copy and everything that is still readable.
--repair does the same for damage that only this check finds.

Exit codes: 0 sound, 1 damaged.")]
pub(crate) struct Args {
    /// Repair the damage that this check finds
    #[arg(long, alias = "mend")]
    pub(crate) repair: bool,
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
            Page::of(both!("Tidegate has not recorded anything yet.", "まだ何も記録されていません。"))
                .print();
        }
        return Ok(ExitCode::SUCCESS);
    };
    let mut wrong = opened.memory.check()?;
    let repaired = args.repair && !wrong.is_empty();
    if repaired {
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
    let mut page = Page::new();
    match rebuilt.filter(|_| args.repair) {
        Some(healed) => page.paragraph(describe_healed(&healed)),
        None if repaired && sound => page
            .paragraph(both!("Tidegate rebuilt the index from the texts.", "本文から索引を作り直しました。")),
        None => {}
    }
    if sound {
        page.paragraph(both!("{store} is sound.", "{store} は正常です。"));
        page.print();
        return Ok(code);
    }
    page.paragraph(both!("{store} is damaged:", "{store} が壊れています:"));
    for one in &wrong {
        page.item(data(line(one, 300)));
    }
    page.print();
    remark::hint(if args.repair {
        both!(
            "a copy in `backups`, next to the store, may be sound; put it in place of the store",
            "保存先の隣の `backups` にあるコピーが正常なら、置き換えてください"
        )
    } else {
        both!(
            "`tidegate memory check --repair` repairs it, or sets it aside and rebuilds it",
            "`tidegate memory check --repair` で修復します。できないときは、よけて作り直します"
        )
    });
    Ok(code)
}
