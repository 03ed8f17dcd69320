//! Ctrl-C ends a replay after the line that is read, so that its scratch folders are removed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Becomes true with the first signal to end. Where signals cannot be caught, they end the program as ever.
pub(super) fn flag() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&flag);
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build();
        if let Ok(runtime) = runtime {
            runtime.block_on(wait());
            seen.store(true, Ordering::Relaxed);
        }
    });
    flag
}

#[cfg(unix)]
async fn wait() {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(mut ended) = signal(SignalKind::terminate()) else { return std::future::pending().await };
    tokio::select! {
        caught = tokio::signal::ctrl_c() => if caught.is_err() { std::future::pending().await },
        _ = ended.recv() => {}
    }
}

#[cfg(not(unix))]
async fn wait() {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending().await
    }
}
