//! A program in Tidegate's place that records every hook call and Tidegate's answer.
//!
//! Hosts say little about hooks. Without a witness, a scenario that asserts that nothing went wrong would
//! also pass if no hook was called.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use crate::home::Home;
use crate::tidegate;

/// Reads the whole payload, even if the program does not. Calls that are not hooks, such as the MCP server's,
/// are not recorded.
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

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    pub arguments: Vec<String>,
    pub stdin: String,
    pub stdout: String,
    pub stderr: String,
    /// Empty while it runs.
    pub exit: String,
}

pub struct Witness {
    records: PathBuf,
}

impl Witness {
    /// Replaces the link through which every registration finds the program.
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

    /// In no particular order.
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
