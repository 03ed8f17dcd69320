//! Japanese sentences that forbid, require or limit something: mostly by the end of a clause.

use super::sentences::quotation_end;
use crate::text::word_list::{Words, each_word, end_among, holds_one};

/// Without code, quotations and the final punctuation.
pub(super) fn normalise(sentence: &str, to: &mut String) {
    to.clear();
    let mut at = 0;
    while let Some(c) = sentence[at..].chars().next() {
        let end = quotation_end(sentence, at);
        at += c.len_utf8();
        match c {
            '笑' | 'ｗ' | '🙏' | '♪' | '〜' | '～'
                if sentence[at..].trim().chars().all(|c| !c.is_alphanumeric()) => {}
            _ if end.is_some() || matches!(c, '"' | '`') => {
                to.push('…');
                at = end.unwrap_or(at);
            }
            ' ' | '\u{3000}' | '\n' | '\t' => {}
            '，' | ',' => to.push('、'),
            _ => to.push(c),
        }
    }
    let end = to.trim_end_matches(['。', '．', '.', '！', '!', '…']).len();
    to.truncate(end);
}

pub(super) fn is_constraint(text: &str) -> bool {
    let is_question =
        text.ends_with(['？', '?']) || ends_with_any(text, "ますか ですか ょうか ませんか かな");
    let text = text.trim_end_matches(['？', '?']);
    if is_question && !asks_not_to(text) {
        return false;
    }
    // Most sentences end here: the ends of clauses are quicker to compare than words anywhere.
    has_form(without_reason(text)) && !is_other_speech(text) && !lifts(text)
}

/// 「…を維持してください、カクつくので」 ends with its order.
fn without_reason(text: &str) -> &str {
    let mut rest = text;
    loop {
        let remark = rest.strip_suffix(['）', ')']).and_then(|rest| rest.rsplit_once(['（', '(']));
        let reason = || {
            rest.rsplit_once('、').filter(|(_, last)| ends_with_any(last, "ので から ため んで だし ですし"))
        };
        match remark.or_else(reason) {
            Some((before, _)) if !before.is_empty() => rest = before.trim_end_matches('。'),
            _ => return rest,
        }
    }
}

/// 「触るな」, 「勝手にすんな」
fn is_curt_order(text: &str) -> bool {
    ends_with_any(
        text.trim_end_matches('よ'),
        "すんな 触るな 触んな いじるな いじんな 変えるな 変えんな 消すな 使うな 書くな 書き換えるな 入れるな 出すな 増やすな 壊すな 足すな \
         上げるな 作るな 加えるな 変更するな 追加するな 削除するな コミットするな プッシュするな pushするな commitするな マージするな 勝手にするな",
    )
}

/// What the product does, or the people who use it: 「二重に登録されないこと」, 「会員は…してはなりません」.
fn is_of_product(clause: &str) -> bool {
    const PEOPLE: Words =
        "ユーザーは ユーザーが 利用者は 利用者が 会員は 会員が ゲストは 顧客は お客様は 管理者は 未ログイン";
    const DOES: Words = "されないこと られないこと されないように されてはいけない されてはならない できないこと できないように 選択不可 入力不可 送信不可 \
        予約不可 登録不可 閲覧不可 クリック不可 削除不可 表示しないこと 表示しないように 区別しないこと 閉じないで 閉じないように 遷移しないで スクロールしないで \
        リロードしないで 点滅しないで 表示しないで 折り返さないで 消えないで 動かないで 止まらないで 二重に登録しないで 二重送信しないで";
    // 「枠線なしで」, 「右クリック禁止」
    const OF_SCREEN: Words = "枠 影 余白 罫線 背景 アニメーション ボーダー 装飾 クリック 画面 ボタン ログイン カート 注文 在庫 退会 フォーム パスワード \
        ユーザー名 メールアドレス 端末 帳票 一覧 検索結果 コピペ 再登録";
    const NOUNS: Words =
        "禁止 禁止にして 不可 不可で 不可にして 必須 必須で 必須にして なし なしで 無しで のみ のみで";
    contains_any(clause, PEOPLE)
        || contains_any(clause, OF_SCREEN) && ends_with_any(clause, NOUNS)
        || ends_with_any(clause, DOES)
        || clause.contains('が')
            && ends_with_any(clause, "になってはいけない になってはならない になってはだめ")
        || contains_any(clause, "問題は 原因は 困るのは 気になるのは 謎なのは 症状は 現象は")
}

