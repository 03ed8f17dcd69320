//! `tidegate tune`: thresholds of the context warning, from how past sessions came to their compactions.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde::Serialize;
use similar::TextDiff;
use tidegate_core::meter::short_tokens;
use tidegate_core::pipeline::record::Deeds;
use tidegate_core::text::hidden::show_name;
use tidegate_replay::report::{ReplayReport, WarningCounts};
use tidegate_replay::tuning::{ENOUGH, Proposal, Tuning};
use tidegate_state::file::{bounded, replace};
use toml_edit::{DocumentMut, Item, Table, value};

use super::Outcome;
use super::memory::row_filter::When;
use super::replay::{Past, no_transcripts, nothing_since};
use crate::approval::{self, Consent, Request};
use crate::bilingual::{Bilingual, both, count_en};
use crate::error::{CliError, io_words};
use crate::print;
use crate::print::page::Page;
use crate::print::text::Text;
use crate::sessions::Here;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate tune                    at least 3 turns after an early warning
  tidegate tune --turns 5
  tidegate tune --apply
  tidegate tune --apply --early 61k --late 22k

Looks at the automatic compactions in your transcripts, and proposes when to warn so that
enough turns are left in 95 of 100 of them. Shows how many warnings that costs, and the
change of your config. Fewer than 20 compactions are not enough for a proposal.
Exit codes: 0 done, 1 nothing to read, 4 waits for a person's approval.")]
pub(crate) struct Args {
    /// Transcripts, or folders with them
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Turns that an early warning leaves at least
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=50))]
    pub(crate) turns: u32,
    /// Only transcripts that changed since then: `90d`, or `2026-11-01`
    #[arg(long, value_name = "WHEN")]
    pub(crate) since: Option<When>,
    /// Write the proposal into your own config
    #[arg(long)]
    pub(crate) apply: bool,
    /// Write this instead of a proposal: tokens left at the early warning
    #[arg(long, value_name = "TOKENS", requires_all = ["apply", "late"], conflicts_with_all = ["paths", "since", "turns"])]
    pub(crate) early: Option<Tokens>,
    /// The same for the late warning
    #[arg(long, value_name = "TOKENS", requires = "early")]
    pub(crate) late: Option<Tokens>,
    /// A person approved this command in this session
    #[arg(long, requires = "apply")]
    pub(crate) approved: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Serialize)]
struct TuneReport<'a> {
    #[serde(flatten)]
    found: &'a Found<'a>,
    /// Compactions that a proposal needs.
    needed: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    config: Option<&'a Path>,
    #[serde(skip_serializing_if = "Option::is_none")]
    diff: Option<&'a str>,
    applied: bool,
}

/// What past sessions say.
#[derive(Serialize)]
struct Found<'a> {
    sessions: usize,
    turns: usize,
    #[serde(flatten)]
    tuning: &'a Tuning,
    present: Present,
}

/// The settings as they are.
#[derive(Serialize)]
struct Present {
    early: String,
    late: String,
    /// That a replay with them gives.
    warnings: WarningCounts,
}

pub(crate) fn run(args: &Args) -> Outcome {
    let past = Past::find();
    if let Some((early, late)) = args.early.zip(args.late) {
        return apply(args, &past, early, late);
    }
    let mut files = past.find_files("tune", &args.paths)?;
    let since = args.since.map(|when| when.since(past.now));
    files.retain(|file| since.is_none_or(|since| file.changed >= since));
    let replayed = match Past::replay(&files, &past.config) {
        Ok(replayed) => replayed,
        Err(ended) => return ended.outcome(),
    };
    let tuning = Tuning::of(replayed.sessions.iter().map(|session| &session.context), args.turns, since);
    if replayed.sessions.is_empty() && args.since.is_none() {
        return Err(no_transcripts("tune", args.paths.first().map(PathBuf::as_path)));
    }
    // The same sessions and turns as in `replay`.
    let report = ReplayReport::of(&replayed, since);
    if report.sessions == 0
        && let Some(when) = args.since
    {
        return Err(nothing_since(&past, when));
    }
    let warning = &past.config.policies.pressure;
    let found = Found {
        tuning: &tuning,
        sessions: report.sessions,
        turns: report.turns,
        present: Present {
            early: warning.early.to_string(),
            late: warning.late.to_string(),
            warnings: report.warnings,
        },
    };
    let own = past.env.place.config();
    let tokens = |proposal: Proposal| Tokens(proposal.tokens / 1000);
    let proposed = tuning.early.zip(tuning.late).map(|(early, late)| (tokens(early), tokens(late)));
    let change = proposed.zip(own).map(|((early, late), path)| Change::of(path, early, late)).transpose()?;
    let diff = change.as_ref().map(Change::diff).filter(|diff| !diff.is_empty());
    let mut applied = false;
    if let Some(change) = change.as_ref().filter(|_| args.apply && diff.is_some()) {
        if !args.json {
            // A person decides about what is shown.
            tune_page(&found, args.turns, diff.as_deref(), true).print_to_stderr();
        }
        if let Some(code) = write_after_consent(args, change)? {
            return Ok(code);
        }
        applied = true;
    }
    if args.json {
        let config = change.as_ref().map(|change| change.path.as_path());
        print::json(&TuneReport { found: &found, needed: ENOUGH, config, diff: diff.as_deref(), applied });
    } else {
        let page = if applied { written() } else { tune_page(&found, args.turns, diff.as_deref(), false) };
        page.print();
    }
    Ok(ExitCode::SUCCESS)
}

