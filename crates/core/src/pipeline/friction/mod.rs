//! Settles interruptions: a fold over records, oldest first.
//!
//! A record holds the conditions of an interruption ([`Asks`]) and the deeds at an event
//! ([`Deeds`](crate::pipeline::record::Deeds)); later records settle earlier interruptions. An ignored one can
//! still be satisfied in a later turn; every other settlement is final. Denials of one message come within a
//! second and count as one interruption. The rules, case by case, are in `outcomes.md`.
//!
//! No hook folds before its answer. `report` does when a person asks. `tidegate off` does to see whether a
//! policy has been overridden too often in this project, and so does a session's start with `TIDEGATE_OFF`,
//! after its answer. Such a policy steps down: it only advises there, by an entry in `off.json`, which every
//! hook reads anyway. Only a person's override counts. An ignored policy stays as strict as it is: otherwise
//! a model could loosen it.

mod tally;
mod watch;

use std::collections::{BTreeMap, BTreeSet};

use crate::event::EventKind;
use crate::feature::memory::{meta_tag, topic_decision};
use crate::feature::skill_gate;
use crate::feature::verdict::Asks;
use crate::feature::verification::{task_gate, verify_stop};
use crate::host::Host;
use crate::host::person::Person;
use crate::pipeline::record::{HookCost, Record, VerdictRecord};
use crate::text::skill_name::satisfies;
use crate::time::Millis;

use watch::{Watch, WatchedInterruption};

pub use tally::{ShadowCounts, SpokenCounts, Tally, tally_interruptions};

/// After this much silence a session counts as ended.
const SILENT_MS: u64 = 24 * 3_600_000;

/// After this much silence no one is expected to resume it.
const FORGOTTEN_MS: u64 = 7 * 24 * 3_600_000;

/// Starting the client without the policy counts as an override this long after a session's end.
const RESTART_MS: u64 = 3_600_000;

/// Time for a person to switch off a policy that was ignored: a turn that was blocked once ends before they can
/// react.
const REACT_MS: u64 = 3_600_000;

/// Calls of one message are denied together; the model cannot react in between.
const SAME_MESSAGE_MS: u64 = 1000;

/// The form of an interruption.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InterruptionKind {
    Denied,
    /// A turn or a task was blocked.
    Blocked,
    Asked,
    /// The model was told something.
    Advised,
    /// Only the person was told something.
    Told,
}

/// The outcome of an interruption.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settlement {
    /// In the same turn.
    Satisfied,
    SatisfiedLater,
    /// Not satisfied when the turn or the session ended, or when the policy had to ask again.
    Ignored,
    /// The file it was about was then written through the shell.
    Bypassed,
    /// A person switched the policy off.
    Overridden,
    /// Not known yet.
    Open,
    /// It asked the model for nothing, so it has no outcome.
    Unasked,
    /// Never known: its conditions were not recorded.
    Unknown,
}

/// A policy spoke, or would have spoken.
#[derive(Clone, Debug, PartialEq)]
pub struct Interruption {
    pub policy: String,
    pub session: Option<String>,
    pub project: Option<String>,
    pub at: Millis,
    pub kind: InterruptionKind,
    /// Only recorded.
    pub shadow: bool,
    /// Counts together with another one: calls of one message, or several overridden by one act.
    pub joined: bool,
    pub settlement: Settlement,
    /// A person did what was asked, by a command.
    pub by_person: bool,
    /// Milliseconds until the settlement.
    pub after_ms: u64,
    /// Human prompts until the settlement.
    pub turns: u32,
    /// Model turns that it forced.
    pub forced: u32,
    /// Estimated tokens added to the context.
    pub tokens: usize,
}

impl Interruption {
    fn has_conditions(&self) -> bool {
        !matches!(self.settlement, Settlement::Unasked | Settlement::Unknown)
    }
}

#[derive(Debug, Default)]
pub struct FrictionFold {
    interruptions: Vec<Interruption>,
    watch: Watch,
    sessions: BTreeMap<String, SeenSession>,
    stepped_up: Vec<SteppedUp>,
    commands: BTreeMap<String, OffCommand>,
    counted: BTreeSet<(OverridingAct, String, Option<String>)>,
}

/// What a record does to a watched interruption.
#[derive(Clone, Copy)]
enum Change {
    /// Ignored so far: a later turn may still satisfy it.
    PutOff,
    Done {
        by_person: bool,
    },
    /// For good.
    Ended(Settlement),
}

