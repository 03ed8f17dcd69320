//! Words that announce the words of others: "the review says:", "here is the mail from legal.", 「要約して：」.

use crate::text::word_list::{Words, among, each_word};

/// Where the words of others are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lead {
    /// In the rest of this line. The announcing sentence begins at this byte.
    Inline(usize),
    /// In the next paragraph.
    Paragraph,
    /// In all that follows: a letter has several paragraphs and no end that could be seen.
    Rest,
}

const SAYS: Words = "says said wrote writes replied answered mailed posted commented complains complained translate reads states \
    prints printed asked told sent say translated wants wanted demands demanded insists insisted";

/// Where words of others come from.
const SOURCES: Words = "readme docs doc guide changelog slack teams discord chat overflow ticket jira spec specification criteria story notes wiki \
    prompt policy handbook";

/// At the beginning of an order about a text.
const HANDLES: Words =
    "review summarise summarize translate proofread rephrase paraphrase reword explain analyse analyze";

const TEXTS: Words = "mail email e-mail message letter review feedback error output log logs transcript conversation chat ticket \
    issue comment comments text slack thread article answer reply prompt quote document";

/// Orders to write a text, and what is written.
const WRITES: Words =
    "add write put print show display insert log set change make rename draft compose post update";
const WRITTEN: Words = "comment text message label title button tooltip banner heading line warning string docstring placeholder headline caption \
    email e-mail mail announcement setting option checkbox popup dialog post notice note letter reply readme changelog";

/// A text is announced, not named: "here is the log", not "error log: no secrets".
const SHOWN: Words = "here here's this following below got received pasted get another";

/// They have several paragraphs.
const LETTERS: Words =
    "wrote mailed sent mail email e-mail letter conversation transcript chat thread article document";

/// The person's own lists.
const OWN: Words = "rules requirements constraints conditions things points rule remember note important";

const SAYS_JA: Words = "レビューコメント 引用 の内容 より抜粋 受け入れ条件 曰く いわく と言って と言われ と書いて と書かれ から返信 からメール からの返信 翻訳して 訳して 要約して 添削して \
    校正して レビュー結果 レビュー指摘 の指摘 によると のメール のコメント 議事録 とのこと";

const SHOWN_JA: Words = "以下 次の こちら 下記";

const TEXTS_JA: Words = "エラー ログ 文章 コメント レビュー メッセージ メール 会話 出力 回答 文 テキスト";

const LETTERS_JA: Words = "メール 手紙 議事録 会話 チャット 文章";

pub(super) fn lead_of(line: &str) -> Option<Lead> {
    let mut from = 0;
    for (at, c) in line.char_indices() {
        let end = at + c.len_utf8();
        let next = line[end..].chars().next();
        match c {
            ':' | '：' if next.is_none_or(|next| next.is_whitespace() || c == '：' || !next.is_ascii()) => {
                let head = &line[from..at];
                let is_last = line[end..].trim().is_empty();
                if announces(head, is_last) {
                    return Some(if is_last { extent(head) } else { Lead::Inline(from) });
                }
            }
            '.' | '!' | '?' | '。' | '！' | '？'
                if next.is_none_or(|next| next.is_whitespace() || !next.is_ascii()) =>
            {
                let head = &line[from..at];
                // 「次の文をやわらかくして。…」
                if c == '。'
                    && contains(head, "次の文 以下の文 下の文 この文")
                    && !line[end..].trim().is_empty()
                {
                    return Some(Lead::Inline(end));
                }
                if line[end..].trim().is_empty() && !matches!(c, '?' | '？') && presents(head) {
                    return Some(extent(head));
                }
                from = end;
            }
            _ => {}
        }
    }
    // "bob commented 2 hours ago", and his words on the next line.
    let is_posted = line.trim_end().ends_with(" ago") && has(line, SAYS) && words(line).count() <= 8;
    if is_posted {
        return Some(Lead::Paragraph);
    }
    let head = &line[from..];
    (!head.trim().is_empty() && presents(head.trim())).then(|| extent(head))
}

fn words(head: &str) -> impl Iterator<Item = String> + '_ {
    head.split_whitespace().map(|word| {
        word.trim_matches(|c: char| !c.is_alphanumeric() && c != '\'').replace('’', "'").to_ascii_lowercase()
    })
}

