//! Languages and build tools that need only a row each.

use crate::text::word_list::Words;

use crate::feature::verification::checks::kind::{CheckKind, Kinds};
use crate::feature::verification::checks::tool::{Tool, has_option, judge_tool, tool};
use crate::feature::verification::checks::{
    CheckCall, Contents, Ecosystem, ProjectChecks, ProjectFile, runs_nothing,
};

pub(super) static ECOSYSTEM: Ecosystem = Ecosystem {
    manifests: "CMakeLists.txt meson.build build.ninja MODULE.bazel WORKSPACE WORKSPACE.bazel \
        Package.swift mix.exs pubspec.yaml build.zig stack.yaml cabal.project dune-project \
        project.clj foundry.toml .pre-commit-config.yaml",
    other_files: "",
    texts: "",
    commands: "cmake ctest ninja meson bazel bazelisk swift mix dart flutter zig stack cabal dune lein \
        forge pre-commit prek",
    read: |name, _| match name {
        "CMakeLists.txt" | "meson.build" | "build.ninja" | "build.zig" => Contents::shows(Kinds::COMPILES),
        "pubspec.yaml" => Contents::shows(Kinds::TYPECHECK),
        ".pre-commit-config.yaml" => Contents::shows(Kinds::LINT),
        "MODULE.bazel" | "WORKSPACE" | "WORKSPACE.bazel" => Contents::shows(Kinds::BUILD),
        "project.clj" => Contents::shows(Kinds::TEST),
        _ => Contents::shows(Kinds::COMPILED_TEST),
    },
    judge: judge_other,
    folder_options: "ninja:-C",
    runs: runs_nothing,
    examples,
};

/// The manifests of each command: `mix test` means nothing in a project with only a `CMakeLists.txt`.
static FILES: [(&str, Words); 18] = [
    ("cmake", "CMakeLists.txt"),
    ("ctest", "CMakeLists.txt"),
    ("ninja", "build.ninja CMakeLists.txt meson.build"),
    ("meson", "meson.build"),
    ("bazel", "MODULE.bazel WORKSPACE WORKSPACE.bazel"),
    ("bazelisk", "MODULE.bazel WORKSPACE WORKSPACE.bazel"),
    ("swift", "Package.swift"),
    ("mix", "mix.exs"),
    ("dart", "pubspec.yaml"),
    ("flutter", "pubspec.yaml"),
    ("zig", "build.zig"),
    ("stack", "stack.yaml"),
    ("cabal", "cabal.project"),
    ("dune", "dune-project"),
    ("lein", "project.clj"),
    ("forge", "foundry.toml"),
    ("pre-commit", ".pre-commit-config.yaml"),
    ("prek", ".pre-commit-config.yaml"),
];

static TOOLS: &[Tool] = &[
    tool("cmake", "", Kinds::COMPILES).needs("--build"),
    tool("ctest", "", Kinds::TEST).unless("-N"),
    tool("ninja", "test check", Kinds::COMPILED_TEST).unless("-n -t").valued("-C -j -f"),
    tool("ninja", "clean install", Kinds::NONE).valued("-C -j -f"),
    tool("ninja", "", Kinds::COMPILES).unless("-n -t"),
    tool("meson", "test", Kinds::COMPILED_TEST),
    tool("meson", "compile", Kinds::COMPILES),
    tool("bazel", "test coverage", Kinds::COMPILED_TEST),
    tool("bazel", "build", Kinds::COMPILES).unless("--nobuild"),
    tool("bazelisk", "test coverage", Kinds::COMPILED_TEST),
    tool("bazelisk", "build", Kinds::COMPILES).unless("--nobuild"),
    tool("swift", "test", Kinds::COMPILED_TEST).unless("list -l"),
    tool("swift", "build", Kinds::COMPILES).unless("--show-bin-path"),
    tool("mix", "test", Kinds::COMPILED_TEST),
    tool("mix", "compile", Kinds::COMPILES),
    tool("mix", "credo", Kinds::LINT),
    tool("mix", "dialyzer", Kinds::TYPECHECK),
    tool("dart", "test", Kinds::TEST.and(Kinds::TYPECHECK)),
    tool("dart", "analyze", Kinds::TYPECHECK.and(Kinds::LINT)),
    tool("flutter", "test", Kinds::TEST.and(Kinds::TYPECHECK)),
    tool("flutter", "analyze", Kinds::TYPECHECK.and(Kinds::LINT)),
    tool("flutter", "build", Kinds::COMPILES),
    tool("stack", "test", Kinds::COMPILED_TEST).unless("--no-run-tests"),
    tool("stack", "build", Kinds::COMPILES),
    tool("cabal", "test v2-test", Kinds::COMPILED_TEST),
    tool("cabal", "build v2-build", Kinds::COMPILES),
    tool("dune", "test runtest", Kinds::COMPILED_TEST),
    tool("dune", "build", Kinds::COMPILES),
    tool("lein", "test", Kinds::TEST),
    tool("forge", "test t", Kinds::COMPILED_TEST),
    tool("forge", "build b compile", Kinds::COMPILES),
    tool("pre-commit", "run", Kinds::LINT),
    tool("prek", "run", Kinds::LINT),
];

fn judge_other(call: &CheckCall<'_>) -> Kinds {
    let files = FILES.iter().find(|(name, _)| *name == call.name).map_or("", |(_, files)| *files);
    if call.nearest(files).is_none() {
        return Kinds::NONE;
    }
    // `zig build test` is a step of the build.
    if call.name == "zig" {
        let mut words = crate::feature::verification::checks::tool::operands(call.arguments, "");
        return match words.next() {
            Some("test") => Kinds::COMPILED_TEST,
            Some("build") if has_option(call.arguments, "test") => Kinds::COMPILED_TEST,
            Some("build") if words.next().is_none() => Kinds::COMPILES,
            _ => Kinds::NONE,
        };
    }
    judge_tool(TOOLS, call.name, call.arguments).unwrap_or_default()
}

fn examples(_: &ProjectChecks, file: &ProjectFile) -> Vec<(CheckKind, String)> {
    let (test, build) = match file.name.as_str() {
        "CMakeLists.txt" => ("ctest --test-dir build", "cmake --build build"),
        "meson.build" => ("meson test -C build", "meson compile -C build"),
        "MODULE.bazel" | "WORKSPACE" | "WORKSPACE.bazel" => ("bazel test //...", "bazel build //..."),
        "Package.swift" => ("swift test", "swift build"),
        "mix.exs" => ("mix test", "mix compile"),
        "build.zig" => ("zig build test", "zig build"),
        "stack.yaml" => ("stack test", "stack build"),
        "cabal.project" => ("cabal test all", "cabal build all"),
        "dune-project" => ("dune test", "dune build"),
        "foundry.toml" => ("forge test", "forge build"),
        "project.clj" => ("lein test", "lein compile"),
        "pubspec.yaml" => ("dart test", "dart analyze"),
        ".pre-commit-config.yaml" => return vec![(CheckKind::Lint, "pre-commit run --all-files".into())],
        _ => return Vec::new(),
    };
    vec![
        (CheckKind::Test, test.into()),
        (CheckKind::Typecheck, build.into()),
        (CheckKind::Build, build.into()),
    ]
}
