//! About how many tokens a text is.

/// A rough estimate: a token is about four bytes.
pub fn tokens(text: &str) -> u64 {
    (text.len() as u64).div_ceil(4)
}
