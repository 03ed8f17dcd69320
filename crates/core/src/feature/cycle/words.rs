//! Texts for people about cycles.

use super::consent::Owed;
use super::history::StageCost;
use super::not_counted::WhyNot;
use super::one_line::sanitize_line;
use super::standing::LeftUnverified;
use super::state::{STATE_FILE, STILL_OPEN};
use super::success::Missing;
use super::waiting::Waiting;
use super::{ActiveStage, CycleDamage, CycleState, CycleStatus};
use crate::meter::short_tokens;
use crate::text::lang::Lang;
use crate::time::{Millis, describe_age};

/// More would not be read.
const MOST_MISSING: usize = 2;

/// `is_committed`: a commit that was made since counts for the next stage.
pub(super) fn stage_begins(lang: Lang, done: &ActiveStage, next: &str, is_committed: bool) -> String {
    let ActiveStage { cycle, stage, number, of, .. } = done;
    let (en, ja) = if is_committed {
        (
            format!(" The commit that was made since counts for {next}."),
            format!("そのあとのコミットは {next} のものとして数えます。"),
        )
    } else {
        (String::new(), String::new())
    };
    match lang {
        Lang::En => format!(
            "Tidegate: {cycle}, stage {number} of {of} ({stage}) is done. Claude continues with {next}.{en}"
        ),
        Lang::Ja => format!(
            "Tidegate: {cycle} のステージ {number}/{of}（{stage}）が終わりました。続けて {next} に進みます。{ja}"
        ),
    }
}

/// A clause: why a go-ahead is owed before a stage that publishes.
pub fn owed(lang: Lang, owed: &Owed) -> String {
    match (lang, owed) {
        (Lang::En, Owed::Findings { stage, most: 1, open: true }) => format!("1 finding is open in {stage}"),
        (Lang::En, Owed::Findings { stage, most: 1, open: false }) => {
            format!("1 finding was open in {stage}")
        }
        (Lang::En, Owed::Findings { stage, most, open: true }) => {
            format!("{most} findings are open in {stage}")
        }
        (Lang::En, Owed::Findings { stage, most, .. }) => format!("{most} findings were open in {stage}"),
        (Lang::Ja, Owed::Findings { stage, most, open: true }) => {
            format!("{stage} で指摘が{most}件残っている")
        }
        (Lang::Ja, Owed::Findings { stage, most, .. }) => format!("{stage} で指摘が{most}件あった"),
        (Lang::En, Owed::Forbidden { stage, said: None }) => {
            format!("the report of {stage} said not to ship it")
        }
        (Lang::Ja, Owed::Forbidden { stage, said: None }) => {
            format!("{stage} の報告に出荷しないようにとあった")
        }
        (Lang::En, Owed::Forbidden { stage, said: Some(said) }) => {
            format!("the report of {stage} said: \"{}\"", sanitize_line(said).trim())
        }
        (Lang::Ja, Owed::Forbidden { stage, said: Some(said) }) => {
            format!("{stage} の報告に「{}」とあった", sanitize_line(said).trim())
        }
        (Lang::En, Owed::Failed { stage }) => format!("{stage} failed before"),
        (Lang::Ja, Owed::Failed { stage }) => format!("{stage} が前に失敗した"),
        (Lang::En, Owed::Reserved(said)) => format!("you said: \"{}\"", sanitize_line(said).trim()),
        (Lang::Ja, Owed::Reserved(said)) => format!("「{}」との指示がある", sanitize_line(said).trim()),
        (Lang::En, Owed::Asked) => "Claude asked you something".to_owned(),
        (Lang::Ja, Owed::Asked) => "Claude が質問した".to_owned(),
        (Lang::En, Owed::Interrupted) => {
            "you interrupted Claude or sent a prompt while it was working".to_owned()
        }
        (Lang::Ja, Owed::Interrupted) => "作業が中断されたか、作業中にプロンプトが届いた".to_owned(),
        (Lang::En, Owed::Said) => "you said something else since the order".to_owned(),
        (Lang::Ja, Owed::Said) => "依頼のあとに別の発言があった".to_owned(),
        (Lang::En, Owed::Unordered) => "no order of yours for this run is known".to_owned(),
        (Lang::Ja, Owed::Unordered) => "この実行の依頼が確認できない".to_owned(),
    }
}