#[derive(Debug, Default)]
struct SeenSession {
    began: Millis,
    /// When it was last started or resumed.
    started: Millis,
    seen: Millis,
    prompts: u32,
}

/// The last `tidegate off` of a policy.
#[derive(Clone, Copy, Debug)]
struct OffCommand {
    at: Millis,
    by_person: bool,
}

/// One act of a person, however many interruptions it overrides.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum OverridingAct {
    /// `tidegate off`; the time is unknown without its record.
    Command(Option<Millis>),
    /// The client was started without the policy: session and time.
    Started(String, Millis),
    /// A gate of a workflow was skipped.
    Skipped(Millis),
}

#[derive(Debug)]
struct SteppedUp {
    policy: String,
    project: String,
    at: Millis,
}

/// A policy steps down when this many of its last interruptions were overridden.
const STEP_DOWN_OVERRIDES: usize = 5;
const STEP_DOWN_WINDOW: usize = 10;

impl FrictionFold {
    pub fn add_record(&mut self, record: &Record) {
        let Some(now) = Millis::from_iso(&record.at) else { return };
        self.expire(now);
        if let Some(id) = &record.session {
            let new = || SeenSession { began: now, started: now, ..SeenSession::default() };
            let session = self.sessions.entry(id.clone()).or_insert_with(new);
            if record.event == "SessionStart" {
                session.started = now;
            }
            session.seen = session.seen.max(now);
            session.prompts += u32::from(record.did.prompt);
        }
        if let Some(off) = &record.did.switched_off {
            self.commands
                .insert(off.policy.clone(), OffCommand { at: now, by_person: record.person.may_be_there() });
        }
        self.settle_by_record(record, now);
        self.override_ignored(record, now);
        for up in &record.did.stepped_up {
            let project = up.project.clone().unwrap_or_default();
            self.stepped_up.push(SteppedUp { policy: up.policy.clone(), project, at: now });
        }
        for verdict in &record.verdicts {
            self.add_interruption(record, verdict, now);
        }
    }

    pub fn finish(mut self, now: Millis) -> Vec<Interruption> {
        self.expire(now);
        let all = self.watch.all();
        self.settle_watched(now, &all, |watched, _, _| watched.ended.is_some().then_some(Change::PutOff));
        self.interruptions
    }

    /// Counts interruptions since a person last let the policy block here again.
    pub fn often_overridden(&self, policy: &str, is_here: impl Fn(&str) -> bool) -> bool {
        let again = self.stepped_up.iter().filter(|up| up.policy == policy && is_here(&up.project));
        let since = again.map(|up| up.at).max();
        let counts = |said: &&Interruption| {
            said.policy == policy
                && matches!(said.kind, InterruptionKind::Denied | InterruptionKind::Blocked)
                && said.has_conditions()
                && !(said.shadow || said.joined)
                && said.project.as_deref().is_some_and(&is_here)
                && since.is_none_or(|since| said.at > since)
        };
        let last = self.interruptions.iter().rev().filter(counts).take(STEP_DOWN_WINDOW);
        last.filter(|said| said.settlement == Settlement::Overridden).count() >= STEP_DOWN_OVERRIDES
    }

    /// Changes those of these watched interruptions for which `how` returns a change.
    fn settle_watched(
        &mut self,
        now: Millis,
        these: &BTreeSet<usize>,
        mut how: impl FnMut(&mut WatchedInterruption, &Interruption, Option<&SeenSession>) -> Option<Change>,
    ) {
        let FrictionFold { interruptions, sessions, watch, .. } = self;
        for at in these {
            let Some((watched, said)) = watch.get_mut(*at).zip(interruptions.get_mut(*at)) else { continue };
            let session = said.session.as_ref().and_then(|id| sessions.get(id));
            let Some(change) = how(watched, said, session) else { continue };
            let was_ignored = said.settlement == Settlement::Ignored;
            let turns = session.map_or(0, |session| session.prompts).saturating_sub(watched.prompts);
            let settlement = match change {
                Change::PutOff => Settlement::Ignored,
                Change::Done { .. } if turns > 0 || was_ignored => Settlement::SatisfiedLater,
                Change::Done { .. } => Settlement::Satisfied,
                Change::Ended(settlement) => settlement,
            };
            said.by_person = matches!(change, Change::Done { by_person: true });
            if settlement != said.settlement {
                said.settlement = settlement;
                said.after_ms = now.since(said.at);
                said.turns = turns;
            }
            if !matches!(change, Change::PutOff) {
                watch.remove(*at, said);
            }
        }
    }

