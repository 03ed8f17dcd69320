//! Lists within a sentence.

/// The first five names, and the number of the others.
pub fn name_a_few(names: &[&str]) -> String {
    const MOST: usize = 5;
    let (shown, more) = names.split_at(names.len().min(MOST));
    let shown = shown.join(", ");
    if more.is_empty() { shown } else { format!("{shown} and {} more", more.len()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_names_a_few() {
        assert_eq!(name_a_few(&["a", "b", "c", "d", "e"]), "a, b, c, d, e");
        assert_eq!(name_a_few(&["a", "b", "c", "d", "e", "f", "g"]), "a, b, c, d, e and 2 more");
    }
}
