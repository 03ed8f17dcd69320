//! Any text: secrets are taken out once, and a second time there are none.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tidegate_core::redact::redact;

fuzz_target!(|text: &str| {
    let once = redact(text);
    assert_eq!(once.found.is_empty(), once.text == text);
    let twice = redact(&once.text);
    assert_eq!(twice.text, once.text);
    assert!(twice.found.is_empty());
});
