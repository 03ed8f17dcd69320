//! An agent failed: advice on how to give its work to another one, with the failure itself. Before the next agent is
//! spawned it would be too late: the host delivers that text with the agent's result.

use super::until_boundary;
use crate::event::Event;
use crate::feature::facts::Facts;
use crate::feature::marks::SessionMark;
use crate::feature::verdict::{Audience, Effect, Say, Verdict};
use crate::feature::workflow::failed_work::{is_same_work, says_failed};
use crate::text::cut::first_chars;
use crate::text::quoted::quoted_line;

/// Bytes looked at from each end of an answer.
const LOOKED_AT: usize = 2048;

/// Most characters of a task's description.
const LONGEST_TASK: usize = 80;

/// Begins the notice that advice on a task was given.
const FAILED: &str = "failed ";

/// The task of an agent that failed, or that says its work did.
pub(super) fn find(event: &Event<'_>) -> Option<String> {
    if let Some(agent) = event.ended_agent() {
        let failed = agent.failed || says_failed(&agent.answer, &agent.answer);
        return failed.then(|| agent.task.clone());
    }
    let (task, _) = event.spawned_agent()?;
    let says = || event.agent_answer(LOOKED_AT).is_some_and(|(head, tail)| says_failed(&head, &tail));
    (event.spawn_failed() || says()).then(|| task.to_owned())
}

pub(super) fn advise_on_failure(facts: &Facts<'_>) -> Verdict {
    let Some(task) = find(facts.event) else { return Verdict::silent("no agent failed") };
    let task = first_chars(&quoted_line(&task), LONGEST_TASK).to_owned();
    let begin = until_boundary(FAILED);
    let is_told = |notice: &String| notice.strip_prefix(&begin).is_some_and(|told| is_same_work(told, &task));
    if facts.marks.value().is_some_and(|marks| marks.session.notices.iter().any(is_told)) {
        return Verdict::silent("an agent failed, and the advice on its work was given");
    }
    let named = if task.is_empty() { String::new() } else { format!(" (\"{task}\")") };
    let text = format!(
        "To repeat the work of this failed agent{named}, start a fresh one and give it one line on what went wrong. The whole output \
         of the failed one would fill the context twice."
    );
    let when_said = vec![Effect::mark(SessionMark::Notice(format!("{begin}{task}")))];
    let say = Say { to: Audience::Model, text, weight: 65, explains: false, when_said };
    Verdict { says: vec![say], ..Verdict::silent("an agent failed") }
}
