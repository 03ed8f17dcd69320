//! One config file: as it is, or what still counts of one that does not parse.

use std::io;
use std::path::Path;

use tidegate_core::feature::config::{BrokenFile, Config, ConfigOwner};
use tidegate_core::settings::value::Value;

use crate::config::LARGEST;
use crate::config::last_good::{self, ADDRESS};
use crate::config::parse::{ParseError, Parsed, parse, parse_between_mistakes};
use crate::file::bounded;
use crate::place::StateDir;

/// A longer file with mistakes is not searched for valid lines: each mistake costs time.
const LONGEST_REST: usize = 16 * 1024;

pub(super) enum ConfigFile {
    Missing,
    /// With its text.
    Parsed(Parsed, String),
    Broken {
        /// The last good copy.
        copy: Option<Parsed>,
        /// Valid lines that are not in the copy. A mistake above may have put them in a wrong section, so they may only tighten
        /// something.
        rest: Option<Parsed>,
    },
}

/// A stray bracket must not open a gate: for a file that does not parse, its last good copy counts, and whatever was tightened
/// since.
pub(super) fn read_file(
    path: &Path,
    owner: ConfigOwner,
    state: Option<&StateDir>,
    config: &mut Config,
) -> ConfigFile {
    let file = path.to_string_lossy().into_owned();
    let (wrong, text) = match read_text(path) {
        Ok(None) => return ConfigFile::Missing,
        Err(error) => (ParseError { line: None, message: error.to_string() }, None),
        Ok(Some(text)) => match parse(&text, &file, config) {
            Ok(parsed) => return ConfigFile::Parsed(parsed, text),
            Err(wrong) => (wrong, Some(text)),
        },
    };
    let copy = state.and_then(|state| last_good::read(state, path));
    let copy = copy.and_then(|copy| parse(&copy, &format!("{file} (last copy)"), config).ok());
    let copy = copy.map(|mut copy| {
        copy.retain(|_, assignment| assignment.value != Value::Text(ADDRESS.to_owned()));
        copy
    });
    let broken = BrokenFile { file: file.clone(), line: wrong.line, has_copy: copy.is_some(), owner };
    let counts = match (broken.has_copy, owner) {
        (true, ConfigOwner::User) => {
            "its last readable copy counts, and its readable lines that are stricter"
        }
        (true, ConfigOwner::Project) => {
            "only stricter values count, of its readable lines and its last readable copy"
        }
        (false, ConfigOwner::User) => {
            "there is no earlier copy, so built-in values count, and its readable lines that are stricter"
        }
        (false, ConfigOwner::Project) => {
            "there is no earlier copy, so only its readable lines that are stricter count"
        }
    };
    config.problems.push(format!("{}: {}; {counts}", broken.location(), wrong.message));
    config.broken.push(broken);
    let text = text.filter(|text| text.len() <= LONGEST_REST);
    let mut rest = text.and_then(|text| parse_between_mistakes(&text, &file, config));
    if let (Some(copy), Some(rest)) = (&copy, &mut rest) {
        // The copy has applied it already, and a section for this project may have overridden it.
        rest.retain(|project, assignment| !copy.has(project, assignment));
    }
    ConfigFile::Broken { copy, rest }
}

/// `None` without a file.
pub(super) fn read_text(path: &Path) -> io::Result<Option<String>> {
    let read = bounded::read(path, LARGEST)
        .and_then(|bytes| String::from_utf8(bytes).map_err(|_| io::Error::other("not UTF-8")));
    match read {
        Ok(text) => Ok(Some(text)),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}
