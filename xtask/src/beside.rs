//! A step that runs next to others, and is told of when it is waited for.

use std::process::{Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use xtask::failure::{Done, Failure, While as _};
use xtask::print;
use xtask::{tools, workspace};

/// It takes what the others leave of the machine. Where one of those fails, nothing waits for this one.
pub(crate) struct Beside {
    name: &'static str,
    thread: JoinHandle<(Done<String>, Duration)>,
}

impl Beside {
    /// Starts it.
    pub(crate) fn start(name: &'static str, command: Command) -> Beside {
        print::line(&format!("==> {name}: begun, next to what follows"));
        let thread = std::thread::spawn(move || {
            let start = Instant::now();
            let done = run(&mut yielding(&command));
            (done, start.elapsed())
        });
        Beside { name, thread }
    }

    /// Waits for its end.
    pub(crate) fn end(self) -> Done {
        let waited = Instant::now();
        let (done, took) = self.thread.join().expect("running a command does not panic");
        let verdict = if done.is_ok() { "done" } else { "FAILED" };
        print::line(&format!("==> {}", self.name));
        if let Ok(printed) = &done {
            print::line(printed.trim_end());
        }
        print::line(&format!(
            "    {verdict}: {}, {:.1} s, waited for {:.1} s",
            self.name,
            took.as_secs_f64(),
            waited.elapsed().as_secs_f64()
        ));
        done.map(drop)
    }
}

/// The same command at the lowest priority, where the system has such.
fn yielding(command: &Command) -> Command {
    let mut yielding = if tools::present("nice") {
        let mut nice = Command::new("nice");
        nice.args(["-n", "19"]).arg(command.get_program());
        nice
    } else {
        Command::new(command.get_program())
    };
    yielding.args(command.get_args());
    yielding.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    yielding.current_dir(command.get_current_dir().unwrap_or(workspace::root()));
    yielding
}

/// Its output, or all of it as what failed.
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
