//! `tidegate statusline [--wrap CMD]`: first the bridge, then one line.
//!
//! The host may kill us at any moment, so what the hooks need is written before anything is drawn.

use std::borrow::Cow;
use std::ffi::OsString;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use tidegate_core::event::SessionId;
use tidegate_core::event::status::{ContextUse, StatusInput};
use tidegate_core::feature::approval::marks::Approval;
use tidegate_core::feature::config::Config;
use tidegate_core::feature::knowledge::flow;
use tidegate_core::feature::knowledge::flow::Progress;
use tidegate_core::feature::marks::Marks;
use tidegate_core::feature::verification::verify_stop::settings::VerifyMode;
use tidegate_core::feature::workflow::settings::WorkflowMode;
use tidegate_core::feature::{approval, cycle, knowledge, verification, workflow};
use tidegate_core::host::Host;
use tidegate_core::host::window::HostSettings;
use tidegate_core::meter::forecast::{self, Forecast};
use tidegate_core::meter::sources::{Bridge, MeterSources};
use tidegate_core::meter::{self, Reading, short_tokens};
use tidegate_core::pipeline;
use tidegate_core::settings::setting::Whole;
use tidegate_core::text::hidden::show_hidden;
use tidegate_core::text::lang::Lang;
use tidegate_core::text::terminal::{count_columns, cut_to_columns, keep_styles};
use tidegate_core::time::Millis;
use tidegate_state::feature::knowledge::memory;
use tidegate_state::feature::knowledge::read::Folder;
use tidegate_state::feature::pressure as pressure_file;
use tidegate_state::file::bounded;
use tidegate_state::place::StateDir;
use tidegate_state::session::bridge::Written;
use tidegate_state::session::{bridge, claims, marks};
use tidegate_state::{clock, config, project};

use crate::environment::Environment;
use tidegate_state::child;

/// A status line the host would still wait for; it redraws at most every 300 ms.
const WRAPPED_LIMIT: Duration = Duration::from_millis(1500);
const LARGEST: u64 = 1024 * 1024;

/// Columns that the meter takes, and that a request takes in any case.
const METER: usize = 44;
const SHORTEST_REQUEST: usize = 32;

/// A flow that is longer is not looked at: the line is drawn all the time.
const LARGEST_FLOW: u64 = 256 * 1024;

/// How long output may pause before we look whether the command is still there.
const LULL: Duration = Duration::from_millis(20);

/// So many readings without a hook in between and the hooks have stopped. A few in a row are no sign of that: a call that
/// fails, or that a person refuses, has no event we are registered for.
const STOPPED: u32 = 5;

/// The whole run. Always exits 0: anything else blanks the line.
pub fn run(args: impl Iterator<Item = OsString>) -> ExitCode {
    let env = Environment::of_hook();
    let mut payload = Vec::new();
    let _ = std::io::stdin().lock().take(LARGEST).read_to_end(&mut payload);
    let ours = line(&payload, &env, clock::now());
    let theirs = wrapped(args).and_then(|command| output_of(&command, &payload));
    let theirs = theirs.as_deref().map(keep_styles);
    let line = join(theirs.as_deref(), &show_hidden(&ours), env.columns);
    let _ = writeln!(std::io::stdout().lock(), "{line}");
    ExitCode::SUCCESS
}

/// The command to wrap: everything after `--wrap`, so that it can be given with or without quotes.
fn wrapped(args: impl Iterator<Item = OsString>) -> Option<String> {
    let mut args = args.map(|arg| arg.to_string_lossy().into_owned());
    let first = args.find(|arg| arg == "--wrap" || arg.starts_with("--wrap="))?;
    let words: Vec<String> =
        first.strip_prefix("--wrap=").map(str::to_owned).into_iter().chain(args).collect();
    (!words.is_empty()).then(|| words.join(" "))
}

