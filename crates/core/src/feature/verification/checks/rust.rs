//! Rust: Cargo.

use crate::text::word_list::Words;

use crate::feature::verification::checks::kind::{CheckKind, Kinds};
use crate::feature::verification::checks::tool::{Tool, judge_tool, tool};
use crate::feature::verification::checks::{CheckCall, Contents, Ecosystem, examples_of, runs_nothing};

pub(super) static ECOSYSTEM: Ecosystem = Ecosystem {
    manifests: "Cargo.toml",
    other_files: "clippy.toml .clippy.toml",
    texts: "Cargo.toml",
    commands: "cargo cross wasm-pack bacon",
    read,
    judge: |call: &CheckCall<'_>| judge_tool(TOOLS, call.name, call.arguments).unwrap_or_default(),
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

fn read(name: &str, text: &str) -> Contents {
    match name {
        "Cargo.toml" if text.contains("lints.clippy]") => {
            Contents::shows(Kinds::COMPILED_TEST.and(Kinds::LINT))
        }
        "Cargo.toml" => Contents::shows(Kinds::COMPILED_TEST),
        _ => Contents::shows(Kinds::LINT),
    }
}
