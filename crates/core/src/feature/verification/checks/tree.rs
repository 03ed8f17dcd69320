//! Git commands that put another state of the files in the folder: a check between them does not read the
//! edited code.

use crate::file_class::FileClass;
use crate::shell::{Script, Spot, Status, Step};
use crate::text::word_list::{Words, among};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TreeMove {
    /// The edits are put away.
    Leaves,
    /// Edits come back, or come from elsewhere.
    Returns,
    /// Another commit is checked out.
    Departs,
    /// The edits' own commit is there again.
    Rejoins,
    /// Another branch is checked out: edits come along unless they were committed.
    Switches,
}

/// Files that a line brings back to an earlier state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RestoredFiles {
    /// A file, or a folder with everything in it.
    pub path: Spot,
    /// They were put away before, and are given up only now.
    pub stashed: bool,
}

/// Options of git before its verb that take a value.
const VALUED: Words = "-C -c --git-dir --work-tree --namespace";

/// Git's verb and the words behind it.
fn verb_of(step: &Step) -> Option<(&str, Vec<&str>)> {
    if step.name() != Some("git") {
        return None;
    }
    let mut words = step.words[1..].iter().map(|word| word.text.as_str());
    let verb = loop {
        let word = words.next()?;
        if among(VALUED, word) {
            words.next();
        } else if !word.starts_with('-') {
            break word;
        }
    };
    Some((verb, words.collect()))
}

/// A commit whose hooks decide whether it is made.
pub(super) fn is_commit(step: &Step) -> bool {
    let skips = |words: Vec<&str>| words.iter().any(|word| among("-n --no-verify --dry-run", word));
    verb_of(step).is_some_and(|(verb, words)| verb == "commit" && !skips(words))
}

fn move_of(step: &Step) -> Option<TreeMove> {
    if step.name() == Some("patch") {
        return Some(TreeMove::Returns);
    }
    let (verb, rest) = verb_of(step)?;
    let operand = rest.iter().find(|word| !word.starts_with('-') || **word == "-");
    match (verb, operand.copied()) {
        ("stash", Some("pop" | "apply" | "branch")) => Some(TreeMove::Returns),
        ("stash", Some("list" | "show" | "drop" | "clear" | "create" | "store")) => None,
        ("stash", _) => Some(TreeMove::Leaves),
        ("apply" | "am" | "cherry-pick", _)
            if !rest.iter().any(|word| among("--check --stat --abort --quit", word)) =>
        {
            Some(TreeMove::Returns)
        }
        ("checkout" | "switch", Some("-")) => Some(TreeMove::Rejoins),
        ("checkout" | "switch", Some(name)) => {
            let makes_branch = rest.iter().any(|word| among("-b -B -c -C --orphan --create", word));
            (!makes_branch && !names_files(&rest, name))
                .then(|| if names_commit(name) { TreeMove::Departs } else { TreeMove::Switches })
        }
        ("bisect", Some("run")) => Some(TreeMove::Departs),
        _ => None,
    }
}

fn names_files(rest: &[&str], name: &str) -> bool {
    rest.contains(&"--") || FileClass::of(name) != FileClass::Other || name.ends_with('/') || name == "."
}

/// `HEAD~1`, `main^`, `1a2b3c4`.
fn names_commit(name: &str) -> bool {
    let is_hash = name.len() >= 7 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hash && name.bytes().any(|byte| byte.is_ascii_digit())
        || name.contains(['~', '^'])
        || name.contains("@{")
}

/// Whether the check of this step reads the code as the line leaves it.
pub(super) fn reads_edits(script: &Script, at: usize) -> bool {
    let last = script.steps[..at].iter().filter_map(move_of).next_back();
    let later = script.steps.get(at + 1..).unwrap_or_default();
    let returns = |moved: TreeMove| matches!(moved, TreeMove::Returns | TreeMove::Rejoins);
    last.is_none_or(returns) && !later.iter().filter_map(move_of).any(returns)
}

/// The state in which a line leaves the folder.
pub fn last_move(script: &Script) -> Option<TreeMove> {
    let moves = |step: &Step| match verb_of(step)?.0 {
        "stash" | "checkout" | "switch" => move_of(step),
        "merge" | "pull" | "rebase" => Some(TreeMove::Rejoins),
        // A patch is an edit.
        _ => None,
    };
    script.steps.iter().filter_map(moves).next_back()
}

/// Whether a line commits.
pub fn makes_commit(script: &Script) -> bool {
    script.steps.iter().any(|step| verb_of(step).is_some_and(|(verb, _)| verb == "commit"))
}

/// The files that a line brings back with git, if it succeeds.
pub fn restored_files(script: &Script) -> Vec<RestoredFiles> {
    script.steps.iter().filter(|step| step.status == Status::Decides).flat_map(restored_by).collect()
}

fn restored_by(step: &Step) -> Vec<RestoredFiles> {
    let Some((verb, rest)) = verb_of(step) else { return Vec::new() };
    let has = |options: Words| rest.iter().any(|word| among(options, word));
    let whole = |stashed| vec![RestoredFiles { path: Spot::Top(String::new()), stashed }];
    let folder = step.words.iter().position(|word| word.text == "-C").and_then(|at| step.words.get(at + 1));
    let folder = folder.map_or_else(|| step.folder.clone(), |folder| step.folder.join(&folder.text));
    let paths = |words: &[&str]| {
        let files = words.iter().filter(|word| !word.starts_with('-') && !word.contains(['*', '$', '?']));
        files.map(|path| RestoredFiles { path: folder.join(path), stashed: false }).collect()
    };
    let behind_dashes = || rest.iter().position(|word| *word == "--").map_or(&rest[..], |at| &rest[at + 1..]);
    match (verb, rest.iter().find(|word| !word.starts_with('-')).copied()) {
        ("reset", _) if has("--hard") => whole(false),
        ("clean", _)
            if rest
                .iter()
                .any(|word| word.starts_with("-f") || word.starts_with("-d") || *word == "--force") =>
        {
            whole(false)
        }
        ("stash", Some("clear")) => whole(true),
        ("stash", Some("drop")) if rest.iter().all(|word| !word.contains("@{") || *word == "stash@{0}") => {
            whole(true)
        }
        ("restore", _) if !has("--staged -S") || has("--worktree -W") => paths(behind_dashes()),
        ("checkout", Some(name)) if names_files(&rest, name) => paths(behind_dashes()),
        _ => Vec::new(),
    }
}
