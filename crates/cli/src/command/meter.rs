//! `tidegate meter`: one reading.

use std::path::PathBuf;
use std::process::ExitCode;

use tidegate_core::host::Host;
use tidegate_core::meter::{NoReading, short_tokens};
use tidegate_core::pipeline::record::MeterRecord;
use tidegate_state::host::transcript::find_writer;

use super::Outcome;
use crate::bilingual::{Bilingual, both, count_en};
use crate::host::agent_name;
use crate::print;
use crate::print::page::Page;
use crate::print::text::{Text, data};
use crate::sessions::Here;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate meter                               this project's newest session
  tidegate meter --session 91b38a40-… --json
  tidegate meter --transcript session.jsonl

Exit codes: 0 a reading, 3 the context use is not known.")]
pub(crate) struct Args {
    /// Read this transcript
    #[arg(long, value_name = "PATH", conflicts_with = "session")]
    pub(crate) transcript: Option<PathBuf>,
    /// Read this session
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Its own exit code, so that a script can tell an unknown use from an error.
const UNKNOWN: u8 = 3;

pub(crate) fn run(args: &Args) -> Outcome {
    let here = Here::find()?;
    let session = match &args.transcript {
        Some(_) => None,
        None => Some(here.session(args.session.as_deref())?),
    };
    let (meter, forecast) = here.meter(session.as_ref(), args.transcript.as_deref());
    let record = MeterRecord::from_meter(&meter, forecast, here.now);
    let host = match (&session, &args.transcript) {
        (Some(session), _) => session.id.host().name().to_owned(),
        (None, path) => path.as_deref().and_then(find_writer).unwrap_or_default().name().to_owned(),
    };
    if args.json {
        print::json(&record);
    } else {
        let mut page = Page::new();
        page.pairs([(both!("context", "コンテキスト").into(), describe_reading(&record, &host))]);
        page.print();
    }
    Ok(if record.used.is_some() { ExitCode::SUCCESS } else { ExitCode::from(UNKNOWN) })
}

/// For people, in lines: the number, what is left, where it comes from.
pub(crate) fn describe_reading(meter: &MeterRecord, host: &str) -> Text {
    let Some(used) = meter.used else { return describe_unknown(meter, host) };
    let (Some(window), Some(percent), Some(left)) = (meter.window, meter.used_pct, meter.left) else {
        return Text::from(both!(
            "{used} tokens used; the size of the window is not known",
            "{used}トークン使用（コンテキストの大きさは不明です）"
        )) + describe_source(meter);
    };
    let bar = tidegate_core::meter::words::bar(used, meter.compact_at.unwrap_or(window));
    let (percent, window) = (percent.round(), short_tokens(window));
    let bar = match meter.level {
        Some(75..) => data(bar).bad(),
        Some(60..) => data(bar).warning(),
        _ => data(bar).good(),
    };
    bar + both!(" {percent}% of {window} tokens used", " {window}トークン中{percent}%使用")
        + describe_rest(meter, left, Host::title(host))
        + describe_source(meter)
}

fn describe_unknown(meter: &MeterRecord, host: &str) -> Text {
    let agent = agent_name(host);
    let why = meter.unknown.as_deref().unwrap_or_default();
    Text::from(if why == NoReading::NothingYet.to_string() {
        both!("not known yet: {agent} has not answered", "まだわかりません（{agent} の回答がまだありません）")
    } else {
        both!("not known: {why}", "わかりません: {why}")
    })
    .dim()
}

fn describe_rest(meter: &MeterRecord, left: u64, host: &str) -> Bilingual {
    let left = short_tokens(left);
    let Bilingual { en, ja } = describe_turns(meter).unwrap_or_default();
    match meter.compact_at {
        Some(_) => both!(
            "\n{left} tokens left before {host} compacts{en}",
            "\n{host} の圧縮まで残り{left}トークン{ja}"
        ),
        None => both!(
            "\n{left} tokens left in the window{en}; {host} does not compact by itself",
            "\n残り{left}トークン{ja}（{host} は自動では圧縮しません）"
        ),
    }
}

fn describe_turns(meter: &MeterRecord) -> Option<Bilingual> {
    let turns = meter.shown_turns()?;
    Some(both!(
        ", about {count}",
        "、あと約{turns}ターン",
        count = count_en(turns as usize, "turn"),
        turns = turns
    ))
}

fn describe_source(meter: &MeterRecord) -> Text {
    let Bilingual { en, ja } = match meter.source.as_deref() {
        Some("bridge") => both!("the status line", "ステータスライン"),
        Some("payload") => both!("what the agent told a hook", "フックに伝えられた数値"),
        Some("boundary") => both!("the compaction's own estimate", "圧縮時の見積もり"),
        _ => both!("the transcript", "会話の記録"),
    };
    let age = describe_age(meter.age_s.unwrap_or_default());
    let (age_en, age_ja) = (age.en, age.ja);
    Text::from(if meter.freshness == "current" {
        both!("\nread from {en}, {age_en}", "\n{ja}から、{age_ja}に取得")
    } else {
        both!(
            "\nread from {en}, {age_en}; may be one request behind",
            "\n{ja}から、{age_ja}に取得（1回分古い場合があります）"
        )
    })
    .dim()
}

fn describe_age(seconds: u64) -> Bilingual {
    match (seconds / 3600, seconds / 60) {
        (0, 0) => both!("{seconds} s ago", "{seconds}秒前"),
        (0, minutes) => both!("{minutes} min ago", "{minutes}分前"),
        (hours, _) => both!("{hours} h ago", "{hours}時間前"),
    }
}
