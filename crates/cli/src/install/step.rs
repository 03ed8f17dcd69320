//! Steps of an install, one per file: shown, or executed.

use std::fs;
use std::io;
use std::path::PathBuf;

use serde::Serialize;
use serde_json::{Value, json};
use similar::TextDiff;
use tidegate_state::file::replace;

use super::link;
use super::place::Place;
use super::record::Kind;
use crate::bilingual::{Bilingual, both};
use crate::error::CliError;
use crate::host::claude_code::server::ServerChange;
use crate::path::real_path;

#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) place: Place,
    pub(crate) what: What,
    /// In a few words.
    pub(crate) detail: Bilingual,
    pub(crate) act: Act,
    /// If it matters.
    pub(crate) kind: Option<Kind>,
    /// A person has to know of it, also after it was done.
    pub(crate) is_notable: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum What {
    Written,
    Unchanged,
    Removed,
    Kept,
}

#[derive(Debug, PartialEq)]
pub(crate) enum Act {
    Nothing,
    /// `None` is no file.
    Text {
        old: Option<String>,
        new: Option<String>,
    },
    /// To this path.
    Link(PathBuf),
    /// Of this program, at another path.
    Copy(PathBuf),
    /// With folders that held nothing else.
    Unlink,
    Folder,
    /// A public copy, if it is there.
    Discard,
    /// A file that the client writes, too.
    Server {
        /// As it was when this was planned.
        old: Option<String>,
        change: ServerChange,
    },
}

impl Step {
    pub(crate) fn new(place: Place, what: What, detail: Bilingual, act: Act) -> Step {
        Step { place, what, detail, act, kind: None, is_notable: what == What::Kept }
    }

    pub(crate) fn of_kind(place: Place, what: What, detail: Bilingual, act: Act, kind: Kind) -> Step {
        Step { kind: Some(kind), ..Step::new(place, what, detail, act) }
    }

    /// Without an action.
    pub(crate) fn still(place: Place, what: What, detail: Bilingual) -> Step {
        Step::new(place, what, detail, Act::Nothing)
    }

    /// Refused if the owner made the file read-only.
    pub(crate) fn text(
        place: Place,
        kind: Kind,
        old: Option<String>,
        new: Option<String>,
        detail: Bilingual,
    ) -> Result<Step, CliError> {
        place.check_writable()?;
        let what = if new.is_some() { What::Written } else { What::Removed };
        Ok(Step::of_kind(place, what, detail, Act::Text { old, new }, kind))
    }

    pub(crate) fn changes(&self) -> bool {
        self.act != Act::Nothing
    }

    /// Temporary files of killed processes.
    pub(crate) fn leftovers(&self) -> Vec<PathBuf> {
        let file = real_path(&self.place.file);
        match (file.parent(), file.file_name()) {
            (Some(folder), Some(name)) => find_leftovers(folder, Some(&name.to_string_lossy())),
            _ => Vec::new(),
        }
    }

    fn run(&self) -> io::Result<()> {
        let file = &self.place.file;
        match &self.act {
            Act::Nothing => Ok(()),
            Act::Text { new: Some(text), .. } => {
                if let Some(folder) = file.parent() {
                    fs::create_dir_all(folder)?;
                }
                replace::durable(file, text.as_bytes())
            }
            Act::Text { new: None, .. } => fs::remove_file(file),
            Act::Link(target) => link::make_link(file, target),
            Act::Copy(program) => link::copy_program(program, file),
            Act::Unlink => {
                match fs::remove_file(file) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                    _ => {}
                }
                for folder in file.ancestors().skip(1).take(2) {
                    let _ = fs::remove_dir(folder);
                }
                Ok(())
            }
            Act::Folder => fs::create_dir_all(file),
            Act::Server { change, .. } => change.run(file),
            Act::Discard => match fs::remove_file(file) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                _ => Ok(()),
            },
        }
    }

    /// As `diff -u` prints it; `None` for a step that changes no text.
    pub(crate) fn diff(&self) -> Option<String> {
        let shown;
        let (old, new) = match &self.act {
            Act::Text { old, new } => (old, new),
            Act::Server { old, change } => {
                shown = change.show(old.as_deref()).ok()?;
                (&shown.0, &shown.1)
            }
            _ => return None,
        };
        let path = self.place.shown.display().to_string();
        let name = |text: &Option<String>| if text.is_some() { path.as_str() } else { "/dev/null" };
        let (before, after) = (old.as_deref().unwrap_or_default(), new.as_deref().unwrap_or_default());
        let diff = TextDiff::from_lines(before, after);
        let text = diff.unified_diff().context_radius(3).header(name(old), name(new)).to_string();
        Some(text.trim_end_matches('\n').to_owned())
    }

    /// Its diff leaves out everything but Tidegate's part.
    pub(crate) fn shows_part(&self) -> bool {
        matches!(&self.act, Act::Server { change, .. } if change.is_of_client())
    }

    pub(crate) fn json(&self, with_diff: bool) -> Value {
        let mut json =
            json!({ "file": self.place.file.to_string_lossy(), "what": self.what, "detail": self.detail.en });
        if let Some(diff) = self.diff().filter(|_| with_diff) {
            json["diff"] = json!(diff);
        }
        json
    }
}

/// In order. An error names the steps that were done.
pub(crate) fn run(steps: &[Step]) -> Result<(), CliError> {
    let mut done: Vec<String> = Vec::new();
    for step in steps {
        step.run().map_err(|error| {
            let before = done.join(", ");
            step.place.failed(&error).hint(if before.is_empty() {
                both!(
                    "nothing was changed; fix this, then run it again",
                    "何も変更していません。原因を取り除いて、もう一度実行してください"
                )
            } else {
                both!(
                    "changed before this: {before}; fix this, then run it again",
                    "ここまでに変更したもの: {before}。原因を取り除いて、もう一度実行してください"
                )
            })
        })?;
        if step.changes() {
            done.push(step.place.shown.display().to_string());
        }
    }
    Ok(())
}

/// Named `.NAME.PROCESS.COUNT.tmp`, for one file or for any.
pub(crate) fn find_leftovers(folder: &std::path::Path, beside: Option<&str>) -> Vec<PathBuf> {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let is_left = |name: &str| {
        let Some(rest) = name.strip_prefix('.').and_then(|name| name.strip_suffix(".tmp")) else {
            return false;
        };
        match beside {
            Some(file) => rest
                .strip_prefix(file)
                .and_then(|rest| rest.strip_prefix('.'))
                .is_some_and(|numbers| numbers.split('.').count() <= 2 && numbers.split('.').all(is_number)),
            None => rest.rsplit('.').take(2).all(is_number) && rest.matches('.').count() >= 2,
        }
    };
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.file_name().to_str().is_some_and(is_left))
        .map(|entry| entry.path())
        .collect()
}
