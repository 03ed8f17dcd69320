//! The part of an install that Copilot reads besides its hooks: the MCP server in the person's `mcp-config.json`. A
//! project has no file for it that is the person's own.

use crate::bilingual::{Bilingual, both};
use crate::error::CliError;
use crate::host::claude_code::server_text::{self, Found};
use crate::install::place::Place;
use crate::install::plan::Plan;
use crate::install::record::Kind;
use crate::install::step::{Step, What};
use crate::install::target::Target;

use super::registrations::HOOKS;

fn config(target: &Target) -> Option<(Place, [String; 1])> {
    let folder = HOOKS.person_folder(&target.env.place).filter(|_| target.is_user)?;
    Some((Place::plain(folder.join("mcp-config.json")), ["mcpServers".to_owned()]))
}

pub(crate) fn plan_server(target: &Target, plan: &mut Plan) -> Result<(), CliError> {
    let Some((place, keys)) = config(target) else { return Ok(()) };
    let old = place.read()?;
    let there = both!(
        "MCP server, with which Copilot searches earlier conversations",
        "以前の会話を Copilot が検索する MCP サーバー"
    );
    let text = old.clone().filter(|text| !text.trim().is_empty());
    let found =
        text.as_deref().map_or(Ok(Found::Nothing), |text| server_text::find_entry(text, &keys, &target.call));
    let entry = server_text::make_entry(&target.call);
    let added = found.and_then(|found| match found {
        Found::Nothing => server_text::add_entry(old.as_deref(), &keys, &entry).map(|new| (found, Some(new))),
        found => Ok((found, None)),
    });
    match added {
        Err(fault) => {
            let why = Bilingual::data(format!("{}:{}: {}", fault.line, fault.column, fault.what));
            plan.steps.push(Step::still(
                place,
                What::Kept,
                both!("not changed: {en}", "変更なし: {ja}", en = why.en, ja = why.ja),
            ));
        }
        Ok((Found::Theirs, _)) => {
            let detail = both!("your own server `tidegate` stays", "ご自身のサーバー `tidegate` は残します");
            plan.steps.push(Step::still(place, What::Kept, detail));
        }
        Ok((_, None)) => plan.steps.push(Step::still(place, What::Unchanged, there)),
        Ok((_, Some(new))) => {
            plan.make_folders(place.file.parent());
            plan.record.note_outline(&place.file, server_text::draw_outline(old.as_deref(), &keys), plan.now);
            plan.steps.push(Step::text(place, Kind::Server, old, Some(new), there)?);
        }
    }
    Ok(())
}

pub(crate) fn plan_server_back(target: &Target, plan: &mut Plan) -> Result<bool, CliError> {
    let Some((place, keys)) = config(target) else { return Ok(false) };
    let outline = plan.record.of(&place.file).and_then(|kept| kept.original.clone());
    let Ok(Some(old)) = place.read() else {
        plan.record.forget(&place.file);
        return Ok(false);
    };
    let is_ours = server_text::find_entry(&old, &keys, &target.call).is_ok_and(|found| found == Found::Ours);
    let left = server_text::remove_entry(&old, &keys, &target.call, outline.as_deref());
    let Some(left) = left.ok().filter(|_| is_ours) else {
        plan.record.forget(&place.file);
        return Ok(false);
    };
    plan.give_back(place, Kind::Server, old, left, both!("MCP server removed", "MCP サーバーを削除"))
}
