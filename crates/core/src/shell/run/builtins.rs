//! Builtins that change the shell itself: `cd`, `set`, `exit`, `trap`, assignments.

use super::Run;
use super::state::{Called, Shell};
use crate::shell::{Spot, Word};

impl Run<'_> {
    /// Changes the shell as a builtin does.
    pub(super) fn run_builtin(&mut self, words: &[Word], shell: &mut Shell) {
        let Some(name) = words.first().and_then(Word::known) else { return };
        let arguments = &words[1..];
        match name {
            "cd" | "pushd" => {
                shell.folder = match changed_folder(name, arguments, shell) {
                    // The host reports only where the line ended: enough to place one unknown folder.
                    Spot::Unknown if !std::mem::replace(&mut self.out.lost, true) => Spot::End(String::new()),
                    folder => folder,
                };
            }
            "popd" => shell.folder = Spot::Unknown,
            "exit" => shell.left |= !fails(arguments),
            "break" | "continue" | "return" => shell.cut = true,
            "set" => set_options(arguments, shell),
            "trap" => {
                let off = arguments
                    .first()
                    .and_then(Word::known)
                    .is_some_and(|first| first == "-" || first.is_empty() || first == "-p" || first == "-l");
                self.out.trapped |= !off && !arguments.is_empty();
            }
            "alias" => {
                for (name, _) in arguments.iter().filter_map(|word| word.text.split_once('=')) {
                    shell.functions.insert(name.to_owned(), Called::default());
                }
            }
            // `hash -p /bin/true cargo`
            "hash" if arguments.first().is_some_and(|word| word.text == "-p") => {
                for word in &arguments[1..] {
                    shell.functions.insert(word.text.clone(), Called::default());
                }
            }
            "export" | "declare" | "typeset" | "local" | "readonly" => {
                for word in arguments {
                    let assigned = word.text.split_once('=');
                    if let Some((name, value)) = assigned {
                        shell.assign(name.to_owned(), Word { text: value.to_owned(), sort: word.sort });
                    }
                    if name == "export" {
                        shell.export(assigned.map_or(word.text.as_str(), |(name, _)| name));
                    }
                }
            }
            "unset" | "read" | "mapfile" | "readarray" | "getopts" | "printf" => {
                for word in arguments {
                    shell.variables.remove(&word.text);
                }
            }
            _ => {}
        }
    }
}

const TOP_LEVEL: [&str; 2] =
    ["$(git rev-parse --show-toplevel)", "$(git rev-parse --show-toplevel 2>/dev/null)"];

fn changed_folder(command: &str, arguments: &[Word], shell: &Shell) -> Spot {
    let folder = &shell.folder;
    let mut names = arguments.iter().filter(|word| !matches!(word.text.as_str(), "-P" | "-L" | "--" | "-e"));
    let (name, more) = (names.next(), names.next());
    if name.is_none() && command == "cd" {
        return shell.at_home("~", true).map_or(Spot::Unknown, |home| folder.join(&home));
    }
    let (Some(name), None) = (name, more) else { return Spot::Unknown };
    if let Some(path) = name.known() {
        return if path.starts_with(['-', '+']) || path.is_empty() {
            Spot::Unknown
        } else {
            folder.join(path)
        };
    }
    for top in TOP_LEVEL {
        if let Some(rest) = name.text.strip_prefix(top).filter(|rest| !rest.contains(['$', '`'])) {
            return Spot::Top(String::new()).join(rest.trim_start_matches('/'));
        }
    }
    Spot::Unknown
}

fn set_options(arguments: &[Word], shell: &mut Shell) {
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let Some(text) = word.known() else {
            (shell.errexit, shell.pipefail) = (false, false);
            return;
        };
        let on = text.starts_with('-');
        if text == "--" || !(on || text.starts_with('+')) {
            return;
        }
        for letter in text.chars().skip(1) {
            match letter {
                'e' => shell.errexit = on,
                // `noexec`: nothing runs after this.
                'n' => shell.left |= on,
                'o' => match words.next().and_then(Word::known) {
                    Some("errexit") => shell.errexit = on,
                    Some("pipefail") => shell.pipefail = on,
                    Some("noexec") => shell.left |= on,
                    _ => {}
                },
                _ => {}
            }
        }
    }
}

/// The arguments of an `exit` or `return` that is certain to fail.
fn fails(arguments: &[Word]) -> bool {
    matches!(arguments, [word] if word.known().and_then(|text| text.parse::<u64>().ok()).is_some_and(|n| n % 256 != 0))
}
