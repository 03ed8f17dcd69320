//! Compilers that are given their files: the only check of many small projects.

use super::kind::Kinds;
use super::language::Languages;
use super::proven::Proven;
use super::tool::{has_option, operands};
use super::{CheckCall, Contents, Ecosystem, runs_nothing};

pub(super) static ECOSYSTEM: Ecosystem = Ecosystem {
    manifests: "",
    other_files: "",
    texts: "",
    commands: "cc gcc g++ c++ clang clang++ javac rustc swiftc luac perl",
    alone: "cc gcc g++ c++ clang clang++ javac rustc swiftc luac perl",
    read: |_, _| Contents::default(),
    judge: judge_compiler,
    reads: Languages::NONE,
    folder_options: "",
    runs: runs_nothing,
    examples: |_, _| Vec::new(),
};

fn judge_compiler(call: &CheckCall<'_>) -> Proven {
    // They only preprocess, print or list.
    if has_option(call.arguments, "-E -M -MM -### -dumpversion -dumpmachine -V -v --print") {
        return Proven::NONE;
    }
    let Some(last) = operands(call.arguments, "-o -I -L -x -cp -classpath -d --edition").last() else {
        return Proven::NONE;
    };
    let (kinds, reads) = match call.name {
        // They check only the syntax.
        "perl" if has_option(call.arguments, "-c -cw -wc") => (Kinds::LINT, Languages::OTHER),
        "luac" if has_option(call.arguments, "-p") => (Kinds::LINT, Languages::OTHER),
        "perl" | "luac" => return Proven::NONE,
        "javac" => (Kinds::COMPILES, Languages::JVM),
        "rustc" => (Kinds::COMPILES, Languages::RUST),
        "swiftc" => (Kinds::COMPILES, Languages::SWIFT),
        _ => (Kinds::COMPILES, Languages::C),
    };
    let syntax_only = has_option(call.arguments, "-fsyntax-only");
    let kinds = if syntax_only { kinds.without(Kinds::BUILD) } else { kinds };
    // Objects that were compiled before are only linked.
    let links = matches!(last.rsplit_once('.'), Some((_, "o" | "a")));
    if links { Proven::NONE } else { Proven::from(kinds).reading(reads.and(Languages::TESTS)) }
}
