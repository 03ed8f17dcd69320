//! The table of the soak, and the bounds that nothing may grow beyond from the first slice to the last.

use std::fmt::Write as _;

use super::machine::{Held, Size};

/// One part of the run. Sizes are those at its end, everything else is of this part alone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Slice {
    /// Finished until now.
    pub(crate) sessions: u64,
    /// Until now.
    pub(crate) all_hooks: u64,
    /// Until now.
    pub(crate) exchanges: u64,
    pub(crate) hooks: u64,
    pub(crate) errors: u64,
    /// Processor time of a hook, in milliseconds.
    pub(crate) hook_ms: f64,
    /// Of an empty process on the same machine at the same time.
    pub(crate) empty_ms: f64,
    /// Of a few hooks of a session that is always the same.
    pub(crate) instructions: u64,
    pub(crate) median_ms: f64,
    pub(crate) slow_ms: f64,
    pub(crate) search_ms: f64,
    pub(crate) worker: Held,
    pub(crate) serve: Held,
    pub(crate) mcp: Held,
    pub(crate) queue: u64,
    pub(crate) journal: Size,
    pub(crate) store: Size,
    pub(crate) state: Size,
}

/// Of memory and of sizes for each hook, session or exchange.
const SIZE_BOUND: f64 = 1.2;

/// Below this, memory is what a process needs to be there at all.
const MEMORY_ALLOWANCE_KIB: u64 = 4096;

const FILES_ALLOWANCE: u64 = 2;

/// Instructions are counted, so they hardly vary.
const INSTRUCTIONS_BOUND: f64 = 1.1;

/// Of the ratio to an empty process: the machine may be busy with other things.
const TIME_BOUND: f64 = 1.3;

pub(crate) const HEAD: &str = "\
                                 processor ms   instructions   wall ms             worker        serve         mcp           queue  journal    store      state
slice  sessions   hooks  errors  hook   empty   of 4 hooks     median     p99      MB    files   MB    files   MB    files          kB a hook  kB an exc. files, kB a session";

pub(crate) fn row(number: usize, slice: &Slice) -> String {
    let mut row = format!(
        "{number:>5} {:>9} {:>7} {:>7} {:>5.2} {:>7.2} {:>12} {:>10.1} {:>7.1}",
        slice.sessions,
        slice.hooks,
        slice.errors,
        slice.hook_ms,
        slice.empty_ms,
        slice.instructions,
        slice.median_ms,
        slice.slow_ms,
    );
    for held in [slice.worker, slice.serve, slice.mcp] {
        let _ = write!(row, " {:>7.1} {:>5}", held.kib as f64 / 1024.0, held.files);
    }
    let _ = write!(
        row,
        " {:>7} {:>10.2} {:>10.2} {:>7.1} {:>6.2}   search {:.0} ms",
        slice.queue,
        kb_each(slice.journal.bytes, slice.all_hooks),
        kb_each(slice.store.bytes, slice.exchanges),
        slice.state.files as f64 / slice.sessions.max(1) as f64,
        kb_each(slice.state.bytes, slice.sessions),
        slice.search_ms,
    );
    row
}

fn kb_each(bytes: u64, number: u64) -> f64 {
    bytes as f64 / 1000.0 / number.max(1) as f64
}

/// What grew beyond its bound.
pub(crate) fn grown(slices: &[Slice]) -> Vec<String> {
    let [first, .., last] = slices else {
        return vec!["one slice cannot be compared: run longer".to_owned()];
    };
    let mut grown = Vec::new();
    let mut bound = |what: &str, before: f64, after: f64, most: f64| {
        if after > most {
            grown.push(format!(
                "{what}: {before:.2} in the first slice, {after:.2} in the last; at most {most:.2}"
            ));
        }
    };
    for (name, before, after) in [
        ("worker", first.worker, last.worker),
        ("serve", first.serve, last.serve),
        ("mcp", first.mcp, last.mcp),
    ] {
        let most = before.kib as f64 * SIZE_BOUND + MEMORY_ALLOWANCE_KIB as f64;
        bound(&format!("memory of {name} in KiB"), before.kib as f64, after.kib as f64, most);
        let most = before.files + FILES_ALLOWANCE;
        bound(&format!("open files of {name}"), before.files as f64, after.files as f64, most as f64);
    }
    let ratio = |slice: &Slice| slice.hook_ms / slice.empty_ms.max(f64::MIN_POSITIVE);
    bound(
        "processor time of a hook, in empty processes",
        ratio(first),
        ratio(last),
        ratio(first) * TIME_BOUND,
    );
    let before = first.instructions as f64;
    bound("instructions of hooks", before, last.instructions as f64, before * INSTRUCTIONS_BOUND);
    let mut each = |what: &str, of: fn(&Slice) -> (u64, u64)| {
        let value = |slice| {
            let (size, number) = of(slice);
            size as f64 / number.max(1) as f64
        };
        bound(what, value(first), value(last), value(first) * SIZE_BOUND);
    };
    each("bytes of the journal for each hook", |slice| (slice.journal.bytes, slice.all_hooks));
    each("bytes of the store for each exchange", |slice| (slice.store.bytes, slice.exchanges));
    each("files of the state for each session", |slice| (slice.state.files, slice.sessions));
    each("bytes of the state for each session", |slice| (slice.state.bytes, slice.sessions));
    grown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slice(sessions: u64) -> Slice {
        let held = Held { kib: 20_000, files: 12 };
        Slice {
            sessions,
            all_hooks: sessions * 20,
            exchanges: sessions * 2,
            hook_ms: 2.0,
            empty_ms: 1.0,
            instructions: 1_000_000,
            worker: held,
            serve: held,
            mcp: held,
            journal: Size { files: 1, bytes: sessions * 20_000 },
            store: Size { files: 3, bytes: sessions * 10_000 },
            state: Size { files: sessions * 5, bytes: sessions * 8000 },
            ..Slice::default()
        }
    }

    fn grown_with(change: fn(&mut Slice)) -> Vec<String> {
        let mut last = slice(2000);
        change(&mut last);
        grown(&[slice(100), slice(1000), last])
    }

    #[test]
    fn a_soak_that_stays_as_it_began_passes() {
        assert_eq!(grown_with(|_| ()), Vec::<String>::new());
        assert_eq!(grown_with(|last| last.worker.kib = 28_000), Vec::<String>::new());
        assert_eq!(grown_with(|last| (last.hook_ms, last.empty_ms) = (6.0, 3.0)), Vec::<String>::new());
    }

    #[test]
    fn everything_that_grows_is_named() {
        type Change = fn(&mut Slice);
        let changes: [(Change, &str); 10] = [
            (|last| last.worker.kib = 28_200, "memory of worker"),
            (|last| last.serve.kib = 60_000, "memory of serve"),
            (|last| last.mcp.files = 15, "open files of mcp"),
            (|last| last.hook_ms = 2.7, "processor time"),
            (|last| last.instructions = 1_100_001, "instructions"),
            (|last| last.journal.bytes *= 2, "journal"),
            (|last| last.store.bytes *= 2, "store"),
            (|last| last.state.files *= 2, "files of the state"),
            (|last| last.state.bytes *= 2, "bytes of the state"),
            (|last| last.worker.files = 15, "open files of worker"),
        ];
        for (change, name) in changes {
            let grown = grown_with(change);
            assert!(grown.len() == 1 && grown[0].contains(name), "{name}: {grown:?}");
        }
        assert_eq!(grown(&[slice(100)]).len(), 1);
    }
}