/// The two that matter most.
pub fn join_owed(lang: Lang, owed_now: &[&Owed]) -> String {
    let clauses: Vec<String> = owed_now.iter().take(2).map(|reason| owed(lang, reason)).collect();
    clauses.join(match lang {
        Lang::En => ", and ",
        Lang::Ja => "うえ、",
    })
}

/// A stage that publishes waits for the person's yes.
pub(super) fn waits_for_consent(lang: Lang, stage: &ActiveStage, next: &str, owed: &[&Owed]) -> String {
    let (ActiveStage { cycle, .. }, why) = (stage, join_owed(lang, owed));
    match lang {
        Lang::En => format!(
            "Tidegate: {cycle} waits before {next}, because {why}. It continues when you say \"continue\". To drop it: `tidegate cycle \
             abandon`"
        ),
        Lang::Ja => format!(
            "Tidegate: {why}ので、{cycle} は {next} の前で待っています。進めてよければ「続けて」と伝えてください。やめるには `tidegate cycle \
             abandon` を実行してください。"
        ),
    }
}

/// Stopped for lack of context: tokens left, and tokens that the rest needs.
pub(super) fn stopped(lang: Lang, after: &ActiveStage, skipped: &[String], left: u64, needed: u64) -> String {
    let ActiveStage { cycle, stage, .. } = after;
    let (left, needed) = (short_tokens(left), short_tokens(needed));
    match lang {
        Lang::En => format!(
            "Tidegate stopped {cycle} after {stage}: {left} tokens are left, the rest needs about {needed}. Open: {}. \
             Continue in a new session with `/dev-cycle`.",
            skipped.join(", ")
        ),
        Lang::Ja => format!(
            "Tidegate: {cycle} を {stage} の後で止めました。残り {left} トークンですが、この先には約 {needed} 必要です。未実行: {}。\
             新しいセッションで `/dev-cycle` を実行すると続けられます。",
            skipped.join("、")
        ),
    }
}

/// A stage is done, but the cycle waits because a prompt came before the previous turn had ended.
pub(super) fn stage_waits(lang: Lang, stage: &ActiveStage) -> String {
    let ActiveStage { cycle, stage, .. } = stage;
    match lang {
        Lang::En => format!(
            "Tidegate: {cycle} waits at {stage}, because you interrupted Claude or sent a prompt while it was working. It \
             continues when you say \"continue\"."
        ),
        Lang::Ja => format!(
            "Tidegate: 作業が中断されたか、作業中にプロンプトが届いたため、{cycle} は {stage} で待っています。再開してよければ「続けて」と伝えてください。"
        ),
    }
}

/// The person's last words did not let the cycle continue.
pub(super) fn waits_for_yes(lang: Lang, stage: &ActiveStage) -> String {
    let ActiveStage { cycle, stage, done, .. } = stage;
    match lang {
        Lang::En => format!(
            "Tidegate: {cycle} waits {} {stage}. It continues when you say \"continue\". To drop it: `tidegate cycle abandon`",
            if *done { "after" } else { "at" }
        ),
        Lang::Ja => format!(
            "Tidegate: {cycle} は {stage} {}待っています。再開してよければ「続けて」と伝えてください。やめるには `tidegate cycle abandon` \
             を実行してください。",
            if *done { "の後で" } else { "で" }
        ),
    }
}

/// Claude's last message asks the person: for a yes, or to choose or tell something.
pub(super) fn waits_for_answer(lang: Lang, stage: &ActiveStage, needs_yes: bool) -> String {
    let ActiveStage { cycle, stage, .. } = stage;
    let (en, ja) = if needs_yes {
        ("It continues when you say \"continue\".", "続けてよければ「続けて」と伝えてください。")
    } else {
        ("It continues after your answer.", "答えると続けます。")
    };
    match lang {
        Lang::En => {
            format!(
                "Tidegate: {cycle} waits after {stage}, because Claude's last message asks you something. {en}"
            )
        }
        Lang::Ja => format!(
            "Tidegate: Claude の最後のメッセージに質問や依頼があるため、{cycle} は {stage} の後で待っています。{ja}"
        ),
    }
}

