//! Languages and build tools that need only a row each.

use crate::text::word_list::{Words, among};

use crate::feature::verification::checks::kind::{CheckKind, Kinds};
use crate::feature::verification::checks::language::Languages;
use crate::feature::verification::checks::proven::Proven;
use crate::feature::verification::checks::tool::{Tool, has_option, judge_tool, operands, tool};
use crate::feature::verification::checks::{
    CheckCall, Contents, Ecosystem, ProjectChecks, ProjectFile, runs_nothing,
};

pub(super) static ECOSYSTEM: Ecosystem = Ecosystem {
    manifests: "CMakeLists.txt meson.build build.ninja MODULE.bazel WORKSPACE WORKSPACE.bazel \
        Package.swift mix.exs pubspec.yaml build.zig stack.yaml cabal.project dune-project \
        project.clj foundry.toml .pre-commit-config.yaml Dockerfile Containerfile \
        build.xml pants.toml .buckconfig *.cabal *.tf",
    other_files: "",
    texts: "CMakeLists.txt pubspec.yaml",
    commands: "cmake ctest ninja meson bazel bazelisk swift mix dart flutter zig stack cabal dune lein \
        forge pre-commit prek docker podman xcodebuild ant pants buck2 terraform tofu tflint",
    // Its projects are folders.
    alone: "xcodebuild",
    read,
    judge: judge_other,
    reads: Languages::OTHER,
    folder_options: "ninja:-C swift:--package-path swift:--chdir terraform:-chdir tofu:-chdir",
    runs: runs_nothing,
    examples,
};

fn read(name: &str, text: &str) -> Contents {
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    let ending = ending_of(name);
    let shows = match name {
        "CMakeLists.txt" if has(&["enable_testing", "include(CTest", "add_test("]) => Kinds::COMPILED_TEST,
        "CMakeLists.txt" | "meson.build" | "build.ninja" | "build.zig" => Kinds::COMPILES,
        "pubspec.yaml" if has(&["flutter_test:", "\n  test:"]) => Kinds::TEST.and(Kinds::TYPECHECK),
        "pubspec.yaml" => Kinds::TYPECHECK,
        ".pre-commit-config.yaml" => Kinds::LINT,
        "MODULE.bazel" | "WORKSPACE" | "WORKSPACE.bazel" => Kinds::BUILD,
        "Dockerfile" | "Containerfile" => Kinds::NONE,
        "build.xml" | "pants.toml" | ".buckconfig" => Kinds::BUILD,
        "project.clj" => Kinds::TEST,
        _ if ending == "tf" => Kinds::TYPECHECK,
        _ => Kinds::COMPILED_TEST,
    };
    let is_flutter = name == "pubspec.yaml" && has(&["sdk: flutter", "\nflutter:"]);
    let is_linter = name == ".pre-commit-config.yaml";
    let languages = FILES.iter().filter(|(_, files, _)| among(files, name) && !is_linter);
    let reads = languages.fold(Languages::NONE, |all, (_, _, reads)| all.and(*reads));
    let reads = if ending == "cabal" { Languages::HASKELL } else { reads };
    Contents { reads, program: is_flutter.then_some("flutter"), ..Contents::shows(shows) }
}

fn ending_of(name: &str) -> &str {
    name.rsplit_once('.').map_or("", |(_, ending)| ending)
}

