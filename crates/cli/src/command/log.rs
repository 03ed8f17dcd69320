//! `tidegate log`: what Tidegate did, for people.

use std::cell::RefCell;
use std::path::Path;
use std::process::ExitCode;

use tidegate_core::feature::config::former_names::current_policy;
use tidegate_core::pipeline::record::{BoundaryRecord, MeterRecord, Record};
use tidegate_core::text::cut::cut_to;
use tidegate_core::text::hidden::show_name;
use tidegate_core::text::one_line::one_line;
use tidegate_core::time::Millis;

use super::Outcome;
use super::journal::show_records;
use super::record_filter::{check_policy, find_session};
use super::record_words::{headline, reason_text, said_text};
use crate::bilingual::both;
use crate::host::agent_name;
use crate::local_time::LocalClock;
use crate::print;
use crate::print::page::Page;
use crate::print::text::{Text, data, name, prose};
use crate::sessions::Here;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate log                            the last 20 events
  tidegate log --follow                   keep showing new ones
  tidegate log --policy verify-stop --last 100
  tidegate log --verbose                  with ids, for `tidegate explain`
  tidegate log --json | jq .ruling        all records, for programs

Leaves out everything that passed in silence; --verbose and --json show it.")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct Args {
    /// Keep showing new events
    #[arg(long, short)]
    pub(crate) follow: bool,
    /// Show ids, times and silent hook runs, too
    #[arg(long, short)]
    pub(crate) verbose: bool,
    /// Only this session
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// All projects, not only this one
    #[arg(long)]
    pub(crate) all: bool,
    /// Only events that this policy took part in
    #[arg(long, value_name = "ID")]
    pub(crate) policy: Option<String>,
    /// Number of events
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) last: usize,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Characters of a text; `explain` shows all of it.
const LONGEST: usize = 240;

pub(crate) fn run(args: &Args) -> Outcome {
    let here = Here::find()?;
    check_policy(args.policy.as_deref())?;
    let session = find_session(&here, args.session.as_deref())?;
    let everything = args.verbose || args.json;
    let matches = |record: &Record| {
        let took_part = |id: &str| record.verdicts.iter().any(|verdict| verdict.policy == id);
        let policy = args.policy.as_deref().map(current_policy).is_none_or(took_part);
        here.concerns(record, session.as_deref(), args.all)
            && policy
            && (everything || headline(record).is_some())
    };
    let day = RefCell::new(String::new());
    let show = |records: &[Record]| {
        if args.json {
            return records.iter().all(print::json);
        }
        // Read each time: `--follow` may run for days.
        let clock = LocalClock::of_system(tidegate_state::clock::now());
        let mut page = Page::new();
        for (at, record) in records.iter().enumerate() {
            if !args.verbose && is_told_later(record, &records[at + 1..]) {
                continue;
            }
            add_record(&mut page, record, args, &clock, &mut day.borrow_mut());
        }
        page.print()
    };
    let found = show_records(&here, args.last, args.follow, &matches, &show)?;
    if found == 0 && !args.follow && !args.json {
        let hint = if args.all {
            both!(
                "Nothing happened yet. `tidegate demo` shows what the log looks like.",
                "まだ何も起きていません。`tidegate demo` で記録の例を見られます。"
            )
        } else {
            both!(
                "Nothing happened in this project yet. `tidegate log --all` shows every project.",
                "このプロジェクトではまだ何も起きていません。`tidegate log --all` ですべてのプロジェクトを表示します。"
            )
        };
        Page::of(hint).print_to_stderr();
    }
    Ok(ExitCode::SUCCESS)
}

/// A compaction is counted again when its lost facts are given back. Only the last count is told.
fn is_told_later(record: &Record, later: &[Record]) -> bool {
    let Some(boundary) = &record.boundary else { return false };
    let is_silent = record.said.user.is_none() && record.said.model.is_none();
    let is_same = |other: &Record| {
        let same = |found: &BoundaryRecord| found.noted == boundary.noted && found.kept.is_some();
        other.session == record.session && other.boundary.as_ref().is_some_and(same)
    };
    is_silent && record.failure.is_none() && record.ruling == "pass" && later.iter().any(is_same)
}

