//! What Copilot's protocol can carry, as seen with 1.0.102.

use crate::host::capability::{Capability, Support, no, partly};

pub(super) fn support(capability: Capability) -> Support {
    use Capability as C;
    match capability {
        C::EditGate | C::SkillsSeen | C::Evidence | C::Meter | C::Context | C::AgentGate | C::Memory => {
            Support::Full
        }
        C::StopGate | C::Cycle => {
            partly("it blocks at most eight times in a row", "続けてブロックできるのは8回までです")
        }
        C::StatusLine => partly(
            "`init` does not add it: `tidegate reference hosts` has the line",
            "`init` では追加しません。設定の行は `tidegate reference hosts` にあります",
        ),
        C::SummaryInstructions => no(
            "it only notifies of a compaction; lost facts come back after it",
            "圧縮は通知されるだけです。失われた事実は圧縮の後に戻します",
        ),
        C::LostFacts => partly(
            "with the first tool or prompt after the compaction, which runs in the background",
            "圧縮はバックグラウンドで行われるため、その後の最初のツールかプロンプトで戻します",
        ),
        C::PersonText => partly("`copilot -p` does not show them", "`copilot -p` では表示されません"),
        C::OwnFiles => {
            partly("asked, or denied in `copilot -p`", "確認を求めます。`copilot -p` ではブロックします")
        }
        C::Approval => no("decide in a terminal of your own", "ご自身のターミナルで決めてください"),
        C::TaskGate | C::Worktree => no("it has no such event", "該当するイベントがありません"),
    }
}
