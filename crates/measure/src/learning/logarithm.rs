//! The natural logarithm, the same to the bit on every platform; the C library's is not.

use tidegate_core::feature::activity::classifier::exponential::exp;

/// Newton's method on the portable exponential function.
pub(crate) fn ln(x: f64) -> f64 {
    let exponent = (x.to_bits() >> 52) as f64 - 1023.0;
    let mut y = (exponent + 0.5) * std::f64::consts::LN_2;
    for _ in 0..4 {
        let e = exp(y);
        y += 2.0 * (x - e) / (x + e);
    }
    y
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_logarithm() {
        for x in [1e-9, 0.3, 1.0, 2.0, 2.7, 4096.0, 1e7] {
            assert!((ln(x) - x.ln()).abs() < 1e-12 * x.ln().abs().max(1.0), "{x}: {} {}", ln(x), x.ln());
        }
    }
}
