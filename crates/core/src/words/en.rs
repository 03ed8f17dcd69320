//! English.

use super::Words;

pub(super) const WORDS: Words = Words {
    gate_closed: |step, policy| {
        format!(
            "Tidegate could not check this call, so it was not let through: {step}. \
             `tidegate journal` shows what happened. To work without this gate, start the client with TIDEGATE_OFF={policy}."
        )
    },
    used: |percent| format!("{percent}% used"),
    left: |tokens, compacts| {
        if compacts { format!("{tokens} to compaction") } else { format!("{tokens} left") }
    },
    turns: |turns| if turns == 1 { "~1 turn".to_owned() } else { format!("~{turns} turns") },
    no_reading: "no reading yet",
    hooks_silent: "! hooks silent (tidegate doctor)",
    hooks_stopped: "! hooks stopped (tidegate doctor)",
};
