//! Room on the disks: a record that cannot be written fails its gate.

use std::path::Path;

use crate::doctor::finding::{Findings, State};
use crate::doctor::gathered::Gathered;

const MB: u64 = 1_000_000;
const LITTLE: u64 = 100 * MB;
const NONE: u64 = 10 * MB;

const CURE: &str = "make room; a gate that cannot write its record stays closed";

pub(crate) fn check(seen: &Gathered, found: &mut Findings) {
    let state = seen.state.as_ref().ok().map(tidegate_state::place::StateDir::root);
    let places = [("state", state), ("project", seen.project.as_deref())];
    let mut rooms = Vec::new();
    for (name, place) in places {
        let Some(place) = place else { continue };
        let free = match free_bytes(place) {
            Ok(free) => free,
            Err(error) => {
                found.note(format!("the room at {} is not known: {error}", place.display()));
                continue;
            }
        };
        let text = format!("{} left at {} ({name})", megabytes(free), place.display());
        match judge_room(free) {
            State::Problem => found.problem(text, CURE),
            State::Warning => found.warning(text, CURE),
            State::Ok | State::Note => rooms.push(format!("{} for the {name}", megabytes(free))),
        }
    }
    if found.is_empty() {
        found.ok(if rooms.is_empty() { "nothing to look at".to_owned() } else { rooms.join(", ") });
    }
}

fn judge_room(free: u64) -> State {
    match free {
        ..NONE => State::Problem,
        NONE..LITTLE => State::Warning,
        LITTLE.. => State::Ok,
    }
}

fn megabytes(bytes: u64) -> String {
    format!("{} MB", bytes / MB)
}

#[cfg(unix)]
fn free_bytes(place: &Path) -> std::io::Result<u64> {
    let found = rustix::fs::statvfs(place)?;
    Ok(found.f_bavail.saturating_mul(found.f_frsize))
}

#[cfg(not(unix))]
fn free_bytes(_: &Path) -> std::io::Result<u64> {
    Err(std::io::Error::other("not asked on this system"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn little_room_is_a_warning_and_none_a_problem() {
        assert_eq!(judge_room(0), State::Problem);
        assert_eq!(judge_room(10 * MB - 1), State::Problem);
        assert_eq!(judge_room(10 * MB), State::Warning);
        assert_eq!(judge_room(100 * MB - 1), State::Warning);
        assert_eq!(judge_room(100 * MB), State::Ok);
        assert_eq!(judge_room(u64::MAX), State::Ok);
    }
}
