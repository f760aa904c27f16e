//! What a row of a linear problem costs, as a function of its decision value: the losses in one form, so that a solver knows
//! none of them.

use super::{Loss, Task};

/// The loss of a row with target t at its decision value f, times its cost C.
///
/// With the coefficient `c = −C ∂ℓ/∂f` the weights of the optimum are `w = Σ c_i x_i`, and
///
/// ```text
/// name              ℓ(f)                    c lies in              −(Cℓ)*(−c)
/// hinge             max(0, 1 − tf)          0 ≤ tc ≤ C             tc
/// squared           max(0, 1 − tf)²         0 ≤ tc                 tc − c²/(4C)
/// logistic          log(1 + exp(−tf))       0 ≤ tc ≤ C             entropy of (P.3)
/// epsilon           max(0, |f − t| − ε)     −C ≤ c ≤ C             tc − ε|c|
/// squared epsilon   max(0, |f − t| − ε)²    all                    tc − ε|c| − c²/(4C)
/// one-class         max(0, −f)              0 ≤ c ≤ C              0
/// ball              max(0, t − f)           0 ≤ c ≤ C              tc                     (R.1)
/// ```
///
/// For the first three t is +1 or −1; the last one has none, and c is an α.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum RowLoss {
    Hinge,
    Squared,
    Logistic,
    Epsilon(f64),
    SquaredEpsilon(f64),
    OneClass,
    Ball,
}

impl RowLoss {
    /// The loss of a task. [`Task::check`] lets no other pair pass.
    pub(crate) fn of_task(task: Task, loss: Loss) -> Self {
        match (task, loss) {
            (Task::Classification, Loss::Hinge) => RowLoss::Hinge,
            (Task::Classification, Loss::Squared) => RowLoss::Squared,
            (Task::Classification, Loss::Logistic) => RowLoss::Logistic,
            (Task::Regression { epsilon }, Loss::Squared) => RowLoss::SquaredEpsilon(epsilon),
            (Task::Regression { epsilon }, Loss::Hinge | Loss::Logistic) => RowLoss::Epsilon(epsilon),
            // Before ε is found the tube has no width.
            (Task::NuRegression { .. }, _) => RowLoss::Epsilon(0.0),
            (Task::OneClass { .. }, _) => RowLoss::OneClass,
            (Task::Svdd { .. }, _) => RowLoss::Ball,
        }
    }
}

/// The slope and curvature of a row's cost at its decision value: c and `h = −∂c/∂f`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Pull {
    pub(crate) coefficient: f64,
    pub(crate) curvature: f64,
}

impl RowLoss {
    /// The sign and the margin of a loss with one side: it costs nothing where `sign · f ≥ margin`. Both of a tube are meaningless.
    #[inline]
    pub(crate) fn side(self, target: f64) -> (f64, f64) {
        match self {
            RowLoss::OneClass => (1.0, 0.0),
            RowLoss::Ball => (1.0, target),
            RowLoss::Hinge | RowLoss::Squared | RowLoss::Logistic => (target, 1.0),
            RowLoss::Epsilon(_) | RowLoss::SquaredEpsilon(_) => (0.0, 0.0),
        }
    }

    /// Whether the loss has a slope everywhere. The others are smoothed by (R.3).
    pub(crate) fn is_smooth(self) -> bool {
        !matches!(self, RowLoss::Hinge | RowLoss::Epsilon(_) | RowLoss::OneClass | RowLoss::Ball)
    }

    /// The largest |c| that (R.1) allows.
    #[inline]
    pub(crate) fn bound(self, cost: f64) -> f64 {
        if matches!(self, RowLoss::Squared | RowLoss::SquaredEpsilon(_)) { f64::INFINITY } else { cost }
    }

    /// r of the dual's ridge `r c²/2`: what squaring the slack comes to.
    pub(crate) fn ridge(self, cost: f64) -> f64 {
        if matches!(self, RowLoss::Squared | RowLoss::SquaredEpsilon(_)) { 0.5 / cost } else { 0.0 }
    }

    /// ξ of (P.0): what the row lacks of costing nothing. That of logistic loss is the hinge's.
    #[inline]
    pub(crate) fn slack(self, target: f64, f: f64) -> f64 {
        match self {
            RowLoss::Hinge | RowLoss::Squared | RowLoss::Logistic => (1.0 - target * f).max(0.0),
            RowLoss::Epsilon(width) | RowLoss::SquaredEpsilon(width) => ((f - target).abs() - width).max(0.0),
            RowLoss::OneClass => (-f).max(0.0),
            RowLoss::Ball => (target - f).max(0.0),
        }
    }

