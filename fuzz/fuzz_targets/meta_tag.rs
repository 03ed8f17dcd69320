//! Any answer, and any names in a tag: what is written is found again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tidegate_core::feature::memory::catalogue::Named;
use tidegate_core::feature::memory::tag::{find, render};

fuzz_target!(|texts: (&str, &str)| {
    let (project, topic) = texts;
    let _ = find(project);
    let tag = render(&Named { id: 3, name: project.to_owned() }, &Named { id: 12, name: topic.to_owned() });
    let found = find(&tag).expect("a tag that was written");
    assert_eq!((found.project.map(|named| named.id), found.topic.id), (Some(3), 12));
});
