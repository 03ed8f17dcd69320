//! The program itself: on PATH, behind its stable link, runnable, and of this version.

use std::fs;
use std::path::Path;

use crate::doctor::finding::Findings;
use crate::doctor::gathered::Gathered;
use crate::program::{find_on_path, is_program, read_version};
use crate::shell::quote_path;

const VERSION: &str = concat!("tidegate ", env!("CARGO_PKG_VERSION"));

pub(crate) fn check(seen: &Gathered, found: &mut Findings) {
    let init = format!("`{}` makes the link anew", seen.init_command(seen.scope()));
    match find_on_path(&seen.path, "tidegate") {
        None => found.warning("`tidegate` is not on PATH", put_on_path(seen)),
        Some(path) if seen.is_in_project(&path) => found.warning(
            format!("`tidegate` on PATH is {}, in the project itself: it was not run", path.display()),
            "take its folder off PATH, if you did not put it there",
        ),
        Some(path) => {
            let cure = match &seen.exe {
                Some(exe) => format!(
                    "put {} in its place, or take its folder off PATH: it comes before others of this name",
                    quote_path(exe)
                ),
                None => "install it again, or take its folder off PATH".to_owned(),
            };
            check_program(&path, "on PATH", &cure, found);
        }
    }
    match &seen.link {
        Some(link) if fs::symlink_metadata(link).is_ok() => match is_program(link) {
            Ok(()) => check_program(link, "behind the stable link", &init, found),
            Err(why) => found.problem(format!("the stable link {} {why}", link.display()), init),
        },
        // `init` writes the link into a person's settings; shared hooks look on PATH, too.
        Some(link) if seen.ours().any(|command| !command.selected) => {
            found.warning(format!("the stable link {} is missing", link.display()), init);
        }
        _ => {}
    }
    if found.is_empty() {
        found.ok(format!("{VERSION}, on PATH and runnable"));
    }
}

/// Runs it: the person put it there.
fn check_program(path: &Path, place: &str, cure: &str, found: &mut Findings) {
    match read_version(path) {
        Ok(text) if text == VERSION => {}
        Ok(text) => {
            found.warning(format!("{} ({place}) is `{text}`, this is `{VERSION}`", path.display()), cure);
        }
        Err(why) => found.problem(format!("{} ({place}) {why}", path.display()), cure),
    }
}

fn put_on_path(seen: &Gathered) -> String {
    let link = seen.link.as_deref().filter(|link| is_program(link).is_ok());
    match link.or(seen.exe.as_deref()).and_then(Path::parent) {
        Some(folder) => format!("add its folder: `export PATH={}:\"$PATH\"`", quote_path(folder)),
        None => "add its folder to PATH".to_owned(),
    }
}
