//! `tidegate statusline [--wrap CMD]`: first the bridge, then one line.
//!
//! The host may kill us at any moment, so what the hooks need is written before anything is drawn.

use std::ffi::OsString;
use std::io::{Read, Write};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::mpsc;
use std::time::{Duration, SystemTime};

use tidegate_core::event::SessionId;
use tidegate_core::event::wire::{self, ContextWindow, StatusPayload};
use tidegate_core::facts::marks::Marks;
use tidegate_core::facts::sources::{Bridge, Sources};
use tidegate_core::meter::forecast::{self, Forecast};
use tidegate_core::meter::{Reading, short_tokens};
use tidegate_core::time::Millis;
use tidegate_core::words::Words;
use tidegate_state::place::StateDir;
use tidegate_state::{bridge, config, marks, pressure_file, project};

use crate::environment::Environment;

/// A status line the host would still wait for; it redraws at most every 300 ms.
const WRAPPED_LIMIT: Duration = Duration::from_millis(1500);
const LARGEST: u64 = 1024 * 1024;

/// The whole run. Always exits 0: anything else blanks the line.
pub fn run(args: impl Iterator<Item = OsString>) -> ExitCode {
    let env = Environment::of_process();
    let mut payload = Vec::new();
    let _ = std::io::stdin().lock().take(LARGEST).read_to_end(&mut payload);
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let ours = line(&payload, &env, Millis(since.as_millis() as u64));
    let theirs = wrapped(args).and_then(|command| output_of(&command, &payload));
    let _ = writeln!(std::io::stdout().lock(), "{}", join(theirs.as_deref(), &ours, env.columns));
    ExitCode::SUCCESS
}

/// The command to wrap: everything after `--wrap`, so that it can be given with or without quotes.
fn wrapped(args: impl Iterator<Item = OsString>) -> Option<String> {
    let words: Vec<String> = args
        .skip_while(|arg| arg != "--wrap")
        .skip(1)
        .map(|arg| arg.to_string_lossy().into_owned())
        .collect();
    (!words.is_empty()).then(|| words.join(" "))
}

/// Writes the bridge and draws our part.
fn line(payload: &[u8], env: &Environment, now: Millis) -> String {
    let config = config::read(env.place.config().as_deref(), None);
    let plain_words = env.lang(config.general.lang, None).words();
    let Ok(status) = wire::read_object::<StatusPayload<'_>>(payload) else {
        return plain_words.no_reading.to_owned();
    };
    let session = status.session_id.get().and_then(|id| SessionId::parse(id).ok());
    let (Some(session), Ok(state)) = (session, StateDir::open(&env.place)) else {
        return plain_words.no_reading.to_owned();
    };
    let folder = state.session(&session);
    let window = status.context_window.get();
    let model = status.model.get().and_then(|model| model.id.get()).map(ToString::to_string);
    let seen = Bridge {
        used: window.and_then(ContextWindow::used),
        window: window.and_then(ContextWindow::window),
        model,
        changed: now,
        seen: now,
    };
    // Should it fail, the hooks read the transcript instead.
    let _ = bridge::write(&folder, seen.clone());

    let known = marks::read(&folder);
    let known = known.value();
    let words = env.lang(config.general.lang, known.and_then(|known| known.lang)).words();
    let host = env.host_settings(&known.and_then(|known| known.host.clone()).unwrap_or_default());
    let sources = Sources {
        now,
        payload: Some((seen.used, seen.window)),
        bridge: Some(seen),
        transcript: Ok(None),
        marks: None,
        window: config.meter.window,
        host: &host,
    };
    let meter = sources.meter();
    let Some(reading) = meter.reading() else { return words.no_reading.to_owned() };
    publish(&status, env, &session, reading, known, now);
    let forecast = reading.left().and_then(|left| forecast::forecast(&known?.relays, left));
    draw(reading, forecast.as_ref(), known.is_none(), words, env.columns)
}

/// Brings the public copy up to date, with the level that was said.
fn publish(
    status: &StatusPayload<'_>,
    env: &Environment,
    session: &SessionId,
    reading: &Reading,
    known: Option<&Marks>,
    now: Millis,
) {
    let host = status
        .workspace
        .get()
        .and_then(|workspace| workspace.project_dir.get())
        .map(|dir| std::path::PathBuf::from(dir.as_ref()));
    let cwd = status.cwd.get().map(|cwd| std::path::Path::new(cwd.as_ref()));
    if let Some(root) = project::root(host.as_deref().or(env.project.as_deref()), cwd) {
        let level = known.map(|known| known.pressure).unwrap_or_default();
        let _ = pressure_file::write(&root, session, reading, level, now);
    }
}

