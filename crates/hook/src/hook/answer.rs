//! Writes the answer, exactly once: the work, the deadline and a panic may all want to.
//!
//! A run is *working* until it starts to record its ruling. From then on the ruling is the answer, and a deadline
//! must not take it back: a notice would be marked as given and never be said. Only if the recording itself hangs
//! does the deadline fire again and win.

use std::io::Write;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::time::Duration;

use tidegate_core::host::answer::Reply;

const WORKING: u8 = 0;
const RECORDING: u8 = 1;
const ANSWERED: u8 = 2;
const WRITTEN: u8 = 3;

static STAGE: AtomicU8 = AtomicU8::new(WORKING);

/// Of the answer that was given.
static EXIT: AtomicU8 = AtomicU8::new(0);

static ALWAYS_ZERO: AtomicBool = AtomicBool::new(false);

/// From now on every answer exits with 0, without stderr.
pub(crate) fn exit_with_zero() {
    ALWAYS_ZERO.store(true, Ordering::SeqCst);
}

fn advance(from: u8, to: u8) -> bool {
    STAGE.compare_exchange(from, to, Ordering::SeqCst, Ordering::SeqCst).is_ok()
}

/// Call before the ruling is recorded. Does not return if another thread has answered.
pub(crate) fn start_recording() {
    if !advance(WORKING, RECORDING) {
        wait_for_the_end();
    }
}

/// Call before the answer is written. Does not return if another thread has answered.
pub(crate) fn start_answering() {
    if !advance(RECORDING, ANSWERED) && !advance(WORKING, ANSWERED) {
        wait_for_the_end();
    }
}

/// Whether a deadline may answer for a run that is still working.
pub(crate) fn interrupt_work() -> bool {
    advance(WORKING, ANSWERED)
}

/// Whether a deadline may answer for a run that hangs while recording, or a panic at any stage.
pub(crate) fn interrupt_all() -> bool {
    advance(WORKING, ANSWERED) || advance(RECORDING, ANSWERED)
}

fn wait_for_the_end() -> ! {
    loop {
        std::thread::park();
    }
}

/// A closed pipe is not an error, but a denial that was not written must not become a pass: then the exit code
/// denies.
pub(crate) fn write(reply: &Reply) -> ExitCode {
    let mut out = std::io::stdout().lock();
    let written = out.write_all(reply.stdout.as_bytes()).and_then(|()| out.flush());
    let always_zero = ALWAYS_ZERO.load(Ordering::SeqCst);
    if !reply.stderr.is_empty() && !always_zero {
        let _ = writeln!(std::io::stderr().lock(), "{}", reply.stderr);
    }
    let says_no = reply.stdout.contains("\"deny\"") || reply.stdout.contains("\"block\"");
    let exit = match reply.exit {
        _ if always_zero => 0,
        _ if written.is_err() && says_no => 2,
        exit => exit,
    };
    EXIT.store(exit, Ordering::SeqCst);
    STAGE.store(WRITTEN, Ordering::SeqCst);
    ExitCode::from(exit)
}

/// Ends a process that hangs or panics after its answer. Waits for an answer that is being written.
#[expect(clippy::exit, reason = "called where there is nowhere to return to: a panic, another thread")]
pub(crate) fn end_after_answer() {
    for _ in 0..100 {
        if STAGE.load(Ordering::SeqCst) == WRITTEN {
            std::process::exit(i32::from(EXIT.load(Ordering::SeqCst)));
        }
        std::thread::park_timeout(Duration::from_millis(5));
    }
}
