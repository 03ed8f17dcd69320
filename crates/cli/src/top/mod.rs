//! The live view of all sessions in a terminal.
//!
//! [`Board`] holds what is shown and changes with keys; `look` fills it, `screen` draws it, and [`run`] is the loop around them.

mod board;
mod look;
pub(crate) mod question;
mod screen;
mod signal;

use std::time::{Duration, Instant};

use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use crate::command::explain::explain_page;
use crate::error::CliError;
use crate::language;
use crate::local_time::LocalClock;
use crate::recent::{Recent, journal_size};
use crate::sessions::Here;
use tidegate_state::clock;

use board::{Board, Wish};

/// How long it waits for a key before it looks for news.
const LOOK: Duration = Duration::from_millis(500);

/// Without news, it looks this often whether sessions have ended.
const UNASKED: Duration = Duration::from_secs(5);

/// Until the person leaves. `switch_off` runs in the ordinary terminal, with the project of the chosen session.
pub(crate) fn run(switch_off: &dyn Fn(Option<&str>) -> Result<(), CliError>) -> Result<(), CliError> {
    let here = Here::find()?;
    let recent = Recent::read(&here.state.journal(), here.now).map_err(CliError::from)?;
    signal::restore_when_ended();
    let terminal = ratatui::try_init().map_err(CliError::from)?;
    let ended = watch(terminal, here, recent, switch_off);
    ratatui::restore();
    ended
}

fn watch(
    mut terminal: DefaultTerminal,
    mut here: Here,
    mut recent: Recent,
    switch_off: &dyn Fn(Option<&str>) -> Result<(), CliError>,
) -> Result<(), CliError> {
    let mut board = Board::new(language::current());
    look::refresh(&mut board, &here, &recent);
    let (mut looked, mut size, mut chosen) =
        (Instant::now(), journal_size(&here.state.journal(), here.now), 0);
    loop {
        let clock = LocalClock::of_system(here.now);
        {
            let _drawing = signal::keep_terminal();
            terminal.draw(|frame| screen::draw(frame, &board, &clock)).map_err(CliError::from)?;
        }
        // Keys come first: a person who types is not kept waiting by files.
        let Some(key) = wait_for_key().map_err(CliError::from)? else {
            let now = journal_size(&here.state.journal(), clock::now());
            if now != size || board.chosen != chosen || looked.elapsed() >= UNASKED {
                here = here.again();
                recent.refresh(here.now);
                look::refresh(&mut board, &here, &recent);
                (looked, size, chosen) = (Instant::now(), now, board.chosen);
            }
            continue;
        };
        let width = terminal.size().map_err(CliError::from)?.width;
        match board.press(key) {
            Wish::Stay => {}
            Wish::Leave => return Ok(()),
            Wish::Explain(record) => board.put_page(&explain_page(&record, &clock), width),
            Wish::Search(words) => {
                let found = look::search(&here, &words);
                board.put_page(&found.unwrap_or_else(|error| error.page()), width);
            }
            Wish::SwitchOff(project) => {
                ratatui::restore();
                let ended = switch_off(project.as_deref());
                terminal = ratatui::try_init().map_err(CliError::from)?;
                ended?;
            }
        }
    }
}

/// `None` when none came in time.
fn wait_for_key() -> std::io::Result<Option<KeyCode>> {
    if !event::poll(LOOK)? {
        return Ok(None);
    }
    let Event::Key(KeyEvent { code, modifiers, kind: KeyEventKind::Press, .. }) = event::read()? else {
        return Ok(None);
    };
    let is_end = code == KeyCode::Char('c') && modifiers.contains(KeyModifiers::CONTROL);
    Ok(Some(if is_end { KeyCode::Char('q') } else { code }))
}
