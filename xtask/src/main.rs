//! Tasks of this repository: `cargo xtask`.

mod bench;
mod binary;
mod budget;
mod callgrind;
mod client;
mod deps;
mod docs;
mod e2e;
mod failure;
mod hook_path;
mod hosts;
mod layers;
mod notices;
mod package;
mod phase;
mod postgres;
mod print;
mod recovery;
mod stage;
mod supply;
mod test;
mod tools;
mod workspace;

use std::process::ExitCode;

use failure::{Done, Failure};

const USAGE: &str = "\
Usage: cargo xtask COMMAND

  test                       everything that CI checks; installs what the tests need
  e2e [--client V] [FILTER]  the scenarios on the real client (V: a version, or latest) and on other hosts
  deps [--write]             what the hook depends on, against crates/hook/dependencies.txt
  layers                     modules of the core use only those above them in lib.rs
  supply                     licences, sources and advisories of all locked packages, against deny.toml
  notices [--write]          licences of what the program contains: THIRD-PARTY-NOTICES.md
  docs [--write]             generated files: docs/, the plugin's hooks
  budget [--write]           instructions per hook run, against crates/hook/instructions.txt
  hook-path --write          the functions that hooks run, for the linker: crates/cli/hook-path.txt
  train-phase [--write]      the phase classifier's parameters, trained from corpus/phase
  train-phase --cross-validate  what they are worth, by parts of the training prompts
  eval-phase                 accuracy and confusion on the prompts that are held out
  recovery                   what survives a compaction on the real client, with and without Tidegate
  bench [--runs N]           times, growth, memory and 32 hooks at once, beside the goals
  bench store [--sizes A,B] [--runs N] [--only TEXT] [--in FOLDER] [--processes]
                             searches in a store of up to a million logs, beside the goal

Examples:
  cargo xtask test
  cargo xtask e2e pressure                run the scenarios whose name contains `pressure`
  cargo xtask e2e --client latest         run all of them on the newest client
  cargo xtask deps --write                accept a changed list of dependencies
  cargo xtask budget --write              accept changed instruction counts
  cargo xtask bench --runs 1000           more runs, steadier percentiles
  cargo xtask bench store --sizes 1000,100000  without the quarter of an hour that a million logs take";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match dispatch(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            print::to_stderr(&failure.text());
            ExitCode::FAILURE
        }
    }
}

fn dispatch(arguments: &[String]) -> Done {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    if words.is_empty() || words.iter().any(|word| matches!(*word, "--help" | "-h" | "help")) {
        print::line(USAGE);
        return Ok(());
    }
    match words.as_slice() {
        ["test"] => test::run(),
        ["e2e", rest @ ..] => e2e::run(rest),
        ["deps"] => deps::check(),
        ["deps", "--write"] => deps::write(),
        ["layers"] => layers::check(),
        ["supply"] => supply::check().map(drop),
        ["notices"] => notices::check(),
        ["notices", "--write"] => notices::write(),
        ["docs"] => docs::check(),
        ["docs", "--write"] => docs::write(),
        ["budget"] => budget::check(),
        ["budget", "--write"] => budget::write(),
        ["hook-path", "--write"] => hook_path::write(),
        ["train-phase"] => phase::check(),
        ["train-phase", "--write"] => phase::write(),
        ["train-phase", "--cross-validate"] => phase::cross_validate(),
        ["eval-phase"] => phase::evaluate(),
        ["recovery"] => recovery::run(),
        ["bench"] => bench::run(bench::RUNS),
        ["bench", "store", rest @ ..] => bench::store::run(rest),
        ["bench", "--runs", runs] => match runs.parse() {
            Ok(runs) if runs > 0 => bench::run(runs),
            _ => Err(Failure::new(format!("`{runs}` is no number of runs"))),
        },
        _ => Err(Failure::new(format!("no such command: `{}`", words.join(" ")))
            .next("`cargo xtask --help` lists the commands")),
    }
}
