//! Checks of a line that could prove nothing: they only list, or they ran while the edits were put away.

use crate::feature::verification::checks::{self, ExtraChecks, ProjectChecks, RunPlace};
use crate::feature::verification::work::WhyNot;
use crate::shell::{Script, Step, Word};

/// For a line in which no check was found. Each question is asked of the same line without the part that makes it void.
pub fn find_void(
    project: &ProjectChecks,
    script: &Script,
    place: RunPlace<'_>,
    extra: &ExtraChecks,
) -> Option<WhyNot> {
    let shown = script.revealed();
    let would_check =
        |script: &Script| project.evidence(script, place, extra).iter().any(|found| !found.by_output);
    let has_git = |step: &Step| step.name() == Some("git");
    if shown.steps.iter().any(has_git) {
        let mut script = shown.clone();
        let git = script.steps.iter_mut().filter(|step| has_git(step));
        git.for_each(|step| step.words = vec![Word::literal(":")]);
        if would_check(&script) {
            return Some(WhyNot::TreeMoved);
        }
    }
    if shown.steps.iter().any(|step| step.words.iter().any(|word| only_lists(step, word))) {
        let mut script = shown;
        for step in &mut script.steps {
            let of = step.clone();
            step.words.retain(|word| !only_lists(&of, word));
        }
        if would_check(&script) {
            return Some(WhyNot::OnlyLists);
        }
    }
    None
}

fn only_lists(step: &Step, word: &Word) -> bool {
    let prints = matches!(step.name(), Some("make" | "gmake" | "just"))
        && matches!(word.text.as_str(), "-n" | "--just-print" | "--recon");
    prints || checks::is_telling(word)
}
