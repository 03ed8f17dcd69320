//! Which files a command names as those it writes. Naming one too many is harmless, because the caller looks whether the
//! file has changed; naming none where nothing is known is right. Left out on purpose: what git brings back
//! (`checkout`, `restore`, `mv`, `stash`), what generators and archives make, and `rm`, since a file that is gone cannot
//! be looked at.

use crate::shell::named::{in_patch, in_script, looks_like_file};
use crate::shell::syntax::{Document, RedirectKind};
use crate::shell::{How, Sort, Spot, Word, Words, Write, among};

/// The file that a redirection opens for writing.
pub(super) fn of_redirect(kind: RedirectKind, target: &[Word], folder: &Spot, step: usize) -> Option<Write> {
    let [word] = target else { return None };
    let path = word.known()?;
    let file = match kind {
        RedirectKind::Write => true,
        RedirectKind::Duplicate => !path.bytes().all(|byte| byte.is_ascii_digit()) && !path.ends_with('-'),
        RedirectKind::Read | RedirectKind::Document(_) | RedirectKind::Text => false,
    };
    (file && !path.is_empty() && !path.starts_with("/dev/")).then(|| Write {
        path: folder.join(path),
        step,
        how: How::Redirect,
    })
}

/// The files that a command names as those it writes.
pub(super) fn of_command(
    words: &[Word],
    document: Option<&Document>,
    folder: &Spot,
    step: usize,
) -> Vec<Write> {
    let Some(name) = words.first().and_then(|word| word.text.rsplit('/').next()) else { return Vec::new() };
    let arguments = &words[1..];
    let document = document.map(|document| document.text.as_str());
    let (paths, how) = match inline_script(name, arguments, document) {
        Some(text) => (in_script(text), How::Script),
        None => (named(name, arguments, document), How::Command),
    };
    let mut writes: Vec<Write> = Vec::new();
    for path in paths.iter().filter(|path| !path.is_empty() && !path.starts_with("/dev/") && *path != "-") {
        let path = folder.join(path);
        if path != Spot::Unknown && !writes.iter().any(|write| write.path == path) {
            writes.push(Write { path, step, how });
        }
    }
    writes
}

/// The text of a script that stands in the command line itself.
fn inline_script<'a>(name: &str, arguments: &'a [Word], document: Option<&'a str>) -> Option<&'a str> {
    let flags: Words = match name {
        name if name == "python" || name.starts_with("python3") || name == "python2" || name == "pypy3" => {
            "-c"
        }
        "node" | "tsx" | "ts-node" => "-e --eval -p --print -pe",
        "bun" => "-e --eval",
        "deno" if arguments.first().is_some_and(|word| word.text == "eval") => {
            return arguments
                .iter()
                .skip(1)
                .find(|word| !word.text.starts_with('-'))
                .map(|word| word.text.as_str());
        }
        "ruby" => "-e -ne",
        "perl" => "-e -E -ne -le -0777e",
        "php" => "-r",
        "lua" | "luajit" | "Rscript" | "elixir" | "julia" => "-e",
        _ => return None,
    };
    if matches!(name, "perl" | "ruby") && edits_in_place(arguments) {
        return None;
    }
    if let Some(at) = arguments.iter().position(|word| among(flags, &word.text)) {
        return arguments.get(at + 1).map(|word| word.text.as_str());
    }
    // Without a script of its own, what comes in is the script.
    let alone = arguments.iter().all(|word| word.text.starts_with('-'));
    document.filter(|_| alone)
}

/// Arguments that are no options, with the values of the given ones left out.
fn operands<'a>(arguments: &'a [Word], valued: &str) -> Vec<&'a Word> {
    let mut operands = Vec::new();
    let mut words = arguments.iter();
    let mut only_operands = false;
    while let Some(word) = words.next() {
        let text = word.text.as_str();
        if only_operands || !text.starts_with('-') || text == "-" {
            operands.push(word);
        } else if text == "--" {
            only_operands = true;
        } else if among(valued, text) {
            words.next();
        }
    }
    operands
}

fn texts(words: &[&Word]) -> Vec<String> {
    words.iter().filter_map(|word| word.known()).map(str::to_owned).collect()
}

fn has(arguments: &[Word], options: Words) -> bool {
    arguments.iter().any(|word| among(options, &word.text))
}

/// `-i`, `-pi`, `-i.bak`, `-0777 -i`: not `-I` or `-Mstrict`.
fn edits_in_place(arguments: &[Word]) -> bool {
    arguments.iter().take_while(|word| word.text.starts_with('-') && word.text != "--").any(|word| {
        let letters = &word.text[1..];
        !letters.starts_with(['M', 'm', 'I', '-'])
            && letters.find('i').is_some_and(|i| !letters[..i].contains('e'))
    })
}

