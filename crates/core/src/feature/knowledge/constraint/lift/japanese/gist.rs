//! What a Japanese constraint is about, and which acts take it back.

use super::text::{GENERAL, all_runs, clauses, mentions, names, plain, runs};
use super::{Part, without_reason};
use crate::feature::knowledge::constraint::japanese::contains_any;
use crate::feature::knowledge::constraint::lift::{ConstraintKind, is_about, is_sibling};
use crate::text::japanese::is_hiragana;
use crate::text::word_list::{Words, among, each_word};

const CHOOSES: Words = "でいい でいきま でいこう で行きま で行こう にしよ にしま にして に戻して に戻しま に切り替えて でお願い で大丈夫 でもいい でも大丈夫 でok で構";

/// At the end of a clause, or before its courtesy.
const USES: Words = "使って を使って 入れて を入れて 使おう を使おう 使いましょう 使ってください 使っていい を使っていい 使ってもいい 使ってok 使ってよ 使ってね 使ってお 使っちゃ 使って大丈夫 使って構 使う方向 使うことに を使うことに";

const LIBRARIES: Words = "ライブラリ 依存 パッケージ gem モジュール プラグイン 依存関係";

const ADDS: Words = "追加 足 増 導入 入 インストール";

/// They are named by what they belong to.
const GENERAL_NOUNS: Words = "コマンド バージョン ファイル コード ブランチ 内容 中身 部分 側 系";

/// 「依存追加」 is a noun and its verb.
const DEEDS: [&str; 10] = ["追加", "変更", "削除", "修正", "実行", "作成", "使用", "導入", "更新", "編集"];

/// What must not be touched must not be changed in any way.
const TOUCHES: Words = "変 変更 修正 編集 触 直 改修 書換 換 手 加 改変 対象外 固定 崩 壊 影響 維持 上書";

/// Words that change nothing.
const READS: Words = "見 読 確認 実行 使 使用 利用 呼 調 調査 教 説明 テスト 参照 参考 比較 レビュー 一覧 表示 数 検索 探 渡 コミット push 出 出力 記録 保存 送 報告 \
    知 理解 解析 計測 追加 足 書 残 待 聞 通 動 起動 回 走 合 伝 願 作 描 答 考 取 取得 待機 返 進 続 始 止 終 移 終了 使 有効 無効";

const CHANGES: Words = "変 変更 修正 編集 触 直 改修 書換 換 替 更新 揃 消 削除 整理 リネーム 統一 追記 リファクタ 改名 改善 反映 加 手";

/// The first of each class are the forbidden verbs, all are the ordered ones.
const SAME: [Words; 15] = [
    "追加 足 増 導入 入 インストール 使 付 書 設定",
    "使 使用 利用 入 導入 採用",
    "消 削除 捨",
    "作 作成 切 立 生成 新規作成 追加 出",
    "実行 回 走 流 打 叩",
    "出 作 作成 立 上 オープン",
    "実装 書 コーディング 着手",
    "書 追加 付 入",
    "上 アップデート アップグレード",
    "コミット commit",
    "プッシュ push",
    "マージ merge",
    "デプロイ deploy リリース",
    "送 送信 投稿",
    "切 作 作成 立",
];

/// Verbs that say little.
const LIGHT: Words = "始 進 開始 再開 願";

const LANGUAGES: Words = "日本語 英語 フランス語 ドイツ語 中国語 韓国語 スペイン語";

/// It changes what it belongs to: 「テストの中身を直して」.
const PARTS: Words = "の中身 の内容 のほう の方 のファイル のコード の部分 のやつ のとこ";

fn mentions_meaning(text: &str, run: &str) -> bool {
    let same = SAME.iter().find(|same| same.split(' ').next() == Some(run));
    mentions(text, run) || same.is_some_and(|same| each_word(same).any(|word| text.contains(word)))
}

const DENIES: Words = "ない 禁止 不可 やめて 避けて 控え ません ng 厳禁 だめ ダメ 駄目 ちゃだめ ず、 ずに なしで 無し なし 省いて 飛ばして スキップして んといて ないで待 待って 保留 却下 勘弁 対象外 固定 んな";
const AREAS: Words = "frontend backend server client web mobile ios android api ui css html js フロントエンド バックエンド フロント バック サーバー クライアント";
const UNITS: Words = "行 文字 ファイル 個 件 回 字";
pub(in super::super) struct Gist {
    kind: ConstraintKind,
    text: String,
    /// What it is about.
    nouns: Vec<String>,
    verb: Option<String>,
    for_now: bool,
    /// 「npm ではなく pnpm を使うこと」: npm.
    rejected: Option<String>,
}

