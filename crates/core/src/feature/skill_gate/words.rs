//! Texts for people about edits that wait for a skill.

use super::ID;
use crate::text::lang::Lang;

pub(super) fn skill_required(lang: Lang, file: &str, skills: &str) -> String {
    match lang {
        Lang::En => format!(
            "Tidegate paused an edit to {file}: the settings require the skill {skills} first. Claude will load it and retry; you \
             don't need to do anything. Skip: `tidegate off {ID} --for 1h`"
        ),
        Lang::Ja => format!(
            "Tidegate: {file} の編集を保留しました。先にスキル {skills} が必要です。Claudeが読み込んでやり直すので、何もする必要はありません。\
             スキップ: `tidegate off {ID} --for 1h`"
        ),
    }
}

/// `get`: how to install it.
pub(super) fn skill_not_installed(lang: Lang, file: &str, skills: &str, get: &str) -> String {
    match lang {
        Lang::En => format!(
            "Tidegate blocked an edit to {file}: the settings require the skill {skills} first, and it is not installed. Fix: \
             {get}. Skip: `tidegate off {ID} --for 1h`"
        ),
        Lang::Ja => format!(
            "Tidegate: {file} の編集をブロックしました。先に必要なスキル {skills} がインストールされていません。直し方: {get}。\
             スキップ: `tidegate off {ID} --for 1h`"
        ),
    }
}

pub(super) fn put_skill_there(lang: Lang, skill: &str) -> String {
    match lang {
        Lang::En => format!("put it at `.claude/skills/{skill}/SKILL.md`"),
        Lang::Ja => format!("`.claude/skills/{skill}/SKILL.md` に置く"),
    }
}
