//! Made-up transcripts of a week, for pictures of `tidegate replay`. They end when the pictures are taken.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::history;
use xtask::failure::{Done, While};

/// A project, how many days ago, and its turns: tokens used at the end, and what happened.
type Past = (&'static str, u64, &'static [(u64, Turn)]);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Turn {
    Answers,
    EditsAndTests,
    Edits,
    /// The exit status does not show.
    EditsAndPipes,
    /// Automatically, at its beginning.
    Compacts,
}

const WEEK: [Past; 6] = [
    (
        "shop",
        1,
        &[
            (31_000, Turn::Answers),
            (58_000, Turn::EditsAndTests),
            (83_000, Turn::EditsAndTests),
            (109_000, Turn::Edits),
            (128_000, Turn::EditsAndTests),
            (146_000, Turn::Answers),
            (158_000, Turn::EditsAndTests),
            (24_000, Turn::Compacts),
            (47_000, Turn::EditsAndTests),
        ],
    ),
    ("shop", 2, &[(22_000, Turn::EditsAndTests), (39_000, Turn::EditsAndPipes), (61_000, Turn::Answers)]),
    ("docs-site", 2, &[(18_000, Turn::Answers), (27_000, Turn::Answers)]),
    (
        "billing",
        3,
        &[
            (42_000, Turn::EditsAndTests),
            (76_000, Turn::Edits),
            (118_000, Turn::EditsAndTests),
            (159_000, Turn::Answers),
            (21_000, Turn::Compacts),
        ],
    ),
    ("billing", 5, &[(35_000, Turn::EditsAndTests), (52_000, Turn::EditsAndTests)]),
    ("shop", 6, &[(27_000, Turn::Edits), (49_000, Turn::EditsAndTests)]),
];

/// One file for each session.
pub(crate) fn write(folder: &Path) -> Done {
    fs::create_dir_all(folder).while_(folder.display())?;
    let now = history::NOW / 1000;
    for (number, (project, days, turns)) in WEEK.into_iter().enumerate() {
        let mut session = Session { number, project, at: now - days * 86_400, lines: Vec::new() };
        for (used, turn) in turns {
            session.turn(*used, *turn);
        }
        let path = folder.join(format!("{number:08}-1111-2222-3333-444455556666.jsonl"));
        fs::write(&path, session.lines.join("\n") + "\n").while_(path.display())?;
    }
    Ok(())
}

struct Session {
    number: usize,
    project: &'static str,
    /// Seconds.
    at: u64,
    lines: Vec<String>,
}

impl Session {
    fn turn(&mut self, used: u64, turn: Turn) {
        if turn == Turn::Compacts {
            let meta = json!({"trigger": "auto", "preTokens": 159_000});
            self.line(json!({"type": "system", "subtype": "compact_boundary", "compactMetadata": meta}));
            let summary = json!({"content": "The session cookie is signed. Files in src were changed."});
            self.line(json!({"type": "user", "isCompactSummary": true, "message": summary}));
        }
        let prompt = match self.lines.len() {
            0 => "Do not change the public API. Sign the session cookie.",
            _ => "Continue with the next part.",
        };
        self.line(json!({"type": "user", "message": {"content": prompt}}));
        if matches!(turn, Turn::Edits | Turn::EditsAndTests | Turn::EditsAndPipes) {
            let path = format!("/home/you/code/{}/src/session.ts", self.project);
            let input = json!({"file_path": path, "old_string": "a", "new_string": "b"});
            self.call(used - 2_000, "Edit", &input, "updated", &json!({"filePath": path}));
        }
        let command = match turn {
            Turn::EditsAndTests => "npm test",
            Turn::EditsAndPipes => "npm test | tail -3",
            _ => "",
        };
        if !command.is_empty() {
            // npm prints the script that it runs; what `tail` leaves does not show it.
            let printed = match turn {
                Turn::EditsAndTests => format!("\n> {}@1.0.0 test\n> vitest run\n\nok\n", self.project),
                _ => "ok\n".to_owned(),
            };
            let result = json!({"stdout": printed, "stderr": "", "interrupted": false});
            self.call(used - 1_000, "Bash", &json!({"command": command}), &printed, &result);
        }
        self.answer(used, &json!({"type": "text", "text": "Done."}));
    }

    fn call(&mut self, used: u64, tool: &str, input: &Value, text: &str, result: &Value) {
        let id = format!("c{}-{}", self.number, self.lines.len());
        self.answer(used, &json!({"type": "tool_use", "id": id, "name": tool, "input": input}));
        let block = json!({"type": "tool_result", "tool_use_id": id, "content": text});
        self.line(json!({"type": "user", "toolUseResult": result, "message": {"content": [block]}}));
    }

    fn answer(&mut self, used: u64, block: &Value) {
        let id = format!("m{}-{}", self.number, self.lines.len());
        let message = json!({"id": id, "model": "claude-sonnet-4-5", "usage": {"input_tokens": used}, "content": [block]});
        self.line(json!({"type": "assistant", "message": message}));
    }

    fn line(&mut self, mut entry: Value) {
        let at = self.at + 40 * self.lines.len() as u64;
        entry["timestamp"] = json!(iso(at));
        entry["cwd"] = json!(format!("/home/you/code/{}", self.project));
        entry["sessionId"] = json!(format!("s{}", self.number));
        entry["uuid"] = json!(format!("u{}-{}", self.number, self.lines.len()));
        self.lines.push(entry.to_string());
    }
}

/// Days since 1970 as a date, after Howard Hinnant's `civil_from_days`.
pub(crate) fn iso(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400 + 719_468, seconds % 86_400);
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let (month, year) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    let (hour, minute, second) = (rest / 3_600, rest / 60 % 60, rest % 60);
    format!(
        "{:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.000Z",
        year_of_era + era * 400 + year
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_dates() {
        assert_eq!(iso(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(iso(1_794_960_000 + 86_399), "2026-11-18T23:59:59.000Z");
        assert_eq!(iso(951_782_400), "2000-02-29T00:00:00.000Z");
    }
}
