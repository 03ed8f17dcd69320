//! The client's process, as the system shows it: the variables that it was started with, and whether a caller is a client of
//! the session at all. Looked at only where something depends on it. Linux only: elsewhere nothing is known of it.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use tidegate_core::feature::marks::ClientProcess;
use tidegate_core::host::claude_code::settings_file::Guard;
use tidegate_state::host::claude_code::settings::{is_in_repository, variables_of_file};

use crate::environment::SELECTOR;

/// More than the system lets the variables of a process be.
const LARGEST: u64 = 8 * 1024 * 1024;

/// Nobody works below so many processes.
const MOST: usize = 256;

/// Where an administrator sets variables for everybody.
const MANAGED: &str = "/etc/claude-code/managed-settings.json";

/// Programs that run whatever file they are given: of these the name says nothing.
const INTERPRETERS: [&str; 3] = ["node", "bun", "deno"];

/// The variables that a person gave the client: by starting it, or in settings of their own. The client keeps those of a
/// project's settings in its environment, also when the file is gone by now.
#[derive(Debug)]
pub struct OwnVariables {
    variables: Vec<(OsString, OsString)>,
}

impl OwnVariables {
    /// Of this client.
    pub fn of(client: u64) -> Option<OwnVariables> {
        let block = initial(client)?;
        let variables = block.split(|byte| *byte == 0).filter_map(|variable| {
            let at = variable.iter().position(|byte| *byte == b'=')?;
            Some((text(&variable[..at]), text(&variable[at + 1..])))
        });
        Some(OwnVariables { variables: variables.collect() })
    }

