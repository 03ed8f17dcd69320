//! What `cargo xtask` hands over.

use std::process::Command;

/// Also makes cargo build the program together with the tests, for `cargo xtask test` to run.
#[test]
fn a_command_that_it_does_not_know_is_named_with_what_to_do() {
    for words in [&["budgets"][..], &["bench", "--runs"], &["hook-path"], &["replay-corpus-of"]] {
        let ran = Command::new(env!("CARGO_BIN_EXE_measure")).args(words).output().expect("it starts");
        let said = String::from_utf8_lossy(&ran.stderr);
        assert!(!ran.status.success(), "{words:?}");
        assert!(said.contains(&format!("`{}`", words.join(" "))) && said.contains(" next: "), "{said}");
    }
}
