//! `cargo xtask dist [--out DIR]`: what a release is, for the machine it runs on. One commit gives the same bytes every time.

mod archive;
mod debian;
mod npm;
mod plugin;
mod sbom;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use sha2::{Digest, Sha256};
use xtask::failure::{Done, Failure, While};
use xtask::workspace::{self, step};
use xtask::{print, shipped};

use archive::Tree;

const TEXTS: [&str; 4] = ["README.md", "LICENSE", "THIRD-PARTY-NOTICES.md", "CHANGELOG.md"];

const SUMS: &str = "SHA256SUMS";

/// The order in which the Debian package names their folders.
const SHELLS: [(&str, &str); 3] =
    [("bash", "tidegate.bash"), ("zsh", "_tidegate"), ("fish", "tidegate.fish")];

/// Everything that packages are made of.
pub(crate) struct Release {
    version: String,
    description: String,
    /// `repository` of the workspace.
    repository: Option<String>,
    /// Of the commit, in seconds since 1970.
    time: u64,
    program: Vec<u8>,
    /// By file name.
    man_pages: Vec<(String, Vec<u8>)>,
    completions: Vec<(&'static str, Vec<u8>)>,
    texts: Vec<(&'static str, Vec<u8>)>,
}

pub(crate) fn run(arguments: &[&str]) -> Done {
    let folder = match arguments {
        [] => workspace::target_folder()?.join("release"),
        ["--out", folder] => std::path::absolute(folder).while_(folder)?,
        _ => {
            return Err(Failure::new(format!("cannot read `dist {}`", arguments.join(" ")))
                .next("`cargo xtask dist [--out DIR]`"));
        }
    };
    step("program", || workspace::run(&mut shipped::cargo_for_program("build")))?;
    make(&folder)?;
    for line in sums(&folder)?.lines() {
        let name = line.split_whitespace().nth(1).unwrap_or_default();
        let size = fs::metadata(folder.join(name)).while_(name)?.len();
        print::line(&format!("    {size:>10}  {name}"));
    }
    print::line(&format!("    in {}", folder.display()));
    Ok(())
}

/// From the program that was built last. Other files in the folder stay.
pub(crate) fn make(folder: &Path) -> Done {
    let release = Release::of(&shipped::program()?)?;
    if needs_libraries(&release.program) {
        return Err(Failure::new("the program needs the C library of the system it runs on")
            .next("install the static libraries that crates/cli/build.rs names (Debian: `apt-get install libc6-dev`)"));
    }
    let target = target()?;
    let name = format!("tidegate-{}-{target}", release.version);
    let mut files = vec![
        (format!("{name}.tar.gz"), release.tarball().below(&name).tar_gz(release.time)?),
        (format!("tidegate-plugin-{}-{target}.tar.gz", release.version), plugin::make(&release)?),
        (format!("{name}.cdx.json"), sbom::make(&release)?),
    ];
    if cfg!(target_os = "linux") {
        files.push((debian::name(&release), debian::make(&release)?));
    }
    files.extend(npm::make(&release)?);
    files.sort();
    let mut sums = String::new();
    for (name, content) in &files {
        let path = folder.join(name);
        let parent = path.parent().unwrap_or(folder);
        fs::create_dir_all(parent).while_(parent.display())?;
        fs::write(&path, content).while_(path.display())?;
        let _ = writeln!(sums, "{}  {name}", sha256(content));
    }
    fs::write(folder.join(SUMS), sums).while_(SUMS)
}

/// A dynamic ELF program names its loader near its beginning.
fn needs_libraries(program: &[u8]) -> bool {
    let head = &program[..program.len().min(4096)];
    head.starts_with(b"\x7fELF") && head.windows(10).any(|part| part == b"/ld-linux-")
}

/// As rustc calls this machine, and as `cargo binstall` asks for it.
fn target() -> Done<String> {
    let said = workspace::read_output(Command::new("rustc").arg("-vV"))?;
    let host = said.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| Failure::new("rustc names no host"))
}

fn sums(folder: &Path) -> Done<String> {
    fs::read_to_string(folder.join(SUMS)).while_(SUMS)
}

/// The version that cargo builds.
pub(crate) fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

impl Release {
    fn of(program: &Path) -> Done<Release> {
        let root = workspace::root();
        let read = |name: &'static str| Ok((name, fs::read(root.join(name)).while_(name)?));
        let manifest: toml::Table =
            String::from_utf8_lossy(&read("Cargo.toml")?.1).parse().while_("Cargo.toml")?;
        let of_package = |key: &str| manifest["workspace"]["package"].get(key)?.as_str().map(str::to_owned);
        let mut commit = Command::new("git");
        commit.args(["log", "-1", "--format=%ct"]).current_dir(root);
        Ok(Release {
            version: version().to_owned(),
            description: of_package("description").unwrap_or_default(),
            repository: of_package("repository"),
            time: workspace::read_output(&mut commit)?.trim().parse().while_("the time of the commit")?,
            program: fs::read(program).while_(program.display())?,
            man_pages: man_pages(program)?,
            completions: SHELLS
                .iter()
                .map(|(shell, file)| {
                    let script = workspace::read_output(Command::new(program).args(["completions", shell]))?;
                    Ok((*file, script.into_bytes()))
                })
                .collect::<Done<_>>()?,
            texts: TEXTS.into_iter().map(read).collect::<Done<_>>()?,
        })
    }

    fn text(&self, name: &str) -> &[u8] {
        let text = self.texts.iter().find(|(known, _)| *known == name);
        text.map(|(_, text)| text.as_slice()).expect("one of TEXTS")
    }

    fn tarball(&self) -> Tree {
        let mut tree = Tree::default();
        tree.add_program(format!("tidegate{}", std::env::consts::EXE_SUFFIX), self.program.clone());
        for name in TEXTS {
            tree.add(name, self.text(name));
        }
        for (name, page) in &self.man_pages {
            tree.add(format!("man/{name}"), page.clone());
        }
        for (name, script) in &self.completions {
            tree.add(format!("completions/{name}"), script.clone());
        }
        tree
    }
}

fn man_pages(program: &Path) -> Done<Vec<(String, Vec<u8>)>> {
    let folder = tempfile::tempdir().while_("a temporary folder")?;
    workspace::read_output(Command::new(program).args(["man", "--out"]).arg(folder.path()))?;
    let entries = fs::read_dir(folder.path()).while_("man pages")?.flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    let page = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok((name, fs::read(path).while_(path.display())?))
    };
    paths.iter().map(page).collect()
}
