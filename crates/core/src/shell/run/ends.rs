//! The ways in which a part of a line hands its status on: `|| exit 1`, `rc=$?; …; exit $rc`.

use crate::shell::syntax;
use crate::shell::syntax::{Body, Command, Item, Joint, List, Pipeline};
use crate::text::word_list::{Words, among};

/// The end of a branch that runs only after a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// It may succeed.
    Open,
    /// It fails.
    Fails,
    /// It ends the shell with a failure.
    Leaves,
}

/// The words of an item that is one simple command, as they are written.
fn simple_words(item: &Item) -> Option<Vec<String>> {
    if item.background || !item.rest.is_empty() {
        return None;
    }
    let words = simple_of(&item.first)?;
    Some(words.iter().map(|parts| syntax::as_written(parts)).collect())
}

fn simple_of(pipeline: &Pipeline) -> Option<&[syntax::Parts]> {
    match pipeline {
        Pipeline { negated: false, stages } => match stages.as_slice() {
            [Command { body: Body::Simple { assigned, words }, .. }] if assigned.is_empty() => Some(words),
            _ => None,
        },
        Pipeline { .. } => None,
    }
}

/// The name in `name=$?`.
fn saved_status(item: &Item) -> Option<&str> {
    if item.background || !item.rest.is_empty() || item.first.negated {
        return None;
    }
    let [Command { body: Body::Simple { assigned, words }, .. }] = item.first.stages.as_slice() else {
        return None;
    };
    let [(name, parts)] = assigned.as_slice() else { return None };
    (words.is_empty() && syntax::as_written(parts) == "$?").then_some(name)
}

/// The items after the first end the shell with its status: `exit`, `exit $?`, or `rc=$?; …; exit $rc` with nothing in
/// between that could end it otherwise.
pub(super) fn keeps_status(items: &[Item]) -> bool {
    let Some(next) = items.get(1) else { return false };
    if simple_words(next).is_some_and(|words| words == ["exit"] || words == ["exit", "$?"]) {
        return true;
    }
    let Some(name) = saved_status(next) else { return false };
    leaves_with(&items[2..], name)
}

/// Commands that cannot end the shell or change its variables.
const HARMLESS: Words = "echo printf cat tail head grep rm ls sleep true tee sed awk wc mv cp";

/// These end in `exit $name`, after harmless commands only.
fn leaves_with(items: &[Item], name: &str) -> bool {
    for item in items {
        let Some(words) = simple_words(item) else {
            // A pipe of plain commands is harmless, too: none of its stages can end this shell.
            let plain = |command: &Command| matches!(&command.body, Body::Simple { assigned, .. } if assigned.is_empty());
            if !item.background
                && item.rest.is_empty()
                && item.first.stages.len() > 1
                && item.first.stages.iter().all(plain)
            {
                continue;
            }
            return false;
        };
        if words == ["exit".to_owned(), format!("${name}")] {
            return true;
        }
        if !words.first().is_some_and(|word| among(HARMLESS, word))
            || words[0] == "printf" && words.iter().any(|word| word == "-v")
        {
            return false;
        }
    }
    false
}

/// `exit ${PIPESTATUS[0]}`.
pub(super) fn takes_first_stage(item: Option<&Item>) -> bool {
    item.and_then(simple_words).is_some_and(|words| words == ["exit", "${PIPESTATUS[0]}"])
}

/// The end of a list that runs only after a failure. `after`: that failure is still `$?` at its beginning.
pub(super) fn end_of_list(list: &List, after: bool) -> End {
    for (number, item) in list.0.iter().enumerate() {
        let first = after && number == 0;
        let end = end_of_item(item, first);
        if end == End::Leaves {
            return End::Leaves;
        }
        if number + 1 == list.0.len() {
            return end;
        }
        if first && saved_status(item).is_some_and(|name| leaves_with(&list.0[1..], name)) {
            return End::Leaves;
        }
        if may_leave(item) {
            return End::Open;
        }
    }
    End::Open
}

/// The item could end the shell or the list.
fn may_leave(item: &Item) -> bool {
    let simple = |command: &Command| match &command.body {
        Body::Simple { words, .. } => {
            let name = words.first().map(|parts| syntax::as_written(parts)).unwrap_or_default();
            matches!(
                name.as_str(),
                "exit" | "return" | "exec" | "eval" | "break" | "continue" | "source" | "." | "trap"
            ) || name.starts_with('$')
        }
        Body::Test => false,
        _ => true,
    };
    std::iter::once(&item.first)
        .chain(item.rest.iter().map(|(_, pipeline)| pipeline))
        .any(|pipeline| pipeline.stages.iter().any(simple))
}

fn end_of_item(item: &Item, after: bool) -> End {
    if item.background {
        return End::Open;
    }
    let Some((joint, last)) = item.rest.last() else { return end_of_pipeline(&item.first, after) };
    match (joint, end_of_pipeline(last, false)) {
        // If the left side fails, the whole fails as well.
        (Joint::And, End::Fails | End::Leaves) => End::Fails,
        _ => End::Open,
    }
}

pub(super) fn end_of_pipeline(pipeline: &Pipeline, after: bool) -> End {
    let Pipeline { negated: false, stages } = pipeline else { return End::Open };
    let [command] = stages.as_slice() else { return End::Open };
    match &command.body {
        Body::Simple { words, .. } => {
            let words: Vec<String> = words.iter().map(|parts| syntax::as_written(parts)).collect();
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let failure = |text: &str| text.parse::<u64>().is_ok_and(|status| status % 256 != 0);
            match words.as_slice() {
                ["false"] => End::Fails,
                ["exit"] | ["exit", "$?"] if after => End::Leaves,
                ["exit", status] if failure(status) => End::Leaves,
                ["return"] | ["return", "$?"] if after => End::Fails,
                ["return", status] if failure(status) => End::Fails,
                _ => End::Open,
            }
        }
        Body::Group(list) => end_of_list(list, after),
        Body::Subshell(list) => match end_of_list(list, after) {
            End::Open => End::Open,
            End::Fails | End::Leaves => End::Fails,
        },
        _ => End::Open,
    }
}
