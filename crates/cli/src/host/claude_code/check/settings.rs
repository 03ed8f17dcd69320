//! Settings files that the client ignores, with Tidegate's hooks in them.

use super::super::hook_shape::find_faults;
use super::super::registrations::is_ours;
use super::super::settings_file::Content;
use crate::bilingual::{Bilingual, both, count_en};
use crate::doctor::finding::Findings;
use crate::doctor::gathered::Gathered;

pub(crate) fn check(seen: &Gathered, found: &mut Findings) {
    let mut read = 0;
    for file in &seen.client.settings {
        let path = file.path.display();
        match &file.content {
            Content::Absent => {}
            Content::Object(object) => {
                read += 1;
                let faults = find_faults(object, |handler| !is_ours(handler, &seen.call));
                if !faults.is_empty() {
                    let Bilingual { en, ja } = Bilingual::list(faults);
                    found.warning(
                        both!(
                            "Claude Code ignores all of {path}: {en}.",
                            "Claude Code は {path} 全体を無視します: {ja}"
                        ),
                        both!(
                            "Correct or remove that entry in {path}.",
                            "{path} のその項目を直すか、削除してください。"
                        ),
                    );
                }
            }
            Content::Broken(broken) => {
                let fix = if broken.at.is_some() {
                    both!(
                        "Correct the file there. It has to be JSON without comments and trailing commas.",
                        "その箇所を直してください。コメントや末尾のカンマのない JSON にする必要があります。"
                    )
                } else {
                    both!(
                        "Make {path} a file that you can read, or remove it.",
                        "{path} を読み取れるファイルにするか、削除してください。"
                    )
                };
                let Bilingual { en, ja } = broken.describe();
                found.problem(
                    both!("Claude Code cannot read {path}{en}.", "Claude Code が読み込めません: {path}{ja}"),
                    fix,
                );
            }
        }
    }
    if found.is_empty() {
        let files = count_en(read, "settings file");
        found.ok(both!("Claude Code can read {files}.", "設定ファイル{read}個を読み込めます。"));
    }
}
