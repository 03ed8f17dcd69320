//! The user's config file. A part that cannot be used is replaced by its default, and the config says so.

use std::io;
use std::path::Path;

use serde::de::DeserializeOwned;
use tidegate_core::config::Config;
use tidegate_core::policy::Sections;

use crate::bounded;

const LARGEST: u64 = 1024 * 1024;

/// Reads the user's config; `off` is `TIDEGATE_OFF`. A missing file is no problem.
pub fn read(path: Option<&Path>, off: Option<&str>) -> Config {
    let mut file = TomlFile::default();
    if let Some(path) = path {
        let read =
            bounded::read(path, LARGEST).and_then(|bytes| String::from_utf8(bytes).map_err(io::Error::other));
        match read {
            Ok(text) => match text.parse::<toml::Table>() {
                Ok(table) => file.table = table,
                Err(error) => {
                    let line = error.span().map_or(1, |span| text[..span.start].lines().count().max(1));
                    file.problems.push(format!("{}:{line}: {}", path.display(), error.message()));
                }
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => file.problems.push(format!("{}: {error}", path.display())),
        }
    }
    let mut config = Config::read(&mut file, off);
    config.problems = file.problems;
    config
}

#[derive(Default)]
struct TomlFile {
    table: toml::Table,
    problems: Vec<String>,
}

impl Sections for TomlFile {
    fn section<T: DeserializeOwned + Default>(&mut self, name: &str) -> T {
        let section = if name.is_empty() {
            toml::Value::Table(
                self.table
                    .iter()
                    .filter(|(_, value)| !value.is_table())
                    .map(|(k, v)| (k.clone(), v.clone()))
                    .collect(),
            )
        } else {
            match self.table.get(name) {
                Some(section) => section.clone(),
                None => return T::default(),
            }
        };
        section.try_into().unwrap_or_else(|error: toml::de::Error| {
            let place = if name.is_empty() { "top level".to_owned() } else { format!("[{name}]") };
            self.problems.push(format!("{place}: {}", error.message()));
            T::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use tidegate_core::meter::Threshold;
    use tidegate_core::words::Lang;

    fn config(text: &str) -> Config {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.toml");
        fs::write(&path, text).unwrap();
        read(Some(&path), None)
    }

    #[test]
    fn values_are_taken() {
        let config = config("lang = \"ja\"\n[meter]\nwindow = 150000\n[pressure]\ninfo = \"50%\"\n");
        assert_eq!(config.general.lang, Some(Lang::Ja));
        assert_eq!(config.meter.window, Some(150_000));
        assert_eq!(config.policies.pressure.info, Threshold::Level(50.0));
        assert!(config.problems.is_empty());
    }

    #[test]
    fn a_broken_section_falls_back_alone() {
        let config = config("lang = \"ja\"\n[meter]\nwindow = \"much\"\n[pressure]\nurgent = \"80%\"\n");
        assert_eq!(config.general.lang, Some(Lang::Ja));
        assert_eq!(config.meter.window, None);
        assert_eq!(config.policies.pressure.urgent, Threshold::Level(80.0));
        assert_eq!(config.problems.len(), 1, "{:?}", config.problems);
        assert!(config.problems[0].starts_with("[meter]"), "{:?}", config.problems);
    }

    #[test]
    fn a_broken_file_is_named_with_its_line() {
        let config = config("lang = \"ja\"\n[meter\n");
        assert_eq!(config.policies, Config::default().policies);
        assert!(config.problems[0].contains("config.toml:2:"), "{:?}", config.problems);
    }
}
