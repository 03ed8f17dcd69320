//! Japanese.

use crate::event::FailedStep;
use crate::feature::config::Owner;
use crate::feature::cycle::history::Took;
use crate::feature::cycle::state::FILE;
use crate::feature::cycle::{ActiveStage, Damage};
use crate::feature::facts::OwnFile;
use crate::feature::knowledge::handoff;
use crate::feature::verification::work::{ChangeSet, OTHERS_KEPT};
use crate::meter::short_tokens;
use crate::text::json::NotAnObject;
use crate::words::{ContextUse, Words};

pub(super) const WORDS: Words = Words {
    gate_closed: |step, policy| {
        let command = match step {
            FailedStep::State(_) => {
                "直し方は `tidegate doctor` で分かります。このゲートなしで作業するには、".to_owned()
            }
            _ => format!(
                "経緯は `tidegate journal` で見られます。このゲートなしで作業するには、別の端末のこのプロジェクトで \
                 `tidegate off {policy} --for 1h` を実行するか、"
            ),
        };
        format!(
            "Tidegateはこの呼び出しを確認できなかったため通しませんでした: {}。{command}TIDEGATE_OFF={policy} を付けてクライアントを起動してください。",
            failed_step(step),
        )
    },
    own_file: |file, path| {
        let risk = match file {
            OwnFile::Memory => "今後のセッションに渡される内容です。",
            _ => "ゲートを無効にできるファイルです。",
        };
        format!("エージェントが {path}（{}）を編集しようとしています。{risk}", own_file(file))
    },
    own_file_denied: |file, path, mode, policy| {
        format!(
            "エージェントが {path}（{}）を編集しようとしました。クライアントの {mode} モードでは誰にも確認されないため、通しませんでした。\
             自分で編集するか、モードを切り替えるか、`tidegate off {policy} --for 10m` を実行してください。",
            own_file(file)
        )
    },
    own_file_changed: |file| {
        format!(
            "エージェントのコマンドが{}を、誰にも確認せずに変更しました。ゲートを無効にできるファイルです。現在の内容は \
             `tidegate doctor` と `tidegate config show --origin` で確認できます。",
            own_file(file)
        )
    },
    skill_required: |file, skills, policy| {
        format!(
            "エージェントがスキル {skills} を呼び出すまで、{file} の編集を保留しました。このゲートなしで作業するには、別の端末で \
             `tidegate off {policy} --for 1h` を実行してください。"
        )
    },
    stop_held: |changes, policy| {
        format!(
            "コードが編集された後に検証されていないため、エージェントに作業を続けさせました（{}）。このゲートなしで作業するには、\
             別の端末で `tidegate off {policy} --for 1h` を実行してください。",
            listed(changes)
        )
    },
    unverified: |changes| {
        format!("コードが編集されましたが、その後検証されていません: {}。", listed(changes))
    },
    unverified_files: |count| format!("未検証 {count} ファイル"),
    approval_asked: |code, what| {
        format!(
            "Tidegate: Claude が {what} の承認を求めています。許可する場合は10分以内に `approve {code}` と入力してください（1回限り）。\
             許可しない場合は何もする必要はありません。"
        )
    },
    approval_unclear: |code| {
        format!("Tidegate: まだ承認されていません。承認する場合は `approve {code}` とだけ入力してください。")
    },
    approval_waits: |code, command| format!("承認待ち {code}: tidegate {command}"),
    approved: |what| format!("承認しました（1回限り、10分間有効）: {what}"),
    nothing_to_approve: |code| {
        format!(
            "コード {code} で承認待ちの要求はありません。承認済み、無効、10分経過、または別のセッションのものです。"
        )
    },
    approval_void: |code, command| {
        format!(
            "エージェントが承認コード {code} をツール呼び出しに使ったため、コードは無効になりました。`tidegate {command}` は承認されていません。"
        )
    },
    config_broken: |broken| {
        let place = broken.place();
        let fix = if broken.line.is_some() { "その行" } else { "ファイル" };
        match (broken.has_copy, broken.owner) {
            (true, Owner::User) => format!(
                "Tidegate: {place} を読み取れません。{fix}を修正するまでは、最後に読み取れた内容と、読み取れる行のうちより厳しい設定を使います。"
            ),
            (true, Owner::Project) => format!(
                "Tidegate: {place} を読み取れません。{fix}を修正するまでは、読み取れる行と最後に読み取れた内容のうち、より厳しい設定だけを使います。"
            ),
            (false, Owner::User) => format!(
                "Tidegate: {place} を読み取れず、以前の控えもありません。{fix}を修正するまでは、既定値と、読み取れる行のうちより厳しい設定だけを使います。"
            ),
            (false, Owner::Project) => format!(
                "Tidegate: {place} を読み取れず、以前の控えもありません。{fix}を修正するまでは、読み取れる行のうちより厳しい設定だけを使います。"
            ),
        }
    },
    stepped_down: |policy| {
        format!(
            "{policy} はこのプロジェクトで直近10回の介入のうち5回が人によって無効にされたため、今後ここでは助言だけを行います。\
             再びブロックさせるには `tidegate on {policy}` を、経過を見るには `tidegate report` を実行してください。"
        )
    },
    unpromoted: |entries, doubtful| {
        let doubtful = doubtful.map_or_else(String::new, |(unverified, all)| {
            format!("学び{all}件のうち{unverified}件は、まだ一度も確認されていません。")
        });
        format!(
            "/compound を実行する良いタイミングです。progress.md の{entries}件がまだ学びに昇格していません。{doubtful}"
        )
    },
    compaction_held: |entries| {
        format!(
            "まだ圧縮していません。progress.md の{entries}件が学びに昇格していません。/compound で確認するか、このまま圧縮する場合は\
             もう一度 /compact を実行してください。"
        )
    },
    handoff_waits: |minutes| {
        let age = match minutes {
            0 => "たった今".to_owned(),
            1..60 => format!("{minutes}分前に"),
            _ => format!("{}時間前に", minutes / 60),
        };
        format!(
            "{age}引き継ぎが書かれました。作業の状態と次の手順は .claude/context/{} にあります。",
            handoff::FILE
        )
    },
    worktree_kept: |worktree, copy| {
        format!(
            "ワークツリー {worktree} は削除されました。そこにしかなかった進捗と学びは {copy} に残してあります。"
        )
    },
    stage_begins: |done, next| {
        let ActiveStage { cycle, stage, number, of, .. } = done;
        format!("{cycle}: ステージ {number}/{of}（{stage}）が完了し、{next} を始めます。")
    },
    cycle_stopped: |stage, skipped, left, needed| {
        format!(
            "{} は {} の後で停止しました。残り {} トークンに対し、次のステージ以降には約 {} が必要です。未実行: {}。新しいセッションで \
             `tidegate cycle resume` または /dev-cycle を実行すると再開できます。",
            stage.cycle,
            stage.stage,
            short_tokens(left),
            short_tokens(needed),
            skipped.join("、")
        )
    },
    stage_waits: |stage| {
        format!(
            "{} は {} で待っています。前のターンが終わる前に次のプロンプトが届いたためです。次のターンが終わると先へ進みます。",
            stage.cycle, stage.stage
        )
    },
    cycle_unreadable: |why| {
        format!(
            "サイクルのファイル .claude/{FILE} を読めません（{why}）。読めるようになるまで次のステージは始めません。"
        )
    },
    cycle_complete: |cycle, stages, metrics| {
        let took = |took: &Took| match took.tokens {
            Some(tokens) => format!("{} {}", took.name, short_tokens(tokens)),
            None => format!("{}（不明）", took.name),
        };
        let stages: Vec<String> = stages.iter().map(took).collect();
        let metrics = if metrics.is_empty() { String::new() } else { format!("{metrics}。") };
        format!("{cycle} が完了しました。ステージごとのトークン: {}。{metrics}", stages.join("、"))
    },
    cycle_waits: |cycle, done, skipped| {
        let done = if done.is_empty() { "なし".to_owned() } else { done.join("、") };
        format!(
            "このプロジェクトの {cycle} が停止しています。完了: {done}。未実行: {}。ここで再開するには `tidegate cycle resume` または \
             /dev-cycle を、やめるには `tidegate cycle abandon` を実行してください。",
            skipped.join("、")
        )
    },
    cycle_left: |cycle, stage, number, of| {
        format!(
            "このプロジェクトの {cycle} は、終了したか1時間応答のないセッションで、ステージ {number}/{of}（{stage}）の途中です。ここでその\
             ステージから再開するには `tidegate cycle resume` または /dev-cycle を、やめるには `tidegate cycle abandon` を実行してください。"
        )
    },
    cycle_damaged: |damage| {
        let why = match damage {
            Damage::NoObject => "JSONオブジェクトではありません".to_owned(),
            Damage::Member(name) => format!("`{name}` の値が不正です"),
            Damage::UnknownCycle(_) => "サイクルが設定にありません".to_owned(),
            Damage::UnknownStage(_) => "ステージがサイクルにありません".to_owned(),
        };
        let kept = match damage {
            Damage::UnknownCycle(_) => "設定または信頼の状態を確認してください。",
            _ => "ファイルは名前に .bad を付けて残してあります。",
        };
        format!(
            "サイクルのファイル .claude/{FILE} を使えません: {why}。次のステージは始めません。{kept}`tidegate cycle start` で\
             最初から始められます。"
        )
    },
    spawn_blocked: |level, numbers, policy| {
        format!(
            "コンテキストの上限に対して{level}%以降はエージェントを起動しません（{}）。続けるには /compact を実行してください。\
             `tidegate off {policy}` で無効にできます。",
            use_of(numbers)
        )
    },
    handoff_written: |level| {
        format!(
            "{level}%に達したため引き継ぎを書き出します。作業の状態は .claude/context/{} にあり、新しいセッションでも使えます。",
            handoff::FILE
        )
    },
    compact_now: |numbers| {
        format!("/compact の良いタイミングです（{}）。85%以降はエージェントを起動しません。", use_of(numbers))
    },
    gate_pending: |gate, phase, missing, policy| {
        let missing = match missing {
            0 => "条件はすべて満たされていますが、まだ記録されていません".to_owned(),
            _ => format!("{missing}件が不足しています"),
        };
        format!(
            "フェーズ{phase}の後のゲート{gate}がエージェントの起動を止めています。{missing}。内容は `tidegate gate check {gate}` で\
             確認できます。通さずに進むには `tidegate gate skip {gate} --reason …`、ゲートをすべて無効にするには `tidegate off {policy}` を\
             実行してください。"
        )
    },
    tag_missing: |policy| {
        format!(
            "回答にトピックを示すメタタグがなかったため、エージェントに作業を続けさせました。メタタグなしで作業するには、別の端末で \
             `tidegate off {policy} --for 1h` を実行してください。"
        )
    },
    topic_undecided: |topic, policy| {
        format!(
            "トピック {topic} に決定事項もログも記録されないまま話題が移ったため、エージェントに作業を続けさせました。この確認なしで\
             作業するには、別の端末で `tidegate off {policy} --for 1h` を実行してください。"
        )
    },
    workflow_phase: |name, number, of| format!("フェーズ {number}/{of} {name}"),
    plan_compaction: "フェーズの終わりに圧縮",
    stage: |stage, number, of| format!("{stage} {number}/{of}"),
    unpromoted_entries: |entries| format!("未昇格{entries}件"),
    used: |percent| format!("{percent}% 使用"),
    left: |tokens, compacts| {
        if compacts { format!("圧縮まで {tokens}") } else { format!("残り {tokens}") }
    },
    turns: |turns| format!("約{turns}ターン"),
    no_reading: "まだ計測なし",
    hooks_silent: "! フック無応答 (tidegate doctor)",
    hooks_stopped: "! フック停止 (tidegate doctor)",
    config_sign: |place| format!("! 設定エラー {place}"),
};

