//! `cargo xtask docs [--write]`: references under `docs/` and the plugin's hooks against what the code says.

use std::fs;

use crate::failure::{Done, Failure, While};
use crate::print;
use crate::workspace::{self, cargo};

/// Each file, and what makes it.
const FILES: [(&str, &str); 4] = [
    ("docs/commands.md", "commands"),
    ("docs/settings.md", "settings"),
    ("docs/config.schema.json", "schema"),
    ("plugin/hooks/hooks.json", "plugin-hooks"),
];

/// Compares.
pub(crate) fn check() -> Done {
    for (file, what) in FILES {
        let path = workspace::root().join(file);
        let (written, made) = (fs::read_to_string(&path).while_(path.display())?, make(what)?);
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

/// Writes them.
pub(crate) fn write() -> Done {
    for (file, what) in FILES {
        let path = workspace::root().join(file);
        fs::write(&path, make(what)?).while_(path.display())?;
        print::line(&format!("    {file}"));
    }
    Ok(())
}

fn make(what: &str) -> Done<String> {
    workspace::output(&mut cargo(&[
        "run",
        "--quiet",
        "--locked",
        "--package",
        "tidegate",
        "--",
        "reference",
        what,
    ]))
}
