//! `tidegate mcp`: the tools of the plugin, on stdin and stdout. One message a line, one answer before the next is read.

mod context_status;
mod protocol;
mod session;

use std::io::{self, BufRead, Read, Write};
use std::process::ExitCode;

/// No message to us is anywhere near as long. A longer one is passed over without being kept.
const LONGEST_LINE: u64 = 1024 * 1024;

/// Serves until the input ends or nobody reads the answers any more; neither is an error.
pub(crate) fn run() -> ExitCode {
    let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
    while let Ok(Some(line)) = next_line(&mut input) {
        let answer = match line {
            Line::Whole(bytes) => protocol::answer(&bytes),
            Line::TooLong => Some(protocol::too_long(LONGEST_LINE)),
        };
        let Some(answer) = answer else { continue };
        if writeln!(output, "{answer}").and_then(|()| output.flush()).is_err() {
            break;
        }
    }
    ExitCode::SUCCESS
}

enum Line {
    Whole(Vec<u8>),
    TooLong,
}

/// The next line that has something on it, or nothing at the end of the input.
fn next_line(input: &mut impl BufRead) -> io::Result<Option<Line>> {
    loop {
        let mut bytes = Vec::new();
        if input.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut bytes)? == 0 {
            return Ok(None);
        }
        if bytes.len() as u64 == LONGEST_LINE && bytes.last() != Some(&b'\n') {
            input.skip_until(b'\n')?;
            return Ok(Some(Line::TooLong));
        }
        if !bytes.trim_ascii().is_empty() {
            return Ok(Some(Line::Whole(bytes)));
        }
    }
}
