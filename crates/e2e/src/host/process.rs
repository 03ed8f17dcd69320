//! One run of a host, with a time limit; everything that it started is ended with it.

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use crate::slots::Slot;

/// A healthy run needs a few seconds; the first one unpacks itself.
const LIMIT: Duration = Duration::from_mins(10);

#[derive(Clone, Debug)]
pub struct Output {
    pub stdout: String,
    pub stderr: String,
    /// `None` if a signal ended it.
    pub exit: Option<i32>,
}

/// Kills the whole process group when dropped: hosts leave servers and shells behind.
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

pub(super) fn run(command: &mut Command) -> Output {
    let _slot = Slot::take();
    let shown = format!("{command:?}");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let mut host = Group(command.spawn().expect("the host starts"));
    let stdout = collect_output(host.0.stdout.take());
    let stderr = collect_output(host.0.stderr.take());
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
    let text = |pipe: Receiver<String>| pipe.recv_timeout(Duration::from_secs(10)).unwrap_or_default();
    let (stdout, stderr) = (text(stdout), text(stderr));
    let status = status.unwrap_or_else(|| panic!("{shown} did not end: {stdout}\n{stderr}"));
    Output { stdout, stderr, exit: status.code() }
}

pub(super) fn succeed(command: &mut Command) -> Output {
    let output = run(command);
    assert_eq!(output.exit, Some(0), "{command:?}: {}\n{}", output.stdout, output.stderr);
    output
}

fn collect_output(pipe: Option<impl Read + Send + 'static>) -> Receiver<String> {
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
