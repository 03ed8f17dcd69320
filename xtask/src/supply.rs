//! `cargo xtask supply`: licences, sources and known vulnerabilities of every locked package, against `deny.toml`.
//!
//! Uses only what cargo already has, which takes a second or two; building `cargo-deny` would take minutes on
//! every new machine.

mod advisories;
mod licence;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use serde_json::Value;
use toml::Table;

use advisories::Checked;
use licence::Expression;
use xtask::failure::{Done, Failure, While};
use xtask::print;
use xtask::workspace::{self, cargo};

/// The fuzz targets have a lock of their own.
const LOCKS: [&str; 2] = ["Cargo.lock", "fuzz/Cargo.lock"];

#[derive(Debug)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) licence: String,
    pub(crate) repository: Option<String>,
    pub(crate) folder: PathBuf,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Locked {
    name: String,
    version: String,
    /// `None` for a folder of this repository.
    source: Option<String>,
    has_checksum: bool,
}

/// Returns why advisories could not be checked, if so.
pub(crate) fn check() -> Done<Option<String>> {
    let accepted = Accepted::read()?;
    let packages = packages()?;
    let faults = licence_faults(&packages, &accepted.licences);
    fail_with_faults(
        &faults,
        "licences that deny.toml does not accept",
        "choose another package, or accept the licence",
    )?;
    let mut locked = BTreeSet::new();
    for lock in LOCKS {
        let path = workspace::root().join(lock);
        let text = fs::read_to_string(&path).while_(path.display())?;
        locked.extend(locked_in(&text).while_(path.display())?);
    }
    let faults = source_faults(&locked, &accepted.registries);
    fail_with_faults(
        &faults,
        "packages from elsewhere than deny.toml accepts",
        "use a release from crates.io",
    )?;
    print::line(&format!("    {} packages, licences and sources as accepted", locked.len()));
    let versions: Vec<(&str, &str)> = locked
        .iter()
        .filter(|package| package.source.is_some())
        .map(|package| (package.name.as_str(), package.version.as_str()))
        .collect();
    match advisories::check(&versions, &accepted.ignored)? {
        Checked::With { vulnerable, remarks, date } => {
            for remark in remarks {
                print::line(&format!("    remark: {remark}"));
            }
            fail_with_faults(
                &vulnerable,
                "known vulnerabilities",
                "update the package (`cargo update -p NAME`)",
            )?;
            print::line(&format!("    no known vulnerability; RustSec's advisories as of {date}"));
            Ok(None)
        }
        Checked::Not(why) => {
            print::line(&format!("    ADVISORIES NOT CHECKED: {why}"));
            Ok(Some(why))
        }
    }
}

/// Of the workspace's packages, by name and version.
pub(crate) fn checksums() -> Done<BTreeMap<(String, String), String>> {
    let path = workspace::root().join("Cargo.lock");
    let text = fs::read_to_string(&path).while_(path.display())?;
    let lock: Table = text.parse().while_(path.display())?;
    let packages = lock.get("package").and_then(|packages| packages.as_array()).into_iter().flatten();
    let text = |package: &toml::Value, key: &str| Some(package.get(key)?.as_str()?.to_owned());
    let sum = |package: &toml::Value| {
        Some(((text(package, "name")?, text(package, "version")?), text(package, "checksum")?))
    };
    Ok(packages.filter_map(sum).collect())
}

fn fail_with_faults(faults: &[String], what: &str, next: &str) -> Done {
    if faults.is_empty() {
        return Ok(());
    }
    Err(Failure::new(format!("{what}:\n  {}", faults.join("\n  "))).next(next))
}

/// From `deny.toml`.
struct Accepted {
    licences: Vec<String>,
    registries: Vec<String>,
    ignored: Vec<String>,
}

impl Accepted {
    fn read() -> Done<Accepted> {
        let path = workspace::root().join("deny.toml");
        let text = fs::read_to_string(&path).while_(path.display())?;
        let table: Table = text.parse().while_(path.display())?;
        let list = |section: &str, key: &str| {
            let entries = table.get(section).and_then(|section| section.get(key)?.as_array());
            let entries =
                entries.ok_or_else(|| Failure::new(format!("deny.toml has no `{section}.{key}`")))?;
            Ok(entries.iter().filter_map(|entry| entry.as_str().map(str::to_owned)).collect())
        };
        Ok(Accepted {
            licences: list("licenses", "allow")?,
            registries: list("sources", "allow-registry")?,
            ignored: list("advisories", "ignore")?,
        })
    }
}

