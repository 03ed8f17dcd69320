//! The client's process as the system shows it: its initial variables, and whether a caller is a client of
//! the session. Read only if a decision depends on it. Linux only.
//!
//! Any command can write a payload into a hook. So the session's marks name the clients that called its
//! hooks, and another caller gets a gate's answer and changes nothing. The initial variables tell those of a
//! person from those of a repository: the client adds the latter only after its start.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use tidegate_core::event::SessionId;
use tidegate_core::feature::marks::ClientProcess;
use tidegate_core::host::Host;
use tidegate_core::host::claude_code::settings_file::Guard;
use tidegate_state::host::claude_code::settings::{is_in_repository, read_file_variables};

use crate::environment::SELECTOR;
use crate::process::Processes;

/// Variables that an administrator sets for all users.
const MANAGED: &str = "/etc/claude-code/managed-settings.json";

/// Names the client to its hooks.
const CLIENT: &str = "CLAUDE_PID";

/// Names the session to the commands of its agent.
const SESSION: &str = "CLAUDE_CODE_SESSION_ID";

/// Variables that a person gave the client, at its start or in the person's own settings. The client also keeps those
/// of a project's settings in its environment, even after the file is gone.
#[derive(Debug)]
pub struct OwnVariables {
    variables: Vec<(OsString, OsString)>,
}

impl OwnVariables {
    pub fn read(client: u64) -> Option<OwnVariables> {
        read_initial(client).map(|block| OwnVariables::parse(&block))
    }

    fn parse(block: &[u8]) -> OwnVariables {
        let variables = block.split(|byte| *byte == 0).filter_map(|variable| {
            let at = variable.iter().position(|byte| *byte == b'=')?;
            Some((decode(&variable[..at]), decode(&variable[at + 1..])))
        });
        OwnVariables { variables: variables.collect() }
    }