    /// The act by which this record overrides an interruption.
    fn overrides(&self, record: &Record, said: &Interruption) -> Option<OverridingAct> {
        if said.shadow {
            return None;
        }
        let names = |list: &[String]| list.contains(&said.policy);
        let same_session = said.session.is_some() && said.session == record.session;
        let same_project = said.project.is_some() && said.project == record.project;
        let switched = record.did.switched_off.as_ref().filter(|off| {
            let here = match (&off.session, &off.project) {
                (Some(session), _) => said.session.as_ref() == Some(session),
                (None, Some(project)) => said.project.as_ref() == Some(project),
                (None, None) => true,
            };
            record.person.may_be_there() && off.policy == said.policy && here
        });
        let known = self.commands.get(&said.policy);
        // A project has several names; `off_by_command` covers those that the command did not use.
        let was_off = same_session && names(&record.off_by_command) && known.is_none_or(|off| off.by_person);
        if switched.is_some() || was_off {
            return Some(OverridingAct::Command(known.map(|off| off.at)));
        }
        // A client that an agent started with its own variable is not a person's word. A client running in parallel
        // may serve another purpose: only one started after the denial can be a response to it.
        let id = record.session.as_ref().filter(|_| record.person.may_be_there() && names(&record.off))?;
        let session = self.sessions.get(id)?;
        let restarts = record.event == "SessionStart" && same_project && session.began > said.at;
        let again = restarts && !matches!(record.cause.as_deref(), Some("clear" | "compact"));
        (same_session || again).then(|| OverridingAct::Started(id.clone(), session.started))
    }

    /// One act counts once, however many interruptions it settles.
    fn count_override(&mut self, at: usize, act: OverridingAct) {
        let said = &mut self.interruptions[at];
        if !said.joined {
            said.joined = !self.counted.insert((act, said.policy.clone(), said.project.clone()));
        }
    }

    /// The latest interruption is overridden even if a turn ended after it.
    fn override_ignored(&mut self, record: &Record, now: Millis) {
        let named = record.did.switched_off.iter().map(|off| &off.policy);
        let named: BTreeSet<&String> = named.chain(&record.off).chain(&record.off_by_command).collect();
        for policy in named {
            let lately = |said: &Interruption| now.since(said.at) <= REACT_MS;
            let last = self.interruptions.iter().enumerate().rev().take_while(|(_, said)| lately(said));
            let mut asked = last.filter(|(_, said)| said.policy == *policy && said.has_conditions());
            let Some((at, act)) = asked.find_map(|(at, said)| Some((at, self.overrides(record, said)?)))
            else {
                continue;
            };
            let said = &mut self.interruptions[at];
            if said.settlement == Settlement::Ignored {
                said.settlement = Settlement::Overridden;
                said.after_ms = now.since(said.at);
                self.watch.remove(at, said);
                self.count_override(at, act);
            }
        }
    }

    /// Ends sessions that fell silent.
    fn expire(&mut self, now: Millis) {
        let due = self.watch.take_due(now);
        self.settle_watched(now, &due, |watched, said, session| {
            let silent = now.since(session.map_or(said.at, |session| session.seen));
            let is_over = silent > SILENT_MS || watched.ended.is_some_and(|at| now.since(at) > RESTART_MS);
            match (silent > FORGOTTEN_MS, is_over) {
                (true, _) => Some(Change::Ended(Settlement::Ignored)),
                (false, true) => Some(Change::PutOff),
                (false, false) => None,
            }
        });
        for at in due {
            let Some(said) = self.interruptions.get(at) else { continue };
            let session = said.session.as_ref().and_then(|id| self.sessions.get(id));
            let seen = session.map_or(said.at, |session| session.seen);
            // What is ignored already waits for nothing but to be forgotten.
            let is_open = said.settlement == Settlement::Open;
            self.watch.look_again(
                at,
                Millis(seen.0.saturating_add(if is_open { SILENT_MS } else { FORGOTTEN_MS })),
            );
        }
    }

    /// Of the watched interruptions, those on which this record may bear.
    fn concerned(&self, record: &Record) -> BTreeSet<usize> {
        let did = &record.did;
        // A switch names its session or project itself.
        if did.switched_off.is_some() {
            return self.watch.all();
        }
        let mut found = BTreeSet::new();
        if record.session.is_some() {
            found.extend(self.watch.of_session(record.session.as_ref()));
        }
        let of_project = did.compound || did.entry || did.stage.is_some() || did.gate.is_some();
        let of_others =
            did.skipped_gate.is_some() || record.event == "SessionStart" && !record.off.is_empty();
        if of_project || of_others {
            found.extend(self.watch.of_project(record.project.as_ref()));
        }
        found
    }