fn named(name: &str, arguments: &[Word], document: Option<&str>) -> Vec<String> {
    match name {
        "tee" | "sponge" => texts(&operands(arguments, "--output-error")),
        "sed" | "gsed" => sed(arguments),
        "perl" | "ruby" if edits_in_place(arguments) => {
            // The script stands behind the word that ends in `e`.
            let scripts: Vec<&str> = arguments
                .iter()
                .map(|word| word.text.as_str())
                .filter(|text| text.starts_with('-') && !text.starts_with("--") && text.ends_with(['e', 'E']))
                .collect();
            texts(&operands(arguments, &scripts.join(" ")))
        }
        "awk" | "gawk" => {
            let inplace = arguments
                .windows(2)
                .any(|pair| matches!(pair[0].text.as_str(), "-i" | "--include") && pair[1].text == "inplace");
            let files = operands(arguments, "-i --include -v -F -f");
            let program = usize::from(!has(arguments, "-f"));
            if inplace { texts(files.get(program..).unwrap_or_default()) } else { Vec::new() }
        }
        "patch" => {
            if has(arguments, "--dry-run") {
                return Vec::new();
            }
            let valued = "-i --input -d --directory -p --strip -o --output -r -F";
            let files = operands(arguments, valued);
            let mut paths = texts(&files[..files.len().min(1)]);
            paths.extend(document.map(in_patch).unwrap_or_default());
            paths.extend(value_of(arguments, "-o --output"));
            match value_of(arguments, "-d --directory") {
                Some(folder) => paths.iter().map(|path| format!("{folder}/{path}")).collect(),
                None => paths,
            }
        }
        "apply_patch" => document.map(in_patch).unwrap_or_default(),
        "git" => git(arguments, document),
        "cp" | "mv" | "install" | "ln" | "rsync" => copies(name, arguments),
        "touch" => texts(&operands(arguments, "-r -d -t")),
        "truncate" => texts(&operands(arguments, "-s --size -r")),
        "dd" => {
            arguments.iter().filter_map(|word| word.known()?.strip_prefix("of=")).map(str::to_owned).collect()
        }
        "ed" | "ex" | "vi" | "vim" | "nvim" => {
            let files = operands(arguments, "-c --cmd -S -u -p -i");
            texts(&files).into_iter().filter(|file| !file.starts_with('+')).collect()
        }
        "sd" => texts(operands(arguments, "-f --flags -n").get(2..).unwrap_or_default()),
        "yq" if has(arguments, "-i --inplace") => files(arguments),
        "curl" => value_of(arguments, "-o --output").into_iter().collect(),
        "wget" => value_of(arguments, "-O --output-document").into_iter().collect(),
        "sort" => value_of(arguments, "-o --output").into_iter().collect(),
        name if formats(name, arguments) => files(arguments),
        _ => Vec::new(),
    }
}

/// The arguments that look like files.
fn files(arguments: &[Word]) -> Vec<String> {
    texts(&operands(arguments, "")).into_iter().filter(|text| looks_like_file(text)).collect()
}

fn value_of(arguments: &[Word], options: Words) -> Option<String> {
    arguments.iter().enumerate().find_map(|(number, word)| {
        if among(options, &word.text) {
            return arguments.get(number + 1)?.known().map(str::to_owned);
        }
        let (option, value) = word.known()?.split_once('=')?;
        among(options, option).then(|| value.to_owned())
    })
}

fn sed(arguments: &[Word]) -> Vec<String> {
    // Letters before `i` in one word can only be ones that take no value.
    let in_place = |text: &str| {
        text.starts_with("--in-place")
            || text.strip_prefix('-').is_some_and(|letters| {
                letters.trim_start_matches(['n', 'E', 'r', 's', 'u', 'z']).starts_with(['i', 'I'])
            })
    };
    if !arguments.iter().any(|word| in_place(&word.text)) {
        return Vec::new();
    }
    let scripts = "-e --expression -f --file";
    let scripted = arguments.iter().any(|word| {
        let text = word.text.as_str();
        among(scripts, text)
            || text.starts_with("--expression=")
            || text.starts_with("--file=")
            || text.starts_with("-e")
    });
    // BSD's `-i ''`: an empty word is no script.
    let operands: Vec<&Word> = operands(arguments, "-e --expression -f --file -l")
        .into_iter()
        .filter(|word| !word.text.is_empty())
        .collect();
    texts(operands.get(usize::from(!scripted)..).unwrap_or_default())
}

