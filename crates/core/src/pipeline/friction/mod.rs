//! What became of what we said: a fold over records, oldest first.
//!
//! A record says what would satisfy an interruption ([`Asks`]) and what was done ([`Deeds`](crate::pipeline::record::Deeds)); later
//! records settle earlier ones. The rules, case by case, are in the table of tests below.

mod tally;

use std::collections::{BTreeMap, BTreeSet};

use crate::feature::memory::{meta_tag, topic_decision};
use crate::feature::skill_gate;
use crate::feature::verdict::Asks;
use crate::feature::verification::{task_gate, verify_stop};
use crate::pipeline::record::{Record, VerdictRecord};
use crate::text::skill_name::satisfies;
use crate::text::tokens::estimate_tokens;
use crate::time::Millis;

pub use tally::{Spoke, Tally, Would, tallies};

/// A session that has not been heard of for so long has ended.
const SILENT_MS: u64 = 24 * 3_600_000;

/// So long after a session's end a person can still be seen to start the client without the policy.
const RESTART_MS: u64 = 3_600_000;

/// So long a person may take to switch off what was not done: a turn that was held up once ends before they can react.
const REACT_MS: u64 = 3_600_000;

/// Calls of one message of the model are denied together; it cannot have reacted in between.
const TOGETHER_MS: u64 = 1000;

/// How a policy spoke.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A call was denied.
    Denied,
    /// A turn or a task was held up.
    Blocked,
    /// A person was asked.
    Asked,
    /// The model was told something.
    Advised,
    /// Only the person was told something.
    Told,
}

/// What became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settlement {
    /// What it asked for was done.
    Satisfied,
    /// It was not, and will not be.
    Ignored,
    /// The file it was about was then written through the shell.
    Bypassed,
    /// A person switched the policy off.
    Overridden,
    /// Not known yet.
    Open,
    /// It asked for nothing.
    Unasked,
    /// What it asked for was not written down, and so it will never be known.
    Unknown,
}

/// One time that a policy spoke, or would have spoken.
#[derive(Clone, Debug, PartialEq)]
pub struct Interruption {
    /// Whose.
    pub policy: String,
    /// In which session.
    pub session: Option<String>,
    /// In which project.
    pub project: Option<String>,
    /// When.
    pub at: Millis,
    /// How.
    pub kind: Kind,
    /// It was only recorded.
    pub shadow: bool,
    /// It is one with another: calls of one message, or several that one act of a person overrode.
    pub joined: bool,
    /// What became of it.
    pub settlement: Settlement,
    /// Milliseconds until then.
    pub after_ms: u64,
    /// Human prompts that began in between.
    pub turns: u32,
    /// Model turns that it forced.
    pub forced: u32,
    /// Tokens that it put into the context, by estimate.
    pub tokens: usize,
}

impl Interruption {
    fn asked(&self) -> bool {
        !matches!(self.settlement, Settlement::Unasked | Settlement::Unknown)
    }
}

/// The fold.
#[derive(Debug, Default)]
pub struct Friction {
    interruptions: Vec<Interruption>,
    open: Vec<Open>,
    sessions: BTreeMap<String, Session>,
    stepped_up: Vec<SteppedUp>,
    commands: BTreeMap<String, Command>,
    counted: BTreeSet<(Act, String, Option<String>)>,
}

/// One that is not settled yet.
#[derive(Debug)]
struct Open {
    /// Which of the interruptions.
    at: usize,
    /// What it asked for.
    asked: Asks,
    /// What of that is still missing.
    asks: Asks,
    /// The subagent that was spoken to.
    agent: Option<String>,
    /// The session's prompts when it came.
    prompts: u32,
    /// When its session ended.
    ended: Option<Millis>,
}

#[derive(Debug, Default)]
struct Session {
    began: Millis,
    /// When it last began or went on again.
    started: Millis,
    seen: Millis,
    prompts: u32,
}

/// The last `tidegate off` of a policy.
#[derive(Clone, Copy, Debug)]
struct Command {
    at: Millis,
    by_person: bool,
}

/// What a person did once, however many interruptions it overrides.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Act {
    /// `tidegate off`, then; the time is not known when its record is not.
    Command(Option<Millis>),
    /// The client was started without the policy: this session, then.
    Started(String, Millis),
    /// A gate of a workflow was skipped, then.
    Skipped(Millis),
}

#[derive(Debug)]
struct SteppedUp {
    policy: String,
    project: String,
    at: Millis,
}

