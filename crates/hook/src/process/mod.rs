//! Processes as the system shows them. Linux only: other systems show nothing.

pub mod ancestry;

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use tidegate_core::host::Host;

/// Deeper chains of processes are not realistic.
pub(crate) const MOST: usize = 256;

/// In bytes; the system's limit for variables is lower.
const LARGEST: u64 = 8 * 1024 * 1024;

/// In bytes; the name of a script comes early in the line.
const LARGEST_LINE: u64 = 64 * 1024;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Processes<'a> {
    folder: Option<&'a Path>,
}

/// An agent's program has its current folder here, or anywhere if no folder is named. Processes show that whatever the
/// variables say, also after the folder was moved.
pub fn is_agent_at_work(folder: Option<&Path>) -> bool {
    let processes = Processes::of_system();
    let anywhere = anywhere();
    let is_inside = |process: u64| {
        folder.or(anywhere.as_deref()).is_none_or(|folder| {
            let current = processes.at(process, "cwd").and_then(|link| fs::read_link(link).ok());
            current.is_some_and(|current| current.starts_with(folder))
        })
    };
    processes.all().any(|process| is_inside(process) && processes.host(process).is_some())
}

/// A test is a machine of its own, next to other tests and to agents that do not belong to any. Release builds ignore
/// this variable.
fn anywhere() -> Option<PathBuf> {
    let home = cfg!(debug_assertions).then(|| std::env::var_os("TEST_TIDEGATE_HOME")).flatten()?;
    PathBuf::from(home).parent().map(Path::to_owned)
}

impl Processes<'_> {
    fn all(&self) -> impl Iterator<Item = u64> {
        let entries =
            self.folder.and_then(|folder| fs::read_dir(folder).ok()).into_iter().flatten().flatten();
        entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
    }

    pub(crate) fn of_system() -> Processes<'static> {
        Processes { folder: cfg!(target_os = "linux").then(|| Path::new("/proc")) }
    }

    fn at(&self, process: u64, name: &str) -> Option<PathBuf> {
        Some(self.folder?.join(process.to_string()).join(name))
    }

    fn read(&self, process: u64, name: &str, largest: u64) -> Option<Vec<u8>> {
        let file = File::open(self.at(process, name)?).ok()?;
        let mut bytes = Vec::new();
        file.take(largest).read_to_end(&mut bytes).ok()?;
        Some(bytes)
    }

    /// At its start, separated by zero bytes.
    pub(crate) fn variables(&self, process: u64) -> Option<Vec<u8>> {
        self.read(process, "environ", LARGEST)
    }

    pub(crate) fn parent(&self, process: u64) -> Option<u64> {
        self.stat(process, 1)
    }

    /// Start time. With the number it identifies a process, since numbers are used again.
    pub(crate) fn since(&self, process: u64) -> Option<u64> {
        self.stat(process, 19)
    }

    fn stat(&self, process: u64, field: usize) -> Option<u64> {
        let line = self.read(process, "stat", LARGEST_LINE)?;
        // The program's name may contain anything, also a parenthesis.
        let end = line.iter().rposition(|byte| *byte == b')')?;
        std::str::from_utf8(line.get(end + 1..)?).ok()?.split_whitespace().nth(field)?.parse().ok()
    }

    /// Nearest first.
    pub(crate) fn above(self, process: u64) -> impl Iterator<Item = u64> {
        let parent = move |process: &u64| self.parent(*process).filter(|parent| *parent > 0);
        std::iter::successors(parent(&process), parent).take(MOST)
    }

    pub(crate) fn is_below(self, process: u64, above: u64) -> bool {
        self.above(process).any(|found| found == above)
    }

    pub(crate) fn program(&self, process: u64) -> Option<PathBuf> {
        let path = fs::read_link(self.at(process, "exe")?).ok()?;
        // An update may have deleted the running executable.
        let text = path.to_str().and_then(|path| path.strip_suffix(" (deleted)")).map(PathBuf::from);
        Some(text.unwrap_or(path))
    }

    /// The host that this process is, and the sign: its executable, or the script that it runs.
    pub(crate) fn host(&self, process: u64) -> Option<(Host, String)> {
        let program = self.program(process)?.to_string_lossy().into_owned();
        if !Host::is_interpreter(&program) {
            return Host::by_program(&program).map(|host| (host, program));
        }
        let line = self.read(process, "cmdline", LARGEST_LINE)?;
        Host::by_command_line(&line).map(|(host, sign)| (host, sign.to_owned()))
    }
}

#[cfg(all(test, target_os = "linux"))]
pub(crate) mod fake {
    use std::fs;
    use std::path::Path;

    use super::Processes;

    impl<'a> Processes<'a> {
        pub(crate) fn of(folder: &'a Path) -> Processes<'a> {
            Processes { folder: Some(folder) }
        }
    }

    /// A process folder as the system shows it. Words of `line` are separated by spaces.
    pub(crate) struct Process<'a> {
        pub(crate) id: u64,
        pub(crate) parent: u64,
        pub(crate) program: &'a str,
        pub(crate) line: &'a str,
        pub(crate) variables: Option<&'a str>,
    }

    impl Process<'_> {
        pub(crate) fn add(&self, folder: &Path) {
            let Process { id, parent, program, line, variables } = self;
            let at = folder.join(id.to_string());
            fs::create_dir(&at).expect("a new folder");
            let since = format!("{}{id}", "1 ".repeat(17));
            fs::write(at.join("stat"), format!("{id} (a b) c) S {parent} {since} 0")).expect("a new file");
            std::os::unix::fs::symlink(program, at.join("exe")).expect("a new link");
            fs::write(at.join("cmdline"), line.replace(' ', "\0") + "\0").expect("a new file");
            if let Some(variables) = variables {
                fs::write(at.join("environ"), variables).expect("a new file");
            }
        }
    }
}
