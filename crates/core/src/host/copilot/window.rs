//! Copilot's windows: the most tokens of a prompt, as its events report them. It compacts above 80% of them (seen with
//! 1.0.102: not at 102,010 of 128,000 tokens, at 103,010).

use crate::host::window::Window;

/// More tokens than that may be in use while it compacts.
pub(super) fn window(told: Option<u64>) -> Option<Window> {
    let tokens = told.filter(|tokens| *tokens > 0)?;
    Some(Window { tokens, compact_at: Some(tokens.saturating_mul(80) / 100) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_compacts_at_four_fifths_of_what_its_events_say() {
        assert_eq!(window(Some(128_000)), Some(Window { tokens: 128_000, compact_at: Some(102_400) }));
        assert_eq!((window(None), window(Some(0))), (None, None));
    }
}
