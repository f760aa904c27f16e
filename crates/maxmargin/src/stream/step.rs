//! How far a row moves w: the implicit step (ST.3).

use crate::problem::Loss;

/// The most steps for logistic loss: a few of Newton's method, or halvings for rows so long that these miss.
const MOST_STEPS: usize = 100;

/// g of (ST.3) for a row of margin `z` and squared length `q`, with `rate = ηc/B`.
pub(super) fn step(loss: Loss, z: f64, q: f64, rate: f64) -> f64 {
    match loss {
        Loss::Hinge if z < 1.0 && q > 0.0 => rate.min((1.0 - z) / q),
        Loss::Squared if z < 1.0 => 2.0 * rate * (1.0 - z) / (1.0 + 2.0 * rate * q),
        Loss::Logistic => logistic(z, q, rate),
        _ => 0.0,
    }
}

/// The root of `g − rate/(1 + exp(z + g q))`, which rises with g: it lies between 0 and what the old margin gives.
fn logistic(z: f64, q: f64, rate: f64) -> f64 {
    let part = |g: f64| 1.0 / (1.0 + (z + g * q).exp());
    let (mut low, mut high) = (0.0, rate * part(0.0));
    let mut g = high / (1.0 + rate * q * 0.25);
    for _ in 0..MOST_STEPS {
        let p = part(g);
        let value = g - rate * p;
        if value > 0.0 {
            high = g;
        } else {
            low = g;
        }
        let next = g - value / (1.0 + rate * q * p * (1.0 - p));
        let next = if next >= low && next <= high { next } else { 0.5 * (low + high) };
        if (next - g).abs() <= 1e-15 * g.abs() {
            return next;
        }
        g = next;
    }
    g
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_the_gradient_at_where_it_leads() {
        for loss in [Loss::Hinge, Loss::Squared, Loss::Logistic] {
            for z in [-50.0, -1.0, 0.0, 0.3, 0.99, 1.0, 2.0, 40.0] {
                for q in [1e-6, 0.1, 1.0, 1e6] {
                    for rate in [1e-6, 0.01, 1.0, 100.0] {
                        let g = step(loss, z, q, rate);
                        let after = z + g * q;
                        // −ℓ′, an interval at the corner of the hinge.
                        let (least, most) = match loss {
                            Loss::Hinge if (after - 1.0).abs() < 1e-9 => (0.0, 1.0),
                            _ => (loss.dual_of_margin(after, 1.0), loss.dual_of_margin(after, 1.0)),
                        };
                        let case = format!("{} z {z} q {q} rate {rate}: {g}", loss.name());
                        assert!(g >= 0.0 && g.is_finite(), "{case}");
                        let error = 1e-9 * rate.max(g);
                        assert!(g >= rate * least - error && g <= rate * most + error, "{case}: {least} {most}");
                        assert!(loss == Loss::Logistic || z >= 1.0 || after <= 1.0 + 1e-9, "{case} goes beyond");
                    }
                }
            }
        }
    }
}
