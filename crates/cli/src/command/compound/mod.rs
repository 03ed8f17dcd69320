//! `tidegate compound`: from finished work to learnings. Lists entries, writes learnings that a person agreed to, and
//! records the entries that were reviewed.

mod plan;
mod promote;

use std::path::PathBuf;
use std::process::ExitCode;

use serde::Serialize;
use tidegate_core::feature::knowledge::entry_id::EntryId;
use tidegate_core::feature::knowledge::similarity::{DUPLICATE, containment, content_words, similarity};
use tidegate_core::feature::knowledge::stock::Stock;
use tidegate_core::feature::marks::SessionMark;
use tidegate_core::pipeline::record::Deeds;
use tidegate_state::feature::knowledge::folder::ContextFolder;
use tidegate_state::feature::knowledge::listed;
use tidegate_state::feature::knowledge::listed::Listed;
use tidegate_state::feature::knowledge::promotions;
use tidegate_state::feature::knowledge::public_copies;
use tidegate_state::feature::knowledge::public_copies::LastRun;
use tidegate_state::feature::pressure as pressure_file;
use tidegate_state::session::marks;

use super::Outcome;
use crate::approval::{self, consent_to_tighten};
use crate::args::ProjectArgs;
use crate::bilingual::{Bilingual, both, count_en};
use crate::error::CliError;
use crate::knowledge::{Entry, Knowledge, Project, shorten_id, warn_left_out};
use crate::local_time::LocalClock;
use crate::print;
use crate::print::page::Page;
use crate::print::text::{Text, prose};

#[derive(Debug, clap::Subcommand)]
pub(crate) enum CompoundCommand {
    /// List notes that are not reviewed yet, with learnings like them
    #[command(after_help = "\
Examples:
  tidegate compound list
  tidegate compound list --json | jq -r '.entries[] | .id + \" \" + .what'

Tidegate remembers this list: `tidegate compound done` marks exactly these notes as
reviewed. A long list comes in parts; `not_listed` counts the notes of later parts.")]
    List(CompoundList),
    /// Save learnings, once a person agrees
    Promote(Box<promote::Args>),
    /// Mark the listed notes as reviewed
    #[command(after_help = "\
Examples:
  tidegate compound done
  tidegate compound done --promoted 2

Saves no learning, and leaves notes that were not listed. Refused to an agent in a
session without a person.")]
    Done(CompoundDone),
}