impl Gist {
    pub(in super::super) fn of(constraint: &str) -> Gist {
        let text = plain(constraint);
        let rejected = text.split_once("ではなく").map(|(before, _)| before);
        let rejected = rejected.and_then(|before| runs(before).pop());
        let for_now = contains_any(&text, "まだ まで 当面 待って 保留 いったん 一旦 ひとまず とりあえず");
        let is_limit = contains_any(&text, "以内 以下 未満 だけ のみ 以外")
            || text.contains("までで")
            || text.ends_with("まで") && text.bytes().any(|byte| byte.is_ascii_digit());
        let before_more = |clause: String| {
            let end =
                ["ないで", "ずに"].iter().find_map(|end| Some(clause.find(end)? + end.len())).filter(|end| {
                    !clause[*end..].is_empty()
                        && ![
                            "くだ", "下さ", "ね", "よ", "ほし", "欲し", "もら", "いた", "おい", "くれ",
                            "お願",
                        ]
                        .iter()
                        .any(|end_of| clause[*end..].starts_with(end_of))
                });
            end.map_or(clause.clone(), |end| clause[..end].to_owned())
        };
        let denying = clauses(&text)
            .into_iter()
            .rfind(|clause| contains_any(clause, DENIES) || clause.ends_with('ず'))
            .map(before_more);
        // 「俺が管理してるんで…は変えないで」
        let after_reason = |clause: String| {
            let at =
                ["んで", "ので", "から"].iter().filter_map(|end| Some(clause.rfind(end)? + end.len())).max();
            at.filter(|at| runs(&clause[*at..]).len() > 1)
                .map_or(clause.clone(), |at| clause[at..].to_owned())
        };
        let denying = denying.map(after_reason);
        // 「コードは書かないで、設計だけ」 forbids.
        let is_limit = is_limit
            && denying.as_ref().is_none_or(|clause| {
                contains_any(clause, "以内 以下 未満 だけ のみ 以外 他") || runs(clause).is_empty()
            });
        let kind = match () {
            () if is_limit => ConstraintKind::Limits,
            () if (denying.is_some() || text.ends_with('な')) && rejected.is_none() => {
                ConstraintKind::Forbids
            }
            () => ConstraintKind::Requires,
        };
        // 「リリースは来週まで待って」
        let topic = |clause: &str| match clause.split_once("まで") {
            Some((_, after)) if runs(after).is_empty() => {
                clause.split_once('は').map(|(topic, _)| topic.to_owned())
            }
            _ => None,
        };
        let denying = denying.map(|clause| topic(&clause).unwrap_or(clause));
        let after = |clause: String| {
            clause
                .split_once("まで")
                .or_else(|| clause.split_once("前に"))
                .map(|(_, after)| after.to_owned())
                .unwrap_or(clause)
        };
        let own = denying.map(after).map(|clause| runs(&clause)).unwrap_or_default();
        // A clause without an object points at another one.
        let is_bare = own.iter().all(|run| run.chars().nth(1).is_none() && !run.is_ascii());
        let mut nouns = if own.len() < 2 && is_bare && !for_now { runs(&text) } else { own };
        let denied = each_word("しない せんと せず され を避 を控 禁止").any(|end| text.contains(end));
        // 「ブランチ切るのは控えて」, but 「any禁止」.
        // 「any禁止」 forbids to have it, 「push禁止」 to do it.
        let is_deed = |run: &String| {
            DEEDS.iter().any(|deed| run.ends_with(deed))
                || among(
                    "push commit merge deploy rebase コミット プッシュ マージ デプロイ リリース リファクタリング リネーム インストール ダウンロード",
                    run,
                )
        };
        let denied = denied && (!text.contains("禁止") || nouns.iter().all(is_deed));
        // 「追加パッケージなし」
        let is_named = ["なし", "無し", "なしで", "無しで"].iter().any(|end| text.ends_with(end))
            && !nouns.last().is_some_and(is_deed);
        if is_named {
            nouns.retain(|run| run != "追加" && run != "余計");
        }
        let is_named = is_named && nouns.len() < 2;
        if kind == ConstraintKind::Forbids && nouns.len() > 1 {
            nouns.retain(|run| !run.bytes().all(|byte| byte.is_ascii_digit()));
        }
        let has_verb = !is_named && nouns.len() > 1 || denied && kind == ConstraintKind::Forbids || for_now;
        let mut verb = if has_verb { nouns.pop() } else { None };
        if let Some(last) = verb.clone().or_else(|| nouns.last().cloned())
            && let Some((noun, deed)) = DEEDS.iter().find_map(|deed| Some((last.strip_suffix(deed)?, deed)))
            && !noun.is_empty()
        {
            if verb.is_none() {
                nouns.pop();
            }
            if !among(GENERAL, noun) {
                nouns.push(noun.to_owned());
            }
            verb = Some((*deed).to_owned());
        }
        Gist { kind, text, nouns, verb, for_now, rejected }
    }

