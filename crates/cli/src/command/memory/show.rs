//! `tidegate memory show`.

use std::process::ExitCode;

use serde::Serialize;
use tidegate_memory::act::{self, Standing};
use tidegate_memory::record;
use tidegate_memory::store::Store;
use tidegate_memory::view::{self, Decision, Filter, Log, MemoryProject, Topic};

use super::list;
use super::row_words::{
    ShownRow, decision_row, describe_author, describe_counts, describe_end, log_row, project_folder, topic_of,
};
use super::{Opened, line, nothing_recorded, team};
use crate::bilingual::{Bilingual, both, count_en};
use crate::command::Outcome;
use crate::error::CliError;
use crate::local_time::LocalClock;
use crate::print;
use crate::print::page::Page;
use crate::print::text::{Text, data};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate memory show topic 12
  tidegate memory show decision 7
  tidegate memory show log 3f9a2c
  tidegate memory show session 91b38a40-…
  tidegate memory show session 91b38a40-… --full   with the texts of its exchanges

The beginning of a log's id is enough.")]
pub(crate) struct Args {
    /// Kind of row
    #[arg(value_name = "WHAT")]
    pub(crate) what: ShowOf,
    /// Its id
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// Of a session: print all its exchanges with their texts
    #[arg(long)]
    pub(crate) full: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum ShowOf {
    Topic,
    Log,
    Decision,
    Session,
    Project,
}

/// Rows shown of each list that belongs to a row.
const WITH: usize = 20;

/// A topic with its newest rows.
#[derive(Serialize)]
pub(crate) struct WholeTopic {
    #[serde(flatten)]
    topic: Topic,
    latest_decisions: Vec<Decision>,
    latest_logs: Vec<Log>,
}

#[derive(Serialize)]
struct WholeSession {
    #[serde(flatten)]
    session: record::SessionRow,
    logs: Vec<Log>,
}

#[derive(Serialize)]
struct WholeDecision {
    #[serde(flatten)]
    decision: list::By<Decision>,
    /// What it said before it was changed, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    earlier: Vec<Decision>,
}

pub(super) fn run(args: &Args) -> Outcome {
    let Some(mut opened) = Opened::look()? else {
        return Err(nothing_recorded());
    };
    let clock = opened.clock();
    match args.what {
        ShowOf::Topic => {
            let topic = opened.find_topic(parse_number(&args.id)?)?;
            print_row(args.json, &read_topic(&mut opened.memory, topic)?, &clock, topic_page);
        }
        ShowOf::Decision => {
            let decision = opened.find_decision(parse_number(&args.id)?)?;
            let earlier = act::earlier_wordings(&mut opened.memory, &decision)?;
            let whole = WholeDecision { decision: list::By::from(decision), earlier };
            print_row(args.json, &whole, &clock, |whole, clock| {
                decision_page(&whole.decision.row, &whole.earlier, clock)
            });
        }
        ShowOf::Log => {
            let address = team::server_address(&opened.here).ok().flatten();
            let memory = &mut opened.memory;
            let found =
                tidegate_memory::team::find_log(memory, address.as_ref(), &args.id, team::patience())?;
            let log = match found {
                Some(log) => log,
                None => opened.find_log(&args.id)?,
            };
            print_row(args.json, &list::By::from(log), &clock, |log, clock| log_page(&log.row, clock));
        }
        ShowOf::Project => {
            print_row(args.json, &opened.find_project(&args.id)?, &clock, project_page);
        }
        ShowOf::Session => {
            let session = opened.memory.session_by_prefix(&args.id)?.ok_or_else(|| no_session(&args.id))?;
            let filter = Filter { session: Some(session.uid.clone()), ..Filter::default() };
            let mut page = view::Page { limit: if args.full { 1000 } else { WITH }, after: None };
            let mut logs = Vec::new();
            loop {
                let found = opened.memory.logs(&filter, &page)?;
                logs.extend(found.rows);
                page.after = found.next.filter(|_| args.full);
                if page.after.is_none() {
                    break;
                }
            }
            // As they happened.
            logs.reverse();
            let whole = WholeSession { session, logs };
            print_row(args.json, &whole, &clock, if args.full { full_session_page } else { session_page });
        }
    }
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn read_topic(store: &mut dyn Store, topic: Topic) -> tidegate_memory::error::Result<WholeTopic> {
    let filter = Filter { topic: Some(topic.id), all: true, ..Filter::default() };
    let page = view::Page { limit: WITH, after: None };
    let latest_decisions = store.decisions(&filter, &page)?.rows;
    let latest_logs = store.logs(&filter, &page)?.rows;
    Ok(WholeTopic { topic, latest_decisions, latest_logs })
}

fn print_row<T: Serialize>(json: bool, row: &T, clock: &LocalClock, page: fn(&T, &LocalClock) -> Page) {
    if json {
        print::json(row);
    } else {
        page(row, clock).print();
    }
}

pub(super) fn no_session(named: &str) -> CliError {
    let named = line(named, 80);
    CliError::new(both!("there is no session `{named}`", "`{named}` というセッションはありません")).hint(
        both!(
            "`tidegate memory list logs --json` names the session of each log",
            "各ログのセッションは `tidegate memory list logs --json` で見られます"
        ),
    )
}

pub(super) fn parse_number(text: &str) -> Result<i64, CliError> {
    text.parse().map_err(|_| {
        let text = line(text, 40);
        CliError::new(both!("`{text}` is not a number", "`{text}` は数字ではありません")).hint(both!(
            "`tidegate memory list` shows the numbers of topics, `tidegate memory list decisions` those of decisions",
            "トピックの番号は `tidegate memory list`、決定の番号は `tidegate memory list decisions` で見られます"
        ))
    })
}

fn project_page(project: &MemoryProject, _: &LocalClock) -> Page {
    let (id, name, topics) = (project.id, line(&project.row.name, 200), project.topics);
    let mut page = Page::new();
    page.heading(both!("Project {id}: {name}", "プロジェクト{id}: {name}"));
    let Bilingual { en, ja } = describe_counts(project.decisions, project.logs);
    page.pairs([
        (
            both!("holds", "内容").into(),
            both!("{n}, {en}", "トピック{topics}件、{ja}", n = count_en(topics as usize, "topic")).into(),
        ),
        (both!("folder", "フォルダ").into(), project_folder(project).into()),
    ]);
    page
}

pub(crate) fn topic_page(whole: &WholeTopic, clock: &LocalClock) -> Page {
    let topic = &whole.topic;
    let (id, title) = (topic.id, line(&topic.row.title, 200));
    let mut page = Page::new();
    page.heading(both!("Topic {id}: {title}", "トピック{id}: {title}"));
    let state = if topic.row.status == record::TopicStatus::Closed {
        both!("closed", "終了")
    } else {
        both!("open", "進行中")
    };
    let mut pairs: Vec<(Text, Text)> = vec![
        (both!("project", "プロジェクト").into(), data(line(&topic.in_project.name, 80))),
        (both!("state", "状態").into(), state.into()),
        (both!("last active", "最終更新").into(), data(clock.dated_minute(topic.active))),
        (both!("holds", "内容").into(), describe_counts(topic.decisions, topic.logs).into()),
    ];
    if topic.row.automatic.is_some() {
        let made = both!(
            "automatic; `tidegate memory topic edit {id} --title …` names it",
            "自動で作成。名前を付けるには `tidegate memory topic edit {id} --title …`"
        );
        pairs.push((both!("made", "作成").into(), made.into()));
    }
    pairs.extend(topic.part_of.as_ref().map(|parent| {
        (both!("part of", "親トピック").into(), data(format!("{}: {}", parent.id, line(&parent.name, 100))))
    }));
    page.pairs(pairs);
    let decisions: Vec<ShownRow> =
        whole.latest_decisions.iter().map(|one| decision_row(clock, one)).collect();
    let logs: Vec<ShownRow> = whole.latest_logs.iter().map(|one| log_row(clock, one)).collect();
    add_rows(&mut page, both!("Decisions", "決定"), &decisions);
    add_rows(&mut page, both!("Logs", "ログ"), &logs);
    page
}

fn add_rows(page: &mut Page, heading: Bilingual, rows: &[ShownRow]) {
    if !rows.is_empty() {
        page.heading(heading);
        page.pairs(rows.iter().map(ShownRow::pair));
    }
}

/// `earlier`: what it said before it was changed.
pub(crate) fn decision_page(decision: &Decision, earlier: &[Decision], clock: &LocalClock) -> Page {
    let (id, row) = (decision.id, &decision.row);
    let mut page = Page::new();
    page.heading(both!("Decision {id}", "決定{id}"));
    page.verbatim(row.text.as_str());
    page.gap();
    let mut pairs: Vec<(Text, Text)> = Vec::new();
    if !row.reason.is_empty() {
        pairs.push((both!("reason", "理由").into(), data(&row.reason)));
    }
    pairs.extend([
        (
            both!("topic", "トピック").into(),
            Text::from(topic_of(&decision.in_project.name, &decision.in_topic.name))
                + data(format!(" ({})", decision.in_topic.id)),
        ),
        (both!("written", "記入").into(), data(clock.exact(row.created))),
        (both!("by", "記入者").into(), describe_author(&act::author_of_decision(decision)).into()),
    ]);
    pairs.extend(
        describe_end(&Standing::of(decision))
            .map(|end| (both!("state", "状態").into(), Text::from(end).warning())),
    );
    page.pairs(pairs);
    for before in earlier {
        let until = clock.exact(before.row.retracted.unwrap_or(before.row.updated));
        page.heading(both!("Until {until}", "{until} まで"));
        page.verbatim(before.row.text.as_str());
        if !before.row.reason.is_empty() {
            page.pairs([(both!("reason", "理由").into(), data(&before.row.reason))]);
        }
    }
    page
}

pub(crate) fn log_page(log: &Log, clock: &LocalClock) -> Page {
    let row = &log.row;
    let mut page = Page::new();
    page.heading(data(line(&row.title, 200)));
    let mut pairs: Vec<(Text, Text)> = vec![
        (both!("log", "ログ").into(), data(line(&row.uid, 80))),
        (both!("time", "日時").into(), data(clock.exact(row.at))),
        (
            both!("topic", "トピック").into(),
            Text::from(topic_of(&log.in_project.name, &log.in_topic.name))
                + data(if log.in_topic.id == 0 { String::new() } else { format!(" ({})", log.in_topic.id) }),
        ),
        (both!("by", "記入者").into(), describe_author(&act::author_of_log(log)).into()),
    ];
    pairs.extend(
        row.session.as_ref().map(|session| (both!("session", "セッション").into(), data(line(session, 80)))),
    );
    if !row.files.is_empty() {
        pairs.push((both!("files", "ファイル").into(), data(line(&row.files.join(", "), 2000))));
    }
    let counted = |counts: &std::collections::BTreeMap<String, u32>| {
        let each: Vec<String> = counts.iter().map(|(name, times)| format!("{name} {times}")).collect();
        data(line(&each.join(", "), 500))
    };
    if !row.tools.is_empty() {
        pairs.push((both!("tools", "ツール").into(), counted(&row.tools)));
    }
    if !row.redacted.is_empty() {
        pairs.push((both!("removed", "伏せた内容").into(), counted(&row.redacted)));
    }
    pairs.extend(row.notes.iter().map(|note| (both!("note", "メモ").into(), data(line(note, 500)))));
    page.pairs(pairs);
    let texts = [
        (both!("Text", "本文"), &row.text),
        (both!("Prompt", "プロンプト"), &row.prompt),
        (both!("Answer", "回答"), &row.answer),
    ];
    for (heading, text) in texts.into_iter().filter(|(_, text)| !text.is_empty()) {
        page.heading(heading);
        page.verbatim(text.as_str());
    }
    page
}

fn session_page(whole: &WholeSession, clock: &LocalClock) -> Page {
    let session = &whole.session;
    let mut page = Page::new();
    let uid = line(&session.uid, 80);
    page.heading(both!("Session {uid}", "セッション {uid}"));
    let mut pairs: Vec<(Text, Text)> = vec![
        (both!("folder", "フォルダ").into(), data(line(&session.root, 400))),
        (both!("start", "開始").into(), data(clock.exact(session.created))),
        (both!("last", "最終更新").into(), data(clock.exact(session.updated))),
    ];
    pairs.extend(
        session.branch.as_ref().map(|branch| (both!("branch", "ブランチ").into(), data(line(branch, 80)))),
    );
    page.pairs(pairs);
    let logs: Vec<ShownRow> = whole.logs.iter().map(|one| log_row(clock, one)).collect();
    add_rows(&mut page, both!("Logs", "ログ"), &logs);
    page
}

fn full_session_page(whole: &WholeSession, clock: &LocalClock) -> Page {
    let mut page = session_page(&WholeSession { logs: Vec::new(), session: whole.session.clone() }, clock);
    for log in &whole.logs {
        page.heading(data(format!("{}  {}", clock.exact(log.row.at), line(&log.row.title, 120))));
        page.verbatim(log.row.text.as_str());
    }
    page
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tidegate_core::time::Millis;
    use tidegate_memory::view::NamedRow;

    use super::*;
    use crate::print::looks::assert_looks;

    const AT: Millis = Millis(1_794_743_488_759);

    fn named(id: i64, name: &str) -> NamedRow {
        NamedRow { id, name: name.to_owned() }
    }

    fn row<T: serde::de::DeserializeOwned>(value: serde_json::Value) -> T {
        serde_json::from_value(value).expect("a row")
    }

    fn log() -> Log {
        let row = row(json!({
            "uid": "3f9a2c11-0000-4000-8000-000000000001", "topic": "t", "session": "91b38a40-3ead", "source": "relay",
            "title": "The busy timeout of the store, and why the tests wait for it longer than expected",
            "text": "Asked for the timeout.", "prompt": "How long is it?", "answer": "Five seconds.\n\n```\nBUSY = 5\n```",
            "tools": { "Read": 3 }, "files": ["src/store.rs"], "redacted": { "token": 1 }, "at": AT, "updated": AT,
        }));
        Log {
            row,
            in_topic: named(12, "Search in two languages"),
            in_project: named(1, "shop"),
            author: None,
        }
    }

    fn decision() -> Decision {
        let row = row(json!({
            "uid": "d", "topic": "t", "text": "Bigrams for Japanese", "reason": "no dictionary to ship, and none to update",
            "created": AT, "updated": AT,
        }));
        Decision {
            id: 7,
            row,
            superseded_by: Some(9),
            in_topic: named(12, "Search in two languages"),
            in_project: named(1, "shop"),
            conflicts: vec![11],
            author: Some("bob".to_owned()),
        }
    }

    #[test]
    fn rows_look_well() {
        let clock = LocalClock::utc(AT);
        assert_looks("memory-log", &log_page(&log(), &clock));
        assert_looks("memory-decision", &decision_page(&decision(), &[], &clock));
        let topic = Topic {
            id: 12,
            row: row(json!({
                "uid": "t", "project": "p", "title": "Search in two languages", "status": "open", "automatic": "91b38a40",
                "created": AT, "updated": AT,
            })),
            in_project: named(1, "shop"),
            part_of: Some(named(3, "検索の改善")),
            logs: 1,
            decisions: 1,
            recorded: None,
            active: AT,
            author: None,
        };
        let rows = [super::super::row_words::topic_row(&clock, &topic)];
        assert_looks("memory-list", &list::rows_page(&rows));
        let whole = WholeTopic { topic, latest_decisions: vec![decision()], latest_logs: vec![log()] };
        assert_looks("memory-topic", &topic_page(&whole, &clock));
    }
}
