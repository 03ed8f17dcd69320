//! Bullets of an entry, by their labels.

use crate::feature::knowledge::document;
use crate::feature::knowledge::flow::ProgressEntry;

pub fn decisions<'a>(entry: &ProgressEntry<'a>) -> Vec<&'a str> {
    labelled_bullets(entry.body, &["decision", "decisions", "決定", "決定事項", "決めたこと", "判断"])
}

pub fn next_steps<'a>(entry: &ProgressEntry<'a>) -> Vec<&'a str> {
    labelled_bullets(
        entry.body,
        &[
            "next",
            "next step",
            "next steps",
            "次",
            "次の手順",
            "次のステップ",
            "次の作業",
            "次にやること",
            "次回",
        ],
    )
}

/// The texts of bullets with one of these labels; for an empty bullet, those of the bullets below it.
fn labelled_bullets<'a>(body: &'a str, labels: &[&str]) -> Vec<&'a str> {
    let mut found = Vec::new();
    let mut below: Option<usize> = None;
    for line in document::lines(body).filter(|line| !line.fenced && !line.text.trim().is_empty()) {
        let bullet = bullet_text(line.text);
        let indent = line.text.len() - line.text.trim_start().len();
        match (below, bullet) {
            (Some(deep), Some(text)) if indent > deep => {
                found.push(text);
                continue;
            }
            (Some(deep), None) if indent > deep => continue,
            _ => below = None,
        }
        if let Some(text) = bullet.and_then(|bullet| after_label(bullet, labels)) {
            if text.is_empty() {
                below = Some(indent);
            } else {
                found.push(text);
            }
        }
    }
    found
}

pub(in crate::feature::knowledge) fn bullet_text(line: &str) -> Option<&str> {
    let text = line.trim_start();
    ["- ", "* ", "+ ", "・"].iter().find_map(|mark| text.strip_prefix(mark)).map(str::trim)
}

/// `Decision: text`, `**Decision**: text`, `**Decision:** text`.
fn after_label<'a>(bullet: &'a str, labels: &[&str]) -> Option<&'a str> {
    let (label, text) = bullet.split_once([':', '：'])?;
    let bold = label.strip_prefix("**");
    let label = bold.unwrap_or(label);
    let (label, text) = match (bold, label.strip_suffix("**")) {
        (Some(_), Some(label)) => (label, text),
        (Some(_), None) => (label, text.strip_prefix("**").unwrap_or(text)),
        (None, _) => (label, text),
    };
    labels.contains(&label.trim().to_lowercase().as_str()).then(|| text.trim())
}
