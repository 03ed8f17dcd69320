//! Any bytes on a hook's stdin become an event or a named reason, and what they name stays in its folder.

use tidegate_core::event::EventKind;
use tidegate_core::host::Host;
use tidegate_core::meter::transcript::EventTrace;
use tidegate_core::pipeline::gate;

pub fn holds(bytes: &[u8]) {
    for registered in [None, Some(EventKind::PreToolUse), Some(EventKind::Stop)] {
        match Host::ClaudeCode.read(bytes, registered) {
            Ok(event) => {
                let id = event.session.as_str();
                assert!((1..=128).contains(&id.len()));
                assert!(id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-'));
                let paths = event.edit_paths();
                // After the check, the paths of an edit are known.
                if gate::check_members(&event).is_ok() {
                    assert!(!matches!(paths, Some(Err(_))));
                }
                let _ = (event.human_prompt(), event.is_main_thread(), EventTrace::of_event(&event));
            }
            Err(unreadable) => {
                assert!(!unreadable.step.to_string().is_empty());
                assert!(registered.is_none() || unreadable.kind.is_some());
            }
        }
    }
}
