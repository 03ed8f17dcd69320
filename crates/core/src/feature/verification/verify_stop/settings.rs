//! Section `[verify_stop]`.

use crate::feature::verification::checks::{CheckKind, ExtraChecks, Kinds, parse_simple_command};
use crate::settings::list::{Exempted, Item, Listed, check_one_line};
use crate::settings::section::section;
use crate::settings::setting::{Count, choices};
use crate::text::glob::Glob;

section! {
    /// Section `[verify_stop]`.
    Settings "verify_stop" {
        /// When a turn ends and no check has passed since the last edit: make the turn continue (`block`), only record it (`shadow`), or do not look (`off`).
        mode: VerifyMode = VerifyMode::Block, Tightens;
        /// How often to block for the edits of one prompt, at most.
        blocks: Count<1, 3> = Count::new(1), Tightens;
        /// Require one passing command that tests, checks types or builds (`one`), or one of each kind that the project has (`each`).
        wants: Wants = Wants::One, Tightens;
        /// Files whose edits need no verification, by pattern: generated code, scratch folders.
        exempt: Exempted<Glob> = Exempted::default(), Tightens;
    }
    presets {
        mode: VerifyMode::Shadow, VerifyMode::Block;
        blocks: Count::new(1), Count::new(3);
        wants: Wants::One, Wants::Each;
    }
    sections {
        /// Section `[verify_stop.commands]`.
        commands: Commands = Commands::default();
    }
}

section! {
    /// Section `[verify_stop.commands]`.
    Commands "verify_stop.commands" {
        /// Command lines that test, in addition to those that Tidegate finds in the project's files. Each is one simple command; it counts with more arguments, too. Write the path of a script from the project's root.
        test: Listed<CommandLine> = Listed::default(), WithTrust;
        /// Command lines that check types.
        typecheck: Listed<CommandLine> = Listed::default(), WithTrust;
        /// Command lines that build.
        build: Listed<CommandLine> = Listed::default(), WithTrust;
        /// Command lines that lint.
        lint: Listed<CommandLine> = Listed::default(), WithTrust;
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VerifyMode {
    Block,
    /// Only records.
    Shadow,
    Off,
}

choices!(VerifyMode {
    "off" => VerifyMode::Off,
    "shadow" => VerifyMode::Shadow,
    "block" => VerifyMode::Block,
});

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wants {
    /// One command that tests, checks types or builds.
    One,
    /// One of each kind that the project has.
    Each,
}

choices!(Wants { "one" => Wants::One, "each" => Wants::Each });

impl Commands {
    pub fn all(&self) -> impl Iterator<Item = (CheckKind, &str)> {
        let kinds = [
            (CheckKind::Test, &self.test),
            (CheckKind::Typecheck, &self.typecheck),
            (CheckKind::Build, &self.build),
            (CheckKind::Lint, &self.lint),
        ];
        kinds.into_iter().flat_map(|(kind, lines)| lines.0.iter().map(move |line| (kind, line.0.as_str())))
    }

    pub fn extra(&self) -> ExtraChecks {
        let mut extra = ExtraChecks::default();
        self.all().for_each(|(kind, line)| extra.add(kind, line));
        extra
    }

    pub fn kinds(&self) -> Kinds {
        self.all().map(|(kind, _)| kind).collect()
    }
}

/// One simple command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandLine(pub String);

impl Item for CommandLine {
    const OF: &'static str = "command lines";
    const EXAMPLE: &'static str = "make check";

    fn read(text: &str) -> Result<Self, String> {
        check_one_line(text)?;
        parse_simple_command(text).map(|_| CommandLine(text.to_owned()))
    }

    fn text(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::setting::Setting;
    use crate::settings::value::Value;

    fn list(lines: &[&str]) -> Value {
        Value::List(lines.iter().map(|line| Value::from(*line)).collect())
    }

    #[test]
    fn a_command_is_one_simple_command() {
        for (line, why) in [
            (
                "cd tools && ./check.sh",
                "it is more than one simple command; write the one that checks, such as \"tools/check.sh\", or a script \
                 that runs them all",
            ),
            (
                "make check | tee log",
                "it is more than one simple command; write the one that checks, such as \"make check\", or a script that \
                 runs them all",
            ),
            (
                "cd web && npm test",
                "it is more than one simple command; write the one that checks, or a script that runs them all",
            ),
            (
                "make check &",
                "it is more than one simple command; write the one that checks, such as \"make check\", or a script that \
                 runs them all",
            ),
            ("$CHECK --all", "what `$CHECK` is shows only when it runs; write it out"),
            ("~/bin/check", "what `~/bin/check` is shows only when it runs; write it out"),
            ("CI=1", "it runs no command"),
            ("make 'check", "it is not understood as a command line"),
        ] {
            let refused = Listed::<CommandLine>::read(&list(&[line])).unwrap_err();
            assert_eq!(
                refused,
                format!("{} does not fit in a list of command lines: {why}", Value::from(line))
            );
        }
        for line in [
            "make check",
            "./scripts/check.sh --all",
            "CI=1 npm test",
            "bash tools/check.sh",
            "make check > log",
        ] {
            assert_eq!(Listed::<CommandLine>::read(&list(&[line])).unwrap().to_value(), list(&[line]));
        }
    }
}