    fn words(&self) -> impl Iterator<Item = &String> {
        self.nouns.iter().chain(&self.verb)
    }

    pub(super) fn is_covered_by(&self, part: &Part) -> bool {
        let length = self.words().count();
        match part {
            Part::All => true,
            Part::TakesBack { runs, .. } if runs.len() == 1 && runs[0] == "凍結" => {
                self.text.contains("凍結")
            }
            Part::TakesBack { runs, names_rule: true } if runs.len() == 1 && runs[0] == "行数" => {
                self.text.contains('行') && self.text.bytes().any(|byte| byte.is_ascii_digit())
            }
            Part::TakesBack { runs, names_rule } => {
                // 「依存追加」 names both 「依存」 and 「追加」.
                let is_named = |own: &&String| runs.iter().any(|run| names(run, own));
                let is_known = |run: &&String| self.words().any(|own| names(run, own) || names(own, run));
                let (named, known) =
                    (self.words().filter(is_named).count(), runs.iter().filter(is_known).count());
                is_about(known, runs.len(), 0, *names_rule)
                    && (is_about(named.max(1), named.max(1), length, *names_rule)
                        || *names_rule && length < 8 && runs.iter().all(|run| run.is_ascii()))
            }
            Part::Releases(text) => self.is_released_by(text),
            Part::States(text) => self.is_met_by(text),
            Part::Acts { clause, verb, is_permission } => {
                self.is_opposed_by(clause)
                    || match self.kind {
                        ConstraintKind::Requires => {
                            self.is_rejected(clause) || self.is_dropped_by(clause, verb.as_deref())
                        }
                        ConstraintKind::Limits
                            if contains_any(
                                &self.text,
                                "調査だけ レビューだけ 確認だけ 分析だけ 設計だけ 方針だけ",
                            ) =>
                        {
                            self.is_broken_by(clause, verb.as_deref(), *is_permission)
                        }
                        ConstraintKind::Limits => {
                            self.is_exceeded_by(clause, verb.as_deref(), *is_permission)
                        }
                        ConstraintKind::Forbids => self.is_broken_by(clause, verb.as_deref(), *is_permission),
                    }
            }
        }
    }

    fn asks(&self) -> bool {
        contains_any(
            &self.text,
            "聞いて 確認 相談 許可を 承認を 勝手に 無断 一言 一声 声をかけ 前に必ず見せ 前に見せ",
        )
    }

    fn is_released_by(&self, text: &str) -> bool {
        // 「300行にこだわらなくていいです」
        let named = self.words().filter(|word| mentions(text, word)).count();
        if contains_any(text, "こだわ 守ら 従わ 気にし 縛られ")
            && named * 2 >= self.nouns.len().max(1)
            && named > 0
        {
            return true;
        }
        let asked = ["確認", "聞", "許可", "相談", "承認", "見"];
        let said = runs(text);
        let needs_none = asked.iter().any(|asked| {
            said.iter().any(|run| run == asked)
                && ["は", "はもう", "とかは", "も", ""].iter().any(|by| {
                    each_word("いらな 不要 要らな いらん しなくて 取らなくて せんで なしで")
                        .any(|end| text.contains(&format!("{asked}{by}{end}")))
                })
        });
        if self.asks() && needs_none {
            return true;
        }
        if self.asks()
            && (said.iter().any(|run| asked.contains(&run.as_str())) || text.contains("確認なしで"))
        {
            return said.iter().all(|run| {
                asked.contains(&run.as_str())
                    || self.words().any(|own| own == run)
                    || among(TOUCHES, run)
                    || among("消", run)
            });
        }
        let shared = self.words().filter(|run| mentions_meaning(text, run)).count();
        let is_noun_named = !self.nouns.is_empty()
            && self.nouns.iter().all(|noun| mentions(text, noun))
            && each_word("不要 いらない いりません 要らない いらん 省略 なしでい")
                .any(|end| text.contains(end))
            && said.len() <= self.words().count();
        self.kind == ConstraintKind::Requires
            && (shared > 0 && shared * 5 >= self.words().count() * 3 || is_noun_named)
    }

