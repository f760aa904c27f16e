//! Whether a kernel's parameters and a C fit the data.

use super::Finding;
use crate::kernel::{Kernel, KernelFunction, Points, mercer_check};

/// Rows that kernel values are looked at of, spread evenly over the data.
const SAMPLE: usize = 200;

/// −log k of the median pair, above which rows stand alone (k < 1e−13), and below which they look alike.
const NARROW: f64 = 30.0;
const WIDE: f64 = 1e-3;

/// k(x, x) above this leaves few digits to tell rows apart.
const LARGE: f64 = 1e10;

/// C · k(x, x) above this is large.
const LARGE_PENALTY: f64 = 1e6;

/// What there is to say of a kernel and a C for these points, which are scaled as in training.
///
/// A kernel `k = exp(−γ d)` tells rows apart where γ d is about 1 for a pair of rows, so the median of −log k over pairs is looked at; C weighs
/// the slack of a row against ‖w‖², so C is looked at beside k(x, x).
pub fn of_kernel(kernel: &KernelFunction, points: &Points, cost: Option<f64>) -> Vec<Finding> {
    let count = points.len().min(SAMPLE);
    let sample: Vec<usize> = (0..count).map(|k| k * points.len() / count.max(1)).collect();
    if sample.is_empty() || (kernel.is_precomputed() && points.matrix().columns() < points.len()) {
        return Vec::new();
    }
    let mut diagonal = vec![0.0; points.len()];
    let all: Vec<usize> = (0..points.len()).collect();
    kernel.diagonal(points.rows(&all), &mut diagonal);
    // The same bound that training has.
    if let Some(row) = diagonal.iter().position(|value| !(value.abs() < 1e300)) {
        return vec![Finding::KernelOverflow { row }];
    }
    let mut findings = Vec::new();
    findings.extend(bandwidth(kernel, points, &sample));
    let largest = diagonal.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
    if largest > LARGE {
        findings.push(Finding::LargeKernel { largest });
    }
    if !kernel.always_positive_semidefinite()
        && let Ok(report) = mercer_check(kernel, points, &sample, SAMPLE)
        && !report.is_kernel
    {
        findings.push(Finding::NotPositiveSemidefinite { smallest: report.smallest_eigenvalue, rows: report.rows });
    }
    let mean = diagonal.iter().sum::<f64>() / points.len() as f64;
    if let Some(c) = cost.filter(|c| c.is_finite() && mean > 0.0) {
        let usual = 1.0 / mean;
        // All rows together then cannot bring a decision value to 1.
        if c * points.len() as f64 * largest < 1.0 {
            findings.push(Finding::SmallPenalty { c, usual });
        }
        if c > LARGE_PENALTY * usual {
            findings.push(Finding::LargePenalty { c, usual });
        }
    }
    findings
}

/// Whether γ of a kernel `exp(−γ d)` is far from where it tells rows apart.
fn bandwidth(kernel: &KernelFunction, points: &Points, sample: &[usize]) -> Option<Finding> {
    let gamma = kernel.decay()?;
    let count = sample.len();
    let mut values = vec![0.0; count * count];
    kernel.block(points.rows(sample), points.rows(sample), &mut values);
    let mut exponents: Vec<f64> =
        (0..count).flat_map(|i| (0..i).map(move |j| i * count + j)).map(|place| -values[place].ln()).collect();
    if exponents.is_empty() {
        return None;
    }
    let middle = exponents.len() / 2;
    let (_, &mut exponent, _) = exponents.select_nth_unstable_by(middle, f64::total_cmp);
    // k may have vanished; what it was is not known then, but that it was beyond. And −log 1 is −0, by which γ would be divided.
    let exponent = exponent.clamp(0.0, 745.0) + 0.0;
    let found = gamma / exponent;
    match exponent {
        wide if wide < WIDE => Some(Finding::WideKernel { exponent, gamma: found }),
        narrow if narrow > NARROW => Some(Finding::NarrowKernel { exponent, gamma: found }),
        _ => None,
    }
}
