//! What is switched off now.

use tidegate_core::gate::EDIT_GATE;
use tidegate_core::policy::POLICIES;

use super::super::finding::Findings;
use super::super::gathered::Gathered;

pub(super) fn check(seen: &Gathered, found: &mut Findings) {
    for name in &seen.config.off {
        if name == EDIT_GATE || POLICIES.iter().any(|policy| policy.id() == name) {
            found.note_with(
                format!("`{name}` is switched off by TIDEGATE_OFF in this environment"),
                "`unset TIDEGATE_OFF` before starting the client switches it on again",
            );
        } else {
            found.warning(
                format!("TIDEGATE_OFF names `{name}`, which is no policy: nothing is switched off by it"),
                "correct the name; `tidegate explain last` shows those that take part",
            );
        }
    }
    if seen.env.guard {
        found.warning(
            "TIDEGATE_GUARD is set in this environment: in a client started from here nothing is gated or said",
            "`unset TIDEGATE_GUARD` before starting the client",
        );
    }
    // What `tidegate off` has switched off is to be listed here.
    if found.is_empty() {
        found.ok("nothing is switched off");
    }
}
