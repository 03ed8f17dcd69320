//! What a host's protocol can carry: one row per ability, from which `docs/hosts.md`, `init` and `doctor` are made. A
//! policy never pretends more than its host can do; the limits are the words for that.

use crate::text::lang::Lang;

macro_rules! capabilities {
    ($($(#[$meta:meta])* $name:ident, $en:literal, $ja:literal;)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Capability {
            $($(#[$meta])* $name,)*
        }

        impl Capability {
            /// In the order of the documentation.
            pub const ALL: &[Capability] = &[$(Capability::$name,)*];

            /// For a table.
            pub fn title(self, lang: Lang) -> &'static str {
                match (self, lang) {
                    $((Capability::$name, Lang::En) => $en, (Capability::$name, Lang::Ja) => $ja,)*
                }
            }
        }
    };
}

capabilities! {
    /// An edit is denied before it happens.
    EditGate, "edits wait for their skills", "編集の前にスキルを求める";
    /// Skills that were invoked are known.
    SkillsSeen, "skills that were invoked", "呼び出したスキルの把握";
    /// The end of a turn is blocked.
    StopGate, "\"done\" waits for a check that passed", "「完了」の前に検証を求める";
    /// The exit status of a command.
    Evidence, "checks are known to have passed", "検証の成否の把握";
    /// Tokens in use and the window.
    Meter, "context meter and warnings", "コンテキストの計測と警告";
    StatusLine, "status line", "ステータスライン";
    /// Facts to keep are named to the summariser.
    SummaryInstructions, "facts to keep are named before a compaction", "圧縮の前に残す事実を伝える";
    LostFacts, "lost facts are given back", "失われた事実を戻す";
    /// Text for the model.
    Context, "notes for the model", "モデルへの情報";
    /// Text for the person.
    PersonText, "messages for you", "あなたへのメッセージ";
    /// A person is asked about an edit of Tidegate's own files.
    OwnFiles, "edits of Tidegate's own files", "Tidegate 自身のファイルの編集";
    /// A person approves by a prompt.
    Approval, "approval by a typed prompt", "プロンプトによる承認";
    AgentGate, "gates before agents start", "エージェント開始前のチェック";
    Cycle, "stages follow each other", "ステージの連続";
    Memory, "conversations are recorded and found", "会話の記録と検索";
    TaskGate, "tasks wait for a check", "タスク完了前の検証";
    Worktree, "notes of a removed worktree are kept", "削除されたワークツリーのメモの保存";
}

/// In both languages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    pub en: &'static str,
    pub ja: &'static str,
}

impl Limit {
    pub fn text(self, lang: Lang) -> &'static str {
        match lang {
            Lang::En => self.en,
            Lang::Ja => self.ja,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Support {
    Full,
    /// With a limit.
    Partly(Limit),
    /// The host cannot do it, and why.
    No(Limit),
}

impl Support {
    pub fn limit(self) -> Option<Limit> {
        match self {
            Support::Full => None,
            Support::Partly(limit) | Support::No(limit) => Some(limit),
        }
    }
}

/// For a host whose calls are only recorded.
pub const NOTHING: Support = Support::No(Limit {
    en: "its calls are recorded and answered with nothing",
    ja: "呼び出しを記録するだけで、何も返しません",
});

pub(super) const fn partly(en: &'static str, ja: &'static str) -> Support {
    Support::Partly(Limit { en, ja })
}

pub(super) const fn no(en: &'static str, ja: &'static str) -> Support {
    Support::No(Limit { en, ja })
}
