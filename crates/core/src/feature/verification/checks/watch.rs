//! Commands that start again whenever a file changes. They run until they are stopped, and a stop is not a
//! success.

use crate::shell::{Step, Word};
use crate::text::word_list::{Words, among};

use crate::feature::verification::checks::ProjectChecks;
use crate::feature::verification::checks::tool::{has_option, operands};

/// With one of these, any command watches.
const OPTIONS: Words = "--watch --watchAll --watch-all --file-watch --continuous --looponfail";

/// Commands that watch with `-w`; for others it means something else.
const SHORT: Words =
    "vitest tsc tsgo vue-tsc mocha ava tap qunit vite webpack rollup pyright basedpyright ruff dune";

/// Commands that only watch.
const WATCHERS: Words =
    "nodemon watchexec entr chokidar onchange tsc-watch cargo-watch bacon ptw pytest-watch";

/// `--watch=false` and `--watch false` do not count.
pub(super) fn watches(name: &str, arguments: &[Word]) -> bool {
    let told = arguments.iter().enumerate().any(|(number, word)| {
        let (option, value) = match word.text.split_once('=') {
            Some((option, value)) => (option, Some(value)),
            None => (word.text.as_str(), arguments.get(number + 1).map(|next| next.text.as_str())),
        };
        among(OPTIONS, option) && value != Some("false")
    });
    told || among(WATCHERS, name)
        || among(SHORT, name) && has_option(arguments, "-w")
        // `cargo watch`, `vitest watch`, `tsx watch`.
        || operands(arguments, "").next() == Some("watch")
}

/// These decide by themselves, by the terminal or by `CI`.
pub(super) fn may_watch(name: &str, arguments: &[Word]) -> bool {
    match name {
        "vitest" => !has_option(arguments, "run related --run --no-watch --watch"),
        "react-scripts" | "ng" => {
            matches!(operands(arguments, "").next(), Some("test" | "t"))
                && !has_option(arguments, "--no-watch --watch --watchAll")
        }
        _ => false,
    }
}

pub(super) fn may_stay(project: &ProjectChecks, step: &Step) -> bool {
    let Some(name) = crate::feature::verification::checks::name_of(step) else { return false };
    let arguments = step.words.get(1..).unwrap_or_default();
    watches(name, arguments) || project.background && may_watch(name, arguments)
}