    fn get(&self, name: &str) -> Option<&OsString> {
        self.variables.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    /// Whether a person set it, or nothing depends on that.
    pub fn counts(&self, name: &str, value: &OsStr, projects: &[&Path]) -> bool {
        let is_guarded = match Guard::of(name) {
            // The plugin's selector sets it below the client, and it decides nothing.
            Some(Guard::Ours) => name != SELECTOR,
            Some(Guard::Place) => projects.iter().any(|project| is_in_repository(project, name, value)),
            // The client sets some of them for its own sandbox.
            Some(Guard::Programs) | None => false,
        };
        !is_guarded || self.get(name).is_some_and(|own| own == value) || self.is_in_settings(name, value)
    }

    fn is_in_settings(&self, name: &str, value: &OsStr) -> bool {
        let home = || Some(PathBuf::from(self.get("HOME")?).join(".claude"));
        let folder = self.get("CLAUDE_CONFIG_DIR").map(PathBuf::from).or_else(home);
        let files = folder.map(|folder| folder.join("settings.json")).into_iter().chain([MANAGED.into()]);
        files.flat_map(|file| read_file_variables(&file).ok().flatten().unwrap_or_default()).any(|variable| {
            variable.name == name && variable.value.as_deref().is_none_or(|theirs| value == theirs)
        })
    }
}

/// With its start time, so that another process with the same number is not taken for it.
pub(crate) fn describe_process(client: u64) -> Option<ClientProcess> {
    describe(Processes::of_system(), client)
}

fn describe(processes: Processes<'_>, client: u64) -> Option<ClientProcess> {
    Some(ClientProcess { process: client, since: processes.since(client)? })
}

/// `None` if the system does not show processes.
pub fn is_running(client: ClientProcess) -> Option<bool> {
    cfg!(target_os = "linux").then(|| describe_process(client.process) == Some(client))
}

/// At the session's start (`starts`), the start time is compared, too: a new process may have an old number.
///
/// Otherwise, with a single known client, its number is enough: if that client is gone, there is no evidence against
/// a caller anyway. This saves a look at each call.
pub(crate) fn is_known(caller: u64, known: &[ClientProcess], starts: bool) -> bool {
    is_known_by(Processes::of_system(), caller, known, starts)
}

fn is_known_by(processes: Processes<'_>, caller: u64, known: &[ClientProcess], starts: bool) -> bool {
    match known {
        [only] if !starts => only.process == caller,
        _ => {
            let is_same = |now: ClientProcess| known.contains(&now);
            known.iter().any(|client| client.process == caller)
                && describe(processes, caller).is_some_and(is_same)
        }
    }
}

/// Whether an event of an unknown caller belongs to the session. `None`: the client did not call.
///
/// Another client can resume a session, so a new caller has to be a client by its program. If no known client runs,
/// there is no evidence against a caller: older clients do not identify themselves.
pub(crate) fn is_of_session(caller: Option<u64>, known: &[ClientProcess]) -> bool {
    is_of_session_by(Processes::of_system(), caller, known)
}

fn is_of_session_by(processes: Processes<'_>, caller: Option<u64>, known: &[ClientProcess]) -> bool {
    let is_there = |client: &&ClientProcess| describe(processes, client.process).as_ref() == Some(*client);
    let running: Vec<u64> = known.iter().filter(is_there).map(|client| client.process).collect();
    let Some(caller) = caller else { return running.is_empty() };
    // The agent can start any program, also the client's own.
    let is_started_by = |client: &u64| processes.is_below(caller, *client);
    let is_like = |client: &u64| is_same_program(processes, caller, *client);
    let is_client = || is_claude_code(processes, caller) || running.iter().any(is_like);
    running.is_empty() || (!running.iter().any(is_started_by) && is_client())
}

/// The same executable, or two versions in one folder. Meaningless for interpreters.
fn is_same_program(processes: Processes<'_>, caller: u64, client: u64) -> bool {
    let (Some(theirs), Some(own)) = (processes.program(caller), processes.program(client)) else {
        return false;
    };
    let is_other_version = || theirs.parent() == own.parent() && is_in_versions(&own);
    !Host::is_interpreter(&own.to_string_lossy()) && (theirs == own || is_other_version())
}

fn is_in_versions(program: &Path) -> bool {
    program.parent().and_then(Path::file_name).is_some_and(|folder| folder == "versions")
}

fn is_claude_code(processes: Processes<'_>, process: u64) -> bool {
    processes.host(process).is_some_and(|(host, _)| host == Host::ClaudeCode)
}

/// This process works below one of a session's clients. Where none is known, nothing speaks against it: older clients do
/// not show themselves.
pub fn is_above(known: &[ClientProcess]) -> bool {
    let processes = Processes::of_system();
    let is_known = |above: u64| describe(processes, above).is_some_and(|above| known.contains(&above));
    known.is_empty() || processes.above(u64::from(std::process::id())).any(is_known)
}

/// Whether an agent of another session, with these clients, started the client that calls this hook: it runs below one of them, or
/// has that session's variable from the agent's shell. An agent that clears the variable and starts it apart is not seen.
pub fn is_started_by(session: &SessionId, clients: &[ClientProcess]) -> bool {
    let named = std::env::var(CLIENT).ok().and_then(|id| id.parse().ok());
    find_above(named).is_some_and(|caller| is_started_by_in(Processes::of_system(), caller, session, clients))
}

fn is_started_by_in(
    processes: Processes<'_>,
    caller: u64,
    session: &SessionId,
    clients: &[ClientProcess],
) -> bool {
    let is_known = |above: u64| describe(processes, above).is_some_and(|above| clients.contains(&above));
    let names_it = |own: &OwnVariables| own.get(SESSION).is_some_and(|id| id == session.as_str());
    processes.above(caller).any(is_known)
        || processes.variables(caller).is_some_and(|block| names_it(&OwnVariables::parse(&block)))
}

/// The client named by a variable, if it is above this process; else the nearest one by its program.
pub fn find_above(named: Option<u64>) -> Option<u64> {
    find_above_by(Processes::of_system(), u64::from(std::process::id()), named)
}

fn find_above_by(processes: Processes<'_>, this: u64, named: Option<u64>) -> Option<u64> {
    if let Some(named) = named.filter(|named| processes.is_below(this, *named)) {
        return Some(named);
    }
    let is_client = |process: &u64| {
        is_claude_code(processes, *process)
            || processes.program(*process).is_some_and(|program| is_in_versions(&program))
    };
    processes.above(this).find(is_client)
}

/// Tests pose as clients with other variables. Release builds ignore this variable.
fn read_initial(process: u64) -> Option<Vec<u8>> {
    if cfg!(debug_assertions)
        && let Some(file) = std::env::var_os("TEST_TIDEGATE_CLIENT_ENVIRON")
    {
        return std::fs::read(file).ok();
    }
    Processes::of_system().variables(process)
}

#[cfg(unix)]
fn decode(bytes: &[u8]) -> OsString {
    <OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(bytes).to_owned()
}

#[cfg(not(unix))]
fn decode(bytes: &[u8]) -> OsString {
    String::from_utf8_lossy(bytes).into_owned().into()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::process::fake::Process;

    #[test]
    fn this_process_has_its_parents_and_its_variables() {
        let (system, this) = (Processes::of_system(), u64::from(std::process::id()));
        let parent = u64::from(std::os::unix::process::parent_id());
        assert!(system.is_below(this, parent) && !system.is_below(parent, this));
        let own = OwnVariables::read(this).expect("it can be looked at");
        assert!(own.get("PATH").is_some());
        assert!(!own.counts("TIDEGATE_OFF", OsStr::new("x"), &[]));
        assert!(own.counts("https_proxy", OsStr::new("x"), &[]));
        assert!(own.counts(SELECTOR, OsStr::new("x"), &[]));
    }

    #[test]
    fn a_session_whose_client_is_not_above_is_another_one() {
        let parent = describe_process(std::os::unix::process::parent_id().into()).expect("it runs");
        let this = describe_process(std::process::id().into()).expect("it runs");
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
        let known = [describe_process(this).expect("it runs")];
        assert!(is_known(this, &known, true) && !is_known(parent, &known, true));
        assert!(!is_of_session(None, &known), "a pipe");
        assert!(!is_of_session(Some(parent), &known), "another program");
        // Its number belongs to another process now: the caller is unknown.
        let gone = [ClientProcess { since: known[0].since + 1, ..known[0] }];
        assert!(is_of_session(None, &gone) && is_of_session(Some(parent), &gone));
    }

    #[test]
    fn a_client_is_known_by_its_number_and_its_start() {
        let this = u64::from(std::process::id());
        let own = describe_process(this).expect("it runs");
        let other = ClientProcess { since: own.since + 1, ..own };
        let gone = ClientProcess { process: 0, since: 1 };
        assert!(is_known(this, &[own], false) && is_known(this, &[gone, own], false));
        assert!(!is_known(this, &[other], true), "a session that goes on in a new container");
        assert!(!is_known(this, &[gone, other], false));
        assert!(is_known(this, &[other], false), "nothing can be said against it");
    }

    /// Number, parent, program, words.
    fn system(processes: &[(u64, u64, &str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for (id, parent, program, line) in processes.iter().copied() {
            Process { id, parent, program, line, variables: Some("") }.add(folder.path());
        }
        folder
    }

    #[test]
    fn a_program_in_the_clients_folder_is_not_the_client() {
        let folder = system(&[
            (1, 0, "/sbin/init", "init"),
            (10, 1, "/usr/bin/claude", "claude"),
            // Started by the agent, also outside of its own processes.
            (11, 10, "/usr/bin/python3", "python3"),
            (12, 10, "/usr/bin/claude", "claude"),
            (13, 12, "/tmp/claude", "claude"),
            (14, 1, "/usr/bin/python3", "python3"),
            (15, 1, "/usr/bin/node", "node /h/x.js"),
            // Clients that a person started: the same, another version, an editor's, one in Node.
            (20, 1, "/usr/bin/claude (deleted)", "claude"),
            (21, 1, "/h/.local/share/claude/versions/2.1.325", "claude"),
            (22, 1, "/h/.vscode/extensions/anthropic.claude-code-2.1.325/native-binary/claude", "claude"),
            (23, 1, "/usr/bin/node", "node /usr/lib/node_modules/@anthropic-ai/claude-code/cli.js"),
        ]);
        let processes = Processes::of(folder.path());
        let known = [describe(processes, 10).expect("it runs")];
        for (caller, is_it) in [(11, false), (12, false), (13, false), (14, false), (15, false)]
            .into_iter()
            .chain([(20, true), (21, true), (22, true), (23, true)])
        {
            assert_eq!(is_of_session_by(processes, Some(caller), &known), is_it, "{caller}");
        }
        assert!(!is_of_session_by(processes, None, &known));
    }

    #[test]
    fn another_version_of_the_client_is_told_by_its_folder() {
        let folder = system(&[
            (1, 0, "/sbin/init", "init"),
            (10, 1, "/opt/cc/versions/2.1.324", "cc"),
            (11, 1, "/opt/cc/versions/2.1.325", "cc"),
            (12, 1, "/opt/cc/other", "other"),
            // A client in Node does not vouch for another script.
            (20, 1, "/usr/bin/node", "claude"),
            (21, 1, "/usr/bin/node", "node /h/x.js"),
        ]);
        let processes = Processes::of(folder.path());
        let known = |id| [describe(processes, id).expect("it runs")];
        assert!(is_of_session_by(processes, Some(11), &known(10)));
        assert!(!is_of_session_by(processes, Some(12), &known(10)));
        assert!(!is_of_session_by(processes, Some(21), &known(20)));
    }

    #[test]
    fn a_client_of_an_agent_is_told_by_its_place_or_its_variable() {
        let folder = system(&[
            (1, 0, "/sbin/init", "init"),
            (10, 1, "/usr/bin/claude", "claude"),
            (11, 10, "/usr/bin/bash", "bash"),
            // Below the first; apart from it; a person's.
            (12, 11, "/usr/bin/claude", "claude"),
            (14, 1, "/usr/bin/claude", "claude"),
        ]);
        let (id, parent, program, line) = (13, 1, "/usr/bin/claude", "claude");
        let variables = Some("HOME=/h\0CLAUDE_CODE_SESSION_ID=s-1\0");
        Process { id, parent, program, line, variables }.add(folder.path());
        let processes = Processes::of(folder.path());
        let clients = [describe(processes, 10).expect("it runs")];
        let (first, other) =
            (SessionId::parse("s-1").expect("an id"), SessionId::parse("s-2").expect("an id"));
        let is_started_by = |caller, session, clients| is_started_by_in(processes, caller, session, clients);
        assert!(is_started_by(12, &first, &clients) && is_started_by(13, &first, &clients));
        assert!(!is_started_by(10, &first, &clients), "the same client goes on with another session");
        assert!(!is_started_by(14, &first, &clients) && !is_started_by(13, &other, &[]));
        assert!(!is_started_by(12, &other, &[]), "nothing is known of its clients");
    }

    #[test]
    fn the_client_above_is_found_also_in_node() {
        let folder = system(&[
            (1, 0, "/sbin/init", "init"),
            (10, 1, "/usr/bin/node", "node /usr/lib/node_modules/@anthropic-ai/claude-code/cli.js"),
            (11, 10, "/usr/bin/bash", "bash"),
            (12, 11, "/opt/tidegate", "tidegate status"),
            (20, 1, "/usr/bin/node", "node /h/serve.js"),
            (21, 20, "/opt/tidegate", "tidegate status"),
        ]);
        let processes = Processes::of(folder.path());
        assert_eq!(find_above_by(processes, 12, None), Some(10));
        assert_eq!(find_above_by(processes, 12, Some(20)), Some(10), "a variable that names another process");
        assert_eq!(find_above_by(processes, 21, None), None);
    }
}
