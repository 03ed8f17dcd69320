//! What Codex's protocol can carry, as seen with 0.166.0.

use crate::host::capability::{Capability, Support, no, partly};

pub(super) fn support(capability: Capability) -> Support {
    use Capability as C;
    match capability {
        C::EditGate
        | C::StopGate
        | C::Evidence
        | C::Meter
        | C::LostFacts
        | C::Context
        | C::AgentGate
        | C::Cycle
        | C::Memory => Support::Full,
        C::SkillsSeen => partly(
            "a skill counts once the model has printed its whole SKILL.md",
            "モデルが SKILL.md を最後まで表示した時点で、呼び出したと見なします",
        ),
        C::StatusLine => no(
            "its status line runs no programs; `tidegate status` shows the same",
            "ステータスラインからプログラムを起動できません。`tidegate status` で確認できます",
        ),
        C::SummaryInstructions => no(
            "it drops the text; lost facts come back after the compaction",
            "文が捨てられます。失われた事実は圧縮の後に戻します",
        ),
        C::PersonText => partly("`codex exec` does not show them", "`codex exec` では表示されません"),
        C::OwnFiles => partly(
            "denied, because a hook cannot ask you",
            "フックから確認を求められないため、ブロックします",
        ),
        C::Approval => no("decide in a terminal of your own", "ご自身のターミナルで決めてください"),
        C::TaskGate | C::Worktree => no("it has no such event", "該当するイベントがありません"),
    }
}