    /// ℓ(f)
    pub(crate) fn value(self, target: f64, f: f64) -> f64 {
        match self {
            RowLoss::Logistic => Loss::Logistic.value(target * f),
            RowLoss::Hinge | RowLoss::Epsilon(_) | RowLoss::OneClass | RowLoss::Ball => self.slack(target, f),
            RowLoss::Squared | RowLoss::SquaredEpsilon(_) => {
                let slack = self.slack(target, f);
                slack * slack
            }
        }
    }

    /// The slope of `Cℓ` at f; at a corner, one of those between its two sides.
    pub(crate) fn slope(self, target: f64, cost: f64, f: f64) -> f64 {
        let slack = self.slack(target, f);
        match self {
            RowLoss::Hinge if slack > 0.0 => -target * cost,
            RowLoss::Squared => -2.0 * target * cost * slack,
            RowLoss::Epsilon(_) if slack > 0.0 => cost * (f - target).signum(),
            RowLoss::SquaredEpsilon(_) => 2.0 * cost * slack * (f - target).signum(),
            RowLoss::OneClass | RowLoss::Ball if slack > 0.0 => -cost,
            RowLoss::Logistic => -target * cost / (1.0 + (target * f).exp()),
            RowLoss::Hinge | RowLoss::Epsilon(_) | RowLoss::OneClass | RowLoss::Ball => 0.0,
        }
    }

    /// The last column of (R.1).
    pub(crate) fn dual_term(self, coefficient: f64, target: f64, cost: f64) -> f64 {
        match self {
            RowLoss::Hinge | RowLoss::Ball => target * coefficient,
            RowLoss::Squared => Loss::Squared.dual_term(target * coefficient, cost),
            RowLoss::Logistic => Loss::Logistic.dual_term(target * coefficient, cost),
            RowLoss::Epsilon(width) => target * coefficient - width * coefficient.abs(),
            RowLoss::SquaredEpsilon(width) => {
                target * coefficient - width * coefficient.abs() - coefficient * coefficient / (4.0 * cost)
            }
            RowLoss::OneClass => 0.0,
        }
    }

    /// A row's part in the duality gap, for a c that (R.1) allows
    ///
    /// ```text
    /// Cℓ(f) + cf − (−(Cℓ)*(−c)) ≥ 0,   0 where c is the slope of the loss at f                      (R.5)
    /// ```
    ///
    /// in a form that subtracts nothing large from something large: a gap that is small beside the objective keeps its digits.
    pub(crate) fn gap(self, coefficient: f64, target: f64, cost: f64, f: f64) -> f64 {
        // What the row lacks of costing nothing, negative where it has more than that, and |c|.
        let linear = |lack: f64, size: f64| if lack > 0.0 { (cost - size) * lack } else { -size * lack };
        let squared = |lack: f64, size: f64| {
            if lack > 0.0 {
                let off = lack - size / (2.0 * cost);
                cost * off * off
            } else {
                size * size / (4.0 * cost) - size * lack
            }
        };
        match self {
            RowLoss::Hinge => linear(1.0 - target * f, target * coefficient),
            RowLoss::Squared => squared(1.0 - target * f, target * coefficient),
            RowLoss::OneClass => linear(-f, coefficient),
            RowLoss::Ball => linear(target - f, coefficient),
            RowLoss::Logistic => {
                cost * self.value(target, f) + coefficient * f - self.dual_term(coefficient, target, cost)
            }
            RowLoss::Epsilon(width) | RowLoss::SquaredEpsilon(width) => {
                let (residual, size) = (target - f, coefficient.abs());
                let lack = residual.abs() - width;
                let is_squared = matches!(self, RowLoss::SquaredEpsilon(_));
                if coefficient * residual >= 0.0 {
                    return if is_squared { squared(lack, size) } else { linear(lack, size) };
                }
                // The coefficient is one of the tube's other side.
                let own = if is_squared { size * size / (4.0 * cost) } else { 0.0 };
                cost * self.value(target, f) + size * (residual.abs() + width) + own
            }
        }
    }

    /// The nearest c that (R.1) allows.
    #[inline]
    pub(crate) fn clipped(self, coefficient: f64, target: f64, cost: f64) -> f64 {
        match self {
            RowLoss::Hinge | RowLoss::Logistic => target * (target * coefficient).clamp(0.0, cost),
            RowLoss::Squared => target * (target * coefficient).max(0.0),
            RowLoss::Epsilon(_) => coefficient.clamp(-cost, cost),
            RowLoss::SquaredEpsilon(_) => coefficient,
            RowLoss::OneClass | RowLoss::Ball => coefficient.clamp(0.0, cost),
        }
    }

