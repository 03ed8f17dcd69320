//! Records of the journal in people's words, for `log` and `explain`.

use tidegate_core::event::EventKind;
use tidegate_core::host::Host;
use tidegate_core::host::person::Person;
use tidegate_core::pipeline::record::{BoundaryRecord, Deeds, Record, VerdictRecord};
use tidegate_core::text::hidden::show_name;
use tidegate_core::text::one_line::one_line;

use crate::approval::APPROVED;
use crate::bilingual::{Bilingual, both};
use crate::host::agent_name;
use crate::print::text::{Text, data};

/// What Claude wanted to do when Tidegate was asked.
pub(crate) fn subject(record: &Record) -> Bilingual {
    let tool = record.tool.as_deref().map(one_line).unwrap_or_default();
    match EventKind::from_name(&record.event) {
        EventKind::PreToolUse | EventKind::PostToolUse | EventKind::PostToolUseFailure => match tool.as_str()
        {
            "Edit" | "Write" | "MultiEdit" | "NotebookEdit" => match edited_file(record) {
                Some(file) => both!("an edit of {file}", "{file} の編集"),
                None => both!("an edit", "編集"),
            },
            "Bash" | "PowerShell" => both!("a command", "コマンド"),
            "Agent" | "Task" | "Workflow" => both!("a subagent", "サブエージェント"),
            "" => both!("a tool call", "ツールの呼び出し"),
            _ => both!("a call of {tool}", "{tool}の呼び出し"),
        },
        EventKind::Stop => both!("\"done\"", "「完了」"),
        EventKind::SubagentStop => both!("the end of a subagent", "サブエージェントの終了"),
        EventKind::TaskCompleted => both!("the end of a task", "タスクの完了"),
        EventKind::PreCompact => both!("a compaction", "圧縮"),
        EventKind::UserPromptSubmit | EventKind::UserPromptExpansion => both!("a prompt", "プロンプト"),
        EventKind::SessionStart => both!("the start of a session", "セッションの開始"),
        _ => Bilingual::data(one_line(&record.event)),
    }
}

fn edited_file(record: &Record) -> Option<String> {
    record.verdicts.iter().find_map(|verdict| verdict.asks.file.as_deref()).map(one_line)
}

/// The one line that people read first; `None` for a record in which nothing happened.
pub(crate) fn headline(record: &Record) -> Option<Text> {
    let Bilingual { en, ja } = subject(record);
    if let Some(failure) = &record.failure {
        let step = one_line(&failure.step);
        return Some(if failure.closed {
            Text::from(both!(
                "Tidegate could not check {en} and blocked it: {step}",
                "Tidegate は{ja}を確認できなかったため、ブロックしました: {step}"
            ))
            .bad()
        } else {
            Text::from(both!(
                "Tidegate could not check {en}: {step}",
                "Tidegate は{ja}を確認できませんでした: {step}"
            ))
            .warning()
        });
    }
    match record.ruling.as_str() {
        "command" => Some(describe_command(record)),
        "foreign" => {
            let host = Host::title(&record.host);
            Some(Text::from(both!(
                "{host} called a hook. Tidegate does not check {host}.",
                "{host} がフックを呼び出しました。Tidegate は {host} を確認しません。"
            )))
        }
        "not-client" => Some(
            Text::from(both!(
                "A hook call did not come from {host}, so it changed nothing.",
                "{host} からではないフックの呼び出しがありました。何も変更していません。",
                host = Host::title(&record.host)
            ))
            .warning(),
        ),
        "deny" | "halt" => {
            let who = policies(record, &record.ruling);
            let paused = record.event == EventKind::PreToolUse.name() && who.en == "skill-gate";
            let (who_en, who_ja) = (who.en, who.ja);
            Some(
                Text::from(if paused {
                    both!("{who_en} paused {en}", "{who_ja}が{ja}を保留しました")
                } else {
                    both!("{who_en} blocked {en}", "{who_ja}が{ja}をブロックしました")
                })
                .bad(),
            )
        }
        "ask" => {
            let Bilingual { en: who_en, ja: who_ja } = policies(record, "ask");
            Some(
                Text::from(both!(
                    "{who_en} asked you about {en}",
                    "{who_ja}が{ja}についてあなたに確認しました"
                ))
                .warning(),
            )
        }
        _ => {
            describe_compaction(record).or_else(|| {
                let texts = describe_texts(record);
                // A text that comes with the result of a check does not replace it.
                let check = describe_deeds(record).filter(|_| texts.is_none() || ran_check(&record.did));
                match (check, texts) {
                    (Some(check), Some(texts)) => Some(check + data("\n") + texts),
                    (check, texts) => texts.or(check),
                }
            })
        }
    }
}

