//! Whether a command is the program that its name says, run as it is known.

use crate::shell::{Step, Word};
use crate::text::word_list::{Words, among, each_word};

use super::{ONLY_TELLS, make};

/// Folders in a project where package managers put programs.
const INSTALLED: Words = "node_modules/.bin .venv/bin venv/bin env/bin .tox/bin vendor/bin bin";

/// Programs that a project brings along.
const BROUGHT: Words = "gradlew mvnw manage.py artisan rails sail";

/// A file in the project that is called like a tool can be anything.
pub(super) fn is_in_place(step: &Step) -> bool {
    let Some(word) = step.words.first() else { return false };
    let Some((folder, _)) = word.text.rsplit_once('/') else { return true };
    // Also a scoped package: `npx @biomejs/biome`.
    let is_elsewhere = folder.starts_with(['/', '~', '$', '@']) || folder.is_empty();
    is_elsewhere
        || step.name().is_some_and(|name| among(BROUGHT, name))
        || each_word(INSTALLED).any(|known| {
            folder.strip_suffix(known).is_some_and(|before| before.is_empty() || before.ends_with('/'))
        })
}

/// Variables with options for the runner that make it do nothing.
pub(super) fn is_disarmed(step: &Step) -> bool {
    step.assigned.iter().any(|(name, value)| disarms(name, value))
}

fn disarms(name: &str, value: &Word) -> bool {
    let words = || value.text.split([' ', '\t']);
    let has = |list: Words| words().any(|word| among(list, word.split('=').next().unwrap_or_default()));
    match name {
        "PYTEST_ADDOPTS" => {
            has(ONLY_TELLS) || has("--setup-only --setup-plan --fixtures --markers --version")
        }
        "MAKEFLAGS" | "GNUMAKEFLAGS" | "MFLAGS" => {
            words()
                .next()
                .is_some_and(|first| make::only_prints(&format!("-{}", first.trim_start_matches('-'))))
                || has("--just-print --dry-run --recon --question --touch --ignore-errors --eval")
        }
        "MAKEFILES" | "BASH_ENV" | "LD_PRELOAD" | "RUSTC_WRAPPER" | "RUSTC" | "CARGO" => {
            !value.text.is_empty()
        }
        "GOFLAGS" => has("-n -run -list -exec -c"),
        "NODE_OPTIONS" => has("--check --version --help"),
        // `CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER=true`.
        name if name.starts_with("CARGO_TARGET_") && name.ends_with("_RUNNER") => true,
        name => {
            let name = name.to_ascii_lowercase();
            matches!(name.as_str(), "npm_config_dry_run" | "npm_config_ignore_scripts")
                && value.text != "false"
        }
    }
}
