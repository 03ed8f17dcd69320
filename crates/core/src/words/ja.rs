//! Japanese.

use super::Words;

pub(super) const WORDS: Words = Words {
    gate_closed: |step, policy| {
        format!(
            "Tidegateはこの呼び出しを確認できなかったため通しませんでした: {step}。\
             経緯は `tidegate journal` で見られます。このゲートなしで作業するには TIDEGATE_OFF={policy} を付けてクライアントを起動してください。"
        )
    },
    used: |percent| format!("{percent}% 使用"),
    left: |tokens, compacts| {
        if compacts { format!("圧縮まで {tokens}") } else { format!("残り {tokens}") }
    },
    turns: |turns| format!("約{turns}ターン"),
    no_reading: "まだ計測なし",
    hooks_silent: "! フック無応答 (tidegate status)",
};
