//! `tidegate trust`: a project's own config files can tighten; everything else in them counts only after a person has
//! seen it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde::Serialize;
use tidegate_core::feature::config::layer::Assignment;
use tidegate_core::pipeline::record::Deeds;
use tidegate_core::settings::section::{Project, Wrong};
use tidegate_core::settings::value::{Value, without_passwords};
use tidegate_state::config;
use tidegate_state::config::trust;
use tidegate_state::file::bounded;
use tidegate_state::session::claims;

use super::Outcome;
use super::config::warn_of_problems;
use crate::approval::{self, Consent, Request, consent_to_tighten};
use crate::bilingual::{Bilingual, both};
use crate::error::CliError;
use crate::print;
use crate::print::page::Page;
use crate::print::text::data;
use crate::sessions::Here;
use crate::shell::quote_path;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate trust                 show what the files ask for, then ask you
  tidegate trust --revoke

A project's `.claude/tidegate.toml` and `.claude/tidegate.local.toml` can always make
rules stricter. Everything else in them waits until you have seen it. Any change to a
file takes the trust back.

Exit codes: 0 done, 4 waits for a person's approval.")]
pub(crate) struct Args {
    /// Use another project than that of the current folder
    #[arg(long, value_name = "DIR")]
    pub(crate) project: Option<PathBuf>,
    /// Take the trust back
    #[arg(long, conflicts_with_all = ["approved", "only"])]
    pub(crate) revoke: bool,
    /// Refuse if the files changed since this digest was shown
    #[arg(long, value_name = "DIGEST")]
    pub(crate) only: Option<String>,
    /// Use the approval that a person gave in this session
    #[arg(long)]
    pub(crate) approved: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Serialize)]
struct TrustReport {
    project: PathBuf,
    files: Vec<File>,
    values: Vec<ShownValue>,
    digest: String,
    trusted: bool,
}

#[derive(Serialize)]
struct File {
    path: PathBuf,
    #[serde(skip)]
    text: String,
    /// As it is now.
    trusted: bool,
    /// It was trusted with another text.
    changed: bool,
}

#[derive(Serialize)]
struct ShownValue {
    key: String,
    value: String,
    /// The value in force.
    now: String,
    origin: String,
    /// Only the user's own config may set this; trust does not help.
    never: bool,
    /// It would count if the file were trusted.
    waits: bool,
    /// Why this version cannot use it; another one may.
    #[serde(skip_serializing_if = "Option::is_none")]
    useless: Option<String>,
}

pub(crate) fn run(args: &Args) -> Outcome {
    let mut here = Here::find()?;
    if let Some(project) = &args.project {
        here.look_at(project)?;
    }
    let root = here
        .root
        .clone()
        .ok_or_else(|| CliError::new(both!("the project is not known", "プロジェクトがわかりません")))?;
    if args.revoke {
        return revoke_trust(&here, &root, args.json);
    }
    let files = read_files(&here, &root);
    let values: Vec<ShownValue> = files.iter().flat_map(|file| read_values(&here, file)).collect();
    let digest = digest_files(&files);
    let report = TrustReport { project: root, files, values, digest, trusted: false };
    if let Some(only) = &args.only
        && *only != report.digest
    {
        return Err(CliError::new(both!(
            "the files have changed since this was asked for",
            "依頼のあとでファイルが変わりました"
        ))
        .hint(both!(
            "run `tidegate trust` again and look at the new text",
            "もう一度 `tidegate trust` を実行し、内容を確かめてください"
        )));
    }
    if !report.values.iter().any(|value| value.waits) {
        nothing_waits(&here, report, args.json);
        return Ok(ExitCode::SUCCESS);
    }
    let project = quote_path(&report.project);
    let request = Request {
        name: "trust",
        command: format!("trust --project {project} --only {}", report.digest),
        about: Some(describe_values(&report)),
        would: &describe_files(&report),
        approved: args.approved,
        json: args.json,
    };
    let given = match approval::ask_consent(&here, &request)? {
        Consent::Given(given) => given,
        Consent::Waits(code) => return Ok(code),
    };
    for file in &report.files {
        trust::remember(&here.state, &file.path, &file.text)
            .map_err(|error| CliError::new(format!("{}: {error}", file.path.display())))?;
    }
    approval::record_command(&here, &request.command, &given, Deeds::default());
    if args.json {
        print::json(&TrustReport { trusted: true, ..report });
    } else {
        let mut page = Page::new();
        page.paragraph(both!(
            "These files are trusted as they are now. Any change takes the trust back.",
            "次のファイルを今の内容で許可しました。変更されると許可は取り消されます。"
        ));
        for file in &report.files {
            page.item(data(file.path.display()));
        }
        page.print();
    }
    Ok(ExitCode::SUCCESS)
}

/// Also for a file that is missing now: it may come back unchanged.
fn revoke_trust(here: &Here, root: &Path, json: bool) -> Outcome {
    let mut revoked = Vec::new();
    for path in config::project_files(Some(root)) {
        let gone = trust::revoke(&here.state, &path)
            .map_err(|error| CliError::new(format!("{}: {error}", path.display())))?;
        if gone {
            revoked.push(path);
        }
    }
    if !revoked.is_empty() {
        approval::record_command(
            here,
            "trust --revoke",
            &consent_to_tighten(here, "revoked"),
            Deeds::default(),
        );
    }
    if json {
        print::json(&revoked);
    } else if revoked.is_empty() {
        Page::of(both!(
            "No file of this project was trusted.",
            "このプロジェクトに許可したファイルはありません。"
        ))
        .print();
    } else {
        let mut page = Page::new();
        page.paragraph(both!("No longer trusted:", "許可を取り消しました:"));
        for path in &revoked {
            page.item(data(path.display()));
        }
        page.print();
    }
    Ok(ExitCode::SUCCESS)
}

