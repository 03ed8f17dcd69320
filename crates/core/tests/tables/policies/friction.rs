//! `friction`: a policy that stepped down says so once.

use tidegate_core::feature::friction::effect::Effect as FrictionEffect;
use tidegate_core::feature::verdict::Effect;

use super::{Room, or_dash, plain};
use crate::situation::Decided;

pub(super) static FRICTION: Room = Room {
    law: |decided| assert_eq!(decided.outcome.context, "", "the model is told nothing"),
    given: &[("stepped down", |case, cell| {
        let names = cell.split(' ').filter(|name| *name != "-");
        case.config.step_downs_to_tell = names.map(str::to_owned).collect();
    })],
    expected: &[("told", told)],
    ..plain("friction")
};

fn told(decided: &Decided) -> String {
    let told = decided.outcome.effects.iter().filter_map(|effect| match effect {
        Effect::Friction(FrictionEffect::StepDownTold(policy)) => Some(policy.as_str()),
        _ => None,
    });
    let told: Vec<&str> = told.collect();
    let mentions = |policy: &&str| decided.outcome.user.contains(&format!("`tidegate on {policy}`"));
    assert!(told.iter().all(mentions), "{}", decided.outcome.user);
    or_dash(told.join(" "))
}
