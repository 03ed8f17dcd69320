//! `tidegate statusline [--wrap CMD | --preview]`: first the bridge, then one line.
//!
//! The host may kill the process at any moment, so the numbers for the hooks are written before anything is drawn.

mod line;
mod preview;
mod wrapped;

use std::borrow::Cow;
use std::ffi::OsString;
use std::io::{IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use tidegate_core::event::SessionId;
use tidegate_core::event::status::{ContextUse, StatusInput};
use tidegate_core::feature::approval::marks::ApprovalRequest;
use tidegate_core::feature::config::Config;
use tidegate_core::feature::config::status_line::StatusPart;
use tidegate_core::feature::knowledge::flow;
use tidegate_core::feature::knowledge::flow::Progress;
use tidegate_core::feature::marks::Marks;
use tidegate_core::feature::pressure::marks::PressureLevel;
use tidegate_core::feature::verification::verify_stop::settings::VerifyMode;
use tidegate_core::feature::verification::work::ChangeSet;
use tidegate_core::feature::workflow::settings::WorkflowMode;
use tidegate_core::feature::{approval, cycle, knowledge, switchable_policies, verification, workflow};
use tidegate_core::host::Host;
use tidegate_core::host::window::HostSettings;
use tidegate_core::meter::forecast::{self, Forecast};
use tidegate_core::meter::sources::{Bridge, MeterSources};
use tidegate_core::meter::{self, Reading};
use tidegate_core::pipeline;
use tidegate_core::settings::setting::Whole;
use tidegate_core::text::hidden::show_hidden;
use tidegate_core::text::lang::Lang;
use tidegate_core::text::terminal::{cut_columns, keep_styles};
use tidegate_core::time::Millis;
use tidegate_state::config::switches;
use tidegate_state::feature::knowledge::folder::ContextFolder;
use tidegate_state::feature::knowledge::promotions;
use tidegate_state::feature::pressure as pressure_file;
use tidegate_state::file::bounded;
use tidegate_state::place::StateDir;
use tidegate_state::session::bridge::BridgeWrite;
use tidegate_state::session::{bridge, claims, marks};
use tidegate_state::{clock, config, project};

use crate::environment::Environment;
use line::{Canvas, Piece, Style, draw};

const LARGEST: u64 = 1024 * 1024;

/// Columns for the bar, and at least for a request.
const CONTEXT: usize = 42;
const SHORTEST_REQUEST: usize = 32;

/// In bytes; a longer file is not read, because the line is drawn all the time.
const LARGEST_FLOW: u64 = 256 * 1024;

/// This many readings without a hook in between mean that hooks have stopped. A few are normal: a call that fails, or
/// that a person refuses, has no registered event.
const STOPPED: u32 = 5;

/// Always exits with 0: anything else blanks the line.
pub fn run(args: impl Iterator<Item = OsString>) -> ExitCode {
    let mut args: Vec<OsString> = args.collect();
    let host = take_host(&mut args);
    let env = Environment::of_hook();
    let canvas = Canvas { columns: env.columns, coloured: is_coloured() };
    if args.first().is_some_and(|arg| arg == "--preview") {
        // A person looks at it, perhaps through a pipe.
        let canvas = Canvas { coloured: canvas.coloured && std::io::stdout().is_terminal(), ..canvas };
        let user = env.place.config();
        let config = config::read(&config::Sources { user: user.as_deref(), ..config::Sources::default() });
        let text = preview::text(env.lang(config.general.lang, None), user.as_deref(), canvas);
        let _ = write!(std::io::stdout().lock(), "{text}");
        return ExitCode::SUCCESS;
    }
    let mut payload = Vec::new();
    let _ = std::io::stdin().lock().take(LARGEST).read_to_end(&mut payload);
    let ours = draw(&find_pieces(host, &payload, &env, clock::now()), canvas);
    let theirs =
        wrapped::parse_command(args.into_iter()).and_then(|command| wrapped::read_output(&command, &payload));
    let theirs = theirs.as_deref().map(keep_styles);
    let line = wrapped::append_ours(theirs.as_deref(), &ours, env.columns);
    let _ = writeln!(std::io::stdout().lock(), "{line}");
    ExitCode::SUCCESS
}

/// Another host's settings name it: `--host copilot`.
fn take_host(args: &mut Vec<OsString>) -> Host {
    if args.first().is_none_or(|arg| arg != "--host") {
        return Host::ClaudeCode;
    }
    let name = args.drain(..args.len().min(2)).nth(1);
    name.and_then(|name| Host::named(name.to_str()?)).unwrap_or_default()
}

/// The client shows colours although it reads from a pipe.
fn is_coloured() -> bool {
    let is_dumb = || std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()) && !is_dumb()
}