    /// 「レビューが終わるまで」, and 「レビュー終わりました」.
    fn is_met_by(&self, text: &str) -> bool {
        let Some((until, _)) = self.text.split_once("まで") else { return false };
        let is_of_person = contains_any(until, "私が 俺が 僕が 自分が");
        let until = runs(until.rsplit(['、', '。']).next().unwrap_or(until));
        let gives = until.iter().any(|run| among("出 言", run));
        let named = until.iter().filter(|run| !among("出 言", run)).all(|run| text.contains(run.as_str()));
        named
            && !until.is_empty()
            && until.iter().any(|run| !among("出 言", run))
            && (until.len() > 1 && !gives
                || gives && runs(text).len() <= 2
                || is_of_person && runs(text).len() == 1)
            && !contains_any(text, "ない ません まだ 修正 直")
    }

    /// Another language, all at once, longer.
    fn is_opposed_by(&self, clause: &str) -> bool {
        let singly = contains_any(&self.text, "ずつ その都度 都度");
        if singly && contains_any(clause, "一気に まとめて 一括 残り全部 残りも全部 全部やって")
        {
            return true;
        }
        let speaks =
            contains_any(&self.text, "回答 返答 返事 説明 答え 答えて 応答") || self.text.chars().count() < 8;
        let is_short = contains_any(&self.text, "短 簡潔 行以内 手短 一言で") && speaks;
        if is_short
            && contains_any(clause, "詳し 長め 長く 丁寧に説明 詳細に")
            && contains_any(clause, "説明 教え 答え 回答 いい 大丈夫 解説")
        {
            return true;
        }
        let language = |text: &str| each_word(LANGUAGES).find(|language| text.contains(language));
        let (Some(own), Some(other)) = (language(&self.text), language(clause)) else { return false };
        let chooses =
            ["でいい", "で大丈夫", "で構", "でok", "で答", "で返", "で書", "でお願い", "に戻", "にして"];
        let is_chosen = chooses.iter().any(|end| clause.contains(&format!("{other}{end}")));
        let topic = |text: &str, language: &str| -> Vec<String> {
            let before = text.split(language).next().unwrap_or_default();
            runs(before).into_iter().filter(|run| !among(LANGUAGES, run)).collect()
        };
        let (mine, theirs) = (topic(&self.text, own), topic(clause, other));
        own != other
            && is_chosen
            && (theirs.is_empty()
                && (mine.is_empty()
                    || contains_any(clause, "で答 で返 に戻") && contains_any(&self.text, "返 答 応答"))
                || !theirs.is_empty() && mine == theirs)
    }

    fn chooses(clause: &str, what: &str) -> bool {
        let ends_so = |end: &str| {
            let whole = format!("{what}{end}");
            clause.ends_with(&whole)
                || !end.ends_with('て') && clause.contains(&whole)
                || clause.contains(&format!("{whole}ください"))
        };
        mentions(clause, what)
            && (each_word(CHOOSES).any(|end| clause.contains(&format!("{what}{end}")))
                || each_word(USES).any(ends_so))
            || mentions(clause, what)
                && (clause.ends_with(&format!("{what}で")) || clause.ends_with(&format!("{what}に")))
    }

    /// 「旧APIは残して」, and 「旧APIは消していいです」.
    fn is_dropped_by(&self, clause: &str, verb: Option<&str>) -> bool {
        let keeps = contains_any(&self.text, "残して 残す 維持 儘 保って");
        keeps
            && verb.is_some_and(|verb| among("消 削除 捨 外 変 変更 直 書換", verb))
            && !self.nouns.is_empty()
            && self.nouns.iter().all(|noun| is_object(clause, noun, &self.nouns))
    }

    fn is_rejected(&self, clause: &str) -> bool {
        self.rejected.as_ref().is_some_and(|rejected| Gist::chooses(clause, rejected))
    }

