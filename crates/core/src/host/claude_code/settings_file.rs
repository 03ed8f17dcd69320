//! The host's settings file, as far as Tidegate reads it: the settings that move the point of compaction, and
//! the variables that the host gives to every process it starts.
//!
//! Read like the host reads it, member by member: one odd value must not hide the others.

use std::borrow::Cow;

use serde::de::{IgnoredAny, MapAccess};

use crate::host::window::AutoCompactWindow;
use crate::text::json::{Field, Member, NotAnObject, read_object, wire_key, wire_object};

wire_object! {
    pub struct HostFile<'a> {
        auto_compact_enabled as "autoCompactEnabled": bool,
        auto_compact_window as "autoCompactWindow": TokenSetting,
        model_settings as "modelSettings": ModelWindows,
        env: GuardedVariables,
    }
}

/// `200000` or `"200k"`; `None` for `"auto"` and anything else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TokenSetting(pub Option<u64>);

impl Member<'_> for TokenSetting {
    fn text(text: Cow<'_, str>) -> Option<Self> {
        Some(TokenSetting(parse_tokens(&text)))
    }

    fn number(number: f64) -> Option<Self> {
        Some(TokenSetting(<u64 as Member<'_>>::number(number).filter(|tokens| *tokens > 0)))
    }
}

/// `200000` or `200k`, in the host's own syntax.
pub fn parse_tokens(text: &str) -> Option<u64> {
    let text = text.trim();
    let tokens = match text.strip_suffix(['k', 'K']) {
        Some(thousands) => thousands.trim().parse::<u64>().ok()?.checked_mul(1000),
        None => text.parse().ok(),
    };
    tokens.filter(|tokens| *tokens > 0)
}

/// Windows of single models. Limited in number, because a session keeps them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelWindows(pub Vec<(String, TokenSetting)>);

const MODELS: usize = 32;
const LONGEST_ID: usize = 128;

impl<'de> Member<'de> for ModelWindows {
    fn object<A: MapAccess<'de>>(mut map: A) -> Result<Option<Self>, A::Error> {
        let mut windows = Vec::new();
        while let Some(model) = map.next_key::<Cow<'_, str>>()? {
            let settings: Field<ModelFile<'de>> = map.next_value()?;
            let window = settings.value().and_then(|settings| settings.auto_compact_window.value());
            if let Some(window) = window.filter(|_| windows.len() < MODELS && model.len() <= LONGEST_ID) {
                windows.push((model.into_owned(), window));
            }
        }
        Ok(Some(ModelWindows(windows)))
    }
}

wire_object! {
    struct ModelFile<'a> {
        auto_compact_window as "autoCompactWindow": TokenSetting,
    }
}

/// Variables in `env` that only a person may set, not a repository.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GuardedVariables(pub Vec<GuardedVariable>);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuardedVariable {
    pub name: String,
    /// Guarded only with this value; `None`: with any value.
    pub value: Option<String>,
}

/// The reason why a repository must not set a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guard {
    /// It could switch Tidegate off, or point it to another store.
    Ours,
    /// It locates a person's files. Most environments set some of these, so only the repository's own value
    /// is ignored, and only if it points into the repository.
    Place,
    /// It could lead programs that Tidegate starts to another server, or make them trust one. A person may
    /// set it, so only the repository's value is ignored.
    Programs,
}

impl Guard {
    pub fn of(name: &str) -> Option<Guard> {
        let begins = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
        let is_proxy =
            || name.len() >= 6 && name.as_bytes()[name.len() - 6..].eq_ignore_ascii_case(b"_PROXY");
        if name.starts_with("TIDEGATE_") {
            Some(Guard::Ours)
        } else if begins(&["XDG_"]) || matches!(name, "HOME" | "USERPROFILE" | "CLAUDE_CONFIG_DIR") {
            Some(Guard::Place)
        } else if begins(&["SSL", "CURL_", "OPENSSL_", "LD_", "DYLD_", "NODE_"])
            || matches!(name, "RES_OPTIONS" | "LOCALDOMAIN" | "HOSTALIASES")
            || (name.starts_with("ANTHROPIC_") && name.ends_with("_URL"))
            || is_proxy()
        {
            Some(Guard::Programs)
        } else {
            None
        }
    }
}

impl<'de> Member<'de> for GuardedVariables {
    fn object<A: MapAccess<'de>>(mut map: A) -> Result<Option<Self>, A::Error> {
        let mut variables = Vec::new();
        while let Some(name) = map.next_key::<Cow<'_, str>>()? {
            let Some(guard) = Guard::of(&name) else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            let value = if guard == Guard::Ours {
                map.next_value::<IgnoredAny>()?;
                None
            } else {
                let value: Field<Cow<'de, str>> = map.next_value()?;
                value.value().map(Cow::into_owned)
            };
            variables.push(GuardedVariable { name: name.into_owned(), value });
        }
        Ok(Some(GuardedVariables(variables)))
    }
}

