//! A background step: computes next to other steps and is reported when it is awaited.

use std::process::{Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::passed::Passed;
use xtask::failure::{Done, Failure, While};
use xtask::{print, tools, workspace};

/// If another step fails first, this one is not awaited; it ends because its output has no reader.
pub(crate) struct Beside {
    name: &'static str,
    passed: Option<Passed>,
    thread: JoinHandle<(Done<String>, Duration)>,
}

impl Beside {
    /// At the lowest priority.
    pub(crate) fn start(name: &'static str, command: &Command) -> Beside {
        print::line(&format!("==> {name}: begun, next to what follows"));
        let mut command = yielding(command);
        let thread = std::thread::spawn(move || {
            let start = Instant::now();
            (run(&mut command), start.elapsed())
        });
        Beside { name, passed: None, thread }
    }

    pub(crate) fn remembered(self, passed: Passed) -> Beside {
        Beside { passed: Some(passed), ..self }
    }

    pub(crate) fn end(self) -> Done {
        print::line(&format!("==> {}", self.name));
        let (done, took) = self.thread.join().expect("running a command does not panic");
        let took = format!("{}, {:.1} s next to others", self.name, took.as_secs_f64());
        match done {
            Ok(printed) => {
                print::line(printed.trim_end());
                print::line(&format!("    done: {took}"));
                self.passed.map_or(Ok(()), |passed| passed.remember())
            }
            Err(failure) => {
                print::line(&format!("    FAILED: {took}"));
                Err(failure)
            }
        }
    }
}

/// If the system has priorities.
fn yielding(command: &Command) -> Command {
    let (first, niceness): (_, &[&str]) =
        if tools::present("nice") { ("nice".as_ref(), &["-n", "19"]) } else { (command.get_program(), &[]) };
    let mut yielding = Command::new(first);
    yielding.args(niceness);
    if !niceness.is_empty() {
        yielding.arg(command.get_program());
    }
    yielding.args(command.get_args()).current_dir(workspace::root());
    yielding
}

/// The error contains all output.
fn run(command: &mut Command) -> Done<String> {
    let name = workspace::shown(command);
    let ran = command.stdin(Stdio::null()).output().while_(&name)?;
    let printed = String::from_utf8_lossy(&ran.stdout).into_owned();
    if ran.status.success() {
        return Ok(printed);
    }
    let complaint = String::from_utf8_lossy(&ran.stderr);
    Err(Failure::new(format!("`{name}` ended with {}:\n{printed}{complaint}", ran.status)))
}
