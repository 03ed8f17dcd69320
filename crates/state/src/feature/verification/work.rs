//! What a call did to the code: the files it wrote, what its command line proves, and how the project is verified.

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

use crate::feature::Where;
use crate::feature::verification::manifests;
use crate::feature::verification::manifests::Manifest;
use crate::project;
use crate::project::touched;

/// As long as the host lets a command run without being told otherwise; where it does not say how long it ran.
const LONGEST_CALL_MS: u64 = 120_000;

/// Between the end of a command and our start lies the start of a process, on a busy machine a long time.
const START_SLACK_MS: u64 = 2_000;

/// More files than a command line names on purpose.
const MOST_FILES: usize = 64;

/// More folders than a command line names on purpose.
const MOST_LINKS: usize = 8;

/// A command line as it ran.
#[derive(Clone, Copy)]
struct Line<'a> {
    /// The folder it started in.
    start: &'a str,
    /// The folder it ended in, where that is another one. Where a line left the folders that the client allows, it is put
    /// back where it was, so the same folder tells nothing.
    end: Option<&'a str>,
    /// The call did not wait for its end.
    background: bool,
}

fn in_background(event: &Event<'_>) -> bool {
    event.finished_command().is_some_and(|command| command.background.is_some())
}

/// Enough of a command line to know it again.
fn one_line(line: &str) -> String {
    const SHOWN: usize = 80;
    // The whole line: half a token is not recognised as one.
    let line = redact(line).text;
    // A variable may hold a secret under any name.
    let shown = |word: &str| match word.split_once('=') {
        Some((name, _)) if !name.starts_with('-') => format!("{name}=…"),
        _ => word.to_owned(),
    };
    let words: Vec<String> = line.split_whitespace().map(shown).collect();
    cut_after(&words.join(" "), SHOWN).into_owned()
}

/// The folder that a command line started in. The payload's own is where it ended; only a subagent is always put back.
fn start(event: &Event<'_>, marks: Option<&Marks>, root: &Path) -> String {
    let ended = event.cwd.as_deref().map(str::to_owned);
    let before = marks.and_then(|marks| marks.session.cwd.clone()).filter(|_| event.is_main_thread());
    before.or(ended).unwrap_or_else(|| root.to_string_lossy().into_owned())
}

/// Files are called what the session's main thread would call them, whoever edits them.
fn touched(path: &Path, named: &str, roots: &[PathBuf], home: &Path, step: Option<usize>) -> Touched {
    let inside = touched::inside(path, roots);
    Touched {
        path: path.to_string_lossy().into_owned(),
        inside: inside.as_ref().map(|found| found.name(home)),
        below: inside.map(|found| found.below).unwrap_or_default(),
        class: FileClass::of(named),
        step,
    }
}

pub(crate) fn read_facts(facts: &mut Facts<'_>, needs: Needs, here: &Where<'_>) {
    facts.verification = work(facts.event, facts.marks.value(), needs, here);
}

/// What the call writes or has written, and the verifying commands of the project.
fn work(event: &Event<'_>, marks: Option<&Marks>, needs: Needs, here: &Where<'_>) -> own::Facts {
    let mut work = own::Facts::default();
    let Some(root) = here.root else { return work };
    let start = start(event, marks, root);
    let ended = event.cwd.as_deref().filter(|_| event.is_main_thread());
    let line = Line {
        start: &start,
        end: ended.filter(|end| Path::new(end) != Path::new(&start)),
        background: in_background(event),
    };
    // A subagent may work in a worktree of its own.
    let home = here.started_in.filter(|_| !event.is_main_thread()).unwrap_or(root);
    let mut script = None;
    if needs.files {
        let mut targets = bookkeeping::written_files(event, here.config);
        if targets.is_empty() {
            targets = event.edit_paths().and_then(Result::ok).unwrap_or_default();
        }
        let roots = roots_of(root, marks, here);
        if !targets.is_empty() {
            let touch = |path: &Cow<'_, str>| touched(&root.join(path.as_ref()), path, &roots, home, None);
            work.files = targets.iter().map(touch).collect();
        } else if let Some(parsed) = event.command_line().and_then(|text| parse(text, &start, here)) {
            let written = written(event, &parsed, line, root, home, marks, here.now);
            let touch =
                |(path, step): (String, usize)| touched(Path::new(&path), &path, &roots, home, Some(step));
            work.files = written.into_iter().map(touch).collect();
            script = Some(parsed);
        }
    }
    let edited = work.files.iter().any(|file| file.inside.is_some() && file.class == FileClass::Code);
    let script = script.filter(|_| bookkeeping::wants_checks(marks, edited));
    if script.is_some() || needs.checks {
        let unverified = marks.and_then(|marks| marks.verification.changes.as_ref());
        let files = unverified.map(|changes| changes.files.as_slice()).unwrap_or_default();
        let edited: Vec<PathBuf> = files.iter().map(|file| home.join(file)).collect();
        // A script that was made for a moment and removed again. Of a file that is not known by its whole path that cannot be
        // said.
        let all_known = unverified.is_some_and(|changes| changes.paths().is_some());
        work.edits_gone = needs.checks && all_known && !edited.iter().any(|file| file.exists());
        let roots = roots_of(root, marks, here);
        let hides = checks(&mut work, script.as_ref(), line, &roots, &edited, needs.checks, here);
        if hides {
            work.proof.hidden = event.command_line().map(one_line);
        }
    }
    work
}

