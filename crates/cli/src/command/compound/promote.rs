//! `tidegate compound promote`: writes learnings that a person agreed to, and nothing else.
//!
//! The promotion is kept under its digest until the person has said yes, and the approval is for that digest. So the
//! text that was shown is written, whatever the model types the second time.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde::{Deserialize, Serialize};
use similar::{ChangeTag, TextDiff};
use tidegate_core::feature::knowledge::stock::CountForm;
use tidegate_core::pipeline::record::Deeds;
use tidegate_core::text::fnv;
use tidegate_state::feature::knowledge::listed;
use tidegate_state::file::bounded;

use super::super::Outcome;
use super::plan::{Change, Step, Typed, plan_changes};
use crate::approval::{self, Consent, Request};
use crate::args::ProjectArgs;
use crate::bilingual::{Bilingual, both, count_en};
use crate::error::CliError;
use crate::knowledge::{Knowledge, LARGEST, Project, StockName, fix_file};
use crate::print;
use crate::print::page::Page;
use crate::shell::quote_path;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate compound promote --entry 3f9a --to coding --title \"One lock per project\" \\
      --learning \"flock ends with its process\" --context \"two terminals\" \\
      --implication \"no stale lock files\" --phase implement
  tidegate compound promote --confirm 81c2 --phase review
  tidegate compound promote --merge 81c2 0b77
  tidegate compound promote --plan plan.json
  tidegate compound promote --plan - < plan.json

