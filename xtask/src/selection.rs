//! What a change can affect, by the folder it lies in.
//!
//! Rooms do not name each other (`cargo xtask layers`), and hardly a command names another. So a change in some of them
//! is tested by the scenarios that show these; all other tests run anyway. A change anywhere else can affect everything.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use xtask::failure::{Done, While};
use xtask::workspace;

/// Modules of scenarios by room, as in `feature/cycle`, or command, as in `command/off`.
pub(crate) struct ScenarioTable(BTreeMap<String, BTreeSet<String>>);

/// The row of modules that run after every change.
const ALWAYS: &str = "always";

#[derive(Debug, PartialEq)]
pub(crate) enum Affected {
    Everything,
    /// Both are empty if neither the program nor a scenario changed.
    Part {
        rooms: BTreeSet<String>,
        scenarios: BTreeSet<String>,
    },
}

impl Affected {
    pub(crate) fn reaches(&self, room: &str) -> bool {
        match self {
            Affected::Everything => true,
            Affected::Part { rooms, .. } => rooms.contains(room),
        }
    }
}

/// Where a file lies.
enum Place<'a> {
    Room(String),
    Scenario(&'a str),
    /// Neither in the program nor in a scenario.
    Aside,
    Elsewhere,
}

impl ScenarioTable {
    pub(crate) fn read() -> Done<ScenarioTable> {
        let path = workspace::root().join("crates/e2e/scenarios.txt");
        Ok(ScenarioTable::parse(&fs::read_to_string(&path).while_(path.display())?))
    }

    fn parse(text: &str) -> ScenarioTable {
        let rows = text.lines().filter(|line| !line.starts_with('#'));
        let rows = rows.filter_map(|line| {
            let mut words = line.split_whitespace().map(str::to_owned);
            Some((words.next()?, words.collect()))
        });
        ScenarioTable(rows.collect())
    }

    pub(crate) fn affected_by(&self, changed: &[String]) -> Affected {
        let (mut rooms, mut scenarios) = (BTreeSet::new(), BTreeSet::new());
        for file in changed {
            match place_of(file) {
                Place::Aside => {}
                Place::Scenario(module) if self.0.values().any(|modules| modules.contains(module)) => {
                    scenarios.insert(module.to_owned());
                }
                Place::Room(room) if self.0.contains_key(&room) => {
                    scenarios.extend(self.0[&room].iter().cloned());
                    rooms.insert(room);
                }
                Place::Room(_) | Place::Scenario(_) | Place::Elsewhere => return Affected::Everything,
            }
        }
        if !rooms.is_empty() {
            scenarios.extend(self.0.get(ALWAYS).into_iter().flatten().cloned());
        }
        Affected::Part { rooms, scenarios }
    }
}

fn place_of(file: &str) -> Place<'_> {
    let stem = |name: &'_ str| name.split('.').next().unwrap_or_default().len();
    match file.split('/').collect::<Vec<_>>()[..] {
        ["crates", "core" | "state" | "hook" | "cli", "src", kind @ ("feature" | "command"), name, ..] => {
            Place::Room(format!("{kind}/{}", &name[..stem(name)]))
        }
        ["crates", "memory", "src", ..] => Place::Room("feature/memory".to_owned()),
        ["crates", "e2e", "tests", "scenario", name, ..] => Place::Scenario(&name[..stem(name)]),
        ["crates", "e2e", ..] => Place::Elsewhere,
        ["crates", _, "tests", ..] | ["docs", ..] => Place::Aside,
        [name] if Path::new(name).extension().is_some_and(|end| end == "md") => Place::Aside,
        _ => Place::Elsewhere,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str =
        "# by room\nalways  denial\n\nfeature/cycle  cycle\nfeature/memory  mcp memory\ncommand/man\n";

    fn affected(changed: &[&str]) -> Affected {
        let changed: Vec<String> = changed.iter().map(|file| (*file).to_owned()).collect();
        ScenarioTable::parse(TABLE).affected_by(&changed)
    }

    fn part(rooms: &[&str], scenarios: &[&str]) -> Affected {
        let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        Affected::Part { rooms: set(rooms), scenarios: set(scenarios) }
    }

    #[test]
    fn a_room_has_its_scenarios_and_those_that_always_run() {
        let cycle = part(&["feature/cycle"], &["cycle", "denial"]);
        for file in [
            "crates/core/src/feature/cycle/mod.rs",
            "crates/core/src/feature/cycle/stage/cycle.md",
            "crates/state/src/feature/cycle.rs",
        ] {
            assert_eq!(affected(&[file]), cycle, "{file}");
        }
        assert_eq!(affected(&["crates/cli/src/command/man.rs"]), part(&["command/man"], &["denial"]));
        assert_eq!(
            affected(&["crates/memory/src/sqlite/mod.rs"]),
            part(&["feature/memory"], &["denial", "mcp", "memory"])
        );
    }

    #[test]
    fn changes_add_up() {
        let rooms = ["crates/core/src/feature/cycle/mod.rs", "crates/state/src/feature/memory/spool.rs"];
        let both = part(&["feature/cycle", "feature/memory"], &["cycle", "denial", "mcp", "memory"]);
        assert_eq!(affected(&rooms), both);
        assert_eq!(affected(&[rooms[0], rooms[1], "README.md", "crates/cli/tests/cli/cycle.rs"]), both);
        assert_eq!(affected(&[rooms[0], "Cargo.lock"]), Affected::Everything);
    }

    #[test]
    fn tests_and_documents_are_not_in_the_program() {
        let aside = [
            "CHANGELOG.md",
            "docs/cli.md",
            "crates/cli/tests/cli/main.rs",
            "crates/core/tests/tables/main.rs",
        ];
        assert_eq!(affected(&aside), part(&[], &[]));
        assert_eq!(affected(&["crates/e2e/tests/scenario/cycle/chain.rs"]), part(&[], &["cycle"]));
        assert_eq!(affected(&["crates/e2e/tests/scenario/mcp.rs"]), part(&[], &["mcp"]));
    }

    #[test]
    fn anything_else_can_affect_everything() {
        for file in [
            "crates/core/src/feature/mod.rs",
            "crates/core/src/feature/facts.rs",
            "crates/core/src/feature/new_room/mod.rs",
            "crates/core/src/event/mod.rs",
            "crates/core/src/lib.rs",
            "crates/cli/src/command/mod.rs",
            "crates/cli/src/main.rs",
            "crates/cli/Cargo.toml",
            "crates/e2e/src/model.rs",
            "crates/e2e/client-version",
            "crates/e2e/tests/scenario/mod.rs",
            "crates/e2e/tests/scenario/new.rs",
            "plugin/hooks/hooks.json",
            "xtask/src/e2e.rs",
            "Cargo.toml",
            "rustc -vV",
        ] {
            assert_eq!(affected(&[file]), Affected::Everything, "{file}");
        }
    }

    #[test]
    fn the_table_names_what_there_is() {
        let root = workspace::root();
        let exists = |path: String| root.join(&path).is_dir() || root.join(path + ".rs").is_file();
        for (room, modules) in ScenarioTable::read().unwrap().0 {
            let crates = ["core", "state", "hook", "cli"];
            let is_room = crates.iter().any(|name| exists(format!("crates/{name}/src/{room}")));
            assert!(is_room || room == ALWAYS, "{room}");
            for module in modules {
                assert!(exists(format!("crates/e2e/tests/scenario/{module}")), "{room}: {module}");
            }
        }
    }
}
