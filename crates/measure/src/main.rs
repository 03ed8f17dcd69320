//! Measurements of hooks, replays of real sessions, and the classifiers: tasks of `cargo xtask` that need Tidegate's own code.

mod bench;
mod binary;
mod budget;
mod callgrind;
mod constraint;
mod goals;
mod hook_path;
mod learning;
mod phase;
mod question;
mod replay;
mod search;
mod soak;
mod stage;

use std::process::ExitCode;

use xtask::failure::{self, Done, Failure};

fn main() -> ExitCode {
    failure::exit_code(dispatch())
}

fn dispatch() -> Done {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["budget"] => budget::check(),
        ["budget", "--write"] => budget::write(),
        ["hook-path", "--write"] => hook_path::write(),
        ["train-phase"] => phase::check(),
        ["train-phase", "--write"] => phase::write(),
        ["train-phase", "--cross-validate"] => phase::cross_validate(),
        ["eval-phase"] => phase::evaluate(),
        ["replay-corpus", rest @ ..] => replay::run(rest),
        ["eval-question"] => question::evaluate(),
        ["train-constraints"] => constraint::check(),
        ["train-constraints", "--write"] => constraint::write(),
        ["train-constraints", "--cross-validate"] => constraint::cross_validate(false),
        ["train-constraints", "--cross-validate", "--misses"] => constraint::cross_validate(true),
        ["eval-constraints"] => constraint::evaluate(),
        ["eval-constraints", "--set", folder] => constraint::evaluate_set(folder),
        ["eval-question", file] => question::evaluate_file(file),
        ["eval-search"] => search::evaluate(search::Set::Split, search::Show::Table),
        ["eval-search", "--json"] => search::evaluate(search::Set::Split, search::Show::Json),
        ["eval-search", "--misses"] => search::evaluate(search::Set::Split, search::Show::Misses),
        ["eval-search", "--fresh"] => search::evaluate(search::Set::Fresh, search::Show::Table),
        ["eval-search", "--fresh-2"] => search::evaluate(search::Set::Fresh2, search::Show::Table),
        ["eval-search", "--set", folder] => {
            search::evaluate(search::Set::Folder(folder), search::Show::Table)
        }
        ["bench"] => bench::run(bench::RUNS),
        ["bench", "hosts"] => bench::hosts::run(),
        ["bench", "store", rest @ ..] => bench::store::run(rest),
        ["bench", "team", rest @ ..] => bench::store::run_team(rest),
        ["bench", "replay", rest @ ..] => bench::store::run_replay(rest),
        ["soak", rest @ ..] => soak::run(rest),
        ["bench", "serve", rest @ ..] => bench::pages::run(rest),
        ["bench", rest @ ..] if matches!(rest.first(), Some(&("worker" | "import"))) => {
            bench::store::run_recording(rest)
        }
        ["bench", "--runs", runs] => match runs.parse() {
            Ok(runs) if runs > 0 => bench::run(runs),
            _ => Err(Failure::new(format!("`{runs}` is no number of runs"))),
        },
        _ => Err(failure::no_such_command(&words)),
    }
}
