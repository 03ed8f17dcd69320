//! Any manifest: it is read or refused, and what is noted in it reads back.

use tidegate_core::feature::workflow::manifest::{Manifest, note_passed, note_skipped};
use tidegate_core::feature::workflow::{Workflow, check};
use tidegate_core::text::yaml;
use tidegate_core::time::Millis;

pub fn holds(bytes: &[u8]) {
    let read = |bytes: &[u8]| Manifest::parse(bytes, |_| Some(Workflow::default()));
    if let Ok(manifest) = read(bytes) {
        for section in &manifest.sections {
            let _ = check::files_to_examine(section);
        }
    }
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(noted) = note_passed(text, 1, Millis(0), 9, 3) {
        let root = yaml::parse(&noted).expect("what was changed reads back");
        let gate = root.get("gates").and_then(|gates| gates.get("1")).expect("the gate");
        assert_eq!(gate.get("status").and_then(yaml::Node::text), Some("passed"));
    }
    if let Ok(noted) = note_skipped(text, "3_discovery", "a \"reason\"", Millis(0)) {
        assert!(yaml::parse(&noted).is_ok());
    }
}