/// A clause: why words that look like a yes do not count. `stage` is the one that is next or not done.
fn why_not(lang: Lang, why: &WhyNot, stage: Option<&str>, done: bool) -> String {
    match (lang, why) {
        (Lang::En, WhyNot::Quoted) => "it is a quotation".to_owned(),
        (Lang::Ja, WhyNot::Quoted) => "引用のため".to_owned(),
        (Lang::En, WhyNot::Question) => "it is a question".to_owned(),
        (Lang::Ja, WhyNot::Question) => "質問のため".to_owned(),
        (Lang::En, WhyNot::More) => "it has a condition or another wish".to_owned(),
        (Lang::Ja, WhyNot::More) => "ほかの条件や依頼があるため".to_owned(),
        (Lang::En, WhyNot::Assent(said)) => {
            format!("\"{}\" may be meant for something else", sanitize_line(said).trim())
        }
        (Lang::Ja, WhyNot::Assent(said)) => {
            format!("「{}」は別の話への返事かもしれないため", sanitize_line(said).trim())
        }
        (Lang::En, WhyNot::OtherStage(named)) => {
            let stage = stage.unwrap_or_default();
            let but = if done { "comes next" } else { "is not done" };
            format!("it names {named}, and {stage} {but}")
        }
        (Lang::Ja, WhyNot::OtherStage(named)) => {
            let stage = stage.unwrap_or_default();
            if done {
                format!("{named} とありますが、次は {stage} です")
            } else {
                format!("{named} とありますが、{stage} が終わっていません")
            }
        }
        (Lang::En, WhyNot::TurnOpen) => "you interrupted Claude, or its turn had not ended".to_owned(),
        (Lang::Ja, WhyNot::TurnOpen) => "Claude のターンが中断されたか、終わっていなかったため".to_owned(),
    }
}

/// The person's words look like a yes and do not count.
pub(super) fn not_counted(lang: Lang, stage: &ActiveStage, next: Option<&str>, why: &WhyNot) -> String {
    let ActiveStage { cycle, stage, done, .. } = stage;
    let asked = if *done { next } else { Some(stage.as_str()) };
    let clause = why_not(lang, why, asked, *done);
    let to = asked.unwrap_or(cycle);
    match (lang, why) {
        (Lang::En, WhyNot::TurnOpen) => format!(
            "Tidegate did not take this as a yes for {cycle}, because {clause}. When Claude has answered, type \"continue\"."
        ),
        (Lang::Ja, WhyNot::TurnOpen) => format!(
            "Tidegate: {cycle} を続けてよいとは受け取りませんでした（{clause}）。Claude の応答が終わったら「続けて」とだけ入力してください。"
        ),
        (Lang::En, _) => format!(
            "Tidegate did not take this as a yes for {cycle}, because {clause}. To continue with {to}, type only \"continue\"."
        ),
        (Lang::Ja, _) => format!(
            "Tidegate: {cycle} を続けてよいとは受け取りませんでした（{clause}）。{to} に進めてよければ「続けて」とだけ入力してください。"
        ),
    }
}

/// The person names another stage than the one with which the cycle continues.
pub(super) fn begins_later(lang: Lang, stage: &ActiveStage, next: Option<&str>, named: &str) -> String {
    let ActiveStage { cycle, stage, done, .. } = stage;
    match (lang, next.filter(|_| *done)) {
        (Lang::En, None) => format!(
            "Tidegate does not begin {named} now, because {stage} is not done. {cycle} continues with {stage}."
        ),
        (Lang::Ja, None) => format!(
            "Tidegate: {stage} が終わっていないため、今は {named} を始めません。{cycle} は {stage} を続けます。"
        ),
        (Lang::En, Some(next)) => {
            format!("Tidegate does not begin {named} now: {cycle} continues with {next}, which comes next.")
        }
        (Lang::Ja, Some(next)) => {
            format!("Tidegate: 今は {named} を始めません。{cycle} は次の {next} に進みます。")
        }
    }
}

