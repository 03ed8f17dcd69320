//! Problems of config and settings files in Japanese. They are found in English, for records and programs, too.

use tidegate_core::feature::config::layer::Origin;

use crate::bilingual::{Bilingual, both};

pub(crate) fn describe_origin(origin: &Origin) -> Bilingual {
    let en = origin.to_string();
    let ja = match origin {
        Origin::BuiltIn => "既定値".to_owned(),
        Origin::Line(..) | Origin::Variable(_) => en.clone(),
        Origin::Preset(origin) => format!("{} のプリセット", describe_origin(origin).ja),
        Origin::Both(first, second) => {
            format!("{} と {}", describe_origin(first).ja, describe_origin(second).ja)
        }
    };
    Bilingual { en, ja }
}

pub(crate) fn describe_former_name(origin: &Origin, written: &str, now: &str) -> Bilingual {
    let Bilingual { en, ja } = describe_origin(origin);
    both!("{en}: `{written}` is called `{now}` now", "{ja}: `{written}` は `{now}` に名前が変わりました")
}

/// The place and the name stay; a message of the TOML parser stays in English within it.
pub(crate) fn describe_problem(problem: &str) -> Bilingual {
    let en = problem.to_owned();
    if let Some(more) = problem.strip_prefix("and ").and_then(|rest| rest.strip_suffix(" more")) {
        return Bilingual { en, ja: format!("ほか{more}件") };
    }
    Bilingual { en, ja: translate_parts(problem, &PARTS) }
}

fn translate_parts(text: &str, parts: &[(&str, &str)]) -> String {
    parts.iter().fold(text.to_owned(), |text, (english, japanese)| replace_part(&text, english, japanese))
}

/// What is wrong with a JSON or TOML file, as its reader says it.
pub(crate) fn describe_file_fault(what: &str) -> Bilingual {
    Bilingual { en: what.to_owned(), ja: translate_parts(what, &FAULTS) }
}

const FAULTS: [(&str, &str); 20] = [
    ("broken JSON: ", "JSON が壊れています: "),
    ("text behind the end of the JSON", "JSON の終わりの後に文字があります"),
    ("nested too deeply", "入れ子が深すぎます"),
    ("neither a value nor a number", "値でも数でもありません"),
    ("a value is missing", "値がありません"),
    ("the file ends too early", "ファイルが途中で終わっています"),
    ("a trailing comma", "最後に余分なコンマがあります"),
    ("a comma is missing", "コンマがありません"),
    ("a name in double quotes is missing", "二重引用符で囲んだ名前がありません"),
    ("a colon is missing", "コロンがありません"),
    ("an escape that is none", "エスケープの書き方が正しくありません"),
    ("a line break or control character in a string", "文字列の中に改行か制御文字があります"),
    ("a string without an end", "文字列が閉じていません"),
    ("not UTF-8", "UTF-8 ではありません"),
    ("the file is not a JSON object", "ファイルが JSON オブジェクトではありません"),
    ("`*` is not an object with a `command`", "`*` が `command` のあるオブジェクトではありません"),
    (
        "unknown field `*`, expected `description` or `hooks`",
        "`*` というキーは使えません（使えるのは `description` と `hooks` です）",
    ),
    ("`*` is not a table", "`*` がテーブルではありません"),
    ("duplicate field `*`", "`*` が2回書かれています"),
    ("an object is expected here", "ここにはオブジェクトが必要です"),
];

