//! Commands that only carry another one: `env A=b`, `timeout 60`, `npx`, `uv run`, `docker compose exec app`; and shells
//! that are given their commands as text.

use crate::shell::syntax::Document;
use crate::shell::{Spot, Word};
use crate::text::word_list::{Words, among, each_word};

/// A command without its wrappers.
pub(super) struct Stripped {
    pub words: Vec<Word>,
    pub set: Vec<(String, Word)>,
    pub folder: Spot,
    /// `exec`: the shell ends here.
    pub replaces: bool,
    pub contained: bool,
    pub limited: bool,
}

/// One command that runs the rest of its line.
struct Wrapper {
    /// Its name, and the words that must follow.
    names: Words,
    /// Options whose value is the next word.
    valued: Words,
    /// Words of its own before the command.
    operands: usize,
    /// Options that make it something else.
    refused: Words,
    /// The command begins behind this word.
    behind: Behind,
}

impl Wrapper {
    /// Asked of every wrapper for every command.
    fn is_called(&self, name: &str) -> bool {
        let rest = self.names.as_bytes().strip_prefix(name.as_bytes());
        rest.is_some_and(|rest| rest.first().is_none_or(|next| *next == b' '))
    }

    fn name(&self) -> &'static str {
        self.names.split(' ').next().unwrap_or_default()
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Behind {
    /// The options.
    Options,
    /// `--`.
    Dashes,
    /// The option `-c` or `--command`.
    Command,
}

const fn plain(names: Words, valued: Words, operands: usize) -> Wrapper {
    Wrapper { names, valued, operands, refused: "", behind: Behind::Options }
}

const fn behind(names: Words, behind: Behind) -> Wrapper {
    Wrapper { names, valued: "", operands: 0, refused: "", behind }
}

/// In a container of an image: it reads the project only if that is mounted.
const fn mounted(names: Words) -> Wrapper {
    let refused = "-d --detach --entrypoint";
    Wrapper { names, valued: CONTAINER, operands: 1, refused, behind: Behind::Options }
}

const CONTAINER: Words = "-v --volume --mount -w --workdir -e --env --env-file -u --user --name --network --net -p --publish --platform \
        -m --memory --cpus --add-host -h --hostname --pull --tmpfs --shm-size --ulimit --label -l";
const NODE: Words = "-p --package --prefix -C --dir -w --workspace --filter -F --cwd";
const UV: Words = "--with --extra --group --only-group --python -p --package --project --directory --env-file \
        --with-requirements --with-editable --no-group --index --from -q";
const COMPOSE: Words = "-u --user -w --workdir -e --env --index -f --file -p --project-name --profile";

static WRAPPERS: &[Wrapper] = &[
    plain("env", "-u --unset -C --chdir", 0),
    plain("cross-env", "", 0),
    plain("timeout", "-s --signal -k --kill-after", 1),
    plain("gtimeout", "-s --signal -k --kill-after", 1),
    plain("time", "-f --format -o --output", 0),
    plain("nice", "-n --adjustment", 0),
    plain("ionice", "-c --class -n --classdata", 0),
    plain("sudo", "-u --user -g --group -h -p -D --chdir", 0),
    plain("doas", "-u", 0),
    plain("nohup", "", 0),
    Wrapper { names: "command", valued: "", operands: 0, refused: "-v -V", behind: Behind::Options },
    plain("builtin", "", 0),
    plain("exec", "-a", 0),
    plain("stdbuf", "-i -o -e --input --output --error", 0),
    plain("unbuffer", "", 0),
    plain("rtk test", "", 0),
    plain("rtk err", "", 0),
    plain("rtk proxy", "", 0),
    plain("rtk", "", 0),
    plain("xcrun", "--sdk --toolchain", 0),
    plain("arch", "", 0),
    plain("caffeinate", "-t -w", 0),
    plain("xvfb-run", "-n --server-num -s --server-args -e -f -p -w", 0),
    behind("nix develop", Behind::Command),
    behind("nix shell", Behind::Command),
    plain("direnv exec", "", 1),
    behind("mise exec", Behind::Dashes),
    behind("mise x", Behind::Dashes),
    plain("asdf exec", "", 0),
    behind("doppler run", Behind::Dashes),
    behind("op run", Behind::Dashes),
    behind("aws-vault exec", Behind::Dashes),
    behind("infisical run", Behind::Dashes),
    behind("dotenvx run", Behind::Dashes),
    behind("dotenv", Behind::Dashes),
    Wrapper {
        names: "docker compose exec",
        valued: COMPOSE,
        operands: 1,
        refused: "-d --detach",
        behind: Behind::Options,
    },
    Wrapper {
        names: "docker compose run",
        valued: COMPOSE,
        operands: 1,
        refused: "-d --detach --entrypoint",
        behind: Behind::Options,
    },
    Wrapper {
        names: "docker-compose exec",
        valued: COMPOSE,
        operands: 1,
        refused: "-d --detach",
        behind: Behind::Options,
    },
    Wrapper {
        names: "docker-compose run",
        valued: COMPOSE,
        operands: 1,
        refused: "-d --detach --entrypoint",
        behind: Behind::Options,
    },
    Wrapper {
        names: "docker exec",
        valued: COMPOSE,
        operands: 1,
        refused: "-d --detach",
        behind: Behind::Options,
    },
    Wrapper {
        names: "podman exec",
        valued: COMPOSE,
        operands: 1,
        refused: "-d --detach",
        behind: Behind::Options,
    },
    mounted("docker run"),
    mounted("docker container run"),
    mounted("podman run"),
    // On macOS; the others give it the command as a text.
    Wrapper {
        names: "script",
        valued: "-t",
        operands: 1,
        refused: "-c -qc -qec -ec -qefc -eqc -qfc -efqc --command",
        behind: Behind::Options,
    },
    plain("corepack", "", 0),
    plain("volta run", "--node --npm --pnpm --yarn", 0),
    plain("fvm exec", "", 0),
    plain("fvm spawn", "", 1),
    plain("fvm", "", 0),
    plain("npx", NODE, 0),
    plain("pnpx", NODE, 0),
    plain("bunx", NODE, 0),
    plain("npm exec", NODE, 0),
    plain("npm x", NODE, 0),
    plain("pnpm exec", NODE, 0),
    plain("pnpm dlx", NODE, 0),
    plain("yarn exec", NODE, 0),
    plain("yarn dlx", NODE, 0),
    plain("bun x", NODE, 0),
    plain("uv run", UV, 0),
    plain("uvx", UV, 0),
    plain("uv tool run", UV, 0),
    plain("poetry run", "-C --directory", 0),
    plain("pipenv run", "", 0),
    plain("pdm run", "-p --project", 0),
    plain("rye run", "", 0),
    plain("hatch run", "", 0),
    plain("pixi run", "-e --environment --manifest-path", 0),
    plain("conda run", "-n --name -p --prefix", 0),
    plain("bundle exec", "", 0),
    plain("composer exec", "", 0),
];

/// Options that change the folder in which the command runs, and the wrappers that have them.
static FOLDER_OPTIONS: [(&str, Words); 9] = [
    ("env", "-C --chdir"),
    ("sudo", "-D --chdir"),
    ("npm", "--prefix"),
    ("pnpm", "-C --dir"),
    ("yarn", "--cwd"),
    ("bun", "--cwd"),
    ("uv", "--directory"),
    ("poetry", "-C --directory"),
    ("direnv", ""),
];

/// Wrappers within wrappers.
const MOST: usize = 8;

pub(super) fn strip_wrappers(mut words: Vec<Word>, folder: &Spot) -> Stripped {
    let mut stripped = Stripped {
        words: Vec::new(),
        set: Vec::new(),
        folder: folder.clone(),
        replaces: false,
        contained: false,
        limited: false,
    };
    for _ in 0..MOST {
        let Some(name) = words.first().and_then(Word::known).and_then(|called| called.rsplit('/').next())
        else {
            break;
        };
        let found = WRAPPERS.iter().filter(|wrapper| wrapper.is_called(name)).find_map(|wrapper| {
            let (rest, set, folder) = find_carried(wrapper, &words, &stripped.folder)?;
            Some((wrapper, rest, set, folder))
        });
        let Some((wrapper, rest, set, folder)) = found else { break };
        let runs_image = wrapper.valued == CONTAINER;
        // A script of the project, not a program.
        let is_recipe = wrapper.names == "hatch run" && words.get(rest).is_some_and(is_hatch_script);
        if runs_image && !mounts_here(&words[..rest]) || is_recipe {
            break;
        }
        stripped.replaces |= wrapper.name() == "exec";
        let is_container = wrapper.name().starts_with("docker") || wrapper.name() == "podman";
        stripped.contained |= is_container && !runs_image;
        stripped.limited |= matches!(wrapper.name(), "timeout" | "gtimeout");
        stripped.set.extend(set);
        stripped.folder = folder;
        words = words.split_off(rest);
        if matches!(wrapper.name(), "npx" | "pnpx" | "bunx" | "npm" | "pnpm" | "yarn" | "bun")
            && let Some(first) = words.first_mut()
            && let Some(version) = first.text[1.min(first.text.len())..].find('@')
        {
            first.text.truncate(version + 1);
        }
    }
    stripped.words = words;
    stripped
}

/// `-v "$PWD":/app`, `--mount type=bind,source=.,target=/app`.
fn mounts_here(words: &[Word]) -> bool {
    // A whole path is that of the project, unless it is one that such runs mount for another purpose.
    let is_other = |source: &str| {
        ["/var/", "/tmp", "/etc/", "/dev/", "/run/"].iter().any(|place| source.starts_with(place))
            || source.contains("/.")
    };
    let is_here = |source: &str| {
        matches!(source, "." | "./" | "$PWD" | "${PWD}" | "$(pwd)" | "`pwd`" | "%cd%")
            || source.starts_with('/') && !is_other(source)
    };
    words.iter().any(|word| {
        let text = ["--volume=", "--mount=", "-v"].iter().find_map(|option| word.text.strip_prefix(option));
        let text = text.unwrap_or(&word.text);
        let source = text
            .split(',')
            .find_map(|part| part.strip_prefix("source=").or_else(|| part.strip_prefix("src=")));
        let bound = text.split_once(":/").map(|(source, _)| source).filter(|source| !source.contains('='));
        source.or(bound).is_some_and(is_here)
    })
}

/// `test`, `lint:check`: a program that is called like that does not check anything.
fn is_hatch_script(word: &Word) -> bool {
    let name = word.text.rsplit(':').next().unwrap_or_default();
    among("test tests lint check types typecheck cov fmt style all unit", name)
}

type Carried = (usize, Vec<(String, Word)>, Spot);

/// The start of the carried command, with its variables and its folder.
fn find_carried(wrapper: &Wrapper, words: &[Word], folder: &Spot) -> Option<Carried> {
    let moving =
        FOLDER_OPTIONS.iter().find(|(name, _)| *name == wrapper.name()).map_or("", |(_, options)| *options);
    let mut folder = folder.clone();
    let mut set = Vec::new();
    let mut at = 1;
    let mut names = each_word(wrapper.names).skip(1);
    let mut name = names.next();
    let mut operands = wrapper.operands;
    let mut behind_seen = wrapper.behind == Behind::Options;
    while let Some(word) = words.get(at) {
        let text = word.text.as_str();
        // It only tells about itself.
        if among(wrapper.refused, text) || name.is_none() && matches!(text, "--help" | "--version") {
            return None;
        }
        if text == "--" && name.is_none() {
            at += 1;
            if operands == 0 {
                behind_seen |= wrapper.behind == Behind::Dashes;
                break;
            }
            continue;
        }
        if text.starts_with('-') && text.len() > 1 {
            if wrapper.behind == Behind::Command && matches!(text, "-c" | "--command") {
                at += 1;
                behind_seen = true;
                break;
            }
            let (option, joined) = match text.split_once('=') {
                Some((option, value)) => (option, Some(value)),
                None => (text, None),
            };
            let takes_next = joined.is_none() && among(wrapper.valued, option);
            if among(moving, option) {
                folder = match (joined, words.get(at + 1).and_then(Word::known)) {
                    (Some(path), _) if word.known().is_some() => folder.join(path),
                    (None, Some(path)) if takes_next => folder.join(path),
                    _ => Spot::Unknown,
                };
            }
            at += 1 + usize::from(takes_next);
            continue;
        }
        if let Some(expected) = name {
            if text != expected {
                return None;
            }
            name = names.next();
            at += 1;
            continue;
        }
        if matches!(wrapper.name(), "env" | "sudo" | "cross-env")
            && let Some((variable, value)) = text.split_once('=')
            && !variable.contains('/')
        {
            set.push((variable.to_owned(), Word { text: value.to_owned(), sort: word.sort }));
            at += 1;
            continue;
        }
        if behind_seen && operands == 0 {
            break;
        }
        operands = operands.saturating_sub(1);
        at += 1;
    }
    // `exec` alone, or with redirections only, changes this shell; any other wrapper alone is a command of its own.
    let something = words.get(at).is_some_and(|word| !word.text.starts_with('-')) || wrapper.name() == "exec";
    (name.is_none() && behind_seen && something).then_some((at, set, folder))
}

/// Commands given as text to a shell.
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
pub(super) struct Inner {
    pub text: String,
    pub errexit: bool,
    pub pipefail: bool,
    /// `eval`.
    pub same_shell: bool,
    /// Its status is not that of the text.
    pub hides: bool,
}

/// The text that a shell is given to run, where all of it is known.
pub(super) fn inner_text(words: &[Word], document: Option<&Document>) -> Option<Inner> {
    let name = words.first()?.known()?.rsplit('/').next()?;
    let mut inner =
        Inner { text: String::new(), errexit: false, pipefail: false, same_shell: false, hides: false };
    match name {
        "eval" => {
            let words: Option<Vec<&str>> = words[1..].iter().map(Word::known).collect();
            inner.text = words.filter(|words| !words.is_empty())?.join(" ");
            inner.same_shell = true;
        }
        // `script -qec 'cargo test' /dev/null`: without `e` it succeeds in any case.
        "script" => {
            let letters = |word: &Word| word.text.strip_prefix('-').map(str::to_owned).unwrap_or_default();
            let is_short = |letters: &str| !letters.starts_with('-');
            let at = words.iter().position(|word| {
                let letters = letters(word);
                letters == "-command" || is_short(&letters) && letters.ends_with('c')
            })?;
            words.get(at + 1)?.known()?.clone_into(&mut inner.text);
            let returns = |word: &Word| {
                let letters = letters(word);
                letters == "-return" || is_short(&letters) && letters.contains('e')
            };
            inner.hides = !words[..=at].iter().any(returns);
        }
        "nix-shell" => {
            let run = words.iter().position(|word| matches!(word.text.as_str(), "--run" | "--command"))?;
            words.get(run + 1)?.known()?.clone_into(&mut inner.text);
        }
        "bash" | "sh" | "zsh" | "dash" | "ash" | "ksh" => {
            let mut at = 1;
            let mut text_next = false;
            while let Some(option) = words.get(at).map(|word| word.text.as_str()) {
                at += 1;
                if option.starts_with("--") {
                    continue;
                }
                let Some(letters) = option.strip_prefix(['-', '+']).filter(|letters| !letters.is_empty())
                else {
                    at -= 1;
                    break;
                };
                let on = option.starts_with('-');
                for letter in letters.chars() {
                    match letter {
                        'c' => text_next = true,
                        'e' => inner.errexit = on,
                        'n' => return None,
                        'o' | 'O' => {
                            match words.get(at).map(|word| word.text.as_str()) {
                                Some("pipefail") => inner.pipefail = on,
                                Some("errexit") => inner.errexit = on,
                                Some("noexec") => return None,
                                _ => {}
                            }
                            at += 1;
                        }
                        _ => {}
                    }
                }
            }
            inner.text = match (text_next, words.get(at)) {
                (true, Some(word)) => word.known()?.to_owned(),
                (false, None) => document.filter(|document| document.literal)?.text.clone(),
                (false, Some(word)) if word.text == "-" => {
                    document.filter(|document| document.literal)?.text.clone()
                }
                _ => return None,
            };
        }
        _ => return None,
    }
    Some(inner)
}