/// As [`not_counted`], for a cycle that no session has at the moment.
pub(super) fn not_resumed(lang: Lang, cycle: &str, at: Option<&str>, why: &WhyNot) -> String {
    let clause = why_not(lang, why, at, true);
    match lang {
        Lang::En => format!(
            "Tidegate did not take this as a yes for {cycle}, because {clause}. To continue the cycle here, type only \"continue\"."
        ),
        Lang::Ja => format!(
            "Tidegate: {cycle} を続けてよいとは受け取りませんでした（{clause}）。ここで続けてよければ「続けて」とだけ入力してください。"
        ),
    }
}

/// The state file was removed in a stage.
pub(super) fn gone(lang: Lang, stage: &ActiveStage) -> String {
    let ActiveStage { cycle, stage, .. } = stage;
    match lang {
        Lang::En => format!(
            "Tidegate: the file of {cycle}, .claude/{STATE_FILE}, was removed in stage {stage}, so no stage follows. Start again \
             with `/dev-cycle`."
        ),
        Lang::Ja => format!(
            "Tidegate: {cycle} のファイル .claude/{STATE_FILE} がステージ {stage} の途中で削除されたため、以降のステージは始めません。\
             `/dev-cycle` で最初から始められます。"
        ),
    }
}

/// The state file is that of another cycle.
pub(super) fn replaced(lang: Lang, stage: &ActiveStage) -> String {
    let ActiveStage { cycle, stage, .. } = stage;
    match lang {
        Lang::En => format!(
            "Tidegate: the file of {cycle}, .claude/{STATE_FILE}, was replaced by that of another cycle in stage {stage}, so no stage \
             follows. Restore it, or start again with `/dev-cycle`."
        ),
        Lang::Ja => format!(
            "Tidegate: {cycle} のファイル .claude/{STATE_FILE} がステージ {stage} の途中で別のサイクルのものに置き換わったため、以降のステージは\
             始めません。元に戻すか、`/dev-cycle` で最初から始めてください。"
        ),
    }
}

/// The person reserved the next stage; `said` are their words, made safe by the caller.
pub(super) fn reserved(lang: Lang, stage: &ActiveStage, next: &str, said: &str) -> String {
    let ActiveStage { cycle, .. } = stage;
    match lang {
        Lang::En => format!(
            "Tidegate: {cycle} waits before {next}, because you said: \"{said}\". It continues when you say \"continue\". To drop \
             it: `tidegate cycle abandon`"
        ),
        Lang::Ja => format!(
            "Tidegate: 「{said}」とのことなので、{cycle} は {next} の前で待っています。進めてよければ「続けて」と伝えてください。やめるには \
             `tidegate cycle abandon` を実行してください。"
        ),
    }
}

/// A stage is not done, and Claude ended its turn for the second time.
pub(super) fn stage_not_done(lang: Lang, stage: &ActiveStage, missing: &[Missing]) -> String {
    let ActiveStage { cycle, stage, .. } = stage;
    let missing: Vec<String> =
        missing.iter().take(MOST_MISSING).map(|missing| missing.describe(lang)).collect();
    match lang {
        Lang::En => format!(
            "Tidegate: {cycle} waits at {stage}, which is not done: {}. It continues when Claude has finished it. To drop the \
             cycle: `tidegate cycle abandon`",
            missing.join("; ")
        ),
        Lang::Ja => format!(
            "Tidegate: {cycle} は {stage} で待っています。まだ終わっていません（{}）。終わると続けます。やめるには \
             `tidegate cycle abandon` を実行してください。",
            missing.join("、")
        ),
    }
}

