//! Any prompt has a phase, and the same one twice.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tidegate_core::feature::activity::classifier::classify_prompt;

fuzz_target!(|prompt: &str| {
    let guess = classify_prompt(prompt);
    assert!((0.0..=1.0).contains(&guess.confidence));
    assert_eq!(guess, classify_prompt(prompt));
});
