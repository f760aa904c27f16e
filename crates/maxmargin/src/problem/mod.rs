//! Problems to solve: what is minimised over which rows, with no word on how.
//!
//! [`MarginProblem`] is the primal view (rows, signs, costs, a loss, a bias); [`DualProblem`] the general quadratic
//! program that every formulation becomes; [`JointProblem`] holds several classes at once. Solvers know these two and nothing before them.

mod dual;
mod joint;
mod linear;
mod loss;
mod many_rows;
mod margin;
mod margin_dual;
mod norm;
mod nu;
mod penalty;
mod row_loss;
mod solution;
mod task;

pub(crate) use dual::{AT_BOUND, pair_curvature, violation};
pub use dual::{Coupling, DualParts, DualProblem};
pub use joint::{JointParts, JointProblem};
pub(crate) use linear::{Advanced, Direction, LinearProblem, Passes, RowState, RowSums, dot};
pub use loss::Loss;
pub(crate) use many_rows::{ManyRows, Pulls};
pub use margin::{Bias, MarginParts, MarginProblem};
pub use margin_dual::FromNu;
pub(crate) use margin_dual::{Recovered, is_rounding};
pub use norm::Norm;
pub(crate) use norm::{dual_point, largest_product};
pub use penalty::Penalty;
pub(crate) use row_loss::{Row, RowLoss};
pub use solution::{Decision, Solution};
pub use task::Task;
