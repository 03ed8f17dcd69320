//! `cargo xtask layers`: the modules of the core use only those above them in `lib.rs`, and features do not name each other.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::failure::{Done, Failure, While};
use crate::print;
use crate::workspace;

/// The module whose children must not name each other. Its aggregates are free to name all of them.
const ROOMS: &str = "feature";

/// Children of [`ROOMS`] that put the rooms together. A room meets the others only through these.
const AGGREGATES: [&str; 4] = ["config", "facts", "marks", "verdict"];

pub(crate) fn check() -> Done {
    let source = workspace::root().join("crates/core/src");
    let lib = source.join("lib.rs");
    let order = declared_modules(&fs::read_to_string(&lib).while_(lib.display())?);
    let mut files = Vec::new();
    find_sources(&source, &mut files)?;
    files.sort();
    let mut wrong = Vec::new();
    for path in &files {
        let text = fs::read_to_string(path).while_(path.display())?;
        let name = path.strip_prefix(&source).unwrap_or(path);
        let found = wrong_arrows(&module_path(name), &text, &order);
        wrong.extend(found.into_iter().map(|arrow| format!("  {}: {arrow}", name.display())));
    }
    if wrong.is_empty() {
        print::line(&format!("    {} files in {} modules, no arrow upwards", files.len(), order.len()));
        return Ok(());
    }
    let what = format!("{} wrong arrows in {}:\n{}", wrong.len(), source.display(), wrong.join("\n"));
    Err(Failure::new(what)
        .next("move the code to the layer that it belongs to, or pass it what it needs as a value"))
}

