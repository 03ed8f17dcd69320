//! The part of an install that Codex reads besides its hooks: the MCP server in its `config.toml`.

use crate::bilingual::both;
use crate::config_words::describe_file_fault;
use crate::error::CliError;
use crate::install::place::Place;
use crate::install::plan::Plan;
use crate::install::record::Kind;
use crate::install::step::{Step, What};
use crate::install::target::Target;

use super::registrations::HOOKS;
use super::server_text::{self, Found, Refusal};

fn config(target: &Target) -> Option<Place> {
    if target.is_user {
        HOOKS.person_folder(&target.env.place).map(|folder| Place::plain(folder.join("config.toml")))
    } else {
        Some(target.place(".codex/config.toml"))
    }
}

pub(crate) fn plan_server(target: &Target, plan: &mut Plan) -> Result<(), CliError> {
    let Some(place) = config(target) else { return Ok(()) };
    let old = place.read()?;
    let text = old.clone().unwrap_or_default();
    let there = both!(
        "MCP server, with which Codex searches earlier conversations",
        "以前の会話を Codex が検索する MCP サーバー"
    );
    let refused = |Refusal { line, what }: Refusal| {
        let what = describe_file_fault(&what);
        let (en, ja) = line.map_or_else(Default::default, |n| (format!("line {n}: "), format!("{n}行目: ")));
        both!(
            "not changed: {en}{what_en}. Correct the file, then run this again",
            "変更なし: {ja}{what_ja}。ファイルを直して、もう一度実行してください",
            what_en = what.en,
            what_ja = what.ja
        )
    };
    match server_text::find(&text, &target.call) {
        Ok(Found::Ours) => plan.steps.push(Step::still(place, What::Unchanged, there)),
        Ok(Found::Theirs) => {
            let detail = both!("your own server `tidegate` stays", "ご自身のサーバー `tidegate` は残します");
            plan.steps.push(Step::still(place, What::Kept, detail));
        }
        Err(error) => plan.steps.push(Step::still(place, What::Kept, refused(error))),
        Ok(Found::Nothing) => match server_text::add(&text, &target.call) {
            Err(error) => plan.steps.push(Step::still(place, What::Kept, refused(error))),
            Ok(new) => {
                plan.make_folders(place.file.parent());
                plan.record.note_outline(&place.file, old.as_ref().map(|_| String::new()), plan.now);
                plan.steps.push(Step::text(place, Kind::Server, old, Some(new), there)?);
            }
        },
    }
    Ok(())
}

pub(crate) fn plan_server_back(target: &Target, plan: &mut Plan) -> Result<bool, CliError> {
    let Some(place) = config(target) else { return Ok(false) };
    let was_there = plan.record.of(&place.file).is_some_and(|kept| kept.original.is_some());
    let Ok(Some(old)) = place.read() else {
        plan.record.forget(&place.file);
        return Ok(false);
    };
    let is_ours = server_text::find(&old, &target.call).is_ok_and(|found| found == Found::Ours);
    let Some(left) = server_text::remove(&old, &target.call).ok().filter(|_| is_ours) else {
        plan.record.forget(&place.file);
        return Ok(false);
    };
    let left = Some(left).filter(|left| was_there || !left.trim().is_empty());
    plan.give_back(place, Kind::Server, old, left, both!("MCP server removed", "MCP サーバーを削除"))
}