/// What a person has to override so often, of so many, before a policy steps down.
const OVERRIDDEN: usize = 5;
const OF_LAST: usize = 10;

impl Friction {
    /// Takes the next record.
    pub fn take(&mut self, record: &Record) {
        let Some(now) = Millis::from_iso(&record.at) else { return };
        self.expire(now);
        if let Some(id) = &record.session {
            let new = || Session { began: now, started: now, ..Session::default() };
            let session = self.sessions.entry(id.clone()).or_insert_with(new);
            if record.event == "SessionStart" {
                session.started = now;
            }
            session.seen = session.seen.max(now);
            session.prompts += u32::from(record.did.prompt);
        }
        if let Some(off) = &record.did.switched_off {
            self.commands
                .insert(off.policy.clone(), Command { at: now, by_person: record.person.may_be_there() });
        }
        self.settle(record, now);
        self.override_ignored(record, now);
        for up in &record.did.stepped_up {
            let project = up.project.clone().unwrap_or_default();
            self.stepped_up.push(SteppedUp { policy: up.policy.clone(), project, at: now });
        }
        for verdict in &record.verdicts {
            self.begin(record, verdict, now);
        }
    }

    /// Everything that was said, with what became of it until now.
    pub fn finish(mut self, now: Millis) -> Vec<Interruption> {
        self.expire(now);
        self.close(now, |open, _, _| open.ended.is_some().then_some(Settlement::Ignored));
        self.interruptions
    }

    /// Whether people overrode a blocking policy in five of its last ten interruptions in a project, since somebody last
    /// wanted it to block there again.
    pub fn often_overridden(&self, policy: &str, is_here: impl Fn(&str) -> bool) -> bool {
        let again = self.stepped_up.iter().filter(|up| up.policy == policy && is_here(&up.project));
        let since = again.map(|up| up.at).max();
        let counts = |said: &&Interruption| {
            said.policy == policy
                && matches!(said.kind, Kind::Denied | Kind::Blocked)
                && said.asked()
                && !(said.shadow || said.joined)
                && said.project.as_deref().is_some_and(&is_here)
                && since.is_none_or(|since| said.at > since)
        };
        let last = self.interruptions.iter().rev().filter(counts).take(OF_LAST);
        last.filter(|said| said.settlement == Settlement::Overridden).count() >= OVERRIDDEN
    }

    /// Settles those of which the function says how. It sees the interruption's session, too.
    fn close(
        &mut self,
        now: Millis,
        mut how: impl FnMut(&mut Open, &Interruption, Option<&Session>) -> Option<Settlement>,
    ) {
        let Friction { interruptions, sessions, open, .. } = self;
        open.retain_mut(|open| {
            let said = &mut interruptions[open.at];
            let session = said.session.as_ref().and_then(|id| sessions.get(id));
            let Some(settlement) = how(open, said, session) else { return true };
            let prompts = session.map_or(0, |session| session.prompts);
            said.settlement = settlement;
            said.after_ms = now.since(said.at);
            said.turns = prompts.saturating_sub(open.prompts);
            false
        });
    }

    /// The act by which this record overrides an interruption.
    fn overrides(&self, record: &Record, said: &Interruption) -> Option<Act> {
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
        // A project has several names; that it is off tells also where another one was used.
        let was_off = same_session && names(&record.off_by_command) && known.is_none_or(|off| off.by_person);
        if switched.is_some() || was_off {
            return Some(Act::Command(known.map(|off| off.at)));
        }
        // A client that an agent started with a variable of its own is nobody's word, and what runs beside may be
        // meant to be another thing: only one that was started after the denial can be an answer to it.
        let id = record.session.as_ref().filter(|_| record.person.may_be_there() && names(&record.off))?;
        let session = self.sessions.get(id)?;
        let restarts = record.event == "SessionStart" && same_project && session.began > said.at;
        let again = restarts && !matches!(record.cause.as_deref(), Some("clear" | "compact"));
        (same_session || again).then(|| Act::Started(id.clone(), session.started))
    }

    /// Counts an override. One act is one, however much it settles.
    fn count(&mut self, at: usize, act: Act) {
        let said = &mut self.interruptions[at];
        if !said.joined {
            said.joined = !self.counted.insert((act, said.policy.clone(), said.project.clone()));
        }
    }

