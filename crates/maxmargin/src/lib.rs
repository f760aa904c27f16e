//! Support vector machines and kernel classifiers: exact, certified, fast.
#![warn(missing_docs)]

pub mod control;
pub mod data;
pub mod error;
pub mod geometry;
pub mod lift;
pub mod metrics;
pub mod workers;

pub use control::{Control, Progress, Stop, Unattended};
pub use data::Dataset;
pub use error::Error;
pub use workers::Workers;