fn has_form(text: &str) -> bool {
    let core = without_courtesy(text);
    let orders = is_order(core, text);
    // 「答えは言わないでヒントだけちょうだい」
    let without = |clause: &str| {
        clause.split_once("ないで").is_some_and(|(stem, rest)| !rest.is_empty() && ends_with_any(stem, DEEDS))
    };
    if is_curt_order(text)
        || core.split('、').any(without) && (orders || ends_with_any(core, "ちょうだい だけ て"))
    {
        return true;
    }
    let clauses = core.split(['、', '（', '）', '(', ')', '：', ':']).filter(|clause| !clause.is_empty());
    for clause in clauses.filter(|clause| !is_of_product(clause)) {
        let is_last = core.ends_with(clause);
        if forbids(without_courtesy(clause), is_last)
            || (is_last && requires(clause, core))
            || limits(clause, is_last, core)
            || orders_always(clause) && ends_with_any(clause, "ください 下さい こと")
        {
            return true;
        }
    }
    orders
        && (core.split('、').any(orders_always)
            || contains_any(
                core,
                "変えずに 増やさずに 触らずに 使わずに 足さずに 追加せずに 変更せずに 壊さずに いじらずに 崩さずに 触れずに \
                 付けずに 手をつけずに 手を入れずに 加えずに 書かずに 消さずに 分けずに",
            ))
        || contains_any(core, "規約 規則 命名 スタイルガイド")
            && ends_with_any(core, "に合わせて に沿って に準拠して に則って")
        || orders
            && core.contains("ではなく")
            && (contains_any(core, "使 作業 書 でやって") || core.ends_with('で'))
        || orders && core.contains("代わりに") && contains_any(core, "使うこと 使って")
        || core.ends_with("優先して")
        || orders
            && contains_any(core, "ごとに ずつ")
            && ends_with_any(core, "コミットして コミット分けて を分けて")
        || orders && contains_any(core, "禁止なので 厳禁なので 不可なので NGなので")
        || asks_first(core)
}

/// 「必ずテストを付けて」, not 「必ず落ちるので直して」.
fn orders_always(clause: &str) -> bool {
    // 「常に最新を表示するようにして」
    const ALWAYS_DONE: Words = "書 使 付 テスト コミット 確認 実行 答 返 守 従 語で 報告 型 残 通 含 考慮 意識 維持 保 説明 更新 作 PR 取 入れ 行 扱";
    const ALWAYS: Words = "必ず 常に 今後は これからは 以降は 毎回 以降ずっと 以後、 今後も";
    let after = |word: &str| clause.split_once(word).map(|(_, after)| after);
    let shows = |after: &&str| clause.contains("常に") && !contains_any(after, ALWAYS_DONE);
    each_word(ALWAYS).filter_map(after).filter(|after| !shows(after)).any(|after| {
        !contains_any(after, "ので から のを のが のに んです ため バグ 現象 不具合 エラーにな エラーが ボタン APIにし 画面にし 仕様にし 機能にし")
    })
}

pub(super) fn contains_any(text: &str, wanted: Words) -> bool {
    holds_one(wanted, text)
}

pub(super) fn ends_with_any(text: &str, wanted: Words) -> bool {
    end_among(wanted, text).is_some()
}

/// 「触らないでもらえますか」
fn asks_not_to(text: &str) -> bool {
    contains_any(text, "ないでもらえ ないでいただけ ないでくれ ないで頂け ないでもらって ないでいただいて")
}

