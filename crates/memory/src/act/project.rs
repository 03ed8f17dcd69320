//! Which project a person or an agent means, and which one is their own.

use std::path::Path;

use tidegate_core::feature::memory::job::RelayProject;
use tidegate_core::time::Millis;
use tidegate_state::project::memory_project;

use crate::error::{Error, ErrorKind, Result};
use crate::record::{self, Record, new_uid};
use crate::store::Store;
use crate::text::one_line;
use crate::view::{MemoryProject, Page};

/// By id, name, or a path inside it. Of several projects with one name, the last active one.
fn find_any_project(store: &mut dyn Store, named: &str) -> Result<MemoryProject> {
    if let Ok(id) = named.parse::<i64>()
        && let Some(found) = store.project(id)?
    {
        return Ok(found);
    }
    if let Some(found) = store.project_by_name(named)? {
        return Ok(found);
    }
    if let Some(found) = store.project_by_key(named)? {
        return Ok(found);
    }
    if named.contains('/') || named.starts_with('.') {
        let path = std::fs::canonicalize(named).unwrap_or_else(|_| Path::new(named).to_owned());
        if let Some(found) = store.project_by_key(&memory_project(&path).key)? {
            return Ok(found);
        }
    }
    let known = store.projects(&Page { limit: 5, after: None })?.rows;
    let known: Vec<String> = known
        .iter()
        .map(|project| format!("{} (id {})", one_line(&project.row.name, 40), project.id))
        .collect();
    let hint = if known.is_empty() {
        "nothing has been recorded yet".to_owned()
    } else {
        format!("the last active ones are {}", known.join(", "))
    };
    Err(Error::new(ErrorKind::Missing, format!("there is no project `{}`", one_line(named, 80))).hint(hint))
}

/// By id, name, or a path inside it; a name that several projects share is refused.
pub fn find_project(store: &mut dyn Store, named: &str) -> Result<MemoryProject> {
    let found = find_any_project(store, named)?;
    if found.row.name != named || found.id.to_string() == named {
        return Ok(found);
    }
    let mut page = Page { limit: 1000, after: None };
    let mut same = Vec::new();
    loop {
        let projects = store.projects(&page)?;
        same.extend(projects.rows.into_iter().filter(|project| project.row.name == named));
        page.after = projects.next;
        if page.after.is_none() {
            break;
        }
    }
    if same.len() < 2 {
        return Ok(found);
    }
    let each: Vec<String> = same
        .iter()
        .map(|project| {
            let folder = project.row.key.as_deref().unwrap_or("no folder of this machine");
            format!("id {} ({})", project.id, one_line(folder, 200))
        })
        .collect();
    let what = format!("{} projects are called `{}`", same.len(), one_line(named, 80));
    Err(Error::new(ErrorKind::Refused, what).hint(format!("name one by its id: {}", each.join(", "))))
}

pub fn find_own_project(store: &mut dyn Store, own: Option<&RelayProject>) -> Result<Option<MemoryProject>> {
    match own {
        Some(own) => store.project_by_key(&own.key),
        None => Ok(None),
    }
}

/// Creates the project of a folder if the store does not know it yet.
pub fn make_project(store: &mut dyn Store, own: &RelayProject, now: Millis) -> Result<MemoryProject> {
    if let Some(found) = store.project_by_key(&own.key)? {
        return Ok(found);
    }
    let row = record::ProjectRow {
        uid: new_uid(),
        id: None,
        key: Some(own.key.clone()),
        name: own.name.clone(),
        created: now,
        updated: now,
    };
    store.put(&[Record::Project(row)])?;
    // Another process may have stored the key first.
    store.project_by_key(&own.key)?.ok_or_else(|| Error::new(ErrorKind::Other, "the project was not stored"))
}

/// Separates the key of a repository from the name of a project within it. No resolved path contains it.
pub(crate) const WITHIN: &str = "//";

/// One of several projects in a repository: its key starts with the key of the repository.
pub fn project_within(own: &RelayProject, name: &str) -> RelayProject {
    RelayProject { key: format!("{}{WITHIN}{name}", own.key), name: name.to_owned(), ..own.clone() }
}

/// True for the key of the project itself and of any project within it.
pub fn is_own_key(own: &RelayProject, key: &str) -> bool {
    key.strip_prefix(own.key.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with(WITHIN))
}

/// Refuses a project other than that of the current folder: an agent that reads hostile text in one project
/// must not write into the memory of another.
pub fn check_own_project(store: &mut dyn Store, own: Option<&RelayProject>, project: i64) -> Result<()> {
    let found = store
        .project(project)?
        .ok_or_else(|| Error::new(ErrorKind::Missing, format!("there is no project {project}")))?;
    if own.zip(found.row.key.as_deref()).is_some_and(|(own, key)| is_own_key(own, key)) {
        return Ok(());
    }
    let (theirs, ours) = (one_line(&found.row.name, 40), own.map_or("no project", |own| own.name.as_str()));
    Err(Error::new(
        ErrorKind::Refused,
        format!("nothing was written: this belongs to the project {theirs}, and this session to {}", one_line(ours, 40)),
    )
    .hint(format!(
        "an agent writes only into its own project: do it in a session there, or have the person do it at a terminal with \
         `tidegate memory`; a topic of {} can be begun here",
        one_line(ours, 40)
    )))
}