/// Writes the bridge and draws our part.
fn line(payload: &[u8], env: &Environment, now: Millis) -> String {
    // Only Claude Code has a status line that we are registered for.
    let status = Host::ClaudeCode.status(payload);
    let state = StateDir::open(&env.place).ok();
    let (user, root) = (env.place.config(), status.as_ref().and_then(|status| root_of(status, env)));
    let config = config::read(&config::Sources {
        user: user.as_deref(),
        root: root.as_deref(),
        state: state.as_ref(),
        variables: &env.settings,
        off: None,
    });
    let plain_lang = env.lang(config.general.lang, None);
    let session = status.as_ref().and_then(|status| status.session.as_deref());
    let session = session.and_then(|id| SessionId::parse(id).ok());
    let (Some(status), Some(session), Some(state)) = (status, session, state) else {
        return with_config(&config, plain_lang, meter::words::no_reading(plain_lang).to_owned());
    };
    let folder = state.session(&session);
    let ContextUse { used, window } = status.context;
    let seen = Bridge {
        used,
        window,
        model: status.model.map(Cow::into_owned),
        changed: now,
        seen: now,
        unheard: 0,
    };
    // Should it fail, the hooks read the transcript instead.
    let written = bridge::write(&folder, seen.clone(), claims::last_heard(&folder))
        .unwrap_or(Written { changed: true, unheard: 0 });

    let known = marks::read(&folder);
    let known = known.value();
    let lang = env.lang(config.general.lang, known.and_then(|known| known.session.lang));
    let marked = known.and_then(|known| known.session.host.clone());
    let host = marked.unwrap_or_else(|| env.host_settings(&HostSettings::default()));
    let sources = MeterSources {
        now,
        payload: Some((seen.used, seen.window)),
        bridge: Some(seen),
        transcript: Ok(None),
        boundary: None,
        model: None,
        window: config.meter.window.map(Whole::get),
        host: Host::ClaudeCode,
        settings: &host,
    };
    let meter = sources.meter();
    let Some(reading) = meter.reading() else {
        return with_config(&config, lang, meter::words::no_reading(lang).to_owned());
    };
    // Brings the public copy up to date, with the level that was said.
    if let Some(root) = root.as_deref().filter(|_| written.changed) {
        let level = known.map(|known| known.pressure.said.level).unwrap_or_default();
        let _ = pressure_file::write(root, &session, reading, level, now);
    }
    let forecast = reading.left().and_then(|left| forecast::forecast(&known?.session.relays, left));
    let sign = match known {
        None => Some(pipeline::words::hooks_silent(lang)),
        // In a host that we started ourselves the hooks keep out of the way on purpose.
        Some(_) => (written.unheard >= STOPPED && !env.guard).then_some(pipeline::words::hooks_stopped(lang)),
    };
    let unpromoted = root.and_then(|root| unpromoted(&state, &root, now)).filter(|entries| *entries > 0);
    // Before the rest: a person is waited for.
    let requests = known.map(|known| known.approval.requests.as_slice()).unwrap_or_default();
    // The newest first: it is the one that the person is asked for now.
    let waiting = requests.iter().rev().filter(|request| request.waits(now));
    let mut armed: Vec<String> = waiting.map(|request| waits(request, lang, env.columns)).collect();
    armed.extend(known.map(|known| self::armed(known, reading, &config, lang)).into_iter().flatten());
    armed.extend(unpromoted.map(|entries| knowledge::words::unpromoted_entries(lang, entries)));
    let config = config_sign(&config, lang);
    let signs: Vec<&str> = config.as_deref().into_iter().chain(sign).collect();
    draw(reading, forecast.as_ref(), &signs, &armed, lang, env.columns)
}

/// A request that waits, cut to leave room for the meter: a part that does not fit is not drawn at all.
fn waits(request: &Approval, lang: Lang, columns: Option<usize>) -> String {
    let room = columns.map_or(usize::MAX, |columns| columns.saturating_sub(METER).max(SHORTEST_REQUEST));
    let whole = approval::words::waits(lang, &request.code, &request.wording());
    cut_to_columns(&show_hidden(&whole), room)
}

/// The first config file that cannot be read. Its name and line are enough to find it, and fit.
fn config_sign(config: &Config, lang: Lang) -> Option<String> {
    let broken = config.broken.first()?;
    let place = broken.place();
    let name = Path::new(&place).file_name().map(|name| name.to_string_lossy().into_owned());
    Some(pipeline::words::config_sign(lang, &name.unwrap_or(place)))
}

fn with_config(config: &Config, lang: Lang, line: String) -> String {
    match config_sign(config, lang) {
        Some(sign) => format!("{line} · {sign}"),
        None => line,
    }
}

/// The project that the client says it works in.
fn root_of(status: &StatusInput<'_>, env: &Environment) -> Option<PathBuf> {
    let host = status.project.as_deref().map(Path::new);
    let cwd = status.cwd.as_deref().map(Path::new);
    project::root(host.or(env.project.as_deref()), cwd)
}

