//! Files that a command names as those it writes. One too many is harmless: the caller looks whether the file has changed.
//! Left out on purpose: files that git brings back (`checkout`, `restore`, `mv`, `stash`) or that generators make, and
//! `rm -f`: whether the file was there cannot be told afterwards.

use crate::file_class::FileClass;
use crate::shell::named::{files_in_patch, files_in_script, looks_like_file};
use crate::shell::syntax::{Document, RedirectKind};
use crate::shell::{How, Sort, Spot, Step, Word, Write};
use crate::text::patch::patched_files;
use crate::text::word_list::{Words, among};

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
        Some(text) => (files_in_script(text), How::Script),
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

/// Editors that change each file they are given, whatever they find in it.
fn edits_files(words: &[Word]) -> bool {
    let Some(name) = words.first().and_then(|word| word.text.rsplit('/').next()) else { return false };
    let arguments = &words[1..];
    match name {
        "sed" | "gsed" => arguments.iter().any(|word| is_in_place(&word.text)),
        "perl" | "ruby" => edits_in_place(arguments),
        "sd" => true,
        _ => false,
    }
}

/// Files that the text names only by a pattern, by a patch, or not at all, and those it removes.
///
/// `before`: the commands before it, one of which may find the files. `fed`: the file that it reads.
pub(super) fn of_mass(
    words: &[Word],
    before: &[Step],
    fed: Option<&str>,
    folder: &Spot,
    step: usize,
) -> Vec<Write> {
    let Some(name) = words.first().and_then(|word| word.text.rsplit('/').next()) else { return Vec::new() };
    let write = |path: Spot, how: How| Write { path, step, how };
    let unknown = || vec![write(Spot::Unknown, How::Unknown)];
    let arguments = &words[1..];
    match name {
        "find" | "fd" | "fdfind" => {
            let Some(at) = arguments.iter().position(|word| among("-exec -execdir -x -X --exec", &word.text))
            else {
                return Vec::new();
            };
            if !edits_files(&arguments[at + 1..]) {
                return Vec::new();
            }
            let start = arguments.first().filter(|word| !word.text.starts_with('-')).and_then(Word::known);
            let start = start.filter(|_| name == "find").unwrap_or(".");
            let found = code_patterns(&arguments[..at]);
            let found: Vec<Write> =
                found.iter().map(|name| write(folder.join(start).join(name), How::Pattern)).collect();
            if found.is_empty() { unknown() } else { found }
        }
        "xargs" | "parallel" => {
            let at = arguments.iter().position(is_editor);
            if !at.is_some_and(|at| edits_files(&arguments[at..])) {
                return Vec::new();
            }
            let finders = &before[before.len().saturating_sub(3)..];
            let found: Vec<String> = finders.iter().flat_map(|step| code_patterns(&step.words)).collect();
            let found: Vec<Write> = found.iter().map(|name| write(folder.join(name), How::Pattern)).collect();
            if found.is_empty() { unknown() } else { found }
        }
        _ if edits_files(words) => {
            let files: Vec<&Word> = operands(arguments, "-e --expression -f --file -l -I");
            let named = files.iter().filter(|word| word.sort == Sort::Pattern && is_code(&word.text));
            let named: Vec<Write> = named.map(|word| write(folder.join(&word.text), How::Pattern)).collect();
            let is_unknown = files.last().is_some_and(|word| word.sort == Sort::Unknown);
            if named.is_empty() && is_unknown { unknown() } else { named }
        }
        "rm" | "unlink" => {
            removed(arguments, "frR").map(|path| write(folder.join(path), How::Removal)).collect()
        }
        "git" if arguments.first().is_some_and(|word| word.text == "rm") => {
            let rest = &arguments[1..];
            let keeps = has_option(rest, "--cached -n --dry-run");
            let named = removed(rest, "r").filter(|_| !keeps);
            named.map(|path| write(folder.join(path), How::Removal)).collect()
        }
        "apply_patch" | "applypatch" => {
            let path = fed.map(|file| folder.join(file)).filter(|path| *path != Spot::Unknown);
            path.map(|path| write(path, How::Patch)).into_iter().collect()
        }
        "patch" | "git" => {
            let (is_patch, file) = patch_file(name, arguments, fed);
            match file.map(|file| folder.join(&file)) {
                Some(path) if is_patch && path != Spot::Unknown => vec![write(path, How::Patch)],
                _ => Vec::new(),
            }
        }
        "tar" | "bsdtar" | "unzip" | "7z" => {
            let extracts = |word: &Word| {
                let letters = word.text.trim_start_matches('-');
                letters == "extract" || !word.text.starts_with("--") && letters.contains('x')
            };
            let is_archive = name == "unzip" && !has_option(arguments, "-l -t -p -v -Z")
                || name != "unzip" && arguments.first().is_some_and(extracts);
            if is_archive { unknown() } else { Vec::new() }
        }
        _ => Vec::new(),
    }
}

