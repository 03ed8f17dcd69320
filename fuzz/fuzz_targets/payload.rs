//! Any bytes on a hook's stdin become an event or a named reason, and what they name stays in its folder.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tidegate_core::event::{self, EventKind};
use tidegate_core::pipeline::gate;
use tidegate_core::meter::transcript::Evidence;

fuzz_target!(|bytes: &[u8]| {
    for registered in [None, Some(EventKind::PreToolUse), Some(EventKind::Stop)] {
        match event::parse(bytes, registered) {
            Ok(event) => {
                let id = event.session.as_str();
                assert!((1..=128).contains(&id.len()));
                assert!(id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-'));
                let target = event.edit_target();
                // A gate that let it through has seen the file, where the tool edits one.
                if gate::check_members(&event).is_ok() {
                    assert!(!matches!(target, Some(Err(_))));
                }
                let _ = (event.human_prompt(), event.main_thread(), Evidence::of(&event));
            }
            Err(unreadable) => {
                assert!(!unreadable.step.to_string().is_empty());
                assert!(registered.is_none() || unreadable.kind.is_some());
            }
        }
    }
});
