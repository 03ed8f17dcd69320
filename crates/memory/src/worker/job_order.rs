//! The order of jobs: by file name, which means by time; jobs of one transcript by their position in it.

use std::collections::BTreeMap;

use tidegate_core::feature::memory::job::{TranscriptPart, Work};
use tidegate_state::feature::memory::spool::Queued;

pub(super) fn transcript_part(queued: &Queued) -> Option<(&str, &TranscriptPart)> {
    match queued.job.as_ref().map(|job| (job, &job.work)) {
        Ok((job, Work::Relays(part))) => Some((&job.session, part)),
        _ => None,
    }
}

/// A clock that moved back gives later parts earlier names. Parts of one transcript trade places among each
/// other.
pub(super) fn sort_jobs(queue: Vec<Queued>) -> Vec<Queued> {
    let mut places: BTreeMap<(&str, &str), Vec<usize>> = BTreeMap::new();
    for (place, queued) in queue.iter().enumerate() {
        if let Some((session, part)) = transcript_part(queued) {
            places.entry((session, &part.transcript)).or_default().push(place);
        }
    }
    let mut order: Vec<usize> = (0..queue.len()).collect();
    for places in places.into_values() {
        let mut sorted = places.clone();
        sorted.sort_by_key(|place| transcript_part(&queue[*place]).map(|(_, part)| part.from));
        for (place, from) in places.into_iter().zip(sorted) {
            order[place] = from;
        }
    }
    let mut queue: Vec<Option<Queued>> = queue.into_iter().map(Some).collect();
    order.into_iter().filter_map(|from| queue[from].take()).collect()
}
