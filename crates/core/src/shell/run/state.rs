//! The state of one shell while a line runs in it: folder, options, variables, functions.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::rc::Rc;

use super::{LONGEST_VALUE, MOST_NAMES};
use crate::shell::{Spot, Word, tidy};

#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
#[derive(Clone, Debug)]
pub(super) struct Shell {
    /// The folder in which the line started.
    pub(super) start: Option<Rc<str>>,
    pub(super) folder: Spot,
    pub(super) errexit: bool,
    pub(super) pipefail: bool,
    /// The shell may have ended before this point with success (`exit`, `exec`, `set -n`, an unknown `eval`).
    pub(super) left: bool,
    /// `break`, `continue` or `return` may have skipped the rest of the body.
    pub(super) cut: bool,
    /// `PATH` has changed: a command's name may mean another program.
    pub(super) path: bool,
    pub(super) variables: BTreeMap<String, Word>,
    /// Variables that every later command gets.
    pub(super) exported: Vec<(String, Word)>,
    /// Functions and aliases of the line.
    pub(super) functions: BTreeMap<String, Called>,
}

/// Effects that calling a function may have on the shell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Called {
    pub(super) moves: bool,
    pub(super) leaves: bool,
    pub(super) loosens: bool,
}

impl Shell {
    /// The value of a variable, where it is known.
    pub(super) fn variable(&self, name: &str) -> Option<Cow<'_, Word>> {
        if let Some(value) = self.variables.get(name) {
            return Some(Cow::Borrowed(value));
        }
        match (&self.folder, &self.start) {
            (Spot::Absolute(path), _) if name == "PWD" => Some(Cow::Owned(Word::literal(path))),
            (Spot::Start(path), Some(start)) if name == "PWD" => {
                Some(Cow::Owned(Word::literal(tidy(&format!("{start}/{path}")))))
            }
            _ => None,
        }
    }

    /// The text with a leading `~` replaced by the home folder. `alone`: the word has no other parts.
    pub(super) fn at_home(&self, text: &str, alone: bool) -> Option<String> {
        let rest = text.strip_prefix('~').filter(|rest| rest.starts_with('/') || rest.is_empty() && alone)?;
        let home = self.variables.get("HOME")?.known()?;
        Some(format!("{home}{rest}"))
    }

    /// Sets a variable. Above the limits its value becomes unknown: an old value must not survive.
    pub(super) fn assign(&mut self, name: String, value: Word) {
        if name == "PATH" {
            self.path |= !harmless_path(&value);
        }
        let kept = value.text.len() <= LONGEST_VALUE && self.variables.len() < MOST_NAMES;
        if kept {
            self.variables.insert(name, value);
        } else {
            self.variables.remove(&name);
        }
    }

    pub(super) fn export(&mut self, name: &str) {
        self.exported.retain(|(known, _)| known != name);
        if let Some(value) = self.variables.get(name).filter(|_| self.exported.len() < MOST_NAMES) {
            self.exported.push((name.to_owned(), value.clone()));
        }
    }

    /// Keeps only what holds whether `other` happened or not.
    pub(super) fn merge(&mut self, other: Shell) {
        if self.folder != other.folder {
            self.folder = Spot::Unknown;
        }
        self.errexit &= other.errexit;
        self.pipefail &= other.pipefail;
        self.left |= other.left;
        self.cut |= other.cut;
        self.path |= other.path;
        self.variables.retain(|name, value| other.variables.get(name) == Some(value));
        self.functions.extend(other.functions);
        for (name, value) in other.exported {
            if !self.exported.iter().any(|(known, _)| *known == name) {
                self.exported.push((name, value));
            }
        }
    }
}

/// A search path that keeps `$PATH` and adds only folders that a system or a package manager fills.
pub(super) fn harmless_path(value: &Word) -> bool {
    let keeps = value.text.contains("$PATH") || value.text.contains("${PATH");
    let folder = |entry: &str| {
        let is_own = ["$PWD", "${PWD", "$(pwd", "$TMP", "${TMP", "$(mktemp", "/tmp", "/var/tmp", "/dev/shm"];
        let is_filled = entry.ends_with("node_modules/.bin") || entry.ends_with("venv/bin");
        let is_known = (entry.starts_with(['/', '~'])
            && ["/bin", "/sbin", "/shims"].iter().any(|end| entry.ends_with(end)))
            || entry.starts_with('$');
        is_filled || is_known && !is_own.iter().any(|start| entry.starts_with(start))
    };
    // Expansions such as `${PATH:+:$PATH}` have colons of their own.
    keeps && value.text.split(':').all(|entry| folder(entry) || entry.ends_with('}'))
}