/// A clause. Paths are quoted by the caller.
pub(super) fn missing(lang: Lang, missing: &Missing) -> String {
    match (lang, missing) {
        (Lang::En, Missing::Skill(skill)) => format!("the skill `{skill}` was not used"),
        (Lang::Ja, Missing::Skill(skill)) => format!("スキル `{skill}` が未使用"),
        (Lang::En, Missing::Check(files)) => format!("no check passed for {files}"),
        (Lang::Ja, Missing::Check(files)) => format!("{files} が未検証"),
        (Lang::En, Missing::Report) => "its open findings were not reported".to_owned(),
        (Lang::Ja, Missing::Report) => "未対応の指摘の数が未報告".to_owned(),
        (Lang::En, Missing::OpenFindings(1)) => "1 finding is open".to_owned(),
        (Lang::En, Missing::OpenFindings(open)) => format!("{open} findings are open"),
        (Lang::Ja, Missing::OpenFindings(open)) => format!("未対応の指摘が{open}件"),
        (Lang::En, Missing::Severe(name, count)) => format!("{name}={count} was reported"),
        (Lang::Ja, Missing::Severe(name, count)) => format!("{name}={count} と報告"),
        (Lang::En, Missing::Forbidden(said)) => format!("Claude's report says: \"{said}\""),
        (Lang::Ja, Missing::Forbidden(said)) => format!("Claude の報告に「{said}」"),
        (Lang::En, Missing::Commit) => "nothing was committed".to_owned(),
        (Lang::Ja, Missing::Commit) => "コミットがない".to_owned(),
        (Lang::En, Missing::File(path)) => format!("{path} was not written"),
        (Lang::Ja, Missing::File(path)) => format!("{path} が書かれていない"),
        (Lang::En, Missing::Unfinished(said)) => format!("work remains, Claude says: \"{said}\""),
        (Lang::Ja, Missing::Unfinished(said)) => format!("作業が残っていると Claude が報告（「{said}」）"),
        (Lang::En, Missing::Word) => "Claude did not report it as done".to_owned(),
        (Lang::Ja, Missing::Word) => "完了の報告がない".to_owned(),
    }
}

/// Why a stage failed. Other reasons than Tidegate's own are untrusted text, as it was written.
pub fn failure(lang: Lang, why: &str, open: Option<u64>) -> String {
    match (lang, open) {
        _ if why != STILL_OPEN => why.to_owned(),
        (Lang::En, None) => "findings are open after the last round of fixes".to_owned(),
        (Lang::Ja, None) => "修正の上限回数のあとも指摘が残っています".to_owned(),
        (Lang::En, Some(1)) => "1 finding is open after the last round of fixes".to_owned(),
        (Lang::En, Some(open)) => format!("{open} findings are open after the last round of fixes"),
        (Lang::Ja, Some(open)) => format!("修正の上限回数のあとも指摘が{open}件残っています"),
    }
}

/// The reason is made safe by the caller.
pub(super) fn failed(lang: Lang, stage: &ActiveStage, why: &str) -> String {
    let ActiveStage { cycle, stage, .. } = stage;
    match lang {
        Lang::En => format!(
            "Tidegate stopped {cycle}: stage {stage} failed ({why}). No later stage begins. Continue with `/dev-cycle` when it is \
             fixed, or drop it with `tidegate cycle abandon`."
        ),
        Lang::Ja => format!(
            "Tidegate: {cycle} を止めました。ステージ {stage} が失敗しました（{why}）。以降のステージは始めません。直したあと \
             `/dev-cycle` で続けるか、`tidegate cycle abandon` でやめられます。"
        ),
    }
}

/// In an earlier session. The reason is made safe by the caller.
pub(super) fn failed_before(lang: Lang, state: &CycleState, why: &str, now: Millis) -> String {
    let (CycleState { cycle, stage, .. }, age) = (state, age_of(lang, state, now));
    match lang {
        Lang::En => format!(
            "Tidegate: {cycle} has failed at stage {stage}{age}: {why}. Start that stage again with `/dev-cycle`, or drop it with \
             `tidegate cycle abandon`."
        ),
        Lang::Ja => format!(
            "Tidegate: {cycle} はステージ {stage} で失敗して止まっています{age}（{why}）。そのステージからやり直すには `/dev-cycle`、やめるには \
             `tidegate cycle abandon` を実行してください。"
        ),
    }
}

