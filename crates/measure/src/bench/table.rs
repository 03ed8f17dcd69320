//! Number formats.

/// With its goal: `1.08 ok`.
pub(crate) fn format_ratio(value: f64, goal: f64) -> String {
    format!("{value:.2} {}", goal_verdict(value <= goal))
}

pub(crate) fn goal_verdict(met: bool) -> &'static str {
    if met { "ok" } else { "OVER" }
}

/// `1234567` as `1,234,567`.
pub(crate) fn with_thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        assert_eq!(with_thousands(0), "0");
        assert_eq!(with_thousands(1000), "1,000");
        assert_eq!(with_thousands(1_234_567), "1,234,567");
        assert_eq!(format_ratio(1.2, 1.2), "1.20 ok");
        assert_eq!(format_ratio(1.3, 1.2), "1.30 OVER");
    }
}
