//! Goals of the classifiers that `cargo xtask eval-…` measures.

/// Each of `goals` is a name, the reached percentage and the wanted one. Not a number reaches no goal.
pub(crate) fn missed<const N: usize>(goals: [(&str, f64, f64); N]) -> Vec<String> {
    let missed = goals.into_iter().filter(|(_, reached, goal)| reached.is_nan() || reached < goal);
    missed.map(|(what, reached, goal)| format!("{what} is {reached:.1}%, not {goal}%")).collect()
}
