//! `cargo xtask docs [--write]`: compares the references under `docs/` and the plugin's hooks with the code.

use std::fs;
use std::path::Path;
use std::process::Command;

use xtask::failure::{Done, Failure, While};
use xtask::print;
use xtask::workspace::{self, cargo};

/// Each file and the command that generates it.
const FILES: [(&str, &str); 7] = [
    ("docs/commands.md", "commands"),
    ("docs/settings.md", "settings"),
    ("docs/config.schema.json", "schema"),
    ("docs/hosts.md", "hosts"),
    ("plugin/hooks/hooks.json", "plugin-hooks"),
    ("plugin/hosts/codex-hooks.json", "plugin-hooks-codex"),
    ("plugin/hosts/copilot-hooks.json", "plugin-hooks-copilot"),
];

pub(crate) fn check() -> Done {
    compare_files(compile_and_run)
}

pub(crate) fn check_with(program: &Path) -> Done {
    compare_files(|| Command::new(program))
}

fn compare_files(program: impl Fn() -> Command) -> Done {
    for (file, what) in FILES {
        let path = workspace::root().join(file);
        let (written, made) = (fs::read_to_string(&path).while_(path.display())?, generate(program(), what)?);
        if written == made {
            continue;
        }
        let line =
            written.lines().zip(made.lines()).take_while(|(written, made)| written == made).count() + 1;
        return Err(Failure::new(format!("{file}:{line} is not what the code says"))
            .next("`cargo xtask docs --write` writes it anew"));
    }
    print::line(&format!("    {} files, as the code says", FILES.len()));
    Ok(())
}

pub(crate) fn write() -> Done {
    for (file, what) in FILES {
        let path = workspace::root().join(file);
        fs::write(&path, generate(compile_and_run(), what)?).while_(path.display())?;
        print::line(&format!("    {file}"));
    }
    Ok(())
}

/// Compiles the current sources first.
fn compile_and_run() -> Command {
    cargo(&["run", "--quiet", "--locked", "--package", "tidegate", "--"])
}

fn generate(mut program: Command, what: &str) -> Done<String> {
    workspace::read_output(program.args(["reference", what]))
}
