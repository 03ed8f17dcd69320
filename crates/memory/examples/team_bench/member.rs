//! A member: a login of its own, a connection that stays open, and the projects that it shares.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use tidegate_core::time::Millis;
use tidegate_memory::error::Result;
use tidegate_memory::postgres::{Address, Delivered, PostgresStore, Sender};
use tidegate_memory::record::{ProjectRow, Record, Uid};

use crate::Done;
use crate::corpus::Corpus;
use crate::server::PATIENCE;

/// Besides the largest project, which everyone shares.
const PROJECTS_OF_A_MEMBER: usize = 4;

pub(crate) struct Member {
    pub(crate) number: usize,
    pub(crate) address: Address,
    sender: Sender,
    store: Mutex<PostgresStore>,
    pulled: Mutex<Pulled>,
}

#[derive(Default)]
struct Pulled {
    after: i64,
    rows: BTreeSet<Uid>,
}

impl Member {
    pub(crate) fn connect(number: usize, address: Address) -> Done<Member> {
        let store = PostgresStore::connect(address.clone(), PATIENCE).map_err(|error| error.to_string())?;
        let sender = Sender { machine: format!("machine-{number}") };
        let (store, pulled) = (Mutex::new(store), Mutex::default());
        Ok(Member { number, address, sender, store, pulled })
    }

    /// On the open connection.
    pub(crate) fn with_store<T>(&self, act: impl FnOnce(&mut PostgresStore) -> Result<T>) -> Done<T> {
        let mut store = self.store.lock().map_err(|error| error.to_string())?;
        act(&mut store).map_err(|error| format!("member {}: {error}", self.number))
    }

    /// Each row has to be taken.
    pub(crate) fn deliver(&self, store: &mut PostgresStore, rows: &[Record]) -> Result<()> {
        let delivered = store.deliver(&self.sender, rows)?;
        let is_refused = |one: &Delivered| !matches!(one, Delivered::Done(_));
        if let Some(place) = delivered.iter().position(is_refused) {
            let what = format!("{:?}: {:?}", rows[place].uid(), delivered[place]);
            return Err(tidegate_memory::error::Error::new(tidegate_memory::error::ErrorKind::Other, what));
        }
        Ok(())
    }

    /// Reads everything that is new in these projects.
    pub(crate) fn pull(&self, store: &mut PostgresStore, projects: &[Uid]) -> Result<()> {
        let mut pulled = self.pulled.lock().expect("no thread panics with it");
        loop {
            let changes = store.read_changes(projects, pulled.after, 500)?;
            pulled.after = changes.next;
            pulled.rows.extend(changes.records.into_iter().map(|one| one.record.uid().to_owned()));
            if !changes.more {
                return Ok(());
            }
        }
    }
}

/// The projects of the team, and those that each member shares.
pub(crate) struct ProjectList {
    of_members: Vec<Vec<Uid>>,
    members: usize,
}

impl ProjectList {
    /// Each project is added by the member who shares it first.
    pub(crate) fn adopt(corpus: &Corpus, members: &[Member]) -> Done<ProjectList> {
        let mut names = BTreeMap::new();
        for project in 0..crate::corpus::PROJECTS {
            let row = ProjectRow {
                uid: format!("project-{project}"),
                id: None,
                key: None,
                name: format!("project-{project}"),
                created: Millis(1),
                updated: Millis(1),
            };
            let key = format!("example.com/team/project-{project}");
            let adopted =
                members[project % members.len()].with_store(|store| store.adopt_projects(&[(row, key)]))?;
            names.extend(adopted);
        }
        let of_member = |member: usize| {
            let mut projects = vec![0];
            projects.extend((0..PROJECTS_OF_A_MEMBER).map(|n| corpus.project_of(member + n * members.len())));
            projects.sort_unstable();
            projects.dedup();
            projects.into_iter().map(|project| names[&format!("project-{project}")].clone()).collect()
        };
        Ok(ProjectList { of_members: (0..members.len()).map(of_member).collect(), members: members.len() })
    }

    pub(crate) fn of(&self, member: &Member) -> &[Uid] {
        &self.of_members[member.number % self.members]
    }
}

/// Topics and decisions in the largest project that some members did not get, although they pulled all the time.
pub(crate) fn find_unpulled(
    members: &[Member],
    projects: &ProjectList,
    sent: &BTreeSet<Uid>,
) -> Done<Vec<String>> {
    let mut problems = Vec::new();
    let mut of_all: BTreeMap<Vec<Uid>, BTreeSet<Uid>> = BTreeMap::new();
    for member in members {
        member.with_store(|store| member.pull(store, projects.of(member)))?;
        let pulled = member.pulled.lock().map_err(|error| error.to_string())?;
        if !pulled.rows.is_subset(sent) {
            problems.push(format!("member {} pulled rows that no member sent", member.number));
        }
        let known = of_all.entry(projects.of(member).to_vec()).or_default();
        known.extend(pulled.rows.iter().cloned());
    }
    // From the beginning, in one go: what is there now.
    for (shared, pulled) in &of_all {
        let fresh = members[0].with_store(|store| {
            let (mut after, mut rows) = (0, BTreeSet::new());
            loop {
                let changes = store.read_changes(shared, after, 5000)?;
                after = changes.next;
                rows.extend(changes.records.into_iter().map(|one| one.record.uid().to_owned()));
                if !changes.more {
                    return Ok(rows);
                }
            }
        })?;
        let missing = fresh.difference(pulled).count();
        if missing > 0 {
            problems.push(format!("{missing} topics and decisions of {shared:?} were never pulled"));
        }
    }
    Ok(problems)
}