A plan is a JSON list; one yes covers all of it:
  [{\"entry\": \"3f9a\", \"to\": \"coding\", \"title\": \"…\", \"learning\": \"…\",
    \"context\": \"…\", \"implication\": \"…\", \"phase\": \"implement\"},
   {\"confirm\": \"81c2\", \"phase\": \"review\"},
   {\"merge\": [\"81c2\", \"0b77\"]}]

Prints the text to save. At a terminal it then asks; called by an agent it prints a
code that only a person can approve. `--to global` saves in the file that
`[knowledge] global` in your own config names.

Exit codes: 0 saved, 4 waits for a person's approval.")]
#[command(group = clap::ArgGroup::new("what").required(true).args(["title", "confirm", "merge", "plan", "only"]))]
pub(crate) struct Args {
    /// Note that it was learned from; can be repeated
    #[arg(long, value_name = "ID", requires = "title")]
    pub(crate) entry: Vec<String>,
    /// File to save it in
    #[arg(long, value_name = "FILE", requires = "title")]
    pub(crate) to: Option<StockName>,
    /// Title of a new learning
    #[arg(long, value_name = "TEXT", requires_all = ["entry", "to", "learning", "context", "implication"])]
    pub(crate) title: Option<String>,
    /// The lesson itself
    #[arg(long, value_name = "TEXT", requires = "title")]
    pub(crate) learning: Option<String>,
    /// Situation that it comes from
    #[arg(long, value_name = "TEXT", requires = "title")]
    pub(crate) context: Option<String>,
    /// Consequence for later work
    #[arg(long, value_name = "TEXT", requires = "title")]
    pub(crate) implication: Option<String>,
    /// Confirm this learning once more
    #[arg(long, value_name = "ID")]
    pub(crate) confirm: Option<String>,
    /// Merge the second learning into the first
    #[arg(long, value_names = ["A", "B"], num_args = 2)]
    pub(crate) merge: Vec<String>,
    /// Kind of work in which it was seen
    #[arg(long, value_name = "PHASE", conflicts_with_all = ["merge", "plan", "only"])]
    pub(crate) phase: Option<String>,
    /// Save several: a file with a JSON list, or `-` for stdin
    #[arg(long, value_name = "FILE")]
    pub(crate) plan: Option<PathBuf>,
    /// Save only what was shown with this digest
    #[arg(long, value_name = "DIGEST")]
    pub(crate) only: Option<String>,
    /// Use the approval that a person gave in this session
    #[arg(long)]
    pub(crate) approved: bool,
    #[command(flatten)]
    pub(crate) of: ProjectArgs,
}

/// Its name in `[approval] unattended`.
pub(super) const NAME: &str = "compound promote";

#[derive(Serialize, Deserialize)]
struct Promotion {
    project: String,
    date: String,
    /// New files count in Japanese.
    kai: bool,
    steps: Vec<Step>,
    /// The files as they were: with another text, the same steps might change something else.
    were: Vec<(String, String)>,
}

#[derive(Serialize)]
struct PromotionReport<'a> {
    project: &'a Path,
    promoted: usize,
    files: Vec<&'a Path>,
}

pub(super) fn run(args: &Args) -> Outcome {
    let project = Project::find(&args.of)?;
    let knowledge = project.read()?;
    let (promotion, changes) = match &args.only {
        Some(digest) => asked_before(&project, &knowledge, digest)?,
        None => new_promotion(args, &project, &knowledge)?,
    };
    if changes.is_empty() {
        return Err(CliError::new(both!("nothing would change", "変更はありません")));
    }
    let bytes = serde_json::to_vec(&promotion).map_err(CliError::new)?;
    let digest = listed::digest(&bytes);
    let steps: Vec<String> = promotion.steps.iter().map(|step| step.text(&knowledge)).collect();
    let request = Request {
        name: NAME,
        command: format!("compound promote --project {} --only {digest}", quote_path(&project.real())),
        about: Some(steps.join("\n")),
        would: &changes.iter().flat_map(describe_change).collect::<Vec<_>>(),
        approved: args.approved,
        json: args.of.json,
    };
    // Before the code is printed: the approved command has to find the promotion.
    if approval::is_by_agent(&project.here.env) && !args.approved {
        listed::keep_promotion(&project.private(), &bytes).map_err(|error| {
            CliError::new(both!("the request cannot be saved: {error}", "依頼を保存できません: {error}"))
        })?;
    }
    let given = match approval::ask_consent(&project.here, &request)? {
        Consent::Given(given) => given,
        Consent::Waits(code) => return Ok(code),
    };
    project.write_all(&changes)?;
    let promoted = promotion.steps.iter().filter(|step| step.promotes()).count();
    project.note_promoted(promoted);
    listed::forget_promotion(&project.private(), &digest);
    approval::record_command(&project.here, &request.command, &given, Deeds::default());
    let files: Vec<&Path> = changes.iter().map(|change| change.path.as_path()).collect();
    if args.of.json {
        print::json(&PromotionReport { project: &project.root, promoted, files });
        return Ok(ExitCode::SUCCESS);
    }
    let merged = promotion.steps.len() - promoted;
    let shown: Vec<String> = files.iter().map(|path| path.display().to_string()).collect();
    let (files, saved, pairs) = (shown.join(", "), count_en(promoted, "learning"), count_en(merged, "pair"));
    Page::of(if merged > 0 {
        both!(
            "Saved {saved} and merged {pairs} in {files}",
            "学び{promoted}件を保存し、{merged}組をまとめました: {files}"
        )
    } else {
        both!("Saved {saved} in {files}", "学び{promoted}件を保存しました: {files}")
    })
    .print();
    Ok(ExitCode::SUCCESS)
}

fn new_promotion(
    args: &Args,
    project: &Project,
    knowledge: &Knowledge,
) -> Result<(Promotion, Vec<Change>), CliError> {
    let typed = match &args.plan {
        Some(path) => Typed::all(&plan_text(path)?)?,
        None => vec![Typed::of(args)],
    };
    let in_a_plan = args.plan.is_some();
    let mut steps = Vec::new();
    for (number, typed) in typed.into_iter().enumerate() {
        steps.push(typed.step(knowledge).map_err(|error| {
            if in_a_plan {
                error.prefixed(&both!("element {n} of the plan", "計画の{n}番目", n = number + 1))
            } else {
                error
            }
        })?);
    }
    let (date, form) = (project.here.now.day(), project.form());
    let changes = plan_changes(project, knowledge, &steps, &date, form)?;
    let project = project.real().to_string_lossy().into_owned();
    let were = changes.iter().map(old_digest).collect();
    Ok((Promotion { project, date, kai: form == CountForm::Kai, steps, were }, changes))
}

fn plan_text(path: &Path) -> Result<String, CliError> {
    let bytes = if path == Path::new("-") {
        let mut bytes = Vec::new();
        std::io::stdin().lock().take(LARGEST + 1).read_to_end(&mut bytes).map(|_| bytes)
    } else {
        bounded::read(path, LARGEST)
    };
    let bytes = bytes.map_err(|error| CliError::new(format!("{}: {error}", path.display())))?;
    if bytes.len() as u64 > LARGEST {
        return Err(CliError::new(both!("the plan is too large", "計画が大きすぎます")));
    }
    String::from_utf8(bytes)
        .map_err(|_| CliError::new(both!("the plan is not UTF-8", "計画が UTF-8 ではありません")))
}

/// Refuses if the files have changed since.
fn asked_before(
    project: &Project,
    knowledge: &Knowledge,
    digest: &str,
) -> Result<(Promotion, Vec<Change>), CliError> {
    let again = || {
        both!(
            "run it once more without --only and --approved, and look at the new text",
            "--only と --approved なしでもう一度実行し、内容を確かめてください"
        )
    };
    let promotion = listed::read_promotion(&project.private(), digest)
        .and_then(|bytes| serde_json::from_slice::<Promotion>(&bytes).ok())
        .filter(|promotion| Path::new(&promotion.project) == project.real())
        .ok_or_else(|| {
            CliError::new(both!(
                "nothing with the digest `{digest}` waits in this session",
                "ダイジェスト `{digest}` の依頼は、このセッションにありません"
            ))
            .hint(again())
        })?;
    let form = if promotion.kai { CountForm::Kai } else { CountForm::Times };
    let changed = || {
        CliError::new(both!(
            "the learnings have changed since this was asked for",
            "依頼のあとで学びのファイルが変わりました"
        ))
        .hint(again())
    };
    let changes =
        plan_changes(project, knowledge, &promotion.steps, &promotion.date, form).map_err(|_| changed())?;
    if changes.iter().map(old_digest).collect::<Vec<_>>() != promotion.were {
        return Err(changed());
    }
    Ok((promotion, changes))
}

fn old_digest(change: &Change) -> (String, String) {
    let text = change.old.as_deref();
    let digest = text.map_or_else(String::new, |text| format!("{:016x}", fnv::hash(text.bytes())));
    (change.path.to_string_lossy().into_owned(), digest)
}

/// As a diff.
fn describe_change(change: &Change) -> Vec<Bilingual> {
    let path = change.path.display();
    let mut lines = vec![if change.old.is_some() {
        both!("This would write to {path}:", "{path} に次のように書きます:")
    } else {
        both!("This would write to the new file {path}:", "新しいファイル {path} に次のように書きます:")
    }];
    let diff = TextDiff::from_lines(change.old.as_deref().unwrap_or_default(), &change.new);
    // The learning that a change is in, until it was named.
    let mut within = None;
    for line in diff.iter_all_changes() {
        let sign = match line.tag() {
            ChangeTag::Delete => '-',
            ChangeTag::Insert => '+',
            ChangeTag::Equal => {
                if line.value().starts_with("## ") {
                    within = Some(line.value());
                }
                continue;
            }
        };
        if line.value().starts_with("## ") {
            within = None;
        }
        lines.extend(within.take().map(|title| Bilingual::data(format!("    {}", without_break(title)))));
        lines.push(Bilingual::data(format!("  {sign} {}", without_break(line.value()))));
    }
    lines
}

fn without_break(line: &str) -> &str {
    line.trim_end_matches(['\r', '\n'])
}

impl Project {
    fn write_all(&self, changes: &[Change]) -> Result<(), CliError> {
        let mut done: Vec<String> = Vec::new();
        for change in changes {
            if let Err(error) = self.write_stock(&change.path, change.old.as_deref(), &change.new) {
                let done = done.join(", ");
                return Err(Project::unwritten(&change.path, &error).hint(if done.is_empty() {
                    fix_file()
                } else {
                    both!(
                        "written before this: {done}; repair the file and run it again without --approved",
                        "先に書き込んだもの: {done}。ファイルを直し、--approved なしでもう一度実行してください"
                    )
                }));
            }
            done.push(change.path.display().to_string());
        }
        Ok(())
    }

    /// For `compound done`.
    fn note_promoted(&self, promoted: usize) {
        if let Some(mut listed) = listed::read(&self.private(), &self.real()) {
            listed.promoted += promoted as u64;
            let _ = listed::write(&self.private(), &listed);
        }
    }
}