    /// The last that was said is overridden also when a turn has ended over it.
    fn override_ignored(&mut self, record: &Record, now: Millis) {
        let named = record.did.switched_off.iter().map(|off| &off.policy);
        let named: BTreeSet<&String> = named.chain(&record.off).chain(&record.off_by_command).collect();
        for policy in named {
            let lately = |said: &Interruption| now.since(said.at) <= REACT_MS;
            let last = self.interruptions.iter().enumerate().rev().take_while(|(_, said)| lately(said));
            let mut asked = last.filter(|(_, said)| said.policy == *policy && said.asked());
            let Some((at, act)) = asked.find_map(|(at, said)| Some((at, self.overrides(record, said)?)))
            else {
                continue;
            };
            let said = &mut self.interruptions[at];
            if said.settlement == Settlement::Ignored {
                said.settlement = Settlement::Overridden;
                said.after_ms = now.since(said.at);
                self.count(at, act);
            }
        }
    }

    /// Sessions that nobody hears of any more have ended.
    fn expire(&mut self, now: Millis) {
        self.close(now, |open, said, session| {
            let seen = session.map_or(said.at, |session| session.seen);
            let over = now.since(seen) > SILENT_MS || open.ended.is_some_and(|at| now.since(at) > RESTART_MS);
            over.then_some(Settlement::Ignored)
        });
    }

    fn settle(&mut self, record: &Record, now: Millis) {
        let act = |open: &Open| {
            let said = &self.interruptions[open.at];
            let skipped = || skips(open, said, record).then_some(Act::Skipped(now));
            Some((open.at, self.overrides(record, said).or_else(skipped)?))
        };
        let acts: BTreeMap<usize, Act> = self.open.iter().filter_map(act).collect();
        self.close(now, |open, said, _| {
            let same_session = said.session.is_some() && said.session == record.session;
            if same_session && record.event == "SessionStart" {
                open.ended = None;
            }
            if acts.contains_key(&open.at) {
                return Some(Settlement::Overridden);
            }
            // Flow is the project's, whichever session goes through it.
            let same_project = said.project.is_some() && said.project == record.project;
            let did = Asks { compound: record.did.compound, entry: record.did.entry, ..Asks::default() };
            if same_project && of_flow(&open.asks, &did) == Some(true) {
                return Some(Settlement::Satisfied);
            }
            // So is a cycle, and a person can say it at a terminal.
            if same_project && open.asks.stage.is_some() && open.asks.stage == record.did.stage {
                return Some(Settlement::Satisfied);
            }
            // And a workflow.
            if same_project && open.asks.gate.is_some() && open.asks.gate == record.did.gate {
                return Some(Settlement::Satisfied);
            }
            if !same_session || open.ended.is_some() {
                return None;
            }
            if is_satisfied(&mut open.asks, record) {
                return Some(Settlement::Satisfied);
            }
            // Both are told from the project's root.
            if open.asks.file.as_ref().is_some_and(|about| record.did.edited_by_shell.contains(about)) {
                return Some(Settlement::Bypassed);
            }
            if open.asks.verified && ends_unverified(record, &said.policy) {
                return Some(Settlement::Ignored);
            }
            if record.event == "SessionEnd" {
                open.ended = Some(now);
            }
            None
        });
        for (at, act) in acts {
            self.count(at, act);
        }
    }

    /// A verdict that spoke is one more interruption, and what the same policy asked for before was not done. What was
    /// asked for before another file is edited, or of another agent, is another thing.
    fn begin(&mut self, record: &Record, verdict: &VerdictRecord, now: Millis) {
        let Some(kind) = kind(record, verdict) else { return };
        let asks = !verdict.asks.is_empty();
        let mut joined = false;
        if asks {
            self.close(now, |open, said, _| {
                let whose = (&said.policy, &said.session, said.shadow, &open.agent)
                    == (&verdict.policy, &record.session, verdict.shadow, &record.agent);
                let together = now.since(said.at) <= TOGETHER_MS;
                joined |= whose && together;
                let again = match of_flow(&open.asked, &verdict.asks) {
                    // The person is told first, and the model with the prompt that follows.
                    Some(same) => same && said.kind == kind,
                    None => verdict.asks.file.is_none() || open.asked == verdict.asks,
                };
                (whose && again && !together).then_some(Settlement::Ignored)
            });
            let known = record.session.as_ref().and_then(|id| self.sessions.get(id));
            let prompts = known.map_or(0, |session| session.prompts);
            let at = self.interruptions.len();
            let asks = verdict.asks.clone();
            let agent = record.agent.clone();
            self.open.push(Open { at, asked: asks.clone(), asks, agent, prompts, ended: None });
        }
        let live = !verdict.shadow;
        let reason = verdict.reason.as_deref().filter(|_| verdict.call != "pass").unwrap_or_default();
        let text = verdict.says.model.as_deref().filter(|text| is_in(record.said.model.as_deref(), text));
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
                Kind::Denied | Kind::Blocked if always_asks(&verdict.policy) => Settlement::Unknown,
                _ => Settlement::Unasked,
            },
            after_ms: 0,
            turns: 0,
            // The model answers to a whole message once.
            forced: if live && !joined && verdict.call == "deny" { record.cost.turns } else { 0 },
            tokens: if live {
                (estimate_tokens(reason) + estimate_tokens(text.unwrap_or_default())) as usize
            } else {
                0
            },
        });
    }
}