/// The policies that gave this call.
fn policies(record: &Record, call: &str) -> Bilingual {
    name_policies(record, |verdict| verdict.call == call)
}

fn name_policies(record: &Record, is_meant: impl Fn(&VerdictRecord) -> bool) -> Bilingual {
    let meant = record.verdicts.iter().filter(|verdict| !verdict.shadow && is_meant(verdict));
    let names = Bilingual::list(meant.map(|verdict| Bilingual::data(one_line(&verdict.policy))));
    if names.en.is_empty() { Bilingual::data("Tidegate") } else { names }
}

fn describe_command(record: &Record) -> Text {
    let (command, agent) = (one_line(&record.event), agent_name(&record.host));
    // A person can name a session, too: only an approval says that its agent ran the command.
    let is_approved = record.cause.as_deref().is_some_and(|cause| cause.starts_with(APPROVED));
    let is_there = record.person == Person::There;
    Text::from(match (is_there, record.session.is_some() && (is_approved || !is_there)) {
        (true, true) => {
            both!(
                "{agent} ran `{command}`, which you approved",
                "あなたの承認で {agent} が `{command}` を実行しました"
            )
        }
        (true, false) => both!("You ran `{command}`", "あなたが `{command}` を実行しました"),
        (false, true) => both!("{agent} ran `{command}`", "{agent} が `{command}` を実行しました"),
        (false, false) => {
            both!("`{command}` was run without a person", "`{command}` が人の操作なしで実行されました")
        }
    })
}

fn describe_compaction(record: &Record) -> Option<Text> {
    let BoundaryRecord { kept, of, given_back, .. } = record.boundary.as_ref()?;
    let (kept, of) = ((*kept)?, *of);
    let text = Text::from(match given_back {
        None => both!(
            "Compaction: the summary kept {kept} of {of} facts",
            "圧縮: 要約には残すべき事実{of}件中{kept}件が残りました"
        ),
        Some(back) => both!(
            "Compaction: the summary kept {kept} of {of} facts, given back {back}",
            "圧縮: 要約には残すべき事実{of}件中{kept}件が残り、{back}件を {agent} に戻しました",
            kept = kept,
            of = of,
            back = back,
            agent = agent_name(&record.host)
        ),
    });
    let has_all = kept + given_back.unwrap_or_default() >= of;
    (of > 0).then(|| if has_all { text.good() } else { text.warning() })
}

fn describe_texts(record: &Record) -> Option<Text> {
    let speaks = |verdict: &VerdictRecord| verdict.says.model.is_some() || verdict.says.user.is_some();
    let Bilingual { en, ja } = name_policies(record, speaks);
    let agent = agent_name(&record.host);
    Some(Text::from(match (&record.said.user, &record.said.model) {
        (Some(_), Some(_)) => both!("{en} told you and {agent}", "{ja}があなたと {agent} に伝えました"),
        (Some(_), None) => both!("{en} told you", "{ja}があなたに伝えました"),
        (None, Some(_)) => both!("{en} told {agent}", "{ja}が {agent} に伝えました"),
        (None, None) => return None,
    }))
}

fn ran_check(did: &Deeds) -> bool {
    let of_line = [&did.hidden, &did.failed, &did.unread, &did.untested];
    !did.verified.is_empty() || of_line.iter().any(|line| line.is_some())
}

