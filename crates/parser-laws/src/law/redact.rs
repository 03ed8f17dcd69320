//! Any text: secrets are taken out once, and a second time there are none.

use tidegate_core::redact::redact;

pub fn holds(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let once = redact(text);
    assert_eq!(once.found.is_empty(), once.text == text);
    let twice = redact(&once.text);
    assert_eq!(twice.text, once.text);
    assert!(twice.found.is_empty());
}