/// Thousands of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tokens(u32);

impl std::str::FromStr for Tokens {
    type Err = String;

    fn from_str(text: &str) -> Result<Tokens, String> {
        let number = text.trim().strip_suffix('k').and_then(|number| number.parse().ok());
        number
            .filter(|number| (1..=1000).contains(number))
            .map(Tokens)
            .ok_or_else(|| "use thousands of tokens, such as 61k".to_owned())
    }
}

impl std::fmt::Display for Tokens {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}k", self.0)
    }
}

/// Values that are already chosen, for example those that a person approved.
fn apply(args: &Args, past: &Past, early: Tokens, late: Tokens) -> Outcome {
    if late.0 >= early.0 {
        return Err(CliError::new(both!(
            "the late warning would not come after the early one",
            "後の警告が先の警告より後になりません"
        ))
        .hint(both!("give --late fewer tokens than --early", "--late を --early より小さくしてください")));
    }
    let Some(path) = past.env.place.config() else {
        return Err(CliError::new(both!("there is no place for a config", "設定ファイルの場所がありません"))
            .hint(both!("set HOME", "HOME を設定してください")));
    };
    let change = Change::of(path, early, late)?;
    let diff = change.diff();
    if !diff.is_empty() && !args.json {
        let mut page = Page::new();
        page.verbatim(&diff);
        page.print_to_stderr();
    }
    if !diff.is_empty()
        && let Some(code) = write_after_consent(args, &change)?
    {
        return Ok(code);
    }
    if args.json {
        print::json(&serde_json::json!({"config": change.path, "diff": diff, "applied": !diff.is_empty()}));
    } else {
        if diff.is_empty() { says_so() } else { written() }.print();
    }
    Ok(ExitCode::SUCCESS)
}

/// A later warning leaves less time, so a person decides: about these values, which the command names. The code is that of a
/// request that waits.
fn write_after_consent(args: &Args, change: &Change) -> Result<Option<ExitCode>, CliError> {
    let here = Here::find()?;
    let command = format!("tune --apply --early {} --late {}", change.early, change.late);
    let path = change.path.display().to_string();
    let path = show_name(&path);
    let (early, late) = (change.early, change.late);
    let would = [both!(
        "This would write into {path}: warn early with {early} tokens left, late with {late}.",
        "{path} に書き込みます: 残り{early}トークンで先に、残り{late}トークンで再び警告します。"
    )];
    let request = Request {
        name: "tune",
        command,
        about: Some(format!("changes when Tidegate warns, in {path}")),
        would: &would,
        approved: args.approved,
        json: args.json,
    };
    match approval::ask_consent(&here, &request)? {
        Consent::Waits(code) => Ok(Some(code)),
        Consent::Given(given) => {
            change.write()?;
            approval::record_command(&here, &request.command, &given, Deeds::default());
            Ok(None)
        }
    }
}

/// The user's config, before and after.
struct Change {
    path: PathBuf,
    before: Option<String>,
    after: String,
    early: Tokens,
    late: Tokens,
}

impl Change {
    fn of(path: PathBuf, early: Tokens, late: Tokens) -> Result<Change, CliError> {
        let before = read_config(&path).map_err(|why| cannot_use(&path, &why))?;
        let values = [("early", early.to_string()), ("late", late.to_string())];
        let after = set_values(before.as_deref().unwrap_or_default(), &values)
            .map_err(|why| cannot_use(&path, &why))?;
        Ok(Change { path, before, after, early, late })
    }

