//! Task: the tasks of a `Taskfile.yml`.

use crate::shell::Word;
use crate::text::word_list::Words;
use crate::text::yaml::{self, Node};

use super::just::filled;
use super::language::Languages;
use super::proven::Proven;
use super::recipe::{Recipe, kinds_of_name};
use super::tool::{has_option, operands};
use super::{CheckCall, Contents, Ecosystem};

pub(super) static ECOSYSTEM: Ecosystem = Ecosystem {
    manifests: "Taskfile.yml Taskfile.yaml taskfile.yml taskfile.yaml Taskfile.dist.yml Taskfile.dist.yaml",
    other_files: "",
    texts: "Taskfile.yml Taskfile.yaml taskfile.yml taskfile.yaml Taskfile.dist.yml Taskfile.dist.yaml",
    commands: "task go-task",
    alone: "",
    read: |_, text| read(text),
    judge: judge_task,
    reads: Languages::ALL,
    folder_options: "-d --dir",
    runs: |_, _| "task",
    examples: |_, _| Vec::new(),
};

const VALUED: Words = "-d --dir -t --taskfile -o --output -C --concurrency -I --interval";

const TELLS: Words =
    "-l -a -n --list-all --dry --summary --status --init -i -w --watch -t --taskfile -g --global";

fn judge_task(call: &CheckCall<'_>) -> Proven {
    let Some(file) = call.nearest(ECOSYSTEM.manifests).filter(|_| !has_option(call.arguments, TELLS)) else {
        return Proven::NONE;
    };
    let dashes = call.arguments.iter().position(|word| word.text == "--");
    let (own, more) = call.arguments.split_at(dashes.unwrap_or(call.arguments.len()));
    let more: Vec<Word> = more.iter().skip(1).cloned().collect();
    let mut names: Vec<&str> = operands(own, VALUED).filter(|word| !word.contains('=')).collect();
    if names.is_empty() {
        names.push("default");
    }
    let of = |name: &&str| {
        // A task that ran exists, here or in an included file.
        let last = name.rsplit(':').next().unwrap_or(name);
        call.recipe(file, name, &more).unwrap_or_else(|| kinds_of_name(last).into())
    };
    names.iter().map(of).reduce(Proven::and).unwrap_or_default()
}

fn read(text: &str) -> Contents {
    let mut contents = Contents::default();
    let Ok(root) = yaml::parse(text) else { return contents };
    for (name, task) in root.get("tasks").map(Node::entries).unwrap_or_default() {
        let Some(name) = name.key() else { continue };
        let mut recipe = Recipe { name: name.to_owned(), ..Recipe::default() };
        // With these it succeeds although a command failed, or without running any.
        let is = |node: &Node<'_>, key: &str| node.get(key).and_then(Node::text) == Some("true");
        let hides = is(task, "ignore_error") || task.get("status").is_some();
        let commands = task.get("cmds").or_else(|| task.get("cmd")).unwrap_or(task);
        let folder = task.get("dir").and_then(Node::text).filter(|folder| !folder.contains("{{"));
        for command in each(commands) {
            let line = match (command.text(), command.get("task").and_then(Node::text)) {
                (Some(line), _) => filled(line),
                (None, Some(other)) => format!("task {other}"),
                (None, None) => match command.get("cmd").and_then(Node::text) {
                    Some(line) if is(command, "ignore_error") => format!("{} || true", filled(line)),
                    Some(line) => filled(line),
                    None => continue,
                },
            };
            let line = if hides { format!("{{ {line}; }} || true") } else { line };
            let moved = folder.filter(|_| !line.starts_with("task "));
            recipe.lines.push(moved.map_or_else(|| line.clone(), |folder| format!("cd {folder} && {line}")));
        }
        for first in task.get("deps").map(each).unwrap_or_default() {
            let name = first.text().or_else(|| first.get("task").and_then(Node::text));
            recipe.first.extend(name.map(str::to_owned));
        }
        contents.recipes.push(recipe);
    }
    contents
}

/// The items of a list, or the value itself.
fn each<'n, 'a>(node: &'n Node<'a>) -> Vec<&'n Node<'a>> {
    match &node.kind {
        yaml::Kind::List { items, .. } => items.iter().collect(),
        _ => vec![node],
    }
}
