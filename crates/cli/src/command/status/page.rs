//! The status of a session on one screen: how full it is, what waits, what happened.

use tidegate_core::feature::pressure::marks::PressureLevel;
use tidegate_core::host::Host;
use tidegate_core::text::hidden::show_name;
use tidegate_core::time::Millis;

use super::{ShownConstraint, Status, Survived};
use crate::bilingual::{Bilingual, both, count_en};
use crate::command::meter::describe_reading;
use crate::config_words::describe_problem;
use crate::host::agent_name;
use crate::host::claude_code::check::skills::describe_preset_skill;
use crate::local_time::LocalClock;
use crate::policy_words::describe_policy;
use crate::print::page::Page;
use crate::print::text::{Text, data, name, prose};

pub(super) fn status_page(status: &Status, said: PressureLevel, clock: &LocalClock) -> Page {
    let mut page = Page::new();
    add_problems(&mut page, status, clock);
    page.gap();
    let mut rows: Vec<(Text, Text)> = Vec::new();
    let mut row = |key: Bilingual, value: Text| rows.push((Text::from(key).strong(), value));
    row(
        both!("project", "プロジェクト"),
        match &status.project {
            Some(project) => name(project),
            None => both!("unknown", "不明").into(),
        },
    );
    row(both!("session", "セッション"), name(&status.session) + started(status, clock).unwrap_or_default());
    if status.host != Host::ClaudeCode.name() {
        row(both!("agent", "エージェント"), data(Host::title(&status.host)));
    }
    row(both!("context", "コンテキスト"), describe_reading(&status.meter, &status.host));
    row(both!("warnings", "警告"), describe_warnings(said).into());
    if let Some(text) = describe_compaction(status, clock) {
        row(both!("compaction", "圧縮"), text);
    }
    if !status.constraints.is_empty() {
        row(
            both!("constraints", "あなたの制約"),
            describe_constraints(&status.constraints, agent_name(&status.host), clock),
        );
    }
    if let Some(unverified) = &status.unverified {
        let [missing, enough] = unverified.lines();
        row(both!("check", "検証"), Text::from(missing).warning() + data("\n") + enough);
    }
    if let Some(verified) = &status.verified {
        let text = Text::from(verified.line(clock));
        row(both!("check", "検証"), if verified.kinds.is_empty() { text } else { text.good() });
    }
    if status.unpromoted > 0 {
        let (count, number) = (count_en(status.unpromoted, "progress note"), status.unpromoted);
        let are = if number == 1 { "is" } else { "are" };
        row(
            both!("notes", "作業メモ"),
            both!(
                "{count} {are} not reviewed yet: `tidegate compound list`",
                "未整理のメモが{number}件あります: `tidegate compound list`"
            )
            .into(),
        );
    }
    if let Some(phase) = status.phase {
        row(both!("activity", "作業の種類"), data(phase.name()));
    }
    if let Some(cycle) = &status.cycle {
        row(both!("cycle", "サイクル"), cycle.line().into());
    }
    if let Some(workflow) = &status.workflow {
        row(both!("workflow", "ワークフロー"), workflow.line().into());
    }
    if !status.skills.is_empty() {
        row(
            both!("skills", "スキル"),
            Bilingual::list(status.skills.iter().map(|skill| Bilingual::data(show_name(skill)))).into(),
        );
    }
    row(both!("hooks", "フック"), describe_hooks(status).into());
    if let Some(memory) = &status.memory {
        row(both!("memory", "記憶"), memory.line());
    }
    page.pairs(rows);
    page
}

