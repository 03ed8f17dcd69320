//! Texts for people about unverified code.

use super::verify_stop::ID;
use super::work::{ChangeSet, OTHERS_KEPT};
use crate::text::lang::Lang;

pub(super) fn stop_held(lang: Lang, changes: &ChangeSet) -> String {
    let files = file_list(lang, changes);
    match lang {
        Lang::En => format!(
            "Tidegate had the agent go on: code was edited and not verified since ({files}). To work without this gate: \
             `tidegate off {ID} --for 1h` in another terminal."
        ),
        Lang::Ja => format!(
            "コードが編集された後に検証されていないため、エージェントに作業を続けさせました（{files}）。このゲートなしで作業するには、\
             別の端末で `tidegate off {ID} --for 1h` を実行してください。"
        ),
    }
}

/// For a turn that ended although code is unverified.
pub(super) fn unverified(lang: Lang, changes: &ChangeSet) -> String {
    let files = file_list(lang, changes);
    match lang {
        Lang::En => format!("Code was edited and is not verified: {files}."),
        Lang::Ja => format!("コードが編集されましたが、その後検証されていません: {files}。"),
    }
}

fn file_list(lang: Lang, changes: &ChangeSet) -> String {
    match lang {
        // The same list as for the model.
        Lang::En => changes.list_files(),
        Lang::Ja => {
            let names = changes.shown_files().collect::<Vec<_>>().join("、");
            match changes.others.len() {
                0 => names,
                OTHERS_KEPT => format!("{names} ほか{OTHERS_KEPT}件以上"),
                more => format!("{names} ほか{more}件"),
            }
        }
    }
}

/// In the status line.
pub fn unverified_files(lang: Lang, count: usize) -> String {
    match lang {
        Lang::En if count == 1 => "1 file unverified".to_owned(),
        Lang::En => format!("{count} files unverified"),
        Lang::Ja => format!("未検証 {count} ファイル"),
    }
}