/// Code files by name; none if an option makes the command succeed whether they were there or not.
fn removed<'a>(arguments: &'a [Word], vague: &str) -> impl Iterator<Item = &'a str> {
    let is_vague = arguments.iter().any(|word| {
        let letters = word.text.strip_prefix('-').filter(|letters| !letters.starts_with('-'));
        letters.is_some_and(|letters| letters.contains(|letter| vague.contains(letter)))
            || among("--force --recursive --ignore-unmatch", &word.text)
    });
    let files = operands(arguments, "").into_iter().filter_map(Word::known);
    files.filter(move |path| !is_vague && is_code(path))
}

fn is_editor(word: &Word) -> bool {
    matches!(word.text.rsplit('/').next(), Some("sed" | "gsed" | "perl" | "ruby" | "sd"))
}

fn is_code(pattern: &str) -> bool {
    FileClass::of(pattern) == FileClass::Code
}

/// `*.rs`, `--include=*.ts`, `'*.py'`.
fn code_patterns(words: &[Word]) -> Vec<String> {
    let pattern = |word: &Word| {
        let text = word.text.rsplit('=').next().unwrap_or_default();
        let name = text.trim_matches(['"', '\'']);
        (name.contains('*') && is_code(name) && !name.contains(['$', '`'])).then(|| name.to_owned())
    };
    words.iter().filter_map(pattern).collect()
}

/// Whether it applies a patch, and the file with it.
fn patch_file(name: &str, arguments: &[Word], fed: Option<&str>) -> (bool, Option<String>) {
    if name == "patch" {
        let input = value_of(arguments, "-i --input");
        let second = operands(arguments, "-i --input -d --directory -p --strip -o --output -r -F");
        let second = second.get(1).and_then(|word| word.known()).map(str::to_owned);
        return (!has_option(arguments, "--dry-run"), input.or(second).or_else(|| fed.map(str::to_owned)));
    }
    let verb = arguments.iter().position(|word| matches!(word.text.as_str(), "apply" | "am"));
    let Some(at) = verb.filter(|at| *at < 3) else { return (false, None) };
    let rest = &arguments[at + 1..];
    let applies = !has_option(
        rest,
        "--check --stat --numstat --summary --cached --abort --quit --skip --show-current-patch",
    );
    let file = operands(rest, "--directory -p -C --exclude --include").first().and_then(|word| word.known());
    (applies, file.filter(|file| *file != "-").map(str::to_owned).or_else(|| fed.map(str::to_owned)))
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
    // Without a script argument, the script comes from stdin.
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

fn known_texts(words: &[&Word]) -> Vec<String> {
    words.iter().filter_map(|word| word.known()).map(str::to_owned).collect()
}

fn has_option(arguments: &[Word], options: Words) -> bool {
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
        "tee" | "sponge" => known_texts(&operands(arguments, "--output-error")),
        "sed" | "gsed" => files_of_sed(arguments),
        "perl" | "ruby" if edits_in_place(arguments) => {
            // The script stands behind the word that ends in `e`.
            let scripts: Vec<&str> = arguments
                .iter()
                .map(|word| word.text.as_str())
                .filter(|text| text.starts_with('-') && !text.starts_with("--") && text.ends_with(['e', 'E']))
                .collect();
            known_texts(&operands(arguments, &scripts.join(" ")))
        }
        "awk" | "gawk" => {
            let inplace = arguments
                .windows(2)
                .any(|pair| matches!(pair[0].text.as_str(), "-i" | "--include") && pair[1].text == "inplace");
            let files = operands(arguments, "-i --include -v -F -f");
            let program = usize::from(!has_option(arguments, "-f"));
            if inplace { known_texts(files.get(program..).unwrap_or_default()) } else { Vec::new() }
        }
        "patch" => {
            if has_option(arguments, "--dry-run") {
                return Vec::new();
            }
            let valued = "-i --input -d --directory -p --strip -o --output -r -F";
            let files = operands(arguments, valued);
            let mut paths = known_texts(&files[..files.len().min(1)]);
            paths.extend(document.map(files_in_patch).unwrap_or_default());
            paths.extend(value_of(arguments, "-o --output"));
            match value_of(arguments, "-d --directory") {
                Some(folder) => paths.iter().map(|path| format!("{folder}/{path}")).collect(),
                None => paths,
            }
        }
        "apply_patch" | "applypatch" => {
            let patch = document.or_else(|| arguments.first().and_then(Word::known));
            // All of them: a gate may ask for one at the end.
            patch.map(patched_files).unwrap_or_default()
        }
        "git" => files_of_git(arguments, document),
        "cp" | "mv" | "install" | "ln" | "rsync" => files_of_copy(name, arguments),
        "touch" => known_texts(&operands(arguments, "-r -d -t")),
        "truncate" => known_texts(&operands(arguments, "-s --size -r")),
        "dd" => {
            arguments.iter().filter_map(|word| word.known()?.strip_prefix("of=")).map(str::to_owned).collect()
        }
        "ed" | "ex" | "vi" | "vim" | "nvim" => {
            let files = operands(arguments, "-c --cmd -S -u -p -i");
            known_texts(&files).into_iter().filter(|file| !file.starts_with('+')).collect()
        }
        "sd" => known_texts(operands(arguments, "-f --flags -n").get(2..).unwrap_or_default()),
        "yq" if has_option(arguments, "-i --inplace") => named_files(arguments),
        "curl" => value_of(arguments, "-o --output").into_iter().collect(),
        "wget" => value_of(arguments, "-O --output-document").into_iter().collect(),
        "sort" => value_of(arguments, "-o --output").into_iter().collect(),
        name if files_of_formatter(name, arguments) => named_files(arguments),
        _ => Vec::new(),
    }
}

