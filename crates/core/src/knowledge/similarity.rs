//! Which texts say the same, by their content words.
