//! Imports conversations from transcripts.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde::Serialize;
use serde_json::json;
use tidegate_core::time::Millis;
use tidegate_memory::import::{ImportReport, ImportedProject, Importer};
use tidegate_memory::memory;
use tidegate_state::feature::memory::transcript_files::TranscriptFile;

use super::super::{Opened, line};
use super::Args;
use crate::approval;
use crate::bilingual::{both, count_en};
use crate::command::Outcome;
use crate::error::CliError;
use crate::host::agent_homes::{self, AgentHomes};
use crate::local_time::LocalClock;
use crate::print;
use crate::print::page::Page;
use crate::print::progress::ProgressBar;
use crate::print::remark;
use crate::sessions::Here;

/// In `[approval] unattended`.
const NAME: &str = "memory import";

/// Pages of the search index that are merged after an import: 200 MB, some seconds.
const MERGED_PAGES: u32 = 50_000;

/// Projects in a list.
const SHOWN: usize = 10;

pub(super) fn run(args: &Args) -> Outcome {
    let here = Here::find()?;
    // An agent can leave the processes above it behind, so a terminal or the person's config has to speak for the person.
    if !args.dry_run
        && (approval::is_by_agent(&here.env) || !approval::is_at_terminal_or_allowed(&here, NAME))
    {
        return Err(refuse_agent());
    }
    let files = find_files(&here, &args.paths)?;
    let since = args.since.map(|when| when.since(here.now));
    let total = files.iter().filter(|file| since.is_none_or(|since| file.changed >= since));
    let mut bar = ProgressBar::of(total.map(|file| file.bytes).sum());
    let mut opened = if args.dry_run { Opened::look()? } else { Some(Opened::open()?) };
    let is_recorded = |root: &Path, is_attended: bool| here.is_recorded(root, is_attended);
    let done = Importer {
        memory: opened.as_mut().map(|opened| &mut opened.memory),
        state: &here.state,
        now: here.now,
        since,
        only_counts: args.dry_run,
        records: &is_recorded,
        notify: &mut |report| {
            let n = report.exchanges();
            bar.see(report.bytes, || both!("{n} exchanges", "やり取り{n}件"));
        },
    }
    .run(&files);
    bar.clear();
    let report = done.map_err(|error| {
        CliError::from(error).prefixed(&both!(
            "the import stopped; run it again to continue",
            "取り込みが途中で止まりました。もう一度実行すると続きから始めます"
        ))
    })?;
    // Everything that is left of older versions was read.
    if let Some(opened) =
        opened.as_mut().filter(|_| !args.dry_run && args.paths.is_empty() && since.is_none())
    {
        opened.memory.store().note_whole_texts()?;
        opened.memory.store().note_import(here.now)?;
    }
    if let Some(opened) = opened.as_mut().filter(|_| !args.dry_run && report.new > 0) {
        // It only makes searches faster, and the worker continues it.
        let _ = opened.memory.store().merge_index(MERGED_PAGES);
    }
    for (path, why) in &report.unreadable {
        let path = path.display();
        remark::warn(both!("cannot read {path}: {why}", "{path} を読めません: {why}"));
    }
    let team = count_shared(&here, &report);
    if args.json {
        print::json(&json_report(&report, team, args.dry_run));
    } else {
        report_page(&report, team, args.dry_run, &LocalClock::of_system(here.now)).print();
    }
    Ok(ExitCode::SUCCESS)
}

/// A transcript that an agent wrote itself would speak for the person.
fn refuse_agent() -> CliError {
    CliError::new(both!(
        "nothing was imported: a person runs this command at a terminal",
        "何も取り込んでいません。このコマンドは人が端末で実行します"
    ))
    .hint(both!(
        "run `tidegate memory import` at a terminal; `--dry-run` shows what is there; `unattended = [\"memory import\"]` under \
         `[approval]` in your own config allows it to a script",
        "端末で `tidegate memory import` を実行してください。`--dry-run` なら件数を見られます。スクリプトから使うには、自分の設定の `[approval]` に \
         `unattended = [\"memory import\"]` と書きます"
    ))
}

fn find_files(here: &Here, paths: &[PathBuf]) -> Result<Vec<TranscriptFile>, CliError> {
    let folders = AgentHomes::find(&here.env.place).chosen_folders(paths);
    if folders.is_empty() {
        return Err(CliError::new(both!(
            "there are no conversations of Claude Code, Codex, Copilot CLI or Qwen Code on this machine",
            "このマシンには Claude Code、Codex、Copilot CLI、Qwen Code の会話がありません"
        ))
        .hint(both!(
            "if they are elsewhere, name the folder: `tidegate memory import PATH`",
            "別の場所にあるなら、フォルダを指定してください: `tidegate memory import PATH`"
        )));
    }
    agent_homes::find_transcripts(&folders)
}

