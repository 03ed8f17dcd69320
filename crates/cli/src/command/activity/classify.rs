//! `tidegate activity classify`: one phase per prompt, line by line.

use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::process::ExitCode;
use std::time::Instant;

use serde::Serialize;
use serde_json::Value;
use tidegate_core::feature::activity::classifier as phase;
use tidegate_core::feature::activity::classifier::Phase;

use super::Outcome;
use crate::bilingual::both;
use crate::error::CliError;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  echo '{\"prompt\": \"why does the build fail?\"}' | tidegate activity classify
  jq -c '{prompt}' prompts.json | tidegate activity classify --time

Prints one line of JSON for each line of input: the kind of work, and how sure
the classifier is, from 0 to 1. Kinds: research, brainstorm, spec, design, plan,
implement, debug, review, ship, reflect, other. A line that is not an object with
a prompt is reported on stderr, with its number.

Exit codes: 0 all lines were read, 1 some were not.")]
pub(crate) struct Args {
    /// Add the time that each prompt took, in microseconds
    #[arg(long)]
    pub(crate) time: bool,
}

/// Far above any pasted prompt. A longer line is skipped without being kept.
const LONGEST_LINE: u64 = 64 * 1024 * 1024;

pub(crate) fn run(args: &Args) -> Outcome {
    let mut input = BufReader::with_capacity(64 * 1024, io::stdin().lock());
    let mut output = BufWriter::with_capacity(64 * 1024, io::stdout().lock());
    let (mut bytes, mut wrong) = (Vec::new(), false);
    for number in 1_u64.. {
        bytes.clear();
        let read = input.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut bytes);
        if read.map_err(|error| {
            CliError::new(both!(
                "cannot read line {number} of stdin: {error}",
                "標準入力の{number}行目を読めません: {error}"
            ))
        })? == 0
        {
            break;
        }
        let answer = if bytes.len() as u64 == LONGEST_LINE && bytes.last() != Some(&b'\n') {
            input.skip_until(b'\n').map_err(CliError::new)?;
            Err(format!("longer than {} MiB", LONGEST_LINE >> 20))
        } else {
            read_prompt(&bytes).map(|prompt| AnswerLine::of(&prompt, args.time))
        };
        let line = answer.unwrap_or_else(|error| {
            CliError::new(both!("line {number}: {error}", "{number}行目: {error}")).report();
            wrong = true;
            AnswerLine::Error { error }
        });
        // A caller that sends the next prompt only after this answer must get it now.
        let waits = !input.buffer().contains(&b'\n');
        let written = serde_json::to_writer(&mut output, &line)
            .map_err(io::Error::from)
            .and_then(|()| output.write_all(b"\n"))
            .and_then(|()| if waits { output.flush() } else { Ok(()) });
        // A reader that went away is no error.
        if written.is_err() {
            break;
        }
    }
    let _ = output.flush();
    Ok(if wrong { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

#[derive(Serialize)]
#[serde(untagged)]
enum AnswerLine {
    Guess {
        phase: Phase,
        confidence: f64,
        #[serde(skip_serializing_if = "Option::is_none")]
        us: Option<f64>,
    },
    Error {
        error: String,
    },
}

impl AnswerLine {
    fn of(prompt: &str, timed: bool) -> AnswerLine {
        let start = Instant::now();
        let guess = phase::classify_prompt(prompt);
        let took = start.elapsed();
        AnswerLine::Guess {
            phase: guess.phase,
            // The classifier is not more precise than four digits.
            confidence: (guess.confidence * 10_000.0).round() / 10_000.0,
            us: timed.then(|| took.as_nanos() as f64 / 1000.0),
        }
    }
}

fn read_prompt(line: &[u8]) -> Result<String, String> {
    let value: Value =
        serde_json::from_slice(line).map_err(|error| format!("not JSON: {}", describe_error(&error)))?;
    match value {
        Value::Object(mut members) => match members.remove("prompt") {
            Some(Value::String(prompt)) => Ok(prompt),
            Some(_) => Err("`prompt` is not a string".to_owned()),
            None => Err("no `prompt` in the object".to_owned()),
        },
        _ => Err("not an object".to_owned()),
    }
}

/// Without the parser's line number: it sees one line only.
fn describe_error(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let (what, _) = text.rsplit_once(" at line ").unwrap_or((&text, ""));
    format!("{what} at column {}", error.column())
}
