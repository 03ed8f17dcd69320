//! What Qwen Code's protocol can carry, as seen with 0.24.4.

use crate::host::capability::{Capability, Support, no, partly};

pub(super) fn support(capability: Capability) -> Support {
    use Capability as C;
    match capability {
        C::EditGate
        | C::SkillsSeen
        | C::StopGate
        | C::Evidence
        | C::Meter
        | C::SummaryInstructions
        | C::Context
        | C::AgentGate
        | C::Cycle
        | C::Memory => Support::Full,
        C::LostFacts => partly(
            "with the next tool result or prompt, because it drops what is said right after a compaction",
            "圧縮の直後の文は捨てられるため、次のツール結果かプロンプトとともに戻します",
        ),
        C::StatusLine => no(
            "`init` does not set up its status line; `tidegate status` shows the same",
            "`init` はそのステータスラインを設定しません。`tidegate status` で確認できます",
        ),
        C::PersonText => partly(
            "`qwen -p` shows only those at the end of a turn",
            "`qwen -p` ではターンの終わりのものだけが表示されます",
        ),
        C::OwnFiles => {
            partly("it asks you; `qwen -p` denies instead", "確認を求めます。`qwen -p` ではブロックします")
        }
        C::Approval => no("decide in a terminal of your own", "ご自身のターミナルで決めてください"),
        C::TaskGate | C::Worktree => no("it has no such event", "該当するイベントがありません"),
    }
}