/// The person reports what another person, a text or a program says, or guesses.
pub(super) fn is_other_speech(text: &str) -> bool {
    const SAID: Words = "と言う と言って と言われ と書いて と書かれて とのこと とあります とあるけど とある と出ます と出る \
        そうです 違いない はずだ はずなの はずです かもしれ らしい と表示 と怒られ とコメント と聞きました に言われ によると 仕様では 法律では \
        GDPRでは というコメント という注意 という警告 という文 というエラー というメッセージ というテスト という表示 って言 って怒 って書 って出 という内容 という趣旨 って感じ みたいな文 という旨 との旨 と必ず入れ と入れて と明記 と記載 と載せ 規約では ルールでは 規定では 仕様書では と指摘され と注意され んだって らしいんだ だそう とされてい と言った は言った が言った と言っていた";
    // 「私が…と言うまで」 is the person's own.
    let text = &text.replace("と言うまで", "");
    contains_any(text, SAID)
        || text.ends_with("みたいな")
        || text.ends_with("はず")
        || text.contains("思い") && !text.contains("絶対")
}

/// Whether the sentence takes something back or allows it.
fn lifts(text: &str) -> bool {
    const ALLOWED: Words = "制限なし 制約なし 制限はなし 制約はなし 制限はもうなし 制約はもうなし 制限は全部なし 制約は全部なし ルールは全部なし 制限、なし ていい てよい て良い てもいい ても良い てもよい て大丈夫 ても大丈夫 て構 ても構 てもかま て問題な \
        ても問題 て問題あり 解禁 忘れてください 忘れて 無視して なくていい なくてよい なくてもいい なくても構 \
        なくて大丈夫 撤回 必要はな 必要はありません";
    if contains_any(text, "ないでもらって ないでいただいて") {
        return false;
    }
    // 「編集してよいが、対象は変更不可」 limits in its second half.
    // 「編集していいのは A だけ」 limits.
    if contains_any(text, "いいのは よいのは 良いのは") && contains_any(text, "だけ のみ") {
        return false;
    }
    let tail = text.rsplit_once("が、").or_else(|| text.rsplit_once("けど、")).map_or(text, |(_, tail)| tail);
    contains_any(tail, ALLOWED)
        || contains_any(tail, "適用しなくて 気にしなくて なくなりました 十分です 取り消 解除し 件はなし")
}

/// 「ください」 and its like at the end.
pub(super) fn without_courtesy(text: &str) -> &str {
    const ENDS: Words = "もらっていいですか もらってもいいですか もらっていい いただいてもいいですか くださいね ください 下さい お願いいたします お願いします お願いね お願い してほしいです ほしいです \
        ほしい 欲しいです 欲しい もらえますか もらえませんか いただけますか いただけませんか くれますか \
        くれませんか くれる いただけると助かります もらえると助かります いただけると嬉しい もらえると嬉しい \
        もらえる です だよ だ ね よ な";
    let mut rest = text;
    loop {
        let cut = end_among(ENDS, rest).map(|end| &rest[..rest.len() - end.len()]);
        match cut.filter(|cut| !cut.is_empty()) {
            // 「必要な」, 「みたいな」: a part of a word.
            Some(cut)
                if !rest.ends_with('な')
                    || cut.ends_with(['る', 'う', 'す', 'く', 'つ', 'む', 'ぐ', 'ぶ']) =>
            {
                rest = cut;
            }
            _ => return rest,
        }
    }
}

/// Whether the sentence tells to do something.
fn is_order(core: &str, text: &str) -> bool {
    core.len() < text.len() && !text.ends_with("です")
        || core.ends_with(['て', 'で', 'に'])
        || core.ends_with("こと")
        || ends_with_any(text, "します する なさい")
}

/// Whether the sentence orders a text that has rules of its own: 「運用ルールを書いて」. What follows without an order is in that text.
pub(super) fn orders_rules(text: &str) -> bool {
    const TEXTS: Words = "規約 ルール ガイドライン ポリシー 手順書 マニュアル 注意事項 注意書き 貼り紙 掲示 文面 告知 お知らせ 案内 要項 README CONTRIBUTING";
    const WRITES: Words =
        "書いて 書き起こ 作って 作成 考えて 足して 追記 載せる まとめて 起こして 用意 ドラフト 下書き";
    contains_any(text, TEXTS) && contains_any(text, WRITES) && is_order(without_courtesy(text), text)
}