/// English around a name (`*`), and the same in Japanese. Longer ones come first.
const PARTS: [(&str, &str); 54] = [
    (" is left out of the list of *: ", " は*のリストから除きました。"),
    (" does not fit in a list of *: ", " は*のリストに入れられません。"),
    (" does not fit in a list of ", " を入れられないリストです: "),
    (" does not fit: use one of ", " は使えません。次のいずれかを使ってください: "),
    (" does not fit: use a whole number of at least *;", " は使えません。*以上の整数を使ってください;"),
    (" does not fit: use a whole number from * to ", " は使えません。使える整数の範囲: *〜"),
    (" does not fit: use a text such as *;", " は使えません。*のような文字列を使ってください;"),
    (" does not fit: use true or false", " は使えません。true か false を使ってください"),
    (" does not fit: use a list of *, such as ", " は使えません。*のリストを使ってください。例: "),
    (" does not fit: use a list of ", " は使えません。次の値のリストを使ってください: "),
    ("`: a list ", "`: リスト"),
    ("`: a text ", "`: 文字列"),
    ("`: a number ", "`: 数値"),
    ("`: a table ", "`: テーブル"),
    ("`: nothing ", "`: 空の値"),
    ("`: the value ", "`: この値"),
    ("it does not begin with `*`", "`*` で始まっていません"),
    ("it is empty", "空です"),
    ("there is a space around it", "前後に空白があります"),
    ("it has a control character in it", "制御文字が入っています"),
    ("it is longer than * characters", "*文字を超えています"),
    ("a list of more than * is too long", "リストは*件までです"),
    ("this cannot name a cycle", "サイクルの名前には使えません"),
    ("this cannot name a workflow", "ワークフローの名前には使えません"),
    ("this is not a path pattern: ", "パスのパターンではありません: "),
    (
        "a name is made of letters, digits and `*`, without spaces, of at most ",
        "名前は文字、数字、`*` だけで書き、空白は使えません。文字数の上限: ",
    ),
    (" characters; ", "; "),
    ("; the other names count", "。ほかの名前は有効です"),
    (" (tokens left), ", "（残りトークン）、"),
    (" (turns left) or ", "（残りターン）、"),
    (" (a level of a 200k window)", "（200k のうち使った割合）"),
    ("names of skills", "スキル名"),
    ("types of agents", "エージェントの種類"),
    ("names of MCP tools", "MCP ツール名"),
    ("names or paths of projects", "プロジェクトの名前かパス"),
    ("path patterns", "パスのパターン"),
    ("command lines", "コマンド"),
    ("; did you mean `*`?", "。`*` ではありませんか？"),
    ("; a pattern for files of this name is written \"*\"", "。この名前のファイルは \"*\" と書きます"),
    ("; put a pattern with a dot in it into quotes", "。ドットを含むパターンは引用符で囲んでください"),
    ("there is no section [*]", "[*] というセクションはありません"),
    ("there is no section `*`", "`*` というセクションはありません"),
    ("there is no key `*`", "`*` というキーはありません"),
    ("there is no policy `*`", "`*` というポリシーはありません"),
    ("no setting has this variable", "この変数の設定はありません"),
    ("is a section, not a key: write it as [*]", "はキーではなくセクションです。[*] と書いてください"),
    ("; the keys above all sections are left out here", "。セクションの外のキーはここでは使いません"),
    ("; [*] is left out here", "。[*] はここでは使いません"),
    (" are the same setting; the stricter value counts", " は同じ設定です。厳しい方の値を使います"),
    (" are the same setting; `*` counts", " は同じ設定です。`*` を使います"),
    (
        "[project] is for the user's own config and left out here",
        "[project] は自分の設定ファイル用です。ここでは使いません",
    ),
    (
        "; there is no earlier copy, so only its readable lines that are stricter count",
        "。以前の控えがないため、読める行のうち厳しいものだけを使います",
    ),
    (
        "; there is no earlier copy, so built-in values count, and its readable lines that are stricter",
        "。以前の控えがないため、既定値と、読める行のうち厳しいものを使います",
    ),
    (
        "; only stricter values count, of its readable lines and its last readable copy",
        "。読める行と最後に読めた控えのうち、厳しい値だけを使います",
    ),
];