impl<'a> HostFile<'a> {
    pub fn read(bytes: &'a [u8]) -> Result<HostFile<'a>, NotAnObject> {
        read_object(bytes)
    }

    /// Windows of single models come first.
    pub fn windows(&self) -> impl Iterator<Item = AutoCompactWindow> + '_ {
        let of_models = self.model_settings.get().map(|windows| windows.0.as_slice()).unwrap_or_default();
        let of_models = of_models.iter().map(|(model, tokens)| (Some(model.clone()), *tokens));
        let of_all = self.auto_compact_window.get().map(|tokens| (None, *tokens));
        of_models.chain(of_all).map(|(model, TokenSetting(tokens))| AutoCompactWindow { model, tokens })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn windows(text: &str) -> Vec<(Option<String>, Option<u64>)> {
        HostFile::read(text.as_bytes())
            .unwrap()
            .windows()
            .map(|window| (window.model, window.tokens))
            .collect()
    }

    #[test]
    fn an_odd_member_hides_no_other() {
        let plain = vec![(None, Some(200_000))];
        for odd in [
            r#"{"autoCompactWindow": 200000}"#,
            "\u{feff}{\"autoCompactWindow\": \"200k\"}",
            r#"{"autoCompactWindow": 200000, "modelSettings": null, "env": 5}"#,
            r#"{"modelSettings": {"x": null, "y": {"autoCompactWindow": []}}, "autoCompactWindow": 200000}"#,
            r#"{"autoCompactWindow": 7, "autoCompactWindow": 200000}"#,
        ] {
            assert_eq!(windows(odd), plain, "{odd}");
        }
        let own = r#"{"modelSettings": {"m": {"autoCompactWindow": "auto"}}, "autoCompactWindow": 5}"#;
        assert_eq!(windows(own), [(Some("m".into()), None), (None, Some(5))]);
    }

    #[test]
    fn a_great_many_models_are_not_all_kept() {
        let many: Vec<String> = (0..1000).map(|n| format!(r#""m{n}": {{"autoCompactWindow": 9}}"#)).collect();
        let text = format!(r#"{{"modelSettings": {{{}}}}}"#, many.join(","));
        assert_eq!(windows(&text).len(), MODELS);
    }

    #[test]
    fn guarded_variables_are_found_as_the_host_finds_them() {
        let names = |text: &str| {
            let names = |file: HostFile<'_>| {
                let variables = file.env.value().unwrap_or_default().0;
                variables.into_iter().map(|variable| variable.name).collect::<Vec<_>>()
            };
            HostFile::read(text.as_bytes()).map(names)
        };
        let off = vec!["TIDEGATE_OFF".to_owned()];
        assert_eq!(names(r#"{"env": {"TIDEGATE_OFF": "x", "PATH": "y"}}"#), Ok(off.clone()));
        assert_eq!(names(r#"{"env": {}, "env": {"TIDEGATE_OFF": "x"}}"#), Ok(off.clone()));
        assert_eq!(names(r#"{"env": {"TIDEGATE_OFF": "x", "X": "\ud800"}}"#), Ok(off));
        assert!(names(r#"{"env": {"TIDEGATE_OFF": "x", "\ud800": "y"}}"#).is_err());
    }

    #[test]
    fn what_a_repository_must_not_set() {
        for (name, guard) in [
            ("TIDEGATE_STATE_DIR", Some(Guard::Ours)),
            ("XDG_STATE_HOME", Some(Guard::Place)),
            ("HOME", Some(Guard::Place)),
            ("SSL_CERT_FILE", Some(Guard::Programs)),
            ("SSLKEYLOGFILE", Some(Guard::Programs)),
            ("CURL_CA_BUNDLE", Some(Guard::Programs)),
            ("https_proxy", Some(Guard::Programs)),
            ("ALL_PROXY", Some(Guard::Programs)),
            ("LD_PRELOAD", Some(Guard::Programs)),
            ("ANTHROPIC_BASE_URL", Some(Guard::Programs)),
            ("ANTHROPIC_API_KEY", None),
            ("ANTHROPIC_MODEL", None),
            ("PROXY", None),
            ("PATH", None),
            ("LANG", None),
        ] {
            assert_eq!(Guard::of(name), guard, "{name}");
        }
        let text =
            r#"{"env": {"HOME": "/evil", "XDG_STATE_HOME": 5, "NODE_OPTIONS": "x", "TIDEGATE_OFF": "y"}}"#;
        let found = HostFile::read(text.as_bytes()).unwrap().env.value().unwrap_or_default().0;
        let values: Vec<Option<&str>> = found.iter().map(|found| found.value.as_deref()).collect();
        assert_eq!(values, [Some("/evil"), None, Some("x"), None]);
    }
}