/// Whether a sentence after such an order is a part of the text, and no order of its own.
pub(super) fn is_of_text(text: &str) -> bool {
    let core = without_courtesy(text);
    core.len() == text.len() && !core.ends_with(['て', 'で', 'に', 'な']) || text.ends_with("です")
}

/// What Claude does, in the form before a denial.
const DEEDS: Words = "変え 触ら 使わ 消さ 壊さ 崩さ 増やさ 追加し 変更し 編集し 修正し 削除し コミットし プッシュし pushし マージし 入れ 出さ 書か 作ら \
        実行し アクセスし 呼ば 送ら 接続し 叩か 渡さ 載せ 貼ら 流さ 流用し 参照し 改変し 影響出さ 上書きし 依存し 含め 直さ 動かさ いじら 加え 移動し 使用し 利用し 導入し 公開し 超え 残さ 書き換え 広げ 混ぜ 言わ 見せ 教え 下回ら 繋が デプロイし リリースし 訳さ 切り替え";

fn forbids(clause: &str, is_last: bool) -> bool {
    // Statements in the form of a rule. 「動きません」 describes a fault.
    const RULES: Words = "許容しない 使いません 採用しません 超えられません 上げられません 使えません 変えられません 変更できません \
        認めません 認められません 許可しません 追加できません 触らない 変えない 使わない 置かない 入れない \
        残さない 含めない 壊さない 変更しない 追加しない コミットしない マージしない リトライしない 編集しない \
        出さない 超えない 再生成しない 削除しない 移動しない 上書きしない 導入しない 使用しない 利用しない 修正しない \
        実装しない デプロイしない プッシュしない pushしない commitしない 公開しない";
    const ENDS: Words = "ないこと ぬこと ないように ないよう ないようにして ないようにすること てはいけない てはいけません \
        ではいけません ではいけない てはならない てはなりません ではならない ではなりません てはだめ てはダメ \
        ちゃだめ ちゃダメ 厳禁 対象外 対象外で 読み取り専用 読み取り専用で NG 許されません 許されない しない方針 しない約束 \
        ない約束 ない方針 ない方針で しない方針で ないルール ないルールで ない方向で ない前提で ない形で のはダメ のはだめ のは駄目 のはなし のはナシ のは無し のは勘弁 \
        のは勘弁して んといて ないどいて んといてな んといてや んといてね たらあかん たらあかんで たらダメ たらだめ たら駄目 たらいけない たらいけません のはあかん \
        絶対ダメ 絶対だめ ノータッチ ノータッチで ご遠慮 お控え ご遠慮願います お控え願います は却下 却下で のは無し のは無しや のは無しやで のはなしで のは無しで だけは無しで NGで 厳禁で \
        は保留で は保留 は保留にして は見送って は待って まで待って さん方向で ん方針で ん方向で";
    if let Some(stem) = clause.strip_suffix("ないで").or_else(|| clause.strip_suffix("ないでおいて"))
    {
        // 「つないで」 denies nothing.
        let is_denied = !stem.ends_with(['う', 'く', 'す', 'つ', 'ぬ', 'む', 'る', 'ぐ', 'ぶ']);
        return (is_denied || ends_with_any(stem, "繋が つなが"))
            && !ends_with_any(stem, "心配し 気にし すぎ 過ぎ 忘れ 遠慮し 無理し 焦ら じゃ では が は も い")
            || ends_with_any(stem, "使わ 繋が つなが");
    }
    if let Some((stem, _)) = clause.rsplit_once("ないよう") {
        // 「クラッシュしないように」 is the task: nobody does that on purpose.
        return ends_with_any(clause, ENDS) && ends_with_any(stem, DEEDS);
    }
    if ends_with_any(clause, ENDS) {
        return !clause.ends_with("忘れないこと");
    }
    if ends_with_any(clause, "禁止 禁止で 不可 不可で 禁止と言いました 禁止にして 不可とする")
    {
        return true;
    }
    if ends_with_any(clause, "やめて 避けて 控えて やめること 避けること 避けるように")
    {
        return clause.chars().count() > 5;
    }
    if ends_with_any(clause, "なしで なし 無しで") {
        return is_last
            && !ends_with_any(
                clause,
                "効果なし 反応なし 変化なし 影響なし 応答なし 返事なし 該当なし 進展なし 意味なし 出力なし 表示なし 差分なし 更新なし 連絡なし 違いなし 問題なし 異常なし エラーなし 変更なし 指摘なし 指定なし 特になし 件はなしで 件はなし 話はなしで",
            );
    }
    if clause.ends_with("たくない") {
        return contains_any(clause, "これ以上 増や 入れ 使い 追加 変え 壊し");
    }
    if is_last && ends_with_any(clause, RULES) {
        return !contains_any(clause, "以外使 まだ使 なぜ なんで 今は");
    }
    // 「UIには手を付けず、…」, 「サイズは変えずに」
    (!is_last || clause.ends_with("ずに"))
        && ends_with_any(
            clause,
            "付けず 手をつけず 手を入れず 手を入れずに 加えず 加えずに 書かずに やらず 使わず 変えず 触らず 変えずに 触らずに 使わずに 作らず 作らずに 増やさず 増やさずに 壊さず 書かず 追加せず 変更せず 触れず 触れずに 崩さず 崩さずに 壊さずに 消さず 消さずに 足さず 足さずに 落とさず 落とさずに",
        )
}

