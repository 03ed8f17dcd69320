//! `tidegate learnings`: lists learnings with their confirmations, and faults in their files.

use std::path::PathBuf;
use std::process::ExitCode;

use serde::Serialize;
use tidegate_core::feature::knowledge::entry_id::EntryId;
use tidegate_core::feature::knowledge::similarity::{DUPLICATE, content_words, similarity};
use tidegate_core::feature::knowledge::stock::{Confidence, Stock};

use super::Outcome;
use super::compound::describe_confirmations;
use crate::args::ProjectArgs;
use crate::bilingual::{Bilingual, both, count_en};
use crate::knowledge::{Knowledge, Project, shorten_id};
use crate::print;
use crate::print::page::Page;
use crate::print::text::{Text, data, prose};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate learnings                      all learnings, with confirmations
  tidegate learnings check                malformed ones, with file and line
  tidegate learnings --json | jq '.files[] | {file, total, unverified}'

Reads `.claude/context/learnings*.md` and the file that `[knowledge] global` in
your own config names. A learning is a `## title` with `- **Learning**:`,
`- **Context**:`, `- **Implication**:` and
`- **Confirmed**: 4 times | 2026-02-18 | implement, design`.

Exit codes: 0 fine, 1 `check` found a malformed learning.")]
pub(crate) struct Args {
    /// List the learnings, or check their files
    #[arg(value_enum, default_value_t = LearningsDo::List)]
    pub(crate) r#do: LearningsDo,
    #[command(flatten)]
    pub(crate) of: ProjectArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum LearningsDo {
    /// Show all learnings
    List,
    /// Show only malformed and duplicate ones
    Check,
}

/// Pairs of more learnings than this are not compared: it would take minutes.
const MOST_COMPARED: usize = 2000;

#[derive(Serialize)]
struct LearningsReport {
    project: PathBuf,
    files: Vec<File>,
    /// Pairs that may say the same.
    duplicates: Vec<Pair>,
    malformed: Vec<Malformed>,
}

#[derive(Serialize)]
struct File {
    file: String,
    path: PathBuf,
    total: usize,
    /// Confirmations per learning.
    average: f64,
    unverified: usize,
    learnings: Vec<ListedLearning>,
}

#[derive(Clone, Serialize)]
struct ListedLearning {
    id: EntryId,
    title: String,
    line: usize,
    confirmed: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    date: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    phases: Vec<String>,
}

#[derive(Serialize)]
struct Pair {
    /// From 0 to 1.
    similarity: f64,
    first: Spot,
    second: Spot,
}

#[derive(Clone, Serialize)]
struct Spot {
    id: EntryId,
    title: String,
    file: String,
    line: usize,
}

#[derive(Serialize)]
struct Malformed {
    path: PathBuf,
    /// Absent for a file that cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    what: String,
}

pub(crate) fn run(args: &Args) -> Outcome {
    let project = Project::find(&args.of)?;
    let report = build_report(&project, &project.read_learnings()?);
    let checks = args.r#do == LearningsDo::Check;
    let code = if checks && !report.malformed.is_empty() { ExitCode::FAILURE } else { ExitCode::SUCCESS };
    if args.of.json {
        print::json(&report);
        return Ok(code);
    }
    let mut page = Page::new();
    if !checks {
        report.list(&mut page, &project);
    }
    report.check(&mut page, checks);
    page.print();
    Ok(code)
}

fn build_report(project: &Project, knowledge: &Knowledge) -> LearningsReport {
    let mut files = Vec::new();
    let mut malformed: Vec<Malformed> = Vec::new();
    let mut compared = Vec::new();
    for stock in &knowledge.stock {
        let parsed = Stock::parse(&stock.text);
        let Confidence { total, average, unverified } = Confidence::of(&parsed.entries);
        let entry = |learning: &tidegate_core::feature::knowledge::stock::Learning<'_>| ListedLearning {
            id: learning.id,
            title: learning.title.to_owned(),
            line: learning.line,
            confirmed: learning.count(),
            date: learning.confirmed.as_ref().map(|confirmed| confirmed.date.clone()),
            phases: learning.confirmed.as_ref().map(|it| it.phases.clone()).unwrap_or_default(),
        };
        for learning in &parsed.entries {
            let (id, line, file) = (learning.id, learning.line, stock.shown());
            let spot = Spot { id, line, file, title: learning.title.to_owned() };
            let said = format!("{} {}", learning.title, learning.learning.unwrap_or_default());
            compared.push((content_words(&said), spot));
        }
        files.push(File {
            file: stock.shown(),
            path: stock.path.clone(),
            total,
            average,
            unverified,
            learnings: parsed.entries.iter().map(entry).collect(),
        });
        malformed.extend(parsed.problems.iter().map(|problem| Malformed {
            path: stock.path.clone(),
            line: Some(problem.line),
            what: problem.what.to_string(),
        }));
    }
    let broken = knowledge.broken.iter();
    malformed.extend(broken.map(|(path, why)| Malformed {
        path: path.clone(),
        line: None,
        what: why.en.clone(),
    }));
    compared.truncate(MOST_COMPARED);
    let mut duplicates = Vec::new();
    for (at, (words, first)) in compared.iter().enumerate() {
        for (others, second) in &compared[at + 1..] {
            let score = if first.id == second.id { 1.0 } else { similarity(words, others) };
            if score >= DUPLICATE {
                let similarity = (score * 100.0).round() / 100.0;
                duplicates.push(Pair { similarity, first: first.clone(), second: second.clone() });
            }
        }
    }
    duplicates.sort_by(|a, b| b.similarity.total_cmp(&a.similarity));
    LearningsReport { project: project.root.clone(), files, duplicates, malformed }
}

