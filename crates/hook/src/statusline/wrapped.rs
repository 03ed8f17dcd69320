//! `--wrap`: the line of another status line command, with ours behind it.

use std::ffi::OsString;
use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use tidegate_core::text::terminal::count_columns;
use tidegate_state::child;

use crate::patience::{stretch, stretch_grace};
use crate::statusline::LARGEST;

/// The host still waits this long; it redraws at most every 300 ms.
const WRAPPED_LIMIT: Duration = Duration::from_millis(1500);

/// Pause in the output before the command's end is checked.
const LULL: Duration = Duration::from_millis(20);

/// Time to read what it wrote before its end. Only a child that it left running makes this matter.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// Everything after `--wrap`, so that the command works with or without quotes.
pub(super) fn parse_command(args: impl Iterator<Item = OsString>) -> Option<String> {
    let mut args = args.map(|arg| arg.to_string_lossy().into_owned());
    let first = args.find(|arg| arg == "--wrap" || arg.starts_with("--wrap="))?;
    let words: Vec<String> =
        first.strip_prefix("--wrap=").map(str::to_owned).into_iter().chain(args).collect();
    (!words.is_empty()).then(|| words.join(" "))
}

/// Their rows, with ours behind the last one or, without room, below it.
pub(super) fn append_ours(theirs: Option<&str>, ours: &str, columns: Option<usize>) -> String {
    let Some(theirs) = theirs.map(str::trim_end).filter(|theirs| !theirs.is_empty()) else {
        return ours.to_owned();
    };
    let last = theirs.lines().next_back().unwrap_or_default();
    let fits = count_columns(last) + 3 + count_columns(ours) <= columns.unwrap_or(usize::MAX);
    format!("{theirs}{}{ours}", if fits { " · " } else { "\n" })
}

/// A command that fails or is slow gives its output so far and does not delay us, nor does a child that keeps the
/// output open.
pub(super) fn read_output(command: &str, payload: &[u8]) -> Option<String> {
    let mut child = shell_command(command)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let (mut stdin, mut stdout) = (child.stdin.take()?, child.stdout.take()?);
    let payload = payload.to_owned();
    let (sender, receiver) = mpsc::channel();
    // In threads: the command may neither read nor write.
    std::thread::spawn(move || stdin.write_all(&payload));
    std::thread::spawn(move || {
        let mut bytes = [0; 4096];
        while let Ok(count @ 1..) = stdout.read(&mut bytes) {
            if sender.send(bytes[..count].to_vec()).is_err() {
                return;
            }
        }
    });
    let mut until = Instant::now() + stretch(WRAPPED_LIMIT);
    let mut text = Vec::new();
    while text.len() < LARGEST as usize {
        // After its end, its output is in the pipe; later output comes from a child that it left running.
        if !matches!(child.try_wait(), Ok(None)) {
            until = until.min(Instant::now() + stretch_grace(LAST_WORDS));
        }
        match receiver.recv_timeout(LULL) {
            Ok(bytes) => text.extend(bytes),
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {}
        }
        if Instant::now() >= until {
            break;
        }
    }
    child::kill_group(&mut child);
    Some(String::from_utf8_lossy(&text).into_owned())
}

fn shell_command(command: &str) -> Command {
    let mut shell;
    if cfg!(windows) {
        shell = Command::new("cmd");
        shell.args(["/C", command]);
    } else {
        shell = Command::new("/bin/sh");
        shell.args(["-c", command]);
    }
    child::set_own_group(&mut shell);
    shell
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ours_goes_behind_theirs_or_below() {
        assert_eq!(append_ours(None, "ours", None), "ours");
        assert_eq!(append_ours(Some(" \n"), "ours", None), "ours");
        assert_eq!(append_ours(Some("theirs\n"), "ours", Some(20)), "theirs · ours");
        assert_eq!(
            append_ours(Some("\x1b[31mtheirs\x1b[0m"), "ours", Some(13)),
            "\x1b[31mtheirs\x1b[0m · ours"
        );
        assert_eq!(append_ours(Some("one\ntheirs"), "ours", Some(12)), "one\ntheirs\nours");
    }

    #[cfg(unix)]
    #[test]
    fn a_wrapped_command_gets_the_payload_and_cannot_hold_us_up() {
        assert_eq!(read_output("cat", b"{}").as_deref(), Some("{}"));
        assert_eq!(read_output("exit 3", b"{}").as_deref(), Some(""));
        assert_eq!(read_output("no-such-command-here", b"{}").as_deref(), Some(""));
        // Longer than any test may take: only the limit can end them.
        assert_eq!(read_output("echo theirs; sleep 600 | cat", b"{}").as_deref(), Some("theirs\n"));
        assert_eq!(read_output("sleep 600 & echo theirs", b"{}").as_deref(), Some("theirs\n"));
        let chatter = "while :; do echo x; sleep 0.01; done";
        assert!(read_output(chatter, b"{}").is_some_and(|text| text.starts_with("x\n")));
        assert!(
            read_output(&format!("({chatter}) & echo theirs"), b"{}")
                .is_some_and(|text| text.contains("theirs\n"))
        );
    }

    #[test]
    fn the_command_comes_with_or_without_quotes() {
        let command = |args: &[&str]| parse_command(args.iter().map(OsString::from));
        assert_eq!(command(&["--wrap", "df", "-h"]).as_deref(), Some("df -h"));
        assert_eq!(command(&["--wrap=df -h"]).as_deref(), Some("df -h"));
        assert_eq!(command(&["--wrap"]), None);
        assert_eq!(command(&[]), None);
    }
}
