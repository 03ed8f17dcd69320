//! Room on the disks: a record that cannot be written fails its gate.

use std::path::Path;

use crate::bilingual::{Bilingual, both};
use crate::doctor::finding::{Findings, State};
use crate::doctor::gathered::Gathered;

const MB: u64 = 1_000_000;
const LITTLE: u64 = 100 * MB;
const NONE: u64 = 10 * MB;

pub(crate) fn check(seen: &Gathered, found: &mut Findings) {
    let state = seen.state.as_ref().ok().map(tidegate_state::place::StateDir::root);
    let places = [
        (both!("Tidegate's state folder", "状態のフォルダ"), state),
        (both!("this project", "プロジェクト"), seen.project.as_deref()),
    ];
    let fix = || {
        both!(
            "Delete files there. Without a free disk Tidegate cannot record its checks, and blocks edits.",
            "そのディスクの空きを増やしてください。記録を書けないと、Tidegate は編集をブロックします。"
        )
    };
    let mut rooms = Vec::new();
    for (name, place) in places {
        let Some(place) = place else { continue };
        let (Bilingual { en, ja }, shown) = (name, place.display());
        let free = match free_bytes(place) {
            Ok(free) => free,
            Err(error) => {
                found.note(both!(
                    "Tidegate does not know how much room the disk of {shown} has: {error}.",
                    "{shown} のディスクの空きがわかりません: {error}"
                ));
                continue;
            }
        };
        let room = megabytes(free);
        let text = both!(
            "The disk of {en}, {shown}, has only {room} left.",
            "{ja} {shown} のディスクの空きは{room}しかありません。"
        );
        match judge_room(free) {
            State::Problem => {
                found.problem(text, fix());
            }
            State::Warning => {
                found.warning(text, fix());
            }
            State::Ok | State::Note => rooms.push(both!("{room} free for {en}", "{ja}用に{room}")),
        }
    }
    if found.is_empty() {
        let Bilingual { en, ja } = Bilingual::list(rooms);
        found.ok(if en.is_empty() {
            both!("Nothing to check.", "確認するものはありません。")
        } else {
            both!("{en}.", "空き: {ja}")
        });
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
