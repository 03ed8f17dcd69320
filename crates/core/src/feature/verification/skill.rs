//! What counts as verification here: by the project's own checks, and what the config wants of them.

use crate::feature::config::Config;
use crate::feature::verification::checks::{Kinds, Project};
use crate::feature::verification::verify_stop::settings::Wants;

/// The skill that stands for a verification.
pub const SKILL: &str = "verification-before-completion";

/// The kinds that are still wanted.
pub fn missing(checks: Option<&Project>, config: &Config, passed: Kinds) -> Kinds {
    let has =
        checks.map(Project::kinds).unwrap_or_default().and(config.policies.verify_stop.commands.kinds());
    let main = Kinds::COMPILED_TEST;
    let wanted = match config.policies.verify_stop.wants {
        Wants::Each => has,
        // A linter proves little; it counts where there is nothing else.
        Wants::One if has.common(main).is_empty() => has,
        Wants::One => has.common(main),
    };
    match config.policies.verify_stop.wants {
        Wants::Each => wanted.without(passed),
        Wants::One if wanted.common(passed).is_empty() => wanted,
        Wants::One => Kinds::default(),
    }
}

/// Whether these kinds are all that the config wants of this project.
pub fn verifies(checks: Option<&Project>, config: &Config, passed: Kinds) -> bool {
    !passed.is_empty() && missing(checks, config, passed).is_empty()
}
