//! Puts Tidegate's hooks, status line and files into a project or a person's settings, and takes them out
//! again.
//!
//! Everything is read, decided and, if necessary, refused before anything changes ([`plan`]). Then the
//! originals are kept, then files are written, one at a time and each of them whole, under a lock: two runs
//! at once act as one, and a kill leaves each file old or new. Each kind of file is a function from text to
//! text: settings (`host/claude_code/settings_text.rs`), [`ignore_block`], the user's config ([`preset`]).
//!
//! Settings are edited as text (`json_text.rs`), not parsed and printed: removing is the exact inverse of
//! adding, so `uninstall` restores a file to the byte even if it was changed in between. The record
//! ([`record`]) helps only where the text cannot tell: whether an empty `hooks` was there before, how a
//! string was spelt. It also knows since when a file has Tidegate's entries, because the host rewrites its
//! settings and changes their times.
//!
//! Settings call a [`link`], not the program: an upgrade moves the link, and no path in a settings file goes
//! stale. The link stays if a record names a file that is gone, or if there is no record: other settings may
//! call it.

// Files that are not the host's, as text.
mod ignore_block;
mod preset;
// The plan, its questions, and its execution.
pub(crate) mod arguments;
mod link;
pub(crate) mod links_out;
pub(crate) mod leads;
pub(crate) mod consent;
pub(crate) mod place;
pub(crate) mod tracked;
pub(crate) mod git_view;
pub(crate) mod target;
pub(crate) mod record;
pub(crate) mod warnings;
pub(crate) mod plan;
pub(crate) mod step;
pub(crate) mod summary;
pub(crate) mod remains;
pub(crate) mod purge;

use std::fs;
use std::path::PathBuf;

use crate::bilingual::both;
use crate::error::CliError;
use arguments::InstallReport;
use plan::Plan;
use record::Records;
use step::Act;
use target::Target;

pub(crate) fn open_records(target: &Target) -> Result<Records, CliError> {
    Records::look(&target.env).map_err(|why| originals_not_kept(&why))
}

fn originals_not_kept(why: &str) -> CliError {
    CliError::new(both!(
        "cannot keep a copy of your files: {why}",
        "元のファイルの控えを保存できません: {why}"
    ))
    .hint(both!("nothing was changed", "何も変更していません"))
}

/// Also one of another project: it says which of the shared files are still in use.
fn refuse_unreadable(records: &Records) -> Result<(), CliError> {
    let Some(file) = records.find_unreadable() else { return Ok(()) };
    let file = file.display();
    let what = both!(
        "{file} cannot be read: it is damaged, or a newer Tidegate wrote it",
        "{file} を読めません。壊れているか、新しい Tidegate が書いたものです"
    );
    Err(CliError::new(what).hint(both!(
        "nothing was changed; use the newer Tidegate, or move that file away: without it `uninstall` cannot restore files \
         to the byte",
        "何も変更していません。新しい Tidegate を使うか、そのファイルを移動してください。\
         移動すると、`uninstall` は元のファイルを完全には復元できません"
    )))
}

/// A plan, and what became of it.
pub(crate) struct Executed {
    pub(crate) plan: Plan,
    /// Something was changed.
    pub(crate) is_changed: bool,
    /// Folder of the originals.
    pub(crate) backup: Option<PathBuf>,
}

/// Plans, and executes the plan unless it is only to be shown.
pub(crate) fn carry_out(
    target: &Target,
    args: &InstallReport,
    plan: impl Fn(&Records) -> Result<Plan, CliError>,
) -> Result<Executed, CliError> {
    let records = open_records(target)?;
    refuse_unreadable(&records)?;
    let planned = plan(&records)?;
    let is_settled = |plan: &Plan, records: &Records| {
        plan.record == records.load(&target.root) && !plan.steps.iter().any(step::Step::changes)
    };
    let leftovers = |plan: &Plan, records: &Records| {
        let mut left: Vec<PathBuf> = plan.steps.iter().flat_map(step::Step::leftovers).collect();
        left.extend(step::find_leftovers(&records.folder_of(&target.root), None));
        left
    };
    let is_clean = leftovers(&planned, &records).is_empty();
    if args.only_shows() || (is_clean && is_settled(&planned, &records)) {
        return Ok(Executed { plan: planned, is_changed: false, backup: None });
    }
    // Again, now under the lock.
    let (records, _lock) = Records::lock(&target.env).map_err(|why| originals_not_kept(&why))?;
    refuse_unreadable(&records)?;
    let planned = plan(&records)?;
    // First the record: changed files without a way back would be worse than no change. Restored files leave the record
    // last.
    let before = records.load(&target.root);
    let mut kept = before.clone();
    for entry in &planned.record.files {
        kept.forget(&entry.file);
        kept.files.push(entry.clone());
    }
    kept.folders.clone_from(&planned.record.folders);
    kept.theirs.clone_from(&planned.record.theirs);
    kept.parts.clone_from(&planned.record.parts);
    let folder = records.folder_of(&target.root);
    // Under the lock, no other process writes here.
    for left in leftovers(&planned, &records) {
        let _ = fs::remove_file(left);
    }
    if kept != before {
        records.save(&kept).map_err(|error| originals_not_kept(&error.to_string()))?;
    }
    // Files that no record names: copies of the plugin, settings of other agents. And those that go although they were changed.
    for (number, step) in planned.steps.iter().enumerate() {
        if let Act::Text { old: Some(old), new } = &step.act
            && (kept.of(&step.place.file).is_none()
                || new.is_none() && kept.untouched(&step.place.file, Some(old)).is_none())
        {
            let keeping = records.keep_replaced(target.now, number, &step.place.file, old);
            keeping.map_err(|error| originals_not_kept(&error.to_string()))?;
        }
    }
    let backup = records.has_backup(&planned.record).then(|| folder.clone());
    step::run(&planned.steps)?;
    if planned.record.files.len() < kept.files.len() {
        records.save(&planned.record).map_err(|error| {
            CliError::new(format!("{}: {error}", folder.display())).hint(both!(
                "everything else was done; run this again",
                "ほかはすべて完了しました。もう一度実行してください"
            ))
        })?;
    }
    for folder in &planned.folders {
        let _ = fs::remove_dir(folder);
    }
    let is_changed = planned.steps.iter().any(step::Step::changes);
    Ok(Executed { plan: planned, is_changed, backup })
}
