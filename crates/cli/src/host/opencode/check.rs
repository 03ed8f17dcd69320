//! `doctor`: the plugin for opencode.

use super::make_shim;
use super::registrations::HOOKS;
use crate::bilingual::{Bilingual, both};
use crate::doctor::finding::Findings;
use crate::doctor::gathered::Gathered;
use crate::host::installed::Installed;

pub(crate) fn check(seen: &Gathered, found: &mut Findings) {
    let installed = Installed::find(&HOOKS, seen, found);
    for file in &installed.files {
        let shown = file.path.display();
        if !installed.check_entries(file, found) {
            continue;
        }
        if file.text == make_shim(&seen.call) {
            found
                .ok(both!("{shown} is this version's plugin.", "{shown} はこのバージョンのプラグインです。"));
        } else {
            found.problem(
                both!(
                    "{shown} is not the plugin of this version, or was changed.",
                    "{shown} はこのバージョンのプラグインではないか、変更されています。"
                ),
                both!("Run `{init}`.", "`{init}` を実行してください。", init = installed.init(file.scope)),
            );
        }
    }
    let run: Vec<_> = installed.files.iter().collect();
    installed.finish(&run, Bilingual::default(), found);
}
