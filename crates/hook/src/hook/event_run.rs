//! One readable event on its way to an answer.
//!
//! Said once is said once: parallel hooks see the same marks. A ruling with effects is made a second time
//! under the session's exclusive lock if the marks have changed, and its marks are appended before the lock
//! is released.

use std::io;

use tidegate_core::event::{Event, EventKind, FailedStep};
use tidegate_core::feature::facts::{Facts, Known};
use tidegate_core::feature::marks::{Mark, Marks, SessionMark};
use tidegate_core::feature::verdict::{Call, Carried, Effect, EffectTiming, StepFromError};
use tidegate_core::host::{self, Host};
use tidegate_core::pipeline;
use tidegate_core::pipeline::gate;
use tidegate_core::pipeline::record::{FailedCheck, Record};
use tidegate_core::pipeline::ruling::{Outcome, Ruling};
use tidegate_state::feature::{self, HookContext, replace_known};
use tidegate_state::file::lock::{LockMode, LockTimeout};
use tidegate_state::host::claude_code::scheduled_tasks;
use tidegate_state::journal;
use tidegate_state::place::StateDir;
use tidegate_state::session::marks::MarksLock;
use tidegate_state::session::{claims, marks};

use crate::hook::failure::record_id;
use crate::hook::gather::Gather;
use crate::hook::later::{Answer, Later};
use crate::hook::{Hook, answer, keep_until_exit, unreported};
use crate::host::claude_code::{caller, client};
use crate::process::ancestry::{self, Ancestry};

/// A failure at any step fails the whole run.
pub(super) struct EventRun<'a> {
    pub(super) hook: &'a Hook,
    pub(super) event: &'a Event<'a>,
    pub(super) payload: &'a [u8],
    pub(super) state: &'a StateDir,
    pub(super) here: &'a HookContext<'a>,
    /// A calling client that the session's marks do not know yet.
    pub(super) caller: Option<u64>,
    /// Another process than the session's client called: any command can write a payload into a hook. Changes
    /// nothing, and a gate answers as always.
    pub(super) only_answers: bool,
}

