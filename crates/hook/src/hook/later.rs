//! Work after the answer: it cannot change the answer, and a failure loses nothing.

use tidegate_core::feature::verdict::{Carried, Effect, EffectTiming};
use tidegate_core::host::answer::Reply;
use tidegate_state::feature::{self, HookContext};
use tidegate_state::journal::friction;
use tidegate_state::journal::friction::Reach;
use tidegate_state::place::StateDir;
use tidegate_state::{config, journal};

#[derive(Default)]
pub(crate) struct Answer {
    pub(crate) reply: Reply,
    pub(crate) later: Later,
}

impl From<Reply> for Answer {
    fn from(reply: Reply) -> Answer {
        Answer { reply, later: Later::default() }
    }
}

#[derive(Default)]
pub(crate) struct Later {
    /// All effects of the ruling; those that are due before the answer are done already.
    pub(crate) effects: Vec<Effect>,
    /// A session has begun: old files are removed, config files are copied.
    pub(crate) keeps_house: bool,
    /// A person may have started the session.
    pub(crate) attended: bool,
}

/// The client waits for the end of the process: this takes about a tenth of a second.
const REACH: Reach = Reach { days: 7, of_a_day: 1024 * 1024 };

impl Later {
    pub(crate) fn carry_out(&self, state: &StateDir, here: &HookContext<'_>) {
        for effect in self.effects.iter().filter(|effect| matches!(effect.when(), EffectTiming::Answered)) {
            let _ = feature::carry_out(effect, here);
        }
        if self.keeps_house {
            keep_house(state, here, self.attended);
        }
    }
}

/// Once per session: copies config files that parse, removes old files, and counts a policy that the person switched
/// off at the client's start as overridden.
fn keep_house(state: &StateDir, here: &HookContext<'_>, attended: bool) {
    config::keep_copies(state, here.place.config().as_deref(), here.root);
    journal::keep_house(state, here.session, here.now, here.config.journal.keep.0);
    let off = &here.config.off;
    // One more override may make the policy step down.
    if let Some(root) = here.root.filter(|_| attended && !off.is_empty()) {
        let _ = friction::step_down(state, here.now, here.config, root, off, REACH);
    }
}
