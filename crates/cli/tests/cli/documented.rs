//! Every `tidegate` command of the documentation, run as it is printed.

use std::fs;
use std::path::{Path, PathBuf};

use crate::answer::Ran;
use crate::fixtures;
use crate::sandbox::{Running, Sandbox};
use crate::transcript::addressed;

const SESSION: &str = "5baaddad-4136-48e5-b2ca-88ce0e9e343e";

/// Commands that need something of the reader's own. They must still be understood.
const OF_THE_READER: [(&str, &str); 15] = [
    ("memory show log", "a log of theirs"),
    ("memory forget", "rows of theirs"),
    ("memory decision add 12", "a topic of theirs"),
    ("memory decision supersede", "a decision of theirs"),
    ("memory topic close", "a topic of theirs"),
    ("memory backup --to /mnt", "a disk of theirs"),
    ("memory import", "conversations of theirs"),
    ("memory push", "a server of theirs"),
    ("memory pull", "a server of theirs"),
    ("memory team", "a server of theirs"),
    ("replay", "sessions of theirs"),
    ("uninstall --purge", "a terminal to ask at"),
    ("workflow note 16", "checkpoints of theirs"),
    ("explain last", "a record"),
    ("trust", "a terminal to ask at"),
];

/// Not of Tidegate alone: placeholders, other machines, servers.
const LEFT_OUT: [&str; 4] = ["…", "ssh ", "/local/you", "tidegate serve"];

fn documents() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut documents = ["README.md", "README.ja.md", "SECURITY.md", "CONTRIBUTING.md", "plugin/README.md"]
        .map(|name| root.join(name))
        .to_vec();
    let docs = fs::read_dir(root.join("docs")).expect("the docs");
    let docs = docs.map(|entry| entry.expect("an entry").path());
    // Made from the help texts, which have examples with placeholders; clap checks those that are there.
    documents.extend(
        docs.filter(|path| path.extension().is_some_and(|end| end == "md") && !path.ends_with("commands.md")),
    );
    documents.sort();
    documents
}

/// Lines after a `$` in blocks of a console.
fn commands(document: &str) -> Vec<String> {
    let (mut commands, mut inside) = (Vec::<String>::new(), false);
    for line in document.lines().map(str::trim_start) {
        if line.starts_with("```") {
            inside = line == "```console";
        } else if let Some(command) = line.strip_prefix("$ ").filter(|_| inside) {
            commands.push(command.to_owned());
        } else if let Some(last) = commands.last_mut().filter(|last| inside && last.ends_with('\\')) {
            last.pop();
            last.push_str(line);
        }
    }
    commands.retain(|command| {
        command.contains("tidegate ") && !LEFT_OUT.iter().any(|word| command.contains(word))
    });
    commands.retain(|command| !["claude ", "cargo ", "git "].iter().any(|other| command.starts_with(other)));
    commands
}

fn run(sandbox: &Sandbox, command: &str) -> Ran {
    let plain = sandbox.command(&[]);
    let program = Path::new(plain.get_program());
    let folder = program.parent().expect("a folder");
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", command]).env_clear();
    shell.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
    shell.env("PATH", format!("{}:/usr/bin:/bin", folder.display()));
    shell.current_dir(sandbox.project());
    let mut running = Running::start(shell);
    // `memory import` without a path waits for rows from an open pipe.
    running.close();
    running.end()
}

#[test]
fn every_command_of_the_documentation_works() {
    let mut ran = 0;
    for document in documents() {
        let name = document.file_name().expect("a name").to_string_lossy().into_owned();
        let sandbox = Sandbox::new();
        sandbox.config("[approval]\nunattended = [\"off\", \"uninstall\", \"init\"]\n");
        let findings = "What was found, in full.\n".repeat(20);
        fs::write(sandbox.project().join("findings.md"), findings).expect("a file");
        let init = run(&sandbox, "tidegate init");
        assert_eq!(init.code, Some(0), "{init:?}");
        let start =
            addressed(fixtures::hook("SessionStart.startup"), SESSION, "none".as_ref(), &sandbox.project());
        let _ = sandbox.event(&start);
        run(&sandbox, "tidegate progress add 'The first step' --next 'the second'").ok();
        for command in commands(&fs::read_to_string(&document).expect("a document")) {
            let answer = run(&sandbox, &command);
            let told = format!("{name}: {command}\n{}{}", answer.stdout, answer.stderr);
            assert_ne!(answer.code, Some(2), "not understood: {told}");
            let of_the_reader = OF_THE_READER.iter().any(|(known, _)| command.contains(known));
            assert!(answer.code == Some(0) || of_the_reader, "{told}");
            ran += 1;
        }
    }
    assert!(ran > 60, "only {ran} commands were found");
}

/// A link to a file that is not there helps nobody.
#[test]
fn links_of_the_documentation_lead_somewhere() {
    for document in documents() {
        let text = fs::read_to_string(&document).expect("a document");
        let folder = document.parent().expect("a folder");
        let links = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        for link in links.filter(|link| !link.contains("://") && !link.starts_with('#')) {
            let file = link.split('#').next().unwrap_or_default();
            assert!(folder.join(file).exists(), "{}: {link}", document.display());
        }
    }
}