/// An agent gave the cycle up.
pub(super) fn dropped(lang: Lang, cycle: &str, stage: &str) -> String {
    match lang {
        Lang::En => format!(
            "Tidegate: Claude gave up {cycle} at stage {stage}, so no later stage begins. Start it again with `/dev-cycle`."
        ),
        Lang::Ja => format!(
            "Tidegate: Claude が {cycle} をステージ {stage} でやめました。以降のステージは始めません。`/dev-cycle` で最初から始められます。"
        ),
    }
}

pub(super) fn unreadable(lang: Lang, why: &str) -> String {
    match lang {
        Lang::En => {
            format!(
                "Tidegate cannot read the cycle's file .claude/{STATE_FILE} ({why}). It begins no further stage until it can."
            )
        }
        Lang::Ja => format!(
            "Tidegate: サイクルのファイル .claude/{STATE_FILE} を読めません（{why}）。読めるようになるまで次のステージは始めません。"
        ),
    }
}

/// `metrics` is reported by the stages themselves.
pub(super) fn complete(lang: Lang, cycle: &str, stages: &[StageCost], metrics: &str) -> String {
    let took = |took: &StageCost| match (took.tokens, lang) {
        (Some(tokens), Lang::En | Lang::Ja) => format!("{} {}", took.name, short_tokens(tokens)),
        (None, Lang::En) => format!("{} (not known)", took.name),
        (None, Lang::Ja) => format!("{}（不明）", took.name),
    };
    let stages: Vec<String> = stages.iter().map(took).collect();
    match lang {
        Lang::En => {
            let metrics = if metrics.is_empty() { String::new() } else { format!(" {metrics}.") };
            format!("Tidegate: {cycle} is complete. Tokens by stage: {}.{metrics}", stages.join(", "))
        }
        Lang::Ja => {
            let metrics = if metrics.is_empty() { String::new() } else { format!("{metrics}。") };
            format!(
                "Tidegate: {cycle} が完了しました。ステージごとのトークン: {}。{metrics}",
                stages.join("、")
            )
        }
    }
}

/// ` (3 days ago)`; empty where the file does not tell.
fn age_of(lang: Lang, state: &CycleState, now: Millis) -> String {
    let changed = state.updated_at.as_deref().and_then(Millis::from_iso);
    let age = changed.map(|changed| describe_age(lang, now.since(changed)));
    age.map_or_else(String::new, |age| match lang {
        Lang::En => format!(" ({age})"),
        Lang::Ja => format!("（{age}）"),
    })
}

/// A cycle of this project has stopped and can be resumed.
pub(super) fn waits(lang: Lang, state: &CycleState, done: &[String], now: Millis) -> String {
    let CycleState { cycle, skipped_stages: skipped, .. } = state;
    let age = age_of(lang, state, now);
    let tokens = state.needed_tokens.zip(state.left_tokens);
    let tokens = tokens.map(|(needed, left)| (short_tokens(needed), short_tokens(left)));
    match lang {
        Lang::En => {
            let done = if done.is_empty() { "nothing".to_owned() } else { done.join(", ") };
            let tokens = tokens.map(|(needed, left)| format!(" (needs {needed} tokens, {left} were left)"));
            format!(
                "Tidegate: {cycle} has stopped in this project{age}. Done: {done}. Open: {}{}. Continue it here with `/dev-cycle`, or drop \
                 it with `tidegate cycle abandon`.",
                skipped.join(", "),
                tokens.unwrap_or_default()
            )
        }
        Lang::Ja => {
            let done = if done.is_empty() { "なし".to_owned() } else { done.join("、") };
            let tokens = tokens.map(|(needed, left)| format!("（{needed}トークン必要、残りは{left}でした）"));
            format!(
                "Tidegate: このプロジェクトの {cycle} が止まっています{age}。完了: {done}。未実行: {}{}。続けるには `/dev-cycle`、やめるには \
                 `tidegate cycle abandon` を実行してください。",
                skipped.join("、"),
                tokens.unwrap_or_default()
            )
        }
    }
}

