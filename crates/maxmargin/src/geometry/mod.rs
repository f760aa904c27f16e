//! What the numbers of a model look like in space: planes and distances, conics, and how far the risk can be off.

mod conic;
mod hulls;
mod hyperplane;
mod risk;

pub use conic::{Conic, ConicKind};
pub(crate) use hulls::check_separable;
pub use hulls::{NearestPoints, nearest_points};
pub use hyperplane::Hyperplane;
pub use risk::RiskBound;
