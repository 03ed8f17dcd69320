//! Goals of what `cargo xtask eval-…` measures.

/// Each of `goals` is a name, the reached percentage and the wanted one. Not a number reaches no goal.
pub(crate) fn missed<'a>(goals: impl IntoIterator<Item = (&'a str, f64, f64)>) -> Vec<String> {
    let missed = goals.into_iter().filter(|(_, reached, goal)| reached.is_nan() || reached < goal);
    missed.map(|(what, reached, goal)| format!("{what} is {reached:.1}%, not {goal:.1}%")).collect()
}
