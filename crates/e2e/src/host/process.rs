//! One run of a host: bounded in time, and ended with everything that it started.

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use crate::slots::Slot;

/// No run of a host takes longer; a healthy one needs a few seconds, and the first one unpacks itself.
const LIMIT: Duration = Duration::from_mins(2);

/// A finished run.
#[derive(Clone, Debug)]
pub struct Output {
    /// What it printed.
    pub stdout: String,
    /// What it complained about.
    pub stderr: String,
    /// Its exit code, unless a signal ended it.
    pub exit: Option<i32>,
}

/// Ends the whole group of a process when dropped: hosts leave servers and shells behind.
struct Group(Child);

impl Drop for Group {
    fn drop(&mut self) {
        let group = i32::try_from(self.0.id()).ok().and_then(Pid::from_raw);
        if let Some(group) = group {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.0.wait();
    }
}

/// Runs it to its end.
pub(super) fn run(command: &mut Command) -> Output {
    let _slot = Slot::take();
    let shown = format!("{command:?}");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let mut host = Group(command.spawn().expect("the host starts"));
    let stdout = collect(host.0.stdout.take());
    let stderr = collect(host.0.stderr.take());
    let end = Instant::now() + LIMIT;
    let status = loop {
        if let Some(status) = host.0.try_wait().expect("the host's exit status") {
            break Some(status);
        }
        if Instant::now() > end {
            break None;
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    // A process that it left behind can hold the pipes open.
    drop(host);
    let text = |pipe: Receiver<String>| pipe.recv_timeout(Duration::from_secs(2)).unwrap_or_default();
    let (stdout, stderr) = (text(stdout), text(stderr));
    let status = status.unwrap_or_else(|| panic!("{shown} did not end: {stdout}\n{stderr}"));
    Output { stdout, stderr, exit: status.code() }
}

/// Runs a command that must succeed.
pub(super) fn succeed(command: &mut Command) -> Output {
    let output = run(command);
    assert_eq!(output.exit, Some(0), "{command:?}: {}\n{}", output.stdout, output.stderr);
    output
}

fn collect(pipe: Option<impl Read + Send + 'static>) -> Receiver<String> {
    let (send, text) = channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            let _ = pipe.read_to_end(&mut bytes);
        }
        let _ = send.send(String::from_utf8_lossy(&bytes).into_owned());
    });
    text
}
