//! Qwen Code's windows. It writes the window of a model that it knows into each answer, and takes 200,000 tokens for any
//! other. It compacts at a share of the window, but early enough for the summary (0.24.4).

use std::borrow::Cow;

use serde::de::{IgnoredAny, MapAccess};

use crate::host::window::{HostSettings, Window};
use crate::text::json::{Field, Member, read_object, wire_key, wire_object};

const UNKNOWN_MODEL: u64 = 200_000;

/// Kept free for the summary and the next turns.
const SUMMARY: u64 = 33_000;

const USUAL_PERCENT: f64 = 85.0;

pub(super) fn window(told: Option<u64>, used: u64, settings: &HostSettings) -> Option<Window> {
    let tokens = Some(told.unwrap_or(UNKNOWN_MODEL)).filter(|tokens| *tokens >= used)?;
    let share = (tokens as f64 * settings.percent.unwrap_or(USUAL_PERCENT) / 100.0) as u64;
    let compact_at = match tokens.saturating_sub(SUMMARY) {
        0 => share,
        latest => share.min(latest),
    };
    Some(Window { tokens, compact_at: settings.auto_compact.then_some(compact_at) })
}

wire_object! {
    struct WireSettings<'a> {
        context: WireContext<'a>,
    }
}

wire_object! {
    struct WireContext<'a> {
        threshold as "autoCompactThreshold": f64,
    }
}

/// From a settings file. Qwen Code ignores a share that is none.
pub fn compaction_percent(settings: &[u8]) -> Option<f64> {
    let settings = read_object::<WireSettings<'_>>(settings).ok()?;
    let share = settings.context.get()?.threshold.get().copied()?;
    (share > 0.0 && share <= 1.0).then_some(share * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_compacts_at_a_share_or_early_enough_for_the_summary() {
        let usual = HostSettings::default();
        let at = |told, settings: &HostSettings| {
            window(told, 1000, settings).map(|found| (found.tokens, found.compact_at.unwrap()))
        };
        assert_eq!(at(None, &usual), Some((200_000, 167_000)));
        assert_eq!(at(Some(1_000_000), &usual), Some((1_000_000, 850_000)));
        assert_eq!(at(Some(32_768), &usual), Some((32_768, 27_852)));
        let half = HostSettings { percent: Some(50.0), ..HostSettings::default() };
        assert_eq!(at(None, &half), Some((200_000, 100_000)));
        assert_eq!(window(Some(1000), 2000, &usual), None, "more use than the window holds");
    }
}
