//! Whether an agent started a process: by the variables and the programs of the processes above it. An agent can clear the
//! variables of what it starts, but not those of the shell that it starts it from.

/// An agent above a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agent {
    /// How it is known: the variable, or the program.
    pub sign: String,
    /// The process that shows it.
    pub process: u64,
}

/// What is known of the processes above one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ancestry {
    /// No sign of an agent.
    Clear,
    /// An agent is above it.
    OfAgent(Agent),
    /// The process cannot be looked at, or too many are above it.
    Unknown,
}

/// Above this process.
pub fn of_this() -> Ancestry {
    of(u64::from(std::process::id()))
}

/// Above a process, with its own variables.
#[cfg(target_os = "linux")]
pub fn of(process: u64) -> Ancestry {
    linux::Processes { folder: std::path::Path::new("/proc"), top: linux::top() }.above(process)
}

/// Elsewhere the system does not show the variables of other processes.
#[cfg(not(target_os = "linux"))]
pub fn of(_: u64) -> Ancestry {
    Ancestry::Clear
}

#[cfg(target_os = "linux")]
mod linux {
    use std::fs::{self, File};
    use std::io::Read;
    use std::path::Path;

    use tidegate_core::host::Host;

    use super::{Agent, Ancestry};

    /// Nobody works below so many processes.
    const MOST: usize = 256;

    /// More than the system lets the variables of a process be.
    const LARGEST: u64 = 8 * 1024 * 1024;

    pub(super) struct Processes<'a> {
        /// Where the system shows them.
        pub(super) folder: &'a Path,
        /// From this one upwards nothing is looked at.
        pub(super) top: Option<u64>,
    }

    /// Tests may run below an agent themselves. A build for use has no such variable.
    pub(super) fn top() -> Option<u64> {
        let top = cfg!(debug_assertions).then(|| std::env::var("TEST_TIDEGATE_TOP").ok()).flatten();
        top.and_then(|top| top.parse().ok())
    }

    impl Processes<'_> {
        pub(super) fn above(&self, begin: u64) -> Ancestry {
            let mut process = begin;
            for _ in 0..MOST {
                if process == 0 || Some(process) == self.top {
                    return Ancestry::Clear;
                }
                let environment = self.read(process, "environ");
                if environment.is_none() && process == begin {
                    return Ancestry::Unknown;
                }
                // Those of other users cannot be read. They are not an agent's of this one.
                let variable = environment.as_deref().and_then(Host::agent_variable).map(str::to_owned);
                // The client itself is such a program, so only those above it count.
                let sign = variable.or_else(|| self.program(process).filter(|_| process != begin));
                if let Some(sign) = sign {
                    return Ancestry::OfAgent(Agent { sign, process });
                }
                let Some(parent) = self.parent(process) else {
                    return if process == begin { Ancestry::Unknown } else { Ancestry::Clear };
                };
                process = parent;
            }
            Ancestry::Unknown
        }

        /// The program that a process runs, if it is an agent's.
        fn program(&self, process: u64) -> Option<String> {
            let path = fs::read_link(self.folder.join(process.to_string()).join("exe")).ok()?;
            let path = path.to_string_lossy().into_owned();
            Host::is_agent_program(&path).then_some(path)
        }

        fn parent(&self, process: u64) -> Option<u64> {
            let line = self.read(process, "stat")?;
            // The program's name may hold anything, also a parenthesis.
            let end = line.iter().rposition(|byte| *byte == b')')?;
            let fields = std::str::from_utf8(line.get(end + 1..)?).ok()?;
            fields.split_whitespace().nth(1)?.parse().ok()
        }

        fn read(&self, process: u64, name: &str) -> Option<Vec<u8>> {
            let file = File::open(self.folder.join(process.to_string()).join(name)).ok()?;
            let mut bytes = Vec::new();
            file.take(LARGEST).read_to_end(&mut bytes).ok()?;
            Some(bytes)
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        /// A process as the system shows it.
        fn add(folder: &Path, process: u64, parent: u64, program: &str, environment: Option<&str>) {
            let at = folder.join(process.to_string());
            fs::create_dir(&at).expect("a new folder");
            fs::write(at.join("stat"), format!("{process} (a b) c) S {parent} 1 1")).expect("a new file");
            std::os::unix::fs::symlink(program, at.join("exe")).expect("a new link");
            if let Some(environment) = environment {
                fs::write(at.join("environ"), environment).expect("a new file");
            }
        }

        #[test]
        fn an_agent_above_a_process_is_seen() {
            let folder = tempfile::tempdir().expect("a temporary folder");
            let at = folder.path();
            add(at, 1, 0, "/sbin/init", None);
            // A person's terminal, and their client.
            add(at, 10, 1, "/usr/bin/bash", Some("HOME=/h\0"));
            add(at, 11, 10, "/opt/claude", Some("HOME=/h\0"));
            // The client's shell; a client and a terminal that the agent started with and without variables.
            add(at, 20, 11, "/usr/bin/bash", Some("HOME=/h\0CLAUDECODE=1\0"));
            add(at, 21, 20, "/usr/bin/python3", Some("HOME=/h\0"));
            add(at, 22, 21, "/tmp/copy", Some("HOME=/h\0"));
            // A shell that became another program, without any variable.
            add(at, 30, 11, "/usr/bin/script", Some(""));
            add(at, 31, 30, "/opt/tidegate", Some(""));
            // A client with its own sign; one that cannot be looked at.
            add(at, 40, 1, "/opt/claude", Some("CLAUDE_CODE_SESSION_ID=s\0"));
            add(at, 41, 1, "/opt/claude", None);
            let processes = Processes { folder: at, top: None };
            let of_agent = |sign: &str, process| Ancestry::OfAgent(Agent { sign: sign.to_owned(), process });
            for (process, expected) in [
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
                assert_eq!(processes.above(process), expected, "{process}");
            }
            let below = Processes { folder: at, top: Some(20) };
            assert_eq!(below.above(22), Ancestry::Clear, "tests may run below an agent");
        }

        #[test]
        fn a_long_line_of_processes_hides_nothing() {
            let folder = tempfile::tempdir().expect("a temporary folder");
            for process in 1..=300 {
                add(folder.path(), process, process - 1, "/usr/bin/env", Some("HOME=/h\0"));
            }
            let processes = Processes { folder: folder.path(), top: None };
            assert_eq!(processes.above(300), Ancestry::Unknown);
            assert_eq!(processes.above(200), Ancestry::Clear);
        }

        #[test]
        fn this_process_can_be_looked_at() {
            assert_ne!(super::super::of_this(), Ancestry::Unknown);
            assert!(
                Processes { folder: Path::new("/proc"), top: None }
                    .parent(std::process::id().into())
                    .is_some()
            );
        }
    }
}
