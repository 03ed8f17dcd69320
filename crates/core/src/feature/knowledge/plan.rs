//! `task_plan.md`: the work ahead.

use crate::feature::knowledge::document;
use crate::feature::knowledge::document::{MarkdownLine, Newline};
use crate::feature::knowledge::flow::bullet_text;
use crate::time::Millis;

pub const FILE: &str = "task_plan.md";

const LAST_COMPACTED: &str = "Last compacted:";

/// The plan with the time of the last compaction below its title. Everything else stays byte for byte.
pub fn stamp_compaction(text: &str, at: Millis) -> String {
    let stamp = format!("{LAST_COMPACTED} {}", at.iso_seconds());
    let is_stamp = |line: &MarkdownLine<'_>| !line.fenced && line.text.starts_with(LAST_COMPACTED);
    if let Some(old) = document::lines(text).find(is_stamp) {
        let end = old.range.start + old.text.len();
        return format!("{}{stamp}{}", &text[..old.range.start], &text[end..]);
    }
    let newline = Newline::of(text).as_str();
    let is_title = |line: &MarkdownLine<'_>| !line.fenced && line.text.starts_with("# ");
    let Some(title) = document::lines(text).find(is_title) else {
        let mark = text.len() - text.trim_start_matches('\u{feff}').len();
        return format!("{}{stamp}{newline}{}", &text[..mark], &text[mark..]);
    };
    let (above, below) = text.split_at(title.range.end);
    let lead = if above.ends_with('\n') { "" } else { newline };
    format!("{above}{lead}{stamp}{newline}{below}")
}

pub fn task_title(text: &str) -> Option<&str> {
    let title =
        |line: MarkdownLine<'_>| Some(line.range).filter(|_| !line.fenced && line.text.starts_with("# "));
    let range = document::lines(text).find_map(title)?;
    let (label, task) = text[range].trim_start_matches("# ").split_once([':', '：'])?;
    let label = label.trim().to_lowercase();
    let task = task.trim();
    (matches!(label.as_str(), "current task" | "現在のタスク") && !task.is_empty()).then_some(task)
}

pub fn constraints(text: &str) -> Vec<&str> {
    const NAMES: [&str; 7] = ["constraint", "invariant", "requirement", "制約", "不変条件", "前提", "要件"];
    plan_items(text).filter(|item| item.is_below(&NAMES)).map(|item| item.text).collect()
}

/// Items begun or still to do.
pub fn open_items(text: &str) -> Vec<&str> {
    const NAMES: [&str; 4] = ["in progress", "remaining", "進行中", "残り"];
    let is_open = |item: &PlanItem<'_>| match item.done {
        Some(done) => !done,
        None => item.is_below(&NAMES),
    };
    plan_items(text).filter(is_open).map(|item| item.text).collect()
}

/// Unfinished items that end with a question mark or are below a heading about questions.
pub fn questions(text: &str) -> Vec<&str> {
    const NAMES: [&str; 4] = ["question", "質問", "疑問", "未解決"];
    let asks = |item: &PlanItem<'_>| item.is_below(&NAMES) || item.text.ends_with(['?', '？']);
    plan_items(text).filter(|item| item.done != Some(true) && asks(item)).map(|item| item.text).collect()
}

/// One bullet of a plan.
struct PlanItem<'a> {
    text: &'a str,
    /// `None` without a checkbox.
    done: Option<bool>,
    /// The headings of levels 2 and 3 above it.
    headings: [&'a str; 2],
}

impl PlanItem<'_> {
    fn is_below(&self, names: &[&str]) -> bool {
        self.headings.iter().any(|heading| {
            let heading = heading.to_lowercase();
            names.iter().any(|name| heading.contains(name))
        })
    }
}

fn plan_items(text: &str) -> impl Iterator<Item = PlanItem<'_>> {
    let mut headings = [""; 2];
    document::lines(text).filter(|line| !line.fenced).filter_map(move |line| {
        let level = line.text.bytes().take_while(|byte| *byte == b'#').count();
        if level > 0 && line.text[level..].starts_with(' ') {
            let heading = line.text[level..].trim();
            match level {
                1 => headings = [""; 2],
                2 => headings = [heading, ""],
                3 => headings[1] = heading,
                _ => {}
            }
            return None;
        }
        let text = bullet_text(line.text).or_else(|| numbered_text(line.text))?;
        let (done, text) = match checkbox(text) {
            Some((done, text)) => (Some(done), text),
            None => (None, text),
        };
        (!text.is_empty()).then_some(PlanItem { text, done, headings })
    })
}

