//! Settings files that the client will not read: it goes on without them, and without our hooks in them.

use super::super::finding::{Findings, count};
use super::super::gathered::Gathered;
use super::super::settings_file::Content;

pub(super) fn check(seen: &Gathered, found: &mut Findings) {
    let mut read = 0;
    for file in &seen.settings {
        match &file.content {
            Content::Absent => {}
            Content::Object(_) => read += 1,
            Content::Broken(broken) => found.problem(
                format!("the client will not read {}{broken}", file.path.display()),
                "mend the file there; it has to be plain JSON, without comments and trailing commas",
            ),
        }
    }
    if found.is_empty() {
        found.ok(format!("{}, all readable", count(read, "settings file")));
    }
}