#[derive(Debug, clap::Args)]
pub(crate) struct CompoundList {
    #[command(flatten)]
    pub(crate) of: ProjectArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct CompoundDone {
    /// Number of learnings saved; without it, those since the list
    #[arg(long, value_name = "N")]
    pub(crate) promoted: Option<u64>,
    #[command(flatten)]
    pub(crate) of: ProjectArgs,
}

/// An older list may be from another conversation.
const LISTED_MS: u64 = 12 * 3_600_000;

/// Characters of a list: the host cuts the output of its shell at 30,000.
const LIST_BUDGET: usize = 24_000;

/// Characters of one entry in a list.
const BODY_BUDGET: usize = 1200;

/// Similar learnings named per entry.
const MOST_SIMILAR: usize = 3;

/// Shared words before a short text counts as part of a long one.
const FEWEST_SHARED: usize = 4;

pub(crate) fn run(command: &CompoundCommand) -> Outcome {
    match command {
        CompoundCommand::List(args) => list_entries(args),
        CompoundCommand::Promote(args) => promote::run(args),
        CompoundCommand::Done(args) => mark_reviewed(args),
    }
}

#[derive(Serialize)]
struct EntryList {
    project: PathBuf,
    entries: Vec<Listing>,
    /// Entries for which there was no room; `done` does not cover them.
    not_listed: usize,
}

#[derive(Serialize)]
struct Listing {
    #[serde(flatten)]
    entry: Entry,
    /// The text is cut.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    cut: bool,
    /// Learnings that may say the same, the most similar first.
    similar: Vec<Similar>,
}

#[derive(Clone, Serialize)]
struct Similar {
    id: EntryId,
    title: String,
    file: String,
    line: usize,
    confirmed: u32,
    /// From 0 to 1.
    similarity: f64,
}

fn list_entries(args: &CompoundList) -> Outcome {
    let project = Project::find(&args.of)?;
    let knowledge = project.read()?;
    for (_, why) in &knowledge.broken {
        warn_left_out(why);
    }
    let mut entries = build_listings(&knowledge);
    let shown = count_fitting(&entries, args.of.json);
    let not_listed = entries.split_off(shown).len();
    let before = listed::read(&project.private(), &project.real());
    let ids = entries.iter().map(|listing| listing.entry.id).collect();
    // A second list in between does not undo promotions.
    let recent = before.filter(|before| project.here.now.since(before.at) < LISTED_MS);
    let listed = Listed {
        project: project.real().to_string_lossy().into_owned(),
        at: project.here.now,
        ids,
        promoted: recent.map_or(0, |before| before.promoted),
    };
    listed::write(&project.private(), &listed).map_err(|error| {
        CliError::new(both!("the list cannot be remembered: {error}", "一覧を保存できません: {error}"))
    })?;
    if args.of.json {
        print::json(&EntryList { project: project.root, entries, not_listed });
        return Ok(ExitCode::SUCCESS);
    }
    list_page(&project, &entries, not_listed).print();
    Ok(ExitCode::SUCCESS)
}

fn list_page(project: &Project, entries: &[Listing], not_listed: usize) -> Page {
    let mut page = Page::new();
    let folder = project.folder();
    let folder = folder.display();
    if entries.is_empty() {
        page.paragraph(both!("All notes in {folder} are reviewed.", "{folder} のメモはすべて整理済みです。"));
        return page;
    }
    let all = entries.len() + not_listed;
    let (all_en, are) = (count_en(all, "note"), if all == 1 { "is" } else { "are" });
    page.heading(both!("{all_en} in {folder} {are} not reviewed yet", "{folder} の未整理のメモ: {all}件"));
    let clock = LocalClock::of_system(project.here.now);
    for listing in entries {
        page.gap();
        listing.add_to(&mut page, &clock);
    }
    if not_listed > 0 {
        page.gap();
        let (more_en, are) = (count_en(not_listed, "note"), if not_listed == 1 { "is" } else { "are" });
        page.paragraph(both!(
            "{more_en} {are} not listed here. Run `tidegate compound done`, then `tidegate compound list` again.",
            "ここに出ていないメモが{not_listed}件あります。`tidegate compound done` のあと、もう一度 `tidegate compound list` を \
             実行してください。"
        ));
    }
    page
}

/// At least one, even if it does not fit.
fn count_fitting(entries: &[Listing], json: bool) -> usize {
    let mut length = 0;
    let fits = entries.iter().take_while(|listing| {
        length += if json {
            serde_json::to_string(listing).unwrap_or_default().chars().count()
        } else {
            listing.length()
        };
        length <= LIST_BUDGET
    });
    fits.count().max(1).min(entries.len())
}

impl Listing {
    /// About as long as it will be.
    fn length(&self) -> usize {
        let similar = self.similar.iter().map(|similar| similar.title.chars().count() + 60);
        self.entry.what.chars().count() + self.entry.body.chars().count() + similar.sum::<usize>() + 60
    }

