//! The plugin that `init --host opencode` writes. `uninstall` removes it.

use super::registrations::HOOKS;
use super::{is_shim, make_shim};
use crate::bilingual::both;
use crate::error::CliError;
use crate::install::plan::{Plan, Texts};
use crate::install::record::{Kind, Records};
use crate::install::target::Target;

pub(crate) fn plan_shim(target: &Target, plan: &mut Plan) -> Result<(), CliError> {
    let Some(place) = target.hooks_of(&HOOKS) else { return Ok(()) };
    let old = place.read()?;
    if old.as_deref().is_some_and(|old| !is_shim(old)) {
        let shown = place.shown.display();
        return Err(CliError::new(both!(
            "{shown} is another plugin, not Tidegate's",
            "{shown} は Tidegate のものではない別のプラグインです"
        ))
        .hint(both!(
            "rename it or move it away, then run this again; nothing was changed",
            "名前を変えるか移動してから、もう一度実行してください。何も変更していません"
        )));
    }
    place.check_writable()?;
    let new = make_shim(&target.call);
    let detail = both!("plugin with hooks and MCP server", "フックと MCP サーバーのプラグイン");
    let texts = Texts { old, new, without_us: None };
    plan.write(place, Kind::Settings, texts, (detail.clone(), detail))
}

/// What a person changed in it is kept in a copy: left in its place it would start Tidegate again.
pub(crate) fn plan_shim_back(target: &Target, records: &Records, plan: &mut Plan) -> Result<bool, CliError> {
    let Some(place) = target.hooks_of(&HOOKS) else { return Ok(false) };
    let Some(old) = place.read()?.filter(|text| is_shim(text)) else {
        plan.record.forget(&place.file);
        return Ok(false);
    };
    let is_changed =
        plan.record.of(&place.file).is_some() && plan.record.untouched(&place.file, Some(&old)).is_none();
    let detail = if is_changed {
        both!(
            "plugin removed; a copy with your changes is in {folder}",
            "プラグインを削除（変更されていたため、控えが {folder} にあります）",
            folder = records.folder_of_replaced().display()
        )
    } else {
        both!("plugin removed", "プラグインを削除")
    };
    let is_removed = plan.give_back(place, Kind::Settings, old, None, detail)?;
    if let Some(step) = plan.steps.last_mut().filter(|_| is_changed) {
        step.is_notable = true;
    }
    Ok(is_removed)
}
