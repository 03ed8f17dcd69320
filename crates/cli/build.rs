//! Links the executable statically on Linux with glibc, with the code that hooks run in one place.
//!
//! A hook is one process start per tool call, and most of a small process's life belongs to the dynamic
//! linker: an empty program starts in about two thirds of the time when it is linked statically (`cargo
//! xtask bench` prints both). rustc does that by `-Ctarget-feature=+crt-static`, but cargo applies such a
//! flag to procedural macros too, which cannot be built with it, unless every build names its target and
//! moves to another output directory. So only this one link step is told: the shared libraries that rustc
//! asks for are found here first, as linker scripts that name the archives.
//!
//! At a fixed address: some eleven thousand pointers in read-only tables need no adjusting then. As a static
//! position-independent executable with packed relocations (RELR) a hook ran 364k instead of 243k
//! instructions, had 42 more page faults and took 100 µs longer, a quarter of an empty process (SECURITY.md
//! says what the fixed address gives up). Where an archive is missing (some distributions ship them apart),
//! or with `TIDEGATE_LINK=dynamic`, the executable is linked as usual and works the same, only slower.
//!
//! A second, position-independent executable for memory, MCP server and worker would be the alternative. It
//! would double the size and the link time of a release, and one file is simpler to install and to keep in
//! step. SQLite is hardened instead (`memory/src/sqlite/connection.rs`).
//!
//! Nine tenths of the code are memory and commands, and a hook's functions would lie scattered over all of
//! it: every part of a file that is touched for the first time costs a process a page fault. A release has
//! those functions next to each other, by a linker script that names them (`hook-path.txt`, made by `cargo
//! xtask hook-path --write`). A name that no longer exists matches nothing, and a function that is not named
//! stays where it was: an old list is slower and never wrong.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Everything rustc names for `x86_64-unknown-linux-gnu` and `aarch64-unknown-linux-gnu`. One shared
/// library left among them would make a broken executable, hence all or nothing.
const LIBRARIES: [(&str, &[&str]); 7] = [
    ("gcc_s", &["libgcc_eh.a", "libgcc.a"]),
    ("util", &["libutil.a"]),
    ("rt", &["librt.a"]),
    ("pthread", &["libpthread.a"]),
    ("m", &["libm.a"]),
    ("dl", &["libdl.a"]),
    ("c", &["libc.a", "libgcc.a", "libgcc_eh.a"]),
];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=TIDEGATE_LINK");
    let is = |name: &str, value: &str| std::env::var(name).is_ok_and(|v| v == value);
    let native = std::env::var("HOST").ok() == std::env::var("TARGET").ok();
    let glibc = is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu");
    if !native || !glibc || is("TIDEGATE_LINK", "dynamic") {
        return;
    }
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let mut scripts = Vec::new();
    for (library, archives) in LIBRARIES {
        let Some(paths) = archives.iter().map(|name| archive(name)).collect::<Option<Vec<String>>>() else {
            println!(
                "cargo::warning=no static {library} library found: linking dynamically, hooks start more slowly"
            );
            return;
        };
        scripts.push((out.join(format!("lib{library}.a")), format!("GROUP ( {} )\n", paths.join(" "))));
    }
    for (path, script) in scripts {
        std::fs::write(path, script).expect("OUT_DIR is writable");
    }
    // As an argument of this link step, not as a search path: that would reach the test executables too.
    println!("cargo::rustc-link-arg-bins=-L{}", out.display());
    println!("cargo::rustc-link-arg-bins=-static");
    println!("cargo::rustc-link-arg-bins=-no-pie");
    if is("PROFILE", "release") {
        let script = out.join("hook-path.ld");
        std::fs::write(&script, hook_path()).expect("OUT_DIR is writable");
        let argument = format!("-Wl,-T,{}", script.display());
        if reads_scripts(&out, &argument) {
            println!("cargo::rustc-link-arg-bins={argument}");
        }
    }
}

/// Whether the linker takes a script that adds to its own: LLD and GNU ld do. The C compiler's is tried; of another one only what
/// rustc is told is known.
fn reads_scripts(out: &Path, argument: &str) -> bool {
    let told = |name| std::env::var(name).unwrap_or_default();
    let told = told("CARGO_ENCODED_RUSTFLAGS") + &told("RUSTC_LINKER");
    if ["gold", "mold", "wild"].iter().any(|other| told.contains(other)) {
        return false;
    }
    let (source, program) = (out.join("empty.c"), out.join("empty"));
    std::fs::write(&source, "int main(void) { return 0; }\n").expect("OUT_DIR is writable");
    let tried =
        Command::new("cc").args(["-static", "-no-pie", argument, "-o"]).arg(program).arg(source).output();
    tried.is_ok_and(|tried| tried.status.success())
}

/// The script. Functions that the compiler holds for unlikely have sections of that name, even where every hook runs them.
fn hook_path() -> String {
    let mut script = "SECTIONS {\n  .text.hook : {\n".to_owned();
    for name in include_str!("hook-path.txt").lines().filter(|line| !line.starts_with('#')) {
        let _ = writeln!(script, "    *(.text.{name} .text.unlikely.{name})");
    }
    script + "  }\n}\nINSERT BEFORE .text;\n"
}

/// Asks the C compiler, which rustc uses as linker, where an archive is.
fn archive(name: &str) -> Option<String> {
    let asked = Command::new("cc").arg(format!("-print-file-name={name}")).output().ok()?;
    let path = PathBuf::from(String::from_utf8(asked.stdout).ok()?.trim());
    (path.is_absolute() && path.is_file()).then(|| path.display().to_string())
}
