//! Edits and evidence of a call: the files it wrote, the checks that its command line proves, and the project's own
//! checks.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use tidegate_core::event::Event;
use tidegate_core::feature::facts::{Facts, Touched};
use tidegate_core::feature::marks::Marks;
use tidegate_core::feature::verification::bookkeeping;
use tidegate_core::feature::verification::checks;
use tidegate_core::feature::verification::checks::{RunPlace, SeenFile, could_check};
use tidegate_core::feature::verification::facts as own;
use tidegate_core::feature::verification::facts::Needs;
use tidegate_core::feature::verification::work::ChangeSet;
use tidegate_core::file_class::FileClass;
use tidegate_core::redact::redact;
use tidegate_core::shell::{self, Script, Spot, Surroundings};
use tidegate_core::text::cut::cut_after;
use tidegate_core::time::Millis;

use crate::feature::HookContext;
use crate::feature::verification::manifests;
use crate::feature::verification::manifests::ProjectManifest;
use crate::project;
use crate::project::paths;

/// The host's default time limit, for calls without a duration.
const LONGEST_CALL_MS: u64 = 120_000;

/// Between the end of a command and our start lies the start of a process, which takes long on a busy machine.
const START_SLACK_MS: u64 = 2_000;

/// More than a command line names on purpose.
const MOST_FILES: usize = 64;

/// More than a command line names on purpose.
const MOST_LINKS: usize = 8;

#[derive(Clone, Copy)]
struct Line<'a> {
    start: &'a str,
    /// The folder it ended in, if it is another one. The client moves a line back that left the allowed folders, so
    /// the same folder proves nothing.
    end: Option<&'a str>,
    background: bool,
}

fn is_in_background(event: &Event<'_>) -> bool {
    event.finished_command().is_some_and(|command| command.background.is_some())
}

/// Enough to recognise the line, without secrets.
fn shorten_line(line: &str) -> String {
    const SHOWN: usize = 80;
    // Redacts the whole line first: half a token is not recognised.
    let line = redact(line).text;
    // Any variable may hold a secret.
    let shown = |word: &str| match word.split_once('=') {
        Some((name, _)) if !name.starts_with('-') => format!("{name}=…"),
        _ => word.to_owned(),
    };
    let words: Vec<String> = line.split_whitespace().map(shown).collect();
    cut_after(&words.join(" "), SHOWN).into_owned()
}

/// The payload has the folder in which the line ended; only a subagent always returns to the first.
fn start_folder(event: &Event<'_>, marks: Option<&Marks>, root: &Path) -> String {
    let ended = event.cwd.as_deref().map(str::to_owned);
    let before = marks.and_then(|marks| marks.session.cwd.clone()).filter(|_| event.is_main_thread());
    before.or(ended).unwrap_or_else(|| root.to_string_lossy().into_owned())
}

/// Names files as the session's main thread would, also for subagents.
fn describe_touched(
    path: &Path,
    named: &str,
    roots: &[PathBuf],
    home: &Path,
    step: Option<usize>,
) -> Touched {
    let inside = paths::locate(path, roots);
    Touched {
        path: path.to_string_lossy().into_owned(),
        inside: inside.as_ref().map(|found| found.name(home)),
        below: inside.map(|found| found.below).unwrap_or_default(),
        class: FileClass::of(named),
        step,
    }
}

pub(crate) fn read_facts(facts: &mut Facts<'_>, needs: Needs, here: &HookContext<'_>) {
    facts.verification = read_work(facts.event, facts.marks.value(), needs, here);
}