fn nothing_waits(here: &Here, report: TrustReport, json: bool) {
    if json {
        let trusted = report.files.iter().all(|file| file.trusted) && !report.files.is_empty();
        print::json(&TrustReport { trusted, ..report });
        return;
    }
    let mut page = Page::new();
    if report.files.is_empty() {
        let project = report.project.display();
        page.paragraph(both!(
            "{project} has no config of its own.",
            "{project} には独自の設定がありません。"
        ));
    }
    for file in &report.files {
        let path = file.path.display();
        page.paragraph(if file.trusted {
            both!("{path} is trusted as it is.", "{path} は今の内容で許可済みです。")
        } else {
            both!("{path} asks for nothing that needs your trust.", "{path} に許可が必要な内容はありません。")
        });
    }
    for value in report.values.iter().filter(|value| value.never) {
        page.item(describe_value(value));
    }
    page.print();
    warn_of_problems(&here.config.problems);
}

/// Everything in the files, also values without effect now: they get one when the user's own config changes.
fn describe_files(report: &TrustReport) -> Vec<Bilingual> {
    let project = report.project.display();
    let mut would = vec![both!(
        "The config files of {project} ask to set:",
        "{project} の設定ファイルは、次の設定を求めています:"
    )];
    let indented = |Bilingual { en, ja }: Bilingual| both!("  {en}", "  {ja}");
    would.extend(report.values.iter().map(describe_value).map(indented));
    for file in report.files.iter().filter(|file| file.changed) {
        let path = file.path.display();
        would.push(both!(
            "Note: {path} has changed since you trusted it.",
            "注意: {path} は許可したあとで変わりました。"
        ));
    }
    would
}

/// For a person who is asked for a code: a digest tells them nothing, so all values that would count are listed.
fn describe_values(report: &TrustReport) -> String {
    let counts = report.values.iter().filter(|value| !value.never);
    let sets: Vec<String> = counts.map(|value| format!("{} = {}", value.key, value.value)).collect();
    format!("sets {}", sets.join("\n"))
}

fn describe_value(value: &ShownValue) -> Bilingual {
    let ShownValue { key, value: text, now, origin, .. } = value;
    let Bilingual { en, ja } = match (&value.useless, value.never) {
        (Some(why), _) => both!(
            "no effect in this version: {why}; if trusted, it counts in a version that knows it",
            "この版では効きません: {why}。許可すると、対応する版では有効になります"
        ),
        (None, true) => {
            both!("no effect: only your own config can set it", "効きません。自分の設定でだけ指定できます")
        }
        (None, false) if text == now => both!("as it is now", "今と同じ"),
        (None, false) => both!("now {now}", "今は {now}"),
    };
    both!("{key} = {text} ({en}; {origin})", "{key} = {text}（{ja}、{origin}）")
}

fn read_files(here: &Here, root: &Path) -> Vec<File> {
    let read = |path: PathBuf| {
        let text = String::from_utf8(bounded::read(&path, config::LARGEST).ok()?).ok()?;
        let before = trust::trusted_text(&here.state, &path);
        let trusted = before.as_deref() == Some(&text);
        Some(File { path, text, trusted, changed: before.is_some() && !trusted })
    };
    config::project_files(Some(root)).filter_map(read).collect()
}

/// Identifies the files as they are: an approval is for the text that the person saw.
fn digest_files(files: &[File]) -> String {
    let mut all = String::new();
    for file in files {
        let _ = write!(all, "{}\0{}\0", file.path.display(), file.text);
    }
    format!("{:016x}", claims::hash_parts(&[&all]))
}

/// The file's values, with those in force.
fn read_values(here: &Here, file: &File) -> Vec<ShownValue> {
    let all = config::list_assignments(&file.text, &file.path.display().to_string(), &here.config);
    let sections = here.config.sections();
    let line = |(assignment, value): (Assignment, String)| {
        let section = sections.iter().find(|section| section.name() == assignment.section);
        let checked =
            section.map_or(Err(Wrong::Unknown), |section| section.check(&assignment.key, &assignment.value));
        let useless = match checked {
            Ok(()) => None,
            Err(Wrong::Unknown) => Some("it has no such key".to_owned()),
            Err(Wrong::Value(why)) => Some(why),
        };
        let waits =
            here.config.waiting.iter().any(|waiting| !waiting.never && waiting.assignment == assignment);
        let project = section.and_then(|section| section.project(&assignment.key));
        ShownValue {
            key: assignment.path(),
            value: match section.map(|section| section.shown(&assignment.key, &assignment.value)) {
                Some(shown) if shown != assignment.value => shown.to_string(),
                _ => without_passwords(&value),
            },
            now: section.map_or(Value::Nothing, |section| section.get(&assignment.key)).to_string(),
            origin: assignment.origin.to_string(),
            never: project == Some(Project::Never),
            waits,
            useless,
        }
    };
    all.into_iter().map(line).collect()
}
