//! The cost of classifying a prompt: in a warm process, and in a new one whose weights are not mapped yet.

use std::process::Output;
use std::time::Duration;

use serde_json::{Value, json};

use super::programs::Programs;
use super::samples::Samples;
use super::table::goal_verdict;
use crate::phase;
use crate::stage::{self, Stage};
use xtask::failure::{Done, Failure, While};
use xtask::print;

/// In microseconds.
const GOAL: f64 = 200.0;

/// The longest text that the classifier reads, and a longer one.
const LONG: [(&str, usize); 2] = [("2 KiB of text", 2 * 1024), ("1 MiB of text", 1024 * 1024)];

pub(crate) fn measure(stage: &Stage, programs: &Programs, runs: usize) -> Done {
    let prompts = phase::held_out()?;
    // The first call of a process is cold.
    let warm = classify_times(stage, programs, prompts.iter().map(String::as_str))?.split_off(1);
    print_times("held-out prompts, one after the other", &warm.into());
    let mut cold = Samples::default();
    for prompt in prompts.iter().cycle().step_by(7).take(runs) {
        classify_times(stage, programs, [prompt.as_str()].into_iter())?
            .into_iter()
            .for_each(|time| cold.push(time));
    }
    print_times("held-out prompts, each the first of its process", &cold);
    for (what, size) in LONG {
        let sentence = "we looked at the importer and it keeps every row in memory. ";
        let text = "why is it slow? ".to_owned() + &sentence.repeat(size / sentence.len());
        print_times(what, &classify_times(stage, programs, std::iter::repeat_n(text.as_str(), 20))?.into());
    }
    Ok(())
}

fn print_times(what: &str, times: &Samples) {
    let (p50, p99) = (times.percentile(50), times.percentile(99));
    let verdict = goal_verdict(p50 <= GOAL);
    print::line(&format!("    {what}: p50 {p50:.0} µs, p99 {p99:.0} µs (goal < {GOAL:.0} µs) {verdict}"));
}

/// As measured by the binary itself.
fn classify_times<'a>(
    stage: &Stage,
    programs: &Programs,
    prompts: impl Iterator<Item = &'a str>,
) -> Done<Vec<Duration>> {
    let input: String = prompts.map(|prompt| json!({ "prompt": prompt }).to_string() + "\n").collect();
    let mut command = stage.command(&programs.shipped);
    let (_, Output { stdout, .. }) =
        stage::run_with_input(command.args(["activity", "classify", "--time"]), input.as_bytes())?;
    let time = |line: &str| {
        let answer: Value = serde_json::from_str(line).while_("reading what `activity classify` prints")?;
        let us = answer["us"].as_f64().ok_or_else(|| Failure::new(format!("no time in {answer}")))?;
        Ok(Duration::from_secs_f64(us / 1e6))
    };
    String::from_utf8_lossy(&stdout).lines().map(time).collect()
}
