//! A program in Tidegate's place that writes down every hook call, with Tidegate's answer to it.
//!
//! Hosts say little about hooks. Without a witness a scenario that asserts that nothing went wrong also passes where no
//! hook was called at all.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use crate::home::Home;
use crate::tidegate;

/// Reads the payload to its end, so that it is known even where the program does not read it. Calls other than those of
/// hooks, such as the server's, pass.
const SCRIPT: &str = r#"#!/bin/sh
case ${1-hook} in
hook) ;;
*) exec '@PROGRAM@' "$@" ;;
esac
call=$(mktemp -d '@RECORDS@/call-XXXXXX') || exit 0
cat > "$call/stdin"
printf '%s\n' "$@" > "$call/arguments"
'@PROGRAM@' "$@" < "$call/stdin" > "$call/stdout" 2> "$call/stderr"
code=$?
printf '%s' "$code" > "$call/exit"
cat "$call/stdout"
cat "$call/stderr" >&2
exit "$code"
"#;

/// One call of a hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Its arguments.
    pub arguments: Vec<String>,
    /// The payload.
    pub stdin: String,
    /// The answer.
    pub stdout: String,
    /// The complaint.
    pub stderr: String,
    /// The exit code; empty while it runs.
    pub exit: String,
}

/// The calls of hooks in a home.
pub struct Witness {
    records: PathBuf,
}

impl Witness {
    /// Takes the place of the link by which every registration finds the program.
    pub fn install(home: &Home) -> Self {
        let records = home.scratch("calls");
        fs::create_dir_all(&records).expect("a folder in the temporary home");
        let program = tidegate::binary().display().to_string();
        let script =
            SCRIPT.replace("@RECORDS@", &records.display().to_string()).replace("@PROGRAM@", &program);
        let link = home.link();
        fs::create_dir_all(link.parent().expect("a file has a directory")).expect("the link's folder");
        let _ = fs::remove_file(&link);
        fs::write(&link, script).expect("a script in the link's place");
        fs::set_permissions(&link, fs::Permissions::from_mode(0o755)).expect("our own file");
        Self { records }
    }

    /// The calls so far, in no order.
    pub fn calls(&self) -> Vec<Call> {
        let entries = fs::read_dir(&self.records).expect("the folder of the records");
        let folders = entries.filter_map(|entry| Some(entry.ok()?.path()));
        folders
            .map(|folder| {
                let text = |name: &str| {
                    let bytes = fs::read(folder.join(name)).unwrap_or_default();
                    String::from_utf8_lossy(&bytes).into_owned()
                };
                let arguments = text("arguments").lines().map(str::to_owned).collect();
                Call {
                    arguments,
                    stdin: text("stdin"),
                    stdout: text("stdout"),
                    stderr: text("stderr"),
                    exit: text("exit"),
                }
            })
            .collect()
    }
}
