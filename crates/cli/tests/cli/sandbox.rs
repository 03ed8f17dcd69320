//! A machine of its own for each test: home, state, project, and nothing of the real environment.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, mpsc};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

use crate::answer::{Answer, Ran};

/// Far beyond any deadline of ours: only a hang gets here.
const HANGS: Duration = Duration::from_mins(5);

pub(crate) struct Sandbox {
    folder: TempDir,
    variables: BTreeMap<&'static str, OsString>,
    /// Programs that become the executable.
    before: Vec<OsString>,
    journal: Mutex<Journal>,
}

/// How far the journal has been read, and what of it nobody has asked for yet.
#[derive(Default)]
struct Journal {
    offsets: BTreeMap<PathBuf, usize>,
    fresh: Vec<Value>,
}

/// Private, or it would be restricted and reported.
fn tell_of_recording(state: &Path) {
    fs::create_dir_all(state.join("told")).expect("a new folder");
    fs::write(state.join("told/recording"), "").expect("a new file");
    for (path, mode) in [("", 0o700), ("told", 0o700), ("told/recording", 0o600)] {
        fs::set_permissions(state.join(path), fs::Permissions::from_mode(mode)).expect("our own");
    }
}

/// A worker may still run. Under its old name it finds nothing, and ends; so nothing is added while the rest is removed.
impl Drop for Sandbox {
    fn drop(&mut self) {
        let gone = self.folder.path().with_extension("gone");
        if fs::rename(self.folder.path(), &gone).is_ok() {
            let _ = fs::remove_dir_all(gone);
        }
    }
}

impl Sandbox {
    pub(crate) fn new() -> Sandbox {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for name in ["home", "project", "tmp"] {
            fs::create_dir(folder.path().join(name)).expect("a new folder");
        }
        // The person knows that they are recorded; whoever does not is told once.
        tell_of_recording(&folder.path().join("state"));
        let at = |name: &str| folder.path().join(name).into_os_string();
        let variables = BTreeMap::from([
            ("HOME", at("home")),
            ("TIDEGATE_STATE_DIR", at("state")),
            ("CLAUDE_PROJECT_DIR", at("project")),
            ("XDG_RUNTIME_DIR", at("run")),
            ("TMPDIR", at("tmp")),
            // The test is the client, and was started with other variables. Without the file, nothing is known of them.
            ("TEST_TIDEGATE_CLIENT_ENVIRON", at("client-environ")),
            ("LANG", "C.UTF-8".into()),
            ("TZ", "UTC".into()),
            ("PATH", "/usr/bin:/bin".into()),
            // Plain text to compare with; colours have tests of their own.
            ("NO_COLOR", "1".into()),
            // The account's home, and the process above which no agent is looked for: tests may run below one.
            ("TEST_TIDEGATE_HOME", at("home")),
            ("TEST_TIDEGATE_TOP", std::process::id().to_string().into()),
            // On a busy machine a hook is not late.
            ("TEST_TIDEGATE_PATIENCE", "100".into()),
        ]);
        Sandbox { folder, variables, before: Vec::new(), journal: Mutex::default() }
    }

    #[must_use]
    pub(crate) fn with(mut self, name: &'static str, value: impl Into<OsString>) -> Sandbox {
        self.variables.insert(name, value.into());
        self
    }

    /// With the deadlines as they are, for a test that runs into one.
    #[must_use]
    pub(crate) fn hurried(self) -> Sandbox {
        self.with("TEST_TIDEGATE_PATIENCE", "1")
    }

    /// Started by this program, which then becomes it.
    #[must_use]
    pub(crate) fn below(mut self, words: &[&str]) -> Sandbox {
        self.before = words.iter().map(OsString::from).collect();
        self
    }