/// The state file names a later stage than the session has reached, or says that the cycle ended before it did.
pub(super) fn overtaken(lang: Lang, stage: &ActiveStage, state: &CycleState) -> String {
    let ActiveStage { cycle, stage, .. } = stage;
    let named = match state.status {
        CycleStatus::Running => state.stage.as_str(),
        status => status.name(),
    };
    match lang {
        Lang::En => format!(
            "Tidegate: {cycle} waits, because its state file says \"{named}\" although {stage} is not done. Continue with `tidegate \
             cycle resume --from {stage}`, or drop it with `tidegate cycle abandon`."
        ),
        Lang::Ja => format!(
            "Tidegate: {stage} が終わっていないのに状態ファイルが「{named}」となっているため、{cycle} は待っています。続けるには \
             `tidegate cycle resume --from {stage}`、やめるには `tidegate cycle abandon` を実行してください。"
        ),
    }
}

/// A cycle of this project was left in the middle of a stage.
pub(super) fn left(
    lang: Lang,
    state: &CycleState,
    (number, of): (usize, usize),
    unverified: Option<&LeftUnverified>,
    now: Millis,
) -> String {
    let (CycleState { cycle, stage, .. }, age) = (state, age_of(lang, state, now));
    let left = unverified.map(|left| left.clause(lang));
    match (lang, left) {
        (Lang::En, Some(left)) => format!(
            "Tidegate: {cycle} is at stage {stage} ({number} of {of}) in another session{age}, and {left}. Continue it here with \
             `/dev-cycle`, or drop it with `tidegate cycle abandon`."
        ),
        (Lang::Ja, Some(left)) => format!(
            "Tidegate: {cycle} は別のセッションで、ステージ {number}/{of}（{stage}）の途中です{age}。{left}。続けるには `/dev-cycle`、\
             やめるには `tidegate cycle abandon` を実行してください。"
        ),
        (Lang::En, None) => format!(
            "Tidegate: {cycle} is at stage {stage} ({number} of {of}) in a session that ended or was silent for an hour{age}. Continue \
             it here with `/dev-cycle`, or drop it with `tidegate cycle abandon`."
        ),
        (Lang::Ja, None) => format!(
            "Tidegate: {cycle} は、終了したか1時間動きのないセッションで、ステージ {number}/{of}（{stage}）の途中です{age}。続けるには \
             `/dev-cycle`、やめるには `tidegate cycle abandon` を実行してください。"
        ),
    }
}

/// No session that is still known here had the cycle that the file tells of.
pub(super) fn foreign(lang: Lang, cycle: &str, stage: &str) -> String {
    match lang {
        Lang::En => format!(
            "Tidegate: .claude/{STATE_FILE} says that {cycle} is at stage {stage}, but no session that Tidegate still knows here did that. Take it over \
             with `tidegate cycle resume`, or start anew with `/dev-cycle`."
        ),
        Lang::Ja => format!(
            "Tidegate: .claude/{STATE_FILE} では {cycle} がステージ {stage} ですが、Tidegate に残っているこのマシンのセッションの記録にはありません。引き継ぐには \
             `tidegate cycle resume`、新しく始めるには `/dev-cycle` を実行してください。"
        ),
    }
}

pub(super) fn damaged(lang: Lang, damage: &CycleDamage) -> String {
    match lang {
        Lang::En => {
            let kept = match damage {
                CycleDamage::UnknownCycle(_) => "Check `tidegate config show` and `tidegate trust`.",
                _ => "A copy with .bad in its name is kept. Begin anew with `tidegate cycle start`.",
            };
            format!(
                "Tidegate cannot use the cycle's file .claude/{STATE_FILE}: {damage}. It begins no stage. {kept}"
            )
        }
        Lang::Ja => {
            let why = match damage {
                CycleDamage::NoObject => "JSON オブジェクトではありません".to_owned(),
                CycleDamage::Member(name) => format!("`{name}` の値が不正です"),
                CycleDamage::UnknownCycle(_) => "サイクルが設定にありません".to_owned(),
                CycleDamage::UnknownStage(_) => "ステージがサイクルにありません".to_owned(),
            };
            let kept = match damage {
                CycleDamage::UnknownCycle(_) => {
                    "`tidegate config show` と `tidegate trust` を確認してください。"
                }
                _ => "名前に .bad を付けた控えを残しました。`tidegate cycle start` で最初から始められます。",
            };
            format!(
                "Tidegate: サイクルのファイル .claude/{STATE_FILE} を使えません: {why}。次のステージは始めません。{kept}"
            )
        }
    }
}

