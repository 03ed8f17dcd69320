//! just: the recipes of a justfile.

use crate::text::word_list::{Words, among};

use crate::feature::verification::checks::language::Languages;
use crate::feature::verification::checks::proven::Proven;
use crate::feature::verification::checks::recipe::{Recipe, kinds_of_name, runs_nothing};
use crate::feature::verification::checks::tool::{has_option, operands};
use crate::feature::verification::checks::{CheckCall, Contents, Ecosystem};

pub(super) static ECOSYSTEM: Ecosystem = Ecosystem {
    manifests: "justfile Justfile .justfile",
    other_files: "",
    texts: "justfile Justfile .justfile",
    commands: "just",
    alone: "",
    read: |_, text| read(text),
    judge: judge_just,
    reads: Languages::ALL,
    folder_options: "",
    runs: |_, _| "just",
    examples: |_, _| Vec::new(),
};

const TELLS: Words = "-n -l -s --show --summary --evaluate --dump --choose --init --fmt -e --edit -f --justfile \
        -d --working-directory --variables --groups -c --command";

fn judge_just(call: &CheckCall<'_>) -> Proven {
    let Some(file) = call.nearest(ECOSYSTEM.manifests).filter(|_| !has_option(call.arguments, TELLS)) else {
        return Proven::NONE;
    };
    let recipes = &file.contents.recipes;
    let name = operands(call.arguments, "--set").find(|word| !word.contains('='));
    let name = name.or_else(|| recipes.first().map(|recipe| recipe.name.as_str())).unwrap_or_default();
    match call.recipe(file, name, &[]) {
        Some(proven) => proven,
        None if file.contents.open => kinds_of_name(name.rsplit(':').next().unwrap_or(name)).into(),
        None => Proven::NONE,
    }
}

/// A recipe that starts with `#!` is one script.
fn read(text: &str) -> Contents {
    let mut contents = Contents::default();
    let mut inside = false;
    let mut runs = true;
    for line in text.lines() {
        if line.starts_with([' ', '\t']) {
            if let Some(recipe) = contents.recipes.last_mut().filter(|_| inside) {
                add_line(recipe, line);
            }
            continue;
        }
        if line.trim().is_empty() {
            continue;
        }
        inside = false;
        let starts = |words: &[&str]| words.iter().any(|word| line.starts_with(word));
        if starts(&["import ", "import? ", "mod ", "mod? "]) {
            contents.open = true;
        }
        if let Some(shell) = line.strip_prefix("set shell") {
            runs = is_shell(shell);
        }
        if starts(&["#", "[", "set ", "export ", "import", "mod ", "mod? "]) {
            continue;
        }
        if let Some(alias) = line.strip_prefix("alias ") {
            if let Some((name, target)) = alias.split_once(":=") {
                let first = vec![target.trim().to_owned()];
                contents.recipes.push(Recipe { name: name.trim().to_owned(), lines: Vec::new(), first });
            }
            continue;
        }
        let Some((head, rest)) = line.split_once(':').filter(|(_, rest)| !rest.starts_with('=')) else {
            continue;
        };
        let name = head.trim_start_matches('@').split_whitespace().next().unwrap_or_default().to_owned();
        let first = rest
            .split('#')
            .next()
            .unwrap_or_default()
            .replace("&&", " ")
            .split_whitespace()
            .map(|word| word.trim_matches(['(', ')']).to_owned())
            .collect();
        contents.recipes.push(Recipe { name, lines: Vec::new(), first });
        inside = true;
    }
    if runs { contents } else { Contents::default() }
}

/// `:= ["bash", "-uc"]`.
fn is_shell(setting: &str) -> bool {
    let mut words = setting.split('"').skip(1).step_by(2);
    let name = words.next().and_then(|word| word.rsplit('/').next()).unwrap_or_default();
    let reads_only = |word: &str| word.starts_with('-') && !word.starts_with("--") && word.contains('n');
    let is_posix = among("sh bash zsh dash ash ksh", name);
    !(runs_nothing(name) || is_posix && words.any(reads_only))
}

fn add_line(recipe: &mut Recipe, line: &str) {
    let text = filled(line.trim());
    match recipe.lines.first_mut() {
        Some(script) if script.starts_with("#!") => {
            script.push('\n');
            script.push_str(&text);
            return;
        }
        _ => {}
    }
    if recipe.lines.is_empty() && text.starts_with("#!") {
        recipe.lines.push(text);
        return;
    }
    // Continues the previous line.
    if let Some(last) = recipe.lines.last_mut().filter(|last| last.ends_with('\\')) {
        last.pop();
        last.push_str(&text);
        return;
    }
    let mut line = text.as_str();
    let mut ignored = false;
    while let Some(rest) = line.strip_prefix(['@', '-']) {
        ignored |= line.starts_with('-');
        line = rest;
    }
    if !line.is_empty() && !line.starts_with('#') {
        recipe.lines.push(if ignored { format!("{line} || true") } else { line.to_owned() });
    }
}

/// Replaces interpolations: their value is as unknown as a shell variable.
pub(super) fn filled(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once("{{") {
        out.push_str(before);
        out.push_str("${MADE}");
        rest = after.split_once("}}").map_or("", |(_, after)| after);
    }
    out.push_str(rest);
    out
}
