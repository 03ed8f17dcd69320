//! The handoff on disk. A version that a person wrote or changed is kept next to it; our own is replaced.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tidegate_core::event::SessionId;
use tidegate_core::feature::HANDOFF_FILE as FILE;
use tidegate_core::feature::config::Config;
use tidegate_core::feature::facts::Known;
use tidegate_core::feature::facts::Steps;
use tidegate_core::feature::knowledge::handoff::{Handoff, HandoffHead, HandoffSources};
use tidegate_core::feature::knowledge::marks::{HandoffKnown, Mark as KnowledgeMark};
use tidegate_core::feature::knowledge::plan;
use tidegate_core::feature::marks::Marks;
use tidegate_core::time::Millis;

use crate::feature::knowledge::edit::{ChangedMeanwhile, lock_project, remove_leftovers, retry_if_changed};
use crate::feature::knowledge::facts;
use crate::feature::knowledge::folder::{ContextFolder, read_bounded};
use crate::feature::{HookContext, cycle};
use crate::file::replace;
use crate::place::StateDir;
use crate::session::marks;

const LARGEST: u64 = 1024 * 1024;

/// Versions that are kept aside.
const MOST_KEPT: usize = 100;

/// `work`: the steps of workflows, to which the cycle's are added.
pub fn collect(
    state: &StateDir,
    root: &Path,
    config: &Config,
    session: Option<(&SessionId, &Marks)>,
    mut work: Vec<Steps>,
    now: Millis,
) -> Handoff {
    let marks = session.map(|(_, marks)| marks);
    let stage = marks.and_then(|marks| marks.cycle.stage.as_ref());
    if let Known::Value(standing) = cycle::read(Some(state), root, config) {
        work.extend(standing.steps(stage));
    }
    let folder = ContextFolder::find(root);
    let texts = folder.as_ref().map(facts::read_texts);
    // Decisions of any session bind the next one.
    let knowledge = folder.as_ref().zip(texts.as_ref());
    let knowledge = knowledge.map(|(folder, texts)| facts::collect(Some(state), folder, texts, None, now));
    Handoff::collect(&HandoffSources {
        at: now,
        session: session.map(|(id, _)| id.as_str()),
        marks,
        plan: texts.as_ref().and_then(|texts| texts.get(plan::FILE)),
        knowledge: knowledge.as_ref(),
        work,
    })
}