fn listed(changes: &ChangeSet) -> String {
    let names = changes.files.join("、");
    match changes.others.len() {
        0 => names,
        OTHERS_KEPT => format!("{names} ほか{OTHERS_KEPT}件以上"),
        more => format!("{names} ほか{more}件"),
    }
}

fn own_file(file: OwnFile) -> &'static str {
    match file {
        OwnFile::Config => "Tidegateの設定",
        OwnFile::ProjectConfig => "このプロジェクトのTidegateの設定",
        OwnFile::Host => "クライアントのフックとステータスラインの設定",
        OwnFile::State => "Tidegateの内部状態",
        OwnFile::Program => "Tidegateのチェックを実行するプログラム",
        OwnFile::Plugin => "Tidegateのプラグインの登録ファイル",
        OwnFile::Memory => "Tidegateの記憶",
    }
}

/// The step that failed.
fn failed_step(step: &FailedStep) -> String {
    match step {
        FailedStep::Payload(NotAnObject::Empty) => "入力が空です".to_owned(),
        FailedStep::Payload(NotAnObject::Json { line, column }) => {
            format!("入力がJSONではありません（{line}行{column}桁）")
        }
        FailedStep::Payload(NotAnObject::OtherValue) => "入力がJSONオブジェクトではありません".to_owned(),
        FailedStep::Stdin(why) => format!("入力を読み取れません（{why}）"),
        FailedStep::SessionMissing => "session_id がありません".to_owned(),
        FailedStep::SessionType => "session_id が文字列ではありません".to_owned(),
        FailedStep::SessionEmpty => "session_id が空です".to_owned(),
        FailedStep::SessionTooLong => "session_id が128文字を超えています".to_owned(),
        FailedStep::SessionCharacters => "session_id に英数字と _ - 以外の文字があります".to_owned(),
        FailedStep::MemberMissing(member) => format!("{member} がありません"),
        FailedStep::MemberType(member) => format!("{member} の型が違います"),
        FailedStep::State(why) => format!("状態ディレクトリを使えません（{why}）"),
        FailedStep::Marks(why) => format!("セッションの記録を使えません（{why}）"),
        FailedStep::Spool(why) => format!("会話を記録に回せません（{why}）"),
        FailedStep::Cycle(why) => format!("サイクルの状態を書き換えられません（{why}）"),
        FailedStep::Record(why) => format!("ジャーナルに書き込めません（{why}）"),
        FailedStep::Deadline(ms) => format!("{ms}ミリ秒以内に答えられませんでした"),
        FailedStep::Panic(why) => format!("内部エラーです（{why}）"),
    }
}

/// `使用 78%、残り 7k トークン`。
fn use_of(ContextUse { percent, left }: ContextUse) -> String {
    let percent = percent.map(|percent| format!("使用 {percent}%"));
    let left = left.map(|left| format!("残り {} トークン", short_tokens(left)));
    let parts: Vec<String> = percent.into_iter().chain(left).collect();
    if parts.is_empty() { "使用トークン数による".to_owned() } else { parts.join("、") }
}
