//! Searches the logs of others. They are only on the server, which gets a short time limit.

use std::collections::BTreeSet;

use super::{TeamState, limits, shared_projects};
use crate::error::Result;
use crate::memory::Memory;
use crate::postgres::{Address, Patience, PostgresStore};
use crate::record::Uid;
use crate::store::Store;
use crate::view::{Filter, Found, Hit, HitKind, Log, Query};

/// Hits of this machine and of the team.
#[derive(Clone, Debug, PartialEq)]
pub struct TeamSearch {
    /// Best first.
    pub hits: Vec<Hit>,
    /// Words of the query that none of the hits has.
    pub without: Vec<String>,
    /// Set if the server was asked and did not answer.
    pub unreachable: Option<String>,
}

impl TeamSearch {
    /// The remark next to the hits.
    pub fn note(&self) -> Option<String> {
        self.unreachable
            .as_ref()
            .map(|why| format!("team store unreachable: only this machine's memory ({why})"))
    }
}

/// `address` is `None` without a team.
pub fn search_with_team(
    memory: &mut Memory,
    address: Option<&Address>,
    query: &Query,
    patience: Patience,
) -> Result<TeamSearch> {
    let here = memory.search(query)?;
    let of_machine =
        |found: Found, unreachable| TeamSearch { hits: found.hits, without: found.without, unreachable };
    let Some(address) = address else { return Ok(of_machine(here, None)) };
    let Some(projects) = projects_to_ask(memory, query)? else { return Ok(of_machine(here, None)) };
    match ask_team(memory, address, patience, |team| search_team(team, &projects, query)) {
        Ok(there) => Ok(of_machine(merge_found(here, there, query.limit()), None)),
        Err(why) => Ok(of_machine(here, Some(why))),
    }
}

/// Also looks in the team's store. `None` if the log is in neither, or the team cannot be reached.
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
    let ids = memory.store().shared_projects()?;
    let names: BTreeSet<String> = ids.into_iter().map(|(_, name)| name).collect();
    let found = ask_team(memory, address, patience, |team| team.log(uid)).ok().flatten();
    let mut found = found.filter(|log| names.contains(&log.in_project.name));
    if let Some(found) = &mut found {
        limits::limit_log(&mut found.row);
    }
    Ok(found)
}

/// The shared projects to ask about; `None` if the query is not about logs. Topics and decisions of others
/// are already here.
fn projects_to_ask(memory: &mut Memory, query: &Query) -> Result<Option<Vec<crate::record::ProjectRow>>> {
    if !query.kinds.is_empty() && !query.kinds.contains(&HitKind::Log) {
        return Ok(None);
    }
    let mut ids = memory.store().shared_projects()?;
    ids.retain(|(id, _)| query.filter.project.is_none_or(|wanted| wanted == *id));
    let projects = shared_projects(memory.store(), &ids)?;
    // Ids of topics differ on the server.
    Ok((!projects.is_empty() && query.filter.topic.is_none()).then_some(projects))
}

/// Asks unless a request failed a moment ago: repeated searches should not each wait for a timeout.
fn ask_team<T>(
    memory: &mut Memory,
    address: &Address,
    patience: Patience,
    question: impl FnOnce(&mut PostgresStore) -> Result<T>,
) -> std::result::Result<T, String> {
    let now = memory.now();
    let mut state = TeamState::read(memory.home());
    if let Some(failure) = state.just_failed(address.shown(), now) {
        return Err(failure.what.clone());
    }
    let answer = PostgresStore::connect(address.clone(), patience).and_then(|mut team| question(&mut team));
    let is_news = match &answer {
        Ok(_) => state.search_succeeded(now),
        Err(error) => {
            state.search_failed(address.shown(), error, now);
            true
        }
    };
    if is_news {
        // Losing this only costs another timeout.
        let _ = state.write(memory.home());
    }
    answer.map_err(|error| error.what)
}

fn search_team(
    team: &mut PostgresStore,
    projects: &[crate::record::ProjectRow],
    query: &Query,
) -> Result<Found> {
    let names = team.find_adopted(projects)?;
    let of_team: Vec<Uid> = names.into_values().collect();
    if of_team.is_empty() {
        return Ok(Found::default());
    }
    let filter = Filter { project: None, topic: None, ..query.filter.clone() };
    let mut found =
        team.search_in(&of_team, &Query { kinds: vec![HitKind::Log], filter, ..query.clone() })?;
    found.hits.iter_mut().for_each(limits::limit_hit);
    Ok(found)
}

/// A word is left out only if both stores left it out.
fn merge_found(here: Found, there: Found, limit: usize) -> Found {
    let without = match (here.hits.is_empty(), there.hits.is_empty()) {
        (false, false) => here.without.into_iter().filter(|word| there.without.contains(word)).collect(),
        (true, _) => there.without,
        (_, true) => here.without,
    };
    let coverage = here.coverage.max(there.coverage);
    Found { hits: merge_hits(here.hits, there.hits, limit), without, coverage }
}

/// Scores of two stores are not comparable, so the lists are interleaved; duplicates are dropped.
fn merge_hits(here: Vec<Hit>, there: Vec<Hit>, limit: usize) -> Vec<Hit> {
    let mut seen = BTreeSet::new();
    let known: BTreeSet<Uid> = here.iter().map(|hit| hit.uid.clone()).collect();
    let mut there = there.into_iter().filter(|hit| !known.contains(&hit.uid));
    let mut all = Vec::new();
    for hit in here {
        all.push(hit);
        all.extend(there.next());
    }
    all.extend(there);
    all.retain(|hit| seen.insert((hit.kind, hit.uid.clone())));
    all.truncate(limit);
    all
}
