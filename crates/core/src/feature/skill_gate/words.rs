//! Texts for people about edits that wait for a skill.

use super::ID;
use crate::text::lang::Lang;

pub(super) fn skill_required(lang: Lang, file: &str, skills: &str) -> String {
    match lang {
        Lang::En => format!(
            "Tidegate held back an edit of {file} until the agent has invoked the skill {skills}. To work without this gate: \
             `tidegate off {ID} --for 1h` in another terminal."
        ),
        Lang::Ja => format!(
            "エージェントがスキル {skills} を呼び出すまで、{file} の編集を保留しました。このゲートなしで作業するには、別の端末で \
             `tidegate off {ID} --for 1h` を実行してください。"
        ),
    }
}

/// `get`: how to install it.
pub(super) fn skill_not_installed(lang: Lang, file: &str, skills: &str, get: &str) -> String {
    match lang {
        Lang::En => format!(
            "Tidegate blocked an edit to {file}: {skills} is required first and is not installed. To install: {get}. To skip: \
             `tidegate off {ID} --for 1h`"
        ),
        Lang::Ja => format!(
            "Tidegate: {file} の編集をブロックしました。先に必要なスキル {skills} がインストールされていません。追加するには: \
             {get}。省くには: `tidegate off {ID} --for 1h`"
        ),
    }
}

pub(super) fn put_skill_there(lang: Lang, skill: &str) -> String {
    match lang {
        Lang::En => format!("put it at `.claude/skills/{skill}/SKILL.md`"),
        Lang::Ja => format!("`.claude/skills/{skill}/SKILL.md` に置いてください"),
    }
}
