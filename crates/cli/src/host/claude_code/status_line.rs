//! The command of Tidegate's status line. It wraps the previous one, and reports a missing program.

use super::registrations::{Calls, is_tidegate};
use crate::shell::{self, quote_text};

/// The status line is the only place where a person would see that the program is missing.
const GONE: &str = "tidegate: not found. Install it again, or delete its hooks in your settings";

/// A status line that Tidegate's is put around.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Theirs {
    /// From the same file, and restored there.
    Own(String),
    /// From a file with less precedence, which Tidegate's line hides.
    Farther(String),
}

impl Theirs {
    pub(crate) fn command(&self) -> &str {
        let (Theirs::Own(command) | Theirs::Farther(command)) = self;
        command
    }
}

#[derive(Debug, PartialEq)]
pub(crate) enum StatusLine {
    Foreign,
    /// A person's own command that calls Tidegate.
    CallsUs,
    Ours,
    Around(Theirs),
    /// From a version that did not note the file of the other line.
    EarlierAround(String),
}

pub(crate) fn make_command(program: &str, theirs: Option<&Theirs>) -> String {
    let program = quote_text(program);
    let gone = quote_text(GONE);
    let Some(theirs) = theirs else {
        return format!("if [ -x {program} ]; then {program} statusline; else echo {gone}; fi");
    };
    let name = if matches!(theirs, Theirs::Own(_)) { "own" } else { "farther" };
    format!(
        "{name}={}; if [ -x {program} ]; then {program} statusline --wrap \"${name}\"; \
         else sh -c \"${name}\"; echo {gone}; fi",
        quote_text(theirs.command()),
    )
}

pub(crate) fn read_command(command: &str, program: &str) -> StatusLine {
    read_ours(command, program)
        .or_else(|| read_earlier(command, program))
        .unwrap_or_else(|| if calls_us(command, program) { StatusLine::CallsUs } else { StatusLine::Foreign })
}

/// For a command of Tidegate's form, also of another installation.
pub(crate) fn called_program(command: &str) -> Option<String> {
    let (_, called) = take_apart(command)?;
    Some(called)
}

fn read_ours(command: &str, program: &str) -> Option<StatusLine> {
    let (theirs, called) = take_apart(command)?;
    is_tidegate(&called, program).then(|| theirs.map_or(StatusLine::Ours, StatusLine::Around))
}

/// Returns the wrapped command and the program, for a command of Tidegate's form.
fn take_apart(command: &str) -> Option<(Option<Theirs>, String)> {
    let variable = |name: &str| {
        let (theirs, rest) = unquote(command.strip_prefix(name)?)?;
        Some((theirs, rest.strip_prefix("; ")?))
    };
    let (theirs, rest) = match (variable("own="), variable("farther=")) {
        (Some((theirs, rest)), _) => (Some(Theirs::Own(theirs)), rest),
        (_, Some((theirs, rest))) => (Some(Theirs::Farther(theirs)), rest),
        _ => (None, command),
    };
    let (tested, rest) = unquote(rest.strip_prefix("if [ -x ")?)?;
    let (called, rest) = unquote(rest.strip_prefix(" ]; then ")?)?;
    let is_whole =
        rest.starts_with(" statusline") && rest.ends_with("; fi") && rest.matches("; fi").count() == 1;
    (is_whole && tested == called).then_some((theirs, called))
}

/// `/path/tidegate statusline [--wrap '…']`, quoted or not.
fn read_earlier(command: &str, program: &str) -> Option<StatusLine> {
    let words = shell::plain_words(command)?;
    let [called, told, rest @ ..] = words.as_slice() else { return None };
    if told != "statusline" || !is_tidegate(called, program) {
        return None;
    }
    match rest {
        [] => Some(StatusLine::Ours),
        [wrap, theirs] if wrap == "--wrap" => Some(StatusLine::EarlierAround(theirs.clone())),
        _ => None,
    }
}

fn calls_us(command: &str, program: &str) -> bool {
    command.contains(&format!("{} statusline", quote_text(program)))
        || command.contains("tidegate statusline")
}

pub(crate) fn classify_command(command: &str, program: &str) -> Calls {
    match read_command(command, program) {
        StatusLine::Foreign => Calls::Not,
        StatusLine::CallsUs => Calls::UsSomehow,
        StatusLine::Ours | StatusLine::Around(_) | StatusLine::EarlierAround(_) => Calls::Us,
    }
}

/// Inverse of [`quote`]; returns the word and the rest.
fn unquote(text: &str) -> Option<(String, &str)> {
    let mut rest = text.strip_prefix('\'')?;
    let mut word = String::new();
    loop {
        let end = rest.find('\'')?;
        word.push_str(&rest[..end]);
        rest = &rest[end + 1..];
        match rest.strip_prefix(r"\''") {
            Some(more) => {
                word.push('\'');
                rest = more;
            }
            None => return Some((word, rest)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PROGRAM: &str = "/opt/it's here/tidegate";

    #[test]
    fn earlier_forms_are_ours() {
        assert_eq!(read_command("'/old/tidegate' statusline", PROGRAM), StatusLine::Ours);
        let around = r"'/old/tidegate' statusline --wrap 'echo '\''hi'\'''";
        assert_eq!(read_command(around, PROGRAM), StatusLine::EarlierAround("echo 'hi'".into()));
        assert_eq!(read_command("/old/tidegate statusline", PROGRAM), StatusLine::Ours);
        assert_eq!(read_command("$HOME/bin/tidegate statusline", PROGRAM), StatusLine::Ours);
        assert_eq!(read_command("tidegate statusline --wrap a b", PROGRAM), StatusLine::CallsUs);
    }

    #[test]
    fn what_others_made_of_it_is_theirs() {
        let ours = make_command(PROGRAM, None);
        assert_eq!(read_command(&ours, "/opt/other"), StatusLine::Ours, "another version's");
        for theirs in
            [format!("{ours}; echo more"), format!("tee x | {ours}"), "tidegate statusline | cat".into()]
        {
            assert_eq!(read_command(&theirs, PROGRAM), StatusLine::CallsUs, "{theirs}");
        }
        for theirs in ["", "echo hi", "own='x'; echo", "'/x/other' statusline", "if [ -x 'a' ]; then 'b'; fi"]
        {
            assert_eq!(read_command(theirs, PROGRAM), StatusLine::Foreign, "{theirs}");
        }
    }

    proptest! {
        #[test]
        fn the_wrapped_command_comes_out_as_it_went_in(theirs in any::<String>(), own in any::<bool>()) {
            let theirs = if own { Theirs::Own(theirs) } else { Theirs::Farther(theirs) };
            let command = make_command(PROGRAM, Some(&theirs));
            prop_assert_eq!(read_command(&command, PROGRAM), StatusLine::Around(theirs));
        }
    }

    /// With the program, without it, and around something with every kind of quote.
    #[cfg(unix)]
    #[test]
    fn the_shell_understands_it() {
        let run = |command: &str| {
            let output = std::process::Command::new("sh").args(["-c", command]).output().unwrap();
            assert!(output.status.success());
            String::from_utf8(output.stdout).unwrap()
        };
        let theirs = Theirs::Own(r#"echo 'it'\''s' "$((1 + 1))""#.into());
        assert_eq!(run(&make_command("/nowhere/tidegate", None)), format!("{GONE}\n"));
        assert_eq!(run(&make_command("/nowhere/tidegate", Some(&theirs))), format!("it's 2\n{GONE}\n"));
        assert_eq!(
            run(&make_command("/bin/echo", Some(&theirs))),
            format!("statusline --wrap {}\n", theirs.command())
        );
    }
}
