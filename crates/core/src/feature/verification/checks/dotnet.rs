//! .NET.

use crate::feature::verification::checks::kind::{CheckKind, Kinds};
use crate::feature::verification::checks::language::Languages;
use crate::feature::verification::checks::tool::{Tool, judge_tool, tool};
use crate::feature::verification::checks::{Contents, Ecosystem, examples_of, runs_nothing};

pub(super) static ECOSYSTEM: Ecosystem = Ecosystem {
    manifests: "*.sln *.slnx *.csproj *.fsproj *.vbproj global.json Directory.Build.props \
        Directory.Packages.props",
    other_files: "",
    texts: "",
    commands: "dotnet msbuild",
    alone: "",
    // File names do not tell which projects are tests.
    read: |_, _| Contents::shows(Kinds::COMPILES),
    judge: |call| judge_tool(TOOLS, call.name, call.arguments).unwrap_or_default().into(),
    // A solution has its tests in it.
    reads: Languages::DOTNET.and(Languages::TESTS).and(Languages::OTHER),
    folder_options: "",
    runs: runs_nothing,
    examples: |_, _| {
        examples_of(&[
            (CheckKind::Test, "dotnet test"),
            (CheckKind::Typecheck, "dotnet build"),
            (CheckKind::Build, "dotnet build"),
        ])
    },
};

static TOOLS: &[Tool] = &[
    tool("dotnet", "test vstest", Kinds::COMPILED_TEST).unless("-t"),
    tool("dotnet", "build publish msbuild pack", Kinds::COMPILES),
    tool("msbuild", "", Kinds::COMPILES),
];
