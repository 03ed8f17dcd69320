//! Settings files that the client ignores, with Tidegate's hooks in them.

use super::super::hook_shape::find_faults;
use super::super::registrations::is_ours;
use super::super::settings_file::Content;
use crate::doctor::finding::Findings;
use crate::doctor::gathered::Gathered;
use crate::print::format_count;

pub(crate) fn check(seen: &Gathered, found: &mut Findings) {
    let mut read = 0;
    for file in &seen.client.settings {
        match &file.content {
            Content::Absent => {}
            Content::Object(object) => {
                read += 1;
                let faults = find_faults(object, |handler| !is_ours(handler, &seen.call));
                if !faults.is_empty() {
                    let (path, faults) = (file.path.display(), faults.join("; "));
                    found.warning(
                        format!("the client leaves out all of {path}: {faults}"),
                        "mend that entry there; one that gates and is not valid costs the whole file",
                    );
                }
            }
            Content::Broken(broken) => found.problem(
                format!("the client will not read {}{broken}", file.path.display()),
                "mend the file there; it has to be plain JSON, without comments and trailing commas",
            ),
        }
    }
    if found.is_empty() {
        found.ok(format!("{}, all readable", format_count(read, "settings file")));
    }
}
