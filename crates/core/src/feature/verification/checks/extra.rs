//! Commands that the config adds to those found in the project's files.

use crate::shell::{self, Spot, Status, Step, Word};
use crate::text::word_list::{Words, among};

use crate::feature::verification::checks::kind::{CheckKind, Kinds};
use crate::feature::verification::checks::place::RunPlace;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExtraChecks {
    commands: Vec<(CheckKind, ExtraCommand)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct ExtraCommand {
    program: Program,
    arguments: Vec<Word>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Program {
    /// Found through `PATH`.
    Named(String),
    /// From the root, or by its whole path.
    File(String),
}

/// Shells that run a script given as a file.
const SHELLS: Words = "bash sh zsh dash ash ksh";

impl ExtraChecks {
    /// Matches every command that runs the same program with the same first words.
    pub fn add(&mut self, kind: CheckKind, line: &str) {
        let Ok(step) = parse_simple_command(line) else { return };
        let Some((program, is_file, arguments)) = split_program(&step.words) else { return };
        let program = if is_file {
            Program::File(shell::tidy(&program.text))
        } else {
            Program::Named(program.text.clone())
        };
        self.commands.push((kind, ExtraCommand { program, arguments: arguments.to_vec() }));
    }

    /// Looks only at the program's name, so it may be wrong.
    pub(super) fn could_be(&self, step: &Step) -> bool {
        let Some((word, _, _)) = split_program(&step.words) else { return false };
        self.commands.iter().any(|(_, command)| {
            let (Program::Named(name) | Program::File(name)) = &command.program;
            file_name(name) == file_name(&word.text)
        })
    }

    pub(super) fn kinds(&self, step: &Step, place: RunPlace<'_>) -> Kinds {
        let Some((word, is_file, arguments)) = split_program(&step.words) else { return Kinds::NONE };
        let Some(text) = word.known() else { return Kinds::NONE };
        let file = if is_file { step.folder.join(text) } else { Spot::Unknown };
        let same = |program: &Program| match program {
            Program::Named(name) => !is_file && name == text,
            Program::File(path) if path.starts_with('/') => place.whole(&file).as_ref() == Some(path),
            Program::File(path) => place.below(&file).as_ref() == Some(path),
        };
        let fitting = self.commands.iter().filter(|(_, command)| arguments.starts_with(&command.arguments));
        fitting.filter(|(_, command)| same(&command.program)).map(|(kind, _)| *kind).collect()
    }
}

fn file_name(path: &str) -> Option<&str> {
    path.rsplit('/').next()
}

/// The program, whether it is given by its path, and its arguments. For `bash script`, the script is the
/// program.
fn split_program(words: &[Word]) -> Option<(&Word, bool, &[Word])> {
    let (first, arguments) = words.split_first()?;
    if file_name(&first.text).is_some_and(|name| among(SHELLS, name)) {
        let mut at = 0;
        while let Some(letters) = arguments.get(at).and_then(|word| word.text.strip_prefix('-')) {
            // With other letters the shell reads its commands elsewhere, or runs none.
            if letters.is_empty() || !letters.chars().all(|letter| "euxvlo".contains(letter)) {
                return Some((first, first.text.contains('/'), arguments));
            }
            at += 1 + usize::from(letters.ends_with('o'));
        }
        if let Some(script) = arguments.get(at) {
            return Some((script, true, &arguments[at + 1..]));
        }
    }
    Some((first, first.text.contains('/'), arguments))
}

/// A configured line must be one simple command; the error suggests a replacement.
pub(crate) fn parse_simple_command(line: &str) -> Result<Step, String> {
    let script = shell::parse(line).ok_or("it is not understood as a command line")?;
    let unknown = |step: &Step| {
        step.words.iter().find(|word| word.sort == shell::Sort::Unknown).map(|word| word.text.clone())
    };
    match script.steps.as_slice() {
        [step] if step.words.is_empty() => Err("it runs no command".to_owned()),
        [step] if unknown(step).is_some() => {
            let word = unknown(step).unwrap_or_default();
            Err(format!("what `{word}` is shows only when it runs; write it out"))
        }
        [step] if step.status == Status::Decides => Ok(step.clone()),
        steps => {
            let told =
                steps.iter().find(|step| step.name().is_some_and(|name| !among("cd pushd set export", name)));
            let such_as =
                told.and_then(from_root).map(|line| format!(", such as \"{line}\"")).unwrap_or_default();
            Err(format!(
                "it is more than one simple command; write the one that checks{such_as}, or a script that runs them all"
            ))
        }
    }
}

/// The command as written from the root.
fn from_root(step: &Step) -> Option<String> {
    let words: Vec<&str> = step.words.iter().map(Word::known).collect::<Option<_>>()?;
    if words
        .iter()
        .any(|word| word.is_empty() || word.contains(|c: char| c.is_whitespace() || "'\"\\".contains(c)))
    {
        return None;
    }
    let (program, arguments) = words.split_first()?;
    let program = match (program.contains('/'), &step.folder) {
        (true, folder) => folder.join(program).resolve("", "", None)?.trim_start_matches('/').to_owned(),
        (false, Spot::Start(folder)) if folder.is_empty() => (*program).to_owned(),
        (false, _) => return None,
    };
    Some([&[program.as_str()], arguments].concat().join(" "))
}
