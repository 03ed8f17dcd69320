//! Files that Git or Jujutsu left with both sides of a merge in them: which one is right, a person decides.

use std::iter;

/// Markers are longer where a text has lines like them.
const SHORTEST: usize = 7;

/// Lines between the sides: of Git, also with the base (`diff3`), and of Jujutsu, for a difference (`%`, `\`) and for contents
/// (`+`, `-`).
const BETWEEN: [u8; 6] = *b"=|%\\+-";

/// The lines that mark the beginning, the sides and the end, in this order. In code of a note, too: a merge does not know of it.
pub fn has_conflict(text: &str) -> bool {
    // Most files have none, and this shows it.
    if !text.contains("<<<<<<<") {
        return false;
    }
    let mut begun = None;
    let mut has_sides = false;
    for (byte, length) in text.trim_start_matches('\u{feff}').lines().filter_map(marker) {
        match byte {
            b'<' => (begun, has_sides) = (Some(length), false),
            b'>' if has_sides && begun == Some(length) => return true,
            between if BETWEEN.contains(&between) => has_sides |= begun == Some(length),
            _ => {}
        }
    }
    false
}

/// One character, repeated, and then at most a label.
fn marker(line: &str) -> Option<(u8, usize)> {
    let line = line.trim_end();
    let byte = *line.as_bytes().first()?;
    if !BETWEEN.iter().chain(b"<>").any(|known| *known == byte) {
        return None;
    }
    let length = iter::zip(line.bytes(), iter::repeat(byte)).take_while(|(is, wanted)| is == wanted).count();
    let label = &line[length..];
    let fits = label.is_empty() || label.starts_with(' ') && byte != b'=';
    (length >= SHORTEST && fits).then_some((byte, length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_of_a_merge_are_a_conflict() {
        let (a, b) = ("## [2026-01-01] - a\n", "## [2026-01-02] - b\n");
        for sides in [
            format!("# P\n<<<<<<< HEAD\n{a}=======\n{b}>>>>>>> feature\n"),
            // `merge.conflictStyle = diff3` and `zdiff3`
            format!("<<<<<<< HEAD\n{a}||||||| 1a2b3c4\n## old\n=======\n{b}>>>>>>> feature\n"),
            format!("<<<<<<< HEAD\n{a}|||||||\n=======\n{b}>>>>>>> feature\n"),
            // Without labels, and with `conflict-marker-size`
            format!("<<<<<<<\n{a}=======\n{b}>>>>>>>\n"),
            format!("<<<<<<<<<<<< HEAD\n{a}============\n{b}>>>>>>>>>>>> feature\n"),
            // One side is empty, and a stash.
            "<<<<<<< Updated upstream\n=======\nx\n>>>>>>> Stashed changes\n".to_owned(),
            // Jujutsu: `ui.conflict-marker-style` is `diff`, `snapshot`, `git`.
            format!(
                "<<<<<<< Conflict 1 of 1\n%%%%%%% Changes from base to side #1\n-x\n+{a}+++++++ Contents of side #2\n{b}>>>>>>> Conflict 1 of 1 ends\n"
            ),
            format!(
                "<<<<<<< conflict 1 of 1\n%%%%%%% diff from: base\n\\\\\\\\\\\\\\        to: side #1\n+{a}+++++++ side #2\n{b}>>>>>>> conflict 1 of 1 ends\n"
            ),
            format!(
                "<<<<<<< Conflict 1 of 1\n+++++++ Contents of side #1\n{a}------- Contents of base\nx\n+++++++ Contents of side #2\n{b}>>>>>>> Conflict 1 of 1 ends\n"
            ),
            format!(
                "<<<<<<< Side #1 (Conflict 1 of 1)\n{a}||||||| Base\nx\n=======\n{b}>>>>>>> Side #2 (Conflict 1 of 1 ends)\n"
            ),
        ] {
            let crlf = sides.replace('\n', "\r\n");
            assert!(has_conflict(&sides) && has_conflict(&crlf), "{sides}");
            assert!(has_conflict(&format!("\u{feff}{sides}")) && has_conflict(&format!("```\n{sides}```\n")));
        }
        for other in [
            "",
            "## [2026-01-01] - a\n=======\n",
            "Git writes <<<<<<< HEAD, ======= and >>>>>>> feature.\n",
            "<<<<<<< HEAD\nresolved half\n",
            "<<<<<<< HEAD\nresolved\n>>>>>>> feature\n",
            ">>>>>>> feature\n=======\n<<<<<<< HEAD\n",
            "<<<<<<<x\n=======\n>>>>>>>x\n",
            "<<<<<< a\n======\n>>>>>> b\n",
        ] {
            assert!(!has_conflict(other), "{other}");
        }
    }
}
