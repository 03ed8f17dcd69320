//! Signs by which Tidegate sees that a stage reached its goal. The word of the model (`tidegate cycle done`) comes on
//! top of them: each can be there before the work is finished.

use crate::settings::value::Value;
use crate::text::hidden::judged;

const SKILL: &str = "skill";
const VERIFIED: &str = "verified";
const NO_OPEN_FINDINGS: &str = "no-open-findings";
const COMMIT: &str = "commit";
const FILE: &str = "file:";

/// For errors.
const FORMS: &str = "\"skill\", \"verified\", \"no-open-findings\", \"commit\" or \"file:PATH\"";

/// More than a stage can promise.
const MAX_SIGNS: usize = 16;

const MAX_PATH_CHARS: usize = 200;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DoneWhen {
    /// Its skill was invoked since it began.
    Skill,
    /// No edited code waits for a check.
    Verified,
    /// The metric `open` was reported and is zero, no other one counts severe findings, and the report does not forbid to ship.
    NoOpenFindings,
    /// A commit was made since it began and is checked out, or a push or a new pull request succeeded.
    Commit,
    /// This file of the project is not empty, and was made or changed since it began. Relative to the project's root.
    File(String),
}

impl DoneWhen {
    /// For a stage without `done_when`.
    pub fn defaults(stage: &str) -> Vec<DoneWhen> {
        match stage {
            "sprint" => vec![DoneWhen::Skill, DoneWhen::Verified],
            "audit" => vec![DoneWhen::Skill, DoneWhen::Verified, DoneWhen::NoOpenFindings],
            "ship" => vec![DoneWhen::Skill, DoneWhen::Commit],
            _ => vec![DoneWhen::Skill],
        }
    }

    pub(super) fn read_list(value: &Value) -> Result<Vec<DoneWhen>, String> {
        let Value::List(items) = value else {
            return Err(format!("`done_when` is {}: use a list of {FORMS}", value.kind()));
        };
        if items.len() > MAX_SIGNS {
            return Err(format!("`done_when` takes up to {MAX_SIGNS} entries"));
        }
        let mut signs = Vec::new();
        for item in items {
            let sign = DoneWhen::read(item)?;
            if signs.contains(&sign) {
                return Err(format!("`done_when` has {item} twice"));
            }
            signs.push(sign);
        }
        Ok(signs)
    }

    fn read(item: &Value) -> Result<DoneWhen, String> {
        let Value::Text(text) = item else {
            return Err(format!("`done_when` holds {}: use {FORMS}", item.kind()));
        };
        match text.as_str() {
            SKILL => Ok(DoneWhen::Skill),
            VERIFIED => Ok(DoneWhen::Verified),
            NO_OPEN_FINDINGS => Ok(DoneWhen::NoOpenFindings),
            COMMIT => Ok(DoneWhen::Commit),
            _ => match text.strip_prefix(FILE) {
                Some(path) if is_path_below(path) => Ok(DoneWhen::File(path.to_owned())),
                Some(_) => Err(format!(
                    "{item} in `done_when` does not name a file below the project: use \"file:docs/report.md\""
                )),
                None => Err(format!("`done_when` does not know {item}: use {FORMS}")),
            },
        }
    }

    /// The notation of the config.
    pub fn to_text(&self) -> String {
        match self {
            DoneWhen::Skill => SKILL.to_owned(),
            DoneWhen::Verified => VERIFIED.to_owned(),
            DoneWhen::NoOpenFindings => NO_OPEN_FINDINGS.to_owned(),
            DoneWhen::Commit => COMMIT.to_owned(),
            DoneWhen::File(path) => format!("{FILE}{path}"),
        }
    }
}

/// Shown to people and models, and never followed out of the project.
fn is_path_below(path: &str) -> bool {
    let plain = |(c, is_plain): (char, bool)| is_plain && !matches!(c, '`' | '"' | '\\' | ':');
    let is_part = |part: &str| !part.is_empty() && part != "." && part != "..";
    path.chars().count() <= MAX_PATH_CHARS
        && path.trim() == path
        && judged(path).all(plain)
        && path.split('/').all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(items: &[&str]) -> Value {
        Value::List(items.iter().map(|item| Value::from(*item)).collect())
    }

    #[test]
    fn signs_read_back() {
        let all = ["skill", "verified", "no-open-findings", "commit", "file:docs/notes on it.md"];
        let signs = DoneWhen::read_list(&list(&all)).unwrap();
        assert_eq!(signs.iter().map(DoneWhen::to_text).collect::<Vec<_>>(), all);
        assert_eq!(DoneWhen::read_list(&list(&[])), Ok(Vec::new()));
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (value, why) in [
            (Value::from("skill"), "`done_when` is a text: use a list of \"skill\""),
            (Value::List(vec![Value::Whole(1)]), "`done_when` holds a number: use \"skill\""),
            (list(&["tests"]), "`done_when` does not know \"tests\": use \"skill\""),
            (list(&["Skill"]), "does not know \"Skill\""),
            (list(&["commit", "commit"]), "has \"commit\" twice"),
            (list(&["file:"]), "does not name a file below the project"),
            (list(&["file:/etc/passwd"]), "does not name a file below"),
            (list(&["file:../a.md"]), "does not name a file below"),
            (list(&["file:a/../../b"]), "does not name a file below"),
            (list(&["file:C:\\a"]), "does not name a file below"),
            (list(&["file: a"]), "does not name a file below"),
            (list(&["file:a\u{202e}b"]), "does not name a file below"),
            (list(&["skill"; 17]), "up to 16 entries"),
        ] {
            let said = DoneWhen::read_list(&value).unwrap_err();
            assert!(said.contains(why), "{said}");
        }
    }
}