fn git(arguments: &[Word], document: Option<&str>) -> Vec<String> {
    let (mut at, mut folder) = (0, None);
    while let Some(word) = arguments.get(at).filter(|word| word.text.starts_with('-')) {
        let takes_next = matches!(word.text.as_str(), "-C" | "-c" | "--git-dir" | "--work-tree");
        if word.text == "-C" {
            folder = arguments.get(at + 1).and_then(Word::known);
        }
        at += 1 + usize::from(takes_next);
    }
    let names = match arguments.get(at).map(|word| word.text.as_str()) {
        Some("mv") if !has(arguments, "-n --dry-run") => copies("mv", &arguments[at + 1..]),
        Some("apply" | "am") if !has(arguments, "--check --stat --numstat --summary --cached") => {
            document.map(in_patch).unwrap_or_default()
        }
        _ => return Vec::new(),
    };
    match folder {
        Some(folder) => names.iter().map(|name| format!("{folder}/{name}")).collect(),
        None => names,
    }
}

fn copies(name: &str, arguments: &[Word]) -> Vec<String> {
    if name == "install" && has(arguments, "-d --directory") {
        return Vec::new();
    }
    let valued: Words = match name {
        "install" => "-m --mode -o --owner -g --group -t --target-directory -S",
        "rsync" => "-e --rsh --exclude --include --filter --exclude-from --include-from",
        _ => "-t --target-directory -S --suffix",
    };
    let mut names = operands(arguments, valued);
    let (target, named) = match value_of(arguments, "-t --target-directory") {
        Some(target) => (target, true),
        None => match names.pop().map(Word::known) {
            Some(Some(target)) if !names.is_empty() => (target.to_owned(), false),
            _ => return Vec::new(),
        },
    };
    if name == "rsync" && target.contains(':') {
        return Vec::new();
    }
    // Where the target may be a folder, the file in it is meant.
    let mut paths = Vec::new();
    if !named && names.len() == 1 && !target.ends_with('/') {
        paths.push(target.clone());
    }
    for source in names.iter().filter(|word| word.sort == Sort::Literal) {
        if let Some(file) =
            source.text.rsplit('/').next().filter(|file| !file.is_empty() && *file != "." && *file != "..")
        {
            paths.push(format!("{}/{file}", target.trim_end_matches('/')));
        }
    }
    paths
}

/// What makes a formatter write: any of these options, or nothing, unless one of those.
struct Formatter {
    name: &'static str,
    verb: Option<&'static str>,
    needs: Words,
    unless: Words,
}

const fn formatter(name: &'static str, verb: Option<&'static str>, needs: Words, unless: Words) -> Formatter {
    Formatter { name, verb, needs, unless }
}

const CHECK: Words = "--check --diff --check-only --dry-run --list -l";

static FORMATTERS: &[Formatter] = &[
    formatter("prettier", None, "--write -w", ""),
    formatter("rustfmt", None, "", CHECK),
    formatter("black", None, "", CHECK),
    formatter("isort", None, "", CHECK),
    formatter("autopep8", None, "-i --in-place", ""),
    formatter("yapf", None, "-i --in-place", ""),
    formatter("ruff", Some("format"), "", CHECK),
    formatter("ruff", None, "--fix --fix-only", "--diff"),
    formatter("gofmt", None, "-w", ""),
    formatter("goimports", None, "-w", ""),
    formatter("gofumpt", None, "-w", ""),
    formatter("eslint", None, "--fix", ""),
    formatter("stylelint", None, "--fix", ""),
    formatter("oxlint", None, "--fix", ""),
    formatter("standard", None, "--fix", ""),
    formatter("biome", None, "--write --apply --fix --unsafe --apply-unsafe", ""),
    formatter("@biomejs/biome", None, "--write --apply --fix", ""),
    formatter("deno", Some("fmt"), "", CHECK),
    formatter("clang-format", None, "-i", "--dry-run -n"),
    formatter("shfmt", None, "-w --write", ""),
    formatter("rubocop", None, "-a -A --autocorrect --autocorrect-all --auto-correct -x", ""),
    formatter("php-cs-fixer", Some("fix"), "", "--dry-run"),
    formatter("phpcbf", None, "", ""),
    formatter("pint", None, "", "--test"),
    formatter("ktlint", None, "-F --format", ""),
    formatter("google-java-format", None, "-i -r --replace", ""),
    formatter("swiftformat", None, "", "--lint --dryrun"),
    formatter("dart", Some("format"), "", "--output=none --set-exit-if-changed"),
    formatter("mix", Some("format"), "", "--check-formatted --dry-run"),
    formatter("stylua", None, "", CHECK),
    formatter("taplo", Some("fmt"), "", CHECK),
    formatter("dprint", Some("fmt"), "", CHECK),
    formatter("zig", Some("fmt"), "", CHECK),
    formatter("nixfmt", None, "", CHECK),
    formatter("jscodeshift", None, "", "-d --dry"),
];

fn formats(name: &str, arguments: &[Word]) -> bool {
    FORMATTERS.iter().any(|formatter| {
        formatter.name == name
            && formatter.verb.is_none_or(|verb| arguments.first().is_some_and(|word| word.text == verb))
            && (formatter.needs.is_empty() || has(arguments, formatter.needs))
            && !has(arguments, formatter.unless)
    })
}