/// Exchanges of projects that a team gets.
fn count_shared(here: &Here, report: &ImportReport) -> usize {
    let (team, home) = (&here.config.memory.team, here.env.place.home.as_deref());
    let is_shared = |(key, project): &(&String, &ImportedProject)| {
        memory::is_shared(team, home, &project.name, Some(key.as_str()))
    };
    report.projects.iter().filter(is_shared).map(|(_, project)| project.exchanges).sum()
}

#[derive(Serialize)]
struct ProjectCounts<'a> {
    name: &'a str,
    root: &'a str,
    conversations: usize,
    exchanges: usize,
}

fn json_report(report: &ImportReport, team: usize, dry_run: bool) -> serde_json::Value {
    let projects: Vec<ProjectCounts<'_>> = by_size(report)
        .into_iter()
        .map(|project| ProjectCounts {
            name: &project.name,
            root: &project.root,
            conversations: project.conversations,
            exchanges: project.exchanges,
        })
        .collect();
    json!({
        "dry_run": dry_run,
        "files": report.files,
        "bytes": report.bytes,
        "conversations": report.conversations,
        "exchanges": report.exchanges(),
        "new": report.new,
        "changed": report.changed,
        "known": report.known,
        "forgotten": report.forgotten,
        "left_out": report.unwanted,
        "shared_with_team": team,
        "secrets_removed": report.secrets,
        "damaged_lines": report.damaged_lines,
        "unreadable_files": report.unreadable_files,
        "other_files": report.other_files,
        "from": report.from.map(Millis::iso),
        "to": report.to.map(Millis::iso),
        "projects": projects,
    })
}

/// Most exchanges first.
fn by_size(report: &ImportReport) -> Vec<&ImportedProject> {
    let mut projects: Vec<&ImportedProject> = report.projects.values().collect();
    projects
        .sort_by(|one, other| other.exchanges.cmp(&one.exchanges).then_with(|| one.name.cmp(&other.name)));
    projects
}

fn report_page(report: &ImportReport, team: usize, dry_run: bool, clock: &LocalClock) -> Page {
    let ImportReport { new, changed, known, forgotten, .. } = *report;
    let conversations = count_en(report.conversations, "conversation");
    let all = report.exchanges();
    let mut page = Page::new();
    let (from, to) = (report.from.unwrap_or_default(), report.to.unwrap_or_default());
    let (from, to) = (clock.day(from), clock.day(to));
    page.paragraph(if all == 0 {
        both!("There is no conversation to import.", "取り込める会話はありません。")
    } else if dry_run {
        both!(
            "Found {conversations} with {n}, from {from} to {to}.",
            "{from}から{to}までの会話が{count}件（やり取り{all}件）あります。",
            n = count_en(all, "exchange"),
            count = report.conversations
        )
    } else {
        both!(
            "Read {conversations} with {n}, from {from} to {to}.",
            "{from}から{to}までの会話{count}件（やり取り{all}件）を読みました。",
            n = count_en(all, "exchange"),
            count = report.conversations
        )
    });
    if all > 0 {
        page.item(if dry_run {
            both!(
                "New: {new}. Would change: {changed}. Already here: {known}.",
                "新しいもの{new}件、変わるもの{changed}件、保存済み{known}件です。"
            )
        } else {
            both!(
                "New: {new}. Changed: {changed}. Already here: {known}.",
                "新しいもの{new}件、変わったもの{changed}件、保存済み{known}件です。"
            )
        });
    }
    list_left_out(&mut page, report, dry_run);
    if team > 0 {
        page.item(both!(
            "{n} belong to projects that you share with your team, and go to its server.",
            "{team}件はチームと共有しているプロジェクトのもので、チームのサーバーにも送られます。",
            n = count_en(team, "exchange")
        ));
    }
    list_projects(&mut page, report);
    if dry_run && new + changed > 0 {
        page.paragraph(both!(
            "To import them, leave out `--dry-run`.",
            "取り込むには、`--dry-run` を付けずに実行してください。"
        ));
    } else if !dry_run && forgotten < all {
        page.paragraph(both!(
            "Try it: `tidegate memory search cache`",
            "試すには: `tidegate memory search 設計`"
        ));
    }
    page
}

