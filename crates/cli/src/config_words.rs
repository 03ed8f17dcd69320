//! Problems and origins of the config in Japanese. The core writes problems in English, for records and programs, too.

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

/// The place and the name stay; a message of the TOML parser, or about a value, stays in English within it.
pub(crate) fn describe_problem(problem: &str) -> Bilingual {
    let en = problem.to_owned();
    if let Some(more) = problem.strip_prefix("and ").and_then(|rest| rest.strip_suffix(" more")) {
        return Bilingual { en, ja: format!("ほか{more}件") };
    }
    let mut ja = problem.to_owned();
    for (english, japanese) in PARTS {
        ja = replace_part(&ja, english, japanese);
    }
    Bilingual { en, ja }
}

/// English around a name (`*`), and the same in Japanese. Longer ones come first.
const PARTS: [(&str, &str); 17] = [
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
    use tidegate_core::feature::config::Config;
    use tidegate_core::feature::config::layer::{Assignment, Layer};
    use tidegate_core::settings::section::Voice;

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
            told[..3],
            [
                "config.toml:1: [skil_gate] というセクションはありません。`skill_gate` ではありませんか？",
                "config.toml:2: `skill_gate.mod` というキーはありません。`mode` ではありませんか？",
                "config.toml:3: `langg` というキーはありません。`lang` ではありませんか？",
            ]
        );
        assert!(told[3].ends_with("。[verify_stop] はここでは使いません"), "{}", told[3]);
        assert_eq!(describe_problem("and 3 more").ja, "ほか3件");
        assert_eq!(describe_problem("and 3 more").en, "and 3 more");
    }

    #[test]
    fn origins_are_told_in_japanese() {
        let line = || Box::new(Origin::Line("a.toml".into(), 3));
        let both = Origin::Both(Box::new(Origin::Preset(line())), Box::new(Origin::BuiltIn));
        assert_eq!(describe_origin(&both).ja, "a.toml:3 のプリセット と 既定値");
        assert_eq!(describe_origin(&both).en, both.to_string());
    }
}
