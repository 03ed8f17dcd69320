//! Section `[task_gate]`.

use crate::feature::verification::verify_stop::settings::VerifyMode;
use crate::settings::section::section;

section! {
    /// Section `[task_gate]`.
    Settings "task_gate" {
        /// When the agent completes a task and no check has passed since the last edit: keep the task open (`block`), only record it (`shadow`), or do not look (`off`).
        mode: VerifyMode = VerifyMode::Off, Tightens;
    }
    presets {
        mode: VerifyMode::Shadow, VerifyMode::Block;
    }
}