fn list_left_out(page: &mut Page, report: &ImportReport, dry_run: bool) {
    let ImportReport { forgotten, unwanted, secrets, damaged_lines, other_files, unreadable_files, .. } =
        *report;
    if secrets > 0 && !dry_run {
        page.item(both!(
            "Removed {n}.",
            "秘密情報を{secrets}件取り除きました。",
            n = count_en(usize::try_from(secrets).unwrap_or(usize::MAX), "secret")
        ));
    }
    if forgotten > 0 {
        page.item(both!(
            "Left out because you deleted them: {forgotten}.",
            "以前に削除したため除いたもの: {forgotten}件。"
        ));
    }
    if unwanted > 0 {
        page.item(both!(
            "Left out because recording is or was off there, or no person was there: {unwanted}.",
            "記録がオフだったか、人がいなかったため除いたもの: {unwanted}件。"
        ));
    }
    if damaged_lines > 0 {
        page.item(both!(
            "Skipped {n}.",
            "壊れた行を{damaged_lines}行飛ばしました。",
            n = count_en(usize::try_from(damaged_lines).unwrap_or(usize::MAX), "damaged line")
        ));
    }
    if other_files > 0 {
        page.item(both!(
            "Skipped {n} without a conversation that Tidegate knows.",
            "Tidegate が読める会話でないファイルを{other_files}個飛ばしました。",
            n = count_en(other_files, "file")
        ));
    }
    if unreadable_files > 0 {
        page.item(both!(
            "Could not read {n}.",
            "読めないファイルが{unreadable_files}個ありました。",
            n = count_en(unreadable_files, "file")
        ));
    }
}

fn list_projects(page: &mut Page, report: &ImportReport) {
    let projects = by_size(report);
    if projects.is_empty() {
        return;
    }
    page.paragraph(both!("By project:", "プロジェクト別:"));
    for project in projects.iter().take(SHOWN) {
        let same = projects.iter().filter(|other| other.name == project.name && other.root != project.root);
        let name = line(&project.name, 40);
        let name = match shortest_path(&project.root, same.map(|other| other.root.as_str())) {
            Some(path) => format!("{name} ({})", line(&path, 80)),
            None => name,
        };
        let (conversations, exchanges) = (project.conversations, project.exchanges);
        page.item(both!(
            "{name}: {n} in {m}",
            "{name}: 会話{conversations}件、やり取り{exchanges}件",
            n = count_en(exchanges, "exchange"),
            m = count_en(conversations, "conversation")
        ));
    }
    let more = projects.len().saturating_sub(SHOWN);
    if more > 0 {
        page.item(both!("and {n}", "ほか{more}件", n = count_en(more, "more project")));
    }
}

/// The end of a path that none of the others has; `None` without others.
fn shortest_path<'a>(root: &str, others: impl Iterator<Item = &'a str>) -> Option<String> {
    let others: Vec<&str> = others.collect();
    if others.is_empty() {
        return None;
    }
    let parts: Vec<&str> = root.split('/').filter(|part| !part.is_empty()).collect();
    let mut ends = (1..parts.len()).rev().map(|from| parts[from..].join("/"));
    let is_alone =
        |end: &String| others.iter().all(|other| !format!("/{other}").ends_with(&format!("/{end}")));
    Some(ends.find(is_alone).unwrap_or_else(|| root.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::print::looks::assert_looks;

    fn report() -> ImportReport {
        let project = |name: &str, exchanges: usize| {
            let imported = ImportedProject {
                name: name.to_owned(),
                root: format!("/code/{name}"),
                conversations: exchanges / 5 + 1,
                exchanges,
            };
            (format!("/code/{name}/.git"), imported)
        };
        ImportReport {
            files: 214,
            bytes: 119_000_000,
            conversations: 208,
            new: 1650,
            changed: 40,
            known: 12,
            forgotten: 3,
            unwanted: 21,
            damaged_lines: 2,
            secrets: 17,
            other_files: 1,
            from: Some(Millis(1_780_000_000_000)),
            to: Some(Millis(1_794_743_488_759)),
            projects: (1..=12).map(|number| project(&format!("project-{number}"), number * 9)).collect(),
            ..ImportReport::default()
        }
    }

    #[test]
    fn projects_of_one_name_are_told_apart() {
        let end = |others: &[&str]| shortest_path("/home/ann/code/shop/app", others.iter().copied());
        assert_eq!(end(&[]), None);
        assert_eq!(end(&["/home/ann/code/quay/app"]).as_deref(), Some("shop/app"));
        assert_eq!(end(&["/home/ann/old/shop/app", "/srv/app"]).as_deref(), Some("code/shop/app"));
        assert_eq!(end(&["/x/home/ann/code/shop/app"]).as_deref(), Some("/home/ann/code/shop/app"));
    }

    #[test]
    fn an_import_of_conversations_looks_well() {
        let clock = LocalClock::utc(Millis(1_794_743_488_759));
        assert_looks("imported-conversations", &report_page(&report(), 40, false, &clock));
        assert_looks("imported-conversations-dry", &report_page(&report(), 0, true, &clock));
        assert_looks("imported-nothing", &report_page(&ImportReport::default(), 0, false, &clock));
    }
}
