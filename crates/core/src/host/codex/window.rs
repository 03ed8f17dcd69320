//! Codex's windows, as the rollout reports them: 95% of the model's. It compacts at 90% of the model's, or where its
//! settings say (0.166.0).

use crate::host::window::{HostSettings, Window};

pub(super) fn window(told: Option<u64>, used: u64, settings: &HostSettings) -> Option<Window> {
    let tokens = told.filter(|tokens| *tokens >= used)?;
    let limit = settings.auto_compact_windows.iter().find_map(|window| window.tokens);
    let usual = tokens.saturating_mul(90) / 95;
    let compact_at = limit.map_or(usual, |limit| limit.min(usual));
    Some(Window { tokens, compact_at: settings.auto_compact.then_some(compact_at) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::window::AutoCompactWindow;

    #[test]
    fn it_compacts_where_the_catalogue_or_the_settings_say() {
        let usual = HostSettings::default();
        let limit = |tokens| HostSettings {
            auto_compact_windows: vec![AutoCompactWindow { model: None, tokens: Some(tokens) }],
            ..HostSettings::default()
        };
        assert_eq!(window(None, 1000, &usual), None);
        let at = |settings: &HostSettings| window(Some(258_400), 1000, settings).unwrap().compact_at;
        assert_eq!(at(&usual), Some(244_800));
        assert_eq!((at(&limit(60_000)), at(&limit(900_000))), (Some(60_000), Some(244_800)));
        assert_eq!(window(Some(1000), 2000, &usual), None, "more use than the window holds");
    }
}