    fn get(&self, name: &str) -> Option<&OsString> {
        self.variables.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    /// Whether a person gave it this variable, or nothing depends on who did.
    pub fn counts(&self, name: &str, value: &OsStr, projects: &[&Path]) -> bool {
        let is_guarded = match Guard::of(name) {
            // The plugin's selector is below the client, and decides nothing by this.
            Some(Guard::Ours) => name != SELECTOR,
            Some(Guard::Place) => projects.iter().any(|project| is_in_repository(project, name, value)),
            // The client sets some of them itself, for its own sandbox.
            Some(Guard::Programs) | None => false,
        };
        !is_guarded || self.get(name).is_some_and(|own| own == value) || self.is_in_settings(name, value)
    }

    fn is_in_settings(&self, name: &str, value: &OsStr) -> bool {
        let home = || Some(PathBuf::from(self.get("HOME")?).join(".claude"));
        let folder = self.get("CLAUDE_CONFIG_DIR").map(PathBuf::from).or_else(home);
        let files = folder.map(|folder| folder.join("settings.json")).into_iter().chain([MANAGED.into()]);
        files.flat_map(|file| variables_of_file(&file).ok().flatten().unwrap_or_default()).any(|variable| {
            variable.name == name && variable.value.as_deref().is_none_or(|theirs| value == theirs)
        })
    }
}

/// A process, so that another one with its number is not taken for it.
pub(crate) fn process(client: u64) -> Option<ClientProcess> {
    Some(ClientProcess { process: client, since: stat(client)?.since })
}

/// Whether an event with this caller belongs to a session that these clients had. `None`: the client did not call.
///
/// A session can be resumed by another client, so a caller that is new has to be one by its program. Without a client that
/// still runs, nothing can be said against a caller: older clients do not show themselves.
pub(crate) fn is_of_session(caller: Option<u64>, known: &[ClientProcess]) -> bool {
    if let Some(caller) = caller
        && known.iter().any(|client| client.process == caller)
    {
        return true;
    }
    let runs = |client: &&ClientProcess| process(client.process).as_ref() == Some(*client);
    let mut running = known.iter().filter(runs).peekable();
    if running.peek().is_none() {
        return true;
    }
    let Some(caller) = caller else { return false };
    running.any(|client| is_client_like(caller, client.process))
}

/// Whether a process runs the client's program, or another version of it.
fn is_client_like(caller: u64, client: u64) -> bool {
    let (Some(theirs), Some(own)) = (program(caller), program(client)) else { return false };
    let is_same = theirs == own || (theirs.parent() == own.parent() && !is_interpreter(&own));
    is_same && !(is_interpreter(&own) && is_below(caller, client))
}

fn is_interpreter(program: &Path) -> bool {
    program.file_name().is_some_and(|name| INTERPRETERS.iter().any(|known| name == *known))
}

/// Whether this process works below one of a session's clients. Where none is known, nothing can be said against it: older
/// clients do not show themselves.
pub fn is_above(known: &[ClientProcess]) -> bool {
    let is_known = |above: u64| process(above).is_some_and(|above| known.contains(&above));
    known.is_empty() || ancestors(u64::from(std::process::id())).any(is_known)
}

/// The client that this process works below: the one that a variable names, if it is above, else the nearest by its program.
pub fn above(named: Option<u64>) -> Option<u64> {
    let this = u64::from(std::process::id());
    if let Some(named) = named.filter(|named| is_below(this, *named)) {
        return Some(named);
    }
    let is_client = |process: &u64| {
        program(*process).is_some_and(|program| {
            let name = program.file_name().and_then(OsStr::to_str).unwrap_or_default();
            let folder = program.parent().and_then(Path::file_name);
            name == "claude" || folder == Some(OsStr::new("versions"))
        })
    };
    ancestors(this).find(is_client)
}

fn is_below(process: u64, above: u64) -> bool {
    ancestors(process).any(|found| found == above)
}

/// The processes above one, nearest first.
fn ancestors(process: u64) -> impl Iterator<Item = u64> {
    let parent = |process: &u64| stat(*process).map(|found| found.parent).filter(|parent| *parent > 0);
    std::iter::successors(parent(&process), parent).take(MOST)
}

/// The variables that a process was started with. Tests are clients that were started with other ones; a build for use has no
/// such variable.
fn initial(process: u64) -> Option<Vec<u8>> {
    if cfg!(debug_assertions)
        && let Some(file) = std::env::var_os("TEST_TIDEGATE_CLIENT_ENVIRON")
    {
        return std::fs::read(file).ok();
    }
    read(process, "environ")
}

struct Stat {
    parent: u64,
    since: u64,
}

fn stat(process: u64) -> Option<Stat> {
    let line = read(process, "stat")?;
    // The program's name may hold anything, also a parenthesis.
    let end = line.iter().rposition(|byte| *byte == b')')?;
    let fields: Vec<&str> = std::str::from_utf8(line.get(end + 1..)?).ok()?.split_whitespace().collect();
    Some(Stat { parent: fields.get(1)?.parse().ok()?, since: fields.get(19)?.parse().ok()? })
}

/// Where the system shows a process.
#[cfg(target_os = "linux")]
fn folder(process: u64) -> PathBuf {
    Path::new("/proc").join(process.to_string())
}

#[cfg(target_os = "linux")]
fn program(process: u64) -> Option<PathBuf> {
    let path = std::fs::read_link(folder(process).join("exe")).ok()?;
    // An update may have replaced it.
    let text = path.to_str().and_then(|path| path.strip_suffix(" (deleted)")).map(PathBuf::from);
    Some(text.unwrap_or(path))
}

#[cfg(target_os = "linux")]
fn read(process: u64, name: &str) -> Option<Vec<u8>> {
    use std::io::Read;
    let file = std::fs::File::open(folder(process).join(name)).ok()?;
    let mut bytes = Vec::new();
    file.take(LARGEST).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

#[cfg(not(target_os = "linux"))]
fn program(_: u64) -> Option<PathBuf> {
    None
}

#[cfg(not(target_os = "linux"))]
fn read(_: u64, _: &str) -> Option<Vec<u8>> {
    None
}

#[cfg(unix)]
fn text(bytes: &[u8]) -> OsString {
    <OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(bytes).to_owned()
}

#[cfg(not(unix))]
fn text(bytes: &[u8]) -> OsString {
    String::from_utf8_lossy(bytes).into_owned().into()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn this_process_has_its_parents_and_its_variables() {
        let this = u64::from(std::process::id());
        let parent = u64::from(std::os::unix::process::parent_id());
        assert!(is_below(this, parent) && !is_below(parent, this));
        let own = OwnVariables::of(this).expect("it can be looked at");
        assert!(own.get("PATH").is_some());
        assert!(!own.counts("TIDEGATE_OFF", OsStr::new("x"), &[]));
        assert!(own.counts("https_proxy", OsStr::new("x"), &[]));
        assert!(own.counts(SELECTOR, OsStr::new("x"), &[]));
    }

    #[test]
    fn a_session_whose_client_is_not_above_is_another_one() {
        let parent = process(std::os::unix::process::parent_id().into()).expect("it runs");
        let this = process(std::process::id().into()).expect("it runs");
        assert!(is_above(&[]) && is_above(&[this, parent]));
        assert!(!is_above(&[this]), "a process is not above itself");
        assert!(
            !is_above(&[ClientProcess { since: parent.since + 1, ..parent }]),
            "another one with its number"
        );
    }

    #[test]
    fn a_caller_is_a_client_of_the_session_or_like_one_that_runs() {
        let this = u64::from(std::process::id());
        let parent = u64::from(std::os::unix::process::parent_id());
        let known = [process(this).expect("it runs")];
        assert!(is_of_session(Some(this), &known));
        assert!(!is_of_session(None, &known), "a pipe");
        assert!(!is_of_session(Some(parent), &known), "another program");
        // Its number belongs to another process by now: nothing is known of who called.
        let gone = [ClientProcess { since: known[0].since + 1, ..known[0] }];
        assert!(is_of_session(None, &gone) && is_of_session(Some(parent), &gone));
    }
}
