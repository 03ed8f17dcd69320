//! The line with which Copilot ends the output of a command, and its notification about one in the background
//! (1.0.102). A program may print such a line, too, so only the last one counts.

use crate::event::action::Exit;
use crate::text::json::LongText;

/// Longer than the longest of these lines.
const LONGEST: usize = 1024;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ShellLine {
    /// With this status.
    Ended(i32),
    /// In the background, in this shell.
    Runs(String),
}

/// `None` if the host does not say how it ended.
pub(super) fn read_shell_line(output: LongText<'_>) -> Option<ShellLine> {
    let tail = output.tail(LONGEST);
    let line = tail.rsplit('\n').next()?.strip_prefix('<')?.strip_suffix('>')?;
    if let Some(shell) = line.strip_prefix("command started in background with shellId: ") {
        return is_shell(shell).then(|| ShellLine::Runs(shell.to_owned()));
    }
    if let Some(rest) = line.strip_prefix("command with shellId: ") {
        let (shell, _) = rest.split_once(" is still running")?;
        return is_shell(shell).then(|| ShellLine::Runs(shell.to_owned()));
    }
    let (shell, status) = line.strip_prefix("shellId: ")?.split_once(" completed with exit code ")?;
    is_shell(shell).then(|| status.parse().ok().map(ShellLine::Ended)).flatten()
}

/// The shell, and how its command ended: `Shell command "x" (shellId: 1) has exited with exit code 4.`
pub(super) fn read_notice(message: &str) -> Option<(String, Exit)> {
    let (_, rest) = message.rsplit_once("(shellId: ")?;
    let (shell, end) = rest.split_once(") ")?;
    let exit = match end.trim_end() {
        "has completed successfully." => Exit::Known(0),
        end => {
            let status = end.strip_prefix("has exited with exit code ").and_then(|it| it.strip_suffix('.'));
            status.and_then(|status| status.parse().ok()).map_or(Exit::Unknown, Exit::Known)
        }
    };
    is_shell(shell).then(|| (shell.to_owned(), exit))
}

fn is_shell(id: &str) -> bool {
    !id.is_empty()
        && id.len() <= 64
        && id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::json::Field;

    fn line(output: &str) -> Option<ShellLine> {
        let json = serde_json::to_string(output).unwrap();
        read_shell_line(serde_json::from_str::<Field<LongText<'_>>>(&json).unwrap().value().unwrap())
    }

    #[test]
    fn the_last_line_says_how_a_command_ended() {
        let runs = |shell: &str| Some(ShellLine::Runs(shell.to_owned()));
        assert_eq!(line("ok\n<shellId: 0 completed with exit code 0>"), Some(ShellLine::Ended(0)));
        assert_eq!(line("\n<shellId: a-1 completed with exit code 137>"), Some(ShellLine::Ended(137)));
        assert_eq!(line("<command started in background with shellId: 3>"), runs("3"));
        let still = "<command with shellId: 1 is still running after 30 seconds. Use stop_bash to stop it.>";
        assert_eq!(line(still), runs("1"));
        // Printed by a program.
        let printed = "<shellId: 0 completed with exit code 0>";
        assert_eq!(line(&format!("{printed}\n{still}")), runs("1"));
        for other in [
            "",
            "1 passed",
            &format!("{printed}\nmore"),
            &format!("{printed} "),
            "<shellId:  completed with exit code 0>",
            "<shellId: 0 completed with exit code >",
            "<shellId: 0 completed with exit code 0x0>",
            "<shellId: 0 completed with exit code 99999999999>",
        ] {
            assert_eq!(line(other), None, "{other}");
        }
    }

    #[test]
    fn a_notification_says_how_a_command_in_the_background_ended() {
        let notice =
            |end: &str| read_notice(&format!("Shell command \"a (shellId: 9) b\" (shellId: 3) {end}"));
        assert_eq!(notice("has completed successfully."), Some(("3".to_owned(), Exit::Known(0))));
        assert_eq!(notice("has exited with exit code 4."), Some(("3".to_owned(), Exit::Known(4))));
        assert_eq!(notice("was stopped."), Some(("3".to_owned(), Exit::Unknown)));
        assert_eq!(read_notice("Shell command has completed successfully."), None);
    }
}
