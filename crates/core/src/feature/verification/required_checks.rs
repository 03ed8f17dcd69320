//! The checks that count as verification: the project's own kinds, narrowed by the config.

use crate::feature::config::Config;
use crate::feature::verification::checks::{Kinds, ProjectChecks};
use crate::feature::verification::verify_stop::settings::Wants;
use crate::feature::verification::work::ChangeSet;

/// The skill that counts as a verification.
pub const SKILL: &str = "verification-before-completion";

/// `files`: the edited ones. A linter is enough for a language that has nothing else.
pub fn missing_kinds(
    checks: Option<&ProjectChecks>,
    config: &Config,
    files: &[String],
    passed: Kinds,
) -> Kinds {
    let has = checks
        .map(|checks| checks.kinds_for(files))
        .unwrap_or_default()
        .and(config.policies.verify_stop.commands.kinds());
    let main = Kinds::COMPILED_TEST;
    let wanted = match config.policies.verify_stop.wants {
        Wants::Each => has,
        // A linter proves little; it counts only if there is nothing else.
        Wants::One if has.common(main).is_empty() => has,
        Wants::One => has.common(main),
    };
    match config.policies.verify_stop.wants {
        Wants::Each => wanted.without(passed),
        Wants::One if wanted.common(passed).is_empty() => wanted,
        Wants::One => Kinds::default(),
    }
}

pub fn is_sufficient(
    checks: Option<&ProjectChecks>,
    config: &Config,
    files: &[String],
    passed: Kinds,
) -> bool {
    !passed.is_empty() && missing_kinds(checks, config, files, passed).is_empty()
}

/// The edited files for which more has to pass.
pub fn open_files(checks: Option<&ProjectChecks>, config: &Config, changes: &ChangeSet) -> Vec<String> {
    let is_open = |(at, file): &(usize, &String)| {
        let valid = changes.valid(changes.passed_of(*at));
        !is_sufficient(checks, config, std::slice::from_ref(*file), valid)
    };
    changes.files.iter().enumerate().filter(is_open).map(|(_, file)| file.clone()).collect()
}