    fn is_exceeded_by(&self, clause: &str, verb: Option<&str>, is_permission: bool) -> bool {
        let changes = verb.is_some_and(|verb| among(CHANGES, verb));
        let own = self.words().find(|run| run.is_ascii() && run.contains('/'));
        if let Some(own) = own {
            let mut paths = runs(clause).into_iter().filter(|run| is_sibling(run, own));
            if changes && contains_any(clause, "も を") && paths.any(|path| !path.starts_with(own.as_str()))
            {
                return true;
            }
        }
        let area = |text: &str| runs(text).into_iter().find(|run| among(AREAS, run));
        let before_too = clause.split('も').next().unwrap_or_default();
        let is_other = area(before_too).is_some_and(|area| !self.words().any(|own| *own == area));
        if changes
            && clause.contains('も')
            && is_other
            && self.words().any(|own| among(AREAS, own))
            && !self.words().any(|own| among(AREAS, own) && mentions(clause, own))
        {
            return true;
        }
        let number = self.words().find(|run| run.bytes().all(|byte| byte.is_ascii_digit()));
        let has_all = || self.words().all(|run| mentions_meaning(clause, run));
        let is_named = number.map_or_else(has_all, |number| mentions(clause, number));
        let is_longer = contains_any(clause, "超え 長 多") && number.is_some();
        let names_unit = each_word(UNITS).any(|unit| self.text.contains(unit) && clause.contains(unit));
        let is_more = number.is_some()
            && names_unit
            && clause.bytes().any(|byte| byte.is_ascii_digit())
            && number.is_some_and(|own| !clause.contains(own.as_str()));
        if is_permission && is_more {
            return true;
        }
        if is_permission
            && is_longer
            && (names_unit || runs(clause).iter().all(|run| among("超 長 多 行", run)))
        {
            return true;
        }
        is_permission
            && contains_any(clause, "超え 以上 以外 他 長 多")
            && self.words().next().is_some()
            && is_named
    }

