//! Texts for people about edits that wait for a skill.

use super::ID;
use crate::text::lang::Lang;
use crate::text::list::name_a_few;

pub(super) fn skill_required(lang: Lang, file: &str, skills: &[&str]) -> String {
    let (noun, them) = if skills.len() == 1 { ("skill", "it") } else { ("skills", "them") };
    let skills = name_a_few(skills);
    match lang {
        Lang::En => format!(
            "Tidegate paused an edit to {file}: the settings require the {noun} {skills} first. Claude will load {them} and retry; \
             you don't need to do anything. Skip: `tidegate off {ID} --for 1h`"
        ),
        Lang::Ja => format!(
            "Tidegate: {file} の編集を保留しました。先にスキル {skills} が必要です。Claude が読み込んでやり直すので、何もする必要はありません。\
             スキップ: `tidegate off {ID} --for 1h`"
        ),
    }
}

/// `get`: how to install it.
pub(super) fn skill_not_installed(lang: Lang, file: &str, skills: &[&str], get: &str) -> String {
    let (noun, them) = if skills.len() == 1 { ("skill", "it") } else { ("skills", "them") };
    let skills = name_a_few(skills);
    match lang {
        Lang::En => format!(
            "Tidegate blocked an edit to {file}: the settings require the {noun} {skills} first, and Tidegate did not find {them}. \
             Fix: {get}. Skip: `tidegate off {ID} --for 1h`"
        ),
        Lang::Ja => format!(
            "Tidegate: {file} の編集をブロックしました。先に必要なスキル {skills} が見つかりません。直し方: {get}。\
             スキップ: `tidegate off {ID} --for 1h`"
        ),
    }
}

pub(super) fn put_skill_there(lang: Lang, home: &str, skill: &str) -> String {
    match lang {
        Lang::En => format!("put it at `{home}/skills/{skill}/SKILL.md`"),
        Lang::Ja => format!("`{home}/skills/{skill}/SKILL.md` に置く"),
    }
}
