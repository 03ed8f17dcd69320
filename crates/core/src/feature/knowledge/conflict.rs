//! Files that Git left with both sides of a merge in them: which one is right, a person decides.

/// The lines by which Git marks both sides, in this order. In code of a note, too: a merge does not know of it.
pub fn has_conflict(text: &str) -> bool {
    // Most files have none, and this shows it.
    if !text.contains("<<<<<<< ") {
        return false;
    }
    let mut wanted = [("<<<<<<< ", false), ("=======", true), (">>>>>>> ", false)].into_iter().peekable();
    for line in text.lines().map(str::trim_end) {
        wanted.next_if(|(mark, whole)| if *whole { line == *mark } else { line.starts_with(mark) });
    }
    wanted.peek().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_of_a_merge_are_a_conflict() {
        let sides = "# P\n<<<<<<< HEAD\n## [2026-01-01] - a\n=======\n## [2026-01-02] - b\n>>>>>>> feature\n";
        assert!(has_conflict(sides) && has_conflict(&sides.replace('\n', "\r\n")));
        assert!(has_conflict(&sides.replace("=======", "||||||| base\n## old\n=======")));
        for other in [
            "",
            "## [2026-01-01] - a\n=======\n",
            "Git writes <<<<<<< HEAD, ======= and >>>>>>> feature.\n",
            "<<<<<<< HEAD\nresolved half\n",
            ">>>>>>> feature\n=======\n<<<<<<< HEAD\n",
        ] {
            assert!(!has_conflict(other), "{other}");
        }
    }
}
