//! What opencode's plugins can do, as seen with 1.18.33.

use crate::host::capability::{Capability, Support, no, partly};

pub(super) fn support(capability: Capability) -> Support {
    use Capability as C;
    match capability {
        C::EditGate
        | C::SkillsSeen
        | C::Evidence
        | C::Meter
        | C::SummaryInstructions
        | C::Context
        | C::AgentGate => Support::Full,
        C::StopGate | C::Cycle => partly(
            "with a new prompt, because a plugin hears only that the turn has ended; `opencode run` may end first",
            "ターンの終わった後にしか分からないため、新しいプロンプトで続けます。`opencode run` は先に終了することがあります",
        ),
        C::LostFacts => {
            partly("with the next tool result or prompt", "次のツール結果かプロンプトとともに戻します")
        }
        C::StatusLine => no(
            "it has none for programs; `tidegate status` shows the same",
            "プログラム用のステータスラインがありません。`tidegate status` で確認できます",
        ),
        C::PersonText => no("`tidegate log` shows them", "`tidegate log` で確認できます"),
        C::OwnFiles => partly(
            "denied, because a plugin cannot ask you",
            "プラグインから確認を求められないため、ブロックします",
        ),
        C::Approval => no("decide in a terminal of your own", "ご自身のターミナルで決めてください"),
        C::Memory => no(
            "its conversations are in a database that Tidegate does not read; the memory can be searched",
            "会話は Tidegate が読まないデータベースにあります。記憶の検索はできます",
        ),
        C::TaskGate | C::Worktree => no("it has no such event", "該当するイベントがありません"),
    }
}
