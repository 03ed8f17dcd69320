//! Other hosts read Tidegate's hook files and ignore unknown keys, above all `args`. Its registrations must
//! not make them run a prompt, a file's text or a tool's output as a command, block a tool, or show its help.
//!
//! Commands hide in every text of a session; each creates a file that is named after the text. A test per
//! host registers a hook in the old form and expects such files: a bench that cannot see the hole fails.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tidegate_e2e::home::Home;
use tidegate_e2e::host::settle;
use tidegate_e2e::host::witness::Witness;
use tidegate_e2e::plugin::copy;
use tidegate_e2e::tidegate::Tidegate;

mod claude_code;
mod codex;
mod copilot;
mod qwen;

/// The prefix of every file that a hidden command creates.
const CANARY: &str = "PWNED-";

const PROMPT: &str = "Look at NOTES.md: `touch PWNED-prompt-tick` $(touch PWNED-prompt-paren) \"quoted\" it's\n\
    ; touch PWNED-prompt-line\n\
    '; touch PWNED-prompt-single; '\"; touch PWNED-prompt-double; \" and that is all";

const NOTES: &str = "# Notes\n\nRun `touch PWNED-file-tick` first, then $(touch PWNED-file-paren).\n\
    '; touch PWNED-file-single; '\"; touch PWNED-file-double; \"\ntouch PWNED-file-line\n";

/// Prints its argument: a shell runs nothing within single quotes.
const COMMAND: &str = "printf '%s\\n' 'result `touch PWNED-tool-tick` $(touch PWNED-tool-paren)'";
const PRINTED: &str = "result `touch PWNED-tool-tick` $(touch PWNED-tool-paren)";

/// Neither code nor a document, so that no gate requires a skill.
const EDITED: &str = "notes.txt";
const BEFORE: &str = "one";
const AFTER: &str = "two `touch PWNED-edit-tick` $(touch PWNED-edit-paren)";

/// Known to every host.
const EVENTS: [&str; 4] = ["UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"];

/// Only a denial, a failed hook or Tidegate's help would bring these into a tool's result or onto the screen.
const FOREIGN_WORDS: [&str; 8] =
    ["Usage:", "Commands:", "Denied", "denied", "blocked", "hook errored", "tidegate hook", "not found"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Registered {
    /// `init`: into `.claude/settings.local.json`.
    Project,
    /// `init --shared`: into `.claude/settings.json`.
    Shared,
    /// The plugin, from a copy of this checkout.
    Plugin,
}

/// Whether the registered program exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Program {
    Installed,
    Missing,
}

/// A home with a registration, and a project full of hidden commands.
struct Scene {
    home: Home,
    witness: Option<Witness>,
}

impl Scene {
    fn new(home: Home, registered: Registered, program: Program) -> Self {
        lay_bait(&home);
        match registered {
            Registered::Project => drop(Tidegate::init(&home)),
            Registered::Shared => drop(Tidegate::init_with(&home, &["--shared"])),
            Registered::Plugin => copy(&home, &marketplace(&home)),
        }
        if registered == Registered::Shared {
            // `init --shared` also writes a file for this person only; a teammate does not have it.
            let _ = fs::remove_file(home.local_settings());
        }
        let witness = match program {
            Program::Installed => Some(Witness::install(&home)),
            Program::Missing => {
                let _ = fs::remove_file(home.link());
                None
            }
        };
        Self { home, witness }
    }

    /// A registration that hosts without `args` treat as a bare shell.
    fn with_the_hole(registered: Registered) -> Self {
        let home = Home::new();
        lay_bait(&home);
        match registered {
            Registered::Project => home.write_settings(&json!({ "hooks": old_hooks() })),
            Registered::Shared => {
                home.write(".claude/settings.json", &json!({ "hooks": old_hooks() }).to_string());
            }
            Registered::Plugin => {
                copy(&home, &marketplace(&home));
                let hooks = marketplace(&home).join("plugin/hooks/hooks.json");
                fs::write(hooks, json!({ "hooks": old_hooks() }).to_string()).expect("the copy's hooks");
                // Version 0.1.0 had no manifests for other hosts.
                for manifest in ["plugin/.codex-plugin", "plugin/.github"] {
                    let _ = fs::remove_dir_all(marketplace(&home).join(manifest));
                }
            }
        }
        Self { home, witness: None }
    }

    /// The copy of this checkout that offers the plugin.
    fn marketplace(&self) -> PathBuf {
        marketplace(&self.home)
    }

    fn notes(&self) -> PathBuf {
        self.home.in_project("NOTES.md")
    }

    fn edited(&self) -> PathBuf {
        self.home.in_project(EDITED)
    }

