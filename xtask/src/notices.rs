//! `cargo xtask notices [--write]`: `THIRD-PARTY-NOTICES.md`, the licences of everything linked into the
//! program.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use crate::deps::TARGETS;
use crate::supply::{self, Package};
use xtask::failure::{Done, Failure, While};
use xtask::print;
use xtask::workspace::{self, cargo};

const FILE: &str = "THIRD-PARTY-NOTICES.md";

/// Releases for Linux link the C library, whose licence requires a copy of itself.
const LGPL: &str = include_str!("../licences/LGPL-2.1.txt");

/// Texts of packages that leave theirs out of what they publish.
const UNPUBLISHED: [(&str, &str); 1] = [("maud", include_str!("../licences/maud-MIT.txt"))];

pub(crate) fn check() -> Done {
    let path = workspace::root().join(FILE);
    let (written, made) = (fs::read_to_string(&path).while_(path.display())?, generate()?);
    if written == made {
        print::line(&format!("    {FILE} is current"));
        return Ok(());
    }
    let line = written.lines().zip(made.lines()).take_while(|(written, made)| written == made).count() + 1;
    Err(Failure::new(format!("{FILE}:{line} differs from the locked packages"))
        .next("`cargo xtask notices --write` writes it anew"))
}

pub(crate) fn write() -> Done {
    let path = workspace::root().join(FILE);
    fs::write(&path, generate()?).while_(path.display())?;
    print::line(&format!("    {FILE}"));
    Ok(())
}

fn generate() -> Done<String> {
    let linked = linked_packages()?;
    let packages = supply::packages()?;
    let mut packages: Vec<&Package> = packages
        .iter()
        .filter(|package| linked.contains(&(package.name.clone(), package.version.clone())))
        .collect();
    packages.sort_by_key(|package| (&package.name, &package.version));
    let mut text = format!(
        "# Third-party notices\n\n\
         The `tidegate` program contains the packages below, in the versions of `Cargo.lock`. Where a package offers several\n\
         licences and MIT is one of them, Tidegate uses it under that one. `cargo xtask notices --write` makes this file.\n\n\
         ## C code\n\n\
         - **SQLite {}**, in libsqlite3-sys, is in the public domain: <https://sqlite.org/copyright.html>.\n\
         - **The GNU C Library** is linked statically into the program on Linux (`crates/cli/build.rs`). It is\n  \
           distributed under the GNU Lesser General Public License, version 2.1 or later, which is the last text of this file.\n  \
           To use the program with another version of it, build it from its source: `cargo build --profile dist` links the archives of\n  \
           your system, and `TIDEGATE_LINK=dynamic cargo build --profile dist` links its shared library.\n\
         - **libgcc** is distributed under the GNU General Public License, version 3 or later, with the GCC Runtime Library\n  \
           Exception 3.1, which permits this use: <https://www.gnu.org/licenses/gcc-exception-3.1.html>.\n\
         - **The Rust standard library** is distributed under MIT or Apache-2.0, copyright the Rust Project contributors; the\n  \
           text of the MIT licence is below. Its own notices: <https://github.com/rust-lang/rust/blob/main/COPYRIGHT>.\n\n\
         ## Packages\n\n\
         | package | version | licence | source |\n| --- | --- | --- | --- |\n",
        sqlite_version(&packages)?
    );
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for package in &packages {
        let Package { name, version, licence, repository, .. } = package;
        let source = repository.as_deref().map_or_else(|| "-".to_owned(), |url| format!("<{url}>"));
        let _ = writeln!(text, "| {name} | {version} | {licence} | {source} |");
        for licence in licence_texts(package)? {
            texts.entry(licence).or_default().push(format!("{name} {version}"));
        }
    }
    text.push_str("\n## Texts\n");
    let mut texts: Vec<(String, Vec<String>)> = texts.into_iter().collect();
    // By package, so that an update changes few lines.
    texts.sort_by(|(_, one), (_, other)| one.cmp(other));
    texts.push((normalise_text(LGPL), vec!["The GNU C Library".to_owned()]));
    for (licence, packages) in texts {
        let _ = write!(text, "\n### {}\n\n````text\n{licence}````\n", packages.join(", "));
    }
    Ok(text)
}

/// Without macros, build dependencies and test dependencies.
pub(crate) fn linked_packages() -> Done<BTreeSet<(String, String)>> {
    let mut tree = cargo(&[
        "tree",
        "--package",
        "tidegate",
        "--edges",
        "normal,no-proc-macro",
        "--prefix",
        "none",
        "--format",
        "{p}",
        "--locked",
    ]);
    for target in TARGETS {
        tree.args(["--target", target]);
    }
    let text = workspace::read_output(&mut tree)?;
    let package = |line: &str| {
        let mut words = line.split_whitespace();
        let (name, version) = (words.next()?, words.next()?.strip_prefix('v')?);
        // Packages of this repository have its own licence.
        (!name.starts_with("tidegate")).then(|| (name.to_owned(), version.to_owned()))
    };
    Ok(text.lines().filter_map(package).collect())
}

fn licence_texts(package: &Package) -> Done<Vec<String>> {
    let Package { name, version, folder, .. } = package;
    let is_licence = |path: &PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy().to_uppercase()).unwrap_or_default();
        let begins = ["LICENSE", "LICENCE", "COPYING", "NOTICE", "UNLICENSE", "COPYRIGHT"];
        path.is_file() && begins.iter().any(|begin| name.starts_with(begin))
    };
    let entries = fs::read_dir(folder).while_(folder.display())?;
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(is_licence).collect();
    files.sort();
    let is_mit = |path: &PathBuf| {
        let name = path.file_stem().map(|name| name.to_string_lossy().to_uppercase()).unwrap_or_default();
        name.ends_with("-MIT")
    };
    if supply::is_met_by_mit(&package.licence) && files.iter().any(is_mit) {
        files.retain(is_mit);
    }
    if files.is_empty() {
        if let Some((_, text)) = UNPUBLISHED.iter().find(|(known, _)| known == name) {
            return Ok(vec![normalise_text(text)]);
        }
        return Err(Failure::new(format!("{name} {version} has no licence text in {}", folder.display()))
            .next("find its text, and add it to xtask/licences"));
    }
    files
        .iter()
        .map(|file| fs::read_to_string(file).map(|text| normalise_text(&text)).while_(file.display()))
        .collect()
}

/// Copies of a text differ in line ends and trailing spaces.
fn normalise_text(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    lines.join("\n").trim_matches('\n').to_owned() + "\n"
}

pub(crate) fn sqlite_version(packages: &[&Package]) -> Done<String> {
    let package = packages.iter().find(|package| package.name == "libsqlite3-sys");
    let package = package.ok_or_else(|| Failure::new("SQLite is not linked any more"))?;
    let header = package.folder.join("sqlite3/sqlite3.h");
    let text = fs::read_to_string(&header).while_(header.display())?;
    let version =
        text.lines().find_map(|line| line.strip_prefix("#define SQLITE_VERSION ")?.split('"').nth(1));
    version.map(str::to_owned).ok_or_else(|| Failure::new(format!("{} names no version", header.display())))
}
