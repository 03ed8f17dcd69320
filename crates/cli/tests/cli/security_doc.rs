//! SECURITY.md names a test for every threat: each has to be there.

use std::fs;
use std::path::{Path, PathBuf};

fn sources(folder: &Path, found: &mut String) {
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() && !path.ends_with("target") {
            sources(&path, found);
        } else if path.extension().is_some_and(|end| end == "rs") {
            found.push_str(&fs::read_to_string(&path).expect("source text"));
        }
    }
}

#[test]
fn every_threat_has_a_test_that_is_there() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = fs::read_to_string(root.join("SECURITY.md")).expect("SECURITY.md");
    let mut code = String::new();
    for folder in ["crates", "xtask"] {
        sources(&root.join(folder), &mut code);
    }
    let rows = text.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| ---"));
    let rows: Vec<&str> = rows.filter(|line| !line.starts_with("| Threat")).collect();
    assert!(rows.len() > 30, "{} rows", rows.len());
    for row in rows {
        let tests = row.trim_end_matches(" |").rsplit_once(" | ").map_or("", |(_, tests)| tests);
        let names: Vec<&str> = tests.split('`').skip(1).step_by(2).collect();
        assert!(!names.is_empty(), "no test: {row}");
        for name in names {
            assert!(code.contains(&format!("fn {name}(")), "there is no test {name}: {row}");
        }
    }
}
