//! What a run does after it has answered: the client does not wait for it, and it may fail without a loss.

use tidegate_core::feature::verdict::{Carried, Effect, EffectTiming};
use tidegate_core::host::answer::Reply;
use tidegate_state::feature::{self, Where};
use tidegate_state::journal::friction;
use tidegate_state::journal::friction::Reach;
use tidegate_state::place::StateDir;
use tidegate_state::{config, journal};

/// A reply, and what can wait until it is given.
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
    /// What the ruling wants done; of that, what is not done yet.
    pub(crate) effects: Vec<Effect>,
    /// A session has begun: what is old is cleared away, what is new is kept.
    pub(crate) keeps_house: bool,
    /// A person may have begun it.
    pub(crate) attended: bool,
}

/// The client waits until we end: what is read is bounded to what takes about a tenth of a second.
const REACH: Reach = Reach { days: 7, of_a_day: 1024 * 1024 };

impl Later {
    pub(crate) fn carry_out(&self, state: &StateDir, here: &Where<'_>) {
        for effect in self.effects.iter().filter(|effect| matches!(effect.when(), EffectTiming::Answered)) {
            let _ = feature::carry_out(effect, here);
        }
        if self.keeps_house {
            keep_house(state, here, self.attended);
        }
    }
}

/// Once per session: copies of config files that can be read, for a time when they cannot; what is too old; and what it means
/// that a person started the client without a policy.
fn keep_house(state: &StateDir, here: &Where<'_>, attended: bool) {
    config::keep_copies(state, here.place.config().as_deref(), here.root);
    journal::keep_house(state, here.session, here.now, here.config.journal.keep.0);
    let off = &here.config.off;
    // That may have been once too often.
    if let Some(root) = here.root.filter(|_| attended && !off.is_empty()) {
        let _ = friction::step_down(state, here.now, here.config, root, off, REACH);
    }
}
