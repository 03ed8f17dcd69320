//! Remembers that a person was told of a policy that stepped down.

use std::io;

use tidegate_core::feature::friction::effect::Effect;

use crate::feature::HookContext;
use crate::journal::friction;

pub(super) fn carry_out(effect: &Effect, here: &HookContext<'_>) -> io::Result<()> {
    let Effect::StepDownTold(policy) = effect;
    friction::mark_told(here.state()?, here.now, here.root()?, std::slice::from_ref(policy))
}