/// What a gate is waiting for, and what the session is about.
fn armed(marks: &Marks, reading: &Reading, config: &Config, lang: Lang) -> Vec<String> {
    let looks = matches!(config.policies.workflow_gate.mode, WorkflowMode::On | WorkflowMode::Strict);
    let holds = config.policies.verify_stop.mode == VerifyMode::Block;
    let changes = marks.verification.changes.as_ref().filter(|_| holds);
    let unverified = changes.map(|changes| verification::words::unverified_files(lang, changes.count()));
    // A stage says more than what a prompt was taken to ask for.
    let stage = marks
        .cycle
        .stage
        .as_ref()
        .map(|stage| cycle::words::stage(lang, &stage.stage, stage.number, stage.of));
    let workflow = || {
        let workflow = marks.workflow.attached.as_ref().filter(|_| looks)?;
        let number = workflow.current().map(|current| current.number)?;
        Some(workflow::words::phase(lang, &workflow.name.replace(['_', '-'], " "), number, workflow.of))
    };
    let phase = || marks.activity.phase.map(|phase| phase.name().to_owned());
    // The first level of a workflow's ladder is only shown.
    let level = || config.policies.workflow_gate.level(reading).unwrap_or_default();
    let plan = marks.workflow.attached.is_some() && looks && level() >= 60;
    let plan = plan.then(|| workflow::words::plan_compaction(lang).to_owned());
    unverified.into_iter().chain(stage.or_else(workflow).or_else(phase)).chain(plan).collect()
}

/// How many entries of `progress.md` no person has gone through. Those of the archive are left to `status`.
fn unpromoted(state: &StateDir, root: &Path, now: Millis) -> Option<usize> {
    let folder = Folder::of(root)?;
    let text = bounded::read(&folder.file(flow::FILE).ok()?, LARGEST_FLOW).ok()?;
    let text = String::from_utf8(text).ok()?;
    let progress = Progress::parse(&text);
    if progress.entries.is_empty() {
        return None;
    }
    let shown = memory::shown(state, &folder, now);
    Some(flow::unpromoted(&progress, None, &shown).len())
}

