//! `tidegate uninstall`.

use std::path::PathBuf;
use std::process::ExitCode;

use serde_json::json;

use tidegate_core::host::Host;

use super::Outcome;
use crate::bilingual::{Bilingual, both};
use crate::host::claude_code::settings_file::read_text;
use crate::host::registered::{HOSTS, HostHooks};
use crate::install::arguments::{InstallReport, InstallTarget};
use crate::install::purge;
use crate::install::remains::Remains;
use crate::install::summary::{self, tilde};
use crate::install::target::Target;
use crate::install::{Executed, carry_out, consent, open_records, plan};
use crate::print::page::Page;
use crate::print::text::data;

/// A folder that a person chose may hold thousands of files.
const MOST_NAMED: usize = 10;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate uninstall
  tidegate uninstall --dry-run
  tidegate uninstall --project ~/code/app
  tidegate uninstall --shared                  your team's files, too
  tidegate uninstall --user
  tidegate uninstall --purge                   and delete what was recorded

Removes exactly what `init` added. Keeps your later changes; a file that you did not
change is as it was before. Recorded conversations, the journal, your settings and
your notes stay, and the last lines say where. --purge deletes all of that but the
notes, for every project, after asking you at a terminal.")]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) target: InstallTarget,
    #[command(flatten)]
    pub(crate) report: InstallReport,
    /// Also delete recorded conversations, journal and settings; asks first
    #[arg(long)]
    pub(crate) purge: bool,
}

pub(crate) fn run(args: &Args) -> Outcome {
    let target = Target::find(&args.target)?;
    if args.purge && !args.report.only_shows() {
        purge::check_alone(&target, &open_records(&target)?)?;
        consent::to_purge(&target, &Remains::look(&target).describe_loss(&target))?;
    } else if let Some(code) = consent::to_uninstall(&target, &args.target, &args.report)? {
        return Ok(code);
    }
    let executed = carry_out(&target, &args.report, |records| plan::plan_uninstall(&target, records))?;
    let remains = Remains::look(&target);
    let mut left = None;
    if args.purge && !args.report.only_shows() {
        purge::check_gone(&target, &executed.plan)?;
        left = Some(purge::delete(&remains)?);
    }
    if args.report.json {
        let shows = args.report.only_shows();
        let others = |left: &Vec<PathBuf>| {
            let others = left.iter().map(|path| json!({ "what": "other", "path": path }));
            others.chain(remains.worktree_json()).collect::<Vec<_>>()
        };
        let kept = left.as_ref().map_or_else(|| remains.json(), |left| json!(others(left)));
        let more = json!({ "kept": kept, "purged": left.is_some() });
        summary::print_json(&executed.plan.steps, shows, executed.backup.as_deref(), &[], more);
    } else {
        page_of(args, &target, &executed, &remains, left.as_deref()).print();
    }
    Ok(ExitCode::SUCCESS)
}

/// With the hosts that have an install there, if the person named another.
fn not_installed(page: &mut Page, target: &Target, en: &str, ja: &str) {
    let Some(host) = target.host else {
        page.paragraph(both!(
            "Tidegate is not installed in {en}.",
            "Tidegate は {ja} にインストールされていません。"
        ));
        return;
    };
    page.paragraph(both!(
        "Tidegate is not installed for {host} in {en}.",
        "{host} 用の Tidegate は {ja} にインストールされていません。",
        host = Host::title(host.name())
    ));
    let place = if target.is_user { "--user " } else { "" };
    let calls = |hooks: &&&HostHooks| {
        let text = target.hooks_of(hooks).and_then(|place| read_text(&place.file));
        text.is_some_and(|text| hooks.has_ours(&text, &target.call))
    };
    for hooks in HOSTS.iter().filter(calls) {
        let command = format!("tidegate uninstall {place}--host {}", hooks.host.name());
        page.paragraph(both!(
            "It is installed for {other} there: `{command}` removes that.",
            "{other} 用にはインストールされています。外すには `{command}`",
            other = hooks.title()
        ));
    }
}

/// `left`: what a deletion of everything recorded left.
fn page_of(
    args: &Args,
    target: &Target,
    executed: &Executed,
    remains: &Remains,
    left: Option<&[PathBuf]>,
) -> Page {
    let steps = &executed.plan.steps;
    if args.report.diff {
        return summary::diff_page(steps, target);
    }
    let mut page = Page::new();
    let place = if target.is_user {
        both!("your own settings", "自分用の設定")
    } else {
        Bilingual::data(tilde(&target.root, target.env.place.home.as_deref()))
    };
    let Bilingual { en, ja } = place;
    match summary::list_changes(steps, target) {
        changes if changes.is_empty() => not_installed(&mut page, target, &en, &ja),
        changes if args.report.dry_run => {
            page.paragraph(both!(
                "`tidegate uninstall` would change this in {en}:",
                "`tidegate uninstall` は {ja} に次の変更をします:"
            ));
            for change in changes {
                page.item(change);
            }
            page.paragraph(both!(
                "The full text: `tidegate uninstall --diff`.",
                "全文: `tidegate uninstall --diff`。"
            ));
        }
        _ => {
            page.paragraph(both!(
                "Removed Tidegate from {en}. Files that you did not change are as they were before.",
                "{ja} から Tidegate を外しました。変更していないファイルは元のとおりです。"
            ));
            if target.shared {
                page.paragraph(both!(
                    "Commit the changes for your team.",
                    "チームのために変更をコミットしてください。"
                ));
            }
        }
    }
    summary::list_notable(&mut page, steps, target);
    let Some(left) = left else {
        remains.list(&mut page, target);
        return page;
    };
    page.paragraph(both!(
        "Deleted everything that Tidegate recorded on this machine.",
        "このマシンに記録した内容をすべて削除しました。"
    ));
    if !left.is_empty() {
        page.paragraph(both!(
            "These are not Tidegate's, so they stay:",
            "次のものは Tidegate のファイルではないため、残しました:"
        ));
        for path in left.iter().take(MOST_NAMED) {
            page.item(data(tilde(path, target.env.place.home.as_deref())));
        }
        if let Some(more @ 1..) = left.len().checked_sub(MOST_NAMED) {
            page.item(both!("and {more} more", "ほか{more}件"));
        }
    }
    remains.list_notes(&mut page, target);
    remains.list_other_notes(&mut page, target);
    page
}
