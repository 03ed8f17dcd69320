//! The names of all files in private state, as [`crate::place`] draws them. A person can choose a folder that holds more, so
//! only files with these names may be deleted together.

use std::path::Path;

use tidegate_core::event::SessionId;

/// Relative to the state directory.
pub const STATE_FILES: &[&str] = &[
    "journal/<day>.jsonl",
    "installs/lock",
    "installs/client-lock",
    "installs/<project>/record.json",
    "installs/<project>/<any>.before",
    "installs/replaced/<numbered>",
    "llm-calls.json",
    "llm-calls.lock",
    "summary-calls.json",
    "summary-calls.lock",
    "off.json",
    "off.lock",
    "projects/<project>/cycles.jsonl",
    "projects/<project>/fix-loop.json",
    "projects/<project>/gates.jsonl",
    "projects/<project>/knowledge",
    "projects/<project>/listed.json",
    "projects/<project>/promotions/<hash>",
    "projects/<project>/lock",
    "worktrees/<project>/<day>T<any>/<any>.md",
    "memory/topics",
    "memory/undecided.json",
    "memory/projects/<project>.json",
    "memory/retries.json",
    "memory/lock",
    "spool/<numbered>.json",
    "spool/damaged/<numbered>.json",
    "spool/lock",
    "spool/worker-started",
    "trust/<hash>.json",
    "config/<hash>.json",
    "told/recording",
    "told/status-line",
    "kept",
    "unnoted/<session>",
    "unnoted/<session>.unnamed",
    "unnoted/<session>.taking",
    "sessions/<session>/marks",
    "sessions/<session>/lock",
    "sessions/<session>/unnoted",
    "sessions/<session>/unnoted.unnamed",
    "sessions/<session>/unnoted.taking",
    "sessions/<session>/bridge",
    "sessions/<session>/boundaries",
    "sessions/<session>/listed.json",
    "sessions/<session>/promotions/<hash>",
    "sessions/<session>/claims",
];

/// Whether one of the patterns means this file, or a temporary file for it. The path is relative.
pub fn is_listed(patterns: &[&str], path: &Path) -> bool {
    let Some(mut names) = names_of(path) else { return false };
    if let Some(name) = names.last_mut() {
        *name = without_temporary(name);
    }
    let fits = |pattern: &&str| {
        let parts: Vec<&str> = pattern.split('/').collect();
        parts.len() == names.len() && parts.iter().zip(&names).all(|(part, name)| fits_name(part, name))
    };
    patterns.iter().any(fits)
}

/// Whether a file that one of the patterns means can be in this folder.
pub fn is_folder_listed(patterns: &[&str], path: &Path) -> bool {
    let Some(names) = names_of(path) else { return false };
    let fits = |pattern: &&str| {
        let parts: Vec<&str> = pattern.split('/').collect();
        parts.len() > names.len() && parts.iter().zip(&names).all(|(part, name)| fits_name(part, name))
    };
    patterns.iter().any(fits)
}

fn names_of(path: &Path) -> Option<Vec<&str>> {
    path.components().map(|part| part.as_os_str().to_str()).collect()
}

/// `x.json` for `.x.json.4711.0.tmp`, which [`crate::file::replace`] leaves if its process is killed.
fn without_temporary(name: &str) -> &str {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let inner = || {
        let rest = name.strip_prefix('.')?.strip_suffix(".tmp")?;
        let (rest, count) = rest.rsplit_once('.')?;
        let (file, process) = rest.rsplit_once('.')?;
        (is_number(count) && is_number(process)).then_some(file)
    };
    inner().unwrap_or(name)
}

/// A pattern is text with placeholders. The text between two of them ends the first one at its first occurrence.
fn fits_name(pattern: &str, name: &str) -> bool {
    let Some((text, rest)) = pattern.split_once('<') else { return pattern == name };
    let (Some(name), Some((kind, rest))) = (name.strip_prefix(text), rest.split_once('>')) else {
        return false;
    };
    let next = rest.split('<').next().unwrap_or_default();
    let end = match (next, rest.contains('<')) {
        ("", _) => Some(name.len()),
        (_, true) => name.find(next),
        (_, false) => name.len().checked_sub(next.len()).filter(|_| name.ends_with(next)),
    };
    end.is_some_and(|end| is_kind(kind, &name[..end]) && fits_name(rest, &name[end..]))
}

fn is_kind(kind: &str, text: &str) -> bool {
    match kind {
        "day" => {
            let is_digit = |(at, byte): (usize, u8)| {
                if matches!(at, 4 | 7) { byte == b'-' } else { byte.is_ascii_digit() }
            };
            text.len() == 10 && text.bytes().enumerate().all(is_digit)
        }
        "hash" => text.len() == 16 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')),
        // See `project::folder_name`.
        "project" => text.rsplit_once('-').is_some_and(|(_, hash)| is_kind("hash", hash)),
        "session" => SessionId::parse(text).is_ok(),
        "numbered" => {
            let (number, rest) = text.split_once('-').unwrap_or_default();
            !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) && !rest.is_empty()
        }
        _ => kind == "any" && !text.is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::folder_name;
    use std::fs;
    use tidegate_core::feature::facts::Told;

    fn is_of_state(path: &str) -> bool {
        is_listed(STATE_FILES, Path::new(path))
    }

    #[test]
    fn placeholders_take_only_their_own_kind() {
        let project = folder_name(Path::new("/home/me/app"));
        for path in [
            "journal/2026-11-15.jsonl",
            "off.json",
            ".off.json.4711.0.tmp",
            "spool/001794941799886-ad1e-6b0156ba86e4807e.json",
            "spool/.001794941799886-ad1e-6b0156ba86e4807e.json.1.2.tmp",
            "installs/replaced/1794941799886-0-settings.json",
            "sessions/9c2d7edb-8bb0-4f5c-a46d-5a7b8c9d0e98/marks",
            "worktrees/home-x-85ee94c05585ebbb/2026-11-17T185636Z-agent-1/progress.md",
            &format!("projects/{project}/lock"),
            &format!("memory/projects/{project}.json"),
            &format!("installs/{project}/settings.local.json.before"),
        ] {
            assert!(is_of_state(path), "{path}");
            let folder = Path::new(path).parent().unwrap();
            assert!(is_folder_listed(STATE_FILES, folder), "{path}");
        }
        for path in [
            "journal/monday.jsonl",
            "journal/2026-11-15.md",
            "journal/2026-11-15.jsonl/x",
            "projects/app/lock",
            "projects/app/src/main.rs",
            "config/nginx.conf",
            "config/app.json",
            "trust/me.json",
            "memory/notes.md",
            "sessions/a.b/marks",
            "sessions/one/notes.md",
            "spool/letters.json",
            "told/secret",
            "off.json.mine",
            ".off.json.mine.0.tmp",
            "",
        ] {
            assert!(!is_of_state(path), "{path}");
        }
        assert!(!is_folder_listed(STATE_FILES, Path::new("projects/app")));
        assert!(
            is_folder_listed(STATE_FILES, Path::new("projects"))
                && is_folder_listed(STATE_FILES, Path::new(""))
        );
        for told in Told::ALL {
            assert!(is_of_state(&format!("told/{}", told.name())));
        }
    }

    #[test]
    fn everything_that_a_release_wrote_is_listed() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/written_by/0.1.0/state");
        let mut folders = vec![root.clone()];
        let mut count = 0;
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap().flatten() {
                let path = entry.path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    assert!(is_listed(STATE_FILES, path.strip_prefix(&root).unwrap()), "{}", path.display());
                    count += 1;
                }
            }
        }
        assert!(count > 20, "{count}");
    }
}
