//! `cargo xtask hook-path --write`: the functions that hooks run, for the linker to place together.
//!
//! `crates/cli/build.rs` explains why. The list is not compared with the code: an outdated one does no harm.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use crate::bench;
use crate::binary;
use crate::callgrind::{self, Before};
use crate::stage::CASES;
use xtask::failure::{Done, Failure, While};
use xtask::print;
use xtask::tools;
use xtask::workspace::{self, step};

const HEADER: &str = "\
# Functions that hooks run, those of most events first: crates/cli/build.rs has them put beside each other.
# `cargo xtask hook-path --write` makes this file. `*` stands for what depends on the compiler and on versions.
";

/// Each case with and without a memory, because they run different functions.
const HOMES: [Before; 2] = [|_| Ok(None), bench::with_a_large_memory];

pub(crate) fn write() -> Done {
    for (program, package) in [("valgrind", "valgrind"), ("nm", "binutils")] {
        if !tools::is_on_path(program) {
            let next = format!("install it (Debian: `apt-get install {package}`)");
            return Err(Failure::new(format!("{program} is missing")).next(next));
        }
    }
    let binary = step("binary as shipped, with names", binary::build_with_names)?;
    let sizes =
        workspace::read_output(Command::new("nm").args(["--print-size", "--defined-only"]).arg(&binary))?;
    let sizes = function_sizes(&sizes);
    // A bit per run that used the function.
    let mut ran: BTreeMap<String, u32> = BTreeMap::new();
    for (number, case) in CASES.iter().enumerate() {
        for before in HOMES {
            for name in callgrind::list_functions(&binary, case, before)? {
                *ran.entry(name).or_default() |= 1 << number;
            }
        }
        print::line(&format!("    {:<18}{:>6} functions so far", case.name, ran.len()));
    }
    let path = workspace::root().join("crates/cli/hook-path.txt");
    fs::write(&path, HEADER.to_owned() + &ordered_list(&ran, &sizes)).while_(path.display())
}

/// From the output of `nm`.
fn function_sizes(symbols: &str) -> BTreeMap<&str, u64> {
    let function = |line| {
        let mut words = str::split_whitespace(line).skip(1);
        let (size, kind, name) = (words.next()?, words.next()?, words.next()?);
        let size = u64::from_str_radix(size, 16).ok()?;
        matches!(kind, "t" | "T" | "w" | "W").then_some((name, size))
    };
    symbols.lines().filter_map(function).collect()
}

/// One name per line: first what most cases run, and functions of the same cases together.
///
/// Names are written without hashes, so that they survive a rebuild, unless that would also match much larger
/// functions: instances of a generic function differ only in their hash.
fn ordered_list(ran: &BTreeMap<String, u32>, sizes: &BTreeMap<&str, u64>) -> String {
    let (mut all, mut used) = (BTreeMap::<String, u64>::new(), BTreeMap::<String, u64>::new());
    for (name, size) in sizes {
        *all.entry(stable_name(name)).or_default() += size;
        if ran.contains_key(*name) {
            *used.entry(stable_name(name)).or_default() += size;
        }
    }
    let mut listed: BTreeMap<String, u32> = BTreeMap::new();
    let ours = |name: &str| is_rust(name) && sizes.contains_key(name);
    for (name, cases) in ran.iter().filter(|(name, _)| ours(name)) {
        let short = stable_name(name);
        let entry = if all[&short] <= used[&short] * 3 / 2 + 256 { short } else { name.clone() };
        *listed.entry(entry).or_default() |= cases;
    }
    let mut lines: Vec<(&str, u32)> = listed.iter().map(|(name, cases)| (name.as_str(), *cases)).collect();
    lines.sort_by_key(|(name, cases)| (std::cmp::Reverse(cases.count_ones()), *cases, *name));
    lines.iter().flat_map(|(name, _)| [name, "\n"]).collect()
}

/// Only Rust functions have sections of their own, and their names are valid in a linker script. C functions
/// are already close together.
fn is_rust(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'$');
    (name == "main" || name.starts_with("_ZN") || name.starts_with("_R")) && name.bytes().all(plain)
}

/// Replaces with `*` what depends on the compiler or on versions.
fn stable_name(name: &str) -> String {
    const HASH: usize = 16;
    if let Some((before, hash)) = name.rsplit_once("17h") {
        let (hash, rest) = hash.split_at_checked(HASH).unwrap_or_default();
        if rest.starts_with('E') && hash.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return format!("{before}17h*{rest}");
        }
    }
    if !name.starts_with("_R") {
        return name.to_owned();
    }
    let mut lasting = String::new();
    let mut rest = name;
    // `Cs<disambiguator>_` is a crate, `B<place>_` a back reference.
    while let Some(at) = rest.find(['C', 'B']) {
        let tag = if rest[at..].starts_with("Cs") { 2 } else { 1 };
        let number = rest[at + tag..].find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or_default();
        let is_number =
            rest[at + tag + number..].starts_with('_') && (tag == 2 || rest[at..].starts_with('B'));
        lasting.push_str(&rest[..at + tag]);
        rest = &rest[at + tag..];
        if is_number {
            lasting.push('*');
            rest = &rest[number..];
        }
    }
    lasting + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_left_out() {
        for (name, wanted) in [
            ("main", "main"),
            ("_ZN3std2fs4read17h0123456789abcdefE", "_ZN3std2fs4read17h*E"),
            ("_ZN3std2fs4read17h0123456789abcdefE.llvm.12", "_ZN3std2fs4read17h*E.llvm.12"),
            ("_ZN3std2fs5a17hxE", "_ZN3std2fs5a17hxE"),
            ("_RNvNtCsjrHSEGnQ3l9_3std2fs4read", "_RNvNtCs*_3std2fs4read"),
            (
                "_RNvMs4_NtCslNY_5allocNtB5_5Inner4growCsjr_3std",
                "_RNvMs4_NtCs*_5allocNtB*_5Inner4growCs*_3std",
            ),
        ] {
            assert_eq!(stable_name(name), wanted);
        }
    }

    #[test]
    fn what_most_run_comes_first_and_a_name_that_many_have_keeps_its_hash() {
        let name = |of: &str, hash: u64| format!("_ZN{of}17h{hash:016x}E");
        let symbols = [
            (name("1a", 1), 500),
            (name("1b", 2), 500),
            (name("4next", 3), 100),
            (name("4next", 4), 9000),
            (name("3cut", 5), 1000),
            (name("3cut", 6), 200),
        ];
        let sizes = symbols.iter().map(|(name, size)| (name.as_str(), *size)).collect();
        let ran = [
            (name("1b", 2), 0b100),
            (name("1a", 1), 0b111),
            (name("4next", 3), 0b011),
            (name("3cut", 5), 0b011),
            ("malloc".to_owned(), 0b111),
            ("(below main)".to_owned(), 0b111),
            (name("4gone", 7), 0b111),
        ];
        let wanted = format!("_ZN1a17h*E\n_ZN3cut17h*E\n{}\n_ZN1b17h*E\n", name("4next", 3));
        assert_eq!(ordered_list(&ran.into(), &sizes), wanted);
    }

    #[test]
    fn functions_have_sizes() {
        let symbols = "0000000000401000 0000000000000010 T main\n0000000000601000 0000000000000008 D environ\n\
                       0000000000401010 T _start\n";
        assert_eq!(function_sizes(symbols), BTreeMap::from([("main", 16)]));
    }
}
