//! Files of features, one module for each room of the core: a reader for the facts that the room needs, a writer for
//! its effects.

pub mod activity;
pub mod approval;
pub mod cycle;
pub mod friction;
pub mod knowledge;
pub mod memory;
pub mod own_settings;
pub mod pressure;
pub mod session;
pub mod skill_gate;
pub mod verification;
pub mod workflow;
pub mod worktree;

use std::io;
use std::path::Path;

use tidegate_core::event::SessionId;
use tidegate_core::feature::config::Config;
use tidegate_core::feature::facts::{Facts, JoinNeeds, Known, Needs};
use tidegate_core::feature::marks::ClientProcess;
use tidegate_core::feature::verdict::Effect;
use tidegate_core::time::Millis;

use crate::place::{PlaceEnv, StateDir};

/// The surroundings of one hook call.
pub struct HookContext<'a> {
    pub now: Millis,
    pub config: &'a Config,
    pub place: &'a PlaceEnv,
    /// `None` if it cannot be used.
    pub state: Option<&'a StateDir>,
    pub session: &'a SessionId,
    /// The session's folder in private state.
    pub folder: &'a Path,
    /// The project's root.
    pub root: Option<&'a Path>,
    /// The folder that the client was started in.
    pub started_in: Option<&'a Path>,
    pub plugin: Option<&'a Path>,
    /// `TIDEGATE_*` variables that a repository set. Child processes must not get them.
    pub ignored: &'a [String],
    /// Asked before each step of reading.
    pub in_time: &'a dyn Fn() -> bool,
    /// Whether a client of a session still runs; `None` if the system does not tell.
    pub is_running: fn(ClientProcess) -> Option<bool>,
    /// Whether an agent of another session, with these clients, started the calling client.
    pub is_started_by: fn(&SessionId, &[ClientProcess]) -> bool,
}

impl<'a> HookContext<'a> {
    fn state(&self) -> io::Result<&'a StateDir> {
        self.state.ok_or_else(|| io::Error::other("no state"))
    }

    fn root(&self) -> io::Result<&'a Path> {
        self.root.ok_or_else(|| io::Error::other("no project"))
    }
}

/// Reads only the needed facts, in the order of the core's list of rooms.
pub fn read_facts(facts: &mut Facts<'_>, needs: Needs, here: &HookContext<'_>) {
    if needs.session {
        facts.session = session::read_facts(here);
    }
    if needs.approval {
        facts.approval = approval::read_facts(facts, here);
    }
    if needs.skill_gate {
        facts.skill_gate = skill_gate::read_facts(facts, here);
    }
    if is_asked(needs.verification) {
        verification::read_facts(facts, needs.verification, here);
    }
    if needs.own_settings {
        facts.own_settings = own_settings::read_facts(facts, here);
    }
    if is_asked(needs.memory) {
        facts.memory = memory::read_facts(facts, needs.memory, here);
    }
    if needs.cycle {
        facts.cycle = cycle::read_facts(facts, here);
    }
    if needs.workflow {
        facts.workflow = workflow::read_facts(facts, here);
    }
    if is_asked(needs.activity) {
        activity::read_facts(facts, needs.activity, here);
    }
    if is_asked(needs.knowledge) {
        knowledge::read_facts(facts, needs.knowledge, here);
    }
    if needs.worktree {
        facts.worktree = worktree::read_facts(facts, here);
    }
}

fn is_asked<T: JoinNeeds>(needs: T) -> bool {
    needs != T::default()
}

/// Reads the facts again that another process of this session may have changed. Returns whether all are unchanged.
pub fn read_again(facts: &mut Facts<'_>, here: &HookContext<'_>) -> bool {
    let mut is_same = true;
    // Another hook may have started the next stage.
    if facts.cycle != Known::Absent {
        let now = cycle::read_facts(facts, here);
        is_same &= replace_known(&mut facts.cycle, now);
    }
    if facts.workflow.standing != Known::Absent {
        let now = workflow::read_facts(facts, here);
        is_same &= replace_known(&mut facts.workflow, now);
    }
    is_same
}

/// Stores the new value; returns whether it is unchanged.
pub fn replace_known<T: PartialEq>(known: &mut T, now: T) -> bool {
    let before = std::mem::replace(known, now);
    before == *known
}

/// Does not write marks: those of an event are appended together.
pub fn carry_out(effect: &Effect, here: &HookContext<'_>) -> io::Result<()> {
    match effect {
        Effect::Mark(_) => Ok(()),
        Effect::Friction(effect) => friction::carry_out(effect, here),
        Effect::Memory(effect) => memory::carry_out(effect, here),
        Effect::Cycle(effect) => cycle::carry_out(effect, here),
        Effect::Workflow(effect) => workflow::carry_out(effect, here),
        Effect::Activity(effect) => activity::carry_out(effect, here),
        Effect::Knowledge(effect) => knowledge::carry_out(effect, here),
        Effect::Pressure(effect) => pressure::carry_out(effect, here),
        Effect::Worktree(effect) => worktree::carry_out(effect, here),
        Effect::Session(effect) => session::carry_out(*effect, here),
        Effect::Approval(none)
        | Effect::SkillGate(none)
        | Effect::Verification(none)
        | Effect::OwnSettings(none) => match *none {},
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::marks;
    use tidegate_core::feature::facts::Steps;
    use tidegate_core::feature::knowledge::marks::HandoffKnown;
    use tidegate_core::feature::workflow::effect::Effect as WorkflowEffect;

    #[test]
    fn a_handoff_is_written_and_remembered() {
        let base = tempfile::tempdir().unwrap();
        let place = PlaceEnv { state_dir: Some(base.path().join("state")), ..PlaceEnv::default() };
        let (state, root) = (StateDir::open(&place).unwrap(), base.path().join("project"));
        std::fs::create_dir(&root).unwrap();
        let (session, config) = (SessionId::parse("s-1").unwrap(), Config::default());
        let folder = state.session(&session);
        let here = HookContext {
            now: Millis(7),
            config: &config,
            place: &place,
            state: Some(&state),
            session: &session,
            folder: &folder,
            root: Some(&root),
            started_in: None,
            plugin: None,
            ignored: &[],
            in_time: &|| true,
            is_running: |_| None,
            is_started_by: |_, _| false,
        };
        let write = |work: Vec<Steps>| {
            carry_out(&Effect::Workflow(WorkflowEffect::WriteHandoff(work)), &here).unwrap();
        };
        write(Vec::new());
        assert!(!root.join(".claude").exists(), "there is nothing to hand off");
        let steps = vec![("8_implementation".to_owned(), "in progress".to_owned())];
        write(vec![Steps { of: "workflow feature".into(), steps }]);
        let text = std::fs::read_to_string(root.join(".claude/context/handoff.md")).unwrap();
        assert!(text.contains("work: workflow feature\n\n- 8_implementation: in progress\n"), "{text}");
        let known = marks::read(&folder).value().and_then(|marks| marks.knowledge.handoff);
        assert_eq!(known, Some(HandoffKnown { at: Millis(7), wrote: true }));
    }
}