    fn settle_by_record(&mut self, record: &Record, now: Millis) {
        let these = self.concerned(record);
        let act = |at: &usize| {
            let (watched, said) = self.watch.get(*at).zip(self.interruptions.get(*at))?;
            let skipped = || skips_asked_gate(watched, said, record).then_some(OverridingAct::Skipped(now));
            let act = self.overrides(record, said).or_else(skipped)?;
            (said.settlement == Settlement::Open).then_some((*at, act))
        };
        let acts: BTreeMap<usize, OverridingAct> = these.iter().filter_map(act).collect();
        let done = Change::Done { by_person: record.ruling == "command" && record.person == Person::There };
        let ends = record.event == "SessionEnd";
        self.settle_watched(now, &these, |watched, said, _| {
            let same_session = said.session.is_some() && said.session == record.session;
            if same_session && record.event == "SessionStart" {
                watched.ended = None;
            }
            if acts.contains_key(&watched.at) {
                return Some(Change::Ended(Settlement::Overridden));
            }
            // Flow belongs to the project: any session may review it.
            let same_project = said.project.is_some() && said.project == record.project;
            let did = Asks { compound: record.did.compound, entry: record.did.entry, ..Asks::default() };
            if same_project && same_flow_request(&watched.asks, &did) == Some(true) {
                return Some(done);
            }
            // So does a cycle, and a person can declare a stage done at a terminal.
            if same_project && watched.asks.stage.is_some() && watched.asks.stage == record.did.stage {
                return Some(done);
            }
            // So does a workflow.
            if same_project && watched.asks.gate.is_some() && watched.asks.gate == record.did.gate {
                return Some(done);
            }
            if !same_session || watched.ended.is_some() {
                return None;
            }
            if is_satisfied(&mut watched.asks, record) {
                return Some(done);
            }
            // Both are relative to the project's root.
            if watched.asks.file.as_ref().is_some_and(|about| record.did.edited_by_shell.contains(about)) {
                return Some(Change::Ended(Settlement::Bypassed));
            }
            if watched.asks.verified && ends_unverified(record) {
                return Some(Change::PutOff);
            }
            if ends {
                watched.ended = Some(now);
            }
            None
        });
        if ends {
            for at in &these {
                self.watch.look_again(*at, Millis(now.0.saturating_add(RESTART_MS)));
            }
        }
        for (at, act) in acts {
            self.count_override(at, act);
        }
    }

    /// A new interruption settles earlier ones of the same policy as ignored. A request about another file, or to
    /// another agent, is a separate matter.
    fn add_interruption(&mut self, record: &Record, verdict: &VerdictRecord, now: Millis) {
        let Some(kind) = interruption_kind(record, verdict) else { return };
        // The model cannot follow a text that only the person reads.
        let asks = !verdict.asks.is_empty() && kind != InterruptionKind::Told;
        let mut joined = false;
        if asks {
            let these = self.watch.of_session(record.session.as_ref()).collect();
            self.settle_watched(now, &these, |watched, said, _| {
                let whose = (&said.policy, &said.session, said.shadow, &watched.agent)
                    == (&verdict.policy, &record.session, verdict.shadow, &record.agent);
                let together = now.since(said.at) <= SAME_MESSAGE_MS;
                joined |= whose && together;
                let again = same_flow_request(&watched.asked, &verdict.asks)
                    .unwrap_or_else(|| verdict.asks.file.is_none() || watched.asked == verdict.asks);
                (whose && again && !together).then_some(Change::Ended(Settlement::Ignored))
            });
            let known = record.session.as_ref().and_then(|id| self.sessions.get(id));
            let prompts = known.map_or(0, |session| session.prompts);
            let at = self.interruptions.len();
            let asks = verdict.asks.clone();
            let agent = record.agent.clone();
            let watched = WatchedInterruption { at, asked: asks.clone(), asks, agent, prompts, ended: None };
            self.watch.add(watched, record);
            self.watch.look_again(at, Millis(now.0.saturating_add(SILENT_MS)));
        }
        let reason = verdict.reason.as_deref().filter(|_| verdict.call != "pass").unwrap_or_default();
        let text = verdict.says.model.as_deref().filter(|text| was_said(record.said.model.as_deref(), text));
        let copies = Host::from_name(&record.host).copies_of_reason(EventKind::from_name(&record.event));
        let cost = HookCost::of_texts(reason, copies, text.unwrap_or_default());
        let decides = record
            .verdicts
            .iter()
            .find(|verdict| !verdict.shadow && verdict.call == "deny")
            .is_some_and(|first| std::ptr::eq(first, verdict));
        self.interruptions.push(Interruption {
            policy: verdict.policy.clone(),
            session: record.session.clone(),
            project: record.project.clone(),
            at: now,
            kind,
            shadow: verdict.shadow,
            joined,
            settlement: match kind {
                _ if asks => Settlement::Open,
                InterruptionKind::Denied | InterruptionKind::Blocked if always_asks(&verdict.policy) => {
                    Settlement::Unknown
                }
                _ => Settlement::Unasked,
            },
            by_person: false,
            after_ms: 0,
            turns: 0,
            // The model answers a whole message once.
            forced: if decides && !joined { record.cost.turns } else { 0 },
            tokens: if verdict.shadow { 0 } else { cost.tokens },
        });
    }
}

