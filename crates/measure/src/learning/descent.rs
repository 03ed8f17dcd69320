//! Minimises a smooth convex function: L-BFGS in a fixed order, so that every run gives the same bits.

/// The number of steps that estimate the curvature.
const MEMORY: usize = 8;

/// `function` returns the value and writes the gradient.
pub(crate) fn minimise(
    point: &mut [f64],
    most: usize,
    tolerance: f64,
    mut function: impl FnMut(&[f64], &mut [f64]) -> f64,
) {
    let mut slope = vec![0.0; point.len()];
    let mut value = function(point, &mut slope);
    let mut pairs: Vec<(Vec<f64>, Vec<f64>, f64)> = Vec::new();
    let (mut next, mut next_slope) = (point.to_vec(), slope.clone());
    for _ in 0..most {
        if dot(&slope, &slope).sqrt() < tolerance {
            return;
        }
        let mut direction = slope.clone();
        let mut weights = Vec::with_capacity(pairs.len());
        for (step, change, inverse) in pairs.iter().rev() {
            let weight = inverse * dot(step, &direction);
            add_scaled(&mut direction, -weight, change);
            weights.push(weight);
        }
        let scale = pairs.last().map_or_else(
            || 1.0 / dot(&slope, &slope).sqrt().max(1e-12),
            |(_, change, inverse)| 1.0 / (inverse * dot(change, change)),
        );
        for number in &mut direction {
            *number *= scale;
        }
        for ((step, change, inverse), weight) in pairs.iter().zip(weights.iter().rev()) {
            let correction = weight - inverse * dot(change, &direction);
            add_scaled(&mut direction, correction, step);
        }
        // Backtracking line search: halves the step until the value drops enough.
        let steepness = dot(&slope, &direction);
        let mut length = 1.0;
        let next_value = loop {
            next.copy_from_slice(point);
            add_scaled(&mut next, -length, &direction);
            let found = function(&next, &mut next_slope);
            if found <= value - 1e-4 * length * steepness {
                break found;
            }
            length /= 2.0;
            if length < 1e-10 {
                return;
            }
        };
        let step: Vec<f64> = next.iter().zip(&*point).map(|(new, old)| new - old).collect();
        let change: Vec<f64> = next_slope.iter().zip(&slope).map(|(new, old)| new - old).collect();
        let curvature = dot(&step, &change);
        if curvature > 1e-14 {
            if pairs.len() == MEMORY {
                pairs.remove(0);
            }
            pairs.push((step, change, 1.0 / curvature));
        }
        point.copy_from_slice(&next);
        std::mem::swap(&mut slope, &mut next_slope);
        value = next_value;
    }
}

/// Four parallel sums, so that the processor does not wait for each addition.
fn dot(one: &[f64], other: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    let (ones, others) = (one.chunks_exact(4), other.chunks_exact(4));
    let rest: f64 = ones.remainder().iter().zip(others.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in ones.zip(others) {
        for at in 0..4 {
            sums[at] += a[at] * b[at];
        }
    }
    rest + (sums[0] + sums[1]) + (sums[2] + sums[3])
}

fn add_scaled(to: &mut [f64], times: f64, what: &[f64]) {
    for (to, what) in to.iter_mut().zip(what) {
        *to += times * what;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_bottom_of_a_bowl() {
        let mut point = [5.0, -3.0, 8.0];
        minimise(&mut point, 100, 1e-9, |at, slope| {
            let mut value = 0.0;
            for (number, (at, slope)) in at.iter().zip(slope).enumerate() {
                let (width, off) = (f64::from(10_u32.pow(number as u32)), at - number as f64);
                value += width * off * off / 2.0;
                *slope = width * off;
            }
            value
        });
        for (number, at) in point.iter().enumerate() {
            assert!((at - number as f64).abs() < 1e-6, "{point:?}");
        }
    }
}