/// Writes the bridge, then finds the pieces of our part of the line.
fn find_pieces(host: Host, payload: &[u8], env: &Environment, now: Millis) -> Vec<Piece> {
    let status = host.status(payload);
    let state = StateDir::open(&env.place).ok();
    let (user, root) = (env.place.config(), status.as_ref().and_then(|status| root_of(status, env)));
    let config = config::read(&config::Sources {
        user: user.as_deref(),
        root: root.as_deref(),
        state: state.as_ref(),
        variables: &env.settings,
        off: env.off.as_deref(),
    });
    let plain_lang = env.lang(config.general.lang, None);
    let session = status.as_ref().and_then(|status| status.session.as_deref());
    let session = session.and_then(|id| SessionId::of(host, id).ok());
    let unread = |lang: Lang| {
        let none = Piece::new(meter::words::no_reading(lang), Style::Plain);
        config_sign(&config, lang).into_iter().chain([none]).collect::<Vec<_>>()
    };
    let (Some(status), Some(session), Some(state)) = (status, session, state) else {
        return unread(plain_lang);
    };
    let folder = state.session(&session);
    let (seen, written) = write_bridge(status, &folder, now);
    let known = marks::read(&folder);
    let known = known.value();
    let lang = env.lang(config.general.lang, known.and_then(|known| known.session.lang));
    let marked = known.and_then(|known| known.session.host.clone());
    let settings = marked.unwrap_or_else(|| env.host_settings(&HostSettings::default()));
    let sources = MeterSources {
        now,
        payload: Some((seen.used, seen.window)),
        bridge: Some(seen),
        transcript: Ok(None),
        boundary: None,
        model: None,
        outgrown: known.and_then(|known| known.session.outgrown_window()),
        window: config.meter.window.map(Whole::get),
        host,
        settings: &settings,
    };
    let meter = sources.meter();
    let Some(reading) = meter.reading() else { return unread(lang) };
    // Brings the public copy up to date; the level stays the one that was said last.
    if let Some(root) = root.as_deref().filter(|_| written.changed) {
        let level = known.map(|known| known.pressure.said.level).unwrap_or_default();
        let _ = pressure_file::write(root, &session, reading, level, now);
    }
    let forecast = reading.left().and_then(|left| forecast::forecast(&known?.session.relays, left));
    let level = config.policies.pressure.level(reading, forecast.as_ref());
    let sign = match known {
        None => Some(pipeline::words::hooks_silent(lang)),
        // In a host that Tidegate started itself, hooks are silent on purpose.
        Some(_) => (written.unheard >= STOPPED && !env.guard).then_some(pipeline::words::hooks_stopped(lang)),
    };
    let signs = config_sign(&config, lang).into_iter();
    let signs = signs.chain(sign.map(|sign| Piece::new(sign, Style::Alarm)));
    let of_part = |part: &StatusPart| match part {
        StatusPart::Context => {
            let turns = forecast.as_ref().and_then(Forecast::shown_turns);
            line::context(reading, turns, level, lang)
        }
        StatusPart::Checks => {
            known.and_then(|known| describe_checks(known, &config, lang)).into_iter().collect()
        }
        StatusPart::Stage => {
            known.map(|known| describe_stage(known, reading, &config, lang)).unwrap_or_default()
        }
        StatusPart::Waiting => {
            let places = || switches::project_paths(root.as_deref());
            let mut waiting = list_off(&state, &config, now, &places, &session, lang);
            // Notes can wait until a compaction is near.
            let notes = || root.as_deref().and_then(|root| count_unpromoted(&state, root, now));
            let notes = if level == PressureLevel::None { None } else { notes() };
            let notes = notes.filter(|notes| *notes > 0);
            let text = notes.map(|notes| knowledge::words::unpromoted_entries(lang, notes));
            waiting.extend(text.map(|text| Piece::new(text, Style::Notice)));
            waiting
        }
    };
    let shown = &config.status_line.show.0;
    let requests = known.filter(|_| shown.contains(&StatusPart::Waiting));
    let requests = requests.and_then(|known| find_request(known, now, lang, env.columns));
    // In front: without the signs the rest is believed, and a request waits only ten minutes.
    signs.chain(requests).chain(shown.iter().flat_map(of_part)).collect()
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

/// The newest request that waits for a person, since it is the one on the screen now, and how many wait.
fn find_request(marks: &Marks, now: Millis, lang: Lang, columns: Option<usize>) -> Option<Piece> {
    let waiting = || marks.approval.requests.iter().rev().filter(|request| request.waits(now));
    let text = describe_request(waiting().next()?, waiting().count(), lang, columns);
    Some(Piece::new(text, Style::Notice))
}

/// Cut to leave room for the bar: a piece that does not fit is not drawn at all. A command that is cut keeps its last tick.
fn describe_request(request: &ApprovalRequest, count: usize, lang: Lang, columns: Option<usize>) -> String {
    let room = columns.map_or(usize::MAX, |columns| columns.saturating_sub(CONTEXT).max(SHORTEST_REQUEST));
    let whole = approval::words::waits(lang, &request.code, &request.wording(), count);
    let whole = show_hidden(&whole);
    let cut = cut_columns(&whole, room);
    if cut.matches('`').count().is_multiple_of(2) {
        return cut.into_owned();
    }
    format!("{}`", cut_columns(&whole, room - 1))
}

/// Policies that `tidegate off` or `TIDEGATE_OFF` switched off here.
fn list_off(
    state: &StateDir,
    config: &Config,
    now: Millis,
    places: &dyn Fn() -> Vec<PathBuf>,
    session: &SessionId,
    lang: Lang,
) -> Vec<Piece> {
    let switches = switches::read(state);
    // A name that no policy has switches nothing off.
    let is_policy = |id: &&String| switchable_policies().any(|known| known == id.as_str());
    let by_variable = config.off.iter().filter(is_policy);
    let mut off: Vec<(&str, Option<u64>)> = by_variable.map(|policy| (policy.as_str(), None)).collect();
    if !switches.off.is_empty() {
        let places = places();
        let here = switches.off.iter().filter(|off| off.is_active(now, &places, Some(session.as_str())));
        let minutes = |until: Millis| until.since(now).div_ceil(60_000);
        off.extend(here.map(|off| (off.policy.as_str(), off.until.map(minutes))));
    }
    let piece =
        |(policy, minutes)| Piece::new(pipeline::words::policy_off(lang, policy, minutes), Style::Notice);
    off.into_iter().map(piece).collect()
}

/// The first broken config file. Its name and line are enough to find it, and fit.
fn config_sign(config: &Config, lang: Lang) -> Option<Piece> {
    let broken = config.broken.first()?;
    let place = broken.location();
    let name = Path::new(&place).file_name().map(|name| name.to_string_lossy().into_owned());
    Some(Piece::new(pipeline::words::config_sign(lang, &name.unwrap_or(place)), Style::Alarm))
}

fn root_of(status: &StatusInput<'_>, env: &Environment) -> Option<PathBuf> {
    let host = status.project.as_deref().map(Path::new);
    let cwd = status.cwd.as_deref().map(Path::new);
    project::root(host.or(env.project.as_deref()), cwd)
}

/// Nothing before the first edit, and nothing if the check is not required here.
fn describe_checks(marks: &Marks, config: &Config, lang: Lang) -> Option<Piece> {
    if config.policies.verify_stop.mode != VerifyMode::Block {
        return None;
    }
    let unverified = |changes: &ChangeSet| match changes.failure() {
        Some(failed) => Piece::new(verification::words::failed_check(lang, failed.kind), Style::Alarm),
        None => Piece::new(verification::words::unverified_files(lang, changes.count()), Style::Notice),
    };
    match (&marks.verification.changes, &marks.verification.verified) {
        (Some(changes), _) => Some(unverified(changes)),
        (None, Some(_)) => {
            let proof = marks.verification.proof;
            let style = if proof.is_empty() { Style::Plain } else { Style::Good };
            Some(Piece::new(verification::words::verified(lang, proof), style))
        }
        (None, None) => None,
    }
}

/// The stage of a cycle, else the phase of a workflow.
fn describe_stage(marks: &Marks, reading: &Reading, config: &Config, lang: Lang) -> Vec<Piece> {
    let looks = matches!(config.policies.workflow_gate.mode, WorkflowMode::On | WorkflowMode::Strict);
    let stage = marks.cycle.stage.as_ref();
    let stage = stage.map(|stage| cycle::words::stage(lang, &stage.stage, stage.number, stage.of));
    let workflow = || {
        let workflow = marks.workflow.attached.as_ref().filter(|_| looks)?;
        let number = workflow.current().map(|current| current.number)?;
        Some(workflow::words::phase(lang, &workflow.name.replace(['_', '-'], " "), number, workflow.of))
    };
    // The first level of a workflow is only shown here.
    let level = || config.policies.workflow_gate.level(reading).unwrap_or_default();
    let plan = marks.workflow.attached.is_some() && looks && level() >= 60;
    let plan = plan.then(|| workflow::words::plan_compaction(lang).to_owned());
    let pieces = stage.or_else(workflow).into_iter().chain(plan);
    pieces.map(|text| Piece::new(text, Style::Plain)).collect()
}

/// Entries of `progress.md` that no person has reviewed. Those of the archive are left to `status`.
fn count_unpromoted(state: &StateDir, root: &Path, now: Millis) -> Option<usize> {
    let folder = ContextFolder::find(root)?;
    let text = bounded::read(&folder.file(flow::FILE).ok()?, LARGEST_FLOW).ok()?;
    let text = String::from_utf8(text).ok()?;
    let progress = Progress::parse_flow(&text);
    if progress.entries.is_empty() {
        return None;
    }
    let shown = promotions::read_shown(state, &folder, now);
    Some(flow::unpromoted(&progress, None, &shown).len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_core::feature::approval::marks::ApprovalStage;
    use tidegate_core::host::window::Window;
    use tidegate_core::meter::Source;
    use tidegate_core::text::terminal::count_columns;

    /// A request is cut by its printed width.
    #[test]
    fn a_request_in_wide_or_hidden_characters_is_drawn() {
        let window = Some(Window { tokens: 200_000, compact_at: Some(167_000) });
        let reading =
            Reading { used: 124_000, window, source: Source::Payload, at: Millis(0), outgrown: None };
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
                let mut pieces = line::context(&reading, Some(6), PressureLevel::None, lang);
                pieces.push(Piece::new(describe_request(&request, 1, lang, Some(columns)), Style::Notice));
                let printed = draw(&pieces, Canvas { columns: Some(columns), coloured: false });
                let is_cut = printed.ends_with('…') || printed.ends_with("…`");
                assert!(printed.contains("K7QF2M") && is_cut, "{columns}: {printed}");
                assert!(printed.matches('`').count().is_multiple_of(2), "{columns}: {printed}");
                assert!(count_columns(&printed) <= columns, "{columns}: {printed}");
            }
        }
    }

    /// One piece for all of them: those that do not fit would be missing without a sign.
    #[test]
    fn several_requests_are_counted() {
        let mut marks = Marks::default();
        for number in 2..9 {
            marks.approval.requests.push(ApprovalRequest {
                code: format!("K7QF2{number}"),
                command: "off skill-gate --for 1h".to_owned(),
                about: None,
                at: Millis(0),
                client: None,
                shown: false,
                stage: ApprovalStage::Asked,
            });
        }
        let said = |lang, columns| {
            let piece = find_request(&marks, Millis(1), lang, columns).expect("a request");
            draw(&[piece], Canvas { columns: None, coloured: false })
        };
        assert_eq!(said(Lang::En, None), "7 wait · approve K7QF28? `tidegate off skill-gate --for 1h`");
        assert_eq!(said(Lang::Ja, None), "承認待ち7件 K7QF28: `tidegate off skill-gate --for 1h`");
        assert!(said(Lang::En, Some(80)).ends_with("…`"), "{}", said(Lang::En, Some(80)));
        assert!(find_request(&Marks::default(), Millis(1), Lang::En, None).is_none());
    }
}