/// The files that a command line names as written and that have changed since it began, each with its step.
fn written(
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
    // What was seen before is not this line's: what was verified since, and the edits that are known.
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
        touched::changed_at(Path::new(path)).is_some_and(|at| at >= began && at > seen)
    };
    moved.extend(named.into_iter().filter(|(path, _)| is_changed(path)));
    moved
}

/// The unverified files that are now in one of these folders: `mv` renames a folder and leaves the times of its files.
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
            // Which part of the path was the folder's own is not known.
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

/// A command line, with what is known of where it runs.
fn parse(text: &str, start: &str, here: &Where<'_>) -> Option<Script> {
    let project = here.started_in;
    let surroundings = Surroundings {
        home: here.place.home.as_deref().and_then(Path::to_str),
        // The client's shell does not have it (seen with 2.1.325): then `cd "$CLAUDE_PROJECT_DIR"` stays where it is,
        // and that is as good only within the project.
        project: project.filter(|project| Path::new(start).starts_with(project)).and_then(Path::to_str),
        cwd: Some(start),
    };
    shell::parse_in(text, surroundings)
}

/// The verifying commands of the project, as its files show them, and what a command line proves by them. The files are
/// read only for a line that may hold such a command, and where a policy has to name them. Returns whether the line holds a check
/// whose failure would not have shown.
fn checks(
    work: &mut own::Facts,
    script: Option<&Script>,
    line: Line<'_>,
    roots: &[PathBuf],
    edited: &[PathBuf],
    named: bool,
    here: &Where<'_>,
) -> bool {
    let extra = here.config.policies.verify_stop.commands.extra();
    let revealed = script.map(Script::revealed);
    let revealed = revealed.filter(|revealed| could_check(revealed, &extra));
    let Some((root, others)) = roots.split_first().filter(|_| revealed.is_some() || named) else {
        return false;
    };
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let real =
        |path: &str| touched::real(Path::new(path)).map_or_else(|| path.to_owned(), |real| text(&real));
    let edited: Vec<PathBuf> =
        edited.iter().map(|path| touched::real(path).unwrap_or_else(|| path.clone())).collect();
    let cwd = real(line.start);
    let end = line.end.map(real).filter(|end| *end != cwd);
    let mut roots = manifests::roots(root, others);
    manifests::add_worktrees(&mut roots, &edited);
    let mut links = Vec::new();
    if let Some(revealed) = &revealed {
        let known: Vec<String> = roots.iter().map(|root| text(root)).collect();
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        let place = RunPlace { roots: &known, cwd: &cwd, end: end.as_deref(), links: &[] };
        // A link to the project, or another worktree of it.
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
    let seen: Vec<SeenFile<'_>> = manifests.iter().map(Manifest::seen).collect();
    let project = checks::read_project(&seen);
    let mut hides = false;
    if let (Some(script), Some(revealed)) = (script, &revealed) {
        let judge = |script: &Script| {
            if line.background {
                project.in_background().evidence(script, place, &extra)
            } else {
                project.evidence(script, place, &extra)
            }
        };
        work.proof.evidence = judge(script);
        hides = work.proof.evidence.is_empty() && !judge(revealed).is_empty();
    }
    work.checks = Some(project);
    hides
}

/// Where the project's files are.
fn roots_of(root: &Path, marks: Option<&Marks>, here: &Where<'_>) -> Vec<PathBuf> {
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
            assert_eq!(one_line(line), shown);
        }
        // A token that would be cut in two is gone before.
        let token = format!("ghp_{}", "aB3".repeat(12));
        assert!(!one_line(&format!("{} {token}", "x".repeat(60))).contains("aB3"));
    }
}