fn find_sources(folder: &Path, files: &mut Vec<PathBuf>) -> Done {
    for entry in fs::read_dir(folder).while_(folder.display())? {
        let path = entry.while_(folder.display())?.path();
        if path.is_dir() {
            find_sources(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    Ok(())
}

/// In the order of `lib.rs`.
fn declared_modules(lib: &str) -> Vec<String> {
    let declared = lib.lines().filter_map(|line| line.trim().strip_suffix(';'));
    declared.filter_map(|line| line.rsplit_once("mod ")).map(|(_, name)| name.to_owned()).collect()
}

/// `feature/cycle/mod.rs` is the module `feature`, `cycle`.
fn module_path(file: &Path) -> Vec<String> {
    let names = file.with_extension("");
    let mut path: Vec<String> = names.iter().map(|name| name.to_string_lossy().into_owned()).collect();
    path.pop_if(|last| matches!(last.as_str(), "mod" | "lib"));
    path
}

/// Without duplicates.
fn wrong_arrows(module: &[String], text: &str, order: &[String]) -> BTreeSet<String> {
    let layer = |name: &str| order.iter().position(|module| module == name);
    let Some(own) = module.first().and_then(|name| layer(name)) else { return BTreeSet::new() };
    let is_test = |name: &str| name == "tests" || name.ends_with("_tests");
    if module.last().is_some_and(|name| is_test(name)) {
        return BTreeSet::new();
    }
    let room = module.get(1).filter(|_| module[0] == ROOMS);
    let room = room.filter(|room| !AGGREGATES.contains(&room.as_str()));
    let mut wrong = BTreeSet::new();
    for path in used_paths(without_tests(text), module) {
        let Some(target) = path.first().and_then(|name| layer(name)) else { continue };
        let shown = path.join("::");
        if target > own {
            wrong.insert(format!("{} uses {shown}", module.join("::")));
        } else if let (Some(room), Some(other)) = (room, path.get(1).filter(|_| path[0] == ROOMS))
            && other != room
            && other.chars().next().is_some_and(char::is_lowercase)
            && !AGGREGATES.contains(&other.as_str())
        {
            wrong.insert(format!("{} names another room: {shown}", module.join("::")));
        }
    }
    wrong
}

/// The text before its tests, which may use anything. `mod tests;` stands above other code.
fn without_tests(text: &str) -> &str {
    let begins = |at: &usize| text[at + 1..].lines().nth(1).is_some_and(|line| line.ends_with('{'));
    let tests = ["\n#[cfg(test)]\nmod ", "\n#[cfg(all(test"];
    let end = tests.iter().flat_map(|start| text.match_indices(start)).map(|(at, _)| at).filter(begins).min();
    &text[..end.unwrap_or(text.len())]
}

/// At most two names deep.
fn used_paths(text: &str, module: &[String]) -> Vec<Vec<String>> {
    let mut paths = Vec::new();
    let code: String =
        text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n");
    for (at, word) in code.match_indices("crate::") {
        if code[..at].ends_with(is_name) {
            continue;
        }
        read_tree(&code[at + word.len()..], &[], &mut paths);
    }
    for (at, _) in code.match_indices("super::") {
        if code[..at].ends_with(|c: char| is_name(c) || c == ':') {
            continue;
        }
        let mut rest = &code[at..];
        let mut base = module.to_vec();
        while let Some(next) = rest.strip_prefix("super::") {
            base.pop();
            rest = next;
        }
        read_tree(rest, &base, &mut paths);
    }
    paths
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Reads `a::b`, or `{a, b::{c, d}}`, after `base`.
fn read_tree(text: &str, base: &[String], paths: &mut Vec<Vec<String>>) {
    let text = text.trim_start();
    let Some(group) = text.strip_prefix('{') else {
        let end = text.find(|c| !is_name(c)).unwrap_or(text.len());
        let mut path = base.to_vec();
        if end > 0 {
            path.push(text[..end].to_owned());
        }
        match text[end..].strip_prefix("::").filter(|_| end > 0 && path.len() < 3) {
            Some(rest) => read_tree(rest, &path, paths),
            None => paths.push(path),
        }
        return;
    };
    let (mut depth, mut start) = (0_usize, 0);
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' | '}' if depth == 0 => {
                if !group[start..at].trim().is_empty() {
                    read_tree(&group[start..at], base, paths);
                }
                start = at + 1;
                if c == '}' {
                    return;
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(file: &str, text: &str) -> Vec<String> {
        let order = declared_modules(
            "//! Core.\npub mod text;\npub mod host;\npub mod feature;\npub mod pipeline;\n",
        );
        wrong_arrows(&module_path(Path::new(file)), text, &order).into_iter().collect()
    }

    #[test]
    fn an_arrow_upwards_is_found_however_it_is_written() {
        let uses = |what: &str| vec![format!("host::wire uses {what}")];
        for (text, what) in [
            ("use crate::feature::cycle::State;", "feature::cycle::State"),
            ("use crate::{\n    text::cut,\n    pipeline::{record::Record},\n};", "pipeline::record::Record"),
            ("fn a() { crate::feature::list() }", "feature::list"),
            ("use super::super::pipeline;", "pipeline"),
            ("type A = super::super::feature::facts::Facts;", "feature::facts::Facts"),
            ("fn a() {}\n\n#[cfg(test)]\nmod tests;\n\nfn b() { crate::pipeline::run() }", "pipeline::run"),
        ] {
            assert_eq!(wrong("host/wire.rs", text), uses(what), "{text}");
        }
    }

    #[test]
    fn arrows_downwards_and_tests_are_free() {
        for text in [
            "use crate::text::cut;",
            "use super::detect;",
            "// crate::feature is above\nfn a() {}",
            "fn a() {}\n\n#[cfg(test)]\nmod tests {\n    use crate::pipeline::record;\n}",
            "use mycrate::feature;",
        ] {
            assert_eq!(wrong("host/wire.rs", text), Vec::<String>::new(), "{text}");
        }
        assert_eq!(wrong("pipeline/mod.rs", "use crate::feature::cycle::Mark;"), Vec::<String>::new());
    }

    #[test]
    fn rooms_meet_in_the_aggregates_only() {
        assert_eq!(
            wrong("feature/cycle/mod.rs", "use crate::feature::{facts::Facts, workflow::Attached, Policy};"),
            ["feature::cycle names another room: feature::workflow::Attached"]
        );
        assert_eq!(
            wrong("feature/cycle/state.rs", "use super::super::memory::job;"),
            ["feature::cycle::state names another room: feature::memory::job"]
        );
        assert_eq!(wrong("feature/cycle/state.rs", "use super::marks::Mark;"), Vec::<String>::new());
        assert_eq!(wrong("feature/facts.rs", "use crate::feature::cycle::Standing;"), Vec::<String>::new());
    }
}