/// Words to type: `"yes" or "continue"`.
fn join_accepted(lang: Lang, waiting: &Waiting, skill: Option<&str>) -> String {
    let quoted: Vec<String> = waiting
        .accepts(lang, skill)
        .iter()
        .map(|word| match lang {
            Lang::En => format!("\"{word}\""),
            Lang::Ja => format!("「{word}」"),
        })
        .collect();
    quoted.join(match lang {
        Lang::En => " or ",
        Lang::Ja => "か",
    })
}

/// `cycle status`: what the cycle waits for, after "waits for".
pub(super) fn waiting(lang: Lang, waiting: &Waiting, skill: Option<&str>) -> String {
    let accepted = join_accepted(lang, waiting, skill);
    match (lang, waiting) {
        (Lang::En, Waiting::Work(stage)) => format!("Claude to finish {stage}"),
        (Lang::Ja, Waiting::Work(stage)) => format!("Claude が {stage} を終えるのを待っています"),
        (Lang::En, Waiting::TurnEnd(None)) => "the end of Claude's turn".to_owned(),
        (Lang::Ja, Waiting::TurnEnd(None)) => "Claude のターンの終わりを待っています".to_owned(),
        (Lang::En, Waiting::TurnEnd(Some(next))) => {
            format!("the end of Claude's turn; then for you: \"continue\" lets {next} begin")
        }
        (Lang::Ja, Waiting::TurnEnd(Some(next))) => {
            format!("Claude のターンの終わりを待っています。そのあと「続けて」で {next} が始まります")
        }
        (Lang::En, Waiting::GoAhead { before, because, .. }) => {
            let before = before.as_ref().map(|next| format!(" before {next}")).unwrap_or_default();
            let because = because.as_ref().map(|[en, _]| format!(", because {en}")).unwrap_or_default();
            format!("your go-ahead{before}: type {accepted}{because}")
        }
        (Lang::Ja, Waiting::GoAhead { before, because, .. }) => {
            let before = before.as_ref().map(|next| format!("{next} の前で")).unwrap_or_default();
            let because = because.as_ref().map(|[_, ja]| format!("（理由: {ja}）")).unwrap_or_default();
            format!("{before}あなたの許可を待っています{because}。{accepted}と入力してください")
        }
        (Lang::En, Waiting::Answer) => format!("your answer, or {accepted}"),
        (Lang::Ja, Waiting::Answer) => format!("あなたの答えを待っています（{accepted}でも続けます）"),
        (Lang::En, Waiting::Session(stage)) => {
            format!("you to continue {stage} in an open session: type {accepted} there")
        }
        (Lang::Ja, Waiting::Session(stage)) => {
            format!("開いているセッションで{accepted}と入力すると、{stage} から続けます")
        }
        (Lang::En, Waiting::Room(stage)) => {
            format!("you to continue with {stage} in a new session: type {accepted} there")
        }
        (Lang::Ja, Waiting::Room(stage)) => {
            format!("新しいセッションで{accepted}と入力すると、{stage} から続けます")
        }
        (Lang::En, Waiting::Repair(stage)) => {
            format!("you to continue with {stage}, when it is fixed: type {accepted}")
        }
        (Lang::Ja, Waiting::Repair(stage)) => {
            format!("直したあと{accepted}と入力すると、{stage} から続けます")
        }
    }
}

/// Status line: the stage under way.
pub fn stage(lang: Lang, stage: &str, number: usize, of: usize) -> String {
    match lang {
        Lang::En | Lang::Ja => format!("{stage} {number}/{of}"),
    }
}