    /// No file becomes longer than this many blocks, of 512 bytes or of 1 KiB: a write behind them is cut or fails, as on a
    /// full disk.
    #[must_use]
    pub(crate) fn full_after(self, blocks: u32) -> Sandbox {
        // Without the signal that would end the process.
        let limit = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$@\"");
        self.below(&["/bin/sh", "-c", &limit, "sh"])
    }

    /// For a test that waits for a lock in vain.
    #[must_use]
    pub(crate) fn waiting(self) -> Sandbox {
        self.with("TEST_TIDEGATE_LOCK_MS", "500")
    }

    #[must_use]
    pub(crate) fn without(mut self, name: &'static str) -> Sandbox {
        self.variables.remove(name);
        self
    }

    /// The user's config.
    pub(crate) fn config(&self, text: impl AsRef<[u8]>) {
        let folder = self.home().join(".config/tidegate");
        fs::create_dir_all(&folder).expect("a new folder");
        fs::write(folder.join("config.toml"), text).expect("a new file");
    }

    /// One of the person's own.
    pub(crate) fn install_skill(&self, name: &str) {
        let folder = self.home().join(".claude/skills").join(name);
        fs::create_dir_all(&folder).expect("new folders");
        fs::write(folder.join("SKILL.md"), "Mind the rules.\n").expect("a new file");
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.path().join("home")
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.path().join("project")
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.path().join("state")
    }

    pub(crate) fn session(&self, id: &str) -> PathBuf {
        self.state().join("sessions").join(id)
    }

    /// The executable with these arguments, in the project, with this environment and no other.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let words = self.before.iter().cloned().chain([env!("CARGO_BIN_EXE_tidegate").into()]);
        let words: Vec<OsString> = words.collect();
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).args(args).env_clear().envs(&self.variables).current_dir(self.project());
        command
    }

    /// One hook run.
    pub(crate) fn hook(&self, args: &[&str], payload: impl AsRef<[u8]>) -> Answer {
        let mut words = vec!["hook"];
        words.extend(args);
        Answer::of(self.run_with(&words, payload.as_ref()))
    }

    /// A hook run of the payload's own event, as `init` registers it.
    pub(crate) fn event(&self, payload: &Value) -> Answer {
        let event = payload["hook_event_name"].as_str().expect("an event").to_owned();
        let answer = self.hook(&["--event", &event], payload.to_string());
        answer.check(&event);
        answer
    }

    /// A command without input.
    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        self.run_with(args, b"")
    }

    pub(crate) fn run_with(&self, args: &[&str], input: &[u8]) -> Ran {
        let mut running = Running::start(self.command(args));
        running.send(input);
        running.close();
        running.end()
    }

    /// Every record of the journal.
    pub(crate) fn records(&self) -> Vec<Value> {
        read_records(&self.state().join("journal"), &mut BTreeMap::new())
    }

    /// What was recorded since this was last asked.
    pub(crate) fn new_records(&self) -> Vec<Value> {
        std::mem::take(&mut self.read_journal().fresh)
    }

    fn read_journal(&self) -> MutexGuard<'_, Journal> {
        let mut journal = self.journal.lock().expect("no test goes on after a panic");
        let new = read_records(&self.state().join("journal"), &mut journal.offsets);
        journal.fresh.extend(new);
        journal
    }

    /// The one record since this was last asked.
    pub(crate) fn one_record(&self) -> Value {
        let mut records = self.new_records();
        assert_eq!(records.len(), 1, "one record: {records:#?}");
        records.remove(0)
    }

    /// All paths below the sandbox, for tests that something was not made.
    pub(crate) fn everything(&self) -> Vec<PathBuf> {
        fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
            for entry in fs::read_dir(folder).expect("a folder").flatten() {
                let path = entry.path();
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    walk(&path, found);
                }
                found.push(path);
            }
        }
        let mut found = Vec::new();
        walk(self.path(), &mut found);
        found.sort();
        found
    }
}

/// Every path below the folder, with its mode, and the bytes of a file.
pub(crate) fn contents(folder: &Path) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    fn walk(folder: &Path, found: &mut BTreeMap<PathBuf, (u32, Vec<u8>)>) {
        for path in fs::read_dir(folder).expect("a folder").flatten().map(|entry| entry.path()) {
            let about = fs::symlink_metadata(&path).expect("it is there");
            let bytes = if about.is_file() { fs::read(&path).expect("a file") } else { Vec::new() };
            if about.is_dir() {
                walk(&path, found);
            }
            found.insert(path, (about.permissions().mode(), bytes));
        }
    }
    let mut found = BTreeMap::new();
    walk(folder, &mut found);
    found
}

/// Records of a journal from these offsets on. Each line has to be a whole record.
fn read_records(folder: &Path, offsets: &mut BTreeMap<PathBuf, usize>) -> Vec<Value> {
    let Ok(files) = fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = files.map(|entry| entry.expect("a folder entry").path()).collect();
    paths.sort();
    // One that is a link or a pipe is there to be broken.
    paths.retain(|path| fs::symlink_metadata(path).is_ok_and(|found| found.is_file()));
    let mut records = Vec::new();
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        assert!(is_day(&name), "only days belong into the journal: {name}");
        let mut file = fs::File::open(&path).expect("a journal can be read");
        let offset = offsets.entry(path).or_default();
        let mut text = String::new();
        file.seek(SeekFrom::Start(*offset as u64)).expect("it only grows");
        *offset += file.read_to_string(&mut text).expect("a journal is text");
        assert!(text.is_empty() || text.ends_with('\n'), "torn: {text}");
        records.extend(text.lines().map(|line| {
            let record: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
            assert_eq!(record["v"], 1, "{record}");
            assert!(record["at"].as_str().is_some_and(|at| at.starts_with(&name[..10])), "{name}: {line}");
            record
        }));
    }
    records
}