    fn add_to(&self, page: &mut Page, clock: &LocalClock) {
        let entry = &self.entry;
        page.paragraph(entry.line(clock));
        page.indented(|page| {
            for line in entry.body.lines().filter(|line| !line.trim().is_empty()) {
                page.paragraph(prose(line.trim_end()));
            }
            if self.cut {
                let id = shorten_id(entry.id);
                page.paragraph(both!(
                    "… all of it: `tidegate progress show {id}`",
                    "… 全文: `tidegate progress show {id}`"
                ));
            }
            for similar in &self.similar {
                let Similar { title, file, confirmed, .. } = similar;
                let (id, Bilingual { en, ja }) = (shorten_id(similar.id), describe_confirmations(*confirmed));
                page.labelled(
                    Text::from(both!("similar", "類似")).warning(),
                    both!("{id} \"{title}\" in {file}, {en}", "{id}「{title}」（{file}、{ja}）"),
                );
            }
        });
    }
}

/// In words.
pub(super) fn describe_confirmations(times: u32) -> Bilingual {
    match times {
        0 => both!("not confirmed yet", "未確認"),
        1 => both!("confirmed once", "1回確認"),
        times => both!("confirmed {times} times", "{times}回確認"),
    }
}

fn build_listings(knowledge: &Knowledge) -> Vec<Listing> {
    let mut stock = Vec::new();
    for file in &knowledge.stock {
        for learning in Stock::parse(&file.text).entries {
            let said = format!("{} {}", learning.title, learning.learning.unwrap_or_default());
            let similar = Similar {
                id: learning.id,
                title: learning.title.to_owned(),
                file: file.shown(),
                line: learning.line,
                confirmed: learning.count(),
                similarity: 0.0,
            };
            stock.push((content_words(&said), similar));
        }
    }
    let mut entries = knowledge.entries();
    entries.retain(|entry| entry.unpromoted);
    let listing = |mut entry: Entry| {
        let words = content_words(&format!("{} {}", entry.what, entry.body));
        let mut similar: Vec<Similar> = Vec::new();
        for (of_learning, learning) in &stock {
            // An entry is a story, and a learning one sentence of it: a shorter text that is part of the longer one
            // counts, too.
            let (less, more) =
                if words.len() < of_learning.len() { (&words, of_learning) } else { (of_learning, &words) };
            let shared = less.intersection(more).count();
            let part = if shared < FEWEST_SHARED { 0.0 } else { containment(less, more) };
            let score = similarity(&words, of_learning).max(part);
            if score >= DUPLICATE {
                similar.push(Similar { similarity: (score * 100.0).round() / 100.0, ..learning.clone() });
            }
        }
        similar.sort_by(|a, b| b.similarity.total_cmp(&a.similarity));
        similar.truncate(MOST_SIMILAR);
        let end = entry.body.char_indices().nth(BODY_BUDGET).map(|(at, _)| at);
        if let Some(end) = end {
            entry.body.truncate(end);
        }
        Listing { entry, cut: end.is_some(), similar }
    };
    entries.into_iter().map(listing).collect()
}

#[derive(Serialize)]
struct ReviewReport {
    project: PathBuf,
    /// Entries that count as reviewed from now on.
    entries: Vec<EntryId>,
    promoted: u64,
    /// Entries that were not listed, and stay.
    unpromoted: usize,
}

fn mark_reviewed(args: &CompoundDone) -> Outcome {
    let project = Project::find(&args.of)?;
    approval::somebody_there(&project.here, promote::NAME, "compound done")?;
    let now = project.here.now;
    let knowledge = project.read()?;
    let listed =
        listed::read(&project.private(), &project.real()).filter(|listed| now.since(listed.at) < LISTED_MS);
    let unpromoted: Vec<Entry> = knowledge.entries().into_iter().filter(|entry| entry.unpromoted).collect();
    let listed = match listed {
        Some(listed) => listed,
        // A person knows the entries they have seen; an agent has to list them first.
        None if !approval::is_by_agent(&project.here.env) => {
            let ids = unpromoted.iter().map(|entry| entry.id).collect();
            Listed { ids, ..Listed::default() }
        }
        None => {
            return Err(CliError::new(both!(
                "no notes were listed here in the last hours, so none were reviewed",
                "この数時間、メモの一覧は表示されていません"
            ))
            .hint(both!(
                "run `tidegate compound list`, review the notes with the person, then run `tidegate compound done`",
                "`tidegate compound list` を実行し、人と一緒に整理してから `tidegate compound done` を実行してください"
            )));
        }
    };
    let (seen, left): (Vec<Entry>, Vec<Entry>) =
        unpromoted.into_iter().partition(|entry| listed.ids.contains(&entry.id));
    // From now on ids decide: entries that counted by their time need one, too.
    let mut ids = knowledge.promoted_by_time();
    ids.extend(seen.iter().map(|entry| entry.id));
    promotions::remember_shown(&project.here.state, &project.root, &ids, now).map_err(|error| {
        CliError::new(both!("the review cannot be saved: {error}", "整理の結果を保存できません: {error}"))
    })?;
    let promoted = args.promoted.unwrap_or(listed.promoted);
    project.public_copies(promoted);
    project.rearm()?;
    let _ = listed::write(
        &project.private(),
        &Listed { project: project.real().to_string_lossy().into_owned(), at: now, ..Listed::default() },
    );
    let given = consent_to_tighten(&project.here, "what was listed was gone through");
    approval::record_command(
        &project.here,
        "compound done",
        &given,
        Deeds { compound: true, ..Deeds::default() },
    );
    if args.of.json {
        let entries = seen.iter().map(|entry| entry.id).collect();
        print::json(&ReviewReport { project: project.root, entries, promoted, unpromoted: left.len() });
        return Ok(ExitCode::SUCCESS);
    }
    reviewed_page(&seen, &left, promoted, &LocalClock::of_system(now)).print();
    Ok(ExitCode::SUCCESS)
}

fn reviewed_page(seen: &[Entry], left: &[Entry], promoted: u64, clock: &LocalClock) -> Page {
    let mut page = Page::new();
    let (notes, number) = (count_en(seen.len(), "note"), seen.len());
    let saved = count_en(usize::try_from(promoted).unwrap_or(usize::MAX), "learning");
    page.paragraph(both!(
        "Marked {notes} as reviewed; {saved} saved.",
        "メモ{number}件を整理済みにしました（保存した学び{promoted}件）。"
    ));
    for entry in seen {
        page.item(entry.line(clock));
    }
    if !left.is_empty() {
        let (notes, number) = (count_en(left.len(), "note"), left.len());
        page.paragraph(both!(
            "Still not reviewed, because they were not listed: {notes}",
            "一覧に出ていなかったため、まだ未整理のメモ: {number}件"
        ));
    }
    for entry in left {
        page.item(entry.line(clock));
    }
    page
}

impl Project {
    /// For other tools; they can be made again.
    fn public_copies(&self, promoted: u64) {
        let run = LastRun { at: self.here.now, promoted };
        let written = ContextFolder::find(&self.root)
            .map_or(Ok(()), |folder| public_copies::write_last_run(&folder, run));
        let written = written.and_then(|()| pressure_file::reset_level(&self.root));
        if let Err(error) = written {
            let folder = self.folder();
            let folder = folder.display();
            let mut page = Page::new();
            page.labelled(
                Text::from(both!("warning", "警告")).warning(),
                both!(
                    "a copy for other tools in {folder} was not written: {error}",
                    "{folder} のほかのツール向けのコピーを書けませんでした: {error}"
                ),
            );
            page.print_to_stderr();
        }
    }

    /// The level was raised because nothing was promoted.
    fn rearm(&self) -> Result<(), CliError> {
        let Some(session) = self.session.as_ref().filter(|_| self.is_seen()) else { return Ok(()) };
        marks::lock_shared(&self.here.state.session(session))
            .and_then(|lock| lock.append(&[SessionMark::Promoted(self.here.now).into()]))
            .map_err(|error| {
                CliError::new(both!(
                    "the session's marks cannot be written: {error}",
                    "セッションの記録に書き込めません: {error}"
                ))
            })
    }
}