fn add_record(page: &mut Page, record: &Record, args: &Args, clock: &LocalClock, shown_day: &mut String) {
    let at = Millis::from_iso(&record.at);
    let day = at.map(|at| clock.day(at)).unwrap_or_default();
    if *shown_day != day {
        page.heading(data(&day));
        *shown_day = day;
    }
    let time = at.map_or_else(|| show_name(&record.at).into_owned(), |at| clock.second(at));
    if args.verbose {
        page.pairs([(data(time).dim(), name(&record.id).dim() + data("  ") + verbose_text(record))]);
        return;
    }
    let mut text = headline(record).unwrap_or_default();
    if args.all
        && let Some(project) = record.project.as_deref().map(Path::new).and_then(Path::file_name)
    {
        let project = project.to_string_lossy();
        let project = show_name(&project);
        text = text + Text::from(both!(" (in {project})", "（{project}）")).dim();
    }
    if let Some(said) = said_text(record) {
        text = text + data("\n") + prose(&format!("  {}", cut_to(&one_line(&said), LONGEST))).dim();
    }
    if let Some(reason) = reason_text(record) {
        let agent = agent_name(&record.host);
        let whom = Text::from(both!("  To {agent}: ", "  {agent} へ: "));
        text = text + data("\n") + (whom + prose(&cut_to(&one_line(&reason), LONGEST))).dim();
    }
    page.pairs([(data(time).dim(), text)]);
}

