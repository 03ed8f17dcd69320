//! The sessions to play, each with its planted facts.

use std::fmt::Write as _;

use tidegate_core::time::Millis;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FactKind {
    /// A line of the plan that must hold.
    Constraint,
    /// A decision in an entry of the progress notes.
    Decision,
    /// A file that was edited.
    Path,
    /// An open step, in the plan or in an entry.
    Step,
    /// A constraint that only a prompt of the person has.
    Limit,
    /// Said in the conversation and in no file.
    Said,
}

impl FactKind {
    /// In the order of the table.
    pub(crate) const ALL: [FactKind; 6] = [
        FactKind::Constraint,
        FactKind::Decision,
        FactKind::Path,
        FactKind::Step,
        FactKind::Limit,
        FactKind::Said,
    ];

    /// The heading of its column.
    pub(crate) fn name(self) -> &'static str {
        match self {
            FactKind::Constraint => "constraints",
            FactKind::Decision => "decisions",
            FactKind::Path => "paths",
            FactKind::Step => "steps",
            FactKind::Limit => "only in prompts",
            FactKind::Said => "only said",
        }
    }
}

pub(crate) struct Planted {
    /// Also the first line of its first prompt.
    pub(crate) task: &'static str,
    /// In the plan.
    pub(crate) constraints: [&'static str; 2],
    /// In the entry.
    pub(crate) done: &'static str,
    /// In the entry.
    pub(crate) decisions: [&'static str; 2],
    pub(crate) paths: [&'static str; 2],
    /// The first is in the entry, the second in the plan.
    pub(crate) steps: [&'static str; 2],
    /// Constraints in the first and in the second prompt, and in no file.
    pub(crate) limits: [&'static str; 2],
    /// In a prompt and in an answer, and in no file.
    pub(crate) said: [&'static str; 2],
    /// The files have Japanese headings.
    pub(crate) japanese: bool,
}

impl Planted {
    pub(crate) fn facts(&self) -> impl Iterator<Item = (FactKind, &'static str)> {
        let of = |kind: FactKind, texts: [&'static str; 2]| texts.map(|text| (kind, text));
        let all = [
            of(FactKind::Constraint, self.constraints),
            of(FactKind::Decision, self.decisions),
            of(FactKind::Path, self.paths),
            of(FactKind::Step, self.steps),
            of(FactKind::Limit, self.limits),
            of(FactKind::Said, self.said),
        ];
        all.into_iter().flatten()
    }

    /// `task_plan.md`.
    pub(crate) fn plan(&self) -> String {
        let Planted { task, constraints: [one, other], steps: [_, open], .. } = self;
        let (title, holds, remains) = if self.japanese {
            ("現在のタスク", "制約", "残り")
        } else {
            ("Current Task", "Constraints", "Remaining")
        };
        format!("# {title}: {task}\n\n## {holds}\n\n- {one}\n- {other}\n\n## {remains}\n\n- [ ] {open}\n")
    }

    /// `progress.md`: the planted entry among others.
    /// Notes of this session have a time, as those of `tidegate progress add`.
    pub(crate) fn progress(&self, now: Millis) -> String {
        let Planted { done, decisions: [one, other], steps: [next, _], .. } = self;
        let (decision, after) = if self.japanese { ("決定", "次") } else { ("Decision", "Next") };
        let now = now.iso_seconds();
        let mut text = format!(
            "# Progress\n\n## [{now}] — {done}\n\n- {decision}: {one}\n- {decision}: {other}\n- {after}: {next}\n"
        );
        for step in 1..=SAME_SESSION {
            let _ = write!(
                text,
                "\n## [{now}] — preparation, part {step}\n\n- {decision}: part {step} stays as it was\n"
            );
        }
        for day in (1..=EARLIER_SESSIONS).rev() {
            let _ = write!(text, "\n## [2026-01-{day:02}T09:00:00Z] — work of another day, number {day}\n");
        }
        text
    }
}

/// Entries of the same session in addition to the planted one.
const SAME_SESSION: usize = 3;

/// Entries of earlier sessions that are not promoted yet.
const EARLIER_SESSIONS: usize = 8;

pub(crate) const SESSIONS: [Planted; 6] = [
    Planted {
        task: "Round invoice amounts per line",
        constraints: [
            "amounts stay integers in minor units, never floats",
            "the public signature of `total_of` does not change",
        ],
        done: "rounding moved from the sum to each line",
        decisions: [
            "half-even rounding, because the auditors compare with the bank",
            "the rounding mode is a parameter with a default",
        ],
        paths: ["src/ledger/rounding.rs", "src/ledger/invoice.rs"],
        steps: [
            "migrate the archived invoices of 2024",
            "ask finance about the yen, which has no minor unit",
        ],
        limits: ["Don't touch the tax tables, legal owns them.", "Please keep the diff under 300 lines."],
        said: ["the staging database is refreshed on Tuesdays", "the credit notes share this code path"],
        japanese: false,
    },
    Planted {
        task: "Retry uploads that time out",
        constraints: ["at most three attempts in all", "no new dependency in the client library"],
        done: "retries with a growing pause",
        decisions: [
            "the pause doubles from 250 ms and has a jitter of a fifth",
            "a 409 answer counts as success, since the upload is idempotent",
        ],
        paths: ["client/upload/retry.ts", "client/upload/session.ts"],
        steps: ["cover the cancelled upload with a test", "document the new option in the handbook"],
        limits: ["No sleeps in the tests.", "Never log the signed upload URL."],
        said: ["the proxy cuts connections after 55 seconds", "resumable uploads come in the spring"],
        japanese: false,
    },
    Planted {
        task: "Move the search index to its own service",
        constraints: [
            "the old endpoint answers until the end of March",
            "queries and documents never leave the region",
        ],
        done: "the index is written by a queue",
        decisions: [
            "one writer per shard instead of optimistic locking",
            "documents are versioned by their revision number",
        ],
        paths: ["search/writer/queue.go", "search/reader/shard.go"],
        steps: ["measure the lag of the queue under load", "switch the admin pages to the new endpoint"],
        limits: ["Everything has to run on the two nodes we have.", "Leave the old mapping file alone."],
        said: ["the nightly job rebuilds shard nine twice", "synonyms are maintained by the editors"],
        japanese: false,
    },
    Planted {
        task: "請求書の消費税計算を明細単位に変更する",
        constraints: [
            "金額は必ず整数の円で扱い、浮動小数点は使わない",
            "公開関数 `calc_tax` の引数は変更しない",
        ],
        done: "端数処理を合計から明細に移動",
        decisions: [
            "端数は切り捨てとする。取引先の帳票と一致させるため",
            "軽減税率の判定は商品マスタの区分だけで行う",
        ],
        paths: ["src/invoice/tax.py", "src/invoice/line_item.py"],
        steps: ["過去分の請求書を再計算するバッチを書く", "経理部に軽減税率の境界日を確認する"],
        limits: ["テーブル定義は変更しないでください。", "1コミットの変更は200行までにしてください。"],
        said: ["検証環境のデータは毎週火曜に更新される", "返品伝票も同じ処理を通る"],
        japanese: true,
    },
    Planted {
        task: "通知メールの送信を非同期にする",
        constraints: ["同じ宛先に一分以内に二通送らない", "送信履歴は九十日間残す"],
        done: "送信をジョブキューに移行",
        decisions: ["再送は指数バックオフで最大五回とする", "宛先不明のエラーは再送せず停止リストに入れる"],
        paths: ["app/jobs/mail_job.rb", "app/models/suppression.rb"],
        steps: ["管理画面に送信待ちの件数を表示する", "停止リストの解除手順を運用手順書に書く"],
        limits: ["本番の配信設定には触らないこと。", "外部サービスの追加は禁止です。"],
        said: ["夜間は配信業者の上限が半分になる", "件名の絵文字は一部の端末で化ける"],
        japanese: true,
    },
    Planted {
        task: "Replace the date picker of the booking form",
        constraints: [
            "keyboard use must not get worse than today",
            "予約画面の文言は日本語と英語の両方を更新する",
        ],
        done: "the new picker behind a switch",
        decisions: [
            "weeks begin on Monday unless the locale says otherwise",
            "祝日の一覧はサーバーから取得する",
        ],
        paths: ["web/booking/DatePicker.tsx", "web/booking/holidays.ts"],
        steps: ["remove the old picker after two releases", "スクリーンリーダーで読み上げを確認する"],
        limits: ["You must not change the booking API.", "画面の色は変えないでください。"],
        said: ["the hotel chain in Osaka books up to two years ahead", "the print view uses its own picker"],
        japanese: false,
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    /// A fact within another one, or within the task, would be counted although it is lost.
    #[test]
    fn no_fact_stands_in_another() {
        for session in &SESSIONS {
            let facts: Vec<&str> = session.facts().map(|(_, text)| text).collect();
            for (index, fact) in facts.iter().enumerate() {
                assert!(!session.task.contains(fact) && !session.done.contains(fact), "{fact}");
                let elsewhere =
                    facts.iter().enumerate().any(|(other, text)| other != index && text.contains(fact));
                assert!(!elsewhere, "{fact}");
            }
        }
    }

    #[test]
    fn what_is_written_down_stands_in_the_files() {
        for session in &SESSIONS {
            let files = session.plan() + &session.progress(Millis(0));
            for (kind, text) in session.facts() {
                let written = !matches!(kind, FactKind::Path | FactKind::Limit | FactKind::Said);
                assert_eq!(files.contains(text), written, "{text}");
            }
        }
    }
}