impl LearningsReport {
    fn list(&self, page: &mut Page, project: &Project) {
        if self.files.is_empty() {
            let folder = project.folder();
            let folder = folder.display();
            page.paragraph(both!(
                "There are no learnings in {folder} yet. They come from progress notes: `tidegate compound list`",
                "{folder} にはまだ学びがありません。学びは作業メモから作ります: `tidegate compound list`"
            ));
        }
        for file in &self.files {
            let File { file: name, total, average, unverified, .. } = file;
            page.heading(data(name));
            let total_en = count_en(*total, "learning");
            page.paragraph(
                Text::from(both!(
                    "{total_en}, confirmed {average:.1} times on average, {unverified} not confirmed yet",
                    "学び{total}件、平均{average:.1}回確認、未確認{unverified}件"
                ))
                .dim(),
            );
            for entry in &file.learnings {
                let Bilingual { en, ja } = describe_confirmations(entry.confirmed);
                let date = entry.date.as_deref().unwrap_or_default();
                let confirmed = if date.is_empty() {
                    both!("  ({en})", "（{ja}）")
                } else {
                    both!("  ({en}, last {date})", "（{ja}、最後は{date}）")
                };
                page.item(
                    data(shorten_id(entry.id)).dim()
                        + data("  ")
                        + prose(&entry.title)
                        + Text::from(confirmed).dim(),
                );
            }
        }
    }

    fn check(&self, page: &mut Page, alone: bool) {
        page.gap();
        for pair in &self.duplicates {
            let spot = |spot: &Spot| {
                format!("{} \"{}\" ({}:{})", shorten_id(spot.id), spot.title, spot.file, spot.line)
            };
            let (first, second) = (spot(&pair.first), spot(&pair.second));
            let alike = (pair.similarity * 100.0).round();
            page.labelled(
                Text::from(both!("similar", "類似")).warning(),
                both!("{first} and {second}, {alike}% alike", "{first} と {second}（{alike}%一致）"),
            );
        }
        for malformed in &self.malformed {
            let line = malformed.line.map(|line| format!("{}:{line}: ", malformed.path.display()));
            page.labelled(
                Text::from(both!("malformed", "形式の誤り")).bad(),
                data(format!("{}{}", line.unwrap_or_default(), malformed.what)),
            );
        }
        if alone && self.malformed.is_empty() {
            let (learnings, files): (usize, usize) =
                (self.files.iter().map(|file| file.total).sum(), self.files.len());
            let (learnings_en, files_en) = (count_en(learnings, "learning"), count_en(files, "file"));
            page.paragraph(both!(
                "{learnings_en} in {files_en}, none malformed",
                "{files}ファイルの学び{learnings}件に、形式の誤りはありません"
            ));
        }
    }
}
