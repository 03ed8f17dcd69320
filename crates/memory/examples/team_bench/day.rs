//! A busy time of day: every member ends an exchange twice a minute, and pulls and searches once a minute. Every fourth time they
//! connect anew, as workers and commands do.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tidegate_memory::postgres::PostgresStore;
use tidegate_memory::record::Uid;
use tidegate_memory::view::Query;

use crate::corpus::Corpus;
use crate::member::{Member, ProjectList};
use crate::samples::Samples;
use crate::server::PATIENCE;
use crate::{
    Done, LOGS_OF_A_TOPIC, Options, PUSH_GOAL, SEARCH_GOAL, after, line, questions, rows_of_topic, verdict,
};

/// Far more than act at the same time.
const THREADS: usize = 48;

const PUSHES_EVERY_S: f64 = 30.0;
const OTHERS_EVERY_S: f64 = 60.0;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Act {
    Push,
    Pull,
    Search,
}

struct Planned {
    at: Duration,
    member: usize,
    act: Act,
    /// How often this member did this before.
    round: usize,
}

#[derive(Default)]
pub(crate) struct Day {
    push: Samples,
    push_anew: Samples,
    pull: Samples,
    pull_anew: Samples,
    search: Samples,
    search_anew: Samples,
    /// The longest time that an act began after its time.
    late: Duration,
    seconds: f64,
    acts: usize,
    pub(crate) problems: Vec<String>,
}

pub(crate) fn spend(
    options: &Options,
    corpus: &Corpus,
    members: &[Member],
    projects: &ProjectList,
    first_topic: usize,
    sent: &Mutex<BTreeSet<Uid>>,
) -> Done<Day> {
    let (plan, questions) = (plan(options), questions(corpus));
    let (next, begun) = (AtomicUsize::new(0), Instant::now());
    let all = Mutex::new(Day::default());
    let scene = Scene { corpus, members, projects, first_topic, sent, questions: &questions };
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                let mut own = Day::default();
                while let Some(planned) = plan.get(next.fetch_add(1, Ordering::Relaxed)) {
                    after(begun, planned.at);
                    own.late = own.late.max(begun.elapsed().saturating_sub(planned.at));
                    if let Err(why) = own.act(planned, &scene) {
                        own.problems.push(why);
                    }
                }
                all.lock().expect("no thread panics with it").add(own);
            });
        }
    });
    let mut day = all.into_inner().map_err(|error| error.to_string())?;
    (day.seconds, day.acts) = (begun.elapsed().as_secs_f64(), plan.len());
    Ok(day)
}

/// Spread evenly, in the order of their times.
fn plan(options: &Options) -> Vec<Planned> {
    let mut plan = Vec::new();
    for member in 0..options.members {
        let share = member as f64 / options.members as f64;
        for (act, every, shift) in [
            (Act::Push, PUSHES_EVERY_S, 0.0),
            (Act::Pull, OTHERS_EVERY_S, 0.4),
            (Act::Search, OTHERS_EVERY_S, 0.7),
        ] {
            let mut at = (share + shift).fract() * every;
            let mut round = 0;
            while at < options.seconds as f64 {
                plan.push(Planned { at: Duration::from_secs_f64(at), member, act, round });
                at += every;
                round += 1;
            }
        }
    }
    plan.sort_by_key(|one| one.at);
    plan
}

struct Scene<'a> {
    corpus: &'a Corpus,
    members: &'a [Member],
    projects: &'a ProjectList,
    first_topic: usize,
    sent: &'a Mutex<BTreeSet<Uid>>,
    questions: &'a [(&'static str, Query)],
}

impl Day {
    fn act(&mut self, planned: &Planned, scene: &Scene<'_>) -> Done {
        let member = &scene.members[planned.member];
        let shared = scene.projects.of(member);
        let is_anew = (planned.round + planned.member).is_multiple_of(4);
        match planned.act {
            Act::Push => {
                let topic = scene.first_topic
                    + planned.member
                    + planned.round / LOGS_OF_A_TOPIC * scene.members.len();
                let log = planned.round % LOGS_OF_A_TOPIC;
                let rows = rows_of_topic(scene.corpus, topic, log..log + 1);
                let samples = if is_anew { &mut self.push_anew } else { &mut self.push };
                samples.time(|| on_connection(member, is_anew, |store| member.deliver(store, &rows)))?;
                let uids = rows.iter().map(|record| record.uid().to_owned());
                scene.sent.lock().map_err(|error| error.to_string())?.extend(uids);
            }
            Act::Pull => {
                let samples = if is_anew { &mut self.pull_anew } else { &mut self.pull };
                samples.time(|| on_connection(member, is_anew, |store| member.pull(store, shared)))?;
            }
            Act::Search => {
                let place = planned.member * 7 + planned.round;
                let (_, query) = &scene.questions[place % scene.questions.len()];
                let samples = if is_anew { &mut self.search_anew } else { &mut self.search };
                samples.time(|| {
                    on_connection(member, is_anew, |store| store.search_in(shared, query).map(drop))
                })?;
            }
        }
        Ok(())
    }

    fn add(&mut self, other: Day) {
        self.push.extend(&other.push);
        self.push_anew.extend(&other.push_anew);
        self.pull.extend(&other.pull);
        self.pull_anew.extend(&other.pull_anew);
        self.search.extend(&other.search);
        self.search_anew.extend(&other.search_anew);
        self.late = self.late.max(other.late);
        self.problems.extend(other.problems);
    }

    pub(crate) fn show(&self) {
        line(&format!(
            "{} pushes, pulls and searches of all members in {:.0} s, ms: p50 / p99 / max, p99 on the client's processor",
            self.acts, self.seconds
        ));
        for (name, samples, goal) in [
            ("push of a log", &self.push, Some(PUSH_GOAL)),
            ("push of a log, on a new connection", &self.push_anew, Some(PUSH_GOAL)),
            ("search", &self.search, Some(SEARCH_GOAL)),
            ("search, on a new connection", &self.search_anew, Some(SEARCH_GOAL)),
            ("pull", &self.pull, None),
            ("pull, on a new connection", &self.pull_anew, None),
        ] {
            let told = goal.map_or(String::new(), |goal| {
                format!(" (goal: p99 at most {goal} ms) {}", verdict(samples, goal))
            });
            line(&format!("    {name:<44}{}{told}", samples.line()));
        }
        line(&format!("    the latest began {} ms after its time", self.late.as_millis()));
    }
}

fn on_connection<T>(
    member: &Member,
    is_anew: bool,
    act: impl FnOnce(&mut PostgresStore) -> tidegate_memory::error::Result<T>,
) -> Done<T> {
    if !is_anew {
        return member.with_store(act);
    }
    let connected = PostgresStore::connect(member.address.clone(), PATIENCE);
    connected
        .and_then(|mut store| act(&mut store))
        .map_err(|error| format!("member {}: {error}", member.number))
}
