//! Any prompt has a phase, and the same one twice.

use tidegate_core::feature::activity::classifier::classify_prompt;

pub fn holds(bytes: &[u8]) {
    let Ok(prompt) = std::str::from_utf8(bytes) else { return };
    let guess = classify_prompt(prompt);
    assert!((0.0..=1.0).contains(&guess.confidence));
    assert_eq!(guess, classify_prompt(prompt));
}
