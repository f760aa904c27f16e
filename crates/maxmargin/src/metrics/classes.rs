//! How well classes are told apart: what is right and wrong of each class, beside what a guess would be worth.

/// How well one class is found
///
/// ```text
/// precision = rightly said / said,   recall = rightly said / rows,   F1 = 2 precision recall / (precision + recall)      (ME.3)
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ClassScore {
    /// How many rows are of the class.
    pub rows: usize,
    /// How many rows are said to be of the class.
    pub predicted: usize,
    /// How many of them are.
    pub right: usize,
}

impl ClassScore {
    /// The share of what is said to be of the class that is; `None` when nothing is said to be.
    pub fn precision(self) -> Option<f64> {
        share(self.right, self.predicted)
    }

    /// The share of the class that is found; `None` when it has no rows.
    pub fn recall(self) -> Option<f64> {
        share(self.right, self.rows)
    }

    /// The harmonic mean of precision and recall: 0 where nothing is right, `None` where the class neither has rows nor is said.
    pub fn f1(self) -> Option<f64> {
        share(2 * self.right, self.rows + self.predicted) // (ME.3)
    }
}

/// The most classes of which every pair is counted.
pub const MOST_PAIRED_CLASSES: usize = 256;

/// How well classes are told apart.
///
/// ```text
/// balanced accuracy = mean recall of the classes that have rows
/// baseline = share of the most frequent class among the rows: the accuracy of always saying it          (ME.4)
/// ```
///
/// # Examples
/// ```
/// use maxmargin::metrics::ClassReport;
///
/// // Three rows of class 0 and one of class 1, which is missed.
/// let report = ClassReport::new(&[Some(0), Some(0), Some(0), Some(1)], &[0, 0, 0, 0], 2).unwrap();
/// assert_eq!((report.errors(), report.baseline()), (1, (0, 0.75)));
/// assert_eq!(report.balanced_accuracy(), 0.5);
/// assert_eq!((report.classes()[0].precision(), report.classes()[1].precision()), (Some(0.75), None));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ClassReport {
    rows: usize,
    unknown: usize,
    classes: Vec<ClassScore>,
    /// How many rows of each class are said to be of each class, where there are few enough of them.
    confusion: Option<Vec<usize>>,
}

impl ClassReport {
    /// Counts rows of which class `truth` are said to be of class `predicted`. A row whose class is not known (`None`) is an error.
    ///
    /// `None` when no row has a known class.
    ///
    /// # Panics
    /// When a class is not below `classes`.
    pub fn new(truth: &[Option<u32>], predicted: &[u32], classes: usize) -> Option<Self> {
        let mut scores = vec![ClassScore::default(); classes];
        let mut confusion = (classes <= MOST_PAIRED_CLASSES).then(|| vec![0; classes * classes]);
        let mut unknown = 0;
        for (truth, &said) in truth.iter().zip(predicted) {
            scores[said as usize].predicted += 1;
            let Some(truth) = *truth else {
                unknown += 1;
                continue;
            };
            scores[truth as usize].rows += 1;
            scores[truth as usize].right += usize::from(truth == said);
            if let Some(counts) = &mut confusion {
                counts[truth as usize * classes + said as usize] += 1;
            }
        }
        let rows = truth.len().min(predicted.len());
        (rows > unknown).then_some(ClassReport { rows, unknown, classes: scores, confusion })
    }

    /// How many rows were counted.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// How many of them are of a class that is not known.
    pub fn unknown(&self) -> usize {
        self.unknown
    }

    /// How many rows are predicted wrongly, unknown ones among them.
    pub fn errors(&self) -> usize {
        self.rows - self.classes.iter().map(|class| class.right).sum::<usize>()
    }

    /// The share of rows that are predicted rightly, (ME.1).
    pub fn accuracy(&self) -> f64 {
        (self.rows - self.errors()) as f64 / self.rows as f64
    }

    /// What each class is worth.
    pub fn classes(&self) -> &[ClassScore] {
        &self.classes
    }

    /// How many rows of each class are said to be of each class, a row of counts for each true class; `None` for more than
    /// [`MOST_PAIRED_CLASSES`] classes.
    pub fn confusion(&self) -> Option<impl ExactSizeIterator<Item = &[usize]>> {
        self.confusion.as_ref().map(|counts| counts.chunks(self.classes.len().max(1)))
    }

    /// The mean recall of the classes that have rows, (ME.4).
    pub fn balanced_accuracy(&self) -> f64 {
        let recalls: Vec<f64> = self.classes.iter().filter_map(|class| class.recall()).collect();
        recalls.iter().sum::<f64>() / recalls.len() as f64 // (ME.4)
    }

    /// The most frequent class, the first of those that tie, and the accuracy of always saying it, (ME.4).
    pub fn baseline(&self) -> (usize, f64) {
        let most = self.classes.iter().map(|class| class.rows).max().unwrap_or(0);
        let class = self.classes.iter().position(|class| class.rows == most).unwrap_or(0);
        (class, most as f64 / self.rows as f64)
    }
}

