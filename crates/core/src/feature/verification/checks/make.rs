//! Make: the targets of a Makefile.

use crate::shell::Word;
use crate::text::word_list::{Words, among};

use crate::feature::verification::checks::kind::CheckKind;
use crate::feature::verification::checks::language::Languages;
use crate::feature::verification::checks::proven::Proven;
use crate::feature::verification::checks::recipe::{self, Example, Recipe, kinds_of_name};
use crate::feature::verification::checks::tool::has_option;
use crate::feature::verification::checks::{CheckCall, Contents, Ecosystem, ProjectChecks, ProjectFile};

pub(super) static ECOSYSTEM: Ecosystem = Ecosystem {
    manifests: "Makefile makefile GNUmakefile",
    other_files: "",
    texts: "Makefile makefile GNUmakefile",
    commands: "make gmake",
    alone: "",
    read: |_, text| read(text),
    judge: judge_make,
    reads: Languages::ALL,
    folder_options: "-C --directory",
    runs: |_, _| "make",
    examples,
};

/// The first target, where no name tells what a target is for.
fn examples(project: &ProjectChecks, file: &ProjectFile) -> Vec<Example> {
    let kinds = recipe::kinds_of_first(project, file);
    let kinds = [CheckKind::Typecheck, CheckKind::Build].into_iter().filter(|kind| kinds.has(*kind));
    kinds.map(|kind| (kind, "make".to_owned())).collect()
}

/// Options that take the next word as a value.
const VALUED: Words = "-C --directory -f --file --makefile -I --include-dir -o -W --eval";

fn judge_make(call: &CheckCall<'_>) -> Proven {
    let long = "--just-print --recon --question --touch --ignore-errors --print-data-base --eval";
    // Another file, or targets that count as made already.
    let other = has_option(call.arguments, "-f --file --makefile -o --old-file --assume-old");
    if call.arguments.iter().any(|word| only_prints(&word.text)) || has_option(call.arguments, long) || other
    {
        return Proven::NONE;
    }
    // `SHELL=/bin/true`, `CC=true`.
    let sets_nothing = |word: &Word| {
        word.text
            .split_once('=')
            .is_some_and(|(name, value)| !name.starts_with('-') && does_nothing(name, value))
    };
    if call.arguments.iter().any(sets_nothing) {
        return Proven::NONE;
    }
    let Some(file) = call.nearest("GNUmakefile makefile Makefile") else { return Proven::NONE };
    // Make looks only in its own folder.
    if file.folder != call.folder {
        return Proven::NONE;
    }
    let mut targets: Vec<&str> = Vec::new();
    let mut words = call.arguments.iter();
    while let Some(word) = words.next() {
        let text = word.text.as_str();
        if among(VALUED, text) {
            words.next();
        } else if !text.starts_with('-') && !text.contains('=') && text.parse::<u32>().is_err() {
            // A number belongs to `-j`.
            targets.push(text);
        }
    }
    if targets.is_empty() {
        let first = file.contents.recipes.iter().find(|recipe| !recipe.name.starts_with('.'));
        return first.and_then(|recipe| call.recipe(file, &recipe.name, &[])).unwrap_or_default();
    }
    let of = |target: &&str| match call.recipe(file, target, &[]) {
        Some(proven) => proven,
        None if file.contents.open => kinds_of_name(target).into(),
        None => Proven::NONE,
    };
    targets.iter().map(of).reduce(Proven::and).unwrap_or_default()
}

/// Variables that hold the program of a recipe.
const PROGRAMS: Words = "CC CXX GO GOTEST CARGO RUSTC PYTHON PYTEST NODE NPM NPX PNPM YARN BUN RUBY RSPEC PHP PHPUNIT MVN GRADLE \
    DOTNET DOCKER MAKE RUNNER TEST TEST_CMD TESTCMD TEST_RUNNER LINT LINTER";

/// Whether a variable makes the commands of a recipe do nothing.
fn does_nothing(name: &str, value: &str) -> bool {
    let program =
        value.split_whitespace().next().and_then(|word| word.rsplit('/').next()).unwrap_or_default();
    match name.trim_end_matches([':', '?', '+']) {
        "MAKEFLAGS" | "GNUMAKEFLAGS" => {
            let first = value.split_whitespace().next().unwrap_or_default();
            only_prints(&format!("-{}", first.trim_start_matches('-')))
        }
        ".SHELLFLAGS" => value.split_whitespace().any(|word| word.starts_with('-') && word.contains('n')),
        "SHELL" => recipe::runs_nothing(program),
        name => among(PROGRAMS, name) && recipe::runs_nothing(program),
    }
}

/// `-n` prints, `-i` ignores failures, `-q` asks, `-t` touches, `-p` prints all rules, `-v` the version.
pub(super) fn only_prints(option: &str) -> bool {
    let letters = option.strip_prefix('-').filter(|letters| !letters.starts_with('-')).unwrap_or_default();
    letters.starts_with(['n', 'i', 'q', 't', 'p', 'v'])
        || letters.starts_with(['k', 's', 'B', 'r', 'w']) && letters.contains(['n', 'i', 'q', 't'])
}

