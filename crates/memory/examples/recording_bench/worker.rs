//! The worker, with a job for each exchange as the hooks leave them, and with one job for each session.

use std::time::Instant;

use tidegate_core::feature::memory::job::{
    AnswerDigest, Job, JobCause, RelayProject, TranscriptPart, VERSION, Work,
};
use tidegate_core::text::fnv;
use tidegate_core::time::Millis;
use tidegate_memory::memory::Memory;
use tidegate_memory::worker::{Worker, WorkerReport};
use tidegate_state::feature::memory::spool;
use tidegate_state::place::StateDir;

use crate::corpus::Corpus;
use crate::transcripts::{EXCHANGES_OF_A_SESSION, Session, folder_of, write_session};
use crate::{Done, Home, NOW, line, processor_time};

/// Exchanges a second of processor time.
const GOAL: f64 = 500.0;

pub(crate) fn measure(exchanges: usize) -> Done {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let corpus = Corpus::new();
    let sessions = (0..exchanges.div_ceil(EXCHANGES_OF_A_SESSION))
        .map(|number| write_session(&corpus, &folder.path().join("transcripts"), number))
        .collect::<Result<Vec<Session>, _>>()
        .map_err(|error| error.to_string())?;
    let bytes: u64 = sessions.iter().filter_map(|session| session.ends.last()).map(|(end, _)| end).sum();
    line(&format!(
        "{} exchanges in {} transcripts, {} MB; just written, so the system has them in memory",
        sessions.len() * EXCHANGES_OF_A_SESSION,
        sessions.len(),
        bytes / 1_000_000
    ));
    for (name, is_each) in [("a job for each exchange", true), ("a job for each session", false)] {
        let home = Home::at(&folder.path().join(if is_each { "each" } else { "whole" }))?;
        let mut memory = home.memory()?;
        for (number, session) in sessions.iter().enumerate() {
            queue_jobs(&home.state, number, session, is_each)?;
        }
        let (clock, before) = (Instant::now(), processor_time());
        let report = work(&home.state, &mut memory)?;
        let seconds = processor_time().saturating_sub(before).as_secs_f64();
        let rate = report.new as f64 / seconds;
        line(&format!(
            "    {name:<28}{rate:>6.0} a second on the processor, {:.0} by the clock (goal at least {GOAL}) {}",
            report.new as f64 / clock.elapsed().as_secs_f64(),
            if rate >= GOAL { "ok" } else { "BELOW" }
        ));
        if report.new != sessions.len() * EXCHANGES_OF_A_SESSION || report.lost + report.left > 0 {
            return Err(format!("the worker did not store everything: {report:?}"));
        }
    }
    Ok(())
}

pub(crate) fn queue_jobs(state: &StateDir, number: usize, session: &Session, is_each: bool) -> Done {
    let mut from = 0;
    let ends = if is_each { session.ends.as_slice() } else { &session.ends[session.ends.len() - 1..] };
    for (place, (to, answer)) in ends.iter().enumerate() {
        let root = folder_of(number);
        let part = TranscriptPart {
            transcript: session.path.to_string_lossy().into_owned(),
            from,
            to: *to,
            because: JobCause::Stop,
            answer: Some(AnswerDigest { bytes: answer.len() as u64, hash: fnv::hash(answer.bytes()) }),
            topic: None,
            passed: None,
            project: RelayProject {
                key: format!("{root}/.git"),
                name: root.rsplit('/').next().unwrap_or_default().to_owned(),
                root,
                branch: Some("main".to_owned()),
            },
            lang: None,
        };
        let at = Millis(NOW.0 - 1_000_000_000 + (number * EXCHANGES_OF_A_SESSION + place) as u64);
        let job = Job { v: VERSION, at, session: session.id.clone(), work: Work::Relays(part) };
        spool::put(state, &job).map_err(|error| error.to_string())?;
        from = *to;
    }
    Ok(())
}

pub(crate) fn work(state: &StateDir, memory: &mut Memory) -> Done<WorkerReport> {
    Worker {
        state,
        store: memory,
        summarise: None,
        now: &|| NOW,
        pause: &|delay| std::thread::sleep(delay),
        notify: &mut |_| {},
        until: Millis(u64::MAX),
        at_once: true,
    }
    .run()
    .map_err(|error| error.to_string())
}
