//! Every threat of SECURITY.md has a defence and, in `security_doc.md`, tests that exist.

use std::collections::BTreeSet;
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

/// The rows of tables that begin with a column `threat`: the threat, and the second column.
fn threats(page: &str) -> Vec<(&str, &str)> {
    let mut threats = Vec::new();
    let mut is_about_threats = false;
    for line in page.lines() {
        let mut cells = line.split(" | ").map(|cell| cell.trim_matches(['|', ' ']));
        match (cells.next(), cells.next()) {
            _ if !line.starts_with('|') => is_about_threats = false,
            (Some("threat"), _) => is_about_threats = true,
            (Some("---"), _) => {}
            (Some(threat), Some(second)) if is_about_threats => threats.push((threat, second)),
            _ => {}
        }
    }
    threats
}

#[test]
fn every_threat_has_a_test_that_is_there() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |path: &str| fs::read_to_string(root.join(path)).expect(path);
    let mut code = String::new();
    for folder in ["crates", "xtask"] {
        sources(&root.join(folder), &mut code);
    }
    let (page, proofs) = (read("SECURITY.md"), read("crates/cli/tests/cli/security_doc.md"));
    let (defended, tested) = (threats(&page), threats(&proofs));
    assert!(defended.len() > 50, "{} rows", defended.len());
    let names = |rows: &[(&str, &str)]| rows.iter().map(|(threat, _)| (*threat).to_owned()).collect();
    let (defended, of_tests): (BTreeSet<String>, BTreeSet<String>) = (names(&defended), names(&tested));
    assert_eq!(defended, of_tests, "both files have the same threats");
    for (threat, tests) in tested {
        let names: Vec<&str> = tests.split('`').skip(1).step_by(2).collect();
        assert!(!names.is_empty(), "no test: {threat}");
        for name in names {
            assert!(code.contains(&format!("fn {name}(")), "there is no test {name}: {threat}");
        }
    }
}
