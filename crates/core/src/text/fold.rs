//! Characters that are written in two ways and mean the same.

/// ASCII of full width, and the wide space, as ordinary ASCII.
#[inline]
pub fn narrow(c: char) -> char {
    match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(c as u32 - 0xfee0).unwrap_or(c),
        '\u{3000}' => ' ',
        _ => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_width_is_ascii() {
        let narrowed: String = "ＡＺａｚ０９！～\u{3000}aあー".chars().map(narrow).collect();
        assert_eq!(narrowed, "AZaz09!~ aあー");
    }
}
