//! `.claude/scheduled_tasks.json`: prompts that Claude Code submits by itself, also those of earlier sessions. A repository
//! can bring the file along.

use std::path::Path;

use serde_json::Value;

use crate::file::bounded;

const FILE: &str = ".claude/scheduled_tasks.json";

/// In bytes. The client keeps 50 tasks.
const LARGEST: u64 = 1024 * 1024;

/// Whether the project has scheduled this prompt. A file that cannot be read has scheduled nothing.
pub fn has_prompt(root: &Path, prompt: &str) -> bool {
    let Ok(bytes) = bounded::read(&root.join(FILE), LARGEST) else { return false };
    let Ok(file) = serde_json::from_slice::<Value>(&bytes) else { return false };
    let tasks = file["tasks"].as_array().map(Vec::as_slice).unwrap_or_default();
    tasks.iter().any(|task| task["prompt"].as_str().is_some_and(|text| text.trim() == prompt.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn prompts_of_the_file_are_known() {
        let root = tempfile::tempdir().unwrap();
        let has = |prompt: &str| has_prompt(root.path(), prompt);
        assert!(!has("x"), "no file");
        fs::create_dir(root.path().join(".claude")).unwrap();
        for (text, known) in [
            (r#"{"tasks":[{"id":"a","cron":"* * * * *","prompt":"y"},{"prompt":" x\n"}]}"#, true),
            (r#"{"tasks":[{"prompt":"x y"}]}"#, false),
            (r#"{"tasks":{"prompt":"x"}}"#, false),
            (r#"[{"prompt":"x"}]"#, false),
            ("{", false),
        ] {
            fs::write(root.path().join(FILE), text).unwrap();
            assert_eq!(has("x"), known, "{text}");
        }
    }
}
