//! Any answer, and any names in a tag: what is written is found again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tidegate_core::feature::memory::catalogue::NamedId;
use tidegate_core::feature::memory::tag::{find_last, render};

fuzz_target!(|texts: (&str, &str)| {
    let (project, topic) = texts;
    let _ = find_last(project);
    let tag = render(&NamedId { id: 3, name: project.to_owned() }, &NamedId { id: 12, name: topic.to_owned() });
    let found = find_last(&tag).expect("a tag that was written");
    assert_eq!((found.project.map(|named| named.id), found.topic.id), (Some(3), 12));
});
