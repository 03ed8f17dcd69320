//! The client's settings files, as the client reads them: strict JSON, and the nearer file counts more.

use std::fmt::{self, Display};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde_json::{Map, Value};
use tidegate_core::time::Millis;
use tidegate_state::bounded;

/// More than this is no settings file.
const LARGEST: u64 = 4 * 1024 * 1024;

/// Whose settings they are, the one that counts most first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Scope {
    /// An administrator's.
    Managed,
    /// A person's, in one project.
    Local,
    /// A project's, for everybody who works on it.
    Shared,
    /// A person's, in every project.
    User,
}

/// One settings file.
#[derive(Clone, Debug)]
pub(super) struct SettingsFile {
    pub(super) scope: Scope,
    pub(super) path: PathBuf,
    pub(super) content: Content,
    pub(super) modified: Option<Millis>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Content {
    Absent,
    Object(Map<String, Value>),
    Broken(Broken),
}

/// Why the client will not read a file, and where it stops.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Broken {
    pub(super) at: Option<(usize, usize)>,
    pub(super) why: String,
}

impl SettingsFile {
    pub(super) fn read(scope: Scope, path: PathBuf) -> SettingsFile {
        let content = match bounded::read(&path, LARGEST) {
            Ok(bytes) => parse(&bytes),
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                Content::Absent
            }
            Err(error) => Content::Broken(Broken { at: None, why: error.to_string() }),
        };
        let modified = modified(&path);
        SettingsFile { scope, path, content, modified }
    }

    /// A member of the file.
    pub(super) fn get(&self, name: &str) -> Option<&Value> {
        match &self.content {
            Content::Object(object) => object.get(name),
            Content::Absent | Content::Broken(_) => None,
        }
    }
}

/// All of them, the one that counts most first.
pub(super) fn read_all(project: Option<&Path>, host: Option<&Path>) -> Vec<SettingsFile> {
    let places = [
        (Scope::Managed, managed()),
        (Scope::Local, project.map(|project| project.join(".claude/settings.local.json"))),
        (Scope::Shared, project.map(|project| project.join(".claude/settings.json"))),
        (Scope::User, host.map(|host| host.join("settings.json"))),
    ];
    let mut files: Vec<SettingsFile> = Vec::new();
    for (scope, path) in places {
        // In the home directory the project's file is the user's.
        if let Some(path) = path.filter(|path| !files.iter().any(|file| file.path == *path)) {
            files.push(SettingsFile::read(scope, path));
        }
    }
    files
}

/// Where an administrator's settings are.
fn managed() -> Option<PathBuf> {
    let path = if cfg!(target_os = "macos") {
        "/Library/Application Support/ClaudeCode/managed-settings.json"
    } else if cfg!(target_os = "linux") {
        "/etc/claude-code/managed-settings.json"
    } else {
        return None;
    };
    Some(path.into())
}

/// When a file was last changed.
pub(super) fn modified(path: &Path) -> Option<Millis> {
    let modified = fs::metadata(path).and_then(|found| found.modified()).ok()?;
    Some(Millis(modified.duration_since(UNIX_EPOCH).ok()?.as_millis() as u64))
}

fn parse(bytes: &[u8]) -> Content {
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    if bytes.trim_ascii().is_empty() {
        return Content::Object(Map::new());
    }
    match serde_json::from_slice(bytes) {
        Ok(Value::Object(object)) => Content::Object(object),
        Ok(_) => Content::Broken(Broken { at: Some((1, 1)), why: "it is not a JSON object".to_owned() }),
        Err(error) => {
            let (line, column) = (error.line(), error.column());
            let text = error.to_string();
            let plain = text.rfind(" at line ").map_or(text.as_str(), |end| &text[..end]);
            let why = if byte_at(bytes, line, column) == Some(b'/') {
                "comments are not allowed in JSON".to_owned()
            } else {
                plain.to_owned()
            };
            Content::Broken(Broken { at: Some((line, column)), why })
        }
    }
}

fn byte_at(bytes: &[u8], line: usize, column: usize) -> Option<u8> {
    bytes.split(|b| *b == b'\n').nth(line.checked_sub(1)?)?.get(column.checked_sub(1)?).copied()
}

impl Display for Broken {
    /// As an editor takes it behind the path: `:3:5: why`.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((line, column)) = self.at {
            write!(out, ":{line}:{column}")?;
        }
        write!(out, ": {}", self.why)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_client_will_not_read_is_named_with_its_place() {
        let broken = |text: &str| match parse(text.as_bytes()) {
            Content::Broken(broken) => broken.to_string(),
            content => panic!("{text}: {content:?}"),
        };
        assert_eq!(broken("{\n  \"a\": 1,\n}"), ":3:1: trailing comma");
        assert_eq!(broken("{\n  // why\n  \"a\": 1\n}"), ":2:3: comments are not allowed in JSON");
        assert_eq!(broken("{\"a\": 1 /* x */}"), ":1:9: comments are not allowed in JSON");
        assert!(broken("{\"a\": ").starts_with(":1:6: EOF"));
        assert_eq!(broken("[]"), ":1:1: it is not a JSON object");
        for fine in ["", " \n", "{}", "\u{feff}{}"] {
            assert_eq!(parse(fine.as_bytes()), Content::Object(Map::new()), "{fine}");
        }
    }
}
