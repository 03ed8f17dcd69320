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

/// The rows of tables whose first column has this name: the first two cells.
fn rows<'a>(page: &'a str, name: &str) -> Vec<(&'a str, &'a str)> {
    let mut rows = Vec::new();
    let mut is_wanted = false;
    for line in page.lines() {
        let mut cells = line.split(" | ").map(|cell| cell.trim_matches(['|', ' ']));
        match (cells.next(), cells.next()) {
            _ if !line.starts_with('|') => is_wanted = false,
            (Some(first), _) if first == name => is_wanted = true,
            (Some("---"), _) => {}
            (Some(first), Some(second)) if is_wanted => rows.push((first, second)),
            _ => {}
        }
    }
    rows
}

/// In each row of these tables, the second cell names tests. Returns the number of rows.
pub(crate) fn assert_tests_exist(page: &str, name: &str) -> usize {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = fs::read_to_string(root.join(page)).expect(page);
    let mut code = String::new();
    for folder in ["crates", "xtask"] {
        sources(&root.join(folder), &mut code);
    }
    let rows = rows(&page, name);
    for (row, tests) in &rows {
        let names: Vec<&str> = tests.split('`').skip(1).step_by(2).collect();
        assert!(!names.is_empty(), "no test: {row}");
        for name in names {
            assert!(code.contains(&format!("fn {name}(")), "there is no test {name}: {row}");
        }
    }
    rows.len()
}

#[test]
fn every_threat_has_a_test_that_is_there() {
    const PROOFS: &str = "crates/cli/tests/cli/security_doc.md";
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |path: &str| fs::read_to_string(root.join(path)).expect(path);
    let (page, proofs) = (read("SECURITY.md"), read(PROOFS));
    let (defended, tested) = (rows(&page, "threat"), rows(&proofs, "threat"));
    assert!(defended.len() > 50, "{} rows", defended.len());
    let names = |rows: &[(&str, &str)]| rows.iter().map(|(threat, _)| (*threat).to_owned()).collect();
    let (defended, of_tests): (BTreeSet<String>, BTreeSet<String>) = (names(&defended), names(&tested));
    assert_eq!(defended, of_tests, "both files have the same threats");
    assert_tests_exist(PROOFS, "threat");
}
