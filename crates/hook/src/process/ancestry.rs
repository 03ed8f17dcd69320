//! Signs of an agent above a process: variables and programs of the processes above it. An agent can clear the
//! variables of a process that it starts, but not those of its own shell.

#[cfg(target_os = "linux")]
use crate::process::Processes;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agent {
    /// The variable or the program that shows it.
    pub sign: String,
    pub process: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ancestry {
    Clear,
    OfAgent(Agent),
    /// The process is not readable, or too many are above it.
    Unknown,
}

pub fn check_self() -> Ancestry {
    check(u64::from(std::process::id()))
}

/// Includes the variables of the process itself.
#[cfg(target_os = "linux")]
pub fn check(process: u64) -> Ancestry {
    linux::Ancestors { processes: Processes::of_system(), top: linux::top() }.of(process)
}

/// Other systems do not show the variables of other processes.
#[cfg(not(target_os = "linux"))]
pub fn check(_: u64) -> Ancestry {
    Ancestry::Clear
}

#[cfg(target_os = "linux")]
mod linux {
    use tidegate_core::host::Host;

    use super::{Agent, Ancestry};
    use crate::process::{MOST, Processes};

    pub(super) struct Ancestors<'a> {
        pub(super) processes: Processes<'a>,
        /// Stops below this process.
        pub(super) top: Option<u64>,
    }

    /// Tests may run below an agent. Release builds ignore this variable.
    pub(super) fn top() -> Option<u64> {
        let top = cfg!(debug_assertions).then(|| std::env::var("TEST_TIDEGATE_TOP").ok()).flatten();
        top.and_then(|top| top.parse().ok())
    }

    impl Ancestors<'_> {
        pub(super) fn of(&self, begin: u64) -> Ancestry {
            // A variable may say 0, which is not a process.
            if begin == 0 {
                return Ancestry::Unknown;
            }
            let mut process = begin;
            for _ in 0..MOST {
                if process == 0 || Some(process) == self.top {
                    return Ancestry::Clear;
                }
                let environment = self.processes.variables(process);
                if environment.is_none() && process == begin {
                    return Ancestry::Unknown;
                }
                // Variables of other users' processes are unreadable; these are not this user's agents.
                let variable = environment.as_deref().and_then(Host::agent_variable).map(str::to_owned);
                // The client itself is such a program, so only those above it count.
                let program = || Some(self.processes.host(process).filter(|_| process != begin)?.1);
                if let Some(sign) = variable.or_else(program) {
                    return Ancestry::OfAgent(Agent { sign, process });
                }
                let Some(parent) = self.processes.parent(process) else {
                    return if process == begin { Ancestry::Unknown } else { Ancestry::Clear };
                };
                process = parent;
            }
            Ancestry::Unknown
        }
    }

    #[cfg(test)]
    mod tests {
        use std::path::Path;

        use super::*;
        use crate::process::fake::Process;

        fn add(folder: &Path, id: u64, parent: u64, program: &str, variables: Option<&str>) {
            Process { id, parent, program, line: program, variables }.add(folder);
        }

        fn of(folder: &Path, process: u64) -> Ancestry {
            Ancestors { processes: Processes::of(folder), top: None }.of(process)
        }

        fn of_agent(sign: &str, process: u64) -> Ancestry {
            Ancestry::OfAgent(Agent { sign: sign.to_owned(), process })
        }

        #[test]
        fn an_agent_above_a_process_is_seen() {
            let folder = tempfile::tempdir().expect("a temporary folder");
            let at = folder.path();
            add(at, 1, 0, "/sbin/init", None);
            add(at, 10, 1, "/usr/bin/bash", Some("HOME=/h\0"));
            add(at, 11, 10, "/opt/claude", Some("HOME=/h\0"));
            // The client's shell; a client and a terminal that the agent started with and without variables.
            add(at, 20, 11, "/usr/bin/bash", Some("HOME=/h\0CLAUDECODE=1\0"));
            add(at, 21, 20, "/usr/bin/python3", Some("HOME=/h\0"));
            add(at, 22, 21, "/tmp/copy", Some("HOME=/h\0"));
            // A shell that became another program, without variables.
            add(at, 30, 11, "/usr/bin/script", Some(""));
            add(at, 31, 30, "/opt/tidegate", Some(""));
            // A client with its own sign; one that is unreadable.
            add(at, 40, 1, "/opt/claude", Some("CLAUDE_CODE_SESSION_ID=s\0"));
            add(at, 41, 1, "/opt/claude", None);
            for (process, expected) in [
                (0, Ancestry::Unknown),
                (10, Ancestry::Clear),
                (11, Ancestry::Clear),
                (20, of_agent("CLAUDECODE", 20)),
                (21, of_agent("CLAUDECODE", 20)),
                (22, of_agent("CLAUDECODE", 20)),
                (30, of_agent("/opt/claude", 11)),
                (31, of_agent("/opt/claude", 11)),
                (40, of_agent("CLAUDE_CODE_SESSION_ID", 40)),
                (41, Ancestry::Unknown),
                (99, Ancestry::Unknown),
            ] {
                assert_eq!(of(at, process), expected, "{process}");
            }
            let below = Ancestors { processes: Processes::of(at), top: Some(20) };
            assert_eq!(below.of(22), Ancestry::Clear, "tests may run below an agent");
        }

        #[test]
        fn an_agent_that_runs_in_node_is_seen() {
            let folder = tempfile::tempdir().expect("a temporary folder");
            let at = folder.path();
            let node = |id, parent, line: &str| {
                Process { id, parent, program: "/usr/bin/node", line, variables: Some("") }.add(at);
            };
            add(at, 1, 0, "/sbin/init", None);
            let modules = "/usr/lib/node_modules";
            let (qwen, launcher) = (
                format!("{modules}/@qwen-code/qwen-code/cli.js"),
                format!("{modules}/@anthropic-ai/claude-code/cli-wrapper.cjs"),
            );
            // Started by an agent without variables.
            node(10, 1, &format!("node --expose-gc {qwen}"));
            add(at, 11, 10, "/usr/bin/script", Some(""));
            add(at, 12, 11, "/opt/claude", Some(""));
            // A terminal in an editor; a client that npm's script started.
            node(20, 1, "node /opt/editor/server-main.js --port 0");
            add(at, 21, 20, "/usr/bin/bash", Some(""));
            node(22, 21, &format!("node {launcher}"));
            add(at, 23, 22, "/usr/lib/node_modules/claude-code-linux-x64/claude", Some(""));
            // An agent in npm's executable.
            add(at, 30, 1, "/usr/lib/node_modules/@anthropic-ai/claude-code/bin/claude.exe", Some(""));
            add(at, 31, 30, "/usr/bin/script", Some(""));
            assert_eq!(of(at, 12), of_agent(&qwen, 10));
            assert_eq!((of(at, 21), of(at, 23)), (Ancestry::Clear, Ancestry::Clear));
            assert!(matches!(of(at, 31), Ancestry::OfAgent(Agent { process: 30, .. })));
        }

        #[test]
        fn a_long_line_of_processes_hides_nothing() {
            let folder = tempfile::tempdir().expect("a temporary folder");
            for process in 1..=300 {
                add(folder.path(), process, process - 1, "/usr/bin/env", Some("HOME=/h\0"));
            }
            assert_eq!(of(folder.path(), 300), Ancestry::Unknown);
            assert_eq!(of(folder.path(), 200), Ancestry::Clear);
        }

        #[test]
        fn this_process_can_be_looked_at() {
            assert_ne!(super::super::check_self(), Ancestry::Unknown);
            assert!(Processes::of_system().parent(std::process::id().into()).is_some());
        }
    }
}
