//! The client's settings files, as the client reads them: strict JSON, and the nearer file counts more.

use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use tidegate_core::time::Millis;
use tidegate_state::file::bounded;

use crate::bilingual::{Bilingual, both};
use crate::config_words::describe_file_fault;
use crate::json_text::{self, Document, Fault};
use crate::path::{is_same_place, modified_at};

const LARGEST: u64 = 4 * 1024 * 1024;

/// In the order of precedence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Scope {
    /// An administrator's.
    Managed,
    /// A person's, in one project.
    Local,
    /// A project's, for the whole team.
    Shared,
    /// A person's, in every project.
    User,
}

#[derive(Clone, Debug)]
pub(crate) struct SettingsFile {
    pub(crate) scope: Scope,
    pub(crate) path: PathBuf,
    pub(crate) content: Content,
    pub(crate) modified: Option<Millis>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Content {
    Absent,
    Object(Map<String, Value>),
    Broken(Broken),
}

/// Why the client will not read a file, and the place at which it stops.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Broken {
    pub(crate) at: Option<(usize, usize)>,
    pub(crate) why: String,
}

impl SettingsFile {
    pub(crate) fn read(scope: Scope, path: PathBuf) -> SettingsFile {
        let content = match bounded::read(&path, LARGEST) {
            Ok(bytes) => parse_settings(&bytes),
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                Content::Absent
            }
            Err(error) => Content::Broken(Broken { at: None, why: error.to_string() }),
        };
        let modified = modified_at(&path);
        SettingsFile { scope, path, content, modified }
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        match &self.content {
            Content::Object(object) => object.get(name),
            Content::Absent | Content::Broken(_) => None,
        }
    }
}

/// In the order of precedence.
pub(crate) fn read_all(project: Option<&Path>, host: Option<&Path>) -> Vec<SettingsFile> {
    let places = [
        (Scope::Managed, managed_path()),
        (Scope::Local, project.map(|project| project.join(".claude/settings.local.json"))),
        (Scope::Shared, project.map(|project| project.join(".claude/settings.json"))),
        (Scope::User, host.map(|host| host.join("settings.json"))),
    ];
    // In the home directory the project's file is the user's, whatever path leads there.
    let is_users = |project: &Path| host.is_some_and(|host| is_same_place(&project.join(".claude"), host));
    let is_other = |scope: Scope| scope != Scope::Shared || !project.is_some_and(is_users);
    let there = places.into_iter().filter(|(scope, _)| is_other(*scope));
    there.filter_map(|(scope, path)| Some(SettingsFile::read(scope, path?))).collect()
}

/// Whether any file registers hooks of Tidegate, working or not.
pub(crate) fn has_our_hooks(project: Option<&Path>, host: Option<&Path>) -> bool {
    let files = read_all(project, host);
    files.iter().filter_map(|file| file.get("hooks")).any(|hooks| hooks.to_string().contains("tidegate"))
}

/// The nearest file with `disableAllHooks` decides.
pub(crate) fn find_disabling_file(files: &[SettingsFile]) -> Option<&SettingsFile> {
    let said = |file: &SettingsFile| file.get("disableAllHooks").and_then(Value::as_bool);
    files.iter().find(|file| said(file).is_some()).filter(|file| said(file) == Some(true))
}

fn managed_path() -> Option<PathBuf> {
    let path = if cfg!(target_os = "macos") {
        "/Library/Application Support/ClaudeCode/managed-settings.json"
    } else if cfg!(target_os = "linux") {
        "/etc/claude-code/managed-settings.json"
    } else {
        return None;
    };
    Some(path.into())
}

/// `None` if it is too large or not UTF-8.
pub(crate) fn read_text(path: &Path) -> Option<String> {
    String::from_utf8(bounded::read(path, LARGEST).ok()?).ok()
}

/// As the client reads it, with the same places in errors as `init`.
fn parse_settings(bytes: &[u8]) -> Content {
    let broken =
        |fault: Fault| Content::Broken(Broken { at: Some((fault.line, fault.column)), why: fault.what });
    let text = match str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let valid = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
            return broken(json_text::fault_at(&valid, valid.len(), "not UTF-8"));
        }
    };
    if text.trim_start_matches('\u{feff}').trim().is_empty() {
        return Content::Object(Map::new());
    }
    let document = match Document::parse(text) {
        Ok(document) => document,
        Err(fault) => return broken(fault),
    };
    if let Some(oddity) = document.oddities.first() {
        return broken(oddity.clone());
    }
    match document.value(&document.root) {
        Value::Object(object) => Content::Object(object),
        _ => broken(document.fault(&document.root, "the file is not a JSON object")),
    }
}

impl Broken {
    /// As editors take it after the path: `:3:5: why`.
    pub(crate) fn describe(&self) -> Bilingual {
        let place = self.at.map(|(line, column)| format!(":{line}:{column}")).unwrap_or_default();
        let Bilingual { en, ja } = describe_file_fault(&self.why);
        both!("{place}: {en}", "{place}: {ja}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_client_will_not_read_is_named_with_its_place() {
        let broken = |text: &str| match parse_settings(text.as_bytes()) {
            Content::Broken(broken) => broken.describe().en,
            content => panic!("{text}: {content:?}"),
        };
        assert_eq!(broken("{\n  \"a\": 1,\n}"), ":2:9: a trailing comma");
        assert_eq!(broken("{\n  // why\n  \"a\": 1\n}"), ":2:3: a comment");
        assert_eq!(broken("{\"a\": 1 /* x */}"), ":1:9: a comment");
        assert_eq!(broken("{\"a\": "), ":1:7: the file ends too early");
        assert_eq!(broken("[]"), ":1:1: the file is not a JSON object");
        let bytes = parse_settings(b"{\"a\": \"\xff\"}");
        assert_eq!(bytes, Content::Broken(Broken { at: Some((1, 8)), why: "not UTF-8".to_owned() }));
        for fine in ["", " \n", "{}", "\u{feff}{}"] {
            assert_eq!(parse_settings(fine.as_bytes()), Content::Object(Map::new()), "{fine}");
        }
        // Half a character is one for the client.
        assert!(matches!(parse_settings(br#"{"a": "\ud800", "b": 1e400}"#), Content::Object(_)));
    }
}