fn read_work(event: &Event<'_>, marks: Option<&Marks>, needs: Needs, here: &HookContext<'_>) -> own::Facts {
    let mut work = own::Facts::default();
    let Some(root) = here.root else { return work };
    let start = start_folder(event, marks, root);
    let ended = event.cwd.as_deref().filter(|_| event.is_main_thread());
    let line = Line {
        start: &start,
        end: ended.filter(|end| Path::new(end) != Path::new(&start)),
        background: is_in_background(event),
    };
    // A subagent may work in its own worktree.
    let home = here.started_in.filter(|_| !event.is_main_thread()).unwrap_or(root);
    let mut script = None;
    if needs.files {
        let mut targets = bookkeeping::written_files(event, here.config);
        if targets.is_empty() {
            targets = event.edit_paths().and_then(Result::ok).unwrap_or_default();
        }
        let roots = roots_of(root, marks, here);
        if !targets.is_empty() {
            let touch =
                |path: &Cow<'_, str>| describe_touched(&root.join(path.as_ref()), path, &roots, home, None);
            work.files = targets.iter().map(touch).collect();
        } else if let Some(parsed) = event.command_line().and_then(|text| parse_line(text, &start, here)) {
            let written = find_written(event, &parsed, line, root, home, marks, here.now);
            let touch = |(path, step): (String, usize)| {
                describe_touched(Path::new(&path), &path, &roots, home, Some(step))
            };
            work.files = written.into_iter().map(touch).collect();
            script = Some(parsed);
        }
    }
    let edited = work.files.iter().any(|file| file.inside.is_some() && file.class == FileClass::Code);
    let script = script.filter(|_| bookkeeping::wants_checks(event, marks, edited));
    if script.is_some() || needs.checks {
        let own = marks.map(|marks| &marks.verification);
        let unverified = own.and_then(|own| own.changes.as_ref().or(own.past.as_ref()));
        let files = unverified.map(|changes| changes.files.as_slice()).unwrap_or_default();
        let edited: Vec<PathBuf> = files.iter().map(|file| home.join(file)).collect();
        // A script that was created and removed again. Cannot be told for files without an absolute path.
        let all_known = unverified.is_some_and(|changes| changes.paths().is_some());
        work.edits_gone = needs.checks && all_known && !edited.iter().any(|file| file.exists());
        let roots = roots_of(root, marks, here);
        read_checks(&mut work, script.as_ref(), line, &roots, &edited, needs.checks, here);
        let found = &work.proof.checks;
        let has_check = !found.visible.is_empty() || !found.hidden.is_empty();
        if let Some(line) = event.command_line().filter(|_| has_check) {
            work.proof.line = shorten_line(line);
        }
        work.proof.tree = script.as_ref().and_then(checks::last_move);
    }
    work
}

/// Files that the line names as written and that changed since it began, each with its step.
fn find_written(
    event: &Event<'_>,
    script: &Script,
    line: Line<'_>,
    root: &Path,
    home: &Path,
    marks: Option<&Marks>,
    now: Millis,
) -> Vec<(String, usize)> {
    let ran = event.finished_command().and_then(|command| command.duration).unwrap_or(LONGEST_CALL_MS);
    let began = now.before(ran + START_SLACK_MS);
    // Edits that are known or verified already are not this line's.
    let work = marks.map(|marks| &marks.verification);
    let verified = work.and_then(|work| work.verified).unwrap_or_default();
    let changes = work.and_then(|work| work.changes.as_ref());
    let known =
        |path: &str| changes.filter(|changes| changes.files.iter().any(|file| path.ends_with(file.as_str())));
    let root = root.to_string_lossy();
    let named = script.writes().iter().take(MOST_FILES);
    let named: Vec<(String, usize)> = named
        .filter_map(|write| Some((write.path.resolve(&root, line.start, line.end)?, write.step)))
        .collect();
    let mut moved = changes.map(|changes| moved_along(changes, &named, home)).unwrap_or_default();
    let is_changed = |path: &str| {
        let seen = known(path).map(|changes| changes.last).unwrap_or_default().max(verified);
        paths::changed_at(Path::new(path)).is_some_and(|at| at >= began && at > seen)
    };
    moved.extend(named.into_iter().filter(|(path, _)| is_changed(path)));
    moved
}

/// Unverified files that are now in one of these folders: `mv` of a folder keeps the times of its files.
fn moved_along(changes: &ChangeSet, named: &[(String, usize)], home: &Path) -> Vec<(String, usize)> {
    let folders: Vec<&(String, usize)> = named.iter().filter(|(path, _)| Path::new(path).is_dir()).collect();
    if folders.is_empty() {
        return Vec::new();
    }
    let gone = changes.files.iter().map(Path::new).filter(|file| !home.join(file).exists());
    let found = |file: &Path| {
        folders.iter().find_map(|(folder, step)| {
            let mut below = file.components();
            below.next()?;
            // The renamed part of the path is unknown: tries each one.
            std::iter::from_fn(|| {
                let place = Path::new(folder).join(below.as_path());
                below.next().map(|_| place)
            })
            .find(|place| place.is_file())
            .map(|place| (place.to_string_lossy().into_owned(), *step))
        })
    };
    gone.filter_map(found).collect()
}

