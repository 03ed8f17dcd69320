//! Any config file: problems are named, the rest has usable values. The file is in memory where there is such a place.
#![no_main]

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;

static FILE: LazyLock<PathBuf> = LazyLock::new(|| {
    let memory = Path::new("/dev/shm");
    let folder = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
    folder.join(format!("tidegate-fuzz-{}.toml", std::process::id()))
});

fuzz_target!(|bytes: &[u8]| {
    std::fs::write(&*FILE, bytes).expect("a temporary file can be written");
    let config = tidegate_state::config::read(Some(&FILE), None);
    assert!((200..=9_000).contains(&config.general.text_budget));
    assert!(config.journal.keep_days() >= 1);
    assert_ne!(config.meter.window, Some(0));
});
