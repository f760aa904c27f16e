//! The certificates of all machines of a model as one.

use super::joint::JointCertificate;
use super::{Certificate, relative_gap};

/// How good a model is as a whole.
///
/// Problems that share no variable are one problem, whose objectives and gap are the sums of theirs:
///
/// ```text
/// primal = Σ primal_m,   dual = Σ dual_m,   gap = Σ gap_m,   relative gap = gap / |primal|          (C.12)
/// ```
///
/// over the machines m. The violation and the infeasibility are the largest of any machine. Of classes that were trained together there is
/// one certificate for all, whose numbers these are.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct CertificateSummary {
    /// The objective at the model.
    pub primal: f64,
    /// A bound below the optimum.
    pub dual: f64,
    /// primal − dual.
    pub gap: f64,
    /// The gap divided by |primal|; 0 where both are 0.
    pub relative_gap: f64,
    /// The largest violation of the optimality conditions.
    pub violation: f64,
    /// How far a dual point was from feasible before it was mended, at most.
    pub infeasibility: f64,
}

impl CertificateSummary {
    /// Adds up the certificates of all machines. A model of one machine has just the numbers of its certificate.
    pub fn of<'c>(certificates: impl IntoIterator<Item = &'c Certificate>) -> Self {
        let mut all = CertificateSummary::default();
        for (number, own) in certificates.into_iter().enumerate() {
            all.primal += own.primal;
            all.dual += own.dual;
            all.gap += own.gap; // (C.12)
            all.relative_gap = if number == 0 { own.relative_gap } else { relative_gap(all.gap, all.primal) };
            all.violation = all.violation.max(own.violation);
            all.infeasibility = all.infeasibility.max(own.infeasibility);
        }
        all
    }
}

impl From<&JointCertificate> for CertificateSummary {
    fn from(own: &JointCertificate) -> Self {
        let &JointCertificate { primal, dual, gap, relative_gap, violation, infeasibility, .. } = own;
        CertificateSummary { primal, dual, gap, relative_gap, violation, infeasibility }
    }
}