fn parse_line(text: &str, start: &str, here: &HookContext<'_>) -> Option<Script> {
    let project = here.started_in;
    let surroundings = Surroundings {
        home: here.place.home.as_deref().and_then(Path::to_str),
        // The client's shell does not have this variable (seen with 2.1.325), so `cd "$CLAUDE_PROJECT_DIR"` changes
        // nothing. That is the same only within the project.
        project: project.filter(|project| Path::new(start).starts_with(project)).and_then(Path::to_str),
        cwd: Some(start),
    };
    shell::parse_in(text, surroundings)
}

/// Finds the project's checks, and the ones that a command line proves. Reads files only for a line that may contain
/// a check, or if a policy has to name one.
fn read_checks(
    work: &mut own::Facts,
    script: Option<&Script>,
    line: Line<'_>,
    roots: &[PathBuf],
    edited: &[PathBuf],
    named: bool,
    here: &HookContext<'_>,
) {
    let extra = here.config.policies.verify_stop.commands.extra();
    let revealed = script.map(Script::revealed);
    let revealed = revealed.filter(|revealed| could_check(revealed, &extra));
    let Some((root, others)) = roots.split_first().filter(|_| revealed.is_some() || named) else {
        return;
    };
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let real =
        |path: &str| paths::resolve(Path::new(path)).map_or_else(|| path.to_owned(), |real| text(&real));
    let edited: Vec<PathBuf> =
        edited.iter().map(|path| paths::resolve(path).unwrap_or_else(|| path.clone())).collect();
    let cwd = real(line.start);
    let end = line.end.map(real).filter(|end| *end != cwd);
    let mut roots = manifests::roots(root, others);
    manifests::add_worktrees(&mut roots, &edited);
    let mut links = Vec::new();
    if let Some(revealed) = &revealed {
        let known: Vec<String> = roots.iter().map(|root| text(root)).collect();
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        let place = RunPlace { roots: &known, cwd: &cwd, end: end.as_deref(), links: &[] };
        // A link to the project, or another worktree.
        let outside = checks::folders_outside(revealed, place, &extra);
        links = outside.into_iter().take(MOST_LINKS).map(|path| (path.clone(), real(&path))).collect();
        let paths: Vec<PathBuf> = links.iter().map(|(_, real)| Path::new(real).join("_")).collect();
        manifests::add_worktrees(&mut roots, &paths);
    }
    let names: Vec<String> = roots.iter().map(|root| text(root)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let place = RunPlace { roots: &names, cwd: &cwd, end: end.as_deref(), links: &links };
    let folders = revealed.as_ref().map(|script| checks::folders_of_line(script, place)).unwrap_or_default();
    let name = |path: &PathBuf| place.name(&Spot::Absolute(text(path)));
    let edited: Vec<String> = edited.iter().filter_map(name).collect();
    let manifests = manifests::read(&roots, &folders, &edited);
    let seen: Vec<SeenFile<'_>> = manifests.iter().map(ProjectManifest::seen).collect();
    let project = checks::read_project(&seen);
    if let Some(script) = script.filter(|_| revealed.is_some()) {
        let project = if line.background { &project.in_background() } else { &project };
        work.proof.checks = project.proof(script, place, &extra);
    }
    work.checks = Some(project);
}

/// All folders that may contain files of the project.
fn roots_of(root: &Path, marks: Option<&Marks>, here: &HookContext<'_>) -> Vec<PathBuf> {
    let main = project::main_worktree(root);
    let added = marks.map(|marks| marks.session.directories.as_slice()).unwrap_or_default();
    let mut roots: Vec<PathBuf> = [Some(root.to_owned()), here.started_in.map(Path::to_owned), main]
        .into_iter()
        .flatten()
        .chain(added.iter().map(PathBuf::from))
        .collect();
    roots.dedup();
    roots
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_is_shown_without_its_secrets() {
        for (line, shown) in [
            ("cargo test | tail", "cargo test | tail"),
            ("FOO=bar  cargo test\n| tail", "FOO=… cargo test | tail"),
            (
                "cargo test --features=a -- --token abcd1234ef",
                "cargo test --features=a -- --token [redacted:token]",
            ),
            ("DATABASE_URL=postgres://a:b@c npm test", "DATABASE_URL=… npm test"),
            ("curl -u me:hunter2 x; npm test; true", "curl -u me:[redacted:url_password] x; npm test; true"),
        ] {
            assert_eq!(shorten_line(line), shown);
        }
        // A token that would be cut in two is redacted first.
        let token = format!("ghp_{}", "aB3".repeat(12));
        assert!(!shorten_line(&format!("{} {token}", "x".repeat(60))).contains("aB3"));
    }
}
