//! Any prompt has a phase, and the same one twice.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tidegate_core::feature::activity::classifier as phase;

fuzz_target!(|prompt: &str| {
    let guess = phase::classify_prompt(prompt);
    assert!((0.0..=1.0).contains(&guess.confidence));
    assert_eq!(guess, phase::classify_prompt(prompt));
});