/// As many pieces as fit, the most important first.
fn draw(
    reading: &Reading,
    forecast: Option<&Forecast>,
    hooks_silent: bool,
    words: &Words,
    columns: Option<usize>,
) -> String {
    let mut pieces = Vec::new();
    if hooks_silent {
        pieces.push(words.hooks_silent.to_owned());
    }
    match (reading.window, reading.used_pct(), reading.left()) {
        (Some(window), Some(percent), Some(left)) => {
            pieces.push((words.used)(percent.round() as u64));
            pieces.push((words.left)(&short_tokens(left), window.compact_at.is_some()));
        }
        _ => pieces.push(short_tokens(reading.used)),
    }
    pieces.extend(forecast.map(|forecast| (words.turns)(forecast.turns)));
    let room = columns.unwrap_or(usize::MAX);
    let mut line = String::new();
    for piece in pieces {
        let longer = if line.is_empty() { piece } else { format!("{line} · {piece}") };
        if width(&longer) > room && !line.is_empty() {
            break;
        }
        line = longer;
    }
    line
}

/// Their rows, with ours behind the last one or, where there is no room, below it.
fn join(theirs: Option<&str>, ours: &str, columns: Option<usize>) -> String {
    let Some(theirs) = theirs.map(str::trim_end).filter(|theirs| !theirs.is_empty()) else {
        return ours.to_owned();
    };
    let last = theirs.lines().next_back().unwrap_or_default();
    let fits = width(last) + 3 + width(ours) <= columns.unwrap_or(usize::MAX);
    format!("{theirs}{}{ours}", if fits { " · " } else { "\n" })
}

/// Columns of a text on a terminal: colour codes take none, letters beyond Latin two.
fn width(text: &str) -> usize {
    let mut columns = 0;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\x1b' => {
                let _ = chars.by_ref().find(char::is_ascii_alphabetic);
            }
            '\u{0}'..='\u{2e7f}' => columns += 1,
            _ => columns += 2,
        }
    }
    columns
}

/// What the wrapped command prints. One that fails or dawdles gives nothing and does not hold us up.
fn output_of(command: &str, payload: &[u8]) -> Option<String> {
    let mut child =
        shell(command).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
    let (mut stdin, mut stdout) = (child.stdin.take()?, child.stdout.take()?);
    let payload = payload.to_owned();
    let (sender, receiver) = mpsc::channel();
    // Threads of their own: the command may not read, not write, or leave its output open to somebody else.
    std::thread::spawn(move || stdin.write_all(&payload));
    std::thread::spawn(move || {
        let mut text = Vec::new();
        let _ = stdout.by_ref().take(LARGEST).read_to_end(&mut text);
        sender.send(text)
    });
    let text = receiver.recv_timeout(WRAPPED_LIMIT);
    stop(&mut child);
    text.ok().map(|text| String::from_utf8_lossy(&text).into_owned())
}

fn stop(child: &mut Child) {
    if matches!(child.try_wait(), Ok(None)) {
        let _ = child.kill();
    }
    let _ = child.wait();
}

fn shell(command: &str) -> Command {
    if cfg!(windows) {
        let mut shell = Command::new("cmd");
        shell.args(["/C", command]);
        shell
    } else {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", command]);
        shell
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_core::meter::Source;
    use tidegate_core::meter::models::Window;
    use tidegate_core::words::Lang;

    fn drawn(columns: usize, lang: Lang) -> String {
        let window = Some(Window { tokens: 200_000, compact_at: Some(167_000) });
        let reading = Reading { used: 124_000, window, source: Source::Payload, at: Millis(0) };
        let forecast = Forecast { turns: 6, fewest: 4, most: 9 };
        draw(&reading, Some(&forecast), false, lang.words(), Some(columns))
    }

    #[test]
    fn it_fits_the_terminal() {
        assert_eq!(drawn(80, Lang::En), "62% used · 43k to compaction · ~6 turns");
        assert_eq!(drawn(30, Lang::En), "62% used · 43k to compaction");
        assert_eq!(drawn(10, Lang::En), "62% used");
        assert_eq!(drawn(80, Lang::Ja), "62% 使用 · 圧縮まで 43k · 約6ターン");
        assert_eq!(drawn(22, Lang::Ja), "62% 使用");
    }

    #[test]
    fn ours_goes_behind_theirs_or_below() {
        assert_eq!(join(None, "ours", None), "ours");
        assert_eq!(join(Some(" \n"), "ours", None), "ours");
        assert_eq!(join(Some("theirs\n"), "ours", Some(20)), "theirs · ours");
        assert_eq!(join(Some("\x1b[31mtheirs\x1b[0m"), "ours", Some(13)), "\x1b[31mtheirs\x1b[0m · ours");
        assert_eq!(join(Some("one\ntheirs"), "ours", Some(12)), "one\ntheirs\nours");
    }

    #[cfg(unix)]
    #[test]
    fn a_wrapped_command_gets_the_payload_and_cannot_hold_us_up() {
        assert_eq!(output_of("cat", b"{}").as_deref(), Some("{}"));
        assert_eq!(output_of("exit 3", b"{}").as_deref(), Some(""));
        assert_eq!(output_of("no-such-command-here", b"{}").as_deref(), Some(""));
        // Longer than any test may take: only the limit can end it.
        assert_eq!(output_of("sleep 600", b"{}"), None);
    }
}