fn has(head: &str, list: Words) -> bool {
    words(head).any(|word| among(list, &word))
}

fn contains(head: &str, list: Words) -> bool {
    each_word(list).any(|word| head.contains(word))
}

/// Before a colon. In the middle of a line a text may only be named: "it got a bad review: we have to …"
fn announces(head: &str, is_last: bool) -> bool {
    let is_received = || has(head, "got received") && has(head, "from");
    if orders_rules(head) || is_last && (shows_file(head) || is_received()) {
        return true;
    }
    if has(head, OWN) || contains(&head.replace("注意書き", "文言"), "ルール 条件 制約 注意") {
        return false;
    }
    let mut before = String::new();
    for word in words(head) {
        if among(SAYS, &word) && !among("i we i've already", &before) {
            return true;
        }
        before = word;
    }
    if is_source(head) || words(head).next().is_some_and(|first| among(TEXTS, &first)) && has(head, "from") {
        return true;
    }
    let first =
        words(head).find(|word| !among("please can could you now and then", word)).unwrap_or_default();
    // "Add a comment: never call it twice"
    let is_text = among(WRITES, &first) && has(head, WRITTEN)
        || contains(
            head,
            "注意書き 文言 メッセージ ラベル バナー 見出し お知らせ 告知 文章 文面 テキスト 警告",
        ) && contains(head, "追加 書いて 入れて 出して 表示 作って 考えて");
    is_text
        || among(HANDLES, &first)
        || contains(head, SAYS_JA)
        || is_last
            && (has(head, SHOWN) && has(head, TEXTS) || contains(head, SHOWN_JA) && contains(head, TEXTS_JA))
}

/// "Draft a policy for the wiki: …", "contents: …": the rules of a text, though they are called rules.
fn orders_rules(head: &str) -> bool {
    const WRITES: Words = "write draft draw compose create add put publish";
    const RULES: Words = "policy guideline guidelines handbook contributing contributing.md charter agreement code-of-conduct poster wiki";
    let first =
        words(head).find(|word| !among("please can could you now and then", word)).unwrap_or_default();
    among(WRITES, &first) && has(head, RULES) || among("contents content", &first) && words(head).count() == 1
}

/// "Here's our CONTRIBUTING.md:", "contents of AGENTS.md:"; not "in src/app.ts:".
fn shows_file(head: &str) -> bool {
    let is_file = |word: String| {
        word == "file"
            || word.rsplit_once('.').is_some_and(|(name, end)| !name.is_empty() && matches!(end.len(), 1..=4))
    };
    let first = words(head).next().unwrap_or_default();
    has(head, "here here's below pasted contents content got following")
        && !among("in for on under inside within", &first)
        && words(head).any(is_file)
}

/// "From the docs", "Jira ABC-12", "Bob's mail"; but "in the docs" and "docs" say where the person's own words apply.
fn is_source(head: &str) -> bool {
    let all: Vec<String> = words(head).filter(|word| !word.is_empty()).collect();
    let Some(first) = all.first() else { return false };
    if all == ["write"] || all == ["please", "write"] {
        return true;
    }
    let is_source =
        |word: &String| among(SOURCES, word) && (all.len() > 1 || !among("docs doc notes prompt", word));
    let of_person = first.ends_with("'s") && has(head, TEXTS);
    all.len() <= 5
        && !among("in for on under add update write", first)
        && (all.iter().any(is_source) || of_person)
}

/// A whole sentence: "Here is the mail from legal."
fn presents(head: &str) -> bool {
    let opens = |begin: &str| words(head).take(2).collect::<Vec<_>>().join(" ").starts_with(begin);
    (opens("here is") || opens("here's") || opens("below is")) && has(head, TEXTS)
        || contains(head, SHOWN_JA) && contains(head, "メール 議事録") && head.ends_with("です")
        || contains(head, "抜粋 メモ 引用 転記") && head.ends_with("です")
        || head.ends_with("からの要望")
        || [
            "貼ります",
            "貼っておきます",
            "貼り付けます",
            "転記します",
            "引用します",
            "抜粋します",
            "共有します",
        ]
        .iter()
        .any(|end| head.ends_with(end))
}

fn extent(head: &str) -> Lead {
    if has(head, LETTERS) || shows_file(head) || contains(head, LETTERS_JA) {
        Lead::Rest
    } else {
        Lead::Paragraph
    }
}