/// Variables with plain text are filled in; conditionals are read as if all held.
fn read(text: &str) -> Contents {
    let mut contents = Contents::default();
    let mut variables: Vec<(String, String)> = vec![("MAKE".into(), "make".into())];
    let mut current: Vec<usize> = Vec::new();
    let (mut one_shell, mut ignores) = (false, false);
    for line in joined_lines(text) {
        if let Some(command) = line.strip_prefix('\t') {
            for at in &current {
                add_line(&mut contents.recipes[*at], &expand(command, &variables));
            }
            continue;
        }
        let line = line.split('#').next().unwrap_or_default().trim_end();
        if line.trim().is_empty() {
            continue;
        }
        if line.starts_with("include ") || line.starts_with("-include ") || line.starts_with("sinclude ") {
            contents.open = true;
            continue;
        }
        if let Some((name, value)) = variable(line) {
            if among("SHELL MAKEFLAGS .SHELLFLAGS", name) && does_nothing(name, value) {
                return Contents::default();
            }
            variables.retain(|(known, _)| known != name);
            variables.push((name.to_owned(), value.to_owned()));
            current.clear();
            continue;
        }
        let Some((targets, rest)) = line.split_once(':') else { continue };
        if targets.contains(['=', '$', '%', '(']) || rest.starts_with('=') {
            current.clear();
            continue;
        }
        one_shell |= targets.trim() == ".ONESHELL";
        ignores |= targets.trim() == ".IGNORE";
        let rest = rest.trim_start_matches(':');
        let (first, inline) = rest.split_once(';').unwrap_or((rest, ""));
        if first.contains('=') {
            continue;
        }
        current.clear();
        for name in targets.split_whitespace().filter(|name| !name.starts_with('.')) {
            let first = first.split_whitespace().filter(|word| *word != "|").map(str::to_owned);
            let at = contents.recipes.iter().position(|recipe| recipe.name == name).unwrap_or_else(|| {
                contents.recipes.push(Recipe { name: name.to_owned(), ..Recipe::default() });
                contents.recipes.len() - 1
            });
            contents.recipes[at].first.extend(first);
            if !inline.trim().is_empty() {
                add_line(&mut contents.recipes[at], &expand(inline, &variables));
            }
            current.push(at);
        }
    }
    for recipe in &mut contents.recipes {
        if one_shell && recipe.lines.len() > 1 {
            recipe.lines = vec![recipe.lines.join("\n")];
        }
        if ignores {
            recipe.lines.iter_mut().for_each(|line| *line = format!("{{ {line}\n}} || true"));
        }
    }
    contents
}

fn add_line(recipe: &mut Recipe, line: &str) {
    let mut line = line.trim();
    let mut ignored = false;
    while let Some(rest) = line.strip_prefix(['@', '+', '-']) {
        ignored |= line.starts_with('-');
        line = rest.trim_start();
    }
    if !line.is_empty() && !line.starts_with('#') {
        recipe.lines.push(if ignored { format!("{line} || true") } else { line.to_owned() });
    }
}

/// Joins continued lines.
fn joined_lines(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut open = false;
    for line in text.lines() {
        let (part, goes_on) = match line.strip_suffix('\\') {
            Some(part) => (part, true),
            None => (line, false),
        };
        match lines.last_mut() {
            Some(last) if open => {
                last.push(' ');
                last.push_str(part.trim_start());
            }
            _ => lines.push(part.to_owned()),
        }
        open = goes_on;
    }
    lines
}

fn variable(line: &str) -> Option<(&str, &str)> {
    let line = line.strip_prefix("export ").unwrap_or(line);
    let (name, value) = line.split_once('=')?;
    let name = name.trim_end_matches([':', '?', '+', '!']).trim();
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    (!name.is_empty() && name.chars().all(plain)).then_some((name, value.trim()))
}

/// Fills in `$(NAME)` and `${NAME}`; unknown names stay shell variables.
fn expand(line: &str, variables: &[(String, String)]) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some(at) = rest.find('$') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix('$') {
            out.push('$');
            rest = after;
            continue;
        }
        let close = match rest.as_bytes().first() {
            Some(b'(') => ')',
            Some(b'{') => '}',
            _ => {
                // `$@` and `$<`: the target and its first source.
                let width = rest.chars().next().map_or(0, char::len_utf8);
                out.push_str("${MADE}");
                rest = &rest[width..];
                continue;
            }
        };
        let Some(end) = rest.find(close) else {
            out.push_str("${MADE}");
            break;
        };
        let name = &rest[1..end];
        match variables.iter().find(|(known, _)| known == name) {
            Some((_, value)) if !value.contains('$') => out.push_str(value),
            _ if name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') => {
                out.push_str("${");
                out.push_str(name);
                out.push('}');
            }
            _ => out.push_str("${MADE}"),
        }
        rest = &rest[end + 1..];
    }
    out.push_str(rest);
    out
}