/// Gates whose denials always name conditions; the first records did not contain them.
fn always_asks(policy: &str) -> bool {
    [skill_gate::ID, verify_stop::ID, task_gate::ID, meta_tag::ID, topic_decision::ID].contains(&policy)
}

/// `None` if the verdict did not speak.
fn interruption_kind(record: &Record, verdict: &VerdictRecord) -> Option<InterruptionKind> {
    let holds_up = matches!(record.event.as_str(), "Stop" | "SubagentStop" | "TaskCompleted");
    let said = |text: Option<&str>, all: Option<&str>| {
        text.is_some_and(|text| verdict.shadow || was_said(all, text))
    };
    match verdict.call.as_str() {
        "deny" | "halt" if holds_up => Some(InterruptionKind::Blocked),
        "deny" | "halt" => Some(InterruptionKind::Denied),
        "ask" => Some(InterruptionKind::Asked),
        _ if said(verdict.says.model.as_deref(), record.said.model.as_deref()) => {
            Some(InterruptionKind::Advised)
        }
        _ if said(verdict.says.user.as_deref(), record.said.user.as_deref()) => Some(InterruptionKind::Told),
        _ => None,
    }
}

/// One line of several is enough: texts that do not fit are left out.
fn was_said(all: Option<&str>, text: &str) -> bool {
    all.is_some_and(|all| text.lines().any(|line| !line.is_empty() && all.contains(line)))
}

/// A person skipped the gate that was asked for.
fn skips_asked_gate(watched: &WatchedInterruption, said: &Interruption, record: &Record) -> bool {
    let same_project = said.project.is_some() && said.project == record.project;
    let skipped = record.did.skipped_gate;
    record.person.may_be_there()
        && same_project
        && !said.shadow
        && skipped.is_some()
        && skipped == watched.asks.gate
}

/// Removes fulfilled conditions and returns whether enough are fulfilled.
fn is_satisfied(asks: &mut Asks, record: &Record) -> bool {
    let did = &record.did;
    let invoked = |asked: &String| did.skills.iter().any(|skill| satisfies(skill, asked));
    let wanted = !asks.skills.is_empty();
    asks.skills.retain(|asked| !invoked(asked));
    (wanted && asks.skills.is_empty())
        || asks.any_skill.iter().any(invoked)
        || asks.any_file.iter().any(|asked| did.read.iter().any(|file| is_same_file(file, asked)))
        || (asks.verified && !did.verified.is_empty())
        || (asks.compacted && did.compacted)
        || (asks.tag && did.tag)
        || (asks.topic.is_some() && asks.topic == did.topic)
}

/// Whether both ask the same of the flow; `None` if the first asks nothing of it.
fn same_flow_request(asks: &Asks, other: &Asks) -> Option<bool> {
    let same = (asks.compound && other.compound) || (asks.entry && other.entry);
    (asks.compound || asks.entry).then_some(same)
}

/// A path may be full or relative to the project's root.
fn is_same_file(one: &str, other: &str) -> bool {
    let ends = |long: &str, short: &str| long.strip_suffix(short).is_some_and(|rest| rest.ends_with('/'));
    one == other || ends(one, other) || ends(other, one)
}

/// A turn ended. A policy that still waits, for a check in the background or for the person's answer, passes with
/// conditions.
fn ends_unverified(record: &Record) -> bool {
    let waits = record.verdicts.iter().any(|verdict| verdict.call == "pass" && verdict.asks.verified);
    record.event == "Stop" && record.agent.is_none() && record.ruling == "pass" && !waits
}