/// Gates whose denials name what satisfies them; the first records did not have that.
fn always_asks(policy: &str) -> bool {
    [skill_gate::ID, verify_stop::ID, task_gate::ID, meta_tag::ID, topic_decision::ID].contains(&policy)
}

/// How a verdict spoke, or would have; `None` if it did not.
fn kind(record: &Record, verdict: &VerdictRecord) -> Option<Kind> {
    let holds_up = matches!(record.event.as_str(), "Stop" | "SubagentStop" | "TaskCompleted");
    let said =
        |text: Option<&str>, all: Option<&str>| text.is_some_and(|text| verdict.shadow || is_in(all, text));
    match verdict.call.as_str() {
        "deny" | "halt" if holds_up => Some(Kind::Blocked),
        "deny" | "halt" => Some(Kind::Denied),
        "ask" => Some(Kind::Asked),
        _ if said(verdict.says.model.as_deref(), record.said.model.as_deref()) => Some(Kind::Advised),
        _ if said(verdict.says.user.as_deref(), record.said.user.as_deref()) => Some(Kind::Told),
        _ => None,
    }
}

/// Whether a text was among those that were given, or of several texts one: what does not fit is left out.
fn is_in(all: Option<&str>, text: &str) -> bool {
    all.is_some_and(|all| text.lines().any(|line| !line.is_empty() && all.contains(line)))
}

/// Whether a person let the gate be skipped that was asked for.
fn skips(open: &Open, said: &Interruption, record: &Record) -> bool {
    let same_project = said.project.is_some() && said.project == record.project;
    let skipped = record.did.skipped_gate;
    record.person.may_be_there()
        && same_project
        && !said.shadow
        && skipped.is_some()
        && skipped == open.asks.gate
}

/// Takes what was done off what is missing, and says whether that was all.
fn is_satisfied(asks: &mut Asks, record: &Record) -> bool {
    let did = &record.did;
    let invoked = |asked: &String| did.skills.iter().any(|skill| satisfies(skill, asked));
    let wanted = !asks.skills.is_empty();
    asks.skills.retain(|asked| !invoked(asked));
    (wanted && asks.skills.is_empty())
        || asks.any_skill.iter().any(invoked)
        || asks.any_file.iter().any(|asked| did.read.iter().any(|file| same_file(file, asked)))
        || (asks.verified && !did.verified.is_empty())
        || (asks.compacted && did.compacted)
        || (asks.tag && did.tag)
        || (asks.topic.is_some() && asks.topic == did.topic)
}

/// Whether it is the same that both want of the flow; `None` where the first wants nothing of it.
fn of_flow(asks: &Asks, other: &Asks) -> Option<bool> {
    let same = (asks.compound && other.compound) || (asks.entry && other.entry);
    (asks.compound || asks.entry).then_some(same)
}

/// A path from the project's root and a whole one can mean the same file.
fn same_file(one: &str, other: &str) -> bool {
    let ends = |long: &str, short: &str| long.strip_suffix(short).is_some_and(|rest| rest.ends_with('/'));
    one == other || ends(one, other) || ends(other, one)
}

/// A turn ended, and the policy let it. One that still waits for something passes and says so.
fn ends_unverified(record: &Record, policy: &str) -> bool {
    let waits = record.verdicts.iter().any(|verdict| verdict.policy == policy && !verdict.asks.is_empty());
    record.event == "Stop" && record.agent.is_none() && record.ruling == "pass" && !waits
}

#[cfg(test)]
mod tests;
