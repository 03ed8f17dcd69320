//! `cargo xtask budget [--write]`: instructions per hook run against the committed counts.
//!
//! Counts, unlike times, do not depend on the load of the machine.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use crate::binary::{self, Link};
use crate::callgrind;
use crate::stage::{CASES, HOST_CASES};
use xtask::failure::{Done, Failure, While};
use xtask::print;
use xtask::tools;
use xtask::workspace::{self, step};

/// Larger than the difference between processors and C libraries, which choose other string routines.
const TOLERANCE: f64 = 0.05;

/// With this much room, the file no longer guards anything.
const SLACK: f64 = 0.15;

const ARCHITECTURE: &str = "x86_64";

const HEADER: &str = "\
# Instructions of one hook run (callgrind, profile `dist`, x86_64 Linux), one case a line.
# `cargo xtask budget` fails when a case needs 5% more; `cargo xtask budget --write` accepts.
";

pub(crate) fn check() -> Done {
    let path = counts_file();
    let text = fs::read_to_string(&path).while_(path.display())?;
    let wanted = parse_counts(&text)?;
    let found = count_all_cases()?;
    if std::env::consts::ARCH != ARCHITECTURE {
        print::line(&format!("    not compared: the committed counts are for {ARCHITECTURE}"));
        return Ok(());
    }
    let (mut over, mut under) = (Vec::new(), Vec::new());
    for (name, count) in &found {
        let Some(budget) = wanted.get(*name) else {
            over.push(format!("{name} has no count in the file"));
            continue;
        };
        let change = *count as f64 / *budget as f64 - 1.0;
        if change > TOLERANCE {
            over.push(format!("{name}: {count} instructions, {:+.1}% of {budget}", change * 100.0));
        } else if change < -SLACK {
            under.push(*name);
        }
    }
    if !under.is_empty() {
        print::line(&format!("    well below budget: {}; `cargo xtask budget --write`", under.join(", ")));
    }
    if over.is_empty() {
        return Ok(());
    }
    Err(Failure::new(format!("over the budget of {}:\n  {}", path.display(), over.join("\n  ")))
        .next("make it cheaper, or accept the counts with `cargo xtask budget --write` and say why"))
}

pub(crate) fn write() -> Done {
    if std::env::consts::ARCH != ARCHITECTURE {
        return Err(Failure::new(format!("the committed counts are for {ARCHITECTURE}, this is another")));
    }
    let mut text = HEADER.to_owned();
    for (name, count) in count_all_cases()? {
        let _ = writeln!(text, "{name} {count}");
    }
    let path = counts_file();
    fs::write(&path, text).while_(path.display())
}

fn counts_file() -> PathBuf {
    workspace::root().join("crates/hook/instructions.txt")
}

fn count_all_cases() -> Done<Vec<(&'static str, u64)>> {
    if !tools::is_on_path("valgrind") {
        return Err(
            Failure::new("valgrind is missing").next("install it (Debian: `apt-get install valgrind`)")
        );
    }
    let binary = step("binary as shipped", || binary::build(Link::Shipped))?;
    let mut counts = Vec::new();
    for case in CASES.into_iter().chain(HOST_CASES) {
        let count = callgrind::count_instructions(&binary, &case)?;
        print::line(&format!("    {:<22}{count:>12}", case.name));
        counts.push((case.name, count));
    }
    Ok(counts)
}

fn parse_counts(text: &str) -> Done<BTreeMap<&str, u64>> {
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    lines
        .map(|line| {
            let parsed =
                line.split_once(' ').and_then(|(name, count)| Some((name, count.trim().parse().ok()?)));
            parsed.ok_or_else(|| Failure::new(format!("{}: cannot read {line:?}", counts_file().display())))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_read() {
        let counts = parse_counts("# words\nStop 12\n\nstatusline 7\n").unwrap();
        assert_eq!((counts["Stop"], counts["statusline"], counts.len()), (12, 7, 2));
        assert!(parse_counts("Stop\n").is_err());
        assert!(parse_counts("Stop many\n").is_err());
    }
}
