//! Section `[task_gate]`.

use crate::feature::verification::verify_stop::settings::VerifyMode;
use crate::settings::section::section;

section! {
    /// Section `[task_gate]`.
    Settings "task_gate" {
        /// What happens when a task is completed with code that was edited and not verified: it stays open (`block`), it is only recorded (`shadow`), or nobody looks.
        mode: VerifyMode = VerifyMode::Off, Tightens;
    }
    presets {
        mode: VerifyMode::Shadow, VerifyMode::Block;
    }
}
