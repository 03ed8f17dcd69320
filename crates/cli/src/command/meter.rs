//! `tidegate meter`: one reading.

use std::path::PathBuf;
use std::process::ExitCode;

use tidegate_core::meter::short_tokens;
use tidegate_core::pipeline::record::MeterRecord;

use super::Outcome;
use crate::print;
use crate::print::format_count;
use crate::sessions::Here;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate meter                               the session of this project
  tidegate meter --session 91b38a40-… --json
  tidegate meter --transcript session.jsonl

Exit codes: 0 a reading, 3 the use is not known.")]
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
    if args.json {
        print::json(&record);
    } else {
        for line in describe_reading(&record) {
            print::line(&line);
        }
    }
    Ok(if record.used.is_some() { ExitCode::SUCCESS } else { ExitCode::from(UNKNOWN) })
}

/// For people: the number, its meaning, its source.
pub(crate) fn describe_reading(meter: &MeterRecord) -> Vec<String> {
    let Some(used) = meter.used else {
        return vec![format!(
            "context: unknown ({})",
            meter.unknown.as_deref().unwrap_or("no reason recorded")
        )];
    };
    let mut lines = Vec::new();
    match (meter.window, meter.used_pct, meter.left) {
        (Some(window), Some(percent), Some(left)) => {
            lines.push(format!(
                "context: {} {}% of {} tokens used ({used})",
                draw_bar(percent),
                percent.round(),
                short_tokens(window)
            ));
            let end = match meter.compact_at {
                Some(at) => format!("{} left before the client compacts at {at}", short_tokens(left)),
                None => format!(
                    "{} left before the window is full; the client does not compact before that",
                    short_tokens(left)
                ),
            };
            let turns =
                meter.shown_turns().map(|turns| format!(", about {}", format_count(turns as usize, "turn")));
            let turns = turns.unwrap_or_default();
            lines.push(format!("         {end}{turns}"));
        }
        _ => lines.push(format!("context: {used} tokens used, the window is not known")),
    }
    let freshness = match meter.freshness.as_str() {
        "current" => "current",
        _ => "may be one request behind",
    };
    lines.push(format!(
        "         from the {}, {} s old, {freshness}",
        meter.source.as_deref().unwrap_or("?"),
        meter.age_s.unwrap_or_default()
    ));
    lines
}

/// Twenty cells of five per cent.
fn draw_bar(percent: f64) -> String {
    let full = (percent / 5.0).round().clamp(0.0, 20.0) as usize;
    format!("[{}{}]", "#".repeat(full), "-".repeat(20 - full))
}