    fn diff(&self) -> String {
        let before = self.before.as_deref().unwrap_or_default();
        let name = self.path.display().to_string();
        let from = if self.before.is_some() { name.as_str() } else { "/dev/null" };
        let diff = TextDiff::from_lines(before, &self.after);
        diff.unified_diff().context_radius(3).header(from, &name).to_string().trim_end().to_owned()
    }

    fn write(&self) -> Result<(), CliError> {
        let failed = |error: std::io::Error| cannot_use(&self.path, &io_words(&error));
        // A person had time to answer, and to edit it.
        if read_config(&self.path).map_err(|why| cannot_use(&self.path, &why))? != self.before {
            return Err(cannot_use(
                &self.path,
                &both!("it changed meanwhile", "その間にファイルが変更されました"),
            )
            .hint(both!("run the command again", "もう一度実行してください")));
        }
        let folder = self.path.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder)
            .and_then(|()| replace::durable(&self.path, self.after.as_bytes()))
            .map_err(failed)
    }
}

/// Larger than any config.
const LARGEST: u64 = 1024 * 1024;

/// `None` without a file. A link has to lead to one: the file that replaced it would not be where the person keeps it.
fn read_config(path: &Path) -> Result<Option<String>, Bilingual> {
    match bounded::read(path, LARGEST) {
        Ok(bytes) => String::from_utf8(bytes)
            .map(Some)
            .map_err(|_| both!("its text is not UTF-8", "UTF-8 のテキストではありません")),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            if path.is_symlink() {
                return Err(both!(
                    "it is a link to a file that is not there",
                    "リンク先のファイルがありません"
                ));
            }
            Ok(None)
        }
        Err(error) => Err(io_words(&error)),
    }
}

fn cannot_use(path: &Path, why: &Bilingual) -> CliError {
    let path = path.display().to_string();
    let (path, Bilingual { en, ja }) = (show_name(&path), why);
    CliError::new(both!("cannot change {path}: {en}", "{path} を変更できません: {ja}"))
        .hint(both!("correct the file first", "先にファイルを直してください"))
}

/// Keeps comments and everything else.
fn set_values(text: &str, values: &[(&str, String)]) -> Result<String, Bilingual> {
    let mut document: DocumentMut =
        text.parse().map_err(|error: toml_edit::TomlError| Bilingual::data(error.message().trim()))?;
    let section = document.entry("context_warning").or_insert_with(|| Item::Table(Table::new()));
    let section = section.as_table_like_mut().ok_or_else(|| {
        both!("`context_warning` is not a table", "`context_warning` がテーブルではありません")
    })?;
    for (key, new) in values {
        match section.get_mut(key).and_then(Item::as_value_mut) {
            Some(there) => {
                let decor = there.decor().clone();
                *there = new.as_str().into();
                *there.decor_mut() = decor;
            }
            None => {
                section.insert(key, value(new));
            }
        }
    }
    Ok(document.to_string())
}

fn written() -> Page {
    Page::of(both!("Written. New sessions use it.", "書き込みました。新しいセッションから有効です。"))
}

fn says_so() -> Page {
    Page::of(both!("Your config says so already.", "設定はすでにそうなっています。"))
}

/// `asks` if a question follows.
fn tune_page(found: &Found<'_>, turns: u32, diff: Option<&str>, asks: bool) -> Page {
    let mut page = Page::new();
    let (tuning, Present { early: early_now, late: late_now, .. }) = (found.tuning, &found.present);
    let (all, reachable) = (tuning.compactions, tuning.reachable);
    let Some(early) = tuning.early else {
        page.paragraph(
            Text::from(both!(
                "Not enough evidence: {n} with at least {left} before it, and a proposal needs {ENOUGH}.",
                "根拠が足りません。前に{turns}ターン以上ある自動の圧縮は{reachable}件で、提案には{ENOUGH}件必要です。",
                n = count_en(reachable, "automatic compaction"),
                left = count_en(turns as usize, "turn")
            ))
            .strong(),
        );
        page.paragraph(both!(
            "Your settings stay as they are: early {early_now}, late {late_now}.",
            "設定はそのままです: 先の警告 {early_now}、後の警告 {late_now}。"
        ));
        if reachable > 0 {
            for line in present_costs(found, turns) {
                page.item(line);
            }
        }
        return page;
    };
    let (tokens, in_time) = (short_tokens(u64::from(early.tokens)), early.in_time);
    page.paragraph(
        Text::from(both!(
            "Warn {tokens} tokens before compaction: that left {left} in {in_time} of {reachable} cases.",
            "圧縮の{tokens}トークン前に警告すると、{reachable}件中{in_time}件で{turns}ターン残りました。",
            left = count_en(turns as usize, "turn")
        ))
        .strong(),
    );
    let unreachable = all - reachable;
    if unreachable > 0 {
        page.item(both!(
            "not counted, with fewer turns before: {n}",
            "前のターンがもっと少ない圧縮{unreachable}件は数えていません",
            n = count_en(unreachable, "other compaction")
        ));
    }
    for proposal in [Some(early), tuning.late].into_iter().flatten() {
        page.item(cost(found, proposal));
    }
    for line in present_costs(found, turns) {
        page.item(line);
    }
    match diff {
        None => page.paragraph(both!("Your config says so already.", "設定はすでにそうなっています。")),
        Some(diff) => {
            page.gap();
            page.verbatim(diff);
            page.gap();
            if !asks {
                page.paragraph(both!(
                    "To write it: `tidegate tune --apply`",
                    "書き込むには: `tidegate tune --apply`"
                ));
            }
        }
    }
    page
}

