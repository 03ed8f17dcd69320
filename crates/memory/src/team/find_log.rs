//! Finds one log, also in the team's store. Ids in it are this machine's.

use super::search::ask_team;
use super::{adopted_projects, limits};
use crate::error::Result;
use crate::memory::Memory;
use crate::postgres::{Address, Patience};
use crate::store::Store;
use crate::view::{Log, NamedRow};

/// `None` if the log is in neither store, or the team cannot be reached.
pub fn find_log(
    memory: &mut Memory,
    address: Option<&Address>,
    uid: &str,
    patience: Patience,
) -> Result<Option<Log>> {
    if let Some(found) = memory.log(uid)? {
        return Ok(Some(found));
    }
    let Some(address) = address else { return Ok(None) };
    let projects = super::shared_projects(memory.store())?;
    let found = ask_team(memory, address, patience, |team| {
        let names = adopted_projects(team, &projects)?;
        let Some(log) = team.log(uid)? else { return Ok(None) };
        let project = team.project_of(&log.row.topic)?;
        Ok(project.and_then(|project| names.get(&project).cloned()).map(|project| (project, log)))
    });
    let Some((project, mut log)) = found.ok().flatten() else { return Ok(None) };
    limits::limit_log(&mut log.row, memory.now());
    log.author = log.author.map(|author| limits::limit_author(&author));
    let topic = memory.topic_by_uid(&log.row.topic)?;
    log.in_topic = match topic {
        Some(topic) => NamedRow { id: topic.id, name: topic.row.title },
        None => NamedRow { id: 0, name: limits::limit_title(&log.in_topic.name) },
    };
    log.in_project = project;
    if memory.store().is_forgotten(&log.row.uid)? {
        return Ok(None);
    }
    Ok(Some(log))
}
