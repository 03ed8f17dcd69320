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