    /// 「zod入れちゃって」
    fn installs_library(&self, clause: &str, verb: &str) -> bool {
        let is_about = !self.nouns.is_empty() && self.nouns.iter().all(|noun| among(LIBRARIES, noun));
        let decides =
            contains_any(clause, "ちゃって ちゃお てしまって やっぱ ていい て大丈夫 インストールして");
        let before = runs(clause).into_iter().rev().nth(1);
        let names_one =
            before.is_some_and(|run| run.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'));
        is_about && decides && among(ADDS, verb) && names_one
    }

    /// Whether an act does what is forbidden.
    fn is_broken_by(&self, clause: &str, verb: Option<&str>, is_permission: bool) -> bool {
        // 「直して」, after 「調査だけ」
        if let Some((looks, _)) = self.text.split_once("だけ")
            && let Some(looks) = runs(looks).pop()
            && among("調査 レビュー 確認 分析 相談 検討 方針 設計 説明", &looks)
        {
            return verb.is_some_and(|verb| among("直 修正 実装 変更 反映 適用", verb))
                && !clause.contains(&looks);
        }
        // 「やっぱりlodashで」
        let uses = self.verb.as_deref().is_none_or(|own| among("使 使用 利用 誤魔化 逃 叩", own));
        // 「カラム名も揃えて」
        let is_included = |noun: &String| {
            clause.contains(&format!("{noun}も"))
                && ["と", "や", "・"].iter().any(|and| {
                    self.text.contains(&format!("{noun}{and}")) || self.text.contains(&format!("{and}{noun}"))
                })
        };
        if self.verb.as_deref().is_some_and(|own| among(TOUCHES, own))
            && verb.is_some_and(|verb| among(CHANGES, verb))
            && self.nouns.iter().any(is_included)
        {
            return true;
        }
        let uses = uses || contains_any(&self.text, "のはng のは禁止 のは却下 のは無し のはなし");
        let is_alternative = |noun: &String| {
            ["とか", "や", "と"].iter().any(|or| {
                self.text.contains(&format!("{noun}{or}")) || self.text.contains(&format!("{or}{noun}"))
            }) || among(GENERAL_NOUNS, noun)
        };
        let is_one = self.nouns.len() == 1 || self.nouns.iter().rev().skip(1).all(is_alternative);
        if uses && is_one && self.nouns.iter().any(|what| Gist::chooses(clause, what)) {
            return true;
        }
        let Some(own) = self.verb.as_deref() else {
            let is_named =
                self.nouns.iter().all(|noun| is_object(clause, noun, &self.nouns)) && !self.nouns.is_empty();
            let is_deed = |verb: &str| matches!(self.nouns.as_slice(), [deed] if deed == verb || !deed.is_ascii() && deed.ends_with(verb) && verb.chars().nth(1).is_some());
            return verb.is_some_and(|verb| {
                (among(SAME[0], verb) || among("使 可能 作 作成 生成 実行 書 回 走", verb)) && is_named
                    || is_deed(verb)
            });
        };
        let Some(verb) = verb else { return false };
        // 「じゃあ実装して」, after 「まだコードは書かないで」
        let begins_work = self.for_now
            && among("変更 変 書 触 修正 編集 実装 始 手", own)
            && self.nouns.iter().all(|noun| among("コード 実装 ファイル ソース", noun))
            && among("実装 変更 修正 直 適用 反映 着手 書", verb)
            && runs(clause).iter().all(|run| run == verb || among("コード 実装 変更 修正", run))
            || self.for_now && self.nouns.iter().any(|noun| clause.contains(&format!("{noun}に入")));
        if begins_work && (!is_permission || self.nouns.is_empty()) {
            return true;
        }
        let runs_it = among("実行 行", own)
            && self.nouns.last().is_some_and(|noun| {
                noun == verb || verb.is_ascii() && verb.len() > 3 && noun.ends_with(verb)
            });
        let is_deed = runs_it
            || verb == own
            || clause.contains(&format!("{own}に入"))
            || among(LIGHT, verb) && is_object(clause, own, &[]);
        let begins = verb.strip_prefix(own).is_some_and(|rest| among(LIGHT, rest));
        let is_compound = begins
            || !own.is_ascii() && verb.ends_with(own)
            // 「リファクタして」
            || verb.chars().count() > 3 && !verb.is_ascii() && own.starts_with(verb)
            || !verb.is_ascii() && own.ends_with(verb) && verb.chars().count() > 1;
        let same = SAME.iter().any(|same| {
            same.split(' ').next() == Some(own) && among(same, verb)
                || among(same, own) && among(same, verb) && !among(SAME[0], own)
        });
        let same = same
            || among(ADDS, own)
                && (among(SAME[0], verb)
                    || ADDS.split(' ').any(|add| !verb.is_ascii() && verb.ends_with(add)));
        let is_whole = || {
            self.nouns.last().is_some_and(|noun| {
                ["を", "も", verb].iter().any(|next| clause.contains(&format!("{noun}{next}")))
            })
        };
        let enters = || {
            contains_any(verb, "追加 足 追記 加 書 入")
                && self.nouns.last().is_some_and(|noun| clause.contains(&format!("{noun}に")))
        };
        let touched = among(TOUCHES, own)
            && (among(CHANGES, verb)
                || enters()
                || !self.nouns.is_empty() && !among(READS, verb) && is_whole());
        if !(is_deed || is_compound || same || touched) {
            return false;
        }
        // What is new is not what is there.
        if contains_any(clause, "新しい 新規 別の") && !self.text.contains('新') {
            return false;
        }
        if self.installs_library(clause, verb) {
            return true;
        }
        let is_direct = |run: &String| {
            ["を", "も", "は"].iter().any(|particle| clause.contains(&format!("{run}{particle}")))
        };
        let mut others = runs(clause);
        others.retain(|run| run != verb && run != own && !self.nouns.contains(run) && !among(LIGHT, run));
        others.retain(is_direct);
        // Not what a reason names.
        let reason = clause.len() - without_reason(clause).len();
        others.retain(|run| clause.rfind(run.as_str()).is_none_or(|at| at >= reason));
        if self.nouns.is_empty() {
            // A permission for one thing does not lift what holds for all.
            return others.iter().all(|run| {
                let is_version = run.trim_start_matches('v').starts_with(|c: char| c.is_ascii_digit());
                self.for_now && among(WORK, run) || is_version
            });
        }
        let at = clause.rfind(verb).unwrap_or(clause.len());
        let named: Vec<String> = self.words().cloned().collect();
        // 「APIのレスポンス形式」 may be called 「レスポンス形式」.
        let is_owner = |noun: &String| {
            let next = self.nouns.iter().skip_while(|own| *own != noun).nth(1);
            let after = self.text.split_once(noun.as_str()).map_or("", |(_, after)| after);
            let is_of = after.trim_start_matches(['み', 'る', 'た']).starts_with('の');
            is_of && next.is_some_and(|next| is_unmodified(clause, next))
        };
        let is_named = self.nouns.iter().all(|noun| {
            let is_general = among(GENERAL_NOUNS, noun) && self.nouns.len() > 1;
            is_object(&clause[..at], noun, &named)
                || verb.contains(noun.as_str())
                || is_owner(noun)
                || is_general
        }) && self
            .nouns
            .iter()
            .any(|noun| verb.contains(noun.as_str()) || is_object(&clause[..at], noun, &named));
        // 「コンポーネントはコピペで…」: the topic need not be named again, nor all of a long rule.
        let is_topic = |noun: &String| {
            is_permission
                && self.nouns.len() > 1
                && others.is_empty()
                && self.text.starts_with(&format!("{noun}は"))
                && self.nouns.last().is_some_and(|by| self.text.contains(&format!("{by}で")))
        };
        let are_named = |noun: &&String| is_object(&clause[..at], noun, &named);
        let most = self.nouns.len() > 3
            && self.nouns.last().is_some_and(|head| are_named(&head))
            && self.nouns.iter().filter(are_named).count() * 2 >= self.nouns.len();
        let is_named = is_named || most || self.nouns.iter().all(|noun| is_topic(noun) || are_named(&noun));
        // 「増やしていいよ」
        let is_placed = self.nouns.iter().any(|noun| {
            ["に", "へ", "で", "から"].iter().any(|particle| self.text.contains(&format!("{noun}{particle}")))
        });
        let only = without_reason(clause);
        let only = ["ここは", "そこは", "今回は", "これは", "もう"]
            .iter()
            .find_map(|begin| only.strip_prefix(begin))
            .unwrap_or(only);
        if is_permission && !is_placed && runs(only).iter().all(|run| run == verb) && only.starts_with(verb) {
            return true;
        }
        is_named
            // 「applyして」, after 「terraform applyは実行しないで」
            || runs_it && verb.is_ascii()
            || self.for_now
                && others.is_empty()
                && !is_permission
                && !self.nouns.iter().any(|noun| noun.is_ascii())
    }
}

/// What belongs to the work at hand.
const WORK: Words = "変更 全部 今 分 修正 pr 本番 ステージング リモート コード 込 残 一旦 対応 修正込 lint";

/// 「テストDB」 and 「別のDB」 are not any 「DB」.
fn is_unmodified(clause: &str, noun: &str) -> bool {
    let before = clause.find(noun).map(|at| clause[..at].chars().next_back());
    before.is_some_and(|before| {
        before.is_none_or(|c| is_hiragana(c) && !matches!(c, 'の' | 'い' | 'た' | 'な'))
    })
}

/// Whether a clause does something to `noun`: not to a part of it, and not because of it.
fn is_object(clause: &str, noun: &str, nouns: &[String]) -> bool {
    if among(LIBRARIES, noun)
        && each_word(LIBRARIES).any(|other| {
            other != noun && clause.contains(other) && is_object(&clause.replace(other, "□"), "□", nouns)
        })
    {
        return true;
    }
    clause.match_indices(noun).any(|(at, _)| {
        let after = &clause[at + noun.len()..];
        // 「認証まわりのテスト」 is not 「認証まわり」.
        let of = after
            .split_once('の')
            .filter(|(between, _)| !between.contains(['を', 'も', 'は', 'に', 'て']))
            .map(|(_, of)| of);
        let names_part = of.is_some_and(|of| {
            let first = all_runs(of).into_iter().next();
            let is_part = each_word(PARTS).any(|part| after.contains(part));
            first.is_some_and(|first| of.starts_with(first.as_str()) && !is_part && !nouns.contains(&first))
        });
        let is_other = names_part
            || after.chars().take(6).collect::<String>().contains("以外")
            || after != "の"
                && (after.matches('を').count() > 1
                    || after.starts_with("を使") && !after.ends_with("を") && after.contains("使う")
                    || after.starts_with("が通")
                    || after.starts_with("が落")
                    || each_word("に合わせ に沿 に従 に基 を元に をもとに を参考 を見 を読 通り どお")
                        .any(|aside| after.starts_with(aside))
                    || after.starts_with("から")
                    || after.starts_with("通り")
                    || after.starts_with("ように"));
        (mentions(clause, noun) || noun == "□") && !is_other
    })
}
