//! The clauses of a sentence: a rule often stands behind the task, as in "add the export, no new dependencies".

use std::ops::Range;

use crate::feature::knowledge::constraint::sentences::quotation_end;

/// Later clauses belong to the last one.
const MOST: usize = 6;

/// What stands between two clauses.
const GAPS: [&str; 12] = [", ", ",\n", "; ", " but ", " and ", " - ", " – ", " — ", "、", "，", " (", "（"];

/// 「触らないで、というのは取り消し」: what comes before them is only named.
const OF_SAYING: [&str; 2] = ["と", "って"];

/// None if there is only one.
pub fn clauses(sentence: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let (mut from, mut at) = (0, 0);
    while let Some(c) = sentence[at..].chars().next() {
        if let Some(end) = quotation_end(sentence, at) {
            at = end;
            continue;
        }
        let gap = GAPS.iter().find(|gap| sentence[at..].starts_with(**gap));
        let parts = |gap: &&&str| {
            let rest = &sentence[at + gap.len()..];
            found.len() + 1 < MOST && !OF_SAYING.iter().any(|word| rest.starts_with(word))
        };
        let Some(gap) = gap.filter(parts) else {
            at += c.len_utf8();
            continue;
        };
        if at > from {
            found.push(from..at);
        }
        from = at + gap.len();
        at = from;
    }
    if found.is_empty() {
        return found;
    }
    if from < sentence.len() {
        found.push(from..sentence.len());
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clauses_of_a_sentence() {
        for (sentence, expected) in [
            ("Add it.", vec![]),
            ("add the export, no new deps", vec!["add the export", "no new deps"]),
            ("fix it but dont touch src and keep it", vec!["fix it", "dont touch src", "keep it"]),
            ("add \"a, b\" here, ok", vec!["add \"a, b\" here", "ok"]),
            ("直して、触らないで", vec!["直して", "触らないで"]),
            ("触らないで、というのは取り消し", vec![]),
            (", ", vec![]),
            ("a,, b", vec!["a,", "b"]),
        ] {
            let found: Vec<&str> = clauses(sentence).into_iter().map(|clause| &sentence[clause]).collect();
            assert_eq!(found, expected, "{sentence}");
        }
    }
}