/// Deeds of a silent record that somebody may wait for.
fn describe_deeds(record: &Record) -> Option<Text> {
    let did = &record.did;
    if did.verified == ["skill"] {
        return Some(Text::from(both!(
            "{agent} invoked the verification skill; no check ran",
            "{agent} が検証スキルを呼び出しました（検証の実行はありません）",
            agent = agent_name(&record.host)
        )));
    }
    if !did.verified.is_empty() {
        let by = passed_check(did, &did.verified);
        return Some(Text::from(both!("A check passed: {by}", "検証が通りました: {by}")).good());
    }
    if let Some(line) = &did.hidden {
        let line = one_line(line);
        return Some(
            Text::from(both!(
                "A check did not count, because its exit status is hidden: `{line}`",
                "終了ステータスが隠れているため、検証として数えられませんでした: `{line}`"
            ))
            .warning(),
        );
    }
    if let Some(line) = &did.failed {
        let line = one_line(line);
        return Some(Text::from(both!("A check failed: `{line}`", "検証が失敗しました: `{line}`")).warning());
    }
    if let Some(line) = did.unread.as_ref().or(did.untested.as_ref()) {
        let line = one_line(line);
        let text = if did.unread.is_some() {
            both!(
                "A check did not count, because it does not read the changed files: `{line}`",
                "変更したファイルを読まない検証のため、数えられませんでした: `{line}`"
            )
        } else {
            both!(
                "A check did not count, because it ran no test: `{line}`",
                "テストが1件も実行されなかったため、数えられませんでした: `{line}`"
            )
        };
        return Some(Text::from(text).warning());
    }
    if !did.skills.is_empty() {
        let Bilingual { en, ja } =
            Bilingual::list(did.skills.iter().map(|skill| Bilingual::data(one_line(skill))));
        return Some(both!("Skill loaded: {en}", "スキルを読み込みました: {ja}").into());
    }
    if did.compacted {
        return Some(
            both!(
                "{host} compacted the conversation",
                "{host} が会話を圧縮しました",
                host = Host::title(&record.host)
            )
            .into(),
        );
    }
    let logged: Vec<&VerdictRecord> =
        record.verdicts.iter().filter(|verdict| verdict.shadow && verdict.call != "pass").collect();
    if let Some(first) = logged.first() {
        let Bilingual { en, ja } = subject(record);
        let (who, verb_en, verb_ja) = match first.call.as_str() {
            "ask" => (show_name(&first.policy), "asked you about", "確認していました"),
            _ => (show_name(&first.policy), "blocked", "ブロックしていました"),
        };
        return Some(
            Text::from(both!(
                "Log-only: {who} would have {verb_en} {en}",
                "記録のみ: {who}が有効なら{ja}を{verb_ja}"
            ))
            .dim(),
        );
    }
    (record.event == EventKind::SessionStart.name()).then(|| {
        let cause = record.cause.as_deref().map(one_line).unwrap_or_default();
        Text::from(match cause.as_str() {
            "resume" => both!("A session continued", "セッションが再開しました"),
            "clear" => both!("The conversation was cleared", "会話が消去されました"),
            "compact" => {
                both!("The session continued after a compaction", "圧縮のあと、セッションが続きました")
            }
            _ => both!("A session started", "セッションが始まりました"),
        })
        .dim()
    })
}

/// `npm test` (test, build)
pub(crate) fn passed_check(did: &Deeds, kinds: &[String]) -> String {
    let kinds = one_line(&kinds.join(", "));
    match &did.passed {
        Some(check) => format!("`{}` ({kinds})", one_line(check)),
        None => kinds,
    }
}

/// The text that a person saw, else the one that the model got.
pub(crate) fn said_text(record: &Record) -> Option<String> {
    let said = record.said.user.as_ref().or(record.said.model.as_ref())?;
    Some(said.trim().to_owned())
}

/// The reason that the model got with a block, if the person saw another text.
pub(crate) fn reason_text(record: &Record) -> Option<String> {
    let is_block = matches!(record.ruling.as_str(), "deny" | "halt");
    let reason = record.said.model.as_ref().filter(|_| is_block && record.said.user.is_some())?;
    Some(reason.trim().to_owned())
}
