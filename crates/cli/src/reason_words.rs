//! Reasons of policies in Japanese. Records hold them in English, as the policies give them.

use tidegate_core::host::Host;
use tidegate_core::pipeline::name_agent;

use crate::bilingual::Bilingual;

/// As recorded; a reason of an earlier version stays in English.
pub(crate) fn because(reason: &str) -> Bilingual {
    let ja = REASONS.binary_search_by_key(&reason, |(en, _)| en).map_or(reason, |at| REASONS[at].1);
    Bilingual { en: reason.to_owned(), ja: ja.to_owned() }
}

/// On a host, as records have it: reasons are written for Claude Code.
pub(crate) fn because_on(host: &str, reason: &str) -> Bilingual {
    let (host, Bilingual { en, ja }) = (Host::from_name(host), because(reason));
    Bilingual { en: name_agent(&en, host), ja: name_agent(&ja, host) }
}

/// Sorted by the English text.
const REASONS: &[(&str, &str)] = &[
    ("Claude gave the cycle up", "Claude がサイクルをやめました"),
    ("a call without an id", "呼び出しに ID がありません"),
    (
        "a check did not count; blocked as often as the config allows",
        "数えられない検証でした。設定の上限までブロックしました",
    ),
    ("a check failed and has not passed since", "検証が失敗し、まだ通っていません"),
    (
        "a check failed; blocked as often as the config allows",
        "検証が失敗しました。設定の上限までブロックしました",
    ),
    (
        "a check hid its exit status; blocked as often as the config allows",
        "検証の終了ステータスが隠れていました。設定の上限までブロックしました",
    ),
    ("a check in the background has just ended", "裏で動いていた検証が、今終わったところです"),
    ("a check still runs in the background", "検証がまだ裏で動いています"),
    (
        "a checkpoint of this session's workflow was not passed",
        "このセッションのワークフローに、通過していないチェックポイントがあります",
    ),
    ("a checkpoint was not passed", "通過していないチェックポイントがあります"),
    (
        "a checkpoint was not passed, and the manifest does not tell of it any more",
        "通過していないチェックポイントがあり、マニフェストからはもうわかりません",
    ),
    ("a command line changed one of Tidegate's files", "コマンドが Tidegate のファイルを変更しました"),
    ("a compaction can be planned", "圧縮の時期を見込めます"),
    ("a compaction is due now", "今が圧縮の時期です"),
    ("a compaction is due soon", "まもなく圧縮の時期です"),
    ("a config file cannot be read", "読めない設定ファイルがあります"),
    ("a cycle has failed here", "サイクルがここで失敗しました"),
    ("a cycle has stopped here", "サイクルがここで止まりました"),
    (
        "a cycle waits, and the person does not say that it may continue",
        "サイクルが待っていて、続けてよいとはまだ言われていません",
    ),
    ("a cycle was left in the middle of a stage", "サイクルがステージの途中で中断されています"),
    ("a gate lies before the phase that begins", "始まるフェーズの前にチェックポイントがあります"),
    ("a go-ahead of the person is owed", "人の同意がまだです"),
    ("a level was reached", "警告の段階に達しました"),
    ("a newer reading was seen", "より新しい測定値があります"),
    ("a note waited", "伝える文が待っていました"),
    ("a person answered the question", "人が質問に答えました"),
    ("a person is asked", "人に尋ねています"),
    ("a person typed the approval", "人が承認を入力しました"),
    ("a person typed the refusal", "人が拒否を入力しました"),
    ("a phase has ended", "フェーズが終わりました"),
    ("a phase has ended, and a compaction is due now", "フェーズが終わり、今が圧縮の時期です"),
    ("a phase has ended, and a compaction is due soon", "フェーズが終わり、まもなく圧縮の時期です"),
    ("a policy has stepped down", "ポリシーが助言だけに切り替わりました"),
    (
        "a policy has stepped down; the session is unattended",
        "ポリシーが助言だけに切り替わりました。セッションは無人です",
    ),
    ("a session starts without a reading", "セッションの開始時には、まだ測定値がありません"),
    ("a session's own topic is exempt", "セッション自身のトピックは対象外です"),
    ("a stage outlives the compaction", "圧縮をまたいで続くステージがあります"),
    ("a workflow outlives the compaction", "圧縮をまたいで続くワークフローがあります"),
    ("a worktree with progress notes or learnings is gone", "作業メモか学びのある worktree がなくなりました"),
    ("agents still run in the background", "エージェントがまだ裏で動いています"),
    ("an agent failed", "エージェントが失敗しました"),
    (
        "an agent failed, and the advice on its work was given",
        "エージェントが失敗しました（助言は伝え済みです）",
    ),
    (
        "an agent of the workflow's session started this one",
        "ワークフローのセッションのエージェントが、これを起動しました",
    ),
    ("an agent started this client", "この Claude Code はエージェントが起動しました"),
    ("an agent wrote another manifest", "エージェントが別のマニフェストを書きました"),
    ("an unfinished workflow was not touched for a day", "途中のワークフローが1日以上動いていません"),
    ("another activity", "作業の種類が変わりました"),
    ("another activity, by a late answer", "遅れて届いた回答で、作業の種類が変わりました"),
    (
        "another activity, by a late answer; nothing new to name",
        "遅れて届いた回答で作業の種類が変わりましたが、新しく伝えることはありません",
    ),
    (
        "another activity, by a late answer; the session is unattended",
        "遅れて届いた回答で作業の種類が変わりました。セッションは無人です",
    ),
    ("another activity; enough was said", "作業の種類が変わりましたが、もう十分に伝えました"),
    ("another activity; nothing new to name", "作業の種類が変わりましたが、新しく伝えることはありません"),
    ("another activity; the session is unattended", "作業の種類が変わりました。セッションは無人です"),
    ("another policy blocks it", "ほかのポリシーがブロックします"),
    ("another session has the workflow now", "ワークフローは今、別のセッションのものです"),
    ("as many stages in one turn as the cycle has", "1ターンに、サイクルの全ステージ分が進みました"),
    ("asks the person a question", "答えを待つ質問で終わっています"),
    ("below the first level", "最初の警告の段階に達していません"),
    ("blocked as often as the config allows", "設定の上限までブロックしました"),
    ("blocked once in this turn", "このターンで一度ブロックしました"),
    ("code was edited and not verified since", "コードを編集した後、検証が通っていません"),
    ("every note is reviewed", "メモはすべて整理済みです"),
    ("exempt by the config", "設定で対象外です"),
    ("facts to keep were named", "残すべき事実を伝えました"),
    ("it is not the question that was given", "Tidegate が渡した質問ではありません"),
    ("it was answered in another client", "別の Claude Code で答えられました"),
    ("it was said already", "すでに伝えました"),
    ("it was said in this session", "このセッションですでに伝えました"),
    ("it was said in three sessions", "3つのセッションで伝えました"),
    ("it was typed into another client", "別の Claude Code に入力されました"),
    ("it would have been denied once", "一度ブロックしていたはずです"),
    ("no agent failed", "失敗したエージェントはいません"),
    (
        "no check passed; blocked as often as the config allows",
        "検証が通っていません。設定の上限までブロックしました",
    ),
    ("no checkpoint is pending", "待っているチェックポイントはありません"),
    ("no code in the call", "呼び出しにコードがありません"),
    ("no code in the question", "質問にコードがありません"),
    ("no code was edited", "コードは編集されていません"),
    ("no cycle is under way here", "ここで進行中のサイクルはありません"),
    ("no facts to keep are known", "残すべき事実がわかりません"),
    ("no file", "ファイルがありません"),
    ("no manifest was written", "マニフェストは書かれていません"),
    ("no person is there to approve it", "承認できる人がいません"),
    ("no question to read", "読める質問がありません"),
    ("no reading", "測定値がありません"),
    ("no request waits with this code", "このコードで待っている要求はありません"),
    ("no workflow is under way here", "ここで進行中のワークフローはありません"),
    ("not an end of work", "作業の終わりではありません"),
    ("not one of Tidegate's files", "Tidegate のファイルではありません"),
    ("nothing is recorded for the topic that was left", "離れたトピックに記録がありません"),
    ("nothing is required for this class", "この種類のファイルに必須のスキルはありません"),
    ("nothing is unverified", "未検証の変更はありません"),
    ("nothing ran since the last block", "前回のブロック以降、何も実行されていません"),
    ("nothing was done yet", "まだ何も行われていません"),
    ("nothing was noted before this compaction", "この圧縮の前に書き留めたものはありません"),
    ("nothing was queued", "保存待ちのものはありません"),
    ("nothing was said since", "その後、何も伝えていません"),
    ("outside the project", "プロジェクトの外です"),
    ("progress notes and learnings are exempt", "作業メモと学びは対象外です"),
    ("progress notes are not reviewed", "未整理の作業メモがあります"),
    ("queued for the worker", "保存待ちに入れました"),
    ("something is recorded for the topic that was left", "離れたトピックには記録があります"),
    ("stepped down", "助言だけに切り替わっています"),
    ("stepped down: a checkpoint only advises", "助言だけに切り替わっています（チェックポイント）"),
    ("stepped down: only tells the person", "人に伝えるだけに切り替わっています"),
    (
        "stepped down: topics are found without it",
        "助言だけに切り替わっています（トピックはタグなしでも見つかります）",
    ),
    ("subagents are exempt", "サブエージェントは対象外です"),
    ("that manifest names no workflow", "そのマニフェストにワークフローの名前がありません"),
    ("the answer has its tag", "回答にタグがあります"),
    ("the answer has no tag", "回答にタグがありません"),
    ("the answer is not an approval", "回答は承認ではありません"),
    ("the answer is not known", "回答がわかりません"),
    ("the client gave no summary", "Claude Code から要約が届いていません"),
    (
        "the client has not written down yet what it kept",
        "Claude Code が残した内容は、まだ書き出されていません",
    ),
    ("the client says that no person is there", "Claude Code は無人だと伝えています"),
    ("the code was part of a tool call", "コードがツール呼び出しに使われました"),
    ("the compaction voids the last reading", "圧縮で、前の測定値は無効になりました"),
    ("the context is full: a handoff is written", "コンテキストがいっぱいなので、引き継ぎを書きます"),
    ("the context is too full to spawn agents", "エージェントを起動する余裕がコンテキストにありません"),
    (
        "the context is too full to spawn agents, and a checkpoint was not passed",
        "エージェントを起動する余裕がなく、通過していないチェックポイントもあります",
    ),
    ("the context use is not known", "コンテキストの使用量がわかりません"),
    ("the conversation still has every fact", "事実はすべて会話に残っています"),
    ("the conversation was compacted", "会話が圧縮されました"),
    ("the copy of the budget is old", "残量の控えが古くなっています"),
    ("the copy of the budget is young enough", "残量の控えはまだ新しいです"),
    ("the cycle belongs to another project", "サイクルは別のプロジェクトのものです"),
    ("the cycle belongs to another session", "サイクルは別のセッションのものです"),
    (
        "the cycle belongs to this session, or to none",
        "サイクルはこのセッションのものか、どのセッションのものでもありません",
    ),
    ("the cycle comes from elsewhere", "このマシンのセッションが進めたサイクルではありません"),
    ("the cycle has ended", "サイクルは終わりました"),
    ("the cycle is not known", "サイクルがわかりません"),
    ("the edited files are gone", "編集したファイルがなくなりました"),
    ("the file holds the host's hooks", "Claude Code のフックを含むファイルです"),
    ("the file is Tidegate's config", "Tidegate の設定ファイルです"),
    ("the file is Tidegate's memory", "Tidegate のメモリのファイルです"),
    ("the file is Tidegate's state", "Tidegate の状態ファイルです"),
    ("the file is the program that hooks start", "フックが起動するプログラムです"),
    ("the file registers Tidegate's plugin", "Tidegate のプラグインを登録するファイルです"),
    ("the files did not change since they were named", "伝えた後、ファイルは変わっていません"),
    ("the first code edit of the session", "このセッションで最初のコードの編集です"),
    ("the first reading of the stage", "ステージで最初の測定値です"),
    ("the hook was not started by the client", "フックを起動したのは Claude Code ではありません"),
    ("the host does not say whether a person is there", "Claude Code からは、人がいるかわかりません"),
    ("the host would not ask the person", "Claude Code は人に尋ねません"),
    ("the last message asks something", "最後のメッセージは質問です"),
    ("the last stage is done", "最後のステージが終わりました"),
    ("the list of topics cannot be read", "トピックの一覧を読めません"),
    ("the manifest cannot be read", "マニフェストを読めません"),
    ("the manifest cannot be used", "マニフェストを使えません"),
    (
        "the manifest cannot be used, so nothing is known of checkpoints",
        "マニフェストを使えないため、チェックポイントがわかりません",
    ),
    ("the manifest is gone", "マニフェストがなくなりました"),
    ("the model scheduled the prompt", "モデルが予約したプロンプトです"),
    ("the noted facts are of an earlier compaction", "書き留めた事実は以前の圧縮のものです"),
    ("the person answered Claude's question", "人が Claude の質問に答えました"),
    ("the person does not let it continue", "人が続行を認めていません"),
    ("the person has not answered", "まだ答えがありません"),
    ("the person interrupted", "人が中断しました"),
    ("the person lets it continue", "続けてよいと言われました"),
    ("the person orders a cycle", "サイクルを始めるよう人に言われました"),
    ("the person turned to something else", "人が別の話に移りました"),
    ("the person wants to be asked before the next stage", "次のステージの前に人に確認します"),
    ("the phase is not known", "フェーズがわかりません"),
    ("the phase is the same", "フェーズは同じです"),
    ("the prompt agrees without the code", "同意の言葉ですが、コードがありません"),
    ("the prompt asks for nothing new", "プロンプトに新しい依頼はありません"),
    ("the prompt fits several activities", "プロンプトは複数の種類の作業に当てはまります"),
    ("the prompt names a code and is not an approval", "プロンプトにコードがありますが、承認ではありません"),
    ("the question came with its answer", "質問に答えが付いていました"),
    ("the question was not answered", "質問に答えがありませんでした"),
    ("the required skill was invoked", "必須のスキルは読み込み済みです"),
    ("the required skill was not found", "必須のスキルが見つかりません"),
    ("the required skill was not invoked", "必須のスキルがまだ読み込まれていません"),
    (
        "the required skill was not invoked; a reminder is enough here",
        "必須のスキルがまだ読み込まれていません。ここでは助言だけにします",
    ),
    ("the same activity", "作業の種類は同じです"),
    ("the same topic", "トピックは同じです"),
    ("the session continues its workflow", "セッションは自分のワークフローを続けます"),
    ("the session is unattended", "セッションは無人です"),
    ("the session took over an unfinished workflow", "途中のワークフローを引き継ぎました"),
    ("the session's first topic", "セッション最初のトピックです"),
    ("the session's own topic is exempt", "セッション自身のトピックは対象外です"),
    ("the session's state cannot be read", "セッションの状態を読めません"),
    ("the skill belongs to no activity", "このスキルはどの作業の種類にも属しません"),
    ("the skill of the preset is not installed", "プリセットのスキルがインストールされていません"),
    ("the skill starts no agent", "このスキルはエージェントを起動しません"),
    ("the stage failed", "ステージが失敗しました"),
    ("the stage is not done", "ステージが終わっていません"),
    (
        "the stage is not done, and a stop was blocked for it",
        "ステージが終わっていないため、完了をブロックしました",
    ),
    ("the state file cannot be read", "状態ファイルを読めません"),
    (
        "the state file ends the cycle at a stage that is not done",
        "終わっていないステージで、状態ファイルがサイクルを終えています",
    ),
    ("the state file is damaged", "状態ファイルが壊れています"),
    ("the state file is gone", "状態ファイルがなくなりました"),
    ("the state file is that of another cycle", "状態ファイルが別のサイクルのものです"),
    (
        "the state file names a stage after one that is not done",
        "終わっていないステージより先を、状態ファイルが指しています",
    ),
    ("the status line is missing", "ステータスラインがありません"),
    ("the summary lost something", "要約から抜けたものがあります"),
    ("the tag as it would be now", "今のタグを示しました"),
    ("the tag names a topic of another project", "タグは別のプロジェクトのトピックを指しています"),
    ("the tag names a topic that does not exist", "タグのトピックは存在しません"),
    ("the tokens left are not known", "残りトークンがわかりません"),
    (
        "the tokens left are not known: continues as if there were room",
        "残りトークンがわからないため、余裕があるものとして続けます",
    ),
    ("the topic belongs to another project", "トピックは別のプロジェクトのものです"),
    ("the topic is closed", "トピックは終了しています"),
    ("the topic is gone", "トピックがなくなりました"),
    ("the turn names no topic", "このターンにトピックの名前がありません"),
    ("the waiting note is no longer true", "待っていた文は、もう当てはまりません"),
    ("the window is not known", "コンテキストの大きさがわかりません"),
    ("the work is not verified", "作業が検証されていません"),
    ("the workflow is complete", "ワークフローは完了しています"),
    ("the workflow is this session's now", "ワークフローはこのセッションのものになりました"),
    ("the workflow was not touched for a day", "ワークフローは1日以上動いていません"),
    ("the worktree has notes that exist nowhere else", "worktree に、ほかにはないメモがあります"),
    ("the worktrees are still there", "worktree は残っています"),
    ("there are no progress notes here", "ここに作業メモはありません"),
    ("there are no progress notes or learnings", "作業メモも学びもありません"),
    ("there are progress notes or learnings", "作業メモか学びがあります"),
    ("there are several unfinished workflows", "途中のワークフローが複数あります"),
    ("there is no room for the next stage", "次のステージに進む余裕がありません"),
    (
        "there is no room for the next stage, by a stale reading and a turn's growth",
        "古い測定値と1ターンの増え方から見て、次のステージに進む余裕がありません",
    ),
    ("there is no transcript", "会話の記録ファイルがありません"),
    ("there is nothing to keep", "残すものがありません"),
    ("there is room for agents", "エージェントを起動する余裕があります"),
    ("there is room for the next stage", "次のステージに進む余裕があります"),
    (
        "there is room for the next stage, by a stale reading and a turn's growth",
        "古い測定値と1ターンの増え方から見て、次のステージに進む余裕があります",
    ),
    ("this kind of agent brings its skills along", "この種類のエージェントは最初からスキルを持っています"),
    ("this level was said before", "この段階はすでに伝えました"),
    ("this level was said in this phase", "このフェーズで、この段階はすでに伝えました"),
    ("this task was blocked already", "このタスクは一度ブロックしました"),
    ("this was said about these notes", "これらのメモについては伝えました"),
    ("this was said, and there are few more", "すでに伝え、その後あまり増えていません"),
    ("unverified edits outlive the compaction", "未検証の変更は圧縮後も残ります"),
    ("use fell; the warning can come again", "使用量が減ったので、また警告できます"),
    ("verified since the last edit", "最後の編集の後に検証が通りました"),
    ("what was lost is not known any more", "抜けた内容はもうわかりません"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::Path;

    #[test]
    fn the_table_is_sorted() {
        assert!(REASONS.is_sorted_by(|(one, _), (other, _)| one < other));
    }

    /// The tables of the policies name every reason that matters.
    #[test]
    fn every_reason_of_the_tables_has_a_japanese_form() {
        fn tables(folder: &Path, texts: &mut Vec<String>) {
            for entry in fs::read_dir(folder).expect("a folder").flatten() {
                let path = entry.path();
                if path.is_dir() {
                    tables(&path, texts);
                } else if path.extension().is_some_and(|extension| extension == "md") {
                    texts.push(fs::read_to_string(path).expect("a table"));
                }
            }
        }
        let mut texts = Vec::new();
        tables(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../core/src/feature"), &mut texts);
        let mut seen = 0;
        for text in texts {
            let mut column = None;
            for line in text.lines() {
                let cells: Vec<&str> = line.trim().trim_matches('|').split('|').map(str::trim).collect();
                if !line.starts_with('|') {
                    column = None;
                } else if let Some(at) = column {
                    let reason = cells.get(at).copied().unwrap_or("-");
                    let is_one = reason != "-" && !reason.starts_with("--");
                    assert!(!is_one || because(reason).ja != reason, "no Japanese form: {reason}");
                    seen += usize::from(is_one);
                } else {
                    column = cells.iter().position(|cell| *cell == "because");
                }
            }
        }
        assert!(seen > 300, "{seen}");
    }
}