/// What waits for the person, and what is not as it should be, first.
fn add_problems(page: &mut Page, status: &Status, clock: &LocalClock) {
    let warning = || Text::from(both!("warning", "警告")).warning();
    let note = || Text::from(both!("note", "注意"));
    for request in &status.waiting_for_approval {
        let (wording, code) = (request.wording(), &request.code);
        page.labelled(
            Text::from(both!("waits for you", "承認待ち")).warning(),
            both!(
                "{wording}. To allow it once, type `approve {code}` in the session.",
                "{wording}。一度だけ許可するには、セッションで `approve {code}` と入力してください。"
            ),
        );
    }
    for policy in &status.switched_off {
        let does =
            describe_policy(policy).map(|does| both!(" It {en}.", "（{ja}）", en = does.en, ja = does.ja));
        let policy = show_name(policy);
        let Bilingual { en, ja } = does.unwrap_or_default();
        page.labelled(
            warning(),
            both!(
                "{policy} is off here.{en} Switch it on again: `tidegate on {policy}`",
                "{policy} はオフです{ja}。オンに戻すには `tidegate on {policy}`"
            ),
        );
    }
    let host = if status.host == Host::ClaudeCode.name() {
        String::new()
    } else {
        format!(" --host {}", status.host)
    };
    for name in &status.missing_preset_skills {
        let fix = both!(
            "`tidegate init{host} --with rules` installs it",
            "`tidegate init{host} --with rules` で入ります"
        );
        page.warning(describe_preset_skill(name), Some(fix.into()));
    }
    if status.unguarded {
        page.labelled(
            warning(),
            both!(
                "Tidegate checks nothing in this session, because TIDEGATE_GUARD is set in it.",
                "TIDEGATE_GUARD が設定されているため、このセッションでは Tidegate は何も確認しません。"
            ),
        );
    }
    if status.not_by_client > 0 {
        let (runs, number) = (count_en(status.not_by_client, "hook run"), status.not_by_client);
        let host = Host::title(&status.host);
        page.labelled(
            warning(),
            both!(
                "{runs} did not come from {host} and changed nothing. A script between {host} and Tidegate must pass \
                 its input on unread: `exec tidegate hook …`",
                "{host} から直接来ていないフックが{number}回あり、何も変更していません。間にスクリプトを置く場合は、入力を読まずに \
                 渡してください: `exec tidegate hook …`"
            ),
        );
    }
    for problem in &status.config_problems {
        let Bilingual { en, ja } = describe_problem(problem);
        page.labelled(warning(), both!("config: {en}", "設定: {ja}"));
    }
    for policy in &status.stepped_down {
        page.labelled(
            note(),
            both!(
                "{policy} only advises here, because people overrode it often. `tidegate on {policy}` makes it block again.",
                "{policy} は何度も取り消されたため、ここでは助言だけをします。再び止めるには `tidegate on {policy}`"
            ),
        );
    }
    for host in &status.unchecked_hosts {
        page.labelled(note(), host.line(clock));
    }
    if !status.waiting_for_trust.is_empty() {
        let keys = status.waiting_for_trust.join(", ");
        page.labelled(
            note(),
            both!(
                "This project's config waits for your trust: {keys}. See what it asks for: `tidegate trust`",
                "このプロジェクトの設定があなたの許可を待っています: {keys}。内容を見るには `tidegate trust`"
            ),
        );
    }
    if status.unreadable_lines > 0 {
        let (lines, number) = (count_en(status.unreadable_lines, "line"), status.unreadable_lines);
        page.labelled(
            note(),
            both!("{lines} of the journal could not be read.", "記録のうち{number}行は読めませんでした。"),
        );
    }
}

fn started(status: &Status, clock: &LocalClock) -> Option<Text> {
    let began = Millis::from_iso(status.began.as_deref()?)?;
    let (at, Bilingual { en, ja }) = (clock.minute_with_zone(began), clock.ago(began));
    Some(Text::from(both!(", started {en} ({at})", "、開始: {ja}（{at}）")).dim())
}

fn describe_warnings(said: PressureLevel) -> Bilingual {
    match said {
        PressureLevel::None => {
            both!("none since the context last shrank", "コンテキストが前回減ってからは、まだ出ていません")
        }
        PressureLevel::Info => {
            both!("the early one was given; a late one may follow", "早めの警告を出しました")
        }
        PressureLevel::Urgent => {
            both!("early and late ones were given", "早めの警告と最後の警告を出しました")
        }
    }
}

fn describe_compaction(status: &Status, clock: &LocalClock) -> Option<Text> {
    let at = status.last_boundary.as_deref().and_then(Millis::from_iso).map(|at| {
        let (time, Bilingual { en, ja }) = (clock.minute_with_zone(at), clock.ago(at));
        both!("{en} ({time})", "{ja}（{time}）")
    });
    let kept = status.survival.as_ref().map(|Survived { kept, of, given_back, .. }| {
        let (facts, agent) = (count_en(*of, "fact"), agent_name(&status.host));
        match given_back {
            0 => both!("the summary kept {kept} of {facts}", "要約に残った事実は{of}件中{kept}件です"),
            back => both!(
                "the summary kept {kept} of {facts}, given back {back}",
                "要約に残った事実は{of}件中{kept}件、{agent} に戻した事実は{back}件です"
            ),
        }
    });
    if at.is_none() && kept.is_none() {
        return None;
    }
    let mut text = Text::from(Bilingual::list(at.into_iter().chain(kept)));
    let Some(Survived { lost, given_back, .. }) = &status.survival else { return Some(text) };
    for fact in lost.iter().take(LOST_SHOWN) {
        let label = if *given_back >= lost.len() {
            both!("\ngiven back: ", "\n戻したもの: ")
        } else {
            both!("\nnot in it: ", "\n残らなかったもの: ")
        };
        text = text + label + prose(fact);
    }
    let more = lost.len().saturating_sub(LOST_SHOWN);
    if more > 0 {
        text = text + both!("\nand {more} more", "\nほか{more}件");
    }
    Some(text)
}

/// A compaction may lose forty facts; `status --json` has all of them.
const LOST_SHOWN: usize = 5;

