//! The exponential function, the same to the bit on every platform; the C library's is not.

/// `e` to the power of `x`, to about 15 digits.
pub fn exp(x: f64) -> f64 {
    if x.is_nan() || x > 700.0 {
        return if x.is_nan() { x } else { f64::INFINITY };
    }
    if x < -700.0 {
        return 0.0;
    }
    // x = k ln 2 + r, with r within half of ln 2.
    let k = (x * std::f64::consts::LOG2_E).round_ties_even();
    let r = (x - k * LN_2_HIGH) - k * LN_2_LOW;
    let sum = INVERSE_FACTORIALS.iter().rev().fold(0.0, |sum, factor| sum * r + factor);
    sum * f64::from_bits(((1023 + k as i64) as u64) << 52)
}

/// The first 32 bits of ln 2: their product with a small whole number is exact.
const LN_2_HIGH: f64 = 0.693_147_180_369_123_8;
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;

/// 1/n!, from 1/0! on.
const INVERSE_FACTORIALS: [f64; 14] = {
    let mut factors = [1.0; 14];
    let mut n = 1;
    while n < factors.len() {
        factors[n] = factors[n - 1] / n as f64;
        n += 1;
    }
    factors
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_the_exponential() {
        for step in -7000..7000 {
            let x = f64::from(step) / 10.03;
            let (ours, theirs) = (exp(x), x.exp());
            assert!((ours - theirs).abs() <= theirs * 1e-14, "{x}: {ours} {theirs}");
        }
        assert_eq!((exp(0.0).to_bits(), exp(-1e9).to_bits()), (1f64.to_bits(), 0f64.to_bits()));
        assert!(exp(1e9).is_infinite() && exp(f64::NAN).is_nan());
    }
}
