//! Remarks on stderr, next to the output.

use super::page::Page;
use super::text::Text;
use crate::bilingual::both;

pub(crate) fn warn(text: impl Into<Text>) {
    remark(Text::from(both!("warning", "警告")).warning(), text);
}

pub(crate) fn note(text: impl Into<Text>) {
    remark(both!("note", "注意").into(), text);
}

/// A next step.
pub(crate) fn hint(text: impl Into<Text>) {
    remark(Text::from(both!("hint", "ヒント")).good(), text);
}

fn remark(label: Text, text: impl Into<Text>) {
    let mut page = Page::new();
    page.labelled(label, text);
    page.print_to_stderr();
}