/// `[ ] text`, `[x] text`.
fn checkbox(text: &str) -> Option<(bool, &str)> {
    let (mark, rest) = text.strip_prefix('[')?.split_once(']')?;
    let done = match mark {
        "" | " " | "\u{3000}" => false,
        "x" | "X" => true,
        _ => return None,
    };
    (rest.is_empty() || rest.starts_with(char::is_whitespace)).then(|| (done, rest.trim()))
}

/// `1. text`, `1) text`.
fn numbered_text(line: &str) -> Option<&str> {
    let text = line.trim_start();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let rest = text[digits..].strip_prefix(['.', ')'])?.strip_prefix(' ')?;
    (digits > 0).then(|| rest.trim())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PLAN: &str = "\u{feff}# Current Task: 認証を直す\n\n## Phase: implement\n\n## Completed\n- [x] 調べた\n\
        - old\n\n## In Progress\n- 実装する\n  - [ ] parser\n- [X] read\n\n## Remaining\n1. test it\n* [ ] docs\n\
        ```\n- [ ] not this\n```\n\n## Notes\n- a note\n- [link](x)\n\n## User constraints\n- Node 18 のまま\n\
        ### Details\n- no new dependency\n\n### 要件\n- [ ] 二か国語\n\n# Other\n- free\n";

    #[test]
    fn what_a_plan_says() {
        assert_eq!(task_title(PLAN), Some("認証を直す"));
        assert_eq!(open_items(PLAN), ["実装する", "parser", "test it", "docs", "二か国語"]);
        assert_eq!(constraints(PLAN), ["Node 18 のまま", "no new dependency", "二か国語"]);
        assert_eq!(open_items("## 進行中\n- 一\n## 残り\n・二\n## 完了\n- 三\n"), ["一", "二"]);
        assert_eq!(constraints("## 制約\n- 一\n### 前提条件\n- 二\n## 次\n- 三\n"), ["一", "二"]);
        assert_eq!(
            questions("## 質問\n- 一\n- [x] 二\n## Remaining\n- 三？\n- [x] 四?\n- 五\n"),
            ["一", "三？"]
        );
        assert_eq!(questions("## Open Questions\n- a\n## Notes\n- b\n"), ["a"]);
        assert_eq!(constraints("```\n## Constraints\n- x\n```\n- y\n"), [""; 0]);
    }

    #[test]
    fn the_name_of_a_task() {
        for (text, expected) in [
            ("# Current Task: a: b\r\n", Some("a: b")),
            ("\n# 現在のタスク：直す\n", Some("直す")),
            ("# Current Task:\n", None),
            ("# Plan: x\n", None),
            ("```\n# Current Task: x\n```\n", None),
            ("", None),
        ] {
            assert_eq!(task_title(text), expected, "{text:?}");
        }
    }

    #[test]
    fn the_time_of_the_last_compaction() {
        let stamp = "Last compacted: 2026-11-16T02:10:05Z";
        for (text, expected) in [
            ("", format!("{stamp}\n")),
            ("words\n", format!("{stamp}\nwords\n")),
            ("\u{feff}words", format!("\u{feff}{stamp}\nwords")),
            ("# 題\n\nwords\n", format!("# 題\n{stamp}\n\nwords\n")),
            ("# 題\r\n\r\nwords\r\n", format!("# 題\r\n{stamp}\r\n\r\nwords\r\n")),
            ("# 題", format!("# 題\n{stamp}\n")),
            ("a\n# 題\nb\n", format!("a\n# 題\n{stamp}\nb\n")),
            ("# 題\nx\nLast compacted: never\r\ny", format!("# 題\nx\n{stamp}\r\ny")),
            ("Last compacted: a\nLast compacted: b\n", format!("{stamp}\nLast compacted: b\n")),
            ("```\nLast compacted: a\n# t\n```\n", format!("{stamp}\n```\nLast compacted: a\n# t\n```\n")),
        ] {
            let written = stamp_compaction(text, Millis(1_794_795_005_000));
            assert_eq!(written, expected, "{text:?}");
            assert_eq!(stamp_compaction(&written, Millis(1_794_795_005_999)), written, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_survived(text in "[#*\\[\\]x \\n`1.あ:-]{0,48}") {
            let _ = (task_title(&text), open_items(&text), constraints(&text), questions(&text));
            let written = stamp_compaction(&text, Millis(0));
            let rest = written.replacen("Last compacted: 1970-01-01T00:00:00Z\n", "", 1);
            prop_assert_eq!(rest.trim_end(), text.trim_end());
        }
    }
}