    /// The middle of what (R.1) allows for c, where that has bounds.
    pub(crate) fn middle(self, target: f64, cost: f64) -> f64 {
        match self {
            RowLoss::Hinge | RowLoss::Logistic => 0.5 * target * cost,
            RowLoss::OneClass | RowLoss::Ball => 0.5 * cost,
            RowLoss::Squared | RowLoss::Epsilon(_) | RowLoss::SquaredEpsilon(_) => 0.0,
        }
    }

    /// c and its curvature at f
    ///
    /// ```text
    /// smooth:      c = −C ∂ℓ/∂f                                                      (R.2)
    /// not smooth:  c = argmax  −(Cℓ)*(−c) − cf − (c − c′)²/(2Cσ)                      (R.3)
    /// ```
    ///
    /// (R.3) is the loss smoothed around a known coefficient c′, the less the larger the sharpness σ is; at the
    /// optimum c = c′ and nothing is smoothed at all. A row of twice the cost is two rows in either.
    #[inline]
    pub(crate) fn pull(self, target: f64, cost: f64, f: f64, centre: f64, sharpness: f64) -> Pull {
        match self {
            RowLoss::Hinge => {
                let sharp = cost * sharpness;
                let alpha = target * centre + sharp * (1.0 - target * f); // (R.3)
                let clipped = alpha.clamp(0.0, cost);
                Pull { coefficient: target * clipped, curvature: if alpha == clipped { sharp } else { 0.0 } }
            }
            RowLoss::Squared => {
                let slack = 1.0 - target * f;
                if slack > 0.0 {
                    Pull { coefficient: 2.0 * cost * target * slack, curvature: 2.0 * cost } // (R.2)
                } else {
                    Pull::default()
                }
            }
            RowLoss::Logistic => {
                // σ(f) σ(−f) and σ(−tf) without cancellation
                let power = (-f.abs()).exp();
                let part = 1.0 / (1.0 + power);
                let wrong = if target * f > 0.0 { power * part } else { part };
                Pull { coefficient: cost * target * wrong, curvature: cost * power * part * part }
            }
            RowLoss::Epsilon(width) => {
                let sharp = cost * sharpness;
                let free = centre + sharp * (target - f);
                let shrunk = free.signum() * (free.abs() - sharp * width).max(0.0); // (R.3)
                let clipped = shrunk.clamp(-cost, cost);
                let bends = shrunk == clipped && shrunk != 0.0;
                Pull { coefficient: clipped, curvature: if bends { sharp } else { 0.0 } }
            }
            RowLoss::SquaredEpsilon(width) => {
                let difference = target - f;
                let excess = difference.abs() - width;
                if excess > 0.0 {
                    Pull { coefficient: 2.0 * cost * difference.signum() * excess, curvature: 2.0 * cost } // (R.2)
                } else {
                    Pull::default()
                }
            }
            RowLoss::OneClass | RowLoss::Ball => {
                let sharp = cost * sharpness;
                let wanted = if self == RowLoss::Ball { target } else { 0.0 };
                let alpha = centre + sharp * (wanted - f); // (R.3)
                let clipped = alpha.clamp(0.0, cost);
                Pull { coefficient: clipped, curvature: if alpha == clipped { sharp } else { 0.0 } }
            }
        }
    }
}

/// What a pass wants to know of a row.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Row {
    pub(crate) pull: Pull,
    /// Cℓ(f), not smoothed.
    pub(crate) loss: f64,
    /// −(Cℓ)*(−c)
    pub(crate) dual_term: f64,
}

