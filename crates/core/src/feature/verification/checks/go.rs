//! Go.

use crate::feature::verification::checks::kind::{CheckKind, Kinds};
use crate::feature::verification::checks::language::Languages;
use crate::feature::verification::checks::tool::{Tool, has_option, judge_tool, option_text, tool};
use crate::feature::verification::checks::{CheckCall, Contents, Ecosystem, examples_of, runs_nothing};

pub(super) static ECOSYSTEM: Ecosystem = Ecosystem {
    manifests: "go.mod go.work",
    other_files: ".golangci.yml .golangci.yaml .golangci.toml",
    texts: "",
    commands: "go gotestsum golangci-lint staticcheck ginkgo",
    alone: "",
    read: |name, _| match name {
        "go.mod" | "go.work" => Contents::shows(Kinds::COMPILED_TEST),
        _ => Contents::shows(Kinds::LINT),
    },
    judge: |call| judge_go(call).into(),
    reads: Languages::GO.and(Languages::C).and(Languages::OTHER),
    folder_options: "go:-C",
    runs: runs_nothing,
    examples: |_, _| {
        examples_of(&[
            (CheckKind::Test, "go test ./..."),
            (CheckKind::Typecheck, "go build ./..."),
            (CheckKind::Build, "go build ./..."),
            (CheckKind::Lint, "golangci-lint run"),
        ])
    },
};

static TOOLS: &[Tool] = &[
    tool("go", "test", Kinds::COMPILES).needs("-c").unless("-n").valued("-C"),
    tool("go", "test", Kinds::COMPILED_TEST).unless("-list -n").valued("-C"),
    tool("go", "build install", Kinds::COMPILES).unless("-n").valued("-C"),
    tool("go", "vet", Kinds::LINT.and(Kinds::TYPECHECK)).unless("-n").valued("-C"),
    tool("gotestsum", "", Kinds::COMPILED_TEST).unless("tool"),
    // It compiles what it reads.
    tool("golangci-lint", "run", Kinds::LINT.and(Kinds::TYPECHECK)).unless("--issues-exit-code"),
    tool("staticcheck", "", Kinds::LINT),
    tool("ginkgo", "", Kinds::COMPILED_TEST).unless("version bootstrap generate outline build"),
];

fn judge_go(call: &CheckCall<'_>) -> Kinds {
    // Patterns that match no test, used to run only benchmarks.
    let runs_none =
        |pattern: &str| matches!(pattern.trim_matches(['\'', '"']), "^$" | "XXX" | "NONE" | "^NONE$" | "-");
    if option_text(call.arguments, "-run --run -test.run").is_some_and(runs_none)
        || has_option(call.arguments, "-list -test.list")
    {
        return Kinds::NONE;
    }
    judge_tool(TOOLS, call.name, call.arguments).unwrap_or_default()
}
