//! Runs the literate tables: the Markdown files next to the code are documentation and tests at once.

mod commands;
mod knowledge;
mod markdown;
mod memory;
mod outcomes;
mod policies;
mod situation;
mod vocabulary;
#[path = "../words/mod.rs"]
mod words;

use std::path::{Path, PathBuf};

use vocabulary::Report;

/// A text below `src`, by its path.
fn source(path: &str) -> String {
    let path = format!("{}/src/{path}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|why| panic!("{path}: {why}"))
}

fn markdown_files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let (folders, files): (Vec<PathBuf>, Vec<PathBuf>) = entries.partition(|path| path.is_dir());
    let found = files.into_iter().filter(|path| path.extension().is_some_and(|kind| kind == "md"));
    found.chain(folders.iter().flat_map(|folder| markdown_files(folder))).collect()
}

#[test]
fn every_row_of_every_table() {
    let mut report = Report::default();
    let mut files = vec!["redact/redact.md".to_owned()];
    files.extend(policies::run(&mut report));
    println!("{} rows of policies", report.rows);
    files.extend(commands::run(&mut report));
    files.extend(knowledge::run(&mut report));
    files.extend(memory::run(&mut report));
    files.extend(outcomes::run(&mut report));
    println!("{} rows", report.rows);
    assert!(report.wrong.is_empty(), "\n{}", report.wrong);
    assert!(report.unused().is_empty(), "no table has these columns: {:?}", report.unused());

    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src"));
    let not_run =
        markdown_files(root).into_iter().filter(|path| !files.iter().any(|file| path.ends_with(file)));
    assert_eq!(not_run.collect::<Vec<_>>(), Vec::<PathBuf>::new(), "no test runs them");
}
