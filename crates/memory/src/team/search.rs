//! Searches the logs of others. They are only on the server, which gets a short time limit.

use std::collections::{BTreeMap, BTreeSet};

use super::{SharedProject, TeamState, adopted_projects, limits, shared_projects};
use crate::error::Result;
use crate::memory::Memory;
use crate::postgres::{Address, Patience, PostgresStore};
use crate::record::Uid;
use crate::store::Store;
use crate::view::{Filter, Found, Hit, HitKind, Query};

/// Hits of this machine and of the team.
#[derive(Clone, Debug, PartialEq)]
pub struct TeamSearch {
    /// Best first.
    pub hits: Vec<Hit>,
    /// Of logs of others, by uid.
    pub authors: BTreeMap<Uid, String>,
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
    let of_machine = |found: Found, authors, unreachable| TeamSearch {
        hits: found.hits,
        authors,
        without: found.without,
        unreachable,
    };
    let alone = |found, unreachable| of_machine(found, BTreeMap::new(), unreachable);
    let Some(address) = address else { return Ok(alone(here, None)) };
    let Some(projects) = projects_to_ask(memory, query)? else { return Ok(alone(here, None)) };
    match ask_team(memory, address, patience, |team| search_team(team, &projects, query)) {
        Ok((mut there, authors)) => {
            // Forgotten here, and their author was asked to forget them.
            let forgotten = memory.store().forgotten_of(there.hits.iter().map(|hit| hit.uid.as_str()))?;
            there.hits.retain(|hit| !forgotten.contains(&hit.uid));
            Ok(of_machine(merge_found(here, there, query.limit()), authors, None))
        }
        Err(why) => Ok(alone(here, Some(why))),
    }
}

/// The shared projects to ask about; `None` if the query is not about logs. Topics and decisions of others
/// are already here.
fn projects_to_ask(memory: &mut Memory, query: &Query) -> Result<Option<Vec<SharedProject>>> {
    if !query.kinds.is_empty() && !query.kinds.contains(&HitKind::Log) {
        return Ok(None);
    }
    let mut projects = shared_projects(memory.store())?;
    projects.retain(|(row, _)| query.filter.project.is_none_or(|wanted| row.id == Some(wanted)));
    // Ids of topics differ on the server.
    Ok((!projects.is_empty() && query.filter.topic.is_none()).then_some(projects))
}

/// Asks unless a request failed a moment ago: repeated searches should not each wait for a timeout.
pub(super) fn ask_team<T>(
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
    projects: &[SharedProject],
    query: &Query,
) -> Result<(Found, BTreeMap<Uid, String>)> {
    let names = adopted_projects(team, projects)?;
    let of_team: Vec<Uid> = names.into_keys().collect();
    if of_team.is_empty() {
        return Ok((Found::default(), BTreeMap::new()));
    }
    let filter = Filter { project: None, topic: None, ..query.filter.clone() };
    let mut found =
        team.search_in(&of_team, &Query { kinds: vec![HitKind::Log], filter, ..query.clone() })?;
    found.hits.iter_mut().for_each(limits::limit_hit);
    let uids: Vec<Uid> = found.hits.iter().map(|hit| hit.uid.clone()).collect();
    let mut authors = team.owners_of(&uids)?;
    for author in authors.values_mut() {
        *author = limits::limit_author(author);
    }
    Ok((found, authors))
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