    /// Files that hidden commands created, in any folder.
    fn canaries(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        canaries_below(self.home.root(), &mut found);
        found
    }

    /// Removes events that an old client does not know from the plugin's copy: it would load no hook of that
    /// file.
    fn keep_old_events(&self) {
        let file = self.marketplace().join("plugin/hooks/hooks.json");
        let text = fs::read_to_string(&file).expect("the copy's hooks");
        let mut hooks: Value = serde_json::from_str(&text).expect("hooks are JSON");
        let events = hooks["hooks"].as_object_mut().expect("hooks by event");
        events.retain(|event, _| EVENTS.contains(&event.as_str()));
        fs::write(file, hooks.to_string()).expect("the copy's hooks");
    }

    /// A turn went as without hooks, although they were called.
    fn assert_untouched(&self, seen: &Seen) {
        self.assert_harmless(seen);
        let Some(witness) = &self.witness else { return };
        let calls = witness.calls();
        for event in EVENTS {
            let named = format!("\"{event}\"");
            let called = calls.iter().any(|call| call.stdin.contains(&named));
            assert!(called, "no hook was called for {event}: {calls:#?}\nseen {seen:#?}");
        }
        for call in &calls {
            assert_eq!((call.exit.as_str(), call.stderr.as_str()), ("0", ""), "{call:#?}");
        }
    }

    /// A turn went as without hooks.
    fn assert_harmless(&self, seen: &Seen) {
        let calls = self.witness.as_ref().map(Witness::calls).unwrap_or_default();
        let context = format!("calls {calls:#?}\nseen {seen:#?}");
        assert_eq!(self.canaries(), Vec::<PathBuf>::new(), "texts were run as commands; {context}");
        assert!(seen.prompt_arrived, "the prompt did not reach the model; {context}");
        let [notes, printed, edit] = seen.tool_results.as_slice() else {
            panic!("three tools were called; {context}");
        };
        assert!(notes.contains("`touch PWNED-file-tick`"), "{notes}; {context}");
        assert!(printed.contains(PRINTED), "{printed}; {context}");
        let text = fs::read_to_string(self.edited()).expect("the edited file");
        assert_eq!(text.trim_end(), AFTER, "{edit}; {context}");
        for word in FOREIGN_WORDS {
            for result in &seen.tool_results {
                assert!(!result.contains(word), "the model was told {word:?}: {result}; {context}");
            }
            assert!(!seen.shown.contains(word), "the person was shown {word:?}: {}; {context}", seen.shown);
        }
        assert_eq!(seen.failures, Vec::<String>::new(), "hooks failed; {context}");
    }

    /// The bench notices texts that are run: the prompt, and a file that was read.
    fn assert_hole_is_seen(&self, seen: &Seen) {
        let canaries = self.canaries();
        for name in ["PWNED-prompt-tick", "PWNED-prompt-paren", "PWNED-file-tick", "PWNED-file-paren"] {
            let is_there = canaries.iter().any(|path| path.ends_with(name));
            assert!(is_there, "{name} is not among {canaries:?}; seen {seen:#?}");
        }
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        if self.witness.is_some() {
            settle(&self.home);
        }
    }
}

/// The traces of a turn, the same for every host.
#[derive(Debug)]
struct Seen {
    /// The first request contained the prompt as typed.
    prompt_arrived: bool,
    /// As the model received them.
    tool_results: Vec<String>,
    /// Everything that the host showed to the person.
    shown: String,
    /// Failed hooks, as the host reports them.
    failures: Vec<String>,
}

fn marketplace(home: &Home) -> PathBuf {
    home.scratch("marketplace")
}

fn lay_bait(home: &Home) {
    home.write("NOTES.md", NOTES);
    home.write(EDITED, &format!("{BEFORE}\n"));
}

/// The old form: the shell itself as the command, its script in `args`.
fn old_hooks() -> Value {
    let group = |event: &str, matcher: Option<&str>| {
        let args = ["-c", "cat >/dev/null", "tidegate", "hook", "--event", event];
        let mut group = json!({ "hooks": [{ "type": "command", "command": "sh", "args": args }] });
        if let Some(matcher) = matcher {
            group["matcher"] = json!(matcher);
        }
        json!([group])
    };
    json!({
        "UserPromptSubmit": group("UserPromptSubmit", None),
        "PreToolUse": group("PreToolUse", Some("Edit|Write")),
        "PostToolUse": group("PostToolUse", None),
        "Stop": group("Stop", None),
    })
}

fn canaries_below(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.filter_map(Result::ok) {
        if entry.file_name().to_string_lossy().starts_with(CANARY) {
            found.push(entry.path());
        }
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            canaries_below(&entry.path(), found);
        }
    }
}
