//! Flow and stock that exist only in a worktree, and their copy in private state.

use std::io;
use std::path::{Path, PathBuf};

use tidegate_core::feature::facts::{Facts, Known};
use tidegate_core::feature::knowledge::differences::has_unique_content;
use tidegate_core::feature::knowledge::stock::StockFile;
use tidegate_core::feature::knowledge::{flow, plan, tracked};
use tidegate_core::feature::worktree::effect::Effect;
use tidegate_core::feature::worktree::kept::{KeptWorktree, Worktrees};
use tidegate_core::time::Millis;

use crate::feature::HookContext;
use crate::feature::knowledge::folder::ContextFolder;
use crate::file::replace;
use crate::place::{StateDir, make_private};
use crate::project;

/// Worktrees that this event may remove, and those that are gone already.
pub(super) fn read_facts(facts: &Facts<'_>, here: &HookContext<'_>) -> Worktrees {
    let event = facts.event;
    let known = facts.marks.value().map(|marks| marks.worktree.kept.as_slice()).unwrap_or_default();
    if !event.may_end_worktree() {
        let is_gone =
            |kept: &&KeptWorktree| !Path::new(&kept.worktree).exists() && Path::new(&kept.copy).is_dir();
        return Worktrees { gone: known.iter().filter(is_gone).cloned().collect(), leaving: None };
    }
    let named = event.worktree.as_deref().map(Path::new);
    let linked = here.root.filter(|root| project::main_worktree(root).is_some());
    let leaving = here.state.zip(named.filter(|path| path.is_absolute()).or(linked));
    let leaving = leaving.filter(|(_, path)| !find_news(path).is_empty()).map(|(state, path)| {
        let path_text = path.to_string_lossy().into_owned();
        // One copy of each worktree, updated at every such event.
        let before = known.iter().find(|kept| kept.worktree == path_text).map(|kept| kept.copy.clone());
        let copy =
            before.unwrap_or_else(|| place_for_copy(state, path, here.now).to_string_lossy().into_owned());
        KeptWorktree { worktree: path_text, copy }
    });
    Worktrees { leaving, gone: Vec::new() }
}

pub(super) fn carry_out(effect: &Effect, _: &HookContext<'_>) -> io::Result<()> {
    let Effect::Keep(kept) = effect;
    keep(Path::new(&kept.worktree), Path::new(&kept.copy)).map(drop)
}

/// Files with content that the main worktree does not have, with their texts.
pub fn find_news(worktree: &Path) -> Vec<(&'static str, String)> {
    let Some(folder) = ContextFolder::find(worktree) else { return Vec::new() };
    let main = project::main_worktree(worktree).and_then(|main| ContextFolder::find(&main));
    let text = |folder: &ContextFolder, name: &str| match folder.text(name) {
        Known::Value(text) => Some(text),
        Known::Absent | Known::Broken(_) => None,
    };
    let stock = StockFile::ALL.map(StockFile::file_name);
    let names = [flow::FILE, flow::ARCHIVE, plan::FILE].into_iter().chain(stock);
    let read = |name: &'static str| {
        let own = text(&folder, name)?;
        let namesakes = if tracked::is_flow(name) { vec![flow::FILE, flow::ARCHIVE] } else { vec![name] };
        let elsewhere: Vec<String> =
            main.iter().flat_map(|main| namesakes.iter().filter_map(|name| text(main, name))).collect();
        let elsewhere: Vec<&str> = elsewhere.iter().map(String::as_str).collect();
        has_unique_content(name, &own, &elsewhere).then_some((name, own))
    };
    names.filter_map(read).collect()
}

/// Below the main worktree's folder, by time and name, so that a person can find it.
pub fn place_for_copy(state: &StateDir, worktree: &Path, now: Millis) -> PathBuf {
    let main = project::main_worktree(worktree).unwrap_or_else(|| worktree.to_owned());
    let name = worktree.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let name: String = name
        .chars()
        .map(|c| if c.is_alphanumeric() || "._-".contains(c) { c } else { '-' })
        .take(80)
        .collect();
    let at = now.iso_seconds().replace(':', "");
    state.root().join("worktrees").join(project::folder_name(&main)).join(format!("{at}-{name}"))
}

/// Returns the number of copied files.
pub fn keep(worktree: &Path, copy: &Path) -> io::Result<usize> {
    let news = find_news(worktree);
    if !news.is_empty() {
        make_private(copy)?;
    }
    for (name, text) in &news {
        replace::durable(&copy.join(name), text.as_bytes())?;
    }
    Ok(news.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place::PlaceEnv;
    use std::fs;

    /// As git creates them.
    fn repository(base: &Path) -> (PathBuf, PathBuf) {
        let (main, tree) = (base.join("main"), base.join("main/.claude/worktrees/agent-1"));
        let git = main.join(".git/worktrees/agent-1");
        for folder in [&git, &main.join(".claude/context"), &tree.join(".claude/context")] {
            fs::create_dir_all(folder).unwrap();
        }
        fs::write(tree.join(".git"), format!("gitdir: {}\n", git.display())).unwrap();
        fs::write(git.join("commondir"), "../..\n").unwrap();
        fs::write(git.join("gitdir"), format!("{}\n", tree.join(".git").display())).unwrap();
        (main, tree)
    }

    #[test]
    fn what_stands_nowhere_else_is_copied() {
        let base = tempfile::tempdir().unwrap();
        let real = fs::canonicalize(base.path()).unwrap();
        let (main, tree) = repository(&real);
        let env = PlaceEnv { state_dir: Some(real.join("state")), ..PlaceEnv::default() };
        let state = StateDir::open(&env).unwrap();
        let put = |root: &Path, name: &str, text: &str| {
            fs::write(root.join(".claude/context").join(name), text).unwrap();
        };
        put(&main, "progress.md", "## one\n");
        put(&main, "progress.archive.md", "## zero\n");
        put(&tree, "progress.md", "## one\n\n## zero\n");
        put(&tree, "last-compact.json", "{}");
        assert_eq!(find_news(&tree), []);

        put(&tree, "progress.md", "## two\n\n## one\n");
        put(&tree, "learnings.md", "## A\n- **Learning**: a\n");
        let copy = place_for_copy(&state, &tree, Millis(1_800_000_000_000));
        assert!(copy.starts_with(real.join("state/worktrees")), "{}", copy.display());
        assert!(copy.ends_with("2027-01-15T080000Z-agent-1"), "{}", copy.display());
        assert_eq!(keep(&tree, &copy).unwrap(), 2);
        // Again, after more work.
        put(&tree, "progress.md", "## three\n\n## two\n\n## one\n");
        assert_eq!(keep(&tree, &copy).unwrap(), 2);
        let copied = |name: &str| fs::read_to_string(copy.join(name)).unwrap();
        assert_eq!(copied("progress.md"), "## three\n\n## two\n\n## one\n");
        assert_eq!(copied("learnings.md"), "## A\n- **Learning**: a\n");
        assert_eq!(fs::read_dir(&copy).unwrap().count(), 2);
    }

    #[test]
    fn without_files_nothing_is_made() {
        let base = tempfile::tempdir().unwrap();
        let copy = base.path().join("copy");
        assert_eq!(keep(base.path(), &copy).unwrap(), 0);
        assert!(!copy.exists());
    }
}
