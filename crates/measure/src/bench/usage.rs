//! Resource usage of one run, from GNU time.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::stage::{self, Stage};
use xtask::failure::{Done, While};

/// As GNU time spells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Count {
    /// Peak memory in KiB.
    Peak,
    /// Page faults without disk access.
    Faults,
}

pub(crate) fn count_usage(
    stage: &Stage,
    call: &Command,
    payload: &str,
    what: Count,
) -> Done<(usize, Output)> {
    let report = stage.at("usage");
    let format = match what {
        Count::Peak => "%M",
        Count::Faults => "%R",
    };
    let mut time = stage.command(Path::new("time"));
    time.args(["-f", format, "-o"]).arg(&report).arg(call.get_program()).args(call.get_args());
    let (_, output) = stage::run_with_input(&mut time, payload.as_bytes())?;
    let text = fs::read_to_string(&report).while_(report.display())?;
    let count = text.lines().last().unwrap_or_default().trim().parse().while_("reading what time says")?;
    Ok((count, output))
}
