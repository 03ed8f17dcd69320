//! `tidegate statusline [--wrap CMD]`: first the bridge, then one line.
//!
//! The host may kill the process at any moment, so the numbers for the hooks are written before anything is drawn.

mod wrapped;

use std::borrow::Cow;
use std::ffi::OsString;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use tidegate_core::event::SessionId;
use tidegate_core::event::status::{ContextUse, StatusInput};
use tidegate_core::feature::approval::marks::ApprovalRequest;
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
use tidegate_core::text::terminal::{count_columns, cut_columns, keep_styles};
use tidegate_core::time::Millis;
use tidegate_state::feature::knowledge::folder::ContextFolder;
use tidegate_state::feature::knowledge::promotions;
use tidegate_state::feature::pressure as pressure_file;
use tidegate_state::file::bounded;
use tidegate_state::place::StateDir;
use tidegate_state::session::bridge::BridgeWrite;
use tidegate_state::session::{bridge, claims, marks};
use tidegate_state::{clock, config, project};

use crate::environment::Environment;

const LARGEST: u64 = 1024 * 1024;

/// Columns for the meter, and at least for a request.
const METER: usize = 44;
const SHORTEST_REQUEST: usize = 32;

/// In bytes; a longer file is not read, because the line is drawn all the time.
const LARGEST_FLOW: u64 = 256 * 1024;

/// This many readings without a hook in between mean that hooks have stopped. A few are normal: a call that fails, or
/// that a person refuses, has no registered event.
const STOPPED: u32 = 5;

/// Always exits with 0: anything else blanks the line.
pub fn run(args: impl Iterator<Item = OsString>) -> ExitCode {
    let env = Environment::of_hook();
    let mut payload = Vec::new();
    let _ = std::io::stdin().lock().take(LARGEST).read_to_end(&mut payload);
    let ours = draw_line(&payload, &env, clock::now());
    let theirs = wrapped::parse_command(args).and_then(|command| wrapped::read_output(&command, &payload));
    let theirs = theirs.as_deref().map(keep_styles);
    let line = wrapped::append_ours(theirs.as_deref(), &show_hidden(&ours), env.columns);
    let _ = writeln!(std::io::stdout().lock(), "{line}");
    ExitCode::SUCCESS
}

/// Writes the bridge, then draws our part of the line.
fn draw_line(payload: &[u8], env: &Environment, now: Millis) -> String {
    // Only Claude Code has a status line with a registration.
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
        return add_config_sign(&config, plain_lang, meter::words::no_reading(plain_lang).to_owned());
    };
    let folder = state.session(&session);
    let (seen, written) = write_bridge(status, &folder, now);
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
        return add_config_sign(&config, lang, meter::words::no_reading(lang).to_owned());
    };
    // Brings the public copy up to date; the level stays the one that was said last.
    if let Some(root) = root.as_deref().filter(|_| written.changed) {
        let level = known.map(|known| known.pressure.said.level).unwrap_or_default();
        let _ = pressure_file::write(root, &session, reading, level, now);
    }
    let forecast = reading.left().and_then(|left| forecast::forecast(&known?.session.relays, left));
    let sign = match known {
        None => Some(pipeline::words::hooks_silent(lang)),
        // In a host that Tidegate started itself, hooks are silent on purpose.
        Some(_) => (written.unheard >= STOPPED && !env.guard).then_some(pipeline::words::hooks_stopped(lang)),
    };
    let unpromoted =
        root.and_then(|root| count_unpromoted(&state, &root, now)).filter(|entries| *entries > 0);
    let mut notices = known.map(|known| list_requests(known, now, lang, env.columns)).unwrap_or_default();
    notices.extend(known.map(|known| list_waiting(known, reading, &config, lang)).into_iter().flatten());
    notices.extend(unpromoted.map(|entries| knowledge::words::unpromoted_entries(lang, entries)));
    let config = config_sign(&config, lang);
    let signs: Vec<&str> = config.as_deref().into_iter().chain(sign).collect();
    draw(reading, forecast.as_ref(), &signs, &notices, lang, env.columns)
}

fn write_bridge(status: StatusInput<'_>, session: &Path, now: Millis) -> (Bridge, BridgeWrite) {
    let ContextUse { used, window } = status.context;
    let model = status.model.map(Cow::into_owned);
    let seen = Bridge { used, window, model, changed: now, seen: now, unheard: 0 };
    // If this fails, hooks read the transcript instead.
    let written = bridge::write(session, seen.clone(), claims::last_heard(session))
        .unwrap_or(BridgeWrite { changed: true, unheard: 0 });
    (seen, written)
}

/// Requests that wait for a person, the newest first: it is the one on the screen now.
fn list_requests(marks: &Marks, now: Millis, lang: Lang, columns: Option<usize>) -> Vec<String> {
    let waiting = marks.approval.requests.iter().rev().filter(|request| request.waits(now));
    waiting.map(|request| describe_request(request, lang, columns)).collect()
}