/// The arguments that look like files.
fn named_files(arguments: &[Word]) -> Vec<String> {
    known_texts(&operands(arguments, "")).into_iter().filter(|text| looks_like_file(text)).collect()
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

/// Letters before `i` in one word can only be ones that take no value.
fn is_in_place(text: &str) -> bool {
    text.starts_with("--in-place")
        || text.strip_prefix('-').is_some_and(|letters| {
            letters.trim_start_matches(['n', 'E', 'r', 's', 'u', 'z']).starts_with(['i', 'I'])
        })
}

fn files_of_sed(arguments: &[Word]) -> Vec<String> {
    if !arguments.iter().any(|word| is_in_place(&word.text)) {
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
    known_texts(operands.get(usize::from(!scripted)..).unwrap_or_default())
}

fn files_of_git(arguments: &[Word], document: Option<&str>) -> Vec<String> {
    let (mut at, mut folder) = (0, None);
    while let Some(word) = arguments.get(at).filter(|word| word.text.starts_with('-')) {
        let takes_next = matches!(word.text.as_str(), "-C" | "-c" | "--git-dir" | "--work-tree");
        if word.text == "-C" {
            folder = arguments.get(at + 1).and_then(Word::known);
        }
        at += 1 + usize::from(takes_next);
    }
    let names = match arguments.get(at).map(|word| word.text.as_str()) {
        Some("mv") if !has_option(arguments, "-n --dry-run") => files_of_copy("mv", &arguments[at + 1..]),
        Some("apply" | "am") if !has_option(arguments, "--check --stat --numstat --summary --cached") => {
            document.map(files_in_patch).unwrap_or_default()
        }
        _ => return Vec::new(),
    };
    match folder {
        Some(folder) => names.iter().map(|name| format!("{folder}/{name}")).collect(),
        None => names,
    }
}

fn files_of_copy(name: &str, arguments: &[Word]) -> Vec<String> {
    if name == "install" && has_option(arguments, "-d --directory") {
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
    // A target that may be a folder means the file in it.
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

/// A formatter and the options that make it write or keep it from writing.
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

fn files_of_formatter(name: &str, arguments: &[Word]) -> bool {
    FORMATTERS.iter().any(|formatter| {
        formatter.name == name
            && formatter.verb.is_none_or(|verb| arguments.first().is_some_and(|word| word.text == verb))
            && (formatter.needs.is_empty() || has_option(arguments, formatter.needs))
            && !has_option(arguments, formatter.unless)
    })
}
