//! mise: the tasks of a `mise.toml`. Tasks may also be files or come from other configs: a task that runs exists, so its
//! name tells where its text does not.

use toml::de::{DeTable, DeValue};

use crate::shell::Word;
use crate::text::word_list::Words;

use super::just::filled;
use super::language::Languages;
use super::proven::Proven;
use super::recipe::{Recipe, kinds_of_name};
use super::tool::has_option;
use super::{CheckCall, Contents, Ecosystem};

pub(super) static ECOSYSTEM: Ecosystem = Ecosystem {
    manifests: "mise.toml .mise.toml mise.local.toml .mise.local.toml .config/mise.toml .mise/config.toml mise/config.toml",
    other_files: "",
    texts: "mise.toml .mise.toml mise.local.toml .mise.local.toml .config/mise.toml .mise/config.toml mise/config.toml",
    commands: "mise",
    alone: "mise",
    read: |_, text| read(text),
    judge: judge_mise,
    reads: Languages::ALL,
    folder_options: "mise:-C mise:--cd",
    runs: |_, _| "mise run",
    examples: |_, _| Vec::new(),
};

/// Options that take the next word as a value.
const VALUED: Words = "-C --cd -E --env -j --jobs -o --output -t --tool --timeout --shell -s";

fn judge_mise(call: &CheckCall<'_>) -> Proven {
    if has_option(call.arguments, "-n --dry-run --list -l") {
        return Proven::NONE;
    }
    let mut at = 0;
    let mut names = 0;
    let mut proven: Option<Proven> = None;
    // `mise run lint ::: test` runs two tasks.
    while let Some(word) = call.arguments.get(at) {
        at += 1;
        match word.text.as_str() {
            ":::" => names = 1,
            text if text.starts_with('-') => at += usize::from(super::among(VALUED, text)),
            "run" | "r" if names == 0 => names = 1,
            name if names <= 1 => {
                names = 2;
                let rest = call.arguments.get(at..).unwrap_or_default();
                let more: Vec<Word> = rest.iter().take_while(|word| word.text != ":::").cloned().collect();
                let task = judge_task(call, name, &more);
                proven = Some(proven.map_or(task, |all| all.and(task)));
            }
            _ => {}
        }
    }
    proven.unwrap_or_default()
}

fn judge_task(call: &CheckCall<'_>, name: &str, more: &[Word]) -> Proven {
    let more: Vec<Word> = more.iter().filter(|word| word.text != "--").cloned().collect();
    let files = call.project.files.iter().filter(|file| super::among(ECOSYSTEM.manifests, &file.name));
    let mut known: Vec<_> = files.filter(|file| super::is_at_or_above(&file.folder, call.folder)).collect();
    known.sort_by_key(|file| std::cmp::Reverse(file.folder.len()));
    let found = known.into_iter().find_map(|file| call.recipe(file, name, &more));
    found.unwrap_or_else(|| kinds_of_name(name.split(':').next().unwrap_or(name)).into())
}

fn read(text: &str) -> Contents {
    let mut contents = Contents::default();
    let Ok(table) = DeTable::parse(text) else { return contents };
    let Some(DeValue::Table(tasks)) = table.get_ref().get("tasks").map(toml::Spanned::get_ref) else {
        return contents;
    };
    for (name, task) in tasks {
        let mut recipe = Recipe { name: name.get_ref().to_string(), ..Recipe::default() };
        match task.get_ref() {
            DeValue::Table(task) => {
                let value = |key: &str| task.get(key).map(toml::Spanned::get_ref);
                let folder = value("dir").and_then(DeValue::as_str).filter(|folder| !folder.contains("{{"));
                for line in value("run").map(texts).unwrap_or_default() {
                    let line = filled(&line);
                    recipe.lines.push(match folder {
                        Some(folder) if !line.starts_with("#!") => format!("cd {folder} && {line}"),
                        _ => line,
                    });
                }
                let first = value("depends").map(texts).unwrap_or_default();
                recipe.first.extend(
                    first.iter().filter_map(|task| task.split_whitespace().next()).map(str::to_owned),
                );
            }
            other => recipe.lines.extend(texts(other).iter().map(|line| filled(line))),
        }
        contents.recipes.push(recipe);
    }
    contents
}

/// A text, or a list of texts and of tasks to run.
fn texts(value: &DeValue<'_>) -> Vec<String> {
    match value {
        DeValue::String(text) => vec![text.to_string()],
        DeValue::Array(items) => items.iter().flat_map(|item| texts(item.get_ref())).collect(),
        DeValue::Table(table) => {
            let task = table.get("task").or_else(|| table.get("tasks"));
            let names = task.map(|task| texts(task.get_ref())).unwrap_or_default();
            names.into_iter().map(|name| format!("mise run {name}")).collect()
        }
        _ => Vec::new(),
    }
}
