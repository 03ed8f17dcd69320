//! "Did you mean …?"

/// The candidate that a mistyped name most likely means.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let letters = name.chars().count();
    let most = (letters / 3).max(1);
    let is_part = |candidate: &str| letters >= 3 && candidate.split(['-', '_']).any(|part| part == name);
    candidates
        .into_iter()
        .map(|candidate| (if is_part(candidate) { 1 } else { distance(name, candidate) }, candidate))
        .filter(|(distance, _)| *distance <= most)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// "; did you mean `…`?", or nothing.
pub fn hint<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    nearest(name, candidates).map(|name| format!("; did you mean `{name}`?")).unwrap_or_default()
}

/// All candidates, the most similar first; in their order where that is equal.
pub fn sort_by_nearness<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let mut sorted: Vec<&str> = candidates.into_iter().collect();
    sorted.sort_by_cached_key(|candidate| {
        // A beginning is how people shorten an id.
        if !name.is_empty() && candidate.starts_with(name) { 0 } else { distance(name, candidate) }
    });
    sorted
}

/// The edit distance: letters changed, added, left out or exchanged with their neighbour.
fn distance(from: &str, to: &str) -> usize {
    // Names are short: the rest of a long text cannot make it a typing error.
    let (from, to): (Vec<char>, Vec<char>) = (from.chars().take(64).collect(), to.chars().take(64).collect());
    let mut rows = vec![(0..=to.len()).collect::<Vec<_>>()];
    for (i, a) in from.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, b) in to.iter().enumerate() {
            let changed = rows[i][j] + usize::from(a != b);
            let mut least = changed.min(rows[i][j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *a == to[j - 1] && from[i - 1] == *b {
                least = least.min(rows[i - 1][j - 1] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[from.len()][to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typing_errors_are_told_from_other_words() {
        let names = ["mode", "info", "urgent"];
        assert_eq!(nearest("moed", names), Some("mode"));
        assert_eq!(nearest("urgnet", names), Some("urgent"));
        assert_eq!(nearest("inof", names), Some("info"));
        assert_eq!(nearest("colour", names), None);
        assert_eq!(nearest("", names), None);
        assert_eq!(nearest("verify", ["skill-gate", "verify-stop"]), Some("verify-stop"));
        assert_eq!(sort_by_nearness("urg", names), ["urgent", "mode", "info"]);
        assert_eq!(nearest("skill_gate", ["skill-gate", "verify-stop"]), Some("skill-gate"));
    }
}
