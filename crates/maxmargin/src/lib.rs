//! Support vector machines and kernel classifiers: exact, certified, fast.
#![warn(missing_docs)]

pub mod certificate;
pub mod control;
pub mod data;
pub mod error;
pub mod geometry;
pub mod kernel;
pub mod lift;
pub mod metrics;
pub mod model;
pub mod problem;
pub mod solver;
pub mod training;
pub mod worked;
pub mod workers;

pub use control::{Control, Progress, Stop, Unattended};
pub use data::Dataset;
pub use error::Error;
pub use model::Model;
pub use training::{Training, TrainingParams};
pub use workers::Workers;
