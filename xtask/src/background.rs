//! A background step: computes next to other steps and is reported when it is awaited.

use std::process::{Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::passed::PassedStep;
use xtask::failure::{Done, Failure, While};
use xtask::{print, tools, workspace};

/// If another step fails first, this one is not awaited; it ends because its output has no reader.
pub(crate) struct BackgroundStep {
    name: &'static str,
    passed: Option<PassedStep>,
    thread: JoinHandle<(Done<String>, Duration)>,
}

impl BackgroundStep {
    /// At the lowest priority.
    pub(crate) fn start(name: &'static str, command: &Command) -> BackgroundStep {
        print::line(&format!("==> {name}: begun, next to what follows"));
        let mut command = at_lowest_priority(command);
        let thread = std::thread::spawn(move || {
            let start = Instant::now();
            (run_collecting(&mut command), start.elapsed())
        });
        BackgroundStep { name, passed: None, thread }
    }

    pub(crate) fn remembered(self, passed: PassedStep) -> BackgroundStep {
        BackgroundStep { passed: Some(passed), ..self }
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
fn at_lowest_priority(command: &Command) -> Command {
    let (first, niceness): (_, &[&str]) = if tools::is_on_path("nice") {
        ("nice".as_ref(), &["-n", "19"])
    } else {
        (command.get_program(), &[])
    };
    let mut yielding = Command::new(first);
    yielding.args(niceness);
    if !niceness.is_empty() {
        yielding.arg(command.get_program());
    }
    yielding.args(command.get_args()).current_dir(workspace::root());
    // Removed variables count, too: cargo rebuilds crates whose variables changed.
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => yielding.env(name, value),
            None => yielding.env_remove(name),
        };
    }
    yielding
}

/// The error contains all output.
fn run_collecting(command: &mut Command) -> Done<String> {
    let name = workspace::command_line(command);
    let ran = command.stdin(Stdio::null()).output().while_(&name)?;
    let printed = String::from_utf8_lossy(&ran.stdout).into_owned();
    if ran.status.success() {
        return Ok(printed);
    }
    let complaint = String::from_utf8_lossy(&ran.stderr);
    Err(Failure::new(format!("`{name}` ended with {}:\n{printed}{complaint}", ran.status)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_the_same_at_the_lowest_priority() {
        let mut command = Command::new("cargo");
        command.arg("build").env("SET", "1").env_remove("TAKEN_OUT");
        let yielding = at_lowest_priority(&command);
        assert!(yielding.get_envs().eq(command.get_envs()));
        assert!(yielding.get_args().any(|word| word == "build"));
    }
}
