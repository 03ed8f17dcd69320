//! Rust: Cargo.

use crate::text::word_list::Words;

use crate::feature::verification::checks::kind::{CheckKind, Kinds};
use crate::feature::verification::checks::language::Languages;
use crate::feature::verification::checks::proven::Proven;
use crate::feature::verification::checks::tool::{Tool, has_option, judge_tool, operands, tool};
use crate::feature::verification::checks::{CheckCall, Contents, Ecosystem, examples_of, runs_nothing};

pub(super) static ECOSYSTEM: Ecosystem = Ecosystem {
    manifests: "Cargo.toml",
    other_files: "clippy.toml .clippy.toml",
    texts: "Cargo.toml",
    commands: "cargo cross wasm-pack bacon",
    alone: "",
    read,
    judge: judge_rust,
    reads: Languages::RUST.and(Languages::C).and(Languages::OTHER),
    folder_options: "--manifest-path -C",
    runs: runs_nothing,
    examples: |_, _| {
        examples_of(&[
            (CheckKind::Test, "cargo test"),
            (CheckKind::Typecheck, "cargo check"),
            (CheckKind::Build, "cargo build"),
            (CheckKind::Lint, "cargo clippy"),
        ])
    },
};

/// Options that Cargo takes before its verb.
const BEFORE: Words = "--manifest-path --config --color -C -Z --target-dir";

const fn cargo(verbs: Words, gives: Kinds) -> Tool {
    tool("cargo", verbs, gives).valued(BEFORE)
}

static TOOLS: &[Tool] = &[
    cargo("test t", Kinds::COMPILED_TEST).unless("--build-plan"),
    cargo("nextest", Kinds::COMPILED_TEST).needs("run r"),
    cargo("llvm-cov tarpaulin", Kinds::COMPILED_TEST).unless("clean report show-env"),
    cargo("miri", Kinds::COMPILED_TEST).needs("test nextest"),
    cargo("hack", Kinds::COMPILED_TEST).needs("test"),
    cargo("hack", Kinds::TYPECHECK).needs("check"),
    cargo("check c", Kinds::TYPECHECK),
    cargo("build b", Kinds::COMPILES).unless("--build-plan --unit-graph"),
    cargo("clippy", Kinds::LINT.and(Kinds::TYPECHECK)),
    tool("cross", "test t", Kinds::COMPILED_TEST),
    tool("cross", "check c", Kinds::TYPECHECK),
    tool("cross", "build b", Kinds::COMPILES),
    tool("cross", "clippy", Kinds::LINT.and(Kinds::TYPECHECK)),
    tool("wasm-pack", "test", Kinds::COMPILED_TEST),
    tool("wasm-pack", "build", Kinds::COMPILES),
];

/// Options with which a compiler reads tests too.
const TARGETS: Words = "--all-targets --tests --test --no-run";

fn judge_rust(call: &CheckCall<'_>) -> Proven {
    // Before the verb these only print.
    let verb = operands(call.arguments, BEFORE).next().unwrap_or_default();
    let before = call.arguments.iter().take_while(|word| word.text != verb);
    if before.clone().any(|word| matches!(word.text.as_str(), "-V" | "--list")) {
        return Proven::NONE;
    }
    let mut kinds = judge_tool(TOOLS, call.name, call.arguments).unwrap_or_default();
    if has_option(call.arguments, "--no-run") {
        kinds = kinds.without(Kinds::TEST);
    }
    let proven = Proven::from(kinds).reading(ECOSYSTEM.reads);
    if !kinds.is_empty() && has_option(call.arguments, TARGETS) {
        return Proven { reads: proven.reads.and(Languages::TESTS), ..proven };
    }
    // A linter reads tests only where it is told to.
    let no_tests = if kinds.has(CheckKind::Test) { Languages::NONE } else { Languages::TESTS };
    Proven { reads: proven.reads.without(no_tests), ..proven }
}

fn read(name: &str, text: &str) -> Contents {
    let package = name_in(text).filter(|_| name == "Cargo.toml");
    Contents { package, ..shown(name, text) }
}

/// `name = "…"` below `[package]`.
fn name_in(text: &str) -> Option<String> {
    let (_, package) = text.split_once("[package]")?;
    let lines = package.lines().take_while(|line| !line.starts_with('['));
    let (_, value) = lines.filter_map(|line| line.split_once('=')).find(|(key, _)| key.trim() == "name")?;
    Some(value.trim().trim_matches('"').to_owned())
}

fn shown(name: &str, text: &str) -> Contents {
    match name {
        "Cargo.toml" if text.contains("lints.clippy]") => {
            Contents::shows(Kinds::COMPILED_TEST.and(Kinds::LINT))
        }
        "Cargo.toml" => Contents::shows(Kinds::COMPILED_TEST),
        _ => Contents::shows(Kinds::LINT),
    }
}