fn requires(clause: &str, core: &str) -> bool {
    // What the product does: 「一覧に戻ること」.
    const RUNS: Words = "れる 返す 遷移する 同期する 表示する 通知する 反映する 計算する ソートする 並ぶ 戻る 開く 閉じる 変わる 流す 出る 出す 送る 送信する \
        受け付ける 完了する 終わる 始まる 満たす 起動する";
    if let Some(stem) = clause.strip_suffix("こと") {
        return !ends_with_any(stem, RUNS)
            && stem.ends_with(['る', 'う', 'く', 'す', 'つ', 'ぶ', 'む', 'ぐ', 'ぬ'])
            && !ends_with_any(
                stem,
                "という てる ている できる ある 思う 考える やる 困る 分かる わかる 気になる いう",
            );
    }
    if ends_with_any(
        clause,
        "なければならない なければなりません なくてはならない なくてはなりません ねばならない なければいけません なければいけない",
    ) {
        return !contains_any(core, "今 現在 私は そろそろ 毎回手で できなければ");
    }
    if ends_with_any(clause, "必要がある 必要があります") {
        return contains_any(clause, "動く 動作 通る 保つ 残す 対応 維持 互換 満たす 守る 使う 従う");
    }
    if clause.ends_with("必須")
        && contains_any(clause, "メールは アドレスは 名前は 氏名は 電話は 住所は 番号は 項目 入力 欄")
    {
        return false;
    }
    ends_with_any(
        clause,
        "てからにして でからにして てからで は維持で を維持で は死守 は死守で 縛りで 厳守 一択で 必須 必須条件 が条件 ないと困ります ないと困る に限る に限ります に限定して を維持して を保って を守って に従って に保って が大前提 大前提 を大前提に 厳守で 厳守 は維持して は保って \
         は守って 現状維持 現状維持で 使い続けて にとどめて に留めて にとどめること \
         が前提 を前提に 凍結 凍結中 が上限 が限度 最小限で 最小限に 読み取り専用として扱って",
    ) || clause.contains('は')
        && ends_with_any(
            clause,
            "で統一して 日本語で 英語で 日本語で書いて 英語で書いて 日本語で答えて 英語で答えて",
        )
}