/// Cut to leave room for the meter: a piece that does not fit is not drawn at all.
fn describe_request(request: &ApprovalRequest, lang: Lang, columns: Option<usize>) -> String {
    let room = columns.map_or(usize::MAX, |columns| columns.saturating_sub(METER).max(SHORTEST_REQUEST));
    let whole = approval::words::waits(lang, &request.code, &request.wording());
    cut_columns(&show_hidden(&whole), room).into_owned()
}

/// The first broken config file. Its name and line are enough to find it, and fit.
fn config_sign(config: &Config, lang: Lang) -> Option<String> {
    let broken = config.broken.first()?;
    let place = broken.location();
    let name = Path::new(&place).file_name().map(|name| name.to_string_lossy().into_owned());
    Some(pipeline::words::config_sign(lang, &name.unwrap_or(place)))
}

fn add_config_sign(config: &Config, lang: Lang, line: String) -> String {
    match config_sign(config, lang) {
        Some(sign) => format!("{line} · {sign}"),
        None => line,
    }
}

fn root_of(status: &StatusInput<'_>, env: &Environment) -> Option<PathBuf> {
    let host = status.project.as_deref().map(Path::new);
    let cwd = status.cwd.as_deref().map(Path::new);
    project::root(host.or(env.project.as_deref()), cwd)
}

/// Checks that are still due, and the stage, phase or activity of the session.
fn list_waiting(marks: &Marks, reading: &Reading, config: &Config, lang: Lang) -> Vec<String> {
    let looks = matches!(config.policies.workflow_gate.mode, WorkflowMode::On | WorkflowMode::Strict);
    let holds = config.policies.verify_stop.mode == VerifyMode::Block;
    let changes = marks.verification.changes.as_ref().filter(|_| holds);
    let unverified = changes.map(|changes| verification::words::unverified_files(lang, changes.count()));
    // A stage says more than the guessed activity.
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
    // The first level of a workflow is only shown here.
    let level = || config.policies.workflow_gate.level(reading).unwrap_or_default();
    let plan = marks.workflow.attached.is_some() && looks && level() >= 60;
    let plan = plan.then(|| workflow::words::plan_compaction(lang).to_owned());
    unverified.into_iter().chain(stage.or_else(workflow).or_else(phase)).chain(plan).collect()
}

/// Entries of `progress.md` that no person has reviewed. Those of the archive are left to `status`.
fn count_unpromoted(state: &StateDir, root: &Path, now: Millis) -> Option<usize> {
    let folder = ContextFolder::find(root)?;
    let text = bounded::read(&folder.file(flow::FILE).ok()?, LARGEST_FLOW).ok()?;
    let text = String::from_utf8(text).ok()?;
    let progress = Progress::parse(&text);
    if progress.entries.is_empty() {
        return None;
    }
    let shown = promotions::read_shown(state, &folder, now);
    Some(flow::unpromoted(&progress, None, &shown).len())
}

/// As many pieces as fit, the most important first.
fn draw(
    reading: &Reading,
    forecast: Option<&Forecast>,
    signs: &[&str],
    notices: &[String],
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
    pieces.extend(forecast.and_then(Forecast::shown_turns).map(|turns| meter::words::turns(lang, turns)));
    pieces.extend_from_slice(notices);
    let room = columns.unwrap_or(usize::MAX);
    let mut line = String::new();
    for piece in pieces {
        // Measures the text as it is printed.
        let piece = show_hidden(&piece).into_owned();
        let longer = if line.is_empty() { piece } else { format!("{line} · {piece}") };
        if count_columns(&longer) > room {
            break;
        }
        line = longer;
    }
    line
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

    /// A request is cut by its printed width.
    #[test]
    fn a_request_in_wide_or_hidden_characters_is_drawn() {
        let window = Some(Window { tokens: 200_000, compact_at: Some(167_000) });
        let reading = Reading { used: 124_000, window, source: Source::Payload, at: Millis(0) };
        let forecast = Forecast { turns: 6, fewest: 4, most: 9 };
        for about in ["編集を検証する".repeat(40), "\u{1b}[2J\u{202e}".repeat(40), "x".repeat(400)] {
            let request = ApprovalRequest {
                code: "K7QF2M".to_owned(),
                command: "off skill-gate".to_owned(),
                about: Some(about.clone()),
                at: Millis(0),
                client: None,
                shown: false,
                stage: ApprovalStage::Asked,
            };
            for (lang, columns) in [(Lang::En, 80), (Lang::En, 120), (Lang::Ja, 120), (Lang::Ja, 200)] {
                let armed = [describe_request(&request, lang, Some(columns))];
                let line = draw(&reading, Some(&forecast), &[], &armed, lang, Some(columns));
                let printed = show_hidden(&line);
                assert!(printed.contains("K7QF2M") && printed.ends_with('…'), "{columns}: {printed}");
                assert!(count_columns(&printed) <= columns, "{columns}: {printed}");
            }
        }
    }
}