/// Of the workspace's lock, for all platforms.
pub(crate) fn packages() -> Done<Vec<Package>> {
    let text = workspace::read_output(&mut cargo(&["metadata", "--format-version", "1", "--locked"]))?;
    let metadata: Value = serde_json::from_str(&text).while_("reading what cargo metadata prints")?;
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let text = |package: &Value, key: &str| package[key].as_str().map(str::to_owned);
    let packages = packages.filter_map(|package| {
        Some(Package {
            name: text(package, "name")?,
            version: text(package, "version")?,
            licence: text(package, "license").unwrap_or_default(),
            repository: text(package, "repository"),
            folder: PathBuf::from(package["manifest_path"].as_str()?).parent()?.to_owned(),
        })
    });
    Ok(packages.collect())
}

pub(crate) fn is_met_by_mit(licence: &str) -> bool {
    Expression::parse(licence).is_ok_and(|expression| expression.is_met_by(&|name| name == "MIT"))
}

fn licence_faults(packages: &[Package], accepted: &[String]) -> Vec<String> {
    let fault = |package: &Package| {
        let Package { name, version, licence, .. } = package;
        match Expression::parse(licence) {
            Ok(expression) if expression.is_met_by(&|name| accepted.iter().any(|known| known == name)) => {
                None
            }
            Ok(_) => Some(format!("{name} {version}: {licence}")),
            Err(why) => Some(format!("{name} {version}: {why}")),
        }
    };
    packages.iter().filter_map(fault).collect()
}

fn locked_in(lock: &str) -> Result<Vec<Locked>, toml::de::Error> {
    let lock: Table = lock.parse()?;
    let packages = lock.get("package").and_then(|packages| packages.as_array()).into_iter().flatten();
    let text = |package: &toml::Value, key: &str| Some(package.get(key)?.as_str()?.to_owned());
    let locked = packages.filter_map(|package| {
        Some(Locked {
            name: text(package, "name")?,
            version: text(package, "version")?,
            source: text(package, "source"),
            has_checksum: package.get("checksum").is_some(),
        })
    });
    Ok(locked.collect())
}

fn source_faults(locked: &BTreeSet<Locked>, registries: &[String]) -> Vec<String> {
    let fault = |package: &Locked| {
        let Locked { name, version, source, has_checksum } = package;
        let source = source.as_ref()?;
        let registry =
            source.strip_prefix("registry+").filter(|url| registries.iter().any(|known| known == url));
        match registry {
            None => Some(format!("{name} {version} comes from {source}")),
            Some(_) if !has_checksum => Some(format!("{name} {version} has no checksum")),
            Some(_) => None,
        }
    };
    locked.iter().filter_map(fault).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

    #[test]
    fn a_package_from_elsewhere_or_without_a_checksum_is_named() {
        let lock = format!(
            "[[package]]\nname = \"ours\"\nversion = \"0.1.0\"\n\
             [[package]]\nname = \"good\"\nversion = \"1.0.0\"\nsource = \"{REGISTRY}\"\nchecksum = \"00\"\n\
             [[package]]\nname = \"unsealed\"\nversion = \"1.0.0\"\nsource = \"{REGISTRY}\"\n\
             [[package]]\nname = \"fork\"\nversion = \"1.0.0\"\nsource = \"git+https://example.org/fork#abc\"\n\
             [[package]]\nname = \"other\"\nversion = \"1.0.0\"\nsource = \"registry+https://example.org/index\"\n"
        );
        let locked = locked_in(&lock).unwrap().into_iter().collect();
        let registries = ["https://github.com/rust-lang/crates.io-index".to_owned()];
        assert_eq!(
            source_faults(&locked, &registries),
            [
                "fork 1.0.0 comes from git+https://example.org/fork#abc",
                "other 1.0.0 comes from registry+https://example.org/index",
                "unsealed 1.0.0 has no checksum",
            ]
        );
    }

    #[test]
    fn a_licence_that_is_not_accepted_or_missing_is_named() {
        let package = |name: &str, licence: &str| Package {
            name: name.to_owned(),
            version: "1.0.0".to_owned(),
            licence: licence.to_owned(),
            repository: None,
            folder: PathBuf::new(),
        };
        let packages = [
            package("either", "GPL-3.0-only OR MIT"),
            package("both", "GPL-3.0-only AND MIT"),
            package("none", ""),
        ];
        let faults = licence_faults(&packages, &["MIT".to_owned()]);
        assert_eq!(faults, ["both 1.0.0: GPL-3.0-only AND MIT", "none 1.0.0: no licence is named"]);
    }

    /// A typo in an exception would hide the next vulnerability.
    #[test]
    fn deny_toml_can_be_read() {
        let accepted = Accepted::read().unwrap();
        assert!(accepted.licences.iter().any(|licence| licence == "MIT"));
        assert_eq!(accepted.registries.len(), 1);
    }
}
