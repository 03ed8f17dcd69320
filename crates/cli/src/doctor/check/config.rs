//! Config files and variables: what is wrong in them, what waits for trust, what does not count.

use tidegate_state::host_settings::variables_of_project;

use super::super::finding::Findings;
use super::super::gathered::Gathered;

pub(super) fn check(seen: &Gathered, found: &mut Findings) {
    let path = seen.env.place.config();
    let file = path.as_ref().map_or_else(|| "the config".to_owned(), |path| path.display().to_string());
    for problem in &seen.config.problems {
        found.warning(
            problem.clone(),
            "mend it; `tidegate config show --origin` shows what counts until then",
        );
    }
    for waiting in &seen.config.waiting {
        let what = format!("{}: `{}` has no effect", waiting.assignment.origin, waiting.assignment.path());
        if waiting.never {
            found.note_with(what, format!("it counts only in {file}"));
        } else {
            found.note_with(what, "`tidegate trust` shows it and asks whether it may count");
        }
    }
    // A settings file that cannot be read is another check's.
    let ignored = seen.project.as_deref().and_then(variables_of_project).unwrap_or_default();
    for name in ignored {
        found.warning(
            format!("{name} is set in the project's settings, where it is ignored"),
            format!("take it out there; set {name} in the environment that you start the client from"),
        );
    }
    if found.is_empty() {
        let there = path.is_some_and(|path| path.exists());
        found.ok(if there { file } else { "defaults only".to_owned() });
    }
}
