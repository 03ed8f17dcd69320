//! A prompt in a client that an agent of the workflow's session started (`claude -p …`): that client is one more agent, so the prompt
//! is denied behind a gate as a spawned agent is.

use super::{ActiveWorkflow, find_active, gate_context, gate_marks, gate_text, loss_text};
use crate::feature::config::Config;
use crate::feature::facts::Facts;
use crate::feature::verdict::{Asks, Call, Verdict};
use crate::feature::workflow::AttachedWorkflow;

/// `None` if no gate is closed.
pub(super) fn refuse_prompt(
    facts: &Facts<'_>,
    config: &Config,
    attached: &AttachedWorkflow,
) -> Option<Verdict> {
    let (text, gate, effects, because) = match find_active(facts, Some(attached)) {
        ActiveWorkflow::Yes(standing, attached) => {
            let context = gate_context(facts, config, standing, Some(attached));
            let (gate, report) = standing.find_blocking_gate(&context)?;
            let claimed = standing.manifest.as_ref().ok().and_then(|manifest| manifest.section(gate.after));
            let text = gate_text(gate, &report, claimed.is_some_and(|found| found.skipped));
            let effects = gate_marks(facts, config, standing, attached);
            (text, gate.number, effects, "a checkpoint was not passed")
        }
        ActiveWorkflow::Lost(attached, gate, loss) => (
            loss_text(attached, &gate, &loss),
            gate.gate,
            Vec::new(),
            "a checkpoint was not passed, and the manifest does not tell of it any more",
        ),
        ActiveWorkflow::Damaged(_) | ActiveWorkflow::No(_) => return None,
    };
    let reason = format!(
        "{text} An agent of the session in that workflow started this client, so its prompts wait like any agent."
    );
    (!config.stepped_down(super::ID)).then(|| Verdict {
        call: Call::Deny,
        reason: Some(reason),
        asks: Asks::gate(gate),
        effects,
        ..Verdict::silent(because)
    })
}
