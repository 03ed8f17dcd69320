//! Ruby.

use crate::feature::verification::checks::kind::{CheckKind, Kinds};
use crate::feature::verification::checks::language::Languages;
use crate::feature::verification::checks::tool::{Tool, has_option, judge_tool, operands, tool};
use crate::feature::verification::checks::{
    CheckCall, Contents, Ecosystem, ProjectChecks, ProjectFile, runs_nothing,
};

pub(super) static ECOSYSTEM: Ecosystem = Ecosystem {
    manifests: "Gemfile Rakefile .rspec",
    other_files: ".rubocop.yml sorbet/config bin/rails",
    texts: "",
    commands: "rspec rake rails ruby minitest m rubocop standardrb srb steep cucumber",
    // A file can be checked by itself.
    alone: "ruby",
    read: |name, _| match name {
        "Rakefile" | ".rspec" | "bin/rails" => Contents::shows(Kinds::TEST),
        ".rubocop.yml" => Contents::shows(Kinds::LINT),
        "sorbet/config" => Contents::shows(Kinds::TYPECHECK),
        _ => Contents::default(),
    },
    judge: |call| judge_ruby(call).into(),
    reads: Languages::RUBY.and(Languages::TESTS).and(Languages::OTHER),
    folder_options: "rake:-C",
    runs: runs_nothing,
    examples,
};

static TOOLS: &[Tool] = &[
    tool("rspec", "", Kinds::TEST).unless("--init -v"),
    tool("minitest", "", Kinds::TEST),
    tool("m", "", Kinds::TEST),
    tool("cucumber", "", Kinds::TEST).unless("-d"),
    tool("rails", "test test:system test:all t spec", Kinds::TEST),
    tool("rubocop", "", Kinds::LINT).unless("-L --list-target-files --init --show-cops -V -v"),
    tool("standardrb", "", Kinds::LINT),
    tool("srb", "tc typecheck", Kinds::TYPECHECK),
    tool("steep", "check", Kinds::TYPECHECK),
];

fn judge_ruby(call: &CheckCall<'_>) -> Kinds {
    match call.name {
        "rake" => rake(call),
        "ruby" => ruby(call),
        _ => judge_tool(TOOLS, call.name, call.arguments).unwrap_or_default(),
    }
}

fn rake(call: &CheckCall<'_>) -> Kinds {
    if has_option(call.arguments, "-T -P -n -W -D --tasks --prereqs --where --describe") {
        return Kinds::NONE;
    }
    let mut tasks = operands(call.arguments, "-f -C").filter(|task| !task.contains('=')).peekable();
    if tasks.peek().is_none() {
        // The default task of a library is its tests.
        return if call.nearest("Rakefile").is_some() { Kinds::TEST } else { Kinds::NONE };
    }
    let of = |task: &str| match task.split([':', '[']).next() {
        Some("test" | "spec" | "tests" | "default" | "cucumber" | "features") => Kinds::TEST,
        Some("rubocop" | "lint" | "standard") => Kinds::LINT,
        _ => Kinds::NONE,
    };
    tasks.map(of).fold(Kinds::NONE, Kinds::and)
}

/// `ruby -Itest test/thing_test.rb`.
fn ruby(call: &CheckCall<'_>) -> Kinds {
    if has_option(call.arguments, "-c") {
        return Kinds::LINT;
    }
    let Some(file) = operands(call.arguments, "-I -r -e").next() else { return Kinds::NONE };
    let name = file.rsplit('/').next().unwrap_or_default();
    let test = name.ends_with("_test.rb") || name.ends_with("_spec.rb") || name.starts_with("test_");
    if test { Kinds::TEST } else { Kinds::NONE }
}

fn examples(project: &ProjectChecks, file: &ProjectFile) -> Vec<(CheckKind, String)> {
    let at = |name: &str| project.nearest(&file.folder, name).is_some();
    let test = if at(".rspec") {
        "bundle exec rspec"
    } else if at("bin/rails") {
        "bin/rails test"
    } else {
        "bundle exec rake test"
    };
    vec![
        (CheckKind::Test, test.into()),
        (CheckKind::Typecheck, "bundle exec srb tc".into()),
        (CheckKind::Lint, "bundle exec rubocop".into()),
    ]
}
