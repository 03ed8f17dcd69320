//! Compiles and lints everything that `cargo xtask test` runs, in one pass.
//!
//! Clippy's driver is a compiler: if it builds the tests, linting needs no second pass over dependencies and
//! sources. The command names the whole workspace: a selection of packages is a selection of features, and
//! other features recompile most crates. For the same reason the programs are run directly and not by another
//! call of cargo.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use xtask::failure::{Done, Failure, While};
use xtask::workspace::{self, cargo};

pub(crate) struct Built {
    programs: BTreeMap<String, PathBuf>,
    tests: Vec<TestProgram>,
}

pub(crate) struct TestProgram {
    /// As in `core: commands`.
    pub(crate) name: String,
    /// The working directory that tests of its package expect.
    folder: PathBuf,
    pub(crate) executable: PathBuf,
}

impl Built {
    /// Lints are errors.
    pub(crate) fn make() -> Done<Built> {
        let mut compile = cargo(&["test", "--workspace", "--all-targets", "--no-run", "--locked"]);
        compile
            .arg("--message-format=json-render-diagnostics")
            // As `cargo clippy -- -D warnings` does it.
            .env("RUSTC_WORKSPACE_WRAPPER", "clippy-driver")
            .env("CLIPPY_ARGS", "-Dwarnings__CLIPPY_HACKERY__");
        Built::read(&workspace::read_stdout(&mut compile)?)
    }

    /// Cargo's messages: one JSON object per line.
    fn read(messages: &str) -> Done<Built> {
        let mut built = Built { programs: BTreeMap::new(), tests: Vec::new() };
        for line in messages.lines() {
            let message: Value = serde_json::from_str(line).while_("reading what cargo prints")?;
            let Some(executable) = message["executable"].as_str().map(PathBuf::from) else { continue };
            let target = message["target"]["name"].as_str().unwrap_or_default().to_owned();
            let manifest = Path::new(message["manifest_path"].as_str().unwrap_or_default());
            let folder = manifest.parent().unwrap_or(workspace::root()).to_owned();
            if message["profile"]["test"] == true {
                let package = folder.file_name().unwrap_or_default().to_string_lossy();
                built.tests.push(TestProgram { name: format!("{package}: {target}"), folder, executable });
            } else {
                built.programs.insert(target, executable);
            }
        }
        built.tests.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(built)
    }

    pub(crate) fn program(&self, name: &str) -> Done<&Path> {
        let found = self.programs.get(name).map(PathBuf::as_path);
        found.ok_or_else(|| Failure::new(format!("cargo built no program `{name}` for its tests")))
    }

    /// The scenarios, and all other tests.
    pub(crate) fn tests(&self) -> Done<(&TestProgram, Vec<&TestProgram>)> {
        let (scenarios, others): (Vec<_>, Vec<_>) =
            self.tests.iter().partition(|test| test.name == "e2e: e2e");
        let [scenarios] = scenarios[..] else { return Err(Failure::new("cargo built no scenarios")) };
        Ok((scenarios, others))
    }
}

impl TestProgram {
    /// As in `core`.
    pub(crate) fn package(&self) -> &str {
        self.name.split(':').next().unwrap_or_default()
    }

    /// As cargo would run it, with snapshots that may not change.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(&self.executable);
        command.current_dir(&self.folder).env("INSTA_UPDATE", "no");
        command
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_and_tests_are_told_apart() {
        let messages = r#"{"reason":"compiler-artifact","manifest_path":"/w/crates/core/Cargo.toml","target":{"name":"tidegate_core"},"profile":{"test":false},"executable":null}
{"reason":"compiler-artifact","manifest_path":"/w/crates/core/Cargo.toml","target":{"name":"commands"},"profile":{"test":true},"executable":"/t/commands-1"}
{"reason":"compiler-artifact","manifest_path":"/w/crates/e2e/Cargo.toml","target":{"name":"e2e"},"profile":{"test":true},"executable":"/t/e2e-1"}
{"reason":"compiler-artifact","manifest_path":"/w/crates/cli/Cargo.toml","target":{"name":"tidegate"},"profile":{"test":false},"executable":"/t/tidegate"}
{"reason":"build-finished","success":true}"#;
        let built = Built::read(messages).unwrap();
        assert_eq!(built.program("tidegate").unwrap(), Path::new("/t/tidegate"));
        assert!(built.program("commands").is_err());
        let (scenarios, others) = built.tests().unwrap();
        assert_eq!(scenarios.executable, Path::new("/t/e2e-1"));
        assert_eq!(others.len(), 1);
        assert_eq!(others[0].name, "core: commands");
        assert_eq!(others[0].command().get_current_dir(), Some(Path::new("/w/crates/core")));
        assert!(Built::read("no JSON").is_err());
    }
}
