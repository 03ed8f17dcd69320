//! Changes that an `init` would make to the programs that existing entries start. Pointing one elsewhere, or losing it,
//! is an uninstall by another name.

use std::fs;
use std::path::{Path, PathBuf};

use tidegate_core::event::EventKind;

use super::plan::Plan;
use super::step::Act;
use super::target::Target;
use crate::bilingual::{Bilingual, both};
use crate::host::claude_code::entry_leads::{Calling, compare_entries};
use crate::host::opencode;
use crate::program::{is_program, real_place};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Detour {
    /// Entries in this file would start another program.
    Entries { file: PathBuf, from: String, to: String },
    /// Entries of this event in this file would be gone, or would let a call pass that they hold back now.
    Weaker { file: PathBuf, event: String },
    /// The link that entries call would lead to another program.
    Link { link: PathBuf, from: PathBuf, to: PathBuf },
}

impl Detour {
    /// As one line for the person.
    pub(crate) fn said(&self) -> Bilingual {
        match self {
            Detour::Entries { file, from, to } => both!(
                "{file}: hooks would start {to} instead of {from}",
                "{file}: フックが {from} ではなく {to} を起動するようになります",
                file = file.display()
            ),
            Detour::Weaker { file, event } => both!(
                "{file}: the hook for {event} would be removed or block less",
                "{file}: {event} のフックがなくなるか、ブロックしなくなります",
                file = file.display()
            ),
            Detour::Link { link, from, to } => both!(
                "{link}: would lead to {to} instead of {from}",
                "{link}: {from} ではなく {to} を指すようになります",
                link = link.display(),
                to = to.display(),
                from = from.display()
            ),
        }
    }
}

/// Each once.
pub(crate) fn find_detours(plan: &Plan, target: &Target) -> Vec<Detour> {
    let mut detours = Vec::new();
    for step in &plan.steps {
        let file = &step.place.file;
        let found = match &step.act {
            Act::Text { old: Some(old), new } if opencode::is_shim(old) => {
                shim_detour(file, old, new.as_deref().unwrap_or_default()).into_iter().collect()
            }
            Act::Text { old: Some(old), new } => compare_entries(
                file,
                old,
                new.as_deref().unwrap_or_default(),
                &Calling { program: &target.call, home: target.env.place.home.as_deref() },
            ),
            Act::Link(to) => link_detour(file, to, &target.program).into_iter().collect(),
            Act::Copy(from) if is_program(file).is_ok() => {
                vec![Detour::Link { link: file.clone(), from: file.clone(), to: from.clone() }]
            }
            _ => Vec::new(),
        };
        for detour in found {
            if !detours.contains(&detour) {
                detours.push(detour);
            }
        }
    }
    detours
}

/// The plugin for opencode is a script, whose entries are one line with the program. A plugin that starts nothing can be
/// led nowhere.
fn shim_detour(file: &Path, old: &str, new: &str) -> Option<Detour> {
    let from = opencode::called_program(old).filter(|from| is_program(Path::new(from)).is_ok())?;
    let Some(to) = opencode::called_program(new) else {
        return Some(Detour::Weaker {
            file: file.to_owned(),
            event: EventKind::PreToolUse.name().to_owned(),
        });
    };
    let is_same = real_place(Path::new(&from)) == real_place(Path::new(&to));
    (!is_same).then(|| Detour::Entries { file: file.to_owned(), from, to })
}

/// A dead link leads nowhere now. A link to the very program behind it is not a detour; a way through another link
/// would be.
fn link_detour(link: &Path, to: &Path, program: &Path) -> Option<Detour> {
    let from = fs::read_link(link).ok().filter(|_| is_program(link).is_ok())?;
    let is_same = to == program && fs::canonicalize(link).is_ok_and(|found| found == program);
    (!is_same).then(|| Detour::Link { link: link.to_owned(), from, to: to.to_owned() })
}