fn is_day(name: &str) -> bool {
    let Some(day) = name.strip_suffix(".jsonl") else { return false };
    day.len() == 10 && day.bytes().all(|b| b == b'-' || b.is_ascii_digit())
}

/// A process under way, whose end is awaited but not for ever.
pub(crate) struct Running {
    child: Child,
    stdin: Option<UnixStream>,
    outputs: [mpsc::Receiver<Vec<u8>>; 2],
    writers: Vec<std::thread::JoinHandle<()>>,
}

impl Running {
    pub(crate) fn start(mut command: Command) -> Running {
        // A socket of this process, as clients have it: the hook asks whose it is.
        let (ours, theirs) = UnixStream::pair().expect("a pair of sockets");
        command.stdin(Stdio::from(OwnedFd::from(theirs))).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the executable starts");
        // Its end of the socket would stay open here.
        drop(command);
        let stdout = collect(child.stdout.take().expect("a pipe"));
        let stderr = collect(child.stderr.take().expect("a pipe"));
        Running { child, stdin: Some(ours), outputs: [stdout, stderr], writers: Vec::new() }
    }

    /// Writes to stdin; it stays open. One that does not read is no error.
    pub(crate) fn send(&mut self, input: &[u8]) {
        let stdin = self.stdin.as_mut().expect("stdin is open");
        if input.len() <= 32 * 1024 {
            let _ = stdin.write_all(input);
            return;
        }
        // More than a socket holds: a thread, so that the end can be awaited.
        let mut stdin = self.stdin.take().expect("stdin is open");
        let input = input.to_owned();
        self.writers.push(std::thread::spawn(move || {
            let _ = stdin.write_all(&input);
        }));
    }

    pub(crate) fn close(&mut self) {
        drop(self.stdin.take());
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn has_ended(&mut self) -> bool {
        self.child.try_wait().is_ok_and(|status| status.is_some())
    }

    /// Awaits the end of a process that still has its stdin.
    pub(crate) fn end_with_open_stdin(mut self) -> Ran {
        let stdin = self.stdin.take();
        let ran = self.end();
        drop(stdin);
        ran
    }

    pub(crate) fn end(mut self) -> Ran {
        let mut texts = Vec::new();
        for output in &self.outputs {
            let Ok(bytes) = output.recv_timeout(HANGS) else {
                let _ = self.child.kill();
                let _ = self.child.wait();
                panic!("hangs");
            };
            texts.push(String::from_utf8(bytes).expect("output is UTF-8"));
        }
        let status = self.child.wait().expect("a process that ended");
        for writer in self.writers {
            writer.join().expect("the writer ends with the process");
        }
        let (stderr, stdout) = (texts.pop().unwrap_or_default(), texts.pop().unwrap_or_default());
        Ran { code: status.code(), stdout, stderr }
    }
}

fn collect(mut from: impl Read + Send + 'static) -> mpsc::Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = from.read_to_end(&mut bytes);
        sender.send(bytes)
    });
    receiver
}

/// Does the same with many things, on a few threads.
pub(crate) fn in_parallel<T: Send + Sync>(items: &[T], work: impl Fn(&Sandbox, &T) + Sync) {
    const THREADS: usize = 3;
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let (next, work) = (&next, &work);
        for _ in 0..THREADS {
            scope.spawn(move || {
                let sandbox = Sandbox::new();
                while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
                    work(&sandbox, item);
                }
            });
        }
    });
}

/// Changing owners takes root, and root is not bound by modes.
pub(crate) fn is_root(sandbox: &Sandbox) -> bool {
    use std::os::unix::fs::MetadataExt;
    fs::metadata(sandbox.path()).is_ok_and(|folder| folder.uid() == 0)
}

/// A named pipe.
pub(crate) fn make_fifo(path: &Path) {
    let made = Command::new("mkfifo").arg(path).status().expect("mkfifo runs");
    assert!(made.success(), "mkfifo {}", path.display());
}

/// Writes a program. By another process: what another test starts meanwhile would hold a file of ours open, and a file that is
/// open for writing cannot be run.
pub(crate) fn install(path: &Path, text: &[u8], mode: u32) {
    let mut install = Command::new("install");
    install.args(["-m", &format!("{mode:o}"), "/dev/stdin"]).arg(path);
    feed(install, text);
}

/// Copies a program, by another process for the same reason.
pub(crate) fn copy_program(from: &Path, to: &Path) {
    let copied = Command::new("/bin/cp").arg(from).arg(to).status().expect("cp runs");
    assert!(copied.success(), "{}", to.display());
}

/// Runs a command with this on its stdin; it must succeed.
pub(crate) fn feed(mut command: Command, input: &[u8]) {
    let mut child = command.stdin(std::process::Stdio::piped()).spawn().expect("it starts");
    std::io::Write::write_all(&mut child.stdin.take().expect("a pipe"), input).expect("it reads");
    assert!(child.wait().expect("it ends").success());
}
