//! What Claude, Claude Code and the person do in the four scenes. The answers come from the stage.

use serde_json::{Value, json};

use super::stage::{HookCall, Stage};
use crate::bilingual::{Bilingual, both};
use crate::error::CliError;
use crate::language;

pub(super) struct Scene {
    pub(super) title: Bilingual,
    pub(super) steps: Vec<Step>,
    /// What it means for the person.
    pub(super) meaning: Bilingual,
}

pub(super) struct Step {
    pub(super) who: Who,
    pub(super) what: Bilingual,
    /// Left out of the short form: on the way, and nothing of note was said.
    pub(super) is_aside: bool,
    /// On a narrow screen, only the answer to it is shown.
    pub(super) is_for_wide_screens: bool,
    pub(super) call: Option<HookCall>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Who {
    You,
    Claude,
    ClaudeCode,
    /// What the person sees below the prompt.
    StatusLine,
    /// What the memory answered.
    Memory,
}

type Played = Result<Scene, CliError>;

/// In order: each goes on where the one before it ended.
pub(super) const SCENES: [fn(&mut Stage) -> Played; 4] =
    [done_without_tests, context_fills, compaction, next_week];

/// Tokens in use after each prompt of the second scene. The turns are alike, so that a forecast can be made.
const GROWTH: [u64; 4] = [42_000, 62_000, 82_000, 102_000];
const AT_THE_WARNING: u64 = 122_000;
const BEFORE_THE_COMPACTION: u64 = 143_000;
/// Where Claude Code compacts in a window of this size.
const AT_THE_COMPACTION: u64 = 167_000;
const AFTER_THE_COMPACTION: u64 = 9_000;

fn step(who: Who, what: Bilingual, call: HookCall) -> Step {
    Step { who, what, is_aside: false, is_for_wide_screens: false, call: Some(call) }
}

/// The scene can be followed without it.
fn optional_step(who: Who, what: Bilingual, call: HookCall) -> Step {
    Step { is_for_wide_screens: true, ..step(who, what, call) }
}

fn aside(who: Who, what: Bilingual, call: HookCall) -> Step {
    Step { is_aside: true, ..step(who, what, call) }
}

/// Without a hook.
fn deed(who: Who, what: Bilingual) -> Step {
    Step { who, what, is_aside: false, is_for_wide_screens: false, call: None }
}

fn says(words: &Bilingual) -> Bilingual {
    both!("says: \"{en}\"", "「{ja}」と報告します", en = words.en, ja = words.ja)
}

fn quoted(words: &Bilingual) -> Bilingual {
    both!("\"{en}\"", "「{ja}」", en = words.en, ja = words.ja)
}

fn spoken(words: &Bilingual) -> &str {
    words.get(language::current())
}

fn done_without_tests(stage: &mut Stage) -> Played {
    let asked =
        both!("add a login page where people stay logged in", "ログイン状態が続くログインページを追加して");
    let hasty = both!("The login page is done.", "ログインページができました。");
    let verified = both!(
        "Tests pass. A signed cookie keeps people logged in for 30 days.",
        "テストは通りました。署名付きクッキーで30日間ログイン状態を保持します。"
    );
    let mut steps = vec![
        aside(
            Who::You,
            both!("start Claude Code", "Claude Code を起動します"),
            stage.start_session("monday")?,
        ),
        optional_step(Who::You, quoted(&asked), stage.prompt(spoken(&asked))?),
        aside(
            Who::Claude,
            both!("wants to edit login.ts", "login.ts を編集しようとします"),
            stage.before_edit()?,
        ),
        aside(Who::Claude, both!("edits login.ts", "login.ts を編集します"), stage.edit()?),
    ];
    steps.push(step(
        Who::Claude,
        both!(
            "edits login.ts and says: \"{en}\"",
            "login.ts を編集して「{ja}」と報告します",
            en = hasty.en,
            ja = hasty.ja
        ),
        stage.stop(spoken(&hasty), 20_000)?,
    ));
    let tests = stage.bash("npm test", 21_000)?;
    steps.push(aside(Who::Claude, both!("runs `npm test`", "`npm test` を実行します"), tests));
    steps.push(step(
        Who::Claude,
        both!(
            "runs `npm test` and says: \"{en}\"",
            "`npm test` を実行して「{ja}」と報告します",
            en = verified.en,
            ja = verified.ja
        ),
        stage.stop(spoken(&verified), 22_000)?,
    ));
    Ok(Scene {
        title: both!("\"Done\" without tests", "テストなしの「完了」"),
        steps,
        meaning: both!(
            "Claude gets an untested \"done\" back once; you need not ask.",
            "検証なしの「完了」は、一度 Claude に自動で差し戻されます。"
        ),
    })
}

fn context_fills(stage: &mut Stage) -> Played {
    let prompts = [
        both!("use the form we have", "今あるフォームを使って"),
        both!("show an error for a wrong password", "パスワードが違うときはエラーを出して"),
        both!("add a logout button", "ログアウトボタンを追加して"),
        both!("look through the server's logs", "サーバーのログを調べて"),
    ];
    let answer = both!("Finished.", "終わりました。");
    let mut steps = Vec::new();
    for (prompt, used) in prompts.iter().zip(GROWTH) {
        let call = stage.prompt(spoken(prompt))?;
        steps.push(aside(Who::You, quoted(prompt), call));
        let call = stage.stop(spoken(&answer), used)?;
        steps.push(aside(Who::Claude, says(&answer), call));
    }
    let more = both!("and through those of last week", "先週のログも調べて");
    steps.push(aside(Who::You, quoted(&more), stage.prompt(spoken(&more))?));
    steps.push(optional_step(
        Who::Claude,
        both!("reads a long log, in the sixth turn", "6回目のターンで、長いログを読みます"),
        stage.bash("cat server.log", AT_THE_WARNING)?,
    ));
    steps.push(deed(Who::StatusLine, Bilingual::data(stage.status_line(AT_THE_WARNING)?)));
    let (done, decision) = note();
    let (done, decision) = (spoken(&done), spoken(&decision));
    stage.command_of_claude(&["progress", "add", done, "--decision", decision])?;
    let command = format!("tidegate progress add \"{done}\" --decision \"{decision}\"");
    steps.push(deed(Who::Claude, both!("runs `{command}`", "`{command}` を実行します")));
    Ok(Scene {
        title: both!("The context fills", "コンテキストが埋まってきた"),
        steps,
        meaning: both!(
            "You see how much is left; Tidegate asks Claude to save decisions.",
            "残りが見え、決めたことを残すよう Tidegate が Claude に頼みます。"
        ),
    })
}

/// What is done, and what was decided on the way.
fn note() -> (Bilingual, Bilingual) {
    (
        both!("login page done, tests pass", "ログインページ完成、テスト通過"),
        both!("a signed cookie, valid for 30 days", "署名付きクッキー、有効期限は30日"),
    )
}

fn compaction(stage: &mut Stage) -> Played {
    let continued = both!("now add a test for logging out", "ログアウトのテストも書いて");
    let summary = both!(
        "In login.ts: login page done, tests pass. Next: a test for logging out.",
        "login.ts: ログインページ完成、テスト通過。次はログアウトのテスト。"
    );
    let (before, after) = (AT_THE_COMPACTION / 1000, AFTER_THE_COMPACTION / 1000);
    let finished = both!("Finished.", "終わりました。");
    let mut steps = vec![aside(Who::Claude, says(&finished), stage.stop(spoken(&finished), AT_THE_WARNING)?)];
    steps.push(aside(Who::You, quoted(&continued), stage.prompt(spoken(&continued))?));
    steps.push(aside(
        Who::Claude,
        both!("reads the tests", "テストを読みます"),
        stage.bash("cat login.test.ts", BEFORE_THE_COMPACTION)?,
    ));
    steps.push(aside(
        Who::ClaudeCode,
        both!("is about to compact", "圧縮を始めようとします"),
        stage.event("PreCompact", json!({ "trigger": "auto", "custom_instructions": null }))?,
    ));
    steps.push(aside(
        Who::ClaudeCode,
        both!("continues with the summary", "要約から再開します"),
        stage.event("SessionStart", json!({ "source": "compact" }))?,
    ));
    steps.push(step(
        Who::ClaudeCode,
        both!(
            "compacts {before}k tokens to {after}k. Its summary: \"{en}\"",
            "{before}k トークンを{after}k に圧縮します。要約:「{ja}」",
            before = before,
            after = after,
            en = summary.en,
            ja = summary.ja
        ),
        stage.event("PostCompact", json!({ "trigger": "auto", "compact_summary": spoken(&summary) }))?,
    ));
    stage.boundary(AT_THE_COMPACTION, AFTER_THE_COMPACTION)?;
    let go_on = both!("continue", "続けて");
    steps.push(optional_step(Who::You, quoted(&go_on), stage.prompt(spoken(&go_on))?));
    let ended = both!("Logging out is tested.", "ログアウトのテストを書きました。");
    steps.push(aside(Who::Claude, says(&ended), stage.stop(spoken(&ended), 12_000)?));
    Ok(Scene {
        title: both!("A compaction forgets something", "圧縮で何かが失われた"),
        steps,
        meaning: both!(
            "Tidegate gives Claude back the facts that a summary lost.",
            "要約から抜けた事実を、Tidegate が Claude に戻します。"
        ),
    })
}

fn next_week(stage: &mut Stage) -> Played {
    let leave = stage.event("SessionEnd", json!({ "reason": "other" }))?;
    let mut steps = vec![aside(Who::You, both!("leave", "終了します"), leave)];
    stage.store_conversations()?;
    steps.push(aside(
        Who::You,
        both!("start Claude Code", "Claude Code を起動します"),
        stage.start_session("next-monday")?,
    ));
    let asked = both!("how long do people stay logged in?", "ログインは何日続くんだっけ?");
    steps.push(step(Who::You, quoted(&asked), stage.prompt(spoken(&asked))?));
    let query = both!("stay logged in days", "ログイン 保持 日間");
    let found = stage.command(&["memory", "search", spoken(&query), "--json"])?;
    steps.push(deed(
        Who::Claude,
        both!(
            "runs `tidegate memory search {en}`",
            "`tidegate memory search {ja}` を実行します",
            en = query.en,
            ja = query.ja
        ),
    ));
    steps.extend(first_hit(&found).map(|hit| deed(Who::Memory, Bilingual::data(hit))));
    Ok(Scene {
        title: both!("Next week, in a new session", "翌週、新しいセッションで"),
        steps,
        meaning: both!(
            "You and Claude can search conversations of weeks ago.",
            "何週間も前の会話を、あなたも Claude も検索できます。"
        ),
    })
}

fn first_hit(found: &str) -> Option<String> {
    let found: Value = serde_json::from_str(found).ok()?;
    let hit = &found["results"][0];
    hit["snippet"].as_str().map(str::to_owned)
}
