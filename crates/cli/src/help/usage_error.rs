//! A command line that does not parse: what is wrong with it, in both languages.

use clap::error::{ContextKind, ContextValue, ErrorKind};

use tidegate_core::settings::near;

use super::translate;
use crate::bilingual::{Bilingual, both};
use crate::print::page::Page;
use crate::print::text::{Text, data};

/// Clap's own words for what is seldom seen.
pub(crate) fn usage_page(error: &clap::Error) -> Page {
    let mut page = Page::new();
    page.labelled(
        Text::from(both!("error", "エラー")).bad(),
        what_is_wrong(error).unwrap_or_else(|| own_words(error)),
    );
    page.labelled(Text::from(both!("hint", "ヒント")).good(), suggestion(error));
    if let Some(usage) = context(error, ContextKind::Usage) {
        let usage = usage.strip_prefix("Usage: ").unwrap_or(&usage).to_owned();
        page.labelled(Text::from(both!("usage", "使い方")).strong(), data(usage));
    }
    page
}

fn context(error: &clap::Error, kind: ContextKind) -> Option<String> {
    match error.get(kind)? {
        ContextValue::String(text) => Some(text.clone()),
        ContextValue::Strings(texts) => Some(texts.join(", ")),
        ContextValue::StyledStr(text) => Some(text.to_string()),
        ContextValue::StyledStrs(texts) => {
            Some(texts.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))
        }
        ContextValue::Number(number) => Some(number.to_string()),
        _ => None,
    }
    .filter(|text| !text.is_empty())
}

fn what_is_wrong(error: &clap::Error) -> Option<Bilingual> {
    let of = |kind| context(error, kind);
    let arg = of(ContextKind::InvalidArg);
    Some(match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let name = of(ContextKind::InvalidSubcommand)?;
            both!("there is no command `{name}`", "`{name}` というコマンドはありません")
        }
        ErrorKind::UnknownArgument => {
            let arg = arg?;
            both!("`{arg}` is not expected here", "`{arg}` はここでは使えません")
        }
        ErrorKind::MissingRequiredArgument => {
            let arg = arg?;
            both!("this is missing: {arg}", "足りないものがあります: {arg}")
        }
        ErrorKind::MissingSubcommand => {
            let name = of(ContextKind::InvalidSubcommand)?;
            both!("`{name}` needs a command after it", "`{name}` のあとにコマンドが必要です")
        }
        ErrorKind::ArgumentConflict => {
            let (arg, prior) = (arg?, of(ContextKind::PriorArg)?);
            both!("`{arg}` cannot be used with `{prior}`", "`{arg}` は `{prior}` と一緒には使えません")
        }
        ErrorKind::InvalidValue => {
            let arg = arg?;
            match (of(ContextKind::InvalidValue), of(ContextKind::ValidValue)) {
                (Some(value), Some(valid)) => both!(
                    "`{value}` is not a value of `{arg}`; use one of: {valid}",
                    "`{value}` は `{arg}` の値として使えません。使える値: {valid}"
                ),
                (None, _) => both!("`{arg}` needs a value", "`{arg}` には値が必要です"),
                (Some(value), None) => {
                    both!("`{value}` is not a value of `{arg}`", "`{value}` は `{arg}` の値として使えません")
                }
            }
        }
        ErrorKind::ValueValidation => {
            let (arg, value) = (arg?, of(ContextKind::InvalidValue)?);
            let why = std::error::Error::source(error).map(ToString::to_string)?;
            let Bilingual { en, ja } = describe_number(&why).unwrap_or_else(|| translate(&why));
            both!("`{value}` for `{arg}`: {en}", "`{arg}` の `{value}`: {ja}")
        }
        _ => return None,
    })
}

/// What is wrong with a number, in place of the words of the standard library and of clap.
fn describe_number(why: &str) -> Option<Bilingual> {
    if let Some((_, range)) = why.split_once(" is not in ") {
        let (from, to) = range.split_once("..=").or_else(|| range.split_once(".."))?;
        return Some(if to.is_empty() {
            both!("use a number from {from} on", "{from} 以上の数を指定してください")
        } else {
            both!("use a number from {from} to {to}", "{from} から {to} までの数を指定してください")
        });
    }
    Some(match why {
        "invalid digit found in string" | "cannot parse integer from empty string" => {
            both!("use a whole number", "整数を指定してください")
        }
        "number too large to fit in target type" => both!("the number is too large", "数が大きすぎます"),
        "number too small to fit in target type" => both!("the number is too small", "数が小さすぎます"),
        _ => return None,
    })
}

fn suggestion(error: &clap::Error) -> Bilingual {
    let kinds = [ContextKind::SuggestedSubcommand, ContextKind::SuggestedArg, ContextKind::SuggestedValue];
    let near = kinds.into_iter().find_map(|kind| nearest(error, kind));
    match near {
        Some(near) => both!("did you mean `{near}`?", "`{near}` ではありませんか？"),
        None if error.kind() == ErrorKind::InvalidSubcommand => {
            both!("`tidegate help` lists the commands", "`tidegate help` でコマンドの一覧を表示します")
        }
        None => both!("add --help to see the options", "オプションは --help で表示されます"),
    }
}

/// Clap's list ends with the nearest one.
fn nearest(error: &clap::Error, kind: ContextKind) -> Option<String> {
    let found = match error.get(kind)? {
        ContextValue::Strings(texts) => texts.last().cloned(),
        _ => context(error, kind),
    };
    let typed = context(error, ContextKind::InvalidSubcommand);
    // A short name is like many words.
    found.filter(|found| typed.is_none_or(|typed| near::nearest(&typed, [found.as_str()]).is_some()))
}

fn own_words(error: &clap::Error) -> Bilingual {
    let text = error.render().to_string();
    let first = text.lines().next().unwrap_or_default();
    Bilingual::data(first.strip_prefix("error: ").unwrap_or(first))
}
