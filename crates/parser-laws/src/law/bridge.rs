//! Any bridge file, and the reading that comes of it.

use tidegate_core::host::Host;
use tidegate_core::host::window::HostSettings;
use tidegate_core::meter::sources::{Bridge, MeterSources};
use tidegate_core::pipeline::record::MeterRecord;
use tidegate_core::time::Millis;

pub fn holds(bytes: &[u8]) {
    let Ok(bridge) = serde_json::from_slice::<Bridge>(bytes) else { return };
    let now = Millis(1_794_744_378_000);
    let meter = MeterSources {
        now,
        payload: None,
        bridge: Some(bridge),
        transcript: Ok(None),
        boundary: None,
        model: None,
        window: None,
        outgrown: None,
        host: Host::ClaudeCode,
        settings: &HostSettings::default(),
    }
    .meter();
    let record = MeterRecord::from_meter(&meter, None, now);
    assert!(record.used_pct.is_none_or(f64::is_finite));
}
