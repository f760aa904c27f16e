//! From probabilities of pairs of classes to probabilities of classes.

/// How far from its optimum a coupling may stay, over the number of classes: what LIBSVM takes, so that its probabilities come out to
/// their digits; and what takes no more than a few more rounds.
pub(crate) const COARSE: f64 = 0.005;
pub(crate) const FINE: f64 = 1e-12;

/// The least and largest probability of a pair.
const LEAST: f64 = 1e-7;

/// The probabilities p of k classes that agree best with those of their pairs, `r_ij` of class i against class j
///
/// ```text
/// min ½ p′Qp,  Σ p_i = 1,   Q_ii = Σ_{j≠i} r_ji²,  Q_ij = −r_ji r_ij                               (PR.4)
/// at the optimum (Qp)_i = p′Qp for all i
/// ```
///
/// by one class at a time: raise p_i until its line holds, and divide all by their sum. Ends when every line holds to
/// `tolerance / k`.
///
/// `pairs[i * k + j]` is `r_ij`; the diagonal is not looked at.
///
/// Cost: O(k²) a round.
///
/// # References
/// Wu, Lin, Weng 2004, Probability estimates for multi-class classification by pairwise coupling (its second method).
pub(crate) fn couple(pairs: &[f64], tolerance: f64, out: &mut [f64]) {
    let k = out.len();
    let r = |i: usize, j: usize| pairs[i * k + j].clamp(LEAST, 1.0 - LEAST);
    if let [first, second] = out {
        *first = r(0, 1);
        *second = 1.0 - *first;
        return;
    }
    let mut q = vec![0.0; k * k];
    for i in 0..k {
        for j in (0..k).filter(|&j| j != i) {
            q[i * k + i] += r(j, i) * r(j, i);
            q[i * k + j] = -r(j, i) * r(i, j);
        }
    }
    out.fill(1.0 / k as f64);
    let mut products = vec![0.0; k];
    for _ in 0..k.max(100) {
        for (i, product) in products.iter_mut().enumerate() {
            *product = q[i * k..(i + 1) * k].iter().zip(&*out).map(|(q, p)| q * p).sum();
        }
        let mut form: f64 = products.iter().zip(&*out).map(|(product, p)| product * p).sum();
        if products.iter().all(|product| (product - form).abs() < tolerance / k as f64) {
            break;
        }
        for i in 0..k {
            let own = q[i * k + i];
            let step = (form - products[i]) / own; // (PR.4): line i holds
            let sum = 1.0 + step;
            form = (form + step * (step * own + 2.0 * products[i])) / (sum * sum);
            out[i] += step;
            for j in 0..k {
                products[j] = (products[j] + step * q[i * k + j]) / sum;
                out[j] /= sum;
            }
        }
    }
}

/// How much less likely than the predicted class one is that would be as likely, so that the likeliest class is always the predicted one.
const BEHIND: f64 = 1e-9;

/// Lets no class be as likely as the predicted one: the nearest probabilities of which that is true, but for [`BEHIND`]
///
/// ```text
/// p_k ← mean of p over the predicted class and those above the mean                               (PR.5)
/// ```
pub(crate) fn no_more_than_predicted(p: &mut [f64], predicted: usize) {
    let mut others: Vec<usize> = (0..p.len()).filter(|&k| k != predicted && p[k] >= p[predicted]).collect();
    others.sort_by(|&a, &b| p[b].total_cmp(&p[a]));
    let (mut sum, mut count) = (p[predicted], 1.0);
    let mut joined = 0;
    while joined < others.len() && p[others[joined]] >= sum / count {
        sum += p[others[joined]];
        count += 1.0;
        joined += 1;
    }
    if joined > 0 {
        let mean = sum / count; // (PR.5)
        others[..joined].iter().for_each(|&k| p[k] = mean * (1.0 - BEHIND));
        p[predicted] = mean * (1.0 + (count - 1.0) * BEHIND);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The pairs that probabilities of classes lead to.
    fn pairs_of(p: &[f64]) -> Vec<f64> {
        (0..p.len()).flat_map(|i| (0..p.len()).map(move |j| p[i] / (p[i] + p[j]))).collect()
    }

    #[test]
    fn pairs_that_agree_give_back_the_probabilities_they_came_from() {
        for p in [vec![0.3, 0.7], vec![0.2, 0.5, 0.3], vec![0.01, 0.04, 0.15, 0.3, 0.5]] {
            let mut found = vec![0.0; p.len()];
            couple(&pairs_of(&p), FINE, &mut found);
            assert!(p.iter().zip(&found).all(|(a, b)| (a - b).abs() < 1e-9), "{found:?}");
        }
    }

    #[test]
    fn pairs_in_a_circle_are_equally_likely() {
        let (most, least) = (0.9, 0.1);
        let pairs = [0.0, most, least, least, 0.0, most, most, least, 0.0];
        let mut found = [0.0; 3];
        couple(&pairs, FINE, &mut found);
        assert!(found.iter().all(|p| (p - 1.0 / 3.0).abs() < 1e-9), "{found:?}");
    }

    #[test]
    fn certain_pairs_stay_finite_and_sum_to_1() {
        let mut found = [0.0; 3];
        couple(&[0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], FINE, &mut found);
        assert!((found.iter().sum::<f64>() - 1.0).abs() < 1e-12 && found[0] > 0.99, "{found:?}");
    }

    #[test]
    fn classes_above_the_predicted_one_are_averaged_with_it_and_no_others() {
        let mut p = [0.35, 0.25, 0.3, 0.1];
        no_more_than_predicted(&mut p, 1);
        let near = |found: f64, expected: f64| (found - expected).abs() < 1e-8;
        assert!(near(p[1], 0.3) && near(p[0], 0.3) && near(p[2], 0.3) && p[3] == 0.1, "{p:?}");
        assert!(p[1] > p[0] && p[1] > p[2] && (p.iter().sum::<f64>() - 1.0).abs() < 1e-15, "{p:?}");
        let before = [0.2, 0.5, 0.3];
        let mut p = before;
        no_more_than_predicted(&mut p, 1);
        assert_eq!(p, before);
    }
}