fn verbose_text(record: &Record) -> Text {
    let what = match (&record.tool, &record.cause) {
        (Some(detail), _) | (None, Some(detail)) => format!("{} ({})", record.event, one_line(detail)),
        (None, None) => record.event.clone(),
    };
    let used = record.meter.as_ref().and_then(MeterRecord::shown_pct).map(|percent| format!("{percent}%"));
    let time = format!("{:.1} ms", record.cost.us as f64 / 1000.0);
    let session = record.session.as_deref().map(one_line);
    let details = [Some(one_line(&what)), Some(one_line(&record.ruling)), used, Some(time), session];
    let details = data(details.into_iter().flatten().collect::<Vec<_>>().join(", ")).dim();
    match headline(record) {
        Some(headline) => headline + data("\n") + details,
        None => details,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::explain::explain_page;
    use crate::print::looks::assert_looks;
    use tidegate_core::host::person::Person;
    use tidegate_core::pipeline::record::{Deeds, FailedCheck, HookCost, SaidTexts, VerdictRecord};

    fn record(minute: u64, event: &str, ruling: &str) -> Record {
        Record {
            id: format!("19a8f2c1d3e-{minute}"),
            at: Millis(1_794_963_600_000 + minute * 60_000).iso(),
            event: event.into(),
            host: "claude-code".into(),
            session: Some("91b38a40-3ead-4aa8-8407-24d36ddad7be".into()),
            project: Some("/home/someone/code/東京".into()),
            person: Person::There,
            ruling: ruling.into(),
            cost: HookCost { bytes: 300, tokens: 75, turns: 1, us: 1900 },
            ..Record::default()
        }
    }

    fn verdict(policy: &str, call: &str, because: &str) -> VerdictRecord {
        VerdictRecord {
            policy: policy.into(),
            call: call.into(),
            because: because.into(),
            ..VerdictRecord::default()
        }
    }

    fn blocked() -> Record {
        let model = "Run `npm test` on its own: src/ログイン.ts changed and no check has passed since. `npm test | tail -3` did not \
                     count, because the pipe hides its exit status.";
        let user = "Tidegate blocked \"done\": src/ログイン.ts changed and no check has passed since. Claude will run one; you don't \
                    need to do anything. Skip: `tidegate off verify-stop --for 1h`";
        let mut decides = verdict("verify-stop", "deny", "code was edited and not verified since");
        decides.reason = Some(model.into());
        decides.says.user = Some(user.into());
        decides.asks.verified = true;
        let mut shadow = verdict("task-gate", "deny", "the task has no evidence");
        shadow.shadow = true;
        shadow.reason = Some("Run a check before the task ends.".into());
        Record {
            verdicts: vec![decides, shadow, verdict("recording", "pass", "queued for the worker")],
            said: SaidTexts { model: Some(model.into()), user: Some(user.into()), dropped: 0 },
            ..record(2, "Stop", "deny")
        }
    }

    #[test]
    fn a_day_is_told_in_plain_words() {
        let verified = vec!["test".into(), "build".into()];
        let passed = Deeds { verified, passed: Some("npm test".into()), ..Deeds::default() };
        let hidden = Deeds { hidden: Some("npm test | tail -3".into()), ..Deeds::default() };
        let boundary = BoundaryRecord { of: 12, kept: Some(11), ..BoundaryRecord::default() };
        let failure =
            FailedCheck { class: "payload".into(), step: "the payload is not JSON".into(), closed: true };
        let mut told = record(1, "UserPromptSubmit", "pass");
        told.said.user = Some("Tidegate: about 2 turns until Claude Code compacts (17k tokens left).".into());
        told.verdicts =
            vec![VerdictRecord { says: told.said.clone(), ..verdict("context-warning", "pass", "") }];
        let records = vec![
            Record { cause: Some("startup".into()), ..record(0, "SessionStart", "pass") },
            told,
            blocked(),
            Record { did: hidden, ..record(3, "PostToolUse", "pass") },
            Record { did: passed, ..record(4, "PostToolUse", "pass") },
            Record {
                session: None,
                ..record(5, "tidegate off skill-gate --for 1h --project /home/someone/code/東京", "command")
            },
            Record { person: Person::Absent, ..record(5, "tidegate progress add", "command") },
            Record { boundary: Some(boundary), ..record(6, "SessionStart", "pass") },
            Record { failure: Some(failure), tool: Some("Edit".into()), ..record(7, "PreToolUse", "failed") },
            Record { host: "codex".into(), ..record(8, "PreToolUse", "foreign") },
            Record { tool: Some("\u{1b}[31mWrite\nLine".into()), ..record(9, "PreToolUse", "ask") },
            record(10, "PostToolUse", "pass"),
        ];
        let args = Args {
            follow: false,
            verbose: false,
            session: None,
            all: false,
            policy: None,
            last: 20,
            json: false,
        };
        let (mut page, mut day) = (Page::new(), String::new());
        let clock = LocalClock::utc(Millis(1_794_963_600_000));
        for record in records.iter().filter(|record| headline(record).is_some()) {
            add_record(&mut page, record, &args, &clock, &mut day);
        }
        assert_looks("log", &page);
        let verbose = Args { verbose: true, ..args };
        let (mut page, mut day) = (Page::new(), String::new());
        records[..3].iter().for_each(|record| add_record(&mut page, record, &verbose, &clock, &mut day));
        assert_looks("log-verbose", &page);
    }

    #[test]
    fn a_message_is_explained_with_its_reason() {
        let mut warns = verdict("context-warning", "pass", "a level was reached");
        warns.says.user = Some("Tidegate: about 2 turns until Claude Code compacts.".into());
        let said = SaidTexts { model: None, user: warns.says.user.clone(), dropped: 0 };
        let verdicts = vec![warns, verdict("recording", "pass", "queued for the worker")];
        let record = Record { verdicts, said, ..record(3, "PostToolUse", "pass") };
        let terminal = crate::print::terminal::Terminal { width: 120, has_colors: false, breaks_words: true };
        let page = explain_page(&record, &LocalClock::utc(Millis(1_794_990_000_000)));
        let text = page.render(tidegate_core::text::lang::Lang::En, terminal);
        assert!(text.contains("Why\n- context-warning: a level was reached\n"), "{text}");
        assert!(!text.contains("To get past it") && text.contains("Other policies"), "{text}");
    }

    #[test]
    fn a_block_is_explained_without_saying_anything_twice() {
        let clock = LocalClock::utc(Millis(1_794_963_600_000));
        let page = explain_page(&blocked(), &clock);
        assert_looks("explain", &page);
        let wide = page.render(
            tidegate_core::text::lang::Lang::En,
            crate::print::terminal::Terminal { width: 120, has_colors: false, breaks_words: true },
        );
        for once in ["Claude will run one", "because the pipe hides"] {
            assert_eq!(wide.matches(once).count(), 1, "{wide}");
        }
    }
}