impl EventRun<'_> {
    pub(super) fn rule(&self, marks: Known<Marks>) -> Result<Answer, FailedStep> {
        if self.gates() {
            if let Known::Broken(why) = &marks {
                return Err(FailedStep::Marks(why.clone()));
            }
            gate::check_event(self.event, self.hook.fallback.registration)?;
            gate::check_members(self.event)?;
            if self.here.root.is_none() && self.event.edit_paths().is_some() {
                // Without a root, the project's files cannot be told.
                return Err(FailedStep::MemberMissing("cwd"));
            }
        }
        // Unreadable marks would look like a session without edits.
        if let (Known::Broken(why), EventKind::Stop) = (&marks, self.event.kind)
            && self.here.config.stop_gate_closes()
        {
            return Err(FailedStep::Marks(why.clone()));
        }
        let gather = Gather { env: &self.hook.env, payload: self.payload, here: self.here };
        let mut facts = keep_until_exit(gather.facts(self.event, marks));
        if self.only_answers {
            return Ok(self.answer_unknown_caller(&facts));
        }
        self.hook.see_edits(&facts, self.here.config, self.here.folder);
        if let (Known::Broken(why), Some(_)) = (&facts.marks, self.hook.fallback.edits.get()) {
            return Err(FailedStep::Marks(why.clone()));
        }
        let (ruling, outcome, lock) = self.decide(&mut facts)?;
        if self.is_duplicate() {
            // The other registration recorded the stop, which is why this one would block it again.
            if self.event.kind == EventKind::Stop {
                return Ok(Answer::default());
            }
            // The other registration says and records it. A denial is in both replies: if that process died, this one
            // still blocks.
            let answer = host::answer::Answer { context: "", user: "", ..outcome.answer() };
            return Ok(self.event.host.reply(self.event.kind, &answer).into());
        }
        self.write_down(&facts, &keep_until_exit(ruling), &mut keep_until_exit(outcome), lock)
    }

    /// The answer for a caller that is not the session's client.
    fn answer_unknown_caller(&self, facts: &Facts<'_>) -> Answer {
        let now = self.hook.fallback.now;
        let event = self.event;
        let mut record = Record {
            id: record_id(now),
            session: Some(event.session.to_string()),
            tool: event.tool_name().map(str::to_owned),
            project: facts.root.as_deref().map(str::to_owned),
            person: self.hook.env.person,
            ruling: "not-client".to_owned(),
            ..Record::begin_for(event.host, &event.name, now)
        };
        record.cost.us = self.hook.fallback.micros();
        let _ = journal::append(&self.state.journal(), now, &mut record);
        // If this is the client after all, a turn must be able to end.
        let answers = match event.kind {
            EventKind::PreToolUse => true,
            EventKind::Stop => !event.held_before,
            _ => false,
        };
        if !answers {
            return Answer::default();
        }
        let config = self.here.config;
        let ruling = pipeline::decide(facts, config, &|| self.hook.fallback.micros());
        let outcome = ruling.settle(event.host, event.kind, event.is_heard(), config.text_budget(event));
        event.host.reply(event.kind, &outcome.answer()).into()
    }

    /// A gate that is not switched off, and a call that it can be about.
    fn gates(&self) -> bool {
        self.hook.fallback.registration.closes_on_failure(Some(self.event.kind))
            && self.here.config.edit_gate_closes()
            && !self.event.is_plain_command()
    }

    /// Parallel hooks see the same marks: effects that must happen once are decided again under the exclusive lock,
    /// which is kept until they are recorded.
    fn decide(&self, facts: &mut Facts<'_>) -> Result<(Ruling, Outcome, Option<MarksLock>), FailedStep> {
        let decide = |facts: &Facts<'_>| {
            let ruling = pipeline::decide(facts, self.here.config, &|| self.hook.fallback.micros());
            let budget = self.here.config.text_budget(self.event);
            let outcome = ruling.settle(self.event.host, self.event.kind, self.event.is_heard(), budget);
            (ruling, outcome)
        };
        let (mut ruling, mut outcome) = decide(facts);
        if outcome.effects.iter().any(Effect::needs_person) && !self.is_by_person(facts) {
            facts.scripted = true;
            (ruling, outcome) = decide(facts);
        }
        if outcome.effects.is_empty() {
            return Ok((ruling, outcome, None));
        }
        let lock = match self.lock(LockMode::Exclusive) {
            Err(_) if self.stands_alone(&outcome) => {
                outcome.effects.clear();
                return Ok((ruling, outcome, None));
            }
            locked => locked?,
        };
        let mut is_same = replace_known(&mut facts.marks, marks::read(self.here.folder));
        is_same &= feature::read_again(facts, self.here);
        // Facts hardly ever change meanwhile, and the same facts lead to the same ruling.
        let (ruling, outcome) = if is_same { (ruling, outcome) } else { decide(facts) };
        Ok((ruling, outcome, Some(lock)))
    }

    /// A denial by a registration that fails open: it is given even if its effects and marks cannot be written, or a file in
    /// the place of the lock would open every gate.
    fn stands_alone(&self, outcome: &Outcome) -> bool {
        self.event.kind == EventKind::PreToolUse && outcome.call == Call::Deny && !self.gates()
    }

    fn lock(&self, mode: LockMode) -> Result<MarksLock, FailedStep> {
        let patience = self.hook.deadline.patience();
        marks::lock(self.here.folder, mode, patience).map_err(|error| describe_marks_error(&error))
    }

    /// The record, then the marks, then the reply. In this order a failure loses nothing: a text that was not marked
    /// as said will be said again.
    fn write_down(
        &self,
        facts: &Facts<'_>,
        ruling: &Ruling,
        outcome: &mut Outcome,
        lock: Option<MarksLock>,
    ) -> Result<Answer, FailedStep> {
        let (now, config) = (self.here.now, self.here.config);
        let mut new_marks = pipeline::observe(facts, config);
        if outcome.call >= Call::Deny && self.event.announced_patch().is_some() {
            unreported::withdraw(&mut new_marks);
        }
        let leaves: Vec<Mark> = outcome.effects.iter().filter_map(Effect::leaves).collect();
        let is_by_person =
            !new_marks.iter().chain(&leaves).any(Mark::needs_person) || self.is_by_person(facts);
        let counts = |mark: &Mark| is_by_person || !mark.needs_person();
        new_marks.retain(counts);
        new_marks.extend(self.client_marks(facts, &new_marks));
        let observed = new_marks.len();
        new_marks.extend(leaves.into_iter().filter(counts));
        let lock = match lock {
            None if !new_marks.is_empty() => match self.lock(LockMode::Shared) {
                Err(_) if self.stands_alone(outcome) => None,
                locked => Some(locked?),
            },
            lock => lock,
        };

        answer::start_recording();
        self.carry_out(outcome, |when| match when {
            EffectTiming::Needed(step) => Some(step),
            EffectTiming::Tried(_) | EffectTiming::Answered => None,
        })?;
        // Before their marks.
        let tried = self.carry_out(outcome, |when| match when {
            EffectTiming::Tried(step) => Some(step),
            EffectTiming::Needed(_) | EffectTiming::Answered => None,
        });
        if tried.is_err() {
            new_marks.truncate(observed);
            let done =
                outcome.effects.iter().filter(|effect| !matches!(effect.when(), EffectTiming::Tried(_)));
            new_marks.extend(done.filter_map(Effect::leaves).filter(counts));
        }
        let mut record = keep_until_exit(self.record(facts, ruling, outcome, &new_marks));
        if let Err(step) = tried {
            let (class, closed) = (step.class().to_owned(), false);
            record.failure = Some(FailedCheck { class, step: step.to_string(), closed });
        }
        let written = journal::append(&self.state.journal(), now, &mut record)
            .map_err(|error| FailedStep::Record(error.to_string()))
            .and_then(|()| {
                lock.map_or(Ok(()), |lock| {
                    lock.append(&new_marks).map_err(|error| describe_marks_error(&error))
                })
            });

        let mut later = Later::default();
        match written {
            Ok(()) => {
                later.keeps_house = self.event.kind == EventKind::SessionStart;
                later.attended = facts.person.may_be_there();
            }
            // Advice without its mark would come again and again, and a blocked stop that is not counted would be
            // blocked forever.
            Err(step)
                if self.gates() || outcome.call == Call::Pass || self.event.kind != EventKind::PreToolUse =>
            {
                return Err(step);
            }
            Err(_) => outcome.effects.clear(),
        }
        let reply = self.event.host.reply(self.event.kind, &outcome.answer());
        later.effects = std::mem::take(&mut outcome.effects);
        Ok(Answer { reply, later })
    }

    fn record(&self, facts: &Facts<'_>, ruling: &Ruling, outcome: &Outcome, new_marks: &[Mark]) -> Record {
        let config = self.here.config;
        let mut record = Record::from_ruling(facts, ruling, outcome, new_marks);
        record.id = record_id(self.here.now);
        record.project = facts.root.as_deref().map(str::to_owned);
        record.config.clone_from(&config.problems);
        record.off.clone_from(&config.off);
        record.off_by_command.clone_from(&config.off_by_command);
        record.cost.us = self.hook.fallback.micros();
        record
    }

    /// Nothing speaks against a person behind this prompt: no agent started the client, and the project has not scheduled
    /// the prompt. Looked at only if it matters.
    fn is_by_person(&self, facts: &Facts<'_>) -> bool {
        let client = self.hook.env.client.filter(|client| caller::is_client(*client));
        let of_agent = |client: u64| matches!(ancestry::check(client), Ancestry::OfAgent(_));
        let is_scheduled =
            |prompt: &str| self.here.root.is_some_and(|root| scheduled_tasks::has_prompt(root, prompt));
        !client.is_some_and(of_agent) && !facts.typed_prompt().is_some_and(|prompt| is_scheduled(&prompt))
    }

    /// Marks for the calling client, if the session does not know it or its marks start over.
    fn client_marks(&self, facts: &Facts<'_>, new: &[Mark]) -> Vec<Mark> {
        let begins = new.iter().any(|mark| matches!(mark, Mark::Session(SessionMark::Began { .. })));
        let known = facts.marks.value().map(|marks| marks.session.clients.as_slice()).unwrap_or_default();
        let kept = known.iter().copied().filter(|_| begins);
        let clients = kept.chain(self.caller.and_then(client::describe_process));
        clients.map(|client| SessionMark::Client(client).into()).collect()
    }

    /// In order, until one fails.
    fn carry_out(
        &self,
        outcome: &Outcome,
        is_time: fn(EffectTiming) -> Option<StepFromError>,
    ) -> Result<(), FailedStep> {
        for effect in &outcome.effects {
            if let Some(step) = is_time(effect.when()) {
                feature::carry_out(effect, self.here).map_err(|error| step(error.to_string()))?;
            }
        }
        Ok(())
    }

    /// Whether another registration answered this event first. Without `--via`, the program's path identifies a
    /// registration, together with the host that it names: some hosts also call those of Claude Code.
    fn is_duplicate(&self) -> bool {
        let id =
            [&self.event.call, &self.event.turn, &self.event.cause].into_iter().find_map(Option::as_deref);
        let program = || std::env::current_exe().unwrap_or_default().to_string_lossy().into_owned();
        let mut via = self.hook.via.clone().unwrap_or_else(program);
        via.extend(self.hook.fallback.registered.map(Host::name));
        let (id, now) = (id.unwrap_or_default(), self.hook.fallback.now);
        // A file that cannot be used, or a lock that is not given back, makes no duplicate.
        let patience = self.hook.deadline.patience();
        claims::is_duplicate(self.here.folder, &self.event.name, id, &via, now, patience).unwrap_or(false)
    }
}

pub(super) fn describe_marks_error(error: &io::Error) -> FailedStep {
    match LockTimeout::find(error) {
        Some(held) => FailedStep::Locked { file: held.file.display().to_string(), process: held.process },
        None => FailedStep::Marks(error.to_string()),
    }
}