/// Writes nothing if there is nothing to hand off.
pub(crate) fn write_now(here: &HookContext<'_>, work: Vec<Steps>) -> io::Result<()> {
    let (state, root) = (here.state()?, here.root()?);
    let known = marks::read(here.folder);
    let of = known.value().map(|marks| (here.session, marks));
    let handoff = collect(state, root, here.config, of, work, here.now);
    if handoff.is_empty() {
        return Ok(());
    }
    write(state, root, &handoff, Some(here.session)).map(drop)
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenHandoff {
    pub path: PathBuf,
    /// The copy of a version that was not ours.
    pub kept: Option<PathBuf>,
}

/// The session that wrote it remembers that in its marks.
pub fn write(
    state: &StateDir,
    root: &Path,
    handoff: &Handoff,
    by: Option<&SessionId>,
) -> io::Result<WrittenHandoff> {
    let folder = ContextFolder::make(root)?;
    let written = {
        let _lock = lock_project(state, root)?;
        retry_if_changed(|| write_locked(&folder, &handoff.text()))?
    };
    if let Some(session) = by.map(|session| state.session(session)) {
        let wrote = KnowledgeMark::Handoff(HandoffKnown { at: handoff.at, wrote: true }).into();
        // Without the mark, the session is only told of its own handoff.
        let _ = marks::lock_shared(&session).and_then(|lock| lock.append(&[wrote]));
    }
    Ok(written)
}

/// After a kill at any step, a person's version still exists under one of its names.
fn write_locked(folder: &ContextFolder, text: &str) -> io::Result<WrittenHandoff> {
    let path = folder.path().join(FILE);
    let old = read_old(&path)?;
    let is_ours = |old: &Vec<u8>| {
        let head = std::str::from_utf8(old).ok().and_then(HandoffHead::parse);
        old.is_empty() || head.is_some_and(|head| head.unchanged)
    };
    let kept = match &old {
        Some(old) if !is_ours(old) => Some(keep_aside(&path, old)?),
        _ => None,
    };
    remove_leftovers(&path);
    let there = if path.exists() { old } else { None };
    replace::durable_if(&path, text.as_bytes(), |path| {
        if read_old(path)? == there { Ok(()) } else { Err(io::Error::other(ChangedMeanwhile)) }
    })?;
    Ok(WrittenHandoff { path, kept })
}

/// Refuses links and read-only files, which a rename would replace.
fn read_old(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_symlink() => Err(io::Error::other("it is a link")),
        Ok(found) if found.permissions().readonly() => {
            Err(io::Error::new(io::ErrorKind::PermissionDenied, "it is read-only"))
        }
        Ok(_) => read_bounded(path, LARGEST).map(Some),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Links the file to a free name next to it.
fn keep_aside(path: &Path, text: &[u8]) -> io::Result<PathBuf> {
    let names = (1..=MOST_KEPT).map(|number| match number {
        1 => path.with_file_name("handoff.kept.md"),
        _ => path.with_file_name(format!("handoff.kept.{number}.md")),
    });
    // Kept by a run that was killed before it replaced the file.
    let is_kept = |name: &Path| read_old(name).is_ok_and(|kept| kept.as_deref() == Some(text));
    replace::keep_as(path, names, is_kept)
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use crate::place::PlaceEnv;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    struct Project {
        _base: tempfile::TempDir,
        state: StateDir,
        root: PathBuf,
    }

    impl Project {
        fn new() -> Project {
            let base = tempfile::tempdir().unwrap();
            let env = PlaceEnv { state_dir: Some(base.path().join("state")), ..PlaceEnv::default() };
            let root = base.path().join("project");
            fs::create_dir_all(root.join(".claude/context")).unwrap();
            Project { state: StateDir::open(&env).unwrap(), root, _base: base }
        }

        fn path(&self, name: &str) -> PathBuf {
            self.root.join(".claude/context").join(name)
        }

        fn get(&self, name: &str) -> String {
            fs::read_to_string(self.path(name)).unwrap_or_default()
        }

        fn write(&self, at: u64) -> io::Result<WrittenHandoff> {
            let steps = vec![("one".to_owned(), "done".to_owned())];
            let work = vec![Steps { of: "work".into(), steps }];
            let handoff = collect(&self.state, &self.root, &Config::default(), None, work, Millis(at * 1000));
            write(&self.state, &self.root, &handoff, None)
        }

        fn kept(&self) -> Vec<String> {
            let names = fs::read_dir(self.path("")).unwrap().map(|entry| entry.unwrap().file_name());
            let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
            names.retain(|name| name != FILE);
            names.sort();
            names
        }
    }

    #[test]
    fn ours_is_replaced_and_theirs_is_kept() {
        let project = Project::new();
        assert_eq!(project.write(1).unwrap(), WrittenHandoff { path: project.path(FILE), kept: None });
        assert_eq!(project.write(2).unwrap().kept, None, "ours");
        assert!(project.get(FILE).contains("# Handoff, 1970-01-01T00:00:02Z"));

        let edited = format!("{}\nnote to self\n", project.get(FILE));
        fs::write(project.path(FILE), &edited).unwrap();
        assert_eq!(project.write(3).unwrap().kept, Some(project.path("handoff.kept.md")));
        assert_eq!(project.get("handoff.kept.md"), edited);
        fs::write(project.path(FILE), b"caf\xe9").unwrap();
        assert_eq!(project.write(4).unwrap().kept, Some(project.path("handoff.kept.2.md")));
        assert_eq!(fs::read(project.path("handoff.kept.2.md")).unwrap(), b"caf\xe9");
        assert!(project.get(FILE).contains("# Handoff, 1970-01-01T00:00:04Z"));
        // After a kill before the rename, the same text is not kept twice.
        fs::copy(project.path("handoff.kept.md"), project.path(FILE)).unwrap();
        assert_eq!(project.write(5).unwrap().kept, Some(project.path("handoff.kept.md")));
        fs::write(project.path(FILE), "").unwrap();
        assert_eq!(project.write(6).unwrap().kept, None, "nobody wrote anything");
        assert_eq!(project.kept(), ["handoff.kept.2.md", "handoff.kept.md"]);
        assert_eq!(project.get("handoff.kept.md"), edited, "it is another file");
    }

    #[test]
    fn what_is_no_file_of_the_project_is_refused() {
        let project = Project::new();
        let victim = project.root.join("notes.md");
        fs::write(&victim, "mine").unwrap();
        symlink(&victim, project.path(FILE)).unwrap();
        assert_eq!(project.write(1).unwrap_err().to_string(), "it is a link");
        fs::remove_file(project.path(FILE)).unwrap();
        symlink("nowhere", project.path(FILE)).unwrap();
        assert!(project.write(1).is_err());
        fs::remove_file(project.path(FILE)).unwrap();
        fs::create_dir(project.path(FILE)).unwrap();
        assert!(project.write(1).is_err());
        fs::remove_dir(project.path(FILE)).unwrap();
        fs::write(project.path(FILE), "mine").unwrap();
        fs::set_permissions(project.path(FILE), fs::Permissions::from_mode(0o444)).unwrap();
        assert_eq!(project.write(1).unwrap_err().to_string(), "it is read-only");
        assert_eq!((project.get(FILE), fs::read_to_string(&victim).unwrap()), ("mine".into(), "mine".into()));
        assert!(project.kept().is_empty());
    }

    /// A link at the name is not written through.
    #[test]
    fn a_link_among_the_kept_ones_is_passed_over() {
        let project = Project::new();
        let victim = project.root.join("victim");
        fs::write(&victim, "precious").unwrap();
        symlink(&victim, project.path("handoff.kept.md")).unwrap();
        fs::write(project.path(FILE), "precious").unwrap();
        assert_eq!(project.write(1).unwrap().kept, Some(project.path("handoff.kept.2.md")));
        assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
    }
}