fn share(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// How well values tell positive rows from the others: the share of pairs of a positive and another row in which the positive one has the
/// larger value, half of those that tie (Mann and Whitney)
///
/// ```text
/// AUC = (Σ ranks of the positive rows − p(p + 1)/2) / (p q),   p positive rows, q others          (ME.5)
/// ```
///
/// `None` where one of the two kinds has no rows, or a value is not a number.
///
/// Cost: O(n log n).
///
/// # References
/// J. A. Hanley and B. J. McNeil, The meaning and use of the area under a receiver operating characteristic (ROC) curve, Radiology 143,
/// 1982, 29-36.
///
/// # Examples
/// ```
/// use maxmargin::metrics::area_under_curve;
///
/// assert_eq!(area_under_curve([(0.1, false), (0.4, false), (0.35, true), (0.8, true)]), Some(0.75));
/// ```
pub fn area_under_curve(rows: impl IntoIterator<Item = (f64, bool)>) -> Option<f64> {
    let mut rows: Vec<(f64, bool)> = rows.into_iter().collect();
    if rows.iter().any(|(value, _)| value.is_nan()) {
        return None;
    }
    rows.sort_unstable_by(|one, other| one.0.total_cmp(&other.0));
    let positive = rows.iter().filter(|(_, positive)| *positive).count();
    let others = rows.len() - positive;
    // Twice the rank of each positive row is a whole number, so the sum is exact below 2^53.
    let (mut start, mut twice_ranks) = (0, 0.0);
    // Equal numbers, of which 0 and -0 are two, share the mean of their ranks.
    for tied in rows.chunk_by(|one, other| one.0 == other.0) {
        let end = start + tied.len();
        let count = tied.iter().filter(|(_, positive)| *positive).count();
        twice_ranks += (count as f64) * ((start + 1 + end) as f64);
        start = end;
    }
    let (p, q) = (positive as f64, others as f64);
    (positive > 0 && others > 0).then(|| (twice_ranks - p * (p + 1.0)) / (2.0 * p * q)) // (ME.5)
}

/// The mean area under the curve of several machines, each of which tells a positive class from another one (`None`: from all others).
/// `value` gives the decision value of a row and a machine; only rows of a machine's classes count for it.
///
/// `None` where a machine has rows of one kind only, or there are no machines.
pub fn mean_area_under_curve(
    value: impl Fn(usize, usize) -> f64,
    truth: &[Option<u32>],
    machines: &[(usize, Option<usize>)],
) -> Option<f64> {
    let areas: Option<Vec<f64>> = (0..machines.len())
        .map(|machine| {
            let (positive, negative) = machines[machine];
            let rows = truth.iter().enumerate().filter_map(|(row, truth)| {
                let class = (*truth)? as usize;
                let is_positive = class == positive;
                let is_other = negative.is_none_or(|negative| class == negative);
                (is_positive || is_other).then(|| (value(row, machine), is_positive))
            });
            area_under_curve(rows)
        })
        .collect();
    let areas = areas.filter(|areas| !areas.is_empty())?;
    Some(areas.iter().sum::<f64>() / areas.len() as f64)
}

/// What the probabilities of the true classes cost
///
/// ```text
/// log loss = − mean of ln max(p of the true class, 2⁻⁵²)          (ME.6)
/// ```
///
/// `probabilities` has one number for each of `classes` classes, row after row. Rows of an unknown class are left out; `None` when no others
/// are there.
///
/// # Examples
/// ```
/// use maxmargin::metrics::log_loss;
///
/// assert_eq!(log_loss(&[0.5, 0.5, 0.75, 0.25], &[Some(1), Some(0)], 2), Some((2f64.ln() - 0.75f64.ln()) / 2.0));
/// ```
pub fn log_loss(probabilities: &[f64], truth: &[Option<u32>], classes: usize) -> Option<f64> {
    let rows = probabilities.chunks(classes.max(1)).zip(truth);
    let costs = rows.filter_map(|(row, truth)| row.get((*truth)? as usize).map(|p| -p.max(f64::EPSILON).ln()));
    let (count, sum) = costs.fold((0usize, 0.0), |(count, sum), cost| (count + 1, sum + cost));
    (count > 0).then(|| sum / count as f64) // (ME.6)
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    use super::*;

    #[test]
    fn counts_of_each_class_add_up_to_the_rows() {
        for seed in 0..40 {
            let mut random = Pcg64::seed_from_u64(seed);
            let (rows, classes) = (random.random_range(1..60), random.random_range(2..6u32));
            let truth: Vec<Option<u32>> =
                (0..rows).map(|_| Some(random.random_range(0..classes)).filter(|_| random.random_bool(0.9))).collect();
            let said: Vec<u32> = (0..rows).map(|_| random.random_range(0..classes)).collect();
            let Some(report) = ClassReport::new(&truth, &said, classes as usize) else {
                assert!(truth.iter().all(Option::is_none), "seed {seed}");
                continue;
            };
            let right = truth.iter().zip(&said).filter(|(truth, said)| **truth == Some(**said)).count();
            assert_eq!(report.errors(), rows - right, "seed {seed}");
            assert_eq!(report.classes().iter().map(|class| class.predicted).sum::<usize>(), rows, "seed {seed}");
            let known = report.classes().iter().map(|class| class.rows).sum::<usize>();
            assert_eq!(known + report.unknown(), rows, "seed {seed}");
            for (class, counts) in report.confusion().unwrap().enumerate() {
                let score = report.classes()[class];
                assert_eq!((counts.iter().sum::<usize>(), counts[class]), (score.rows, score.right), "seed {seed}");
            }
            let (class, accuracy) = report.baseline();
            let always = ClassReport::new(&truth, &vec![class as u32; rows], classes as usize).unwrap();
            assert!((always.accuracy() - accuracy).abs() < 1e-15, "seed {seed}");
        }
    }

    #[test]
    fn a_class_without_rows_has_no_recall_and_does_not_count_in_the_mean() {
        let report = ClassReport::new(&[Some(0), Some(0), None], &[0, 2, 2], 3).unwrap();
        let [first, second, third] = [0, 1, 2].map(|class| report.classes()[class]);
        assert_eq!((first.precision(), first.recall(), first.f1()), (Some(1.0), Some(0.5), Some(2.0 / 3.0)));
        assert_eq!((second.precision(), second.recall(), second.f1()), (None, None, None));
        assert_eq!((third.precision(), third.recall(), third.f1()), (Some(0.0), None, Some(0.0)));
        assert_eq!((report.balanced_accuracy(), report.errors(), report.unknown()), (0.5, 2, 1));
        assert_eq!(ClassReport::new(&[None], &[0], 2), None);
        assert_eq!(ClassReport::new(&[], &[], 2), None);
    }

    #[test]
    fn many_classes_are_scored_without_a_table_of_their_pairs() {
        let truth: Vec<Option<u32>> = (0..1000).map(Some).collect();
        let said: Vec<u32> = (0..1000).collect();
        let report = ClassReport::new(&truth, &said, 1000).unwrap();
        assert!(report.confusion().is_none() && report.errors() == 0);
    }

    /// The share of pairs in the right order, pair by pair.
    fn pair_by_pair(rows: &[(f64, bool)]) -> Option<f64> {
        let (mut pairs, mut right) = (0, 0.0);
        for (value, _) in rows.iter().filter(|row| row.1) {
            for (other, _) in rows.iter().filter(|row| !row.1) {
                pairs += 1;
                right += if value > other { 1.0 } else { 0.5 * f64::from(u8::from(value == other)) };
            }
        }
        (pairs > 0).then(|| right / f64::from(pairs))
    }

    #[test]
    fn the_area_is_the_share_of_pairs_in_the_right_order() {
        for seed in 0..60 {
            let mut random = Pcg64::seed_from_u64(seed);
            let count = random.random_range(0..40);
            let rows: Vec<(f64, bool)> =
                (0..count).map(|_| (f64::from(random.random_range(-4..4)) * 0.5, random.random_bool(0.4))).collect();
            let (found, expected) = (area_under_curve(rows.iter().copied()), pair_by_pair(&rows));
            assert_eq!(found.is_some(), expected.is_some(), "seed {seed}");
            let apart = found.zip(expected).map_or(0.0, |(found, expected)| (found - expected).abs());
            assert!(apart < 1e-12, "seed {seed}: {found:?} {expected:?}");
        }
        assert_eq!(area_under_curve([(0.0, true), (-0.0, false)]), Some(0.5));
        assert_eq!(area_under_curve([(f64::NAN, true), (0.0, false)]), None);
    }

    #[test]
    fn the_oracle_of_the_area_tells_a_wrong_order() {
        let rows = [(1.0, true), (0.0, false)];
        assert_ne!(pair_by_pair(&rows), area_under_curve([(0.0, true), (1.0, false)]));
    }

    #[test]
    fn machines_of_pairs_look_at_the_rows_of_their_classes_alone() {
        // Machines 1 against 0 and 2 against the rest; the row of an unknown class is left out.
        let values = [0.0, -1.0, 1.0, -2.0, 9.0, 3.0, 0.0, 4.0];
        let (truth, machines) = ([Some(0), Some(1), Some(2), None], [(1, Some(0)), (2, None)]);
        let area = |truth: &[Option<u32>]| mean_area_under_curve(|row, k| values[2 * row + k], truth, &machines);
        assert_eq!(area(&truth), Some(1.0));
        assert_eq!(area(&[Some(1), Some(0), Some(2), None]), Some(0.5));
        assert_eq!(area(&[Some(0), Some(0), Some(2), None]), None);
        assert_eq!(mean_area_under_curve(|_, _| 0.0, &truth, &[]), None);
    }

    #[test]
    fn a_probability_of_nothing_costs_much_and_not_everything() {
        assert_eq!(log_loss(&[1.0, 0.0], &[Some(1)], 2), Some(52.0 * 2f64.ln()));
        assert_eq!(log_loss(&[1.0, 0.0], &[None], 2), None);
    }
}
