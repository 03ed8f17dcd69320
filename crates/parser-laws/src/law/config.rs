//! Any config file: problems are named, the rest has usable values, and as a project's own file it loosens nothing. The
//! files are in memory where there is such a place.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use tidegate_core::feature::config::Config;
use tidegate_core::settings::setting::{Setting, Whole};
use tidegate_state::config::{self, PROJECT_FILES, Sources};

static ROOT: LazyLock<PathBuf> = LazyLock::new(|| {
    let memory = Path::new("/dev/shm");
    let folder = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
    let root = folder.join(format!("tidegate-fuzz-{}", std::process::id()));
    fs::create_dir_all(root.join(".claude")).expect("a temporary folder can be made");
    root
});

pub fn holds(bytes: &[u8]) {
    let file = ROOT.join(PROJECT_FILES[0]);
    fs::write(&file, bytes).expect("a temporary file can be written");
    let own = config::read(&Sources { user: Some(&file), ..Sources::default() });
    assert!((200..=9_000).contains(&own.general.text_budget.get()));
    assert!(own.journal.keep.0 >= 1);
    assert_ne!(own.meter.window.map(Whole::get), Some(0));

    let strangers = config::read(&Sources { root: Some(&ROOT), ..Sources::default() });
    let default = Config::default();
    assert_eq!((strangers.meter.clone(), strangers.journal.clone()), (default.meter, default.journal));
    assert_eq!(strangers.general.text_budget, default.general.text_budget);
    assert!(strangers.policies.approval.unattended.0.is_empty());
    assert!(strangers.policies.pressure.mode.strictness() >= default.policies.pressure.mode.strictness());
    assert!(
        strangers.policies.own_settings.mode.strictness() >= default.policies.own_settings.mode.strictness()
    );
    let (gates, built_in) = (&strangers.policies, &default.policies);
    assert!(gates.skill_gate.mode.strictness() >= built_in.skill_gate.mode.strictness());
    assert!(gates.skill_gate.exempt.0.is_empty() && gates.skill_gate.preloaded.0.is_empty());
    let required = gates.skill_gate.require.skills("a.rs");
    assert!(built_in.skill_gate.require.skills("a.rs").iter().all(|skill| required.contains(skill)));
    assert!(gates.verify_stop.mode.strictness() >= built_in.verify_stop.mode.strictness());
    assert_eq!(gates.verify_stop.commands, built_in.verify_stop.commands);
}
