//! Japanese for each English text of the command line.

pub(super) fn find(en: &str) -> Option<&'static str> {
    let known = TEXTS.iter().chain(VALUE_ERRORS).find(|(known, _)| *known == en);
    known.map(|(_, ja)| *ja)
}

/// What is wrong with a value of an option.
pub(super) const VALUE_ERRORS: &[(&str, &str)] = &[
    ("use a time such as 30m, 2h or 1d, up to 365d", "30m、2h、1d のように指定してください（365d まで）"),
    (
        "use a day such as 2026-11-01, or how long ago: 30m, 12h, 7d",
        "2026-11-01 のような日付か、30m、12h、7d のような長さで指定してください",
    ),
    ("use a number that `tidegate memory list` shows", "`tidegate memory list` に出る番号を指定してください"),
];

/// In the order of the overview; texts of several commands come first.
pub(super) const TEXTS: &[(&str, &str)] = &[
    (
        "Check the work of a coding agent, and keep what it learned when its context is compacted",
        "コーディングエージェントの作業を確認し、コンテキストの圧縮で失われないように学びを残します",
    ),
    // Several commands.
    ("Print JSON", "JSON で出力します"),
    ("Use the project of this session", "このセッションのプロジェクトを使います"),
    ("Use another project than that of the current folder", "現在のフォルダとは別のプロジェクトを使います"),
    (
        "Of a session: print all its exchanges with their texts",
        "セッションのすべてのやり取りを本文ごと表示します",
    ),
    ("Use the approval that a person gave in this session", "このセッションで人が出した承認を使います"),
    ("Only this session", "このセッションだけを対象にします"),
    ("All projects, not only this one", "すべてのプロジェクトを対象にします"),
    ("Reason", "理由です"),
    ("every project", "すべてのプロジェクト"),
    ("this project's newest session", "このプロジェクトの最新のセッション"),
    ("Exit codes: 0 done, 4 waits for a person's approval.", "終了コード: 0 完了、4 人の承認待ち。"),
    // demo
    (
        "Play a scripted session through the real hooks, in a throw-away project",
        "使い捨てのプロジェクトで、台本のセッションを本物のフックに通して見せます",
    ),
    ("only the compaction", "圧縮の場面だけ"),
    ("every hook call, with the reason of each policy", "すべてのフック呼び出しと、各ポリシーの理由"),
    ("Show only this scene", "この場面だけを見せます"),
    ("Show every hook call with its reasons", "すべてのフック呼び出しを理由とともに見せます"),
    ("Needs no Claude Code and installs nothing.", "Claude Code は不要で、何もインストールしません。"),
    // replay and tune
    (
        "Show what past sessions were like, as if Tidegate had been there",
        "過去のセッションを、Tidegate がいたものとして振り返ります",
    ),
    ("the last 30 days on this machine", "このマシンの直近30日"),
    (
        "Runs Tidegate's checks over transcripts of Claude Code, Codex, Copilot CLI and Qwen Code: turns that ended with untested code, context warnings, compactions and the facts they lost. Needs no installation, asks no model, and changes neither sessions nor settings. Without PATH it reads the folders of all agents on this machine. Exit codes: 0 done, 1 nothing to read, 2 wrong option, 130 ended with Ctrl-C.",
        "Claude Code、Codex、Copilot CLI、Qwen Code の記録に Tidegate の判定を通します。コードを確認せずに終わったターン、コンテキスト警告、圧縮とそこで失われた事実を示します。インストールもモデルも不要で、セッションや設定は変えません。PATH がなければ、このマシンのすべてのエージェントのフォルダを読みます。終了コード: 0 完了、1 読むものがない、2 オプションの誤り、130 Ctrl-C で中断。",
    ),
    ("Transcripts, or folders with them", "記録のファイル、またはフォルダです"),
    (
        "Only turns since then: `90d`, or `2026-11-01` [default: 30d]",
        "この時点以降のターンだけを対象にします。`90d` や `2026-11-01`（既定: 30d）",
    ),
    (
        "List every session, compaction and untested turn",
        "セッション、圧縮、確認なしのターンをすべて一覧にします",
    ),
    ("Use this preset instead of your own", "自分の設定の代わりに、このプリセットを使います"),
    ("Use another value: `context-warning.late=20k`", "別の値を使います。例: `context-warning.late=20k`"),
    ("Propose when to warn, from past compactions", "過去の圧縮から、警告の時期を提案します"),
    ("at least 3 turns after an early warning", "早めの警告のあと3ターン以上"),
    (
        "Looks at the automatic compactions in your transcripts, and proposes when to warn so that enough turns are left in 95 of 100 of them. Shows how many warnings that costs, and the change of your config. Fewer than 20 compactions are not enough for a proposal. Exit codes: 0 done, 1 nothing to read, 4 waits for a person's approval.",
        "記録にある自動の圧縮を調べ、100件中95件で十分なターンが残る警告の時期を提案します。警告の回数と設定の変更も示します。圧縮が20件未満では提案しません。終了コード: 0 完了、1 読むものがない、4 人の承認待ち。",
    ),
    ("Turns that an early warning leaves at least", "早めの警告のあとに残す最少のターン数です"),
    (
        "Only transcripts that changed since then: `90d`, or `2026-11-01`",
        "この時点以降に変わった記録だけを対象にします。`90d` や `2026-11-01`",
    ),
    (
        "Write this instead of a proposal: tokens left at the early warning",
        "提案のかわりに書き込む値: 残りがこのトークン数になったら先に警告します",
    ),
    ("The same for the late warning", "間際の警告について同じ"),
    ("Write the proposal into your own config", "提案を自分の設定ファイルに書き込みます"),
    // init and uninstall
    (
        "Install the hooks, the status line and the skills",
        "フック、ステータスライン、スキルをインストールします",
    ),
    ("this project, for you alone", "このプロジェクト、自分だけ"),
    ("all your projects", "自分のすべてのプロジェクト"),
    (
        "The agent whose status line this is: claude-code, copilot",
        "ステータスラインを表示するエージェント（claude-code、copilot）",
    ),
    (
        "Only this agent: claude-code, codex, copilot, qwen, opencode",
        "このエージェントだけを対象にします（claude-code、codex、copilot、qwen、opencode）",
    ),
    ("one agent", "1つのエージェント"),
    (
        "Another agent than Claude Code: codex, copilot, qwen, opencode",
        "Claude Code 以外のエージェント（codex、copilot、qwen、opencode）",
    ),
    ("for Codex instead of Claude Code", "Claude Code ではなく Codex 用"),
    ("for Copilot CLI", "Copilot CLI に入れる"),
    ("The project's folder", "プロジェクトのフォルダです"),
    ("Your own settings, for all projects", "すべてのプロジェクトに効く、自分の設定に入れます"),
    ("The settings that the project's team shares", "チームで共有する設定に入れます"),
    ("A person approved this command in this session", "このセッションで人が出した承認を使います"),
    (
        "How strict to be here; written into your own config",
        "このプロジェクトでの厳しさです。自分の設定ファイルに書き込みます",
    ),
    ("Decides and records, says nothing", "判定して記録するだけで、何も言いません"),
    (
        "Advises; once code changed, \"done\" needs a check that passed",
        "助言します。コードを変更したら、「完了」には成功した検証が必要です",
    ),
    (
        "As guide; also requires skills before edits, and turns every check on",
        "guide に加えて、編集の前にスキルを求め、すべてのチェックを有効にします",
    ),
    ("Remove what `init` installed", "`init` で入れたものを取り除きます"),
    (
        "Add only the status line; the plugin brings the rest",
        "ステータスラインだけを追加します。残りはプラグインに含まれています",
    ),
    (
        "Also delete recorded conversations, journal and settings; asks first",
        "記録した会話、動作の記録、設定も、確認してから削除します",
    ),
    (
        "By default `init` installs the skills getting-started, compound and verification-before-completion. If you have a skill or command of that name, yours stays and Tidegate's is called `tidegate-NAME`. `tidegate uninstall` removes all of this.",
        "標準で入るスキルは getting-started、compound、verification-before-completion です。同じ名前のスキルやコマンドがすでにあれば、それは残し、Tidegate のほうを `tidegate-名前` とします。`tidegate uninstall` ですべて元に戻ります。",
    ),
    ("Checkpoints between the phases of a workflow", "ワークフローのフェーズ間のチェックポイントです"),
    (
        "Keeps your files to the byte and can be run again. Hooks and status line go to `.claude/settings.local.json`, with --shared to `.claude/settings.json`, with --user to `~/.claude/settings.json`. The MCP server, with which Claude searches earlier conversations, goes to `~/.claude.json`, with --shared to `.mcp.json`. Without --shared, `git status` shows none of it.",
        "今ある内容は1バイトも変えず、何度でも実行できます。フックとステータスラインは `.claude/settings.local.json` に入ります（--shared では `.claude/settings.json`、--user では `~/.claude/settings.json`）。Claude が過去の会話を検索するための MCP サーバーは `~/.claude.json` に入ります（--shared では `.mcp.json`）。--shared を付けなければ `git status` には何も出ません。",
    ),
    ("List the changes and make none", "変更の一覧を表示し、何も変更しません"),
    ("More skills, separated by commas", "追加するスキルです。コンマで区切ります"),
    ("Print every change as a diff and make none", "すべての変更を差分で表示し、何も変更しません"),
    (
        "Removes exactly what `init` added. Keeps your later changes; a file that you did not change is as it was before. Recorded conversations, the journal, your settings and your notes stay, and the last lines say where. --purge deletes all of that but the notes, for every project, after asking you at a terminal.",
        "`init` で入れたものだけを取り除きます。あとから自分で変えた部分は残り、変えていないファイルは元どおりになります。記録した会話、動作の記録、設定、作業メモは残り、場所を最後に表示します。--purge を付けると、端末で確認したうえで、作業メモ以外をすべてのプロジェクトについて削除します。",
    ),
    (
        "Rules for code and documents, required by the preset strict",
        "コードと文書の規則です。プリセット strict では必須になります",
    ),
    (
        "Sprint, audit, ship and retrospective, one after another (/dev-cycle)",
        "スプリント、監査、リリース、振り返りを順に進めます（/dev-cycle）",
    ),
    ("and delete what was recorded", "記録したものも削除する"),
    ("for your team, in committed files", "チーム用、コミットされるファイルに入れる"),
    ("list the changes first", "先に変更の一覧を見る"),
    ("more skills", "スキルを追加する"),
    ("with the plugin: what it lacks", "プラグインに足りないものだけ"),
    ("your team's files, too", "チームのファイルからも"),
    // doctor
    ("Find problems of the installation, and how to fix them", "インストールの問題と直し方を示します"),
    ("Check the project in this folder", "このフォルダのプロジェクトを確認します"),
    ("the checks that passed, too", "正常だった確認も"),
    ("List all checks, also those that passed", "正常だったものも含め、すべての確認を一覧にします"),
    (
        "Exit codes: 0 nothing has to be fixed, 1 at least one problem or warning. Notes do not count.",
        "終了コード: 0 直すところなし、1 問題か警告あり。注意は数えません。",
    ),
    // status, log, explain, report
    (
        "Show how full the context is, and everything that waits",
        "コンテキストの使用量と、待っていることを表示します",
    ),
    ("Show this session", "このセッションを表示します"),
    ("Show what Tidegate did here, in plain words", "Tidegate がここでしたことを、わかりやすく表示します"),
    ("the last 20 events", "直近の20件"),
    ("keep showing new ones", "新しいものを表示し続ける"),
    ("with the texts of its exchanges", "やりとりの本文も表示します"),
    ("with ids, for `tidegate explain`", "`tidegate explain` で使う ID つき"),
    ("all records, for programs", "プログラム向けにすべての記録"),
    (
        "Leaves out everything that passed in silence; --verbose and --json show it.",
        "何も言わずに通したものは省きます。--verbose と --json ではそれも表示します。",
    ),
    ("Keep showing new events", "新しい出来事を表示し続けます"),
    ("Show ids, times and silent hook runs, too", "ID、所要時間、何も言わなかったフックも表示します"),
    ("Only events that this policy took part in", "このポリシーが関わった出来事だけを表示します"),
    ("Number of events", "表示する件数です"),
    ("Explain why Tidegate blocked or said something", "Tidegate が止めた理由や伝えた理由を説明します"),
    (
        "Id from `tidegate log`, or `last` for the newest that said or blocked something",
        "`tidegate log` に出る ID、または最新のものを表す `last` です",
    ),
    ("Sum up what Tidegate caught, and what it cost", "Tidegate が防いだことと、かかったコストをまとめます"),
    ("this project, last 30 days", "このプロジェクトの直近30日"),
    ("Number of days, including today", "今日を含む日数です"),
    (
        "Write one new file for a browser, with charts; `-` is stdout",
        "ブラウザで開けるグラフ付きの新しいファイルを1つ書きます。`-` は標準出力です",
    ),
    ("Show it again every two seconds", "2秒ごとに表示し直します"),
    // top
    ("Watch all sessions in the terminal", "すべてのセッションをターミナルで見守ります"),
    (
        "Keys: arrows choose a session, `e` explains its last event, `/` searches the memory, `o` switches a policy off, `q` quits. It shows what `tidegate status --json` and `tidegate log --json` print for programs.",
        "キー操作: 矢印でセッションを選び、`e` で直近の出来事の説明、`/` で記憶の検索、`o` でポリシーをオフ、`q` で終了します。プログラムからは `tidegate status --json` と `tidegate log --json` で同じ内容を得られます。",
    ),
    // serve
    ("Show sessions, memory and reports in a browser", "セッション、記憶、レポートをブラウザに表示します"),
    ("Listen on this port [default: any free one]", "このポートで待ち受けます [既定: 空いているポート]"),
    ("Print the address as JSON", "アドレスを JSON で出力します"),
    ("open the address that it prints", "表示されたアドレスを開いてください"),
    (
        "Only this machine can open the pages, and only with the address that is printed: it contains a new secret each time. The pages change nothing. Ctrl-C ends it.",
        "ページを開けるのはこのマシンだけで、表示されたアドレスが必要です。アドレスには毎回新しい秘密の文字列が入ります。ページから変更されるものはありません。Ctrl-C で終了します。",
    ),
    // off, on, trust, config
    ("Switch a policy off, or list all policies", "ポリシーをオフにするか、一覧を表示します"),
    ("list the policies", "ポリシーの一覧"),
    ("this project, for two hours", "このプロジェクトで2時間"),
    (
        "Works from another terminal while a session is stuck. Called by an agent, it prints a code that only a person can approve. TIDEGATE_OFF=skill-gate in the environment of Claude Code does the same for that run.",
        "セッションが止まっているとき、別の端末からでも使えます。エージェントから呼ばれたときは、人だけが承認できるコードを表示します。Claude Code の環境変数 TIDEGATE_OFF=skill-gate でも、その起動の間だけオフにできます。",
    ),
    ("Policy to switch off; without it, list all", "オフにするポリシーです。省くと一覧を表示します"),
    (
        "How long: 30m, 2h, 1d; without it, until `tidegate on`",
        "期間です（30m、2h、1d）。省くと `tidegate on` まで続きます",
    ),
    (
        "Only this session; without ID, this project's newest",
        "このセッションだけ。ID を省くと、このプロジェクトの最新のセッションです",
    ),
    ("All your projects", "自分のすべてのプロジェクトを対象にします"),
    ("Switch a policy on again", "ポリシーをオンに戻します"),
    ("everywhere it was switched off", "オフにしたすべての場所で"),
    (
        "Also makes a policy block again that only advises in a project, because people overrode it often there.",
        "何度も取り消されたために助言だけになったポリシーも、再び止めるようになります。",
    ),
    ("Policy to switch on", "オンに戻すポリシーです"),
    ("Everywhere it was switched off", "オフにしたすべての場所でオンに戻します"),
    (
        "Allow the config files of a project to loosen rules",
        "プロジェクトの設定ファイルがルールを緩めることを許可します",
    ),
    ("show what the files ask for, then ask you", "設定ファイルの内容を見せて確認する"),
    (
        "A project's `.claude/tidegate.toml` and `.claude/tidegate.local.toml` can always make rules stricter. Everything else in them waits until you have seen it. Any change to a file takes the trust back.",
        "プロジェクトの `.claude/tidegate.toml` と `.claude/tidegate.local.toml` は、ルールを厳しくすることならいつでもできます。それ以外は、あなたが内容を見るまで効きません。ファイルが変わると許可は取り消されます。",
    ),
    ("Take the trust back", "許可を取り消します"),
    (
        "Show the limits that you set in prompts, or drop a wrong one",
        "プロンプトで指示した制約を表示するか、誤って拾われたものを外します",
    ),
    (
        "Tidegate finds sentences in your prompts that forbid, require or limit something, and gives them back to the agent when a compaction loses them. You can also take one back in a prompt (\"forget the rule about dependencies\"). Called by an agent, --drop prints a code that only a person can approve.",
        "Tidegate は、禁止・必須・制限を述べた文をプロンプトから見つけ、圧縮で失われたときにエージェントへ戻します。プロンプトで取り消すこともできます（「依存のルールは忘れて」）。エージェントから --drop が呼ばれたときは、人だけが承認できるコードを表示します。",
    ),
    ("Drop the constraint with this id", "この ID の制約を外します"),
    ("Use this session", "このセッションを対象にします"),
    (
        "Refuse if the files changed since this digest was shown",
        "このダイジェストの表示後にファイルが変わっていたら中止します",
    ),
    ("Show the settings and where each comes from", "設定とその出どころを表示します"),
    ("Show every value that counts here", "ここで有効な値をすべて表示します"),
    (
        "Later sources override earlier ones: defaults, ~/.config/tidegate/config.toml, its [project.\"/path\"] section, .claude/tidegate.toml, .claude/tidegate.local.toml, TIDEGATE_* variables. A project's own files can only make rules stricter, until you run `tidegate trust`.",
        "あとのものほど優先されます: 既定値、~/.config/tidegate/config.toml、その中の [project.\"/path\"]、.claude/tidegate.toml、.claude/tidegate.local.toml、環境変数 TIDEGATE_*。プロジェクト自身のファイルは、`tidegate trust` を実行するまでルールを厳しくすることしかできません。",
    ),
    ("Show the source of each value", "それぞれの値の出どころを表示します"),
    ("Print JSON, with origins", "出どころつきの JSON で出力します"),
    ("Print the JSON schema of a config file", "設定ファイルの JSON スキーマを出力します"),
    // memory
    ("Search and edit the memory of past conversations", "過去の会話の記憶を検索・編集します"),
    ("Search conversations, decisions and learnings", "会話、決定、学びを検索します"),
    (
        "Finds texts with any of the words in any form, also in the other of English and Japanese; those that fit best come first. Whole questions work. A phrase in double quotes has to occur as it is. A project's name and words such as `last week` narrow the search if something fits. The last word may be the beginning of one. Words that no result has are named. Searches logs, decisions and topics of all projects, and the learnings and progress notes of projects that were worked in.",
        "いずれかの語を含む文章を、語の形が違っても、英語と日本語のもう一方の言葉でも探し、よく合うものから表示します。質問文のままでもかまいません。二重引用符で囲んだ語句は、そのままの形で探します。プロジェクト名や「先週」のような言葉は、合うものがあれば範囲を絞ります。最後の語は途中まででもかまいません。どの結果にもない語は最後に示します。すべてのプロジェクトのログ、決定、トピックと、作業したプロジェクトの学びと作業メモが対象です。",
    ),
    ("Words to look for", "探す語です"),
    (
        "Only this project: its name, its id or a folder in it",
        "このプロジェクトだけ（名前、ID、またはその中のフォルダ）を対象にします",
    ),
    ("Only this topic", "このトピックだけを対象にします"),
    (
        "Only since then: `2026-11-01`, or `7d` for seven days; days are UTC",
        "この時点からあとだけ（`2026-11-01`、7日前からなら `7d`。日付は UTC）を対象にします",
    ),
    ("Only until then, that day included", "この時点まで（その日を含む）を対象にします"),
    ("Only this kind; can be repeated", "この種類だけを対象にします。繰り返し指定できます"),
    ("Show at most this many", "表示する最大の件数です"),
    (
        "List topics, logs, decisions or projects, newest first",
        "トピック、ログ、決定、プロジェクトを新しい順に表示します",
    ),
    ("topics of all projects", "すべてのプロジェクトのトピック"),
    (
        "A list comes in pages: give `--after` the value that the page before ended with.",
        "一覧はページに分かれます。前のページの最後に出た値を `--after` に渡してください。",
    ),
    ("Kind of rows", "表示する種類です"),
    (
        "List only open topics, or decisions of open topics",
        "開いているトピック、またはその決定だけを表示します",
    ),
    ("List only closed ones", "閉じたものだけを表示します"),
    (
        "List automatic topics and replaced decisions, too",
        "自動で作られたトピックと、置き換えられた決定も表示します",
    ),
    ("List at most this many", "表示する最大の件数です"),
    ("List the page after this one", "このページの次を表示します"),
    (
        "Show one topic, log, decision, session or project",
        "トピック、ログ、決定、セッション、プロジェクトを1件表示します",
    ),
    ("The beginning of a log's id is enough.", "ログの ID は先頭だけでもかまいません。"),
    ("Kind of row", "種類です"),
    ("Its id", "ID です"),
    ("Its number", "番号です"),
    ("Add and change topics", "トピックを追加・変更します"),
    ("Add a topic", "トピックを追加します"),
    ("Title in one line", "1行の題名です"),
    (
        "Its project: name, id or a folder in it; without it, that of this folder",
        "プロジェクト（名前、ID、またはその中のフォルダ）です。省くと、このフォルダのプロジェクトです",
    ),
    ("Topic that it is a part of", "親のトピックです"),
    ("Change a topic's title, project or parent", "トピックの題名、プロジェクト、親を変えます"),
    (
        "An automatic topic becomes a normal one once you give it a title.",
        "自動で作られたトピックは、題名を付けると普通のトピックになります。",
    ),
    ("Number of the topic", "トピックの番号です"),
    ("New title", "新しい題名です"),
    ("New project: name, id or a folder in it", "新しいプロジェクト（名前、ID、またはその中のフォルダ）です"),
    ("Make it a topic of its own", "親のないトピックにします"),
    ("Close a topic", "トピックを閉じます"),
    ("Open a closed topic again", "閉じたトピックを開き直します"),
    ("Add and change decisions", "決定を追加・変更します"),
    ("Write down a decision", "決定を書き留めます"),
    ("The topic stays open.", "トピックは開いたままです。"),
    ("Text of the decision; `-` reads it from stdin", "決定の内容です。`-` なら標準入力から読みます"),
    ("Correct the wording of a decision", "決定の書き方を直します"),
    ("Number of the decision", "決定の番号です"),
    ("Move it to this topic", "このトピックに移します"),
    ("Replace a decision by a new one", "決定を新しいものに置き換えます"),
    (
        "Text of the new decision; `-` reads it from stdin",
        "新しい決定の内容です。`-` なら標準入力から読みます",
    ),
    (
        "Stand by a decision that an agent wrote down",
        "エージェントが書き留めた決定を、自分の決定として確認します",
    ),
    (
        "Only a person can do this: typed at a terminal, or by approving the code that an agent's command prints.",
        "確認できるのは人だけです。端末で実行するか、エージェントのコマンドが表示したコードを承認します。",
    ),
    (
        "The earlier text stays: `tidegate memory show decision 7` shows both. An agent needs a person's yes to change a decision of theirs.",
        "変更前の内容も残り、`tidegate memory show decision 7` で両方を見られます。人の決定をエージェントが変更するには、人の同意が必要です。",
    ),
    (
        "An agent needs a person's yes to replace a decision of theirs.",
        "人の決定をエージェントが置き換えるには、人の同意が必要です。",
    ),
    ("Take a decision back", "決定を取り消します"),
    (
        "The decision that it replaced counts again. An agent needs a person's yes to take back a decision of theirs.",
        "置き換えられていた決定が再び有効になります。人の決定をエージェントが取り消すには、人の同意が必要です。",
    ),
    ("Write a log by hand", "ログを手で書きます"),
    ("Add a log to a topic", "トピックにログを追加します"),
    ("Text of the log; `-` reads it from stdin", "ログの内容です。`-` なら標準入力から読みます"),
    ("Title in one line; without it, the first line of the text", "1行の題名です。省くと、内容の1行目です"),
    ("Check the whole store for damage", "保存された記憶全体に破損がないか調べます"),
    (
        "Tidegate repairs damage by itself when it meets it: it sets the file aside and rebuilds the store from the newest copy and everything that is still readable. --repair does the same for damage that only this check finds.",
        "Tidegate は使用中に破損を見つけると、そのファイルを脇に置き、最新のコピーとまだ読める部分から自動で作り直します。--repair は、この検査で見つかった破損に対して同じことをします。",
    ),
    ("Exit codes: 0 sound, 1 damaged.", "終了コード: 0 正常、1 破損あり。"),
    ("Repair the damage that this check finds", "この検査で見つかった破損を直します"),
    ("Copy the store now", "記憶のコピーを今すぐ作ります"),
    (
        "Tidegate makes one copy a day and keeps the last three.",
        "Tidegate は1日1回コピーを作り、直近の3つを残します。",
    ),
    ("Write the copy to this file instead", "コピーをこのファイルに書きます"),
    ("Print everything as JSON lines", "すべてを JSON Lines で出力します"),
    (
        "Prints one object a line, with a member `kind`: project, topic, session, log, decision. Times are milliseconds since 1970. `tidegate memory import` reads the same, on any machine and as often as you like.",
        "1行に1つのオブジェクトを出力します。`kind` は project、topic、session、log、decision のどれかです。時刻は1970年からのミリ秒です。`tidegate memory import` はこれを、どのマシンでも何度でも読み込めます。",
    ),
    (
        "Add past conversations, or rows that `export` printed",
        "過去の会話、または `export` が出力したものを取り込みます",
    ),
    ("count what is there", "件数だけを見る"),
    ("all conversations on this machine", "このマシンのすべての会話"),
    ("rows that `export` printed", "`export` が出力した行"),
    (
        "Conversations: reads transcripts of Claude Code, Codex, Copilot CLI and Qwen Code, and adds what Tidegate would have recorded then, without secrets. Each exchange is stored once, however often you import it. An import that was interrupted continues when you run it again. Damaged lines are counted and left out. Subagents, runs without a person, and projects where recording is off are left out, too. Without PATH it reads ~/.claude/projects, ~/.codex/sessions, ~/.copilot/session-state and ~/.qwen/projects. An agent cannot import conversations.",
        "会話: Claude Code、Codex、Copilot CLI、Qwen Code の会話のファイルを読み、当時記録していたはずの内容を、秘密情報を除いて追加します。何度取り込んでも、やり取りは1回だけ保存されます。途中で止まっても、もう一度実行すれば続きから始めます。壊れた行は数えて飛ばします。サブエージェント、人のいない実行、記録がオフのプロジェクトは除きます。PATH を省略すると ~/.claude/projects、~/.codex/sessions、~/.copilot/session-state、~/.qwen/projects を読みます。エージェントは会話を取り込めません。",
    ),
    (
        "Rows of `export`: adds new rows and leaves out rows that you deleted with `forget`. If one line cannot be read, or a row is there twice, nothing is added and the error names the line. Reads up to 512 MiB, in lines of up to 4 MiB. Rows that would replace an existing row need your yes: at a terminal the command shows them and asks; give it a file for that, not a pipe. Without your yes it leaves them out and says how many. Without a terminal, `unattended = [\"memory import\"]` under [approval] in your own config allows them. An agent never replaces a row, and imports only rows of its own project.",
        "`export` の行: 新しい行を追加します。`forget` で消した行は取り込みません。読めない行や重複した行があれば何も追加せず、その行を示します。全体で512 MiB、1行4 MiB までです。既存の行を置き換えるものには、あなたの同意が必要です。端末では内容を見せて尋ねます（パイプではなくファイルを渡してください）。同意がなければ除いて、その数を伝えます。端末がないときは、自分の設定の [approval] に `unattended = [\"memory import\"]` と書けば許可されます。エージェントは既存の行を置き換えられず、自分のプロジェクトの行だけを取り込めます。",
    ),
    (
        "Transcripts or folders with them, or one file of `export`; `-` reads an export from stdin",
        "会話のファイルやフォルダ、または `export` のファイル1つです。`-` は `export` を標準入力から読みます",
    ),
    (
        "Only exchanges since then: `90d`, or `2026-11-01`",
        "この時点以降のやり取りだけにします（`90d` や `2026-11-01`）",
    ),
    ("Count the conversations and store nothing", "会話を数えるだけで、何も保存しません"),
    ("Kind of the files", "ファイルの種類です"),
    ("Look at the first lines", "最初の数行から判断します"),
    ("Rows that `tidegate memory export` printed", "`tidegate memory export` が出力した行"),
    ("Conversations as an agent wrote them", "エージェントが書いた会話"),
    (
        "Delete a log, a decision, a topic, a session or a project for good",
        "ログ、決定、トピック、セッション、プロジェクトを完全に削除します",
    ),
    (
        "Deletes from the store, its copies and the queue, and with the next delivery from the team's store. This cannot be undone. At a terminal it asks first; called by an agent it prints a code that only a person can approve.",
        "記憶とそのコピー、保存待ちから削除し、次の送信でチームの保存先からも削除します。元には戻せません。端末では先に尋ねます。エージェントから呼ばれたときは、人だけが承認できるコードを表示します。",
    ),
    (
        "Exit codes: 0 deleted, 1 not yet deleted everywhere or failed, 4 waits for a person's approval.",
        "終了コード: 0 削除済み、1 まだ残っている場所があるか失敗、4 人の承認待ち。",
    ),
    (
        "Its id; for a project also its name or a folder in it",
        "ID です。プロジェクトは名前やその中のフォルダでも指定できます",
    ),
    ("Show how much is stored and what is still queued", "保存されている量と、保存待ちの数を表示します"),
    (
        "Share projects with a team: join, invite, and see how deliveries went",
        "チームとプロジェクトを共有します。参加、招待、送信の状況の確認ができます",
    ),
    (
        "Without a command it shows what is shared, and does not contact the server. docs/team.md explains how to share.",
        "コマンドを付けないと、共有しているものを表示します。サーバーには接続しません。共有のしかたは docs/team.md にあります。",
    ),
    (
        "Make or upgrade a team's store on a server, as its administrator",
        "管理者として、サーバーにチームの保存先を作るか、新しい形式にします",
    ),
    (
        "Run it once, and again after an upgrade of Tidegate. The login has to own the database and must be allowed to make roles (`CREATEROLE`). It becomes the administrator.",
        "最初に一度、Tidegate を新しくしたときにもう一度実行します。データベースの所有者で、ロールを作れるログイン（`CREATEROLE`）が必要です。このログインが管理者になります。",
    ),
    (
        "Exit codes: 0 done, 1 failed, 4 waits for a person's approval.",
        "終了コード: 0 完了、1 失敗、4 人の承認待ち。",
    ),
    ("Make a login for a member, as the administrator", "管理者として、メンバーのログインを作ります"),
    (
        "Prints the password once; Tidegate stores it nowhere, and the server only a hash of it. For a member, it sets a new password.",
        "パスワードは一度だけ表示します。Tidegate は保存せず、サーバーにもハッシュだけを置きます。すでにメンバーなら、パスワードを新しくします。",
    ),
    (
        "Login of the member; teammates see it as the author of rows",
        "メンバーのログイン名です。ほかの人には記入者として表示します",
    ),
    ("Login of the member", "メンバーのログイン名です"),
    (
        "Server and database; without it, as in the config",
        "サーバーとデータベースです。省くと設定のとおりです",
    ),
    (
        "Join a team, share projects with it, and list what it shares",
        "チームに参加してプロジェクトを共有し、チームの共有内容を一覧にします",
    ),
    (
        "Connects, writes `[memory.team]` into your own config, exchanges rows and lists what the team shares. The projects that you name are shared from then on, and no others; a name or the git remote will do. Your config names the variable with the password, never the password itself.",
        "接続し、自分の設定に `[memory.team]` を書き込み、行を送受信して、チームの共有内容を一覧にします。名前か git のリモートで指定したプロジェクトだけを、これから共有します。設定に書くのはパスワードの変数名だけで、パスワードは書きません。",
    ),
    (
        "Project to share, by name, folder or git remote; can be repeated",
        "共有するプロジェクトです。名前、フォルダ、git のリモートで指定します。何度でも指定できます",
    ),
    ("List the members of the team", "チームのメンバーを一覧にします"),
    ("Delete the login of a member, as the administrator", "管理者として、メンバーのログインを削除します"),
    (
        "Deletes the login. Rows of the member stay, and so do copies on their machine.",
        "ログインを削除します。その人の行と、その人のマシンにあるコピーは残ります。",
    ),
    ("Share nothing with the team any more", "チームとの共有をやめます"),
    (
        "Removes the server from your own config. Rows that you have stay here, and rows that you sent stay there: to delete them, run `tidegate memory forget` and `push` before.",
        "自分の設定からサーバーを外します。手元の行も、送った行も残ります。送った行を消すには、先に `tidegate memory forget` と `push` を実行してください。",
    ),
    ("Send new rows to the team's store now", "新しい行をチームの保存先に今すぐ送ります"),
    (
        "The worker does this by itself whenever it has stored something. Rows that the server cannot take now stay in the queue.",
        "ワーカーが何かを保存するたびに自動で行います。サーバーが今受け取れない行は送信待ちに残ります。",
    ),
    ("Exit codes: 0 everything is sent, 1 something is left.", "終了コード: 0 すべて送信済み、1 残りあり。"),
    (
        "Fetch topics and decisions of others from the team's store now",
        "ほかの人のトピックと決定を、チームの保存先から今すぐ取り込みます",
    ),
    (
        "The worker does this by itself, too. Logs of others stay on the server; `tidegate memory search` finds them there.",
        "これもワーカーが自動で行います。ほかの人のログはサーバーに残り、`tidegate memory search` で検索できます。",
    ),
    ("Copy the whole store of this machine to a server", "このマシンの記憶すべてをサーバーにコピーします"),
    (
        "Copies all projects, whatever the config shares. The store here does not change. Run it again after an interruption: it continues with the rows that the server lacks. Put the password into an environment variable: others on this machine can see a command line. At a terminal it asks first; called by an agent it prints a code that only a person can approve.",
        "設定で共有していないものも含め、すべてのプロジェクトをコピーします。こちらの記憶は変わりません。中断しても、もう一度実行すれば足りない行から続けます。コマンドラインは同じマシンのほかの人に見えるので、パスワードは環境変数に入れてください。端末では先に尋ねます。エージェントから呼ばれたときは、人だけが承認できるコードを表示します。",
    ),
    (
        "Exit codes: 0 all rows are there, 1 some are missing, 4 waits for a person's approval.",
        "終了コード: 0 すべてコピー済み、1 足りない行あり、4 人の承認待ち。",
    ),
    (
        "Server and database: postgres://USER@HOST:PORT/DATABASE",
        "サーバーとデータベースです: postgres://USER@HOST:PORT/DATABASE",
    ),
    (
        "Environment variable with the password; without it, PGPASSWORD",
        "パスワードの入った環境変数です。省くと PGPASSWORD です",
    ),
    (
        "File with the certificates to check the server's against; without it, as in the config",
        "サーバーの証明書を検証するためのファイルです。省くと設定のとおりです",
    ),
    (
        "Protection of the connection; without it, as in the config",
        "接続の保護方法です。省くと設定のとおりです",
    ),
    // progress, compound, learnings, handoff
    ("Write and read progress notes", "作業メモを書き、読みます"),
    ("Add a note to `.claude/context/progress.md`", "`.claude/context/progress.md` にメモを追加します"),
    (
        "Adds the note next to the newest one, and creates the file if it is missing. Works in any folder of the project, not in the home directory itself. Each worktree has a file of its own.",
        "最新のメモの隣に追加し、ファイルがなければ作ります。プロジェクトのどのフォルダでも使えますが、ホームディレクトリそのものでは使えません。作業ツリーごとに別のファイルです。",
    ),
    ("Finished step, in one line", "終えた作業を1行で書きます"),
    ("Key change; can be repeated", "主な変更です。繰り返し指定できます"),
    ("Decision; can be repeated", "決めたことです。繰り返し指定できます"),
    ("Next step; can be repeated", "次にすることです。繰り返し指定できます"),
    ("List the notes, newest first", "メモを新しい順に表示します"),
    ("List only notes that are not reviewed yet", "未整理のメモだけを表示します"),
    ("Show one note", "メモを1件表示します"),
    ("Id of the note, or its beginning", "メモの ID、またはその先頭です"),
    ("Turn progress notes into learnings", "作業メモを学びとして保存します"),
    (
        "List notes that are not reviewed yet, with learnings like them",
        "未整理のメモを、似ている学びと一緒に表示します",
    ),
    (
        "Tidegate remembers this list: `tidegate compound done` marks exactly these notes as reviewed. A long list comes in parts; `not_listed` counts the notes of later parts.",
        "Tidegate はこの一覧を覚えていて、`tidegate compound done` はここに出たメモだけを整理済みにします。長い一覧は分けて表示し、残りの数は `not_listed` に出ます。",
    ),
    ("Save learnings, once a person agrees", "人の同意を得て、学びを保存します"),
    (
        "A plan is a JSON list; one yes covers all of it:",
        "計画は JSON のリストです。一度の同意ですべてに効きます:",
    ),
    (
        "Prints the text to save. At a terminal it then asks; called by an agent it prints a code that only a person can approve. `--to global` saves in the file that `[knowledge] global` in your own config names.",
        "保存する内容を表示します。端末ではそのあと尋ねます。エージェントから呼ばれたときは、人だけが承認できるコードを表示します。`--to global` は、自分の設定の `[knowledge] global` にあるファイルに保存します。",
    ),
    ("Exit codes: 0 saved, 4 waits for a person's approval.", "終了コード: 0 保存済み、4 人の承認待ち。"),
    ("Note that it was learned from; can be repeated", "学びのもとになったメモです。繰り返し指定できます"),
    ("File to save it in", "保存先のファイルです"),
    ("The file that your own config names", "自分の設定で指定したファイルです"),
    ("Title of a new learning", "新しい学びの題名です"),
    ("The lesson itself", "学んだ内容です"),
    ("Situation that it comes from", "学びのもとになった状況です"),
    ("Consequence for later work", "今後の作業でどうするかを書きます"),
    ("Confirm this learning once more", "この学びをもう一度確かめられたものとします"),
    ("Merge the second learning into the first", "2つ目の学びを1つ目にまとめます"),
    ("Kind of work in which it was seen", "確かめられた作業の種類です"),
    (
        "Save several: a file with a JSON list, or `-` for stdin",
        "まとめて保存します（JSON のリストのファイル、`-` なら標準入力）",
    ),
    ("Save only what was shown with this digest", "このダイジェストで表示した内容だけを保存します"),
    ("Mark the listed notes as reviewed", "一覧に出たメモを整理済みにします"),
    (
        "Saves no learning, and leaves notes that were not listed. Refused to an agent in a session without a person.",
        "学びは保存せず、一覧に出ていないメモはそのままです。人のいないセッションのエージェントには許可しません。",
    ),
    (
        "Number of learnings saved; without it, those since the list",
        "保存した学びの数です。省くと、一覧を出してからの数です",
    ),
    (
        "Show the learnings of a project, or check their files",
        "プロジェクトの学びを表示するか、そのファイルを調べます",
    ),
    ("all learnings, with confirmations", "すべての学びと、確かめられた回数"),
    ("malformed ones, with file and line", "形式の誤りを、ファイル名と行番号つきで"),
    (
        "Reads `.claude/context/learnings*.md` and the file that `[knowledge] global` in your own config names. A learning is a `## title` with `- **Learning**:`, `- **Context**:`, `- **Implication**:` and `- **Confirmed**: 4 times | 2026-02-18 | implement, design`.",
        "`.claude/context/learnings*.md` と、自分の設定の `[knowledge] global` にあるファイルを読みます。学びは `## 題名` と、その下の `- **Learning**:`、`- **Context**:`、`- **Implication**:`、`- **Confirmed**: 4 times | 2026-02-18 | implement, design` でできています。",
    ),
    (
        "Exit codes: 0 fine, 1 `check` found a malformed learning.",
        "終了コード: 0 正常、1 `check` で形式の誤りが見つかりました。",
    ),
    ("List the learnings, or check their files", "学びを表示するか、ファイルを調べるかを選びます"),
    ("Show all learnings", "すべての学びを表示します"),
    ("Show only malformed and duplicate ones", "形式の誤りと重複だけを表示します"),
    (
        "Write a summary that lets another session continue",
        "別のセッションが続けられるように、引き継ぎを書きます",
    ),
    ("write .claude/context/handoff.md", ".claude/context/handoff.md に書く"),
    ("print it, write nothing", "表示するだけで書かない"),
    (
        "Contains the goal and the constraints of the plan, the state of a cycle or workflow, decisions, unverified edits, notes to review, next steps, open questions and paths. Leaves out everything that is not known, and the words of your prompts. Within a day Tidegate tells each new session about the file, once. It writes the file anew each time and keeps your own changes in handoff.kept.md.",
        "目標と計画の制約、サイクルやワークフローの状態、決定、未検証の変更、未整理のメモ、次の作業、残っている質問、パスが入ります。わからないことと、プロンプトの文は書きません。1日以内に始まる各セッションに、このファイルのことを一度だけ伝えます。毎回新しく書き直し、あなたの変更は handoff.kept.md に残します。",
    ),
    ("Print the summary and write nothing", "表示するだけで、書き込みません"),
    // cycle
    (
        "Run stages one after another, while the context has room",
        "コンテキストに余裕がある間、ステージを順に進めます",
    ),
    ("Start a cycle in this session", "このセッションでサイクルを始めます"),
    ("sprint, audit, ship, retrospective", "sprint、audit、ship、retrospective の順"),
    ("the cycle [cycle.release] of your config", "自分の設定の [cycle.release] のサイクル"),
    (
        "At the end of a turn whose stage is done, the next stage begins if the context has room for it. Otherwise the cycle stops, and another session can continue it. Only one live session of a project can run a cycle. Each stage needs its skill: `tidegate init --with cycle` installs those of the built-in cycle.",
        "ステージが終わったターンの最後に、コンテキストに余裕があれば次のステージを始めます。なければサイクルは止まり、別のセッションで続けられます。1つのプロジェクトでサイクルを進められるのは、1つのセッションだけです。各ステージにはスキルが必要です。組み込みのサイクルのスキルは `tidegate init --with cycle` で入ります。",
    ),
    ("Start although skills of its stages were not found", "ステージのスキルが見つからなくても始めます"),
    ("Name of the cycle", "サイクルの名前です"),
    ("Show the state of this project's cycle", "このプロジェクトのサイクルの状態を表示します"),
    ("Mark the stage as done", "ステージを完了にします"),
    (
        "The next stage begins when the turn ends, if `done_when` of the stage can be seen; this command names what is missing. `open` counts open findings: with more than 0 the stage is not done, and once its rounds of review and fix are used up, it fails. Where `no-open-findings` is promised, metrics such as `critical=2` or `high=1` count, too. The closing message and the history show the metrics.",
        "ステージの `done_when` を確認できれば、ターンの終わりに次のステージを始めます。足りないものはこのコマンドが示します。`open` は未対応の指摘の数です。0でなければステージは終わらず、レビューと修正の回数を使い切ると失敗になります。`no-open-findings` を求めるステージでは、`critical=2` や `high=1` のような値も数えます。結果の値は、終わりのメッセージと履歴に出ます。",
    ),
    (
        "Result of the stage, such as a count; can be repeated",
        "件数など、ステージの結果です。繰り返し指定できます",
    ),
    ("End the cycle: its stage cannot be done", "ステージを終えられないので、サイクルを終わらせます"),
    (
        "No later stage begins, and Tidegate tells the person when the turn ends. `tidegate cycle resume` starts that stage again.",
        "以降のステージは始めず、ターンの終わりに人に知らせます。`tidegate cycle resume` でそのステージからやり直せます。",
    ),
    ("Continue a stopped cycle in this session", "止まったサイクルを、このセッションで続けます"),
    ("one that no running session uses", "動いているセッションが使っていないもの"),
    ("the first stage that was not started", "まだ始めていない最初のステージから"),
    ("an earlier stage once more", "前のステージをもう一度"),
    ("also with too few tokens left", "残りのトークンが足りなくても"),
    (
        "A stage that failed or was interrupted starts again, a failed one with all its rounds of review and fix. No stage after the first open one can be chosen. Only a person takes over a state file that comes from elsewhere: called by an agent, the command prints a code that the person can approve.",
        "失敗したステージや中断したステージは、はじめからやり直します。失敗したステージでは、レビューと修正の回数も0から数えます。最初に残っているステージより後は選べません。ほかから来た状態ファイルを引き継げるのは人だけです。エージェントから呼ばれたときは、人が承認できるコードを表示します。",
    ),
    ("Stage to begin with", "始めるステージです"),
    (
        "Begin although fewer tokens are left than the stage and those after it need",
        "このステージ以降に必要なトークンが残っていなくても始めます",
    ),
    ("Give up the cycle and keep its costs in the history", "サイクルをやめ、かかった量を履歴に残します"),
    (
        "An agent can give up only the cycle of its own session, and Tidegate tells the person when the turn ends.",
        "エージェントがやめられるのは自分のセッションのサイクルだけで、ターンの終わりに Tidegate が人に伝えます。",
    ),
    ("Show the cost of stages and the room that they need", "ステージにかかった量と、必要な余裕を表示します"),
    (
        "`from here` is the cost of a stage and all stages after it, in cycles that finished them. With min_left = \"auto\" its 80th percentile counts, from five cycles on.",
        "`from here` は、最後まで進んだサイクルで、そのステージから先にかかった量の合計です。min_left = \"auto\" では、5サイクル以上たまると、その80パーセンタイルを使います。",
    ),
    ("Count one round of review and fix, up to the limit", "レビューと修正の往復を、上限まで1回数えます"),
    ("start a new loop, outside of a cycle", "サイクルの外で、新しく数え始める"),
    (
        "In a cycle, each stage has `fix_loop_limit` rounds (2), which leaves room for the stages after it. Outside of a cycle the limit is 3.",
        "サイクルの中では、あとのステージに余裕を残すため、各ステージの上限は `fix_loop_limit`（2）回です。サイクルの外では3回です。",
    ),
    ("Exit codes: 0 counted, 1 the limit is reached.", "終了コード: 0 数えました、1 上限に達しました。"),
    ("Start a new loop, outside of a cycle", "サイクルの外で、新しく数え始めます"),
    // workflow
    (
        "Run a workflow in phases, with checkpoints between them",
        "チェックポイントを挟みながら、ワークフローをフェーズごとに進めます",
    ),
    ("Show the state of this session's workflow", "このセッションのワークフローの状態を表示します"),
    ("Check a checkpoint and print its report", "チェックポイントを調べ、報告を表示します"),
    ("the checkpoint that blocks, else the next", "止めているチェックポイント、なければ次のもの"),
    (
        "Token counts are estimates. A fact that cannot be read does not fail a checkpoint; the report says so.",
        "トークン数は見積もりです。読めなかった事実は不合格にはせず、報告に書きます。",
    ),
    (
        "Looks only: `tidegate workflow pass` records a checkpoint and opens it.",
        "調べるだけです。記録して先に進むには `tidegate workflow pass` を実行してください。",
    ),
    (
        "Exit codes: 0 nothing is missing, 1 something is missing.",
        "終了コード: 0 そろっています、1 足りないものがあります。",
    ),
    ("Number of the checkpoint", "チェックポイントの番号です"),
    ("Check a checkpoint and record that it passed", "チェックポイントを調べ、合格したことを記録します"),
    (
        "Writes only `gates: {1: {status: passed, …}}` into the manifest.",
        "マニフェストには `gates: {1: {status: passed, …}}` だけを書き込みます。",
    ),
    ("Exit codes: 0 passed, 1 something is missing.", "終了コード: 0 合格、1 足りないものがあります。"),
    ("Skip a checkpoint, if a person agrees", "人の同意を得て、チェックポイントを飛ばします"),
    (
        "At a terminal it asks. Called by an agent it prints a code that only a person can approve, once and within ten minutes. The manifest records the skip and the reason.",
        "端末では尋ねます。エージェントから呼ばれたときは、人だけが10分以内に一度だけ承認できるコードを表示します。飛ばしたことと理由はマニフェストに残ります。",
    ),
    ("Refuse if another manifest is in use", "別のマニフェストを使っていたら中止します"),
    (
        "Detach this one, which no session uses; refuse if another is in use",
        "どのセッションも使っていないこのマニフェストを手放します。別のものを使っていたら中止します",
    ),
    (
        "Print the reports of all checkpoints, passed ones too",
        "合格したものも含め、すべてのチェックポイントの報告を表示します",
    ),
    (
        "Print what a checkpoint needs: the section to write, and the files",
        "チェックポイントに必要なもの（書く節とファイル）を表示します",
    ),
    ("Write the output, summary or status of a phase", "フェーズの成果、要約、状態を書き込みます"),
    (
        "Claude Code may refuse its own editing tools below `.claude`; this command writes there, and changes nothing else in the manifest. --output writes stdin to a file next to the manifest and adds the file to the phase's artifacts.",
        "Claude Code は `.claude` の中を自分の編集ツールで変えられないことがあります。このコマンドはそこに書き込み、マニフェストのほかの部分は変えません。--output は標準入力をマニフェストの隣のファイルに書き、フェーズの成果物に加えます。",
    ),
    ("Number or name of the phase", "フェーズの番号または名前です"),
    ("Summary for later phases, in at most 200 tokens", "あとのフェーズに渡す要約（200トークンまで）です"),
    ("File with its output; can be repeated", "成果の入ったファイルです。繰り返し指定できます"),
    ("Write stdin to this file next to the manifest", "標準入力を、マニフェストの隣のこのファイルに書きます"),
    ("Status of the phase", "フェーズの状態です"),
    ("Complete the phase before and start this one", "前のフェーズを完了にし、このフェーズを始めます"),
    (
        "Claude runs a workflow with `start`, `phase`, `note`, `check` and `pass`; its skills say how: `tidegate init --with workflow` installs them. You can look with `status`, and only you can `skip` a checkpoint.",
        "ワークフローは Claude が `start`、`phase`、`note`、`check`、`pass` で進めます。やり方はスキルにあり、`tidegate init --with workflow` で入ります。状態は `status` で見られます。チェックポイントを `skip` できるのは人だけです。",
    ),
    (
        "A phase behind a checkpoint starts once `tidegate workflow pass` has recorded that checkpoint; until then this command lists what is missing. The last phase ends the workflow: `tidegate workflow note 16 --status complete`.",
        "チェックポイントの先のフェーズは、`tidegate workflow pass` で記録すると始められます。それまでは足りないものを示します。最後のフェーズを完了にするとワークフローが終わります: `tidegate workflow note 16 --status complete`",
    ),
    (
        "Start a workflow in this session, with a new manifest",
        "新しいマニフェストで、このセッションのワークフローを始めます",
    ),
    ("the workflow [workflow.release] of your config", "自分の設定の [workflow.release] のワークフロー"),
    (
        "The manifest is `.claude/.output/features/ID/MANIFEST.yaml`.",
        "マニフェストは `.claude/.output/features/ID/MANIFEST.yaml` にできます。",
    ),
    ("Name of the feature and of its folder", "機能の名前で、フォルダの名前にもなります"),
    ("Name of the workflow", "ワークフローの名前です"),
    ("Use a manifest in this session", "このセッションでマニフェストを使います"),
    (
        "A manifest belongs to the last session that wrote or attached it.",
        "マニフェストは、最後に書き込んだか使い始めたセッションのものです。",
    ),
    ("Path of the manifest", "マニフェストのパスです"),
    (
        "Complete the workflow, with a person's yes if work is open",
        "ワークフローを完了にします。作業が残っていれば人の同意が必要です",
    ),
    ("the manifest of another workflow", "別のワークフローのマニフェスト"),
    (
        "The manifest says `status: complete` afterwards, and no session continues the workflow. With phases or checkpoints still open it asks first. Called by an agent it then prints a code that only a person can approve.",
        "マニフェストは `status: complete` になり、どのセッションもこのワークフローを続けません。フェーズやチェックポイントが残っていれば先に尋ねます。エージェントから呼ばれたときは、人だけが承認できるコードを表示します。",
    ),
    ("Finish this one", "完了にするマニフェストです"),
    ("Stop using this session's workflow", "このセッションのワークフローを使うのをやめます"),
    (
        "This needs a person's yes, like `skip`, while a checkpoint blocks agents; if an agent runs it, also before a checkpoint.",
        "チェックポイントがエージェントを止めている間は、`skip` と同じく人の同意が必要です。エージェントが実行する場合は、チェックポイントの前でも必要です。",
    ),
    // For programs.
    ("Answer one hook event", "フックのイベント1件に答えます"),
    (
        "Reads one payload from stdin. Answers on stdout, with exit code 0 or 2.",
        "標準入力から内容を1件読み、標準出力に答えます。終了コードは0か2です。",
    ),
    (
        "Some agents ignore the arguments of a hook. So `tidegate` without arguments is a hook, too, unless it runs at a terminal; it then always exits with 0.",
        "フックの引数を無視するエージェントがあります。そのため、端末以外で引数なしの `tidegate` もフックとして働き、終了コードは常に0です。",
    ),
    ("Event that this registration is for", "この登録の対象となるイベントです"),
    (
        "Stay silent if a check fails: this registration only advises",
        "確認に失敗しても何も言いません（助言だけの登録）",
    ),
    ("Draw the status line", "ステータスラインを表示します"),
    ("every part with samples", "すべての部分を見本つきで表示"),
    (
        "Show every part of the line with samples, and how to choose among them",
        "すべての部分を見本つきで表示し、選び方を示します",
    ),
    (
        "Reads the status-line payload from stdin and prints one line.",
        "標準入力からステータスラインの内容を読み、1行を出力します。",
    ),
    (
        "Run this status line first, and add ours after it",
        "このステータスラインを先に実行し、そのあとに Tidegate のものを加えます",
    ),
    ("Give the model access to the memory, over MCP", "MCP でモデルに記憶を使わせます"),
    (
        "Speaks the Model Context Protocol, one JSON message a line, until its input ends. `tidegate init` and the plugin register it.",
        "Model Context Protocol で、1行に1つの JSON メッセージを、入力が終わるまでやり取りします。`tidegate init` とプラグインが登録します。",
    ),
    (
        "Tools: get_startup_context, search, timeline, list_projects, list_topics, add_topic, set_topic, close_topic, get_logs, add_log, list_decisions, add_decision, supersede_decision, get_context_status, list_unpromoted. See docs/mcp.md.",
        "ツール: get_startup_context、search、timeline、list_projects、list_topics、add_topic、set_topic、close_topic、get_logs、add_log、list_decisions、add_decision、supersede_decision、get_context_status、list_unpromoted。詳しくは docs/mcp.md にあります。",
    ),
    ("Store what hooks have queued for the memory", "フックが残したものを記憶に保存します"),
    ("store everything now", "今すぐすべて保存する"),
    (
        "Hooks start a worker by themselves. It ends when the queue is empty.",
        "ワーカーはフックが自動で起動し、保存待ちがなくなると終わります。",
    ),
    (
        "Exit codes: 0 the queue is empty, 1 something is left in it.",
        "終了コード: 0 保存待ちなし、1 残りあり。",
    ),
    (
        "Work in the foreground: wait for a running worker, then empty the queue",
        "前面で動き、実行中のワーカーを待ってから、保存待ちをすべて保存します",
    ),
    ("Print one reading of the context meter", "コンテキストの使用量を1回測って出力します"),
    (
        "Exit codes: 0 a reading, 3 the context use is not known.",
        "終了コード: 0 測定できました、3 使用量がわかりません。",
    ),
    ("Read this transcript", "この会話の記録ファイルを読みます"),
    ("Read this session", "このセッションを読みます"),
    ("Tell which kind of work a prompt asks for", "プロンプトが求める作業の種類を判定します"),
    (
        "Read prompts as JSON lines and print the kind of work that each asks for",
        "JSON Lines のプロンプトを読み、それぞれの作業の種類を出力します",
    ),
    (
        "Prints one line of JSON for each line of input: the kind of work, and how sure the classifier is, from 0 to 1. Kinds: research, brainstorm, spec, design, plan, implement, debug, review, ship, reflect, other. A line that is not an object with a prompt is reported on stderr, with its number.",
        "入力1行ごとに JSON を1行出力します。内容は作業の種類と、0から1までの確からしさです。種類: research、brainstorm、spec、design、plan、implement、debug、review、ship、reflect、other。プロンプトのない行は、行番号とともに標準エラーに報告します。",
    ),
    (
        "Exit codes: 0 all lines were read, 1 some were not.",
        "終了コード: 0 すべての行を読みました、1 読めない行がありました。",
    ),
    ("Add the time that each prompt took, in microseconds", "それぞれの所要時間をマイクロ秒で加えます"),
    ("Print a completion script for a shell", "シェルの補完スクリプトを出力します"),
    ("Shell to complete commands in", "補完を使うシェルです"),
    (
        "Print the manual page, or write one per command",
        "マニュアルページを出力するか、コマンドごとに書き出します",
    ),
    ("Write one page per command into this folder", "コマンドごとのページをこのフォルダに書き出します"),
    ("Show the help of a command", "コマンドのヘルプを表示します"),
    ("commands for people", "人が使うコマンド"),
    ("all commands", "すべてのコマンド"),
    ("one command", "1つのコマンド"),
    ("Show the commands that programs call, too", "プログラムが呼び出すコマンドも表示します"),
    ("Command to explain", "説明するコマンドです"),
];
