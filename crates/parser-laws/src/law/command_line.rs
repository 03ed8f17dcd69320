//! Any command line: it is understood or not, and nothing that could be hidden is evidence.

use tidegate_core::feature::verification::checks::{
    ExtraChecks, RunPlace, SeenFile, could_check, folders_of_line, last_move, read_project, restored_files,
};
use tidegate_core::shell::{self, Status};

pub fn holds(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    // The first line is what the project's files say, the rest is what was run.
    let (file, line) = text.split_once('\n').unwrap_or(("", text));
    let seen =
        ["Cargo.toml", "package.json", "Makefile", "justfile", "pyproject.toml", "go.mod", "composer.json"]
            .map(|name| SeenFile { folder: "", name, text: Some(file) });
    let project = read_project(&seen);
    let _ = (project.kinds(), project.examples_for(&[]));
    let place = RunPlace { roots: &["/repo"], cwd: "/repo/web", end: None, links: &[] };
    let extra = ExtraChecks::default();
    let _ = shell::parse_process(line);
    let Some(script) = shell::parse(line) else { return };
    let _ = folders_of_line(&script, place);
    let _ = (
        last_move(&script),
        restored_files(&script),
        shell::files_in_text(line),
        shell::files_in_patch(line),
    );
    let edited = ["src/a.rs", "b/c.py", "d_test.go", "e.ts"].map(str::to_owned);
    let _ = project.left_by(&project.evidence(&script.revealed(), place, &extra), &edited);
    for write in script.writes() {
        assert!(write.step <= script.steps.len());
        let _ = write.path.resolve("/repo", place.cwd, None);
    }
    for evidence in project.evidence(&script, place, &extra) {
        assert_eq!(script.steps[evidence.step].status, Status::Decides);
        assert!(could_check(&script, &extra));
    }
    // Where the line cannot end the parentheses itself.
    if !line.contains(')')
        && let Some(script) = shell::parse(&format!("({line}\n) || true"))
    {
        assert!(project.evidence(&script, place, &extra).is_empty());
    }
}
