//! `tidegate memory export`: one row a line.

use std::io::{BufWriter, Write};
use std::process::ExitCode;

use tidegate_memory::error::{Error, ErrorKind};
use tidegate_memory::store::Store;

use super::Opened;
use crate::command::Outcome;
use crate::error::CliError;
use crate::print;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate memory export > memory.jsonl
  tidegate memory export | jq -c 'select(.kind == \"decision\")'

Prints one object a line, with a member `kind`: project, topic, session, log, decision.
Times are milliseconds since 1970. `tidegate memory import` reads the same, on any
machine and as often as you like.")]
pub(crate) struct Args;

pub(super) fn run() -> Outcome {
    let Some(mut opened) = Opened::look()? else { return Ok(ExitCode::SUCCESS) };
    let mut out = BufWriter::new(std::io::stdout().lock());
    let gone = std::cell::Cell::new(false);
    let failed = |error: std::io::Error| {
        gone.set(error.kind() == std::io::ErrorKind::BrokenPipe);
        Error::new(ErrorKind::Io, format!("stdout: {error}"))
    };
    let done = opened.memory.for_each_record(&mut |record| {
        let line =
            print::json_text(&record).map_err(|error| Error::new(ErrorKind::Other, error.to_string()))?;
        writeln!(out, "{line}").map_err(failed)
    });
    match done.and_then(|()| out.flush().map_err(failed)) {
        Err(error) if !gone.get() => Err(CliError::from(error)),
        _ => Ok(ExitCode::SUCCESS),
    }
}
