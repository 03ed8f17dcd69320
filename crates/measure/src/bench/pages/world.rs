//! The machine of a person who has worked for years: sessions, of which the newest have transcripts, a journal and a memory.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::bench::store;
use crate::stage::{Stage, StagedSession};
use xtask::failure::{Done, Failure, While};
use xtask::{print, room};

/// Hosts delete transcripts after some weeks, and sessions of Tidegate stay for longer.
const WITH_TRANSCRIPT: usize = 100;

/// Of a transcript.
const TWO_MEGABYTES: usize = 2_000_000;

/// Bytes of the journal: about a hundred thousand records.
const JOURNAL: usize = 100 * 1024 * 1024;

/// Between two sessions.
const APART: Duration = Duration::from_mins(1);

/// A log takes about three kilobytes in the store, and as much again while its index is merged.
const LOGS_IN_A_MEGABYTE: usize = 150;

pub(super) struct World {
    pub(super) newest: String,
}

impl World {
    pub(super) fn make(stage: &Stage, program: &Path, sessions: usize, logs: usize) -> Done<World> {
        let transcripts = WITH_TRANSCRIPT.min(sessions);
        let bytes = transcripts * TWO_MEGABYTES + JOURNAL + sessions * 8_192;
        room::require(&stage.at(""), (bytes / 1_000_000 + logs / LOGS_IN_A_MEGABYTE) as u64)?;
        let one = stage.session(program, 1)?;
        for number in 2..=sessions {
            copy_session(stage, &one, number, sessions, number + transcripts > sessions)?;
        }
        fill_journal(&stage.state().join("journal"), &one.id, sessions)?;
        print::line(&format!(
            "    {sessions} sessions, the newest {transcripts} with transcripts; {} MB of journal",
            JOURNAL / 1_000_000
        ));
        if logs > 0 {
            store::fill(&stage.at("home/.local/share/tidegate"), logs)?;
        }
        Ok(World { newest: if sessions > 1 { copied_id(sessions) } else { one.id } })
    }
}

fn copied_id(number: usize) -> String {
    format!("00000000-0000-4000-8000-{number:012}")
}

/// Higher numbers are newer. The name of the transcript has the id, so each session has one of its own, or none that is there.
fn copy_session(
    stage: &Stage,
    one: &StagedSession,
    number: usize,
    sessions: usize,
    has_transcript: bool,
) -> Done {
    let id = copied_id(number);
    let folder = stage.state().join("sessions");
    let (from, to) = (folder.join(&one.id), folder.join(&id));
    fs::create_dir_all(&to).while_(to.display())?;
    for name in ["marks", "bridge"] {
        let Ok(text) = fs::read_to_string(from.join(name)) else { continue };
        let path = to.join(name);
        fs::write(&path, text.replace(&one.id, &id)).while_(path.display())?;
        let at = SystemTime::now() - APART * (sessions - number) as u32;
        let file = File::options().append(true).open(&path).while_(path.display())?;
        file.set_modified(at).while_(path.display())?;
    }
    if has_transcript {
        let text = fs::read_to_string(&one.transcript).while_(one.transcript.display())?;
        // The last reading is another one in each.
        let text =
            text.replace(&one.id, &id).replace("122000", &format!("{}", 100_000 + number % 1_000 * 50));
        let path = one.transcript.with_file_name(format!("{id}.jsonl"));
        fs::write(&path, text.repeat(TWO_MEGABYTES.div_ceil(text.len().max(1)))).while_(path.display())?;
    }
    Ok(())
}

/// Repeats the newest day, each time as that of another session.
fn fill_journal(folder: &Path, session: &str, sessions: usize) -> Done {
    let mut days: Vec<_> =
        fs::read_dir(folder).while_(folder.display())?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    days.sort();
    let Some(day) = days.pop() else { return Err(Failure::new("the journal is empty")) };
    let text = fs::read_to_string(&day).while_(day.display())?;
    let file = File::options().append(true).open(&day).while_(day.display())?;
    let mut file = BufWriter::new(file);
    for number in 0..JOURNAL / text.len().max(1) {
        let copy = text.replace(session, &copied_id(1 + number % sessions));
        file.write_all(copy.as_bytes()).while_(day.display())?;
    }
    file.flush().while_(day.display())
}