/// Replaces the first place that fits.
fn replace_part(text: &str, english: &str, japanese: &str) -> String {
    let Some((before, after)) = english.split_once('*') else { return text.replacen(english, japanese, 1) };
    let found = text.find(before).and_then(|begin| {
        let name = begin + before.len();
        let length = text[name..].find(after)?;
        Some((begin, name, name + length))
    });
    let Some((begin, name, end)) = found else { return text.to_owned() };
    let name = &text[name..end];
    format!("{}{}{}", &text[..begin], japanese.replacen('*', name, 1), &text[end + after.len()..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json_text::Document;
    use tidegate_core::feature::config::Config;
    use tidegate_core::feature::config::layer::{Assignment, Layer};
    use tidegate_core::settings::section::Voice;
    use tidegate_core::settings::value::Value;

    #[test]
    fn problems_are_told_in_japanese() {
        let origin = |line| Origin::Line("config.toml".into(), line);
        let assignments = vec![
            Assignment::new("skil_gate", "mode", "deny".into(), origin(1)),
            Assignment::new("skill_gate", "mod", "deny".into(), origin(2)),
            Assignment::new("", "langg", "ja".into(), origin(3)),
            Assignment::new("verify_stop", "mode", "loud".into(), origin(4)),
        ];
        let mut config = Config::default();
        config.apply(&Layer { voice: Voice::User, assignments });
        let told: Vec<String> = config.problems.iter().map(|problem| describe_problem(problem).ja).collect();
        assert_eq!(
            told,
            [
                "config.toml:1: [skil_gate] というセクションはありません。`skill_gate` ではありませんか？",
                "config.toml:2: `skill_gate.mod` というキーはありません。`mode` ではありませんか？",
                "config.toml:3: `langg` というキーはありません。`lang` ではありませんか？",
                "config.toml:4: `verify_stop.mode`: \"loud\" は使えません。次のいずれかを使ってください: \
                 \"off\", \"shadow\", \"block\"。[verify_stop] はここでは使いません",
            ]
        );
        assert_eq!(describe_problem("and 3 more").ja, "ほか3件");
        assert_eq!(describe_problem("and 3 more").en, "and 3 more");
    }

    /// What a person wrote, names and examples stay.
    fn english_left(ja: &str) -> Option<&str> {
        let ja = ja.split("。[").next().unwrap_or_default();
        let plain = ja.split(['`', '"']).step_by(2);
        let known = ["config", "toml", "true", "false", "MCP", "JSON", "UTF"];
        let words = plain.flat_map(|part| part.split(|c: char| !c.is_ascii_alphabetic()));
        words.filter(|word| word.len() > 2).find(|word| !known.contains(word))
    }

    #[test]
    fn a_wrong_value_of_every_setting_is_told_in_japanese() {
        let wrong = [
            Value::Flag(true),
            Value::Whole(-1),
            Value::from(""),
            Value::from(" x"),
            Value::from("a b"),
            Value::List(vec![Value::Whole(1)]),
            Value::List(vec![Value::from("a b")]),
            Value::List(vec![Value::from("")]),
            Value::List(vec![Value::from("a\u{7}")]),
        ];
        let names: Vec<(String, String)> = Config::default()
            .sections()
            .into_iter()
            .flat_map(|section| {
                section.keys().iter().map(|key| (section.name().to_owned(), key.name.to_owned()))
            })
            .collect();
        let (mut seen, mut english) = (0, Vec::new());
        for (section, key) in names {
            for value in &wrong {
                let origin = Origin::Line("config.toml".into(), 1);
                let assignments = vec![Assignment::new(&section, &key, value.clone(), origin)];
                let mut config = Config::default();
                config.apply(&Layer { voice: Voice::User, assignments });
                for problem in &config.problems {
                    let ja = describe_problem(problem).ja;
                    english.extend(english_left(&ja).map(|_| format!("{problem}\n{ja}")));
                    seen += 1;
                }
            }
        }
        assert_eq!(english, Vec::<String>::new());
        assert!(seen > 100, "{seen}");
    }

    #[test]
    fn a_fault_of_a_file_is_told_in_japanese() {
        for text in [
            "",
            "{",
            "{\"a\" 1}",
            "{\"a\": }",
            "{\"a\": 1 \"b\": 2}",
            "{a: 1}",
            "{} x",
            "\"\\q\"",
            "\"\n\"",
            "\"a",
            "x",
        ] {
            let fault = Document::parse(text).map(|_| ()).expect_err(text);
            let ja = describe_file_fault(&fault.what).ja;
            assert_eq!(english_left(&ja), None, "{text}: {ja}");
        }
    }

    #[test]
    fn origins_are_told_in_japanese() {
        let line = || Box::new(Origin::Line("a.toml".into(), 3));
        let both = Origin::Both(Box::new(Origin::Preset(line())), Box::new(Origin::BuiltIn));
        assert_eq!(describe_origin(&both).ja, "a.toml:3 のプリセット と 既定値");
        assert_eq!(describe_origin(&both).en, both.to_string());
    }
}
