//! What a checkpoint misses, or cannot find out, in the words of the report. The English is part of `check --json`.

use crate::feature::workflow::check::{MAX_SUMMARY_TOKENS, PROGRESS_SKILL};
use crate::text::lang::Lang;
use crate::time::Millis;

/// `key` names the phase's section in the manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lack {
    Unusable(String),
    NoSection {
        key: String,
    },
    OnlyStatus {
        key: String,
    },
    ShortOutput {
        key: String,
        before: u64,
        after: u64,
    },
    OldOutput {
        key: String,
        written: Millis,
        began: Millis,
    },
    NotReadBack {
        key: String,
    },
    NoSummary {
        key: String,
    },
    LongSummary {
        key: String,
        tokens: u64,
    },
    BadFiles(BadFiles),
    DecisionsLost,
    NoDecision,
    NotCompacted {
        phase: usize,
        is_nearly_full: bool,
    },
    NoSkill,
    StartUnknown,
    WriteUnknown,
    UseUnknown,
    EndUnknown,
    /// No compaction: a new session has an empty context.
    NewSession,
    /// No compaction: there is room.
    RoomLeft {
        used_pct: Option<u64>,
    },
}

/// Names of files, in lists that are ready to be shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BadFiles {
    pub missing: Option<String>,
    pub outside: Option<String>,
    pub empty: Option<String>,
}

impl Lack {
    pub fn text(&self, lang: Lang) -> String {
        match lang {
            Lang::En => self.english(),
            Lang::Ja => self.japanese(),
        }
    }

    fn english(&self) -> String {
        match self {
            Lack::Unusable(why) => format!("the manifest cannot be used: {why}"),
            Lack::NoSection { key } => format!("phases.{key} is not in the manifest"),
            Lack::OnlyStatus { key } => {
                format!("phases.{key} holds only a status: no output, and no artifact that has it")
            }
            Lack::ShortOutput { key, before, after } => format!(
                "the output of phases.{key} (about {before} tokens) is not longer than its summary (about {after})"
            ),
            Lack::OldOutput { key, written, began } => format!(
                "the output of phases.{key} was last written at {}, before the phase began at {}",
                written.iso_seconds(),
                began.iso_seconds()
            ),
            Lack::NotReadBack { key } => format!("phases.{key} does not read back"),
            Lack::NoSummary { key } => format!("phases.{key} has no `summary`"),
            Lack::LongSummary { key, tokens } => format!(
                "the summary of phases.{key} is about {tokens} tokens; the limit is {MAX_SUMMARY_TOKENS}"
            ),
            Lack::BadFiles(BadFiles { missing, outside, empty }) => join([
                missing.as_ref().map(|names| format!("{names} is named and does not exist")),
                outside.as_ref().map(|names| format!("{names} is named and is outside of the project")),
                empty.as_ref().map(|names| format!("{names} is empty")),
            ]),
            Lack::DecisionsLost => "without a summary the decisions are lost".to_owned(),
            Lack::NoDecision => {
                "the summary names no decision (`Key decisions: …`, or `Key decisions: none`)".to_owned()
            }
            Lack::NotCompacted { phase, is_nearly_full } => {
                let why = if *is_nearly_full { ", and the context is nearly full" } else { "" };
                format!(
                    "the conversation was not compacted since phase {phase} ended{why}; the person can type `/compact`"
                )
            }
            Lack::NoSkill => format!("the skill `{PROGRESS_SKILL}` was not invoked since the phase began"),
            Lack::StartUnknown => "the start of the phase is not known".to_owned(),
            Lack::WriteUnknown => "the time of the write is not known".to_owned(),
            Lack::UseUnknown => {
                "no compaction was seen; whether one is needed is not known, because the use of the context is not".to_owned()
            }
            Lack::EndUnknown => {
                "whether a compaction followed is not known, because the end of the phase is not".to_owned()
            }
            Lack::NewSession => "not compacted; a new session began since the phase ended".to_owned(),
            Lack::RoomLeft { used_pct: Some(percent) } => format!("not compacted, not needed at {percent}%"),
            Lack::RoomLeft { used_pct: None } => "not compacted, not needed".to_owned(),
        }
    }

    fn japanese(&self) -> String {
        match self {
            Lack::Unusable(why) => format!("マニフェストを使えません: {why}"),
            Lack::NoSection { key } => format!("マニフェストに phases.{key} がありません"),
            Lack::OnlyStatus { key } => {
                format!("phases.{key} には状態しかなく、成果もそのファイルもありません")
            }
            Lack::ShortOutput { key, before, after } => {
                format!(
                    "phases.{key} の成果（約{before}トークン）が要約（約{after}トークン）より短いままです"
                )
            }
            Lack::OldOutput { key, written, began } => format!(
                "phases.{key} の成果の最終更新（{}）が、フェーズの開始（{}）より前です",
                written.iso_seconds(),
                began.iso_seconds()
            ),
            Lack::NotReadBack { key } => format!("phases.{key} を読み返せません"),
            Lack::NoSummary { key } => format!("phases.{key} に `summary` がありません"),
            Lack::LongSummary { key, tokens } => {
                format!("phases.{key} の要約は約{tokens}トークンで、上限の{MAX_SUMMARY_TOKENS}を超えています")
            }
            Lack::BadFiles(BadFiles { missing, outside, empty }) => join([
                missing.as_ref().map(|names| format!("書かれているファイルがありません: {names}")),
                outside.as_ref().map(|names| format!("プロジェクトの外のファイルです: {names}")),
                empty.as_ref().map(|names| format!("空のファイルです: {names}")),
            ]),
            Lack::DecisionsLost => "要約がないと、決めたことが失われます".to_owned(),
            Lack::NoDecision => {
                "要約に決定がありません（`Key decisions: …`、なければ `Key decisions: none` と書きます）"
                    .to_owned()
            }
            Lack::NotCompacted { phase, is_nearly_full } => {
                let why = if *is_nearly_full { "、コンテキストもほぼ満杯です" } else { "" };
                format!(
                    "フェーズ{phase}が終わってから会話を圧縮していません{why}。`/compact` を入力してください"
                )
            }
            Lack::NoSkill => format!("フェーズの開始後に、スキル `{PROGRESS_SKILL}` を使っていません"),
            Lack::StartUnknown => "フェーズの開始時刻がわかりません".to_owned(),
            Lack::WriteUnknown => "書き込みの時刻がわかりません".to_owned(),
            Lack::UseUnknown => "コンテキストの使用量がわからず、圧縮が必要か判断できません".to_owned(),
            Lack::EndUnknown => "フェーズの終了時刻がわからず、圧縮がその後か判断できません".to_owned(),
            Lack::NewSession => "圧縮なし。フェーズの終了後に新しいセッションが始まりました".to_owned(),
            Lack::RoomLeft { used_pct: Some(percent) } => format!("圧縮なし。使用率{percent}%のため不要です"),
            Lack::RoomLeft { used_pct: None } => "圧縮なし。不要です".to_owned(),
        }
    }
}

fn join(parts: [Option<String>; 3]) -> String {
    parts.into_iter().flatten().collect::<Vec<String>>().join("; ")
}