fn limits(clause: &str, is_last: bool, core: &str) -> bool {
    if contains_any(clause, "を超えないように を下回らないように")
        || contains_any(clause, "1コミット1 1PR1 1ファイル1 1関数1 1クラス1")
    {
        return true;
    }
    if ends_with_any(
        clause,
        "のみ のみで のみにして のみとして だけにして だけに だけで書いて だけで実装して だけで作って だけを使って 以外は触らないで だけを変更して だけで作業して",
    ) {
        return !contains_any(
            clause,
            "入力 半角 全角 英数 表示 選択 管理者 ユーザー 会員 権限 閲覧 失敗 落ち 起き 再現 発生 症状 残り 表示され 出ます 出る",
        );
    }
    if is_last && clause.ends_with("だけで") {
        return !ends_with_any(clause, "これだけで それだけで あれだけで");
    }
    if clause.ends_with("だけ") && is_last {
        return contains_any(clause, "ではなく なのは いいのは するのは")
            || clause.contains('は') && clause.contains("回だけ");
    }
    if clause.ends_with("は最小限で") {
        return true;
    }
    let has_digit = clause.bytes().any(|byte| byte.is_ascii_digit())
        || clause.chars().any(|c| matches!(c, '０'..='９' | '一' | '二' | '三' | '十' | '百'));
    if has_digit
        && !clause.ends_with("ままで")
        && ends_with_any(
            clause,
            "までに抑えて までに収めて までにとどめて 以内 以内で 以内に 以内に収めて 以内にして 以下 以下で 以下に 以下に抑えて 以下にして 未満 未満で 未満に 未満にして まで までにして まで に制限して を超えない",
        )
    {
        // 「アップロードは10MBまで」 is what the product does: only what Claude makes, spends or says has limits of the person.
        const OF_WORK: Words = "変更 修正 差分 回答 返答 説明 行 PR コミット ファイル 関数 依存 コード バンドル バイナリ メモリ イメージ 占有 アクセス リクエスト 叩 クエリ \
            ネスト 名前 ランナー 並列 JS 条件 制約 全体 実装 クラス メソッド 触 応答は 試す フレーム 割り込み";
        const OF_PRODUCT: Words = "上限 入力 画像 アップロード キャッシュ 表示 文字数 同時接続 件数 タイムアウト リミット レート バリデーション 有効期限 予約 投稿 添付 \
            保存期間 レスポンス パスワード 見出し セッション 一覧 ページ 帳票 端末 検索";
        let is_bare = clause == core && clause.chars().count() <= 8;
        if !is_bare && !contains_any(core, OF_WORK)
            || contains_any(clause, OF_PRODUCT)
                && !contains_any(clause, "PR コミット ファイル 関数 コード JS")
        {
            return false;
        }
        if ends_with_any(clause, "時まで 時までに 日まで 月まで 行目まで 章まで") {
            return false;
        }
        let till = clause.ends_with("まで");
        return !till && (is_last || clause.contains('は'))
            || till && contains_any(core, "制約 条件 ルール") && is_last
            || till && (clause.contains('は') || is_last && (clause.contains("なので") || clause == core))
            || clause.ends_with("までにして") && is_last;
    }
    if ends_with_any(
        clause,
        "のまま のままで のままにして のままにしておいて そのままにして そのままにしておいて そのままで そのまま残して 残しておいて",
    ) {
        // 「ボタンが無効のままで」
        let describes = clause.contains('が') && !clause.contains("そのまま");
        return !describes && !ends_with_any(clause, "空のまま 空のままで");
    }
    false
}

/// 「前に聞いて」, 「迷ったら聞いて」, 「承認を取って」
fn asks_first(core: &str) -> bool {
    const BEFORE: Words = "る前に う前に す前に コミット前に マージ前に プッシュ前に push前に commit前に デプロイ前に 実行前に 削除前に 変更前に";
    let asks = ends_with_any(
        core,
        "聞いて 相談して 確認して 確認を取って 承認を取って 許可を取って 声をかけて 声かけて 止まって 止めて",
    );
    let tells = ends_with_any(core, "教えて 知らせて 見せて 報告して 連絡して 一声 一言")
        && contains_any(core, BEFORE);
    tells || asks && contains_any(core, "前に 迷ったら 前は ときは 場合は 事前に") && !core.contains("なぜ")
}
