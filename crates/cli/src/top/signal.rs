//! A signal to end leaves the terminal as it was: the ordinary screen, with its cursor.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Held while a frame is drawn: what is drawn after the end would hide the cursor again.
static TERMINAL: Mutex<()> = Mutex::new(());

pub(super) fn keep_terminal() -> MutexGuard<'static, ()> {
    TERMINAL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Where signals cannot be caught, they end the program as ever.
#[cfg(unix)]
#[expect(clippy::exit, reason = "the main thread may wait for a line that is typed")]
pub(super) fn restore_when_ended() {
    use ratatui::crossterm::{cursor::Show, execute};

    std::thread::spawn(|| {
        let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_io().build() else { return };
        let Some(signal) = runtime.block_on(wait()) else { return };
        let _drawing = keep_terminal();
        let _ = ratatui::try_restore();
        let _ = execute!(std::io::stdout(), Show);
        // As a shell says it.
        std::process::exit(128 + signal);
    });
}

#[cfg(not(unix))]
pub(super) fn restore_when_ended() {}

#[cfg(unix)]
async fn wait() -> Option<i32> {
    use tokio::signal::unix::{SignalKind, signal};

    let (terminated, hung_up) = (SignalKind::terminate(), SignalKind::hangup());
    let (mut end, mut gone) = (signal(terminated).ok()?, signal(hung_up).ok()?);
    tokio::select! {
        _ = end.recv() => Some(terminated.as_raw_value()),
        _ = gone.recv() => Some(hung_up.as_raw_value()),
    }
}