/// How the settings do as they are.
fn present_costs(found: &Found<'_>, turns: u32) -> [Bilingual; 2] {
    let Found { present: Present { early, late, warnings }, tuning, .. } = found;
    let (all, in_time) = (tuning.reachable, tuning.in_time_now);
    let line = |words: Bilingual, warnings: usize, turns: u32, in_time: usize| {
        let Bilingual { en, ja } = words;
        both!(
            "{en}: {n}, which left {left} in {in_time} of {all} cases",
            "{ja}: 警告{warnings}回、{all}件中{in_time}件で{turns}ターン残りました",
            n = count_en(warnings, "warning"),
            left = count_en(turns as usize, "turn")
        )
    };
    [
        line(
            both!("your settings now, early {early}", "今の設定、先の警告 {early}"),
            warnings.early,
            turns,
            in_time.early,
        ),
        line(
            both!("your settings now, late {late}", "今の設定、後の警告 {late}"),
            warnings.late,
            1,
            in_time.late,
        ),
    ]
}

fn cost(found: &Found<'_>, proposal: Proposal) -> Bilingual {
    let Proposal { warnings, tokens, turns, .. } = proposal;
    let tokens = short_tokens(u64::from(tokens));
    let (sessions, all) = (found.sessions, found.turns);
    let per = format!("{:.1}", 100.0 * warnings as f64 / all.max(1) as f64);
    both!(
        "at {tokens} left, for {left}: {m} in {s}, {per} per 100 turns",
        "残り{tokens}（{turns}ターン分）: セッション{sessions}件で警告{warnings}回、100ターンあたり{per}回",
        left = count_en(turns as usize, "turn"),
        m = count_en(warnings, "warning"),
        s = count_en(sessions, "session")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::print::looks::assert_looks;
    use tidegate_replay::tuning::InTime;

    fn tuned() -> Tuning {
        let proposal = |turns, tokens, warnings| Proposal { turns, tokens, in_time: 38, warnings };
        Tuning {
            compactions: 52,
            reachable: 40,
            early: Some(proposal(3, 61_000, 71)),
            late: Some(proposal(1, 22_000, 58)),
            in_time_now: InTime { early: 31, late: 36 },
        }
    }

    #[test]
    fn a_proposal_looks_well() {
        let diff = "--- config.toml\n+++ config.toml\n@@ -1 +1,2 @@\n [context_warning]\n+early = \"61k\"";
        let page = |tuning: &Tuning, diff| {
            let warnings = WarningCounts { early: 60, late: 55 };
            let present = Present { early: "47k".to_owned(), late: "1 turn".to_owned(), warnings };
            tune_page(&Found { sessions: 120, turns: 1410, tuning, present }, 3, diff, false)
        };
        assert_looks("tune", &page(&tuned(), Some(diff)));
        let in_time_now = InTime { early: 3, late: 2 };
        let few = Tuning { early: None, late: None, reachable: 4, compactions: 6, in_time_now };
        assert_looks("tune-too-few", &page(&few, None));
    }

    #[test]
    fn comments_and_other_settings_stay() {
        let text = "lang = \"en\" # mine\n\n[context_warning]\nearly = \"47k\" # often\n";
        let changed = set_values(text, &[("early", "61k".to_owned()), ("late", "22k".to_owned())]).unwrap();
        assert_eq!(
            changed,
            "lang = \"en\" # mine\n\n[context_warning]\nearly = \"61k\" # often\nlate = \"22k\"\n"
        );
        assert!(set_values("context_warning = 3", &[("early", "1k".to_owned())]).is_err());
        assert!(set_values("a b", &[]).is_err());
    }
}
