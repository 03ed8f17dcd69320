//! The plugin that `init --host opencode` writes. `uninstall` removes it.

use super::registrations::HOOKS;
use super::{is_shim, make_shim};
use crate::bilingual::both;
use crate::error::CliError;
use crate::install::plan::{Plan, Texts};
use crate::install::record::Kind;
use crate::install::step::{Step, What};
use crate::install::target::Target;

pub(crate) fn plan_shim(target: &Target, plan: &mut Plan) -> Result<(), CliError> {
    let Some(place) = target.hooks_of(&HOOKS) else { return Ok(()) };
    let old = place.read()?;
    if old.as_deref().is_some_and(|old| !is_shim(old)) {
        let detail = both!(
            "another plugin of this name: kept yours, nothing is checked",
            "同じ名前の別のプラグインを残しました。何も確認しません"
        );
        plan.steps.push(Step::still(place, What::Kept, detail));
        return Ok(());
    }
    place.check_writable()?;
    let new = make_shim(&target.call);
    let detail = both!("plugin with hooks and MCP server", "フックと MCP サーバーのプラグイン");
    let texts = Texts { old, new, without_us: None };
    plan.write(place, Kind::Settings, texts, (detail.clone(), detail))
}

pub(crate) fn plan_shim_back(target: &Target, plan: &mut Plan) -> Result<bool, CliError> {
    let Some(place) = target.hooks_of(&HOOKS) else { return Ok(false) };
    if let Some(old) = place.read()?.filter(|text| is_shim(text)) {
        plan.give_back(place, Kind::Settings, old, None, both!("plugin removed", "プラグインを削除"))
    } else {
        plan.record.forget(&place.file);
        Ok(false)
    }
}
