//! `--policy` and `--session` of commands that read the journal: a name that nothing in it can have is an error.

use std::collections::BTreeSet;

use tidegate_core::event::SessionId;
use tidegate_core::feature::config::former_names::{nearest_policy, renamed_policy};
use tidegate_core::feature::policy_ids;
use tidegate_core::settings::near;
use tidegate_state::journal;

use crate::bilingual::both;
use crate::error::CliError;
use crate::sessions::{Here, has_beginning, more_than_one};

/// Sessions that an error names.
const NAMED: usize = 5;

pub(super) fn check_policy(id: Option<&str>) -> Result<(), CliError> {
    let Some(id) = id.filter(|id| renamed_policy(id).is_none() && !policy_ids().any(|known| known == *id))
    else {
        return Ok(());
    };
    let mut known = near::sort_by_nearness(id, policy_ids());
    if let Some(near) = nearest_policy(id) {
        known.retain(|other| *other != near);
        known.insert(0, near);
    }
    let known: Vec<String> = known.into_iter().map(|id| format!("`{id}`")).collect();
    Err(CliError::new(both!("there is no policy `{id}`", "`{id}` というポリシーはありません"))
        .hint(both!("policies: {en}", "ポリシー: {ja}", en = known.join(", "), ja = known.join("、")))
        .usage())
}

/// Its name in records. A session is known by its marks, or by a record that outlived them.
pub(super) fn find_session(here: &Here, typed: Option<&str>) -> Result<Option<String>, CliError> {
    let Some(typed) = typed else { return Ok(None) };
    let sessions = here.all();
    let name = here.find_name(typed)?;
    if sessions.iter().any(|session| session.id.as_str() == name) {
        return Ok(Some(name.into_owned()));
    }
    if let Some(recorded) = find_recorded(here, typed)? {
        return Ok(Some(recorded));
    }
    let id = typed;
    let error = CliError::new(both!("there is no session `{id}`", "`{id}` というセッションはありません"));
    // The newest first, among those that are equally far.
    let mut known = near::sort_by_nearness(id, sessions.iter().map(|session| session.id.as_str()));
    known.truncate(NAMED);
    let hint = if known.is_empty() {
        both!("no session has been seen yet", "セッションはまだ一度も見つかっていません")
    } else {
        both!("sessions: {en}", "セッション: {ja}", en = known.join(", "), ja = known.join("、"))
    };
    Err(error.hint(hint).usage())
}

/// The last one whose name ends with the id, unless another has it for its name; else the only one that begins with it.
fn find_recorded(here: &Here, typed: &str) -> Result<Option<String>, CliError> {
    let files = journal::list_files(&here.state.journal()).unwrap_or_default();
    let (mut of_host, mut begun) = (None, BTreeSet::new());
    for path in files.iter().rev() {
        let records = journal::read(path).map(|entries| entries.records).unwrap_or_default();
        for name in records.into_iter().rev().filter_map(|record| record.session) {
            if name == typed {
                return Ok(Some(name));
            }
            let Ok(id) = SessionId::parse(&name) else { continue };
            if of_host.is_none() && id.in_host() == typed {
                of_host = Some(name);
            } else if has_beginning(&id, typed) {
                begun.insert(name);
            }
        }
    }
    if of_host.is_none() && begun.len() > 1 {
        return Err(more_than_one(typed));
    }
    Ok(of_host.or_else(|| begun.pop_first()))
}