/// As many pieces as fit, the most important first.
fn draw(
    reading: &Reading,
    forecast: Option<&Forecast>,
    signs: &[&str],
    armed: &[String],
    lang: Lang,
    columns: Option<usize>,
) -> String {
    let mut pieces = Vec::new();
    match (reading.window, reading.used_pct(), reading.left()) {
        (Some(window), Some(percent), Some(left)) => {
            pieces.push(meter::words::used(lang, percent.round() as u64));
            pieces.push(meter::words::left(lang, &short_tokens(left), window.compact_at.is_some()));
        }
        _ => pieces.push(short_tokens(reading.used)),
    }
    pieces.splice(1..1, signs.iter().map(ToString::to_string));
    pieces.extend(forecast.map(|forecast| meter::words::turns(lang, forecast.turns)));
    pieces.extend_from_slice(armed);
    let room = columns.unwrap_or(usize::MAX);
    let mut line = String::new();
    for piece in pieces {
        // As it is printed, or it would not be as wide as it is measured.
        let piece = show_hidden(&piece).into_owned();
        let longer = if line.is_empty() { piece } else { format!("{line} · {piece}") };
        if count_columns(&longer) > room {
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
    let fits = count_columns(last) + 3 + count_columns(ours) <= columns.unwrap_or(usize::MAX);
    format!("{theirs}{}{ours}", if fits { " · " } else { "\n" })
}

/// What the wrapped command prints. One that fails or dawdles gives what it has printed by then and does not hold us up,
/// nor does a child it leaves behind with its output open.
fn output_of(command: &str, payload: &[u8]) -> Option<String> {
    let mut child =
        shell(command).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
    let (mut stdin, mut stdout) = (child.stdin.take()?, child.stdout.take()?);
    let payload = payload.to_owned();
    let (sender, receiver) = mpsc::channel();
    // Threads of their own: the command may neither read nor write.
    std::thread::spawn(move || stdin.write_all(&payload));
    std::thread::spawn(move || {
        let mut bytes = [0; 4096];
        while let Ok(count @ 1..) = stdout.read(&mut bytes) {
            if sender.send(bytes[..count].to_vec()).is_err() {
                return;
            }
        }
    });
    let mut until = Instant::now() + WRAPPED_LIMIT;
    let mut text = Vec::new();
    while text.len() < LARGEST as usize {
        // Once it has ended, what it printed is in the pipe; what comes later is a child's that it left behind.
        if !matches!(child.try_wait(), Ok(None)) {
            until = until.min(Instant::now() + LULL);
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
    child::end(&mut child);
    Some(String::from_utf8_lossy(&text).into_owned())
}

fn shell(command: &str) -> Command {
    let mut shell;
    if cfg!(windows) {
        shell = Command::new("cmd");
        shell.args(["/C", command]);
    } else {
        shell = Command::new("/bin/sh");
        shell.args(["-c", command]);
    }
    child::in_a_group(&mut shell);
    shell
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_core::feature::approval::marks::ApprovalStage;
    use tidegate_core::host::window::Window;
    use tidegate_core::meter::Source;

    fn drawn(columns: usize, lang: Lang) -> String {
        let window = Some(Window { tokens: 200_000, compact_at: Some(167_000) });
        let reading = Reading { used: 124_000, window, source: Source::Payload, at: Millis(0) };
        let forecast = Forecast { turns: 6, fewest: 4, most: 9 };
        let armed = [verification::words::unverified_files(lang, 2)];
        draw(&reading, Some(&forecast), &[], &armed, lang, Some(columns))
    }

    #[test]
    fn it_fits_the_terminal() {
        assert_eq!(drawn(80, Lang::En), "62% used · 43k to compaction · ~6 turns · 2 files unverified");
        assert_eq!(drawn(50, Lang::En), "62% used · 43k to compaction · ~6 turns");
        assert_eq!(drawn(30, Lang::En), "62% used · 43k to compaction");
        assert_eq!(drawn(10, Lang::En), "62% used");
        assert_eq!(drawn(5, Lang::En), "");
        assert_eq!(drawn(80, Lang::Ja), "62% 使用 · 圧縮まで 43k · 約6ターン · 未検証 2 ファイル");
        assert_eq!(drawn(22, Lang::Ja), "62% 使用");
    }

    /// A request is cut to the columns that it takes as it is printed.
    #[test]
    fn a_request_in_wide_or_hidden_characters_is_drawn() {
        let window = Some(Window { tokens: 200_000, compact_at: Some(167_000) });
        let reading = Reading { used: 124_000, window, source: Source::Payload, at: Millis(0) };
        let forecast = Forecast { turns: 6, fewest: 4, most: 9 };
        for about in ["編集を検証する".repeat(40), "\u{1b}[2J\u{202e}".repeat(40), "x".repeat(400)] {
            let request = Approval {
                code: "K7QF2M".to_owned(),
                command: "off skill-gate".to_owned(),
                about: Some(about.clone()),
                at: Millis(0),
                client: None,
                shown: false,
                stage: ApprovalStage::Asked,
            };
            for (lang, columns) in [(Lang::En, 80), (Lang::En, 120), (Lang::Ja, 120), (Lang::Ja, 200)] {
                let armed = [waits(&request, lang, Some(columns))];
                let line = draw(&reading, Some(&forecast), &[], &armed, lang, Some(columns));
                let printed = show_hidden(&line);
                assert!(printed.contains("K7QF2M") && printed.ends_with('…'), "{columns}: {printed}");
                assert!(count_columns(&printed) <= columns, "{columns}: {printed}");
            }
        }
        assert_eq!(cut_to_columns("ab漢字", 6), "ab漢字");
        assert_eq!(cut_to_columns("ab漢字", 5), "ab漢…");
        assert_eq!(cut_to_columns("ab漢字", 4), "ab…");
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
        // Longer than any test may take: only the limit can end them.
        assert_eq!(output_of("echo theirs; sleep 600 | cat", b"{}").as_deref(), Some("theirs\n"));
        assert_eq!(output_of("sleep 600 & echo theirs", b"{}").as_deref(), Some("theirs\n"));
        let chatter = "while :; do echo x; sleep 0.01; done";
        assert!(output_of(chatter, b"{}").is_some_and(|text| text.starts_with("x\n")));
        assert!(
            output_of(&format!("({chatter}) & echo theirs"), b"{}")
                .is_some_and(|text| text.contains("theirs\n"))
        );
    }

    #[test]
    fn the_command_comes_with_or_without_quotes() {
        let wrapped = |args: &[&str]| wrapped(args.iter().map(OsString::from));
        assert_eq!(wrapped(&["--wrap", "df", "-h"]).as_deref(), Some("df -h"));
        assert_eq!(wrapped(&["--wrap=df -h"]).as_deref(), Some("df -h"));
        assert_eq!(wrapped(&["--wrap"]), None);
        assert_eq!(wrapped(&[]), None);
    }
}
