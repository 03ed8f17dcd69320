//! Any answer, and any names in a tag: what is written is found again.

use tidegate_core::feature::memory::catalogue::NamedId;
use tidegate_core::feature::memory::tag::{find_last, render};

pub fn holds(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let (project, topic) = text.split_once('\n').unwrap_or((text, ""));
    let _ = find_last(project);
    let tag =
        render(&NamedId { id: 3, name: project.to_owned() }, &NamedId { id: 12, name: topic.to_owned() });
    let found = find_last(&tag).expect("a tag that was written");
    assert_eq!((found.project.map(|named| named.id), found.topic.id), (Some(3), 12));
}
