//! Other settings than those of the config, for one run.

use tidegate_core::feature::config::Config;
use tidegate_core::feature::config::layer::Layer;
use tidegate_core::meter::Threshold;
use tidegate_core::settings::section::Voice;
use tidegate_state::config::list_assignments;

use crate::bilingual::both;
use crate::config_words::describe_problem;
use crate::error::CliError;

#[derive(Debug, clap::Args)]
pub(crate) struct WhatIf {
    /// Use this preset instead of your own
    #[arg(long, value_name = "PRESET", value_parser = ["observe", "guide", "strict"])]
    pub(crate) preset: Option<String>,
    /// Use another value: `context-warning.late=20k`
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
}

/// The name of the settings in messages.
const ORIGIN: &str = "--set";

impl WhatIf {
    /// `None` if nothing is changed.
    pub(crate) fn apply(&self, config: &Config) -> Result<Option<Config>, CliError> {
        if self.preset.is_none() && self.set.is_empty() {
            return Ok(None);
        }
        let mut changed = Config { problems: Vec::new(), ..config.clone() };
        let preset = self.preset.iter().map(|preset| format!("preset={preset}"));
        for setting in preset.chain(self.set.iter().cloned()) {
            let layer = read_setting(&setting, &changed).ok_or_else(|| wrong(&setting, None))?;
            changed.apply(&layer);
            if let Some(problem) = changed.problems.first() {
                return Err(wrong(&setting, Some(problem)));
            }
        }
        let warning = &changed.policies.pressure;
        if warning.late.is_before(warning.early) {
            return Err(late_before_early(warning.early, warning.late));
        }
        Ok(Some(changed))
    }

    /// As they were typed.
    pub(crate) fn words(&self) -> String {
        let preset = self.preset.iter().map(|preset| format!("--preset {preset}"));
        preset.chain(self.set.iter().cloned()).collect::<Vec<_>>().join(", ")
    }
}

/// The value is TOML, or else a text without its quotes. A section may be written like its policy.
fn read_setting(setting: &str, config: &Config) -> Option<Layer> {
    let (path, value) = setting.split_once('=')?;
    let (section, key) = path.trim().rsplit_once('.').unwrap_or(("", path.trim()));
    let head = if section.is_empty() { String::new() } else { format!("[{}]\n", section.replace('-', "_")) };
    let quoted = serde_json::to_string(value.trim()).ok()?;
    let found = [value.trim(), quoted.as_str()].into_iter().find_map(|value| {
        let found = list_assignments(&format!("{head}{key} = {value}\n"), ORIGIN, config);
        (found.len() == 1).then_some(found)
    })?;
    let assignments = found.into_iter().map(|(assignment, _)| assignment).collect();
    Some(Layer { voice: Voice::User, assignments })
}

fn late_before_early(early: Threshold, late: Threshold) -> CliError {
    CliError::new(both!(
        "the late warning ({late}) would come before the early one ({early})",
        "後の警告（{late}）が先の警告（{early}）より前になります"
    ))
    .hint(both!(
        "give `context-warning.late` a smaller distance than `context-warning.early`",
        "`context-warning.late` を `context-warning.early` より小さくしてください"
    ))
    .usage()
}

fn wrong(setting: &str, problem: Option<&String>) -> CliError {
    let error = match problem.map(|problem| describe_problem(problem)) {
        Some(problem) => CliError::new(both!(
            "cannot use `{setting}`: {en}",
            "`{setting}` は使えません: {ja}",
            en = problem.en,
            ja = problem.ja
        )),
        None => CliError::new(both!("cannot read `{setting}`", "`{setting}` を読めません")),
    };
    let hint = both!(
        "write section, key and value: `--set context-warning.late=20k`; `tidegate config show` lists all keys",
        "`--set context-warning.late=20k` のように書いてください。`tidegate config show` でキーの一覧が出ます"
    );
    error.hint(hint).usage()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn what_if(preset: Option<&str>, set: &[&str]) -> WhatIf {
        WhatIf {
            preset: preset.map(str::to_owned),
            set: set.iter().map(|setting| (*setting).to_owned()).collect(),
        }
    }

    #[test]
    fn settings_are_read_like_those_of_a_file() {
        let own = Config::default();
        assert!(what_if(None, &[]).apply(&own).unwrap().is_none());
        let changed =
            what_if(None, &["context-warning.late=20k", "verify_stop.blocks=3"]).apply(&own).unwrap();
        let policies = changed.unwrap().policies;
        assert_eq!(policies.pressure.late, Threshold::Tokens(20_000));
        assert_eq!(policies.verify_stop.blocks.get(), 3);
        let strict = what_if(Some("strict"), &[]).apply(&own).unwrap().unwrap();
        assert_eq!(strict.policies.verify_stop.blocks.get(), 3);
        assert!(what_if(None, &["context-warning.late=60k"]).apply(&own).is_err(), "before the early one");
        let both = ["context-warning.late=60k", "context-warning.early=90k"];
        assert!(what_if(None, &both).apply(&own).is_ok());
        for wrong in ["late=20k", "context-warning.late=soon", "nothing.late=1", "late", "a]\nb=1"] {
            assert!(what_if(None, &[wrong]).apply(&own).is_err(), "{wrong}");
        }
    }
}
