//! Git commands that put another state of the files in the folder: a check between them does not read the
//! edited code.

use crate::file_class::FileClass;
use crate::shell::{Script, Step};
use crate::text::word_list::{Words, among};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TreeMove {
    /// The edits are put away, or another commit is checked out.
    Leaves,
    /// Edits come back, or come from elsewhere.
    Returns,
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
        ("checkout" | "switch", Some("-")) => Some(TreeMove::Returns),
        ("checkout" | "switch", Some(name)) => {
            let makes_branch = rest.iter().any(|word| among("-b -B -c -C --orphan --create", word));
            let names_file =
                rest.contains(&"--") || FileClass::of(name) != FileClass::Other || name.ends_with('/');
            (!makes_branch && !names_file && name != ".").then_some(TreeMove::Leaves)
        }
        ("bisect", Some("run")) => Some(TreeMove::Leaves),
        _ => None,
    }
}

/// Whether the check of this step reads the code as the line leaves it.
pub(super) fn reads_edits(script: &Script, at: usize) -> bool {
    let left = script.steps[..at].iter().filter_map(move_of).next_back() == Some(TreeMove::Leaves);
    let later = script.steps.get(at + 1..).unwrap_or_default();
    !left && !later.iter().any(|step| move_of(step) == Some(TreeMove::Returns))
}

/// The state in which a line leaves the folder.
pub fn last_move(script: &Script) -> Option<TreeMove> {
    // Only a stash is looked at from one call to the next: other branches have other code on purpose.
    let is_stash = |step: &&Step| step.words.iter().any(|word| word.text == "stash");
    script.steps.iter().filter(is_stash).filter_map(move_of).next_back()
}
