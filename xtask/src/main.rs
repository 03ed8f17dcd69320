//! Tasks of this repository: `cargo xtask`.

mod background;
mod browser;
mod built;
mod client;
mod deps;
mod dist;
mod docs;
mod e2e;
mod history;
mod hosts;
mod installs;
mod layers;
mod long;
mod notices;
mod package;
mod passed;
mod pictures;
mod postgres;
mod recovery;
mod scratch;
mod selection;
mod supply;
mod test;
mod transcripts;
mod upgrade;
mod words;

use std::process::ExitCode;

use xtask::failure::{self, Done};
use xtask::{print, tools, workspace};

const USAGE: &str = "\
Usage: cargo xtask COMMAND

  test [--all]               everything that CI checks; installs what the tests need. After a change in some rooms
                             (crates/e2e/scenarios.txt) it leaves what these hardly affect to CI, unless --all
  e2e [--client V] [FILTER]  the scenarios on the real client (V: a version, or latest) and on other hosts
  browser                    the pages of `tidegate serve` in Chromium
  dist [--out DIR]           what a release is, for this machine: archive, npm and Debian packages, plugin, sums, SBOM
  installs                   each of these packages in a clean home: demo, init, a hook, doctor, uninstall, the client
  upgrade                    a home that the program of 0.1.0 wrote, on the real client: to this version, back, and here again
  deps [--write]             what the hook depends on, against crates/hook/dependencies.txt
  layers                     modules of the core use only those above them in lib.rs
  words                      texts for people and models avoid words that readers stumbled over
  supply                     licences, sources and advisories of all locked packages, against deny.toml
  notices [--write]          licences of what the program contains: THIRD-PARTY-NOTICES.md
  docs [--write]             generated files: docs/, the plugin's hooks
  pictures [--write]         docs/pictures: the terminal after some commands, drawn from what they print, and pages in Chromium
  budget [--write]           instructions per hook run, against crates/hook/instructions.txt
  hook-path --write          the functions that hooks run, for the linker: crates/cli/hook-path.txt
  train-phase [--write]      the phase classifier's parameters, trained from corpus/phase
  train-phase --cross-validate  what they are worth, by parts of the training prompts
  eval-phase                 accuracy and confusion on the prompts that are held out
  replay-corpus [DIR] [--part tune|held-out|all] [--show] [--json]
                             what verify-stop would have said in real sessions, against the labels in corpus/verify
  eval-question [FILE]       precision, recall and confusion on messages that wait for the person, or do not: those of
                             corpus/question, or those of a file of the same form
  train-constraints [--write]  the parameters of the classifier of constraints, trained from corpus/constraint
  train-constraints --cross-validate  what they are worth on prompts of an author who is left out
  eval-constraints [--set DIR]
                             precision and recall on the sentences of prompts that forbid, require or limit something: those of
                             corpus/constraint, or only figures for constraints.*.jsonl and lift.*.jsonl of a folder
  eval-search [--misses] [--json] [--fresh | --fresh-2 | --set DIR]
                             recall and rank of the memory's search on the queries of corpus/search, beside a plain BM25;
                             of DIR only the figures are shown
  long [PART]                what takes longer than a change should wait for; CI leaves it out. Without PART, all of it:
    long soak [--minutes N] [--sessions N] [--program FILE]
                             10,000 sessions in an hour, several at once: fails if memory, files or processor time grow, or
                             something is lost
    long double              two builds of this commit in two folders, byte for byte
    long fuzz [--seconds N] [LAW…]
                             each parser under a fuzzer, from the inputs in crates/parser-laws
    long serve, long replay  the benchmarks of that name below
  recovery                   what survives a compaction on the real client, with and without Tidegate
  bench [--runs N]           times, growth, memory and 32 hooks at once, beside the goals
  bench store [--sizes A,B] [--runs N] [--only TEXT] [--in FOLDER] [--processes]
                             searches in a store of up to a million logs, beside the goal
  bench team [--members N] [--logs N] [--seconds N]
                             pushes, pulls and searches of 500 members with 500,000 logs on one PostgreSQL server
  bench worker [--exchanges N]  how many exchanges the worker stores in a second
  bench replay [--megabytes N] [--in FOLDER] [--of FOLDER]
                             the replay of 2,000 transcripts with 5 GB, which it makes and deletes, or of those in a folder:
                             twice, with the same numbers; fails if it is too slow or takes too much memory
  bench serve [--sessions N] [--logs N] [--samples N] [--program FILE]
                             pages of `tidegate serve` with 10,000 sessions and a million logs, and its cost while idle;
                             fails if the first page or the cost misses its goal
  bench import [--megabytes N] [--in FOLDER]
                             the import of 5 GB of transcripts: once, twice, killed and continued, while the worker records

Examples:
  cargo xtask test
  cargo xtask e2e pressure                run the scenarios whose name contains `pressure`
  cargo xtask e2e --client latest         run all of them on the newest client
  cargo xtask deps --write                accept a changed list of dependencies
  cargo xtask budget --write              accept changed instruction counts
  cargo xtask replay-corpus ../transcripts --part held-out  figures of the part that no rule was tuned on
  cargo xtask bench --runs 1000           more runs, steadier percentiles
  cargo xtask bench store --sizes 1000,100000  without the quarter of an hour that a million logs take";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    failure::exit_code(dispatch(&arguments))
}

fn dispatch(arguments: &[String]) -> Done {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    if words.is_empty() || words.iter().any(|word| matches!(*word, "--help" | "-h" | "help")) {
        print::line(USAGE);
        return Ok(());
    }
    match words.as_slice() {
        ["test"] => test::run(false),
        ["test", "--all"] => test::run(true),
        ["e2e", rest @ ..] => e2e::run(rest),
        ["browser"] => browser::run(),
        ["dist", rest @ ..] => dist::run(rest),
        ["installs"] => installs::run(),
        ["upgrade"] => upgrade::run(),
        ["deps"] => deps::check(),
        ["deps", "--write"] => deps::write(),
        ["layers"] => layers::check(),
        ["words"] => words::check(),
        ["supply"] => supply::check().map(drop),
        ["notices"] => notices::check(),
        ["notices", "--write"] => notices::write(),
        ["docs"] => docs::check(),
        ["docs", "--write"] => docs::write(),
        ["pictures"] => pictures::check(),
        ["pictures", "--write"] => pictures::write(),
        [
            "budget" | "hook-path" | "train-phase" | "eval-phase" | "eval-question" | "train-constraints"
            | "eval-constraints" | "eval-search" | "bench" | "replay-corpus",
            ..,
        ] => measure(&words),
        ["long", rest @ ..] => long::run(rest),
        ["recovery"] => recovery::run(),
        _ => Err(failure::no_such_command(&words)),
    }
}

/// These tasks need Tidegate's own code, which the other tasks should not wait for.
fn measure(words: &[&str]) -> Done {
    let run = ["run", "--quiet", "--locked", "--package", "tidegate-measure", "--"];
    workspace::run(workspace::cargo(&run).args(words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_of_the_workflows_exist() {
        let mut found = 0;
        for name in ["ci.yml", "release.yml"] {
            let path = workspace::root().join(".github/workflows").join(name);
            let text = std::fs::read_to_string(&path).unwrap();
            for (at, start) in text.match_indices("run: cargo xtask ") {
                let task = text[at + start.len()..].split_whitespace().next().unwrap();
                assert!(USAGE.contains(&format!("\n  {task} ")), "{name}: {task}");
                found += 1;
            }
        }
        assert!(found >= 4, "{found} tasks");
    }
}
