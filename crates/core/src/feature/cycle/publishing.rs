//! Commands that publish work, and whether they succeeded.

use crate::event::action::{Exit, ShellCommand};
use crate::shell::{Status, Step, parse};
use crate::text::word_list::among;

/// Options of git before its verb that take a value.
const VALUED: &str = "-C -c --git-dir --work-tree --namespace";

/// `git push` or `gh pr create` ran, and the status of the line is its own.
pub(super) fn has_published(command: &ShellCommand<'_>) -> bool {
    let Some(line) = command.line.as_deref() else { return false };
    let may = line.contains("push") || line.contains("create");
    let succeeded = command.exit == Exit::Known(0) && command.background.is_none();
    let decides = |step: &&Step| step.status == Status::Decides;
    let is_news =
        !command.output.iter().flatten().any(|part| part.tail(400).contains("Everything up-to-date"));
    may && succeeded
        && is_news
        && parse(line).is_some_and(|script| script.steps.iter().filter(decides).any(publishes))
}

/// `git commit --allow-empty` ran, and nothing says that it failed.
pub(super) fn makes_empty_commit(command: &ShellCommand<'_>) -> bool {
    const OPTION: &str = "--allow-empty";
    let line = command.line.as_deref().filter(|line| line.contains(OPTION));
    let failed = matches!(command.exit, Exit::Known(status) if status != 0);
    let is_empty = |step: &Step| {
        let mut words = step.words.iter().skip(1).map(|word| word.text.as_str());
        step.name() == Some("git")
            && find_git_verb(&mut words) == Some("commit")
            && words.any(|word| word == OPTION)
    };
    !failed && line.and_then(parse).is_some_and(|script| script.steps.iter().any(is_empty))
}

fn find_git_verb<'w>(words: &mut impl Iterator<Item = &'w str>) -> Option<&'w str> {
    loop {
        match words.next() {
            Some(word) if among(VALUED, word) => drop(words.next()),
            Some(word) if word.starts_with('-') => {}
            verb => return verb,
        }
    }
}

fn publishes(step: &Step) -> bool {
    let mut words = step.words.iter().skip(1).map(|word| word.text.as_str());
    match step.name() {
        Some("git") if find_git_verb(&mut words) == Some("push") => {
            // Git takes the beginning of a long option for it.
            let is_long = |word: &str| {
                ["--dry-run", "--delete", "--help"]
                    .iter()
                    .any(|option| word.len() > "--d".len() && option.starts_with(word))
            };
            // `:branch` deletes one, and `.` is this repository.
            !words.any(|word| {
                is_long(word) || has_short(word, "ndh", "o") || word.starts_with(':') || word == "."
            })
        }
        Some("gh") if words.next() == Some("pr") && words.next() == Some("create") => {
            let is_long = |word: &str| among("--dry-run --help --web", word);
            !words.any(|word| is_long(word) || has_short(word, "hw", "aBbFHlmpRrTt"))
        }
        _ => false,
    }
}

/// One of these options is in a bundle such as `-qn`. The rest of the word belongs to one that takes a value.
fn has_short(word: &str, options: &str, valued: &str) -> bool {
    let bundle = word.strip_prefix('-').filter(|bundle| !bundle.starts_with('-'));
    bundle.is_some_and(|bundle| {
        bundle.chars().take_while(|c| !valued.contains(*c)).any(|c| options.contains(c))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn published(line: &str, exit: i32) -> bool {
        has_published(&ShellCommand {
            line: Some(line.into()),
            folder: None,
            exit: Exit::Known(exit),
            output: [None, None, None],
            is_cut: false,
            background: None,
            duration: None,
            began: None,
        })
    }

    #[test]
    fn pushes_and_pull_requests() {
        for line in [
            "git push",
            "git -C app push -u origin HEAD",
            "cd app && git push --force-with-lease",
            "git commit -m 'x' && git push 2>&1",
            "gh pr create --fill",
            "gh pr create -fbwhy",
            "git push -fu origin main",
            "git push -onotify",
            "set -o pipefail; git push | tail -3",
        ] {
            assert!(published(line, 0), "{line}");
            assert!(!published(line, 1), "{line}");
        }
    }

    #[test]
    fn commits_that_may_be_empty() {
        let is_empty = |line: &str, exit| {
            makes_empty_commit(&ShellCommand {
                line: Some(line.into()),
                folder: None,
                exit,
                output: [None, None, None],
                is_cut: false,
                background: None,
                duration: None,
                began: None,
            })
        };
        for line in ["git commit --allow-empty -m x", "git -C app commit -m x --allow-empty; git status"] {
            assert!(is_empty(line, Exit::Known(0)) && is_empty(line, Exit::Unknown), "{line}");
            assert!(!is_empty(line, Exit::Known(1)), "{line}");
        }
        for line in ["git commit -m '--allow-empty is not needed'", "echo --allow-empty", "git commit -m x"] {
            assert!(!is_empty(line, Exit::Known(0)), "{line}");
        }
    }

    #[test]
    fn what_publishes_nothing() {
        for line in [
            "git push --dry-run",
            "git push -n origin main",
            "git push origin --delete old",
            "git push | tail -3",
            "git push; echo done",
            "git push || true",
            "git push &",
            "echo git push",
            "git commit -m 'push it'",
            "git stash push",
            "git log --grep push",
            "gh pr list",
            "gh issue create",
            "gh pr create --dry-run",
            "git push --dry",
            "git push --del origin old",
            "git push -qn",
            "git push --help",
            "git push -h",
            "git push origin :old",
            "git push . HEAD:refs/heads/x",
            "gh pr create -w",
            "gh pr create -fw",
            "gh pr create --web",
        ] {
            assert!(!published(line, 0), "{line}");
        }
        let open = ShellCommand {
            line: Some("git push".into()),
            folder: None,
            exit: Exit::Unknown,
            output: [None, None, None],
            is_cut: false,
            background: None,
            duration: None,
            began: None,
        };
        assert!(!has_published(&open));
    }
}