fn describe_constraints(constraints: &[ShownConstraint], agent: &str, clock: &LocalClock) -> Text {
    let mut text = Text::from(both!(
        "{agent} has to keep to these after a compaction. Drop a wrong one: `tidegate constraints --drop ID`",
        "圧縮後も {agent} が守るべき、あなたの言葉です。誤りを外すには: `tidegate constraints --drop ID`"
    ));
    for constraint in constraints {
        text = text + data("\n") + constraint.line(clock);
    }
    text
}

fn describe_hooks(status: &Status) -> Bilingual {
    let Status { events, interruptions, failures, tokens_added, .. } = status;
    let runs = count_en(*events, "run");
    let spoke = count_en(*interruptions, "message");
    let failed = count_en(*failures, "error");
    let tokens = count_en(*tokens_added, "token");
    both!(
        "{runs}, {spoke}, {failed} in Tidegate, about {tokens} added to the context",
        "実行{events}回、メッセージ{interruptions}件、Tidegate のエラー{failures}件、コンテキストに加えた量は約{tokens_added}トークン"
    )
}

#[cfg(test)]
mod tests {
    use super::super::{Cycle, Unverified, Verified};
    use super::*;
    use crate::command::status::MemoryStanding;
    use crate::print::looks::assert_looks;
    use tidegate_core::feature::verification::checks::Kinds;
    use tidegate_core::pipeline::record::MeterRecord;

    #[test]
    fn a_busy_session_fits_a_screen() {
        let now = Millis(1_794_963_600_000);
        let status = Status {
            session: "91b38a40-3ead-4aa8-8407-24d36ddad7be".into(),
            project: Some("/home/someone/code/東京".into()),
            began: Some(now.before(3 * 3_600_000).iso()),
            meter: MeterRecord {
                used: Some(150_000),
                window: Some(200_000),
                compact_at: Some(167_000),
                used_pct: Some(75.0),
                left: Some(17_000),
                level: Some(75),
                turns_left: Some(2),
                turns_range: Some((1, 3)),
                source: Some("transcript".into()),
                freshness: "current".into(),
                age_s: Some(4),
                ..MeterRecord::default()
            },
            pressure_said: "info",
            last_boundary: Some(now.before(5_400_000).iso()),
            survival: Some(Survived {
                trigger: "auto".into(),
                kept: 11,
                of: 12,
                lost: vec!["signed **cookie**, valid for 30 days".into()],
                given_back: 1,
            }),
            constraints: vec![ShownConstraint {
                id: "3fa2b1".into(),
                text: "No new dependencies.".into(),
                said: Some(now.before(7_200_000).iso()),
            }],
            unpromoted: 3,
            phase: None,
            cycle: Some(Cycle::Damaged { damage: "it is not JSON".into() }),
            workflow: None,
            unverified: Some(Unverified {
                files: vec!["src/login.ts".into(), "src/ログイン.ts".into()],
                count: 3,
                since: now.iso(),
                checked: Kinds::default(),
                failed: None,
                uncounted: Some("npm test | tail -3".into()),
                failed_line: None,
                held: 1,
                settled_by: vec!["`npm test`".into(), "the skill verification-before-completion".into()],
            }),
            verified: None,
            skills: vec!["team-rules".into()],
            events: 120,
            interruptions: 1,
            failures: 0,
            unguarded: false,
            not_by_client: 0,
            tokens_added: 840,
            config_problems: Vec::new(),
            waiting_for_trust: vec!["text_budget".into()],
            waiting_for_approval: Vec::new(),
            missing_preset_skills: vec!["code-quality-rules".into()],
            switched_off: vec!["skill-gate".into()],
            stepped_down: Vec::new(),
            host: Host::ClaudeCode.name().to_owned(),
            unchecked_hosts: Vec::new(),
            unreadable_lines: 1,
            memory: Some(MemoryStanding { waiting: 2, damaged: 1, problem: None }),
        };
        let clock = LocalClock::utc(now);
        assert_looks("status", &status_page(&status, PressureLevel::Info, &clock));
        let failed = Unverified {
            failed: Some("npm test".into()),
            failed_line: Some(both!(
                "`npm test` failed after src/login.ts changed",
                "src/login.ts の変更後、`npm test` が失敗しています"
            )),
            ..status.unverified.expect("given above")
        };
        assert_eq!(failed.lines()[0].en, "`npm test` failed after src/login.ts changed");
    }

    #[test]
    fn a_passed_check_is_named_with_its_time() {
        let now = Millis(1_794_963_600_000);
        let line = |by: Option<&str>, kinds| {
            let verified = Verified { by: by.map(str::to_owned), kinds, at: now.iso() };
            verified.line(&LocalClock::utc(now)).en
        };
        assert_eq!(line(Some("npm test"), Kinds::COMPILED_TEST), "tested by `npm test`, 01:00 UTC");
        assert_eq!(line(Some("tsc -b"), Kinds::COMPILES), "checked by `tsc -b`, 01:00 UTC");
        assert_eq!(line(None, Kinds::TEST), "tested, 01:00 UTC");
        assert_eq!(line(None, Kinds::NONE), "the verification skill was invoked, 01:00 UTC; no check ran");
    }
}
