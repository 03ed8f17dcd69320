//! The last reading of each session, for pages with many of them: it is in the end of the session's transcript, and a page
//! with sixty sessions would read that of each for every visitor.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use tidegate_core::meter::Reading;
use tidegate_core::meter::sources::Bridge;
use tidegate_core::settings::setting::Whole;
use tidegate_core::time::Millis;
use tidegate_state::session::{bridge, marks};

use crate::sessions::{Here, Session};

/// More sessions than a visitor looks at.
const MOST: usize = 2_000;

#[derive(Debug, Default)]
pub(crate) struct LastReadings(Mutex<HashMap<String, Known>>);

#[derive(Debug)]
struct Known {
    files: Files,
    /// As the config names it.
    window: Option<u64>,
    /// If its status line ran: its numbers count only as long as it does.
    live: Option<Bridge>,
    reading: Option<Reading>,
}

impl Known {
    fn holds(&self, files: &Files, window: Option<u64>, now: Millis) -> bool {
        (&self.files, self.window) == (files, window)
            && self.live.as_ref().is_none_or(|bridge| bridge.is_live(now))
    }
}

/// When each file was changed, and its size: marks, bridge, transcript.
type Files = [Option<(SystemTime, u64)>; 3];

impl LastReadings {
    /// As `tidegate status` has it, without what hooks were told: a curve of the journal has that. Read again only if one of the
    /// files was changed, or the status line stopped.
    pub(crate) fn of(&self, here: &Here, session: &Session) -> Option<Reading> {
        let files = look_at(here, session);
        let window = here.config.meter.window.map(Whole::get);
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) =
            known().get(session.id.as_str()).filter(|known| known.holds(&files, window, here.now))
        {
            return known.reading.clone();
        }
        let live = bridge::read(&here.state.session(&session.id)).filter(|bridge| bridge.is_live(here.now));
        let reading = here.meter_of_files(Some(session), None).reading().cloned();
        let mut known = known();
        if known.len() >= MOST {
            known.clear();
        }
        known.insert(session.id.to_string(), Known { files, window, live, reading: reading.clone() });
        reading
    }
}

fn look_at(here: &Here, session: &Session) -> Files {
    let look = |path: &Path| {
        let found = path.metadata().ok()?;
        Some((found.modified().ok()?, found.len()))
    };
    let folder = here.state.session(&session.id);
    let transcript = session.marks.session.transcript.as_deref();
    [
        look(&marks::file(&folder)),
        look(&bridge::file(&folder)),
        transcript.and_then(|path| look(Path::new(path))),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reading_holds_while_its_files_and_its_status_line_do() {
        let known = |live: bool| {
            let bridge = Bridge { seen: Millis(1_000_000), ..Bridge::default() };
            Known { files: [None; 3], window: None, live: live.then_some(bridge), reading: None }
        };
        let same: Files = [None; 3];
        let other: Files = [Some((SystemTime::UNIX_EPOCH, 1)), None, None];
        assert!(known(true).holds(&same, None, Millis(1_300_000)));
        assert!(!known(true).holds(&same, None, Millis(1_300_001)), "the status line stopped");
        assert!(known(false).holds(&same, None, Millis(1_300_001)), "from the transcript");
        assert!(!known(true).holds(&other, None, Millis(1_000_000)));
        assert!(!known(true).holds(&same, Some(1), Millis(1_000_000)));
    }
}