impl RowLoss {
    /// [`RowLoss::pull`], the loss and the dual term of a row at once. For smooth losses, where c is a slope,
    ///
    /// ```text
    /// −(Cℓ)*(−c) = Cℓ(f) + cf                                                       (R.4)
    /// ```
    ///
    /// which spares the logarithms of an entropy.
    #[inline]
    pub(crate) fn row(self, target: f64, cost: f64, f: f64, centre: f64, sharpness: f64) -> Row {
        let pull = self.pull(target, cost, f, centre, sharpness);
        let loss = cost * self.value(target, f);
        let dual_term = if self.is_smooth() {
            loss + pull.coefficient * f // (R.4)
        } else {
            self.dual_term(pull.coefficient, target, cost)
        };
        Row { pull, loss, dual_term }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [RowLoss; 7] = [
        RowLoss::Hinge,
        RowLoss::Squared,
        RowLoss::Logistic,
        RowLoss::Epsilon(0.3),
        RowLoss::SquaredEpsilon(0.3),
        RowLoss::OneClass,
        RowLoss::Ball,
    ];

    /// For every coefficient that is allowed, `Cℓ(f) + cf ≥ −(Cℓ)*(−c)`, with equality at the slope.
    #[test]
    fn loss_and_dual_term_are_conjugate() {
        let cost = 1.7;
        for loss in ALL {
            for target in [1.0, -1.0] {
                for f in [-2.5, -0.9, -0.2, 0.0, 0.4, 1.1, 3.0] {
                    for tried in [-2.0, -1.7, -0.6, 0.0, 0.1, 1.0, 1.7, 4.0] {
                        let c = loss.clipped(tried, target, cost);
                        let difference = cost * loss.value(target, f) + c * f - loss.dual_term(c, target, cost);
                        assert!(difference >= -1e-12, "{loss:?} {target} {f} {c}");
                    }
                    // As sharp as it gets the smoothed loss is the loss.
                    let Pull { coefficient, .. } = loss.pull(target, cost, f, 0.0, 1e12);
                    let difference =
                        cost * loss.value(target, f) + coefficient * f - loss.dual_term(coefficient, target, cost);
                    assert!(difference.abs() < 1e-9, "{loss:?} {target} {f}: {difference}");
                }
            }
        }
    }

    #[test]
    fn the_part_of_a_row_in_the_gap_is_what_its_loss_and_its_dual_term_leave() {
        for loss in ALL {
            for target in [1.0, -1.0] {
                for f in [-2.5, -0.9, -0.2, 0.0, 0.4, 1.0, 1.1, 3.0] {
                    for tried in [-2.0, -1.7, -0.6, 0.0, 0.1, 1.0, 1.7, 4.0] {
                        let c = loss.clipped(tried, target, 1.7);
                        let written_out = 1.7 * loss.value(target, f) + c * f - loss.dual_term(c, target, 1.7);
                        let found = loss.gap(c, target, 1.7, f);
                        assert!(
                            (found - written_out).abs() < 1e-12,
                            "{loss:?} {target} {f} {c}: {found} {written_out}"
                        );
                        assert!(found >= -1e-15, "{loss:?} {target} {f} {c}: {found}");
                    }
                }
            }
        }
        // Targets of 1e8 leave no digits to a difference of sums, and all of them to (R.5).
        let found = RowLoss::Epsilon(0.5).gap(3.0, 1e8, 4.0, 1e8 - 0.75);
        assert_eq!(found, 0.25);
    }

    #[test]
    fn the_curvature_is_the_slope_of_the_coefficient() {
        for loss in ALL {
            for target in [1.0, -1.0] {
                for f in [-2.51, -0.87, -0.2, 0.03, 0.41, 1.13, 3.07] {
                    let at = |f: f64| loss.pull(target, 0.8, f, 0.3 * target, 0.9);
                    let slope = (at(f - 1e-6).coefficient - at(f + 1e-6).coefficient) / 2e-6;
                    assert!((slope - at(f).curvature).abs() < 1e-4, "{loss:?} {target} {f}");
                }
            }
        }
    }

    #[test]
    fn what_a_pass_sees_of_a_row_is_what_each_part_says() {
        for loss in ALL {
            for target in [1.0, -1.0] {
                for f in [-40.0, -2.5, -0.9, 0.0, 0.4, 1.1, 3.0, 40.0] {
                    let row = loss.row(target, 1.7, f, 0.2 * target, 0.9);
                    let dual_term = loss.dual_term(row.pull.coefficient, target, 1.7);
                    assert_eq!(row.pull, loss.pull(target, 1.7, f, 0.2 * target, 0.9));
                    assert_eq!(row.loss, 1.7 * loss.value(target, f));
                    let size = row.loss.max(dual_term.abs()).max(1.0);
                    assert!((row.dual_term - dual_term).abs() <= 1e-13 * size, "{loss:?} {target} {f}");
                }
            }
        }
    }

    #[test]
    fn a_row_of_twice_the_cost_is_two_rows() {
        for loss in ALL {
            for f in [-1.2, 0.3, 0.9] {
                let (one, two) = (loss.pull(1.0, 0.5, f, 0.1, 2.0), loss.pull(1.0, 1.0, f, 0.2, 2.0));
                assert!((2.0 * one.coefficient - two.coefficient).abs() < 1e-15, "{loss:?}");
                assert!((2.0 * one.curvature - two.curvature).abs() < 1e-15, "{loss:?}");
            }
        }
    }
}