/// The manifests of each command, and the languages that it reads: `mix test` means nothing in a project with only a
/// `CMakeLists.txt`.
static FILES: [(&str, Words, Languages); 26] = [
    ("cmake", "CMakeLists.txt", Languages::C),
    ("ctest", "CMakeLists.txt", Languages::C),
    ("ninja", "build.ninja CMakeLists.txt meson.build", Languages::C),
    ("meson", "meson.build", Languages::C),
    ("bazel", "MODULE.bazel WORKSPACE WORKSPACE.bazel", Languages::ALL),
    ("bazelisk", "MODULE.bazel WORKSPACE WORKSPACE.bazel", Languages::ALL),
    ("swift", "Package.swift", Languages::SWIFT.and(Languages::C)),
    ("mix", "mix.exs", Languages::ELIXIR),
    ("dart", "pubspec.yaml", Languages::DART),
    ("flutter", "pubspec.yaml", Languages::DART),
    ("zig", "build.zig", Languages::ZIG.and(Languages::C)),
    ("stack", "stack.yaml", Languages::HASKELL),
    ("cabal", "cabal.project", Languages::HASKELL),
    ("dune", "dune-project", Languages::OCAML),
    ("lein", "project.clj", Languages::CLOJURE),
    ("forge", "foundry.toml", Languages::OTHER),
    ("pre-commit", ".pre-commit-config.yaml", Languages::ALL),
    ("prek", ".pre-commit-config.yaml", Languages::ALL),
    ("docker", "Dockerfile Containerfile", Languages::OTHER),
    ("podman", "Dockerfile Containerfile", Languages::OTHER),
    ("ant", "build.xml", Languages::JVM),
    ("pants", "pants.toml", Languages::ALL),
    ("buck2", ".buckconfig", Languages::ALL),
    ("terraform", "", Languages::OTHER),
    ("tofu", "", Languages::OTHER),
    ("tflint", "", Languages::OTHER),
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
    tool("xcodebuild", "", Kinds::COMPILED_TEST)
        .needs("test")
        .unless("-list -showsdks -version -showBuildSettings"),
    tool("xcodebuild", "", Kinds::COMPILES).needs("build build-for-testing analyze archive"),
    tool("ant", "test check", Kinds::COMPILED_TEST),
    tool("ant", "compile build jar", Kinds::COMPILES),
    tool("pants", "test", Kinds::TEST),
    tool("pants", "check", Kinds::TYPECHECK),
    tool("pants", "lint", Kinds::LINT),
    tool("buck2", "test", Kinds::COMPILED_TEST),
    tool("buck2", "build", Kinds::COMPILES),
    tool("terraform", "validate", Kinds::TYPECHECK),
    tool("terraform", "test", Kinds::TEST.and(Kinds::TYPECHECK)),
    tool("tofu", "validate", Kinds::TYPECHECK),
    tool("tofu", "test", Kinds::TEST.and(Kinds::TYPECHECK)),
    tool("tflint", "", Kinds::LINT).unless("--init -v"),
    tool("docker", "build", Kinds::BUILD),
    tool("docker", "buildx", Kinds::BUILD).needs("build"),
    tool("podman", "build", Kinds::BUILD),
];

fn judge_other(call: &CheckCall<'_>) -> Proven {
    if call.name == "xcodebuild" {
        let kinds = judge_tool(TOOLS, call.name, call.arguments).unwrap_or_default();
        return Proven::from(kinds).reading(Languages::SWIFT.and(Languages::C).and(Languages::OTHER));
    }
    let row = FILES.iter().find(|(name, _, _)| *name == call.name);
    let has = |ending: &str| call.project.files.iter().any(|file| ending_of(&file.name) == ending);
    let is_there = |files: &Words| match call.name {
        "cabal" => call.nearest(files).is_some() || has("cabal"),
        "terraform" | "tofu" | "tflint" => has("tf"),
        _ => call.nearest(files).is_some(),
    };
    let Some((_, _, reads)) = row.filter(|(_, files, _)| is_there(files)) else { return Proven::NONE };
    let kinds = judge_kinds(call);
    // A type checker of these languages reads tests as well.
    let analyses = matches!(call.name, "dart" | "flutter" | "mix");
    let tests = if analyses { Languages::TESTS } else { Languages::NONE };
    Proven::from(kinds).reading(reads.and(Languages::OTHER).and(tests))
}

fn judge_kinds(call: &CheckCall<'_>) -> Kinds {
    // `zig build test` is a step of the build.
    if call.name == "zig" {
        let mut words = operands(call.arguments, "");
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
        "pubspec.yaml" if file.contents.program == Some("flutter") => ("flutter test", "flutter analyze"),
        "pubspec.yaml" => ("dart test", "dart analyze"),
        name if ending_of(name) == "cabal" => ("cabal test", "cabal build"),
        name if ending_of(name) == "tf" => ("terraform test", "terraform validate"),
        ".pre-commit-config.yaml" => return vec![(CheckKind::Lint, "pre-commit run --all-files".into())],
        _ => return Vec::new(),
    };
    vec![
        (CheckKind::Test, test.into()),
        (CheckKind::Typecheck, build.into()),
        (CheckKind::Build, build.into()),
    ]
}
