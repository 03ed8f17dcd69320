//! What every event leaves in a session's marks, whatever the policies think of it.

use crate::feature::activity::told;
use crate::feature::config::Config;
use crate::feature::facts::{Facts, Known};
use crate::feature::marks::Mark;
use crate::feature::memory::relay_log;
use crate::feature::session;
use crate::feature::verification::evidence;
use crate::host::claude_code::models::HostSettings;

/// The marks of this event. `root` is the project as the hook found it, `host` the settings if they were read.
pub fn marks(
    facts: &Facts<'_>,
    config: &Config,
    root: Option<&str>,
    host: Option<&HostSettings>,
) -> Vec<Mark> {
    // Whatever is in that file, adding to it would not make it readable.
    if matches!(facts.marks, Known::Broken(_)) {
        return Vec::new();
    }
    let mut marks: Vec<Mark> = Vec::new();
    marks.extend(session::marks(facts, root, host).into_iter().map(Mark::from));
    marks.extend(evidence::marks(facts, config).into_iter().map(Mark::from));
    if facts.event.main_thread() {
        marks.extend(relay_log::marks(facts, config).into_iter().map(Mark::from));
        marks.extend(told::mark(facts, config).map(Mark::from));
    }
    marks
}
