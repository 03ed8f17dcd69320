//! A fork inherits the marks of the session that it copied, and that session's notes about its last compaction.
//!
//! The host does not name the copied session: the payload has no parent, and the new transcript does not exist yet.
//! But the payload has the number of tokens in the conversation, which only the copied session matches.

use std::fs;
use std::path::Path;

use tidegate_core::event::SessionId;
use tidegate_core::feature::facts::Known;
use tidegate_core::feature::marks::Marks;
use tidegate_core::host::Host;
use tidegate_core::meter::transcript::EventTrace;

use crate::feature::knowledge::boundary;
use crate::host::transcript;
use crate::place::StateDir;
use crate::session::marks;

/// Older sessions are hardly ever forked, and each costs time.
const LOOKED_AT: usize = 64;

/// `tokens`: the size of the conversation by the payload, the last request with its answer.
pub fn inherit(
    state: &StateDir,
    host: Host,
    fork: &SessionId,
    root: Option<&Path>,
    tokens: u64,
    in_time: &dyn Fn() -> bool,
) -> Option<Marks> {
    let folders = fs::read_dir(state.sessions()).ok()?.flatten().map(|entry| entry.path());
    let mut heard: Vec<_> = folders
        .filter_map(|folder| Some((fs::metadata(folder.join("marks")).ok()?.modified().ok()?, folder)))
        .collect();
    heard.sort_unstable_by(|a, b| b.cmp(a));
    let copied = heard.into_iter().take(LOOKED_AT).take_while(|_| in_time()).find_map(|(_, folder)| {
        let Known::Value(parent) = marks::read(&folder) else { return None };
        let same_project = parent.session.root.as_deref().map(Path::new) == root;
        let path = parent.session.transcript.as_deref().filter(|_| same_project)?;
        let found = transcript::last_reading(host, Path::new(path), EventTrace::None, in_time).ok()??;
        (found.used + found.answer == tokens).then_some((parent, folder))
    });
    let (mut copied, parent) = copied?;
    // The fork gets its own transcript, and only the original session steers its cycle.
    copied.session.transcript = None;
    copied.memory.spooled = None;
    copied.approval.requests.clear();
    copied.pressure.said.before_fork = true;
    (copied.cycle.stage, copied.cycle.ahead, copied.cycle.order) = (None, false, None);
    let folder = state.session(fork);
    let lock = marks::lock_shared(&folder).ok()?;
    // First, because a mark may refer to it.
    if let Some(noted) = boundary::read(&parent) {
        let _ = boundary::write(&folder, &noted);
    }
    lock.append_lines(&copied.to_lines()).ok()?;
    Some(copied)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place::PlaceEnv;
    use tidegate_core::feature::cycle::marks::Mark as CycleMark;
    use tidegate_core::feature::knowledge::boundary::Boundary;
    use tidegate_core::feature::marks::{Mark, SessionMark};
    use tidegate_core::feature::pressure::marks::{Mark as PressureMark, PressureLevel, SaidPressure};
    use tidegate_core::time::Millis;

    #[test]
    fn the_session_with_that_many_tokens_is_the_one() {
        let folder = tempfile::tempdir().unwrap();
        let info = SaidPressure { level: PressureLevel::Info, used: 50_010, ..SaidPressure::default() };
        let env = PlaceEnv { state_dir: Some(folder.path().join("state")), ..PlaceEnv::default() };
        let state = StateDir::open(&env).unwrap();
        for (name, project, used) in [("a", "/p", 50_010), ("b", "/p", 70_000), ("c", "/q", 50_010)] {
            let path = folder.path().join(name);
            let usage = format!(r#"{{"input_tokens":{used},"output_tokens":5}}"#);
            let line =
                format!(r#"{{"type":"assistant","message":{{"id":"m","model":"x","usage":{usage}}}}}"#);
            fs::write(&path, line).unwrap();
            let id = SessionId::parse(name).unwrap();
            let mut new: Vec<Mark> = vec![
                SessionMark::Root(project.into()).into(),
                SessionMark::Transcript(path.to_string_lossy().into_owned()).into(),
            ];
            new.push(CycleMark::Stage(Box::default()).into());
            new.extend((name == "a").then_some(PressureMark::Pressure(info).into()));
            marks::lock_shared(&state.session(&id)).unwrap().append(&new).unwrap();
            let noted = Boundary { noted: Millis(used), ..Boundary::default() };
            boundary::write(&state.session(&id), &noted).unwrap();
        }
        let fork = SessionId::parse("f").unwrap();
        let inherit =
            |tokens| inherit(&state, Host::ClaudeCode, &fork, Some(Path::new("/p")), tokens, &|| true);
        assert_eq!(inherit(1), None);
        assert_eq!(marks::read(&state.session(&fork)), Known::Absent);
        let told = SaidPressure { before_fork: true, ..info };
        assert_eq!(inherit(50_015).unwrap().pressure.said, told);
        let inherited = marks::read(&state.session(&fork)).value().unwrap().clone();
        assert_eq!((inherited.pressure.said, inherited.cycle.stage), (told, None));
        assert_eq!(boundary::read(&state.session(&fork)).unwrap().noted, Millis(50_010));
    }
}
